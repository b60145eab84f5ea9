"""Typing that goes only where it was checked to go: a page may move the focus between the check and a key."""

import re
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from playwright.async_api import Keyboard

from mcp_browser.dom.keys import HeldKeys, KeyPlace
from mcp_browser.dom.service import DomService
from mcp_browser.errors import NotActionable

T = TypeVar("T")

KEYS_HELD = 20  # How many keys go at most before it is looked where they went
_PIECE = re.compile(f"[ -~]{{1,{KEYS_HELD}}}|.", re.DOTALL)  # Characters with a key of their own, or one
_HAS_KEY = re.compile("[ -~]")
_ENTER = frozenset("\n\r")

HINT = "Look with get_state, then name the field by its index (input_text)."


class TypingRule(Protocol):
    """Where a text may go that the caller has checked."""

    def check(self, place: KeyPlace | None, text: str) -> None:
        """Return if this text may be typed there (None: nobody knows where); else raise NotActionable."""

    def is_confidential(self, text: str) -> bool:
        """Whether no other document may hear a single key of it."""
        ...


class _Tab(Protocol):
    dom: DomService

    @property
    def held(self) -> bool: ...

    async def ask(self, work: Awaitable[T], *, limit: float | None = None) -> T: ...


class _Check(Protocol):
    async def __call__(self, *, enter: bool = False, letter: str = "") -> KeyPlace | None:
        """Ask the gate for what keys come to; where that is."""
        ...


class HeldTyping:
    """Types in one tab, each key where the check of it has looked, or nowhere.

    Keys are held to the element that was looked at: in every frame, before the page hears of them. Where the
    focus moves of them, as in boxes that take one character each, the rest is checked anew. What is
    confidential goes without keys: it is put in by a script that runs in the very document.

    Each method raises NotActionable where the focus has moved to where the rest may not go, and tells how
    much went.
    """

    def __init__(
        self,
        tab: _Tab,
        *,
        keys: Callable[[], Keyboard],
        rule: Callable[[], TypingRule | None],
        check: _Check,
        act: Callable[[Awaitable[object]], Awaitable[None]],
    ) -> None:
        """Type by `keys`; `rule` is that of the action under way; `check` asks the gate, `act` acts."""
        self._tab = tab
        self._keys = keys
        self._rule = rule
        self._check = check
        self._act = act

    async def type(self, text: str, *, singly: bool) -> None:
        """Type a text; `singly` asks the gate before every key."""
        done, in_vain = 0, False
        while done < len(text) and not self._tab.held:
            found = _PIECE.match(text, done)
            assert found is not None
            piece = found[0][:1] if singly else found[0]
            enter = piece in _ENTER
            place = await self._place(text, done, enter=enter)
            if not enter and self._is_confidential(text):
                line = re.split("[\n\r]", text[done:], maxsplit=1)[0]
                await self._put(line, place, before=done)
                done += len(line)
                continue
            held = await self._hold(place, self._keys().type(piece))
            if self._tab.held or (held.gone and enter):
                done += len(piece)
                continue
            came = min(len(piece), held.keys if enter or _HAS_KEY.match(piece) else held.inputs)
            done += came
            if came < len(piece) and (held.gone or not held.strayed or (in_vain and not came)):
                raise _moved(done)
            in_vain = not came

    async def press(self, keys: str, *, enter: bool, letter: str) -> None:
        """Press a key or a combination, as Playwright writes them."""
        place = await self._place(keys, 0, enter=enter, letter=letter)
        held = await self._hold(place, self._keys().press(keys))
        if held.strayed:
            raise _moved(0)

    async def insert(self, text: str) -> None:
        """Put in a text at once."""
        place = await self._place(text, 0)
        if self._is_confidential(text):
            await self._put(text, place, before=0)
        elif (await self._hold(place, self._keys().insert_text(text))).strayed:
            raise _moved(0)

    def _is_confidential(self, text: str) -> bool:
        rule = self._rule()
        return rule is not None and rule.is_confidential(text)

    async def _place(self, text: str, done: int, *, enter: bool = False, letter: str = "") -> KeyPlace:
        place = await self._check(enter=enter, letter=letter)
        rule = self._rule()
        if rule is not None:
            try:
                rule.check(place, text)
            except NotActionable as error:
                raise _moved(done) from error
        if place is None:
            raise NotActionable("The frame that has the keyboard cannot be asked.", hint="Name an index.")
        return place

    async def _put(self, text: str, place: KeyPlace, *, before: int) -> None:
        put = self._tab.ask(self._tab.dom.keys.put(place, text))
        await self._act(_nothing())
        result = await put
        if result.done < len(text):
            if not result.moved:
                raise NotActionable("What has the keyboard takes no text.", hint=HINT)
            raise _moved(before + result.done)

    async def _hold(self, place: KeyPlace, work: Awaitable[object]) -> HeldKeys:
        keys = self._tab.dom.keys
        await self._tab.ask(keys.hold(place))
        await self._act(work)
        if self._tab.held:
            return HeldKeys(gone=True)
        return await self._tab.ask(keys.release(place))


async def _nothing() -> None:
    """Input that is a script's."""


def _moved(done: int) -> NotActionable:
    so_far = f"The first {done} characters were typed" if done else "Nothing was typed"
    return NotActionable(f"The focus moved away from where the text was to go. {so_far}.", hint=HINT)
