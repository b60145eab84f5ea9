"""A small app behind the doors: says who calls, and streams for as long as anybody reads."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from mcp_browser.server.http.limits import Connections, OnRefusal
from mcp_browser.server.http.middleware import middleware_stack, uvicorn_options
from mcp_browser.server.principals import SettingsOf, principal_of
from mcp_browser.settings import AccessSettings, ServerSettings, Settings

CHUNK = b"x" * 16_384


async def _echo(request: Request) -> Response:
    body = await request.body()
    access = get_access_token()
    return JSONResponse(
        {
            "principal": principal_of(request.scope).name,
            "id": principal_of(request.scope).id,
            "subject": access.subject if access else None,
            "token": access.token if access else None,
            "client": request.client.host if request.client else None,
            "scheme": request.url.scheme,
            "size": len(body),
        },
        headers={"Mcp-Session-Id": "0"},
    )


async def _stream(_request: Request) -> Response:
    async def endless() -> AsyncGenerator[bytes]:
        while True:
            yield CHUNK
            await asyncio.sleep(0)  # Others have their turn, also when nobody takes the chunks any more.

    return StreamingResponse(endless())


async def _break(_request: Request) -> Response:
    raise RuntimeError("a secret of the server's")


async def _healthy(_request: Request) -> Response:
    return PlainTextResponse("ok")


def small_config(settings: AccessSettings, on_refusal: OnRefusal) -> dict[str, Any]:
    """What `uvicorn.Config` takes to serve the small app behind the doors of the settings."""
    routes = [
        Route("/mcp", _echo, methods=["GET", "POST", "DELETE"]),
        Route("/sse", _stream),
        Route("/break", _break),
        Route("/healthz", _healthy),
    ]
    served = Settings(access=settings, server=ServerSettings(http=True, sse=True))
    middleware = middleware_stack(SettingsOf(served), on_refusal)
    return {
        "app": Starlette(routes=routes, middleware=middleware),
        "lifespan": "off",
        **uvicorn_options(settings, Connections(settings, on_refusal)),
    }
