"""Actions of the user's own, and which actions the settings ask for."""

import importlib
import sys
from pathlib import Path

import pytest

from mcp_browser.actions import load_registry
from mcp_browser.actions.catalog import actions_from_file
from mcp_browser.errors import SettingsError
from mcp_browser.settings import ToolSettings

OWN = """
from mcp_browser import ActionContext, ActionResult, Registry, Tab

registry = Registry()


@registry.action("Tell how many links the page has.")
async def count_links(tab: Tab, kind: str = "a") -> str:
    return str(await tab.page.locator(kind).count())


@registry.action(effect="read")
def shout(ctx: ActionContext, word: str) -> ActionResult:
    '''Say a word loudly.'''
    return ActionResult(extracted_content=word.upper())
"""

EMPTY = "from mcp_browser import Registry\nr = Registry()"


def write(folder: Path, text: str, name: str = "my_actions.py") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_a_file_adds_its_actions_after_those_that_come_with_the_package(tmp_path: Path) -> None:
    registry = load_registry(ToolSettings(actions=(write(tmp_path, OWN),)))
    assert [action.name for action in registry][-2:] == ["count_links", "shout"]
    assert registry["count_links"].group == "custom"
    assert list(registry["count_links"].param_model.model_fields) == ["kind"]
    assert registry["shout"].effect == "read"
    assert registry["shout"].description == "Say a word loudly."


def test_own_actions_are_offered_whatever_groups_are_chosen(tmp_path: Path) -> None:
    file = write(tmp_path, OWN.replace("Registry()", 'Registry(group="shop")'))
    registry = load_registry(ToolSettings(tools=("shop",), actions=(file,)))
    assert [action.name for action in registry] == ["count_links", "shout"]


def test_excluded_actions_are_left_out_own_ones_too(tmp_path: Path) -> None:
    settings = ToolSettings(actions=(write(tmp_path, OWN),), exclude_actions=("shout", "save_pdf"))
    registry = load_registry(settings)
    assert "shout" not in registry
    assert "save_pdf" not in registry
    assert "count_links" in registry


def test_several_registries_of_a_file_become_one(tmp_path: Path) -> None:
    text = OWN + "\nsecond = Registry()\n\n@second.action('Second.')\ndef another() -> None: ...\n"
    _, registry = actions_from_file(write(tmp_path, text))
    assert [action.name for action in registry] == ["count_links", "shout", "another"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import nothing_of_that_name", "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ("def broken(:", "SyntaxError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("x = 1", "make one: registry = mcp_browser.Registry()"),
        (EMPTY, "no registry with actions in it; add actions"),
        (f"{EMPTY}\n@r.action()\ndef f(): ...", "needs a description"),
        (f"{EMPTY}\n@r.action('Mine.')\ndef go_back(): ...", "an action 'go_back' is registered already"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line_that_names_it(tmp_path: Path, text: str, words: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        load_registry(ToolSettings(actions=(file,)))
    message = str(caught.value)
    assert message.startswith(f"actions: {file}: ")
    assert words in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("name", "said"),
    [("missing.py", "there is no such file"), (".", "there is no such file"), ("a.txt", "not a Python file")],
)
def test_what_is_no_python_file_is_named(tmp_path: Path, name: str, said: str) -> None:
    write(tmp_path, OWN, "a.txt")
    with pytest.raises(SettingsError, match=said):
        actions_from_file(tmp_path / name)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (ToolSettings(tools=("cor",)), "tools: there is no group of tools 'cor'; there are: core"),
        (ToolSettings(exclude_actions=("clik",)), "exclude_actions: there is no action 'clik'"),
    ],
)
def test_a_wrong_group_or_action_is_named_with_those_there_are(settings: ToolSettings, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        load_registry(settings)


def entry_point(folder: Path, monkeypatch: pytest.MonkeyPatch, module: str, value: str) -> None:
    """Install a package with an entry point, as far as importlib can tell."""
    (folder / "their_actions.py").write_text(module)
    info = folder / "their_actions-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-actions\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[mcp_browser.actions]\ntheirs = {value}\n")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    monkeypatch.delitem(sys.modules, "their_actions", raising=False)
    importlib.invalidate_caches()


@pytest.mark.parametrize("value", ["their_actions", "their_actions:registry"])
def test_an_installed_package_adds_its_actions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    entry_point(tmp_path, monkeypatch, OWN, value)
    assert "count_links" in load_registry(ToolSettings())


def test_entry_points_can_be_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry_point(tmp_path, monkeypatch, "raise SystemExit('never imported')", "theirs_off:registry")
    assert "click_element" in load_registry(ToolSettings(plugins=False))


@pytest.mark.parametrize(
    ("value", "words"),
    [("their_actions:nothing", "AttributeError"), ("their_actions:OWN", "no registry with actions")],
)
def test_a_wrong_entry_point_is_one_line_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, words: str
) -> None:
    entry_point(tmp_path, monkeypatch, OWN + "\nOWN = 5\n", value)
    with pytest.raises(SettingsError, match=r"entry point mcp_browser\.actions: theirs = ") as caught:
        load_registry(ToolSettings())
    assert words in str(caught.value)
