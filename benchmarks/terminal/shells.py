"""Command lines that drive a browser which goes on between their commands: how each is started and asked."""

import json
import os
import re
import subprocess
import sys
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from benchmarks.servers import PEERS, Connection, agent_browser, install

PLAYWRIGHT_CLI = ("@playwright/cli", "0.1.22")
LONGEST = 90
_SNAPSHOT = re.compile(r"^- \[Snapshot\]\((.+)\)$", re.M)


def _modules() -> Path:
    """Install the pinned versions of the other command lines; their node_modules."""
    return install([PLAYWRIGHT_CLI, PEERS["chrome-devtools-mcp"], PEERS["agent-browser"]])


class Shell(Connection, ABC):
    """A shell in a folder of its own, with one of the programs, whose tools are commands."""

    def __init__(self, folder: Path, chromium: str, *, sandbox: bool) -> None:
        """Nothing is started yet."""
        self.folder = folder
        self.chromium = chromium
        self.sandbox = sandbox
        self.seconds = 0.0
        self.commands = 0
        self.environment = dict(os.environ)
        self.prepare()

    def prepare(self) -> None:
        """Write what the program reads before its first command, and set its variables."""

    @abstractmethod
    def words(self, tool: str, arguments: dict[str, Any]) -> Sequence[str]:
        """The command for a call of a tool."""

    @abstractmethod
    def close(self) -> None:
        """End the browser."""

    def answer(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        """Carry out a call by a command: all that it prints, and whether it has failed."""
        return self.run(self.words(tool, arguments))

    def run(self, words: Sequence[str]) -> tuple[str, bool]:
        """Run a command, counted and timed."""
        started = time.perf_counter()
        try:
            done = subprocess.run(
                words,
                capture_output=True,
                text=True,
                check=False,
                timeout=LONGEST,
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
            )
            text, failed = f"{done.stdout}{done.stderr}".rstrip("\n"), done.returncode != 0
        except subprocess.TimeoutExpired:
            text, failed = f"no answer in {LONGEST} s", True
        self.seconds += time.perf_counter() - started
        self.commands += 1
        return text, failed


class Ours(Shell):
    """`mcp-browser do`."""

    def prepare(self) -> None:
        """A session of its own, in a clean profile."""
        runtime = self.folder / "run"
        runtime.mkdir()
        self.environment |= {
            "XDG_RUNTIME_DIR": str(runtime),
            "MCP_BROWSER_HEADLESS": "1",
            "MCP_BROWSER_ISOLATED": "1",
            "MCP_BROWSER_EXECUTABLE": self.chromium,
            # Python keeps compiled modules, as it does for a user.
            "PYTHONDONTWRITEBYTECODE": "",
        }

    def words(self, tool: str, arguments: dict[str, Any]) -> Sequence[str]:
        """As `mcp-browser skill` shows them; what is optional stands first."""
        needed = ("url", "index", "text", "keys", "options")
        optional = ("find_elements", "wait_for", "get_state")
        words = [str(Path(sys.executable).with_name("mcp-browser")), "do", tool]
        for name, value in arguments.items():
            if tool in optional or name not in needed:
                words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
        values = [value for name, value in arguments.items() if name in needed and tool not in optional]
        lists = [cast("list[Any]", value) if isinstance(value, list) else [value] for value in values]
        flat = [str(one) for some in lists for one in some]
        return [*words, *(["--"] if any(one.startswith(("-", "@", "[")) for one in flat) else []), *flat]

    def close(self) -> None:
        """`do stop`."""
        self.run([str(Path(sys.executable).with_name("mcp-browser")), "do", "stop"])


class PlaywrightCli(Shell):
    """`playwright-cli`; a result names the file of the snapshot, which is read with `cat`."""

    last = ""

    def prepare(self) -> None:
        """Its configuration."""
        self.program = str(_modules() / ".bin" / "playwright-cli")
        options = {"headless": True, "executablePath": self.chromium, "chromiumSandbox": self.sandbox}
        browser = {"browserName": "chromium", "isolated": True, "launchOptions": options}
        (self.folder / "config.json").write_text(json.dumps({"browser": browser}))
        self.session = f"-s=b{uuid.uuid4().hex[:8]}"
        self.opened = False

    def words(self, tool: str, arguments: dict[str, Any]) -> Sequence[str]:
        """The commands that its MCP tools have in its terminal."""
        target = [arguments["target"]] if "target" in arguments else []
        if tool == "browser_navigate" and not self.opened:
            self.opened = True
            return [self.program, self.session, "open", "--config", "config.json", arguments["url"]]
        if tool == "browser_wait_for":
            return ["sleep", str(arguments["time"])]
        if tool == "browser_snapshot" and (file := _SNAPSHOT.search(self.last)):
            return ["cat", file[1]]
        commands = {
            "browser_navigate": lambda: ["goto", arguments["url"]],
            "browser_snapshot": lambda: ["snapshot"],
            "browser_find": lambda: ["find", arguments["text"]],
            "browser_click": lambda: ["dblclick" if "doubleClick" in arguments else "click", *target],
            "browser_type": lambda: [
                *("fill", *target, arguments["text"]),
                *(["--submit"] if "submit" in arguments else []),
            ],
            "browser_select_option": lambda: ["select", *target, *arguments["values"]],
            "browser_press_key": lambda: ["press", arguments["key"]],
            "browser_evaluate": lambda: ["eval", arguments["function"], *target],
        }
        return [self.program, self.session, *commands[tool]()]

    def answer(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        """What is printed; errors are exit codes of 0 with a heading."""
        text, failed = super().answer(tool, **arguments)
        self.last = "" if tool == "browser_snapshot" else text
        return text, failed or "### Error" in text

    def close(self) -> None:
        """`close`."""
        self.run([self.program, self.session, "close"])


class ChromeDevtools(Shell):
    """`chrome-devtools`."""

    def prepare(self) -> None:
        """A session of its own; the first command is `start`."""
        self.program = str(_modules() / ".bin" / "chrome-devtools")
        home = self.folder / "home"
        home.mkdir()
        self.environment |= {"XDG_RUNTIME_DIR": str(home), "CI": "1"}
        self.begun = False

    def words(self, tool: str, arguments: dict[str, Any]) -> Sequence[str]:
        """Its commands have the names of its tools; the page's number comes first."""
        flags = ["--headless", "--isolated", "--executablePath", self.chromium, "--no-usage-statistics"]
        if tool == "start":
            return [self.program, "start", *flags, *([] if self.sandbox else ["--chromeArg=--no-sandbox"])]
        if tool == "sleep":
            return ["sleep", str(arguments["seconds"])]
        words = [self.program, tool, "1"]
        words += [str(arguments[name]) for name in ("uid", "key", "value") if name in arguments]
        rest = {name: value for name, value in arguments.items() if name not in ("uid", "key", "value")}
        return words + [f"--{name}" if value is True else f"--{name}={value}" for name, value in rest.items()]

    def answer(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        """Start it before the first command."""
        if not self.begun:
            self.begun = True
            self.run(self.words("start", {}))
        return super().answer(tool, **arguments)

    def close(self) -> None:
        """`stop`."""
        self.run([self.program, "stop"])


class AgentBrowser(Shell):
    """`agent-browser`, its native program."""

    name = "agent-browser"

    def prepare(self) -> None:
        """Its variables."""
        self.program = agent_browser(_modules())
        session = f"benchmark-{uuid.uuid4().hex[:8]}"
        self.environment |= {"AGENT_BROWSER_EXECUTABLE_PATH": self.chromium, "AGENT_BROWSER_SESSION": session}
        if not self.sandbox:
            self.environment["AGENT_BROWSER_ARGS"] = "--no-sandbox"

    @property
    def listed(self) -> int:
        """Characters of the skill that it prints for a model, in the place of a list of tools."""
        return len(self.run([self.program, "skills", "get", "core"])[0])

    def words(self, tool: str, arguments: dict[str, Any]) -> Sequence[str]:
        """The command, and its words in order."""
        return [self.program, tool, *arguments["words"]]

    def close(self) -> None:
        """`close`."""
        self.run([self.program, "close"])
