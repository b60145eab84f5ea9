"""What sites have stored in a session's browser, and what the settings put there at its start.

That is cookies, local and session storage, storage states; at the start also scripts and headers.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from playwright.async_api import BrowserContext, CDPSession, Cookie
from playwright.async_api import Error as PlaywrightError

from mcp_browser import hosts
from mcp_browser.browser.session_plugins import SessionPlugin
from mcp_browser.browser.tab import Tab
from mcp_browser.dom.cdp import send
from mcp_browser.dom.driver_errors import own_refusal, plain_message
from mcp_browser.errors import BrowserUnavailable, InvalidArguments, NotActionable, NotFound, SettingsError
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.text import counted

if TYPE_CHECKING:
    from mcp_browser.browser.session import BrowserSession
    from mcp_browser.settings import BrowserSettings

Area = Literal["local", "session"]

LARGEST_STATE = 50_000_000  # Largest file of a storage state, bytes
StorageState = dict[str, Any]  # Playwright's storage state: `cookies` and `origins`
GivenCookie = dict[str, Any]  # As Playwright's `add_cookies` takes it

_HTTP_ONLY = "#HttpOnly_"  # Prefix of the line of a cookie that scripts may not read
_NETSCAPE_FIELDS = 7
_SAME_SITE = {"strict": "Strict", "lax": "Lax", "none": "None", "no_restriction": "None"}
"""Playwright's values of SameSite, by those of cookie files; others mean the browser's default."""


def origin_of(address: str) -> str:
    """The origin of an address or a host. Raises InvalidArguments: it has none."""
    origin = hosts.origin_of(address if "://" in address else f"https://{address}")
    if origin == "null":
        raise InvalidArguments(f"{cut_address(address)!r} has no origin such as https://example.com.")
    return origin


class OpenStorage:
    """Local or session storage of an origin that is open in a frame of a tab."""

    def __init__(self, cdp: CDPSession, origin: str, area: Area) -> None:
        """Read and write over CDP, without scripts in the page."""
        self._cdp = cdp
        self._id = {"securityOrigin": origin, "isLocalStorage": area == "local"}

    async def items(self) -> dict[str, str]:
        """All items, by key."""
        answer = await send(self._cdp, "DOMStorage.getDOMStorageItems", storageId=self._id)
        return {str(key): str(value) for key, value in answer["entries"]}

    async def change(self, items: Mapping[str, str | None]) -> None:
        """Set items, and remove those whose value is None."""
        for key, value in items.items():
            verb, more = ("remove", dict[str, str]()) if value is None else ("set", {"value": value})
            await send(self._cdp, f"DOMStorage.{verb}DOMStorageItem", storageId=self._id, key=key, **more)

    async def clear(self) -> None:
        """Remove everything."""
        await send(self._cdp, "DOMStorage.clear", storageId=self._id)


async def open_storage(tab: Tab, area: Area, origin: str | None) -> OpenStorage:
    """The storage of an origin that the tab, or a frame of it, has open; raises NotFound, NotActionable."""
    if not origin and not tab.url.startswith(("http", "file")):
        raise NotActionable(
            f"The page {cut_address(tab.url)} has no storage.", hint="Open a site with go_to_url."
        )
    wanted = origin_of(origin or tab.url)
    frames = [frame for frame in tab.page.frames if f"{frame.url}/".startswith(f"{wanted}/")]
    if not frames:
        there = sorted({origin_of(frame.url) for frame in tab.page.frames if frame.url.startswith("http")})
        raise NotFound(
            f"Nothing of {wanted} is open in tab {tab.id}.",
            hint=f"Open it with go_to_url first. Open are: {', '.join(there) or 'none'}.",
        )
    for frame in frames:
        try:
            cdp = tab.cdp if frame is tab.page.main_frame else await tab.page.context.new_cdp_session(frame)
        except PlaywrightError:
            cdp = tab.cdp  # A frame in its page's process has no session of its own.
        storage = OpenStorage(cdp, wanted, area)
        try:
            await storage.items()
        except PlaywrightError:
            continue
        return storage
    raise NotActionable(f"{wanted} may not store anything here.", hint="Open it in a tab of its own.")


async def cookies_of(context: BrowserContext, *, url: str | None, name: str | None) -> list[Cookie]:
    """The cookies that are sent to an address, or all; `name`: only those of that name."""
    cookies = await context.cookies(url) if url else await context.cookies()
    return [cookie for cookie in cookies if name in (None, cookie.get("name"))]


async def clear_site(session: "BrowserSession", origin: str | None) -> None:
    """Delete all data of an origin, or of all sites; raises NotActionable in the user's own browser."""
    _spare_own_chrome(session)
    tab = session.current_tab
    await send(tab.cdp, "Storage.clearDataForOrigin", origin=origin or "*", storageTypes="all")
    if origin is None:
        await session.context.clear_cookies()
        await send(tab.cdp, "Network.clearBrowserCache")
        return
    for cookie in await session.context.cookies(origin):
        await session.context.clear_cookies(**{key: cookie.get(key) for key in ("name", "domain", "path")})


