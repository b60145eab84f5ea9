"""The live view in a real browser, against the real server."""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx2
import pytest
from playwright.async_api import Browser, Page, WebSocketRoute
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from mcp_browser.actions.auditing import _axe
from mcp_browser.dom.cdp import send
from tests.support.principals import ALICE, BOB, bearer, tokens_in
from tests.support.process import RawServer, browser_of
from tests.support.remote import RemoteBrowser, RemoteServer, connected, serving, until
from tests.support.site import Site
from tests.support.view import SECONDS, SHOP, click_in, expect, first_frame, take_over

BUSY = f"""{SHOP}<p id=counter style="position:absolute;top:500px"></p>
<script>let count = 0; setInterval(() => {{ counter.textContent = count++; }}, 40);</script>"""


def link_in(lines: list[str]) -> str:
    """The latest link that the server has told."""
    return re.findall(r"live view at (\S+/view/link/\S+)", "".join(lines))[-1]


async def next_link(server: RemoteServer, used: str) -> str:
    """The link that the server tells once that one is used."""

    async def is_told() -> bool:
        return link_in(server.stderr) != used

    await until(is_told)
    return link_in(server.stderr)


@pytest.fixture(scope="module")
async def server() -> AsyncGenerator[RemoteServer]:
    async with serving("--http", "--view", "--action-timeout", "60") as server:
        yield server


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tokens_in(tmp_path_factory.mktemp("view"))


@pytest.fixture(scope="module")
async def closed(tokens: Path) -> AsyncGenerator[RemoteServer]:
    """A server that asks who calls."""
    async with serving("--http", "--view", "--tokens", str(tokens), "--path-prefix", "/team") as server:
        yield server


@asynccontextmanager
async def viewing(
    chromium: Browser, address: str, sockets: list[WebSocketRoute] | None = None
) -> AsyncGenerator[Page]:
    """The view in a browser of a person; nothing may break its content security policy.

    Its sockets are added to `sockets`.
    """
    context = await chromium.new_context()
    page = await context.new_page()
    if sockets is not None:

        def route(socket: WebSocketRoute) -> None:
            sockets.append(socket)
            socket.connect_to_server()

        await page.route_web_socket("**/view/live", route)
    page.set_default_timeout(SECONDS)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    await page.goto(address)
    try:
        yield page
        assert not [text for text in said if "Content Security Policy" in text or "Error:" in text], said
    finally:
        await context.close()


@asynccontextmanager
async def viewed(server: RemoteServer, chromium: Browser) -> AsyncGenerator[Page]:
    """The view of the server that lets in whoever has its link."""
    async with viewing(chromium, link_in(server.stderr)) as view:
        yield view


async def more_frames(view: Page, number: int = 3) -> None:
    """Wait until as many frames more were drawn."""

    async def drawn() -> int:
        return int(await view.locator("#live").get_attribute("data-frames") or 0)

    wanted = await drawn() + number

    async def enough() -> bool:
        return await drawn() >= wanted

    await until(enough, seconds=SECONDS / 1000)


async def open_shop(browser: RemoteBrowser, site: Site, title: str) -> None:
    await browser.open(site.page(BUSY, title=title))


@asynccontextmanager
async def shopping(
    server: RemoteServer, chromium: Browser, site: Site, title: str = "Shop"
) -> AsyncGenerator[tuple[RemoteBrowser, Page]]:
    """A client whose page is a shop, and the view that shows it live."""
    async with connected(server.url) as browser:
        await open_shop(browser, site, title)
        async with viewed(server, chromium) as view:
            await more_frames(view)
            yield browser, view


async def violations(view: Page) -> str:
    """What axe-core finds wrong."""
    session = await view.context.new_cdp_session(view)
    # As a debugger does: the page's policy lets no other script run.
    await send(session, "Runtime.evaluate", expression=_axe())
    checked = "axe.run().then((found) => JSON.stringify(found.violations))"
    answer = await send(session, "Runtime.evaluate", expression=checked, awaitPromise=True)
    found = json.loads(answer["result"]["value"])
    return "\n".join(f"{one['id']}: {node['html']}" for one in found for node in one["nodes"])


