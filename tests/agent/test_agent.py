"""The loop, with scripted models on real pages."""

import asyncio
import math
import re
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from mcp_browser.agent.control import NobodyWatches, Progress
from mcp_browser.agent.task import Budget, Task, TaskStatus
from mcp_browser.errors import ModelRateLimited, ModelRefused
from mcp_browser.llm.messages import Message, tokens_of
from mcp_browser.llm.scripted import ScriptedModel
from tests.agent.conftest import (
    COUNTER,
    Person,
    Stage,
    click,
    clicking,
    done,
    fill,
    offered,
    output,
    script,
    told,
)
from tests.support.agents import CONFIRMED, until, verdict


async def test_a_task_is_told_done_and_reported(stage: Stage) -> None:
    task = Task(text="Count to one.", start_url=stage.site.page(COUNTER), context="Hurry.")
    agent, outcome = await stage.run([click("button", "More"), done("The count is 1.")], task)
    assert outcome.status is TaskStatus.SUCCEEDED
    assert outcome.answer == "The count is 1."
    assert outcome.steps == 2
    assert outcome.urls == (task.start_url,)
    assert outcome.usage.requests == 3, "the judge is one"
    assert outcome.usage == agent.history.usage
    assert outcome.usage.tokens > 0
    first, second = script(agent).requests
    assert "Count 1" in second[-1].text
    assert first[0].role == "system"
    assert all(any(words in message.text for message in first) for words in ("Count to one.", "Hurry."))
    assert "Count 0" in first[-1].text
    texts = [message.text for message in second]
    assert sum("Count 0" in text for text in texts[:-1]) == 0, "the old page is not told again"
    assert any("Clicked" in text for text in texts)
    assert any(message.call is not None for message in second if message.role == "assistant")


@pytest.mark.parametrize(
    "change",
    [
        "document.body.innerHTML = '<button>Other</button>'",
        "for (let n = 0; n < 20; n++) u.append(u.lastChild.cloneNode(true))",
    ],
    ids=["other elements", "links that are told in short"],
)
async def test_actions_stop_where_the_page_changes_under_them(stage: Stage, change: str) -> None:
    style = "<style>li { height: 3vh } li:nth-child(20) { margin-bottom: 100vh }</style>"
    links = "".join(f"<li><a href=#a{n}>A link to the place {n}</a></li>" for n in range(20))
    page = f"""<button onclick="{change}">Change</button><button>B</button>{style}<ul id=u>{links}</ul>"""

    def both(messages: Sequence[Message]) -> dict[str, Any]:
        return output(clicking(messages, "button", "Change"), clicking(messages, "button", "B"))

    agent, _ = await stage.run([both, done()], page=page)
    assert len(agent.history.steps[0].actions) == 1
    assert "these actions were not done: click_element" in told(agent, 1)


async def test_a_failed_action_ends_the_step_and_is_told_and_a_reported_failure_is_one(stage: Stage) -> None:
    wrong = output({"click_element": {"index": 999}}, {"go_back": {}})
    agent, outcome = await stage.run([wrong, done("There is no way.", success=False)], page=COUNTER)
    (record,) = agent.history.steps[0].actions
    assert "999" in (record.error or "")
    assert "999" in told(agent, 1)
    assert outcome.errors == (record.error,)
    assert (outcome.status, outcome.obstacle) == (TaskStatus.FAILED, "There is no way.")
    assert not outcome.succeeded


async def test_the_last_step_offers_only_done(stage: Stage) -> None:
    agent, outcome = await stage.run(
        [click("button", "More"), done("One.", success=False)], page=COUNTER, budget=Budget(steps=2)
    )
    assert outcome.status is TaskStatus.OUT_OF_BUDGET
    assert outcome.answer == "One."
    assert offered(agent, 1) == {"done"}
    assert "last step" in script(agent).requests[1][-1].text


REPORTS = [click("button", "More"), done("So far 1.", success=False)]
SAYS_NOTHING = [output({"scroll": {}}), "No form."]


@pytest.mark.parametrize(
    ("budget", "limit", "lines"),
    [
        (Budget(tokens=10), "10 tokens", REPORTS),
        (Budget(seconds=0.001), "time limit", REPORTS),
        (Budget(cost=Decimal("0.01")), "price is not known", REPORTS),
        (Budget(tokens=10), "10 tokens", SAYS_NOTHING),
        (Budget(seconds=0.001), "time limit", SAYS_NOTHING),
        (Budget(steps=1), "1 step", SAYS_NOTHING[:1]),
    ],
)
async def test_a_run_over_budget_reports_and_is_asked_once(
    stage: Stage, budget: Budget, limit: str, lines: list[Any]
) -> None:
    agent, outcome = await stage.run(lines, page=COUNTER, budget=budget)
    assert outcome.status is TaskStatus.OUT_OF_BUDGET
    assert limit in (outcome.obstacle or "")
    assert outcome.steps <= 2
    assert len(script(agent).requests) <= 2 or budget.steps == 1


