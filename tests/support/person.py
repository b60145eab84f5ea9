"""A person at the browser of `mcp-browser record`: another process, whose mouse and keys come over CDP."""

import asyncio
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Locator, Page, async_playwright

from tests.support.apps import free_port
from tests.support.process import own_environment

SECONDS = 150


class Person:
    """Moves, clicks and types as a person does; waits for what they would wait for."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def click(self, what: Locator, *, clicks: int = 1) -> None:
        """Move the mouse there, look a moment, and click."""
        what = what.first
        await what.scroll_into_view_if_needed()
        box = await what.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        await what.page.mouse.move(x, y, steps=3)
        await asyncio.sleep(0.2)
        await what.page.mouse.click(x, y, click_count=clicks, delay=20)

    async def fill(self, what: Locator, text: str) -> None:
        """Click into a field, and type in the place of what is there."""
        await self.click(what)
        await self.page.keyboard.press("Control+A")
        await self.page.keyboard.type(text, delay=5)

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.page.keyboard.press(key)


class Recorder:
    """The process that records; `files` are the tests that it has written, `task` what it is called."""

    def __init__(self, process: asyncio.subprocess.Process, person: Person) -> None:
        self.process = process
        self.person = person
        self.files: list[Path] = []
        self.task = ""

    async def check(self, what: str, where: Locator) -> None:
        """Enter at the terminal what is to be checked, and click it."""
        await self._enter(what)
        await asyncio.sleep(0.5)
        await self.person.click(where)

    async def end(self) -> None:
        """Enter that it is over, and read what was written."""
        await self._enter("stop")
        async with asyncio.timeout(SECONDS):
            out, err = await self.process.communicate()
        assert self.process.returncode == 0, err.decode()
        self.files = [Path(line) for line in out.decode().splitlines()]
        found = re.search(r"--replay\s+([\w-]+)", err.decode())
        assert found is not None, err.decode()
        self.task = found[1]

    def written(self) -> str:
        return "".join(path.read_text() for path in self.files)

    async def _enter(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n".encode())
        await self.process.stdin.drain()


@asynccontextmanager
async def recorded(url: str, folder: Path, name: str) -> AsyncGenerator[Recorder]:
    """Record in a browser of its own; within it a person works there, after it all is written."""
    port = free_port()
    flags = ["--headless", "--folder", str(folder), "--tasks-dir", str(folder / "tasks"), "--name", name]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mcp_browser", "record", url, *flags),
        f"--browser-arg=--remote-debugging-port={port}",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=own_environment(),
    )
    try:
        assert process.stderr is not None
        async with asyncio.timeout(SECONDS), async_playwright() as playwright:
            while b"Recording" not in await process.stderr.readline():
                assert process.returncode is None
            browser = await playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{port}")
            pages = [page for context in browser.contexts for page in context.pages]
            page = next(page for page in pages if page.url.startswith(url.partition("?")[0]))
            recorder = Recorder(process, Person(page))
            yield recorder
            await recorder.end()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
