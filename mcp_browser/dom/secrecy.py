"""Where on a page texts can be seen that must not be."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Error as PlaywrightError

from mcp_browser.dom.cdp import within
from mcp_browser.dom.frames import MOST_NESTED_FRAMES, Frames, FrameState, stands_of
from mcp_browser.dom.worlds import FrameGone, World
from mcp_browser.errors import ActionError
from mcp_browser.privacy.pictures import Cover, Covers

MOST_LOOKS = 8  # How often a document is looked at for closed shadow roots; each look finds some of them


async def find_covers(frames: Frames, values: Sequence[str], *, fields: bool = False) -> Covers:
    """The boxes of what shows one of these texts, in all frames. A frame that does not answer is one box.

    With `fields`, also of what secret fields hold.
    """
    main = await frames.main()
    search = _Search(frames, values, fields)
    answer = await search.covers(main.world)
    boxes = await search.boxes(main, answer, (0.0, 0.0, 1.0, False), MOST_NESTED_FRAMES)
    return Covers.model_validate({**answer, "boxes": boxes, "document": answer["doc"]})


@dataclass(frozen=True, slots=True)
class _Search:
    """What is looked for, and where."""

    frames: Frames
    values: Sequence[str]
    fields: bool

    async def covers(self, world: World) -> dict[str, Any]:
        """What one document answers, closed shadow roots that came with its HTML included."""
        answer: dict[str, Any] = {}
        for _ in range(MOST_LOOKS):
            answer = await world.run("covers", list(self.values), self.fields)
            hosts = answer["hosts"]
            if not hosts:
                break
            await world.open_hosts(hosts)
        return answer

    async def boxes(
        self, frame: FrameState, answer: dict[str, Any], place: tuple[float, float, float, bool], depth: int
    ) -> list[Cover]:
        """The boxes in a frame that has answered, and in those within it."""
        left, top, scale, pinned = place

        def cover(x: float, y: float, width: float, height: float, *, fixed: bool) -> Cover:
            return Cover(
                x=left + x * scale,
                y=top + y * scale,
                width=width * scale,
                height=height * scale,
                # What is fixed in a frame goes where the frame goes.
                pinned=fixed if frame.world.is_main else pinned,
            )

        found = [cover(*box, fixed=fixed) for *box, fixed in answer["boxes"]]
        owners = stands_of(answer)
        await self.frames.meet(frame, owners)
        children = [frame.children.get(owner) for owner in owners]
        answers = await asyncio.gather(*(self._ask(child, depth) for child in children))
        for (owner, *box, is_frame), child, inner in zip(answer["frames"], children, answers, strict=True):
            if inner is not None and not inner["boxes"] and not inner["frames"]:
                continue
            at = await frame.world.run("framePoint", owner, 0, 0, "read")
            if child is None or inner is None or "problem" in at:
                if is_frame or child is not None:
                    found.append(cover(*box, fixed=False))
                continue
            place = (left + at["x"] * scale, top + at["y"] * scale, scale * at["scale"], pinned)
            found += await self.boxes(child, inner, place, depth - 1)
        return found

    async def _ask(self, child: FrameState | None, depth: int) -> dict[str, Any] | None:
        if child is None or depth <= 0:
            return None
        try:
            return await within(self.covers(child.world), child.deadline)
        except (TimeoutError, FrameGone, ActionError, PlaywrightError):
            child.silent = True
            return None
