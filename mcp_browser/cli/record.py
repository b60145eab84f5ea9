"""`mcp-browser record`: what a person does in the browser, as a test and as a task to do again."""

import asyncio
import contextlib
import itertools
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from mcp_browser.agent.record.history import TaskFolder
from mcp_browser.agent.recorded import Recording
from mcp_browser.agent.recorder import PersonRecorder
from mcp_browser.browser.addresses import check_url
from mcp_browser.browser.process.launch import runs_headless
from mcp_browser.browser.session import BrowserSession
from mcp_browser.cli.arguments import Arguments
from mcp_browser.cli.progress import read_line
from mcp_browser.cli.run import viewed_session
from mcp_browser.cli.sources import DEFAULT, LoadedSettings
from mcp_browser.errors import SettingsError
from mcp_browser.server.principals import ANONYMOUS
from mcp_browser.server.runs.saved import SavedRuns
from mcp_browser.text import counted

LOOK_SECONDS = 0.5  # How often it is looked whether the window is still open
HOW = (
    "Recording. Enter text, value or visible to check what you click next; stop, or close the window, to end."
)


def record(loaded: LoadedSettings, asked: Arguments) -> int:
    """Record until the person ends it, and write what they did; the exit code.

    Raises ActionError, SettingsError: the folder cannot be made.
    """
    folder: Path = asked.given.get("folder", Path())
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"--folder: {folder} cannot be made: {error.strerror}.") from None
    return asyncio.run(_record(loaded, asked.given))


async def _record(loaded: LoadedSettings, given: Mapping[str, Any]) -> int:
    settings, folder = loaded.settings, given.get("folder", Path())
    # An earlier recording stays, unless its name is given.
    names = itertools.chain(["recorded"], (f"recorded_{number}" for number in itertools.count(2)))
    free = (
        one
        for one in names
        if not any(map(Path.exists, (folder / f"test_{one}.py", folder / f"{one}.spec.ts")))
    )
    name = given.get("name") or next(free)
    console = Console(stderr=True, highlight=False)
    # A test begins with a clean browser, unless a profile is asked for.
    isolated = loaded.origins["profile"] == DEFAULT
    # Without a window, the person works in the live view.
    viewed = runs_headless(settings.browser)
    async with viewed_session(settings, viewed=viewed, isolated=isolated) as (session, _):
        url = check_url(given["url"], settings) if "url" in given else ""
        if url:
            await session.current_tab.goto(url)
        recorder = await session.plugin(PersonRecorder)
        await recorder.start(name, url)
        console.print(Text(HOW, "bold"))
        with contextlib.suppress(asyncio.CancelledError):  # Ctrl+C ends it, too.
            await _follow(session, recorder, console)
        recording = await recorder.stop() if recorder.active else recorder.recorded
    identifier = recording.history.id
    runs = SavedRuns.of(settings.agent)
    runs.write_record(identifier, ANONYMOUS)
    TaskFolder(runs.folder / identifier).save_history(recording.history)
    for path in _written(recording, folder):
        sys.stdout.write(f"{path}\n")
    console.print(
        f"Recorded {counted(recording.steps, 'step')}. Again: mcp-browser run --replay {identifier}"
    )
    return 0


async def _follow(session: BrowserSession, recorder: PersonRecorder, console: Console) -> None:
    """Show each step, and take what is entered, until the window or the recording is closed."""
    shown = 0
    reading: asyncio.Task[str] | None = asyncio.create_task(read_line())
    try:
        while session.tabs and recorder.active:
            looking = asyncio.create_task(recorder.changed.wait(LOOK_SECONDS))
            await asyncio.wait(
                {looking, *([reading] if reading else [])}, return_when=asyncio.FIRST_COMPLETED
            )
            # The last one may still grow.
            for step in recorder.steps[shown:-1]:
                shown += 1
                console.print(Text(f"{shown:>3}  {step}"), soft_wrap=True)
            if reading is not None and reading.done():
                line = "" if reading.exception() else reading.result()
                word = line.strip()
                if word == "stop":
                    return
                if word in ("text", "value", "visible"):
                    await recorder.check(word)
                    console.print("Click what is to be checked.")
                elif word:
                    console.print(Text(HOW))
                # Nothing more comes from what is no terminal.
                reading = asyncio.create_task(read_line()) if line else None
    finally:
        if reading is not None:
            reading.cancel()


def _written(recording: Recording, folder: Path) -> list[Path]:
    tests = [(folder / name, text) for name, kind, text in recording.files() if kind == "script"]
    for path, text in tests:
        path.write_text(text, "utf-8")
    return [path for path, _ in tests]
