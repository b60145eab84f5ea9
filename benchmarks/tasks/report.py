"""The results of the tasks, as a section of docs/performance.md."""

from pathlib import Path

from benchmarks.egress import replaced
from benchmarks.report import markdown_table
from benchmarks.tasks.task import OURS, Outcome

HEADING = "## Whole tasks"
DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "performance.md"
HUGE = 1_000_000
"""Characters beyond which a task is left out of the second total."""


Way = tuple[str, bool]
"""A server, and whether several moves went in one call."""


def section(outcomes: list[Outcome]) -> str:
    """The section, with a table of the tasks: each with every server, move by move and in lists."""
    ways = list(dict.fromkeys((outcome.server, outcome.in_lists) for outcome in outcomes))
    ways.sort(key=lambda way: way[1])
    names = list(dict.fromkeys(server for server, _ in ways))
    tasks = list(dict.fromkeys(outcome.task for outcome in outcomes))
    by_task = {(outcome.task, (outcome.server, outcome.in_lists)): outcome for outcome in outcomes}
    other = next((name for name, in_lists in ways if name != OURS and not in_lists), None)
    rows = [["task", "on", *map(_heading, ways)] + (["ratio"] if other else [])]
    for task in tasks:
        done = [by_task[task, way] for way in ways]
        cells = [f"{one.characters:,} / {one.calls}{'' if one.done else ' (not done)'}" for one in done]
        rows.append([task, done[0].where, *cells] + ([_ratio(by_task, [task], other)] if other else []))
    small = [task for task in tasks if all(by_task[task, way].characters < HUGE for way in ways)]
    for label, some in (("all together", tasks), ("without the largest pages", small)):
        row = [label, f"{len(some)} tasks"]
        for way in ways:
            done = [by_task[task, way] for task in some]
            seconds = sum(one.seconds for one in done)
            characters, calls = sum(one.characters for one in done), sum(one.calls for one in done)
            row.append(f"{characters:,} / {calls}, {seconds:.0f} s")
        rows.append(row + ([_ratio(by_task, some, other)] if other else []))
    solved = [
        f"{_heading(way)} {sum(by_task[task, way].done for task in tasks)} of {len(tasks)}" for way in ways
    ]
    listed = [f"{name} {by_task[tasks[0], (name, True)].listed:,}" for name in names]
    parts = [
        HEADING,
        "Everything that the tools return from the first call to the last, errors and all, over a fixed"
        " set of tasks on applications and documents from packages: characters / calls. Each is a "
        "script that knows only what the tools return, written once and run on each server; whether it"
        " has done its task is seen from outside: in the database, the file, what the site was sent or "
        "asked for. playwright-mcp is used as its tools' descriptions advise: a snapshot on every page "
        "that it comes to, references as long as they hold, browser_find for what has come since. This "
        "server returns the page with the navigation and the changes with each action.",
        "In lists, as a careful reader would use them: what was shown is named by its index, what the next "
        "page will have by its role and name; what is opened and what is a form is looked at, and what else "
        "an action has led to is searched for. This server does so with `do_actions`, which ends with "
        "`find_elements`; playwright-mcp with `browser_fill_form` and browser_find; agent-browser from a "
        "shell with `batch --bail`, by references and `find role`, with the waits that its skill advises, "
        "ended by `snapshot -i`, or `find text` for what is to be read (its commands one by one are in "
        "[terminal.md](terminal.md)). What is not done is tried once more. The ratio is that of "
        "characters, call by call.",
        f"Done, of {len(tasks)}: {', '.join(solved)}. Characters of `tools/list`, apart, or of the skill "
        f"that agent-browser prints: {', '.join(listed)}.",
        markdown_table(rows, texts=2),
        _failures(outcomes),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _heading(way: Way) -> str:
    server, in_lists = way
    return f"{server}, in lists" if in_lists else server


def write(new: str) -> None:
    """Put the section into docs/performance.md."""
    DOCUMENT.write_text(replaced(DOCUMENT.read_text(encoding="utf-8"), new, HEADING), encoding="utf-8")


def _ratio(by_task: dict[tuple[str, Way], Outcome], tasks: list[str], other: str) -> str:
    mine = sum(by_task[task, (OURS, False)].characters for task in tasks)
    theirs = sum(by_task[task, (other, False)].characters for task in tasks)
    return f"{mine / theirs:.2f}" if theirs else "-"


def _failures(outcomes: list[Outcome]) -> str:
    failed = [one for one in outcomes if not one.done]
    unseen = "it is not seen from outside"
    lines = [f"* {one.task}, {_heading((one.server, one.in_lists))}: {one.why or unseen}" for one in failed]
    return "\n".join(["Not done:", "", *lines]) if lines else ""
