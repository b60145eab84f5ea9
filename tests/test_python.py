"""The package as a program uses it: what docs/python.md shows, run as it stands there."""

import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import mcp_browser
from mcp_browser import (
    Agent,
    BrowserSession,
    Controller,
    ModelError,
    ScriptedModel,
    Settings,
    SettingsError,
    StepRecord,
    TaskStatus,
    render_result,
)
from mcp_browser.errors import NoModel
from mcp_browser.llm.providers import provider_model
from tests.support.agents import CONFIRMED, done, output
from tests.support.site import Site
from tests.test_docs import block

DOCS = Path(__file__).parent.parent / "docs"
PYTHON = (DOCS / "python.md").read_text("utf-8")
MOVING = (DOCS / "moving-from-browser-use.md").read_text("utf-8")
SHOP_URL, MODEL = "https://shop.example/", "anthropic:claude-sonnet-4-5"
SHOP = """<title>Teas</title><a href="/a">Green tea, 4.00</a> <a href="/b">White tea, 6.00</a>
<button onclick="out.textContent = 'Red tea is in the basket.'">Red tea, 3.50</button><p id=out></p>"""


def test_everything_public_is_there() -> None:
    for name in mcp_browser.__all__:
        assert getattr(mcp_browser, name) is not None
    assert set(mcp_browser.__all__) == set(dir(mcp_browser))
    with pytest.raises(AttributeError, match="nothing_such"):
        _ = mcp_browser.nothing_such


def test_settings_are_named_without_their_groups() -> None:
    settings = Settings.of(headless=True, viewport="800x600", allow_domains=["shop.example"])
    assert settings.browser.headless is True
    assert str(settings.browser.viewport) == "800x600"
    with pytest.raises(SettingsError, match=r"no setting 'hedless'\. Did you mean 'headless'"):
        Settings.of(hedless=True)
    with pytest.raises(SettingsError, match=r"^viewport must be WIDTHxHEIGHT"):
        Settings.of(viewport="big")
    with pytest.raises(SettingsError, match=r"^max_steps must be a whole number from 1 to 1000"):
        Settings.of(max_steps=0)


async def test_what_an_action_could_not_do_is_a_result(session: BrowserSession, site: Site) -> None:
    controller = Controller()
    await controller.act({"go_to_url": {"url": site.page("<button>Go</button>")}}, session)
    stale = await controller.act({"click_element": {"index": 999}}, session)
    unknown = await controller.act({"click": {"index": 1}}, session)
    several = await controller.act({"go_back": {}, "reload": {}}, session)
    wrong = await controller.act({"click_element": {"number": 1}}, session)

    assert stale.error is not None
    assert "[999]" in stale.error
    assert stale.error in render_result(stale)[0]
    assert "There is no action 'click'" in str(unknown.error)
    assert "one name with its arguments" in str(several.error)
    assert "unknown argument 'number'" in str(wrong.error)


async def test_a_controller_may_have_each_sessions_settings(session: BrowserSession, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('[[rule]]\nactions = ["go_back"]\ndecision = "deny"\nreason = "Never back."\n', "utf-8")
    bound = Settings.of(headless=True, policy=policy)
    controller = Controller()
    assert "Never back." not in str((await controller.act({"go_back": {}}, session)).error)
    async with BrowserSession(bound) as alone:
        assert "Never back." in str((await controller.act({"go_back": {}}, alone)).error)


async def test_an_agent_in_a_lent_session_leaves_it_open_and_goes_on(
    session: BrowserSession, site: Site, tmp_path: Path
) -> None:
    asks = output({"call_user": {"question": "Which tea?"}})
    model = ScriptedModel([asks, output({"find_elements": {"text": "tea"}}), done("Red tea.")])
    agent = Agent("Choose", model=model, session=session, folder=tmp_path, start_url=site.page(SHOP))
    first = await agent.run()
    again = Agent.resume(tmp_path, model=model, session=session)
    second = await again.run(tell="The red one.")
    by_judge = Agent(
        "Choose", model=ScriptedModel([done("Red tea.")]), judge=ScriptedModel([CONFIRMED]), session=session
    )
    assert first.status is TaskStatus.NEEDS_PERSON
    assert first.obstacle is not None
    assert "Which tea?" in first.obstacle
    assert (second.status, second.answer) == (TaskStatus.UNCONFIRMED, "Red tea.")
    models = await by_judge.models()
    assert (await by_judge.run()).succeeded
    assert await by_judge.models() is models
    assert "The red one." in "\n".join(message.text for message in model.requests[1])
    assert (tmp_path / "report.html").exists()
    assert not session.closed


async def test_given_actions_come_first_and_steps_are_reported(session: BrowserSession, site: Site) -> None:
    class Tea(BaseModel):
        name: str

    steps: list[StepRecord] = []
    agent = Agent(
        "Choose",
        model=FunctionModel(lambda _messages, info: answered(info)),
        judge=ScriptedModel([CONFIRMED]),
        output_schema=Tea,
        session=session,
        initial_actions=[{"go_to_url": {"url": site.page(SHOP)}}],
        on_step=steps.append,
    )
    outcome = await agent.run()
    assert outcome.data_as(Tea) == Tea(name="Red tea")
    assert [step.number for step in steps] == [0, 1]
    assert steps[0].actions[0].evidence is not None
    assert steps[1].page is not None
    assert "Red tea, 3.50" in steps[1].page.text


@pytest.mark.slow
async def test_an_agents_own_session_has_its_settings_storage_state(site: Site, tmp_path: Path) -> None:
    host = urlsplit(site.url).hostname
    cookie = {"name": "tea", "value": "red", "domain": host, "path": "/", "expires": -1, "httpOnly": False}
    state = {"cookies": [{**cookie, "secure": False, "sameSite": "Lax"}], "origins": []}
    (tmp_path / "state.json").write_text(json.dumps(state))
    settings = Settings.of(headless=True, isolated=True, storage_state=str(tmp_path / "state.json"))
    steps: list[StepRecord] = []
    page = site.page("<p></p><script>document.querySelector('p').append(document.cookie)</script>")
    model = ScriptedModel([done("Seen.")])
    await Agent("Look", model=model, settings=settings, start_url=page, on_step=steps.append).run()
    assert "tea=red" in str([step.page for step in steps])


def answered(info: AgentInfo) -> ModelResponse:
    """What a model of pydantic-ai's says."""
    done_now = {"done": {"success": True, "text": "It.", "data": {"name": "Red tea"}}}
    return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, output(done_now))])


