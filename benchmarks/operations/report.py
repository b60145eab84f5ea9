"""The table of docs/comparison.md."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.operations.outcome import Outcome
from benchmarks.operations.table import Operation
from benchmarks.report import filled, markdown_table

DOCUMENT = Path(__file__).parents[2] / "docs" / "comparison.md"
HEAD = ["part", "server", "first try", "any try", "calls", "characters", "seconds", "false statements"]
_PARTS = {
    "first": "First part, whose faults were mended",
    "second": "Second part, written afterwards on other libraries, measured before anything of it was mended",
    "third": "Third part, written after the second part's faults were mended, on other libraries again, by "
    "somebody who proved it by plain Playwright alone and ran no server on it, measured before anything of "
    "it was mended",
}


def section(outcomes: Sequence[Outcome], asked: Sequence[Operation]) -> str:
    """What each part has, and its figures for each server."""
    about: list[str] = []
    rows = [HEAD]
    for part, description in _PARTS.items():
        names = {str(one): one for one in asked if one.part == part}
        some = [one for one in outcomes if one.operation in names]
        if not some:
            continue
        done = [names[name] for name in dict.fromkeys(one.operation for one in some)]
        libraries = {one.page.packages[0].rpartition("@")[0] for one in done if one.page.packages}
        pages = len({one.page.source for one in done})
        about.append(
            f"* {description}: {len(done)} operations on {pages} pages of {len(libraries)} libraries."
        )
        for server in dict.fromkeys(one.server for one in some):
            rows.append([part, server, *_figures([one for one in some if one.server == server])])
    return (
        "Each operation is done by plain Playwright first and checked in the widget's own state. A small "
        "adapter without a model finds by role and text in what the tools return.\n\n"
        + "\n".join(about)
        + f"\n\n{markdown_table(rows)}"
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
