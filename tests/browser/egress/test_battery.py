"""Every way out of a page is tried; a counting server must see none of them."""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from ipaddress import ip_address
from pathlib import Path

import pytest

from mcp_browser.browser.egress.dialing import STREAM_LIMIT, Streams
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.process import launch
from mcp_browser.browser.process.launch import headless_shells
from mcp_browser.dom.cdp import send
from mcp_browser.errors import BlockedUrl
from mcp_browser.hosts import IpAddress
from mcp_browser.settings import BrowserSettings, EgressSettings, Settings
from tests.browser.conftest import HEADLESS, LIMITS, Hand, managing, shown, until
from tests.support.gates import listening
from tests.support.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

HOSTILE = Path(__file__).with_name("hostile.js").read_text("utf-8")
PORTS = ("preconnect", "payment", "identity")
"""Ways that connect to a host without naming a path, and are known by their port."""
LOG = "names"
NAME = "looked-up.localhost"
"""Looked up by nobody else; it leads home without asking the network."""
PUBLIC = "93.184.215.14"  # Never connected to: the test's dialer leads it to the local site
HOSTS = [
    *("127.0.0.1", "localhost", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "0.0.0.0"),
    *("[::ffff:127.0.0.1]", "inside.example", "rebound.example"),
]
ANSWER = (
    b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Type: text/html\r\n"
    b"Content-Length: 2\r\nConnection: close\r\n\r\nok"
)


