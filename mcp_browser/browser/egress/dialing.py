"""Connections that a policy allows: direct, or through an upstream proxy."""

import asyncio
import base64
import contextlib
import errno
import ipaddress
import socket
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import SplitResult, unquote

import anyio
import anyio.to_thread

from mcp_browser.browser.egress.policy import EgressPolicy, EgressRefusal
from mcp_browser.hosts import IpAddress, Origin, address_in
from mcp_browser.settings.values import proxy_parts

CONNECT_SECONDS = 20.0  # How long a destination, or an upstream proxy, may take to be connected to, seconds
NEXT_SECONDS = 3.0  # How long an address of a name may take before the next one is tried, seconds
LOOK_UP_SECONDS = 10.0
KEPT_SECONDS = 30.0  # How long the addresses of a name are kept, so that the checked ones are used, seconds
KEPT_NAMES = 1000
LOOK_UPS = 16  # How many names are looked up at a time
STREAM_LIMIT = 2**18  # Most bytes of a stream that wait to be read
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Dial = Callable[[str, int], Awaitable[Streams]]
Headers = list[tuple[bytes, bytes]]
Resolve = Callable[[str], Awaitable[list[IpAddress]]]  # Looks up a name; raises OSError where it is not known


@dataclass(slots=True)
class Connection:
    """A connection to a destination, or to an upstream proxy, whose requests have the headers `by_proxy`."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    by_proxy: Headers | None = None


class UpstreamRefused(OSError):
    """The upstream proxy does not connect to the destination."""


class UpstreamFailed(OSError):
    """The upstream proxy cannot be reached."""


class Dialer:
    """Connects to destinations by addresses that it has checked."""

    def __init__(self, upstream: str | None = None) -> None:
        """Connect through the proxy `upstream`, an address as in the setting `proxy`, if there is one."""
        self.resolve: Resolve = NameCache(look_up)
        self.dial: Dial = partial(asyncio.open_connection, limit=STREAM_LIMIT)
        self._upstream = proxy_parts(upstream) if upstream else None
        secure = self._upstream is not None and self._upstream.scheme == "https"
        self._tls = ssl.create_default_context() if secure else None

    async def connect(self, to: Origin, policy: EgressPolicy) -> Connection:
        """A tunnel to a destination; raises EgressRefusal by the policy, OSError, TimeoutError."""
        async with asyncio.timeout(CONNECT_SECONDS):
            hosts = await self._checked(to, policy)
            if self._upstream is not None:
                return await self._through(self._upstream, hosts[0], to.port)
            return Connection(*await self._to_first(hosts, to.port))

    async def connect_for_requests(self, to: Origin, policy: EgressPolicy) -> Connection:
        """A connection for plain HTTP requests; raises as `connect` does.

        An upstream HTTP proxy gets whole requests, and looks up the names itself, if no check is needed.
        """
        upstream = self._upstream
        if upstream is None or upstream.scheme.startswith("socks") or policy.checks_addresses(to):
            return await self.connect(to, policy)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                streams = await asyncio.open_connection(
                    upstream.hostname, _port_of(upstream), ssl=self._tls, limit=STREAM_LIMIT
                )
        except (OSError, TimeoutError) as error:
            raise UpstreamFailed(str(error)) from error
        return Connection(*streams, by_proxy=_credentials(upstream))

    async def _checked(self, to: Origin, policy: EgressPolicy) -> list[str]:
        """What to connect to: the allowed addresses, or the name for the upstream proxy to look up."""
        if self._upstream is not None and not policy.checks_addresses(to):
            return [to.host]
        written = address_in(to.host)
        try:
            found = [written] if written is not None else await self.resolve(to.host)
            if not found:
                raise socket.gaierror
        except socket.gaierror:
            if self._upstream is None:
                raise
            # The upstream proxy could resolve the name to any address.
            why = f"{to.host} is not known here, and --proxy is asked for checked addresses only"
            raise policy.private_refusal(to, why) from None
        return list(map(str, policy.allowed(to, found)))

    async def _to_first(self, hosts: list[str], port: int) -> Streams:
        """A connection to the first address that accepts one."""
        *others, last = hosts
        for host in others:
            with contextlib.suppress(OSError):
                async with asyncio.timeout(NEXT_SECONDS):
                    return await self.dial(host, port)
        return await self.dial(last, port)

    async def _through(self, upstream: SplitResult, host: str, port: int) -> Connection:
        # Imported late: few servers have an upstream proxy.
        from python_socks import ProxyConnectionError, ProxyError, ProxyType  # noqa: PLC0415
        from python_socks.async_.asyncio.v2 import Proxy  # noqa: PLC0415

        kinds = {"socks4": ProxyType.SOCKS4, "socks5": ProxyType.SOCKS5}
        proxy = Proxy(
            kinds.get(upstream.scheme, ProxyType.HTTP),
            upstream.hostname or "",
            _port_of(upstream),
            username=unquote(upstream.username) if upstream.username else None,
            password=unquote(upstream.password or "") if upstream.username else None,
            rdns=True,
            proxy_ssl=self._tls,
        )
        try:
            stream = await proxy.connect(host, port, timeout=CONNECT_SECONDS)
        except ProxyConnectionError as error:
            raise UpstreamFailed(str(error)) from error
        except ProxyError as error:
            raise UpstreamRefused(str(error)) from error
        return Connection(stream.reader, stream.writer)


class NameCache:
    """Looks up each name once in `KEPT_SECONDS`, for all callers."""

    def __init__(self, look_up: Resolve) -> None:
        self._look_up = look_up
        self._known: dict[str, tuple[float, asyncio.Task[list[IpAddress]]]] = {}

    async def __call__(self, host: str) -> list[IpAddress]:
        """The addresses of a name; raises OSError where it is not known."""
        now = time.monotonic()
        until, task = self._known.get(host, (0.0, None))
        failed = task is not None and task.done() and (task.cancelled() or task.exception() is not None)
        if task is None or now >= until or failed:
            task = asyncio.create_task(asyncio.wait_for(self._look_up(host), LOOK_UP_SECONDS))
            self._known[host] = (now + KEPT_SECONDS, task)
            while len(self._known) > KEPT_NAMES:
                del self._known[next(iter(self._known))]
        return await asyncio.shield(task)


_look_ups = anyio.CapacityLimiter(LOOK_UPS)


async def look_up(host: str) -> list[IpAddress]:
    """The addresses that the system knows of a name, in its order; raises OSError where it knows none."""
    find = partial(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM)
    found = await anyio.to_thread.run_sync(find, abandon_on_cancel=True, limiter=_look_ups)
    addresses = [ipaddress.ip_address(str(address[4][0]).partition("%")[0]) for address in found]
    return list(dict.fromkeys(addresses))


def reason_of(error: Exception) -> EgressRefusal | str:
    """Why a connection could not be made: a refusal, or the browser's code for it."""
    if isinstance(error, EgressRefusal):
        return replace(error)  # It is kept, without the frames of its traceback.
    if isinstance(error, OSError) and error.errno in _UNREACHABLE:
        return "ERR_ADDRESS_UNREACHABLE"
    return next(code for kind, code in _CODES.items() if isinstance(error, kind))


_CODES: dict[type[Exception], str] = {
    UpstreamFailed: "ERR_PROXY_CONNECTION_FAILED",
    UpstreamRefused: "ERR_TUNNEL_CONNECTION_FAILED",
    socket.gaierror: "ERR_NAME_NOT_RESOLVED",
    TimeoutError: "ERR_CONNECTION_TIMED_OUT",
    ConnectionRefusedError: "ERR_CONNECTION_REFUSED",
    ConnectionError: "ERR_CONNECTION_RESET",
    Exception: "ERR_INVALID_HTTP_RESPONSE",
}
_UNREACHABLE = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EADDRNOTAVAIL)


def _credentials(proxy: SplitResult) -> Headers:
    if not proxy.username:
        return []
    said = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
    return [(b"Proxy-Authorization", b"Basic " + base64.b64encode(said))]


def _port_of(proxy: SplitResult) -> int:
    return proxy.port or {"http": 80, "https": 443}.get(proxy.scheme, 1080)
