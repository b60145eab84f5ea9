"""The documents: what they show works as they say."""

import json
import re
import sys
from pathlib import Path

import pytest

from mcp_browser.cli.clients import CLIENTS
from scripts import examples, generate_docs, server_examples
from tests.support.client import browsing
from tests.support.process import succeeds
from tests.support.site import Site

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
SNAPSHOT = (ROOT / "docs" / "snapshot.md").read_text("utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("manifests/*.md")])


def block(marker: str, document: str = README) -> str:
    """The code block that follows a marker in a document, the README unless told."""
    found = re.search(rf"<!-- {re.escape(marker)} -->\n```\w+\n(.*?)\n```", document, re.DOTALL)
    assert found is not None, marker
    return found[1]


def test_every_tool_has_an_example() -> None:
    tools = {name for names in generate_docs.groups().values() for name in names}
    assert set(examples.all_arguments()) == tools
    assert {name: one["arguments"] for name, one in examples.kept().items()} == examples.all_arguments()


@pytest.mark.slow
async def test_the_examples_of_the_tools_are_what_the_tools_really_tell() -> None:
    told = await examples.capture(list(examples.EXAMPLES)) | await server_examples.capture()
    assert told == examples.kept()


@pytest.mark.slow
def test_the_generated_documents_are_up_to_date() -> None:
    succeeds(sys.executable, "scripts/generate_docs.py", "--check", cwd=ROOT)


@pytest.mark.parametrize(
    ("name", "last"), [("try", ".venv/bin/mcp-browser try --with-deps"), ("test", ".venv/bin/just test")]
)
def test_each_of_the_two_commands_is_one_line_that_does_its_own_set_up_and_the_ci_runs_it(
    name: str, last: str
) -> None:
    command = block(f"command: {name}")
    assert "\n" not in command
    assert command.startswith("python3 -m venv .venv && .venv/bin/pip install")
    assert command.endswith(last)
    assert f'bash -euc "$(readme_command {name})"' in (ROOT / ".ci" / "run").read_text("utf-8")


@pytest.mark.parametrize("name", ["claude-desktop.json", "cursor.json", "vscode.json"])
def test_the_readme_shows_the_client_configurations_as_they_are(name: str) -> None:
    shown = [json.loads(found) for found in re.findall(r"```json\n(.*?)```", README, re.DOTALL)]
    assert json.loads((ROOT / "manifests" / name).read_text("utf-8")) in shown


@pytest.mark.skipif(sys.platform == "win32", reason="variables stand for its folders")
@pytest.mark.parametrize("name", CLIENTS)
def test_the_start_names_the_files_that_config_writes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("XDG_CONFIG_HOME", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    folders = generate_docs.SYSTEMS["macOS" if sys.platform == "darwin" else "Linux"]
    assert Path(CLIENTS[name].file.format(**folders)).expanduser() == CLIENTS[name].path(project=False)


@pytest.mark.slow
async def test_the_readme_shows_what_a_model_really_reads() -> None:
    shipped = (ROOT / "mcp_browser" / "assets" / "try.html").as_uri()
    async with browsing("auto", "--allow-file-urls") as browser:
        opened = await browser.do("go_to_url", url=shipped)
        clicked = await browser.do("click_element", index=browser.find("button", "Add The Tide Tables"))
    assert block("example: snapshot") in opened
    assert set(block("example: changes").splitlines()) < set(clicked.splitlines())


@pytest.mark.slow
async def test_the_description_of_the_snapshot_shows_what_is_really_told(site: Site) -> None:
    url = site.page(block("example: page", SNAPSHOT))
    async with browsing() as browser:
        await browser.open(url)
        told = await browser.snapshot()
        clicked = await browser.click("button", "Add")
    assert page_in(told) == block("example: snapshot", SNAPSHOT)
    assert page_in(clicked) == block("example: changes", SNAPSHOT)


def page_in(result: str) -> str:
    """What stands in the frame of a result."""
    found = re.search(r"<page [^\n]* untrusted>\n(.*)\n</page>", result, re.DOTALL)
    assert found is not None, result
    return found[1]


@pytest.mark.slow
async def test_the_readmes_action_works_as_a_tool(tmp_path: Path, site: Site) -> None:
    actions = tmp_path / "my_actions.py"
    actions.write_text(block("example: my_actions.py"), "utf-8")
    url = site.page('<a href="http://books.example/1">One</a> <a href="http://books.example/2">Two</a>')
    async with browsing("auto", "--actions", str(actions)) as browser:
        (tool,) = [tool for tool in (await browser.client.list_tools()).tools if tool.name == "count_links"]
        await browser.open(url)
        counted = await browser.call("count_links", host="books.example")
        refused = await browser.call("count_links", host="other.example")
    assert tool.description == "Count the links of the page that lead to a host."
    assert tool.input_schema["properties"] == {"host": {"type": "string"}}
    assert not counted.is_error
    assert "Links to books.example: 2." in counted.text
    assert refused.is_error
    assert "No link leads to other.example." in refused.text
