"""What models get wrong, and what is left of it: answers nobody can read, answers too long, passwords."""

from pathlib import Path

import pytest

from mcp_browser.agent.control import NobodyWatches, Progress
from mcp_browser.agent.task import Budget, Task, TaskStatus
from tests.agent.conftest import Stage, click, done, fill, output, script

PASSWORD = "hunter2-correct-horse"


async def test_an_answer_of_megabytes_is_cut(stage: Stage, tmp_path: Path) -> None:
    agent, outcome = await stage.run([done("word " * 600_000)], folder=tmp_path)
    await agent.write_up()
    assert len(outcome.answer or "") < 25_000
    for name in ("history.json", "state.json", "report.html"):
        assert (tmp_path / name).stat().st_size < 200_000, name


@pytest.mark.parametrize("budget", [Budget(tokens=10), Budget(seconds=0.001)])
async def test_a_last_step_over_the_budget_asks_once(stage: Stage, budget: Budget) -> None:
    agent, outcome = await stage.run([output({"scroll": {}}), "No form."], budget=budget)
    assert outcome.status is TaskStatus.OUT_OF_BUDGET
    assert len(script(agent).requests) <= 2


async def test_progress_begins_before_the_model_answers_and_rises(stage: Stage) -> None:
    told: list[tuple[Progress, int]] = []

    class Watcher(NobodyWatches):
        async def progressed(self, progress: Progress) -> None:
            told.append((progress, len(script(agent).requests)))

    task = Task(text="Do.", start_url=stage.site.page("<button>More</button>"))
    agent = stage.agent([click("button", "More"), done()], task, watcher=Watcher())
    await agent.run()
    assert told[0][1] == told[1][1] == 0
    amounts = [progress.amount for progress, _ in told]
    assert amounts == sorted(set(amounts))
    assert any(
        "click_element" in str(progress) and (task.start_url or "-") in str(progress) for progress, _ in told
    )


@pytest.mark.parametrize("kind", ["type=password", "style='-webkit-text-security: disc'"])
async def test_a_password_that_the_model_writes_itself_is_in_no_file(
    stage: Stage, tmp_path: Path, kind: str
) -> None:
    typed = fill("textbox", "Password", PASSWORD)
    agent, outcome = await stage.run(
        [typed, done(f"I have typed {PASSWORD}.")],
        f"Type the password {PASSWORD}.",
        page=f"<label>Password <input {kind} id=word></label>",
        folder=tmp_path,
    )
    await agent.write_up()
    assert outcome.succeeded, outcome
    assert PASSWORD not in outcome.model_dump_json()
    assert await stage.page.input_value("#word") == PASSWORD
    for name in ("history.json", "report.html", "script.py"):
        assert PASSWORD not in (tmp_path / name).read_text(), name
    assert 'secret("typed_1")' in (tmp_path / "script.py").read_text()


async def test_a_token_in_an_address_is_in_no_file_and_no_prompt(stage: Stage, tmp_path: Path) -> None:
    token = "tok3n-of-ann"
    stage.site.page("<title>There</title>Arrived", path="/there")
    start = stage.site.page(f'<a href="/there?access_token={token}">There</a>')
    steps = [
        output({"go_to_url": {"url": "/there?access_token=[redacted]"}}),
        output({"go_to_url": {"url": f"{stage.site.url}/there?access_token={token}&again=1"}}),
        done("Arrived"),
    ]
    agent, outcome = await stage.run(steps, start_url=start, folder=tmp_path)
    await agent.write_up()
    assert outcome.succeeded, outcome
    assert stage.session.current_tab.url.endswith(f"/there?access_token={token}&again=1")
    assert token not in outcome.model_dump_json()
    history = (tmp_path / "history.json").read_text()
    assert "/there?access_token=[redacted]" in history
    told = [message for request in script(agent).requests for message in request if message.role == "user"]
    assert token not in repr(told)
    for name in ("history.json", "report.html", "script.py"):
        assert token not in (tmp_path / name).read_text(), name
