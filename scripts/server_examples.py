"""One call of each tool of the server's own, the agent's and the sessions', for scripts/examples.py.

They need a server: one is started over stdio, with a script in the model's place, and asked in the order that
is written here. `TASK` in an argument is the identifier of the task that run_task has started last.
"""

import json
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp import Client, StdioServerParameters

from scripts.shop import shop

SITE = "http://books.example/"

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "new_session": {"isolated": True, "viewport": "390x844"},
    "list_sessions": {},
    "close_session": {"session": "s1"},
    "run_task": {"task": "Put The Tide Tables into the basket.", "start_url": SITE},
    "ask_person": {"reason": "Please solve the captcha."},
    "replay_task": {"task_id": "TASK"},
    "pause_task": {"task_id": "TASK"},
    "get_task": {"task_id": "TASK"},
    "add_instructions": {"task_id": "TASK", "text": "Only books under 15.00."},
    "resume_task": {"task_id": "TASK"},
    "stop_task": {"task_id": "TASK"},
}

_MASKS = (
    (re.compile(r"[\d,]+ tokens"), "… tokens"),
    (re.compile(r"\b\d+ s\b"), "… s"),
    (re.compile(r"idle for [^\n]*"), "idle"),
)
_PACE = ((re.compile(r"\bStep \d+ of"), "Step … of"), (re.compile(r"\b\d+ steps?,"), "… steps,"))
"""What besides depends on when a task is steered."""


def _says(goal: str, *actions: Mapping[str, Any]) -> dict[str, Any]:
    thoughts = {"evaluation_previous_goal": "", "memory": "", "next_goal": goal}
    return {"current_state": thoughts, "action": actions}


_BUYING = [
    _says("Put the book into the basket", {"click_element": {"index": 11}}),
    _says("Report", {"done": {"success": True, "text": "The Tide Tables is in the basket."}}),
]
_POINT = {"asked": "The Tide Tables in the basket", "evidence": "The basket has one book.", "met": True}
_LOOKING = [
    _says("compare the prices", {"find_elements": {"text": text}}) for text in ("14.50", "18.00", "New")
]


async def capture() -> dict[str, dict[str, Any]]:
    """Run the examples: for each its arguments and its result as a model reads it."""
    with tempfile.TemporaryDirectory() as temporary, shop() as url:
        script, folder = Path(temporary) / "script.json", Path(temporary)
        script.write_text(json.dumps(_BUYING))
        judge = folder / "judge.json"
        judge.write_text(json.dumps([{"points": [_POINT]}]))
        flags = [
            "--stdio",
            "--headless",
            "--isolated",
            "--tools=all,sessions",
            f"--tasks-dir={folder / 'tasks'}",
            f"--judge-model=scripted:{judge}",
        ]
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "mcp_browser", *flags, f"--model=scripted:{script}"]
        )
        async with Client(server, read_timeout_seconds=120, elicitation_callback=_answer) as client:
            asked = _Asking(client, url)
            captured: dict[str, dict[str, Any]] = {}
            for name, arguments in EXAMPLES.items():
                if name == "pause_task":
                    script.write_text(json.dumps(_LOOKING * 20))
                    await asked.call(
                        "run_task", {"task": "Find a cheap book.", "start_url": SITE, "wait": False}
                    )
                    await asked.until("compare the prices")
                if name == "get_task":
                    await asked.until("is paused")
                captured[name] = {"arguments": dict(arguments), "result": await asked.call(name, arguments)}
    return captured


async def _answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    """The person of the client."""
    return types.ElicitResult(action="accept", content={"outcome": "Done", "note": "It was a duck."})


class _Asking:
    """A client that gives the shop the name that the documents have for it."""

    def __init__(self, client: Client, url: str) -> None:
        self._client = client
        self._url = url
        self._task = "TASK"

    async def call(self, name: str, arguments: Mapping[str, Any]) -> list[str]:
        """The lines of a tool's result."""
        given = json.dumps(arguments).replace(SITE, self._url).replace("TASK", self._task)
        result = await self._client.call_tool(name, json.loads(given))
        assert isinstance(result, types.CallToolResult)
        data: dict[str, Any] = result.structured_content or {}
        its_own = str(data.get("task_id", self._task))
        if name == "run_task":
            self._task = its_own
        text = "\n".join(part.text for part in result.content if isinstance(part, types.TextContent))
        text = text.replace(self._url, SITE).replace(self._task, "TASK").replace(its_own, "ANOTHER")
        for pattern, instead in (*_MASKS, *(_PACE if name in ("get_task", "stop_task") else ())):
            text = pattern.sub(instead, text)
        links = [part.name for part in result.content if isinstance(part, types.ResourceLink)]
        return [*text.splitlines(), *([f"(and links: {', '.join(links)})"] if links else [])]

    async def until(self, words: str) -> None:
        """Wait until get_task shows these words."""
        while not any(words in line for line in await self.call("get_task", {"task_id": "TASK"})):
            pass
