"""The view's page, its files, and the ways in."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import resources
from pathlib import PurePath

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from mcp_browser.server.http.middleware.refusals import refusal
from mcp_browser.server.http.view.admission import LINK, VIEW, Admission, Link, viewer_of

SAFELY = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}

_TYPES = {".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml"}
_DOOR = resources.files("mcp_browser.server.http.view") / "page"
_VIEW = resources.files("mcp_browser.server.view") / "page"

FILES = ("view.css", "view.js", "task.js", "socket.js", "enter.js", "icon.svg")
OPEN_PATHS = (VIEW, *(f"{VIEW}/{name}" for name in FILES))
"""What anybody may read: nothing in it is anybody's."""

FOLLOWED = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0;url={path}">
<title>mcp-browser</title>
<p><a href="{path}">Go to the live view</a>
</html>
"""

NOT_LET_IN = "Open the link that the terminal shows in which the server runs, or sign in with a token."
GONE = "This link was used already. The terminal in which the server runs shows a new one."


def page_routes(
    admission: Admission, *, prefix: str, asks: bool, followed: Callable[[Link], None]
) -> list[Route]:
    """The routes of the page and of the ways in.

    Args:
        admission: the cookies and links.
        prefix: what the paths begin with.
        asks: the server asks who calls, so that a token lets in.
        followed: called after a link has been used.
    """

    async def page(request: Request) -> Response:
        # A token is checked by what the page asks for next. Whoever has none is asked for it.
        let_in = viewer_of(request.scope) is not None or "authorization" in request.headers
        name = "view.html" if let_in else "token.html" if asks else "link.html"
        return _file(name, status=200 if let_in else 401)

    async def sign_in(request: Request) -> Response:
        if not asks or not admission.is_own_page(request.scope):
            return _refused("A page of this server signs in, with a token, where the server asks for one.")
        # The token counts: the request has come through the check of tokens.
        header = Headers(scope=request.scope)["authorization"]
        return _with_cookie(Response(status_code=204), admission.set_cookie(request.scope, header))

    async def sign_out(request: Request) -> Response:
        if not admission.is_own_page(request.scope):
            return _refused("A page of this server signs out.")
        return _with_cookie(RedirectResponse(f"{prefix}{VIEW}", 303), admission.forget(request.scope))

    async def link(request: Request) -> Response:
        if request.method == "HEAD":
            # Of a program that wants to know what is there: the link is for the person.
            return Response(headers=SAFELY)
        found = admission.follow(request.path_params["token"])
        if found is None:
            return refusal(410, GONE, headers=SAFELY)
        followed(found)
        cookie = admission.set_cookie(request.scope, found)
        path = f"{prefix}{VIEW}{f'#{found.session}' if found.session else ''}"
        # Not by a redirect: after a click on another site's page, the browser would leave out the cookie.
        return _with_cookie(HTMLResponse(FOLLOWED.format(path=path)), cookie)

    async def me(request: Request) -> Response:
        viewer = viewer_of(request.scope)
        if viewer is None:
            return _refused(NOT_LET_IN)
        return JSONResponse({"name": viewer.name}, headers=SAFELY)

    async def file(name: str, _request: Request) -> Response:
        return _file(name)

    return [
        Route(f"{prefix}{VIEW}", page, methods=["GET"]),
        *(Route(f"{prefix}{VIEW}/{name}", partial(file, name), methods=["GET"]) for name in FILES),
        Route(f"{prefix}{VIEW}/me", me, methods=["GET"]),
        Route(f"{prefix}{VIEW}/sign-in", sign_in, methods=["POST"]),
        Route(f"{prefix}{VIEW}/sign-out", sign_out, methods=["POST"]),
        Route(f"{prefix}{LINK}{{token}}", link, methods=["GET"]),
    ]


def _file(name: str, *, status: int = 200) -> Response:
    headers: Mapping[str, str] = SAFELY
    content = next(file for folder in (_DOOR, _VIEW) if (file := folder / name).is_file()).read_bytes()
    return Response(content, status, headers=headers, media_type=_TYPES[PurePath(name).suffix])


def _with_cookie(response: Response, cookie: str) -> Response:
    response.headers.update({**SAFELY, "Set-Cookie": cookie})
    return response


def _refused(message: str) -> Response:
    return refusal(403, message, headers=SAFELY)
