"""One browser for several servers with a profile: tabs apart, logins common, nobody in the other's way."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
import pytest_asyncio

from mcp_browser.browser.process.profile import profile_holder, sharers_of
from mcp_browser.errors import ProfileInUse
from mcp_browser.settings import BrowserSettings, EgressSettings, ToolSettings
from tests.browser.conftest import Hand, another, browsing, managing, shown, until
from tests.support.family import family
from tests.support.own_chrome import end_group, foreign_chromium
from tests.support.site import Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(sys.platform == "win32", reason="there is no broker on Windows"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile whose path is longer than an address of a socket may be."""
    return tmp_path_factory.mktemp("profile") / ("long" * 30)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def both(folder: Path) -> AsyncGenerator[tuple[Hand, Hand]]:
    """Two servers that share a browser all the time."""
    async with browsing(profile=folder) as first, browsing(profile=folder) as second:
        for one in (first, second):
            await one.session.ensure_open()
        yield first, second


def addresses(server: Hand) -> list[str]:
    return sorted(tab.url for tab in server.session.tabs.values())


async def test_tabs_and_popups_stay_with_their_server(both: tuple[Hand, Hand], site: Site) -> None:
    first, second = both
    there = site.page("<p>Popup</p>")
    links = f"""<button onclick="window.open('{there}?script')">Script</button>
        <a href="{there}?plain" target=_blank>Plain</a>
        <a href="{there}?apart" target=_blank rel="noopener noreferrer">Apart</a>"""
    await second.open(site.page("<p>Second</p>"))
    before = addresses(second)
    await first.open(site.page(links))
    home = first.tab.id
    for name in ("Script", "Plain", "Apart"):
        await first.session.switch_tab(home)
        assert f"{there}?{name.lower()}" in shown(await first.click(name))
    await first.session.new_tab(there)
    assert len(first.session.tabs) == 5
    assert addresses(second) == before
    await second.session.new_tab(there)
    assert len(first.session.tabs) == 5
    for server in both:
        for tab in list(server.session.tabs.values())[1:]:
            await server.session.close_tab(tab.id)
    assert addresses(second) == before
    assert len(first.session.tabs) == 1


async def test_a_dialog_is_its_servers_alone(both: tuple[Hand, Hand], site: Site) -> None:
    first, second = both
    await second.open(site.page("<p>Calm</p>"))
    await first.open(site.page("<button onclick=\"this.textContent = confirm('Sure?')\">Ask</button>"))
    assert "Sure?" in shown(await first.click("Ask"))
    assert second.tab.dialog is None
    assert "Calm" in shown(await second.look())
    assert "true" in shown(await first.answer(True))


async def test_each_gets_its_own_downloads(both: tuple[Hand, Hand], site: Site) -> None:
    for name, server in zip(("first", "second"), both, strict=True):
        link = f'<a href="data:application/octet-stream,{name}" download="{name}.bin">Get</a>'
        await server.open(site.page(link))
    await asyncio.gather(*(server.click("Get") for server in both))
    for name, server in zip(("first", "second"), both, strict=True):
        await server.session.incoming.wait(limit=30)
        (download,) = server.session.downloads
        assert download.name == f"{name}.bin"
        assert download.path is not None
        assert (await anyio.Path(download.path).read_text()) == name


async def test_each_sees_its_page_and_pastes_what_it_copied(both: tuple[Hand, Hand], site: Site) -> None:
    first, second = both
    draw = "<p id=out></p><script>requestAnimationFrame(() => out.textContent = 'drawn')</script>"
    for text, server in (("mine", first), ("yours", second)):
        await server.open(site.page(f"<input value='{text}' autofocus onfocus='this.select()'>{draw}"))
        await server.do(lambda tab: tab.input.press("Control+a"))
        await server.do(lambda tab: tab.input.press("Control+c"))
    for text, server in (("mine", first), ("yours", second)):
        assert await server.tab.page.evaluate("document.visibilityState") == "visible"
        assert "drawn" in shown(await server.look())
        await server.do(lambda tab: tab.input.press("Delete"))
        await server.do(lambda tab: tab.input.press("Control+v"))
        assert await server.tab.page.evaluate("document.querySelector('input').value") == text


@pytest.mark.parametrize(
    "busy", ["for (;;);", "alert('Held')", "onbeforeunload = () => 'Stay'; document.body.click()"]
)
async def test_who_leaves_takes_its_tabs_along_and_nothing_else(
    both: tuple[Hand, Hand], folder: Path, site: Site, busy: str
) -> None:
    first, second = both
    await second.open(site.page("<p>Stays</p>"))
    async with browsing(profile=folder) as third:
        await third.open(site.page("<p>Goes</p>"))
        running = asyncio.ensure_future(third.tab.page.evaluate(busy))
        await asyncio.wait({running}, timeout=0.1)
    await asyncio.wait({running})
    running.exception()
    await until(lambda: len(sharers_of(folder)) == 2)
    assert "Stays" in shown(await second.look())
    with anyio.fail_after(30):
        while await windows(first) != len(first.session.tabs) + len(second.session.tabs):  # noqa: ASYNC110
            await anyio.sleep(0.05)


async def windows(server: Hand) -> int:
    """How many pages the browser has, all servers' together."""
    session = await server.tab.page.context.new_cdp_session(server.tab.page)
    told: dict[str, Any] = await cast("Any", session).send("Target.getTargets")
    await session.detach()
    return sum(target["type"] == "page" for target in told["targetInfos"])


