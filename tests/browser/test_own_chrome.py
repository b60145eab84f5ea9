"""A browser of the user's own: worked in beside its user, whose tabs stay as they are."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
import pytest_asyncio

from mcp_browser.browser.process.divide import own_relay
from mcp_browser.browser.process.divide.divider import line
from mcp_browser.browser.process.divide.own_relay import OwnTabs
from mcp_browser.browser.process.launch import PORT_FILE, find_own_browser, places_of
from mcp_browser.browser.site_data import clear_site, put_state
from mcp_browser.dom.cdp import send
from mcp_browser.errors import ActionError, BrowserUnavailable
from mcp_browser.settings import BrowserSettings
from tests.browser.conftest import Hand, browsing, dialog_of, managing, shown, until
from tests.support.gates import listening, relay
from tests.support.own_chrome import WITNESS, User, users_browser
from tests.support.site import Reply, Site
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(sys.platform == "win32", reason="starts Chromium by hand as on POSIX"),
]

OWN = """<h1 id=who></h1><button onclick="alert('Really?')">Ask</button>
<a href="/download/report.txt?text=ok">Report</a> <a href="/popup" target=_blank>More</a>
<script>who.textContent = document.cookie</script>"""


def connected(folder: Path, *tabs: str) -> AbstractAsyncContextManager[Hand]:
    """A hand in the default session of a server that connects to the browser with this folder."""
    return browsing(headless=None, connect=str(folder), connect_tabs=tabs)


@pytest.fixture(scope="module")
def witness(site: Site) -> str:
    """The address of the user's page, with which the user logs in."""
    page = Reply(WITNESS.encode(), headers={"Set-Cookie": "login=ann; Max-Age=999"})
    return site.route("/witness", lambda _request: page)


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory, witness: str) -> Iterator[User]:
    """The user, with one browser for all tests that do not quit it."""
    with users_browser(tmp_path_factory.mktemp("user"), witness) as user:
        wait_until(lambda: user.read(witness, "globalThis.inFront?.() ?? ''") == "visible,true")
        yield user
        assert user.running, "it was ended"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hand(user: User) -> AsyncIterator[Hand]:
    async with connected(user.folder) as hand:
        yield hand


async def test_it_works_in_its_own_tab_with_logins(site: Site, user: User, hand: Hand, witness: str) -> None:
    url = site.page(OWN)
    told = await hand.open(url)
    assert "login=ann" in shown(told)
    assert witness not in user.attached()
    assert url in user.attached()
    assert user.read(witness, "inFront()") == "visible,true"
    assert (
        user.read(witness, "Object.keys(globalThis).filter(name => /playwright|mcp/i.test(name)).length") == 0
    )


async def test_a_file_goes_to_the_users_folder_and_to_the_caller_and_the_users_to_nobody_else(
    site: Site, user: User, hand: Hand, witness: str
) -> None:
    await hand.open(site.page(OWN))
    before = len(hand.session.downloads)
    user.read(witness, "location.href = '/download/mine.txt?text=mine'; 1")
    await until((user.downloads / "mine.txt").exists)
    await hand.look()
    assert len(hand.session.downloads) == before
    await hand.click("Report")
    await until(lambda: len(hand.session.downloads) > before and hand.session.downloads[-1].done)
    (download,) = hand.session.downloads[before:]
    assert download.error is None
    assert download.path is not None
    assert download.path.read_text() == "ok"
    assert any(file.read_text() == "ok" for file in user.downloads.iterdir())


async def test_dialogs_and_popups_of_its_own_tabs_are_its_own(site: Site, user: User, hand: Hand) -> None:
    popup = site.page("<h1>More of it</h1>", path="/popup")
    url = site.page(OWN)
    await hand.open(url)
    assert dialog_of(await hand.click("Ask")).message == "Really?"
    await hand.answer(True)
    before = set(hand.session.tabs)
    await hand.click("More")
    await until(lambda: len(hand.session.tabs) > len(before))
    (opened,) = set(hand.session.tabs) - before
    await hand.session.switch_tab(opened)
    assert "More of it" in shown(await hand.look())
    assert {url, popup} <= user.attached()
    await hand.session.close_tab(opened)
    assert popup not in user.tabs()


