"""How an operation is carried out by a server's tools, with no model: by role and text in what they return.

Both adapters look for a field in the same way: what has the name, else what has it in its name, else the
first that fits below a line with that text. The first try calls the tool that fits once. Where that has not
done it, the page is opened anew, and a second try goes by small steps: a click on the field, another on the
entry; keys one by one; arrows.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.operations.proof import FILE
from benchmarks.tasks.hands import Hand, NotSeenError, Seen
from benchmarks.tasks.ours import McpBrowser
from benchmarks.tasks.playwright_mcp import PlaywrightMcp

FIELDS = {
    "choose": "combobox listbox button textbox searchbox clickable menuitem generic tree group",
    "type": "textbox searchbox combobox spinbutton date time color clickable gridcell cell",
    "submit": "textbox searchbox combobox spinbutton",
    "set": "slider spinbutton separator",
    "tick": "checkbox switch radio menuitemcheckbox option button clickable row gridcell treeitem generic",
}
WEAK = {"clickable", "generic", "group"}
"""Roles of what is taken only where nothing else has the name."""
MOST_ARROWS = 60
MOST_BELOW = 6


def _called(one: Seen) -> str:
    """Its name, or the hint in its line; a canvas needs none."""
    hint = re.search(r' hint="((?:[^"\\]|\\.)*)"', one.line)
    return one.name or (hint[1] if hint else one.role if one.role == "canvas" else "")


def _before_value(one: Seen) -> str:
    return one.line.partition(" value=")[0]


class Operator(ABC):
    """A server's tools in use for operations."""

    falsehoods: re.Pattern[str]
    """What it says when it denies that something is there or has happened."""
    value: re.Pattern[str]
    """The number that a slider's line shows."""

    def __init__(self, hand: Hand) -> None:
        """`hand` reads what the tools return, and counts it."""
        self.hand = hand

    def do(self, move: str, *, again: bool) -> None:
        """Carry out a move; `again` in small steps.

        Raises:
            ToolError: a tool failed.
            NotSeenError: what it is about cannot be found.
        """
        word, _, rest = move.partition(" ")
        name, _, value = (part.strip() for part in rest.partition(" = "))
        match word:
            case "choose":
                (self.choose_by_clicks if again else self.choose)(name, value.split(", "))
            case "type" | "submit":
                self.type(self.field(name, word), value, submit=word == "submit", slowly=again)
            case "set":
                (self.set_by_arrows if again else self.set)(self.field(name, word), value)
            case "tick" | "untick":
                field = self.field(name, "tick")
                if again:
                    self.click(self.entry(name), "click")
                else:
                    self.tick(field, checked=word == "tick")
            case "drag":
                self.drag(self.field(name, ""), self.field(value, ""))
            case "upload":
                self.upload(self.entry(name) if again else self.field(name, ""))
            case "press":
                self.hand.press(rest)
            case _:
                self.click(self.field(name, ""), word)

    def field(self, name: str, verb: str) -> Seen:
        """The element that a move is about; `name nth=2` is the second of them."""
        name, _, nth = name.partition(" nth=")
        at = int(nth or 1) - 1
        roles = FIELDS.get(verb, "").split()
        looks: tuple[Callable[[], None], ...] = (
            lambda: None,
            lambda: self.hand.search(name, ""),
            self.hand.look,
        )
        for look in looks:
            look()
            seen = [one for one in self.hand.seen.values() if not roles or one.role in roles]
            whole = [one for one in seen if _called(one).strip(" *") == name]
            within = [one for one in seen if name.casefold() in _called(one).casefold()]
            if not roles:
                # What a field holds is a place in it.
                within = [one for one in within if one.role != "textbox" or name in _before_value(one)]
            for matching in (
                [one for one in whole if one.role not in WEAK],
                [one for one in within if roles and one.role not in WEAK],
                list(self.below(name, roles)),
                whole,
                within,
            ):
                if len(matching) > at:
                    return matching[at]
        raise NotSeenError(f"no {verb} {name!r}")

    def below(self, name: str, roles: list[str]) -> Iterator[Seen]:
        """What fits below a line with this text."""
        lines = str(getattr(self.hand, "shown", "")).splitlines()
        for place, line in enumerate(lines):
            if name in line:
                for near in lines[place : place + MOST_BELOW]:
                    for one in self.hand.seen.values():
                        if one.line == near and one.role in roles and one.role not in WEAK:
                            yield one

    def entry(self, name: str) -> Seen:
        """An entry of what is open: the last of that name."""
        self.hand.look()
        try:
            return self.hand.find("", name, nth=-1)
        except NotSeenError:
            return self.hand.find("", re.compile(re.escape(name)), nth=-1)

    def choose_by_clicks(self, name: str, options: list[str]) -> None:
        """Click the field, then each entry; a text field is typed into where that has not shown it."""
        self.click(self.field(name, "choose"), "click")
        for option in options:
            try:
                entry = self.entry(option)
            except NotSeenError:
                self.type(self.field(name, "type"), option, submit=False, slowly=True)
                entry = self.entry(option)
            self.click(entry, "click")

    def set_by_arrows(self, field: Seen, value: str) -> None:
        """Press arrows as often as numbers lie between."""
        now = self.value.search(field.line)
        way = round(float(value) - float(now[1] if now else 0))
        self.click(field, "click")
        for _ in range(min(abs(way), MOST_ARROWS)):
            self.hand.press("ArrowRight" if way > 0 else "ArrowLeft")

    @abstractmethod
    def choose(self, name: str, options: list[str]) -> None:
        """Choose options of a field."""

    @abstractmethod
    def type(self, field: Seen, text: str, *, submit: bool, slowly: bool) -> None:
        """Put a text into a field."""

    @abstractmethod
    def set(self, field: Seen, value: str) -> None:
        """Move a slider."""

    @abstractmethod
    def tick(self, field: Seen, *, checked: bool) -> None:
        """Put a box into a state."""

    @abstractmethod
    def click(self, field: Seen, how: str) -> None:
        """Click it; `how` is click, double, right or hover."""

    @abstractmethod
    def drag(self, field: Seen, to: Seen) -> None:
        """Drag it onto another one."""

    @abstractmethod
    def upload(self, field: Seen) -> None:
        """Give it a file."""

    @abstractmethod
    def evaluate(self, expression: str) -> bool:
        """Whether an expression is IS:true in the page; nothing of it is counted."""


