"""What a policy works with: the goal, the latest snapshot as lines, and the tools."""

import html
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Call = Callable[..., Awaitable[str]]
"""Calls a tool by name with its arguments; the text of its result. A failed call raises."""

_ELEMENT = re.compile(r'^\s*\*?\[(?P<index>\d+)\] (?P<role>\S+) "(?P<name>(?:[^"\\]|\\.)*)"(?P<states>.*)$')
_IN_ROW = re.compile(
    r'(?<= )\*?\[(?P<index>\d+)\] (?P<role>\S+) "(?P<name>(?:[^"\\]|\\.)*)"'
    r"(?P<states>(?:(?! \*?\[\d+\] \S| \|(?: |$)).)*)"
)
_ROW = re.compile(r"^\s*(?:\*?\[\d+\] row )?\| ")


@dataclass(frozen=True)
class Line:
    """A line of a snapshot; for plain text `index` is 0, `role` is empty and `name` is the whole line."""

    index: int
    role: str
    name: str
    states: str = ""


def parse(text: str) -> list[Line]:
    """The lines of a tool's result; the elements in a row come after the row itself."""
    lines: list[Line] = []
    for line in text.splitlines():
        element = _ELEMENT.match(line)
        if line.strip() and not element:
            lines.append(Line(0, "", line.strip()))
        for found in _IN_ROW.finditer(line) if _ROW.match(line) else filter(None, [element]):
            lines.append(
                Line(int(found["index"]), found["role"], found["name"].replace('\\"', '"'), found["states"])
            )
    return lines


class Player:
    """A page in play. Each method is one tool call, save `look_for`, which repeats one."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.goal = ""
        self.lines: list[Line] = []

    async def open(self, url: str) -> None:
        """Open an episode and read its goal."""
        await self.call("go_to_url", url=url)
        await self.look()

    async def look(self) -> list[Line]:
        """Read the page anew."""
        text = await self.call("get_state", screenshot=False)
        self.goal = title_of(text)
        self.lines = parse(text)
        return self.lines

    @property
    def ended(self) -> bool:
        """Whether the latest look found the episode at its end."""
        return self.goal == "The episode has ended."

    @property
    def quoted(self) -> list[str]:
        """What the goal has in quotes; a tool shows a title's double quotes as single ones."""
        return re.findall(r"'([^']*)'", self.goal.replace('"', "'"))

    def all(self, role: str | None = None, name: str | None = None) -> list[Line]:
        """The elements with this role and this exact name, in reading order."""
        return [
            line
            for line in self.lines
            if line.index and (role is None or line.role == role) and (name is None or line.name == name)
        ]

    def one(self, role: str | None = None, name: str | None = None) -> Line:
        """The first such element.

        Raises:
            LookupError: there is none.
        """
        if found := self.all(role, name):
            return found[0]
        shown = "\n".join(f"[{line.index}] {line.role} {line.name!r}{line.states}" for line in self.lines)
        raise LookupError(f"no {role or 'element'} {name!r} among\n{shown}")

    def texts(self) -> list[str]:
        """Every line's text or name, in reading order."""
        return [line.name for line in self.lines]

    async def select(self, selector: str) -> list[Line]:
        """The elements that a selector finds."""
        found = parse(await self.call("find_elements", selector=selector, limit=100))
        return [line for line in found if line.index]

    async def with_text(self, text: str) -> Line:
        """The innermost element with exactly this text."""
        return (await self.select(f':text-is("{text}")'))[-1]

    async def click(self, target: Line) -> str:
        """Click an element."""
        return await self.call("click_element", index=target.index)

    async def press_button(self, name: str = "Submit") -> None:
        """Click the button of this name."""
        await self.click(self.one("button", name))

    async def fill(self, target: Line, text: str) -> str:
        """Put text into a field."""
        return await self.call("input_text", index=target.index, text=text)

    async def keys(self, keys: str) -> str:
        """Press a key or a combination."""
        return await self.call("send_keys", keys=keys)

    async def drag(self, source: Line, target: Line) -> str:
        """Drag one element onto another."""
        return await self.call("drag_element", index=source.index, target=target.index)

    async def html(self, target: Line) -> str:
        """The HTML of an element."""
        return framed(await self.call("get_html", index=target.index))

    async def text(self, target: Line) -> str:
        """The text of an element."""
        return framed(await self.call("extract_content", index=target.index))

    def field(self, nth: int = 0) -> Line:
        """The text field at this place in reading order."""
        return [
            line for line in self.all() if line.role in {"textbox", "combobox", "searchbox", "spinbutton"}
        ][nth]


def framed(text: str) -> str:
    """What a result has between the marks of a page's content."""
    found = re.search(r"^<page .*?>$(.*)^</page>$", text, re.M | re.S)
    assert found, f"no page content in\n{text}"
    return found[1].strip()


def title_of(text: str) -> str:
    """The page's title, as a snapshot tells it."""
    found = re.search(r'^<page .*\btitle="([^"]*)"', text, re.M)
    assert found, f"no title in\n{text}"
    return html.unescape(found[1])
