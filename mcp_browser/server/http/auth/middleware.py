"""Who makes a request: the bearer token in its `Authorization` header says so."""

import ipaddress
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from urllib.parse import urlsplit

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.authentication import AuthCredentials
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_browser.errors import SettingsError
from mcp_browser.hosts import Origin
from mcp_browser.server.http.auth.oauth import AccessTokens, IssuerUnreachable, TokenRefused
from mcp_browser.server.http.auth.tokens import TokenSource
from mcp_browser.server.http.limits import Buckets, OnRefusal, refusal
from mcp_browser.server.principals import Principal, is_admitted, set_principal
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


def named_hosts(headers: Headers) -> list[str]:
    """The host names in a request's headers, with those of trusted proxies."""
    forwarded = [name for value in headers.getlist("x-forwarded-host") for name in value.split(",")]
    return [headers.get("host", ""), *(name.strip() for name in forwarded)]


def own_origins(scope: Scope, settings: AccessSettings) -> set[Origin | None]:
    """The origins of this server's pages: of the public address, and of the names that a request comes by.

    Their scheme is that of the connection, or the one that a trusted proxy gives.
    """
    public = Origin.of(settings.public_url or "")
    own = {public}
    for host in named_hosts(Headers(scope=scope)):
        if public is None or Origin.of(f"{public.scheme}://{host}") != public:
            own.add(Origin.of(f"{scope['scheme'].replace('ws', 'http')}://{host}"))
    return own


def resource_metadata(app: ASGIApp, settings: AccessSettings, endpoints: list[str]) -> ASGIApp:
    """ASGI middleware that serves the metadata of each endpoint, and of all of them together."""

    def answer(scope: Scope) -> Response:
        if scope["method"] not in {"GET", "HEAD"}:
            return refusal(405, "The metadata can only be read.", headers={"Allow": "GET, HEAD"})
        parts = urlsplit(public_base(scope, settings))
        path = scope["path"].removeprefix(RESOURCE_WELL_KNOWN).rstrip("/")
        described = {"", parts.path, *(parts.path + endpoint for endpoint in endpoints)}
        if path not in described or settings.oauth_issuer is None:
            return refusal(404, "There is no such resource.")
        metadata = {
            "resource": f"{parts.scheme}://{parts.netloc}{path or parts.path}",
            "authorization_servers": [settings.oauth_issuer],
            **({"scopes_supported": settings.oauth_scopes} if settings.oauth_scopes else {}),
            "bearer_methods_supported": ["header"],
            "resource_name": "mcp-browser",
        }
        return JSONResponse(metadata, headers={"Cache-Control": "public, max-age=3600"})

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        is_for_it = scope["type"] == "http" and f"{scope['path']}/".startswith(f"{RESOURCE_WELL_KNOWN}/")
        await (answer(scope) if is_for_it else app)(scope, receive, send)

    return serve


def asks_who_calls(settings: AccessSettings) -> bool:
    """Whether clients must say who they are."""
    return settings.tokens is not None or settings.token is not None or settings.oauth_issuer is not None


