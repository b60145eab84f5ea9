"""`mcp-browser do`: actions as commands of a shell, in a session that goes on between them."""

import contextlib
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from PIL import Image

from mcp_browser.terminal import READY
from tests.support.family import family
from tests.support.principals import private_file
from tests.support.process import own_environment
from tests.support.site import Site
from tests.support.waiting import wait_until

NOW = 30.0
"""How long a process may take to end on the busiest machine, seconds."""

RUN = "from mcp_browser.__main__ import main; main()"
WITHOUT_UNIX_SOCKETS = f"import socket, sys; del socket.AF_UNIX; {RUN}"
HASTY = f"import mcp_browser.terminal as one; one.ANSWER_SECONDS = 1; {RUN}"
WAITS = """import sys; import mcp_browser.terminal as one; connected = one._connected
one._connected = lambda name, limit: (sys.stderr.write(f"waits {limit}\\n"), connected(name, limit))[1]
"""
"""Reports how long each connection to a server may wait."""
FORM = """<form action=/echo><label>Name <input name=name></label> <label>Password <input type=password
    name=password></label> <label>Size <select name=size multiple><option>S<option>M<option>L</select></label>
    <label>CV <input type=file name=file></label> <button>Send</button></form>"""


class Shell:
    """A shell of a user who has nothing running yet."""

    def __init__(self, folder: Path) -> None:
        self.runtime = folder / "runtime"
        self.folder = folder / "here"
        for made in (self.runtime, self.folder):
            made.mkdir()
        own = {"XDG_RUNTIME_DIR": str(self.runtime), "MCP_BROWSER_HEADLESS": "1", "MCP_BROWSER_ISOLATED": "1"}
        self.environment = own_environment() | own
        self.start = ["-m", "mcp_browser"]

    def begin(self, *words: str, **more: str) -> subprocess.Popen[str]:
        command, environment = [sys.executable, *self.start, "do", *words], {**self.environment, **more}
        ends: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(command, **ends, text=True, cwd=self.folder, env=environment)

    def run(self, *words: str, given: str = "", **more: str) -> tuple[int, str, str]:
        """One command: its exit code, what it prints, and its errors."""
        process = self.begin(*words, **more)
        output, errors = process.communicate(given, timeout=120)
        return process.returncode, output, errors

    def do(self, *words: str, given: str = "") -> str:
        """What a command prints that has to succeed."""
        code, output, errors = self.run(*words, given=given)
        assert (code, errors) == (0, ""), (words, output, errors)
        return output

    def refused(self, code: int, *words: str, given: str = "", **more: str) -> str:
        """The errors of a command that has to end with this code, and prints nothing."""
        done, output, errors = self.run(*words, given=given, **more)
        assert (done, output) == (code, ""), (words, output, errors)
        assert "Traceback" not in errors
        return errors

    def index(self, line: str) -> str:
        """The index of an element of the page."""
        found = re.search(rf"\[(\d+)\] {re.escape(line)}", self.do("get_state"))
        assert found is not None, line
        return found[1]

    def server(self, session: str = "default") -> int:
        """The number of a session's process."""
        found = re.search(rf"^{session}: .* \(process (\d+),", self.do("status"), re.MULTILINE)
        assert found is not None
        return int(found[1])

    @property
    def servers(self) -> list[int]:
        """The processes of this shell's user that are the program."""
        return [
            process.pid
            for process in psutil.process_iter(["cmdline", "environ"])
            if "mcp_browser" in (process.info["cmdline"] or ())
            and process.info["environ"]
            and process.info["environ"].get("XDG_RUNTIME_DIR") == str(self.runtime)
        ]

    @property
    def files(self) -> list[str]:
        place = self.runtime / "mcp-browser"
        return sorted(path.name for path in place.iterdir()) if place.exists() else []


def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    shell = Shell(tmp_path_factory.mktemp("shell"))
    yield shell
    shell.run("stop", "--all")


shell = pytest.fixture(scope="module", name="shell")(opened)
"""A shell with a session that most tests share."""
fresh = pytest.fixture(name="fresh")(opened)
"""A shell in which nothing has been done."""


def ends(pid: int) -> None:
    """A process ends soon, or has ended."""
    wait_until(lambda: not family(pid), seconds=NOW)


