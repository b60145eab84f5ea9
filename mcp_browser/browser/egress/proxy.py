"""The proxy for all connections of the browsers; it listens on this machine only."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable
from dataclasses import replace

import h11

from mcp_browser.browser.concurrency import SingleFlight
from mcp_browser.browser.egress.dialing import STREAM_LIMIT, Connection, Dialer, Headers, reason_of
from mcp_browser.browser.egress.policy import NAME, EgressPolicy, EgressRefusal, ProxySession
from mcp_browser.hosts import Origin
from mcp_browser.settings import EgressSettings

READ_SIZE = 2**16
HEAD_SECONDS = 300.0  # How long a connection waits for its next request, as in Chromium, seconds
TLS_HANDSHAKE = 0x16  # First byte of a TLS connection
LINGER_SECONDS = 10.0  # How long a tunnel stays open after one end has closed, seconds
_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    b"upgrade".split()
)


class ProxyConnection:
    """Serves one connection until it ends."""

    def __init__(
        self,
        connection: Connection,
        dialer: Dialer,
        pass_of: Callable[[bytes], ProxySession | None],
        task: asyncio.Task[None],
    ) -> None:
        """`pass_of` finds the session that credentials belong to; `task` serves the connection."""
        self._dialer = dialer
        self._pass_of = pass_of
        self._task = task
        self._browser = _Peer(connection)
        self._site: _Peer | None = None

    async def run(self) -> None:
        """Answer requests until the browser or the proxy closes the connection."""
        try:
            while await self._next():
                pass
        except h11.ProtocolError:
            return  # Not a browser
        finally:
            self._leave_site()

    async def _next(self) -> bool:
        """Answer the next request; whether another one may follow."""
        async with asyncio.timeout(HEAD_SECONDS):
            request = await self._browser.next_event()
        if not isinstance(request, h11.Request):
            return False
        headers = dict(request.headers)
        admitted = self._pass_of(headers.get(b"proxy-authorization", b""))
        if admitted is None:
            await self._refuse(407, [(b"Proxy-Authenticate", b'Basic realm="mcp-browser"')])
            return False
        admitted.connections.add(self._task)
        if request.method == b"CONNECT":
            await self._tunnel(admitted, request)
            return False
        to = Origin.of(request.target.decode("latin-1"))
        if to is None or to.scheme != "http":
            await self._refuse(400)
            return False
        if to.host == NAME:
            admitted.greeted.set()
            await self._refuse(204)
            return False
        return await self._forward(admitted, request, to)

    # -- tunnels

    async def _tunnel(self, admitted: ProxySession, request: h11.Request) -> None:
        secure = Origin.of(f"https://{request.target.decode('latin-1')}")
        if secure is None:
            await self._refuse(400)
            return
        plain = replace(secure, scheme="http")
        no_tls, no_plain = (admitted.policy.refusal(to) for to in (secure, plain))
        if no_tls is not None and no_plain is not None:
            admitted.failed(secure, no_tls)
            admitted.failed(plain, no_tls)
            await self._refuse(403)
            return
        to = secure if no_tls is None else plain
        try:
            site = await self._dialer.connect(to, admitted.policy)
        except (EgressRefusal, OSError) as error:
            admitted.failed(to, reason_of(error))
            await self._refuse(502 if isinstance(error, OSError) else 403)
            return
        browser = self._browser
        with contextlib.closing(site.writer):
            await browser.next_event()  # The end of the request
            await browser.send(h11.Response(status_code=200, headers=[], reason=b"OK"))
            first = browser.http.trailing_data[0]
            if no_tls is not None or no_plain is not None:
                # Only TLS, or only plain HTTP, is allowed: the first byte shows which it is.
                first = first or await browser.reader.read(READ_SIZE)
                is_tls = first[:1] == bytes([TLS_HANDSHAKE])
                refusal = no_tls if is_tls else no_plain
                if refusal is not None:
                    admitted.failed(secure if is_tls else plain, refusal)
                    return
            site.writer.write(first)
            await _splice(browser, site)

    # -- plain requests

    async def _forward(self, admitted: ProxySession, request: h11.Request, to: Origin) -> bool:
        if (refusal := admitted.policy.refusal(to)) is not None:
            admitted.failed(to, refusal)
            return False
        try:
            site = self._site
            if site is None or site.to != to or not site.may_go_on():
                self._leave_site()
                connection = await self._dialer.connect_for_requests(to, admitted.policy)
                site = self._site = _Peer(connection, to)
            return await self._pass_on(request, site)
        except (EgressRefusal, OSError, h11.ProtocolError) as error:
            admitted.failed(to, reason_of(error))
        # Without an answer the browser reports an error; no page can read one of ours.
        return False

    async def _pass_on(self, request: h11.Request, site: "_Peer") -> bool:
        """Forward the request and return the answer; whether both connections stay usable."""
        headers = _end_to_end(request.headers.raw_items()) + (site.by_proxy or [])
        target = request.target
        if site.by_proxy is None:
            target = b"/" + target.split(b"//", 1)[1].partition(b"/")[2]
        site.put(h11.Request(method=request.method, target=target, headers=headers))
        sending = asyncio.create_task(self._pass_on_body(self._browser.event_at_hand(), site))
        try:
            await self._pass_back(site)
            if not sending.done():
                return False  # The rest of the request is not needed.
            await sending
        finally:
            sending.cancel()
        if not site.next_cycle():
            self._leave_site()
        return self._browser.next_cycle()

    async def _pass_back(self, site: "_Peer") -> None:
        """Pass the answer back as it arrives, flushing whenever no more is available."""
        while True:
            event = site.event_at_hand()
            if event is None:
                await self._browser.flush()
                await site.read()
                continue
            if isinstance(event, h11.Response):
                headers = _end_to_end(event.headers.raw_items())
                event = h11.Response(status_code=event.status_code, headers=headers, reason=event.reason)
            elif not isinstance(event, h11.InformationalResponse | h11.Data | h11.EndOfMessage):
                raise ConnectionResetError
            self._browser.put(event)
            if isinstance(event, h11.EndOfMessage):
                await self._browser.flush()
                return

    async def _pass_on_body(self, event: object, site: "_Peer") -> None:
        """Send the head, together with what is at hand of the body, then the rest."""
        # Whoever reads the answer learns of a broken connection, too.
        with contextlib.suppress(OSError):
            if event is None:
                await site.flush()
                event = await self._browser.next_event()
            while isinstance(event, h11.Data):
                await site.send(event)
                event = await self._browser.next_event()
            if isinstance(event, h11.EndOfMessage):
                await site.send(h11.EndOfMessage())

    # -- both

    async def _refuse(self, status: int, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
        """Send the proxy's own answer, which ends the connection."""
        closing = [*headers, (b"Connection", b"close"), (b"Content-Length", b"0")]
        if status == 204:  # noqa: PLR2004 - No Content
            closing.pop()
        await self._browser.send(h11.Response(status_code=status, headers=closing))
        await self._browser.send(h11.EndOfMessage())

    def _leave_site(self) -> None:
        if self._site is not None:
            self._site.writer.close()
        self._site = None