NO_FORM = "The model does not fill in the form: The answer is not the JSON.* It answered: nonsense"


@pytest.mark.parametrize(
    ("answer", "steps", "why"),
    [("nonsense", 3, NO_FORM), (ModelRefused("m refuses the key."), 1, "refuses the key")],
    ids=["two failures, and a last step to report", "at once"],
)
async def test_a_model_that_never_answers_rightly_ends_the_run(
    stage: Stage, answer: Any, steps: int, why: str
) -> None:
    agent, outcome = await stage.run([answer], max_failures=2)
    assert (outcome.status, outcome.steps) == (TaskStatus.FAILED, steps)
    assert all(step.notes for step in agent.history.steps)
    assert re.search(why, outcome.obstacle or "")


async def test_a_limited_rate_is_waited_for_and_another_model_goes_on_where_the_first_fails(
    stage: Stage,
) -> None:
    limited = ModelRateLimited("m limits the rate.", retry_after=0.01)
    first = ScriptedModel([limited, ModelRefused("first is away.")], name="first")
    second = ScriptedModel([done("By the second.")], name="second")
    agent, outcome = await stage.run(first, fallback=second)
    assert outcome.answer == "By the second."
    (step,) = agent.history.steps
    assert step.model == "second"
    assert [note.partition(" Asking ")[2][:5] for note in step.notes] == ["again", "secon"]


async def test_a_circle_is_told_then_ended(stage: Stage) -> None:
    page = "<title>Still</title><button>Nothing</button>"
    agent, outcome = await stage.run([click("button", "Nothing")], page=page)
    assert outcome.status is TaskStatus.STUCK
    assert outcome.steps < 20
    assert any("same action" in request[-1].text for request in script(agent).requests)


async def test_a_run_can_be_stopped_paused_and_told(stage: Stage) -> None:
    agent = stage.agent([click("button", "More")], "Count.", page=COUNTER)
    agent.control.pause()
    running = asyncio.create_task(agent.run())
    await until(lambda: agent.history.status is TaskStatus.PAUSED)
    assert script(agent).requests == []
    agent.control.instruct("Count only once.")
    agent.control.resume()
    await until(lambda: len(agent.history.steps) > 0)
    agent.control.stop()
    assert (await running).status is TaskStatus.STOPPED
    assert "Count only once." in told(agent, 0)


async def test_the_person_is_asked_and_their_answer_told(stage: Stage) -> None:
    person = Person("Red")
    ask = output({"call_user": {"question": "Which colour?", "choices": ["Red", "Blue"]}})
    agent, outcome = await stage.run([ask, done("Red it is.")], watcher=person)
    assert outcome.succeeded
    assert person.asked == [("Which colour?", ("Red", "Blue"))]
    assert "The person answered: Red" in told(agent, 1)


async def test_a_person_may_act_in_the_browser_in_place_of_an_answer(stage: Stage) -> None:
    class Watcher(NobodyWatches):
        async def ask_person(self, question: str, choices: tuple[str, ...]) -> str | None:
            assert stage.session.takeover.active is not None
            assert stage.session.takeover.active.asked == question
            await stage.session.takeover.begin("Ann")
            await stage.page.evaluate("document.body.textContent = 'Welcome'")
            handing_back.append(asyncio.create_task(stage.session.takeover.end("Solved it.")))
            await asyncio.Event().wait()
            return None

    handing_back: list[asyncio.Task[bool]] = []
    ask = output({"call_user": {"question": "Please solve the captcha."}})
    agent, outcome = await stage.run([ask, done("In.")], page="A captcha", watcher=Watcher())
    assert outcome.succeeded
    assert "The person has worked in the browser and handed it back. Solved it." in told(agent, 1)
    assert "Welcome" in told(agent, 1)
    assert stage.session.takeover.active is None


