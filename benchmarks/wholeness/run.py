"""Measures the pages, one after the other in one tab, and prints the results."""

import argparse
import asyncio
import contextlib
import json
import tempfile
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Error as PlaywrightError
from rich.console import Console

from benchmarks.operations.table import FOLDER, operations
from benchmarks.servers import ToolError
from benchmarks.wholeness import report
from benchmarks.wholeness.first import FIRST
from benchmarks.wholeness.judge import Fault, Standing, Verdict, judge, shortfalls
from benchmarks.wholeness.ours import Ours
from benchmarks.wholeness.page import Page
from benchmarks.wholeness.second import SECOND
from benchmarks.wholeness.stage import Stage, prepare
from benchmarks.wholeness.texts import Texts, compare
from benchmarks.wholeness.theirs import Theirs
from benchmarks.wholeness.tree import Tree
from mcp_browser.actions import load_registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.errors import ActionError
from mcp_browser.settings import BrowserSettings, Settings, ToolSettings
from tests.support.apps import free_port
from tests.support.site import Site

PAGES = FIRST + SECOND
console = Console(stderr=True, soft_wrap=True)

SETTLED = 3
"""Seconds that a page is given to come to rest in its state."""


@dataclass
class Bench:
    """A browser, and what is compared in it.

    `theirs` is playwright-mcp, connected to the same browser; `pictures` a folder for a picture of each page.
    """

    stage: Stage
    session: BrowserSession
    controller: Controller
    theirs: Theirs | None = None
    pictures: Path | None = None

    async def open(self, page: Page) -> list[str]:
        """Open a page and put it into its state; the errors of its scripts.

        Raises:
            RuntimeError: the page could not be served or put into its state.
            ActionError: it could not be opened.
        """
        await self.session.ensure_open()
        tab = self.session.current_tab
        errors: list[str] = []

        def note(error: PlaywrightError) -> None:
            errors.append(str(error).splitlines()[0])

        tab.page.on("pageerror", note)
        try:
            # Each page begins with its own document, also where only the state is another.
            for url in ("about:blank", await asyncio.to_thread(self.stage.address, page)):
                await self.controller.execute("go_to_url", {"url": url}, self.session)
            await prepare(tab.page, page.steps)
        except PlaywrightError as error:
            raise RuntimeError("\n".join([*errors, error.message])) from error
        finally:
            tab.page.remove_listener("pageerror", note)
        await tab.dom.settle(limit=SETTLED)
        return errors

    async def texts(self, page: Page) -> Texts:
        """Which texts of a page are shown or found.

        Raises:
            RuntimeError: the page could not be served or put into its state.
            ActionError: it could not be opened or read.
        """
        await self.open(page)
        return await compare(page.name, self.session.current_tab.page, Ours(self.session, self.controller))

    async def measure(self, page: Page) -> Verdict:
        """Open a page, put it into its state and judge what is listed of it.

        Raises:
            RuntimeError: the page could not be served or put into its state.
            ActionError: it could not be opened or read.
        """
        errors = await self.open(page)
        tab = self.session.current_tab
        if self.pictures is not None:
            await tab.page.screenshot(path=self.pictures / f"{page.name.replace(' ', '-')}.png")
        tree = Tree(tab.page)
        await tree.read()
        verdict = await self._ours(page.name, tree)
        verdict.faults += [Fault(page.name, "script error", "", error) for error in errors]
        if self.theirs is not None:
            await asyncio.to_thread(self.theirs.look)
            keys = await self.theirs.keys(tree)
            verdict.their_characters = len(self.theirs.text)
            unlisted = self.theirs.also(Standing(tree, self.theirs.lines, keys).without())
            verdict.their_listed = verdict.operable - len(unlisted)
        await tree.close()
        return verdict

    async def _ours(self, page: str, tree: Tree) -> Verdict:
        ours = Ours(self.session, self.controller)
        await ours.list()
        counted = Standing(tree, {}, {}).counted()
        totals = {role: await ours.search(role=role) for role in counted}
        keys = await ours.keys(tree)
        if missing := Standing(tree, ours.lines, keys).without():
            await ours.search_for(missing)
            keys = await ours.keys(tree)
        verdict = await judge(page, tree, ours.listed, ours.found, keys)
        verdict.faults += shortfalls(page, counted, totals)
        verdict.characters = len(ours.text)
        return verdict


