"""The moves of a policy with this project's tools."""

import contextlib
import re
from typing import Any

from benchmarks.servers import ToolError
from benchmarks.tasks.hands import Hand, Name, NotSeenError, Seen

_ELEMENT = re.compile(r'^\s*[+~]?\s*\*?\[(\d+)\] (\S+) "((?:[^"\\]|\\.)*)"(.*)$')
_VALUE = re.compile(r'value="((?:[^"\\]|\\.)*)"')
_IN_ROW = re.compile(r'(?<= )\*?\[(\d+)\] (\S+) "((?:[^"\\]|\\.)*)"')
_CELL = re.compile(r'\[(\d+)\] ([^|\["]+?)(?: \([^|()]*\))?(?= \||"| \[|$)')
_GONE = re.compile(r"^\s*- .* \(was \[(\d+)\]\)$")
_REDRAWN = re.compile(r"\[(\d+)\](?:…\[(\d+)\])?→\[(\d+)\]")
_WHOLE = re.compile(r"^<page [^\n]* title=|^Note: The page is .* it is not shown beside what was read", re.M)


def _redrawn(line: str) -> list[tuple[str, str]]:
    """Old and new indexes: `[2]→[7]`, and of a range `[2]…[4]→[7]…[9]` each."""
    return [
        (str(int(first) + i), str(int(new) + i))
        for first, last, new in _REDRAWN.findall(line)
        for i in range(int(last or first) - int(first) + 1)
    ]


class McpBrowser(Hand):
    """This project: each result shows the page or what has changed, and indexes last."""

    shown = ""
    """Everything shown since the page was last shown whole."""

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool and take in its text, errors too."""
        try:
            text = super().call(tool, **arguments)
        except ToolError as error:
            self.take_in(str(error))
            raise
        of_a_part = tool == "get_state" and bool({"index", "part"} & arguments.keys())
        self.take_in(text, whole=not of_a_part)
        return text

    def take_in(self, text: str, *, whole: bool = True) -> None:
        """Learn the elements of a result; those of a `whole` page are all that there are."""
        if whole and _WHOLE.search(text):
            self.seen.clear()
            self.shown = ""
        for line in text.splitlines():
            if found := _ELEMENT.match(line):
                index, role, name, states = found.groups()
                value = _VALUE.search(states)
                name = name or (value[1] if value else "")
                self.seen[index] = Seen(role, re.sub(r"\\(.)", r"\1", name), index, line)
            elif gone := _GONE.match(line):
                self.seen.pop(gone[1], None)
            elif line.startswith("= "):
                for old, new in _redrawn(line):
                    if element := self.seen.pop(old, None):
                        self.seen[new] = Seen(element.role, element.name, new, element.line)
            if "| " in line:
                for index, role, name in _IN_ROW.findall(line):
                    self.seen[index] = Seen(role, re.sub(r"\\(.)", r"\1", name), index, line)
                for index, name in _CELL.findall(line):
                    self.seen.setdefault(index, Seen("gridcell", name, index, line))
        self.shown += "".join(f"{line}\n" for line in text.splitlines() if not line.startswith("- "))

    def open(self, url: str) -> None:
        """go_to_url, which shows the page."""
        self.call("go_to_url", url=url)

    def look(self) -> None:
        """get_state."""
        self.call("get_state")

    def search(self, text: str, role: str) -> None:
        """find_elements."""
        if not text:
            return
        with contextlib.suppress(ToolError):
            arguments = {"role": role} if role and "|" not in role else {}
            self.call("find_elements", text=text, **arguments)

    def read(self, pattern: str, *, near: str) -> re.Match[str]:
        """In what was shown; else found."""
        if found := [*re.finditer(pattern, self.shown)]:
            return found[-1]
        with contextlib.suppress(ToolError):
            if found := re.search(pattern, self.call("find_elements", text=near)):
                return found
        self.wait(near)
        if found := [*re.finditer(pattern, self.shown)]:
            return found[-1]
        raise NotSeenError(pattern)

    def click(self, role: str, name: Name, *, nth: int = 0, double: bool = False) -> None:
        """click_element."""
        more = {"double": True} if double else {}
        self.call("click_element", index=int(self.find(role, name, nth=nth).handle), **more)

    def fill(self, role: str, name: Name, text: str, *, nth: int = 0, submit: bool = False) -> None:
        """input_text."""
        more = {"submit": True} if submit else {}
        self.call("input_text", index=int(self.find(role, name, nth=nth).handle), text=text, **more)

    def choose(self, role: str, name: Name, options: list[str]) -> None:
        """select_option."""
        self.call("select_option", index=int(self.find(role, name).handle), options=options)

    def press(self, key: str) -> None:
        """send_keys."""
        self.call("send_keys", keys=key)

    def wait(self, text: str) -> None:
        """wait_for, which shows the page as it is then; then get_state."""
        with contextlib.suppress(ToolError):
            self.call("wait_for", text=text)
        self.look()
