"""Maps positions in served scripts to positions in their sources (Source Map v3)."""

import asyncio
import base64
import json
import re
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from string import ascii_lowercase, ascii_uppercase, digits
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote_to_bytes, urljoin

from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.addresses import check_url
from mcp_browser.browser.collectors import Location
from mcp_browser.browser.session_plugins import SessionPlugin
from mcp_browser.browser.tab import Tab
from mcp_browser.dom.cdp import send
from mcp_browser.errors import ActionError

if TYPE_CHECKING:
    from mcp_browser.browser.session import BrowserSession

Position = tuple[int, int]  # Line and column, both from 0
LARGEST = 30_000_000  # Largest script or map that is read, bytes
KEPT = 8  # How many maps are kept
FETCHING_SECONDS = 5.0
DECODING_SECONDS = 3.0  # How long one map may take, seconds; positions not found by then are left out
CHUNK = 1_000_000
WITH_SOURCE = 4  # Numbers of a mapping with a source: column, source, line, column
_COMMENT = re.compile(r"//[#@]\s*sourceMappingURL=([^\s'\"]+)\s*$", re.MULTILINE)
_DIGITS = {digit: value for value, digit in enumerate(f"{ascii_uppercase}{ascii_lowercase}{digits}+/")}


class SourceMaps(SessionPlugin):
    """The source maps of a session's scripts."""

    def __init__(self, session: "BrowserSession") -> None:
        self._session = session
        self._maps: OrderedDict[str, dict[str, Any] | None] = OrderedDict()

    async def originals(self, tab: Tab, wanted: Iterable[Location]) -> dict[Location, Location]:
        """The positions in the sources that can be found; the page fetches the maps, with its cookies."""
        by_script: dict[str, list[Location]] = {}
        for place in wanted:
            if place.url.startswith(("http://", "https://")):
                by_script.setdefault(place.url, []).append(place)
        found: dict[Location, Location] = {}
        for url, at in by_script.items():
            source_map = await self._map_of(tab, url)
            if source_map is not None:
                found |= await asyncio.to_thread(_originals, source_map, at)
        return found

    async def _map_of(self, tab: Tab, url: str) -> dict[str, Any] | None:
        if url not in self._maps:
            try:
                async with asyncio.timeout(FETCHING_SECONDS):
                    self._maps[url] = await self._fetch_map(tab, url)
            except (PlaywrightError, ActionError, TimeoutError, ValueError):
                self._maps[url] = None
            if len(self._maps) > KEPT:
                self._maps.popitem(last=False)
        return self._maps[url]

    async def _fetch_map(self, tab: Tab, url: str) -> dict[str, Any] | None:
        script, headers = await self._fetch(tab, url)
        named = _COMMENT.findall(script)
        address = headers.get("sourcemap") or headers.get("x-sourcemap") or (named[-1] if named else "")
        if address.startswith("data:"):
            return await asyncio.to_thread(lambda: parse_map(_data(address)))
        text, _ = await self._fetch(tab, urljoin(url, address)) if address else ("", {})
        return await asyncio.to_thread(parse_map, text) if text else None

    async def _fetch(self, tab: Tab, url: str) -> tuple[str, dict[str, str]]:
        """Text and headers of a resource as the page gets it, cached ones too; raises BlockedUrl.

        Both are empty if there is none. The headers' names are in lower case.
        """
        cdp, frame = tab.cdp, tab.main_frame_id
        if frame is None or not url.startswith(("http://", "https://")):
            return "", {}
        check_url(url, self._session.settings)
        options = {"disableCache": False, "includeCredentials": True}
        answer = await send(cdp, "Network.loadNetworkResource", frameId=frame, url=url, options=options)
        resource = answer["resource"]
        if not resource["success"] or "stream" not in resource:
            return "", {}
        chunks: list[bytes] = []
        while sum(map(len, chunks)) < LARGEST:
            chunk = await send(cdp, "IO.read", handle=resource["stream"], size=CHUNK)
            data = str(chunk["data"])
            chunks.append(base64.b64decode(data) if chunk.get("base64Encoded") else data.encode())
            if chunk["eof"]:
                break
        await send(cdp, "IO.close", handle=resource["stream"])
        headers = {str(name).lower(): str(value) for name, value in resource.get("headers", {}).items()}
        return b"".join(chunks).decode("utf-8", "replace"), headers