@pytest.mark.smoke
def test_a_session_goes_on_between_commands_and_leaves_nothing_when_stopped(fresh: Shell, site: Site) -> None:
    url = site.page("<p id=count>Count 0</p><button onclick='count.textContent = `Count 1`'>More</button>")
    assert "No session is open" in fresh.do("status")

    assert '[1] button "More"' in fresh.do("go_to_url", url)
    pid = fresh.server()
    assert "Count 1" in fresh.do("click_element", "1")
    assert "Count 1" in fresh.do("get_state")
    assert fresh.server() == pid
    state = json.loads(fresh.do("status", "--json"))["default"]
    assert (state["tabs"], state["url"], state["process"]) == (1, url, pid)
    # Only its owner comes in, and nobody reads in the list of processes what it does.
    place = fresh.runtime / "mcp-browser"
    assert [path.stat().st_mode & 0o777 for path in (place, place / "default.sock")] == [0o700, 0o600]
    assert url.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()

    gone = ["-c", f"import os; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); {RUN}"]
    start, fresh.start = fresh.start, gone
    code, _, errors = fresh.run("stop")
    fresh.start = start
    assert (code, "was deleted" in errors) == (2, True)
    assert fresh.server() == pid

    assert fresh.do("stop") == "default: stopped\n"
    ends(pid)
    assert fresh.files == []
    assert fresh.do("stop") == "default: was not running\n"


def test_shells_share_a_server_from_the_start_and_a_killed_one_is_replaced(fresh: Shell, site: Site) -> None:
    url = site.page("<h1>Teas</h1>")
    begun = [fresh.begin("-s", "work", "go_to_url", url) for _ in range(3)]
    for process in begun:
        output, errors = process.communicate("", timeout=120)
        assert (process.returncode, errors) == (0, "")
        assert "# Teas" in output
    assert fresh.files == ["work.log", "work.sock"]

    pid = fresh.server("work")
    waiting = fresh.begin("-s", "work", "wait_for", "--text", "never", "--timeout", "60")
    time.sleep(0.5)
    os.kill(pid, signal.SIGKILL)
    _, errors = waiting.communicate(timeout=60)
    assert (waiting.returncode, "ended before it answered" in errors) == (1, True)
    ends(pid)
    assert "No session is open" in fresh.do("status")
    code, output, errors = fresh.run("-s", "work", "go_to_url", url)
    assert (code, "# Teas" in output) == (0, True)
    assert errors == "mcp-browser do: the server of 'work' was killed; its pages are lost.\n"
    assert fresh.server("work") != pid


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_is_ended_while_its_server_starts_leaves_the_next_one_its_session(
    fresh: Shell, site: Site, number: signal.Signals
) -> None:
    # A shell's job in the background ignores it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    begun = fresh.begin("get_state")
    signal.signal(signal.SIGINT, before)
    wait_until(lambda: "default.log" in fresh.files, seconds=NOW)
    begun.send_signal(number)
    begun.communicate(timeout=NOW)
    assert begun.returncode == (130 if number == signal.SIGINT else -number)
    assert "# Teas" in fresh.do("go_to_url", site.page("<h1>Teas</h1>"))
    assert "# Teas" in fresh.do("get_state")
    assert fresh.servers == [fresh.server()]


def test_other_settings_are_refused_and_another_version_is_replaced(
    fresh: Shell, site: Site, tmp_path: Path
) -> None:
    url = site.page("<h1>Here</h1>")
    (fresh.folder / "own.toml").write_text('output-dir = "out"')
    fresh.do("--viewport", "800x600", "--config", "own.toml", "go_to_url", url)
    pid = fresh.server()
    fresh.do("--viewport=800x600", "get_state")
    fresh.do("--output-dir", str(fresh.folder / "out"), "get_state")
    fresh.do("--output-dir", "out", "get_state")

    refused = fresh.refused(2, "--viewport", "900x600", "--locale", "de", "get_state")
    assert "viewport (from --viewport), locale (from --locale)" in refused
    refused = fresh.refused(2, "get_state", MCP_BROWSER_ACTION_TIMEOUT="1")
    assert "action-timeout (from MCP_BROWSER_ACTION_TIMEOUT)" in refused
    assert fresh.run("--viewprot", "900x600", "get_state")[0] == 2
    assert fresh.server() == pid

    newer = tmp_path / "newer" / "mcp_browser_server-99.0.dist-info"
    newer.mkdir(parents=True)
    (newer / "METADATA").write_text("Metadata-Version: 2.1\nName: mcp-browser-server\nVersion: 99.0\n")
    paths = os.pathsep.join((str(newer.parent), *filter(None, [os.environ.get("PYTHONPATH")])))
    code, output, errors = fresh.run("go_to_url", url, PYTHONPATH=paths)
    assert (code, "# Here" in output) == (0, True)
    assert re.search(r"the background server was version .*, this is 99\.0: it is replaced", errors)
    ends(pid)
    assert "version 99.0" in fresh.do("status")


