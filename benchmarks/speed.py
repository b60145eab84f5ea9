"""Times the same work on this server and on others, in turn, and writes docs/performance.md.

The other servers come from npm, at pinned versions, into a cache folder. All drive the same Chromium,
headless, against pages from a local site. Each round starts every server once; the figures are medians over
the rounds.
"""

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import egress, path, report, servers
from benchmarks.carried import run as carried
from mcp_browser.browser.process.launch import find_browser, uses_sandbox
from mcp_browser.settings import Settings
from tests.support.site import Reply, Request, Site

SNAPSHOT_LIMIT = 30
"""Seconds after which a snapshot counts as not given."""

TURNS = 10

PAUSE = 2
"""Seconds that a client takes after it has listed the tools: a person writes, a model thinks."""

console = Console(stderr=True)

Figures = dict[str, float | str]


def shop(rows: int) -> str:
    """A page of `rows` articles with six elements each."""
    articles = "".join(
        f"<section><b>Article {n}</b><a href='/article/{n}'>Details {n}</a>"
        f"<button onclick=\"order.textContent = 'ordered {n}'\">Order {n}</button>"
        f"<input placeholder='amount {n}'><p>Number {n} is of fine material and will last.</p></section>"
        for n in range(rows)
    )
    head = f"<!doctype html><html lang=en><title>{rows} articles</title>"
    return f"{head}<h1 id=order>nothing ordered</h1>{articles}</html>"


def _answer(request: Request) -> Reply:
    """`/N` is the shop with N rows."""
    last = request.path.rsplit("/", 1)[-1]
    return Reply(shop(int(last) if last.isdigit() else 0).encode())


