"""The table of docs/wholeness.md."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import servers
from benchmarks.report import filled, markdown_table
from benchmarks.wholeness.judge import Verdict
from benchmarks.wholeness.texts import Texts

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "wholeness.md"
HEAD = [
    "page",
    "operable",
    "listed",
    "found",
    "missing",
    "roles short",
    "hidden",
    "twice",
    "characters",
    "playwright-mcp lists",
    "its characters",
    "ratio",
]


def in_short(verdict: Verdict) -> str:
    """One page in one line."""
    covered = verdict.listed + verdict.found
    kinds = ("missing", "role", "hidden", "twice", "script error", "not measured")
    counts = ", ".join(f"{kind} {verdict.count(kind)}" for kind in kinds if verdict.count(kind))
    theirs = f"; playwright-mcp {verdict.their_listed}, {verdict.their_characters:,}"
    return (
        f"{verdict.page}: {covered} of {verdict.operable} ({verdict.listed} listed), "
        f"{verdict.characters:,} characters{theirs if verdict.their_characters else ''}"
        f"{f' — {counts}' if counts else ''}"
    )


def tables(verdicts: Sequence[Verdict], halves: Mapping[str, str]) -> str:
    """A table for each half; a page without a fault has no row."""
    parts: list[str] = []
    for half in ("first", "second"):
        some = [verdict for verdict in verdicts if halves[verdict.page] == half]
        if some:
            parts.append(f"### The {half} half\n\n{_table(some)}")
    return "\n\n".join(parts)


def write(verdicts: Sequence[Verdict], halves: Mapping[str, str]) -> None:
    """Put the tables into docs/wholeness.md; a half that was not measured keeps its own."""
    document = DOCUMENT.read_text(encoding="utf-8")
    for half in ("first", "second"):
        some = [verdict for verdict in verdicts if halves[verdict.page] == half]
        if some:
            document = filled(document, f"wholeness {half}", _table(some))
    DOCUMENT.write_text(document, encoding="utf-8")


def texts(outcomes: Sequence[Texts]) -> str:
    """The texts that a person sees, by where they are; a page with all of them in the snapshot has no row."""
    count, found = sum(one.count for one in outcomes), sum(one.found for one in outcomes)
    lost = sum(len(one.lost) for one in outcomes)
    sum_up = (
        f"{count:,} texts on {len(outcomes)} pages: {count - found - lost:,} are in a part of `get_state`, "
        f"{found:,} are found, {lost:,} are neither."
    )
    rows = [["page", "texts", "found", "neither"]]
    rows += [
        [one.page, f"{one.count:,}", f"{one.found:,}", "; ".join(_quoted(text) for text in one.lost)]
        for one in outcomes
        if one.found or one.lost
    ]
    return f"{sum_up}\n\n{markdown_table(rows)}"


def _quoted(text: str) -> str:
    return f"`{text.replace('`', ' ').replace('|', ' ')[:40]}`"


def write_texts(outcomes: Sequence[Texts]) -> None:
    """Put the table of texts into docs/wholeness.md."""
    document = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(filled(document, "wholeness texts", texts(outcomes)), encoding="utf-8")


def _table(verdicts: Sequence[Verdict]) -> str:
    rows = [HEAD, *(_row(verdict) for verdict in verdicts if verdict.faults)]
    total = Verdict("all")
    for verdict in verdicts:
        total.operable += verdict.operable
        total.listed += verdict.listed
        total.found += verdict.found
        total.characters += verdict.characters
        total.their_listed += verdict.their_listed
        total.their_characters += verdict.their_characters
        total.faults += verdict.faults
    rows.append([f"**{cell}**" for cell in _row(total)])
    covered = _share(total.listed + total.found, total.operable)
    peer = f"playwright-mcp {servers.PEERS['playwright-mcp'][1]}"
    sum_up = (
        f"Listed or found: {covered} of {total.operable:,} nodes on {len(verdicts)} pages; "
        f"{peer} lists {_share(total.their_listed, total.operable)}."
    )
    return f"{sum_up}\n\n{markdown_table(rows)}"


def _row(verdict: Verdict) -> list[str]:
    theirs = verdict.their_characters
    return [
        verdict.page,
        f"{verdict.operable:,}",
        f"{verdict.listed:,}",
        f"{verdict.found:,}",
        *(str(verdict.count(kind)) for kind in ("missing", "role", "hidden", "twice")),
        f"{verdict.characters:,}",
        f"{verdict.their_listed:,}" if theirs else "-",
        f"{theirs:,}" if theirs else "-",
        f"{verdict.characters / theirs:.2f}" if theirs else "-",
    ]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"
