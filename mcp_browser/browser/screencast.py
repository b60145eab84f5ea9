"""Pictures of a tab as it changes, while somebody watches."""

import asyncio
import base64
import contextlib
import time
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.addresses import may_show
from mcp_browser.browser.concurrency import begin
from mcp_browser.browser.page import TabPage
from mcp_browser.browser.pictures import encode_whole, size_of
from mcp_browser.dom.cdp import send
from mcp_browser.dom.driver_errors import FrameGone, is_closed
from mcp_browser.errors import ActionError, NotActionable
from mcp_browser.privacy.hiding import spellings
from mcp_browser.privacy.pictures import Cover, Covers, Shot

FRAMES_A_SECOND = 15
LOOKING_SECONDS = 5.0  # How long a page may take to report what to cover
RETRY_SECONDS = 0.3  # After how long a page that did not answer is asked again
LINGER_SECONDS = 0.5  # How long a place stays covered: a frame may be older than it seems
LATE_SECONDS = 1.0  # A slower answer says nothing about the frame before it
MOST_TRIES = 3  # Frames withheld in a row because covered places move


@dataclass(frozen=True, slots=True)
class Frame:
    """A JPEG of a tab, its time (seconds since 1970), and the size of the view in CSS pixels."""

    data: bytes
    time: float
    width: int
    height: int


Frames = MemoryObjectReceiveStream[Frame]


@dataclass(frozen=True, slots=True)
class _Look:
    """What to cover, at a time."""

    covers: Covers
    values: tuple[str, ...]
    time: float


@dataclass(slots=True, eq=False)
class _Watcher:
    """The frames of a tab for one watcher: always the newest; missed ones are left out."""

    giving: MemoryObjectSendStream[Frame]
    frames: Frames
    shown: bytes = b""

    def give(self, frame: Frame) -> None:
        """Add a frame, unless it equals the last one."""
        if frame.data != self.shown:
            self.shown = frame.data
            with contextlib.suppress(anyio.WouldBlock):
                self.frames.receive_nowait()
            self.giving.send_nowait(frame)


