"""Where the page script runs: in a world of its own over CDP, or in the page's world through Playwright."""

import asyncio
import contextlib
import json
import time
from collections.abc import Iterable
from typing import Any, Protocol, cast
from weakref import WeakValueDictionary

from playwright.async_api import CDPSession, ElementHandle, Frame, JSHandle, Page
from playwright.async_api import Error as PlaywrightError

from mcp_browser.dom.cdp import send
from mcp_browser.dom.driver_errors import is_context_gone, is_frame_gone
from mcp_browser.dom.patience import SMALL, patience_for, seconds, within
from mcp_browser.dom.scripts import page_script, receive_script
from mcp_browser.dom.sent_secrets import SentSecrets
from mcp_browser.errors import ActionError, DeadlineExceeded

WORLD_NAME = "mcp-browser"
DOOR = "__mcpBrowserDoor"

MOST_TRIES = 3
"""How often a question is put anew because the document went away under it."""

LONGEST_ANSWER = 25.0
"""How long a page, unless it is large, may take to answer before its script is broken off, seconds."""

SLOW = 3.0
"""An answer that took longer, in seconds: the page is counted before it is asked again."""

SILENCE_SECONDS = 1.0
"""After which a page that does not answer to the simplest question is busy with a script."""


class WorldLost(Exception):
    """The document that the world belonged to is gone."""


class FrameGone(Exception):
    """The frame is gone, or it lives in another process now."""


class World(Protocol):
    """The page script in one frame."""

    elements: int
    """How many elements the frame's document had when they were last counted; 0 where they never were."""

    reading: bool
    """Whether the page answers to others and the page script is at work in it."""

    async def run(self, method: str, *args: Any) -> Any:
        """What a method of the page script gives.

        Raises:
            FrameGone: there is no such frame any more.
            DeadlineExceeded: the page does not answer.
        """

    async def add(self, name: str, source: str) -> None:
        """Run a library's script, unless its global `name` is there already.

        Raises:
            FrameGone: there is no such frame any more.
        """

    async def frame(self) -> Frame:
        """Playwright's frame."""
        ...


class Worlds(Protocol):
    """The worlds of one page's frames."""

    async def main(self) -> World:
        """The world of the main frame."""
        ...

    async def within(self, parent: World, ids: Iterable[int]) -> dict[int, World]:
        """The worlds of the frames that stand in these elements of `parent`, by the elements' ids."""
        ...


