"""Mock or block requests."""

import json

from pydantic import Field

from mcp_browser.actions.network import URL
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext
from mcp_browser.browser.network.routes import MockAnswer, Routes, UrlPattern

routing = Registry(group="network")

LONGEST_DELAY = 60
LONGEST_BODY = 2_000_000


class BlockRouteParams(ActionParams):
    url: str = Field(description=URL)
    method: str | None = Field(None, description="only this one")
    times: int | None = Field(None, ge=1, description="default: until removed")


class MockRouteParams(BlockRouteParams):
    status: int = Field(200, ge=200, le=599, description="HTTP status")
    body: str = Field("", max_length=LONGEST_BODY, repr=False, description="of the response")
    headers: dict[str, str] = Field(default_factory=dict[str, str], description="of the response")
    delay: float = Field(0, ge=0, le=LONGEST_DELAY, description="seconds")


@routing.action(reach="page", during_dialog=True)
async def mock_route(ctx: ActionContext, params: MockRouteParams) -> str:
    """Answer requests to a URL yourself instead of the server."""
    headers = params.headers
    if not any(name.lower() == "content-type" for name in headers):
        headers = {"Content-Type": _type_of(params.body), **headers}
    return await _add(ctx, params, MockAnswer(params.status, headers, params.body, params.delay))


@routing.action(reach="page", during_dialog=True)
async def block_route(ctx: ActionContext, params: BlockRouteParams) -> str:
    """Let requests to a URL fail."""
    return await _add(ctx, params, None)


@routing.action(effect="read", during_dialog=True)
async def list_routes(ctx: ActionContext) -> str:
    """List mocks and blocks."""
    return _all(await ctx.session.plugin(Routes))


@routing.action(reach="page", during_dialog=True)
async def remove_route(ctx: ActionContext, id: int | None = Field(None, description="default: all")) -> str:
    """Remove mocks and blocks."""
    routes = await ctx.session.plugin(Routes)
    removed = "; ".join(map(str, await routes.remove(id))) or "nothing"
    return f"Removed {removed}. {_all(routes)}"


async def _add(ctx: ActionContext, params: BlockRouteParams, answer: MockAnswer | None) -> str:
    routes = await ctx.session.plugin(Routes)
    rule = await routes.add(UrlPattern(params.url), method=params.method, answer=answer, times=params.times)
    return f"Route {rule}. It holds for requests from now on, in all tabs."


def _all(routes: Routes) -> str:
    rules = routes.rules()
    return "Routes: " + "; ".join(map(str, rules)) + "." if rules else "There are no routes."


def _type_of(body: str) -> str:
    start = body.lstrip()[:1]
    if start in ("{", "["):
        try:
            json.loads(body)
        except ValueError:
            return "text/plain; charset=utf-8"
        return "application/json"
    return "text/html; charset=utf-8" if start == "<" else "text/plain; charset=utf-8"
