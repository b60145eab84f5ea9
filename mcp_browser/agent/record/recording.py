"""What is kept of an action beside its arguments: the elements they mean, and a picture for people."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import anyio.to_thread
from playwright.async_api import Error as PlaywrightError

from mcp_browser.actions.coordinates import Coordinates, parse_coordinates
from mcp_browser.actions.screenshots import view_size
from mcp_browser.browser.pictures import make_picture
from mcp_browser.browser.session import BrowserSession
from mcp_browser.dom.identities import ElementRecord
from mcp_browser.dom.worlds import FrameGone
from mcp_browser.errors import ActionError
from mcp_browser.llm.messages import ImageBlock

INDEX_ARGUMENTS = frozenset({"index", "target"})
POINT_ARGUMENTS = frozenset({"at", "start", "end"})

SHOT_SIDE = 800  # Longest side of a picture for people, pixels
SHOT_QUALITY = 60

RECORDING_SECONDS = 2.0  # How long a page may take to tell of one element
_UNKNOWN = (ActionError, PlaywrightError, FrameGone)  # What cannot be asked has no record


def element_arguments(arguments: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The arguments that mean elements, by their places: `index`, `target`, `at`, `fields.0.index`."""
    for name, value in arguments.items():
        if (name in INDEX_ARGUMENTS and isinstance(value, int)) or (
            name in POINT_ARGUMENTS and isinstance(value, str)
        ):
            yield prefix + name, value
        elif isinstance(value, list):
            for number, part in enumerate(cast("list[object]", value)):
                if isinstance(part, dict):
                    yield from element_arguments(cast("dict[str, Any]", part), f"{prefix}{name}.{number}.")


def place_of(arguments: Mapping[str, Any], argument: str) -> tuple[Any, str]:
    """What holds such an argument, and its name in there."""
    holder: Any = arguments
    *way, last = argument.split(".")
    for step in way:
        holder = holder[int(step)] if step.isdigit() else holder[step]
    return holder, last


async def record_elements(
    session: BrowserSession, arguments: Mapping[str, Any], *, hide: Callable[[Any], Any]
) -> tuple[ElementRecord, ...]:
    """The elements that an action's arguments mean now, as far as is told; the caller holds the session."""
    records: list[ElementRecord] = []
    for argument, value in element_arguments(arguments):
        try:
            tab = session.current_tab
            work = tab.dom.identities.record(value) if isinstance(value, int) else _at_point(session, value)
            record = await tab.ask(work, limit=RECORDING_SECONDS)
        except _UNKNOWN:
            continue
        if record is not None:
            told = record.model_copy(update={"argument": argument})
            records.append(ElementRecord.model_validate(hide(told.model_dump(mode="json"))))
    return tuple(records)


async def _at_point(session: BrowserSession, point: str) -> ElementRecord | None:
    tab = session.current_tab
    coordinates: Coordinates = parse_coordinates(point)
    x, y = coordinates.in_view(await view_size(tab), shown=session.shown_picture)
    hit = await tab.dom.at_point(x, y)
    if hit is None or hit.node.index is None:
        return None
    record = await tab.dom.identities.record(hit.node.index)
    if record.width <= 0 or record.height <= 0:
        return None
    at = (round((x - record.x) / record.width, 4), round((y - record.y) / record.height, 4))
    return record.model_copy(update={"point": at})


async def small_picture(session: BrowserSession) -> ImageBlock | None:
    """A small JPEG of the view; None where none can be taken now."""
    async with session.lock:
        try:
            shot = await session.current_tab.screenshot(kind="jpeg")
        except _UNKNOWN:
            return None
    picture = await anyio.to_thread.run_sync(
        lambda: make_picture(shot, format="jpeg", quality=SHOT_QUALITY, max_side=SHOT_SIDE)
    )
    return ImageBlock(
        data=picture.data, mime_type=picture.mime_type, width=picture.width, height=picture.height
    )