@pytest.mark.smoke
async def test_over_stdio_a_link_shows_the_session_and_its_calls(
    site: Site, chromium: Browser, tmp_path: Path
) -> None:
    told = tmp_path / "stderr"
    with told.open("w") as stderr, RawServer("--view", stderr=stderr) as server:
        await asyncio.to_thread(server.initialize)
        page = site.page(BUSY, title="A shop")
        result = await asyncio.to_thread(server.call, "go_to_url", url=page)
        assert not result["isError"]

        async def is_told() -> bool:
            return "view/link" in told.read_text()

        await until(is_told)
        async with viewing(chromium, link_in([told.read_text()])) as view:
            await more_frames(view)
            await expect(view.get_by_label("Address")).to_have_value(page)
            await expect(view.locator("#calls summary")).to_contain_text("go_to_url")
            assert server.process.stdin is not None
            server.process.stdin.close()
            await asyncio.to_thread(server.process.wait)
            await expect(view.locator("#state")).to_have_text("The session has ended.")


async def test_the_session_is_shown_live_with_its_calls_and_a_picture_after_each(
    server: RemoteServer, chromium: Browser, site: Site
) -> None:
    async with shopping(server, chromium, site, "Greengrocer") as (browser, view):
        await expect(view.locator("#live")).to_have_attribute("aria-label", "Live picture of Greengrocer")
        await browser.fill("textbox", "Name", "Ada's favourite")
        failed = await browser.call("click_element", index=9999)
        assert failed.is_error
        calls = view.locator("#calls > li")
        await expect(calls).to_have_count(3)
        await expect(calls.nth(0).get_by_label("failed")).to_be_visible()
        await calls.nth(1).locator("summary").click()
        # What is typed may be a password: its length is told.
        await expect(calls.nth(1)).to_contain_text("(15 characters)")
        assert "favourite" not in await calls.nth(1).locator("dl").inner_text()
        await calls.nth(0).locator("summary").click()
        await expect(calls.nth(0).get_by_role("region")).to_contain_text("9999")
        # Step back, then to what is there now.
        await expect(view.locator("#line")).to_be_enabled()
        await view.locator("#line").focus()
        await view.keyboard.press("Home")
        await expect(view.locator("#past")).to_have_attribute("alt", "The page after go_to_url")
        await expect(view.locator("#past")).to_have_js_property("naturalWidth", 1280)
        await view.get_by_role("button", name="Live").click()
        await expect(view.locator("#live")).to_be_visible()


async def test_a_link_works_once(server: RemoteServer, chromium: Browser) -> None:
    used = link_in(server.stderr)
    async with httpx2.AsyncClient() as first, httpx2.AsyncClient() as second:
        followed = await first.get(used)
        assert followed.status_code == 200
        cookie = followed.headers["set-cookie"]
        assert {"HttpOnly", "SameSite=Strict", "Path=/view"} <= set(cookie.split("; "))
        assert (await first.get(f"{server.base}/view")).status_code == 200
        assert (await second.get(used)).status_code == 410
        assert (await second.get(f"{server.base}/view")).status_code == 401
        left = await first.post(f"{server.base}/view/sign-out", headers={"Origin": server.base})
        assert left.status_code == 303
        assert (await first.get(f"{server.base}/view/me")).status_code == 403
    assert used != await next_link(server, used)


