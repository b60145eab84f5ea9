"""What is typed without an index goes where it was looked when that was decided, or nowhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcp_browser.actions import default_registry
from mcp_browser.agent.record.history import ActionRecord
from mcp_browser.agent.secrets.store import Secrets
from mcp_browser.agent.task import ActionCall
from mcp_browser.controller import Controller
from mcp_browser.dom.models import ElementQuery
from mcp_browser.errors import ActionError
from mcp_browser.settings import Settings
from tests.agent.conftest import Stage, done, kept

if TYPE_CHECKING:
    from mcp_browser.agent.executor import ActionOutcome

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

VALUE = "corr3ct-horse"
PLACE = "<secret>login</secret>"

# A field that the model means, and others that the page would rather have filled in.
FIELDS = (
    "<input id=word aria-label=Word autofocus><input id=other aria-label=Other><input id=pw type=password>"
)
HEARD = "<script>heard = []; addEventListener('keydown', e => heard.push(e.key), true)</script>"

MOVES = {
    "keydown": "word.addEventListener('keydown', () => {target}.focus())",
    "keydown at the window, first": (
        "addEventListener('keydown', e => {{ {target}.focus(); e.stopImmediatePropagation() }}, true);"
        "for (const name of ['keypress', 'beforeinput'])"
        "  addEventListener(name, e => e.stopImmediatePropagation(), true)"
    ),
    "the third character": "word.oninput = () => word.value.length === 3 && {target}.focus()",
    "beforeinput": "word.addEventListener('beforeinput', () => {target}.focus())",
    "a timer": "setInterval(() => {target}.focus(), 1)",
}


def page(move: str, *, target: str) -> str:
    return f"{FIELDS}<script>{MOVES[move].format(target=target)}</script>"


async def typed(stage: Stage) -> dict[str, str]:
    """What each field of the page holds."""
    script = "() => Object.fromEntries([...document.querySelectorAll('input')].map(f => [f.id, f.value]))"
    return await stage.page.evaluate(script)


async def act(
    stage: Stage, start: str, name: str, arguments: dict[str, Any], secrets: Secrets | None = None
) -> ActionRecord:
    """What an agent records of one action on a page that has just been opened; its index may be a name."""
    agent = stage.agent([done()], secrets=secrets or Secrets())
    await agent.executor.open(start)
    if "index" in arguments:
        found = await stage.session.current_tab.dom.find(ElementQuery(name=arguments["index"]), limit=1)
        arguments = {**arguments, "index": found.nodes[0].index}
    outcomes: list[ActionOutcome] = []
    await agent.executor.act([ActionCall(name=name, arguments=arguments)], outcomes)
    return outcomes[0].record


@pytest.mark.parametrize("move", list(MOVES))
async def test_a_text_does_not_follow_the_focus_into_a_password_field(stage: Stage, move: str) -> None:
    start = stage.site.page(page(move, target="pw"))
    for name, arguments in (
        ("type_text", {"text": "plain words"}),
        ("send_keys", {"keys": "plain words"}),
        ("browser_action", {"action": "type", "text": "plain words"}),
    ):
        record = await act(stage, start, name, arguments)
        held = await typed(stage)
        if move == "a timer":
            # The page was there first, and a password field was looked at: its text is none to keep.
            assert "plain words" not in record.model_dump_json()
            continue
        assert held["pw"] == ""
        assert "plain words".startswith(held["word"])
        # Amid an insertion the browser itself takes the focus back.
        assert move == "beforeinput" or "focus moved" in (record.error or ""), held


@pytest.mark.parametrize("move", ["keydown", "keydown at the window, first", "the third character"])
async def test_keys_do_not_follow_the_focus_into_a_frame(stage: Stage, move: str) -> None:
    inner = stage.site.page(f"<input id=thief>{HEARD}").replace(stage.site.url, stage.site.other)
    html = f"<iframe src='{inner}'></iframe>{page(move, target='document.querySelector(`iframe`)')}"
    record = await act(stage, stage.site.page(html), "type_text", {"text": "plain words"})
    thief = stage.page.frames[1]
    assert "focus moved" in (record.error or "")
    assert await thief.evaluate("[thief.value, heard]") == ["", []]


async def test_a_secret_is_heard_nowhere_but_in_its_document(stage: Stage) -> None:
    inner = stage.site.page(f"<input id=thief>{HEARD}").replace(stage.site.url, stage.site.other)
    moves = (
        "for (const name of ['keydown', 'beforeinput', 'input', 'focusin'])"
        "  addEventListener(name, () => document.querySelector('iframe').focus(), true)"
    )
    start = stage.site.page(f"<iframe src='{inner}'></iframe>{FIELDS}<script>{moves}</script>")
    calls: dict[str, dict[str, Any]] = {
        "type_text": {"text": PLACE},
        "send_keys": {"keys": PLACE},
        "input_text": {"index": "Other", "text": PLACE},
    }
    for name, arguments in calls.items():
        record = await act(stage, start, name, arguments, kept("login", VALUE))
        assert VALUE not in record.model_dump_json()
        thief = stage.page.frames[1]
        assert await thief.evaluate("[thief.value, heard]") == ["", []]


async def test_boxes_that_pass_the_focus_on_are_filled(stage: Stage) -> None:
    boxes = "".join(f"<input id=b{n} maxlength=1 {'autofocus' if not n else ''}>" for n in range(6))
    hop = "addEventListener('input', e => e.target.nextElementSibling?.focus?.())"
    start = stage.site.page(f"{boxes}<script>{hop}</script>")
    for text, wanted in {"246": "246", PLACE: "813"}.items():
        record = await act(stage, start, "type_text", {"text": text}, kept("login", "813"))
        assert record.error is None
        assert "".join((await typed(stage)).values()) == wanted


async def test_texts_are_typed_as_they_are(stage: Stage) -> None:
    text = "Grüße, 日本 🙂 “quoted”\tand a line of more than twenty keys\nsecond"
    start = stage.site.page("<textarea id=word autofocus></textarea>")
    record = await act(stage, start, "type_text", {"text": text})
    assert (record.error, await stage.page.input_value("#word")) == (None, text)


@pytest.mark.parametrize("move", ["keydown", "keydown at the window, first"])
async def test_what_a_policy_forbids_gets_no_key_by_a_move_of_the_focus(
    stage: Stage, tmp_path: Path, move: str
) -> None:
    rules = tmp_path / "policy.toml"
    rules.write_text('[[rule]]\nnames = ["Delete"]\ndecision = "deny"\n')
    delete = "<button id=del onclick='document.title = `deleted`'>Delete all</button>"
    await stage.session.ensure_open()
    await stage.session.current_tab.goto(stage.site.page(f"{delete}{page(move, target='del')}"))
    settings = Settings.model_validate({"tools": {"policy": str(rules)}})
    controller = Controller(default_registry(), settings)
    for name, arguments in (
        ("send_keys", {"keys": "Enter"}),
        ("send_keys", {"keys": "Space"}),
        ("type_text", {"text": "word\n"}),
        ("hotkey", {"keys": "enter"}),
    ):
        await stage.page.evaluate("document.getElementById('word').focus()")
        with pytest.raises(ActionError):
            await controller.execute(name, arguments, stage.session)
    assert await stage.page.title() != "deleted"
