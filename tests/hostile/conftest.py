"""A server that meets hostile pages, and a second web site in the same process as the first."""

from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from mcp_browser.actions import default_registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.settings import BrowserSettings, FileSettings, LimitSettings, Settings, ToolSettings
from tests.hostile.kit import Heard, Victim, hearing
from tests.support.servers import server_of
from tests.support.sharing import leave_one_tab
from tests.support.site import Site

LIMITS = LimitSettings(action_timeout=3, navigation_timeout=6, settle_timeout=2, call_timeout=12)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to the nightly run what is slow by two of its parameters; the rest of two files is slow."""
    here = Path(__file__).parent
    slow = [here / f"test_hostile_{name}.py" for name in ("bench", "channel")]
    for item in items:
        if item.path.parent == here and len(list(item.iter_markers("slow"))) > 1:
            item.add_marker(pytest.mark.nightly)
        elif item.path in slow:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def shop() -> Iterator[Site]:
    """Another origin of the same site: a browser shows it in the same process."""
    with Site() as running:
        yield running


@pytest.fixture
def heard(site: Site) -> Heard:
    """What the pages of one test report."""
    return hearing(site)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def manager(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[BrowserManager]:
    """One browser for all hostile pages."""
    folder = tmp_path_factory.mktemp("hostile")
    settings = Settings(
        browser=BrowserSettings(headless=True, isolated=True),
        limits=LIMITS,
        tools=ToolSettings(tools=("all",)),
        files=FileSettings(output_dir=folder / "out", upload_dirs=(folder,)),
    )
    running = BrowserManager(settings)
    yield running
    await running.close()


@pytest_asyncio.fixture(loop_scope="session")
async def session(manager: BrowserManager) -> AsyncIterator[BrowserSession]:
    """The session of all tests, with one tab, a new one for each."""
    session = await manager.default_session()
    await session.ensure_open()
    await leave_one_tab(session, new=True)
    yield session


Make = Callable[[str], Victim]


def victim_of(manager: BrowserManager, session: BrowserSession, folder: Path, rules: str) -> Victim:
    """A client of a server with all tools and a policy; none where its text is empty."""
    path = folder / "policy.toml"
    path.write_text(rules)
    tools = ToolSettings(tools=("all",), policy=path if rules else None)
    settings = manager.settings.model_copy(update={"tools": tools})
    return Victim(server_of(Controller(default_registry(), settings), Sessions(manager)), session)


@pytest.fixture
def under(session: BrowserSession, manager: BrowserManager, tmp_path: Path) -> Make:
    """Makes a client of a server with a policy."""
    return partial(victim_of, manager, session, tmp_path)


@pytest.fixture
def victim(under: Make) -> Victim:
    """A client of a server without a policy."""
    return under("")