async def test_the_view_is_accessible_in_every_state(
    server: RemoteServer, closed: RemoteServer, chromium: Browser, site: Site
) -> None:
    async with shopping(server, chromium, site, "Accessible") as (_, view):
        await view.locator("#calls summary").first.click()
        await view.emulate_media(reduced_motion="reduce")
        assert await violations(view) == ""
        await view.emulate_media(color_scheme="dark")
        assert await violations(view) == ""
        await take_over(view)
        assert await violations(view) == ""
        # No trap: a key leaves the page's keyboard.
        await expect(view.locator("#keys")).to_be_focused()
        await view.keyboard.press("Control+F6")
        await expect(view.get_by_label("Note to the model")).to_be_focused()
        await view.get_by_role("button", name="Hand back").click()
    for base in (server.base, closed.base):
        async with viewing(chromium, f"{base}/view") as door:
            await expect(door.get_by_role("heading", name="Live view")).to_be_visible()
            assert await violations(door) == ""


async def test_a_person_takes_over_types_and_hands_back(
    server: RemoteServer, chromium: Browser, site: Site
) -> None:
    async with shopping(server, chromium, site, "Checkout") as (browser, view):
        await take_over(view)
        waiting = asyncio.create_task(browser.call("get_state", screenshot=False))
        await click_in(view, 100, 10)
        await view.keyboard.type("Ada é")
        await view.keyboard.press("Tab")
        await view.keyboard.type("hunter2hunter2")
        await click_in(view, 700, 350)
        await expect(view.get_by_role("button", name="Paid by Ada é")).to_be_visible()
        # The page's own address goes through the same rules as the model's.
        await view.get_by_label("Address").fill("file:///etc/passwd")
        await view.keyboard.press("Enter")
        await expect(view.get_by_role("status")).to_contain_text("file:")
        assert not waiting.done()
        await view.get_by_label("Note to the model").fill("I have paid.")
        await view.get_by_role("button", name="Hand back").click()
        told = (await waiting).text
        assert "A person" in told
        assert "I have paid." in told
        assert "hunter2" not in told
        assert "hunter2" not in await view.content()
        assert "Paid by Ada é" in await browser.snapshot()
        await expect(view.get_by_role("button", name="Take over")).to_be_visible()
    assert "hunter2" not in "".join(server.stderr)


async def test_a_person_records_what_they_do_in_the_picture(
    chromium: Browser, site: Site, tmp_path: Path
) -> None:
    async with (
        serving("--http", "--view", "--output-dir", str(tmp_path)) as server,
        shopping(server, chromium, site, "Recorded") as (browser, view),
    ):
        await view.get_by_role("button", name="Record", exact=True).click()
        await expect(view.get_by_text("What you do in the picture is listed here.")).to_be_visible()
        await expect(view.get_by_role("button", name="Record", exact=True)).to_be_hidden()
        assert await violations(view) == ""
        await click_in(view, 100, 10)
        await view.keyboard.type("Ada")
        await view.keyboard.press("Tab")
        await view.keyboard.type("hunter2hunter2")
        await click_in(view, 700, 350)
        steps = view.locator("#recorded-steps li")
        await expect(steps.filter(has_text="Pay")).to_be_visible()
        await view.get_by_role("button", name="Check text").click()
        await expect(view.locator("#check-hint")).to_be_visible()
        await click_in(view, 700, 350)
        await expect(view.locator("#check-hint")).to_be_hidden()
        await view.get_by_role("button", name="Stop").click()
        recorded = view.locator("#recorded details")
        await expect(recorded).to_have_count(3)
        assert await violations(view) == ""
        written = {
            await one.locator("b").text_content() or "": await one.locator("pre").text_content() or ""
            for one in await recorded.all()
        }
        python, typescript, history = (
            next(text for name, text in written.items() if name.endswith(end))
            for end in (".py", ".ts", ".json")
        )
        async with view.expect_download() as download:
            await view.locator("#recorded").get_by_role("link", name="Save").first.click()
        saved = await (await download.value).path()
        assert saved.read_text("utf-8") in written.values()
        await view.get_by_role("button", name="Close").click()
        await expect(view.locator("#recorded")).to_be_hidden()
        await view.get_by_role("button", name="Hand back").click()
        for text in (python, typescript, history):
            assert "Ada" in text
            assert "hunter2" not in text
        pay = 'get_by_role("button", name="Pay", exact=True)'
        assert f"page.{pay}.click()" in python
        assert f'expect(page.{pay}).to_contain_text("Pay"' in python
        assert json.loads(history)
        told = await browser.call("get_state", screenshot=False)
        assert "A person has recorded what they did" in told.text


