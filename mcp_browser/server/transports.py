"""How clients reach the server."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from mcp.server.stdio import stdio_server

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.server.app import BrowserServer, Offers, create_server, offers_of
from mcp_browser.server.elicitation import SecretForm
from mcp_browser.server.principals import ANONYMOUS, SettingsOf
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.server.stdio import StdioWire
from mcp_browser.server.tool_groups import SESSIONS
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    import anyio

    from mcp_browser.server.calls import ServerTool

LONGEST_LINE = 64_000_000  # Bytes of one message over a socket


async def serve_stdio(settings: Settings, manager: BrowserManager, wire: StdioWire | None) -> None:
    """Serve one client over standard input and output, until the input ends.

    All calls work in the manager's one session, unless the tools for sessions are offered. `wire`, which has
    taken over input and output, replaces the SDK's files.
    """
    async with _serving(settings, manager) as (server, _, _):
        await _run(server, wire)


async def _run(server: BrowserServer, file: "StdioWire | _Line | None") -> None:
    lines = cast("anyio.AsyncFile[str] | None", file)
    async with stdio_server(lines, lines) as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())


async def serve_lines(  # noqa: PLR0913 - options, by keyword
    settings: Settings,
    manager: BrowserManager,
    *,
    listener: socket.socket,
    admit: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bool]],
    install: Callable[[BrowserServer, Offers, Sessions], None],
    ended: asyncio.Event,
) -> None:
    """Serve the programs of one person, each with a connection of its own, as over standard input and output.

    All work in the manager's one session, until `ended` is set. `admit` says whether a connection may be
    served, `install` adds methods.
    """
    async with _serving(settings, manager) as (server, offers, sessions):
        install(server, offers, sessions)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(OSError):
                if await admit(reader, writer):
                    await _run(server, _Line(reader, writer))
                writer.close()

        start = asyncio.start_server if listener.family == socket.AF_INET else asyncio.start_unix_server
        lines = await start(serve, sock=listener, limit=LONGEST_LINE)
        await ended.wait()
        # Who is connected sees by the end of the line that the process has ended.
        lines.close()


class _Line:
    """A connection, with the methods of a file that the SDK's transport calls."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def __aiter__(self) -> AsyncGenerator[str]:
        while line := await self._reader.readline():
            yield line.decode(errors="replace")

    async def write(self, text: str) -> None:
        self._writer.write(text.encode())

    async def flush(self) -> None:
        with suppress(OSError):  # Who has gone wants no answer.
            await self._writer.drain()


@asynccontextmanager
async def _serving(
    settings: Settings, manager: BrowserManager
) -> AsyncGenerator[tuple[BrowserServer, Offers, Sessions]]:
    """Yield the server of one client, its offers and sessions, while it is served."""
    session_tools: tuple[ServerTool[Any], ...] = ()
    if SESSIONS in settings.tools.tools:
        # Imported late: few clients over stdio want several.
        from mcp_browser.server.sessions.tools import local_session_tools  # noqa: PLC0415

        source = Sessions(manager, has_handles=True)
        session_tools = local_session_tools(source)
    else:
        # Clients that drive the browser by the one tool know it as one that ends by itself.
        idles = "browser_action" in settings.tools.tools
        source = Sessions(manager, idle_seconds=settings.sessions.idle_timeout if idles else None)
    if settings.sessions.profiles is not None:
        # Imported late: most servers for one client keep no named profiles.
        from mcp_browser.server.sessions.profiles import Profiles  # noqa: PLC0415

        session = await manager.default_session()
        logins = Profiles(settings.sessions.profiles, ANONYMOUS)
        session.services.limits = replace(session.services.limits, logins=logins)
    async with AsyncExitStack() as stack:
        view = None
        if settings.server.view:
            # Imported late: most servers have no view.
            from mcp_browser.server.http.loopback import viewed_on_loopback  # noqa: PLC0415

            view = await stack.enter_async_context(viewed_on_loopback(settings, manager, source))
            stack.push_async_callback(view[1].close)
        offers = offers_of(
            SettingsOf(settings), manager, source, session_tools=session_tools, open_form=_form, view=view
        )
        stack.push_async_callback(offers.close)
        server = create_server(offers, source)
        watching = asyncio.create_task(source.watch())
        stack.callback(watching.cancel)
        yield server, offers, source


def _form(*asked: Any) -> AbstractAsyncContextManager[SecretForm]:
    # Imported late: most servers never ask for a secret.
    from mcp_browser.server.http.loopback import asking_on_loopback  # noqa: PLC0415

    return asking_on_loopback(*asked)
