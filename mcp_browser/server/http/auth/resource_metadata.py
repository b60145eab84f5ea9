"""Where a client finds out which authorization server gives tokens for this one (RFC 9728)."""

from urllib.parse import urlsplit

from mcp.shared.auth import ProtectedResourceMetadata
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_browser.server.http.middleware.refusals import refusal
from mcp_browser.settings import AccessSettings

WELL_KNOWN = "/.well-known/"
RESOURCE_WELL_KNOWN = "/.well-known/oauth-protected-resource"


def public_base(scope: Scope, settings: AccessSettings) -> str:
    """The address by which the client reaches this server, from checked names, without a slash at its end."""
    if settings.public_url is not None:
        return settings.public_url
    headers = Headers(scope=scope)
    host = headers.get("x-forwarded-host", headers.get("host", "")).partition(",")[0].strip()
    return f"{scope['scheme']}://{host}"


def metadata_url(scope: Scope, settings: AccessSettings) -> str:
    """Where the metadata of the resource is that a request asks for."""
    parts = urlsplit(public_base(scope, settings))
    return f"{parts.scheme}://{parts.netloc}{RESOURCE_WELL_KNOWN}{parts.path}{scope['path']}"


class ResourceMetadata:
    """ASGI middleware that serves the metadata of each endpoint, and of all of them together."""

    def __init__(self, app: ASGIApp, *, settings: AccessSettings, endpoints: tuple[str, ...]) -> None:
        self._app = app
        self._settings = settings
        self._endpoints = endpoints

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what asks for metadata; pass everything else on."""
        if scope["type"] != "http" or not _under(scope["path"], RESOURCE_WELL_KNOWN):
            await self._app(scope, receive, send)
            return
        await self._answer(scope)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response:
        if scope["method"] not in {"GET", "HEAD"}:
            return refusal(405, "The metadata can only be read.", headers={"Allow": "GET, HEAD"})
        parts = urlsplit(public_base(scope, self._settings))
        path = scope["path"].removeprefix(RESOURCE_WELL_KNOWN).rstrip("/")
        described = {"", parts.path, *(parts.path + endpoint for endpoint in self._endpoints)}
        if path not in described or self._settings.oauth_issuer is None:
            return refusal(404, "There is no such resource.")
        # As text, since addresses are compared by their letters: an `AnyHttpUrl` would add a slash.
        metadata = ProtectedResourceMetadata.model_validate(
            {
                "resource": f"{parts.scheme}://{parts.netloc}{path or parts.path}",
                "authorization_servers": [self._settings.oauth_issuer],
                "scopes_supported": list(self._settings.oauth_scopes) or None,
                "resource_name": "mcp-browser",
            }
        )
        return Response(
            metadata.model_dump_json(exclude_none=True),
            media_type="application/json",
            headers={"Cache-Control": "public, max-age=3600"},
        )


def _under(path: str, parent: str) -> bool:
    return path == parent or path.startswith(f"{parent}/")
