"""Where on a page texts can be seen that must not be."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Error as PlaywrightError

from mcp_browser.dom.frames import MOST_NESTED_FRAMES, Frames
from mcp_browser.dom.models import Frozen
from mcp_browser.dom.patience import within
from mcp_browser.dom.readings import FrameState
from mcp_browser.dom.worlds import FrameGone, IsolatedWorld, World
from mcp_browser.errors import ActionError

MOST_LOOKS = 8  # How often a document is looked at for closed shadow roots; each look finds some of them


class Cover(Frozen):
    """A box to cover, in CSS pixels from the corner of the layout; `pinned` does not scroll with the page."""

    x: float
    y: float
    width: float
    height: float
    pinned: bool = False


class Covers(Frozen):
    """What to cover on a picture, and how the page lies in it.

    `scroll` is how far the page is scrolled, `page` the size of all of it, `view` the left, top, width and
    height of what is seen of the layout; all in CSS pixels.
    """

    boxes: tuple[Cover, ...]
    scroll: tuple[float, float]
    page: tuple[float, float]
    view: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Shot:
    """A screenshot as the browser took it, and what nobody may see on it.

    `covers` is what to cover, as it was before and after. `clip` is left, top, width and height of the part
    that it shows, CSS pixels; `full_page` says that it shows the page, not the view.
    """

    raw: bytes
    covers: tuple[Covers, ...] = ()
    full_page: bool = False
    clip: tuple[float, float, float, float] | None = None


async def find_covers(frames: Frames, values: Sequence[str]) -> Covers:
    """The boxes of what shows one of these texts, in all frames. A frame that does not tell is one box."""
    main = await frames.main()
    answer = await _covers(main.world, values)
    boxes: list[Cover] = []
    await _add(frames, main, answer, values, (0.0, 0.0, 1.0, False), MOST_NESTED_FRAMES, boxes)
    return Covers(boxes=tuple(boxes), scroll=answer["scroll"], page=answer["page"], view=answer["view"])


async def _covers(world: World, values: Sequence[str]) -> dict[str, Any]:
    """What one document answers, closed shadow roots that came with its HTML included."""
    answer: dict[str, Any] = {}
    for _ in range(MOST_LOOKS):
        answer = await world.run("covers", list(values))
        hosts = answer["hosts"]
        if not hosts or not isinstance(world, IsolatedWorld):
            break
        await world.open_hosts(hosts)
    return answer


async def _add(  # noqa: PLR0913, PLR0917 - one frame, and where it is
    frames: Frames,
    frame: FrameState,
    answer: dict[str, Any],
    values: Sequence[str],
    place: tuple[float, float, float, bool],
    depth: int,
    into: list[Cover],
) -> None:
    left, top, scale, pinned = place
    main = await frames.main()

    def cover(x: float, y: float, width: float, height: float, *, fixed: bool) -> Cover:
        return Cover(
            x=left + x * scale,
            y=top + y * scale,
            width=width * scale,
            height=height * scale,
            # What is fixed in a frame goes where the frame goes.
            pinned=fixed if frame is main else pinned,
        )

    into += [cover(*box, fixed=fixed) for *box, fixed in answer["boxes"]]
    owners = [owner for owner, *_ in answer["frames"]]
    await frames.meet(frame, owners)
    for owner, *box, is_frame in answer["frames"]:
        child = frame.children.get(owner)
        told = await _ask(child, values) if child is not None and depth > 0 else None
        at = await frame.world.run("framePoint", owner, 0, 0, "read")
        if child is None or told is None or "problem" in at:
            if is_frame or child is not None:
                into.append(cover(*box, fixed=False))
            continue
        inner = (left + at["x"] * scale, top + at["y"] * scale, scale * at["scale"], pinned)
        await _add(frames, child, told, values, inner, depth - 1, into)


async def _ask(frame: FrameState, values: Sequence[str]) -> dict[str, Any] | None:
    try:
        return await within(_covers(frame.world, values), lambda: frame.patience)
    except (TimeoutError, FrameGone, ActionError, PlaywrightError):
        frame.silent = True
        return None
