"""The page of a tab: asking it, unless a dialog, a crash or its end holds it."""

import asyncio
import contextlib
import itertools
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import anyio
from playwright.async_api import CDPSession, Dialog, FileChooser, Page
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.collectors import Console
from mcp_browser.browser.concurrency import begin
from mcp_browser.browser.observation import LONGEST_MESSAGE, DialogAnswer, DialogInfo, Effect
from mcp_browser.browser.page_activity import Activity
from mcp_browser.browser.session_services import SessionServices
from mcp_browser.dom.cdp import seconds, send
from mcp_browser.dom.driver_errors import FrameGone, as_action_error, is_closed
from mcp_browser.dom.scripts import limits_script
from mcp_browser.dom.service import DomService
from mcp_browser.dom.worlds import READING_HINT
from mcp_browser.errors import ActionError, BrowserUnavailable, DeadlineExceeded, DialogOpen, NotFound
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.text import quoted

T = TypeVar("T")

LOADING_SECONDS = 10.0  # How much longer a page may take to answer while it loads
SENT = "sent in an address"  # The name in results of a secret field's value that a form put into an address
GLANCE = 0.25  # How often to check whether something that began was cancelled, seconds
DOCUMENTS_KEPT = 20  # After so many documents a renderer collects garbage
COLLECTING_AFTER = 0.5  # How long after the last of them has loaded, seconds
HOLD_GRACE = 1.0  # How long an action may continue after something has begun to hold its tab, seconds
CONTROL_SECONDS = 2.0  # Limit for answers of the browser itself, without the page

# Not flattened, so that Playwright does not get these sessions; their targets do not wait for a debugger.
_ATTACHING: dict[str, Any] = {
    "autoAttach": True,
    "waitForDebuggerOnStart": False,
    "flatten": False,
    "filter": [{"type": "worker"}, {"type": "iframe"}, {"exclude": True}],
}
_WORKERS_ALONE = [{"type": "worker"}, {"exclude": True}]


