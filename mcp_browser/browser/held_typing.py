"""Typing that goes only where it was checked to go: a page may move the focus between the check and a key."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

import anyio
from playwright.async_api import CDPSession, Keyboard

from mcp_browser.browser.session_services import SessionServices
from mcp_browser.dom.cdp import send
from mcp_browser.dom.keys import HeldKeys, KeyHold, KeyPlace
from mcp_browser.dom.service import DomService
from mcp_browser.errors import NotActionable

T = TypeVar("T")

KEYS_HELD = 200  # How many keys go at most before it is looked where they went
_PIECE = re.compile(f"[ -~]{{1,{KEYS_HELD}}}|.", re.DOTALL)  # Characters with a key of their own, or one
_HAS_KEY = re.compile("[ -~]")
_ENTER = frozenset("\n\r")

HINT = "Look with get_state, then name the field by its index (input_text)."


class _Tab(Protocol):
    dom: DomService

    @property
    def cdp(self) -> CDPSession: ...

    @property
    def held(self) -> bool: ...

    async def ask(self, work: Awaitable[T], *, limit: float | None = None) -> T: ...


@dataclass(slots=True)
class Typed:
    """Where a text went: the first place and the last, and what that field holds, where that can be read."""

    first: KeyPlace | None = None
    last: KeyPlace | None = None
    field: dict[str, Any] | None = None


class HeldTyping:
    """Types in one tab, each key where the check of it has looked, or nowhere.

    Keys are held to the element that has the focus, in every frame, before the page hears of them. Where the
    focus moves of them, as in boxes that take one character each, the rest is checked anew; it goes into no
    other document, and into no field whose content nobody is to read, unless it was meant for one. What is
    confidential goes without keys: a script puts it in that runs in the very document. So does text where the
    page may hear of keys before they are checked.

    Each method raises NotActionable where the focus has moved to where the rest may not go, and says how much
    went.
    """

    def __init__(
        self,
        tab: _Tab,
        services: SessionServices,
        *,
        keys: Callable[[], Keyboard],
        act: Callable[[Awaitable[object]], Awaitable[None]],
    ) -> None:
        """Type by `keys`, past the gate and the rule of the action under way; `act` acts."""
        self._tab = tab
        self._keys = keys
        self._services = services
        self._act = act

    async def type(self, text: str, *, meant: KeyPlace | None = None) -> Typed:
        """Type a text.

        Args:
            text: the text; a line end presses Enter.
            meant: what it is meant for; None for what has the focus.
        """
        typed = Typed()
        done, in_vain = 0, False
        # Under a policy each key may move the focus to what it is about.
        singly = self._services.gate is not None
        while done < len(text) and not self._tab.held:
            found = _PIECE.match(text, done)
            assert found is not None
            piece = found[0][:1] if singly else found[0]
            enter = piece in _ENTER
            hold, typed.last = await self._hold(text, done, meant, enter=enter)
            typed.first = typed.first or typed.last
            meant = meant or typed.last
            if not enter and self._goes_without_keys(text, hold):
                line = re.split("[\n\r]", text[done:], maxsplit=1)[0]
                await self._put(line, hold, before=done, secret=meant.password)
                done += len(line)
                continue
            work = self._enter(hold, "Enter") if enter else self._act(self._keys().type(piece))
            held = await self._release(hold, work, read=done + len(piece) >= len(text))
            typed.field = dict(held.field) if held.field else None
            if self._tab.held or (held.gone and enter):
                done += len(piece)
                continue
            came = min(len(piece), held.keys if enter or _HAS_KEY.match(piece) else held.inputs)
            done += came
            if came < len(piece) and (held.gone or not held.strayed or (in_vain and not came)):
                raise _moved(done)
            in_vain = not came
        return typed

    async def press(self, keys: str, *, enter: bool, letter: str) -> None:
        """Press a key or a combination, as Playwright writes them."""
        hold, _ = await self._hold(keys, 0, None, enter=enter, letter=letter)
        work = (
            self._enter(hold, "Enter" if keys == "Enter" else "NumpadEnter")
            if keys in {"Enter", "NumpadEnter"}
            else self._act(self._keys().press(keys))
        )
        if (await self._release(hold, work)).strayed:
            raise _moved(0)

    async def insert(self, text: str, *, meant: KeyPlace | None = None) -> Typed:
        """Put in a text at once; `meant` as in `type`."""
        hold, place = await self._hold(text, 0, meant)
        typed = Typed(place, place)
        if self._goes_without_keys(text, hold):
            await self._put(text, hold, before=0, secret=place.password)
            return typed
        held = await self._release(hold, self._act(self._keys().insert_text(text)), read=True)
        if held.strayed:
            raise _moved(0)
        typed.field = dict(held.field) if held.field else None
        return typed

    @property
    def _is_ruled(self) -> bool:
        return self._services.gate is not None or self._services.typing_rule is not None

    def _is_confidential(self, text: str) -> bool:
        rule = self._services.typing_rule
        return rule is not None and rule.is_confidential(text)

    def _goes_without_keys(self, text: str, hold: KeyHold) -> bool:
        watched = hold.place is not None and hold.place.watched
        return self._is_confidential(text) or (not hold.first and (watched or self._is_ruled))

    async def _hold(
        self, text: str, done: int, meant: KeyPlace | None, *, enter: bool = False, letter: str = ""
    ) -> tuple[KeyHold, KeyPlace]:
        """Hold keys to where the rest of a text goes, and that place."""
        keys = self._tab.dom.keys
        hold = await self._tab.ask(keys.hold(ruled=self._is_ruled, enter=enter, letter=letter))
        place = hold.place
        try:
            if (gate := self._services.gate) is not None:
                gate.check(hold.targets)
            if (rule := self._services.typing_rule) is not None:
                try:
                    rule.check(place, text)
                except NotActionable as error:
                    raise _moved(done) from error
            if place is None:
                raise NotActionable("The frame that has the keyboard cannot be asked.", hint="Name an index.")
            strayed = meant and (place.page != meant.page or (place.password and not meant.password))
            if strayed and not self._is_confidential(text):
                raise _moved(done)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._tab.ask(keys.release(hold))
            raise
        return hold, place

    async def _put(self, text: str, hold: KeyHold, *, before: int, secret: bool) -> None:
        keys, confidential = self._tab.dom.keys, self._is_confidential(text)
        place = hold.place
        assert place is not None
        await self._tab.ask(keys.release(hold))
        put = self._tab.ask(keys.put(place, text, exactly=not confidential, secret=secret or confidential))
        await self._act(_nothing())
        result = await put
        if result.done < len(text):
            if not result.moved:
                raise NotActionable("What has the keyboard takes no text.", hint=HINT)
            raise _moved(before + result.done)

    async def _enter(self, hold: KeyHold, key: Literal["Enter", "NumpadEnter"]) -> None:
        """Press Enter: what it does follows only once it has come to the place, which has the focus still."""
        cdp, place = self._tab.cdp, hold.place
        if self._services.gate is None:
            await self._act(self._keys().press(key))
            return
        if place is not None and place.watched and not hold.first:
            raise NotActionable(
                "Enter cannot be checked here: the page has replaced its document.",
                hint="Click the button by its index instead, or call reload.",
            )
        event = {"key": "Enter", "code": key, "windowsVirtualKeyCode": 13, "location": 3 * (key != "Enter")}
        dispatch = "Input.dispatchKeyEvent"
        await self._act(send(cdp, dispatch, type="rawKeyDown", **event))
        # Frames that came meanwhile are held, too.
        if (
            not self._tab.held
            and not await self._tab.ask(self._tab.dom.keys.has_come(hold))
            and not hold.first
        ):
            raise _moved(0)
        if not self._tab.held:
            await self._act(send(cdp, dispatch, type="char", text="\r", unmodifiedText="\r", **event))
        if not self._tab.held:
            await self._act(send(cdp, dispatch, type="keyUp", **event))

    async def _release(self, hold: KeyHold, work: Awaitable[object], *, read: bool = False) -> HeldKeys:
        try:
            await work
        finally:
            held = HeldKeys(gone=True)
            if not self._tab.held:
                # Also where the call is cancelled: a person may type next.
                with anyio.CancelScope(shield=True):
                    held = await self._tab.ask(self._tab.dom.keys.release(hold, read=read))
        return held


async def _nothing() -> None:
    """Input that is a script's."""


def _moved(done: int) -> NotActionable:
    so_far = f"The first {done} characters were typed" if done else "Nothing was typed"
    return NotActionable(f"The focus moved away from where the text was to go. {so_far}.", hint=HINT)
