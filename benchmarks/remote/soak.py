"""Many calls in one process: does its memory grow?"""

import asyncio
import os
import time
from dataclasses import dataclass, field
from statistics import median

from rich.console import Console

from benchmarks.remote.memory import Memory, memory
from benchmarks.report import markdown_table
from tests.support.remote import RemoteBrowser, RemoteServer, connected, serving
from tests.support.site import Site

SAMPLE = 100
"""Calls between two looks at the memory."""
WARM = 1000
"""Calls after which the memory counts."""
WINDOW = 1000
"""Over so many calls a median is taken: heaps grow and are swept, so that one look says little."""
AGAIN = 8
"""Calls after which a client opens the page anew: what is kept for a page or a request shows, too."""

FORM = """<label>Name <input></label><button onclick="said.textContent =
`Welcome, ${document.querySelector('input').value}`">Greet</button><p id=said></p>"""

console = Console(stderr=True)


@dataclass
class Progress:
    """What has been done so far."""

    calls: int
    ends: float
    done: int = 0
    failed: int = 0
    samples: list[tuple[int, Memory]] = field(default_factory=list[tuple[int, Memory]])
    """The memory after so many calls."""

    @property
    def goes_on(self) -> bool:
        """Whether more calls are to be made."""
        return self.done < self.calls and time.monotonic() < self.ends


async def measure(calls: int, clients: int, minutes: float) -> str:
    """Let clients fill in a form and press its button, over and over; the section.

    Args:
        calls: how many calls in all.
        clients: how many at a time, each in a session of its own.
        minutes: when to stop, however many calls were made.
    """
    began = time.monotonic()
    progress = Progress(calls, began + minutes * 60)
    loads = [os.getloadavg()[0]]
    with Site() as site:
        address = site.page(FORM)
        async with serving("--http", "--rate-limit", "0") as server:
            ended = asyncio.Event()
            watcher = asyncio.create_task(_watch(server, progress, ended, loads))
            await asyncio.gather(*(_work(server.url, address, progress) for _ in range(clients)))
            ended.set()
            await watcher
    return _section(progress, clients, time.monotonic() - began, loads)


async def _work(url: str, address: str, progress: Progress) -> None:
    async with connected(url, "legacy") as browser:
        while progress.goes_on:
            await _round(browser, address, progress)


async def _round(browser: RemoteBrowser, address: str, progress: Progress) -> None:
    """Open the page, then fill, press and look in turn."""
    browser.transcript.clear()
    await browser.open(address)
    progress.done += 1
    box, button = browser.find("textbox", "Name"), browser.find("button", "Greet")
    for number in range(AGAIN - 1):
        if not progress.goes_on:
            return
        browser.transcript.clear()
        browser.page = ""
        match number % 3:
            case 0:
                result = await browser.call("input_text", index=box, text=f"guest {number}")
            case 1:
                result = await browser.call("click_element", index=button)
                progress.failed += f"Welcome, guest {number - 1}" not in result.text
            case _:
                result = await browser.call("get_state", screenshot=False)
        progress.failed += result.is_error
        progress.done += 1


async def _watch(server: RemoteServer, progress: Progress, ended: asyncio.Event, loads: list[float]) -> None:
    """Look at the memory each so many calls, and at the end while the sessions are still open."""
    due = SAMPLE
    while not ended.is_set():
        if progress.done >= due:
            await _sample(server, progress, loads)
            due = (progress.done // SAMPLE + 1) * SAMPLE
        await asyncio.sleep(0.1)
    await _sample(server, progress, loads)


async def _sample(server: RemoteServer, progress: Progress, loads: list[float]) -> None:
    held = await asyncio.to_thread(memory, server.processes, server.process.pid)
    progress.samples.append((progress.done, held))
    loads.append(os.getloadavg()[0])
    console.print(
        f"{progress.done} calls, {progress.failed} failed: {held.tree:.0f} MB", markup=False, highlight=False
    )


def _section(progress: Progress, clients: int, seconds: float, loads: list[float]) -> str:
    # The last look is after the sessions were closed.
    *working, (_, closed) = progress.samples
    warm = [held for done, held in working if WARM <= done < WARM + WINDOW]
    last = [held for done, held in working if done > working[-1][0] - WINDOW]
    first, end = _median(warm), _median(last)
    rows = [["MB (PSS)", "server", "driver", "browser", "all", "all, per session"]]
    spans = (
        (f"median from {WARM:,} to {WARM + WINDOW:,} calls", first),
        (f"median of the last {WINDOW:,} calls", end),
    )
    for label, held in spans:
        rows.append([label, *_row(held), f"{held.tree / clients:.0f}"])
    pairs = zip(_of(first), _of(end), strict=True)
    growth = [f"{after / before - 1:+.1%}" if before else "-" for before, after in pairs]
    rows.append(["growth", *growth, "-"])
    rows.append(["sessions closed", *_row(closed), "-"])
    thousands = max(working[-1][0] - WARM - WINDOW, 1) / 1_000
    each = (end.server - first.server) / thousands
    seen = ", ".join(f"{held.tree:.0f}" for _, held in working)
    return (
        f"{clients} clients, each in a session of its own, fill in a field, press a button and look, over "
        f"and over; each opens the page anew after {AGAIN} calls. One process answered {progress.done:,} "
        f"calls in {seconds:.0f} s ({progress.done / seconds:.0f} a second); {progress.failed} failed. "
        f"Load average meanwhile {min(loads):.0f} to {max(loads):.0f}. The server's own process grew by "
        f"{each:.1f} MB for each 1,000 calls between the two medians.\n\n{markdown_table(rows)}\n\n"
        f"Each look at all of them, MB, {SAMPLE} calls apart: {seen}."
    )


def _median(looks: list[Memory]) -> Memory:
    return Memory(
        server=median(held.server for held in looks),
        driver=median(held.driver for held in looks),
        browser=median(held.browser for held in looks),
    )


def _of(held: Memory) -> tuple[float, ...]:
    return held.server, held.driver, held.browser, held.tree


def _row(held: Memory) -> list[str]:
    return [f"{part:.0f}" for part in _of(held)]
