"""The person behind an MCP client, as a run asks them."""

import asyncio
from typing import Any

import mcp_types as types

from mcp_browser.agent.control import Progress
from mcp_browser.server.runs import Run

PERSON_SECONDS = 900.0
"""How long a person may take to answer; then the run stops, and waits for `add_instructions`."""


class ClientWatcher:
    """The watcher of a run whose person is behind an MCP client."""

    def __init__(self, run: Run, can: types.ClientCapabilities) -> None:
        """Tell `run` its progress; `can` is what the client has declared."""
        self._run = run
        asking = can.elicitation
        # Clients from before there were modes declare none, and mean forms.
        self._takes_forms = asking is not None and (asking.form is not None or asking.url is None)

    async def progressed(self, progress: Progress) -> None:
        """Keep it for who asks, and wake who waits."""
        self._run.tell(progress)

    async def ask_person(self, question: str, choices: tuple[str, ...]) -> str | None:
        """The person's answer to a form of one field; None where nobody can be asked now."""
        if not self._takes_forms or not self._run.attended:
            return None
        answer: dict[str, Any] = {"type": "string", "title": "Answer"}
        if choices:
            answer["enum"] = list(choices)
        schema = {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
        params = types.ElicitRequestFormParams(message=question, requested_schema=schema)
        try:
            async with asyncio.timeout(PERSON_SECONDS):
                response = await self._run.mailbox.ask(types.ElicitRequest(params=params))
        except TimeoutError:
            return None
        if not isinstance(response, types.ElicitResult) or response.action != "accept":
            return None
        return str((response.content or {}).get("answer", ""))
