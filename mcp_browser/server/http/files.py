"""Files of browser sessions over plain HTTP, for whatever can send a GET with a token.

The file `browser://KEY/files/NUMBER/NAME` is at `/files/KEY/NUMBER/NAME`, behind the same authentication as
everything else, in any size and with ranges.
"""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import NotFound
from mcp_browser.server.principals import Principal, principal_of
from mcp_browser.server.resources.sessions import SessionFiles

SAFELY = {
    # What came from the web must run in no browser that opens it here.
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "private, no-store",
}


def files_route(
    files: SessionFiles, may_read: Callable[[Principal, BrowserSession], bool], *, prefix: str = ""
) -> Route:
    """The route that sends files below `prefix`; `may_read` says whether a caller may read those of a key."""

    async def send(request: Request) -> Response:
        caller = principal_of(request.scope)
        key, number = request.path_params["key"], request.path_params["number"]
        try:
            file = files.find(f"browser://{key}/files/{number}", lambda session: may_read(caller, session))
        except NotFound:
            return PlainTextResponse("There is no such file.", 404, headers=SAFELY)
        if not file.path.is_file():
            return PlainTextResponse("The file was deleted.", 410, headers=SAFELY)
        # A name that came from the web is repeated only in the header, encoded.
        return FileResponse(file.path, media_type=file.mime_type, filename=file.name, headers=SAFELY)

    return Route(f"{prefix}/files/{{key}}/{{number}}/{{name}}", send, methods=["GET"])