class IsolatedWorld:
    """The page script in a world of its own, out of the page's reach (Chromium)."""

    def __init__(self, session: CDPSession, frame_id: str, channel: str, owner: "IsolatedWorlds") -> None:
        """Run in the frame `frame_id` of the process that `session` talks to."""
        self.session = session
        self.frame_id = frame_id
        self._channel = channel
        self._owner = owner
        self._context: int | None = None
        self._heard = False  # Whether it is heard what forms send in the document
        self.elements = 0
        self.reading = False
        self._was_slow = False
        self.stands_in: tuple[IsolatedWorld, int] | None = None
        """The world around it and the id of its frame's element there, once it has been found by them."""

    async def run(self, method: str, *args: Any) -> Any:
        """Take one evaluation, three where the document is new."""
        call = f"{DOOR}.run({json.dumps(method)},{json.dumps(args)})"
        for _ in range(MOST_TRIES):
            try:
                return await self._evaluate(call)
            except WorldLost:
                continue
        raise FrameGone

    async def add(self, name: str, source: str) -> None:
        """Run a library in this world, unless its global `name` is there."""
        for _ in range(MOST_TRIES):
            with contextlib.suppress(WorldLost):
                if not await self._evaluate(f"String(typeof globalThis.{name} === 'object')"):
                    await self._evaluate(f"(() => {{ {source}\n; return 'true' }})()")
                return
        raise FrameGone

    async def object_of(self, backend_node: int) -> int:
        """The page script's id of a node that CDP knows."""
        await self.run("doc")
        node = await send(
            self.session, "DOM.resolveNode", backendNodeId=backend_node, executionContextId=self._context
        )
        given = await send(
            self.session,
            "Runtime.callFunctionOn",
            objectId=node["object"]["objectId"],
            functionDeclaration=f"function () {{ return {DOOR}.idOf(this) }}",
            returnByValue=True,
        )
        return int(given["result"]["value"])

    async def open_hosts(self, ids: Iterable[int]) -> bool:
        """Give the page script the closed shadow roots of these elements; whether there were any.

        Only CDP knows of closed roots that came with the HTML.
        """
        found = await asyncio.gather(*(self._closed_root(element_id) for element_id in ids))
        return any(found)

    async def _closed_root(self, element_id: int) -> bool:
        try:
            host = await send(
                self.session,
                "Runtime.evaluate",
                contextId=self._context,
                expression=f"{DOOR}.element({element_id})",
            )
            described = await send(
                self.session, "DOM.describeNode", objectId=host["result"]["objectId"], depth=0, pierce=True
            )
            roots = [
                root["backendNodeId"]
                for root in described["node"].get("shadowRoots", [])
                if root["shadowRootType"] == "closed"
            ]
            for root in roots:
                node = await send(
                    self.session, "DOM.resolveNode", backendNodeId=root, executionContextId=self._context
                )
                await send(
                    self.session,
                    "Runtime.callFunctionOn",
                    objectId=node["object"]["objectId"],
                    functionDeclaration=f"function () {{ {DOOR}.adopt(this) }}",
                )
        except (PlaywrightError, KeyError):
            return False  # The element or its document went away meanwhile.
        return bool(roots)

    async def frame(self) -> Frame:
        """Find the frame by way of the elements that frames stand in."""
        return await self._owner.frame_of(self)

    async def _evaluate(self, call: str) -> Any:
        is_new = self._context is None
        if is_new:
            await self._enter()
            # A document that comes back from the history has the script already.
            install = f"globalThis.{DOOR} = {page_script()}({json.dumps(self._channel)})"
            call = f"(typeof globalThis.{DOOR}?.run === 'function' || ({install})), {call}"
        if is_new or self._was_slow or self.elements > SMALL:
            # Nothing long waits in line behind a busy page: it would be done though nobody waits for it.
            await self._count()
        self._was_slow = True
        begun = time.monotonic()
        try:
            answer = await self._send(call)
        finally:
            self.reading = False
        self._was_slow = time.monotonic() - begun > SLOW
        told = json.loads(answer)
        match told:
            case {"secret": True} if self._owner.sent and self._context and not self._heard:
                self._heard = True
                self._owner.sent.hear(self.session, self._context, f"{DOOR}.run('sent',[])")
            case _:
                pass
        return told

    async def _count(self) -> None:
        self.elements = int(await self._send("document.getElementsByTagName('*').length"))
        self.reading = True

    async def _enter(self) -> None:
        try:
            world = await send(
                self.session,
                "Page.createIsolatedWorld",
                frameId=self.frame_id,
                worldName=WORLD_NAME,
                grantUniveralAccess=True,
            )
        except PlaywrightError as error:
            if is_frame_gone(error):
                raise FrameGone from error
            raise
        self._context = world["executionContextId"]
        self._heard = False

    async def _send(self, expression: str) -> Any:
        sending = send(
            self.session,
            "Runtime.evaluate",
            contextId=self._context,
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
        )
        try:
            answer = await within(sending, lambda: LONGEST_ANSWER + patience_for(self.elements))
        except TimeoutError as error:
            failure = unanswered(self.elements, reading=self.reading)
            await break_off(self.session)
            raise failure from error
        except PlaywrightError as error:
            if is_context_gone(error):
                self._context = None
                raise WorldLost from error
            if is_frame_gone(error):
                raise FrameGone from error
            raise
        if "exceptionDetails" in answer:
            failure = _failure(answer["exceptionDetails"], self.elements)
            if f"{DOOR} is not defined" in str(failure):
                # Each of the browser's processes counts its own contexts: the number is another's by now.
                self._context = None
                raise WorldLost
            raise failure
        return answer["result"]["value"]


