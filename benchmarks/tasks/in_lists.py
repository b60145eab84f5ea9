"""The same moves in as few calls as a careful reader would make: kept back until something has to be read.

What was shown is named by its index, what the next page will have by its role and name (this server and
agent-browser) or not at all (playwright-mcp, which fills several fields at once). Where a list stops, the
rest is done singly. agent-browser prints no page and waits for little: a list waits, as its skill says, for
what it expects, and ends with the snapshot that is needed next.
"""

import contextlib
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import Any

from benchmarks.servers import ToolError
from benchmarks.tasks.hands import Name, Seen
from benchmarks.tasks.ours import McpBrowser
from benchmarks.tasks.playwright_mcp import PlaywrightMcp
from benchmarks.terminal.hands import AgentBrowserHand

MOST = 20
_LEADS_ELSEWHERE = frozenset({"link", "button"})
FOUND = frozenset({"click", "fill"})
"""What agent-browser does to an element that it finds by role and name."""
LOADED = ("wait", "--load", "load")
_NOT_DONE = re.compile(r"^(\d+)\. .*?(?:failed|not started)", re.M)
_FIELDS = {"textbox": "textbox", "searchbox": "textbox", "combobox": "combobox", "checkbox": "checkbox"}


@dataclass
class Kept:
    """A move that is to be sent: as an entry of a list, and how it is done alone."""

    tool: str
    arguments: dict[str, Any]
    alone: Callable[[], None]


class McpBrowserInLists(McpBrowser):
    """This project, with do_actions."""

    def __init__(self, *arguments: Any) -> None:
        """Nothing is kept."""
        super().__init__(*arguments)
        self.kept: list[Kept] = []
        self.is_elsewhere = False  # Whether what is kept may have led to another page

    def send(self) -> None:
        """Carry out what is kept."""
        kept, self.kept, self.is_elsewhere = self.kept, [], False
        if not kept:
            return
        if len(kept) == 1:
            self.call(kept[0].tool, **kept[0].arguments)
            return
        try:
            self.call("do_actions", actions=[{move.tool: move.arguments} for move in kept])
        except ToolError as error:
            found = _NOT_DONE.search(str(error))
            if found is None:
                raise
            with contextlib.suppress(ToolError):
                self.look()
            for move in kept[int(found[1]) - 1 :]:
                move.alone()
                self.send()

    def keep(self, tool: str, alone: Callable[[], None], **arguments: Any) -> None:
        """Send it with what follows."""
        self.kept.append(Kept(tool, arguments, alone))
        if len(self.kept) == MOST:
            self.send()

    def named(self, role: str, name: Name, nth: int) -> int | str:
        """What a move names its element by: an index where it has been shown, else its role and name."""
        known = [] if self.is_elsewhere else self.all(role, name)
        if len(known) > (nth if nth >= 0 else -nth - 1):
            return int(known[nth].handle)
        if isinstance(name, str) and name and role and "|" not in role and not nth:
            return f'{role} "{name}"'
        self.send()
        return int(self.find(role, name, nth=nth).handle)

    def open(self, url: str) -> None:
        """go_to_url, whose page is read by what follows."""
        self.keep("go_to_url", partial(super().open, url), url=url)
        self.is_elsewhere = True

    def click(self, role: str, name: Name, *, nth: int = 0, double: bool = False) -> None:
        """click_element, kept."""
        index = self.named(role, name, nth)
        more = {"double": True} if double else {}
        alone = partial(super().click, role, name, nth=nth, double=double)
        self.keep("click_element", alone, index=index, **more)
        self.is_elsewhere |= not _LEADS_ELSEWHERE.isdisjoint(role.split("|"))

    def fill(self, role: str, name: Name, text: str, *, nth: int = 0, submit: bool = False) -> None:
        """input_text, kept."""
        index = self.named(role, name, nth)
        more = {"submit": True} if submit else {}
        alone = partial(super().fill, role, name, text, nth=nth, submit=submit)
        self.keep("input_text", alone, index=index, text=text, **more)
        self.is_elsewhere |= submit

    def choose(self, role: str, name: Name, options: list[str]) -> None:
        """select_option, kept."""
        index = self.named(role, name, 0)
        self.keep("select_option", partial(super().choose, role, name, options), index=index, options=options)

    def press(self, key: str) -> None:
        """send_keys, kept."""
        self.keep("send_keys", partial(super().press, key), keys=key)
        self.is_elsewhere = True

    def look(self) -> None:
        """get_state, after what is kept."""
        self.send()
        super().look()

    def search(self, text: str, role: str) -> None:
        """find_elements, after what is kept."""
        self.send()
        super().search(text, role)

    def read(self, pattern: str, *, near: str) -> re.Match[str]:
        """In what the list reports."""
        self.send()
        return super().read(pattern, near=near)

    def wait(self, text: str) -> None:
        """wait_for, after what is kept."""
        self.send()
        super().wait(text)

    def find(self, role: str, name: Name, *, nth: int = 0) -> Seen:
        """Among what was shown, after what is kept."""
        self.send()
        return super().find(role, name, nth=nth)

    def finish(self) -> None:
        """Send what is left."""
        self.send()


@dataclass
class _Fields:
    fields: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    alone: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])