class Screencast:
    """The pictures of one tab, for any number of watchers; without any it does nothing.

    Secrets, and the content of secret fields, are painted over. A frame is given only if the places to cover
    are known before and after it, and have not moved in between; otherwise another one is requested.
    """

    def __init__(self, tab: TabPage) -> None:
        self._tab = tab
        self._settings = tab.settings
        self._watchers: set[_Watcher] = set()
        self._running: asyncio.Task[None] | None = None
        self._stopped: asyncio.Task[None] | None = None
        self._last: tuple[Frame, tuple[str, ...]] | None = None
        self._came: dict[str, Any] | None = None
        self._news = asyncio.Event()
        self._unacknowledged: deque[int] = deque()

    @contextlib.asynccontextmanager
    async def watch(self) -> AsyncGenerator[Frames]:
        """The frames of the tab from now on, the current one first, until it ends; raises NotActionable."""
        if self._settings.screenshots.screenshots == "never":
            raise NotActionable("Screenshots are switched off (screenshots=never).")
        first = self._last[0] if self._last is not None and self._last[1] == self._values() else None
        watcher = _Watcher(*anyio.create_memory_object_stream[Frame](1))
        if first is not None:
            watcher.give(first)
        self._watchers.add(watcher)
        if self._tab.closed:
            self.end()
        elif self._running is None:
            self._running = begin(self._run(self._tab.cdp, after=self._stopped))
            self._running.add_done_callback(lambda task: self.end() if task is self._running else None)
        elif first is None:
            # The current frame was not sent yet, or not with all covers.
            self._news.set()
        try:
            yield watcher.frames
        finally:
            watcher.giving.close()
            watcher.frames.close()
            self._watchers.discard(watcher)
            if not self._watchers:
                self._stop()

    def end(self) -> None:
        """The tab is gone: end all iterations."""
        while self._watchers:
            self._watchers.pop().giving.close()
        self._stop()

    def _stop(self) -> None:
        running, self._running, self._last = self._running, None, None
        if running is not None:
            running.cancel()
            self._stopped = running

    async def _run(self, cdp: CDPSession, after: asyncio.Task[None] | None) -> None:
        if after is not None:
            await asyncio.wait({after})
        cdp.on("Page.screencastFrame", self._on_frame)
        try:
            looks = deque([await self._look()])
            tries = 0
            provisional = False
            await self._start(cdp)
            while True:
                event = await self._next(cdp, limit=LINGER_SECONDS if provisional else None)
                begun = time.monotonic()
                looks.append(await self._look())
                fits = await anyio.to_thread.run_sync(_is_of_the_view, event)
                while len(looks) > 2 and looks[1].time < begun - LINGER_SECONDS:  # noqa: PLR2004
                    looks.popleft()
                before, seen = looks[-2].covers, looks[-1].covers
                # Whether no covered place moved between the last two looks, and the last one was quick.
                settled = before == seen and looks[-1].time - begun < LATE_SECONDS
                same_view = before.document == seen.document and before.view == seen.view
                settled = settled or (tries >= MOST_TRIES and same_view)
                if fits and settled:
                    tries = 0
                    provisional = await self._give(event, looks)
                else:
                    tries += 1
                    await self._start(cdp)
                await asyncio.sleep(max(0.0, begun + 1 / FRAMES_A_SECOND - time.monotonic()))
        except PlaywrightError:
            return  # The tab is gone; `end` is called for that.
        finally:
            cdp.remove_listener("Page.screencastFrame", self._on_frame)
            with contextlib.suppress(PlaywrightError):
                await send(cdp, "Page.stopScreencast")

    async def _start(self, cdp: CDPSession) -> None:
        """Make the browser send the current frame, then each change. Raises PlaywrightError: it is gone."""
        wanted = self._settings.screenshots
        side = wanted.screenshot_max_side
        form = {"format": "jpeg", "quality": wanted.screenshot_quality, "maxWidth": side, "maxHeight": side}
        while True:
            try:
                await send(cdp, "Page.stopScreencast")
                self._came = None
                self._news.clear()
                self._unacknowledged.clear()
                await send(cdp, "Page.startScreencast", **form)
            except PlaywrightError as error:
                if is_closed(error):
                    raise
                # The page is going over to another process.
                await asyncio.sleep(RETRY_SECONDS)
            else:
                return

    def _on_frame(self, event: dict[str, Any]) -> None:
        self._came = event
        self._unacknowledged.append(event["sessionId"])
        self._news.set()

    async def _next(self, cdp: CDPSession, *, limit: float | None) -> dict[str, Any]:
        """The newest frame; it is requested if none arrives within `limit` seconds."""
        if self._unacknowledged:
            # The browser waits for acknowledgements after some frames.
            try:
                await send(cdp, "Page.screencastFrameAck", sessionId=self._unacknowledged.popleft())
            except PlaywrightError:
                await self._start(cdp)
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(limit):
                    await self._news.wait()
            self._news.clear()
            came, self._came = self._came, None
            if came is not None:
                return came
            limit = None
            await self._start(cdp)

    def _values(self) -> tuple[str, ...]:
        return tuple(form for value in self._tab.services.hidden.values() for form in spellings(value))

    async def _look(self) -> _Look:
        """What to cover now; waits until the page answers."""
        while True:
            values = self._values()
            try:
                if may_show(self._tab.url, self._settings):
                    looking = self._tab.dom.covers(values, fields=True)
                    covers = await self._tab.guarded(looking, LOOKING_SECONDS)
                    if may_show(self._tab.url, self._settings):
                        # Only positions in the view are compared, not how far the page is scrolled.
                        covers = covers.model_copy(update={"scroll": (0.0, 0.0), "page": (0.0, 0.0)})
                        return _Look(covers, values, time.monotonic())
            except (ActionError, FrameGone, TimeoutError):
                pass
            except PlaywrightError as error:
                if is_closed(error):
                    raise
            await asyncio.sleep(RETRY_SECONDS)

    async def _give(self, event: dict[str, Any], looks: Iterable[_Look]) -> bool:
        """Give all watchers a frame with the covers around its time; whether it has more than needed now."""
        *_, before, seen = looks
        boxes = dict.fromkeys(box for look in looks for box in look.covers.boxes)
        if before.covers != seen.covers:
            boxes[_hull(boxes)] = None
        raw = base64.b64decode(event["data"])
        if boxes:
            shot = Shot(raw, (seen.covers.model_copy(update={"boxes": tuple(boxes)}),))
            raw = await anyio.to_thread.run_sync(encode_whole, shot)
        about = event["metadata"]
        # In the page's CSS pixels, which differ by its zoom.
        zoom = about.get("pageScaleFactor") or 1
        frame = Frame(
            data=raw,
            time=about.get("timestamp") or time.time(),
            width=round(about["deviceWidth"] / zoom),
            height=round(about["deviceHeight"] / zoom),
        )
        self._last = (frame, seen.values)
        for watcher in self._watchers:
            watcher.give(frame)
        return tuple(boxes) != seen.covers.boxes


def _is_of_the_view(event: Mapping[str, Any]) -> bool:
    """Whether a frame has the shape of the view; during a full-page screenshot it shows the whole page."""
    width, height = size_of(base64.b64decode(event["data"]))
    about = event["metadata"]
    # Its sides are rounded to pixels.
    return abs(width * about["deviceHeight"] - height * about["deviceWidth"]) <= 2 * (
        about["deviceWidth"] + about["deviceHeight"]
    )


def _hull(boxes: Iterable[Cover]) -> Cover:
    """The box around all of them."""
    corners = [(box.x, box.y, box.x + box.width, box.y + box.height) for box in boxes]
    left, top, right, bottom = zip(*corners, strict=True)
    x, y = min(left), min(top)
    return Cover(x=x, y=y, width=max(right) - x, height=max(bottom) - y)