@contextlib.asynccontextmanager
async def browsing(port: int) -> AsyncGenerator[tuple[BrowserSession, Controller]]:
    """A session of this server's own kind in a clean profile; others can reach its browser at `port`."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        settings = Settings(
            browser=BrowserSettings(
                headless=True, profile=Path(profile), browser_args=(f"--remote-debugging-port={port}",)
            )
        )
        manager = BrowserManager(settings)
        try:
            yield await manager.default_session(), Controller(load_registry(ToolSettings()), settings)
        finally:
            await manager.close()


async def measure_all(
    pages: Sequence[Page], *, peer: bool, pictures: Path | None, faults: Path | None
) -> list[Verdict]:
    """Judge pages; each fault is a line of the file `faults`."""
    verdicts: list[Verdict] = []
    port = free_port()
    with Site() as site, Stage(site) as stage, contextlib.ExitStack() as running:
        async with browsing(port) as (session, controller):
            await session.ensure_open()
            theirs = running.enter_context(Theirs(f"http://127.0.0.1:{port}")) if peer else None
            bench = Bench(stage, session, controller, theirs, pictures)
            for page in pages:
                try:
                    verdict = await bench.measure(page)
                except (ActionError, PlaywrightError, RuntimeError, ToolError) as error:
                    verdict = Verdict(page.name)
                    verdict.faults.append(Fault(page.name, "not measured", "", str(error)[:1000]))
                    console.print(str(error)[:1000], markup=False)
                console.print(report.in_short(verdict), markup=False, highlight=False)
                verdicts.append(verdict)
                if faults is not None:
                    with faults.open("a", encoding="utf-8") as file:
                        for fault in verdict.faults:
                            file.write(json.dumps(fault.as_json(), ensure_ascii=False) + "\n")
    return verdicts


async def measure_texts(pages: Sequence[Page]) -> list[Texts]:
    """Which texts of all pages are shown or found, of both benchmarks."""
    outcomes: list[Texts] = []
    with Site() as site, Stage(site) as stage, Stage(site, FOLDER / "pages") as other:
        async with browsing(free_port()) as (session, controller):
            for page in pages:
                here = stage if page in PAGES else other
                try:
                    outcome = await Bench(here, session, controller).texts(page)
                except (ActionError, PlaywrightError, RuntimeError) as error:
                    console.print(f"{page.name}: {str(error)[:300]}", markup=False)
                    continue
                lost = f": {outcome.lost}" if outcome.lost else ""
                counts = f"{outcome.count} texts, {outcome.found} found, {len(outcome.lost)} lost"
                console.print(f"{page.name}: {counts}{lost}", markup=False, highlight=False)
                outcomes.append(outcome)
    return outcomes


def main() -> None:
    """Measure and print the table; put it into docs/wholeness.md where all pages of a half were measured."""
    arguments = argparse.ArgumentParser(description="Measure how much of what could be operated is listed.")
    arguments.add_argument("--half", choices=("first", "second", "all"), default="first")
    arguments.add_argument("--only", default="", help="pages whose names have one of these words")
    arguments.add_argument("--no-write", action="store_true", help="leave docs/wholeness.md as it is")
    arguments.add_argument("--no-peer", action="store_true", help="leave playwright-mcp out")
    arguments.add_argument("--faults", type=Path, help="file for a line of JSON about each fault")
    arguments.add_argument("--pictures", type=Path, help="folder for a picture of each page")
    arguments.add_argument(
        "--texts", action="store_true", help="measure texts, also on the operations' pages"
    )
    asked = arguments.parse_args()
    words = [word for word in asked.only.split(",") if word]
    if asked.texts:
        known = {page.source for page in PAGES}
        others = dict.fromkeys(one.page for one in operations() if one.page.source not in known)
        every = [page for page in (*PAGES, *others) if not words or any(word in page.name for word in words)]
        outcomes = asyncio.run(measure_texts(every))
        Console().print(report.texts(outcomes), markup=False, highlight=False, soft_wrap=True)
        if not words and not asked.no_write:
            report.write_texts(outcomes)
        return
    pages = [
        page
        for page in PAGES
        if asked.half in (page.half, "all") and (not words or any(word in page.name for word in words))
    ]
    if asked.faults is not None:
        asked.faults.write_text("", encoding="utf-8")
    if asked.pictures is not None:
        asked.pictures.mkdir(parents=True, exist_ok=True)
    peer = not asked.no_peer
    verdicts = asyncio.run(measure_all(pages, peer=peer, pictures=asked.pictures, faults=asked.faults))
    halves = {page.name: page.half for page in pages}
    Console().print(report.tables(verdicts, halves), markup=False, highlight=False, soft_wrap=True)
    if not words and peer and not asked.no_write:
        report.write(verdicts, halves)
