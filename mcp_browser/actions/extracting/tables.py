"""The tables of a page, by HTML and by roles, as rows of cells."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import itemgetter

from mcp_browser.actions.extracting.machine_data import Element, elements, inside, role, text_of
from mcp_browser.text import counted

MOST_CELLS = 500_000  # How many cells of a table are read
MOST_SPANNED = 1_000  # How many rows or columns one cell may span
LONGEST_NOTE = 120  # Longest text that describes a table, characters
MORE = "data-more-rows"  # The page script's mark of a table that draws more rows as it is scrolled

_GRIDS = frozenset({"table", "grid", "treegrid"})
_HEADERS = frozenset({"columnheader", "rowheader"})
_CELLS = _HEADERS | {"cell", "gridcell"}
_NO_TABLE = frozenset({"presentation", "none"})


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its element, its text, whether it is a header.

    It spans `across` columns and `down` rows; `column` is where it says to begin.
    """

    element: Element
    text: str
    is_header: bool
    across: int
    down: int
    column: int | None


Row = tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the names of its columns, and its rows, in which merged cells are repeated.

    `headers` are empty if it has none; a cell over all columns is in the first one only. The last `foot` rows
    are its foot, such as sums. A page may hold only the visible part: `count` and `columns` are how many rows
    and columns it claims to have, if more; `more` says that rows are added on scrolling. `note` is its
    description elsewhere, such as the number of its page.
    """

    element: Element
    caption: str
    headers: tuple[str, ...]
    rows: tuple[Row, ...]
    foot: int = 0
    count: int | None = None
    columns: int | None = None
    more: bool = False
    note: str = ""

    @property
    def width(self) -> int:
        return len(self.headers) or max(map(len, self.rows), default=0)

    @property
    def size(self) -> str:
        """How many rows and columns are here, and how many more there are."""
        rows, columns = counted(len(self.rows), "row"), counted(self.width, "column")
        if self.count is not None:
            rows = f"{rows} in the page of {self.count:,}"
        elif self.more:
            rows = f"{rows} in the page, more come as it is scrolled"
        return f"{rows}, {columns}" + (f" of {self.columns:,}" if self.columns is not None else "")

    def names(self) -> list[str]:
        """A name for each column, no two alike."""
        given: list[str] = []
        for number in range(self.width):
            name = (self.headers[number] if self.headers else "") or f"column {number + 1}"
            alike = sum(other == name or other.startswith(f"{name} (") for other in given)
            given.append(f"{name} ({alike + 1})" if alike else name)
        return given

    def records(self, *, links: bool = False) -> list[dict[str, str]]:
        """Each row by the names of its columns; with `links`, also the addresses in columns of their own."""
        linked = {number for row in self.rows for number, cell in enumerate(row) if links and link_in(cell)}
        records: list[dict[str, str]] = []
        names = self.names()
        for row in self.rows:
            record: dict[str, str] = {}
            for number, name in enumerate(names):
                cell = row[number] if number < len(row) else None
                record[name] = cell.text if cell else ""
                if number in linked:
                    record[f"{name} link"] = link_in(cell)
            records.append(record)
        return records

    def as_csv(self, *, links: bool = False) -> str:
        """As comma-separated values; the first line names the columns where they have names."""
        records = self.records(links=links)
        out = io.StringIO()
        writer = csv.DictWriter(out, records[0] if records else self.names(), lineterminator="\n")
        if self.headers:
            writer.writeheader()
        writer.writerows(records)
        return out.getvalue()


@dataclass(frozen=True, slots=True)
class _Part:
    """A table element; of a table that was `split` into several elements, the first, and its `end`.

    A `weak` one is no table by itself: it has no headers, and one row or inner tables.
    """

    element: Element
    caption: str
    head: tuple[Row, ...]
    rows: tuple[Row, ...]
    foot: int
    weak: bool = False
    split: bool = False
    end: Element | None = None

    @property
    def width(self) -> int:
        return max(map(len, (*self.head, *self.rows)), default=0)


def link_in(cell: Cell | None) -> str:
    """The first address in a cell, or none."""
    if cell is None:
        return ""
    return next((link.get("href") or "" for link in cell.element.iter("a") if link.get("href")), "")


def tables_in(root: Element) -> list[Table]:
    """The tables with data, in order, without those that only lay out a page.

    A table that scrolls may be made of several elements: one for its headers, its rows, its foot.
    """
    parts = [part for element in elements(root) if _is_table(element) and (part := _read(element))]
    found: list[_Part] = []
    head: _Part | None = None  # The headers just before, in a table of their own
    for part in parts:
        if head and _under(head, part) and part.rows:
            names, caption = part.head or head.head, part.caption or head.caption
            found.append(replace(part, head=names, caption=caption, weak=False, split=True))
            head = None
            continue
        if head:
            _add_foot(found, head)
        head = part if part.head and not part.rows else None
        if not head and (part.head or not _add_foot(found, part)):
            found.append(part)
    if head:
        _add_foot(found, head)
    return [table for part in found if (table := _table(part)) is not None]


def _add_foot(found: list[_Part], part: _Part) -> bool:
    """Take a table for the foot of the one above it, if it is."""
    if not found or not found[-1].split or not _under(found[-1], part, as_foot=True):
        return False
    above, rows = found[-1], part.head + part.rows
    found[-1] = replace(above, end=part.element, rows=above.rows + rows, foot=above.foot + len(rows))
    return True


def _is_table(element: Element) -> bool:
    given = role(element)
    return given in _GRIDS or (element.tag == "table" and given not in _NO_TABLE)


def _under(above: _Part, below: _Part, *, as_foot: bool = False) -> bool:
    """Whether a table continues the columns of the one above, with no text between; a foot may have fewer."""
    beyond = above.width - below.width
    if as_foot and beyond >= -1:
        beyond = 0
    elif beyond == 1 and not below.head:
        # Over the bar by which it is scrolled there is a header without a name.
        beyond = any(row[-1] and row[-1].text for row in above.head if len(row) == above.width)
    if beyond:
        return False
    last = above.element if above.end is None else above.end
    return _texts(below.element, "preceding") <= _texts(last, "preceding") + _texts(last, "descendant")


def _texts(element: Element, axis: str) -> float:
    """How many texts there are on an axis, those of pictures included."""
    return element.xpath(f"count({axis}::text()[normalize-space()] | {axis}::img[normalize-space(@alt)])")


def _read(element: Element) -> _Part | None:
    if element.tag == "table" and not role(element):
        lines = [
            (_part_of(row), [_place(cell) for cell in row if cell.tag in ("td", "th")])
            for row in inside(element, _is_table)
            if row.tag == "tr"
        ]
    else:
        lines = _role_lines(element)
    lines.sort(key=itemgetter(0))
    # In a part of its own, a head is above and a foot below, wherever it is written.
    grid = [(part, row) for (part, _), row in zip(lines, _merged(lines), strict=False)]
    written = [at for at, (_, row) in enumerate(grid) if any(cell and cell.text for cell in row)]
    grid = grid[written[0] : written[-1] + 1] if written else []
    # Lines over all columns name the table.
    titles: list[str] = []
    while len(grid) > 1 and _is_line(grid[0][1]) and grid[0][0] == HEAD:
        titles += [cell.text for cell in grid.pop(0)[1][:1] if cell]
    label = " ".join((element.get("aria-label") or "").split())
    said = (text for one in element.iter("caption") if (text := text_of(one)))
    caption = next(said, label) or ". ".join(titles)
    head = 0
    for part, row in grid:
        filled = {id(cell): cell for cell in row if cell and cell.text}
        if part != HEAD and not (len(filled) > 1 and all(cell.is_header for cell in filled.values())):
            break
        head += 1
    # Fields by which rows are filtered.
    while 0 < head < len(grid) and not any(cell and cell.text for cell in grid[head][1]):
        head += 1
    nested = any(_is_table(below) for below in elements(element) if below is not element)
    rows = [row for _, row in grid[head:]]
    if max((len(row) for _, row in grid), default=0) < 2:  # noqa: PLR2004
        return None
    return _Part(
        element,
        caption,
        tuple(row for _, row in grid[:head]),
        tuple(rows),
        sum(part == FOOT for part, _ in grid[head:]),
        weak=not head
        and (nested or len(rows) < 2)  # noqa: PLR2004
        and not any(cell and cell.is_header for row in rows for cell in row),
    )


def _table(part: _Part) -> Table | None:
    """The table without empty columns and repeated headers; None where nothing is left."""
    if part.weak or not part.rows:
        return None
    names: list[str] = []
    for at in range(part.width):
        cells = [row[at] for row in part.head if at < len(row) and not _is_line(row)]
        names.append(" / ".join(dict.fromkeys(cell.text for cell in cells if cell and cell.text)))
    last = [name.rpartition(" / ")[2] for name in names]
    rows: list[Row] = []
    foot = 0
    for at, row in enumerate(part.rows):
        in_foot = at >= len(part.rows) - part.foot
        # A row that says the headers again has no other text.
        filled = [(number, cell) for number, cell in enumerate(row) if cell and cell.text]
        repeats = all((in_foot or cell.is_header) and cell.text == last[n] for n, cell in filled)
        if (in_foot and not filled) or (part.head and filled and repeats):
            continue
        rows.append((row[0], *(None for _ in row[1:])) if _is_line(row) else row)
        foot += in_foot
    # Columns of buttons and the like have neither a name nor a text.
    used = {at for row in rows for at, cell in enumerate(row) if cell and cell.text}
    kept = [at for at in range(part.width) if names[at] or at in used]
    if not rows:
        return None
    element = part.element
    count = (_said(element, "aria-rowcount") or 0) - len(part.head)
    columns = _said(element, "aria-colcount") or 0
    return Table(
        element,
        part.caption,
        tuple(names[at] for at in kept) if part.head else (),
        tuple(tuple(row[at] if at < len(row) else None for at in kept) for row in rows),
        foot,
        count if count > len(rows) else None,
        columns if columns > part.width else None,
        more=any(below.get(MORE) is not None for below in elements(element)),
        note=_note(element, part.caption),
    )


def _is_line(row: Row) -> bool:
    """Whether it is one cell over all columns."""
    return len({id(cell) for cell in row}) == 1 < len(row)


def _said(element: Element, name: str) -> int | None:
    said = element.get(name) or ""
    return int(said) if said.isdecimal() else None


def _note(element: Element, caption: str) -> str:
    """What describes the table elsewhere, such as `Showing 1 to 10 of 500 entries`."""
    described = (below.get("aria-describedby") for below in (element, *element.iter("table")))
    about = [
        text_of(one)
        for name in next(filter(None, described), "").split()
        for one in element.getroottree().xpath("//*[@id=$name]", name=name)
    ]
    note = " ".join(about)
    return note if len(note) <= LONGEST_NOTE and note not in caption else ""


HEAD, BODY, FOOT = range(3)
"""The parts of a table, from above."""

Line = tuple[int, list[Cell]]  # A row as it is written: its part, and its cells, still without their texts


def _part_of(row: Element) -> int:
    parent = row.getparent()
    return {"thead": HEAD, "tfoot": FOOT}.get(str(parent.tag) if parent is not None else "", BODY)


def _place(cell: Element) -> Cell:
    """A cell, by its role or its tag, without its text."""
    given = role(cell)
    is_header = given in _HEADERS if given in _CELLS else cell.tag == "th"
    across, down = (
        max(1, min(_said(cell, f"aria-{name}" if cell.get(f"aria-{name}") else name) or 1, MOST_SPANNED))
        for name in ("colspan", "rowspan")
    )
    return Cell(cell, "", is_header, across, down, _said(cell, "aria-colindex"))


def _role_lines(element: Element) -> list[Line]:
    """Rows by roles; parts of a row, as of fixed columns, are joined by their row number.

    Cells go into the columns that they name: one may be missing, and not all columns need be in the page.
    """
    rows: dict[object, list[Cell]] = {}
    parts: dict[object, int] = {}
    for row in inside(element, _is_table):
        if role(row) == "row" or (row.tag == "tr" and not role(row)):
            cells = [
                _place(cell)
                for cell in inside(row, _is_table)
                if (given := role(cell)) in _CELLS or (cell.tag in ("td", "th") and not given)
            ]
            key = row.get("aria-rowindex") or row
            rows.setdefault(key, []).extend(cells)
            parts[key] = max(parts.get(key, HEAD), _part_of(row))
    begins = {cell.column for cells in rows.values() for cell in cells}
    said = sorted(column for column in begins if column is not None)
    at = {column: number for number, column in enumerate(said)}
    lines: list[Line] = []
    above = True
    for key in sorted(rows, key=lambda key: int(key) if isinstance(key, str) and key.isdecimal() else 0):
        cells = rows[key]
        if None not in begins:
            cells = [
                replace(
                    cell,
                    column=at[begin],
                    across=max(1, sum(begin <= column < begin + cell.across for column in said)),
                )
                for begin, cell in sorted(((cell.column or 0, cell) for cell in cells), key=itemgetter(0))
            ]
        else:
            cells = [replace(cell, column=None) for cell in cells]
        above = above and all(role(cell.element) == "columnheader" for cell in cells)
        lines.append((HEAD if above and cells else parts[key], cells))
    return lines


def _merged(lines: Iterable[Line]) -> list[Row]:
    """Rows in which a merged cell stands wherever it reaches."""
    grid: list[Row] = []
    reaching: dict[int, tuple[Cell, int]] = {}  # By column: a cell from above, and for how many rows more
    size = 0
    last = HEAD
    for part, cells in lines:
        if part != last:
            # No cell reaches out of its part.
            reaching, last = {}, part
        row: dict[int, Cell] = {column: cell for column, (cell, _) in reaching.items()}
        reaching = {column: (cell, more - 1) for column, (cell, more) in reaching.items() if more > 1}
        column = 0
        for place in cells:
            column = place.column if place.column is not None else column
            while column in row:
                column += 1
            # Of a box to check, how it is checked.
            checked = {"true": "[x]", "false": "[ ]"}.get(place.element.get("aria-checked") or "", "")
            cell = replace(place, text=text_of(place.element) or checked)
            for _ in range(cell.across):
                row[column] = cell
                if cell.down > 1:
                    reaching[column] = (cell, cell.down - 1)
                column += 1
        size += len(row)
        if size > MOST_CELLS:
            break
        grid.append(tuple(row.get(at) for at in range(max(row, default=-1) + 1)))
    return grid