def parse_map(text: str) -> dict[str, Any] | None:
    """A source map, or None if it is none. Raises ValueError: it is not JSON."""
    # A first line may prevent it from being run as a script.
    value: Any = json.loads(text.partition("\n")[2] if text.startswith(")]}'") else text)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _originals(source_map: dict[str, Any], places: list[Location]) -> dict[Location, Location]:
    by_position = {(place.line - 1, place.column - 1): place for place in places}
    try:
        return {by_position[position]: place for position, place in look_up(source_map, set(by_position))}
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}  # A malformed map is ignored.


def look_up(source_map: dict[str, Any], positions: set[Position]) -> Iterator[tuple[Position, Location]]:
    """The positions in the sources for positions in the script that the map has."""
    whole = {"offset": {"line": 0, "column": 0}, "map": source_map}
    sections: list[dict[str, Any]] = source_map.get("sections") or [whole]
    starts = [(int(section["offset"]["line"]), int(section["offset"]["column"])) for section in sections]
    for section, start, end in zip(sections, starts, [*starts[1:], (2**31, 0)], strict=True):
        inside = {
            (line - start[0], column - start[1] if line == start[0] else column): (line, column)
            for line, column in positions
            if start <= (line, column) < end
        }
        part: dict[str, Any] = section.get("map") or {}
        if inside and isinstance(part.get("mappings"), str):
            for position, place in _look_up(part, set(inside)):
                yield inside[position], place


def _look_up(source_map: dict[str, Any], positions: set[Position]) -> Iterator[tuple[Position, Location]]:
    """The same for a map without sections: the last mapping before a position in its line counts."""
    root = str(source_map.get("sourceRoot") or "")
    root = f"{root.rstrip('/')}/" if root else ""
    sources = [f"{root}{source}" for source in source_map["sources"]]
    wanted: dict[int, list[int]] = {}
    for line, column in positions:
        wanted.setdefault(line, []).append(column)
    last = max(wanted)
    deadline = time.monotonic() + DECODING_SECONDS
    # Each number is a difference to the one before, so that all mappings before have to be read.
    source = line_of_source = column_of_source = 0
    for line, mappings in enumerate(source_map["mappings"].split(";", last + 1)[: last + 1]):
        column = 0
        asked = wanted.get(line, [])
        best: dict[int, tuple[int, int, int] | None] = {}
        for text in filter(None, mappings.split(",")):
            numbers = decode_vlq(text)
            column += numbers[0]
            original = None
            if len(numbers) >= WITH_SOURCE:
                source += numbers[1]
                line_of_source += numbers[2]
                column_of_source += numbers[3]
                original = (source, line_of_source, column_of_source)
            best |= dict.fromkeys([at for at in asked if column <= at], original)
            if line == last and column > max(asked):
                break
            if time.monotonic() > deadline:
                return
        for at, original in best.items():
            if original is not None and 0 <= original[0] < len(sources):
                yield (line, at), Location(sources[original[0]], original[1] + 1, original[2] + 1)


def decode_vlq(text: str) -> list[int]:
    """The numbers of a segment in Base64 VLQ: five bits a digit, the lowest bit a sign. Raises ValueError."""
    numbers: list[int] = []
    value = shift = 0
    for character in text:
        if (digit := _DIGITS.get(character)) is None:
            raise ValueError(f"{character!r} is no digit of a source map")
        value += (digit & 31) << shift
        shift += 5
        if not digit & 32:
            numbers.append(-(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    if shift or not numbers:
        raise ValueError("a segment of a source map ends too early")
    return numbers


def _data(address: str) -> str:
    head, _, content = address.partition(",")
    raw = unquote_to_bytes(content)
    return (base64.b64decode(raw) if head.endswith(";base64") else raw).decode("utf-8", "replace")