def test_a_server_that_cannot_start_says_why(fresh: Shell, site: Site) -> None:
    assert "there is no group of tools 'coer'" in fresh.refused(2, "--tools", "coer", "get_state")
    code, _, errors = fresh.run("--executable", "/bin/false", "go_to_url", site.url)
    assert (code, bool(errors)) == (6, True)
    fresh.do("stop")
    assert fresh.files == []

    (fresh.runtime / "mcp-browser").chmod(0o755)
    assert "only you may enter" in fresh.refused(2, "get_state")
    (fresh.runtime / "mcp-browser").chmod(0o700)
    (fresh.folder / "file").touch()
    code, _, errors = fresh.run("get_state", XDG_RUNTIME_DIR=str(fresh.folder / "file"))
    assert (code, "Traceback" in errors, "Not a directory" in errors) == (1, False, True)


def test_a_session_ends_when_it_is_idle_for_long(fresh: Shell, site: Site) -> None:
    fresh.do("--idle-timeout", "3", "go_to_url", site.page("<h1>Here</h1>"))
    pid = fresh.server()

    ends(pid)
    assert fresh.files == []


def test_where_there_are_no_unix_sockets_a_token_lets_in(fresh: Shell, site: Site) -> None:
    fresh.start = ["-c", WITHOUT_UNIX_SOCKETS]
    fresh.do("go_to_url", site.page("<h1>Here</h1>"))
    assert "# Here" in fresh.do("get_state")
    place = fresh.runtime / "mcp-browser" / "default.sock"
    assert place.stat().st_mode & 0o777 == 0o600
    port, rest = place.read_text().split(" ", 1)
    with contextlib.closing(socket.create_connection(("127.0.0.1", int(port)))) as line:
        line.sendall(b"guessed\n")
        assert line.recv(100) == b""

    pid = fresh.server()
    os.kill(pid, signal.SIGKILL)
    ends(pid)
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as stranger:
        stranger.settimeout(NOW)
        # It plays the server at the same port, and gets no command.
        place.write_text(f"{stranger.getsockname()[1]} {rest}")
        command = fresh.begin("go_to_url", site.page("<h1>Again</h1>"))
        for _ in range(2):
            line, _ = stranger.accept()
            with line, line.makefile("rb") as given:
                given.readline()
                line.sendall(READY)
                assert given.readline() == b""
        assert "# Again" in command.communicate("", timeout=120)[0]


def test_a_server_that_hangs_is_named(fresh: Shell, site: Site) -> None:
    fresh.do("go_to_url", site.page("<h1>Here</h1>"))
    pid = fresh.server()
    start, fresh.start = fresh.start, ["-c", HASTY]
    os.kill(pid, signal.SIGSTOP)
    try:
        assert fresh.do("status") == "default: does not answer\n"
        fresh.start = ["-c", WAITS + HASTY]
        errors = fresh.refused(1, "stop")
        assert "does not answer; end its process yourself" in errors
        assert re.findall(r"waits (.*)", errors) == ["1", "1.0"]
    finally:
        os.kill(pid, signal.SIGCONT)
        fresh.start = start


def test_wrong_usage_refusals_and_their_exit_codes(shell: Shell, site: Site) -> None:
    shell.do("go_to_url", site.page("<button disabled>Save</button>"))
    for code, words, says in (
        (2, ["clik", "1"], "there is no action 'clik'"),
        (2, ["click"], "did you mean click_element"),
        (2, ["click_element"], "required: INDEX"),
        (2, ["click_element", "1", "--dobule"], "did you mean --double?"),
        (2, ["click_element", "--index", "1"], "takes no --index. It takes: click_element INDEX [--button"),
        (2, ["click_element", "first"], "role and name"),
        (2, ["stop", "default"], "stop takes no default"),
        (2, ["status", "default"], "status takes no default"),
        (2, ["-", "--file", "out.txt"], "- takes neither --file nor"),
        (2, ["screenshot", "--file", "no/where.png"], "--file: there is no folder"),
        (2, ["fill_form", "@nowhere.json"], "nowhere.json cannot be read: No such file"),
        (2, ["fill_form", "[1"], "FIELDS must be JSON or @FILE"),
        (2, ["--headless"], "name an action"),
        (2, ["-s", "work"], "name an action"),
        (2, ["-s", "../x", "get_state"], "takes the name of a session"),
        (1, ["click_element", "1"], "disabled"),
        (1, ["go_to_url", "http://127.0.0.1:9/"], "127.0.0.1:9"),
        (1, ["do_actions", '{"evaluate_script": {"script": "1"}}'], "may not be one of a list"),
    ):
        assert says in shell.refused(code, *words), words


