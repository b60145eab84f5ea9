"""A client of MCP's tasks extension: asks how a call stands until that has ended, and answers questions."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar, Literal

import mcp_types as types
from mcp import Client
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ClientSession
from pydantic import ConfigDict

from mcp_browser.server.tasks import EXTENSION, TaskHandle

Answer = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
ENDS = ("completed", "failed", "cancelled")


class TaskRequest(types.Request[dict[str, Any], Literal["tasks/get", "tasks/update", "tasks/cancel"]]):
    name_param: ClassVar[str | None] = "taskId"


class Anything(types.Result):
    model_config = ConfigDict(extra="allow")


async def ask(
    session: ClientSession,
    method: Literal["tasks/get", "tasks/update", "tasks/cancel"],
    task: str,
    **params: Any,
) -> dict[str, Any]:
    """What the server answers to one of the extension's requests."""
    request = TaskRequest(method=method, params={"taskId": task, **params})
    return (await session.send_request(request, Anything)).model_dump(exclude_none=True, by_alias=True)


async def state_in(session: ClientSession, task: str, *statuses: str) -> dict[str, Any]:
    """How a call stands once it has one of these statuses."""
    async with asyncio.timeout(30):
        while (state := await ask(session, "tasks/get", task))["status"] not in statuses:  # noqa: ASYNC110 - polled
            await asyncio.sleep(0.02)
    return state


async def ended(session: ClientSession, task: str) -> dict[str, Any]:
    return await state_in(session, task, *ENDS)


async def begun(client: Client, **arguments: Any) -> TaskHandle:
    """The handle that `run_task` is answered with."""
    handle = await client.session.call_tool("run_task", arguments, allow_claimed=True)
    assert isinstance(handle, TaskHandle), handle
    return handle


class LongCallsExtension(ClientExtension):
    """Declares the extension, and brings a long call to its end; `states` is what it was told on the way."""

    identifier = EXTENSION

    def __init__(self, answer: Answer | None = None) -> None:
        self.states: list[dict[str, Any]] = []
        self._answer = answer

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=TaskHandle, resolve=self._resolve)]

    async def _resolve(self, handle: TaskHandle, context: ClaimContext) -> types.CallToolResult:
        answered: set[str] = set()
        while True:
            state = await ask(context.session, "tasks/get", handle.task_id)
            self.states.append(state)
            if state["status"] == "completed":
                return types.CallToolResult.model_validate(state["result"])
            assert state["status"] in ("working", "input_required"), state
            for key, asked in state.get("inputRequests", {}).items():
                if key not in answered:
                    assert self._answer is not None
                    answered.add(key)
                    responses = {key: await self._answer(asked)}
                    await ask(context.session, "tasks/update", handle.task_id, inputResponses=responses)
            await asyncio.sleep(0.02)
