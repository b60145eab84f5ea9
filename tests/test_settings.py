"""Settings: their sources, which one wins, and what is said of a wrong one."""

import json
import os
import re
import shlex
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.cli.arguments import parse_arguments
from mcp_browser.cli.sources import DEFAULT, LoadedSettings, load_settings
from mcp_browser.errors import SettingsError
from mcp_browser.settings import BrowserSettings, Settings, Viewport, all_options


def load(*words: str, config: Path | None = None, **environment: str) -> LoadedSettings:
    """Settings of a command line, with variables and a file."""
    arguments = parse_arguments(words)
    return load_settings(arguments.flags, environment=environment, config=config or arguments.config)


def refusal(*words: str, config: Path | None = None, **environment: str) -> str:
    """What is said of wrong settings."""
    with pytest.raises(SettingsError) as caught:
        load(*words, config=config, **environment)
    message = str(caught.value)
    assert "\n" not in message
    return message


def written(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


EMPTY = {"MCP_BROWSER_PROFILE": "", "MCP_BROWSER_HEADLESS": ""}


@pytest.mark.parametrize("others", [{}, {**EMPTY, "MCP_BROWSERS": "x", "HOME": "/", "MCP_TIMEOUT": "3"}])
def test_every_setting_has_its_default(monkeypatch: pytest.MonkeyPatch, others: dict[str, Any]) -> None:
    monkeypatch.setenv("MCP_BROWSER_HEADLESS", "true")  # Settings made in code read no variables.
    loaded = load(config=None, **others)
    assert loaded.settings == Settings()
    assert loaded.settings.browser.headless is None
    assert loaded.origins == dict.fromkeys(all_options(), DEFAULT)


def test_a_flag_wins_over_a_variable_and_a_variable_over_the_file(tmp_path: Path) -> None:
    config = written(
        tmp_path, "browser.toml", "action-timeout = 1\nnavigation-timeout = 1\ncall-timeout = 1\n"
    )
    variables = {"MCP_BROWSER_ACTION_TIMEOUT": "2", "MCP_BROWSER_NAVIGATION_TIMEOUT": "2"}
    flag = ("--action-timeout", "3")
    by_variable = load(*flag, config=None, MCP_BROWSER_CONFIG=str(config), **variables)
    for loaded in (load(*flag, config=config, **variables), by_variable):
        names = ("action_timeout", "navigation_timeout", "call_timeout", "settle_timeout")
        assert attrgetter(*names)(loaded.settings.limits) == (3, 2, 1, 5)
        origins = ["--action-timeout", "MCP_BROWSER_NAVIGATION_TIMEOUT", str(config), DEFAULT]
        assert [loaded.origins[name] for name in names] == origins


def test_settings_may_stand_before_or_after_the_command() -> None:
    before = parse_arguments(["--headless", "try", "x.org"])
    assert parse_arguments(["try", "--headless", "x.org"]) == before
    assert before.flags == {"headless": True}
    assert before.given == {"url": "x.org"}


TOKEN = "a-secret-token-0123456789"
TOKEN_REFUSED = (
    "--token would show its value to everybody on this machine: set the variable MCP_BROWSER_TOKEN instead."
)
NO_PROXIES, NO_LOCALES = ("foo", "proxy.example"), ("xx_invalid", "german")
LOCALE = "a language, or a language and region, such as de or de-DE"
RESOLVER = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost"


@pytest.mark.parametrize(
    ("words", "variables", "setting", "value"),
    [
        ("--headless", {}, "browser.headless", True),
        ("--headed", {}, "browser.headless", False),
        ("--no-sandbox", {}, "browser.sandbox", False),
        ("--headless --headed", {}, "browser.headless", False),
        *(("", {"HEADLESS": word}, "browser.headless", True) for word in ("1", "true")),
        *(("", {"HEADLESS": word}, "browser.headless", False) for word in ("no", "off")),
        ("--path-prefix /browser/", {}, "server.path_prefix", "/browser"),
        ("--viewport 1024x768", {}, "browser.viewport", Viewport(width=1024, height=768)),
        ("--viewport '1024 x 768'", {}, "browser.viewport", Viewport(width=1024, height=768)),
        ("--timezone Europe/Berlin", {}, "browser.timezone", "Europe/Berlin"),
        ("--locale de", {}, "browser.locale", "de"),
        ("--locale zh_Hant_TW", {}, "browser.locale", "zh-Hant-TW"),
        ("--viewport 1024,768", {}, "browser.viewport", Viewport(width=1024, height=768)),
        ("--browser-arg --lang=de --browser-arg=--a", {}, "browser.browser_args", ("--lang=de", "--a")),
        ("", {"BROWSER_ARGS": f"--a '{RESOLVER}'"}, "browser.browser_args", ("--a", RESOLVER)),
        ("--tools 'core, network' --tools storage", {}, "tools.tools", ("core", "network", "storage")),
        ("", {"EXCLUDE_ACTIONS": "save_pdf,scroll"}, "tools.exclude_actions", ("save_pdf", "scroll")),
        ("", {"UPLOAD_DIRS": f"/tmp{os.pathsep}~"}, "files.upload_dirs", (Path("/tmp"), Path.home())),
    ],
)
def test_a_setting_is_written_in_its_several_ways(
    words: str, variables: dict[str, str], setting: str, value: object
) -> None:
    environment = {f"MCP_BROWSER_{name}": text for name, text in variables.items()}
    loaded = load_settings(parse_arguments(shlex.split(words)).flags, environment=environment)
    assert attrgetter(setting)(loaded.settings) == value
    assert str(Viewport(width=1024, height=768)) == "1024x768"


@pytest.mark.parametrize("name", ["browser.toml", "browser.json"])
def test_a_file_is_toml_or_json_with_the_flags_names(tmp_path: Path, name: str) -> None:
    content: dict[str, Any] = {
        "headless": True,
        "viewport": {"width": 800, "height": 600},
        "snapshot_budget": 900,
        "browser-args": ["--mute-audio"],
        "tools": ["core"],
    }
    lines = (f"{key} = {json.dumps(value)}" for key, value in content.items() if key != "viewport")
    toml = "\n".join([*lines, "viewport = {width = 800, height = 600}"])
    config = written(tmp_path, name, toml if name.endswith("toml") else json.dumps(content))
    settings = load(config=config).settings
    assert settings.browser.headless is True
    assert settings.browser.viewport == Viewport(width=800, height=600)
    assert settings.observation.snapshot_budget == 900
    assert settings.browser.browser_args == ("--mute-audio",)
    assert settings.tools.tools == ("core",)


def test_paths_in_a_file_start_from_the_folder_of_that_file(tmp_path: Path) -> None:
    written(tmp_path, "mine.py", "")
    config = written(
        tmp_path, "browser.toml", 'profile = "profile"\nactions = ["mine.py"]\noutput-dir = "~/out"\n'
    )
    settings = load(config=config).settings
    assert settings.browser.profile == tmp_path / "profile"
    assert settings.tools.actions == (tmp_path / "mine.py",)
    assert settings.files.output_dir == Path.home() / "out"


KINDS = "one of chromium, chrome, msedge"
SECONDS = "a number above 0 and up to 3600"
SIZE = "WIDTHxHEIGHT, such as 1280x720"
SERVER = "the ws:// address of a Playwright server or the http:// address of a Selenium Grid"
NO_FILE = "cannot read the configuration file /no/such.toml: No such file or directory."
STARTED = "headless (from --headless) is for a browser that is started here; connect (from"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--browser opera", f"must be {KINDS}, not 'opera'."),
        ("--action-timeout soon", f"must be {SECONDS}, not 'soon'."),
        ("--action-timeout 0", f"must be {SECONDS}, not '0'."),
        ("--snapshot-budget 3", "must be a whole number from 200 to 200000, not '3'."),
        ("--viewport big", f"must be {SIZE}, not 'big'."),
        ("--viewport 10x10", f"must be {SIZE}, each from 100 to 10000, not '10x10'."),
        ("--model-url 127.0.0.1:8080", "must be an http:// or https:// address, such as"),
        ("--cdp-endpoint here", "must be an http://, https://, ws:// or wss:// address"),
        ("--browser-endpoint here", f"must be {SERVER}"),
        ("--search-engine altavista", "must be duckduckgo, google, bing, or a URL with {query}"),
        ("--timezone Mars", "must be an IANA time zone, such as Europe/Berlin, not 'Mars'."),
        *((f"--proxy {word}", "must be an address such as http://host:3128") for word in NO_PROXIES),
        *((f"--locale {word}", f"must be {LOCALE}, not '{word}'.") for word in NO_LOCALES),
        ("--config /no/such.toml", NO_FILE),
        (f"--token {TOKEN}", TOKEN_REFUSED),
        (f"--token={TOKEN}", TOKEN_REFUSED),
        ("--connect=opera", "must be one of auto, chrome, chromium, edge, brave, or the path of"),
        ("--connect --headless", STARTED),
        ("--connect edge --proxy http://x:1", "proxy (from --proxy) is for a browser"),
        ("--connect --http", "connect (from --connect) is for one client over standard input and output"),
        ("--connect --allow-domains a.test", "allow-domains (from --allow-domains) needs a Chromium"),
        ("--connect-tabs a.test", "connect-tabs (from --connect-tabs) needs connect."),
        ("--executable /no/such", "executable (from --executable): there is no file /no/such."),
        ("--actions /no/such.py", "actions (from --actions): there is no file /no/such.py."),
        (f"--profile {__file__}", "profile (from --profile): "),
        (
            "--upload-dir /tmpp",
            "upload-dirs (from --upload-dir): there is no folder /tmpp (did you mean tmp?).",
        ),
        ("--hedless", "unknown argument --hedless (did you mean --headless?); see --help."),
        ("install --nope", "unknown argument --nope; see --help."),
        ("--secret x run hi", "--secret stands after the command; see --help."),
        ("--json tasks", "--json stands after the command; see --help."),
        ("--upload-dirs /x", "unknown argument --upload-dirs (did you mean --upload-dir?); see --help."),
        ("config cursor --wirte", "unknown argument --wirte (did you mean --write?); see --help."),
        ("run x --max-tokens 1.5", "argument --max-tokens: must be a whole number above 0, not '1.5'"),
        ("run x --max-seconds -5", "argument --max-seconds: must be a number above 0, not '-5'"),
        ("run --replay", "argument --replay: expected one argument; see run --help."),
        ("tyr", "unknown command 'tyr' (did you mean try?)"),
        ("--viewport", "argument --viewport: expected one argument; see --help."),
        ("doctor extra", "unknown argument extra; see --help."),
    ],
)
def test_a_wrong_flag_is_named_with_what_is_allowed(words: str, message: str) -> None:
    if message.startswith("must"):
        message = f"{re.split('[ =]', words)[0]} {message}"
    said = refusal(*words.split())
    # A whole sentence is all that is said.
    assert said == message if message.endswith(".") else said.startswith(message)