class Ours(Operator):
    """This project's tools."""

    value = re.compile(r'value="(-?[\d.]+)')
    falsehoods = re.compile(
        r"shows no options|has no option|No text or control changed|is gone from the page"
    )

    def _call(self, tool: str, field: Seen, **arguments: Any) -> None:
        self.hand.call(tool, index=int(field.handle), **arguments)

    def choose(self, name: str, options: list[str]) -> None:
        """select_option."""
        self._call("select_option", self.field(name, "choose"), options=options)

    def type(self, field: Seen, text: str, *, submit: bool, slowly: bool) -> None:
        """input_text."""
        more = {key: True for key, given in (("submit", submit), ("slowly", slowly)) if given}
        self._call("input_text", field, text=text, **more)

    def set(self, field: Seen, value: str) -> None:
        """input_text, which moves it."""
        self._call("input_text", field, text=value)

    def tick(self, field: Seen, *, checked: bool) -> None:
        """set_checked."""
        self._call("set_checked", field, checked=checked)

    def click(self, field: Seen, how: str) -> None:
        """click_element or hover_element."""
        if how == "hover":
            self._call("hover_element", field)
            return
        more: dict[str, Any] = {"double": {"double": True}, "right": {"button": "right"}}.get(how, {})
        self._call("click_element", field, **more)

    def drag(self, field: Seen, to: Seen) -> None:
        """drag_element."""
        self._call("drag_element", field, target=int(to.handle))

    def upload(self, field: Seen) -> None:
        """upload_file."""
        self._call("upload_file", field, paths=[str(FILE)])

    def evaluate(self, expression: str) -> bool:
        """evaluate_script."""
        text, failed = self.hand.connection.answer("evaluate_script", script=f"return {expression}")
        return not failed and "IS:true" in text


class Theirs(Operator):
    """The tools of playwright-mcp."""

    value = re.compile(r': "?(-?[\d.]+)"?$')
    falsehoods = re.compile(r"(?!)")
    """Its results say what was run, and nothing of the outcome."""

    def _call(self, tool: str, field: Seen, **arguments: Any) -> None:
        self.hand.call(tool, element=f"{field.name} {field.role}", target=field.handle, **arguments)

    def choose(self, name: str, options: list[str]) -> None:
        """browser_select_option takes native lists only: those that show their options in the snapshot."""
        field = self.field(name, "choose")
        after = str(getattr(self.hand, "shown", "")).partition(field.line)[2].lstrip("\n")
        if re.match(r"\s*- option", after):
            self._call("browser_select_option", field, values=options)
            return
        self.click(field, "click")
        for option in options:
            self.click(self.entry(option), "click")

    def type(self, field: Seen, text: str, *, submit: bool, slowly: bool) -> None:
        """browser_type."""
        more = {key: True for key, given in (("submit", submit), ("slowly", slowly)) if given}
        self._call("browser_type", field, text=text, **more)

    def set(self, field: Seen, value: str) -> None:
        """browser_fill_form."""
        given = {"name": field.name or field.role, "type": "slider", "target": field.handle, "value": value}
        self.hand.call("browser_fill_form", fields=[{**given, "element": field.name or field.role}])

    def tick(self, field: Seen, *, checked: bool) -> None:
        """browser_click where its line says otherwise."""
        if ("[checked]" in field.line) != checked:
            self.click(field, "click")

    def click(self, field: Seen, how: str) -> None:
        """browser_click or browser_hover."""
        if how == "hover":
            self._call("browser_hover", field)
            return
        more: dict[str, Any] = {"double": {"doubleClick": True}, "right": {"button": "right"}}.get(how, {})
        self._call("browser_click", field, **more)

    def drag(self, field: Seen, to: Seen) -> None:
        """browser_drag."""
        ends = {"startElement": field.name, "startTarget": field.handle}
        self.hand.call("browser_drag", **ends, endElement=to.name, endTarget=to.handle)

    def upload(self, field: Seen) -> None:
        """browser_click, then browser_file_upload."""
        self.click(field, "click")
        self.hand.call("browser_file_upload", paths=[str(FILE)])

    def evaluate(self, expression: str) -> bool:
        """browser_evaluate."""
        text, failed = self.hand.connection.answer("browser_evaluate", function=f"() => ({expression})")
        return not failed and "IS:true" in text


OPERATORS: dict[str, tuple[type[Operator], type[Hand]]] = {
    "mcp-browser": (Ours, McpBrowser),
    "playwright-mcp": (Theirs, PlaywrightMcp),
}
