"""Act on elements: click, hover, drag; fill in text fields, lists, checkboxes, files, whole forms."""

import contextlib
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from mcp_browser.actions.code import Code, NoEquivalent
from mcp_browser.actions.files import Strings, files_to_give
from mcp_browser.actions.registry import TYPED_IN, ActionParams, Expansion, Registry
from mcp_browser.actions.result import ActionContext, ActionResult, Outcome
from mcp_browser.browser.choosing import ListField
from mcp_browser.browser.element import SHOWN_TEXT, Element
from mcp_browser.browser.input import Button, Modifier
from mcp_browser.dom.named import Index
from mcp_browser.errors import InvalidArguments, NotFound, Refused, StaleElement
from mcp_browser.text import counted, quoted

elements = Registry(group="core")

SUGGESTING_SECONDS = 3.0  # How long a field may take to show what its text suggests, before Enter

_YES = frozenset({"true", "yes", "on", "1", "checked"})
_NO = frozenset({"false", "no", "off", "0", "unchecked", ""})
_OPENING = frozenset({"button", "clickable", "link"})  # What may open the system's dialog for files


class ClickElementParams(ActionParams):
    index: Index = Field(
        description='or role and name: button "Save", button "Save" #2 in dialog "Filter" or in [12]'
    )
    button: Button = "left"
    double: bool = Field(False, description="double click")
    modifiers: tuple[Modifier, ...] = Field((), description="keys held meanwhile")
    force: bool = Field(False, description="click even if covered")


def _click(code: Code, params: ClickElementParams) -> None:
    double = {"click_count": 2} if params.double else {}
    given = params.model_dump(include={"button", "modifiers", "force"}, exclude_defaults=True)
    code.call(code.element(), "click", **double, **given)


@elements.action(reach="elements", code=_click)
async def click_element(ctx: ActionContext, params: ClickElementParams) -> str:
    """Click a button, link, row or any other element by its index."""
    element = ctx.tab.element(params.index)
    await element.click(
        button=params.button, clicks=2 if params.double else 1, modifiers=params.modifiers, force=params.force
    )
    how = "Double-clicked" if params.double else "Clicked"
    which = "" if params.button == "left" else f" with the {params.button} button"
    held = f" holding {'+'.join(params.modifiers)}" if params.modifiers else ""
    return f"{how} {element}{which}{held}."


@elements.action(reach="view", code=lambda code, _: code.call(code.element(), "hover"))
async def hover_element(ctx: ActionContext, index: Index) -> str:
    """Move the mouse over an element."""
    element = ctx.tab.element(index)
    await element.hover()
    return f"The mouse is over {element}."


@elements.action(
    reach="elements", code=lambda code, _: code.call(code.element(), "drag_to", code.element("target"))
)
async def drag_element(
    ctx: ActionContext,
    index: Index,
    target: Index = Field(description="index to drop on"),
    offset_x: float | None = Field(None, description="px from its left edge, else its middle"),
    offset_y: float | None = Field(None, description="px from its top edge"),
) -> str:
    """Drag an element onto another one."""
    element, onto = ctx.tab.element(index), ctx.tab.element(target)
    await element.drag_to(onto, offset_x=offset_x, offset_y=offset_y)
    offset = (offset_x, offset_y)
    at = " at " + ", ".join("middle" if px is None else f"{px:g} px" for px in offset) if any(offset) else ""
    return f"Dragged {element} onto {onto}{at}."


class InputTextParams(ActionParams):
    index: Index
    text: Annotated[str, TYPED_IN]
    append: bool = Field(False, description="keep what is there")
    submit: bool = Field(False, description="press Enter after")
    slowly: bool = Field(False, description="key by key")


class FormField(ActionParams):
    """One field of fill_form."""

    index: Index
    value: Annotated[str | bool | list[str], TYPED_IN]


class FillFormParams(ActionParams):
    fields: list[FormField] = Field(min_length=1)


def _input_text_code(code: Code, params: InputTextParams) -> None:
    field = code.element()
    if params.append or params.slowly:
        code.call(field, *(("press", "End") if params.append else ("fill", "")))
        code.call(field, "press_sequentially", params.text)
    else:
        code.call(field, "fill", params.text)
    if params.submit:
        code.call(field, "press", "Enter")


