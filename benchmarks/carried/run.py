"""Opens and clicks pages that carry what real sites do, with each server in turn, and writes a section."""

import argparse
import statistics
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console

from benchmarks import servers
from benchmarks.carried.pages import PAGES, Page
from benchmarks.report import machine, markdown_table
from benchmarks.wholeness.stage import bundled
from mcp_browser.browser.process.launch import find_browser, uses_sandbox
from mcp_browser.settings import Settings
from tests.support.site import Reply, Site
from tests.support.sockets import echo_server

HEADING = "## Pages that carry what real sites do"
DOCUMENT = Path(__file__).parents[2] / "docs" / "performance.md"
SERVERS = ("mcp-browser", "playwright-mcp", "agent-browser")
CLICKS = 8
BETWEEN = 0.3
"""Seconds between two clicks, in which a model would think at least as long."""

_FOLDER = Path(__file__).parent
console = Console(stderr=True)


@dataclass(frozen=True)
class Times:
    """The figures of a server on a page; times in milliseconds, until the change is in a result."""

    opened: float
    first: float
    median: float
    slowest: float
    characters: int
    deep: str
    """What came of the button at the end: `yes` where it was found and clicked at the first try."""


@contextmanager
def serving(pages: list[Page]) -> Generator[dict[Page, str]]:
    """A site with the pages; their addresses."""
    with Site() as site, echo_server() as socket:
        site.route("/collect", lambda _: Reply(b"{}", "application/json"))
        site.route("/api", lambda _: Reply(b"{}", "application/json"))
        site.route("/stock", lambda _: Reply(b"7", "text/plain"))
        site.route("/advert", lambda _: Reply(b"<!doctype html><title>Advert</title><a href=/>Buy</a>"))
        part = b"<turbo-frame id=part><a href=/stock>Part</a></turbo-frame>"
        site.route("/part", lambda _: Reply(part))
        site.publish(b"onfetch = () => undefined", path="/carried/sw.js", content_type="text/javascript")
        yield {page: _publish(site, page, socket) for page in pages}


def _publish(site: Site, page: Page, socket: str) -> str:
    html = (_FOLDER / "frame.html").read_text("utf-8")
    script = styles = ""
    if page.source:
        bundle = bundled(_FOLDER / "pages" / page.source, page.packages)
        folder = site.mount(f"/bundles/{bundle.stem}", bundle.parent)
        script = f'<script>carriedSocket = "{socket}"</script>'
        script += f'<script type="module" src="{folder}/{bundle.name}"></script>'
        if bundle.with_suffix(".css").exists():
            styles = f'<link rel="stylesheet" href="{folder}/{bundle.stem}.css">'
    html = html.replace("{styles}", styles).replace("{script}", script)
    return site.publish(html.encode(), path=f"/carried/{page.source or 'nothing'}.html")


def measure(server: servers.Server, address: str) -> Times:
    """Open a page, click its button, and take what is at its end.

    Raises:
        ToolError: a tool failed, or the page did not do what was asked.
    """
    start = time.perf_counter()
    text = server.open(address)
    if "Add one" not in text:
        text = server.look()
    opened = time.perf_counter() - start
    clicks: list[float] = []
    answer = ""
    for number in range(1, CLICKS + 1):
        time.sleep(BETWEEN)
        button = server.find(text, "button", "Add one")
        start = time.perf_counter()
        answer = server.click(button)
        if f"counted {number}" not in answer and f"counted {number}" not in (text := server.look()):
            raise servers.ToolError(f"click {number} changed nothing")
        clicks.append(time.perf_counter() - start)
    return Times(
        opened * 1000,
        clicks[0] * 1000,
        statistics.median(clicks) * 1000,
        max(clicks[1:]) * 1000,
        len(answer),
        _deep(server),
    )


def _deep(server: servers.Server) -> str:
    """Whether the button at the end of the page is found, and clicked at the first try."""
    text = server.look()
    try:
        if "Take the offer" not in text and server.name == "mcp-browser":
            text = server.connection.call("find_elements", text="Take the offer")
        button = server.find(text, "button", "Take the offer")
    except servers.ToolError:
        return "not found"
    try:
        answer = server.click(button)
    except servers.ToolError:
        return "not clicked"
    return "yes" if "offer taken" in answer or "offer taken" in server.look() else "no effect"


_AT_REST = """async () => {
    const ends = one => one.playState === "running" && one.effect.getComputedTiming().endTime < 1e4;
    for (;;) {
        const more = document.getAnimations().filter(ends);
        if (!more.length) return;
        await Promise.allSettled(more.map(animation => animation.finished));
        await new Promise(requestAnimationFrame);
    }
}"""


