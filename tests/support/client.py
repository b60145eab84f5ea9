"""A black-box MCP client over stdio, for policies that know only what the tools return.

async with browsing("auto") as browser:
    await browser.open("http://127.0.0.1:8000/admin/")
    await browser.fill("textbox", "Username", "boss")
    await browser.click("button", "Log in")
    assert browser.shows("Welcome")
"""

import asyncio
import base64
import re
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from tests.support.process import own_environment

Era = Literal["auto", "legacy"]
T = TypeVar("T")
ERAS: tuple[Era, ...] = ("auto", "legacy")
both_eras = pytest.mark.parametrize("era", ERAS)
MODERN_FIRST = [pytest.param(era, marks=[pytest.mark.slow] if era == "legacy" else []) for era in ERAS]
"""Both; the older one is left to the slow tests where it has no part in what is tested."""

_ELEMENT = re.compile(
    r"^\s*[+~]?\s*\*?\[(?P<index>\d+)\] (?P<role>\S+) "
    r'"(?P<name>(?:[^"\\]|\\.)*)"(?P<states>.*)$'
)
_IN_ROW = re.compile(
    r'(?<= )\*?\[(?P<index>\d+)\] (?P<role>\S+) "(?P<name>(?:[^"\\]|\\.)*)"'
    r"(?P<states>(?:(?! \*?\[\d+\] \S| \|(?: |$)).)*)"
)
_ROW = re.compile(r"^\s*(?:[+~] )?\s*(?:\*?\[\d+\] row )?\| ")
_GONE = re.compile(r"^\s*- .* \(was \[(\d+)\]\)$")
_WAS = re.compile(r" \(was .*\)$")
_REDRAWN = re.compile(r"\[(\d+)\]→\[(\d+)\]")
_FRAME = re.compile(r"^<page [^\n]*>$", re.MULTILINE)
_CHANGE = re.compile(r"^\s*[-+~] ", re.MULTILINE)
_READS_OF_A_PART = {"find_elements", "get_options", "extract_content", "get_html"}


class ToolError(AssertionError):
    """A tool answered with an error where the policy expected success."""


class NotSeenError(AssertionError):
    """The tools have not shown what the policy looks for."""


@dataclass(frozen=True)
class Result:
    """What one tool call returned; `images` are the decoded bytes."""

    text: str
    images: tuple[bytes, ...]
    structured: dict[str, Any] | None
    is_error: bool
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Element:
    """One line of the grammar, as the tools last showed it."""

    index: int
    role: str
    name: str
    states: str

    def value(self) -> str:
        """The text of `value="…"`, or nothing."""
        found = re.search(r'value="((?:[^"\\]|\\.)*)"', self.states)
        return found[1] if found else ""


