"""Sessions of a real browser, and a hand that acts in them as the controller does."""

import os
import signal
import tempfile
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import pytest
import pytest_asyncio

from mcp_browser.actions.catalog import default_registry
from mcp_browser.actions.result import ActionResult
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.observation import DialogInfo, Effect, Observation
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.tab import Tab
from mcp_browser.pipeline import Execution, Rules, locked, not_taken_over, pipeline
from mcp_browser.settings import BrowserSettings, LimitSettings, Settings
from tests.support.family import Process, family
from tests.support.sharing import leave_one_tab
from tests.support.waiting import until

HEADLESS = BrowserSettings(headless=True, isolated=True)
LIMITS = LimitSettings(navigation_timeout=4, action_timeout=3, settle_timeout=4)


class Hand:
    """Acts in a session: opens it, does something, looks what became of it."""

    def __init__(self, session: BrowserSession, manager: BrowserManager | None = None) -> None:
        self.session = session
        self._manager = manager
        self.others = set[int]()  # Browsers' processes that are not the session's

    @property
    def manager(self) -> BrowserManager:
        """The manager of a session that is its default one."""
        assert self._manager is not None
        return self._manager

    @property
    def tab(self) -> Tab:
        return self.session.current_tab

    async def do(self, work: Callable[[Tab], Awaitable[Any]], *, effect: Effect = "input") -> Observation:
        """Do something in the current tab and observe."""

        async def end(call: Execution) -> ActionResult:
            await call.scope.run(work(self.tab), doing="this")
            return ActionResult(observation=await self.session.observe(call.scope))

        action = replace(default_registry()["get_state"], effect=effect)
        call = Execution(action, {}, self.session, Rules(self.session.settings, exports=False))
        with anyio.fail_after(30):
            observation = (await pipeline((not_taken_over, locked), end, call.rules)(call)).observation
        assert observation is not None
        return observation

    async def open(self, url: str) -> Observation:
        return await self.do(lambda tab: tab.goto(url), effect="navigation")

    async def click(self, text: str) -> Observation:
        """Click what has this text, by a real mouse."""
        box = await self.tab.page.get_by_text(text, exact=True).first.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        return await self.do(lambda tab: tab.act(tab.page.mouse.click(x, y)))

    async def answer(self, accept: bool, text: str | None = None) -> Observation:
        return await self.do(lambda tab: tab.answer_dialog(accept, text))

    async def kill_browser(self) -> None:
        """Kill the one browser that has come since, and wait until the session has heard of it."""
        (mine,) = browsers(since=self.others)
        os.kill(mine.pid, signal.SIGKILL)
        await until(lambda: self.session.tab_in_use is None)

    async def look(self) -> Observation:
        with anyio.fail_after(30):
            async with self.session.lock:
                await self.session.ensure_open()
                return await self.session.full_observation()


def button(script: str) -> str:
    return f'<p id=out>nothing</p><button onclick="{script}">Go</button>'


def shown(observation: Observation) -> str:
    """Everything that an observation tells, as text."""
    lines = [observation.url, observation.title, *observation.notices]
    if observation.snapshot is not None:
        lines += map(str, observation.snapshot.nodes)
    if observation.changes is not None:
        lines += [str(change.node) for change in observation.changes.changes]
    if observation.dialog is not None:
        lines.append(observation.dialog.message)
    return "\n".join(lines)


def dialog_of(observation: Observation) -> DialogInfo:
    """The dialog that an observation tells of."""
    assert observation.dialog is not None
    return observation.dialog


def browsers(since: Iterable[int] = ()) -> list[Process]:
    """The main processes of the browsers that this test run has started, but those with these ids."""
    return [
        process
        for pid, process in family(os.getpid()).items()
        if pid not in since and "--user-data-dir" in process.command and "--type=" not in process.command
    ]


@asynccontextmanager
async def managing(**settings: Any) -> AsyncGenerator[BrowserManager]:
    """A manager with these settings, closed at the end; by default its browser is headless."""
    given: dict[str, Any] = {"browser": HEADLESS, "limits": LIMITS, **settings}
    manager = BrowserManager(Settings(**given))
    try:
        yield manager
    finally:
        await manager.close()


@asynccontextmanager
async def browsing(**browser: Any) -> AsyncGenerator[Hand]:
    """A hand in the default session of a manager whose browser has these settings; None leaves one out."""
    given = {name: value for name, value in {"headless": True, **browser}.items() if value is not None}
    async with managing(browser=BrowserSettings.model_validate(given)) as manager:
        yield Hand(await manager.default_session(), manager)


@asynccontextmanager
async def another(manager: BrowserManager, **options: Any) -> AsyncGenerator[Hand]:
    """A hand in a session of its own, closed at the end."""
    hand = Hand(await manager.open_session(**options))
    try:
        yield hand
    finally:
        await hand.session.close()


def _say_nothing(*_: object) -> None:
    """Log nothing."""


@contextmanager
def answering(handler: type[BaseHTTPRequestHandler]) -> Generator[str]:
    """A server with this handler, which logs nothing, not even hang-ups; its host and port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Quiet", (handler,), {"log_message": _say_nothing}))
    server.handle_error = _say_nothing  # type: ignore[method-assign]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def manager() -> AsyncIterator[BrowserManager]:
    """One browser for all sessions that do it no harm."""
    async with managing() as manager:
        yield manager


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_session(manager: BrowserManager) -> AsyncIterator[BrowserSession]:
    """The session of all tests that need no clean one."""
    async with another(manager) as hand:
        yield hand.session


@pytest_asyncio.fixture(loop_scope="session")
async def hand(
    manager: BrowserManager, shared_session: BrowserSession, request: pytest.FixtureRequest
) -> AsyncIterator[Hand]:
    """A hand in a session with one tab; in a session of its own for a test that is marked `fresh`."""
    if request.node.get_closest_marker("fresh") is None:
        await shared_session.ensure_open()
        await leave_one_tab(shared_session)
        yield Hand(shared_session)
        return
    async with another(manager) as hand:
        await hand.session.ensure_open()
        yield hand


@pytest_asyncio.fixture(loop_scope="session")
async def own_manager() -> AsyncIterator[BrowserManager]:
    """A manager of its own, for tests that kill its browser."""
    async with managing() as manager:
        yield manager


@pytest_asyncio.fixture(loop_scope="session")
async def own_hand(own_manager: BrowserManager) -> Hand:
    """A hand in a session of a browser of its own."""
    hand = Hand(await own_manager.open_session(), own_manager)
    hand.others |= {process.pid for process in browsers()}
    return hand


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder for this test alone; with a long path, Chromium could not make its socket in it."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)