@elements.action(reach="elements", code=_input_text_code)
async def input_text(ctx: ActionContext, params: InputTextParams) -> str:
    """Type text into a textbox or searchbox by its index, replacing its content."""
    element = ctx.tab.element(params.index)
    # First, so that a person is asked before anything is typed.
    await ctx.tab.input.check_elements(params.index, enter=params.submit)
    since = ctx.tab.activity.watch()
    message = await _fill(ctx, element, params.text, append=params.append, slowly=params.slowly)
    if params.submit:
        # What the text has opened may be what Enter chooses from.
        with contextlib.suppress(StaleElement):
            await ctx.tab.rest(since, params.index, limit=SUGGESTING_SECONDS)
        await ctx.tab.input.press("Enter")
        message += " Pressed Enter."
    return message


def _select_code(code: Code, options: list[str], argument: str = "index") -> None:
    if code.record(argument).tag == "select":
        code.call(code.element(argument), "select_option", options)
        return
    code.call(code.element(argument), "click")
    for option in options:
        code.call(code.find("role", "option", option), "click")


@elements.action(reach="elements", code=lambda code, params: _select_code(code, params.options))
async def select_option(
    ctx: ActionContext,
    index: Index,
    options: Strings = Field(description="labels or values, only those to be chosen"),
) -> str:
    """Choose options of a select, listbox, combobox or menu."""
    return await _select(ctx.tab.element(index), options)


@elements.action(effect="read")
async def get_options(ctx: ActionContext, index: Index) -> ActionResult:
    """List the options of a select or an open list, where the page does not show them."""
    element = ctx.tab.element(index)
    options = await ListField(element).options()
    if not options:
        raise NotFound(
            f"{element} shows no options.", hint="Click it to open its list, or name one in select_option."
        )
    lines: list[str] = []
    for option in options:
        states = " (selected)" * option.selected + " (disabled)" * option.disabled
        value = f" value={quoted(option.value)}" if option.value not in ("", option.label) else ""
        lines.append(f"- {quoted(option.label)}{value}{states}")
    return ActionResult(
        extracted_content=f"{counted(len(options), 'option')} of {element}:",
        page_content="\n".join(lines),
        data={"options": [option.model_dump(exclude={"index", "chosen"}) for option in options]},
    )


@elements.action(
    reach="elements", code=lambda code, params: code.call(code.element(), "set_checked", params.checked)
)
async def set_checked(ctx: ActionContext, index: Index, checked: bool = True) -> str:
    """Check or uncheck a checkbox, radio or switch."""
    return await _set_checked(ctx.tab.element(index), checked=checked)


def _fill_form_code(code: Code, params: FillFormParams) -> None:
    for number, field in enumerate(params.fields):
        argument, value = f"fields.{number}.index", field.value
        record, values = code.record(argument), value if isinstance(value, list) else [str(value)]
        if record.role in ("checkbox", "radio", "switch"):
            code.call(code.element(argument), "set_checked", value is True or str(value).lower() in _YES)
        elif record.attributes.get("type") == "file" or record.role in _OPENING:
            _upload_code(code, values, argument)
        elif record.tag == "select" or isinstance(value, list):
            _select_code(code, values, argument)
        else:
            code.call(code.element(argument), "fill", str(value))


def _filled(outcomes: Sequence[Outcome]) -> str:
    report = "\n".join(f"- {'failed: ' * (one.outcome != 'done')}{one.text}" for one in outcomes)
    fields = counted(len(outcomes), "field")
    if failed := sum(one.outcome != "done" for one in outcomes):
        others = "; the others are" if failed < len(outcomes) else ""
        return f"{failed} of {fields} could not be filled{others}.\n{report}"
    return f"Filled {fields}.\n{report}"


@elements.action(
    reach="elements",
    code=_fill_form_code,
    expansion=Expansion(
        into=lambda params: [{"fill_form": {"fields": [field.model_dump()]}} for field in params.fields],
        summary=_filled,
        lenient=True,
    ),
)
async def fill_form(ctx: ActionContext, params: FillFormParams) -> str:
    """Fill several fields: text, option labels, true/false, file paths."""
    (field,) = params.fields
    element, value = ctx.tab.element(field.index), field.value
    kind = await element.kind()
    if kind == "text" and element.role in _OPENING and {"/", "."} & {*str(value)}:
        kind = "file"
    match kind:
        case "check":
            said = str(value).strip().lower()
            if isinstance(value, list) or said not in _YES | _NO:
                raise InvalidArguments(f"{element} takes true or false, not {value!r}.")
            return await _set_checked(element, checked=said in _YES)
        case "select":
            return await _select(element, _as_list(value, element))
        case "file":
            if not ctx.gives_files:
                raise Refused(
                    f"{element} takes files, and a list of actions may not give any.",
                    hint="Call upload_file by itself.",
                )
            return await _upload(ctx, element, _as_list(value, element))
        case "text":
            if isinstance(value, list) and element.role == "combobox":
                return await _select(element, value)
            if not isinstance(value, str):
                raise InvalidArguments(f"{element} takes text, not {value!r}.")
            if value and element.role == "combobox":
                return await _choose_or_type(ctx, element, value)
            return await _fill(ctx, element, value, append=False, slowly=False)