class Browser:
    """An MCP client with a memory of what it was shown; make one with `browsing`."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.transcript: list[tuple[str, dict[str, Any], Result]] = []
        self.elements: dict[int, Element] = {}
        self.page = ""

    async def call(self, tool: str, **arguments: Any) -> Result:
        """Call a tool; an error is a result like any other."""
        answer = await self.answer(tool, arguments)
        result = Result(
            "\n".join(part.text for part in answer.content if isinstance(part, types.TextContent)),
            tuple(
                base64.b64decode(part.data) for part in answer.content if isinstance(part, types.ImageContent)
            ),
            answer.structured_content,
            bool(answer.is_error),
            answer.meta or {},
        )
        self.transcript.append((tool, arguments, result))
        if not result.is_error:
            self._remember(result.text, whole=_is_whole_page(tool, arguments, result.text))
        return result

    async def answer(self, tool: str, arguments: dict[str, Any]) -> types.CallToolResult:
        answer = await self.client.call_tool(tool, arguments)
        assert isinstance(answer, types.CallToolResult)
        return answer

    async def do(self, tool: str, **arguments: Any) -> str:
        """Call a tool that has to succeed, and tell its text."""
        result = await self.call(tool, **arguments)
        if result.is_error:
            raise ToolError(f"{tool}({arguments}): {result.text}")
        return result.text

    async def refused(self, tool: str, **arguments: Any) -> str:
        """Call a tool that has to fail, and tell its text."""
        result = await self.call(tool, **arguments)
        assert result.is_error, result.text
        return result.text

    async def open(self, url: str) -> str:
        return await self.do("go_to_url", url=url)

    async def snapshot(self) -> str:
        """The whole page as it is now, as get_state tells it."""
        return await self.do("get_state", screenshot=False)

    def find(self, role: str | None, name: str | re.Pattern[str], *, nth: int = 0) -> int:
        """The index of an element that the tools have shown; raises NotSeenError, which lists what was shown.

        `name` is its whole accessible name, or a pattern to be found in it; `nth`, from 0, which of several.
        """
        return self.element(role, name, nth=nth).index

    def element(self, role: str | None, name: str | re.Pattern[str], *, nth: int = 0) -> Element:
        """Like `find`, with the whole line."""
        found = self.all(role, name)
        try:
            return found[nth]
        except IndexError:
            shown = "\n".join(f'[{e.index}] {e.role} "{e.name}"{e.states}' for e in self.elements.values())
            raise NotSeenError(f"no {role} {name!r} among what was shown:\n{shown}") from None

    def all(self, role: str | None, name: str | re.Pattern[str] = re.compile("")) -> list[Element]:
        """Every element of that role (any, if None) and name that the tools have shown and not taken back."""
        return [e for e in self.elements.values() if role in (None, e.role) and _matches(name, e.name)]

    async def look_for(self, role: str, name: str | re.Pattern[str], *, nth: int = 0) -> int:
        """The index of an element; the page is looked at, then searched, where it was not shown yet."""
        if not self.all(role, name):
            await self.snapshot()
        if not self.all(role, name):
            await self.call("find_elements", role=role, text=name if isinstance(name, str) else name.pattern)
        return self.find(role, name, nth=nth)

    async def click(self, role: str, name: str | re.Pattern[str], *, nth: int = 0, **options: Any) -> str:
        return await self.do("click_element", index=await self.look_for(role, name, nth=nth), **options)

    async def fill(self, role: str, name: str | re.Pattern[str], text: str, **options: Any) -> str:
        index = await self.look_for(role, name, nth=options.pop("nth", 0))
        return await self.do("input_text", index=index, text=text, **options)

    async def wait_until(self, text: str, **options: Any) -> str:
        return await self.do("wait_for", text=text, **options)

    def shows(self, text: str) -> bool:
        """Whether the page, as far as the tools have told, has this text."""
        return text in self.page

    def last(self) -> str:
        return self.transcript[-1][2].text

    def _remember(self, text: str, *, whole: bool) -> None:
        if whole:
            self.elements.clear()
            self.page = ""
        for line in text.splitlines():
            if gone := _GONE.match(line):
                self.elements.pop(int(gone[1]), None)
            elif found := elements_in(line):
                self.elements |= {element.index: element for element in found}
            elif line.startswith("= "):
                for old, new in _REDRAWN.findall(line):
                    if element := self.elements.pop(int(old), None):
                        self.elements[int(new)] = replace(element, index=int(new))
        self.page += text + "\n"


@asynccontextmanager
async def browsing(era: Era = "auto", *arguments: str, **options: Any) -> AsyncGenerator[Browser]:
    """A client connected to a server process of its own: headless, with a clean profile.

    Fixtures of any scope may hold it. `arguments` are more flags, `options` the client's, such as callbacks.
    """
    command = ["-m", "mcp_browser", "--stdio", "--headless", "--isolated", *arguments]
    async with python_client(command, era, **options) as client:
        yield Browser(client)


def python_client(
    command: list[str], era: Era, *, seconds: float = 120, **options: Any
) -> AbstractAsyncContextManager[Client]:
    """A client of a Python process, which has no settings from the environment; it has a task of its own."""
    server = StdioServerParameters(command=sys.executable, args=command, env=own_environment())
    return held(Client(server, mode=era, read_timeout_seconds=seconds, **options))


@asynccontextmanager
async def held(manager: AbstractAsyncContextManager[T]) -> AsyncGenerator[T]:
    """What a context manager gives, entered and left in a task of its own.

    A task group must be left in the task that entered it, and the end of a fixture runs in another one.
    """
    entered: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    finished = asyncio.Event()

    async def hold() -> None:
        async with manager as value:
            entered.set_result(value)
            await finished.wait()

    holder = asyncio.create_task(hold())
    await asyncio.wait({holder, entered}, return_when=asyncio.FIRST_COMPLETED)
    if holder.done():
        await holder
    try:
        yield entered.result()
    finally:
        finished.set()
        await holder


def elements_in(text: str) -> list[Element]:
    """The elements that lines of the grammar tell, those in rows among them."""
    found: list[Element] = []
    for line in text.splitlines():
        if _ROW.match(line):
            matches = list(_IN_ROW.finditer(line))
        else:
            matches = [match for match in [_ELEMENT.match(line)] if match]
        for match in matches:
            states = _WAS.sub("", match["states"]) if line.lstrip().startswith("~") else match["states"]
            found.append(Element(int(match["index"]), match["role"], _unescape(match["name"]), states))
    return found


def _is_whole_page(tool: str, arguments: dict[str, Any], text: str) -> bool:
    """Whether a result shows the page from the start, so that what was known before is history."""
    of_a_part = tool == "get_state" and not arguments.keys().isdisjoint({"index", "part"})
    if of_a_part or tool in _READS_OF_A_PART:
        return False
    frame = _FRAME.search(text)
    return frame is not None and (" title=" in frame[0] or not _CHANGE.search(text))


def _matches(wanted: str | re.Pattern[str], name: str) -> bool:
    return wanted == name if isinstance(wanted, str) else wanted.search(name) is not None


def _unescape(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)
