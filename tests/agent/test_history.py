"""The history of a run in its folder, as its published schema says, and the report that is made of it."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from playwright.async_api import Page

from mcp_browser.agent.record.history import AgentHistory, TaskFolder
from mcp_browser.agent.record.report import render_report
from mcp_browser.agent.secrets.store import Secret, Secrets
from mcp_browser.agent.task import Budget, Task
from mcp_browser.llm.messages import Message
from tests.agent.conftest import Silent, Stage, cancel, click, done, fill, filling, index_of, output, script

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "agent-history.schema.json").read_text())

FORM = """<form onsubmit="event.preventDefault(); out.textContent = 'Hello ' + who.value">
<label>Name <input id=who name=who></label><button data-testid=send>Send</button></form><p id=out></p>"""


def written(folder: Path) -> dict[str, Any]:
    """The history in a run's folder, which fits its schema."""
    content = json.loads((folder / "history.json").read_text())
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(content, SCHEMA, format_checker=jsonschema.FormatChecker())
    return content


async def test_each_step_and_element_of_a_run_is_in_its_history(stage: Stage, tmp_path: Path) -> None:
    task = Task(text="Say hello.", start_url=stage.site.page(FORM, title="Greeter"))

    def both(messages: Sequence[Message]) -> dict[str, Any]:
        send = {"click_element": {"index": index_of(messages, "button", "Send")}}
        return output(filling(messages, "textbox", "Name", "Ann"), send)

    await stage.agent([both, done("Said.")], task, folder=tmp_path).run()
    history = written(tmp_path)
    assert (history["format"], history["status"]) == (1, "succeeded")
    assert history["ended"] > history["created"]
    assert history["settings"]["max_actions"] == 5
    assert history["outcome"]["answer"] == "Said."
    first, last = history["steps"]
    assert (first["url"], first["title"]) == (task.start_url, "Greeter")
    assert first["usage"]["input_tokens"] > 0
    assert first["screenshot"] == "step-001.jpg"
    assert (tmp_path / "step-001.jpg").read_bytes().startswith(b"\xff\xd8")
    typed, sent = first["actions"]
    assert typed["call"]["arguments"]["text"] == "Ann"
    (field,) = typed["elements"]
    wanted = {"argument": "index", "role": "textbox", "name": "Name", "tag": "input"}
    assert {**wanted, "attributes": {"id": "who", "name": "who"}}.items() <= field.items()
    assert sent["elements"][0]["attributes"] == {"data-testid": "send"}
    assert sent["elements"][0]["path"] == "html > body > form > button"
    assert last["actions"][0]["call"]["name"] == "done"


async def test_a_run_that_fails_is_stopped_by_a_limit_or_by_itself_has_a_whole_history_and_a_report(
    stage: Stage, tmp_path: Path
) -> None:
    url = stage.site.page(FORM)
    failing = {
        "failed": (Task(text="Buy.", start_url=url), [done("Sold out.", success=False)]),
        "out_of_budget": (Task(text="Look.", start_url=url, budget=Budget(steps=1)), ["no form"]),
    }
    for status, (task, lines) in failing.items():
        folder = tmp_path / status
        agent, _ = await stage.run(lines, task, folder=folder)
        await agent.write_up()
        assert written(folder)["status"] == status
        assert "Not done" in (folder / "report.html").read_text()

    def break_down(_messages: Sequence[Message]) -> dict[str, Any]:
        raise RuntimeError("a fault of the model's client")

    folder = tmp_path / "crashed"
    with pytest.raises(RuntimeError):
        await stage.agent([click("button", "Send"), break_down], folder=folder).run()
    history = written(folder)
    assert history["status"] == "failed"
    assert len(history["steps"]) == 1, "what was done before it is kept"
    assert "RuntimeError" in history["outcome"]["obstacle"]
    silent, folder = Silent(), tmp_path / "cancelled"
    cancelled = stage.agent([click("button", "Send"), silent], folder=folder)
    running = asyncio.create_task(cancelled.run())
    await silent.asked.wait()
    assert written(folder)["status"] == "working", "as a process that is killed now leaves it"
    await cancel(running)
    await cancelled.write_up()
    assert written(folder)["status"] == "cancelled"
    assert "was cancelled" in (folder / "report.html").read_text()


async def test_no_picture_is_kept_where_none_is_wanted(stage: Stage, tmp_path: Path) -> None:
    agent, _ = await stage.run([done()], page=FORM, folder=tmp_path, step_pictures=False)
    await agent.write_up()
    assert written(tmp_path)["steps"][0]["screenshot"] is None
    assert "<img" not in (tmp_path / "report.html").read_text()


HOSTILE = "<script>document.title = 'run'</script><img src=x onerror=\"document.title = 'run'\">\"'>"


async def test_the_report_shows_a_run_and_runs_nothing_that_a_page_said(
    stage: Stage, tmp_path: Path, page: Page
) -> None:
    script = [fill("textbox", "Name", HOSTILE), done(f"Said. {HOSTILE}")]
    url = stage.site.page(FORM, title=f"Greeter {HOSTILE}")
    agent, _ = await stage.run(script, f"Say hello. {HOSTILE}", start_url=url, folder=tmp_path)
    await agent.write_up()
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text))
    await page.goto((tmp_path / "report.html").as_uri())
    assert (await page.title()).startswith("Task: Say hello.")
    assert await page.locator("article").count() == 3, "two steps, and the page after the last one"
    shown = await page.inner_text("body")
    assert shown.count(HOSTILE) >= 3
    assert "Done, as the agent reports and its judge has confirmed." in shown
    loaded = "images => images.every(image => image.complete && image.naturalWidth > 0)"
    assert await page.locator("img").evaluate_all(loaded)
    styled = "element => getComputedStyle(element).display"
    assert await page.locator("article").first.evaluate(styled) == "grid"
    assert errors == []


def test_a_history_from_elsewhere_reads_no_file_outside_of_its_folder(tmp_path: Path) -> None:
    folder = TaskFolder(tmp_path / "run")
    (tmp_path / "secret.jpg").write_bytes(b"secret")
    step = {"number": 1, "url": "", "started": "2026-01-01T00:00:00Z", "screenshot": "../secret.jpg"}
    history = AgentHistory.model_validate({"id": "x", "task": {"text": "Look."}, "steps": [step]})
    assert "<img" not in render_report(history, folder.path)
    folder.save_history(history)
    assert folder.history() == history


async def test_secrets_are_typed_but_never_told(stage: Stage, tmp_path: Path) -> None:
    value = "correct horse battery"
    secrets = Secrets({"login": Secret.model_validate({"value": value, "domains": ["127.0.0.1"]})})
    body = FORM.replace("out.textContent", "document.title = this.title = out.textContent")
    task = Task(text="Log in.", start_url=stage.site.page(body), secrets=("login",))
    send = click("button", "Send")
    lines = [fill("textbox", "Name", "<secret>login</secret>"), send, send, done("In.")]
    agent, outcome = await stage.run(lines, task, secrets=secrets, folder=tmp_path / "t")
    await agent.write_up()
    assert outcome.succeeded
    assert await stage.page.text_content("#out") == f"Hello {value}"
    for request in script(agent).requests:
        for message in request:
            assert value not in message.text
    for file in (tmp_path / "t").iterdir():
        assert value.encode() not in file.read_bytes()
    assert "<secret>login</secret>" in (tmp_path / "t" / "history.json").read_text()