class TabPage:
    """The page of one tab. `id` is the tab's.

    `held`: it cannot be asked: a dialog is open, or it has crashed or is closed. `answered`: it has answered
    since the last action began. `waiting`: a tool of the page that waits for the dialog, and its result.
    """

    def __init__(self, id: int, page: Page, services: SessionServices) -> None:
        """Take over a page; call `attach` next."""
        settings = services.settings
        self.id = id
        self.page = page
        self.services = services
        self.settings = settings
        self.title = ""
        self.closed = page.is_closed()
        self.crashed = False
        self.answered = False
        self.held = False
        self.waiting: tuple[str, asyncio.Future[Any]] | None = None
        self.main_frame_id: str | None = None  # In CDP; None if not connected
        self.own_metrics = False  # Whether scale or layout was overridden unknown to Playwright
        self.cursor: tuple[float, float] | None = None  # Last position of the mouse, CSS pixels
        self.before_input: Callable[[], Awaitable[None]] | None = None
        self.activity = Activity(page)
        self.console = Console(
            page, report=settings.console_shown, redactor=services.redactor, flooded=self._on_flood
        )
        self.dom = DomService(
            page,
            channel=services.channel,
            budget=settings.observation.snapshot_budget,
            changes_budget=settings.observation.changes_budget,
            sent=self._on_sent,
            addresses=services.addresses,
            learnt=services.learnt,
        )
        self.on_held: Callable[[], object] = lambda: None  # Called when something begins to hold it
        self._hold: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._dialog: Dialog | None = None
        self.dialogs: list[DialogAnswer] = []  # All that have opened
        self._cdp: CDPSession | None = None
        self._workers: Workers | None = None
        self._choosing: asyncio.Future[FileChooser] | None = None
        self._drawn = 0  # Number of the last document that has answered with its DOM complete
        self._dialog_users = 0  # How many callers of `choose_files` let a person use the file dialog
        self._dialog_away = False
        self._keep_files_dialog(away=True)
        page.on("close", lambda _page: self.gone())
        page.on("crash", lambda _page: self.crash())
        page.on("load", self._on_load)
        self._collected = 0  # Number of the document when its renderer was last made to collect garbage

    @property
    def url(self) -> str:
        return self.page.url

    @property
    def cdp(self) -> CDPSession:
        """The tab's CDP session; raises BrowserUnavailable, or DialogOpen if it opened with a dialog."""
        if self._cdp is not None:
            return self._cdp
        if self.held:
            raise self.why_held()
        raise BrowserUnavailable(f"Tab {self.id} does not answer yet.", hint="Try again.")

    async def attach(self) -> None:
        """Connect to the tab over CDP, and follow its events."""
        try:
            cdp = await self.page.context.new_cdp_session(self.page)
            self.activity.follow(cdp, lambda: self.main_frame_id)
            cdp.on("Page.javascriptDialogClosed", self._on_dialog_closed)
            self._cdp = cdp
            await self.refresh_title()
            self._workers = Workers(self.page, cdp)
            await asyncio.gather(send(cdp, "Page.enable"), self._workers.follow())
        except PlaywrightError:
            return  # The tab is gone already.

    @property
    def dialog(self) -> DialogInfo | None:
        dialog = self._dialog
        if dialog is None:
            return None
        return DialogInfo(kind=dialog.type, message=dialog.message, default_value=dialog.default_value)

    def why_held(self) -> ActionError:
        """The error for an action while the tab is held."""
        if self.crashed:
            return BrowserUnavailable(
                f"The page {self.url} crashed.",
                hint="It is opened again at the next call: look with get_state.",
            )
        if self._dialog is not None:
            return DialogOpen(f"{self.dialog}.", hint="Answer it with handle_dialog.")
        return BrowserUnavailable(f"Tab {self.id} was closed.", hint="Look with get_state what is open now.")

    def dialog_opened(self, dialog: Dialog) -> None:
        """A dialog has opened."""
        self._dialog = dialog
        self.dialogs.append(DialogAnswer(kind=dialog.type, message=dialog.message[:LONGEST_MESSAGE]))
        self._begin_hold()

    def _on_dialog_closed(self, event: dict[str, Any]) -> None:
        if self.dialogs:
            answer = {"accepted": bool(event.get("result")), "text": str(event.get("userInput") or "")}
            self.dialogs[-1] = self.dialogs[-1].model_copy(update=answer)
        self._end_dialog()

    def _end_dialog(self) -> None:
        self._dialog = None
        if self.held and not self.closed and not self.crashed:
            self.held = False
            self._hold = asyncio.get_running_loop().create_future()

    def crash(self) -> None:
        """The page has crashed, or cannot be used any more."""
        self.crashed = True
        self._begin_hold()

    def gone(self) -> None:
        """The page is closed."""
        self.closed = True
        self._begin_hold()

    def _begin_hold(self) -> None:
        if not self.held:
            self.held = True
            self._hold.set_result(None)
        self.activity.wake()
        self.on_held()

    async def answer_dialog(self, accept: bool, text: str | None = None) -> None:
        """Answer the open dialog; `text` is for a prompt, by default its default value.

        Raises NotFound: none is open; DeadlineExceeded: the browser has not accepted the answer in time.
        """
        dialog = self._dialog
        if dialog is None:
            raise NotFound("No dialog is open.", hint="It may have closed by itself; look with get_state.")
        self._end_dialog()
        if text is None and dialog.type == "prompt":
            text = dialog.default_value
        try:
            async with asyncio.timeout(self.settings.limits.action_timeout):
                await (dialog.accept(text or "") if accept else dialog.dismiss())
        except TimeoutError as error:
            raise DeadlineExceeded("The browser did not take the answer to the dialog in time.") from error
        except PlaywrightError as error:
            if self.closed or is_closed(error):
                return
            raise NotFound(
                f"The {dialog.type} dialog {quoted(dialog.message)} had closed already.",
                hint="Look with get_state.",
            ) from error

    async def guarded(
        self, work: Awaitable[T], limit: float | None = None, patience: Callable[[], float] = float
    ) -> T:
        """The result of a request to the page, unless a dialog, a crash or its end interrupts it.

        It may take `limit` seconds, and as many more as `patience` returns then. Raises TimeoutError;
        DialogOpen: a dialog is open, or has opened; BrowserUnavailable: the page has crashed or was closed.
        """
        task = asyncio.ensure_future(work)
        try:
            begun, left = time.monotonic(), limit
            while left is None or left > 0:
                await asyncio.wait({task, self._hold}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                if task.done():
                    result = task.result()
                    self.answered = True
                    return result
                if self.held:
                    raise self.why_held()
                left = begun + (limit or 0.0) + patience() - time.monotonic()
            raise TimeoutError
        finally:
            if not task.done():
                # Its outcome is not needed any more.
                task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
                task.cancel()

    async def act(self, work: Awaitable[object]) -> None:
        """Carry out mouse or keyboard input; return at once if it opens a dialog or closes the page.

        Raises DeadlineExceeded: the page does not answer; BrowserUnavailable: it has crashed.
        """
        if self.before_input is not None:
            await self.before_input()
        limit = self.settings.limits.action_timeout
        try:
            await self.guarded(work, limit, self._patience)
        except TimeoutError as error:
            taken = seconds(limit + self._patience())
            raise DeadlineExceeded(
                f"The page did not answer to the input within {taken}: its script is busy.",
                hint="Wait and look with get_state, or leave it with go_to_url or reload.",
            ) from error
        except DialogOpen:
            return
        except (BrowserUnavailable, PlaywrightError) as error:
            if not self.closed and not (isinstance(error, PlaywrightError) and is_closed(error)):
                raise

    async def ask(self, work: Awaitable[T], *, limit: float | None = None) -> T:
        """The result of a request to the page within `limit` seconds (by default the action's limit).

        A large page, or one that loads, may take longer. Raises as `guarded`; DeadlineExceeded.
        """
        limit = self.settings.limits.action_timeout if limit is None else limit
        try:
            answer = await self.guarded(work, limit, self._patience)
        except TimeoutError as error:
            taken = seconds(limit + self._patience())
            if self.activity.navigating_for() is not None:
                raise DeadlineExceeded(
                    f"The page cannot be read: it has been on its way to another one for {taken}.",
                    hint="Wait with wait_for, or open another address.",
                ) from error
            if reading := self.dom.reading:
                raise DeadlineExceeded(f"{reading} took longer than {taken}.", hint=READING_HINT) from error
            busy = "it is still loading" if self._is_coming else "its script is busy"
            raise DeadlineExceeded(
                f"The page {cut_address(self.url)} did not answer within {taken}: {busy}.",
                hint="Try again later, or leave it with go_to_url or reload.",
            ) from error
        if not self.activity.loading:
            self._drawn = self.activity.document_number
        return answer

    async def _on_load(self, _page: Page) -> None:
        # A renderer keeps old documents until its scripts need memory, and ours need little.
        if self._cdp is not None and self.activity.document_number - self._collected >= DOCUMENTS_KEPT:
            self._collected = self.activity.document_number
            with contextlib.suppress(PlaywrightError):
                await asyncio.sleep(COLLECTING_AFTER)
                await send(self._cdp, "HeapProfiler.collectGarbage")

    async def rest(self, since: int, index: int, *, limit: float) -> None:
        """Wait until all that began after a mark of `watch` has ended, and an element's frame shows it."""
        deadline = time.monotonic() + limit
        while not self.held and (left := deadline - time.monotonic()) > 0:
            if self.activity.begun_since(since):
                await self.activity.change(limit=min(left, GLANCE))
                continue
            await self.ask(self.dom.settle(limit=left, index=index))
            if not self.activity.begun_since(since):
                return

    def _patience(self) -> float:
        call = self.settings.limits.call_timeout
        # The rest of the call, above all its result, needs time, too.
        loading = min(LOADING_SECONDS, call / 6) if self._is_coming else 0.0
        return min(self.dom.deadline + loading + self.console.deadline, call / 2)

    @property
    def _is_coming(self) -> bool:
        """Whether the document is loading, or has not answered since it was complete."""
        return self.activity.loading or self._drawn != self.activity.document_number

    async def file_chooser(self, opening: Awaitable[object], *, limit: float) -> FileChooser | None:
        """The file chooser that input opens within `limit` seconds; None if none opens."""
        self._choosing = asyncio.get_running_loop().create_future()
        self._keep_files_dialog(away=True)
        try:
            await opening
            async with asyncio.timeout(limit):
                return await self._choosing
        except TimeoutError:
            return None
        finally:
            self._choosing = None
            self._keep_files_dialog(away=not self._dialog_users)

    def choose_files(self, *, by_person: bool) -> None:
        """Let a person use the system's file dialog, kept away otherwise, or end that: once for each True."""
        self._dialog_users += 1 if by_person else -1
        self._keep_files_dialog(away=not self._dialog_users)

    def _keep_files_dialog(self, *, away: bool) -> None:
        if away is self._dialog_away:
            return
        self._dialog_away = away
        change = self.page.on if away else self.page.remove_listener
        change("filechooser", self._on_file_chooser)

    def _on_file_chooser(self, chooser: FileChooser) -> None:
        if self._choosing is None:
            self.services.notice(
                "The page asks for a file: use upload_file, with the index of what was clicked."
            )
        elif not self._choosing.done():
            self._choosing.set_result(chooser)

    async def refresh_title(self) -> None:
        """Ask the browser for the title; it answers even while the page is held."""
        if (answer := await self.control("Target.getTargetInfo")) is None:
            return
        info = answer["targetInfo"]
        self.main_frame_id = info["targetId"]
        title, url = str(info["title"]), str(info["url"])
        # Without a title, Chromium returns the address.
        has_none = title.rstrip("/") in (url.rstrip("/"), url.partition("://")[2].rstrip("/"))
        self.title = "" if has_none else title

    async def control(self, method: str) -> dict[str, Any] | None:
        """Send the browser a command about the tab; None if it does not answer."""
        if self._cdp is None:
            return None
        try:
            async with asyncio.timeout(CONTROL_SECONDS):
                return await send(self._cdp, method)
        except (PlaywrightError, TimeoutError):
            return None

    def _on_sent(self, pair: str) -> None:
        self.services.hide({SENT: pair})

    def _on_flood(self) -> None:
        if self._workers is not None:
            begin(self._workers.break_off())


@dataclass(slots=True, eq=False)
class ActionScope:
    """The state of the session when an action began; what is newer was started by the action."""

    effect: Effect
    tab: "TabPage"
    url: str
    marks: dict[int, int] = field(default_factory=dict[int, int])  # In the activity of each tab
    _breaking: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    _running: bool = False

    async def run(self, work: Awaitable[T], *, doing: str) -> T:
        """The result of the action's work. Raises ActionError: it fails, or is held and does not end."""
        self._running, services = True, self.tab.services
        try:
            with self._breaking:
                return await work
        except (PlaywrightError, FrameGone, BrowserUnavailable) as error:
            if services.context is None:
                raise services.why_ended() from error
            if isinstance(error, BrowserUnavailable):
                raise
            raise as_action_error(error, doing=doing) from error
        finally:
            self._running = False
        raise self.tab.why_held() if services.context else services.why_ended()

    def held(self, tab: "TabPage") -> None:
        """Something has begun to hold a tab: cancel an action in it that does not end by itself."""
        if self._running and tab is self.tab:
            asyncio.get_running_loop().call_later(HOLD_GRACE, self._break_off)

    def _break_off(self) -> None:
        if self._running and self.tab.held:
            self._breaking.cancel()


class Workers:
    """The workers of one page; with the first, also the frames in other processes that may have some."""

    def __init__(self, page: Page, cdp: CDPSession) -> None:
        """`cdp` is the session of `page`; call `follow` next."""
        self._cdp = cdp
        self._page = page
        self._numbers = itertools.count(1)
        self._workers: set[tuple[str, ...]] = set()  # By the sessions that lead to each

    async def follow(self) -> None:
        """Limit the console messages of each worker as soon as it starts."""
        for name in ("attachedToTarget", "detachedFromTarget", "receivedMessageFromTarget"):
            self._cdp.on(f"Target.{name}", partial(self._on_event, f"Target.{name}"))
        # A session for each frame costs time that a page without workers can do without.
        self._page.once("worker", lambda _: begin(self._follow_frames()))
        await send(self._cdp, "Target.setAutoAttach", **_ATTACHING | {"filter": _WORKERS_ALONE})
        if self._page.workers:
            await self._follow_frames()

    async def _follow_frames(self) -> None:
        with contextlib.suppress(PlaywrightError):
            await send(self._cdp, "Target.setAutoAttach", **_ATTACHING)

    async def break_off(self) -> None:
        """Stop the scripts that run in workers at this moment; later events start them again."""
        await asyncio.gather(*(self._post(path, "Runtime.terminateExecution") for path in self._workers))

    def _on_event(self, method: str, event: Mapping[str, Any], path: tuple[str, ...] = ()) -> None:
        """`path` leads to the target that says this about one below it."""
        below = (*path, str(event.get("sessionId")))
        match method:
            case "Target.attachedToTarget":
                begin(self._limit(event["targetInfo"]["type"], below))
            case "Target.detachedFromTarget":
                self._workers = {known for known in self._workers if known[: len(below)] != below}
            case "Target.receivedMessageFromTarget":
                message = json.loads(event["message"])
                self._on_event(message.get("method", ""), message.get("params", {}), below)
            case _:
                pass

    async def _limit(self, kind: str, path: tuple[str, ...]) -> None:
        if kind == "worker":
            self._workers.add(path)
            # A worker that loops from its start gets no limits: it is stopped when it floods the console.
            await self._post(path, "Runtime.evaluate", expression=limits_script())
        await self._post(path, "Target.setAutoAttach", **_ATTACHING)

    async def _post(self, path: tuple[str, ...], method: str, **parameters: Any) -> None:
        """Send a command to the target that these sessions lead to, without waiting for its answer."""
        for session in reversed(path):
            message = json.dumps({"id": next(self._numbers), "method": method, "params": parameters})
            method, parameters = "Target.sendMessageToTarget", {"sessionId": session, "message": message}
        try:
            await send(self._cdp, method, **parameters)
        except PlaywrightError:
            return  # The target has ended.
