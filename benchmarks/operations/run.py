"""Proves each operation by plain Playwright, carries it out with each server, and writes the table."""

import argparse
import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from playwright.sync_api import Error as PlaywrightError
from rich.console import Console

from benchmarks import servers
from benchmarks.operations import report
from benchmarks.operations.adapters import OPERATORS, Operator
from benchmarks.operations.outcome import Outcome
from benchmarks.operations.proof import CHECK_SECONDS, FILE, holds, prove
from benchmarks.operations.table import FOLDER, PARTS, Operation, is_known, operations
from benchmarks.servers import ToolError
from benchmarks.tasks.hands import NotSeenError
from benchmarks.wholeness.stage import Stage
from mcp_browser.browser.process.launch import find_browser, uses_sandbox
from mcp_browser.settings import Settings
from tests.support.site import Site

MORE_FLAGS = {
    "mcp-browser": ["--tools", "core,scripting", "--upload-dir", str(FILE.parent)],
    "playwright-mcp": ["--allow-unrestricted-file-access"],
}
console = Console(stderr=True, soft_wrap=True)


class Bench:
    """The pages, and a browser of plain Playwright's to prove operations in."""

    def __init__(self, stages: dict[bool, Stage], browser: Browser) -> None:
        """`stages` are those of wholeness's pages (True) and of this folder's."""
        self._stages = stages
        self._browser = browser

    def address(self, operation: Operation) -> str:
        """Where its page is served."""
        return self._stages[is_known(operation.page)].address(operation.page)

    def can_be_done(self, operation: Operation) -> bool:
        """Whether plain Playwright does it, and it is not so before."""
        page = self._browser.new_page(viewport={"width": 1280, "height": 900})
        try:
            page.goto(self.address(operation))
            page.wait_for_timeout(1500)
            before = page.evaluate(
                f"() => {{ try {{ return Boolean({operation.check}) }} catch {{ return false }} }}"
            )
            prove(page, operation.proof)
            done = holds(page, operation.check)
            if before or not done:
                console.print(f"{operation}: proof {'true before' if before else 'not done'}", markup=False)
            return done and not before
        except (PlaywrightError, AssertionError) as error:
            console.print(f"{operation}: proof: {str(error)[:200]}", markup=False)
            return False
        finally:
            page.close()


def carry_out(operation: Operation, name: str, operator: Operator, address: str) -> Outcome:
    """Do it, at the second try in small steps."""
    hand, false, why = operator.hand, "", ""
    hand.characters, hand.calls, hand.transcript = 0, [], []
    tried, started = 0, time.perf_counter()
    for number in (1, 2):
        hand.seen.clear()
        hand.open(address)
        begun = len(hand.transcript)
        try:
            for move in operation.moves:
                begun = len(hand.transcript)
                operator.do(move, again=number > 1)
        except (ToolError, NotSeenError) as error:
            why = why or " ".join(str(error).split())[:300]
        seconds = time.perf_counter() - started
        done = _is_done(operator, operation.check)
        said = operator.falsehoods.search("\n".join(hand.transcript[begun:]))
        if said and number == 1 and (done or not said[0].startswith("No text")):
            false = said[0]
        if done:
            tried = number
            break
        why = why or "no error, and not done"
    counts = (tried, len(hand.calls), hand.characters, seconds)
    return Outcome(str(operation), operation.kind, name, *counts, false, why if tried != 1 else "")


def _is_done(operator: Operator, check: str) -> bool:
    expression = f'(() => {{ try {{ return "IS:" + Boolean({check}) }} catch {{ return "IS:" }} }})()'
    until = time.monotonic() + CHECK_SECONDS
    while time.monotonic() < until:
        if operator.evaluate(expression):
            return True
        time.sleep(0.2)
    return False


