"""The frames of a page: which there are, where they stand, and how to ask all of them."""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Page

from mcp_browser.dom.deadlines import within
from mcp_browser.dom.frame_tree import FrameState
from mcp_browser.dom.sent_secrets import SentSecrets
from mcp_browser.dom.worlds import FrameGone, World, Worlds

MOST_NESTED_FRAMES = 6

Way = list[tuple[FrameState, int]]  # The outermost frame first, each with its element to step into


@dataclass(frozen=True, slots=True)
class Missed:
    """A frame that was not asked or gave no answer: the one around it, its element there, and why."""

    parent: FrameState
    owner: int
    why: str


class Frames:
    """The frames of one page."""

    def __init__(self, page: Page, channel: str, sent: SentSecrets | None = None) -> None:
        self._worlds = Worlds(page, channel, sent)
        self._main: FrameState | None = None

    async def main(self) -> FrameState:
        """The main frame."""
        if self._main is None:
            self._main = FrameState(world=await self._worlds.main())
        return self._main

    async def each(
        self, method: str, *args: Any, missed: list[Missed] | None = None
    ) -> AsyncIterator[tuple[FrameState, dict[str, Any]]]:
        """The answers of all frames that can be seen, each frame before those within it.

        Frames that gave none are added to `missed`.

        Raises:
            FrameGone: the page goes to other addresses while it is asked.
        """
        missed = [] if missed is None else missed
        main = await self.main()
        answer = await main.world.run(method, *args)
        main.silent = False
        yield main, answer
        stands = _stands(answer)
        await self.meet(main, stands)
        rest = [(main, owner, 1) for owner in stands]
        while rest:
            parent, owner, depth = rest.pop(0)
            if depth > MOST_NESTED_FRAMES:
                missed.append(Missed(parent, owner, "is nested too deep"))
                continue
            try:
                frame, answer = await self._ask_within(parent, owner, method, args)
            except FrameGone:
                missed.append(Missed(parent, owner, "is still loading"))
                continue
            except TimeoutError:
                missed.append(Missed(parent, owner, "does not answer: its script is busy"))
                continue
            yield frame, answer
            stands = _stands(answer)
            if stands and depth < MOST_NESTED_FRAMES:
                with contextlib.suppress(FrameGone):
                    await self.meet(frame, stands)
            rest[:0] = [(frame, inner, depth + 1) for inner in stands]

    async def _ask_within(
        self, parent: FrameState, owner: int, method: str, args: tuple[Any, ...]
    ) -> tuple[FrameState, dict[str, Any]]:
        """The frame that stands in an element, and its answer; one in another process is met anew."""
        for _ in range(2):
            await self.meet(parent, [owner])
            frame = parent.children.get(owner)
            if frame is None:
                break
            asked = frame.world.run(method, *args)
            try:
                answer: dict[str, Any] = await within(asked, _deadline_of(frame))
            except TimeoutError:
                frame.silent = True
                raise
            except FrameGone:
                parent.children.pop(owner, None)
                continue
            frame.silent = False
            return frame, answer
        raise FrameGone

    async def meet(self, frame: FrameState, ids: Sequence[int]) -> None:
        """Find the worlds of frames that have not been met yet."""
        unknown = [owner for owner in ids if owner not in frame.children]
        if not unknown:
            return
        for owner, world in (await self._worlds.within(frame.world, unknown)).items():
            frame.children[owner] = FrameState(world=world)

    def known(self) -> Iterator[tuple[FrameState, Way]]:
        """The frames met so far, each with the frames around it and the elements one enters them by."""
        rest: list[tuple[FrameState, Way]] = []
        if self._main is not None:
            rest.append((self._main, []))
        while rest:
            frame, way = rest.pop()
            yield frame, way
            rest += [(child, [*way, (frame, owner)]) for owner, child in frame.children.items()]

    def way_to(self, world: World) -> Way:
        """The way to a world that has been met."""
        for frame, way in self.known():
            if frame.world is world:
                return way
        return []


def _stands(answer: dict[str, Any]) -> list[int]:
    """The elements that an answer says frames stand in."""
    return [owner for owner, *_ in answer.get("frames", [])]


def _deadline_of(frame: FrameState) -> Callable[[], float]:
    return lambda: frame.deadline