class _Peer:
    """One HTTP connection: the browser's, or one to a site."""

    def __init__(self, connection: Connection, to: Origin | None = None) -> None:
        role = h11.SERVER if to is None else h11.CLIENT
        self.http = h11.Connection(role, max_incomplete_event_size=STREAM_LIMIT)
        self.reader, self.writer, self.by_proxy = connection.reader, connection.writer, connection.by_proxy
        self.to = to
        self._to_send: list[bytes] = []

    def event_at_hand(self) -> object:
        """The next event received, None until there is more data; raises h11.ProtocolError."""
        event = self.http.next_event()
        return None if event is h11.NEED_DATA else event

    async def read(self) -> None:
        self.http.receive_data(await self.reader.read(READ_SIZE))

    async def next_event(self) -> object:
        while (event := self.event_at_hand()) is None:
            await self.read()
        return event

    def put(self, event: h11.Event) -> None:
        """Send it with the next flush."""
        if data := self.http.send(event):
            self._to_send.append(data)

    async def flush(self) -> None:
        """Send what was put; wait if the other end is slow to read."""
        if self._to_send:
            data, self._to_send = b"".join(self._to_send), []
            self.writer.write(data)
            await self.writer.drain()

    async def send(self, event: h11.Event) -> None:
        self.put(event)
        await self.flush()

    def may_go_on(self) -> bool:
        return self.http.our_state is h11.IDLE and not self.reader.at_eof() and not self.writer.is_closing()

    def next_cycle(self) -> bool:
        """Prepare for another request; whether that is possible."""
        if self.http.our_state is not h11.DONE or self.http.their_state is not h11.DONE:
            return False
        self.http.start_next_cycle()
        return True


