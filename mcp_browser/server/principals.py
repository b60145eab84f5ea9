"""Who calls. Authentication writes it into the request's scope; sessions belong to it."""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

_KEY = "mcp_browser.principal"


@dataclass(frozen=True, slots=True)
class Principal:
    """A checked caller: `name` is for logs and metrics, `id` what sessions are bound to.

    `known_by` says where the name is from: a token of ours, or one of an authorization server.
    """

    name: str
    id: str
    known_by: Literal["token", "oauth"] = "token"

    @property
    def label(self) -> str:
        """The name for settings and secrets; names of tokens have no colon, so OAuth cannot issue one."""
        return self.name if self.known_by == "token" else f"oauth:{self.name}"


ANONYMOUS = Principal(name="anonymous", id="anonymous")  # Everybody, where nobody has to say who they are


class SettingsOf:
    """The settings of each principal; one object for all principals with the same settings."""

    def __init__(self, settings: Settings) -> None:
        self.default = settings
        self._known: dict[tuple[str, ...], Settings] = {(): settings}

    def __call__(self, principal: Principal) -> Settings:
        """Those of a principal."""
        fitting = self.default.fitting(principal.label)
        key = tuple(own.pattern for own in fitting)
        if key not in self._known:
            self._known[key] = self.default.with_tables(fitting)
        return self._known[key]


def set_principal(scope: MutableMapping[str, Any], principal: Principal) -> None:
    """Write the sender of a request into its ASGI scope."""
    scope[_KEY] = principal


def principal_of(scope: Mapping[str, Any]) -> Principal:
    """The sender of the request of this ASGI scope, `ANONYMOUS` by default."""
    found = scope.get(_KEY)
    return found if isinstance(found, Principal) else ANONYMOUS


def is_admitted(scope: Mapping[str, Any]) -> bool:
    """Whether this ASGI scope has a sender already."""
    return _KEY in scope


def caller_key(scope: Mapping[str, Any]) -> str:
    """A key for the requests of one caller: its id, or the address of an anonymous one."""
    principal = principal_of(scope)
    address = scope["client"][0] if scope.get("client") else ""
    return f"address {address}" if principal is ANONYMOUS else principal.id


def principal_of_request(request: "ServerRequestContext[Any, Any]") -> Principal:
    """The sender of the HTTP request; `ANONYMOUS` without one."""
    return principal_of(getattr(request.request, "scope", {}))
