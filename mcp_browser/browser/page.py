"""The page of a tab: what it is asked, unless a dialog, a crash or its end holds it."""

import asyncio
import contextlib
import itertools
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from playwright.async_api import CDPSession, Dialog, FileChooser, Page
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.collectors import Console
from mcp_browser.browser.concurrency import begin
from mcp_browser.browser.observation import LONGEST_MESSAGE, DialogAnswer, DialogInfo
from mcp_browser.browser.page_activity import Activity
from mcp_browser.browser.session_services import SessionServices
from mcp_browser.dom.cdp import send
from mcp_browser.dom.deadlines import seconds
from mcp_browser.dom.driver_errors import is_closed
from mcp_browser.dom.scripts import limits_script
from mcp_browser.dom.service import DomService
from mcp_browser.dom.worlds import READING_HINT
from mcp_browser.errors import ActionError, BrowserUnavailable, DeadlineExceeded, DialogOpen, NotFound
from mcp_browser.text import cut_address, quoted

T = TypeVar("T")

LOADING_SECONDS = 10.0  # How much longer a page may take to answer while its document is coming
SENT = "sent in an address"  # By what results name what a form has written of a secret field into one
GLANCE = 0.25  # How often it is looked whether what has begun has come to nothing, seconds
DOCUMENTS_KEPT = 20  # After so many documents a renderer is made to collect garbage
COLLECTING_AFTER = 0.5  # So long after the last of them has loaded, seconds
CONTROL_SECONDS = 2.0  # Limit for what the browser itself answers, without the page

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


