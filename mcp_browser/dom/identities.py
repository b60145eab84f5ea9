"""Elements by what they can be found again by, on a page that may have changed since."""

from collections.abc import Mapping
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import Field

from mcp_browser.dom.frames import Frames, FrameState
from mcp_browser.dom.keys import Ask
from mcp_browser.dom.models import DomNode, Frozen
from mcp_browser.dom.references import References
from mcp_browser.errors import NotFound
from mcp_browser.text import quoted

MatchLevel = Literal["exact", "attributes", "role", "text"]  # By what an element was found again
LEVELS: tuple[MatchLevel, ...] = get_args(MatchLevel)


class ElementRecord(Frozen):
    """An element as it was when it was acted on, by what it can be found again.

    `argument` is the place of its index or point among the action's arguments, such as `index` or
    `fields.0.index`. `attributes` are those that tend to stay (id, name, type, href, data-testid, aria-label,
    placeholder, …). `context` is the text around it, `twins` how many others had its role and name, `places`
    which it was of those that shared an attribute with it, counted from 0. `path` is a CSS path from its
    document's root, ` >> ` leading into a shadow tree; `frames` are such paths of the frames around it from
    the outermost on, `frame` the address of its frame where that is not the page. `x`, `y`, `width` and
    `height` are its box in CSS pixels of the view; `point` is a given point in it, in parts of its sides.
    """

    index: int
    argument: str = "index"
    role: str = ""
    name: str = ""
    tag: str = ""
    attributes: dict[str, str] = Field(default_factory=dict)
    text: str = ""
    context: str = ""
    twins: int = 0
    places: dict[str, int] = Field(default_factory=dict)
    path: str = ""
    frames: tuple[str, ...] = ()
    frame: str | None = None
    x: float = 0
    y: float = 0
    width: float = 0
    height: float = 0
    point: tuple[float, float] | None = None

    def __str__(self) -> str:
        return f"{self.role or self.tag or 'element'} {quoted(self.name or self.text)}"


def element_record(index: int, answer: Mapping[str, Any], frames: tuple[str, ...]) -> ElementRecord:
    """The record of an element, as the page script describes it, in the frames with these paths."""
    box = dict(zip(("x", "y", "width", "height"), (round(size, 1) for size in answer["box"]), strict=True))
    frame = answer["url"] if frames else None
    return ElementRecord.model_validate({**answer, **box, "index": index, "frames": frames, "frame": frame})


class Located(Frozen):
    """A recorded element, found again."""

    level: MatchLevel
    node: DomNode


class Identities:
    """Records elements of one page, and finds recorded ones."""

    def __init__(self, frames: Frames, references: References, ask: Ask) -> None:
        """Work on the page of `frames`; `ask` puts a question about an element, raises where it is gone."""
        self._frames = frames
        self._references = references
        self._ask = ask

    async def record(self, index: int) -> ElementRecord:
        """What the element of an index can be found again by; raises NotFound, StaleElement."""
        ref = self._references[index]
        answer = await self._ask(ref, "record", ref.id)
        x, y, width, height = answer["box"]
        for parent, owner in reversed(self._frames.way_to(ref.world)):
            at = await parent.world.run("framePoint", owner, x, y, "read")
            if "problem" not in at:
                x, y, width, height = at["x"], at["y"], width * at["scale"], height * at["scale"]
        paths = await self._frames.paths_to(ref.world)
        return element_record(index, {**answer, "box": (x, y, width, height)}, paths)

    async def locate(self, record: ElementRecord) -> Located:
        """The element of a record, first in its own frame. Raises NotFound: none, or several alike."""
        wanted = record.model_dump(
            include={"role", "name", "tag", "attributes", "text", "context", "twins", "path"}
        )
        found: list[tuple[bool, int, FrameState, dict[str, Any]]] = []
        main = await self._frames.main()
        async for frame, answer in self._frames.each("locate", wanted):
            if answer["level"] != "none":
                is_own = frame is main
                if record.frame is not None:
                    is_own = not is_own and urlsplit(record.frame)[:3] == urlsplit(str(answer["url"]))[:3]
                found.append((not is_own, LEVELS.index(answer["level"]), frame, answer))
        if not found:
            raise NotFound(f"Nothing on the page is like {record}.")
        rank = min(entry[:2] for entry in found)
        best = [entry for entry in found if entry[:2] == rank]
        count = sum(answer["count"] for *_, answer in best)
        if count > 1:
            raise NotFound(f"{count} elements fit {record} equally well, and nothing tells them apart.")
        _, level, frame, answer = best[0]
        node = self._references.shown(answer["node"], frame.world, answer["doc"])
        return Located(level=LEVELS[level], node=node)
