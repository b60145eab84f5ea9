"""Mouse and keyboard of a tab. All input goes through here, and through the gate of the current action."""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Awaitable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import anyio
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.clipboard import chord_of
from mcp_browser.browser.page import TabPage
from mcp_browser.dom.cdp import send
from mcp_browser.dom.driver_errors import FrameGone
from mcp_browser.dom.keys import HeldKeys, KeyHold, KeyPlace, keyboard_unknown
from mcp_browser.errors import ActionError, McpBrowserError, NotActionable
from mcp_browser.policy import Target

KEYS_HELD = 200  # How many keys are sent at most before their target is checked
MOST_KEYS = 300  # Of a longer text for a field, only the last character is sent by a key
_PIECE = re.compile(f"[ -~]{{1,{KEYS_HELD}}}|.", re.DOTALL)  # Characters that have keys, or one that has none
_FIELD_PIECE = re.compile(f"[ -~]{{1,{KEYS_HELD}}}|[^ -~]+")
_HAS_KEY = re.compile("[ -~]")
_ENTER = frozenset("\n\r")
_KEYS = {" ": ("Space", 32)} | {
    character: (code, number)
    for code, number, characters in (
        *((f"Digit{digit}", 48 + digit, f"{digit}{shifted}") for digit, shifted in enumerate(")!@#$%^&*(")),
        ("Semicolon", 186, ";:"),
        ("Equal", 187, "=+"),
        ("Comma", 188, ",<"),
        ("Minus", 189, "-_"),
        ("Period", 190, ".>"),
        ("Slash", 191, "/?"),
        ("Backquote", 192, "`~"),
        ("BracketLeft", 219, "[{"),
        ("Backslash", 220, "\\|"),
        ("BracketRight", 221, "]}"),
        ("Quote", 222, "'\""),
    )
    for character in characters
}

NO_INPUT = "The browser took no input, as where a request waits for a login: loading was stopped."
HINT = "Look with get_state, then name the field by its index (input_text)."

Button = Literal["left", "right", "middle"]
Modifier = Literal["Control", "Shift", "Alt", "Meta", "ControlOrMeta"]

PRESSED_SECONDS = 1.0  # How long at most a mouse button is held until the page has received the event
_ENTER_KEYS = frozenset({"Enter", "NumpadEnter"})
_MOVING = frozenset({"Tab", "Control", "Shift", "Alt", "Meta", "ControlOrMeta"})


@dataclass(slots=True)
class Typed:
    """Where a text went: the first place, the last, and what that field holds, if known."""

    first: KeyPlace | None = None
    last: KeyPlace | None = None
    field: dict[str, Any] | None = None


