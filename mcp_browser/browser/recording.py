"""Recordings of a session: a video of its page, or a Playwright trace."""

import asyncio
import contextlib
import importlib.util
import io
import threading
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

import anyio.to_thread
from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.concurrency import begin
from mcp_browser.browser.files.artifacts import BYTES_A_MEGABYTE, Artifact, PendingArtifact
from mcp_browser.browser.session_plugins import SessionPlugin
from mcp_browser.dom.driver_errors import FrameGone, as_action_error
from mcp_browser.errors import ActionError, NotActionable, NotFound, SettingsError
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from mcp_browser.browser.session import BrowserSession
    from mcp_browser.browser.tab import Tab


MILLISECONDS = Fraction(1, 1000)
BITS_A_SECOND = 1_000_000

# Whether the package that encodes videos is installed: the extra `video`
can_be_written = importlib.util.find_spec("av") is not None


Kind = Literal["video", "trace"]

FRAMES_A_SECOND = 10
ASKING_SECONDS = 2.0  # How long a page may take to report the values of its secret fields
FIRST_PICTURE_SECONDS = 5.0  # How long a video waits for its first picture when it is stopped
INSTEAD = "Record a video, which covers secrets, or trace a session without secrets."
NO_ENCODER = "The package that encodes videos is not installed."
HOW_TO_INSTALL = "Install the server with its extra `video`: uv tool install 'mcp-browser-server[video]'."