def test_a_wrong_word_of_a_command_names_the_help_of_that_command() -> None:
    assert refusal("tasks", "shw").endswith("; see tasks --help.")


def test_a_wrong_variable_is_named_with_what_is_allowed() -> None:
    assert refusal(MCP_BROWSER_HEADLES="1") == (
        "unknown variable MCP_BROWSER_HEADLES (did you mean MCP_BROWSER_HEADLESS?)."
    )
    assert refusal(MCP_BROWSER_HEADLESS="maybe") == "MCP_BROWSER_HEADLESS must be true or false, not 'maybe'."
    assert "words as a shell takes them" in refusal(MCP_BROWSER_BROWSER_ARGS="--a='b")


@pytest.mark.parametrize("browser", ["firefox", "webkit"])
def test_a_browser_that_is_driven_no_more_is_refused_with_the_reason(tmp_path: Path, browser: str) -> None:
    config = written(tmp_path, "browser.toml", f'browser = "{browser}"\n')
    reason = f"must be {KINDS} (since 0.1.0 only the Chromium family is driven), not '{browser}'."
    assert refusal("--browser", browser) == f"--browser {reason}"
    assert refusal(MCP_BROWSER_BROWSER=browser) == f"MCP_BROWSER_BROWSER {reason}"
    assert refusal(config=config) == f"browser in {config} {reason}"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.toml", "headless = ", "cannot read the configuration file"),
        ("a.json", "{", "cannot read the configuration file"),
        ("a.json", "[]", "must hold one object of settings"),
        ("a.yaml", "headless: true", "must end in .toml or .json"),
        ("a.toml", "screenshot-quality = 200", r"^screenshot-quality in .* from 1 to 100, not 200"),
        ("a.json", '{"vewport": "1x1"}', r"^unknown setting 'vewport' in .* \(did you mean viewport\?\)\.$"),
        ("a.toml", "headed = true", "write headless = false"),
        ("a.toml", "no-sandbox = true", "write sandbox = false"),
        ("a.toml", 'browser-arg = "--a"\nbrowser-args = "--b"', "browser-args stands twice"),
        ("a.toml", "hedless = true", r"did you mean headless\?"),
        ("a.toml", "[principals.a]\nport = 1\n", "port in .* is one for all"),
        ("a.toml", "[principals.a]\nmax-tab = 1\n", r"unknown setting 'max-tab' in .*principals.a \(did you"),
        ("a.toml", "[principals.a]\nmax-tabs = 0\n", r"max-tabs in .*\.a must be a whole number from 1"),
        ("a.toml", "[principals]\na = 1\n", "must be a table of settings"),
        ("a.toml", "principals = 1\n", "must be a table of tables"),
        ("a.toml", f'token = "{TOKEN}"', r"^unknown setting 'token' in \S+ \(did you mean tokens\?\)\.$"),
    ],
)
def test_a_wrong_file_is_named_in_one_line(tmp_path: Path, name: str, content: str, said: str) -> None:
    assert re.search(said, refusal(config=written(tmp_path, name, content)))


