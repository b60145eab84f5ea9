"""The frames of a page: which there are, where they stand, and how to ask all of them."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Literal

from playwright.async_api import Page

from mcp_browser.dom.readings import FrameState
from mcp_browser.dom.worlds import FrameGone, IsolatedWorlds, MainWorlds, World, Worlds

MOST_NESTED_FRAMES = 6

Way = list[tuple[FrameState, int]]  # The outermost frame first, each with its element to step into


class Frames:
    """The frames of one page."""

    def __init__(self, page: Page, channel: str, worlds: Literal["isolated", "main"] | None = None) -> None:
        """Serve a page; its script runs apart from it where the browser can, unless `worlds` says where."""
        self._page = page
        self._channel = channel
        self._kind = worlds
        self._worlds: Worlds | None = None
        self._main: FrameState | None = None

    async def main(self) -> FrameState:
        """The main frame."""
        if self._main is None:
            self._main = FrameState(world=await (await self._all_worlds()).main())
        return self._main

    async def _all_worlds(self) -> Worlds:
        if self._worlds is None:
            browser = self._page.context.browser
            able = browser is None or browser.browser_type.name == "chromium"
            apart = able if self._kind is None else self._kind == "isolated"
            self._worlds = (IsolatedWorlds if apart else MainWorlds)(self._page, self._channel)
        return self._worlds

    async def each(self, method: str, *args: Any) -> AsyncIterator[tuple[FrameState, dict[str, Any]]]:
        """The answers of all frames that can be seen, each frame before those within it."""
        rest = [await self.main()]
        depth = {id(rest[0]): 0}
        while rest:
            frame = rest.pop(0)
            try:
                if frame is self._main:
                    answer = await frame.world.run(method, *args)
                else:
                    async with asyncio.timeout(frame.patience):
                        answer = await frame.world.run(method, *args)
                frame.silent = False
                yield frame, answer
                stands = [owner for owner, *_ in answer.get("frames", [])]
                if stands and depth[id(frame)] < MOST_NESTED_FRAMES:
                    await self.meet(frame, stands)
            except FrameGone:
                continue
            except TimeoutError:
                frame.silent = True
                continue
            within = [frame.children[owner] for owner in stands if owner in frame.children]
            depth |= {id(child): depth[id(frame)] + 1 for child in within}
            rest[:0] = within

    async def meet(self, frame: FrameState, ids: Sequence[int]) -> None:
        """Find the worlds of frames that have not been met yet."""
        unknown = [owner for owner in ids if owner not in frame.children]
        if not unknown:
            return
        worlds = await self._all_worlds()
        for owner, world in (await worlds.within(frame.world, unknown)).items():
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
