"""`mcp-browser run`: a task for the built-in agent, without an MCP client."""

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Generator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from mcp_browser.actions.catalog import load_registry
from mcp_browser.agent.assembly import actions_for
from mcp_browser.agent.control import Control
from mcp_browser.agent.record.history import AgentHistory, TaskFolder, new_task_id
from mcp_browser.agent.record.report import REPORT_FILE
from mcp_browser.agent.record.variables import Variables
from mcp_browser.agent.replay import Replay
from mcp_browser.agent.secrets.store import Secrets, load_secrets
from mcp_browser.agent.task import Budget, Task, TaskOutcome, TaskStatus
from mcp_browser.api import Agent
from mcp_browser.browser.session import BrowserSession
from mcp_browser.cli.progress import TerminalWatcher, tell_outcome
from mcp_browser.controller import Controller
from mcp_browser.errors import SettingsError
from mcp_browser.server.principals import ANONYMOUS
from mcp_browser.server.runs.saved import RECORD_FILE, FolderLock, RunRecord, SavedRuns, owner_of
from mcp_browser.settings import Settings

EXIT_CODES: Mapping[TaskStatus, int] = {
    TaskStatus.SUCCEEDED: 0,
    TaskStatus.UNCONFIRMED: 3,
    TaskStatus.OUT_OF_BUDGET: 4,
    TaskStatus.NEEDS_PERSON: 5,
    TaskStatus.INTERRUPTED: 130,
    TaskStatus.CANCELLED: 130,
    TaskStatus.STOPPED: 130,
}
"""By the status of the run; any other is 1."""


def run(settings: Settings, given: Mapping[str, Any]) -> int:
    """Do a task, or one again, and print its answer; the exit code.

    Raises:
        SettingsError: an option is wrong.
        ModelError: there is no model.
        ActionError: there is no browser, or the task names what there is not.
    """
    if ("task" in given) == ("replay" in given):
        raise SettingsError('say what is to be done: mcp-browser run "…", or --replay FOLDER.')
    identifier = new_task_id()
    folder = SavedRuns.of(settings.agent).folder_of(identifier)
    if "replay" in given:
        return asyncio.run(_replay(settings, given, identifier, folder))
    agent = Agent(_task(settings, given), settings=settings, folder=folder)
    agent.history.id = identifier
    return asyncio.run(_work(agent, settings, folder, as_json="json" in given))


def resume(settings: Settings, folder: Path, *, tell: str | None, as_json: bool) -> int:
    """Go on with a run that was broken off, or needs a person; the exit code. Raises as `run` does."""
    return asyncio.run(
        _work(Agent.resume(folder, settings=settings), settings, folder, tell=tell, as_json=as_json)
    )


def _task(settings: Settings, given: Mapping[str, Any]) -> Task:
    return Task(
        text=given["task"],
        start_url=given.get("start_url"),
        budget=Budget(
            steps=settings.agent.max_steps,
            seconds=given.get("max_seconds"),
            tokens=given.get("max_tokens"),
            cost=Decimal(str(given["max_cost"])) if "max_cost" in given else None,
        ),
        style=given.get("style", "structured"),
        vision=True if "vision" in given else None,
        secrets=tuple(given.get("secret", ())),
        output_schema=_schema(given["output_schema"]) if "output_schema" in given else None,
    )


def _schema(path: Path) -> dict[str, Any]:
    try:
        content: object = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"--output-schema: cannot read {path}: {error}.") from None
    if not isinstance(content, dict):
        raise SettingsError(f"--output-schema: {path} must hold a JSON schema, which is an object.")
    return content  # pyright: ignore[reportUnknownVariableType] - checked by the agent


async def _work(
    agent: Agent, settings: Settings, folder: Path, *, tell: str | None = None, as_json: bool
) -> int:
    console = Console(stderr=True, highlight=False)
    claim = _claim(folder, agent.history)
    try:
        async with _session(settings) as session:
            agent.lend(session)
            with TerminalWatcher(console, agent.history) as agent.watcher:
                working = asyncio.ensure_future(agent.run(tell=tell))
                outcome = await _unless_broken_off(working, agent.control, agent.history)
    finally:
        claim.release()
    return _end(console, outcome, folder, as_json=as_json)