def load_alone(chromium: str, addresses: dict[Page, str], *, sandbox: bool) -> dict[Page, float]:
    """How long each page takes in a bare browser, milliseconds: to its load event and until it is at rest."""
    taken: dict[Page, float] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, chromium_sandbox=sandbox)
        tab = browser.new_page()
        for page, address in addresses.items():
            start = time.perf_counter()
            tab.goto(address, wait_until="load")
            tab.evaluate(_AT_REST)
            taken[page] = (time.perf_counter() - start) * 1000
        browser.close()
    return taken


def measure_all(
    names: list[str], pages: list[Page]
) -> tuple[dict[Page, float], dict[str, dict[Page, Times | str]]]:
    """What each page takes itself; each with each server in turn, a word where a server fails on a page."""
    settings = Settings().browser
    chromium = str(find_browser(settings).executable)
    start = {
        name: partial(servers.Server, name, servers.command(name, chromium, sandbox=uses_sandbox(settings)))
        for name in names
    }
    measured: dict[str, dict[Page, Times | str]] = {name: {} for name in names}
    with serving(pages) as addresses:
        alone = load_alone(chromium, addresses, sandbox=uses_sandbox(settings))
        running = {name: begin() for name, begin in start.items()}
        try:
            for server in running.values():
                server.open("about:blank")
            for page, address in addresses.items():
                for name in names:
                    try:
                        measured[name][page] = measure(running[name], address)
                    except servers.ToolError as error:
                        console.print(f"{name}, {page.name}: {error}", style="yellow", markup=False)
                        measured[name][page] = "fails"
                        running[name].connection.close()
                        running[name] = start[name]()
                    console.print(f"{page.name}: {name} {measured[name][page]}", markup=False)
        finally:
            for server in running.values():
                server.connection.close()
    return alone, measured


def section(alone: dict[Page, float], measured: dict[str, dict[Page, Times | str]]) -> str:
    """The section of docs/performance.md."""
    chromium = str(find_browser(Settings().browser).executable)
    names = list(measured)
    pages = list(next(iter(measured.values())))
    table = [["a page with", "itself", *(f"{name}: {what}" for name in names for what in _COLUMNS)]]
    table += [
        [page.name, f"{alone[page]:,.0f}", *(cell for name in names for cell in _cells(measured[name][page]))]
        for page in pages
    ]
    return "\n\n".join(
        (
            HEADING,
            f"Written by `just carried`. {time.strftime('%Y-%m-%d')}: {machine(chromium)}; each page once "
            "with each server, in turn. *itself*: milliseconds to its load event, and until no animation "
            "that ends goes on, in a bare browser; *open*: until a tool has returned the page; *click*: "
            f"the median of {CLICKS} clicks that change a line, until a tool has returned that line, and in "
            "brackets the first and the slowest of the others, milliseconds. Below: on how many pages the "
            "button at the end was found and clicked at once. mcp-browser waits 1 s for a long poll at the "
            "first visit, when it may still be a slow answer; the next visits in the same tab wait for it "
            "0.3 s.",
            markdown_table(table),
            _worst(measured),
        )
    )


_COLUMNS = ("open", "click")


def _cells(times: Times | str) -> list[str]:
    if isinstance(times, str):
        return [times, "-"]
    clicks = f"{times.median:,.0f} ({times.first:,.0f}; {times.slowest:,.0f})"
    return [f"{times.opened:,.0f}", clicks]


def _worst(measured: dict[str, dict[Page, Times | str]]) -> str:
    """A line for each server: its slowest median, and how many ends it has reached."""
    lines: list[str] = []
    for name, by_page in measured.items():
        done = {page: times for page, times in by_page.items() if isinstance(times, Times)}
        slowest = max(done, key=lambda page: done[page].median)
        reached = sum(times.deep == "yes" for times in done.values())
        lines.append(
            f"* {name}: slowest with {slowest.name}, {done[slowest].median:,.0f} ms a click; the end was "
            f"reached on {reached} of {len(by_page)} pages."
        )
    return "\n".join(lines)


def main() -> None:
    """Measure and write the section."""
    arguments = argparse.ArgumentParser(description="Pages that carry what real sites do.")
    arguments.add_argument("--servers", default=",".join(SERVERS), help="which, separated by commas")
    arguments.add_argument("--only", default="", help="parts of the pages' names, separated by commas")
    arguments.add_argument("--no-write", action="store_true", help="leave the document alone")
    asked = arguments.parse_args()
    wanted = [part.lower() for part in asked.only.split(",") if part]
    pages = [page for page in PAGES if not wanted or any(part in page.name.lower() for part in wanted)]
    written = section(*measure_all(asked.servers.split(","), pages))
    Console().print(written, markup=False, highlight=False, soft_wrap=True)
    if not asked.no_write:
        # Imported late: the proxy that it measures is not needed here.
        from benchmarks import egress  # noqa: PLC0415

        document = egress.replaced(DOCUMENT.read_text("utf-8"), written, HEADING)
        DOCUMENT.write_text(document, "utf-8")
