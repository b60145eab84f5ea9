"""The configuration of clients, and the skill for them: each has its own place; what a person wrote stays."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, reject
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters

from mcp_browser.actions import default_registry
from mcp_browser.cli.clients import CLIENTS
from mcp_browser.cli.commands import Commands, usage
from mcp_browser.cli.config import SKILL, parsed, skill_text, with_entry
from mcp_browser.terminal import session_of
from mcp_browser.version import DISTRIBUTION
from tests.support.site import Site
from tests.test_cli import run_here

URL = "https://browser.example.com/mcp"
AUTHORIZATION = {"headers": {"Authorization": "Bearer t0ken"}}


class Config:
    """The command, as it is called in a home of its own."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self.file = home / "mcp.json"
        self._capsys = capsys

    def run(self, *words: str) -> tuple[int, str, str]:
        return run_here(self._capsys, "config", *words)

    def shown(self, *words: str) -> str:
        code, printed, error = self.run(*words)
        assert code == 0, error
        return printed

    def refused(self, *words: str) -> str:
        """What it says where it does nothing."""
        code, printed, error = self.run(*words)
        assert (code, printed) == (2, "")
        return error


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Config:
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    for variable in ("XDG_CONFIG_HOME", "APPDATA", "CODEX_HOME", "MCP_BROWSER_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    return Config(tmp_path, capsys)


REMOTE = ["-y", "mcp-remote", URL, "--transport", "http-only", "--header", "Authorization:${AUTHORIZATION}"]


@pytest.mark.parametrize(
    ("client", "keys", "stdio_type", "remote"),
    [
        (
            "claude-desktop",
            "mcpServers",
            None,
            {"command": "npx", "args": REMOTE, "env": {"AUTHORIZATION": "Bearer t0ken"}},
        ),
        ("claude-code", "mcpServers", "stdio", {"type": "http", "url": URL, **AUTHORIZATION}),
        ("vscode", "servers", "stdio", {"type": "http", "url": URL, **AUTHORIZATION}),
        ("cursor", "mcpServers", None, {"url": URL, **AUTHORIZATION}),
        ("windsurf", "mcpServers", None, {"serverUrl": URL, **AUTHORIZATION}),
        ("zed", "context_servers", None, {"url": URL, **AUTHORIZATION}),
        ("cline", "mcpServers", None, {"type": "streamableHttp", "url": URL, **AUTHORIZATION}),
        ("roo", "mcpServers", None, {"type": "streamable-http", "url": URL, **AUTHORIZATION}),
        ("continue", "mcpServers", None, {"type": "http", "url": URL, **AUTHORIZATION}),
        ("gemini", "mcpServers", None, {"httpUrl": URL, **AUTHORIZATION}),
        ("codex", "mcp_servers", None, {"url": URL, "bearer_token_env_var": "MCP_BROWSER_TOKEN"}),
    ],
)
def test_each_client_gets_the_entry_that_it_reads(  # noqa: PLR0913, PLR0917 - a table
    client: str,
    keys: str,
    stdio_type: str | None,
    remote: dict[str, Any],
    config: Config,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = tomllib.loads if client == "codex" else json.loads
    local = read(config.shown(client, "--isolated"))[keys]["browser"]
    monkeypatch.setenv("MCP_BROWSER_TOKEN", "me:t0ken,you:other")
    far = read(config.shown(client, "--url", URL))[keys]["browser"]
    assert local.get("type") == stdio_type
    assert local["args"][-2:] == ["--stdio", "--isolated"]
    assert Path(local["command"]).is_absolute()
    assert far == remote
    assert len(CLIENTS) == 11


@pytest.mark.parametrize("client", ["claude-code", "cline", "gemini", "zed", "codex"])
def test_sse_is_written_where_the_client_speaks_it(client: str, config: Config) -> None:
    url = "https://browser.example.com/sse"
    if client in {"zed", "codex"}:
        assert "does not speak sse" in config.refused(client, "--url", url)
        return
    entry = json.loads(config.shown(client, "--url", url))["mcpServers"]["browser"]
    assert entry == ({"url": url} if client == "gemini" else {"type": "sse", "url": url})


@pytest.mark.parametrize(
    ("platform", "client", "path"),
    [
        ("linux", "claude-desktop", ".config/Claude/claude_desktop_config.json"),
        ("darwin", "claude-desktop", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", "claude-desktop", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("darwin", "vscode", "Library/Application Support/Code/User/mcp.json"),
        ("darwin", "zed", ".config/zed/settings.json"),
        ("win32", "zed", "AppData/Roaming/Zed/settings.json"),
        ("win32", "cursor", ".cursor/mcp.json"),
        ("linux", "codex", ".codex/config.toml"),
    ],
)
def test_each_platform_has_its_place(
    platform: str, client: str, path: str, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert CLIENTS[client].path(project=False) == config.home / path


def test_an_entry_is_written_among_others_and_the_file_kept(config: Config) -> None:
    path = config.home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    before = '{\r\n\t"mcpServers": {\r\n\t\t"other": {\r\n\t\t\t"command": "é"\r\n\t\t}\r\n\t}\r\n}\r\n'
    path.write_bytes(before.encode())
    told = config.shown("cursor", "--write", "--headless")
    after = path.read_bytes().decode()
    again = config.shown("cursor", "--write", "--headless")
    assert after.startswith(before.partition("\r\n\t}")[0] + ',\r\n\t\t"browser": {\r\n')
    assert "\n" not in after.replace("\r\n", "")
    assert parsed(after, toml=False)["mcpServers"]["browser"]["args"][-2:] == ["--stdio", "--headless"]
    assert f"The file as it was: {path}.bak\n" in told
    assert Path(f"{path}.bak").read_bytes().decode() == before
    assert again == f"{path} has this entry already.\n"


def test_an_entry_that_others_would_suffer_from_is_shown_instead_of_written(config: Config) -> None:
    config.file.write_text('{"mcpServers": {"browser": {"command": "mcp-browser"}}} // Mine\n', "utf-8")
    code, printed, error = config.run("cursor", "--write", "--file", str(config.file))
    assert code == 1
    assert json.loads(printed)["mcpServers"]["browser"]["args"] == ["--stdio"]
    assert f"{config.file} is left as it is: the entry cannot be put there without" in error
    assert config.file.read_text("utf-8").endswith("// Mine\n")
    assert [each.name for each in config.home.iterdir()] == ["mcp.json"]


def test_what_a_person_has_set_of_the_entry_stays(config: Config) -> None:
    old = {"command": "/old/mcp-browser", "args": ["--stdio"], "env": {"A": "b"}, "disabled": True}
    config.file.write_text(json.dumps({"mcpServers": {"browser": old}}), "utf-8")
    told = config.shown("cline", "--write", "--file", str(config.file), "--isolated")
    changed = config.shown("cline", "--write", "--file", str(config.file), "--isolated", "--headless")
    assert f"{config.file}.bak\n" in told
    assert f"{config.file}.bak2\n" in changed
    entry = json.loads(config.file.read_text("utf-8"))["mcpServers"]["browser"]
    assert (entry["env"], entry["disabled"]) == ({"A": "b"}, True)
    assert "--headless" in entry["args"]
    assert entry["command"] != old["command"]


OF_ANOTHER = '# Mine\nmodel = "m"  # a model\n\n[mcp_servers.other]\ncommand = "x"\n'


@pytest.mark.parametrize(
    ("before", "kept"),
    [
        (OF_ANOTHER, OF_ANOTHER),
        ('mcp_servers = {other = {command = "x"}}\n', 'mcp_servers = {other = {command = "x"},'),
        ("[mcp_servers]\na = 1\n", "[mcp_servers]\na = 1\n"),
        ('[mcp_servers.browser]\ncommand = "mcp-browser" # here\nwait = 20\n[b]\n', "# here\nwait = 20\n"),
    ],
)
def test_toml_is_written_in_several_ways_and_keeps_comments(before: str, kept: str, config: Config) -> None:
    config.file.write_text(before, "utf-8")
    config.shown("codex", "--write", "--file", str(config.file))
    after = config.file.read_text("utf-8")
    assert kept in after
    servers = tomllib.loads(after)["mcp_servers"]
    assert servers["browser"]["args"] == ["--stdio"]
    assert before is not OF_ANOTHER or servers.keys() == {"other", "browser"}


@pytest.mark.parametrize(
    ("client", "content", "told"),
    [
        ("cursor", "{broken", "cannot be read, and is left as it is"),
        ("cursor", "[]", "cannot be read, and is left as it is: it holds no JSON object"),
        ("cursor", '{"mcpServers": 3}', 'its "mcpServers" is no object'),
        ("cursor", '{"mcpServers": {"browser": {"command": "npx", "args": ["-y", "theirs"]}}}', "--name"),
        ("cursor", '{"mcpServers": {"browser": {"url": "https://other.example/mcp"}}}', "--name"),
        ("codex", "mcp_servers = 3\n", "is left as it is"),
        ("codex", "[[broken\n", "is left as it is"),
    ],
)
def test_an_unclear_or_foreign_file_is_left(client: str, content: str, told: str, config: Config) -> None:
    config.file.write_text(content, "utf-8")
    assert told in config.refused(client, "--write", "--file", str(config.file))
    assert config.file.read_text("utf-8") == content
    assert [each.name for each in config.home.iterdir()] == ["mcp.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="links and modes are of Unix")
def test_a_linked_file_stays_a_link_with_its_mode(config: Config) -> None:
    kept = config.home / "dotfiles.json"
    kept.write_text("{}", "utf-8")
    kept.chmod(0o640)
    config.file.symlink_to(kept)
    config.shown("cursor", "--write", "--file", str(config.file))
    assert config.file.is_symlink()
    assert kept.stat().st_mode & 0o777 == 0o640
    assert "browser" in json.loads(kept.read_text("utf-8"))["mcpServers"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["cursr"], "did you mean cursor?"),
        ([], "name a client"),
        (["windsurf", "--project"], "leave out --project"),
        (["cursor", "--transport", "http"], "needs --url, such as https://browser.example.com/mcp"),
        (["cursor", "--url", "browser"], "--url must be an address"),
        (["cursor", "--url", URL, "--headless"], "--headless is for a server that the client starts"),
        (["cursor", "--http"], "name its address here: --url"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_configured_is_told(words: list[str], told: str, config: Config) -> None:
    assert told in config.refused(*words)


def test_paths_are_whole_and_lasting(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(config.home)
    for name in "ab":
        (config.home / name).mkdir()
    flags = ("--upload-dir", "a", "--upload-dir", "b")
    entry = json.loads(config.shown("cursor", *flags))["mcpServers"]["browser"]
    assert entry["args"][-2:] == [f"--upload-dir={config.home / 'a'}", f"--upload-dir={config.home / 'b'}"]
    monkeypatch.setattr(sys, "prefix", "/home/me/.cache/uv/archive-v0/xyz")
    entry = json.loads(config.shown("cursor"))["mcpServers"]["browser"]
    assert Path(entry["command"]).name == "uvx"
    assert entry["args"] == [DISTRIBUTION, "--stdio"]


@pytest.mark.parametrize("before", [b"[a]\r\nb = 1\r\n", b"[a]\r\nb = 1"])
def test_lines_that_are_appended_have_the_ends_of_the_others(config: Config, before: bytes) -> None:
    config.file.write_bytes(before)
    config.shown("codex", "--write", "--file", str(config.file))
    after = config.file.read_bytes()
    assert after.startswith(before)
    assert b"[mcp_servers.browser]" in after
    assert b"\n" not in after.replace(b"\r\n", b"")


STATEMENTS = (
    'model = "y"\n',
    'mcp_servers.a.command = "x" # of a\n',
    'mcp_servers.browser.command = "mcp-browser"\n',
    'mcp_servers.browser = {command = "mcp-browser", wait = 20}\n',
    'mcp_servers = {a = {command = "x"}} # inline\n',
    "mcp_servers = 3\n",
    'command = "mcp-browser" # here\n',
    "when = 2026-01-02T03:04:05Z\n",
    'args = ["a", # first\n  "b"]\n',
    "text = '''\n[mcp_servers.browser]\n'''\n",
    "number = 1.0\n",
    "[mcp_servers]\n",
    "[mcp_servers.a]\n",
    "[mcp_servers.browser]\n",
    "[mcp_servers.browser.env]\n",
    "[[mcp_servers.browser]]\n",
    "['mcp_servers'.a.env]\n",
    "[[list]]\n",
    "[list.mcp_servers]\n",
    "# A comment\n",
)


def is_table(value: object) -> bool:
    return isinstance(value, dict)


def exact(content: object) -> str:
    """A text that differs where two contents do, also in their types."""
    return json.dumps(content, sort_keys=True, default=repr)


@pytest.mark.slow
@given(
    lines=st.lists(st.sampled_from(STATEMENTS), max_size=8),
    entry=st.fixed_dictionaries({"command": st.text(max_size=4), "args": st.lists(st.text(max_size=4))}),
    windows=st.booleans(),
)
def test_only_the_entry_of_toml_changes(lines: list[str], entry: dict[str, Any], windows: bool) -> None:
    text = "".join(lines).replace("\n", "\r\n" if windows else "\n")
    try:
        content = tomllib.loads(text)
    except ValueError:
        reject()
    servers: Any = content.setdefault("mcp_servers", {})
    path = ("mcp_servers", "browser")
    if not is_table(servers) or not is_table(servers.get("browser", {})):
        with pytest.raises(ValueError, match="is no table"):
            with_entry(text, path, entry, toml=True)
        return
    is_new = "browser" not in servers
    after = with_entry(text, path, entry, toml=True)
    servers["browser"] = entry
    assert after is not None or not is_new, "a new one can always be put there"
    assert after is None or exact(parsed(after, toml=True)) == exact(content)
    assert not is_new or all(comment in (after or "") for comment in re.findall(r"# [\w ]+", text))


@pytest.mark.parametrize(
    "text", ['mcp_servers.a.command = "x"\nmodel = "y"\n', "[mcp_servers.a]\n[b]\n[mcp_servers.c]\n[d]\n"]
)
def test_an_entry_comes_after_all_else_of_a_toml_file(text: str) -> None:
    after = with_entry(text, ("mcp_servers", "browser"), {"command": "x"}, toml=True)
    assert after == f'{text}\n[mcp_servers.browser]\ncommand = "x"\n'


def test_an_empty_file_becomes_one_with_the_entry() -> None:
    for text in ("", "{}"):
        after = with_entry(text, ("a", "b"), {"c": 1}, toml=False)
        assert after is not None
        assert parsed(after, toml=False) == {"a": {"b": {"c": 1}}}
    assert with_entry('{"a": 1}', ("b",), {}, toml=False) == '{\n  "a": 1,\n  "b": {}\n}\n'


def test_an_entry_says_nothing_of_a_token_where_there_is_none() -> None:
    for client in CLIENTS.values():
        entry = client.remote_entry("http", URL)
        assert entry is not None
        assert not {"headers", "env", "bearer_token_env_var"} & entry.keys()


@pytest.mark.skipif(sys.platform == "win32", reason="runs bash")
def test_a_shell_completes_commands_and_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for shell in ("zsh", "fish", "powershell"):
        assert "mcp-browser" in run_here(capsys, "completion", shell)[1]
    script = tmp_path / "completion.bash"
    script.write_text(run_here(capsys, "completion", "bash")[1], "utf-8")
    begun = ("doc", "--snapshot-b", "do go_to_u", "do click_element --dou")
    asked = "COMP_WORDS=(mcp-browser {}); COMP_CWORD={}; _shtab_mcp_browser; echo ${{COMPREPLY[@]}}"
    lines = [f"source {script}", *(asked.format(words, len(words.split())) for words in begun)]
    done = subprocess.run(["bash", "-c", "; ".join(lines)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["doctor", "--snapshot-budget", "go_to_url", "--double"], done.stderr
    assert "-o default" in script.read_text("utf-8").splitlines()[-1], "names of files"


@pytest.mark.slow
async def test_a_client_that_reads_what_was_written_reads_a_page(config: Config, site: Site) -> None:
    url = site.page("<h1>Harbour</h1>")
    config.shown("vscode", "--write", "--isolated", "--headless")
    path = CLIENTS["vscode"].path(project=False)
    assert path is not None
    entry = json.loads(path.read_bytes())["servers"]["browser"]
    server = StdioServerParameters(command=entry["command"], args=entry["args"], env=dict(os.environ))
    async with Client(server, read_timeout_seconds=60) as client:
        told = str(await client.call_tool("go_to_url", {"url": url}))
    assert "# Harbour" in told


# -- `mcp-browser skill`: what an agent reads of the commands is what the program takes

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
    client: str, config: Config, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = config.home / str(CLIENTS[client].skills) / SKILL / "SKILL.md"
    assert f"Wrote the skill to {path}." in run_here(capsys, "skill", client, "--write")[1]
    assert path.read_text("utf-8") == run_here(capsys, "skill")[1]
    assert "has this skill already" in run_here(capsys, "skill", client, "--write")[1]
    path.write_text("older", "utf-8")
    run_here(capsys, "skill", client, "--write")
    assert path.with_name("SKILL.md.bak").read_text("utf-8") == "older"
    monkeypatch.chdir(config.home)
    assert str(config.home / ".claude") in run_here(capsys, "skill", "claude-code", "--project", "--write")[1]


def test_a_client_without_skills_is_told_those_that_have_some(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean codex?" in run_here(capsys, "skill", "codx", "--write")[2]
    code, _, error = run_here(capsys, "skill", "windsurf", "--write")
    assert (code, "claude-code|vscode|cursor|gemini|codex" in error) == (2, True)