def _upload_code(code: Code, paths: list[str], argument: str = "index") -> None:
    if any(path.startswith(("browser:", "data:")) for path in paths):
        raise NoEquivalent("it was a file of the session: put its path here")
    if code.record(argument).attributes.get("type") == "file":
        code.call(code.element(argument), "set_input_files", paths)
    else:
        code.choose_files(code.element(argument), paths)


@elements.action(reach="elements", code=lambda code, params: _upload_code(code, params.paths), alone=True)
async def upload_file(
    ctx: ActionContext, index: Index, paths: Strings = Field(repr=False, description="or data: URIs")
) -> str:
    """Give files to a file input."""
    return await _upload(ctx, ctx.tab.element(index), paths)


async def _choose_or_type(ctx: ActionContext, element: Element, value: str) -> str:
    """Choose the option of that name; if a text field's list has none, keep the text as it was typed."""
    field = ListField(element)
    try:
        if not await field.suggests():
            return await _select(element, [value])
        if chosen := await field.choose_typed(value):
            return f"Selected {quoted(chosen.label)} in {element}."
        held = await element.value()
        message = _typed(element, value, secret=held is None or held.secret)
        if held is not None:
            ctx.typed.append((element, held))
    except NotFound:
        message = await _fill(ctx, element, value, append=False, slowly=False)
    await field.close()
    return f"{message} Its list has no such option."


async def _fill(ctx: ActionContext, element: Element, text: str, *, append: bool, slowly: bool) -> str:
    field = await element.fill(text, append=append, slowly=slowly)
    if field is None:
        left = ", which has left the page" if element.is_gone else ""
        typed = f"Typed {counted(len(text), 'character')} into {element}{left}."
        return typed if text else f"Cleared {element}."
    message = _typed(element, text, secret=field.secret)
    if field.scale is None:
        ctx.typed.append((element.field, field))
    else:
        message = f"Moved {element} to {quoted(text)}." if field.holds(text) else f"Moved {element}."
    return message if field.holds(text, within=append) else message + field.instead


async def _select(element: Element, options: list[str]) -> str:
    chosen = await ListField(element).select(options)
    seen = ", ".join(quoted(option.label) for option in chosen if option.is_seen)
    sentences = [f"Selected {seen} in {element}."] if seen else []
    if any(option.is_pending for option in chosen):
        sentences.append("Its list is still open: it may have to be confirmed there.")
    sentences += [
        f"Clicked option {quoted(option.label)} of {element}, which shows {quoted(option.shown, SHOWN_TEXT)}."
        for option in chosen
        if not option.is_seen
    ]
    return " ".join(sentences)


async def _set_checked(element: Element, *, checked: bool) -> str:
    clicked = await element.set_checked(checked)
    state = "checked" if checked else "unchecked"
    if clicked is None:
        return f"Clicked {element} once. It says nothing of its state: whether it is {state} now is unknown."
    if element.is_gone:
        return f"Clicked {element} to have it {state}; it has left the page."
    return f"{element} is now {state}." if clicked else f"{element} was {state} already."


async def _upload(ctx: ActionContext, element: Element, paths: list[str]) -> str:
    files = await files_to_give(ctx, paths)
    await element.set_files(files)
    ctx.session.uploads += (file.name for file in files)
    return f"Gave {', '.join(file.name for file in files)} to {element}."


def _typed(element: Element, text: str, *, secret: bool) -> str:
    if not text:
        return f"Cleared {element}."
    if secret:
        return f"Typed {counted(len(text), 'character')} into {element}."
    return f"Typed {quoted(text.replace(chr(10), '⏎'), SHOWN_TEXT)} into {element}."


def _as_list(value: str | bool | list[str], element: Element) -> list[str]:
    if isinstance(value, bool):
        raise InvalidArguments(f"{element} takes text or a list of texts, not {value!r}.")
    return [value] if isinstance(value, str) else value
