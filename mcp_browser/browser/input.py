"""Mouse and keyboard of a tab. All input goes through here, past the gate of the action that is under way."""

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Sequence
from typing import Literal, Protocol, TypeVar

import anyio
from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.clipboard import chord_of
from mcp_browser.browser.held_typing import HeldTyping, Typed
from mcp_browser.browser.session_services import SessionServices
from mcp_browser.dom.keys import KeyPlace
from mcp_browser.dom.service import DomService
from mcp_browser.dom.worlds import FrameGone
from mcp_browser.errors import ActionError, McpBrowserError
from mcp_browser.policy import Target

T = TypeVar("T")
Button = Literal["left", "right", "middle"]
Modifier = Literal["Control", "Shift", "Alt", "Meta", "ControlOrMeta"]

PRESSED_SECONDS = 1.0  # How long at most a button of the mouse is held down for the page to take note
_ENTER = frozenset({"Enter", "NumpadEnter"})
_MOVING = frozenset({"Tab", "Control", "Shift", "Alt", "Meta", "ControlOrMeta"})


class _InputTab(Protocol):
    page: Page
    dom: DomService

    @property
    def cdp(self) -> CDPSession: ...

    cursor: tuple[float, float] | None

    @property
    def held(self) -> bool: ...

    async def act(self, work: Awaitable[object]) -> None: ...

    async def ask(self, work: Awaitable[T], *, limit: float | None = None) -> T: ...


class Input:
    """What a person's hands do in one tab. Points are CSS pixels of the view.

    Each method raises what the gate raises, and what `Tab.act` does.
    """

    def __init__(self, tab: _InputTab, services: SessionServices) -> None:
        """Act on a tab of a session, past its gate; keys use the session's clipboard where it has its own."""
        self._tab = tab
        self._services = services
        self._clipboard = services.limits.clipboard
        self._held_typing = HeldTyping(tab, services, keys=lambda: tab.page.keyboard, act=self._act)
        self._pressed_at: tuple[float, float] | None = None
        self._unreleased: tuple[Button, int] | None = None

    async def click(self, x: float, y: float, *, button: Button = "left", clicks: int = 1) -> None:
        """Click at a point."""
        gated = self._services.gate is not None
        if gated:
            await self.check_at(x, y)
        self._tab.cursor = (x, y)
        await self._tab.act(self._tab.page.mouse.move(x, y))
        for count in range(1, clicks + 1):
            # A page may bring something else under the mouse when it hears of it.
            if gated and not self._tab.held:
                await self.check_at(x, y)
            await self._press(button, count)
            await self._release(button, count)
            if self._tab.held:
                break

    async def move(self, x: float, y: float, *, steps: int = 1) -> None:
        """Move the mouse to a point."""
        self._tab.cursor = (x, y)
        await self._tab.act(self._tab.page.mouse.move(x, y, steps=steps))

    async def down(self, *, button: Button = "left", clicks: int = 1) -> None:
        """Press a button of the mouse where it is."""
        if self._tab.cursor is not None:
            await self.check_at(*self._tab.cursor)
        self._pressed_at = self._tab.cursor
        await self._press(button, clicks)

    async def up(self, *, button: Button = "left", clicks: int = 1) -> None:
        """Let go of it; where that is not allowed, back where it was pressed."""
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
        """Let go of the button that was down when a dialog opened, which is closed now."""
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
            if self._is_held and chord_of(keys) is None:
                await self._held_typing.press(keys, enter=last in _ENTER, letter=letter)
                return
            await self.check_keys(enter=last in _ENTER, letter=letter)
        if self._clipboard is not None and (chord := chord_of(keys)) is not None:
            await self._act(self._clipboard.use(self._tab.dom, chord))
        else:
            await self._act(self._tab.page.keyboard.press(keys))

    async def type(self, text: str, *, meant: KeyPlace | None = None) -> Typed:
        """Type a text key by key; a line end presses Enter.

        Where the focus moves meanwhile, the rest goes there, but into no other document, and into no secret
        field unless what it is `meant` for is one: None for what has the focus.
        """
        return await self._held_typing.type(text, meant=meant)

    async def insert(self, text: str, *, meant: KeyPlace | None = None) -> Typed:
        """Put in a text at once, as an input method does; `meant` as in `type`."""
        return await self._held_typing.insert(text, meant=meant)

    @contextlib.asynccontextmanager
    async def holding(self, modifiers: Sequence[Modifier]) -> AsyncGenerator[None]:
        """Hold modifier keys down, and let go of them whatever happens."""
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

    # -- what comes before input, and what goes to elements without any

    async def check_at(self, *point: float) -> None:
        """Ask the gate for what is at a point."""
        if (gate := self._services.gate) is not None:
            x, y = point
            gate.check(await self._tab.ask(self._tab.dom.targets.at(x, y)))

    async def check_keys(self, *, enter: bool = False, letter: str = "") -> KeyPlace | None:
        """Ask the gate for what keys come to: Enter among them, or a letter with Alt.

        Where that is, as far as it is known; None where nothing asks for it, either.
        """
        if not self._is_held:
            return None
        found = await self._tab.ask(self._tab.dom.targets.of_keys(enter=enter, letter=letter))
        if (gate := self._services.gate) is not None:
            gate.check(found.targets)
        return found.place

    async def check_elements(
        self, *indexes: int, enter: bool = False, also: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Ask the gate for elements: before input that will come to them, or where none will.

        Args:
            indexes: the elements.
            enter: whether Enter is to be pressed in them.
            also: what goes with them: roles and names.
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
        """Ask the gate for the dialog that is open, whose page cannot be asked."""
        if (gate := self._services.gate) is not None:
            gate.check([Target(role="dialog", name=message, origin=origin, page=origin)])

    def did(self) -> None:
        """Note that something was done to an element without input."""
        if (gate := self._services.gate) is not None:
            gate.passed()

    @property
    def _is_held(self) -> bool:
        return self._services.gate is not None or self._services.typing_rule is not None

    async def _press(self, button: Button, clicks: int) -> None:
        self._unreleased = None
        await self._act(self._tab.page.mouse.down(button=button, click_count=clicks))
        if self._tab.cursor is not None and not self._tab.held:
            # Where the page is busy or has gone, the button comes up all the same.
            with contextlib.suppress(ActionError, PlaywrightError, FrameGone):
                await self._tab.ask(self._tab.dom.pressed(*self._tab.cursor), limit=PRESSED_SECONDS)

    async def _release(self, button: Button, clicks: int) -> None:
        # The browser drops input while a dialog is open: that one is made up for when it closes.
        self._unreleased = (button, clicks) if self._tab.held else None
        if self._unreleased is None:
            await self._act(self._tab.page.mouse.up(button=button, click_count=clicks))

    async def _act(self, work: Awaitable[object]) -> None:
        if (gate := self._services.gate) is not None:
            gate.passed()
        await self._tab.act(work)
