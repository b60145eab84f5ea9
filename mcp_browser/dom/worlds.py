"""Where the page script runs: in each frame, in a world of its own that the page cannot reach, over CDP."""

import asyncio
import contextlib
import json
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit
from weakref import WeakSet, WeakValueDictionary

from playwright.async_api import CDPSession, Frame, Page, Request
from playwright.async_api import Error as PlaywrightError

from mcp_browser.dom.cdp import SMALL, extra_seconds, seconds, send
from mcp_browser.dom.driver_errors import FrameGone, is_context_gone, is_frame_gone
from mcp_browser.dom.scripts import page_script
from mcp_browser.errors import ActionError, DeadlineExceeded

T = TypeVar("T")

WORLD_NAME = "mcp-browser"
API = "__mcpBrowserApi"
COUNT = "document.getElementsByTagName('*').length"
FOR_VALUE = {"returnByValue": True, "awaitPromise": True}  # What makes an evaluation give its value
MOST_TRIES = 3  # How often a question is put anew because the document went away under it
LONGEST_ANSWER = 25.0  # Seconds a page, unless it is large, may take to answer until its script is stopped
SLOW = 3.0  # An answer that took longer, in seconds: the page is counted before it is asked again
ROOT_SECONDS = 2.0  # How long a frame in a process of its own may take to say which one it is
SILENCE_SECONDS = 1.0  # After which a page that does not answer to the simplest question is busy
MOST_ORIGINS = 20  # Of how many origins it is kept which waits changed nothing, about 10 kB each
MOST_KEPT = 20  # How many addresses and pairs of a page are kept: it may make as many forms as it likes
MOST_PAIRS = 100  # How many pairs of a name and a secret are heard of from a document, and reported of a page


class SentSecrets:
    """Reports each name with its value that a page's forms have written into an address, as they stand there.

    The page script says what forms gather; a page that has no secret field is not asked.
    """

    def __init__(self, page: Page, notify: Callable[[str], None]) -> None:
        self._notify = notify
        self._notified: set[str] = set()
        self._pairs: deque[str] = deque(maxlen=MOST_KEPT)
        self._addresses: deque[str] = deque(maxlen=MOST_KEPT)
        page.on("request", self._on_request)

    async def hear(self, cdp: CDPSession, context: int, call: str) -> None:
        """Wait for what forms gather in a document, until it goes; `call` asks its page script for it."""
        # The document goes, or its page script is none.
        with contextlib.suppress(PlaywrightError, KeyError):
            for _ in range(MOST_PAIRS):
                answer = await send(cdp, "Runtime.evaluate", contextId=context, expression=call, **FOR_VALUE)
                self._pairs.extend(json.loads(answer["result"]["value"])["pairs"])
                self._compare()

    def _on_request(self, request: Request) -> None:
        if "=" in request.url and request.is_navigation_request():
            self._addresses.append(request.url)
            self._compare()

    def _compare(self) -> None:
        for pair in set(self._pairs) - self._notified:
            if len(self._notified) < MOST_PAIRS and any(pair in address for address in self._addresses):
                self._notified.add(pair)
                self._notify(pair)


class WorldLost(Exception):
    """The document that the world belonged to is gone."""


