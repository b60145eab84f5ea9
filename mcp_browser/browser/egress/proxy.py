"""The proxy that all connections of the browsers go through; it listens on this machine only."""

import asyncio
import contextlib
import logging

from mcp_browser.browser.concurrency import SingleFlight
from mcp_browser.browser.egress.dialing import STREAM_LIMIT, Dialer
from mcp_browser.browser.egress.exchange import ProxyConnection
from mcp_browser.browser.egress.policy import NAME, EgressPass, EgressPolicy
from mcp_browser.settings import EgressSettings

logger = logging.getLogger(__name__)


class EgressProxy:
    """Listens on a port of this machine, from the first browser to the server's end."""

    def __init__(self, upstream: str | None = None) -> None:
        """It does not listen yet.

        Args:
            upstream: address of the proxy that it connects through, as the setting has it.
        """
        self.dialer = Dialer(upstream)
        self._passes: dict[bytes, EgressPass] = {}
        self._server: asyncio.Server | None = None
        self._start = SingleFlight(self._listen)
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
        admitted = EgressPass(EgressPolicy.of(settings, remote=remote), self.forget)
        self._passes[admitted.header] = admitted
        return admitted

    def forget(self, admitted: EgressPass) -> None:
        """Let a pass through no more."""
        self._passes.pop(admitted.header, None)

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
            await ProxyConnection(reader, writer, self.dialer, self._passes.get).run()
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
