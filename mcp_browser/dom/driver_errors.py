"""Playwright's errors: what they mean, by their texts, as the driver gives no codes; sentences for them."""

import re
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from mcp_browser.errors import (
    ActionError,
    BrowserUnavailable,
    DeadlineExceeded,
    NavigationError,
    NotActionable,
    StaleElement,
)
from mcp_browser.text import one_line

OWN_REFUSAL = "This is not done in a browser of the user's own"
_CALL_PREFIX = re.compile(r"^(?:[A-Z]\w*\.\w+: )+(?:Error: )?")
_CLOSED = re.compile(
    r"has been closed|browser has disconnected|connection closed|target closed|session closed", re.IGNORECASE
)
_CRASHED = re.compile(r"(?:page|target|renderer) (?:has )?crashed", re.IGNORECASE)
_CONTEXT_GONE = re.compile(
    r"execution context was destroyed|execution context is not available|cannot find context"
    r"|unable to find execution context|uniquecontextid not found|inspected target navigated"
    r"|frame (?:was|got|has been) detached|jshandle is disposed",
    re.IGNORECASE,
)
_FRAME_GONE = re.compile(r"no frame|frame with the given id|frame was detached", re.IGNORECASE)

LONGEST_MESSAGE = 500  # How much of an error is kept, characters

_NETWORK_CODE = re.compile(r"net::(ERR_\w+)")
_DETACHED = re.compile(r"not attached to the DOM|node is detached", re.IGNORECASE)

_REASONS = {
    "NAME_NOT_RESOLVED": (
        "the host name {host} is not known (DNS)",
        "Check the spelling, or use search_web.",
    ),
    "CONNECTION_REFUSED": ("nothing answers at {host} (connection refused)", "Is the server running there?"),
    "CONNECTION_RESET": ("{host} broke the connection off", "Try again, or try http:// or https:// instead."),
    "CONNECTION_CLOSED": ("{host} closed the connection", "Try again, or try http:// or https:// instead."),
    "EMPTY_RESPONSE": ("{host} closed the connection without an answer", "Try again later."),
    "CONNECTION_TIMED_OUT": ("{host} did not answer", "Try again later."),
    "TIMED_OUT": ("{host} did not answer in time", "Try again later."),
    "ADDRESS_UNREACHABLE": ("{host} cannot be reached from here", "Check the address and the network."),
    "ADDRESS_INVALID": ("{host} is not an address that can be reached", "Check the address."),
    "INTERNET_DISCONNECTED": ("there is no network connection", "Check the network of this machine."),
    "NETWORK_CHANGED": ("the network changed while connecting", "Try again."),
    "NETWORK_ACCESS_DENIED": ("the system denies access to the network", "Check the firewall."),
    "UNSAFE_PORT": ("browsers refuse port {port} as unsafe", "Serve the page on another port."),
    "TOO_MANY_REDIRECTS": ("it redirects in a circle", "Try another address of that site."),
    "UNSAFE_REDIRECT": ("it redirects to an address that is not allowed", "Try another address."),
    "INVALID_REDIRECT": ("it redirects to an invalid address", "Try another address."),
    "INVALID_URL": ("the address is not valid", "Check the spelling."),
    "INVALID_RESPONSE": ("the answer of {host} is not valid HTTP", "Try another address."),
    "INVALID_HTTP_RESPONSE": ("the answer of {host} is not HTTP", "Is that the right port?"),
    "HTTP_RESPONSE_CODE_FAILURE": ("the answer is an error without a page", "Try another address."),
    "HTTP2_PROTOCOL_ERROR": ("{host} broke the HTTP/2 protocol", "Try again later."),
    "SSL_PROTOCOL_ERROR": ("{host} does not speak TLS there", "Try http:// instead of https://."),
    "SSL_VERSION_OR_CIPHER_MISMATCH": (
        "{host} only speaks an outdated TLS",
        "The page cannot be opened safely.",
    ),
    "INVALID_AUTH_CREDENTIALS": (
        "{host} asks for a login (HTTP authentication)",
        "If you have a user name and a password, put them into the address: user:password@host.",
    ),
    "BLOCKED_BY_CLIENT": ("it is blocked in this browser", "Try another address."),
    "BLOCKED_BY_ADMINISTRATOR": ("a policy of this machine blocks it", "Try another address."),
    "BLOCKED_BY_RESPONSE": ("the site forbids to show it here", "Try another address."),
    "PROXY_CONNECTION_FAILED": ("the proxy does not answer", "Check the setting `proxy`."),
    "TUNNEL_CONNECTION_FAILED": ("the proxy refuses to connect to {host}", "Check the setting `proxy`."),
    "FILE_NOT_FOUND": ("there is no such file", "Check the path."),
    "ACCESS_DENIED": ("access is denied", "Try another address."),
    "UNKNOWN_URL_SCHEME": ("browsers do not open {scheme}: addresses", "Use an https:// address."),
    "DISALLOWED_URL_SCHEME": ("browsers do not open {scheme}: addresses", "Use an https:// address."),
    "ABORTED": ("loading was aborted", "Try again, or look with get_state."),
}
_CERTIFICATE_REASONS = {
    "ERR_CERT_AUTHORITY_INVALID": "it is not signed by a known authority",
    "ERR_CERT_COMMON_NAME_INVALID": "it is for another host name",
    "ERR_CERT_DATE_INVALID": "it has expired or is not yet valid",
    "ERR_CERT_REVOKED": "it was revoked",
    "ERR_CERT_WEAK_SIGNATURE_ALGORITHM": "it is signed with a weak algorithm",
}