async def test_one_viewer_takes_over_and_the_other_sees_it(
    server: RemoteServer, chromium: Browser, site: Site
) -> None:
    async with connected(server.url) as browser:
        await open_shop(browser, site, "Two viewers")
        first_link = link_in(server.stderr)
        async with viewing(chromium, first_link) as first:
            second_link = await next_link(server, first_link)
            async with viewing(chromium, second_link) as second:
                await asyncio.gather(more_frames(first), more_frames(second))
                await take_over(first)
                button = second.get_by_role("button", name="Take over")
                await expect(button).to_be_disabled()
                await expect(second.get_by_role("status")).to_contain_text("has taken over")
                # A reload keeps what was taken over.
                await first.reload()
                await expect(first.get_by_role("button", name="Hand back")).to_be_visible()
                await first.get_by_role("button", name="Hand back").click()
                await expect(button).to_be_enabled()


DOOR = """<button style="position:absolute;left:0;top:0;width:200px;height:100px"
  onclick="document.title = `Said ${prompt('Who is there?', 'Nobody')}`">Ask</button>
<button style="position:absolute;left:300px;top:0;width:200px;height:100px"
  onclick="window.open('/hello', '', 'popup')">Open</button>
<input style="position:absolute;left:600px;top:0" oninput="document.title = `Typed ${value}`" id=typed>
<script>document.addEventListener('keydown', () => typed.focus())</script>"""


async def test_what_a_person_is_told_holds_and_is_for_people_and_what_a_page_opens_comes_to_the_front(
    server: RemoteServer, chromium: Browser, site: Site
) -> None:
    async with connected(server.url) as browser:
        await browser.open(site.page(DOOR, title="Door"))
        async with viewed(server, chromium) as view:
            await first_frame(view)
            status = view.get_by_role("status")
            # Nobody takes what was before for what is now.
            await view.get_by_role("slider").press("Home")
            await expect(view.locator("#past")).to_be_visible()
            await take_over(view)
            await expect(view.locator("#past")).to_be_hidden()
            await click_in(view, 100, 50)
            await expect(view.get_by_role("textbox", name="Answer")).to_have_value("Nobody")
            await click_in(view, 700, 300)
            await expect(status).to_contain_text("prompt dialog is open")
            assert "handle_dialog" not in await status.inner_text()
            await view.get_by_role("button", name="OK").click()
            await expect(view.get_by_role("button", name="Said Nobody")).to_be_visible()
            await expect(status).to_have_text("You have the browser; the model's calls wait.")
            # The keys are the page's again.
            await view.keyboard.type("Ada")
            await expect(view.get_by_role("button", name="Typed Ada")).to_be_visible()
            # What a page opens for a person comes to the front.
            await click_in(view, 400, 50)
            await expect(view.get_by_label("Address")).to_have_value(re.compile("/hello$"))
            await view.get_by_role("button", name="Typed Ada").click()
            await expect(view.get_by_role("button", name="Typed Ada")).to_have_attribute(
                "aria-current", "page"
            )
            await view.get_by_role("button", name="Hand back").click()