def test_a_proxys_password_is_never_told() -> None:
    settings = load("--proxy", "http://user:hunter2@host:3128").settings
    assert "hunter2" not in repr(settings)
    argument = "--browser-arg=--proxy-server=http://user:hunter2@host --browser x"
    for wrong in (
        "--proxy gopher://user:hunter2@host:3128",
        "--proxy http://user:hunter2@host:port",
        argument,
    ):
        assert "hunter2" not in refusal(*wrong.split())


def test_a_token_is_never_told() -> None:
    loaded = load(MCP_BROWSER_TOKEN=TOKEN)
    token = loaded.settings.access.token
    assert token is not None
    assert token.get_secret_value() == TOKEN
    assert TOKEN not in f"{loaded!r} {loaded.settings}"
    assert all_options()["token"].written(token) == "***"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("proxy", "http://user:hunter2@host:3128", "http://***@host:3128"),
        ("proxy", "user:hunter@2@host:3128", "***@host:3128"),
        ("browser_args", ("--proxy-server=http://user:hunter2@host",), "--proxy-server=http://***@host"),
        ("cdp_endpoint", "wss://host/session?token=hunter2", "wss://host/session"),
        ("extra_headers", ("X-Team-Key: s3cret",), "X-Team-Key: ***"),
    ],
)
def test_what_may_be_secret_in_a_value_is_not_told(name: str, value: object, told: str) -> None:
    assert all_options()[name].written(value) == told


