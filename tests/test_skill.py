"""`mcp-browser skill`: what an agent reads of the commands is what the program takes."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from mcp_browser.actions import default_registry
from mcp_browser.cli.clients import CLIENTS
from mcp_browser.cli.commands import Commands, usage
from mcp_browser.cli.config import SKILL, skill_text
from mcp_browser.terminal import session_of
from tests.test_cli import run_here

TEXT = skill_text(default_registry(), "mcp-browser")


def test_it_has_the_format_of_agent_skills_and_is_short() -> None:
    _, front, body = TEXT.split("---\n", 2)
    about = yaml.safe_load(front)
    assert about.keys() == {"name", "description"}
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", about["name"])
    assert about["name"] == SKILL
    assert 100 < len(about["description"]) <= 1024
    assert len(TEXT.splitlines()) <= 120
    assert "{" not in re.sub(r"```.*?```|`[^`\n]*`", "", body, flags=re.DOTALL)


def test_each_command_in_it_is_one_that_the_program_takes() -> None:
    commands = Commands(default_registry())
    read: set[str] = set()
    for block in re.findall(r"```bash\n(.*?)```", TEXT, re.DOTALL):
        for line in block.splitlines():
            words = shlex.split(line.rpartition("| ")[2], comments=True)
            if words[:2] == ["mcp-browser", "do"] and "-" not in words:
                words = words[2:]
            elif words[:1] == ["mcp-browser"] or len(words) < 2:
                continue
            action = commands.parse(session_of(words)[1]).action
            assert action is not None
            read.add(action.name)
    assert {"go_to_url", "click_element", "input_text", "fill_form"} <= read


def test_a_usage_has_what_is_needed_first_and_the_flag_that_differs_from_the_default() -> None:
    registry = default_registry()
    assert usage(registry["set_checked"]) == "set_checked INDEX [--no-checked]"
    assert usage(registry["expect_text"]).startswith("expect_text TEXT [--timeout NUMBER]")


def test_it_lists_every_action_that_is_offered_and_no_other() -> None:
    registry = default_registry().without(["get_html", "fill_form"])
    text = skill_text(registry, "uvx mcp-browser-server")
    listed = {
        name for line in re.findall(r"^- [a-z_]+: (.*)$", text, re.MULTILINE) for name in line.split(", ")
    }
    assert listed == {action.name for action in registry}
    assert "- `fill_form" not in text
    assert "`uvx mcp-browser-server do ACTION [ARGUMENTS]`" in text


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_it_is_written_to_where_a_client_looks_and_the_old_one_is_kept(
    client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    path = tmp_path / str(CLIENTS[client].skills) / SKILL / "SKILL.md"
    assert f"Wrote the skill to {path}." in run_here(capsys, "skill", client, "--write")[1]
    assert path.read_text("utf-8") == run_here(capsys, "skill")[1]
    assert "has this skill already" in run_here(capsys, "skill", client, "--write")[1]
    path.write_text("older", "utf-8")
    run_here(capsys, "skill", client, "--write")
    assert path.with_name("SKILL.md.bak").read_text("utf-8") == "older"
    monkeypatch.chdir(tmp_path)
    assert str(tmp_path / ".claude") in run_here(capsys, "skill", "claude-code", "--project", "--write")[1]


def test_a_client_without_skills_is_refused_with_those_that_have_some(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "did you mean codex?" in run_here(capsys, "skill", "codx", "--write")[2]
    code, _, error = run_here(capsys, "skill", "windsurf", "--write")
    assert (code, "claude-code|vscode|cursor|gemini|codex" in error) == (2, True)