async def test_a_question_is_withdrawn_once_the_takeover_has_ended(stage: Stage) -> None:
    asked, withdrawn, taken = asyncio.Event(), asyncio.Event(), list[bool]()

    class Watcher(NobodyWatches):
        async def ask_person(self, question: str, choices: tuple[str, ...]) -> str | None:
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                taken.append(stage.session.takeover.busy)
                withdrawn.set()

    ask = output({"call_user": {"question": "What is the code?"}})
    running = asyncio.create_task(stage.agent([ask], page="A code", watcher=Watcher()).run())
    await asked.wait()
    running.cancel()
    await withdrawn.wait()
    assert taken == [False]
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_step_that_waits_for_a_person_spends_no_time(stage: Stage) -> None:
    class Taking(NobodyWatches):
        async def progressed(self, progress: Progress) -> None:
            if progress.actions and not taken:
                taken.append(asyncio.create_task(take()))
                await asyncio.sleep(0)

    async def take() -> None:
        await stage.session.takeover.begin("Ann")
        before = agent.seconds
        assert agent._step_limit.deadline == math.inf
        await asyncio.sleep(0.2)
        assert agent.seconds - before < 0.15
        await stage.session.takeover.end("Take the red one.")

    taken: list[asyncio.Task[None]] = []
    agent = stage.agent([click("button", "Red"), done("Red.")], page="<button>Red</button>", watcher=Taking())
    outcome = await agent.run()
    await taken[0]
    assert outcome.succeeded
    assert "Take the red one." in told(agent, 1)


async def test_the_answer_fits_the_form_asked_for(stage: Stage) -> None:
    schema = {"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"]}
    wrong, right = done("9", data={"price": "nine"}), done("9", data={"price": 9})
    agent, outcome = await stage.run([wrong, right], page="The price is 9 €.", output_schema=schema)
    assert outcome.succeeded
    assert outcome.data == {"price": 9}
    assert any("price" in message.text and "number" in message.text for message in script(agent).requests[1])


async def test_a_plan_is_made_every_few_steps(stage: Stage) -> None:
    agent, _ = await stage.run(
        ["First more, then done.", click("button", "More"), done()], page=COUNTER, planner_interval=2
    )
    assert "You plan for an agent" in script(agent).requests[0][0].text
    assert "First more, then done." in told(agent, 1)


@pytest.mark.parametrize(
    ("later", "obstacle"),
    [
        (verdict(("It shows 0.", True)), None),
        (ModelRateLimited("Come back.", retry_after=86_400), "could not be checked: Come back."),
    ],
    ids=["takes no pictures", "cannot answer now"],
)
async def test_a_judge_is_asked_without_the_picture_only_where_that_was_the_fault(
    stage: Stage, later: Any, obstacle: str | None
) -> None:
    def say(messages: Sequence[Message]) -> Any:
        if obstacle is None and any(message.images for message in messages):
            return ModelRefused("image input is not supported")
        return later

    judge = ScriptedModel([say], judges=True)
    _, outcome = await stage.run([done("None.")], page=COUNTER, judge=judge)
    assert outcome.succeeded is (obstacle is None)
    assert (obstacle or "") in (outcome.obstacle or "")
    assert all(any(one.images for one in request) for request in judge.requests) is (obstacle is not None)


async def test_a_long_memory_is_summed_up(stage: Stage) -> None:
    def say(messages: Sequence[Message]) -> Any:
        if "You shorten the memory" in messages[0].text:
            return "Summary: five words were found."
        if any("five words were found" in message.text for message in messages):
            return done("Ready.")
        return output({"extract_content": {}})

    agent, outcome = await stage.run(
        ScriptedModel([say], context_window=40_000), "Read.", page=f"<p>{'word ' * 3000}"
    )
    assert outcome.answer == "Ready."
    assert "Read." in told(agent, -1)


async def test_no_request_to_model_or_judge_is_longer_than_the_model_takes(stage: Stage) -> None:
    window = 14_000
    page = "".join(f"<button>Button number {i} with a long name</button>" for i in range(2000))
    reads = iter([output({"extract_content": {}})] * 5)

    def say(messages: Sequence[Message]) -> Any:
        if messages[0].text.startswith(("You plan", "You shorten")):
            return "Go on."
        return CONFIRMED if "You judge" in messages[0].text else next(reads, done("word " * 10_000))

    model = ScriptedModel([say], context_window=window)
    _, outcome = await stage.run(model, "Read all.", page=page, judge=True)
    assert outcome.succeeded
    assert "You judge" in model.requests[-1][0].text
    for request, form in zip(model.requests, model.forms, strict=True):
        assert tokens_of(request, form) <= 0.9 * window
        assert any("Read all." in message.text for message in request)


