"""The workers of a page: what they may write is bounded, and they can be broken off."""

import asyncio
import itertools
import json
from collections.abc import Mapping
from typing import Any

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.concurrency import begin
from mcp_browser.dom.cdp import send
from mcp_browser.dom.scripts import limits_script

_ATTACHED = "Target.attachedToTarget"
_DETACHED = "Target.detachedFromTarget"
_TOLD = "Target.receivedMessageFromTarget"
# Of their own kind of session, which needs none of Playwright's, and nobody waits for them.
_ATTACHING: Mapping[str, Any] = {
    "autoAttach": True,
    "waitForDebuggerOnStart": False,
    "flatten": False,
    "filter": [{"type": "worker"}, {"type": "iframe"}, {"exclude": True}],
}


class Workers:
    """What runs for one page in threads and processes of its own."""

    def __init__(self, cdp: CDPSession) -> None:
        """`cdp` speaks to the page; `follow` has to be called."""
        self._cdp = cdp
        self._numbers = itertools.count(1)
        self._workers: set[tuple[str, ...]] = set()  # The sessions that lead to each

    async def follow(self) -> None:
        """Bound what each of them may write from now on, as soon as it begins."""
        for method in (_ATTACHED, _DETACHED, _TOLD):
            self._hear(method)
        await send(self._cdp, "Target.setAutoAttach", **_ATTACHING)

    async def break_off(self) -> None:
        """Stop the scripts that run in workers at this moment; what these wait for goes on."""
        await asyncio.gather(*(self._post(path, "Runtime.terminateExecution") for path in self._workers))

    def _hear(self, method: str) -> None:
        def take(event: dict[str, Any]) -> None:
            self._on_event(method, event, ())

        self._cdp.on(method, take)

    def _on_event(self, method: str, event: Mapping[str, Any], path: tuple[str, ...]) -> None:
        """Take in what the target that `path` leads to tells of one below it."""
        below = (*path, str(event.get("sessionId")))
        match method:
            case "Target.attachedToTarget":
                begin(self._limit(event["targetInfo"]["type"], below))
            case "Target.detachedFromTarget":
                self._workers = {known for known in self._workers if known[: len(below)] != below}
            case "Target.receivedMessageFromTarget":
                told = json.loads(event["message"])
                self._on_event(told.get("method", ""), told.get("params", {}), below)
            case _:
                pass

    async def _limit(self, kind: str, path: tuple[str, ...]) -> None:
        if kind == "worker":
            self._workers.add(path)
            # A loop at its very beginning is faster than this: that is broken off.
            await self._post(path, "Runtime.evaluate", expression=limits_script())
        await self._post(path, "Target.setAutoAttach", **_ATTACHING)

    async def _post(self, path: tuple[str, ...], method: str, **parameters: Any) -> None:
        """Send a command to the target that these sessions lead to; its answer is not waited for."""
        for session in reversed(path):
            message = json.dumps({"id": next(self._numbers), "method": method, "params": parameters})
            method, parameters = "Target.sendMessageToTarget", {"sessionId": session, "message": message}
        try:
            await send(self._cdp, method, **parameters)
        except PlaywrightError:
            return  # It has ended.
