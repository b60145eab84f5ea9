"""The moves of a policy with this project's tools."""

import contextlib
import re

from benchmarks.servers import ToolError
from benchmarks.tasks.hands import Hand, Name, NotSeenError, Seen

_ELEMENT = re.compile(r'^\s*[+~]?\s*\*?\[(\d+)\] (\S+) "((?:[^"\\]|\\.)*)"(.*)$')
_VALUE = re.compile(r'value="((?:[^"\\]|\\.)*)"')
_CELL = re.compile(r"\[(\d+)\] ([^|\[]+?) (?=\||$)")
_GONE = re.compile(r"^\s*- .* \(was \[(\d+)\]\)$")
_REDRAWN = re.compile(r"\[(\d+)\]→\[(\d+)\]")
_WHOLE = re.compile(r"^<page [^\n]* title=", re.M)


class McpBrowser(Hand):
    """This project: each result tells the page or what has changed, and indexes last."""

    told = ""
    """Everything told since the page was last told whole."""

    def call(self, tool: str, **arguments: object) -> str:
        """Call a tool and take in what it tells."""
        text = super().call(tool, **arguments)
        if _WHOLE.search(text) and not {"index", "part"} & arguments.keys():
            self.seen.clear()
            self.told = ""
        for line in text.splitlines():
            if found := _ELEMENT.match(line):
                index, role, name, states = found.groups()
                value = _VALUE.search(states)
                name = name or (value[1] if value else "")
                self.seen[index] = Seen(role, re.sub(r"\\(.)", r"\1", name), index, line)
            elif gone := _GONE.match(line):
                self.seen.pop(gone[1], None)
            elif line.startswith("= "):
                for old, new in _REDRAWN.findall(line):
                    if element := self.seen.pop(old, None):
                        self.seen[new] = Seen(element.role, element.name, new, element.line)
            if "| " in line:
                for index, name in _CELL.findall(line):
                    self.seen.setdefault(index, Seen("gridcell", name, index, line))
        self.told += f"{text}\n"
        return text

    def open(self, url: str) -> None:
        """go_to_url tells the page."""
        self.call("go_to_url", url=url)

    def look(self) -> None:
        """get_state."""
        self.call("get_state")

    def search(self, text: str, role: str) -> None:
        """find_elements."""
        with contextlib.suppress(ToolError):
            arguments = {"role": role} if role and "|" not in role else {}
            self.call("find_elements", text=text, **arguments)

    def read(self, pattern: str, *, near: str) -> re.Match[str]:
        """In what was told; else found."""
        if found := re.search(pattern, self.told):
            return found
        with contextlib.suppress(ToolError):
            if found := re.search(pattern, self.call("find_elements", text=near)):
                return found
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
        """wait_for, where it has not been told."""
        if text not in self.told:
            self.call("wait_for", text=text)