class FrameGone(Exception):
    """The frame is gone, or it lives in another process now."""


def plain_message(error: BaseException) -> str:
    """The first sentence of an error of Playwright's, without the call's name and its log."""
    text = str(error).partition("\nCall log:")[0].partition("\n=====")[0]
    first = next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)
    return one_line(_CALL_PREFIX.sub("", first).rstrip("."), LONGEST_MESSAGE)


def is_closed(error: BaseException) -> bool:
    """Whether the page, its context or the browser is gone."""
    return _CLOSED.search(plain_message(error)) is not None


def is_crashed(error: BaseException) -> bool:
    """Whether the page's process has crashed."""
    return _CRASHED.search(plain_message(error)) is not None


def is_context_gone(error: BaseException) -> bool:
    """Whether the document went away (by a navigation) while something ran in it."""
    return _CONTEXT_GONE.search(plain_message(error)) is not None


def is_frame_gone(error: BaseException) -> bool:
    """Whether the frame is gone, or its page, or it lives in another process now."""
    return _FRAME_GONE.search(plain_message(error)) is not None or is_closed(error)


def network_code(error: BaseException) -> str | None:
    """The browser's code for a failed load, such as `ERR_NAME_NOT_RESOLVED`, if the error has one."""
    found = _NETWORK_CODE.search(str(error))
    return found[1] if found else None


def navigation_error(url: str, code: str) -> NavigationError:
    """Why an address could not be opened, from the browser's code for it."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:  # The text of an error can be anything, and is cut.
        port = None
    host = (parts.hostname or url) + (f":{port}" if port else "")
    if code.startswith("ERR_CERT_"):
        why = _CERTIFICATE_REASONS.get(code, "it is not valid")
        return NavigationError(
            f"Could not open {url}: the TLS certificate of {host} is not trusted, {why} ({code}).",
            hint="The connection would not be safe: try another address of that site. Where the site is your "
            "own, start the server with --ignore-https-errors.",
        )
    reason, hint = _REASONS.get(
        code.removeprefix("ERR_"), ("the browser could not load it", "Try again, or try another address.")
    )
    reason = reason.format(host=host, port=port or "", scheme=parts.scheme)
    return NavigationError(f"Could not open {url}: {reason} ({code}).", hint=hint)


def as_action_error(  # noqa: PLR0911 (a table of cases)
    error: PlaywrightError | FrameGone, *, doing: str
) -> ActionError:
    """A clear error for one of Playwright's; `doing` is a phrase such as "taking a screenshot"."""
    message = plain_message(error)
    if is_crashed(error):
        return BrowserUnavailable(
            f"The page crashed during {doing}.",
            hint="It is opened again at the next call; look with get_state.",
        )
    if is_closed(error):
        return BrowserUnavailable(
            f"The tab or the browser was closed during {doing}.",
            hint="The next call opens it again; look with get_state.",
        )
    if code := network_code(error):
        url = re.search(r" at (\S+)", message)
        return navigation_error(url[1] if url else "the page", code)
    if isinstance(error, PlaywrightTimeout):
        limit = re.search(r"Timeout (\d+)ms exceeded", message)
        within = f" within {int(limit[1]) / 1000:g} s" if limit else " in time"
        return DeadlineExceeded(
            f"{doing} did not finish{within}.", hint="The page may be slow or busy: look with get_state."
        )
    if isinstance(error, FrameGone) or is_context_gone(error):
        return ActionError(
            f"The page went to another address during {doing}.", hint="Look with get_state, then try again."
        )
    if _DETACHED.search(message):
        return StaleElement(
            f"The element left the page during {doing}.", hint="Look with get_state and use a current index."
        )
    return own_refusal(error) or ActionError(f"{doing} failed: {message}.")


def own_refusal(error: PlaywrightError) -> NotActionable | None:
    """The error for a command that is refused in the user's own browser; None for other errors."""
    if OWN_REFUSAL not in error.message:
        return None
    return NotActionable(
        f"{OWN_REFUSAL}: its cookies, its storage and its permissions are the user's.",
        hint="Do it in the page, as a person would; or start the server without --connect.",
    )
