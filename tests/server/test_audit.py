"""What the audit log says of calls, and what it never says."""

import json
import stat
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client

from mcp_browser.actions.elements import FillFormParams
from mcp_browser.actions.scripting import EvaluateScriptParams
from mcp_browser.actions.several import BrowserActionParams
from mcp_browser.audit import AuditLog, redacted
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import SettingsError
from tests.server.task_room import TaskRoom
from tests.support.agents import Desk, done, output
from tests.support.agents import text as text_of
from tests.support.client import MODERN_FIRST
from tests.support.site import Site

SECRET = "hunter2-correct"
PAGE = """<label>Password <input type=password></label><button>Pay</button>"""


@pytest.mark.parametrize("era", MODERN_FIRST)
async def test_each_call_and_action_is_told_and_nothing_secret(
    manager: BrowserManager, session: BrowserSession, site: Site, tmp_path: Path, era: Any
) -> None:
    log, policy, desk = tmp_path / "audit.jsonl", tmp_path / "policy.toml", Desk(tmp_path)
    policy.write_text('[[rule]]\nnames = ["Pay"]\n')
    groups = {"tools": {"policy": policy}, "server": {"audit_log": log}}
    room = TaskRoom(manager, session, desk, groups)
    answers = iter(["accept", "accept", "accept", "decline"])  # The script is asked about, too

    async def person(context: Any, params: Any) -> types.ElicitResult:
        del context, params
        return types.ElicitResult(action=next(answers), content={"allow": True})  # pyright: ignore[reportArgumentType]

    async with Client(room.server, mode=era, elicitation_callback=person) as client:
        url = site.page(PAGE)
        told = text_of(await client.call_tool("go_to_url", {"url": f"{url}?access_token={SECRET}"}))
        field = int(told.split('] textbox "Password"')[0].rsplit("[", 1)[1])
        await client.call_tool("input_text", {"index": field, "text": SECRET})
        await client.call_tool("send_keys", {"index": field, "keys": SECRET})
        await client.call_tool("fill_form", {"fields": [{"index": field, "value": SECRET}]})
        await client.call_tool("input_text", {"index": field, "txet": SECRET})
        await client.call_tool("evaluate_script", {"script": f"'{SECRET}'"})
        await client.call_tool("click_element", {"index": field + 1})
        listed: list[dict[str, Any]] = [{"click_element": {"index": 'button "Pay"'}}, {"get_state": {}}]
        await client.call_tool("do_actions", {"actions": listed})
        await client.call_tool("click_element", {"index": field + 1})
        desk.follow(output({"input_text": {"index": field, "text": SECRET}}), done("Typed."))
        await client.call_tool("run_task", {"task": f"Type {SECRET}."})
    await room.agent.close()
    text = log.read_text()
    assert SECRET not in text
    assert "hunter2" not in text
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    lines: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    assert {line["principal"] for line in lines} == {"anonymous"}
    calls = [line for line in lines if line["event"] == "call" and line["outcome"] != "input_required"]
    assert [line["tool"] for line in calls] == [
        *("go_to_url", "input_text", "send_keys", "fill_form", "input_text", "evaluate_script"),
        *("click_element", "do_actions", "click_element", "run_task"),
    ]
    assert [line.get("consent") for line in calls if line["tool"] == "click_element"] == ["yes", "no"]
    assert calls[4]["outcome"] == "error"
    assert calls[4]["arguments"] == {"index": field, "(unknown)": 1}
    actions = [line for line in lines if line["event"] == "action"]
    typed = next(line for line in actions if line["action"] == "input_text")
    assert typed["arguments"] == {"index": field, "text": f"({len(SECRET)} characters)"}
    assert typed["origin"] == typed["origin_after"] == url.rsplit("/page", 1)[0]
    assert typed["session"] == calls[1]["session"]
    assert typed["outcome"] == "ok"
    in_list = [line for line in actions if line["tool"] == "do_actions" and line["outcome"] == "ok"]
    assert {"index": 'button "Pay"'} in [line["arguments"] for line in in_list], "as the caller gave them"
    consents = [(line["action"], line.get("consent")) for line in in_list]
    assert consents == [("click_element", "yes"), ("get_state", None)]
    asked = [line for line in actions if line["tool"] == "click_element"]
    assert [line["outcome"] for line in asked] == ["consent_needed", "ok", "consent_needed"]
    assert any(line["tool"] == "run_task" and line["action"] == "input_text" for line in actions)


def test_arguments_are_told_by_the_models_names_alone() -> None:
    told = redacted(
        {"fields": [{"index": 3, "value": "x" * 9, "extra": "y"}], "other": "z"}, FillFormParams, {}
    )
    assert told == {"fields": [{"index": 3, "value": "(9 characters)", "(unknown)": 1}], "(unknown)": 1}


def test_what_is_typed_and_what_a_model_leaves_out_of_its_repr_is_withheld() -> None:
    assert redacted({"script": "x" * 7}, EvaluateScriptParams, {}) == {"script": "(7 characters)"}
    assert redacted({"text": "y" * 5}, BrowserActionParams, {}) == {"text": "(5 characters)"}


def test_the_log_is_begun_anew_by_size_and_stays_private(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.touch(0o644)
    log = AuditLog(path, 1000)
    for number in range(60):
        log.write("call", number=number, text="line\u2028\nend")
    files = sorted(tmp_path.iterdir())
    assert len(files) == 5
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 and file.stat().st_size <= 1000 for file in files)
    assert json.loads(path.read_text().splitlines()[-1])["number"] == 59
    with pytest.raises(SettingsError, match=r"audit-log: .* cannot be written"):
        AuditLog(tmp_path / "none" / "audit.jsonl", 1000)


def test_a_full_disk_is_told_and_ends_no_call(caplog: pytest.LogCaptureFixture) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    AuditLog(Path("/dev/full"), 1000).write("call", number=1)
    assert "cannot be written: [Errno 28]" in caplog.text
