"""What a person does on a page, as its page script reports it."""

import contextlib
import json
from collections.abc import Callable
from secrets import token_hex
from typing import Any

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from mcp_browser.dom.cdp import send
from mcp_browser.dom.driver_errors import FrameGone
from mcp_browser.dom.frames import Frames
from mcp_browser.dom.identities import ElementRecord, element_record
from mcp_browser.dom.references import References
from mcp_browser.dom.scripts import page_script
from mcp_browser.dom.worlds import API, WORLD_NAME, World

Report = dict[str, Any]
"""What is reported: its `kind`, the document `doc`, whether that is the page's own (`top`), and more."""


class PersonReports:
    """Reports what a person does on one page, in all its frames; by nothing that the page can call."""

    def __init__(self, frames: Frames, references: References) -> None:
        self._frames = frames
        self._references = references
        self._name = ""
        self._take: Callable[[Report], None] = lambda _: None
        self._begun: list[tuple[CDPSession, str]] = []
        self._places: dict[str, tuple[World, tuple[str, ...]]] = {}  # World and frames, by document

    async def follow(self, take: Callable[[Report], None]) -> None:
        """Call `take` with each report from now on, also of documents to come."""
        # The page script reports by a function of its world with a random name.
        self._name, self._take = f"x{token_hex(12)}", take
        await self._frames.worlds.follow_sessions(self._listen)
        with contextlib.suppress(FrameGone):  # The page goes to another address.
            await self.meet()

    async def meet(self) -> None:
        """Find the frames that have come. Raises FrameGone: the page goes to other addresses meanwhile."""
        async for frame, answer in self._frames.each("recordPerson", self._name):
            if answer["doc"] not in self._places:
                self._places[answer["doc"]] = frame.world, await self._frames.paths_to(frame.world)

    async def leave(self) -> None:
        """Report nothing more."""
        self._frames.worlds.on_session = None
        begun, self._begun = self._begun, []
        for session, identifier in begun:
            session.remove_listener("Runtime.bindingCalled", self._on_call)
            with contextlib.suppress(PlaywrightError):
                await send(session, "Page.removeScriptToEvaluateOnNewDocument", identifier=identifier)
                await send(session, "Runtime.removeBinding", name=self._name)
                await send(session, "Runtime.disable")
        async for _ in self._frames.each("recordPerson", None):
            pass

    async def _listen(self, session: CDPSession) -> None:
        """Take what is reported in the frames that a session speaks for, in documents to come, too."""
        session.on("Runtime.bindingCalled", self._on_call)
        await send(session, "Page.enable")
        # Else the function is in no document that comes.
        await send(session, "Runtime.enable")
        await send(session, "Runtime.addBinding", name=self._name, executionContextName=WORLD_NAME)
        given = json.dumps([self._frames.worlds.channel, ""])
        install = f"globalThis.{API} ??= {page_script()}(...{given})"
        script = f"{install}; {API}.run('recordPerson', {json.dumps([self._name])})"
        added = await send(
            session, "Page.addScriptToEvaluateOnNewDocument", source=script, worldName=WORLD_NAME
        )
        self._begun.append((session, added["identifier"]))

    def _on_call(self, event: dict[str, Any]) -> None:
        if event["name"] == self._name:
            self._take(json.loads(event["payload"]))

    async def choose(self, *, wanted: bool) -> None:
        """Let the next click report what it is on and do nothing else, or do again what clicks do."""
        async for _ in self._frames.each("chooseNext", wanted):
            pass

    async def record(self, report: Report) -> ElementRecord:
        """The element of a report, with an index. Raises FrameGone: it is not known which frame reports."""
        element, document = report["element"], report["doc"]
        if report["top"]:
            world, frames = (await self._frames.main()).world, ()
        else:
            if document not in self._places:
                await self.meet()
            if document not in self._places:
                raise FrameGone
            world, frames = self._places[document]
        return element_record(self._references.index(element["id"], world, document), element, frames)

    async def files(self, index: int, count: int) -> list[str]:
        """The paths of the files that a file input holds; none where the browser does not give them."""
        ref = self._references[index]
        try:
            field = await ref.world.object(ref.id)
            paths: list[str] = []
            session = ref.world.session
            read = {"objectId": field, "functionDeclaration": "function (n) { return this.files[n] }"}
            for number in range(count):
                given = {**read, "arguments": [{"value": number}]}
                file = await send(session, "Runtime.callFunctionOn", **given)
                info = await send(session, "DOM.getFileInfo", objectId=file["result"]["objectId"])
                paths.append(info["path"])
        except (KeyError, PlaywrightError):
            return []
        return [path for path in paths if path]
