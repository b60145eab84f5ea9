"""Sessions of remote clients: apart from each other, bounded, and over when they should be."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.client import Browser, Era, both_eras
from tests.support.load import load
from tests.support.remote import (
    RemoteBrowser,
    RemoteServer,
    client_of,
    connected,
    serving,
    until,
    until_working,
)
from tests.support.site import Site

LOGIN = (
    "<script>document.title = 'who: ' + (localStorage.who || 'nobody') + ' ' + document.cookie</script>"
    "<button onclick=\"localStorage.who = 'Ada'; document.cookie = 'login=ada; max-age=99'\">Log in</button>"
)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def server() -> AsyncIterator[RemoteServer]:
    async with serving("--max-tabs", "3", "--sessions-per-browser", "2") as running:
        yield running


async def test_what_one_client_does_no_other_sees(server: RemoteServer, site: Site) -> None:
    url = site.page(LOGIN)
    async with AsyncExitStack() as stack:
        ways = [(server.url, "auto"), (server.url, "legacy"), (server.sse_url, "legacy")]
        clients = [await stack.enter_async_context(connected(at, era)) for at, era in ways]  # pyright: ignore[reportArgumentType]
        first, *others = clients
        await first.open(url)
        await first.click("button", "Log in")
        assert "who: Ada login=ada" in await first.open(url)
        for other in others:
            assert "who: nobody" in await other.open(url)
            assert len((await other.snapshot()).split("Open tabs")) == 1


async def test_a_call_without_a_session_starts_one_and_tells_it(server: RemoteServer, site: Site) -> None:
    async with connected(server.url) as browser:
        first = await browser.call("go_to_url", url=site.page("<h1>One</h1>"))
        assert len(browser.session or "") >= 24
        assert f'New browser session "{browser.session}"' in first.text
        assert "One" in (await browser.call("get_state")).text
        handle, browser.session = browser.session, None
        empty = (await browser.call("get_state")).text
        assert "One" not in empty
        assert "No page has been opened in this browser session" in empty
        assert "No page has been opened" not in first.text
        assert browser.session != handle


async def test_a_legacy_client_that_connects_anew_learns_why_its_page_is_empty(
    server: RemoteServer, site: Site
) -> None:
    async with connected(server.url, era="legacy") as browser:
        await browser.open(site.page("<h1>One</h1>"))
    async with connected(server.url, era="legacy") as browser:
        assert "a client that connects anew for each call" in (await browser.call("get_state")).text


async def test_a_session_that_is_unknown_or_closed_is_an_error_that_says_so(
    server: RemoteServer, site: Site
) -> None:
    async with connected(server.url) as browser:
        unknown = await browser.refused("get_state", session="made-up")
        assert unknown.startswith("There is no such session. Start anew")
        await browser.open(site.page("<h1>One</h1>"))
        await browser.do("close_session")
        assert "closed by close_session" in await browser.refused("get_state")


@both_eras
async def test_a_call_whose_session_is_closed_meanwhile_says_so_and_the_server_goes_on(
    server: RemoteServer, site: Site, era: Era
) -> None:
    async with connected(server.url, era) as browser:
        await browser.open(site.page("<h1>Here</h1>"))
        handle = await browser.handle()
        waiting = asyncio.create_task(browser.refused("wait_for", text="Never", timeout=100))
        await until_working(browser, session=handle)
        await browser.do("close_session", session=handle)
        assert (await waiting).startswith("The session was closed by close_session. Start anew")
        browser.session = None
        assert "Again" in await browser.open(site.page("<h1>Again</h1>"))


async def test_a_legacy_client_can_have_more_sessions_than_its_own(server: RemoteServer, site: Site) -> None:
    async with connected(server.url, "legacy") as browser:
        await browser.open(site.page("<h1>Own</h1>"))
        await browser.call("new_session", viewport="800x600", locale="de-DE", timezone="Europe/Berlin")
        page = site.page(
            "<script>document.write([innerWidth, innerHeight, navigator.language, "
            "Intl.DateTimeFormat().resolvedOptions().timeZone].join(' '))</script>"
        )
        assert "800 600 de-DE Europe/Berlin" in await browser.open(page)
        browser.session = None
        assert "Own" in await browser.snapshot()
        assert len((await browser.call("list_sessions")).text.splitlines()) == 2


async def test_an_argument_that_new_session_does_not_take_is_explained(server: RemoteServer) -> None:
    async with connected(server.url) as browser:
        assert "IANA name" in (await browser.call("new_session", timezone="Mars/Base")).text
        assert "--profiles FOLDER" in (await browser.call("new_session", profile="work")).text


async def test_the_end_of_a_protocol_session_closes_its_browser(server: RemoteServer, site: Site) -> None:
    page = site.page("<h1>Here</h1>")
    for url in (server.url, server.sse_url):
        async with connected(url, "legacy") as browser, connected(url, "legacy") as watcher:
            await browser.open(page)
            handle = (await browser.call("list_sessions")).structured
            name = handle["sessions"][0]["session"]
            watcher.session = name
            assert "Here" in (await watcher.call("get_state")).text
        async with connected(url, "legacy") as watcher:
            watcher.session = name

            async def is_over(of: RemoteBrowser = watcher) -> bool:
                return "ended with its connection" in (await of.call("get_state")).text

            await until(is_over)


@pytest.mark.slow
async def test_more_tabs_than_allowed_are_refused_and_popups_closed(server: RemoteServer, site: Site) -> None:
    flood = f"for (let i = 0; i < {load(40, full=200)}; i++) window.open('about:blank')"
    async with connected(server.url, "legacy") as browser, connected(server.url, "legacy") as other:
        await other.open(site.page("<h1>Calm</h1>"))
        await browser.open(site.page(f'<button onclick="{flood}">Flood</button>'))
        for _ in range(2):
            await browser.do("open_tab")
        assert "a session may have 3 tabs" in await browser.refused("open_tab")
        await browser.do("close_tab", tab=3)
        await browser.do("switch_tab", tab=1)
        told = (await browser.call("click_element", index=await browser.look_for("button", "Flood"))).text
        for _ in range(6):
            look = await browser.call("get_state")
            told += look.text
            assert not look.is_error or "its script is busy" in look.text, look.text
        assert "opened more tabs, which were closed" in told
        assert "a session may have 3 tabs" in told
        assert "Calm" in await other.snapshot()
        sessions = (await browser.call("list_sessions")).structured
        assert sessions["sessions"][0]["tabs"] <= 3


async def test_a_page_that_never_ends_holds_up_nobody_else(server: RemoteServer, site: Site) -> None:
    endless = site.page("<button onclick='for (;;) {}'>Hang</button>")
    async with connected(server.url, "legacy") as stuck, connected(server.url, "legacy") as other:
        await stuck.open(endless)
        hanging = asyncio.create_task(stuck.call("click_element", index=1))
        for _ in range(3):
            assert "Quick" in await other.open(site.page("<h1>Quick</h1>"))
        await hanging
        assert "Quick" in await stuck.open(site.page("<h1>Quick</h1>"))


async def test_too_many_sessions_are_refused_and_none_is_closed_for_it(site: Site) -> None:
    flags = ("--http", "--max-sessions", "2", "--idle-timeout", "2")
    async with serving(*flags) as server, connected(server.url) as browser:
        await browser.open(site.page("<h1>Mine</h1>"))
        assert "Mine" in await browser.snapshot()
        made = await browser.call("new_session")
        assert "as many as this server allows" in await browser.refused("new_session")
        assert "Mine" in await browser.snapshot()

        async def has_room() -> bool:
            result = await browser.call("new_session")
            return not result.is_error

        # Nobody says that it has gone: the server finds out by itself.
        await until(has_room)
        assert (
            "after 2 seconds without a call"
            in (await browser.call("get_state", session=made.structured["session"])).text
        )


async def test_a_client_that_never_names_its_session_takes_nobody_s_room(site: Site) -> None:
    page = site.page("<h1>Here</h1>")
    async with serving("--http", "--max-sessions", "3") as server, connected(server.url) as careful:
        await careful.open(page)
        assert "Here" in await careful.snapshot()
        async with client_of(server.url) as client:
            forgetful = Browser(client)
            told = [await forgetful.call("go_to_url", url=page) for _ in range(5)]
        assert not any(result.is_error for result in told)
        assert "Here" in await careful.snapshot()
        first = told[0].meta["mcp-browser/session"]
        assert "no call had named it" in (await careful.call("get_state", session=first)).text
        asked = await careful.call("list_sessions")
        assert "give the handle of one as `session`" in asked.text
        assert asked.structured["sessions"] == []
        last = told[-1].meta["mcp-browser/session"]
        (known,) = (await careful.call("list_sessions", session=last)).structured["sessions"]
        assert (known["session"], known["url"]) == (last, page)
        assert "no call had named it" in (await careful.call("list_sessions", session=first)).text
        await careful.do("close_session", session=last)


@pytest.mark.slow
async def test_a_profile_keeps_logins_and_has_one_holder(site: Site, tmp_path: Path) -> None:
    url = site.page(LOGIN)
    async with serving("--http", "--profiles", str(tmp_path)) as server:
        async with connected(server.url) as browser, connected(server.url) as other:
            assert "is new" in await browser.do("new_session", profile="work")
            await browser.open(url)
            await browser.click("button", "Log in")
            told = await other.refused("new_session", profile="work")
            assert "Another session has the profile 'work'" in told
            await browser.do("close_session")
            assert "starts with the logins" in await other.do("new_session", profile="work")
            assert "who: Ada login=ada" in await other.open(url)
            await other.click("button", "Log in")
            browser.session = None
            await browser.do("new_session", logins_of="work")
            assert "who: Ada login=ada" in await browser.open(url)
        # It ends while the profile is held.
        await asyncio.to_thread(server.stop)
        (file,) = tmp_path.glob("*/work/state.json")  # noqa: ASYNC240 (a small folder)
        assert file.stat().st_mode & 0o777 == 0o600
        assert json.loads(file.read_text())["cookies"][0]["name"] == "login"
    async with serving("--http", "--profiles", str(tmp_path)) as server, connected(server.url) as browser:
        await browser.do("new_session", profile="work")
        assert "who: Ada login=ada" in await browser.open(url)
        assert "cannot be the name" in (await browser.call("new_session", profile="../x")).text
