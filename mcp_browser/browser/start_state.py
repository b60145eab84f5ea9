"""Scripts, headers, cookies and storage states that a session starts with."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from playwright.async_api import BrowserContext

from mcp_browser.browser.session_plugins import SessionPlugin
from mcp_browser.errors import BrowserUnavailable, SettingsError

if TYPE_CHECKING:
    from mcp_browser.browser.session import BrowserSession
    from mcp_browser.settings import BrowserSettings

Cookie = dict[str, Any]  # As Playwright's `add_cookies` takes it

_HTTP_ONLY = "#HttpOnly_"  # Prefix of the line of a cookie that scripts may not read
_FIELDS = 7

_SAME_SITE = {"strict": "Strict", "lax": "Lax", "none": "None", "no_restriction": "None"}
"""Playwright's values of SameSite, by those of cookie files; others mean the browser's default."""


class StartState(SessionPlugin):
    """Applies the settings' scripts, headers and cookies to each context of a session."""

    def __init__(self, session: "BrowserSession") -> None:
        self._settings = session.settings.browser

    async def opened(self, context: BrowserContext) -> None:
        """Add them to a new context."""
        settings = self._settings
        for script in settings.init_scripts:
            await context.add_init_script(path=script)
        if settings.extra_headers:
            await context.set_extra_http_headers(headers_of(settings.extra_headers))
        if settings.cookies is not None:
            await context.add_cookies(cast("Any", read_cookies(settings.cookies)))

    def secrets(self) -> Iterable[str]:
        """The values of the headers, which may be keys."""
        return headers_of(self._settings.extra_headers).values()


def check(settings: "BrowserSettings") -> None:
    """Check the files that the settings name; raises SettingsError."""
    for script in settings.init_scripts:
        _read("init-script", script)
    if settings.cookies is not None:
        read_cookies(settings.cookies)
    if settings.storage_state is not None:
        read_storage_state(settings.storage_state)


def with_storage_state(
    settings: "BrowserSettings", options: Mapping[str, Any], *, isolated: bool
) -> Mapping[str, Any]:
    """Keyword arguments for `new_context` with the settings' storage state.

    Raises:
        SettingsError: the file is not a storage state.
        BrowserUnavailable: the session is not isolated: its profile's data would be lost.
    """
    if settings.storage_state is None or "storage_state" in options:
        return options
    if not isolated:
        raise BrowserUnavailable(
            "storage-state is for isolated sessions: it would replace what the profile has.",
            hint="Start the server with --isolated, or give --cookies, which are added.",
        )
    return {**options, "storage_state": read_storage_state(settings.storage_state)}


def headers_of(given: Sequence[str]) -> dict[str, str]:
    """Headers from lines such as `X-Team: shop`."""
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in given)}


def read_storage_state(path: Path) -> dict[str, Any]:
    """Read Playwright's storage state, cookies and local storage, from a file; raises SettingsError."""
    text = _read("storage-state", path)
    try:
        state = json.loads(text)
    except (ValueError, RecursionError):
        state = None
    if not isinstance(state, dict) or not isinstance(cast("dict[str, Any]", state).get("cookies"), list):
        raise SettingsError(f"storage-state: {path} is no storage state of Playwright's.")
    return cast("dict[str, Any]", state)


def read_cookies(path: Path) -> list[Cookie]:
    """Read cookies from a file: Netscape's format, a JSON list of cookies, or Playwright's storage state.

    A JSON list may have the field names of Playwright or of common browser extensions.

    Raises:
        SettingsError: it cannot be read, or has another format; the message contains no cookie.
    """
    text = _read("cookies", path)
    if not text.lstrip().startswith(("[", "{")):
        return [
            _of_line(line, f"cookies: {path}, line {number}")
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip() and (line.startswith(_HTTP_ONLY) or not line.startswith("#"))
        ]
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise SettingsError(f"cookies: {path} is not JSON.") from None
    listed = cast("dict[str, Any]", given).get("cookies") if isinstance(given, dict) else given
    if not isinstance(listed, list):
        raise SettingsError(f"cookies: {path} has no list of cookies.")
    return [
        _of_entry(entry, f"cookies: {path}, cookie {number}")
        for number, entry in enumerate(cast("list[Any]", listed), 1)
    ]


def _of_line(line: str, where: str) -> Cookie:
    """A line of Netscape's format, see https://curl.se/docs/http-cookies.html."""
    fields = line.removeprefix(_HTTP_ONLY).split("\t")
    if len(fields) != _FIELDS or not fields[4].isdecimal():
        raise SettingsError(f"{where} is no cookie: it must have {_FIELDS} fields with tabs between them.")
    domain, _, path, secure, expires, name, value = fields
    return {
        "name": name,
        "value": value,
        "domain": domain,
        "path": path,
        # 0 stands for the end of the session.
        "expires": float(expires) or -1,
        "httpOnly": line.startswith(_HTTP_ONLY),
        "secure": secure.upper() == "TRUE",
    }


def _of_entry(entry: Any, where: str) -> Cookie:
    match entry:
        case {"name": str(name), "value": str(value), **rest} if rest.get("domain") or rest.get("url"):
            pass
        case _:
            raise SettingsError(f"{where} must have a name, a value, and a domain or url.")
    given = cast("dict[str, Any]", rest)
    cookie: Cookie = {"name": name, "value": value}
    if given.get("domain"):
        cookie |= {"domain": str(given["domain"]), "path": str(given.get("path") or "/")}
    else:
        cookie["url"] = str(given["url"])
    expires = given.get("expires", given.get("expirationDate"))
    if isinstance(expires, int | float):
        cookie["expires"] = expires
    cookie |= {"httpOnly": bool(given.get("httpOnly")), "secure": bool(given.get("secure"))}
    same_site = _SAME_SITE.get(str(given.get("sameSite")).lower())
    if same_site is not None:
        cookie["sameSite"] = same_site
    return cookie


def _read(setting: str, path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise SettingsError(f"{setting}: cannot read {path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{setting}: {path} is not UTF-8 text.") from None