class World:
    """The page script in one frame."""

    def __init__(self, session: CDPSession, frame_id: str, owner: "Worlds") -> None:
        """Run in the frame `frame_id` of the process that `session` talks to."""
        self.session = session
        self.frame_id = frame_id
        self._owner = owner
        self._context: int | None = None  # Of the document that the script's source was put into
        self._entering: asyncio.Task[None] | None = None
        self._installed = False
        self._heard = False  # Whether it is heard what forms send in the document
        self.elements = 0  # Of the document, when they were last counted; 0 where they never were
        self.reading = False  # Whether the page answers to others and the page script is at work in it
        self._was_slow = False
        self.is_main = False  # Whether it is that of the page itself

    async def run(self, method: str, *args: Any) -> Any:
        """Return what a method of the page script returns; raises FrameGone, DeadlineExceeded."""
        return await self._evaluate(f"{API}.run({json.dumps(method)},{json.dumps(args)})")

    async def add(self, name: str, source: str) -> None:
        """Run a library in this world, unless its global `name` is there; raises FrameGone."""
        if not await self._evaluate(f"String(typeof globalThis.{name} === 'object')"):
            await self._evaluate(f"(() => {{ {source}\n; return 'true' }})()")

    async def open_hosts(self, ids: Iterable[int]) -> bool:
        """Give the page script the closed roots of these elements, which CDP knows; whether there are any."""
        return any(await asyncio.gather(*map(self._closed_root, ids)))

    async def _closed_root(self, element_id: int) -> bool:
        try:
            host = await self.object(element_id)
            described = await send(self.session, "DOM.describeNode", objectId=host, depth=0, pierce=True)
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
                    functionDeclaration=f"function () {{ return {API}.adopt(this) }}",
                    returnByValue=True,
                )
        except (PlaywrightError, KeyError):
            return False  # The element or its document went away meanwhile.
        return bool(roots)

    async def object(self, element_id: int) -> str:
        """Return the CDP object id of an element that the page script knows. Raises KeyError: it is gone."""
        call = f"{API}.element({element_id})"
        found = await send(self.session, "Runtime.evaluate", contextId=self._context, expression=call)
        if "exceptionDetails" in found:
            raise KeyError(element_id)  # The script is not in the document: it has come meanwhile.
        return str(found["result"]["objectId"])

    async def frames_in(self, ids: Sequence[int]) -> dict[int, str]:
        """The CDP ids of the frames that stand in these elements, by the elements' ids."""
        windows = f"{json.dumps(ids)}.map((id) => {API}.element(id)?.contentWindow)"
        deep = {"serialization": "deep", "maxDepth": 2}
        try:
            answer = await send(
                self.session,
                "Runtime.evaluate",
                contextId=self._context,
                expression=windows,
                serializationOptions=deep,
                objectGroup=WORLD_NAME,
            )
            self._owner.begin(send(self.session, "Runtime.releaseObjectGroup", objectGroup=WORLD_NAME))
            given = zip(ids, answer["result"]["deepSerializedValue"]["value"], strict=True)
        except (PlaywrightError, KeyError):
            return {}  # The document is gone.
        found = {owner: str(one["value"]["context"]) for owner, one in given if one["type"] == "window"}
        # The window of an `embed` cannot be asked for.
        rest = [owner for owner in ids if owner not in found]
        described = zip(rest, await asyncio.gather(*map(self._frame_in, rest)), strict=True)
        return found | {owner: frame_id for owner, frame_id in described if frame_id}

    async def _frame_in(self, element_id: int) -> str | None:
        try:
            owner = await send(self.session, "DOM.describeNode", objectId=await self.object(element_id))
            return str(owner["node"]["frameId"])
        except (PlaywrightError, KeyError):
            return None

    async def object_in_page(self, element_id: int) -> str:
        """Return the CDP object id of the same element in the page's own world; raises KeyError."""
        node = await send(self.session, "DOM.describeNode", objectId=await self.object(element_id))
        found = await send(self.session, "DOM.resolveNode", backendNodeId=node["node"]["backendNodeId"])
        return str(found["object"]["objectId"])

    async def _evaluate(self, call: str) -> Any:
        for _ in range(MOST_TRIES):
            with contextlib.suppress(WorldLost):
                return await self._evaluate_once(call)
        raise FrameGone

    async def _evaluate_once(self, call: str) -> Any:
        if self._context is None:
            await self._enter()
        context = self._context
        question = call
        if not self._installed:
            # A document that comes back from the history has the script already.
            given = json.dumps([self._owner.channel, self._owner.learnt_before(self)])
            install = f"globalThis.{API} = {API}Install(...{given})"
            call = f"(typeof globalThis.{API}?.run === 'function' || ({install})), {call}"
            question = f"(count => count > {SMALL} ? count : ({call}))({COUNT})"
        if self._was_slow or self.elements > SMALL:
            # Nothing long waits in line behind a busy page: it would be done though nobody waits for it.
            self.elements = int(await self._send(COUNT))
            self.reading, question = True, call
        self._was_slow = True
        begun = time.monotonic()
        try:
            answer = await self._send(question)
            if isinstance(answer, int):
                self.elements, self.reading = answer, True
                answer = await self._send(call)
        finally:
            self.reading = False
        self._installed = True
        self._was_slow = time.monotonic() - begun > SLOW
        given = json.loads(answer)
        match given:
            case {"secret": True} if context and context == self._context and not self._heard:
                self._heard = True
                self._owner.begin(self._owner.sent.hear(self.session, context, f"{API}.run('sent',[])"))
            case {"learnt": {"origin": str(origin), "text": str(text)}} if self.is_main:
                self._owner.learn(origin, text)
            case _:
                pass
        return given

    async def prepare(self) -> None:
        """Put the script's source into a document that has just come, before anything is asked of it."""
        with contextlib.suppress(PlaywrightError, FrameGone):
            await self._enter()

    async def _enter(self) -> None:
        if self._entering is None or self._entering.done():
            self._entering = self._owner.begin(self._create())
        await asyncio.shield(self._entering)

    async def _create(self) -> None:
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
        context = int(world["executionContextId"])
        if context == self._context:
            return
        self._context, self._installed, self._heard, self.elements = context, False, False, 0
        # The same text for each document: each of the browser's processes compiles it once. Its answer need
        # not be awaited, as a session runs commands in their order; `sleep` lets it be sent first.
        source = f"globalThis.{API}Install = {page_script()}, 0"
        self._owner.begin(send(self.session, "Runtime.evaluate", contextId=context, expression=source))
        await asyncio.sleep(0)

    async def _send(self, expression: str) -> Any:
        context = self._context
        try:
            async with asyncio.timeout(LONGEST_ANSWER + extra_seconds(self.elements)):
                answer = await send(
                    self.session, "Runtime.evaluate", contextId=context, expression=expression, **FOR_VALUE
                )
        except TimeoutError as error:
            failure = unanswered(self.elements, reading=self.reading)
            await break_off(self.session)
            raise failure from error
        except PlaywrightError as error:
            if is_context_gone(error):
                self._lose(context)
                raise WorldLost from error
            if is_frame_gone(error):
                raise FrameGone from error
            raise
        if "exceptionDetails" in answer:
            failure = _failure(answer["exceptionDetails"], self.elements)
            if re.search(f"{API}(Install)? is not defined", str(failure)):
                # Each of the browser's processes counts its own contexts: the number is another's by now.
                self._lose(context)
                raise WorldLost
            raise failure
        return answer["result"]["value"]

    def _lose(self, context: int | None) -> None:
        """Forget a context that is gone, unless another was entered meanwhile."""
        if self._context == context:
            self._context = None


