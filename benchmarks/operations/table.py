"""The operations, as data: `operations.txt` has one a line, below the page that it is on.

    # SOURCE PACKAGE PACKAGE …
    OPERATION :: CHECK :: PROOF

SOURCE is a file of `pages/` or of wholeness's; the packages are given where wholeness does not have the page.
OPERATION is a word and what it needs, as `adapters.py` knows them: `choose FIELD = OPTION, OPTION`, `type
FIELD = TEXT`, `submit FIELD = TEXT`, `set FIELD = NUMBER`, `tick FIELD`, `untick FIELD`, `click NAME`,
`double NAME`, `right NAME`, `hover NAME`, `drag NAME = NAME`, `upload NAME`, `press KEYS`; several are
separated by ` ; `. CHECK is an expression about the widget's own state, true once it is done. PROOF says how
plain Playwright does it, in steps as `proof.py` knows them.

`second.txt` has the second part in the same form: written after the faults that the first one shows were
mended, on libraries that the project had not met. `third.txt` has the third, written after those of the
second were mended, again on other libraries, by somebody who ran no server on it. Nothing is tuned on either.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.wholeness.first import FIRST
from benchmarks.wholeness.page import Page
from benchmarks.wholeness.second import SECOND

FOLDER = Path(__file__).parent
PARTS = {"first": "operations.txt", "second": "second.txt", "third": "third.txt"}
_KNOWN = {page.source: page for page in (*FIRST, *SECOND) if not page.framed}


@dataclass(frozen=True)
class Operation:
    """One operation on one page."""

    page: Page
    moves: tuple[str, ...]
    check: str
    proof: tuple[str, ...]
    part: str
    """One of `PARTS`."""

    @property
    def kind(self) -> str:
        """Its first word that does something to the widget."""
        return self.moves[-1].partition(" ")[0]

    def __str__(self) -> str:
        return f"{self.page.source}: {' ; '.join(self.moves)}"


def operations() -> Iterator[Operation]:
    """All operations, page by page."""
    for part, name in PARTS.items():
        page: Page | None = None
        for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
            if line.startswith("# "):
                source, *packages = line[2:].split()
                page = _KNOWN.get(source) or Page(source, "second", tuple(packages), source)
            elif line:
                assert page is not None
                moves, check, *proof = line.split(" :: ")
                yield Operation(page, _parts(moves), check, _parts(proof[0]) if proof else (), part)


def is_known(page: Page) -> bool:
    """Whether a page is one of wholeness's."""
    return page.source in _KNOWN


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(" ; "))