async def test_a_click_in_the_picture_of_a_zoomed_page_is_at_its_place(chromium: Browser, site: Site) -> None:
    wide = """<meta name=viewport content="width=1280"><body style="margin:0;width:1280px;height:1280px">
    <button style="position:absolute;left:800px;top:400px;width:160px;height:80px"
      onclick="document.title = 'Hit'">Target</button>"""
    async with (
        serving("--http", "--view", "--device", "iPhone 15") as server,
        connected(server.url) as browser,
    ):
        await browser.open(site.page(wide, title="Wide"))
        async with viewed(server, chromium) as view:
            await first_frame(view)
            await take_over(view)
            await click_in(view, 880, 440)
            await expect(view.get_by_role("button", name="Hit")).to_be_visible()


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
async def test_a_person_goes_on_after_a_crash_of_the_browser(chromium: Browser, site: Site) -> None:
    page = site.page("<p>Here", title="Here")
    async with (
        serving("--http", "--view") as server,
        shopping(server, chromium, site) as (browser, view),
    ):
        await take_over(view)
        os.kill(browser_of(server.processes.living(server.process.pid)), signal.SIGKILL)
        await expect(view.get_by_role("status")).to_contain_text("The browser has ended")
        # No picture passes for what is there now.
        assert await view.evaluate(
            "() => !live.getContext('2d').getImageData(0, 0, 99, 99).data.some((one) => one)"
        )
        await view.get_by_label("Address").fill(page)
        await view.keyboard.press("Enter")
        await expect(view.get_by_role("button", name="Here")).to_be_visible()
        await expect(view.get_by_role("status")).to_contain_text("You have the browser")
        await view.get_by_role("button", name="Hand back").click()
        await expect(view.get_by_role("button", name="Take over")).to_be_visible()
        assert "was started again" in (await browser.call("get_state", screenshot=False)).text


async def test_the_end_of_a_session_that_was_taken_over_is_told(chromium: Browser, site: Site) -> None:
    # A server of its own: there is no other session that the view could show instead.
    async with serving("--http", "--view") as server, viewed(server, chromium) as view:
        async with connected(server.url, "legacy") as browser:
            await open_shop(browser, site, "Short")
            await more_frames(view)
            await take_over(view)
        await expect(view.get_by_role("status")).to_have_text("The session has ended.")


@asynccontextmanager
async def socket_to(
    base: str, *, origin: str | None = None, headers: dict[str, str] | None = None
) -> AsyncGenerator[ClientConnection]:
    """The view's socket as a program opens it."""
    address = f"{base.replace('http', 'ws')}/view/live"
    own = Origin(origin or "/".join(base.split("/")[:3]))
    async with connect(address, origin=own, additional_headers=headers or {}, proxy=None) as socket:
        yield socket


async def refused(base: str, **options: object) -> int:
    """The status by which the socket is refused."""
    with pytest.raises(InvalidStatus) as wrong:
        async with socket_to(base, **options):  # pyright: ignore[reportArgumentType]
            pass
    return wrong.value.response.status_code


async def code_of_end(socket: ClientConnection) -> int:
    """Read until the server closes the socket; why it did."""
    async with asyncio.timeout(60):
        with suppress(ConnectionClosed):
            while True:
                await socket.recv()
    return socket.close_code or 0


async def test_who_has_no_rights_gets_nothing(server: RemoteServer, closed: RemoteServer) -> None:
    alice = bearer(ALICE)
    assert await refused(server.base) == 403
    assert await refused(closed.base) == 401
    assert await refused(closed.base, headers={"Authorization": "Bearer not-one-of-them-01"}) == 401
    assert await refused(closed.base, headers=alice, origin="https://evil.example") == 403
    # Another server of this machine is another page.
    assert await refused(closed.base, headers=alice, origin="http://127.0.0.1:9") == 403
    assert await refused(closed.base, headers=alice, origin="null") == 403
    async with httpx2.AsyncClient() as client:
        view = f"{closed.base}/view"
        assert (await client.get(f"{view}/me")).status_code == 401
        assert (await client.get(f"{view}/pictures/0/1")).status_code == 401
        assert (await client.get(f"{server.base}/view/pictures/0/1")).status_code == 403
        rebound = await client.get(view, headers={"Host": "evil.example:8585"})
        assert rebound.status_code == 421
        login = await client.post(f"{view}/sign-in", headers={**alice, "Origin": "https://evil.example"})
        assert login.status_code == 403
        assert "set-cookie" not in login.headers


