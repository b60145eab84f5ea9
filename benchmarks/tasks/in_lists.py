"""The same moves in as few calls as a careful reader would make: kept back until something has to be read.

What was shown is named by its index, what the next page will have by its role and name (this server and
agent-browser) or not at all (playwright-mcp, which fills several fields at once). Where a list stops, the
rest is done singly. agent-browser prints no page and waits for little: a list waits, as its skill says, for
what it expects, and ends with the snapshot that is needed next.
"""

import contextlib
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import Any

from benchmarks.servers import ToolError
from benchmarks.tasks.hands import Name, NotSeenError, Seen, plain
from benchmarks.tasks.ours import McpBrowser
from benchmarks.tasks.playwright_mcp import PlaywrightMcp
from benchmarks.terminal.hands import AgentBrowserHand

MOST = 20
_LEADS_ELSEWHERE = frozenset({"link", "button"})
FOUND = frozenset({"click", "fill"})
"""What agent-browser does to an element that it finds by role and name."""
LOADED = ("wait", "--load", "load")
_NOT_DONE = re.compile(r"^(\d+)\. .*?(?:failed|not started)", re.M)
_FIELDS = {"textbox": "textbox", "searchbox": "textbox", "combobox": "combobox", "checkbox": "checkbox"}


@dataclass
class Kept:
    """A move that is to be sent: as an entry of a list, and how it is done alone."""

    tool: str
    arguments: dict[str, Any]
    alone: Callable[[], None]


class McpBrowserInLists(McpBrowser):
    """This project, with do_actions."""

    def __init__(self, *arguments: Any) -> None:
        """Nothing is kept."""
        super().__init__(*arguments)
        self.kept: list[Kept] = []
        self.is_elsewhere = False  # Whether what is kept may have led to another page

    def send(self) -> None:
        """Carry out what is kept."""
        kept, self.kept, self.is_elsewhere = self.kept, [], False
        if not kept:
            return
        if len(kept) == 1:
            self.call(kept[0].tool, **kept[0].arguments)
            return
        try:
            self.call("do_actions", actions=[{move.tool: move.arguments} for move in kept])
        except ToolError as error:
            found = _NOT_DONE.search(str(error))
            if found is None:
                raise
            for move in kept[int(found[1]) - 1 :]:
                move.alone()
                self.send()

    def keep(self, tool: str, alone: Callable[[], None], **arguments: Any) -> None:
        """Send it with what follows."""
        self.kept.append(Kept(tool, arguments, alone))
        if len(self.kept) == MOST:
            self.send()

    def named(self, role: str, name: Name, nth: int, *, in_form: bool = False) -> int | str:
        """What a move names its element by: an index where it has been shown, else its role and name.

        A form is seen as a whole, since a field is rarely alone.
        """
        known = [] if self.is_elsewhere else self.all(role, name)
        if len(known) > (nth if nth >= 0 else -nth - 1):
            return int(known[nth].handle)
        if isinstance(name, str) and name and role and "|" not in role and not nth:
            return f'{role} "{name}"'
        if in_form:
            self.send()
        return int(self.find(role, name, nth=nth).handle)

    def end_with(self, text: str, role: str = "", *, even_opened: bool = False) -> None:
        """Send what is kept; where that leads elsewhere, what is needed there is searched for in the list.

        What has only been opened is seen as a whole, where not a text is sought.
        """
        opened = all(move.tool == "go_to_url" for move in self.kept)
        if text and self.kept and self.is_elsewhere and (even_opened or not opened):
            arguments = {"role": role} if role and "|" not in role else {}
            self.keep("find_elements", lambda: None, text=text, **arguments)
        self.send()

    def open(self, url: str) -> None:
        """go_to_url, whose page is read by what follows."""
        self.keep("go_to_url", partial(super().open, url), url=url)
        self.is_elsewhere = True

    def click(self, role: str, name: Name, *, nth: int = 0, double: bool = False) -> None:
        """click_element, kept."""
        index = self.named(role, name, nth)
        more = {"double": True} if double else {}
        alone = partial(super().click, role, name, nth=nth, double=double)
        self.keep("click_element", alone, index=index, **more)
        self.is_elsewhere |= not _LEADS_ELSEWHERE.isdisjoint(role.split("|"))

    def fill(self, role: str, name: Name, text: str, *, nth: int = 0, submit: bool = False) -> None:
        """input_text, kept."""
        index = self.named(role, name, nth, in_form=True)
        more = {"submit": True} if submit else {}
        alone = partial(super().fill, role, name, text, nth=nth, submit=submit)
        self.keep("input_text", alone, index=index, text=text, **more)
        self.is_elsewhere |= submit

    def choose(self, role: str, name: Name, options: list[str]) -> None:
        """select_option, kept."""
        index = self.named(role, name, 0)
        self.keep("select_option", partial(super().choose, role, name, options), index=index, options=options)

    def press(self, key: str) -> None:
        """send_keys, kept."""
        self.keep("send_keys", partial(super().press, key), keys=key)
        self.is_elsewhere = True

    def look(self) -> None:
        """get_state, after what is kept."""
        self.send()
        super().look()

    def search(self, text: str, role: str) -> None:
        """find_elements, at the end of what is kept or alone."""
        if self.kept:
            self.end_with(text, role)
        else:
            super().search(text, role)

    def read(self, pattern: str, *, near: str) -> re.Match[str]:
        """In what the list reports, which ends with a search for it."""
        self.end_with(near, even_opened=True)
        return super().read(pattern, near=near)

    def wait(self, text: str) -> None:
        """wait_for, after what is kept."""
        self.send()
        super().wait(text)

    def find(self, role: str, name: Name, *, nth: int = 0) -> Seen:
        """Among what was shown, after what is kept."""
        self.end_with(name if isinstance(name, str) else plain(name), role)
        return super().find(role, name, nth=nth)

    def finish(self) -> None:
        """Send what is left."""
        self.send()


