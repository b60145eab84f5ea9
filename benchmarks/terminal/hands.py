"""The moves of a policy by command lines; two are those of the servers' tools, made commands of.

`chrome-devtools` takes a snapshot with each action (`--includeSnapshot`): it has no search and waits for
no text. `agent-browser` prints no page: as its own skill says, it is waited for and looked at (`snapshot -i`)
after what may have changed it, and read whole (`snapshot`) where the interactive elements do not have what is
looked for. Both give names as they are drawn, often in capitals, which a reader takes for the same. What is
refused is tried once more after a look.
"""

import contextlib
import re
from collections.abc import Callable

from benchmarks.servers import ToolError
from benchmarks.tasks.hands import Hand, Name, NotSeenError, Seen

_AX = re.compile(
    r"""^\s*uid=(\S+) (?:(\w+)(?= |$))? ?(?:"(.*?)")?((?:(?= |$)[^\n]*)(?:\n(?!\s*uid=)[^\n]*)*)""",
    re.MULTILINE,
)
_REF = re.compile(
    r"""^\s*- (\w+)(?: "((?:[^"\\]|\\.)*)")?[^\n]*?\[(?:[^\n]*, )?ref=(\w+)[\],]"""
    r"""([^\n]*(?:\n(?!\s*- )[^\n]*)*)""",
    re.MULTILINE,
)
_VALUE = re.compile(r'(?:value="|\]: |^: )(.*?)"?$', re.DOTALL)
SECONDS = 3


class DrawnNames(Hand):
    """A program that gives names as they are drawn; `shown` is the last snapshot."""

    shown = ""

    def all(self, role: str, name: Name) -> list[Seen]:
        """Those of this name, in capitals or not."""
        pattern = rf"^{re.escape(name)}$" if isinstance(name, str) else name.pattern
        return super().all(role, re.compile(pattern, re.IGNORECASE))

    def said(self, pattern: str, text: str) -> re.Match[str] | None:
        """A pattern in what was shown: in the lines, or in the names alone, which may be parts of a word."""
        names = re.findall(r'"(.*?)"(?= \w| \[|$)', text, re.MULTILINE)
        found = (re.search(pattern, one) for one in (text, " ".join(names), "".join(names)))
        return next(filter(None, found), None)

    def whole(self) -> None:
        """Look at all of the page."""
        self.look()

    def read(self, pattern: str, *, near: str) -> re.Match[str]:
        """In the last snapshot; else in one of the whole page; else once it is there."""
        for step in (self.whole, lambda: self.wait(near), None):
            if found := self.said(pattern, self.shown):
                return found
            if step is not None:
                step()
        raise NotSeenError(pattern)

    def twice(self, act: Callable[[str], object], role: str, name: Name, nth: int = 0) -> None:
        """Act on an element; once more, after a look, where that is refused."""
        try:
            act(self.find(role, name, nth=nth).handle)
        except ToolError:
            self.look()
            act(self.find(role, name, nth=nth).handle)


class ChromeDevtoolsHand(DrawnNames):
    """Google's command line."""

    def call(self, tool: str, **arguments: object) -> str:
        """Call it and take in the snapshot that it prints."""
        text = super().call(tool, **arguments)
        if "## Latest page snapshot" in text:
            self.seen.clear()
            self.shown = text
            for uid, role, name, rest in _AX.findall(text):
                self.seen[uid] = Seen((role or "text").lower(), name or value_in(rest), uid, rest)
        return text

    def open(self, url: str) -> None:
        """navigate_page, then take_snapshot."""
        self.call("navigate_page", type="url", url=url)
        self.look()

    def look(self) -> None:
        """take_snapshot."""
        self.call("take_snapshot")

    def search(self, text: str, role: str) -> None:
        """There is no search: the whole page is shown already."""

    def click(self, role: str, name: Name, *, nth: int = 0, double: bool = False) -> None:
        """click."""
        more = {"dblClick": True} if double else {}
        self.twice(lambda uid: self.call("click", uid=uid, includeSnapshot=True, **more), role, name, nth)

    def fill(self, role: str, name: Name, text: str, *, nth: int = 0, submit: bool = False) -> None:
        """fill; Enter is a command of its own."""
        self.twice(lambda uid: self.call("fill", uid=uid, value=text), role, name, nth)
        if submit:
            self.press("Enter")

    def choose(self, role: str, name: Name, options: list[str]) -> None:
        """fill, which chooses an option of a combobox; of a list box it is clicked."""
        if role == "listbox":
            self.click("option", options[0])
            return
        self.twice(lambda uid: self.call("fill", uid=uid, value=options[0]), role, name)

    def press(self, key: str) -> None:
        """press_key."""
        self.call("press_key", key=key, includeSnapshot=True)

    def wait(self, text: str) -> None:
        """A pause of the shell, then take_snapshot."""
        self.call("sleep", seconds=SECONDS)
        self.look()


class AgentBrowserHand(DrawnNames):
    """Vercel's command line."""

    def run(self, command: str, *words: str) -> str:
        """A command; after what may have changed the page its elements are looked for anew."""
        text = self.call(command, words=words)
        if command in ("open", "click", "dblclick", "press"):
            self.seen.clear()
            self.shown = ""
            with contextlib.suppress(ToolError):
                self.call("wait", words=("--load", "load"))
        return text

    def _see(self, *flags: str) -> None:
        text = self.run("snapshot", *flags)
        self.shown = text
        self.seen.clear()
        for role, name, ref, rest in _REF.findall(text):
            self.seen[ref] = Seen(role.lower(), name or value_in(rest), ref, rest)

    def open(self, url: str) -> None:
        """open, then a look."""
        self.run("open", url)
        self.look()

    def look(self) -> None:
        """snapshot -i."""
        self._see("-i")

    def search(self, text: str, role: str) -> None:
        """What has been clicked is looked at first; then the whole page."""
        self._see(*([] if self.seen else ["-i"]))

    def whole(self) -> None:
        """snapshot."""
        self._see()

    def click(self, role: str, name: Name, *, nth: int = 0, double: bool = False) -> None:
        """click, dblclick."""
        self.twice(lambda ref: self.run("dblclick" if double else "click", f"@{ref}"), role, name, nth)

    def fill(self, role: str, name: Name, text: str, *, nth: int = 0, submit: bool = False) -> None:
        """fill; Enter is a command of its own."""
        self.twice(lambda ref: self.run("fill", f"@{ref}", text), role, name, nth)
        if submit:
            self.press("Enter")

    def choose(self, role: str, name: Name, options: list[str]) -> None:
        """select."""
        self.twice(lambda ref: self.run("select", f"@{ref}", *options), role, name)

    def press(self, key: str) -> None:
        """press."""
        self.run("press", key)

    def wait(self, text: str) -> None:
        """wait --text, then the whole page."""
        with contextlib.suppress(ToolError):
            self.run("wait", "--text", text, "--timeout", "10000")
        self._see()


def value_in(rest: str) -> str:
    """The value of a field, by which one without a name is called."""
    found = _VALUE.search(rest)
    return found[1].strip() if found is not None else ""
