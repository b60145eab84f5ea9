"""`mcp-browser run` and `tasks`, as a person at a terminal uses them."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.support.agents import Desk, done, output
from tests.support.site import Site

SHOP = "<h1>Teas</h1><button>Red tea, 3.50</button>"


class Terminal:
    """Runs commands with a script for a model, and keeps what they print."""

    def __init__(self, folder: Path) -> None:
        self.desk = Desk(folder)
        self._environment = {
            name: value for name, value in os.environ.items() if not name.startswith("MCP_BROWSER_")
        }

    async def begin(self, *words: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "mcp_browser", *words, *self.desk.flags, "--headless", "--isolated"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment | {"COLUMNS": "200"},
        )

    async def run(self, *words: str) -> tuple[int, str, str]:
        process = await self.begin(*words)
        printed, told = await process.communicate()
        assert process.returncode is not None
        return process.returncode, printed.decode(), told.decode()

    def tasks(self) -> Sequence[Path]:
        return sorted(self.desk.tasks.iterdir())


async def test_a_task_is_told_step_by_step_and_its_answer_printed(site: Site, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    look = output({"find_elements": {"text": "Red tea"}}, goal="Find the tea")
    wrong = output({"click_element": {"index": 99}}, goal="Put it into the basket")
    answer = {"done": {"success": True, "text": "3.50", "data": {"euros": 3.5}}}
    terminal.desk.follow(look, wrong, look, output(answer, goal="Report"))
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps({"type": "object", "properties": {"euros": {"type": "number"}}}))

    code, printed, told = await terminal.run(
        "run", "What does it cost?", "--start-url", site.page(SHOP), "--output-schema", str(schema)
    )

    assert code == 0, told
    assert json.loads(printed) == {"euros": 3.5}
    assert "1  Find the tea" in told
    assert "find_elements(text='Red tea')" in told
    assert "✗ There is no element [99]" in told
    assert "✓ succeeded  4 steps" in told
    (folder,) = terminal.tasks()
    assert f"Report:   {folder / 'report.html'}" in told
    assert f"Pictures: {folder}/step-*" in told

    _, listed, _ = await terminal.run("tasks")
    assert folder.name in listed
    assert "What does it cost?" in listed
    _, shown, _ = await terminal.run("tasks", "show", folder.name[:12])
    assert "Put it into the basket" in shown
    assert await terminal.run("tasks", "delete", folder.name) == (0, f"Deleted {folder}.\n", "")
    code, _, told = await terminal.run("tasks", "show", folder.name)
    assert code == 1
    assert "There is no task" in told


async def test_how_a_task_ends_is_the_exit_code(site: Site, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.desk.follow(done("It is sold out.", success=False))
    code, printed, told = await terminal.run("run", "Buy tea", "--start-url", site.page(SHOP), "--json")
    outcome = json.loads(printed)
    assert code == 1
    assert outcome["status"] == "failed"
    assert outcome["report"] in {str(folder / "report.html") for folder in terminal.tasks()}
    assert "✗ failed" in told

    terminal.desk.follow(output({"find_elements": {"text": "tea"}}))
    assert (await terminal.run("run", "Look", "--start-url", site.page(SHOP), "--max-steps", "1"))[0] == 4

    terminal.desk.follow(output({"call_user": {"question": "Which tea?"}}))
    code, _, told = await terminal.run("run", "Buy tea")
    assert code == 5
    assert "Which tea?" in told
    assert "mcp-browser tasks resume" in told


async def test_ctrl_c_saves_the_task_and_it_is_resumed(site: Site, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    look = output({"find_elements": {"text": "tea"}})
    terminal.desk.follow(look, output({"wait_for": {"text": "never", "timeout": 60}}))
    process = await terminal.begin("run", "Wait", "--start-url", site.page(SHOP))
    assert process.stderr is not None
    async for line in process.stderr:
        if line.startswith(b"  2  "):
            break
    process.send_signal(signal.SIGINT)
    _, told = await process.communicate()
    (folder,) = terminal.tasks()
    assert process.returncode == 130
    assert f"mcp-browser tasks resume {folder.name}" in told.decode()
    assert terminal.desk.history(folder.name)["status"] == "interrupted"

    terminal.desk.follow(look, done("There is red tea."))
    code, printed, told = await terminal.run("tasks", "resume", folder.name)
    assert (code, printed) == (0, "There is red tea.\n"), told
    again, _, told = await terminal.run("tasks", "resume", folder.name)
    assert again == 1
    assert "has ended" in told