class PlaywrightMcpInForms(PlaywrightMcp):
    """Microsoft's server, with browser_fill_form for fields in a row."""

    def __init__(self, *arguments: Any) -> None:
        """Nothing is kept."""
        super().__init__(*arguments)
        self.form = _Fields()

    def send(self) -> None:
        """Fill what is kept."""
        form, self.form = self.form, _Fields()
        if len(form.fields) == 1:
            form.alone[0]()
        elif form.fields:
            super().call("browser_fill_form", fields=form.fields)

    def call(self, tool: str, **arguments: Any) -> str:
        """Fill what is kept before anything else is done."""
        self.send()
        return super().call(tool, **arguments)

    def fill(self, role: str, name: Name, text: str, *, nth: int = 0, submit: bool = False) -> None:
        """A field that has been seen waits for the next."""
        alone = partial(super().fill, role, name, text, nth=nth, submit=submit)
        known = self.all(role, name)
        if submit or len(known) <= nth or known[nth].role not in _FIELDS:
            alone()
            return
        seen = known[nth]
        kind = _FIELDS[seen.role]
        given = {"element": seen.name, "name": seen.name, "target": seen.handle, "type": kind, "value": text}
        self.form.fields.append(given)
        self.form.alone.append(alone)

    def read(self, pattern: str, *, near: str) -> re.Match[str]:
        """After what is kept."""
        self.send()
        return super().read(pattern, near=near)

    def finish(self) -> None:
        """Fill what is left."""
        self.send()


@dataclass
class Commands:
    """A move as the commands of a batch, and how it is done alone; the first command does it, others wait."""

    commands: list[tuple[str, ...]]
    alone: Callable[[], None]


class AgentBrowserInBatches(AgentBrowserHand):
    """Vercel's command line, with batch."""

    def __init__(self, *arguments: Any) -> None:
        """Nothing is kept."""
        super().__init__(*arguments)
        self.kept: list[Commands] = []
        self.is_elsewhere = False

    def send(self, *last: str) -> str:
        """Carry out what is kept, then the `last` command; what is printed."""
        kept, self.kept, self.is_elsewhere = self.kept, [], False
        commands = [command for move in kept for command in move.commands] + ([last] if last else [])
        if len(commands) < 2:  # noqa: PLR2004 - a batch is of two
            return "".join(super(AgentBrowserInBatches, self).run(*command) for command in commands)
        try:
            return self.call("batch", words=("--bail", *map(shlex.join, commands)))
        except ToolError as error:
            done = len(re.findall("^✓", str(error), re.M))
            self.look()
            begins = accumulate((len(move.commands) for move in kept), initial=0)
            for begin, move in zip(begins, kept, strict=False):
                if begin >= done:
                    move.alone()
        return super().run(*last) if last else ""

    def run(self, command: str, *words: str) -> str:
        """A snapshot ends the batch of what is kept."""
        return self.send(command, *words) if self.kept else super().run(command, *words)

    def keep(self, alone: Callable[[], None], *commands: tuple[str, ...]) -> None:
        """Send it with what follows."""
        self.kept.append(Commands([*commands], alone))

    def named(self, role: str, name: Name, nth: int, *act: str) -> tuple[str, ...]:
        """The command for an element: by its reference where it has been shown, else by role and name."""
        known = [] if self.is_elsewhere else self.all(role, name)
        if len(known) <= (nth if nth >= 0 else -nth - 1):
            if act[0] in FOUND and isinstance(name, str) and name and role and "|" not in role and not nth:
                return ("find", "role", role, *act, "--name", name, "--exact")
            if self.kept:
                self.look()
            return (act[0], f"@{self.find(role, name, nth=nth).handle}", *act[1:])
        return (act[0], f"@{known[nth].handle}", *act[1:])

    def open(self, url: str) -> None:
        """open, whose page is read by what follows."""
        self.keep(partial(super().open, url), ("open", url), LOADED)
        self.is_elsewhere = True

    def click(self, role: str, name: Name, *, nth: int = 0, double: bool = False) -> None:
        """click, dblclick, kept."""
        command = self.named(role, name, nth, "dblclick" if double else "click")
        leads = not _LEADS_ELSEWHERE.isdisjoint(role.split("|"))
        alone = partial(super().click, role, name, nth=nth, double=double)
        self.keep(alone, command, *([LOADED] if leads else []))
        self.is_elsewhere |= leads

    def fill(self, role: str, name: Name, text: str, *, nth: int = 0, submit: bool = False) -> None:
        """fill, kept; Enter is a command of its own."""
        command = self.named(role, name, nth, "fill", text)
        self.keep(partial(super().fill, role, name, text, nth=nth), command)
        if submit:
            self.press("Enter")

    def choose(self, role: str, name: Name, options: list[str]) -> None:
        """select, kept."""
        command = self.named(role, name, 0, "select", *options)
        self.keep(partial(super().choose, role, name, options), command)

    def press(self, key: str) -> None:
        """press, kept."""
        self.keep(partial(super().press, key), ("press", key), LOADED)
        self.is_elsewhere = True

    def read(self, pattern: str, *, near: str) -> re.Match[str]:
        """What is kept, a wait for the words, and the whole page in one batch."""
        if self.kept:
            self.keep(lambda: None, ("wait", "--text", near, "--timeout", "10000"))
            self.whole()
        return super().read(pattern, near=near)

    def find(self, role: str, name: Name, *, nth: int = 0) -> Seen:
        """Among what was shown, after what is kept."""
        if self.kept:
            self.look()
        return super().find(role, name, nth=nth)

    def finish(self) -> None:
        """Send what is left."""
        self.send()