async def test_each_sees_the_own_sessions_until_the_token_counts_no_more(
    closed: RemoteServer, tokens: Path, chromium: Browser, site: Site
) -> None:
    await asyncio.to_thread(tokens.write_text, f"alice: {ALICE}\nbob: {BOB}\n")
    alice = bearer(ALICE)
    async with connected(closed.url, headers=alice) as browser:
        await open_shop(browser, site, "Alice's shop")
        async with viewing(chromium, f"{closed.base}/view") as view:
            await view.get_by_label("Token").fill("not-one-of-them-01")
            await view.get_by_role("button", name="Sign in").click()
            await expect(view.get_by_role("alert")).to_contain_text("not known")
            await view.get_by_label("Token").fill(ALICE)
            await view.get_by_role("button", name="Sign in").click()
            await more_frames(view)
            await expect(view.locator("#live")).to_have_attribute(
                "aria-label", "Live picture of Alice's shop"
            )
        name = ""
        async with socket_to(closed.base, headers=alice) as socket:
            found = json.loads(await socket.recv())
            assert [one["title"] for one in found["sessions"]] == ["Alice's shop"]
            name = found["sessions"][0]["id"]
        async with socket_to(closed.base, headers=bearer(BOB)) as socket:
            assert json.loads(await socket.recv()) == {"type": "sessions", "sessions": []}
            await socket.send(json.dumps({"type": "watch", "session": name, "viewer": "0" * 16}))
            assert json.loads(await socket.recv()) == {"type": "session", "session": None}
            await asyncio.to_thread(tokens.write_text, f"alice: {ALICE}\n")
            assert await code_of_end(socket) == 4401


async def test_a_slow_viewer_delays_nobody(server: RemoteServer, chromium: Browser, site: Site) -> None:
    async with connected(server.url) as browser:
        await open_shop(browser, site, "Busy")
        async with httpx2.AsyncClient() as client:
            await client.get(link_in(server.stderr))
            cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        async with socket_to(server.base, headers={"Cookie": cookie}) as socket:
            name = json.loads(await socket.recv())["sessions"][0]["id"]
            await socket.send(json.dumps({"type": "watch", "session": name, "viewer": "1" * 16}))
            frames = 0
            # It draws nothing: after a few, no more come, and the calls go on.
            for _ in range(5):
                await browser.fill("textbox", "Name", "x" * 100)
            await browser.snapshot()
            while True:
                message = await socket.recv()
                frames += isinstance(message, bytes)
                if isinstance(message, str) and '"get_state"' in message and '"ok"' in message:
                    break
            assert frames <= 2
            for _ in range(3):
                await socket.send('{"type": "drawn"}')
            async with asyncio.timeout(60):
                while not isinstance(await socket.recv(), bytes):
                    pass
            await socket.send('{"type": "nonsense"}')
            assert await code_of_end(socket) == 4400


async def test_the_view_comes_back_after_its_connection_was_lost(
    server: RemoteServer, chromium: Browser, site: Site
) -> None:
    async with connected(server.url) as browser:
        await open_shop(browser, site, "Steady")
        sockets: list[WebSocketRoute] = []
        async with viewing(chromium, link_in(server.stderr), sockets) as view:
            await more_frames(view)
            await sockets[-1].close(code=3000)
            async with asyncio.timeout(SECONDS / 1000):
                while len(sockets) == 1:  # noqa: ASYNC110 - the page tries again by itself
                    await asyncio.sleep(0.02)
            await more_frames(view)
            await expect(view.locator("#state")).to_have_text("Connected.")
            await expect(view.locator("#calls > li")).to_have_count(1)
