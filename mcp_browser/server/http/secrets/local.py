"""Forms for secrets where the server has no address of its own: on the loopback, while a question stands."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from mcp.server.context import ServerRequestContext
from starlette.applications import Starlette

from mcp_browser.server.elicitation import PATH, SecretForm, SecretForms
from mcp_browser.server.http.quiet_logs import quiet_logs
from mcp_browser.server.http.secrets.pages import secret_route
from mcp_browser.server.http.signals import ServerWithoutSignals

LOOPBACK = "127.0.0.1"


@asynccontextmanager
async def asking_on_loopback(
    _request: ServerRequestContext[Any, Any], question: str, site: str, task: str
) -> AsyncGenerator[SecretForm]:
    """A form at a free port of the loopback, which is served until the question does not stand any more."""
    quiet_logs()
    forms = SecretForms()
    listener = socket.create_server((LOOPBACK, 0))
    app = Starlette(routes=[secret_route(forms)])
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=1
    )
    server = ServerWithoutSignals(config)
    serving = asyncio.create_task(server.serve([listener]))
    form = forms.open(question, site, task)
    form.url = f"http://{LOOPBACK}:{listener.getsockname()[1]}{PATH}{form.token}"
    try:
        yield form
    finally:
        forms.close(form)
        server.should_exit = True
        await serving
