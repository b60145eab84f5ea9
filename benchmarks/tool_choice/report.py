"""Reads results; writes docs/tool-choice.md."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.tool_choice import lists
from benchmarks.tool_choice.asking import Asked, brief, digest, judged
from benchmarks.tool_choice.instructions import INSTRUCTIONS

PAGE = Path(__file__).parents[2] / "docs" / "tool-choice.md"


def read(path: Path) -> list[Asked]:
    """The results so far; the last one of each kind counts."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    found = [Asked.of_line(line) for line in lines]
    return [*{(one.model, one.server, one.list, one.says): one for one in found}.values()]


def write(results: Sequence[Asked], *, note: str = "") -> None:
    """Write the page, of the lists as they are now; answers are judged by today's rules."""
    ours, theirs = lists.ours(), lists.theirs()
    by_text = {instruction.says: instruction for instruction in INSTRUCTIONS}
    listed = {lists.OURS: ours, lists.COMMANDS: ours, lists.THEIRS: theirs}
    results = [
        judged(one, listed[one.server], by_text[one.says])
        for one in results
        if one.says in by_text and one.server in listed
    ]
    commands = digest(ours, lists.COMMANDS)
    by_command = [one for one in results if (one.server, one.list) == (lists.COMMANDS, commands)]
    current = {lists.OURS: digest(ours), lists.THEIRS: digest(theirs)}
    results = [one for one in results if one.list == current.get(one.server)]
    lines = [
        "# Tool choice",
        "",
        "Written by `just tool-choice` "
        "([benchmarks](https://github.com/mcp-browser/mcp-browser/blob/main/benchmarks/README.md)). A model "
        "is given a server's list of tools, a page as that server would show it, and a short instruction; it "
        "answers with one call. *Tool*: the name is one of those that are right. *Call*: so are the "
        "arguments, by the tool's schema and by value; the file of results has each answer and what is wrong "
        f"with it. {len(INSTRUCTIONS)} instructions, the same for both servers, of what both offer by "
        "default.",
        "",
        f"The lists: mcp-browser {_size(ours)}, playwright-mcp {lists.VERSION} "
        f"{_size(theirs)}, as compact JSON. The instructions were written by those who write "
        "mcp-browser.",
    ]
    for name in dict.fromkeys(one.model for one in results):
        lines += ["", *_of_model(name, [one for one in results if one.model == name], note)]
        mine = [one for one in by_command if one.model == name]
        if mine:
            lines += [
                "",
                f"By the commands of `mcp-browser do`, with the skill in the place of the list: of "
                f"{len(mine)} instructions {sum(one.tool_right for one in mine)} with the right action, "
                f"{sum(one.arguments_right for one in mine)} with the right arguments.",
            ]
    PAGE.write_text("\n".join(lines) + "\n", "utf-8")


def _of_model(name: str, results: Sequence[Asked], note: str) -> Iterator[str]:
    both = {one.says for one in results if one.server == lists.OURS} & {
        one.says for one in results if one.server == lists.THEIRS
    }
    days = sorted({one.day for one in results})
    yield f"## {name}"
    yield ""
    yield (
        f"{' to '.join(dict.fromkeys((days[0], days[-1])))}, one answer each at temperature 0; "
        f"{len(both)} of {len(INSTRUCTIONS)} instructions were tried with both"
        + ("." if both else f", {len(results)} with {results[0].server} alone.")
    )
    if note:
        yield ""
        yield note
    yield ""
    yield "| | tried | mcp-browser: tool | call | playwright-mcp: tool | call |"
    yield "|---|---:|---:|---:|---:|---:|"
    # Where both were not asked the same, each is shown for what it was asked.
    shared = [one for one in results if one.says in both] or [*results]
    for category in dict.fromkeys(instruction.category for instruction in INSTRUCTIONS):
        within = [one for one in shared if one.category == category]
        if within:
            yield _row(category, within)
    yield _row("**all**", shared)


def _size(tools: lists.Listed) -> str:
    return f"{len(tools)} tools in {len(brief(tools)) - len(brief([])):,} characters"


def _row(name: str, results: Sequence[Asked]) -> str:
    cells = [name, str(len({one.says for one in results}))]
    for server in (lists.OURS, lists.THEIRS):
        of_server = [one for one in results if one.server == server]
        right = [sum(one.tool_right for one in of_server), sum(one.arguments_right for one in of_server)]
        cells += [str(number) if of_server else "" for number in right]
    return f"| {' | '.join(cells)} |"