class IsolatedWorlds:
    """The isolated worlds of a page's frames, those in other processes included."""

    def __init__(self, page: Page, channel: str, sent: SentSecrets | None = None) -> None:
        self._page = page
        self._channel = channel
        self.sent = sent
        self._main: IsolatedWorld | None = None
        self._by_frame: WeakValueDictionary[str, IsolatedWorld] = WeakValueDictionary()
        self._sessions: dict[Frame, CDPSession] = {}
        page.on("framedetached", self._on_detached)

    async def main(self) -> IsolatedWorld:
        """Connect to the page with the first call."""
        if self._main is None:
            session = await self._page.context.new_cdp_session(self._page)
            tree = (await send(session, "Page.getFrameTree"))["frameTree"]
            self._main = self._world(session, tree["frame"]["id"])
        return self._main

    async def within(self, parent: World, ids: Iterable[int]) -> dict[int, World]:
        """Match the frames with the elements by way of CDP."""
        assert isinstance(parent, IsolatedWorld)
        wanted = set(ids)
        found: dict[int, World] = {}
        children = await self._children(parent)
        for frame_id, session in children.items():
            if len(found) == len(wanted):
                break
            try:
                owner = await send(parent.session, "DOM.getFrameOwner", frameId=frame_id)
                owner_id = await parent.object_of(owner["backendNodeId"])
            except (PlaywrightError, FrameGone):
                continue  # It went away while it was looked for.
            if owner_id in wanted:
                world = self._world(session, frame_id)
                world.stands_in = (parent, owner_id)
                found[owner_id] = world
        return found

    async def frame_of(self, world: IsolatedWorld) -> Frame:
        """Playwright's frame of a world, by way of the elements that the frames stand in."""
        for frame, session in self._sessions.items():
            if session is world.session and world.frame_id == await self._root_id(session):
                return frame
        if world.stands_in is None:
            if world is not await self.main():
                raise FrameGone
            return self._page.main_frame
        parent, owner_id = world.stands_in
        handle = await handle_of(parent, owner_id)
        frame = await handle.content_frame()
        if frame is None:
            raise FrameGone
        return frame

    async def _root_id(self, session: CDPSession) -> str:
        return cast("str", (await send(session, "Page.getFrameTree"))["frameTree"]["frame"]["id"])

    def _world(self, session: CDPSession, frame_id: str) -> IsolatedWorld:
        world = self._by_frame.get(frame_id)
        if world is None or world.session is not session:
            world = self._by_frame[frame_id] = IsolatedWorld(session, frame_id, self._channel, self)
        return world

    async def _children(self, parent: IsolatedWorld) -> dict[str, CDPSession]:
        """The frames directly within a frame: their CDP ids, and the sessions that speak for them."""
        children: dict[str, CDPSession] = {}
        tree = (await send(parent.session, "Page.getFrameTree"))["frameTree"]
        for branch in _branches(tree):
            if branch["frame"]["id"] == parent.frame_id:
                for child in branch.get("childFrames", []):
                    children[child["frame"]["id"]] = parent.session
        for frame in self._page.frames[1:]:
            session = self._sessions.get(frame)
            if session is None:
                try:
                    session = await self._page.context.new_cdp_session(frame)
                except PlaywrightError:
                    continue  # It shares its parent's process.
                self._sessions[frame] = session
            try:
                root = (await send(session, "Page.getFrameTree"))["frameTree"]["frame"]
            except PlaywrightError:
                self._sessions.pop(frame, None)  # It has gone over to another process.
                continue
            children.setdefault(root["id"], session)
            children[root["id"]] = session
        return children

    def _on_detached(self, frame: Frame) -> None:
        self._sessions.pop(frame, None)


class MainWorld:
    """The page script in the page's own world, for browsers that offer no other."""

    elements = 0
    reading = False

    def __init__(self, frame: Frame, channel: str) -> None:
        self._frame = frame
        self._channel = channel
        self._door: JSHandle | None = None

    async def run(self, method: str, *args: Any) -> Any:
        """Evaluate in the page's own world, twice where the document goes away."""
        for last_try in (False, True):
            try:
                async with asyncio.timeout(LONGEST_ANSWER):
                    door = await self.door()
                    answer = await door.evaluate(
                        "(door, [method, args]) => door.run(method, args)", [method, args]
                    )
                return json.loads(answer)
            except TimeoutError as error:
                raise unanswered(0, reading=False) from error
            except PlaywrightError as error:
                self._door = None
                if self._frame.is_detached():
                    raise FrameGone from error
                lost = is_context_gone(error) or "navigat" in error.message
                if last_try or not lost:
                    raise
        raise AssertionError

    async def add(self, name: str, source: str) -> None:
        """Run a library in the page's own world, unless its global `name` is there."""
        try:
            if not await self._frame.evaluate(f"typeof globalThis.{name} !== 'undefined'"):
                await self._frame.evaluate(f"() => {{ {source}\n }}")
        except PlaywrightError as error:
            if is_context_gone(error):
                raise FrameGone from error
            raise

    async def door(self) -> JSHandle:
        """The page script's object in the page."""
        if self._door is None:
            self._door = await self._frame.evaluate_handle(
                f"channel => ({page_script()})(channel)", self._channel
            )
        return self._door

    async def frame(self) -> Frame:
        """The frame itself."""
        return self._frame


