"""`mcp-browser token`, and how the command line treats tokens."""

from pathlib import Path

import pytest

from mcp_browser.cli import main
from mcp_browser.cli.arguments import parse_arguments
from mcp_browser.cli.sources import load_settings
from mcp_browser.errors import SettingsError
from mcp_browser.server.http.auth.tokens import TokenSource
from mcp_browser.settings import AccessSettings, all_options

SECRET = "a-secret-token-0123456789"


def test_a_token_is_printed_alone_and_its_hash_added_to_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tokens"
    assert main(["token", "alice", "--tokens", str(path)]) == 0
    told = capsys.readouterr()
    token = told.out.strip()
    assert len(token) == 43
    assert token not in told.err
    assert token not in path.read_text()
    assert TokenSource(AccessSettings(tokens=path)).name_of(token) == "alice"


def test_without_a_file_the_variable_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["token"]) == 0
    told = capsys.readouterr()
    assert len(told.out.strip()) == 43
    assert "MCP_BROWSER_TOKEN=default:TOKEN" in told.err


def test_a_name_that_cannot_be_one_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["token", "two words", "--tokens", str(tmp_path / "tokens")]) == 2
    assert "a token's name is" in capsys.readouterr().err
    assert not (tmp_path / "tokens").exists()


@pytest.mark.parametrize("words", [["--token", SECRET], [f"--token={SECRET}"]])
def test_a_token_on_the_command_line_is_refused_and_not_repeated(words: list[str]) -> None:
    with pytest.raises(SettingsError, match="set the variable MCP_BROWSER_TOKEN instead") as caught:
        parse_arguments(words)
    assert SECRET not in str(caught.value)


def test_a_token_in_the_configuration_file_is_refused_and_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(f'token = "{SECRET}"\n')
    with pytest.raises(SettingsError, match="unknown setting 'token'") as caught:
        load_settings({}, environment={}, config=path)
    assert SECRET not in str(caught.value)


def test_a_token_in_the_environment_is_never_shown() -> None:
    loaded = load_settings({}, environment={"MCP_BROWSER_TOKEN": SECRET})
    token = loaded.settings.access.token
    assert token is not None
    assert token.get_secret_value() == SECRET
    assert SECRET not in repr(loaded)
    assert SECRET not in str(loaded.settings)
    assert all_options()["token"].written(token) == "***"
