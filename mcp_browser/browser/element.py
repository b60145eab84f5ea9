"""One element of a tab, by its index: read, checked, and acted on by real mouse and keyboard input.

The page script decides whether and where an element can take an action (`DomService.ready`); the input goes
through Playwright's mouse and keyboard, so that the page gets the same events as from a person.
"""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import anyio
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.input import Button, Input, Modifier
from mcp_browser.browser.page import TabPage
from mcp_browser.browser.sliding import NUMBER, Slider
from mcp_browser.dom.cdp import send
from mcp_browser.dom.elements import Purpose
from mcp_browser.dom.keys import KeyPlace
from mcp_browser.dom.models import DomNode, Frozen, ReadyElement
from mcp_browser.errors import DialogOpen, InvalidArguments, NotActionable, StaleElement
from mcp_browser.text import counted, quoted

DROP_SECONDS = 0.5  # How long a page may take to follow a drag before the drop
OPENING_SECONDS = 3.0  # How long a list or a file chooser may take to open after the click that opens it
POLL_SECONDS = 0.05

FIELD_REST = 0.05  # How long a field with another text must stay unchanged, seconds
SHOWN_TEXT = 60  # How much of a typed text a result repeats, characters
LONGEST_NAME = 80  # How much of an element's name a message repeats, characters
MOST_BY_CONTENT = 50_000_000  # How much is sent to a browser on another machine, bytes
COPY = 1  # CDP's drag operation for files from outside: copy
FORMS = {  # How the values of native pickers are written, by input type
    "date": "a date as 2027-12-31",
    "time": "a time as 23:59",
    "datetime-local": "date and time as 2027-12-31T23:59",
    "month": "a month as 2027-12",
    "week": "a week as 2027-W52",
}
CHECKABLE_ROLES = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})


class FieldValue(Frozen):
    """What a field holds; of a secret one, only the length may be shown. `scale`: of sliders, the bounds."""

    value: str
    secret: bool = False
    scale: str | None = None

    def holds(self, text: str, *, within: bool = False) -> bool:
        """Whether it holds this text, `within`: among others; whitespace is normalized."""
        held, wanted = " ".join(self.value.split()), " ".join(text.split())
        return wanted in held if within else held == wanted

    def follows(self, text: str) -> bool:
        """Whether it holds this text, or its beginning as left by a mask or a length limit."""
        held, wanted = ("".join(filter(str.isalnum, one)).casefold() for one in (self.value, text))
        return self.holds(text) or (held != "" and wanted.startswith(held))

    def __str__(self) -> str:
        return counted(len(self.value), "character") if self.secret else quoted(self.value, SHOWN_TEXT)

    @property
    def instead(self) -> str:
        """The sentence for a field that does not hold what was typed."""
        if self.scale is not None:
            return f" The nearest that it takes is {self}{self.scale}."
        return f" The field now holds {self} instead: it may limit or format its text."


