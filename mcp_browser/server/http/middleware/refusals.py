"""The answers to requests that are refused."""

from collections.abc import Callable, Mapping
from typing import Literal

from starlette.responses import JSONResponse, Response

Reason = Literal[
    "request",
    "host",
    "origin",
    "token_in_url",
    "unauthenticated",
    "issuer_unreachable",
    "insufficient_scope",
    "rate",
    "body_size",
    "body_time",
    "room",
    "connections",
    "stalled",
]
"""Why a request was refused or a connection closed."""

OnRefusal = Callable[[Reason], None]  # Called for each request that is refused
JSONRPC_REFUSED = -32000


def refusal(
    status: int, message: str, *, headers: Mapping[str, str] | None = None, error: str | None = None
) -> Response:
    """An answer that says why, in JSON that both OAuth and JSON-RPC clients can read.

    `message` says how to go on, and holds nothing that the client has sent; `error` is the OAuth error code.
    """
    body: dict[str, object] = {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": JSONRPC_REFUSED, "message": message},
    }
    if error is not None:
        body = {"error": error, "error_description": message}
    return JSONResponse(body, status_code=status, headers={"Cache-Control": "no-store", **(headers or {})})