async def read_state(context: BrowserContext) -> StorageState:
    """Cookies, local storage and IndexedDB of all sites. Raises NotActionable: they cannot be read."""
    try:
        return cast("StorageState", await context.storage_state(indexed_db=True))
    except PlaywrightError as error:
        unread = NotActionable(f"The storage cannot be read: {plain_message(error)}.")
        raise own_refusal(error) or unread from error


async def put_state(session: "BrowserSession", state: StorageState) -> None:
    """Replace all stored data by a storage state; raises InvalidArguments, NotActionable."""
    # Playwright would clear the browser's cache before its refused commands.
    _spare_own_chrome(session)
    try:
        await session.context.set_storage_state(cast("Any", state))
    except PlaywrightError as error:
        raise InvalidArguments(
            f"The browser does not take this storage state: {plain_message(error)}."
        ) from error


def parse_state(content: bytes, *, name: str) -> StorageState:
    """Parse a file's content as a storage state; raises InvalidArguments."""
    match _parsed(content) if len(content) <= LARGEST_STATE else None:
        case {"cookies": [*cookies], "origins": [*origins]} if all(
            isinstance(part, dict) for part in (*cookies, *origins)
        ):
            return {"cookies": cookies, "origins": origins}
        case _:
            raise InvalidArguments(
                f"{name} is no storage state.",
                hint="It is JSON with 'cookies' and 'origins', as save_storage_state writes it.",
            )


def read_file(path: Path) -> bytes:
    """The content of a file. Raises NotFound: it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}.") from error


def count(state: StorageState) -> str:
    """The size of a storage state, in words."""
    cookies, origins = (len(cast("list[Any]", state[key])) for key in ("cookies", "origins"))
    return f"{counted(cookies, 'cookie')}, storage of {counted(origins, 'site')}"


def _spare_own_chrome(session: "BrowserSession") -> None:
    if session.in_own_chrome:
        raise NotActionable(
            "What sites have stored in a browser of the user's own is not cleared.",
            hint="Do it in the page, as a person would; or start the server without --connect.",
        )


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

    Raises SettingsError: the file is none; BrowserUnavailable: the session is not isolated, so that its
    profile's data would be lost.
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


def read_storage_state(path: Path) -> StorageState:
    """Read Playwright's storage state, cookies and local storage, from a file; raises SettingsError."""
    match _parsed(_read("storage-state", path)):
        case {"cookies": [*_]} as state:
            return cast("StorageState", state)
        case _:
            raise SettingsError(f"storage-state: {path} is no storage state of Playwright's.")


def read_cookies(path: Path) -> list[GivenCookie]:
    """Read cookies from a file: Netscape's format, a JSON list of cookies, or Playwright's storage state.

    A JSON list may have the field names of Playwright or of common browser extensions. Raises SettingsError:
    it cannot be read, or has another format; the message contains no cookie.
    """
    text = _read("cookies", path)
    if not text.lstrip().startswith(("[", "{")):
        return [
            _of_line(line, f"cookies: {path}, line {number}")
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip() and (line.startswith(_HTTP_ONLY) or not line.startswith("#"))
        ]
    if (given := _parsed(text)) is None:
        raise SettingsError(f"cookies: {path} is not JSON.")
    listed = cast("dict[str, Any]", given).get("cookies") if isinstance(given, dict) else given
    if not isinstance(listed, list):
        raise SettingsError(f"cookies: {path} has no list of cookies.")
    return [
        _of_entry(entry, f"cookies: {path}, cookie {number}")
        for number, entry in enumerate(cast("list[Any]", listed), 1)
    ]


def _of_line(line: str, where: str) -> GivenCookie:
    """A line of Netscape's format, see https://curl.se/docs/http-cookies.html."""
    fields = line.removeprefix(_HTTP_ONLY).split("\t")
    if len(fields) != _NETSCAPE_FIELDS or not fields[4].isdecimal():
        raise SettingsError(
            f"{where} is no cookie: it must have {_NETSCAPE_FIELDS} fields with tabs between them."
        )
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


def _of_entry(entry: Any, where: str) -> GivenCookie:
    match entry:
        case {"name": str(name), "value": str(value), **rest} if rest.get("domain") or rest.get("url"):
            cookie: GivenCookie = {"name": name, "value": value}
            given = cast("dict[str, Any]", rest)
        case _:
            raise SettingsError(f"{where} must have a name, a value, and a domain or url.")
    if domain := given.get("domain"):
        cookie |= {"domain": str(domain), "path": str(given.get("path") or "/")}
    else:
        cookie["url"] = str(given["url"])
    expires = given.get("expires", given.get("expirationDate"))
    if isinstance(expires, int | float):
        cookie["expires"] = expires
    if same_site := _SAME_SITE.get(str(given.get("sameSite")).lower()):
        cookie["sameSite"] = same_site
    return {**cookie, "httpOnly": bool(given.get("httpOnly")), "secure": bool(given.get("secure"))}


def _read(setting: str, path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SettingsError(f"{setting}: cannot read {path}: {why}.") from None


def _parsed(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
