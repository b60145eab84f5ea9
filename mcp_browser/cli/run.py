"""`mcp-browser run` and `record`: a task for the built-in agent, or for a person, without an MCP client."""

import asyncio
import contextlib
import itertools
import json
import shutil
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from mcp_browser.agent.assembly import actions_of
from mcp_browser.agent.control import Control
from mcp_browser.agent.record.history import AgentHistory, TaskFolder, new_task_id
from mcp_browser.agent.record.report import REPORT_FILE
from mcp_browser.agent.record.variables import Variables, example_of
from mcp_browser.agent.recorder import PersonRecorder
from mcp_browser.agent.replay import Replay
from mcp_browser.agent.secrets.store import load_secrets
from mcp_browser.agent.task import Budget, Task, TaskOutcome, TaskStatus
from mcp_browser.api import Agent
from mcp_browser.browser.addresses import check_url
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.process.launch import runs_headless
from mcp_browser.browser.session import BrowserSession
from mcp_browser.cli.arguments import Arguments
from mcp_browser.cli.progress import TerminalWatcher, read_line, show_outcome
from mcp_browser.cli.sources import DEFAULT, LoadedSettings
from mcp_browser.controller import Controller
from mcp_browser.errors import ActionError, ModelError, NoModel, SettingsError
from mcp_browser.server.principals import ANONYMOUS
from mcp_browser.server.runs.saved import RECORD_FILE, FolderLock, SavedRuns
from mcp_browser.server.startup import check_device
from mcp_browser.server.tool_groups import load_actions
from mcp_browser.server.view.card import TaskCard
from mcp_browser.settings import Settings
from mcp_browser.text import counted

LAST_LOOK_SECONDS = 2.0  # How long the view stays after a run
LOOK_SECONDS = 0.5  # How often it is looked whether the window of a recording is still open

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

HOW_TO_NAME_ONE = (
    "--model provider:name, such as anthropic:claude-sonnet-4-5 with ANTHROPIC_API_KEY, or --model NAME with "
    "--model-url for a server of your own."
)

HOW = (
    "Recording. Enter text, value or visible to check what you click next; stop, or close the window, to end."
)

_Begun = tuple[Coroutine[Any, Any, TaskOutcome], Control]


def run(loaded: LoadedSettings, asked: Arguments) -> int:
    """Do a task, or one again; the exit code. Raises SettingsError, ModelError, ActionError."""
    settings, given = loaded.settings, asked.given
    if bool(given.get("task", "").strip()) == ("replay" in given):
        raise SettingsError('say what is to be done: mcp-browser run "…", or --replay FOLDER.')
    # Where a variable or a file says it, it is for other tasks, too.
    if loaded.origins["secrets"] == "--secrets" and "secret" not in given:
        known = ", ".join(load_secrets(settings.agent.secrets).names) or "none"
        raise SettingsError(f"--secrets: name what the task may type, --secret NAME; there are: {known}.")
    identifier = new_task_id()
    if "replay" in given:
        return _replay(settings, given, identifier)
    folder = SavedRuns.of(settings.agent).folder / identifier
    agent = Agent(_task(settings, given), settings=settings, folder=folder)
    agent.history.id = identifier
    return _run_agent(agent, settings, folder, given)


def resume(settings: Settings, folder: Path, given: Mapping[str, Any]) -> int:
    """Resume a run that was interrupted or needs a person; the exit code. Raises as `run` does."""
    return _run_agent(Agent.resume(folder, settings=settings), settings, folder, given)