class Counter(asyncio.DatagramProtocol):
    """Counts what comes: paths of requests, other bytes, datagrams, ports."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.addresses: tuple[int, int, str, dict[str, int]]
        """What the hostile page takes beside the hosts."""

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.seen.add("datagram")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.seen.add("connection")
        with contextlib.suppress(OSError):
            found = re.match(rb"[A-Z]+ /(\w*)", await reader.read(4096))
            self.seen.add(found[1].decode() if found else "bytes")
            writer.write(ANSWER)
        writer.close()

    async def serve_a_way(self, way: str, _reader: object, writer: asyncio.StreamWriter) -> None:
        self.seen.add(way)
        writer.close()


@asynccontextmanager
async def counting() -> AsyncGenerator[Counter]:
    """A server that counts what comes to it."""
    counter, loop = Counter(), asyncio.get_running_loop()
    async with AsyncExitStack() as opened:
        tcp = await opened.enter_async_context(listening(counter.serve))
        ports = {
            way: await opened.enter_async_context(listening(partial(counter.serve_a_way, way)))
            for way in PORTS
        }
        udp, _ = await loop.create_datagram_endpoint(lambda: counter, ("127.0.0.1", 0))
        opened.callback(udp.close)
        counter.addresses = (tcp, udp.get_extra_info("sockname")[1], NAME, ports)
        yield counter


def allowing(browser: BrowserSettings, **egress: object) -> AbstractAsyncContextManager[BrowserManager]:
    """A manager whose browsers may connect to what these settings allow."""
    return managing(browser=browser, egress=EgressSettings.model_validate(egress))


def internet(site: Site, manager: BrowserManager) -> list[str]:
    """Names and addresses as on the network, without it; the list gets each address that is connected to."""
    dialed: list[str] = []
    answers = {"evil.example": [PUBLIC], "inside.example": ["10.0.0.7"]}

    async def resolve(host: str) -> list[IpAddress]:
        # A name that leads to the public network when it is checked, and home when it is used.
        answers["rebound.example"] = ["127.0.0.1"] if "rebound.example" in answers else [PUBLIC]
        return [ip_address(text) for text in answers.get(host, [])]

    async def dial(host: str, port: int) -> Streams:
        dialed.append(host)
        assert host == PUBLIC
        return await asyncio.open_connection("127.0.0.1", site.port, limit=STREAM_LIMIT)

    assert manager.egress is not None
    manager.egress.dialer.resolve, manager.egress.dialer.dial = resolve, dial
    return dialed


async def attack(manager: BrowserManager, site: Site, counter: Counter) -> set[str]:
    """Have a hostile page try everything; the names of its ways."""
    site.page(f"<h1>Evil</h1><script>{HOSTILE}</script>", path="/evil")
    base = f"http://{HOSTS[0]}:{counter.addresses[0]}"
    home = f"{base}/violation"
    for path, script in (
        ("/service.js", f"fetch('{base}/service_worker', {{mode: 'no-cors'}})"),
        ("/fetching.js", ""),
    ):
        site.publish(script.encode(), path=path, content_type="text/javascript")
    headers = {
        "Content-Security-Policy": f"default-src 'none'; report-uri {home}",
        "Report-To": f'{{"group": "a", "max_age": 9, "endpoints": [{{"url": "{home}"}}]}}',
        "NEL": '{"report_to": "a", "max_age": 9, "success_fraction": 1}',
        "Link": f"<{home}>; rel=preload; as=image, <{home}>; rel=preconnect",
    }
    site.publish(b"<img src=/none>", path="/reporting", headers=headers)
    session = await manager.default_session()
    await session.ensure_open()
    hand = Hand(session)
    await hand.open(f"http://evil.example:{site.port}/evil")
    ways = await hand.tab.page.evaluate(
        "([hosts, ...more]) => run(hosts, ...more)", [HOSTS, *counter.addresses]
    )
    await send(hand.tab.cdp, "Page.getAppManifest")
    return {*ways, *PORTS}


def browser_for(site: Site, folder: Path, *more: str, kind: str = "profile") -> BrowserSettings:
    """A browser that writes down the names it looks up, and lets the hostile site do what safe ones may."""
    safe = f"--unsafely-treat-insecure-origin-as-secure=http://evil.example:{site.port}"
    return BrowserSettings(
        headless=True,
        isolated=kind != "profile",
        profile=folder / "profile",
        headless_shell=kind == "shell",
        browser_args=(safe, f"--log-net-log={folder / LOG}", *more),
    )


@pytest.mark.parametrize("kind", ["profile", "isolated", "shell"])
async def test_no_way_out_reaches_a_private_address(site: Site, kind: str, tmp_path: Path) -> None:
    if kind == "shell" and next(headless_shells(), None) is None:
        pytest.skip("Chromium's headless shell is not installed")
    browser = browser_for(site, tmp_path, kind=kind)
    async with counting() as counter, allowing(browser, block_private=True) as manager:
        dialed = internet(site, manager)
        await attack(manager, site, counter)
        assert set(dialed) == {PUBLIC}
        assert counter.seen == set()
    assert NAME not in (tmp_path / LOG).read_text("utf-8")


async def test_without_a_rule_the_same_ways_are_counted(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Pings are always off.
    monkeypatch.setattr(launch, "QUIET_ARGS", [one for one in launch.QUIET_ARGS if one != "--no-pings"])
    leading_home = "--host-resolver-rules=MAP *.example 127.0.0.1"
    browser = browser_for(site, tmp_path, leading_home)
    async with counting() as counter, allowing(browser) as manager:
        ways = await attack(manager, site, counter)
        everything = {*ways, *(f"host_{number}" for number in range(len(HOSTS))), "bytes", "datagram"}
        with contextlib.suppress(TimeoutError):
            await until(lambda: everything <= counter.seen)
        assert everything - counter.seen == set()
    assert NAME in (tmp_path / LOG).read_text("utf-8")


@pytest.mark.parametrize("kept", [False, True])
async def test_a_blocked_address_is_refused_by_the_rules_name(site: Site, tmp_path: Path, kept: bool) -> None:
    async with counting() as counter:
        home = f"http://127.0.0.1:{counter.addresses[0]}/x"
        browser = BrowserSettings(headless=True, isolated=not kept, profile=tmp_path)
        async with allowing(browser, block_private=True) as manager:
            internet(site, manager)
            hand = Hand(await manager.default_session())
            await hand.session.ensure_open()
            with pytest.raises(BlockedUrl, match=r"--block-private: 127\.0\.0\.1 is a loopback address"):
                await hand.open(home)
            with pytest.raises(BlockedUrl, match=r"redirect.* leads to 127.0.0.1:\d+, which is blocked by"):
                await hand.open(f"http://evil.example:{site.port}/redirect?to={home}")
            with pytest.raises(BlockedUrl, match=r"inside\.example leads to a private address"):
                await hand.open("https://inside.example/")
            site.page(f"<a href='{home}'>go</a>", path="/page")
            await hand.open(f"http://evil.example:{site.port}/page")
            told = shown(await hand.click("go"))
            assert "Blocked: 127.0.0.1 is a loopback address (--block-private)." in told
            assert counter.seen == set()


async def test_sessions_of_one_browser_go_where_each_of_them_may(site: Site) -> None:
    def settings(**egress: object) -> Settings:
        return Settings(browser=HEADLESS, limits=LIMITS, egress=EgressSettings.model_validate(egress))

    own = f"127.0.0.1:{site.port}"
    async with allowing(HEADLESS, block_private=True) as manager:
        strict = await manager.open_session()
        loose = await manager.open_session(settings=settings(block_private=True, allow_private=own))
        other = await manager.open_session(settings=settings(allow_domains="*.example"))
        for session in (strict, loose, other):
            await session.ensure_open()
        assert len(manager.pool.browsers) == 1
        url = site.page("Reached")
        assert "Reached" in shown(await Hand(loose).open(url))
        with pytest.raises(BlockedUrl, match="--block-private"):
            await Hand(strict).open(url)
        with pytest.raises(BlockedUrl, match=r"--allow-domains: .* Allowed: \*\.example\."):
            await Hand(other).open(url)
        fetching = "url => fetch(url, {mode: 'no-cors'}).then(() => 'got it', () => 'failed')"
        assert await loose.current_tab.page.evaluate(fetching, url) == "got it"
        assert await other.current_tab.page.evaluate(fetching, url) == "failed"
        assert f"Blocked: {own} is not on the list (--allow-domains)." in other.take_notices()
