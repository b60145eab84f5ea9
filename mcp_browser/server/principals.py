"""Who calls. What lets clients in writes it into the request's scope, and sessions belong to it."""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext

_KEY = "mcp_browser.principal"


@dataclass(frozen=True, slots=True)
class Principal:
    """A checked caller: `name` is for logs and metrics, `id` what sessions are bound to."""

    name: str
    id: str


ANONYMOUS = Principal(name="anonymous", id="anonymous")  # Everybody, where nobody has to say who they are


def set_principal(scope: MutableMapping[str, Any], principal: Principal) -> None:
    """Write down in a request's ASGI scope who sent it."""
    scope[_KEY] = principal


def principal_of(scope: Mapping[str, Any]) -> Principal:
    """Who sent the request of this ASGI scope; `ANONYMOUS` where nobody has written it down."""
    found = scope.get(_KEY)
    return found if isinstance(found, Principal) else ANONYMOUS


def principal_of_request(request: ServerRequestContext[Any, Any]) -> Principal:
    """Who calls, by what the HTTP request says; `ANONYMOUS` where there is no such request."""
    scope = getattr(request.request, "scope", None)
    return ANONYMOUS if scope is None else principal_of(scope)