class _Video:
    """A video of the session's current tab, VP8 in WebM; each picture is shown until the next."""

    def __init__(
        self, session: "BrowserSession", file: PendingArtifact, *, size: tuple[int, int] | None, fps: int
    ) -> None:
        self._session = session
        self.file = file
        self._most = session.settings.recording.record_size * BYTES_A_MEGABYTE
        self._size = size
        self._fps = fps
        self._begun = time.monotonic()
        self._full = asyncio.Event()
        self._lock = threading.Lock()  # Held by the thread that encodes
        self._output: Any = None
        self._stream: Any = None
        self._last: tuple[bytes, int] | None = None  # A picture, and its time in milliseconds
        self._closed = False

    async def follow(self) -> None:
        """Record until the video has reached its size limit."""
        full = asyncio.ensure_future(self._full.wait())
        try:
            while not full.done():
                switching = asyncio.ensure_future(self._session.tab_switched.wait())
                showing = asyncio.ensure_future(self._show())
                try:
                    await asyncio.wait({switching, full}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    switching.cancel()
                    showing.cancel()
                    await asyncio.wait({showing})
        finally:
            full.cancel()

    async def finish(self) -> None:
        """End the video now, or after its first picture; raises NotActionable if there is none, OSError."""
        if self._last is None:
            with anyio.move_on_after(FIRST_PICTURE_SECONDS):
                await self._show(once=True)
        if not await anyio.to_thread.run_sync(self._close, self._now()):
            raise NotActionable("Nothing was recorded: no page was shown.", hint="Open one with go_to_url.")

    def _now(self) -> int:
        return round((time.monotonic() - self._begun) * 1000)

    async def _show(self, *, once: bool = False) -> None:
        """Write the pictures of the current tab until it is gone, or only one."""
        tab = self._session.tab_in_use
        if tab is None:
            return
        with contextlib.suppress(ActionError):
            async with tab.screencast.watch() as frames:
                async for frame in frames:
                    await anyio.to_thread.run_sync(self._add, frame.data, self._now())
                    if self.file.path.stat().st_size > self._most:
                        self._full.set()
                    if once:
                        return
                    await asyncio.sleep(1 / self._fps)

    def _add(self, picture: bytes, milliseconds: int) -> None:
        """Add a picture, shown from this time on; blocks."""
        with self._lock:
            if not self._closed:
                self._encode(picture, milliseconds)

    def _close(self, milliseconds: int) -> bool:
        """End the file at this time; False if it has no picture. Blocks."""
        with self._lock:
            self._closed = True
            if self._last is None:
                return False
            # A picture lasts until the next one comes.
            if milliseconds > self._last[1]:
                self._encode(self._last[0], milliseconds)
            self._output.mux(self._stream.encode(None))
            self._output.close()
            return True

    def _encode(self, picture: bytes, milliseconds: int) -> None:
        """Encode a picture; the first one gives the size unless it is set, others get black bars."""
        # Imported late: they take long, and come with an extra.
        import av  # noqa: PLC0415
        from PIL import Image, ImageOps  # noqa: PLC0415

        with Image.open(io.BytesIO(picture)) as opened:
            image = opened.convert("RGB")
        if self._output is None:
            width, height = self._size or image.size
            self._output = cast("Any", av).open(str(self.file.path), "w", format="webm")
            options = {"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0", "crf": "12"}
            self._stream = self._output.add_stream("libvpx", options=options)
            # The encoder takes no odd sizes.
            self._stream.width, self._stream.height = max(2, width & ~1), max(2, height & ~1)
            self._stream.pix_fmt = "yuv420p"
            self._stream.bit_rate = BITS_A_SECOND
            self._stream.codec_context.time_base = MILLISECONDS
        size = (self._stream.width, self._stream.height)
        if image.size != size:
            image = ImageOps.pad(image, size)
        if self._last is not None:
            milliseconds = max(milliseconds, self._last[1] + 1)
        frame = cast("Any", av).VideoFrame.from_image(image)
        frame.pts, frame.time_base = milliseconds, MILLISECONDS
        self._output.mux(self._stream.encode(frame))
        self._last = (picture, milliseconds)


class _Trace:
    """Playwright's trace of a context, with pages, requests and input unredacted, and its file."""

    def __init__(self, session: "BrowserSession", file: PendingArtifact, context: BrowserContext) -> None:
        self._session = session
        self.file = file
        self.context = context

    async def begin(self) -> None:
        """Start it, unless a secret field is filled; without pictures, which cannot be redacted."""
        await self._refuse_filled_fields()
        await self.context.tracing.start(snapshots=True, screenshots=False, sources=False)

    async def follow(self) -> None:
        """Record without an end: its size is known only once it is written."""
        await asyncio.Event().wait()

    async def finish(self) -> None:
        """Write the trace, unless a secret field is filled or the file is too large."""
        try:
            await self._refuse_filled_fields()
            await self.context.tracing.stop(path=self.file.path)
        except PlaywrightError as error:
            raise as_action_error(error, doing="writing the trace") from error
        except ActionError:
            await self.discard()
            raise
        most = self._session.settings.recording.record_size
        if self.file.path.stat().st_size > most * BYTES_A_MEGABYTE:
            raise NotActionable(
                f"The trace is larger than {most} MB and was discarded.",
                hint="Record a shorter one, or raise --record-size.",
            )

    async def discard(self) -> None:
        """Stop it without a file."""
        with contextlib.suppress(PlaywrightError):
            await self.context.tracing.stop()

    async def _refuse_filled_fields(self) -> None:
        for tab in self._session.tabs.values():
            with contextlib.suppress(ActionError, PlaywrightError, FrameGone):
                if not tab.held and await tab.ask(tab.dom.secret_values(), limit=ASKING_SECONDS):
                    break
        else:
            return
        raise NotActionable(
            f"A trace would show what a secret field of tab {tab.id} holds.",
            hint="Empty or submit it before the trace begins, or record a video, which covers it.",
        )


class Recordings(SessionPlugin):
    """The recordings of a session, at most one of each kind at a time."""

    def __init__(self, session: "BrowserSession") -> None:
        self._session = session
        self._settings = session.settings.recording
        self._under_way: dict[Kind, _Video | _Trace] = {}
        self._limits: dict[Kind, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._notices: list[str] = []

    async def opened(self, context: BrowserContext) -> None:
        """Record from the start if the settings want that; a trace ends with its browser."""
        trace = self._under_way.get("trace")
        if isinstance(trace, _Trace) and trace.context is not context:
            self._drop("trace", "The trace was lost with the browser.")
        wanted = self._settings.record
        if wanted != "none" and wanted not in self._under_way:
            try:
                await self.start(wanted, context=context)
            except OSError as error:
                raise self._session.artifacts.not_written(error) from error

    async def tab_opened(self, tab: "Tab") -> None:
        """Check the target of input while a trace is recorded."""
        tab.before_input = partial(self._before_input, tab)

    def holds_secret(self) -> None:
        """Discard a trace: the session now holds a secret."""
        if "trace" in self._under_way:
            begin(self._discard("The session holds a secret"))

    async def _before_input(self, tab: "Tab") -> None:
        """Discard a trace before input to a focused secret field."""
        if "trace" in self._under_way:
            with contextlib.suppress(ActionError, PlaywrightError, FrameGone):
                place = await tab.ask(tab.dom.typed_at(), limit=ASKING_SECONDS)
                if place.password:
                    await self._discard("Input may go to a secret field")

    async def _discard(self, why: str) -> None:
        trace = self._under_way.get("trace")
        if isinstance(trace, _Trace):
            self._drop("trace", f"{why}, which a trace would show: the trace was discarded. {INSTEAD}")
            await trace.discard()

    async def start(
        self,
        kind: Kind,
        *,
        context: BrowserContext | None = None,
        name: str | None = None,
        size: tuple[int, int] | None = None,
        fps: int = FRAMES_A_SECOND,
    ) -> PendingArtifact:
        """Begin a recording; return its file.

        Raises NotActionable: one is under way, the video encoder is missing, the settings forbid pictures, or
        a trace would show a secret; OSError: the file cannot be written.
        """
        if running := self._under_way.get(kind):
            raise NotActionable(f"A {kind} is being recorded as {running.file.name}.", hint="Stop it first.")
        if kind == "trace" and self._session.hidden:
            raise NotActionable("The session holds secrets, which a trace would show.", hint=INSTEAD)
        files = self._session.artifacts
        name = name or f"{kind}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
        if kind == "trace":
            file = files.reserve(name, kind="recording", suffix=".zip", default=kind)
            recording = _Trace(self._session, file, context or self._session.context)
        elif not can_be_written:
            raise NotActionable(NO_ENCODER, hint=HOW_TO_INSTALL)
        elif self._session.settings.screenshots.screenshots == "never":
            raise NotActionable("Screenshots are switched off (screenshots=never).", hint="Record a trace.")
        else:
            file = files.reserve(name, kind="recording", suffix=".webm", default=kind)
            recording = _Video(self._session, file, size=size, fps=fps)
        self._under_way[kind] = recording
        try:
            if isinstance(recording, _Trace):
                await recording.begin()
        except BaseException:
            self._drop(kind)
            raise
        self._limits[kind] = limit = begin(self._keep_within_limits(kind, recording))
        limit.add_done_callback(self._ending.discard)
        return file

    async def stop(self, kind: Kind | None = None) -> list[Artifact]:
        """End the recording of a kind, or all; return the files.

        Raises NotFound: none is under way; ActionError: nothing could be recorded; OSError: the file cannot
        be written.
        """
        kinds: list[Kind] = [one for one in self._under_way if kind in (None, one)]
        if not kinds:
            raise NotFound(
                f"No {kind or 'recording'} is being recorded.",
                hint="Begin with start_recording; list_files names those that have ended.",
            )
        return [await self._stop(one) for one in kinds]

    def notices(self) -> Iterable[str]:
        """Sentences about recordings that have ended without being stopped."""
        notices, self._notices = self._notices, []
        return notices

    async def leaving(self) -> None:
        """End a trace, which needs its context."""
        if "trace" in self._under_way:
            await self._end("trace", "The browser was given back")
        await self._until_written()

    async def closed(self) -> None:
        """End all recordings."""
        for kind in list(self._under_way):
            await self._end(kind, "The session ends")
        await self._until_written()

    async def _keep_within_limits(self, kind: Kind, recording: _Video | _Trace) -> None:
        why = f"It reached {self._settings.record_size} MB"
        try:
            async with asyncio.timeout(self._settings.record_minutes * 60):
                await recording.follow()
        except TimeoutError:
            why = f"It took {self._settings.record_minutes:g} minutes"
        self._ending.add(self._limits.pop(kind))
        await self._end(kind, why)

    async def _until_written(self) -> None:
        if self._ending:
            await asyncio.wait(self._ending)

    async def _end(self, kind: Kind, why: str) -> None:
        """End a recording, and note why."""
        try:
            artifact = await self._stop(kind)
            self._notices.append(f"{why}, so the {kind} was ended: {artifact.place}.")
        except (ActionError, OSError) as error:
            self._notices.append(f"{why}, and the {kind} could not be written: {error}")

    async def _stop(self, kind: Kind) -> Artifact:
        recording = self._under_way[kind]
        if (limit := self._limits.get(kind)) is not None:
            limit.cancel()
            await asyncio.wait({limit})
            self._limits.pop(kind, None)
        self._under_way.pop(kind, None)
        files = self._session.artifacts
        try:
            await recording.finish()
            return files.complete(recording.file)
        except BaseException:
            files.abandon(recording.file)
            raise

    def _drop(self, kind: Kind, *notices: str) -> None:
        """Forget a recording, without a file."""
        if (limit := self._limits.pop(kind, None)) is not None:
            limit.cancel()
        if (recording := self._under_way.pop(kind, None)) is not None:
            self._session.artifacts.abandon(recording.file)
        self._notices += notices


def check(settings: Settings) -> None:
    """Raise SettingsError if sessions cannot be recorded as the settings want it."""
    if settings.recording.record == "video" and not can_be_written:
        raise SettingsError(f"record: {NO_ENCODER} {HOW_TO_INSTALL}")
    if settings.recording.record == "video" and settings.screenshots.screenshots == "never":
        raise SettingsError("record: a video needs pictures, which --screenshots never switches off.")
    if settings.recording.record == "trace" and any(one.agent.secrets for one in settings.variants):
        raise SettingsError("record: a trace would show the secrets of --secrets. Record a video.")
    if settings.files.output_dir is None:
        raise SettingsError("record: the recordings need a folder: --output-dir FOLDER.")
