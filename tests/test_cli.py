"""The command line, as a person meets it: processes, what they print, and their exit codes."""

import inspect
import json
import os
import re
import socket
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from playwright._impl._driver import compute_driver_executable
from rich.console import Console

from mcp_browser import __version__
from mcp_browser.browser.process.installing import Installer
from mcp_browser.cli import command_of, main
from mcp_browser.cli.arguments import COMMANDS
from mcp_browser.cli.progress import show_goal
from mcp_browser.errors import BrowserNotFound
from mcp_browser.server.http.auth.tokens import TokenSource
from mcp_browser.settings import AccessSettings, BrowserSettings, all_options
from tests.support.certificates import self_signed
from tests.support.client import browsing
from tests.support.process import own_environment, warnings_aside
from tests.support.site import Site
from tests.test_docs import ROOT, block

LINE = re.compile(r'^\s*\*?\[\d+\] \S+ "', re.MULTILINE)


def run(*words: str, given: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """One command line, with `given` on standard input, and none of the tester's own settings."""
    return subprocess.run(
        [sys.executable, "-m", "mcp_browser", *words],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        env={**own_environment(), **environment},
        timeout=120,
    )


def run_here(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """One command line in this process: its exit code, what it prints, and its errors."""
    try:
        code = main(words)
    except SystemExit as ended:
        code = int(ended.code or 0)
    printed, error = capsys.readouterr()
    return code, printed, error


def test_a_program_reads_whole_lines() -> None:
    written, call = StringIO(), f"input_text(index=1, text='{'a tea ' * 20}')"
    show_goal(Console(file=written, width=40), 1, "Type", "", [call])
    assert written.getvalue().splitlines() == ["  1  Type", f"     {call}"]


def test_a_token_is_printed_alone_and_hashed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tokens"
    assert "a token's name is" in run_here(capsys, "token", "two words", "--tokens", str(path))[2]
    assert not path.exists()
    code, printed, error = run_here(capsys, "token", "alice", "--tokens", str(path))
    token = printed.strip()
    assert (code, len(token)) == (0, 43)
    assert token not in error + path.read_text()
    assert TokenSource(AccessSettings(tokens=path)).name_of(token) == "alice"
    code, printed, error = run_here(capsys, "token")
    assert (code, len(printed.strip())) == (0, 43)
    assert "MCP_BROWSER_TOKEN=default:TOKEN" in error


@pytest.mark.slow
def test_a_recording_without_a_name_leaves_the_earlier_one_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "tests"
    words = ["record", "--headless", "--folder", str(folder), "--tasks-dir", str(tmp_path / "tasks")]
    for number in ("", "_2"):
        ended = run(*words, given="stop\n")
        assert (ended.returncode, f"test_recorded{number}.py" in ended.stdout) == (0, True), ended.stderr
    assert "def test_recorded(" in (folder / "test_recorded.py").read_text()
    ended = run("record", "--folder", f"{folder}/test_recorded.py")
    assert (ended.returncode, "test_recorded.py cannot be made: File exists." in ended.stderr) == (2, True)


def test_a_pipe_that_is_closed_early_shows_no_traceback() -> None:
    command = [sys.executable, "-m", "mcp_browser", "skill"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=own_environment()
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_the_help_shows_every_flag_and_command(capsys: pytest.CaptureFixture[str]) -> None:
    _, text, _ = run_here(capsys, "--help")
    assert run_here(capsys, "--version") == (0, f"mcp-browser {__version__}\n", "")
    for option in all_options().values():
        assert option.flag in text
        assert option.off_flag is None or option.off_flag in text
    for command in COMMANDS:
        assert re.search(rf"^    {command} ", text, re.MULTILINE)
    assert max(len(line) for line in text.splitlines()) <= 110


def test_each_command_has_help_and_a_function_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS.keys() - {"do"}:
        _, text, _ = run_here(capsys, command, "--help")
        assert text.startswith(f"usage: mcp-browser {command} ")
        assert "see `mcp-browser --help`" in text
        assert len(text.splitlines()) < 40
        assert len(inspect.signature(command_of(command)).parameters) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--tools no-such-group", "no-such-group"),
        ("--exclude-actions fly", "fly"),
        ("doctor --hedless", "did you mean --headless"),
        ("--stdio --http", "--stdio and --http or --sse exclude each other"),
        ("--stdio --device iPhone", "There is no device 'iPhone' in Playwright's list. Some of its"),
        ("record --device iPhone", "device: There is no device 'iPhone'"),
        (f"--http --tls-cert {__file__}", "needs tls-key"),
        (f"--http --tls-cert {__file__} --tls-key {__file__}", "tls-cert or tls-key cannot be used"),
        ("--http --profile /tmp/none", "--profiles FOLDER keeps named profiles"),
        ("--http --insecure --host no-such-host.invalid", "cannot listen at no-such-host.invalid"),
        ("--http --host 0.0.0.0", "lets everybody in the network use this browser"),
    ],
    ids=str,
)
def test_a_wrong_setting_is_one_line_and_exit_code_2(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, printed, error = run_here(capsys, *words.split())

    assert (code, printed) == (2, "")
    assert re.fullmatch(r"mcp-browser: [^\n]+\n", error)
    assert said in error


@pytest.mark.parametrize(
    ("flag", "content", "mode", "reason"),
    [
        ("--actions", b"1 / 0\n", 0o600, r"file\.py[^\n]*ZeroDivisionError"),
        ("--secrets", b'[login]\nvalue = "x"\norigins = ["a.example"]\n', 0o644, "others may read"),
        ("--secrets", b"[login\n", 0o600, "cannot read the secrets"),
        ("--secrets", b"\xff", 0o600, "cannot read the secrets"),
        ("--secrets", b'[login]\nvalue = "x"\n', 0o600, r"login\.origins"),
        ("--secrets", None, 0, "No such file"),
    ],
    ids=["actions that fail", "open", "no TOML", "no text", "incomplete", "missing"],
)
def test_a_file_that_cannot_be_used_is_one_line_and_exit_code_2(  # noqa: PLR0913, PLR0917 - a table
    flag: str,
    content: bytes | None,
    mode: int,
    reason: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "file.py"
    if content is not None:
        file.write_bytes(content)
        file.chmod(mode)
    code, _, error = run_here(capsys, flag, str(file))
    assert code == 2
    assert re.fullmatch(rf"mcp-browser: [^\n]*{reason}[^\n]*\n", error)


def test_the_server_prints_nothing_of_its_own_and_ends_with_its_input() -> None:
    done = run("--isolated", "--headless", "--log-level", "debug")

    assert done.returncode == 0
    assert done.stdout == ""
    assert "DEBUG" in done.stderr


@pytest.mark.slow
def test_trying_without_an_address_shows_the_page_that_is_shipped(tmp_path: Path) -> None:
    done = run("try", "--headless", "--output-dir", str(tmp_path))

    assert done.returncode == 0, done.stderr
    assert LINE.search(done.stdout)
    assert 'button "Add The Tide Tables"' in done.stdout
    assert 'button "Basket is empty"' in done.stdout
    assert "\x1b" not in done.stdout
    path = Path(done.stdout.rpartition("Screenshot: ")[2].strip())
    assert path.parent == tmp_path
    assert path.read_bytes().startswith((b"\x89PNG", b"\xff\xd8"))


@pytest.mark.slow
def test_trying_gets_a_browser_first_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def none_is_found(_settings: BrowserSettings) -> None:
        raise BrowserNotFound("No browser was found on this machine.")

    def installed(_installer: Installer, settings: BrowserSettings) -> None:
        sys.stdout.write(f"Installing {settings.browser}.\n")

    monkeypatch.setattr("mcp_browser.cli.install.find_browser", none_is_found)
    monkeypatch.setattr(Installer, "install_browser", installed)

    code = main(["try", "--headless", "--output-dir", str(tmp_path)])

    told = capsys.readouterr().out
    assert code == 0
    assert told.startswith("There is no browser here yet: getting one.\nInstalling chromium.\n")
    assert 'button "Add The Tide Tables"' in told


@pytest.mark.slow
def test_trying_an_address_that_cannot_be_opened_is_one_line_and_exit_code_1() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        done = run("try", f"http://127.0.0.1:{closed.getsockname()[1]}/", "--headless")
    (line,) = warnings_aside(done.stderr)
    assert (done.returncode, line.startswith("mcp-browser: ")) == (1, True)


@pytest.mark.slow
def test_installing_finds_the_browser_that_is_there() -> None:
    done = run("install")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Found ")
    assert "Ready: " in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="makes shell scripts executable, and asks apt")
def test_installing_gets_the_library_that_playwrights_driver_lacks(tmp_path: Path) -> None:
    library = tmp_path / "libatomic.so.1"
    complaint = "node: error while loading shared libraries: libatomic.so.1"
    lacking = f'test -e {library} || {{ echo "{complaint}" >&2; exit 127; }}'
    node = script(tmp_path / "node", f'{lacking}; exec {compute_driver_executable()[0]} "$@"')
    apt = tmp_path / "apt"
    script(tmp_path / "apt-get", f'echo "$*" >> {apt}; echo Hit:1; test "$1" = update || touch {library}')
    script(tmp_path / "sudo", 'shift; exec "$@"')
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"

    before = run("doctor", "--isolated", PLAYWRIGHT_NODEJS_PATH=str(node))
    asked = run("install", PATH=path, PLAYWRIGHT_NODEJS_PATH=str(node))
    assert not apt.exists(), "nobody has allowed it"
    done = run("install", "--with-deps", PATH=path, PLAYWRIGHT_NODEJS_PATH=str(node))

    assert before.returncode == 1
    assert "libatomic.so.1. mcp-browser install may mend it." in before.stdout
    assert done.returncode == 0, done.stderr
    assert asked.returncode == 1
    assert (
        "Install libatomic1, or allow the system's packages: mcp-browser install --with-deps." in asked.stderr
    )
    assert apt.read_text().endswith(" libatomic1\n")
    assert "Ready: " in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="makes shell scripts executable; there is no /bin/ls")
def test_installing_says_what_keeps_the_driver_or_a_browser_from_running(tmp_path: Path) -> None:
    node = script(tmp_path / "node", "echo node: no such luck >&2; exit 1")
    driver = run("install", PLAYWRIGHT_NODEJS_PATH=str(node))
    assert driver.returncode == 1
    assert driver.stderr.startswith("mcp-browser: Playwright's driver does not run: node: no such luck.")

    other = run("install", "--executable", "/bin/ls")
    assert (other.returncode, "Ready" in other.stdout) == (1, False)
    assert re.fullmatch(r"mcp-browser: ls \(/bin/ls\) does not start: .*--executable PATH.*\n", other.stderr)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix")
async def test_a_person_at_a_terminal_sees_colours_and_is_asked_before_packages_are_installed() -> None:
    from tests.support.terminals import at_terminal  # noqa: PLC0415 - not there on Windows

    environment = own_environment() | {"TERM": "xterm-256color", "COLUMNS": "100"}
    environment.pop("NO_COLOR", None)
    async with at_terminal(
        sys.executable, "-m", "mcp_browser", "try", "--headless", env=environment
    ) as screen:
        assert await screen.ended() == 0
    assert "\x1b[" in screen.shown
    assert "Add The Tide Tables" in screen.shown
    program = (
        "from mcp_browser.cli.install import StatusLine\n"
        "line = StatusLine()\n"
        "print(*(line.allows(what, with_deps=False) for what in ('one', 'two')))"
    )
    async with at_terminal(sys.executable, "-c", program, env=environment) as screen:
        screen.type("y\n\n")
        assert await screen.ended() == 0
    assert "Install one, with the system's package manager? [y/N]" in screen.shown
    assert "True False" in screen.shown


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.slow
def test_the_doctor_tells_what_it_found_and_where_settings_come_from(tmp_path: Path) -> None:
    config = tmp_path / "browser.toml"
    config.write_text('profile = "profile"\n', "utf-8")

    flags = ("--headless", "--config", str(config), "--proxy", "http://user:hunter2@127.0.0.1:9")
    done = run("doctor", *flags, MCP_BROWSER_VIEWPORT="800x600")

    assert done.returncode == 0, done.stdout + done.stderr
    for label in ("Python", "Packages", "Tools", "Browser", "Start", "Sandbox", "Display", "Profile"):
        assert re.search(rf"^  {label} +\S", done.stdout, re.MULTILINE), label
    assert f"{tmp_path / 'profile'}, made when first used" in done.stdout
    assert "  headless = true   from --headless\n" in done.stdout
    assert "  viewport = 800x600   from MCP_BROWSER_VIEWPORT\n" in done.stdout
    assert f"  profile = {tmp_path / 'profile'}   from {config}\n" in done.stdout
    assert "  proxy = http://***@127.0.0.1:9   from --proxy\n" in done.stdout
    assert "action-timeout=5" in done.stdout
    assert "hunter2" not in done.stdout + done.stderr
    assert len(done.stdout.splitlines()) <= 35


@pytest.mark.slow
def test_the_doctor_marks_what_is_broken_and_looks_for_the_browser_that_runs_already(tmp_path: Path) -> None:
    broken = run("doctor", "--isolated", "--executable", str(script(tmp_path / "browser", "exit 3")))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        refused = run("doctor", "--cdp-endpoint", address)
        listening.listen()
        answered = run("doctor", "--cdp-endpoint", address)

    assert [done.returncode for done in (broken, refused, answered)] == [1, 1, 0]
    assert re.search(r"^! Start +failed: ", broken.stdout, re.MULTILINE)
    assert "a temporary one each time (isolated)" in broken.stdout
    assert re.search(r"^! Browser +nothing answers at 127.0.0.1", refused.stdout, re.MULTILINE)
    assert "running already" in answered.stdout


def test_an_interruption_ends_a_command_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_words: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("mcp_browser.cli._run", interrupted)

    assert main(["doctor"]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("command", [("try",), ("run", "x"), ()], ids=["try", "run", "serve"])
@pytest.mark.parametrize("flag", ["--output-dir", "--tasks-dir", "--profiles"])
def test_a_folder_that_cannot_be_used_is_refused_at_the_start(
    command: tuple[str, ...], flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "below"
    code, printed, error = run_here(capsys, *command, flag, str(folder))
    assert (code, printed) == (2, "")
    assert error == (
        f"mcp-browser: {flag[2:]} (from {flag}): the folder {folder} cannot be written to: Not a directory.\n"
    )


def test_trying_a_file_tells_the_command_that_opens_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my page.html").touch()
    blocked = [run_here(capsys, "try", path)[2] for path in ("./my page.html", "my page.html")]
    code, _, missing = run_here(capsys, "try", "./other.html")
    assert blocked[0].endswith("mcp-browser try --allow-file-urls './my page.html'\n")
    assert blocked[1].endswith("mcp-browser try --allow-file-urls 'my page.html'\n")
    assert code == 1
    assert missing.startswith("mcp-browser: There is no file ./other.html.")


@pytest.mark.slow
def test_the_documented_script_does_its_task(tmp_path: Path) -> None:
    document = (ROOT / "docs" / "agent.md").read_text("utf-8")
    script = tmp_path / "answers.json"
    script.write_text(block("example: answers.json", document), "utf-8")
    command = block("command: scripted", document)
    assert json.loads(script.read_text("utf-8"))
    assert "--model scripted:answers.json" in command
    done = run(
        *("run", "Put The Tide Tables into the basket", "--headless", "--isolated", "--allow-file-urls"),
        *("--start-url", (ROOT / "mcp_browser" / "assets" / "try.html").as_uri(), "--no-judge"),
        *("--model", f"scripted:{script}", "--tasks-dir", str(tmp_path / "tasks")),
    )
    assert "The Tide Tables is in the basket." in done.stdout, done.stderr


@pytest.mark.slow
def test_a_self_signed_page_names_the_way_to_open_it(tmp_path: Path) -> None:
    with Site(self_signed(tmp_path, "127.0.0.1")) as unsigned:
        url = unsigned.page("<h1>Mine</h1>")
        refused = run("try", url, "--headless")
        opened = run("try", url, "--headless", "--ignore-https-errors")
    assert refused.returncode == 1
    assert "start the server with --ignore-https-errors" in refused.stderr
    assert opened.returncode == 0, opened.stderr
    assert "# Mine" in opened.stdout


@pytest.mark.slow
async def test_the_doctor_counts_the_tools_that_a_client_is_offered() -> None:
    async with browsing() as browser:
        offered = (await browser.client.list_tools()).tools
    assert f"  Tools       {len(offered)} (groups: core)\n" in run("doctor", "--headless").stdout