def _task(settings: Settings, given: Mapping[str, Any]) -> Task:
    example = None
    if "example" in given:
        example = example_of(TaskFolder.read(SavedRuns.of(settings.agent).named(given["example"])).history())
    limits = {name: given.get(f"max_{name}") for name in ("seconds", "tokens", "cost")}
    return Task(
        text=given["task"],
        context=example,
        start_url=given.get("start_url"),
        budget=Budget.model_validate({"steps": settings.agent.max_steps, **limits}),
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


def _run_agent(agent: Agent, settings: Settings, folder: Path, given: Mapping[str, Any]) -> int:
    if settings.agent.model is None:
        raise NoModel("No model is named for the task.", hint=HOW_TO_NAME_ONE)

    def begin(session: BrowserSession, watcher: TerminalWatcher) -> _Begun:
        agent.lend(session)
        agent.watcher = watcher
        return agent.run(tell=given.get("tell")), agent.control

    async def carry_out() -> int:
        # First, so that a wrong model starts neither a browser nor a task.
        await agent.models()
        return await _carry_out(settings, agent.history, folder, begin, given)

    return asyncio.run(carry_out())


def _replay(settings: Settings, given: Mapping[str, Any], identifier: str) -> int:
    runs = SavedRuns.of(settings.agent)
    folder = runs.folder / identifier
    recorded = TaskFolder.read(runs.named(given["replay"])).history()
    names = tuple(given.get("secret", ()))
    secrets = load_secrets(settings.agent.secrets).only(names)
    task = recorded.task.model_copy(update={"secrets": names})
    history = AgentHistory(id=identifier, task=task, settings=recorded.settings, replay_of=recorded.id)
    variables = Variables(recorded, _variables(given.get("variable", ())))

    def begin(session: BrowserSession, watcher: TerminalWatcher) -> _Begun:
        actions = actions_of(recorded, load_actions(settings.tools), settings.tools)
        replay = Replay(
            recorded=recorded,
            history=history,
            controller=Controller(actions, settings),
            session=session,
            variables=variables,
            secrets=secrets,
            step_pictures=settings.agent.step_pictures,
            watcher=watcher,
        )
        replay.folder = TaskFolder(folder)

        return replay.run_and_write_up(), replay.control

    return asyncio.run(_carry_out(settings, history, folder, begin, given))


async def _carry_out(
    settings: Settings,
    history: AgentHistory,
    folder: Path,
    begin: Callable[[BrowserSession, TerminalWatcher], _Begun],
    given: Mapping[str, Any],
) -> int:
    """Run a task in a browser, show its progress, and print its answer; the exit code."""
    console = Console(stderr=True, highlight=False)
    is_new = not (folder / RECORD_FILE).exists()
    if is_new:
        # A server over stdio may read the run, too.
        SavedRuns(folder.parent).write_record(folder.name, ANONYMOUS)
        TaskFolder(folder).save_history(history)
    claim = FolderLock(folder)
    claim.take()
    try:
        async with viewed_session(settings, viewed=settings.server.view) as (session, card):
            with TerminalWatcher(console, history, card) as watcher:
                running, control = begin(session, watcher)
                working = asyncio.ensure_future(running)

                async def stop() -> None:
                    control.stop()
                    working.cancel()

                if card is not None:
                    card.show(history, control, stop)
                outcome = await _unless_broken_off(working, control, history)
                if card is not None and card.viewers:
                    # The viewers read there how the run has ended.
                    await asyncio.sleep(LAST_LOOK_SECONDS)
    except (ActionError, ModelError, SettingsError):
        if is_new and not history.steps:
            claim.release()
            shutil.rmtree(folder, ignore_errors=True)  # Nothing was begun.
        raise
    finally:
        claim.release()
    return _end(console, outcome, folder, as_json="json" in given)


@contextlib.asynccontextmanager
async def viewed_session(
    settings: Settings, *, viewed: bool, isolated: bool = False
) -> AsyncGenerator[tuple[BrowserSession, TaskCard | None]]:
    """Yield a session for one command; where it is `viewed`, open its live view and yield its card, too."""
    manager = BrowserManager(settings)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(manager.close)
        await check_device(manager)
        if viewed:
            # Imported late: most runs have no view.
            from mcp_browser.server.http.loopback import viewed_on_loopback  # noqa: PLC0415

            await stack.enter_async_context(viewed_on_loopback(settings, manager, None, opens=True))
        session = await (manager.open_session() if isolated else manager.default_session())
        await session.ensure_open()
        yield session, await session.plugin(TaskCard) if viewed else None


def _variables(given: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in given:
        name, separator, value = word.partition("=")
        if not name or not separator:
            raise SettingsError(f"--variable must be NAME=VALUE, not {word!r}.")
        found[name] = value
    return found


async def _unless_broken_off(
    working: "asyncio.Future[TaskOutcome]", control: Control, history: AgentHistory
) -> TaskOutcome:
    """Return the outcome of a run; Ctrl+C interrupts it, so that it can be resumed."""
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
        return await working
    except asyncio.CancelledError:
        return history.outcome or TaskOutcome(id=history.id, status=TaskStatus.INTERRUPTED)
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _end(console: Console, outcome: TaskOutcome, folder: Path, *, as_json: bool) -> int:
    """Print the answer; print the outcome and the files to standard error. Return the exit code."""
    show_outcome(console, outcome)
    pictures = sorted(folder.glob("step-*"))
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
    if answer and not as_json and outcome.status is TaskStatus.UNCONFIRMED and sys.stdout.isatty():
        answer = f"Not confirmed: {answer}"
    if answer:
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()
    return EXIT_CODES.get(outcome.status, 1)


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
    for path, text in [(folder / name, text) for name, kind, text in recording.files() if kind == "script"]:
        path.write_text(text, "utf-8")
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
