"""What sites have stored in a session's browser: cookies, local and session storage, storage states."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, CDPSession, Cookie, Frame
from playwright.async_api import Error as PlaywrightError

from mcp_browser import hosts
from mcp_browser.browser.playwright_errors import own_refusal
from mcp_browser.browser.tab import Tab
from mcp_browser.dom.cdp import send
from mcp_browser.dom.driver_errors import plain_message
from mcp_browser.errors import InvalidArguments, NotActionable, NotFound
from mcp_browser.text import cut_address

if TYPE_CHECKING:
    from mcp_browser.browser.session import BrowserSession

Area = Literal["local", "session"]

LARGEST_STATE = 50_000_000  # Largest file of a storage state, bytes
StorageState = dict[str, Any]  # Playwright's storage state: `cookies` and `origins`


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
            if value is None:
                await send(self._cdp, "DOMStorage.removeDOMStorageItem", storageId=self._id, key=key)
            else:
                await send(
                    self._cdp, "DOMStorage.setDOMStorageItem", storageId=self._id, key=key, value=value
                )

    async def clear(self) -> None:
        """Remove everything."""
        await send(self._cdp, "DOMStorage.clear", storageId=self._id)


async def open_storage(tab: Tab, area: Area, origin: str | None) -> OpenStorage:
    """The storage of an origin that the tab, or a frame of it, has open; raises NotFound, NotActionable."""
    wanted = origin_of(origin or tab.url) if origin or tab.url.startswith(("http", "file")) else None
    if wanted is None:
        raise NotActionable(
            f"The page {cut_address(tab.url)} has no storage.", hint="Open a site with go_to_url."
        )
    frames = [frame for frame in tab.page.frames if _is_of(frame, wanted)]
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
    host = urlsplit(origin).hostname or ""
    for cookie in await session.context.cookies(origin):
        domain = cookie.get("domain", "")
        if domain.lstrip(".") == host or host.endswith(f".{domain.lstrip('.')}"):
            await session.context.clear_cookies(
                name=cookie.get("name"), domain=domain, path=cookie.get("path")
            )


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
    try:
        value: Any = json.loads(content) if len(content) <= LARGEST_STATE else None
    except (ValueError, RecursionError):
        value = None
    state = cast("StorageState", value) if isinstance(value, dict) else {}
    if not all(_is_list_of_objects(state.get(key)) for key in ("cookies", "origins")):
        raise InvalidArguments(
            f"{name} is no storage state.",
            hint="It is JSON with 'cookies' and 'origins', as save_storage_state writes it.",
        )
    return {key: state[key] for key in ("cookies", "origins")}


def read_file(path: Path) -> bytes:
    """The content of a file. Raises NotFound: it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}.") from error


def count(state: StorageState) -> str:
    """The size of a storage state, in words."""
    cookies, origins = (len(cast("list[Any]", state[key])) for key in ("cookies", "origins"))
    plural = ("" if cookies == 1 else "s", "" if origins == 1 else "s")
    return f"{cookies} cookie{plural[0]}, storage of {origins} site{plural[1]}"


def _spare_own_chrome(session: "BrowserSession") -> None:
    if session.in_own_chrome:
        raise NotActionable(
            "What sites have stored in a browser of the user's own is not cleared.",
            hint="Do it in the page, as a person would; or start the server without --connect.",
        )


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, dict) for part in cast("Iterable[Any]", value))


def _is_of(frame: Frame, origin: str) -> bool:
    return frame.url == origin or frame.url.startswith(f"{origin}/")