def check_exposure(settings: AccessSettings, host: str) -> None:
    """Check that the settings fit each other and the `host` to listen at; raises SettingsError."""
    if settings.oauth_issuer is not None and not settings.oauth_audience:
        raise SettingsError(
            "oauth-issuer needs oauth-audience: without it, a token for any other server would count here. "
            "It is what the authorization server writes into `aud`, often this server's address."
        )
    if settings.oauth_issuer is None and (settings.oauth_audience or settings.oauth_scopes):
        raise SettingsError("oauth-audience and oauth-scopes need oauth-issuer.")
    if settings.insecure or asks_who_calls(settings) or is_loopback(host):
        return
    raise SettingsError(
        f"host {host} lets everybody in the network use this browser and its logins. Ask for tokens: "
        "`mcp-browser token NAME --tokens FILE` makes one; start with `--tokens FILE`, or --oauth-issuer. "
        "Or listen at 127.0.0.1; or, where a firewall or proxy already asks who it is, add --insecure."
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    # As the settings write an address: not in the other forms that `address_in` knows of pages.
    with suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return host.lower() == "localhost"


WRONG_TOKENS_A_SECOND = 1.0
WRONG_TOKENS_AT_ONCE = 60.0  # How many tokens that do not count an address may try
_RETRY_SECONDS = 10
_NO_ISSUER = "The authorization server does not answer, so the token cannot be checked; try again later."

STILL_ADMITTED = "mcp_browser.still_admitted"
"""The key in a request's scope of an async function: does the token still count?"""


class Authentication:
    """ASGI middleware that admits only requests whose token counts, and sets their principal in the scope.

    The SDK's own middlewares support one fixed address of the resource's metadata, answer a request without
    a token with `invalid_token`, and cannot report an authorization server that is unreachable. The scope is
    filled as they do it, since the SDK reads that later.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: AccessSettings,
        tokens: TokenSource,
        is_open: Callable[[str], bool],
        on_refusal: OnRefusal,
    ) -> None:
        """Let in to `app` whom the settings allow; `is_open` says whether a path is for everybody."""
        self._app = AuthContextMiddleware(app)
        self._settings = settings
        self._tokens = tokens
        issuer = settings.oauth_issuer
        self._oauth = AccessTokens(issuer, settings.oauth_audience) if issuer is not None else None
        self._is_open = is_open
        self._on_refusal = on_refusal
        self._wrong = Buckets()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its principal, or refuse it."""
        if scope["type"] == "lifespan" or is_admitted(scope) or self._is_open(scope["path"]):
            await self._app(scope, receive, send)
            return
        refused = await self._admit(scope)
        scope[STILL_ADMITTED] = partial(self._still_admits, scope)
        await (refused or self._app)(scope, receive, send)

    async def _still_admits(self, scope: Scope) -> bool:
        """Whether the token of an open request still counts; True while that cannot be checked."""
        refused = await self._admit(scope)
        return refused is None or refused.status_code not in {401, 403}

    async def _admit(self, scope: Scope) -> Response | None:
        """Write the principal into the scope; return the answer to a request that is refused."""
        scheme, _, rest = Headers(scope=scope).get("authorization", "").strip().partition(" ")
        token = rest.strip()
        if scheme.lower() != "bearer" or not token:
            return self._refused(scope, "Send a token: `Authorization: Bearer …`.")
        try:
            principal, access = await self._caller(token)
        except TokenRefused as wrong:
            address = scope["client"][0] if scope.get("client") else ""
            wait = self._wrong.take(address, rate=WRONG_TOKENS_A_SECOND, burst=WRONG_TOKENS_AT_ONCE)
            if wait > 0:
                self._on_refusal("rate")
                headers = {"Retry-After": str(int(wait) + 1)}
                return refusal(429, "Too many tokens that are not known; try again later.", headers=headers)
            return self._refused(scope, str(wrong), error="invalid_token")
        except IssuerUnreachable:
            self._on_refusal("issuer_unreachable")
            return refusal(503, _NO_ISSUER, headers={"Retry-After": str(_RETRY_SECONDS)})
        missing = set(self._settings.oauth_scopes).difference(access.scopes)
        if missing and principal.known_by == "oauth":
            message = f"The token lacks the scope {' '.join(sorted(missing))}."
            return self._refused(scope, message, error="insufficient_scope", status=403)
        set_principal(scope, principal)
        scope["user"] = AuthenticatedUser(access)
        scope["auth"] = AuthCredentials(access.scopes)
        return None

    async def _caller(self, token: str) -> tuple[Principal, AccessToken]:
        """Whom a token stands for, in our terms and in the SDK's; raises TokenRefused, IssuerUnreachable."""
        name = self._tokens.name_of(token)
        if name is not None:
            access = AccessToken(token="", client_id=f"token:{name}", scopes=[], subject=name)
            return Principal(name=name, id=repr(("token", name))), access
        if self._oauth is None:
            raise TokenRefused("The token is not known here.")
        access = await self._oauth.check(token)
        subject = access.subject or ""
        caller = repr(("oauth", self._settings.oauth_issuer, access.client_id, subject))
        return Principal(name=subject, id=caller, known_by="oauth"), access

    def _refused(
        self, scope: Scope, message: str, *, error: str | None = None, status: int = 401
    ) -> Response:
        self._on_refusal("insufficient_scope" if error == "insufficient_scope" else "unauthenticated")
        challenge = ['realm="mcp-browser"']
        if error is not None:
            challenge += [f'error="{error}"', f'error_description="{message}"']
        if self._settings.oauth_issuer is not None:
            if self._settings.oauth_scopes:
                challenge.append(f'scope="{" ".join(self._settings.oauth_scopes)}"')
            parts = urlsplit(public_base(scope, self._settings))
            where = f"{parts.scheme}://{parts.netloc}{RESOURCE_WELL_KNOWN}{parts.path}{scope['path']}"
            challenge.append(f'resource_metadata="{where}"')
        headers = {"WWW-Authenticate": f"Bearer {', '.join(challenge)}"}
        return refusal(status, message, headers=headers, error=error or "unauthorized")