class Worlds:
    """The isolated worlds of a page's frames, those in other processes included."""

    def __init__(self, page: Page, channel: str, sent: SentSecrets, learnt: dict[str, str]) -> None:
        self._page = page
        self._learnt = learnt
        self.channel = channel
        self.sent = sent
        self._main: World | None = None
        self._by_frame: WeakValueDictionary[str, World] = WeakValueDictionary()
        self._sessions: dict[Frame, asyncio.Task[CDPSession]] = {}
        self._known: WeakSet[Frame] = WeakSet()  # The frames that there were when `has_new` was asked
        # What `follow_sessions` has begun, for sessions to come
        self.on_session: Callable[[CDPSession], Awaitable[None]] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        page.on("framedetached", self._on_detached)
        page.on("domcontentloaded", lambda _: self._main and self.begin(self._main.prepare()))

    async def main(self) -> World:
        """Connect to the page with the first call."""
        if self._main is None:
            session = await self._page.context.new_cdp_session(self._page)
            tree = (await send(session, "Page.getFrameTree"))["frameTree"]
            self._main = self._world(session, tree["frame"]["id"])
            self._main.is_main = True
        return self._main

    async def follow_sessions(self, begin: Callable[[CDPSession], Awaitable[None]]) -> None:
        """Call `begin` with each session that serves frames, and with each one that is opened later."""
        main = await self.main()
        self.on_session = begin
        opened = [task.result() for task in self._sessions.values() if task.done() and not task.exception()]
        for session in (main.session, *opened):
            with contextlib.suppress(PlaywrightError):
                await begin(session)

    def learnt_before(self, world: World) -> str:
        """What the hook had learnt in earlier documents of the page's origin, as it said it."""
        parts = urlsplit(self._page.url) if world.is_main else None
        return self._learnt.get(f"{parts.scheme}://{parts.netloc}", "") if parts else ""

    def learn(self, origin: str, text: str) -> None:
        """Keep what the hook has learnt, for the next documents of the same origin."""
        self._learnt.pop(origin, None)
        self._learnt[origin] = text
        if len(self._learnt) > MOST_ORIGINS:
            del self._learnt[next(iter(self._learnt))]

    async def within(self, parent: World, ids: Iterable[int]) -> dict[int, World]:
        """Return the worlds of the frames that stand in these elements of `parent`, by the elements' ids."""
        children, found = await asyncio.gather(self._children(parent), parent.frames_in(tuple(ids)))
        return {
            owner: self._world(children[frame_id], frame_id)
            for owner, frame_id in found.items()
            if frame_id in children
        }

    def begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a task that may be left alone: asyncio does not log its error then."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        return task

    def has_new(self) -> bool:
        """Whether frames of other sites have come since this was asked last."""
        known, sites = self._known, ("", urlsplit(self._page.url).netloc)
        self._known = WeakSet(one for one in self._page.frames[1:] if urlsplit(one.url).netloc not in sites)
        return not self._known <= known

    def _world(self, session: CDPSession, frame_id: str) -> World:
        world = self._by_frame.get(frame_id)
        if world is None or world.session is not session:
            world = self._by_frame[frame_id] = World(session, frame_id, self)
        return world

    async def _children(self, parent: World) -> dict[str, CDPSession]:
        """The frames directly within a frame: their CDP ids, and the sessions that speak for them."""
        answer, roots = await asyncio.gather(
            send(parent.session, "Page.getFrameTree"),
            asyncio.gather(*map(self._root_of, self._page.frames[1:])),
        )
        children: dict[str, CDPSession] = {}
        for branch in _branches(answer["frameTree"]):
            if branch["frame"]["id"] == parent.frame_id:
                for child in branch.get("childFrames", []):
                    children[child["frame"]["id"]] = parent.session
        return children | dict(filter(None, roots))

    async def _root_of(self, frame: Frame) -> tuple[str, CDPSession] | None:
        """The CDP id of a frame in a process of its own, and the session that speaks for it."""
        if frame not in self._sessions:
            self._sessions[frame] = self.begin(self._open(frame))
        try:
            async with asyncio.timeout(ROOT_SECONDS):
                session = await asyncio.shield(self._sessions[frame])
                return (await send(session, "Page.getFrameTree"))["frameTree"]["frame"]["id"], session
        except TimeoutError:
            return None  # Its script is busy.
        except PlaywrightError:
            self._sessions.pop(frame, None)  # It has gone over to another process, or shares its parent's.
            return None

    async def _open(self, frame: Frame) -> CDPSession:
        session = await self._page.context.new_cdp_session(frame)
        if self.on_session is not None:
            await self.on_session(session)
        return session

    def _on_detached(self, frame: Frame) -> None:
        self._sessions.pop(frame, None)


async def answers(session: CDPSession) -> bool:
    """Whether no script keeps the page busy."""
    try:
        async with asyncio.timeout(SILENCE_SECONDS):
            with contextlib.suppress(PlaywrightError):
                await send(session, "Runtime.evaluate", expression="1")
    except TimeoutError:
        return False
    return True


async def break_off(session: CDPSession) -> None:
    """Stop the script that keeps a page busy; the page goes on."""
    with contextlib.suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(2):
            await send(session, "Runtime.terminateExecution")


def unanswered(elements: int, *, reading: bool) -> ActionError:
    """The error for a page that does not answer, or that takes too long to be read."""
    limit = seconds(LONGEST_ANSWER + extra_seconds(elements))
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
    yield tree
    for child in tree.get("childFrames", []):
        yield from _branches(child)


def _failure(details: dict[str, Any], elements: int) -> Exception:
    exception = details.get("exception", {})
    text = str(exception.get("description") or exception.get("value") or details.get("text", ""))
    if "Execution was terminated" in f"{text} {details.get('text')}":
        return unanswered(elements, reading=False)
    return RuntimeError(f"the page script failed: {text}")
