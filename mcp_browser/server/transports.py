"""How clients reach the server."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from mcp.server.stdio import stdio_server

from mcp_browser.actions import default_registry
from mcp_browser.actions.registry import Registry
from mcp_browser.audit import audit_log_of
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.controller import Controller
from mcp_browser.policy import load_policy
from mcp_browser.server.agent.secret_forms import OpenForm
from mcp_browser.server.agent.tools import AgentTools
from mcp_browser.server.app import create_server
from mcp_browser.server.calls import ServerTool
from mcp_browser.server.handover import ViewLink, no_view
from mcp_browser.server.offer import SESSIONS, load_actions
from mcp_browser.server.person import PersonTools
from mcp_browser.server.resources.catalog import ResourceProvider
from mcp_browser.server.resources.sessions import SessionFiles
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.server.stdio import StdioWire
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    import anyio


class ViewApp(ResourceProvider, Protocol):
    """The live view within clients that show MCP Apps."""

    def tools(self, settings: Settings, /) -> Sequence[ServerTool]:
        """Those that the settings offer."""
        ...

    async def close(self) -> None:
        """Show nothing any more."""
        ...


class View(Protocol):
    """The live view, as it is needed here."""

    app: ViewApp

    @property
    def link_to(self) -> ViewLink: ...


OpenView = Callable[[Settings, BrowserManager, Sessions], AbstractAsyncContextManager[View]]


def registry_of(settings: Settings) -> Registry:
    """The actions to offer.

    Raises:
        SettingsError: the actions that the settings name cannot be offered, or the policy or the audit
            log cannot be used.
    """
    # Standard output is the protocol's: what a file of actions prints when it is imported goes to the log.
    with redirect_stdout(sys.stderr):
        registry = load_actions(settings.tools)
    audit_log_of(settings)
    if settings.tools.policy is not None:
        known = dict.fromkeys(action.name for actions in (default_registry(), registry) for action in actions)
        load_policy(settings.tools.policy).check_actions(tuple(known))
    return registry


async def serve_stdio(
    settings: Settings,
    manager: BrowserManager,
    wire: StdioWire | None,
    *,
    open_form: OpenForm,
    open_view: OpenView | None = None,
) -> None:
    """Serve one client over standard input and output, until the input ends.

    All calls work in the manager's one session, unless the tools for sessions are asked for. Where `wire`
    has taken over input and output, it stands in for the SDK's files. `open_form` opens the forms in which
    people give secrets, `open_view` the live view, which is served as long as the client.
    """
    source, session_tools = _sessions(settings, manager)
    if settings.sessions.profiles is not None:
        await _offer_profiles(manager, settings.sessions.profiles)
    registry = registry_of(settings)
    async with AsyncExitStack() as stack:
        view = None
        view_link: ViewLink = no_view
        if open_view is not None:
            view = await stack.enter_async_context(open_view(settings, manager, source))
            view_link = view.link_to
            stack.push_async_callback(view.app.close)
        agent = AgentTools(settings, source, registry, open_form=open_form, view_link=view_link)
        stack.push_async_callback(agent.close)
        controller = Controller(registry, settings)
        person = PersonTools(lambda _: controller, view_link)
        stack.push_async_callback(person.close)
        server = create_server(
            controller,
            source,
            tools=[
                *(*session_tools, *agent.tools(), *person.tools(settings)),
                *(view.app.tools(settings) if view is not None else ()),
            ],
            resources=[
                *(SessionFiles(manager, source), agent.files),
                *([view.app] if view is not None else []),
            ],
            long_calls=agent,
        )
        watching = asyncio.create_task(source.watch())
        stack.callback(watching.cancel)
        file = cast("anyio.AsyncFile[str] | None", wire)
        requests, answers = await stack.enter_async_context(stdio_server(file, file))
        await server.run(requests, answers, server.create_initialization_options())


def _sessions(settings: Settings, manager: BrowserManager) -> tuple[Sessions, tuple[ServerTool, ...]]:
    """The sessions of calls, and the tools for them."""
    if SESSIONS not in settings.tools.tools:
        # Clients that drive the browser by the one tool know it as one that ends by itself.
        idles = "browser_action" in settings.tools.tools
        return Sessions(manager, idle_seconds=settings.sessions.idle_timeout if idles else None), ()
    # Imported late: few clients over stdio want several.
    from mcp_browser.server.sessions.tools import local_session_tools  # noqa: PLC0415

    sessions = Sessions(manager, has_handles=True)
    return sessions, local_session_tools(sessions)


async def _offer_profiles(manager: BrowserManager, folder: Path) -> None:
    # Imported late: most servers for one client keep no named profiles.
    from mcp_browser.server.principals import ANONYMOUS  # noqa: PLC0415
    from mcp_browser.server.sessions.profiles import Profiles  # noqa: PLC0415

    session = await manager.default_session()
    session.limits = replace(session.limits, logins=Profiles(folder, ANONYMOUS))