async def _replay(settings: Settings, given: Mapping[str, Any], identifier: str, folder: Path) -> int:
    console = Console(stderr=True, highlight=False)
    recorded = TaskFolder.read(SavedRuns.of(settings.agent).named(given["replay"])).history()
    names = tuple(given.get("secret", ()))
    file = settings.agent.secrets
    secrets = (load_secrets(file) if file is not None else Secrets()).only(names)
    task = recorded.task.model_copy(update={"secrets": names})
    history = AgentHistory(id=identifier, task=task, settings=recorded.settings, replay_of=recorded.id)
    variables = Variables(recorded, _variables(given.get("variable", ())))
    async with _session(settings) as session:
        with TerminalWatcher(console, history) as watcher:
            replay = Replay(
                recorded=recorded,
                history=history,
                controller=Controller(
                    actions_for(recorded.task, load_registry(settings.tools), settings.tools), settings
                ),
                session=session,
                variables=variables,
                secrets=secrets,
                step_pictures=settings.agent.step_pictures,
                watcher=watcher,
            )
            claim = _claim(folder, history)
            replay.folder = TaskFolder(folder)
            working = asyncio.ensure_future(replay.run())
            try:
                outcome = await _unless_broken_off(working, replay.control, history)
                await replay.write_up()
            finally:
                claim.release()
    return _end(console, outcome, folder, as_json="json" in given)


def _variables(given: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in given:
        name, separator, value = word.partition("=")
        if not name or not separator:
            raise SettingsError(f"--variable must be NAME=VALUE, not {word!r}.")
        found[name] = value
    return found


def _session(settings: Settings) -> BrowserSession:
    browser = settings.browser
    return BrowserSession(settings, isolated=browser.isolated or browser.browser_endpoint is not None)


def _claim(folder: Path, history: AgentHistory) -> FolderLock:
    """Keep others from the run's folder; it is one of those whom a server over stdio may ask for."""
    kept = TaskFolder(folder)
    if not (folder / RECORD_FILE).exists():
        kept.write(RECORD_FILE, RunRecord(owner=owner_of(ANONYMOUS)).model_dump_json().encode())
        kept.save_history(history)
    claim = FolderLock(folder)
    claim.take()
    return claim


async def _unless_broken_off(
    working: "asyncio.Future[TaskOutcome]", control: Control, history: AgentHistory
) -> TaskOutcome:
    """What comes of a run; Ctrl+C breaks it off, so that it can go on later."""
    with _on_interrupt(working, control):
        try:
            return await working
        except asyncio.CancelledError:
            return history.outcome or TaskOutcome(id=history.id, status=TaskStatus.INTERRUPTED)


@contextlib.contextmanager
def _on_interrupt(working: "asyncio.Future[TaskOutcome]", control: Control) -> Generator[None]:
    loop = asyncio.get_running_loop()

    def stop() -> None:
        control.closing = True
        working.cancel()

    def interrupted(_number: int, _frame: object) -> None:
        loop.call_soon_threadsafe(stop)

    # Not the loop's own handlers, which Windows does not have.
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, interrupted) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _end(console: Console, outcome: TaskOutcome, folder: Path, *, as_json: bool) -> int:
    """Print the answer, and on standard error how it went and what is left; the exit code."""
    tell_outcome(console, outcome)
    pictures = sorted(path for path in folder.glob("step-*"))
    report = folder / REPORT_FILE
    if as_json:
        files = {
            "folder": str(folder),
            "report": str(report) if report.exists() else None,
            "pictures": [str(path) for path in pictures],
        }
        answer = json.dumps({**outcome.model_dump(mode="json"), **files}, ensure_ascii=False, indent=1)
    elif outcome.data is not None:
        answer = json.dumps(outcome.data, ensure_ascii=False, indent=1)
    else:
        answer = outcome.answer or ""
    if report.exists():
        console.print(Text(f"Report:   {report}", "dim"), soft_wrap=True)
    if pictures:
        console.print(Text(f"Pictures: {folder}/step-*  ({len(pictures)})", "dim"), soft_wrap=True)
    if outcome.status in (TaskStatus.INTERRUPTED, TaskStatus.NEEDS_PERSON, TaskStatus.STOPPED):
        more = ' --tell "…"' if outcome.status is TaskStatus.NEEDS_PERSON else ""
        console.print(Text(f"Go on with: mcp-browser tasks resume {outcome.id}{more}"), soft_wrap=True)
    if answer:
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()
    return EXIT_CODES.get(outcome.status, 1)
