"""Measures the live view, and writes its section of docs/view.md.

The server is a process of its own, over HTTP; viewers are programs that draw each frame at once. The site is
this process's.
"""

import argparse
import asyncio
import datetime
import io
import json
import re
import statistics
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import psutil
from mcp import Client
from PIL import Image
from rich.console import Console
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from benchmarks.egress import replaced
from benchmarks.report import machine, markdown_table
from mcp_browser.browser.process.launch import find_browser
from mcp_browser.settings import Settings

HEADING = "## Measured"
DOCUMENT = Path(__file__).parent.parent / "docs" / "view.md"
HEAD_BYTES = 8
WARM_UP = 5  # Frames before those that count

MOVING = (
    "data:text/html,<body style='margin:0;background:%23eee'>"
    "<div id=a style='position:absolute;top:200px;width:200px;height:200px;background:teal'></div><p id=p>"
    "<script>let i=0;setInterval(()=>{a.style.left=(i++*20)%251000+'px';p.textContent=i},40)</script>"
)
STILL = (
    "data:text/html,<body style='margin:0;background:white' "
    "onmousedown=\"document.body.style.background=document.body.style.background=='white'?'black':'white'\">"
)


class Viewing:
    """A viewer that counts frames."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.frames = 0
        self.newest = b""
        self.came = asyncio.Event()
        self.session: dict[str, Any] | None = None

    async def watch(self, viewer: str) -> None:
        """Show the newest session; runs until it is cancelled."""
        async for message in self._socket:
            if isinstance(message, bytes):
                self.frames, self.newest = self.frames + 1, message[HEAD_BYTES:]
                await self.send(type="drawn")
            elif (event := json.loads(message))["type"] == "sessions" and self.session is None:
                self.session = {}
                await self.send(type="watch", session=event["sessions"][0]["id"], viewer=viewer)
            elif event["type"] == "session":
                self.session = event["session"]
            self.came.set()

    async def send(self, **message: object) -> None:
        """Send a message."""
        await self._socket.send(json.dumps(message))

    async def until(self, condition: Any) -> None:
        """Wait until something holds of what came."""
        async with asyncio.timeout(60):
            while not condition():
                self.came.clear()
                await self.came.wait()


@asynccontextmanager
async def serving() -> AsyncGenerator[tuple[psutil.Process, str, str]]:
    """A server with the view: its process, its address and the link."""
    flags = ["--http", "--port", "0", "--headless", "--view"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "mcp_browser", *flags, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        base = link = ""
        while not link:
            line = (await process.stderr.readline()).decode()
            if found := re.search(r"listening at (\S+)/mcp", line):
                base = found[1]
            if found := re.search(r"live view at (\S+)", line):
                link = found[1]
        yield psutil.Process(process.pid), base, link
    finally:
        process.terminate()
        await process.wait()


def seconds_of(server: psutil.Process) -> tuple[float, float]:
    """Processor time of the server, and of what it has started, seconds."""
    others = [one.cpu_times() for one in server.children(recursive=True)]
    own = server.cpu_times()
    return own.user + own.system, sum(one.user + one.system for one in others)


async def measure(seconds: float, rounds: int, clicks: int) -> tuple[list[list[str]], float, float]:
    """A row for each number of viewers; the median and the slowest delay of a click, milliseconds."""
    async with serving() as (server, base, link), Client(f"{base}/mcp", mode="legacy") as client:
        async with httpx2.AsyncClient() as http:
            await http.get(link)
            cookie = "; ".join(f"{name}={value}" for name, value in http.cookies.items())
        await client.call_tool("go_to_url", {"url": MOVING})
        rows: list[list[str]] = []
        async with AsyncExitStack() as stack:
            viewers: list[Viewing] = []
            tasks = await stack.enter_async_context(asyncio.TaskGroup())
            running: list[asyncio.Task[None]] = []
            stack.callback(lambda: [task.cancel() for task in running])
            for count in range(3):
                if count:
                    address = f"{base.replace('http', 'ws')}/view/live"
                    opened = connect(
                        address, origin=Origin(base), additional_headers={"Cookie": cookie}, proxy=None
                    )
                    socket = await stack.enter_async_context(opened)
                    viewers.append(Viewing(socket))
                    running.append(tasks.create_task(viewers[-1].watch(f"benchmark-viewer-{count}")))
                    await viewers[-1].until(lambda: viewers[-1].frames > WARM_UP)
                rows.append(max([await _round(server, viewers, seconds) for _ in range(rounds)])[1])
            await _take_over(client, viewers[0])
            delays = min([await _click_delays(viewers[0], clicks) for _ in range(rounds)], key=sum)
        return rows, statistics.median(delays), max(delays)


async def _round(server: psutil.Process, viewers: list[Viewing], seconds: float) -> tuple[float, list[str]]:
    """How many frames all viewers got, and a row of the table."""
    before, frames, began = seconds_of(server), [one.frames for one in viewers], time.monotonic()
    await asyncio.sleep(seconds)
    took = time.monotonic() - began
    own, browser = (100 * (now - then) / took for now, then in zip(seconds_of(server), before, strict=True))
    rates = [(one.frames - then) / took for one, then in zip(viewers, frames, strict=True)]
    frame_rates = " and ".join(f"{rate:.1f}" for rate in rates) or "-"
    return sum(rates), [str(len(viewers)), frame_rates, f"{own:.0f} %", f"{browser:.0f} %"]


async def _take_over(client: Client, viewer: Viewing) -> None:
    await client.call_tool("go_to_url", {"url": STILL})
    await viewer.until(lambda: _is_light(viewer.newest))
    await viewer.send(type="take")
    await viewer.until(lambda: bool(viewer.session) and viewer.session["mine"])


async def _click_delays(viewer: Viewing, clicks: int) -> list[float]:
    """How long after the mouse button the picture has changed, milliseconds."""
    delays: list[float] = []
    wanted = not _is_light(viewer.newest)
    for number in range(clicks):
        began = time.monotonic()
        await viewer.send(type="mouse", event="down", x=300 + number, y=300)
        await viewer.send(type="mouse", event="up", x=300 + number, y=300)
        await viewer.until(lambda wanted=wanted: _is_light(viewer.newest) == wanted)
        delays.append(1000 * (time.monotonic() - began))
        wanted = not wanted
        await asyncio.sleep(0.1)
    return delays


def _is_light(picture: bytes) -> bool:
    with Image.open(io.BytesIO(picture)) as image:
        pixel = image.convert("L").getpixel((image.width // 2, image.height - 5))
        return isinstance(pixel, int) and pixel > 247  # noqa: PLR2004 - the moving page is grey


def main() -> None:
    """Measure and write the section."""
    arguments = argparse.ArgumentParser(description="Measure the live view.")
    arguments.add_argument("--seconds", type=float, default=1.5, help="how long frames are counted")
    arguments.add_argument("--rounds", type=int, default=24, help="how often; the best round counts")
    arguments.add_argument("--clicks", type=int, default=10, help="how many clicks make a round")
    arguments.add_argument("--no-write", action="store_true", help="leave the document alone")
    asked = arguments.parse_args()
    rows, median, slowest = asyncio.run(measure(asked.seconds, asked.rounds, asked.clicks))
    chromium = str(find_browser(Settings().browser).executable)
    text = (
        f"{HEADING}\n\n"
        f"Written by `just view`. {datetime.date.today().isoformat()}: {machine(chromium)}. A page of "
        "1280 by 720 pixels that changes 25 times a second; 100 % is one processor.\n"
        f"The best of {asked.rounds} rounds of {asked.seconds:g} s, since other programs ran beside it.\n\n"
        + markdown_table(
            [["viewers", "frames a second", "processor, server", "processor, browser and driver"], *rows]
        )
        + "\n\nFrom a click in the view until its picture shows what the click did: "
        f"{median:.0f} ms (median of {asked.clicks} in a row in the best round), {slowest:.0f} ms at most.\n"
    )
    Console().print(text, markup=False, highlight=False, soft_wrap=True)
    if not asked.no_write:
        DOCUMENT.write_text(replaced(DOCUMENT.read_text(encoding="utf-8"), text, HEADING), encoding="utf-8")


if __name__ == "__main__":
    main()