@dataclass
class _Fields:
    fields: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    alone: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])


class PlaywrightMcpInForms(PlaywrightMcp):
    """Microsoft's server, with browser_fill_form for fields in a row.

    What is opened is looked at before something is done there, and so is a form; on what else an action has
    led to, what is needed is looked for with browser_find, and so is what is to be read.
    """

    def __init__(self, *arguments: Any) -> None:
        """Nothing is kept."""
        super().__init__(*arguments)
        self.form = _Fields()
        self.has_opened = self.is_unseen = False

    def arrive(self, tool: str) -> None:
        """Look when something has to be done there."""
        self.has_opened, self.is_unseen = tool == "browser_navigate", True

    def look(self) -> None:
        """browser_snapshot."""
        self.has_opened = self.is_unseen = False
        super().look()

    def find(self, role: str, name: Name, *, nth: int = 0) -> Seen:
        """In a snapshot of what was opened; else found."""
        if self.has_opened:
            self.look()
        return super().find(role, name, nth=nth)

    def send(self) -> None:
        """Fill what is kept."""
        form, self.form = self.form, _Fields()
        if len(form.fields) == 1:
            form.alone[0]()
        elif form.fields:
            super().call("browser_fill_form", fields=form.fields)

    def call(self, tool: str, **arguments: Any) -> str:
        """Fill what is kept before anything else is done."""
        self.send()
        return super().call(tool, **arguments)

    def fill(self, role: str, name: Name, text: str, *, nth: int = 0, submit: bool = False) -> None:
        """A field that has been seen waits for the next."""
        alone = partial(super().fill, role, name, text, nth=nth, submit=submit)
        known = self.all(role, name)
        if not known and self.is_unseen:
            self.look()
            known = self.all(role, name)
        if submit or len(known) <= nth or known[nth].role not in _FIELDS:
            alone()
            return
        seen = known[nth]
        kind = _FIELDS[seen.role]
        given = {"element": seen.name, "name": seen.name, "target": seen.handle, "type": kind, "value": text}
        self.form.fields.append(given)
        self.form.alone.append(alone)

    def read(self, pattern: str, *, near: str) -> re.Match[str]:
        """After what is kept."""
        self.send()
        return super().read(pattern, near=near)

    def finish(self) -> None:
        """Fill what is left."""
        self.send()


@dataclass
class Commands:
    """A move as the commands of a batch, and how it is done alone; the first command does it, others wait."""

    commands: list[tuple[str, ...]]
    alone: Callable[[], None]