class Element:
    """An element by its index; each use looks it up anew, and raises StaleElement if it is gone."""

    def __init__(self, tab: TabPage, input: Input, index: int) -> None:
        """Raises NotFound: there is no such index."""
        self.index = index
        self.tab = tab
        self.input = input
        self._ref = tab.dom.resolve(index)
        self._node: DomNode | None = None  # As it was last seen
        self.is_gone = False  # Whether it was gone when its value or state was last read
        self.field = self  # The field that text went into, which may be in this element

    def __str__(self) -> str:
        return describe_element(self._node or self._ref.node)

    @property
    def role(self) -> str:
        return self._node.role if self._node is not None else self._ref.role

    async def click(
        self,
        *,
        button: Button = "left",
        clicks: int = 1,
        modifiers: Sequence[Modifier] = (),
        force: bool = False,
    ) -> None:
        """Click the middle of the element; `force`: even if something covers it.

        Raises NotActionable: it is covered, disabled, without size, a file input or a native select.
        """
        ready = await self.ready("click", force=force)
        if button == "left" and not modifiers:
            if ready.tag == "input" and ready.type == "file":
                raise NotActionable(
                    f"{self} is a file input.", hint="Use upload_file with the paths of the files."
                )
            if ready.tag == "select" and not ready.multiple:
                raise NotActionable(
                    f"{self} is a native select.", hint="Use select_option, or get_options to see them."
                )
        if not ready.reached:
            await self.press("Space")
            return
        async with self.input.holding(modifiers) if modifiers else contextlib.nullcontext():
            listens = ready.listens or bool(modifiers)
            await self.input.click(ready.x, ready.y, button=button, clicks=clicks, listens=listens)

    async def hover(self) -> None:
        """Put the mouse over the element."""
        ready = await self.ready("hover")
        await self.input.move(ready.x, ready.y)

    async def focus(self) -> KeyPlace:
        """Focus the element; return it as the place that a text is meant for."""
        ready = await self.ready("read")
        await self.call("focus")
        return self._place(ready)

    async def fill(self, text: str, *, slowly: bool = False, append: bool = False) -> FieldValue | None:
        """Put text into a field, or the only field in this element; replaces or appends.

        Up to a few hundred characters are typed by keys, except those without a key; a line end presses none.
        A field that changes the text gets it key by key, as with `slowly`. Returns what the field holds then;
        None if a dialog has opened or it is gone. Raises NotActionable; InvalidArguments: not in its form.
        """
        try:
            ready = await self.ready("fill")
        except NotActionable:
            if not (inner := await self.call("innerField")):
                raise
            self.field = Element(self.tab, self.input, inner[0]["index"])
            return await self.field.fill(text, slowly=slowly, append=append)
        # A range takes a text only as the name of one of its values.
        if ready.kind == "slider" or (ready.type == "range" and not NUMBER.search(text)):
            at, is_it = await Slider(self.tab, self.input, self.index).move_to(text)
            return FieldValue(value=text if is_it else f"{at.value:g}", scale=str(at))
        if ready.kind == "picker":
            return await self._set_picker(text, ready)
        # Several lines reach some editors unchanged only by a paste: code editors close brackets and indent
        # lines as they are typed.
        is_code = ready.kind == "keys" or ready.code
        pastes = not slowly and (is_code or (ready.kind == "rich" and "\n" in text))
        if ready.kind == "keys":
            # Only the editor knows its selection and caret.
            await self.press("ControlOrMeta+End" if append else "ControlOrMeta+a")
            await self._type(text, ready, slowly=slowly, pastes=pastes)
            return None
        await self.call("moveToEnd" if append else "selectText")
        field = await self._at_rest(await self._type(text, ready, slowly=slowly, pastes=pastes), text)
        if slowly or append or field is None or field.follows(text):
            return field
        return await self._fill_again(text, ready, pastes=pastes)

    async def _fill_again(self, text: str, ready: ReadyElement, *, pastes: bool) -> FieldValue | None:
        """Put text into a field that has changed it."""
        if ready.kind == "rich":
            # Some restore their own selection, or insert beside a selected table or picture.
            await self.press("ControlOrMeta+a")
            await self._type("", ready)
            if text:
                await self._type(text, ready, pastes=pastes)
        elif text:
            await self.call("selectText")
            field = await self._at_rest(await self._type(text, ready, slowly=True), text)
            # An empty field has accepted the text, as a tag input does.
            if field is None or not field.value or field.follows(text):
                return field
            # A field that rewrites its text at each key may accept all at once.
            await self.call("selectText")
            await self.input.insert(text, meant=self._place(ready))
        return await self._at_rest(await self.value(), text)

    async def _set_picker(self, text: str, ready: ReadyElement) -> FieldValue | None:
        """Set the value of a native picker, which cannot be typed as one text, and dispatch its events."""
        await self.input.check_elements(self.index)
        self.input.did()
        was = await self.value() if ready.type in FORMS else None
        if key := await self.call("setValue", text):
            await self.input.press(key)
        field = await self.value()
        if text and field is not None and not field.value and ready.type in FORMS:
            if was is not None and was.value:
                await self.call("setValue", was.value)
            raise InvalidArguments(f"{self} takes {FORMS[ready.type]}, not {quoted(text, SHOWN_TEXT)}.")
        return field

    async def _at_rest(self, field: FieldValue | None, text: str) -> FieldValue | None:
        """What a field holds once it has stopped changing; some show typed text a frame later."""
        was = None
        while field is not None and field != was and not field.holds(text, within=True):
            was = field
            await anyio.sleep(FIELD_REST)
            field = await self.value()
        return field

    async def _type(
        self, text: str, ready: ReadyElement, *, slowly: bool = False, pastes: bool = False
    ) -> FieldValue | None:
        """Replace the selection by text, or delete it if that is empty; what the field holds then."""
        pasted = False
        if text and pastes and not slowly:
            await self.input.check_keys()
            if pasted := bool(await self.call("paste", text)):
                self.input.did()
        if not text:
            await self.input.press("Delete")
        elif not pasted:
            place = self._place(ready)
            if (ready.kind == "keys" or ready.code) and not slowly:
                typed = await self.input.insert(text, meant=place)
            else:
                typed = await self.input.type(text, meant=place, breaks=True, slowly=slowly)
            if typed.field is not None and typed.last == typed.first and not self.tab.held:
                return FieldValue.model_validate(typed.field)
        return await self.value()

    def _place(self, ready: ReadyElement) -> KeyPlace:
        """This element as the place that a text is meant for."""
        ref = self.tab.dom.resolve(self.index)
        return KeyPlace(ref.world, ref.document, ref.id, ready.secret)

    async def value(self) -> FieldValue | None:
        """What the field holds; None if it is gone, or a dialog is open."""
        if self.tab.held:
            return None
        try:
            return FieldValue.model_validate(await self.call("value"))
        except (StaleElement, DialogOpen) as error:
            # A field that submits its form when it is full may be gone.
            self.is_gone = isinstance(error, StaleElement)
            return None

    async def left(self, *, late: bool) -> list[FieldValue]:
        """What the field held once it had lost the focus, by `watchLeaving`; `late`: also what it holds."""
        try:
            now = await self.call("left")
        except StaleElement:
            return []  # It was drawn anew: what it held is not known.
        first, field = now.pop("left"), FieldValue.model_validate(now)
        values = [field.model_copy(update={"value": first})] if first is not None else []
        return [*values, field] if late else values

    async def press(self, keys: str) -> None:
        """Press a key or a combination with this element focused."""
        await self.focus()
        await self.input.press(keys)

    async def set_checked(self, checked: bool) -> bool | None:
        """Check or uncheck a checkbox, radio or switch; whether that took a click.

        None: it was clicked once and reports no state. Raises NotActionable, also if a click changes nothing.
        """
        ready = await self.ready("check")
        is_known = ready.checked is not None
        if not is_known and self.role not in CHECKABLE_ROLES and not await self.call("isPlain"):
            raise NotActionable(f"{self} cannot be checked.", hint="Use click_element on it.")
        if ready.checked == checked:
            return False
        if is_known and not checked and self.role == "radio":
            raise NotActionable(
                f"{self} is a radio button.", hint="To clear it, choose another one of its group."
            )
        if ready.reached:
            await self.input.click(ready.x, ready.y, listens=ready.listens)
        else:
            await self.press("Space")
        if not is_known:
            with contextlib.suppress(StaleElement, DialogOpen):
                is_known = not self.tab.held and await self.call("checked") is not None
        if not is_known:
            return None
        if not self.tab.held and not await self._comes_true(checked):
            state = "checked" if not checked else "unchecked"
            raise NotActionable(
                f"{self} was clicked but is still {state}.", hint="Look at the page with get_state."
            )
        return True

    async def drag_to(
        self, other: "Element", *, offset_x: float | None = None, offset_y: float | None = None
    ) -> None:
        """Drag the element onto another one by the mouse, for pointer handlers and HTML5 drag and drop.

        If the two do not fit into the view together, the page is scrolled while the element is held. Offsets
        are CSS pixels from the other's left and top; it may be itself. Raises InvalidArguments outside it.
        """
        _at(await other.ready("hover"), offset_x, offset_y, other)
        start = await self.ready("drag")
        # Some pages move the drop target away as soon as the drag begins.
        is_middle = offset_x is None and offset_y is None and self.tab.dom.resolve(other.index).world.is_main
        place = await other.call("place") if is_middle else None
        mouse = self.input
        # Both at once: during the drag nobody can be asked for consent.
        await mouse.check_elements(self.index, other.index)
        await mouse.move(start.x, start.y)
        await mouse.down()
        try:
            await mouse.move(start.x + 8, start.y + 8, steps=2)
            x, y = _at(await other.show(offset_x, offset_y), offset_x, offset_y, other)
            if place is not None and not await other.call("place"):
                x, y = place
            await mouse.move((start.x + x) / 2, (start.y + y) / 2, steps=4)
            await mouse.move(x, y, steps=4)
            # A drop target accepts a drop only after the pointer was seen over it.
            await mouse.move(x, y)
            if not self.tab.held:
                # Many lists reorder only with the next frame.
                await self.tab.ask(self.tab.dom.settle(limit=DROP_SECONDS))
                await mouse.move(x, y)
        finally:
            await mouse.up()

    async def set_files(self, paths: Sequence[Path]) -> None:
        """Set the files of a file input, of the only one in it, or of what a click opens."""
        files = [str(path) for path in paths]
        try:
            ready = await self.ready("upload")
        except NotActionable:
            if await self.kind() == "file":
                raise
        else:
            if len(files) > 1 and not ready.multiple:
                raise NotActionable(f"{self} takes one file, not {len(files)}.")
            await self.input.check_elements(self.index)
            self.input.did()
            # A browser that was not started here may be unable to read the files of this machine.
            is_elsewhere = not self.tab.settings.browser.starts_browser
            by_content = is_elsewhere and sum(path.stat().st_size for path in paths) <= MOST_BY_CONTENT
            await self.tab.ask(self.tab.dom.set_files(self.index, paths, by_content=by_content))
            return
        ready = await self.ready("click")
        click = self.input.click(ready.x, ready.y)
        chooser = await self.tab.file_chooser(click, limit=OPENING_SECONDS)
        if chooser is None:
            if "droppable" in ready.node.states:
                await self.drop_files(paths)
                return
            raise NotActionable(
                f"{self} did not open a file chooser.", hint="Give the index of the file input or its button."
            )
        if len(files) > 1 and not chooser.is_multiple():
            raise NotActionable(f"{self} takes one file, not {len(files)}.")
        await chooser.set_files(files)

    async def drop_files(self, paths: Sequence[Path]) -> None:
        """Drop files on the middle of the element; raises NotActionable: it is covered or without size."""
        cdp = self.tab.cdp
        ready = await self.ready("hover")
        await self.input.check_at(ready.x, ready.y)
        self.input.did()
        files = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": COPY}
        at = {"x": ready.x, "y": ready.y, "data": files}
        try:
            for step in ("dragEnter", "dragOver", "drop"):
                await self.tab.act(send(cdp, "Input.dispatchDragEvent", type=step, **at))
        except PlaywrightError:
            with contextlib.suppress(PlaywrightError):
                await send(cdp, "Input.dispatchDragEvent", type="dragCancel", **at)
            raise

    async def show(self, offset_x: float | None = None, offset_y: float | None = None) -> ReadyElement:
        """Scroll the element, or a point of it, into view; the result has its position."""
        await self.call("scrollIntoView", offset_x, offset_y)
        return await self.ready("read")

    async def kind(self) -> Literal["select", "check", "file", "text"]:
        """How the element is filled in: chosen from, checked, given files, or typed into."""
        ready = await self.ready("read")
        if ready.kind == "file":
            return "file"
        if ready.checked is not None and self.role in CHECKABLE_ROLES:
            return "check"
        opens = ready.kind == "none" and bool(await self.call("opening"))
        return "select" if ready.tag == "select" or opens else "text"

    async def ready(self, action: Purpose, *, force: bool = False) -> ReadyElement:
        """Make it ready for an action, as `DomService.ready` does."""
        ready = await self.tab.ask(self.tab.dom.ready(self.index, for_=action, force=force))
        self._node = ready.node
        return ready

    async def call(self, function: str, *args: Any) -> Any:
        """Run a helper of the page script on it."""
        return await self.tab.ask(self.tab.dom.call(self.index, function, *args))

    async def _comes_true(self, checked: bool) -> bool:
        """Whether the state is reached soon; many switches change only with the next frame."""
        with anyio.move_on_after(OPENING_SECONDS / 2):
            while True:
                try:
                    if bool(await self.call("checked")) == checked:
                        return True
                except StaleElement:
                    # The click has made the page draw it anew.
                    self.is_gone = True
                    return True
                await anyio.sleep(POLL_SECONDS)
        return False


def _at(
    box: ReadyElement, offset_x: float | None, offset_y: float | None, element: Element
) -> tuple[float, float]:
    """A point in an element's box: the middle, or at offsets from its left and top."""
    for name, offset, size in (("offset_x", offset_x, box.width), ("offset_y", offset_y, box.height)):
        if offset is not None and not 0 <= offset <= size:
            raise InvalidArguments(
                f"{name}={offset:g} lies outside of {element}.",
                hint=f"Its box is {box.width:g} px wide and {box.height:g} px high.",
            )
    x = box.x if offset_x is None else box.x - box.width / 2 + offset_x
    y = box.y if offset_y is None else box.y - box.height / 2 + offset_y
    return x, y


def describe_element(node: DomNode) -> str:
    """An element as in a snapshot, with no state but a hint: `[4] button "" hint="trash"`."""
    hint = "".join(f" {state}" for state in node.states if state.startswith("hint="))
    return f"[{node.index}] {node.role or node.kind} {quoted(node.name, LONGEST_NAME)}{hint}"
