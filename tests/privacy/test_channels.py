"""A hidden value is in nothing that leaves the server, in none of its forms."""

import html
import json
import logging
import stat
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import mcp_types as types
import pytest
import pytest_asyncio
from mcp import Client

from mcp_browser.actions import default_registry
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.controller import Controller
from mcp_browser.errors import NotActionable
from mcp_browser.privacy.hiding import LogFormatter
from mcp_browser.server.resources import SessionFiles
from mcp_browser.server.runs.tools import RunTools, TaskFiles
from mcp_browser.settings import AgentSettings
from tests.privacy.forms import FORMS, VALUE, trace_of
from tests.server.task_room import Lending
from tests.support.agents import Desk, done, output
from tests.support.agents import text as text_of
from tests.support.servers import server_of
from tests.support.site import Site

NAME = "login"
ALL = "\n".join(f"{name}: {form(VALUE)}" for name, form in FORMS.items())
LINES = "".join(f"<p>{name}: {html.escape(form(VALUE))}</p>" for name, form in FORMS.items())
SCRIPT = """
split.append(...value.match(/.{1,4}/gu).map((part) => new Text(part)));
localStorage.note = all;
console.log(all);
fetch('/echo?note=' + encodeURIComponent(value), {method: 'POST', body: all});
"""
GIVEN = json.dumps([ALL, VALUE]).replace("<", "\\u003c")
PAGE = f"""<button>{html.escape(VALUE)}</button><label>Field <input id=field></label>
<p id=split></p><pre>{html.escape(ALL)}</pre>{LINES}
<script>const [all, value] = {GIVEN}; {SCRIPT}</script>"""

own = Registry()


@own.action("Fail as nobody foresaw.", effect="read")
def break_down() -> str:
    raise ValueError(ALL)


@own.action("Fail.", effect="read")
def fail() -> str:
    raise NotActionable(ALL)


class _NoParams(ActionParams):
    pass


@own.action("Report.", param_model=_NoParams, effect="read")
async def report(ctx: ActionContext, _params: _NoParams) -> ActionResult:
    for form in FORMS.values():
        ctx.session.notice(f"There is {form(VALUE)}.")
    return ActionResult(data={"said": ALL, ALL: [ALL]}, data_is_whole=True)


