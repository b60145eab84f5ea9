"""What the page script finds, as values."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from mcp_browser.text import clean_text, counted, plain_lines

NodeKind = Literal["interactive", "text", "heading", "region", "row", "image", "fold"]
GapSide = Literal["", "above", "below", "left", "right"]
ChangeKind = Literal["added", "removed", "unlisted", "changed", "replaced", "moved"]

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": " "})
_CELL_SIGNS = re.compile(r"\||\[(?=\d+\])")
_CELLS = frozenset({"cell", "gridcell", "columnheader", "rowheader"})


class Frozen(BaseModel):
    """A value: built once, never changed."""

    model_config = ConfigDict(frozen=True)


class DomNode(Frozen):
    r"""One line of a snapshot.

    `index` is set for what can be acted on or asked about; `states` holds only what is not the default, ready
    to print (`checked`, `expanded=false`, `value="2"`, `disabled`, `→ /cart`, `covered by [31]`). Printed, it
    is the line as a model reads it, without its indentation: `[12] button "Buy now" disabled`. A line that is
    not an element's never begins like one: a text `[7] …` is printed as `\[7] …`.

    A `fold` stands for entries of a list that are left out: `name` is their number, `role` what they are
    called (rows, links, …), `index` the element to look into for them, `lines` how many lines they have.
    That of role `behind` counts elements behind what fills the view; one without a name is not printed.

    A row of a table has its cells in `name`, ` | ` between them, and in these the elements of `parts`, each
    as its `inline`. A `|` or `[7]` of the page's text is `\\|` or `\\[7]` there.
    """

    kind: NodeKind
    depth: int = 0
    index: int | None = None
    role: str = ""
    name: str = ""
    states: tuple[str, ...] = ()
    is_new: bool = False
    lines: int = 1
    parts: tuple["DomNode", ...] = ()

    @property
    def inline(self) -> str:
        """The element as it stands in a row: `[4] button "Delete" disabled`; a cell as `[9] 8 (selected)`."""
        states = [
            state if state.startswith("covered") else _in_cell(clean_text(state)) for state in self.states
        ]
        index = f"{'*' * self.is_new}[{self.index}] " if self.index is not None else ""
        if self.role in _CELLS:
            text = _in_cell(clean_text(self.name)).replace('"', '\\"')
            return f"{index}{text}".rstrip() + (f" ({' '.join(states)})" if states else "")
        name = clean_text(self.name).translate(_ESCAPES)
        return " ".join([f'{index}{self.role} "{_in_cell(name)}"', *states])

    def __str__(self) -> str:
        # Cleaned first: a character that goes may keep a text from being known as what looks like an element.
        name = clean_text(self.name)
        mark = "*" if self.is_new else ""
        index = f"{mark}[{self.index}] " if self.index is not None else ""
        match self.kind:
            case "text" if self.index is None:
                return plain_lines(name)
            case "heading" if self.index is None:
                level = next((state[6:] for state in self.states if state.startswith("level=")), "2")
                return f"{'#' * int(level)} {name}"
            case _ if self.role == "row" and self.kind in ("row", "interactive"):
                row = f"{index}row " if index else ""
                return f"{row}| {name} |" + "".join(f" {state}" for state in self.states)
            case "image" if self.index is None:
                return f'{self.role or "img"} "{name.translate(_ESCAPES)}"'
            case "fold":
                count = int(self.name)
                what = f"… {count:,} more {self.role}"
                if self.role == "behind":
                    what = f"behind it: {counted(count, 'element')}"
                return f"{what} (get_state index={self.index})"
            case _:
                states = "".join(f" {clean_text(state)}" for state in self.states)
                return f'{index or mark}{self.role or self.kind} "{name.translate(_ESCAPES)}"{states}'


class Size(Frozen):
    """Width and height in pixels."""

    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


class Scroll(Frozen):
    """Scroll position of the page, in CSS pixels."""

    x: int
    y: int
    viewport_width: int
    viewport_height: int
    page_width: int
    page_height: int


class Gap(Frozen):
    """Lines left out before the node number `at`, counted from 0, and where they lie.

    `where` is the side of what is seen, empty for lines on several sides and for those in the view. `index`
    stands for what has to be scrolled to see them, None for the page; that is so many `screens` of it long.
    """

    at: int
    lines: int
    where: GapSide = ""
    screens: float = 0.0
    index: int | None = None


class DomSnapshot(Frozen):
    """The page as a model sees it, cut to a budget.

    `gaps` are the lines left out. A long page has `parts`; number 1 has what is in and near the view.
    """

    url: str
    title: str
    status: int | None = None
    nodes: tuple[DomNode, ...] = ()
    scroll: Scroll
    gaps: tuple[Gap, ...] = ()
    part: int = 1
    parts: int = 1

    @property
    def omitted(self) -> int:
        """How many lines are left out."""
        return sum(gap.lines for gap in self.gaps)


class DomChange(Frozen):
    """One line that came, went or changed since the last observation.

    For `changed`, `before` is the line as it was; the other lines are as they are now (or last were).
    `replaced` is a re-render: the same line under a new index, `before` holding the old one. `moved` is the
    same line at another place among those that have stayed, `before` the next of those, if any; of what is
    `unlisted` the line went, and the element is there. `was` and `at` are its places among all lines of the
    page, before and now, counted from 0. Where a frame has another document, one `removed` line stands for
    all the `lines` that were in it; so does one for what went together.
    """

    op: ChangeKind
    node: DomNode
    before: DomNode | None = None
    was: int | None = None
    at: int | None = None


class DomLook(Frozen):
    """An element that looks different, and in what.

    That is `class`, `style`, `picture`, `drawing`, `painted`; of editors `+strong`, `selected "word"`.
    """

    node: DomNode
    what: str


class DomChanges(Frozen):
    """How the page has changed since the last observation, cut to a budget.

    `omitted` counts the changes left out. Where no line changed, `looks` are the first elements that look
    different and `other_looks` counts the others, as far as that is known. `behind` counts the elements that
    something without a line of its own covers from now on, which fills the view. `title` is a new one.
    """

    changes: tuple[DomChange, ...] = ()
    omitted: int = 0
    behind: int = 0
    looks: tuple[DomLook, ...] = ()
    other_looks: int = 0
    title: str | None = None


AnswerReading = Literal["pieces", "whole", "elsewhere", "unread"]
"""How a page reads an answer: as its pieces come, once all is there, in a shared worker, or not at all."""


class SettleState(Frozen):
    """After how many seconds the page has come to rest, or the time was over.

    `unanswered` counts the sockets that a press wrote to and that were waited for in vain.
    """

    waited: float = 0.0
    unanswered: int = 0


class ElementQuery(Frozen):
    """What to look for; everything given has to hold.

    `text` is part of a line in any case, `pattern` a JavaScript one, `name` part of the accessible name.
    """

    text: str | None = None
    pattern: str | None = None
    role: str | None = None
    name: str | None = None


class FoundElements(Frozen):
    """The first lines that match a query, each with an index, and how many there are on the whole page.

    `missed`: frames that could not be searched, and why. `roles`: of those without a match for a role.
    """

    nodes: tuple[DomNode, ...] = ()
    total: int = 0
    roles: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()


class ReadyElement(Frozen):
    """An element that can take an action, and where.

    `x` and `y` are the point to act at, `width` and `height` the element's size, in CSS pixels of the page's
    view. `kind` is how a value gets into it: typed (`text`, `rich`, `keys` for a code editor), set
    (`picker`), moved (`slider`), chosen (`select`), ticked (`check`) or given as a file (`file`). `reached`
    is False where keys reach it and no mouse does; `code` is True of a rich field whose text nobody spells.
    `listens` is False where the page says that it runs no script as the mouse comes there and presses.
    """

    node: DomNode
    tag: str
    secret: bool
    type: str = ""
    kind: Literal["text", "rich", "keys", "picker", "slider", "select", "check", "file", "none"] = "none"
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0
    checked: bool | None = None
    multiple: bool = False
    code: bool = False
    focused: bool = False
    reached: bool = True
    listens: bool = True


class Scrolled(Frozen):
    """What a scroll did. `node` is what was scrolled, None for the page.

    The rest, each across and down in CSS pixels: how far it went, where it stands, what is seen, its size.
    """

    node: DomNode | None
    moved: tuple[int, int]
    position: tuple[int, int]
    seen: tuple[int, int]
    size: tuple[int, int]


class WindowState(Frozen):
    """Size of the view, scroll bars included, in CSS pixels; device pixels for each; whether it is shown."""

    width: float
    height: float
    scale: float
    visible: bool


class PointHit(Frozen):
    """What is at a point of the view: the control there, else the innermost thing drawn there."""

    node: DomNode
    actable: bool = False


class Box(Frozen):
    """Where an element with an index is in the view, CSS pixels from its left and top edge."""

    index: int
    x: float
    y: float
    width: float
    height: float


IMPACTS = ("critical", "serious", "moderate", "minor")
"""How bad a violation is for people, the worst first."""


@dataclass(slots=True)
class Violation:
    """A rule of axe-core that some elements break.

    `impact` is one of IMPACTS, `help` what the rule asks for, `url` where it is explained, `tags` those of
    the rule, `wcag111` for WCAG 1.1.1 among them. `count` is how many elements break it; `nodes` are the
    first of them, each with what is wrong with it.
    """

    rule: str
    impact: str
    help: str
    url: str
    tags: list[str]
    count: int = 0
    nodes: list[tuple[DomNode | None, str]] = field(default_factory=list[tuple[DomNode | None, str]])

    @property
    def criteria(self) -> list[str]:
        """The success criteria of WCAG that it is about, such as `1.1.1`."""
        numbers = [tag.removeprefix("wcag") for tag in self.tags if tag.startswith("wcag")]
        return [f"{n[0]}.{n[1]}.{n[2:]}" for n in numbers if n.isdecimal() and len(n) >= 3]  # noqa: PLR2004


@dataclass(slots=True)
class AccessibilityAudit:
    """The violations of a page by their rules; `unsure` are those that a person has to judge.

    `passed` is how many rules held in each frame, added up; `missed` are the frames that were not looked at.
    """

    violations: dict[str, Violation] = field(default_factory=dict[str, Violation])
    unsure: dict[str, Violation] = field(default_factory=dict[str, Violation])
    passed: int = 0
    missed: tuple[str, ...] = ()

    def add(self, answer: dict[str, Any], shown: Callable[[list[Any]], DomNode]) -> None:
        """Add what one frame answers; `shown` gives a line an index."""
        for name, into in (("violations", self.violations), ("unsure", self.unsure)):
            for found in answer[name]:
                impact = found["impact"] or IMPACTS[-1]
                new = Violation(found["rule"], impact, found["help"], found["url"], found["tags"])
                rule = into.setdefault(new.rule, new)
                rule.count += found["count"]
                rule.nodes += [
                    (shown(part["node"]) if part["node"] else None, "; ".join(part["why"]))
                    for part in found["nodes"]
                ]
        self.passed += answer["passed"]


def _in_cell(text: str) -> str:
    """Text of which nothing can be taken for the edge of a cell or for an index."""
    return _CELL_SIGNS.sub(r"\\\g<0>", text)
