"""A server in this process that offers everybody the same."""

from collections.abc import Iterable
from typing import Any

from mcp_browser.controller import Controller
from mcp_browser.server.app import BrowserServer, Offer, Offers, create_server
from mcp_browser.server.calls import ServerTool
from mcp_browser.server.resources import ResourceProvider
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.server.tasks import FindCall
from mcp_browser.server.tools import Tools


def server_of(
    controller: Controller,
    sessions: Sessions,
    tools: Iterable[ServerTool[Any]] = (),
    resources: Iterable[ResourceProvider] = (),
    *,
    find_call: FindCall | None = None,
) -> BrowserServer:
    """The controller's actions and `tools`, in these sessions."""
    offer = Offer(tools=Tools(controller, sessions, tools), find_call=find_call)
    return create_server(Offers(lambda _: offer, resources=resources), sessions)
