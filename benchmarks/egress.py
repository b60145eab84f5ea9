"""Times pages with and without the egress proxy, in turn, and writes their section of docs/performance.md.

The site is a process of its own, over HTTP and over HTTPS, with and without latency. Both sessions belong to
this process, as those of a server do; each pair of loads gives one ratio.
"""

import argparse
import asyncio
import datetime
import multiprocessing
import re
import statistics
import tempfile
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path

from rich.console import Console

from benchmarks.report import machine, markdown_table
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.process.launch import find_browser
from mcp_browser.browser.session import BrowserSession
from mcp_browser.settings import BrowserSettings, EgressSettings, Settings
from tests.support.certificates import self_signed
from tests.support.site import Reply, Request, Site

HEADING = "## What the egress proxy costs"
DOCUMENT = Path(__file__).parent.parent / "docs" / "performance.md"
PARTS = {"png": 24, "js": 12, "css": 4}
SIZE = 20_000  # Bytes of a part
LATENCY = 0.03  # Seconds until an answer of the site that has latency

_TYPES = {"png": "image/png", "js": "text/javascript", "css": "text/css"}


def _answer(request: Request) -> Reply:
    """`/0` is a page with forty parts, or one of these; `/30` one where each answer takes 30 ms."""
    milliseconds, _, part = request.path.strip("/").partition("/")
    time.sleep(int(milliseconds or 0) / 1000)
    kind = part.rpartition(".")[2]
    body = b" " * SIZE if kind in _TYPES else _page(milliseconds).encode()
    headers = {"Cache-Control": "no-store"}
    return Reply(body, _TYPES.get(kind, "text/html; charset=utf-8"), headers=headers)


def _page(milliseconds: str) -> str:
    links = {
        "png": "<img src='{}'>",
        "js": "<script src='{}'></script>",
        "css": "<link rel=stylesheet href='{}'>",
    }
    parts = [
        links[kind].format(f"/{milliseconds}/{number}.{kind}")
        for kind, count in PARTS.items()
        for number in range(count)
    ]
    return f"<!doctype html><title>Parts</title><link rel=icon href='data:,'>{''.join(parts)}"


def _serve(ports: Connection, certificate: Path | None) -> None:
    with Site(certificate) as site:
        site.route("/", _answer)
        ports.send(site.port)
        threading.Event().wait()


def _start_site(certificate: Path | None) -> tuple[multiprocessing.Process, int]:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_serve, args=(there, certificate), daemon=True)
    process.start()
    return process, here.recv()


async def _load(session: BrowserSession, url: str) -> float:
    """How long the page takes to be there whole, seconds."""
    page = session.current_tab.page
    await page.goto("about:blank")
    start = time.perf_counter()
    await page.goto(url, wait_until="load")
    return time.perf_counter() - start


async def measure(pages: dict[str, str], loads: int) -> list[list[str]]:
    """A row for each page: what it is, milliseconds without and with the proxy, the median of the ratios."""
    browser = BrowserSettings(headless=True, isolated=True)
    restricted = EgressSettings(block_private=True, allow_private=("127.0.0.1",))
    managers = [
        BrowserManager(Settings(browser=browser)),
        BrowserManager(Settings(browser=browser, egress=restricted)),
    ]
    rows: list[list[str]] = []
    try:
        sessions = [
            await manager.open_session(context_options={"ignore_https_errors": True}) for manager in managers
        ]
        for session in sessions:
            await session.ensure_open()
        for name, url in pages.items():
            for session in sessions:
                await _load(session, url)
            pairs = [[await _load(session, url) for session in sessions] for _ in range(loads)]
            without, through = (statistics.median(times) * 1000 for times in zip(*pairs, strict=True))
            ratio = statistics.median(pair[1] / pair[0] for pair in pairs)
            rows.append([name, f"{without:,.0f}", f"{through:,.0f}", f"{ratio:.2f}"])
    finally:
        for manager in managers:
            await manager.close()
    return rows


def section(rows: list[list[str]], loads: int) -> str:
    """The section of docs/performance.md."""
    chromium = str(find_browser(Settings().browser).executable)
    count = sum(PARTS.values())
    parts = [
        HEADING,
        f"Written by `just egress`. {datetime.date.today().isoformat()}: {machine(chromium)}; medians of "
        f"{loads} loads each way, in turn; the ratio is the median of the pairs', wanted below 1.10. "
        "The proxy only runs where something restricts where the browser may connect to "
        f"([egress.md](egress.md)). A page with {count} "
        f"parts of {SIZE // 1000} kB, none of them cached, until its load event:",
        markdown_table([["page", "without, ms", "through the proxy, ms", "ratio"], *rows]),
        "A site on this machine that answers at once leaves nothing to wait for but work, and site, proxy "
        "and browser compete for the same cores; on a network the latency outweighs that.",
    ]
    return "\n\n".join(parts) + "\n"


def section_of(document: str, heading: str = HEADING) -> str:
    """The section of a heading as it stands in a document; "" where there is none."""
    found = re.search(rf"{heading}\n.*?(?=\n## |\Z)", document, flags=re.S)
    return found[0].rstrip("\n") + "\n" if found else ""


def replaced(document: str, new: str, heading: str = HEADING) -> str:
    """A document with the section of this heading replaced, or put at its end."""
    kept = re.sub(rf"\n*{heading}\n.*?(?=\n## |\Z)", "", document, flags=re.S).rstrip("\n")
    return f"{kept}\n\n{new}"


def main() -> None:
    """Measure and write the section."""
    arguments = argparse.ArgumentParser(description="Time pages with and without the egress proxy.")
    arguments.add_argument("--loads", type=int, default=20, help="how often each page is loaded each way")
    arguments.add_argument("--no-write", action="store_true", help="leave the document alone")
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="egress-") as folder:
        certificate = self_signed(Path(folder), "127.0.0.1")
        sites = {"http": _start_site(None), "https": _start_site(certificate)}
        try:
            pages = {
                f"{scheme}, {'at once' if not wait else f'each answer after {wait} ms'}": (
                    f"{scheme}://127.0.0.1:{port}/{wait}"
                )
                for scheme, (_, port) in sites.items()
                for wait in (0, int(LATENCY * 1000))
            }
            text = section(asyncio.run(measure(pages, asked.loads)), asked.loads)
        finally:
            for process, _ in sites.values():
                process.terminate()
    Console().print(text, markup=False, highlight=False, soft_wrap=True)
    if not asked.no_write:
        DOCUMENT.write_text(replaced(DOCUMENT.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