class MainWorlds:
    """The page's own worlds, frame by frame."""

    def __init__(self, page: Page, channel: str) -> None:
        self._page = page
        self._channel = channel
        self._by_frame: WeakValueDictionary[Frame, MainWorld] = WeakValueDictionary()

    async def main(self) -> MainWorld:
        """The world of Playwright's main frame."""
        return self._world(self._page.main_frame)

    async def within(self, parent: World, ids: Iterable[int]) -> dict[int, World]:
        """Ask each frame which element it stands in."""
        assert isinstance(parent, MainWorld)
        wanted = set(ids)
        found: dict[int, World] = {}
        for frame in (await parent.frame()).child_frames:
            if frame.is_detached():
                continue
            try:
                element = await frame.frame_element()
                owner = await (await parent.door()).evaluate("(door, element) => door.idOf(element)", element)
            except PlaywrightError:
                continue  # It went away while it was looked for.
            if owner in wanted:
                found[owner] = self._world(frame)
        return found

    def _world(self, frame: Frame) -> MainWorld:
        world = self._by_frame.get(frame)
        if world is None:
            world = self._by_frame[frame] = MainWorld(frame, self._channel)
        return world


async def handle_of(world: World, element_id: int) -> ElementHandle:
    """Playwright's handle of an element that the page script knows by its id.

    The page script sends the element to the page's own world in an event that is listened for there.
    """
    frame = await world.frame()
    if isinstance(world, MainWorld):
        found = await (await world.door()).evaluate_handle("(door, id) => door.element(id)", element_id)
    else:
        name = f"{WORLD_NAME}-{id(world)}-{element_id}"
        box = await frame.evaluate_handle(receive_script(), name)
        await world.run("send", element_id, name)
        found = await box.evaluate_handle("box => box.element")
    element = found.as_element()
    if element is None:
        raise FrameGone
    return element


async def answers(session: CDPSession) -> bool:
    """Whether no script keeps the page busy."""
    try:
        async with asyncio.timeout(SILENCE_SECONDS):
            await send(session, "Runtime.evaluate", expression="1")
    except TimeoutError:
        return False
    except PlaywrightError:
        return True
    return True


async def break_off(session: CDPSession) -> None:
    """Stop the script that keeps a page busy; the page goes on."""
    try:
        async with asyncio.timeout(2):
            await send(session, "Runtime.terminateExecution")
    except (PlaywrightError, TimeoutError):
        return


def unanswered(elements: int, *, reading: bool) -> ActionError:
    """The error for a page that does not answer, or that takes too long to be read."""
    limit = seconds(LONGEST_ANSWER + patience_for(elements))
    if reading:
        return DeadlineExceeded(f"{reading_of(elements)} took longer than {limit}.", hint=READING_HINT)
    return DeadlineExceeded(
        f"The page did not answer within {limit}: a script on it runs without end.",
        hint="Its script was stopped. Try again, or leave the page with go_to_url or reload.",
    )


READING_HINT = "Try again once the page is at rest, or leave it with go_to_url."


def reading_of(elements: int) -> str:
    """What is going on while the page script is at work."""
    about = int(float(f"{elements:.2g}"))
    return f"Reading the page of about {about:,} elements"


def _branches(tree: dict[str, Any]) -> Iterable[dict[str, Any]]:
    rest = [tree]
    while rest:
        branch = rest.pop()
        yield branch
        rest.extend(branch.get("childFrames", []))


def _failure(details: dict[str, Any], elements: int) -> Exception:
    exception = details.get("exception", {})
    text = str(exception.get("description") or exception.get("value") or details.get("text", ""))
    if "Execution was terminated" in text or "Execution was terminated" in str(details.get("text", "")):
        return unanswered(elements, reading=False)
    return RuntimeError(f"the page script failed: {text}")
