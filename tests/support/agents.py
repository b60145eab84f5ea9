"""Servers whose agent follows a script, and the script that it follows next."""

import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp import Client

from tests.support.client import Era, python_client
from tests.support.waiting import until as until  # noqa: PLC0414 - exported

COUNTER = """<button onclick="out.textContent = 'Count ' + ++n">More</button><p id=out>Count 0</p>
<script>let n = 0</script>"""

WRITING_ITS_NUMBER = (
    "import os, pathlib, runpy, sys; pathlib.Path(sys.argv.pop(1)).write_text(str(os.getpid())); "
)
START = "runpy.run_module('mcp_browser', run_name='__main__')"


def output(*actions: dict[str, Any], goal: str = "go on") -> dict[str, Any]:
    """A step's output as a model puts it."""
    thoughts = {"evaluation_previous_goal": "", "memory": "", "next_goal": goal}
    return {"current_state": thoughts, "action": list(actions)}


def done(text: str = "All done.", *, success: bool = True, **more: Any) -> dict[str, Any]:
    return output({"done": {"success": success, "text": text, **more}}, goal="report")


def verdict(*points: tuple[str, bool]) -> dict[str, Any]:
    """The answer of a judge: what the evidence says of each point, and whether it is met."""
    return {"points": [{"asked": "all", "evidence": evidence, "met": met} for evidence, met in points]}


CONFIRMED = verdict(("It says so.", True))
FIND = output({"find_elements": {"text": "More"}}, goal="find the button")
WAIT = output({"wait_for": {"seconds": 30}})


def text(result: types.CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, types.TextContent))


async def refused(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    """The texts of a call that has to fail."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text(result)
    return text(result)


def data(result: types.CallToolResult) -> dict[str, Any]:
    assert result.structured_content is not None, text(result)
    return result.structured_content


class Desk:
    """A folder for a server's agent: its script, a judge that says yes, its tasks, its process."""

    def __init__(self, folder: Path) -> None:
        self.script = folder / "script.json"
        self.judge = folder / "judge.json"
        self.judge.write_text(json.dumps([CONFIRMED]))
        self.tasks = folder / "tasks"
        self._number = folder / "number"

    def follow(self, *answers: dict[str, Any]) -> None:
        """What the model says from the next task on, one answer a request; the last one again and again."""
        self.script.write_text(json.dumps(answers))

    @property
    def flags(self) -> list[str]:
        """For a server whose agent follows the script."""
        models = ["--model", f"scripted:{self.script}", "--judge-model", f"scripted:{self.judge}"]
        return ["--tasks-dir", str(self.tasks), *models]

    @property
    def pid(self) -> int:
        return int(self._number.read_text())

    def history(self, task: str) -> dict[str, Any]:
        """The saved history of a task; empty where there is none yet."""
        path = self.tasks / task / "history.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def client(self, era: Era, *flags: str, **callbacks: Any) -> AbstractAsyncContextManager[Client]:
        """A client of a server of its own, over stdio; it lives in a task of its own."""
        options = ["--stdio", "--headless", "--isolated", *(flags or self.flags)]
        command = ["-c", WRITING_ITS_NUMBER + START, str(self._number), *options]
        return python_client(command, era, seconds=60, **callbacks)


def names(tools: Sequence[types.Tool]) -> set[str]:
    return {tool.name for tool in tools}
