"""The moves of a policy with playwright-mcp's tools, used as their descriptions advise.

On a page that it comes to it takes a snapshot: its navigation gives only the name of a file, and nothing of
the page can be known without. References last as long as their elements, so that what was seen on a page is
acted on without another look. What has come meanwhile is looked for with browser_find, "cheaper than
capturing the whole snapshot when you only need to locate an element and its ref", and only where that finds
nothing the snapshot is taken again. What it refuses to click because something else lies over it is clicked
by browser_evaluate.
"""

import contextlib
import re
from collections.abc import Iterator
from functools import partial
from itertools import takewhile
from typing import Any

from benchmarks.servers import ToolError
from benchmarks.tasks.hands import Hand, Name, NotSeenError, Seen

_LINE = re.compile(
    r"""^\s*- '?(?P<role>[a-z]+)(?: "(?P<name>(?:[^"\\]|\\.)*)")?(?P<rest>.*?\[ref=(?P<ref>\w+)\].*)$"""
)
_TEXT = re.compile(r"^[^:]*\]'?: (.*)$")
SECONDS = 3
NAMED_BY_CONTENT = ("link", "button", "cell", "row")
POINTED = "[cursor=pointer]"
_PARTS = re.compile(
    r"""^\s*-\ (?:text|[a-z]+(?:\ \[[^\]]*\])*):\ (.+)$  # a text, or an element with nothing but one
      | ^\s*-\ '?[a-z]+\ "((?:[^"\\]|\\.)*)"  # an element with a name""",
    re.M | re.X,
)
_NOTHING = re.compile(r"^No matches found", re.M)
_PAGE = re.compile(r"^- Page URL: (.*)$", re.M)


class PlaywrightMcp(Hand):
    """Microsoft's server on Playwright."""

    url = ""
    shown = ""
    """The snapshot and what was found since, as long as nothing has been done that may have changed it."""

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool and take in its text; where an action has led to another page, see that."""
        text = super().call(tool, **arguments)
        for seen in elements(text):
            self.seen[seen.handle] = seen
        page = _PAGE.search(text)
        if tool not in ("browser_snapshot", "browser_find"):
            self.shown = ""
        if not _NOTHING.search(text):
            self.shown += f"{text}\n"
        if page and page[1].split("#")[0] != self.url.split("#")[0]:
            self.url = page[1]
            self.seen.clear()
            if tool != "browser_snapshot":
                self.arrive(tool)
        return text

    def arrive(self, tool: str) -> None:
        """See the page that a call of `tool` has led to."""
        del tool
        self.look()

    def open(self, url: str) -> None:
        """browser_navigate, then a look, which comes with any new address."""
        before = self.url
        self.call("browser_navigate", url=url)
        if self.url == before:
            self.look()

    def look(self) -> None:
        """browser_snapshot."""
        self.seen.clear()
        self.call("browser_snapshot")

    def search(self, text: str, role: str) -> None:
        """browser_find; the role is only seen in what comes back."""
        if text:
            with contextlib.suppress(ToolError):
                self.call("browser_find", text=text)

    def read(self, pattern: str, *, near: str) -> re.Match[str]:
        """In what was shown since the last action; else found; else in a snapshot."""
        more = (lambda: self.search(near, ""), self.look, lambda: self.wait(near), None)
        for step in more:
            if found := re.search(pattern, self.shown) or re.search(pattern, words(self.shown)):
                return found
            if step is not None:
                step()
        raise NotSeenError(pattern)

    def _with(self, role: str, name: Name, nth: int, tool: str, **arguments: Any) -> None:
        """Act on an element; once more with its new reference where the old one is gone."""
        for again in (False, True):
            target = self.find(role, name, nth=nth)
            try:
                self.call(tool, element=f"{target.name} {target.role}", target=target.handle, **arguments)
            except ToolError as error:
                if tool == "browser_click" and "intercepts pointer events" in str(error):
                    more = {"element": target.name, "target": target.handle}
                    self.call("browser_evaluate", function="(element) => element.click()", **more)
                    return
                if again or "snapshot" not in str(error):
                    raise
                self.look()
            else:
                return

    def click(self, role: str, name: Name, *, nth: int = 0, double: bool = False) -> None:
        """browser_click."""
        more = {"doubleClick": True} if double else {}
        self._with(role, name, nth, "browser_click", **more)

    def fill(self, role: str, name: Name, text: str, *, nth: int = 0, submit: bool = False) -> None:
        """browser_type."""
        more = {"submit": True} if submit else {}
        self._with(role, name, nth, "browser_type", text=text, **more)

    def choose(self, role: str, name: Name, options: list[str]) -> None:
        """browser_select_option."""
        self._with(role, name, 0, "browser_select_option", values=options)

    def press(self, key: str) -> None:
        """browser_press_key."""
        self.call("browser_press_key", key=key)

    def wait(self, text: str) -> None:
        """browser_wait_for, by time: by text it waits in vain where the first of several is hidden."""
        self.call("browser_wait_for", time=SECONDS)
        self.look()


def elements(text: str) -> Iterator[Seen]:
    """The elements of a snapshot. One without a name is called by what stands in it."""
    lines = text.splitlines()
    for place, line in enumerate(lines):
        found = _LINE.match(line)
        if found is None:
            continue
        inner = _TEXT.match(found["rest"])
        name = found["name"] or (inner[1] if inner else "")
        if not name and (found["role"] in NAMED_BY_CONTENT or POINTED in found["rest"]):
            within = takewhile(partial(_is_deeper, line), lines[place + 1 :])
            name = words("\n".join(within))
        yield Seen(found["role"], re.sub(r"\\(.)", r"\1", name).strip('"'), found["ref"], line)


def _is_deeper(outer: str, line: str) -> bool:
    return len(line) - len(line.lstrip()) > len(outer) - len(outer.lstrip())


def words(text: str) -> str:
    """What a snapshot says without its form: names and texts in their order."""
    return " ".join((one or two).strip('"') for one, two in _PARTS.findall(text))
