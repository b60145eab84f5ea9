"""The tables of a page: those of HTML and those made of roles, as rows of cells."""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from mcp_browser.actions.extracting.tree import Element, elements, role, text_of

MOST_CELLS = 500_000  # How many cells of a table are read
MOST_SPANNED = 1_000  # How many rows or columns one cell may span

_GRIDS = frozenset({"table", "grid", "treegrid"})
_CELLS = {"cell": False, "gridcell": False, "columnheader": True, "rowheader": True}
_NO_TABLE = frozenset({"presentation", "none"})


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its element, its text, whether it is a header."""

    element: Element
    text: str
    is_header: bool


Row = tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: what its columns are called, and its rows, in all of which merged cells are repeated.

    `headers` are empty where it has none. `count` is how many rows it says to have where it says so: of a
    long one, a page may hold only those in view.
    """

    element: Element
    caption: str
    headers: tuple[str, ...]
    rows: tuple[Row, ...]
    count: int | None = None

    @property
    def width(self) -> int:
        return len(self.headers) or max(map(len, self.rows), default=0)

    def first(self, most: int) -> "Table":
        """The same table with its first rows alone."""
        return replace(self, rows=self.rows[:most])

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
        writer = csv.writer(out, lineterminator="\n")
        if self.headers and records:
            writer.writerow(records[0])
        elif self.headers:
            writer.writerow(self.names())
        writer.writerows(record.values() for record in records)
        return out.getvalue()


def link_in(cell: Cell | None) -> str:
    """The first address in a cell, or none."""
    if cell is None:
        return ""
    return next((link.get("href") or "" for link in cell.element.iter("a") if link.get("href")), "")


def tables_in(root: Element) -> list[Table]:
    """The tables with data, in their order; those that only lay out a page are left out."""
    found: list[Table] = []
    for element in elements(root):
        if not _is_table(element):
            continue
        table = _read(element)
        if table is None:
            continue
        before = found[-1] if found else None
        # The headers of a table that scrolls stand in a table of their own.
        if before and not before.rows and not any(table.headers) and table.width == before.width:
            found[-1] = replace(table, caption=table.caption or before.caption, headers=before.headers)
        else:
            found.append(table)
    return [table for table in found if table.rows]


def _is_table(element: Element) -> bool:
    given = role(element)
    return given in _GRIDS or (element.tag == "table" and given not in _NO_TABLE)


def _read(element: Element) -> Table | None:
    of_roles = element.tag != "table"
    lines = list(_role_rows(element) if of_roles else _html_rows(element))
    grid = _merged(lines)
    while grid and not any(cell and cell.text for cell in grid[-1][1]):
        grid.pop()
    begin = next((at for at, (_, row) in enumerate(grid) if any(cell and cell.text for cell in row)), 0)
    grid = grid[begin:]
    caption = _caption(element)
    # One cell over all columns names the table.
    if len(grid) > 1 and len({id(cell) for cell in grid[0][1]}) == 1 < len(grid[0][1]):
        first = grid.pop(0)[1][0]
        caption = caption or (first.text if first else "")
    head = 0
    while head < len(grid) and (grid[head][0] or _all_headers(grid[head][1])):
        head += 1
    rows = tuple(row for _, row in grid[head:])
    width = max((len(row) for _, row in grid), default=0)
    nested = any(_is_table(below) for below in elements(element) if below is not element)
    if width < 2 or (not head and (nested or len(rows) < 2) and not _has_headers(rows)):  # noqa: PLR2004
        return None
    headers = tuple(
        _joined(row[number] for _, row in grid[:head] if number < len(row)) for number in range(width)
    )
    # Columns of buttons and the like have neither a name nor a text.
    told = {number for row in rows for number, cell in enumerate(row) if cell and cell.text}
    kept = [number for number in range(width) if (head and headers[number]) or number in told]
    rows = tuple(tuple(row[number] if number < len(row) else None for number in kept) for row in rows)
    said = element.get("aria-rowcount") or ""
    count = int(said) if said.isdecimal() else None
    return Table(
        element,
        caption,
        tuple(headers[number] for number in kept) if head else (),
        rows,
        count - head if count is not None and count - head > len(rows) else None,
    )


def _all_headers(row: Row) -> bool:
    told = {id(cell): cell for cell in row if cell and cell.text}
    return len(told) > 1 and all(cell.is_header for cell in told.values())


def _has_headers(rows: Iterable[Row]) -> bool:
    return any(cell and cell.is_header for row in rows for cell in row)


def _joined(cells: Iterable[Cell | None]) -> str:
    return " / ".join(dict.fromkeys(cell.text for cell in cells if cell and cell.text))


def _caption(element: Element) -> str:
    for caption in element.iter("caption"):
        if text := text_of(caption):
            return text
    return " ".join((element.get("aria-label") or "").split())


Line = tuple[bool, list[tuple[Element, bool]]]
"""Whether a row is one of headers, and its cells with whether each is a header."""


def _own(element: Element) -> Iterator[Element]:
    """What is in a table, but not in a table within it."""
    rest = [*reversed(element)]
    while rest:
        below = rest.pop()
        if isinstance(below.tag, str):
            yield below
            if not _is_table(below):
                rest += reversed(below)


def _html_rows(element: Element) -> Iterator[Line]:
    for row in _own(element):
        if row.tag == "tr":
            parent = row.getparent()
            cells = [(cell, cell.tag == "th") for cell in row if cell.tag in ("td", "th")]
            yield parent is not None and parent.tag == "thead", cells


def _role_rows(element: Element) -> Iterator[Line]:
    """Rows by roles; parts of a row that stand apart, as of fixed columns, are one by their number."""
    rows: dict[object, list[tuple[Element, bool]]] = {}
    for row in _own(element):
        if role(row) == "row":
            cells = [(cell, _CELLS[role(cell)]) for cell in _own(row) if role(cell) in _CELLS]
            rows.setdefault(row.get("aria-rowindex") or row, []).extend(cells)
    for key in sorted(rows, key=lambda key: int(key) if isinstance(key, str) and key.isdecimal() else 0):
        cells = rows[key]
        if all((cell.get("aria-colindex") or "").isdecimal() for cell, _ in cells):
            cells.sort(key=lambda cell: int(cell[0].get("aria-colindex") or 0))
        yield False, cells


def _span(cell: Element, name: str) -> int:
    said = (cell.get(name) or "").strip()
    return max(1, min(int(said), MOST_SPANNED)) if said.isdecimal() else 1


def _merged(lines: Iterable[Line]) -> list[tuple[bool, Row]]:
    """Rows in which a merged cell stands wherever it reaches."""
    grid: list[tuple[bool, Row]] = []
    reaching: dict[int, tuple[Cell, int]] = {}  # By column: a cell from above, and for how many rows more
    size = 0
    for is_head, cells in lines:
        row: dict[int, Cell] = {column: cell for column, (cell, _) in reaching.items()}
        reaching = {column: (cell, more - 1) for column, (cell, more) in reaching.items() if more > 1}
        column = 0
        for element, is_header in cells:
            while column in row:
                column += 1
            cell = Cell(element, text_of(element), is_header)
            down = _span(element, "rowspan")
            for _ in range(_span(element, "colspan")):
                row[column] = cell
                if down > 1:
                    reaching[column] = (cell, down - 1)
                column += 1
        size += len(row)
        if size > MOST_CELLS:
            break
        grid.append((is_head, tuple(row.get(at) for at in range(max(row, default=-1) + 1))))
    return grid
