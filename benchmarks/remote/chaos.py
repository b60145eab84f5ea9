"""Browsers, renderers and connections killed at random under clients that work: what is lost?"""

import asyncio
import logging
import os
import time

from benchmarks.report import markdown_table
from tests.support.havoc import WHAT, WHEN, Havoc, havoc_folders, visited


async def measure(faults: int, seed: int) -> str:
    """Kill so many times; the section.

    Args:
        faults: how many times something is killed.
        seed: of the random order.

    Raises:
        AssertionError: a call was not answered, or somebody else's state was lost.
    """
    logging.basicConfig(level=logging.WARNING)
    logging.getLogger("tests.support.havoc").setLevel(logging.INFO)
    # The SDK's client reports each connection that is cut.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    began = time.monotonic()
    with havoc_folders() as folders:
        async with visited(folders, seed) as havoc:
            await havoc.rage(faults)
        left = await asyncio.to_thread(folders.left)
    return _section(havoc, left, faults, time.monotonic() - began)


def _section(havoc: Havoc, left: list[str], faults: int, seconds: float) -> str:
    rows = [["killed", *WHEN]]
    for what in WHAT:
        cells: list[str] = []
        for when in WHEN:
            start = f"{what}, {when}: "
            answers = {key.removeprefix(start): n for key, n in havoc.told.items() if key.startswith(start)}
            cells.append("; ".join(f"{n} times {answer}" for answer, n in sorted(answers.items())) or "-")
        rows.append([what, *cells])
    remains = ", ".join(left) or "nothing"
    return (
        "Four clients (one of the modern protocol, one of the handshake era, one over SSE, one with a named "
        f"profile) in two browsers of one server; {faults} times something is killed while one of them is "
        "idle, in a call, in a download or on its way to a page. After each, the call was answered, the next "
        "one worked, and the others had all they had, save those of a browser that was killed; in the end no "
        f"browser was left over, the profile was free, and {remains} was left in the folder for temporary "
        f"files. {seconds:.0f} s, load average {os.getloadavg()[0]:.0f} at the end. How the calls were "
        f"answered:\n\n{markdown_table(rows)}"
    )
