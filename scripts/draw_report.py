"""Record a run in a terminal, and draw its report: a scripted model on the shop page that is shipped.

    python scripts/draw_report.py [FOLDER]

writes docs/images/run.svg, whose lines come one after the other, and docs/images/agent-report.jpg; the run's
files are left in FOLDER where one is given.
"""

import asyncio
import io
import logging
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PIL import Image
from rich.console import Console
from rich.text import Text

from mcp_browser.actions import default_registry
from mcp_browser.agent.agent import AgentRun
from mcp_browser.agent.assembly import RunModels, agent_run
from mcp_browser.agent.record.history import AgentHistory, TaskFolder
from mcp_browser.agent.record.report import REPORT_FILE
from mcp_browser.agent.task import Budget, Task
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.pictures import encode_whole
from mcp_browser.cli.progress import TerminalWatcher, show_outcome
from mcp_browser.llm.messages import Message
from mcp_browser.llm.scripted import ScriptedModel
from mcp_browser.settings import BrowserSettings, FileSettings, Settings, Viewport
from scripts.shop import shop

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
TARGET = IMAGES / "agent-report.jpg"
TERMINAL = IMAGES / "run.svg"

SHOP_VIEW = Viewport(width=1100, height=800)
REPORT_SIZE = (1100, 1180)
QUALITY = 78
COLUMNS = 100
PACE, PAUSE = 0.45, 6.0  # Seconds from line to line of the recording, and before it begins anew
FONT_FACES = re.compile(r"\s*@font-face \{.*?\}(?=\n)", re.DOTALL)
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")

TASK = "Reserve a table by the window for Ada on Sunday, without tea, and tell what it says."

POINTS = [
    {"asked": "A table by the window for Ada", "evidence": "The form was sent with it", "met": True},
    {
        "asked": "On Sunday, without tea",
        "evidence": "The page answers to Sunday, tea is unchecked",
        "met": True,
    },
    {"asked": "What it says", "evidence": "The answer is what the page shows", "met": True},
]

Speaker = Callable[[Sequence[Message]], dict[str, Any]]


def main() -> int:
    """Run, and draw; the exit code."""
    logging.disable()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else temporary)
        picture = asyncio.run(_draw(folder))
    with Image.open(io.BytesIO(picture)) as image:
        image.convert("RGB").save(TARGET, "JPEG", quality=QUALITY, optimize=True)
        sys.stdout.write(f"{TARGET.relative_to(ROOT)}: {image.width}x{image.height}\n")
    return 0


async def _draw(folder: Path) -> bytes:
    settings = Settings(
        browser=BrowserSettings(isolated=True, headless=True, viewport=SHOP_VIEW),
        # The report is looked at where it was written.
        files=FileSettings(allow_file_urls=True),
    )
    manager = BrowserManager(settings)
    try:
        session = await manager.default_session()
        with shop() as url:
            task = Task(text=TASK, start_url=url, budget=Budget(steps=20))
            model = ScriptedModel(_script(), name="scripted")
            history = AgentHistory(id="example", task=task, model=model.info.name)
            folders = {"session": session, "folder": TaskFolder(folder)}
            models = RunModels(model, judge=ScriptedModel([{"points": POINTS}]))
            agent = agent_run(history, models, default_registry(), settings, **folders)
            await _run(agent)
        width, height = REPORT_SIZE
        await session.current_tab.page.set_viewport_size({"width": width, "height": height})
        await session.current_tab.goto((folder / REPORT_FILE).as_uri())
        return encode_whole(await session.current_tab.screenshot(kind="png"))
    finally:
        await manager.close()


async def _run(agent: AgentRun) -> None:
    """Do the task as `mcp-browser run` does, and draw what that shows."""
    console = Console(
        file=io.StringIO(), width=COLUMNS, record=True, force_terminal=True, force_interactive=False
    )
    console.print(
        Text.assemble(("$ ", "green"), f'mcp-browser run "{TASK}" --start-url https://shop.example')
    )
    with TerminalWatcher(console, agent.history) as agent.watcher:
        outcome = await agent.run()
    await agent.write_up()
    show_outcome(console, outcome)
    console.print(outcome.answer)
    picture = console.export_svg(title="mcp-browser run", unique_id="run")
    # No web fonts: every viewer has a font.
    picture = _line_by_line(FONT_FACES.sub("", picture))
    TERMINAL.write_text(ADDRESS.sub("https://shop.example", picture), "utf-8")


def _line_by_line(picture: str) -> str:
    """The picture of a terminal, in which each line appears after the one before, again and again."""
    numbers = sorted({int(number) for number in re.findall(r"url\(#run-line-(\d+)\)", picture)})
    lasts = len(numbers) * PACE + PAUSE
    styles = ["@media (prefers-reduced-motion: no-preference) {"]
    for number in numbers:
        appears = f"0% {{ opacity: 0 }} {100 * number * PACE / lasts:.1f}%, 100% {{ opacity: 1 }}"
        styles.append(f".run-at-{number} {{ animation: run-at-{number} {lasts:g}s step-end infinite }}")
        styles.append(f"@keyframes run-at-{number} {{ {appears} }}")
    styles.append("}")
    picture = picture.replace("</style>", "\n".join((*styles, "</style>")), 1)
    return re.sub(
        r'<text class="(run-r\d+)"([^>]*url\(#run-line-(\d+)\))',
        lambda found: f'<text class="{found[1]} run-at-{found[3]}"{found[2]}',
        picture,
    )


def _script() -> list[Speaker]:
    return [
        lambda page: _say(
            "Unknown: nothing has been done yet.",
            "The form for a reservation is further down.",
            "Fill in the form",
            {"input_text": {"index": _index(page, "textbox", "Name"), "text": "Ada"}},
            {"select_option": {"index": _index(page, "combobox", "Day"), "options": ["Sunday"]}},
            {"set_checked": {"index": _index(page, "checkbox", "With tea"), "checked": False}},
        ),
        lambda page: _say(
            "Success: name, day and tea are as asked.",
            "The form is filled in; it is not sent yet.",
            "Send the form",
            {"click_element": {"index": _index(page, "button", "Reserve")}},
        ),
        lambda page: _say(
            "Success: the shop has answered below the form.",
            "Reserved.",
            "Report",
            {"done": {"success": True, "text": f"The shop says: {_answer(page)}"}},
        ),
    ]


def _say(before: str, memory: str, goal: str, *actions: dict[str, Any]) -> dict[str, Any]:
    thoughts = {"evaluation_previous_goal": before, "memory": memory, "next_goal": goal}
    return {"current_state": thoughts, "action": list(actions)}


def _index(page: Sequence[Message], role: str, name: str) -> int:
    found = re.findall(rf'\[(\d+)\] {role} "{name}"', page[-1].text)
    if not found:
        raise SystemExit(f"the shop page has no {role} {name!r}:\n{page[-1].text}")
    return int(found[-1])


def _answer(page: Sequence[Message]) -> str:
    found = re.search(r"^.*\bAda\b(?! Lindqvist).*$", page[-1].text, re.MULTILINE)
    return found[0].lstrip("+ ").strip() if found else "nothing"


if __name__ == "__main__":
    sys.exit(main())