def test_lists_and_objects_come_from_files_of_the_caller_s_folder(shell: Shell, site: Site) -> None:
    shell.do("go_to_url", site.page(FORM))
    assert '(JSON: {"index": …, "value": …}, or @FILE)' in shell.do("fill_form", "--help")
    assert "--all ends all" in shell.do("stop", "--help")
    name, sizes, file = (shell.index(line) for line in ('textbox "Name"', 'listbox "Size"', 'button "CV'))
    (shell.folder / "form.json").write_text(json.dumps([{"index": int(name), "value": "@ann"}]))
    (shell.folder / "cv.txt").write_text("tea")

    assert '"@ann"' in shell.do("fill_form", "@form.json")
    assert "visible" in shell.do("expect_visible", 'textbox "Name"')
    assert '"@form.json"' in shell.do("input_text", name, "@form.json")
    assert "-5" in shell.do("input_text", 'textbox "Name"', "-5")
    for text in ("--x", "--help"):
        assert f'"{text}"' in shell.do("input_text", name, "--", text)
    assert "tée \N{HOT BEVERAGE} ?" in shell.do("input_text", name, "tée \N{HOT BEVERAGE} \udcff")
    shell.do("select_option", sizes, "S", "L")
    shell.do("select_option", sizes, '["M"]')
    assert "cv.txt" in shell.do("upload_file", file, "cv.txt")
    answer = json.loads(shell.do("evaluate_script", "[...new FormData(document.forms[0])].length", "--json"))
    assert answer["error"] is False
    assert shell.run("click_element", "999", "--json")[0] == 1


def test_secrets_are_typed_and_never_shown(shell: Shell, site: Site) -> None:
    shell.do("go_to_url", site.page(FORM))
    password, name = shell.index('textbox "Password"'), shell.index('textbox "Name"')

    named = f'{{"index": {name}, "value": "<secret>\\nstdin</secret>"}}'
    outputs = [
        shell.do("input_text", password, "--secret-stdin", given="tea pot 9\n"),
        shell.do("fill_form", named, "--secret-stdin", given="k7#qqq"),
        shell.do("evaluate_script", "document.forms[0].name.value + document.forms[0].password.value"),
        shell.do("get_state"),
    ]
    length = shell.do("evaluate_script", "document.forms[0].password.value.length")
    assert "9" in length
    assert not re.search("tea pot|k7#", "\n".join(outputs))
    assert "types nothing" in shell.refused(2, "click_element", "1", "--secret-stdin", given="tea pot 9")
    assert "There is no secret 'shöp'" in shell.refused(2, "input_text", name, "<secret>shöp</secret>")


def test_a_secret_of_the_file_is_named_and_kept_to_its_sites(fresh: Shell, site: Site) -> None:
    private_file(fresh.folder / "secrets.toml", f'[shop]\nvalue = "tea pot 9"\norigins = ["{site.url}"]\n')
    fresh.do("--secrets", "secrets.toml", "go_to_url", site.page(FORM))
    output = fresh.do("input_text", 'textbox "Name"', "<secret>shop</secret>")
    output += fresh.do("-", given='input_text \'textbox "Name"\' "<secret>shop</secret>"\nget_state\n')
    assert "tea pot" not in output

    fresh.do("go_to_url", site.page(FORM).replace(site.url, site.other))
    assert "may not be used on" in fresh.refused(1, "input_text", 'textbox "Name"', "<secret>shop</secret>")


