"""`mcp-browser run` and `tasks`, as a person at a terminal uses them."""

import asyncio
import json
import signal
import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.support.agents import Desk, done, output
from tests.support.principals import private_file
from tests.support.process import own_environment
from tests.support.site import Site
from tests.support.terminals import Screen, at_terminal

SHOP = "<h1>Teas</h1><button>Red tea, 3.50</button>"


class Terminal:
    """Runs commands with a script for a model, and keeps what they print."""

    def __init__(self, folder: Path) -> None:
        self.desk = Desk(folder)
        self.flags = self.desk.flags
        self._environment = own_environment() | {"COLUMNS": "200", "TERM": "xterm"}

    def _command(self, words: Sequence[str]) -> Sequence[str]:
        return (sys.executable, "-m", "mcp_browser", *words, *self.flags, "--headless", "--isolated")

    async def begin(self, *words: str) -> asyncio.subprocess.Process:
        pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        streams: dict[str, Any] = {"stdin": null, "stdout": pipe, "stderr": pipe}
        return await asyncio.create_subprocess_exec(*self._command(words), **streams, env=self._environment)

    async def run(self, *words: str) -> tuple[int, str, str]:
        process = await self.begin(*words)
        printed, told = await process.communicate()
        assert process.returncode is not None
        return process.returncode, printed.decode(), told.decode()

    def screen(self, *words: str) -> AbstractAsyncContextManager[Screen]:
        """The command at a terminal of its own, where a person can type."""
        return at_terminal(*self._command(words), env=self._environment)

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
    terminal.desk.follow(done("It is bought."))
    assert (await terminal.run("run", "Buy tea", "--no-judge"))[:2] == (3, "It is bought.\n")
    _, shown, _ = await terminal.run("tasks", "show", terminal.tasks()[0].name)
    assert "\nNot confirmed: It is bought." in shown
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


LOGIN = """<label>Name <input id=name></label><label>Password <input type=password></label>
<button onclick="out.textContent = 'Welcome, ' + document.getElementById('name').value">Log in</button>
<p id=out></p>"""


async def test_a_person_answers_at_the_terminal_and_a_secret_is_not_shown(site: Site, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    typed = {"input_text": {"index": 2, "text": "<secret>answer</secret>"}}
    terminal.desk.follow(
        output({"call_user": {"question": "Which tea?", "choices": ["red", "green"]}}),
        output({"call_user": {"question": "What is your password?"}}),
        output(typed, {"click_element": {"index": 3}}),
        done("Welcome."),
    )
    async with terminal.screen("run", "Log in", "--start-url", site.page(LOGIN)) as screen:
        await screen.until("Which tea? [red / green]")
        screen.type("blue\n")
        await screen.until("choose one of: red, green")
        screen.type("Red\n")
        await screen.until("not shown, and read by no model)\x1b[0m > ")
        screen.type("hunter22\n")
        assert await screen.ended() == 0, screen.shown
    assert "hunter22" not in screen.shown
    assert "✓ succeeded" in screen.shown
    (folder,) = terminal.tasks()
    assert "hunter22" not in "".join(file.read_text() for file in folder.glob("*.*s*") if file.is_file())
    assert "The person answered: red" in (folder / "state.json").read_text()


@pytest.mark.parametrize("how", ["Ctrl+C", "SIGTERM"])
@pytest.mark.parametrize("question", ["Which tea?", "What is your password?"])
async def test_a_run_is_ended_at_a_question_and_says_how_to_go_on(
    site: Site, tmp_path: Path, question: str, how: str
) -> None:
    terminal = Terminal(tmp_path)
    terminal.desk.follow(output({"call_user": {"question": question}}))
    async with terminal.screen("run", "Buy tea", "--start-url", site.page(SHOP)) as screen:
        await screen.until("Which tea?" if "tea" in question else "\x1b[0m > ")
        if how == "Ctrl+C":
            screen.type("\x03")
        else:
            screen.process.terminate()
        await screen.until("mcp-browser tasks resume")
        assert screen.echoes()
        assert await screen.ended() == 130


async def test_a_secret_is_typed_again_by_a_replay_with_another_name(site: Site, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    secrets = private_file(
        tmp_path / "secrets.toml", '[shop]\nvalue = "corr3ct-horse"\norigins = ["http://127.0.0.1:*"]\n'
    )
    name = {"input_text": {"index": 1, "text": "Ada"}}
    password = {"input_text": {"index": 2, "text": "<secret>shop</secret>"}}
    terminal.desk.follow(
        output(name), output(password), output({"click_element": {"index": 3}}), done("Welcome, Ada.")
    )
    file, use = ("--secrets", str(secrets)), ("--secret", "shop")
    code, printed, told = await terminal.run("run", "Log in", "--start-url", site.page(LOGIN), *file, *use)
    assert (code, printed) == (0, "Welcome, Ada.\n"), told
    (folder,) = terminal.tasks()

    code, _, told = await terminal.run("run", "--replay", folder.name, *file)
    assert (code, "--secrets: name what the task may type" in told) == (2, True), told
    assert "there are: shop." in told
    code, printed, told = await terminal.run(
        *("run", "--replay", folder.name, *file, *use, "--variable", "Name=Bea", "--json")
    )
    outcome = json.loads(printed)
    assert code == 0, told
    assert outcome["data"]["replay_of"] == folder.name
    assert "'Bea'" in told
    assert "text='Ada'" not in told
    assert "corr3ct-horse" not in told + printed


async def test_a_run_that_cannot_begin_leaves_no_task(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    models, terminal.flags = terminal.flags, terminal.desk.flags[:2]
    code, printed, told = await terminal.run("run", "What does it cost?")
    assert (code, printed) == (2, "")
    assert "No model is named for the task." in told
    assert "--model provider:name" in told
    assert not terminal.desk.tasks.exists() or not terminal.tasks()
    terminal.flags = models
    terminal.desk.follow({})
    code, printed, told = await terminal.run("run", "Log in", "--secret", "nobody")
    assert (code, printed, "There is no secret 'nobody'" in told) == (1, "", True)
    code, printed, told = await terminal.run("run", " ")
    assert (code, printed, "say what is to be done" in told) == (2, "", True)
    assert not terminal.tasks()
    terminal.flags += ["--judge-model", "nobody:x", "--executable", "/bin/false"]
    code, _, told = await terminal.run("run", "Log in")
    assert (code, "nobody:x cannot be used" in told) == (2, True), told
