"""What the tasks came to, as a section of docs/performance.md."""

import re
from pathlib import Path

from benchmarks.tasks.task import OURS, Outcome

HEADING = "## Whole tasks"
DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "performance.md"
HUGE = 1_000_000
"""Characters beyond which a task is left out of the second total."""


def section(outcomes: list[Outcome]) -> str:
    """The section, with a table of the tasks: each with every server."""
    names = list(dict.fromkeys(outcome.server for outcome in outcomes))
    tasks = list(dict.fromkeys(outcome.task for outcome in outcomes))
    by_task = {(outcome.task, outcome.server): outcome for outcome in outcomes}
    other = next((name for name in names if name != OURS), None)
    head = ["task", "on", *(f"{name}: characters" for name in names), *(f"{name}: calls" for name in names)]
    rows = [head + (["ratio"] if other else [])]
    for task in tasks:
        done = [by_task[task, name] for name in names]
        row = [task, done[0].where, *map(_characters, done), *(str(outcome.calls) for outcome in done)]
        rows.append(row + ([_ratio(by_task, [task], other)] if other else []))
    small = [task for task in tasks if all(by_task[task, name].characters < HUGE for name in names)]
    for label, some in (("all together", tasks), ("without the largest pages", small)):
        totals = [f"{sum(by_task[task, name].characters for task in some):,}" for name in names]
        calls = [str(sum(by_task[task, name].calls for task in some)) for name in names]
        row = [label, f"{len(some)} tasks", *totals, *calls]
        rows.append(row + ([_ratio(by_task, some, other)] if other else []))
    solved = [f"{name} {sum(by_task[task, name].done for task in tasks)} of {len(tasks)}" for name in names]
    parts = [
        HEADING,
        "Everything that the tools return from the first call to the last, errors and all, over a fixed set "
        "of tasks on applications and documents from packages. Each is a script that knows only what the "
        "tools return, written once and run on both servers; whether it has done its task is seen from "
        "outside: in the database, the file, what the site was sent or asked for. playwright-mcp is used as "
        "its tools' descriptions advise: a snapshot on every page that it comes to, references as long as "
        "they hold, browser_find for what has come since. This server tells the page with the navigation "
        "and the changes with each action.",
        f"Done: {', '.join(solved)}. Characters of `tools/list`, apart: "
        f"{', '.join(f'{name} {by_task[tasks[0], name].listed:,}' for name in names)}.",
        _table(rows),
        _failures(outcomes),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def replaced(document: str, new: str) -> str:
    """A document with its section of the tasks replaced, or put at its end."""
    kept = re.sub(rf"\n*{HEADING}\n.*?(?=\n## |\Z)", "", document, flags=re.S).rstrip("\n")
    return f"{kept}\n\n{new}"


def section_of(document: str) -> str:
    """The section as it stands in a document; "" where there is none."""
    found = re.search(rf"{HEADING}\n.*?(?=\n## |\Z)", document, flags=re.S)
    return found[0].rstrip("\n") + "\n" if found else ""


def write(new: str) -> None:
    """Put the section into docs/performance.md."""
    DOCUMENT.write_text(replaced(DOCUMENT.read_text(encoding="utf-8"), new), encoding="utf-8")


def _characters(outcome: Outcome) -> str:
    return f"{outcome.characters:,}" + ("" if outcome.done else " (not done)")


def _ratio(by_task: dict[tuple[str, str], Outcome], tasks: list[str], other: str) -> str:
    mine = sum(by_task[task, OURS].characters for task in tasks)
    theirs = sum(by_task[task, other].characters for task in tasks)
    return f"{mine / theirs:.2f}" if theirs else "-"


def _failures(outcomes: list[Outcome]) -> str:
    failed = [one for one in outcomes if not one.done]
    unseen = "it is not seen from outside"
    lines = [f"* {one.task}, {one.server}: {one.why or unseen}" for one in failed]
    return "\n".join(["Not done:", "", *lines]) if lines else ""


def _table(rows: list[list[str]]) -> str:
    head, *body = rows
    lines = ["| " + " | ".join(head) + " |", "|---|---|" + "---:|" * (len(head) - 2)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in body])