@pytest.mark.parametrize(
    "elsewhere", [{"cdp_endpoint": "http://127.0.0.1:9222"}, {"browser_endpoint": "ws://host:3000/"}]
)
def test_where_a_browser_connects_to_is_only_restricted_where_that_holds(elsewhere: dict[str, str]) -> None:
    for restriction in ({"allow_domains": "a.test"}, {"block_domains": "a.test"}, {"block_private": True}):
        with pytest.raises(
            SettingsError, match=r"(domains|private) \(from --.*\) needs a Chromium that is started"
        ):
            load_settings({**elsewhere, **restriction}, environment={})
    loaded = load_settings({**elsewhere, "http": True}, environment={})
    assert BrowserManager(loaded.settings, remote=True).egress is None


def test_private_addresses_are_blocked_over_http_unless_told_otherwise() -> None:
    def egress(**flags: object) -> object:
        settings = load_settings(flags, environment={}).settings
        return BrowserManager(settings, remote=settings.server.http).egress

    assert egress() is None
    assert egress(http=True) is not None
    assert egress(http=True, block_private=False) is None
    assert egress(block_private=True) is not None
    assert egress(block_domains="a.test") is not None


def test_a_group_refuses_a_field_it_does_not_have() -> None:
    with pytest.raises(ValidationError, match="headles"):
        BrowserSettings.model_validate({"headles": True})


def test_every_setting_has_a_description_and_names_that_nothing_else_has() -> None:
    options = list(all_options().values())
    flags = [flag for option in options for flag in (option.flag, option.off_flag) if flag]
    assert all(option.description.endswith(".") for option in options)
    assert len(flags) == len(set(flags))
    assert len({option.variable for option in options}) == len(options)


def test_a_table_says_what_is_different_for_some_principals(tmp_path: Path) -> None:
    config = written(
        tmp_path,
        "browser.toml",
        'tools = ["core"]\nmax-tabs = 7\n[principals."team-*"]\ntools = "core,storage"\nsecrets = "s.toml"\n'
        '[principals.team-a]\nsecrets = "a.toml"\nmax-tabs = 2\n',
    )
    settings = load(config=config).settings
    team, a, bob = (settings.with_tables(settings.fitting(name)) for name in ("team-b", "team-a", "bob"))
    changed = attrgetter("tools.tools", "agent.secrets", "sessions.max_tabs")
    assert changed(team) == (("core", "storage"), tmp_path / "s.toml", 7)
    assert changed(a) == (("core", "storage"), tmp_path / "a.toml", 2)
    assert bob == settings


def test_who_works_by_pictures_reads_the_whole_console_unless_it_is_set() -> None:
    assert load().settings.console_shown == "errors"
    assert load("--tools", "core,mouse").settings.console_shown == "all"
    assert load("--tools", "core,mouse", "--console", "errors").settings.console_shown == "errors"


@pytest.mark.parametrize("line", ["browser-arg", "browser-args"], ids=["flag", "key"])
def test_a_line_of_the_file_may_be_called_as_its_flag(tmp_path: Path, line: str) -> None:
    config = tmp_path / "settings.toml"
    (tmp_path / "here").mkdir()
    config.write_text(f'{line} = ["--a", "--b"]\nupload-dir = ["here"]\n', "utf-8")
    settings = load_settings({}, environment={}, config=config).settings
    by_variable = load_settings({}, environment={"MCP_BROWSER_BROWSER_ARG": "--a --b"}).settings
    assert settings.browser.browser_args == by_variable.browser.browser_args == ("--a", "--b")
    assert settings.files.upload_dirs == (tmp_path / "here",)