class AgentBrowserInBatches(AgentBrowserHand):
    """Vercel's command line, with batch."""

    def __init__(self, *arguments: Any) -> None:
        """Nothing is kept."""
        super().__init__(*arguments)
        self.kept: list[Commands] = []
        self.is_elsewhere = False

    def send(self, *last: str) -> str:
        """Carry out what is kept, then the `last` command; what is printed."""
        if self.is_elsewhere:
            self.seen.clear()
        self.shown = ""
        kept, self.kept, self.is_elsewhere = self.kept, [], False
        commands = [command for move in kept for command in move.commands] + ([last] if last else [])
        if len(commands) < 2:  # noqa: PLR2004 - a batch is of two
            return "".join(super(AgentBrowserInBatches, self).run(*command) for command in commands)
        try:
            return self.call("batch", words=("--bail", *map(shlex.join, commands)))
        except ToolError as error:
            done = len(str(error).partition("✗")[0].split("\n\n")) - 1
            if done == len(commands) - len([last] if last else []):
                raise
            self.look()
            begins = accumulate((len(move.commands) for move in kept), initial=0)
            for begin, move in zip(begins, kept, strict=False):
                if begin >= done:
                    move.alone()
        return super().run(*last) if last else ""

    def run(self, command: str, *words: str) -> str:
        """A snapshot ends the batch of what is kept."""
        return self.send(command, *words) if self.kept else super().run(command, *words)

    def keep(self, alone: Callable[[], None], *commands: tuple[str, ...]) -> None:
        """Send it with what follows."""
        self.kept.append(Commands([*commands], alone))

    def named(self, role: str, name: Name, nth: int, *act: str) -> list[tuple[str, ...]]:
        """The commands for an element: by its reference where it has been shown, else by role and name."""
        known = [] if self.is_elsewhere else self.all(role, name)
        if len(known) > (nth if nth >= 0 else -nth - 1):
            return [(act[0], f"@{known[nth].handle}", *act[1:])]
        if act[0] in FOUND and isinstance(name, str) and name and role and "|" not in role and not nth:
            leads = self.kept and LOADED in self.kept[-1].commands and self.kept[-1].commands[0][0] != "open"
            wait = [("wait", "--text", name, "--timeout", "3000")] if leads else []
            return [*wait, ("find", "role", role, *act, "--name", name, "--exact")]
        if self.kept:
            self.look()
        with contextlib.suppress(NotSeenError):
            if handle := self.find(role, name, nth=nth).handle:
                return [(act[0], f"@{handle}", *act[1:])]
        # Its snapshots have no reference to some elements that can be acted on.
        words = name if isinstance(name, str) else plain(name)
        if act[0] not in FOUND or not words:
            raise NotSeenError(f"no reference to {role} {name!r}")
        return [("find", "label" if act[0] == "fill" else "text", words, *act)]

    def open(self, url: str) -> None:
        """open, whose page is read by what follows."""
        self.keep(partial(super().open, url), ("open", url), LOADED)
        self.is_elsewhere = True

    def click(self, role: str, name: Name, *, nth: int = 0, double: bool = False) -> None:
        """click, dblclick, kept."""
        commands = self.named(role, name, nth, "dblclick" if double else "click")
        leads = not _LEADS_ELSEWHERE.isdisjoint(role.split("|"))
        alone = partial(super().click, role, name, nth=nth, double=double)
        self.keep(alone, *commands, *([LOADED] if leads else []))
        self.is_elsewhere |= leads

    def fill(self, role: str, name: Name, text: str, *, nth: int = 0, submit: bool = False) -> None:
        """fill, kept; Enter is a command of its own."""
        commands = self.named(role, name, nth, "fill", text)
        self.keep(partial(super().fill, role, name, text, nth=nth), *commands)
        if submit:
            self.press("Enter")

    def choose(self, role: str, name: Name, options: list[str]) -> None:
        """select, kept."""
        commands = self.named(role, name, 0, "select", *options)
        self.keep(partial(super().choose, role, name, options), *commands)

    def press(self, key: str) -> None:
        """press, kept."""
        self.keep(partial(super().press, key), ("press", key), LOADED)
        self.is_elsewhere = True

    def read(self, pattern: str, *, near: str) -> re.Match[str]:
        """What is kept, a wait for the words, and the text that has them; else the whole page."""
        if self.kept:
            self.keep(lambda: None, ("wait", "--text", near, "--timeout", "10000"))
            try:
                text = self.send("find", "text", near, "text")
            except ToolError as error:
                text = str(error)
            if found := self.said(pattern, text):
                return found
        return super().read(pattern, near=near)

    def find(self, role: str, name: Name, *, nth: int = 0) -> Seen:
        """Among what was shown, after what is kept; where no role is asked for, a text will do."""
        if self.kept:
            self.look()
        if not role and not self.all(role, name):
            self.whole()
            text = name if isinstance(name, str) else name.pattern
            if self.said(text, self.shown) and not self.all(role, name):
                return Seen("text", text, "", "")
        return super().find(role, name, nth=nth)

    def finish(self) -> None:
        """Send what is left."""
        self.send()