def seconds(work: Callable[[], Any]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(name: str, start: Callable[..., servers.Server], site: str, sizes: list[int]) -> Figures:
    """One round of one server: times in milliseconds, sizes in characters, memory in megabytes."""
    figures: Figures = {"first call": _first_call(start(), site)} | _modern(start, site)
    server = start()
    try:
        figures |= _beginning(server, site) | _turns(server, site)
        figures["memory"] = server.connection.memory()
        for rows in sizes:
            try:
                server.open(f"{site}/{rows}")
                text = server.look(limit=SNAPSHOT_LIMIT)
                times = [seconds(partial(server.look, limit=SNAPSHOT_LIMIT)) for _ in range(3)]
            except servers.ToolError as error:
                console.print(f"  {name}, {rows} rows: {error}", style="yellow", markup=False)
                figures[f"snapshot {rows}"] = figures[f"characters {rows}"] = _reason(error)
                server.connection.close()
                server = start()
                continue
            figures[f"snapshot {rows}"] = statistics.median(times) * 1000
            figures[f"characters {rows}"] = len(text)
    finally:
        server.connection.close()
    return figures


def _beginning(server: servers.Server, site: str) -> Figures:
    connection = server.connection
    if "Article 4" not in server.open(f"{site}/5"):
        server.look()
    first = time.perf_counter() - connection.started
    return {
        "ready": connection.ready * 1000,
        "tools": len(connection.tools),
        "tools characters": connection.listed,
        "first page": first * 1000,
    }


def _modern(start: Callable[..., servers.Server], site: str) -> Figures:
    """The beginning in the modern era; nothing of a server that knows only the older one."""
    try:
        server = start(modern=True)
    except servers.ToolError:
        return {}
    try:
        figures = _beginning(server, site)
        return {f"modern {key}": figures[key] for key in ("ready", "first page")}
    finally:
        server.connection.close()


def _first_call(server: servers.Server, site: str) -> float:
    """Milliseconds from the first call until a small page is in a result, a while after the start."""
    try:
        time.sleep(PAUSE)
        begin = time.perf_counter()
        if "Article 4" not in server.open(f"{site}/5"):
            server.look()
        return (time.perf_counter() - begin) * 1000
    finally:
        server.connection.close()


def _turns(server: servers.Server, site: str) -> Figures:
    """Clicks, fills and whole turns: a click, then as many calls as it takes to know what it changed."""
    server.open(f"{site}/5")
    text = server.look()
    first, second = (server.find(text, "button", f"Order {n}") for n in (1, 2))
    box = server.find(text, "textbox", "amount 1")
    clicks = [seconds(lambda: server.click(first)) for _ in range(TURNS)]
    fills = [seconds(lambda n=n: server.fill(box, str(n))) for n in range(TURNS)]
    turns: list[float] = []
    sees = True
    for turn in range(TURNS):
        button, wanted = ((first, "ordered 1"), (second, "ordered 2"))[turn % 2]
        start = time.perf_counter()
        if wanted not in server.click(button):
            sees = wanted in server.look() and sees
        turns.append(time.perf_counter() - start)
    return {
        "click": statistics.median(clicks) * 1000,
        "fill": statistics.median(fills) * 1000,
        "turn": statistics.median(turns) * 1000,
        "turn sees": "yes" if sees else "no",
    }


def _reason(error: Exception) -> str:
    """In a few words; a server may give up by itself after the same time."""
    text = str(error)
    return f"no answer in {SNAPSHOT_LIMIT} s" if "no answer" in text or "Timeout" in text else "fails"


def _tasks(names: list[str]) -> str:
    """The section of the whole tasks, with those of the servers that have a policy's moves."""
    # What the tasks are done on is only there in a checkout with what its tests need.
    from benchmarks.tasks import report as tasks_report  # noqa: PLC0415
    from benchmarks.tasks import run  # noqa: PLC0415

    return tasks_report.section(run.do_all([name for name in names if name in run.IN_LISTS], []))


def _tasks_before() -> str:
    """The section of the whole tasks as it was written before."""
    from benchmarks.tasks import report as tasks_report  # noqa: PLC0415

    return egress.section_of(egress.DOCUMENT.read_text(encoding="utf-8"), tasks_report.HEADING)


def combined(rounds: list[Figures]) -> Figures:
    """The median of each figure; where a round has no number, its word."""
    values: dict[str, list[float | str]] = defaultdict(list)
    for figures in rounds:
        for key, value in figures.items():
            values[key].append(value)
    out: Figures = {}
    for key, seen in values.items():
        words = [value for value in seen if isinstance(value, str)]
        numbers = [value for value in seen if not isinstance(value, str)]
        out[key] = words[0] if words else statistics.median(numbers)
    return out


def main() -> None:
    """Measure and write the report."""
    arguments = argparse.ArgumentParser(description="Time the same work on this server and on others.")
    arguments.add_argument("--servers", default=",".join(servers.MOVES), help="which, separated by commas")
    arguments.add_argument("--rounds", type=int, default=3, help="how often each server is started")
    arguments.add_argument("--sizes", default="100,1000,5000,20000", help="rows of the pages to snapshot")
    arguments.add_argument("--no-tasks", action="store_true", help="only time; keep the section of the tasks")
    arguments.add_argument("--no-write", action="store_true", help="leave the document alone")
    asked = arguments.parse_args()
    names: list[str] = asked.servers.split(",")
    sizes = [int(size) for size in asked.sizes.split(",")]

    settings = Settings().browser
    chromium = str(find_browser(settings).executable)
    measured: dict[str, list[Figures]] = {name: [] for name in names}
    with Site() as site:
        site.route("/", _answer)
        for number in range(asked.rounds):
            for name in names:
                console.print(f"round {number + 1}: {name}", markup=False)
                how = servers.command(name, chromium, sandbox=uses_sandbox(settings))
                start = partial(servers.Server, name, how)
                measured[name].append(measure(name, start, site.url, sizes))

    figures = {name: combined(rounds) for name, rounds in measured.items()}
    document = report.document(figures, sizes, rounds=asked.rounds, chromium=chromium)
    document += "\n" + (_tasks_before() if asked.no_tasks else _tasks(names))
    for heading in (egress.HEADING, carried.HEADING):
        if kept := egress.section_of(egress.DOCUMENT.read_text(encoding="utf-8"), heading):
            document = egress.replaced(document, kept, heading)
    document = egress.replaced(document, path.section(path.rows_of(), path.rows_before()), path.HEADING)
    Console().print(document, markup=False, highlight=False, soft_wrap=True)
    if not asked.no_write:
        Path(__file__).parent.parent.joinpath("docs", "performance.md").write_text(document, encoding="utf-8")
