"""What an input will act on, in frames too, for rules about elements."""

from collections.abc import Awaitable, Callable
from typing import Any

from mcp_browser.dom.frame_tree import FrameState
from mcp_browser.dom.frames import MOST_NESTED_FRAMES, Frames
from mcp_browser.dom.keys import KeyTargets, key_place, targets_of
from mcp_browser.dom.references import ID, ElementRef
from mcp_browser.policy import Target

Ask = Callable[..., Awaitable[dict[str, Any]]]  # Takes an element, a method of the page script, its arguments


class TargetReader:
    """Tells what input acts on: the element there, and the controls around it that hear of it."""

    def __init__(self, frames: Frames, ask: Ask) -> None:
        self._frames = frames
        self._ask = ask

    async def at(self, x: float, y: float) -> list[Target]:
        """What a mouse at a point of the view acts on; CSS pixels."""
        frame, found = await self._frames.main(), list[Target]()
        for _ in range(MOST_NESTED_FRAMES):
            answer = await frame.world.run("targetsAt", x, y)
            found += targets_of(answer)
            if not answer["frame"]:
                return found
            inner = await self._within(frame, answer["node"][ID])
            if inner is None:
                break
            origin = await frame.world.run("framePoint", answer["node"][ID], 0, 0, "read")
            if "problem" in origin:
                break
            x, y = (x - origin["x"]) / origin["scale"], (y - origin["y"]) / origin["scale"]
            frame = inner
        return [*found, await self._unknown()]

    async def of_keys(self, *, enter: bool, letter: str = "") -> KeyTargets:
        """What keys act on and where that is: with Enter among them, and a letter pressed with Alt."""
        frame, found = await self._frames.main(), list[Target]()
        for _ in range(MOST_NESTED_FRAMES):
            answer = await frame.world.run("targetsOfKeys", enter, letter)
            found += targets_of(answer)
            if not answer["frame"]:
                return KeyTargets(found or [Target(**answer["whose"])], key_place(frame.world, answer))
            inner = await self._within(frame, answer["node"][ID])
            if inner is None:
                break
            frame = inner
        return KeyTargets([*found, await self._unknown()], None)

    async def of(self, ref: ElementRef, *, enter: bool = False) -> list[Target]:
        """What acting on an element acts on; with `enter`, pressing Enter in it as well.

        Raises:
            StaleElement: it is gone.
        """
        answer = await self._ask(ref, "targetsOf", ref.id, enter)
        return targets_of(answer)

    async def page(self) -> Target:
        """The page as a whole."""
        return Target(**await (await self._frames.main()).world.run("whose"))

    async def _within(self, frame: FrameState, owner: int) -> FrameState | None:
        await self._frames.meet(frame, [owner])
        return frame.children.get(owner)

    async def _unknown(self) -> Target:
        """What is in a frame that cannot be asked."""
        page = await self.page()
        return page.model_copy(update={"role": "iframe", "origin": "null", "unknown": True})