async def test_a_client_that_is_no_model_is_refused_in_one_line() -> None:
    with pytest.raises(ModelError, match="openai's AsyncOpenAI is no model") as refused:
        await Agent("Choose", model=AsyncOpenAI(api_key="none")).run()
    assert "openai_client=client" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "address"),
    [("anthropic:claude-sonnet-4-5", "http://127.0.0.1:9"), ("deepseek:deepseek-chat", None)],
)
async def test_the_address_of_a_model_is_honoured_or_refused(
    name: str, address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setenv("DEEPSEEK_API_KEY", "none")
    agent = Agent("Choose", model=name, settings=Settings.of(model_url="http://127.0.0.1:9"))
    if address is None:
        with pytest.raises(ModelError, match="--model-url does not apply to deepseek"):
            await agent.chat_model()
    else:
        model: Any = await agent.chat_model()
        assert model._model.base_url.rstrip("/") == address


def run_block(name: str, **places: str) -> None:
    """Run a snippet of the documents with other addresses in the places of its own."""
    places_in_it = {"shop": SHOP_URL, "host": '"shop.example"', "model": MODEL}
    code = block(f"example: {name}", MOVING if name == "moved" else PYTHON)
    for place, value in places.items():
        code = code.replace(places_in_it[place], value)
    exec(compile(code, f"docs {name}", "exec"), {"__name__": "__main__"})


@pytest.mark.slow
async def test_the_snippets_of_the_document_do_what_they_say(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = site.page(SHOP)
    script = tmp_path / "script.json"

    async def printed(name: str, *answers: Any) -> str:
        script.write_text(json.dumps(answers))
        await asyncio.to_thread(
            run_block, name, shop=shop, host=repr(urlsplit(shop).hostname), model=f"scripted:{script}"
        )
        return capsys.readouterr().out

    answer = {"success": True, "text": "White tea", "data": {"name": "Red tea", "euros": 3.5}}
    look = output({"find_elements": {"text": "tea"}}, goal="compare")
    assert await printed("agent", look, done("It is 3.50.")) == "unconfirmed - It is 3.50.\n"
    assert await printed("moved", look, done("It is 3.50.")) == "unconfirmed It is 3.50.\n"
    in_form = await printed("form", look, output({"done": answer}))
    assert "name='Red tea' euros=3.5" in in_form
    assert "Step 1 of at most 20: compare" in in_form
    by_hand = await printed("hands")
    assert "Red tea is in the basket." in by_hand
    assert "[999]" in by_hand
    assert "2 links" in await printed("own")


@pytest.mark.parametrize(
    ("name", "variable"),
    [("anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY"), ("google:gemini-2.5-pro", "GOOGLE_API_KEY")],
)
async def test_a_missing_key_is_named_and_nothing_else(
    name: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in ("ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(each, raising=False)
    with pytest.raises(Exception, match=variable) as refused:
        await provider_model(name)
    assert str(refused.value) == (
        f"The model {name} needs {variable}, which is not set. Set it where the server is started: in the "
        "shell, or under `env` in the client's configuration."
    )


@pytest.mark.parametrize("name", ["test", "nobody:model"])
async def test_a_name_that_is_no_model_tells_what_names_are_like(name: str) -> None:
    with pytest.raises(NoModel, match=r"cannot be used: .*[^.]\. --model takes provider:name") as refused:
        await provider_model(name)
    assert "Agent('test')" not in str(refused.value)
