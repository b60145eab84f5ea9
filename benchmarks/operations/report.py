"""The table of docs/comparison.md."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.operations.outcome import Outcome
from benchmarks.operations.table import Operation
from benchmarks.report import filled, markdown_table

DOCUMENT = Path(__file__).parents[2] / "docs" / "comparison.md"
HEAD: str = "kind,operations,server,first try,any try,calls,characters,seconds,false statements"
_PARTS = {
    "first": "First part, whose faults were mended",
    "second": "Second part, written afterwards on other libraries, measured before anything of it was mended",
    "third": "Third part, written after the second part's faults were mended, on other libraries again, by "
    "somebody who proved it by plain Playwright alone and ran no server on it, measured before anything of "
    "it was mended",
}


def section(outcomes: Sequence[Outcome], asked: Sequence[Operation]) -> str:
    """The figures of each part."""
    parts = {part: [one for one in asked if one.part == part] for part in _PARTS}
    return "\n\n".join(f"{_PARTS[part]}: {_table(outcomes, some)}" for part, some in parts.items() if some)


def _table(outcomes: Sequence[Outcome], asked: Sequence[Operation]) -> str:
    """The figures of some operations, by kind and as a whole."""
    names = {str(one) for one in asked}
    outcomes = [one for one in outcomes if one.operation in names]
    kinds = list(dict.fromkeys(outcome.kind for outcome in outcomes))
    servers = list(dict.fromkeys(outcome.server for outcome in outcomes))
    rows: list[list[str]] = [HEAD.split(",")]
    for kind in (*kinds, "all"):
        for server in servers:
            some = [one for one in outcomes if one.server == server and kind in (one.kind, "all")]
            rows.append([kind, str(len(some)), server, *_figures(some)])
    done = {outcome.operation for outcome in outcomes}
    pages = {one.page.source for one in asked if str(one) in done}
    packages = [one.page.packages[0] for one in asked if str(one) in done and one.page.packages]
    libraries = {package.rpartition("@")[0] for package in packages}
    return (
        f"{len(done)} operations on {len(pages)} pages of {len(libraries)} libraries, each done by plain "
        f"Playwright first and checked in the widget's own state. A small adapter without a model finds by "
        f"role and text in what the tools return.\n\n{markdown_table(rows)}"
    )


def write(text: str) -> None:
    """Put the section into docs/comparison.md."""
    document = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(filled(document, "operations", text), encoding="utf-8")


def _figures(some: Sequence[Outcome]) -> list[str]:
    first = sum(one.tried == 1 for one in some)
    any_try = sum(one.tried > 0 for one in some)
    return [
        f"{first} ({_share(first, len(some))})",
        f"{any_try} ({_share(any_try, len(some))})",
        f"{sum(one.calls for one in some):,}",
        f"{sum(one.characters for one in some):,}",
        f"{sum(one.seconds for one in some):.0f}",
        str(sum(bool(one.false) for one in some)),
    ]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"
