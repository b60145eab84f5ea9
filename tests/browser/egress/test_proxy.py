"""The egress proxy, asked by hand, and what its policy says of destinations."""

import asyncio
import base64
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from pydantic import ValidationError

from mcp_browser.browser.egress.dialing import NameCache
from mcp_browser.browser.egress.policy import EgressPolicy, ProxySession
from mcp_browser.browser.egress.proxy import EgressProxy
from mcp_browser.hosts import IpAddress, Origin
from mcp_browser.settings import EgressSettings
from tests.support.gates import listening
from tests.support.site import Site

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
proxies: WeakKeyDictionary[ProxySession, EgressProxy] = WeakKeyDictionary()
"""The proxy that each pass is for."""


@asynccontextmanager
async def proxy_of(upstream: str | None = None, **settings: object) -> AsyncGenerator[ProxySession]:
    """A proxy that listens, and a pass for it with these settings."""
    proxy = EgressProxy(upstream)
    await proxy.browser_proxy()
    try:
        admitted = proxy.admit(EgressSettings.model_validate(settings), remote=False)
        proxies[admitted] = proxy
        yield admitted
    finally:
        await proxy.close()


async def ask(admitted: ProxySession, *requests: str, header: bytes | None = None) -> bytes:
    """What comes back on one connection until it ends, or until nothing more can come."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxies[admitted].port)
    said = (admitted.header if header is None else header).decode()
    try:
        for request in requests:
            head, _, body = request.partition("\n\n")
            lines = [*head.split("\n"), f"Proxy-Authorization: {said}", "", body]
            writer.write("\r\n".join(lines).encode())
        writer.write_eof()
        return await asyncio.wait_for(reader.read(-1), 10)
    finally:
        writer.close()


async def begun(admitted: ProxySession, head: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection on which a request has been sent that has no body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxies[admitted].port)
    writer.write("\r\n".join([*head.split("\n"), "Proxy-Authorization: "]).encode())
    writer.write(admitted.header + b"\r\n\r\n")
    return reader, writer


def nobody_answers(admitted: ProxySession, addresses: Callable[[str], list[str]]) -> list[str]:
    """Have names lead to these addresses, where nobody answers; the list gets what is connected to."""
    dialed: list[str] = []

    async def resolve(host: str) -> list[IpAddress]:
        return list(map(ip_address, addresses(host)))

    async def dial(host: str, _port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        dialed.append(host)
        raise ConnectionRefusedError

    proxies[admitted].dialer.resolve, proxies[admitted].dialer.dial = resolve, dial
    return dialed


def get(url: str) -> str:
    return f"GET {url} HTTP/1.1\nHost: x"


async def test_who_does_not_say_a_password_gets_nothing(site: Site) -> None:
    before = len(site.requests)
    async with proxy_of() as admitted:
        plain, tunnel = get(f"{site.url}/status/200"), f"CONNECT 127.0.0.1:{site.port} HTTP/1.1\nHost: x"
        for header in (b"", b"Basic " + base64.b64encode(f"{admitted.user}:".encode())):
            for request in (plain, tunnel):
                assert (await ask(admitted, request, header=header)).startswith(b"HTTP/1.1 407 ")
        admitted.end()
        assert (await ask(admitted, plain)).startswith(b"HTTP/1.1 407 ")
    assert len(site.requests) == before


async def test_requests_and_their_bodies_pass_on_one_connection_and_streams_as_they_come(site: Site) -> None:
    async with proxy_of() as admitted:
        post = f"POST {site.url}/echo?a=b HTTP/1.1\nHost: x\nContent-Length: 5\n\nhello"
        answer = await ask(admitted, post, get(f"{site.url}/status/404"), get(f"{site.other}/echo"))
        assert answer.count(b"HTTP/1.1 ") == 3
        assert b"POST {'a': ['b']} hello" in answer
        assert b"<h1>Status 404</h1>" in answer
        assert b"roxy-" not in answer
        reader, writer = await begun(admitted, get(f"{site.url}/stream"))
        for _ in range(2):
            await asyncio.wait_for(reader.readuntil(b"data: tick"), 10)
        writer.close()


async def test_a_tunnel_passes_bytes_both_ways_and_knows_tls_from_none(site: Site) -> None:
    where = f"127.0.0.1:{site.port}"
    through = f"CONNECT {where} HTTP/1.1\nHost: x"
    async with proxy_of() as admitted:
        reader, writer = await begun(admitted, through)
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        writer.write(b"GET /echo HTTP/1.0\r\n\r\n")
        assert b"GET {} " in await reader.read(-1)
        writer.close()
    async with proxy_of(allow_domains=f"https://{where}") as admitted:
        plain = f"{through}\n\nGET /echo HTTP/1.0\r\n\r\n"
        before = len(site.requests)
        assert (await ask(admitted, through, plain)).count(b"echo") == 0
        assert len(site.requests) == before
        assert "--allow-domains" in str(admitted.why_failed(f"ws://{where}/", since=0))


async def test_what_was_checked_is_what_is_connected_to() -> None:
    answers = iter(["93.184.215.14", "127.0.0.1", "93.184.215.14"])
    async with proxy_of(block_private=True) as admitted:
        dialed = nobody_answers(admitted, lambda _: [next(answers), "10.0.0.1"])
        for _ in range(3):
            await ask(admitted, "CONNECT rebound.example:443 HTTP/1.1\nHost: x")
            await ask(admitted, "CONNECT [::1]:443 HTTP/1.1\nHost: x")
        assert dialed == ["93.184.215.14", "93.184.215.14"]
        assert admitted.why_failed("https://rebound.example/", since=0) == "ERR_CONNECTION_REFUSED"
        assert any("rebound.example leads to a loopback address" in told for told in admitted.notices())
        assert admitted.notices() == ()


async def test_a_name_does_not_lead_into_a_blocked_network() -> None:
    addresses = {"blocked.example": ["93.184.215.14"], "other.example": ["1.1.1.1"]}
    async with proxy_of(block_domains="93.184.0.0/16:443, a.example") as admitted:
        dialed = nobody_answers(admitted, addresses.__getitem__)
        for place in ("blocked.example:443", "blocked.example:80", "other.example:443"):
            await ask(admitted, f"CONNECT {place} HTTP/1.1\nHost: x")
        assert dialed == ["93.184.215.14", "1.1.1.1"]
        assert any(
            "leads to an address on the list (93.184.0.0/16:443)" in told for told in admitted.notices()
        )


async def test_a_name_is_looked_up_once_for_all_who_want_it() -> None:
    asked: list[str] = []

    async def look_up(host: str) -> list[IpAddress]:
        asked.append(host)
        await asyncio.sleep(0)
        if len(asked) == 1:
            raise OSError
        return [ip_address("192.0.2.1")]

    cache = NameCache(look_up)
    first = await asyncio.gather(cache("a"), cache("a"), return_exceptions=True)
    assert [type(error) for error in first] == [OSError, OSError]
    assert await asyncio.gather(cache("a"), cache("a")) == [[ip_address("192.0.2.1")]] * 2
    assert asked == ["a", "a"]


@asynccontextmanager
async def behind(handle: Handler, before: str = "", **settings: object) -> AsyncGenerator[ProxySession]:
    """A pass for a proxy behind one of somebody else's, whose address begins with `before`."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(OSError, EOFError):
            await handle(reader, writer)

    async def resolve(_host: str) -> list[IpAddress]:
        return [ip_address("93.184.215.14")]

    async with listening(serve) as port, proxy_of(f"{before}127.0.0.1:{port}", **settings) as admitted:
        proxies[admitted].dialer.resolve = resolve
        yield admitted


