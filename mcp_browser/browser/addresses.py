"""Which addresses may be opened; completes informal ones."""

import contextlib
import ipaddress
import re
from urllib.parse import urljoin, urlsplit

from mcp_browser.errors import BlockedUrl, NavigationError
from mcp_browser.privacy.hiding import MARK
from mcp_browser.settings import Settings

MAX_URL = 2_000_000  # Longest address that Chromium navigates to, in characters
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*(?=:)")
_HOST_AND_PORT = re.compile(r"[^\s/?#:@]+:\d{1,5}(?=[/?#]|$)")
_HOST = re.compile(r"(?:[\w-]{1,63}\.)*[\w-]{1,63}\.?", re.UNICODE)
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f]")
_DATA_TYPES = re.compile(
    r"data:(?:text/|image/|application/(?:json|xml|xhtml\+xml|pdf)\b|[;,])", re.IGNORECASE
)

_REFUSED = {
    "javascript": "it would run a script in the page instead of opening an address",
    "vbscript": "it would run a script in the page instead of opening an address",
    "chrome": "it is one of the browser's own pages",
    "chrome-extension": "it belongs to a browser extension",
    "chrome-untrusted": "it is one of the browser's own pages",
    "edge": "it is one of the browser's own pages",
    "brave": "it is one of the browser's own pages",
    "devtools": "it is one of the browser's own tools",
    "view-source": "it is one of the browser's own tools; get_html gives a page's HTML",
    "blob": "it only lives inside the page that made it",
    "filesystem": "it only lives inside the page that made it",
    "mailto": "it belongs to a mail program, not to a browser",
    "tel": "it belongs to a telephone, not to a browser",
    "ftp": "browsers no longer open it",
}


def check_url(url: str, settings: Settings, *, base: str = "") -> str:
    """The complete address to open.

    A bare host gets `https://`, or `http://` if it is localhost, an IP address or one word with a port;
    a path (`/cart`) is relative to `base`, the current page's address. Raises BlockedUrl: addresses of that
    kind are not opened; NavigationError: it is not an address.
    """
    address = _INVISIBLE.sub("", url).strip()
    if not address:
        raise NavigationError("The address is empty.", hint="Give one such as https://example.com/.")
    if len(address) > MAX_URL:
        raise NavigationError(f"The address is too long: {len(address)} characters.")
    if address.startswith("//"):
        address = f"https:{address}"
    elif address.startswith(("/", "./", "../", "?", "#")):
        if not base.startswith(("http://", "https://")):
            raise NavigationError(
                f"{address!r} is only a path, and there is no page to take it from.",
                hint="Give a whole address, such as https://example.com/cart, or file:///… for a file of "
                "this machine, which --allow-file-urls allows.",
            )
        return urljoin(base, address)
    scheme = _SCHEME.match(address)
    if scheme is None or (scheme[0].lower() not in _REFUSED and _HOST_AND_PORT.match(address)):
        return _from_bare_host(address)
    return _with_scheme(scheme[0].lower(), address, settings)


def may_show(url: str, settings: Settings) -> bool:
    """Whether a page that was opened by a click, a redirect or a script may be shown."""
    return settings.files.allow_file_urls or scheme_of(url) not in ("file", "view-source")


def blocked_page(url: str) -> BlockedUrl:
    """The error for an open page that may not be shown."""
    return BlockedUrl(
        f"The page went to {url}, which is not allowed: {scheme_of(url)}: addresses are blocked.",
        hint="Go elsewhere with go_to_url. The setting --allow-file-urls lifts the rule for files.",
    )


def scheme_of(url: str) -> str:
    """The scheme of an address in lower case, without the colon."""
    return url.partition(":")[0].lower()


def _from_bare_host(address: str) -> str:
    if re.search(r"\s", address):
        raise NavigationError(
            f'"{address}" is not an address.', hint="To look something up, use search_web with these words."
        )
    authority = re.split(r"[/?#]", address, maxsplit=1)[0].rpartition("@")[2]
    if authority.startswith("["):
        host, _, port = authority[1:].partition("]")
        port = port.removeprefix(":")
    else:
        host, _, port = authority.lower().partition(":")
    with contextlib.suppress(ValueError):
        if host != "localhost" and not host.endswith(".localhost"):
            ipaddress.ip_address(host)
        return f"http://{address}"
    if not _HOST.fullmatch(host):
        raise NavigationError(
            f'"{address}" is not an address.', hint="Give one such as https://example.com/."
        )
    if "." in host.strip("."):
        return f"https://{address}"
    if port:
        return f"http://{address}"
    raise NavigationError(
        f'"{address}" is not a whole address.',
        hint=f"Give one such as https://{host}.com/ (or http://{host}/ for a host of that name), "
        "or look it up with search_web.",
    )


def _with_scheme(scheme: str, address: str, settings: Settings) -> str:
    kind, hint, shown = BlockedUrl, "Use an http:// or https:// address.", address[:200]
    match scheme:
        case "http" | "https":
            with contextlib.suppress(ValueError):
                parts = urlsplit(address.replace(MARK, ""))
                if parts.hostname and parts.port != 0 and not re.search(r"\s", parts.netloc):
                    return address
            raise NavigationError(
                f'"{address}" is not a valid address.', hint="Give one such as https://example.com/."
            )
        case "about":
            if address.lower().partition("#")[0] == "about:blank":
                return address
            why, hint, shown = "it is one of the browser's own pages", "Try about:blank.", address
        case "data":
            if _DATA_TYPES.match(address):
                return address
            why, shown = "only text and pictures are, as data: addresses", address[:60]
            hint = "Use data:text/html,… or data:text/plain,…."
        case "file":
            if settings.files.allow_file_urls:
                return address
            raise BlockedUrl(
                f"{address} is not opened: files of this machine are blocked.",
                hint="The setting --allow-file-urls lifts the rule; upload_file needs no file: address.",
            )
        case _ if scheme in _REFUSED:
            why = _REFUSED[scheme]
        case _:
            kind, why = NavigationError, f"browsers do not know {scheme}: addresses"
    raise kind(f"{shown} is not opened: {why}.", hint=hint)