def start(name: str) -> Operator:
    """A fresh process of a server, and what works its tools."""
    settings = Settings().browser
    command = servers.command(name, str(find_browser(settings).executable), sandbox=uses_sandbox(settings))
    command.argv.extend(MORE_FLAGS[name])
    operator, hand = OPERATORS[name]
    return operator(hand(servers.Connection(command)))


def measure(wanted: Sequence[Operation], names: list[str], record: Path | None) -> list[Outcome]:
    """Each operation that plain Playwright can do, with each server in turn."""
    outcomes: list[Outcome] = []
    with (
        Site() as site,
        Stage(site) as known,
        Stage(site, FOLDER / "pages") as own,
        sync_playwright() as driver,
    ):
        chromium = str(find_browser(Settings().browser).executable)
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        bench = Bench({True: known, False: own}, browser)
        operators = {name: start(name) for name in names}
        for operation in wanted:
            try:
                if not bench.can_be_done(operation):
                    continue
                address = bench.address(operation)
                console.print(f"{operation}: proved", markup=False)
            except RuntimeError as error:
                console.print(f"{operation}: no page: {str(error)[:300]}", markup=False)
                continue
            for name in names:
                try:
                    outcome = carry_out(operation, name, operators[name], address)
                except ToolError as error:
                    outcome = Outcome(
                        str(operation), operation.kind, name, 0, 0, 0, 0.0, "", str(error)[:300]
                    )
                    operators[name].hand.connection.close()
                    operators[name] = start(name)
                outcomes.append(outcome)
                counts = f"{outcome.calls} calls, {outcome.characters:,}, {outcome.seconds:.1f} s"
                failed = f"{outcome.false and f'FALSE {outcome.false}'} {outcome.why}"
                said = f"{operation}, {name}: try {outcome.tried or '-'}, {counts} {failed}"
                console.print(said, markup=False)
                if record is not None:
                    with record.open("a", encoding="utf-8") as file:
                        lines = operators[name].hand.transcript
                        file.write(json.dumps({**vars(outcome), "transcript": lines}) + "\n")
        for operator in operators.values():
            operator.hand.connection.close()
        browser.close()
    return outcomes


def measure_all(
    wanted: Sequence[Operation], names: list[str], record: Path | None, workers: int
) -> list[Outcome]:
    """`measure` in several threads, each with browsers and servers of its own; a page is one's alone."""
    pages = list(dict.fromkeys(one.page for one in wanted))
    shares = [[one for one in wanted if pages.index(one.page) % workers == turn] for turn in range(workers)]
    with ThreadPoolExecutor(workers) as pool:
        parts = pool.map(partial(measure, names=names, record=record), shares)
        return [outcome for part in parts for outcome in part]


def main() -> None:
    """Carry out the operations; put the table into docs/comparison.md where all were."""
    arguments = argparse.ArgumentParser(description="Carry out operations on widgets of many libraries.")
    arguments.add_argument("--only", default="", help="operations whose line has one of these words")
    arguments.add_argument("--part", choices=PARTS, help="the operations of one part alone")
    arguments.add_argument(
        "--servers", default=",".join(OPERATORS), help="which, separated by commas; with none, proofs alone"
    )
    arguments.add_argument("--workers", type=int, default=2, help="how many pages at a time")
    arguments.add_argument("--record", type=Path, help="file for a line of JSON about each")
    arguments.add_argument("--no-write", action="store_true", help="leave docs/comparison.md as it is")
    asked = arguments.parse_args()
    words = [word for word in asked.only.split(",") if word]
    wanted = [
        one
        for one in operations()
        if (not words or any(word in str(one) for word in words)) and asked.part in (None, one.part)
    ]
    names = [name for name in asked.servers.split(",") if name]
    outcomes = measure_all(wanted, names, asked.record, asked.workers)
    if not names:
        return
    section = report.section(outcomes, wanted)
    Console().print(section, markup=False, highlight=False, soft_wrap=True)
    if not words and asked.part is None and not asked.no_write:
        report.write(section)