async def test_several_tabs_leave_the_user_in_front(site: Site, user: User, hand: Hand, witness: str) -> None:
    await hand.open(site.page("<h1>One</h1>"))
    one = hand.tab
    await hand.session.new_tab(site.page("<h1>Two</h1>"))
    await hand.session.switch_tab(one.id)
    assert "One" in shown(await hand.look())
    await hand.tab.screenshot()
    assert user.read(witness, "inFront()") == "visible,true"


async def test_commands_about_the_browser_are_sent_without_the_clients_parameters() -> None:
    class Client:
        def send(self, message: bytes, /) -> None:
            raise AssertionError(message)

    sent: list[bytes] = []
    tabs = OwnTabs(sent.append, lambda _: False)
    for method in ("Browser.getVersion", "Target.attachToBrowserTarget"):
        tabs.from_client(Client(), line({"id": 1, "method": method, "params": {"more": True}}))
        command = json.loads(sent[-1])
        assert (command["method"], command["params"]) == (method, {})


async def test_a_tab_that_the_user_closes_is_told(site: Site, user: User, hand: Hand) -> None:
    url = site.page("<h1>Closed by hand</h1>")
    await hand.open(site.page("<h1>Another</h1>"))
    tab = await hand.session.new_tab(url)
    user.close(url)
    await until(lambda: tab.closed)
    assert f"Tab {tab.id} ({url}) was closed." in shown(await hand.look())


async def test_two_sessions_work_beside_each_other(site: Site, user: User, hand: Hand) -> None:
    async with managing(browser=BrowserSettings(connect=str(user.folder))) as manager:
        first, second = [Hand(await manager.open_session(isolated=False)) for _ in range(2)]
        urls = [site.page(f"<h1>Of {number}</h1>") for number in range(2)]
        await asyncio.gather(first.open(urls[0]), second.open(urls[1]))
        assert [len(one.session.tabs) for one in (first, second)] == [1, 1]
        await first.session.close()
        await until(lambda: urls[0] not in user.tabs())
        assert "Of 1" in shown(await second.look())
        isolated = await manager.open_session(isolated=True)
        with pytest.raises(BrowserUnavailable, match="no isolated sessions"):
            await isolated.ensure_open()
    assert not set(urls) & set(user.tabs())


async def test_what_is_the_users_stays_out_of_reach(site: Site, user: User, hand: Hand, witness: str) -> None:
    await hand.open(site.page(OWN))
    context = hand.session.context
    assert context.browser is not None
    cdp = await context.browser.new_browser_cdp_session()
    for forbidden in (
        *(context.cookies(), context.clear_cookies(), context.grant_permissions(["geolocation"])),
        send(cdp, "Target.getTargets"),
        send(cdp, "Target.attachToTarget", targetId=user.tabs()[witness]["targetId"], flatten=True),
    ):
        with pytest.raises(Exception, match="not done in a browser of the user's own"):
            await forbidden
    assert "login=ann" in user.read(witness, "document.cookie")
    for clearing in (clear_site(hand.session, None), put_state(hand.session, {"cookies": [], "origins": []})):
        with pytest.raises(ActionError, match="is not cleared"):
            await clearing


async def test_closing_closes_its_own_tabs_and_no_other(site: Site, user: User, witness: str) -> None:
    url, popup = site.page(OWN), site.page("<h1>More of it</h1>", path="/popup")
    async with connected(user.folder) as hand:
        told = shown(await hand.open(url))
        for part in (f"({user.folder})", "Tabs opened here are closed at the end", "not touched"):
            assert part in told
        await hand.click("More")
        await until(lambda: len(hand.session.tabs) == 2)
        await hand.session.new_tab()
        assert {url, popup} <= set(user.tabs())
    assert not {url, popup} & set(user.tabs())
    assert witness in user.tabs()