async def test_settings_for_pages_are_each_servers_own(both: tuple[Hand, Hand], folder: Path) -> None:
    tell = "[navigator.language, innerWidth, Intl.DateTimeFormat().resolvedOptions().timeZone].join()"
    pages = {"locale": "fr-FR", "viewport": "800x600", "timezone": "Asia/Tokyo"}
    # More tools do not keep it from sharing the browser either.
    browser = BrowserSettings.model_validate({"headless": True, "profile": folder, **pages})
    async with managing(browser=browser, tools=ToolSettings(tools=("all",))) as manager:
        third = Hand(await manager.default_session())
        await third.session.ensure_open()
        assert len(sharers_of(folder)) == len(both) + 1
        assert await third.tab.page.evaluate(tell) == "fr-FR,800,Asia/Tokyo"
        assert "1280" in await both[0].tab.page.evaluate(tell)


async def test_a_login_is_every_sessions_of_all_servers(both: tuple[Hand, Hand], site: Site) -> None:
    first, second = both
    page = site.page("<script>document.title = localStorage.mark + document.cookie</script>")
    await first.open(page)
    await first.tab.page.evaluate("document.cookie = 'who=ben'; localStorage.mark = 'kept'")
    assert "keptwho=ben" in shown(await second.open(page))
    async with another(first.manager, isolated=False, context_options={"locale": "it-IT"}) as other:
        assert "who=ben" in shown(await other.open(page))
        assert await other.tab.page.evaluate("navigator.language") == "it-IT"
    async with another(first.manager) as clean:
        assert "who=ben" not in shown(await clean.open(page))
    assert "who=ben" in shown(await first.open(page))


async def test_a_browser_with_other_settings_is_not_shared(both: tuple[Hand, Hand], folder: Path) -> None:
    async with browsing(profile=folder, proxy="http://user:secret@127.0.0.1:9") as third:
        with pytest.raises(ProfileInUse, match=r"other settings \(proxy\).*--isolated") as refusal:
            await third.session.ensure_open()
        assert "secret" not in str(refusal.value)
    async with browsing(profile=folder, profile_in_use="error") as third:
        with pytest.raises(ProfileInUse, match="in use by process"):
            await third.session.ensure_open()
    restricted = EgressSettings(block_domains=("example.com",))
    browser = BrowserSettings(headless=True, profile=folder)
    async with managing(browser=browser, egress=restricted) as manager:
        session = await manager.default_session()
        await session.ensure_open()
        assert any("temporary profile" in notice for notice in session.take_notices())
    assert len(sharers_of(folder)) == len(both)


def broker_of(folder: Path) -> int:
    holder = profile_holder(folder)
    assert holder is not None
    assert holder.shared
    assert holder.pid is not None
    return holder.pid


async def test_servers_that_start_at_once_find_each_other(tmp_path: Path) -> None:
    async with AsyncExitStack() as running:
        everyone = [await running.enter_async_context(browsing(profile=tmp_path)) for _ in range(4)]
        await asyncio.gather(*(server.session.ensure_open() for server in everyone))
        assert len(sharers_of(tmp_path)) == 4
        os.kill(broker_of(tmp_path), signal.SIGTERM)
        await until(lambda: profile_holder(tmp_path) is None)
        assert all(await asyncio.gather(*(server.look() for server in everyone)))
        assert len(sharers_of(tmp_path)) == 4
    assert profile_holder(tmp_path) is None


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to find the processes")
@pytest.mark.parametrize("killed", ["broker", "browser", "driver"])
async def test_session_cookies_that_end_are_told_as_lost(tmp_path: Path, site: Site, killed: str) -> None:
    page = site.page("<script>document.title = 'cookies ' + document.cookie</script>")
    before = set(family(os.getpid()))
    async with browsing(profile=tmp_path) as server:
        await server.open(page)
        await server.tab.page.evaluate("document.cookie = 'login=ann'")
        pids = {"broker": broker_of(tmp_path)}
        for pid, process in {**family(os.getpid()), **family(pids["broker"])}.items():
            is_main = f"--user-data-dir={tmp_path}" in process.command and "--type=" not in process.command
            if is_main and pid != pids["broker"]:
                pids["browser"] = pid
            if "run-driver" in process.command and pid not in before:
                pids["driver"] = pid
        os.kill(pids[killed], signal.SIGKILL)
        await until(lambda: server.session.tab_in_use is None)
        told = await server.open(page)
        (notice,) = (notice for notice in told.notices if "started again" in notice)
        assert "Session cookies are lost" in notice
        assert ("unless other clients kept the browser open" in notice) == (killed == "driver")
        assert "login=ann" not in shown(told)


async def test_another_programs_profile(tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_browser.browser.process.profile.ENDING_SECONDS", 0.1)
    with foreign_chromium(tmp_path, site.page("<p>Foreign</p>"), port=None) as foreign:
        await until((tmp_path / "SingletonLock").is_symlink)
        async with browsing(profile=tmp_path) as server:
            with pytest.raises(ProfileInUse, match=r"in use by process \d+.*Close that one"):
                await server.session.ensure_open()
            end_group(foreign)
            assert "Mine" in shown(await server.open(site.page("<p>Mine</p>")))