async def answer_itself(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """Answer what comes, through a tunnel or not, as the site would; what came."""
    asked = await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nthe end")
    await writer.drain()
    return asked


@pytest.mark.parametrize("checked", [True, False])
async def test_an_http_proxy_before_us_gets_the_password_and_the_checked_address(checked: bool) -> None:
    asked: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        asked.append(head)
        if head.startswith(b"CONNECT"):
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await answer_itself(reader, writer)
        else:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nthe end")
            await writer.drain()

    async with behind(handle, "http://me:s%40c@", block_private=checked) as it:
        assert b"the end" in await ask(it, get("http://site.example/page"))
        assert b"--" not in await ask(it, "CONNECT site.example:443 HTTP/1.1\nHost: x\n\nx\r\n\r\n")
    host = b"93.184.215.14" if checked else b"site.example"
    first = b"CONNECT 93.184.215.14:80 " if checked else b"GET http://site.example/page "
    assert asked[0].startswith(first)
    assert asked[1].startswith(b"CONNECT " + host + b":443 ")
    said = b"Basic " + base64.b64encode(b"me:s@c")
    assert all(said in head for head in asked)


@pytest.mark.parametrize("checked", [True, False])
async def test_a_socks_proxy_before_us_gets_the_password_and_the_checked_address(checked: bool) -> None:
    asked: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, methods = await reader.readexactly(2)
        await reader.readexactly(methods)
        writer.write(b"\x05\x02")
        _, length = await reader.readexactly(2)
        asked.append(await reader.readexactly(length))
        asked.append(await reader.readexactly((await reader.readexactly(1))[0]))
        writer.write(b"\x01\x00")
        *_, kind = await reader.readexactly(4)
        length = 4 if kind == 1 else (await reader.readexactly(1))[0]
        asked.append(await reader.readexactly(length))
        await reader.readexactly(2)
        writer.write(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
        await answer_itself(reader, writer)

    async with behind(handle, "socks5://me:s%40c@", block_private=checked) as it:
        assert b"the end" in await ask(it, get("http://site.example/page"))
    assert asked == [b"me", b"s@c", bytes([93, 184, 215, 14]) if checked else b"site.example"]


async def test_a_name_that_only_the_proxy_before_us_knows_has_to_be_allowed() -> None:
    asked: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await answer_itself(reader, writer))

    async with behind(handle, block_private=True, allow_private="wiki.corp") as admitted:
        nobody_answers(admitted, lambda _: [])
        assert b"the end" in await ask(admitted, get("http://wiki.corp/"))
        assert b" 403 " in await ask(admitted, "CONNECT other.corp:443 HTTP/1.1\nHost: x")
        assert len(asked) == 1
        told = str(admitted.why_failed("https://other.corp/", since=0))
        assert "blocked by --block-private: other.corp is not known here" in told
        assert "--allow-private other.corp lifts the rule" in told


async def test_an_upstream_proxy_that_refuses_or_is_not_there_is_told_apart() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 403 No\r\n\r\n")

    async with behind(refuse) as admitted:
        assert b" 502 " in await ask(admitted, "CONNECT a.example:443 HTTP/1.1\nHost: x")
        assert admitted.why_failed("https://a.example/", since=0) == "ERR_TUNNEL_CONNECTION_FAILED"
    async with proxy_of("127.0.0.1:9") as admitted:
        await ask(admitted, "CONNECT a.example:443 HTTP/1.1\nHost: x")
        assert admitted.why_failed("https://a.example/", since=0) == "ERR_PROXY_CONNECTION_FAILED"


# -- the policy, without a browser


def policy_of(*, remote: bool = False, **settings: object) -> EgressPolicy:
    return EgressPolicy.of(EgressSettings.model_validate(settings), remote=remote)


def origin(place: str) -> Origin:
    """The origin of an address, or of a host over HTTP."""
    to = Origin.of(place if "://" in place else f"http://{place}/")
    assert to is not None
    return to


def why(url: str, *, remote: bool = False, **settings: object) -> str:
    """Why an address is refused before it is looked up, or nothing."""
    return str(policy_of(remote=remote, **settings).refusal(origin(url)) or "")


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.1", "127.0.0.1."),
        *("localhost", "LOCALHOST.", "a.localhost", "[::1]", "[::ffff:7f00:1]", "[0:0::1]"),
    ],
)
def test_loopback_is_blocked_in_every_notation(host: str) -> None:
    assert "blocked by --block-private" in why(f"http://{host}:8080/", block_private=True)
    assert why(f"http://{host}:8080/") == ""
    assert "--block-private" in why(f"https://{host}/", remote=True)
    assert why(f"http://{host}/", remote=True, block_private=False) == ""


