"""What a person is told who has given something wrong: one line that says what to do instead."""

import json
from pathlib import Path

import pytest

from mcp_browser.browser.files.artifacts import Artifacts
from mcp_browser.cli.sources import load_settings
from mcp_browser.errors import NoModel, NotActionable
from mcp_browser.llm.providers import provider_model
from mcp_browser.settings import FileSettings
from mcp_browser.text import counted
from tests.support.certificates import self_signed
from tests.support.client import browsing
from tests.support.site import Site
from tests.test_cli import run, run_here
from tests.test_docs import block

ROOT = Path(__file__).parent.parent


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


async def test_a_file_that_cannot_be_written_later_tells_of_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    files = Artifacts(FileSettings(output_dir=folder), print)
    remote = Artifacts(FileSettings(output_dir=folder), print, remote=True)
    folder.touch()
    with pytest.raises(OSError, match="out") as failed:
        files.reserve("page.pdf")
    assert isinstance(files.not_written(failed.value), NotActionable)
    assert str(files.not_written(failed.value)).startswith(f"The file could not be written in {folder} (")
    assert "--output-dir" in str(files.not_written(failed.value))
    assert str(folder) not in str(remote.not_written(failed.value))


@pytest.mark.parametrize("line", ["browser-arg", "browser-args"], ids=["flag", "key"])
def test_a_line_of_the_file_may_be_called_as_its_flag(tmp_path: Path, line: str) -> None:
    config = tmp_path / "settings.toml"
    (tmp_path / "here").mkdir()
    config.write_text(f'{line} = ["--a", "--b"]\nupload-dir = ["here"]\n', "utf-8")
    settings = load_settings({}, environment={}, config=config).settings
    by_variable = load_settings({}, environment={"MCP_BROWSER_BROWSER_ARG": "--a --b"}).settings
    assert settings.browser.browser_args == by_variable.browser.browser_args == ("--a", "--b")
    assert settings.files.upload_dirs == (tmp_path / "here",)


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


@pytest.mark.parametrize(
    ("number", "noun", "told"), [(1, "file", "1 file"), (0, "step", "0 steps"), (1200, "line", "1,200 lines")]
)
def test_what_is_counted_is_told_in_its_number(number: int, noun: str, told: str) -> None:
    assert counted(number, noun) == told


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