async def test_a_vision_agent_works_by_pictures_and_points(stage: Stage) -> None:
    page = """<style>body { margin: 0 } button { position: absolute; left: 300px; top: 200px;
    width: 200px; height: 100px }</style><button onclick="out.textContent = 'Pressed'">Press</button>
    <input style="position: absolute; left: 10px; top: 400px; width: 200px" id=who><p id=out></p>"""
    lines = [
        "Thought: The button.\nAction: click(start_box='[312,347,312,347]')",
        "Thought: The field.\nAction: click(start_box='(86,569)')\n\ntype(content='Ann')",
        "Thought: Look.\nAction: scroll(direction='down')",
        "Thought: Done.\nAction: finished(content='Pressed and typed.')",
    ]
    agent, outcome = await stage.run(lines, page=page, style="gui")
    assert outcome.succeeded, agent.history
    assert outcome.answer == "Pressed and typed."
    assert await stage.page.text_content("#out") == "Pressed"
    assert await stage.page.input_value("#who") == "Ann"
    first, *_, last = script(agent).requests
    assert len(first[-1].images) == 1
    assert sum(len(message.images) for message in last) == 4
    assert not any("<page" in message.text for message in first)


async def test_a_vision_agent_needs_a_model_that_sees(stage: Stage) -> None:
    blind = ScriptedModel(["Thought: x\nAction: click(start_box='(1,1)')"], sees=False)
    _, outcome = await stage.run(blind, page="<button>A</button>", style="gui", max_failures=1)
    assert outcome.status is TaskStatus.FAILED
    assert "pictures" in (outcome.obstacle or "")


SECRET_QUESTION = output({"call_user": {"question": "Your password, please.", "secret": "login"}})


async def test_a_secret_that_the_person_gives_is_typed_and_read_by_nobody(stage: Stage) -> None:
    asked: list[tuple[str, str]] = []

    class Watcher(NobodyWatches):
        async def ask_secret(self, question: str, site: str) -> SecretStr | None:
            asked.append((question, site))
            return SecretStr("correct horse")

    lines = [SECRET_QUESTION, fill("textbox", "Password", "<secret>login</secret>"), done("In.")]
    agent, outcome = await stage.run(lines, page="<label>Password <input id=word></label>", watcher=Watcher())
    assert outcome.succeeded
    assert asked == [("Your password, please.", stage.site.url)]
    assert await stage.page.input_value("#word") == "correct horse"
    told = "".join(message.text for request in script(agent).requests for message in request)
    assert "type <secret>login</secret> in its place" in told
    assert "correct horse" not in told
    assert "correct horse" not in agent.history.model_dump_json()
    assert "correct horse" not in agent.state.model_dump_json()


@pytest.mark.parametrize("given", [{"secret": "login"}, {}])
async def test_a_secret_is_never_asked_for_in_the_open(stage: Stage, given: dict[str, str]) -> None:
    class Watcher(NobodyWatches):
        async def ask_person(self, question: str, choices: tuple[str, ...]) -> str | None:
            raise AssertionError("the answer would be read by the model")

    ask = output({"call_user": {"question": "What is your password?", **given}})
    _, outcome = await stage.run([ask, done("In.")], "Log in.", page="Log in", watcher=Watcher())
    assert outcome.status is TaskStatus.NEEDS_PERSON
    assert outcome.obstacle is not None
    assert "--secrets" in outcome.obstacle


@pytest.mark.fresh
async def test_a_secret_is_asked_for_once_its_page_is_open(stage: Stage) -> None:
    agent, _ = await stage.run([SECRET_QUESTION, done("Out.", success=False)])
    assert "open the page first" in script(agent).requests[1][-2].text


async def test_the_task_s_model_reads_what_the_page_does_not_name_and_adds_nothing_of_its_own(
    stage: Stage,
) -> None:
    page = stage.site.page("<p>Name: Tea house</p><p>Come to us at 12 Mill Lane; a pot for 4.50 or more.</p>")
    texts = dict.fromkeys(("name", "address", "phone"), "string")
    kinds = {**texts, "potPrice": "number", "seats": "integer"}
    wanted = {"type": "object", "properties": {name: {"type": kind} for name, kind in kinds.items()}}
    read = {"name": "Other", "address": "12 Mill  lane", "potPrice": 4.5, "phone": "555-0199", "seats": 40}
    lines = [output({"extract_data": {"output_schema": wanted}}), {"data": read}, done("Read.")]
    agent, _ = await stage.run(lines, "Read.", start_url=page)
    (action,) = agent.history.steps[0].actions
    assert '{"name": "Tea house", "address": "12 Mill  lane", "potPrice": 4.5}' in action.result
    assert '"address": "read by the model"' in action.result
    assert "555" not in action.result
    assert "Come to us at 12 Mill Lane" in script(agent).requests[1][-1].text


PASSWORD = "hunter2-correct-horse"


async def test_an_answer_of_megabytes_is_cut(stage: Stage, tmp_path: Path) -> None:
    agent, outcome = await stage.run([done("word " * 600_000)], folder=tmp_path)
    await agent.write_up()
    assert len(outcome.answer or "") < 25_000
    for name in ("history.json", "state.json", "report.html"):
        assert (tmp_path / name).stat().st_size < 200_000, name


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