def test_what_is_blocked_stays_so_although_it_is_allowed() -> None:
    lists: dict[str, Any] = {
        "allow_domains": "*.example.com, other.org:8443",
        "block_domains": "ads.example.com",
    }
    for allowed in ("https://www.example.com/", "https://example.com/", "wss://other.org:8443/"):
        assert why(allowed, **lists) == ""
    for other in ("https://example.com.evil.org/", "https://notexample.com/", "https://other.org/"):
        assert "--allow-domains" in why(other, **lists)
    blocked = why("https://ads.example.com/", **lists)
    assert blocked == "blocked by --block-domains: ads.example.com is on the list"


def test_an_exception_is_for_what_it_names() -> None:
    policy = policy_of(block_private=True, allow_private="127.0.0.1:8080, 10.0.0.0/24, *.corp")
    for place in ("127.0.0.1:8080", "localhost:8080", "10.0.0.9", "wiki.corp"):
        assert not policy.checks_addresses(origin(place))
        assert policy.refusal(origin(place)) is None
    for place in ("127.0.0.1:8081", "10.0.1.9"):
        assert policy.refusal(origin(place)) is not None
    assert policy.checks_addresses(origin("wiki.example"))


@pytest.mark.parametrize(
    "text", ["ftp://a.test", "a.test/path", "a b", "a.test:99999", "u@a.test", ":80", "["]
)
def test_what_is_no_pattern_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="hosts such as"):
        EgressSettings(block_domains=(text,))