class Told(NamedTuple):
    """What channels have had, and files that have the value by nature with what their results say."""

    channels: Mapping[str, str]
    files: Mapping[str, tuple[str, Path]]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def told(  # noqa: PLR0915 - every channel
    manager: BrowserManager, site: Site, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Told]:
    """What each channel has had of a session in which the value is hidden."""
    folder = tmp_path_factory.mktemp("channels")
    desk, audit, policy = Desk(folder), folder / "audit.jsonl", folder / "policy.toml"
    policy.write_text('[[rule]]\nnames = ["S3c*"]\n')
    settings = manager.settings.model_copy(
        update={
            "tools": manager.settings.tools.model_copy(update={"policy": policy, "codegen": "python"}),
            "server": manager.settings.server.model_copy(update={"audit_log": audit}),
            "agent": AgentSettings(model=f"scripted:{desk.script}", tasks_dir=desk.tasks),
        }
    )
    registry = default_registry()
    registry.include(own)
    session = await manager.open_session(isolated=True)
    source = Lending(session, manager)
    agent = RunTools(settings, source, registry, TaskFiles(source))
    controller = Controller(registry, settings)
    server = server_of(
        controller,
        source,
        tools=agent.tools(),
        resources=[agent.files, SessionFiles(manager, source)],
        find_call=agent.find_call,
    )
    session.hide({NAME: VALUE})
    had: dict[str, list[str]] = {}
    questions: list[str] = had.setdefault("consent questions", [])
    reported: list[str] = had.setdefault("progress", [])

    class Log(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            had.setdefault("logs", []).append(LogFormatter().format(record))

    async def person(context: Any, params: Any) -> types.ElicitResult:
        del context
        questions.append(params.message)
        return types.ElicitResult(action="accept", content={"allow": True})

    async def note(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        reported.append(message or "")

    log = Log()
    logging.getLogger().addHandler(log)
    url = site.page(PAGE, title=html.escape(f"Order {VALUE}"))
    plus, percent = FORMS["plus-encoded"](VALUE), FORMS["percent-encoded"](VALUE)

    def newest() -> Path:
        return session.artifacts.files()[-1].path

    async with Client(server, mode="auto", elicitation_callback=person) as client:

        async def call(channel: str, tool: str, **arguments: Any) -> types.CallToolResult:
            result = await client.call_tool(tool, arguments, progress_callback=note)
            had.setdefault(channel, []).extend((text_of(result), result.model_dump_json()))
            return result

        await client.call_tool("get_network_requests", {})
        await client.call_tool("get_console_messages", {})
        opened = await call("titles and addresses", "go_to_url", url=f"{url}?q={plus}&r={percent}")
        for tool, arguments in {
            "get_state": {},
            "find_elements": {"role": "button"},
            "extract_content": {"links": True},
            "get_html": {},
            "evaluate_script": {"script": "[all, {[all]: all}]"},
            "get_storage": {},
            "report": {},
        }.items():
            await call("results", tool, **arguments)
        had["notices"] = [line for line in had["results"][-2].splitlines() if line.startswith("Note:")]
        index = int(text_of(opened).split('] textbox "Field"')[0].rsplit("[", 1)[1])
        await call("errors", "evaluate_script", script="throw new Error(all)")
        await call("errors", "expect_text", selector="button", text="Nothing", timeout=0)
        await call("errors", "fail")
        await call("errors", "break_down")
        await call("results", "input_text", index=index, text=VALUE)
        await call("results", "click_element", index=index - 1)
        await call("results", "expect_snapshot", name="all")
        for form in FORMS.values():
            await client.call_tool("expect_text", {"text": form(VALUE), "timeout": 0})
        for language in ("python", "typescript"):
            await call("exported scripts", "export_script", language=language)
            had["exported scripts"].append(newest().read_text())
        await call("HAR", "export_har")
        had["HAR"].append(newest().read_text())
        listed = await call("network", "get_network_requests")
        for number in range(1, 1 + text_of(listed).count("\n")):
            await call("network", "get_network_request", id=number)
        await call("console", "get_console_messages", part=1)
        await call("files' links", "save_pdf")
        await call("files' links", "save_page", format="png")
        saved = await call("files' links", "save_page", format="mhtml")
        files = {"a saved page": (text_of(saved), newest())}
        read = await call("files that are read", "read_file", file=newest().name)
        assert not read.is_error
        saved = await call("files' links", "save_storage_state", name=VALUE)
        files["a storage state"] = (text_of(saved), newest())
        await call("files' links", "list_files")
        for resource in (await client.list_resources()).resources:
            had.setdefault("resources", []).append(resource.model_dump_json())
        desk.follow(
            output({"find_elements": {"text": f"button {VALUE}"}}, goal=f"look for {ALL}"),
            output({"input_text": {"index": index, "text": ALL}}, goal="type"),
            done(f"It says {ALL}."),
        )
        ran = await call("tasks' results", "run_task", task="Read it.", start_url=f"{url}?q={plus}")
        assert len(list(desk.tasks.rglob("history.json"))) == 1, text_of(ran)
    logging.getLogger().removeHandler(log)
    await agent.close()
    had["the audit log"] = [audit.read_text()]
    for file in desk.tasks.rglob("*"):
        if file.is_file() and file.suffix in {".json", ".jsonl", ".html", ".py", ".md", ".txt"}:
            had.setdefault(f"a task's {file.name}", []).append(file.read_text())
    yield Told({channel: "\n".join(texts) for channel, texts in had.items()}, files)
    await session.close()


CHANNELS = [
    *("titles and addresses", "results", "errors", "notices", "consent questions", "the audit log"),
    *("exported scripts", "HAR", "network", "console", "files' links", "files that are read", "resources"),
    *("progress", "logs", "tasks' results", "a task's history.json", "a task's report.html"),
    "a task's script.py",
]


@pytest.mark.parametrize("channel", CHANNELS)
async def test_a_hidden_value_is_in_no_channel(told: Told, channel: str) -> None:
    text = told.channels[channel]
    assert NAME in text, "its name stands there, so the value would have"
    assert trace_of(text) is None


@pytest.mark.parametrize("kind", ["a saved page", "a storage state"])
async def test_a_file_that_has_the_value_by_nature_is_its_owners_and_said_to_be(
    told: Told, kind: str
) -> None:
    said, file = told.files[kind]
    assert "mode 0600" in said
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "S3c" in file.read_text()


async def test_every_file_of_a_session_is_its_owners_alone(told: Told) -> None:
    files = [*next(iter(told.files.values()))[1].parent.iterdir()]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files if file.is_file()} == {0o600}
    assert not [file.name for file in files if trace_of(file.name)]