async def test_a_tab_that_is_lent_is_used_and_left_open(site: Site, user: User) -> None:
    lent = site.page("<h1>Lent</h1><button onclick='this.textContent = \"Done\"'>Do it</button>")
    lent = lent.replace("127.0.0.1", "localhost")
    user.open(lent)
    await until(lambda: lent in user.tabs())
    before = user.attached()
    async with connected(user.folder, "localhost") as hand:
        told = await hand.look()
        assert "1 tab of its user's is used and left open" in shown(told)
        assert user.attached() - before == {lent, "about:blank"} - before
        (number,) = (tab.id for tab in told.tabs if tab.lent)
        assert [tab.lent for tab in told.tabs if tab.current] == [False]
        await hand.session.switch_tab(number)
        assert "Done" in shown(await hand.click("Do it"))
        with pytest.raises(ActionError, match="is the user's"):
            await hand.session.close_tab(number)
        later = site.page("<h1>Later</h1>").replace("127.0.0.1", "localhost")
        user.open(later)
        await until(lambda: len(hand.session.tabs) == 3)
        assert f"There is a new tab {max(hand.session.tabs)} ({later})" in shown(await hand.look())
        # One that goes to another site is the user's alone again.
        elsewhere = site.page("<h1>Elsewhere</h1>")
        user.read(later, f"location.href = {elsewhere!r}; 1")
        await until(lambda: len(hand.session.tabs) == 2)
        await until(lambda: elsewhere in set(user.tabs()) - user.attached())
    assert {lent, elsewhere} <= set(user.tabs())
    assert lent not in user.attached()
    user.close(lent)
    user.close(elsewhere)


async def test_a_browser_that_the_user_quits_is_told_and_found_again(site: Site, tmp_path: Path) -> None:
    url = site.page("<h1>Here</h1>")
    with users_browser(tmp_path, url) as user:
        async with connected(user.folder) as hand:
            await hand.open(url)
            user.quit()
            await until(lambda: hand.session.tab_in_use is None)
            with pytest.raises(BrowserUnavailable, match="remote debugging"):
                await hand.look()
            with users_browser(tmp_path, url):
                told = await hand.open(url)
                assert "Here" in shown(told)
                assert any("connection to the browser was lost" in notice for notice in told.notices)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "CHROME_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


async def test_no_browser_is_told_with_every_place_and_how_to_allow_it(home: Path) -> None:
    with pytest.raises(BrowserUnavailable) as raised:
        find_own_browser("auto")
    told = str(raised.value)
    for part in ("Chrome, Chromium, Edge, Brave", "inspect/#remote-debugging", "--remote-debugging-port=0"):
        assert part in told
    assert all(str(place) in told for place, _ in places_of("auto"))
    with pytest.raises(BrowserUnavailable, match="looked for the file DevToolsActivePort of Edge in"):
        find_own_browser("edge")
    with pytest.raises(BrowserUnavailable, match="is no folder with a file"):
        find_own_browser(str(home / "nowhere"))


@pytest.mark.usefixtures("home")
async def test_of_several_browsers_the_one_allowed_last_is_taken() -> None:
    first, second = [next(folder for folder, _ in places_of(kind)) for kind in ("chrome", "edge")]
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for age, folder in enumerate((second, first)):
            folder.mkdir(parents=True)
            (folder / PORT_FILE).write_text(f"{port}\n/devtools/browser/{age}\n")
            os.utime(folder / PORT_FILE, (1000 - age, 1000 - age))
        assert find_own_browser("auto").folder == second
        assert find_own_browser("chrome").folder == first
    with pytest.raises(BrowserUnavailable, match=rf"names port {port}.* where nothing listens"):
        find_own_browser("auto")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", "does not answer as that browser does"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "answers with HTTP 404"),
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", r"has refused the connection \(HTTP 403\)"),
        (b"", "does not answer as that browser does"),
    ],
)
async def test_another_program_at_the_port_is_told(tmp_path: Path, answer: bytes, told: str) -> None:
    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        writer.close()

    async with listening(serve) as port, connected(tmp_path) as hand:
        (tmp_path / PORT_FILE).write_text(f"{port}\n/devtools/browser/x\n")
        with pytest.raises(BrowserUnavailable, match=told):
            await hand.look()


async def test_the_user_is_waited_for_and_the_call_says_so(
    site: Site, tmp_path: Path, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As from Chrome 144 on: the answer to the connection comes once the user has confirmed it."""
    monkeypatch.setattr(own_relay, "ANSWER_SECONDS", 0.2)
    port, path = (user.folder / PORT_FILE).read_text().split()
    async with relay(int(port)) as asking, connected(tmp_path) as hand:
        asking.freeze()
        (tmp_path / PORT_FILE).write_text(f"{asking.port}\n{path}\n")
        for _ in range(2):
            with pytest.raises(BrowserUnavailable, match=r"asks its user .* then call again"):
                await hand.look()
        monkeypatch.setattr(own_relay, "ANSWER_SECONDS", 30)
        asking.thaw()
        assert "Allowed" in shown(await hand.open(site.page("<h1>Allowed</h1>")))