class Input:
    """Mouse and keyboard of one tab. Points are CSS pixels of the view.

    Keys are held to the focused element, in every frame, before the page receives them. If they move the
    focus, as in boxes for one character each, the rest is checked again: it goes into no other document, and
    into no secret field unless it was meant for one. A script in the document inserts confidential text
    without keys, and text for pages that may receive keys before they are checked.

    They raise what the gate and `Tab.act` raise; NotActionable, with how much was typed: the focus moved.
    """

    def __init__(self, tab: TabPage) -> None:
        """Act on a tab, through its session's gate; keys use the session's own clipboard if it has one."""
        self._tab = tab
        self._services = tab.services
        self._clipboard = tab.services.limits.clipboard
        self._pressed_at: tuple[float, float] | None = None
        self._unreleased: tuple[Button, int] | None = None

    async def click(
        self, x: float, y: float, *, button: Button = "left", clicks: int = 1, listens: bool = True
    ) -> None:
        """Click at a point; `listens`: whether the page may run a script as the mouse comes and presses."""
        gated = self._services.gate is not None
        if gated:
            await self.check_at(x, y)
        self._tab.cursor = (x, y)
        await self._tab.act(self._tab.page.mouse.move(x, y))
        for count in range(1, clicks + 1):
            # The page may move another element under the mouse as it moves.
            if gated and not self._tab.held:
                await self.check_at(x, y)
            # `listens` was said before a policy took its time, and of a first press of the left button.
            asks = listens or gated or count > 1 or button != "left"
            await self._press(button, count, asks=asks)
            await self._release(button, count)
            if self._tab.held:
                break

    async def move(self, x: float, y: float, *, steps: int = 1) -> None:
        """Move the mouse to a point."""
        self._tab.cursor = (x, y)
        await self._tab.act(self._tab.page.mouse.move(x, y, steps=steps))

    async def down(self, *, button: Button = "left", clicks: int = 1) -> None:
        """Press a mouse button at the mouse's position."""
        if self._tab.cursor is not None:
            await self.check_at(*self._tab.cursor)
        self._pressed_at = self._tab.cursor
        await self._press(button, clicks)

    async def up(self, *, button: Button = "left", clicks: int = 1) -> None:
        """Release the button; if that is not allowed here, release it where it was pressed."""
        pressed_at, self._pressed_at = self._pressed_at, None
        with anyio.CancelScope(shield=True):
            try:
                if self._tab.cursor not in (None, pressed_at) and not self._tab.held:
                    await self.check_at(*self._tab.cursor)
            except McpBrowserError:
                if pressed_at is not None:
                    await self.move(*pressed_at)
                raise
            finally:
                await self._release(button, clicks)

    async def release_pending(self) -> None:
        """Release the button that was down when the dialog, now closed, opened."""
        if self._unreleased is not None and not self._tab.held:
            await self._release(*self._unreleased)

    async def wheel(self, right: float, down: float) -> None:
        """Turn the wheel, by CSS pixels."""
        await self._tab.act(self._tab.page.mouse.wheel(right, down))

    async def press(self, keys: str) -> None:
        """Press a key or a combination, as Playwright writes them."""
        held, _, last = keys.rpartition("+") if keys[-1:] != "+" else (keys[:-1], "", "+")
        if last not in _MOVING:
            letter = last.removeprefix("Key").lower() if "Alt" in held.split("+") else ""
            if self._is_ruled and chord_of(keys) is None:
                hold, _ = await self._hold(keys, 0, None, enter=last in _ENTER_KEYS, letter=letter)
                is_enter = keys in _ENTER_KEYS
                work = self._enter(hold, keys) if is_enter else self._act(self._tab.page.keyboard.press(keys))
                if (await self._release_keys(hold, work)).strayed:
                    raise _moved(0)
                return
            await self.check_keys(enter=last in _ENTER_KEYS, letter=letter)
        if self._clipboard is not None and (chord := chord_of(keys)) is not None:
            await self._act(self._clipboard.use(self._tab.dom, chord))
        else:
            await self._act(self._tab.page.keyboard.press(keys))

    async def type(
        self, text: str, *, meant: KeyPlace | None = None, breaks: bool = False, slowly: bool = False
    ) -> Typed:
        """Type a text by keys.

        A line end presses Enter. If the focus moves, the rest follows it, but into no other document, and
        into no secret field unless `meant` is one: where the text is to go, None for the focused element.
        `breaks`: insert line ends, tabs, what has no key, and most of a long text. `slowly`: check each key.
        """
        typed = Typed()
        done, in_vain = 0, False
        # Under a policy each key is checked: it may move the focus.
        most = 1 if slowly or (self._services.gate is not None and not breaks) else KEYS_HELD
        while done < len(text) and not self._tab.held:
            piece, by_key = _piece(text, done, breaks=breaks)
            piece = piece[:most] if by_key else piece
            enter = not breaks and piece in _ENTER
            hold, typed.last = await self._hold(text, done, meant, enter=enter)
            typed.first = typed.first or typed.last
            meant = meant or typed.last
            if not enter and self._goes_without_keys(text, hold):
                line = text[done:] if breaks else re.split("[\n\r]", text[done:], maxsplit=1)[0]
                await self._put(line, hold, before=done, secret=meant.password)
                done += len(line)
                continue
            put = self._strike if by_key else self._tab.page.keyboard.insert_text
            work = self._enter(hold, "Enter") if enter else self._act(put(piece))
            held = await self._release_keys(hold, work, read=breaks and done + len(piece) >= len(text))
            typed.field = dict(held.field) if held.field else None
            if self._tab.held or (held.gone and (enter or breaks)):
                done += len(piece)
                continue
            came = min(len(piece), held.keys if enter or by_key else len(piece) * min(held.inputs, 1))
            done += came
            if came < len(piece):
                if (enter or by_key) and hold.first and not (came or held.gone or held.strayed or in_vain):
                    # The browser drops input while it asks a person to log in for a request (HTTP 401).
                    await self._tab.control("Page.stopLoading")
                    self._services.notice(NO_INPUT)
                elif held.gone or not held.strayed or (in_vain and not came):
                    raise _moved(done)
                else:
                    # Boxes for one character move the focus after each.
                    most = 1
            in_vain = not came
        return typed

    async def insert(self, text: str, *, meant: KeyPlace | None = None) -> Typed:
        """Insert a text at once, as an input method does; `meant` as in `type`."""
        hold, place = await self._hold(text, 0, meant)
        typed = Typed(place, place)
        if self._goes_without_keys(text, hold):
            await self._put(text, hold, before=0, secret=place.password)
            return typed
        held = await self._release_keys(hold, self._act(self._tab.page.keyboard.insert_text(text)), read=True)
        if held.strayed:
            raise _moved(0)
        typed.field = dict(held.field) if held.field else None
        return typed

    @contextlib.asynccontextmanager
    async def holding(self, modifiers: Sequence[Modifier]) -> AsyncGenerator[None]:
        """Hold modifier keys down; they are released in any case."""
        keyboard = self._tab.page.keyboard
        down: list[Modifier] = []
        try:
            for modifier in modifiers:
                down.append(modifier)
                await keyboard.down(modifier)
            yield
        finally:
            with anyio.CancelScope(shield=True):
                for modifier in reversed(down):
                    await self._tab.act(keyboard.up(modifier))

    async def check_at(self, x: float, y: float) -> None:
        """Check what is at a point with the gate."""
        if (gate := self._services.gate) is not None:
            gate.check(await self._tab.ask(self._tab.dom.targets.at(x, y)))

    async def check_keys(self, *, enter: bool = False, letter: str = "") -> KeyPlace | None:
        """Check the target of keys with the gate, and return it, if a rule needs it and it is known."""
        if not self._is_ruled:
            return None
        targets, place = await self._tab.ask(self._tab.dom.targets.of_keys(enter=enter, letter=letter))
        if (gate := self._services.gate) is not None:
            gate.check(targets)
        return place

    async def check_elements(
        self, *indexes: int, enter: bool = False, also: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Check elements with the gate, before input to them or a change by script.

        `enter`: Enter is to be pressed in them. `also` are roles and names of what is changed with them.
        """
        if (gate := self._services.gate) is None:
            return
        found: list[Target] = []
        for index in indexes:
            found += await self._tab.ask(self._tab.dom.targets.of(self._tab.dom.resolve(index), enter=enter))
        place = found[0] if found else await self._tab.ask(self._tab.dom.targets.page())
        found += [
            place.model_copy(update={"role": role, "name": name, "text": "", "shown": (role, name)})
            for role, name in also
        ]
        gate.check(found)

    def check_dialog(self, message: str, origin: str) -> None:
        """Check the open dialog with the gate; its page cannot be asked."""
        if (gate := self._services.gate) is not None:
            gate.check([Target(role="dialog", name=message, origin=origin, page=origin)])

    def did(self) -> None:
        """Note that something was done to an element without input."""
        if (gate := self._services.gate) is not None:
            gate.passed()

    @property
    def _is_ruled(self) -> bool:
        return self._services.gate is not None or self._services.typing_rule is not None

    async def _press(self, button: Button, clicks: int, *, asks: bool = True) -> None:
        self._unreleased = None
        await self._act(self._tab.page.mouse.down(button=button, click_count=clicks))
        if asks and self._tab.cursor is not None and not self._tab.held:
            # If the page is busy or gone, the button is released anyway.
            with contextlib.suppress(ActionError, PlaywrightError, FrameGone):
                await self._tab.ask(self._tab.dom.pressed(*self._tab.cursor), limit=PRESSED_SECONDS)

    async def _release(self, button: Button, clicks: int) -> None:
        # The browser drops input while a dialog is open: the button is released when it closes.
        self._unreleased = (button, clicks) if self._tab.held else None
        if self._unreleased is None:
            await self._act(self._tab.page.mouse.up(button=button, click_count=clicks))

    async def _act(self, work: Awaitable[object]) -> None:
        if (gate := self._services.gate) is not None:
            gate.passed()
        await self._tab.act(work)

    def _is_confidential(self, text: str) -> bool:
        rule = self._services.typing_rule
        return rule is not None and rule.is_confidential(text)

    def _goes_without_keys(self, text: str, hold: KeyHold) -> bool:
        watched = hold.place is not None and hold.place.watched
        return self._is_confidential(text) or (not hold.first and (watched or self._is_ruled))

    async def _hold(
        self, text: str, done: int, meant: KeyPlace | None, *, enter: bool = False, letter: str = ""
    ) -> tuple[KeyHold, KeyPlace]:
        """Hold keys to the target of the rest of a text; return the hold and the target."""
        keys = self._tab.dom.targets
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
                raise keyboard_unknown()
            strayed = meant and (place.page != meant.page or (place.password and not meant.password))
            if strayed and not self._is_confidential(text):
                raise _moved(done)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._tab.ask(keys.release(hold))
            raise
        return hold, place

    async def _put(self, text: str, hold: KeyHold, *, before: int, secret: bool) -> None:
        keys, confidential = self._tab.dom.targets, self._is_confidential(text)
        place = hold.place
        assert place is not None
        await self._tab.ask(keys.release(hold))
        put = self._tab.ask(keys.put(place, text, exactly=not confidential, secret=secret or confidential))
        await self._act(asyncio.sleep(0))  # A script puts it in, but it is input like any other.
        done, moved = await put
        if done < len(text):
            if not moved:
                raise NotActionable("What has the keyboard takes no text.", hint=HINT)
            raise _moved(before + done)

    async def _strike(self, text: str) -> None:
        """Press and release the key of each character, without waiting for the page in between."""
        events = (
            {"type": kind, **key_of(character), **({"text": character} if kind == "keyDown" else {})}
            for character in text
            for kind in ("keyDown", "keyUp")
        )
        await asyncio.gather(*(send(self._tab.cdp, "Input.dispatchKeyEvent", **event) for event in events))

    async def _enter(self, hold: KeyHold, key: str) -> None:
        """Press Enter; its character follows only if the key has reached the place, which keeps the focus."""
        cdp, place = self._tab.cdp, hold.place
        if self._services.gate is None:
            await self._act(self._tab.page.keyboard.press(key))
            return
        if place is not None and place.watched and not hold.first:
            raise NotActionable(
                "Enter cannot be checked here: the page has replaced its document.",
                hint="Click the button by its index instead, or call reload.",
            )
        event = {"key": "Enter", "code": key, "windowsVirtualKeyCode": 13, "location": 3 * (key != "Enter")}
        dispatch = "Input.dispatchKeyEvent"
        await self._act(send(cdp, dispatch, type="rawKeyDown", **event))
        # Frames that were added since are held, too.
        if (
            not self._tab.held
            and not await self._tab.ask(self._tab.dom.targets.has_come(hold))
            and not hold.first
        ):
            raise _moved(0)
        if not self._tab.held:
            await self._act(send(cdp, dispatch, type="char", text="\r", unmodifiedText="\r", **event))
        if not self._tab.held:
            await self._act(send(cdp, dispatch, type="keyUp", **event))

    async def _release_keys(self, hold: KeyHold, work: Awaitable[object], *, read: bool = False) -> HeldKeys:
        try:
            await work
        finally:
            held = HeldKeys(gone=True)
            if not self._tab.held:
                # Also if the call is cancelled: a person may type next.
                with anyio.CancelScope(shield=True):
                    held = await self._tab.ask(self._tab.dom.targets.release(hold, read=read))
        return held


def _piece(text: str, start: int, *, breaks: bool) -> tuple[str, bool]:
    """The next part of a text, and whether it is sent by keys."""
    if breaks and start < len(text) - 1 and len(text) - start > MOST_KEYS:
        return text[start:-1], False
    found = (_FIELD_PIECE if breaks else _PIECE).match(text, start)
    assert found is not None
    return found[0], bool(_HAS_KEY.match(found[0]))


def key_of(character: str) -> dict[str, Any]:
    """The fields of a CDP key event for a printable ASCII character, on a US keyboard."""
    if character.isalpha():
        code, number = f"Key{character.upper()}", ord(character.upper())
    else:
        code, number = _KEYS[character]
    return {"key": character, "code": code, "windowsVirtualKeyCode": number}


def _moved(done: int) -> NotActionable:
    so_far = f"The first {done} characters were typed" if done else "Nothing was typed"
    return NotActionable(f"The focus moved away from where the text was to go. {so_far}.", hint=HINT)