async def _splice(browser: _Peer, site: Connection) -> None:
    """Pass bytes both ways until both ends have closed, or one has failed."""
    there = asyncio.create_task(_pump(browser.reader, site.writer))
    back = asyncio.create_task(_pump(site.reader, browser.writer))
    try:
        await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({there, back}, timeout=LINGER_SECONDS)
    finally:
        there.cancel()
        back.cancel()
        await asyncio.gather(there, back, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(READ_SIZE):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


def _end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers without those meant for the next hop only."""
    kept = list(headers)
    named = {
        token.strip().lower()
        for key, value in kept
        if key.lower() == b"connection"
        for token in value.split(b",")
    }
    return [(key, value) for key, value in kept if key.lower() not in _HOP_BY_HOP | named]


logger = logging.getLogger(__name__)


class EgressProxy:
    """Listens on a port of this machine, from the start of the first browser to the server's end."""

    def __init__(self, upstream: str | None = None) -> None:
        """Do not listen yet; `upstream` is the address of the proxy to connect through, if any."""
        self.dialer = Dialer(upstream)
        self._passes: dict[bytes, ProxySession] = {}
        self._server: asyncio.Server | None = None
        self._start = SingleFlight(self._listen)
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        """The port that it listens on, once started."""
        assert self._server is not None, "not started"
        return self._server.sockets[0].getsockname()[1]

    async def browser_proxy(self) -> dict[str, str]:
        """The value for Playwright's option `proxy`; starts to listen."""
        if self._server is None:
            await self._start()
        return {"server": f"http://{NAME}:{self.port}"}

    def browser_args(self) -> list[str]:
        """Switches that leave Chromium no other connections; placed last, they win."""
        return [
            # Chromium resolves no other name and connects to no other address.
            f"--host-resolver-rules=MAP {NAME} 127.0.0.1, MAP * ~NOTFOUND",
            "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
            "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        ]

    def admit(self, settings: EgressSettings, *, remote: bool) -> ProxySession:
        """Access for one session until `ProxySession.end`; `remote`: its client is on another machine."""
        policy = EgressPolicy.of(settings, remote=remote)
        admitted = ProxySession(policy, forget=lambda: self._passes.pop(admitted.header, None))
        self._passes[admitted.header] = admitted
        return admitted

    async def close(self) -> None:
        """Stop listening, and close every connection."""
        if self._server is not None:
            self._server.close()
        for task in list(self._connections):
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=STREAM_LIMIT)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await ProxyConnection(Connection(reader, writer), self.dialer, self._passes.get, task).run()
        except asyncio.CancelledError:
            pass  # The session or the proxy has ended.
        except (OSError, EOFError):
            logger.debug("A connection through the proxy broke off", exc_info=True)
        except Exception:
            logger.exception("The egress proxy failed")
        finally:
            self._connections.discard(task)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