def test_several_commands_come_from_standard_input(shell: Shell, site: Site) -> None:
    url = site.page(
        "<p id=count>Count 0</p><button onclick='count.textContent = `Count ${++n}`'>More</button>"
        "<script>let n = 0</script>"
    )
    shell.do("go_to_url", url)
    click = "click_element 'button \"More\"'\n"
    output = shell.do("-", given=f"# twenty-five clicks\n\n{click * 25}evaluate_script n\n")
    assert re.search(r"Did 20 actions.*Did 5 actions.*25", output, re.DOTALL)
    assert "Did 2 actions" in json.loads(shell.do("-", given=click.replace("\n", " --json\n") * 2))["text"]

    code, output, errors = shell.run("-", given=f'{click}click_element "button Less"\n{click}')
    assert (code, output, "line 2" in errors or "Action 2" in errors) == (2, "", True)
    has_already = "line 2: standard input has the commands already"
    for given, says in (
        (f"{click}click_elemnt 1\n", "line 2: there is no action 'click_elemnt'"),
        (f"{click}-\n", has_already),
        (f"{click}input_text 1 --secret-stdin\n", has_already),
        ("click_element 'button\n", "line 1: No closing quotation. Nothing was done."),
    ):
        assert says in shell.refused(2, "-", given=given)
    code, output, errors = shell.run("-", "--json", given=f"{click}click_element 99\n")
    assert (code, errors, json.loads(output)["error"]) == (1, "", True)
    code, output, errors = shell.run("-", given=f"{click}evaluate_script no.such\n{click}")
    assert (code, "Clicked" in output, "1 call after it not done" in errors) == (1, True, True)


def test_commands_of_a_terminal_are_not_asked_for_as_a_secret_and_closed_input_is_said(shell: Shell) -> None:
    command = [sys.executable, "-m", "mcp_browser", "do", "--json", "-"]

    def done(words: list[str], given: int | None = None) -> subprocess.CompletedProcess[bytes]:
        where, variables = shell.folder, shell.environment
        return subprocess.run(
            words, stdin=given, capture_output=True, timeout=NOW, check=False, cwd=where, env=variables
        )

    person, terminal = pty.openpty()
    os.write(person, b"get_state\n\x04")
    asked = done(command, terminal)
    assert (b"<page" in asked.stdout, asked.stderr) == (True, b"")
    os.close(person)
    os.close(terminal)
    asked = done(["sh", "-c", '"$@" <&-', "sh", *command])
    assert (asked.returncode, asked.stderr) == (2, b"mcp-browser do: standard input is closed.\n")


def test_large_results_and_pictures_are_files(shell: Shell, site: Site) -> None:
    shell.do("go_to_url", site.page("".join(f"<p>Line {number} of many words</p>" for number in range(3000))))
    output = shell.do("get_html")
    assert 3_000 < len(output) < 5_000
    found = re.search(r"… all ([\d,]+) characters: (.+)$", output)
    assert found is not None
    assert len(Path(found[2]).read_text()) == int(found[1].replace(",", ""))

    assert "Wrote" in shell.do("get_html", "--file", "page.html")
    assert "Line 1 of many words" in (shell.folder / "page.html").read_text()
    assert "shot.jpg" in shell.do("--file", "shot.jpg", "screenshot")
    shell.do("screenshot", "--file", "shot.png")
    for name, kind in (("shot.jpg", "JPEG"), ("shot.png", "PNG")):
        with Image.open(shell.folder / name) as picture:
            assert (picture.format, picture.width > 100) == (kind, True)
    answer = json.loads(shell.do("screenshot", "--json"))
    assert Path(answer["files"][0]).is_file()


def test_actions_of_one_s_own_are_commands_with_help(fresh: Shell, site: Site) -> None:
    (fresh.folder / "own.py").write_text(
        "import typing\n\nimport mcp_browser\nimport pydantic\n\n\n"
        "class Card(pydantic.BaseModel):\n    number: str\n\n\n"
        "class Cash(pydantic.BaseModel):\n    coins: list[int]\n\n\n"
        "registry = mcp_browser.Registry()\n\n\n@registry.action('Pay.')\n"
        "async def pay(by: Card | Cash, rest: Card | Cash | None = None) -> str:\n"
        "    return f'{by!r} {rest!r}'\n\n\n@registry.action()\n"
        "async def greet(name: str, times: int = 1) -> str:\n"
        '    """Greet 100% of them.\n\n    Args:\n        name: who it is\n    """\n'
        '    return f"Hello {name}! " * times\n'
    )
    text = fresh.do("--actions", "own.py", "greet", "--help")
    assert re.search(r"Greet 100% of them\..*NAME +who it is.*--times NUMBER", text, re.DOTALL)
    assert "Hello Ann! Hello Ann!" in fresh.do("--actions", "own.py", "greet", "Ann", "--times", "2")
    paid = fresh.do("--actions", "own.py", "pay", '{"number": "1"}', "--rest", '{"coins": [1, 2]}')
    assert "Card(number='1') Cash(coins=[1, 2])" in paid
    text = fresh.do("--help")
    assert re.search(r"^ +click_element +Click", text, re.MULTILINE)
    assert fresh.run()[0] == 2