class TabPage:
    """The page of one tab. `id` is the tab's.

    `held` says that nothing can be asked of it: a dialog is open, it has crashed or is closed. `answered`
    says whether it has answered anything since the last action began. `waiting` is a tool of the page's that
    waits for the dialog, and its answer.
    """

    def __init__(
        self, id: int, page: Page, services: SessionServices, *, on_held: Callable[[], None]
    ) -> None:
        """Take over a page; `attach` has to follow. `on_held` is called when something begins to hold it."""
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
        self.main_frame_id: str | None = None  # In CDP; None where it is not connected to
        self.own_metrics = False  # Whether scale or layout was overridden without Playwright's knowledge
        self.cursor: tuple[float, float] | None = None  # Where the mouse was put last, CSS pixels
        self.before_input: Callable[[], Awaitable[None]] | None = None
        self.activity = Activity(page)
        self.console = Console(
            page, tell=settings.console_shown, redactor=services.redactor, flooded=self._on_flood
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
        self._on_held = on_held
        self._hold: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._dialog: Dialog | None = None
        self.dialogs: list[DialogAnswer] = []  # All that have opened
        self._cdp: CDPSession | None = None
        self._workers: Workers | None = None
        self._choosing: asyncio.Future[FileChooser] | None = None
        self._drawn = 0  # Number of the document that has answered since its DOM was complete
        # Listening from the start keeps the system's own dialog away, which nobody could answer.
        page.on("filechooser", self._on_file_chooser)
        page.on("close", lambda _page: self.gone())
        page.on("crash", lambda _page: self.crash())
        page.on("load", self._on_load)
        self._collected = 0  # Number of the document when its renderer was last made to collect garbage

    @property
    def url(self) -> str:
        return self.page.url

    @property
    def status(self) -> int | None:
        """HTTP status of the document, where it came over HTTP."""
        return self.activity.status

    @property
    def cdp(self) -> CDPSession:
        """The connection to the browser.

        Raises:
            BrowserUnavailable: there is none: the tab is gone, or has just been opened.
            DialogOpen: there is none, since a dialog has been open from its start.
        """
        if self._cdp is not None:
            return self._cdp
        if self.held:
            raise self.why_held()
        raise BrowserUnavailable(f"Tab {self.id} does not answer yet.", hint="Try again.")

    async def attach(self) -> None:
        """Connect to what the browser tells about the tab over CDP."""

        def follow(take: Callable[[dict[str, Any], str | None], None]) -> Callable[[dict[str, Any]], None]:
            return lambda event: take(event, self.main_frame_id)

        try:
            cdp = await self.page.context.new_cdp_session(self.page)
            cdp.on("Page.frameRequestedNavigation", follow(self.activity.navigation_requested))
            cdp.on("Page.frameStartedNavigating", follow(self.activity.navigation_started))
            cdp.on("Page.frameStoppedLoading", follow(self.activity.loading_stopped))
            cdp.on("Page.frameScheduledNavigation", follow(self.activity.navigation_scheduled))
            cdp.on("Page.frameClearedScheduledNavigation", follow(self.activity.navigation_unscheduled))
            cdp.on("Page.windowOpen", follow(lambda _event, _frame: self.activity.window_opening()))
            cdp.on("Page.javascriptDialogClosed", follow(lambda event, _frame: self._on_dialog_closed(event)))
            self._cdp = cdp
            await self.refresh_title()
            self._workers = Workers(cdp)
            await asyncio.gather(send(cdp, "Page.enable"), self._workers.follow())
        except PlaywrightError:
            # Gone already.
            return

    # -- what holds it

    @property
    def dialog(self) -> DialogInfo | None:
        dialog = self._dialog
        if dialog is None:
            return None
        return DialogInfo(kind=dialog.type, message=dialog.message, default_value=dialog.default_value)

    def why_held(self) -> ActionError:
        """The error for what cannot be done while the tab is held."""
        if self.crashed:
            return BrowserUnavailable(
                f"The page {self.url} crashed.",
                hint="It is opened again at the next call: look with get_state.",
            )
        if self._dialog is not None:
            return DialogOpen(f"{self.dialog}.", hint="Answer it with handle_dialog.")
        return BrowserUnavailable(f"Tab {self.id} was closed.", hint="Look with get_state what is open now.")

    def dialog_opened(self, dialog: Dialog) -> None:
        """A dialog has opened; it stays so until it is answered, or its page goes."""
        self._dialog = dialog
        self.dialogs.append(DialogAnswer(kind=dialog.type, message=dialog.message[:LONGEST_MESSAGE]))
        self._begin_hold()

    def _on_dialog_closed(self, event: dict[str, Any]) -> None:
        if self.dialogs:
            answer = {"accepted": bool(event.get("result")), "text": str(event.get("userInput") or "")}
            self.dialogs[-1] = self.dialogs[-1].model_copy(update=answer)
        self.dialog_closed()

    def dialog_closed(self) -> None:
        """No dialog is open any more."""
        self._dialog = None
        if self.held and not self.closed and not self.crashed:
            self.held = False
            self._hold = asyncio.get_running_loop().create_future()

    def crash(self) -> None:
        """The page has crashed, or is as lost as if it had."""
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
        self._on_held()

    async def answer_dialog(self, accept: bool, text: str | None = None) -> None:
        """Answer the dialog that is open: `text` goes to a prompt, which else gets its default.

        Raises:
            NotFound: none is open.
            DeadlineExceeded: the browser has not taken the answer within the action's limit.
        """
        dialog = self._dialog
        if dialog is None:
            raise NotFound("No dialog is open.", hint="It may have closed by itself; look with get_state.")
        self.dialog_closed()
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

    # -- what is asked of it

    async def guarded(
        self, work: Awaitable[T], limit: float | None = None, patience: Callable[[], float] = float
    ) -> T:
        """The outcome of something asked of the page, unless a dialog, a crash or its end comes in between.

        Args:
            work: what is asked.
            limit: how many seconds it may take; None for no end.
            patience: how many more it may take, asked once `limit` is over.

        Raises:
            TimeoutError: it takes longer.
            DialogOpen: a dialog is open, or has opened before it was done.
            BrowserUnavailable: the page has crashed or was closed.
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
                # How it ends nobody asks any more.
                task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
                task.cancel()

    async def act(self, work: Awaitable[object]) -> None:
        """Carry out mouse or keyboard input; returns at once where it opens a dialog or closes the page.

        Raises:
            DeadlineExceeded: the page does not answer to it.
            BrowserUnavailable: the page has crashed.
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
        """The outcome of something asked of the page within `limit` seconds (the action's limit by default).

        A large page has longer, and one that is still loading.

        Raises:
            DialogOpen: a dialog is open, or has opened before it was done.
            DeadlineExceeded: the page does not answer.
            BrowserUnavailable: the page has crashed or was closed.
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

    def _on_load(self, _page: Page) -> None:
        # A renderer keeps the documents that are gone until its scripts need memory, and ours need little.
        if self._cdp is not None and self.activity.document_number - self._collected >= DOCUMENTS_KEPT:
            self._collected = self.activity.document_number
            begin(self._collect_garbage(self._cdp))

    async def _collect_garbage(self, cdp: CDPSession) -> None:
        with contextlib.suppress(PlaywrightError):
            await asyncio.sleep(COLLECTING_AFTER)
            await send(cdp, "HeapProfiler.collectGarbage")

    async def rest(self, since: int, index: int, *, limit: float) -> None:
        """Wait until what began after a mark of `watch` has ended, and an element's frame shows it."""
        deadline = time.monotonic() + limit
        while not self.held and (left := deadline - time.monotonic()) > 0:
            if self.activity.begun_since(since):
                await self.activity.change(limit=min(left, GLANCE))
                continue
            await self.ask(self.dom.settle(limit=left, index=index))
            if not self.activity.begun_since(since):
                return

    def _patience(self) -> float:
        """How much longer than others the page may take, seconds."""
        call = self.settings.limits.call_timeout
        # What is still to come of the call, its result above all, needs time, too.
        loading = min(LOADING_SECONDS, call / 6) if self._is_coming else 0.0
        return min(self.dom.deadline + loading + self.console.deadline, call / 2)

    @property
    def _is_coming(self) -> bool:
        """Whether the document is loading, or has not been drawn since."""
        return self.activity.loading or self._drawn != self.activity.document_number

    async def file_chooser(self, opening: Awaitable[object], *, limit: float) -> FileChooser | None:
        """The file chooser that input opens within `limit` seconds; None where none."""
        self._choosing = asyncio.get_running_loop().create_future()
        try:
            await opening
            async with asyncio.timeout(limit):
                return await self._choosing
        except TimeoutError:
            return None
        finally:
            self._choosing = None

    def _on_file_chooser(self, chooser: FileChooser) -> None:
        if self._choosing is None:
            self.services.notice(
                "The page asks for a file: use upload_file, with the index of what was clicked."
            )
        elif not self._choosing.done():
            self._choosing.set_result(chooser)

    # -- what is asked of the browser

    async def refresh_title(self) -> bool:
        """Ask the browser for the title; it answers even while the page is held. False where it is gone."""
        if self._cdp is None:
            return not self.closed
        try:
            async with asyncio.timeout(CONTROL_SECONDS):
                info = (await send(self._cdp, "Target.getTargetInfo"))["targetInfo"]
        except TimeoutError:
            return True
        except PlaywrightError:
            return False
        self.main_frame_id = info["targetId"]
        title, url = str(info["title"]), str(info["url"])
        # Chromium puts the address where there is no title.
        has_none = title.rstrip("/") in (url.rstrip("/"), url.partition("://")[2].rstrip("/"))
        self.title = "" if has_none else title
        return True

    async def control(self, method: str) -> dict[str, Any] | None:
        """Ask the browser something about the tab; None where it gives no answer."""
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
