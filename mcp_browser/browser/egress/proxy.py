"""The proxy that all connections of the browsers go through; it listens on this machine only."""

import asyncio
import base64
import contextlib
import logging
import secrets
import time
from collections import OrderedDict

from mcp_browser.browser.egress.dialing import STREAM_LIMIT, Dialer
from mcp_browser.browser.egress.exchange import Exchange
from mcp_browser.browser.egress.policy import EgressPolicy, Refusal
from mcp_browser.browser.own_task import JoinedStart
from mcp_browser.errors import BlockedUrl
from mcp_browser.hosts import Origin
from mcp_browser.settings import EgressSettings

logger = logging.getLogger(__name__)

NAME = "mcp-browser-egress"
"""The only host that the browsers themselves can reach: they know it for this proxy's address."""

REMEMBERED = 200
"""How many hosts a session remembers why they could not be connected to."""

TOLD = 3
"""How many blocked hosts a notice names."""


class EgressPass:
    """What lets the browser context of one session through, and what it was refused.

    `user` and `password` are what its browser says to the proxy.
    """

    def __init__(self, policy: EgressPolicy, proxy: "EgressProxy") -> None:
        self.policy = policy
        self.proxy = proxy
        self.user = secrets.token_hex(8)
        self.password = secrets.token_urlsafe(24)
        self.greeted = asyncio.Event()
        """Set once its browser has said who it is."""
        self._why: OrderedDict[Origin, tuple[float, Refusal | str]] = OrderedDict()
        self._untold: dict[str, Refusal] = {}
        self._more = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def header(self) -> bytes:
        """The value of `Proxy-Authorization` that it is known by."""
        return b"Basic " + base64.b64encode(f"{self.user}:{self.password}".encode())

    def failed(self, to: Origin, why: Refusal | str) -> None:
        """Remember why a destination was not connected to: a refusal, or the browser's code for it."""
        _, known = self._why.get(to, (0.0, None))
        if isinstance(why, Refusal) and not isinstance(known, Refusal):
            if len(self._untold) < TOLD:
                self._untold[to.authority] = why
            elif to.authority not in self._untold:
                self._more += 1
        self._why[to] = (time.monotonic(), why)
        self._why.move_to_end(to)
        while len(self._why) > REMEMBERED:
            self._why.popitem(last=False)

    def why_failed(self, url: str, *, since: float) -> BlockedUrl | str | None:
        """Why an address, or one that it led to, could not be opened: an error, or the browser's code.

        Args:
            url: the address.
            since: only what happened from then on counts, on the monotonic clock.
        """
        to = Origin.of(url)
        at, why = self._why.get(to, (0.0, None)) if to is not None else (0.0, None)
        if why is None or at < since:
            later = ((at, why) for at, why in reversed(self._why.values()) if at >= since)
            why = next((why for _, why in later if isinstance(why, Refusal)), None)
        if isinstance(why, Refusal):
            self._untold.pop(why.destination.authority, None)
            return why.error(url)
        return why

    def page_failed(self, url: str) -> None:
        """Report again why, where it was a page that was blocked, and not a part of one."""
        to = Origin.of(url)
        _, why = self._why.get(to, (0.0, None)) if to is not None else (0.0, None)
        if to is not None and isinstance(why, Refusal):
            self._untold[to.authority] = why

    def notices(self) -> tuple[str, ...]:
        """A sentence about the hosts that were blocked since the last one."""
        refusals, self._untold = list(self._untold.values()), {}
        more, self._more = self._more, 0
        if not refusals:
            return ()
        named = "; ".join(f"{refusal.why} ({refusal.rule})" for refusal in refusals)
        return (f"Blocked: {named}{f'; and {more} more' if more else ''}.",)

    def follow(self, task: "asyncio.Task[None]") -> None:
        """End this connection with the pass."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def end(self) -> None:
        """Let nothing through any more, and break off what is open."""
        self.proxy.forget(self)
        for task in self._tasks:
            task.cancel()


class EgressProxy:
    """Listens on a port of this machine, from the first browser to the server's end."""

    def __init__(self, upstream: str | None = None) -> None:
        """It does not listen yet.

        Args:
            upstream: address of the proxy that it connects through, as the setting has it.
        """
        self.name = NAME
        self.dialer = Dialer(upstream)
        self._passes: dict[bytes, EgressPass] = {}
        self._server: asyncio.Server | None = None
        self._start = JoinedStart(self._listen)
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        """Where it listens, once it was started."""
        assert self._server is not None, "not started"
        return self._server.sockets[0].getsockname()[1]

    async def browser_proxy(self) -> dict[str, str]:
        """What Playwright's `proxy` is to be; from then on it listens."""
        if self._server is None:
            await self._start()
        return {"server": f"http://{NAME}:{self.port}"}

    def browser_args(self) -> list[str]:
        """Switches that leave a Chromium no other way out; they come last, which is what counts."""
        return [
            # No name is looked up, and no address taken, but by the proxy.
            f"--host-resolver-rules=MAP {NAME} 127.0.0.1, MAP * ~NOTFOUND",
            "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
            "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        ]

    def admit(self, settings: EgressSettings, *, remote: bool) -> EgressPass:
        """A pass for the browser contexts of one session; `EgressPass.end` ends it.

        `remote`: its client is on another machine.
        """
        admitted = EgressPass(EgressPolicy.of(settings, remote=remote), self)
        self._passes[admitted.header] = admitted
        return admitted

    def forget(self, admitted: EgressPass) -> None:
        """Let a pass through no more."""
        self._passes.pop(admitted.header, None)

    def pass_of(self, header: bytes) -> EgressPass | None:
        """The pass that these credentials stand for."""
        return self._passes.get(header)

    async def close(self) -> None:
        """Listen no more, and break off every connection."""
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
            await Exchange(self, reader, writer).run()
        except asyncio.CancelledError:
            pass  # The pass or the proxy has ended.
        except (OSError, EOFError):
            logger.debug("A connection through the proxy broke off", exc_info=True)
        except Exception:
            logger.exception("The egress proxy failed")
        finally:
            self._connections.discard(task)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
