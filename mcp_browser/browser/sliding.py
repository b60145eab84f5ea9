"""Moving sliders and the like to a value: by keys, else by the mouse."""

import re

import anyio

from mcp_browser.browser.input import Input
from mcp_browser.browser.page import TabPage
from mcp_browser.dom.models import Frozen
from mcp_browser.errors import NotActionable

FOLLOWING_SECONDS = 0.3  # How long a slider may take to react to a key or the mouse
POLL_SECONDS = 0.02
STILL_SECONDS = 0.05  # For so long a value must stay the same to count
MOST_SETTLING_SECONDS = 2.0
MOST_PRESSED = 40  # If more key presses are needed, the mouse is used first
MOST_MOVES = 12
MOST_STOPS = 60  # How many values are tried to find a named one
ARROWS = (("ArrowRight", "ArrowLeft"), ("ArrowUp", "ArrowDown"))
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class Scale(Frozen):
    """A slider's value and scale; `start` and `length` are its track's, from its middle."""

    now: float | None = None
    min: float | None = None
    max: float | None = None
    text: str = ""
    vertical: bool = False
    start: float = 0.0
    length: float = 0.0
    isTrack: bool = False  # noqa: N815 - as the page script writes it

    @property
    def value(self) -> float:
        return self.now or 0.0

    @property
    def least(self) -> float:
        return self.min or 0.0

    @property
    def most(self) -> float:
        return self.least + 100 if self.max is None else self.max

    def is_at(self, other: "Scale") -> bool:
        """Whether the value, and what it is called, are the same."""
        return (self.value, self.text) == (other.value, other.text)

    def __str__(self) -> str:
        bounds = (("at least", self.min), ("at most", self.max))
        return "".join(f", {name} {bound:g}" for name, bound in bounds if bound is not None)


class Slider:
    """An element that has its value in `aria-valuenow`."""

    def __init__(self, tab: TabPage, input: Input, index: int) -> None:
        self._tab = tab
        self._input = input
        self._index = index

    async def move_to(self, text: str) -> tuple[Scale, bool]:
        """Move it to a number or a named value; its value, and whether that is it. Raises NotActionable."""
        found = NUMBER.search(text.replace(",", ""))
        if found is None:
            return await self._to_text(text), True
        wanted, first = float(found[0]), await self._read()
        keys = await self._keys(wanted)
        at = await self._read()
        if keys is None or abs(at.value - wanted) > MOST_PRESSED * abs(at.value - first.value):
            try:
                await self._drag(wanted)
            except NotActionable:
                # What the mouse cannot reach is left to the keys.
                if keys is None:
                    raise
        if keys is not None:
            await self._by_keys(wanted, keys)
        ended = await self._read()
        at = await self._settled(ended)
        if keys is not None and at.value not in (wanted, ended.value):
            # Some presses had their effect late.
            await self._by_keys(wanted, keys)
            at = await self._settled(at)
        if at.value == first.value != min(max(wanted, at.least), at.most):
            raise NotActionable(
                f"Neither keys nor the mouse move it from {at.value:g}{at}.",
                hint="Drag its handle with drag_element.",
            )
        return at, at.value == wanted

    async def _to_text(self, text: str) -> Scale:
        said: list[str] = []
        await self._press("Home")
        for _ in range(MOST_STOPS):
            at = await self._read()
            if at.text.casefold() == text.strip().casefold():
                return at
            if at.text in said:
                break
            said.append(at.text)
            await self._press(ARROWS[0][0])
        raise NotActionable(
            f'It takes a number and says "{text}" nowhere.', hint=f"It says {', '.join(said)}."
        )

    async def _keys(self, wanted: float) -> tuple[str, str] | None:
        """The keys that make its value more and less, None if none does; presses one of them."""
        before = await self._read()
        for more, less in ARROWS:
            towards = more if wanted > before.value else less
            if before.value == wanted or (after := await self._press(towards)) is None:
                continue
            nearer = abs(after.value - wanted) < abs(before.value - wanted)
            turned = (after.value - before.value) * (wanted - before.value) < 0
            return (more, less) if nearer or not turned else (less, more)
        return None

    async def _by_keys(self, wanted: float, keys: tuple[str, str]) -> None:
        step, at = 0.0, await self._read()
        for _ in range(MOST_MOVES):
            if at.value == wanted:
                return
            key = keys[0] if at.value < wanted else keys[1]
            times = max(1, min(int(abs(wanted - at.value) / step), MOST_PRESSED)) if step else 1
            after = await self._press(key, times)
            if after is None:
                return
            step = abs(after.value - at.value) / times
            if times == 1 and (after.value < wanted) != (at.value < wanted) and after.value != wanted:
                if abs(after.value - wanted) > abs(at.value - wanted):
                    await self._press(keys[1] if key == keys[0] else keys[0])
                return
            at = after

    async def _drag(self, wanted: float) -> None:
        """Move it by the mouse, correcting by the result of each move."""
        at = await self._read()
        scale = at.length / ((at.most - at.least) or 1.0)  # Pixels for one
        offset = at.start + (wanted - at.least) * scale
        for _ in range(MOST_MOVES // 2):
            ready = await self._tab.ask(self._tab.dom.ready(self._index, for_="drag"))
            way = offset if at.isTrack else (wanted - at.value) * scale
            x, y = (0.0, way) if at.vertical else (way, 0.0)
            if at.isTrack:
                await self._input.click(ready.x + x, ready.y + y)
            else:
                await self._input.move(ready.x, ready.y)
                await self._input.down()
                try:
                    await self._input.move(ready.x + x, ready.y + y, steps=4)
                finally:
                    await self._input.up()
            after = await self._following(at)
            if after is None or abs(after.value - wanted) >= abs(at.value - wanted) or after.value == wanted:
                return
            offset += (wanted - after.value) * scale
            at = after

    async def _press(self, key: str, times: int = 1) -> Scale | None:
        """Press a key; its value then, None if it has not changed."""
        before = await self._read()
        if not await self._tab.ask(self._tab.dom.call(self._index, "focus")):
            return None
        for _ in range(times):
            await self._input.press(key)
        return await self._following(before)

    async def _following(self, before: Scale) -> Scale | None:
        now = before
        with anyio.move_on_after(FOLLOWING_SECONDS):
            while True:
                if not (now := await self._read()).is_at(before):
                    break
                await anyio.sleep(POLL_SECONDS)
        after = before if now.is_at(before) else await self._settled(now)
        return None if after.is_at(before) else after

    async def _settled(self, last: Scale) -> Scale:
        """Its value once that has stayed the same between two reads: a component may draw it late."""
        with anyio.move_on_after(MOST_SETTLING_SECONDS):
            while True:
                await anyio.sleep(STILL_SECONDS)
                if (now := await self._read()).is_at(last):
                    break
                last = now
        return last

    async def _read(self) -> Scale:
        return Scale.model_validate(await self._tab.ask(self._tab.dom.call(self._index, "slider")))
