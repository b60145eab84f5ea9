"""Whether a server may listen at an address, with what its settings ask of clients."""

import ipaddress

from mcp_browser.errors import SettingsError
from mcp_browser.settings import AccessSettings


def asks_who_calls(settings: AccessSettings) -> bool:
    """Whether clients must say who they are."""
    return settings.tokens is not None or settings.token is not None or settings.oauth_issuer is not None


def check_exposure(settings: AccessSettings, host: str) -> None:
    """Whether the settings fit each other and the name or number that the server listens at.

    Raises:
        SettingsError: anybody in the network could use the browser, or a setting needs another one.
    """
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
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
