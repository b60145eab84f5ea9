"""The documents: what they show works as they say, and can be read by what it is for."""

import ast
import importlib
import json
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
import yaml

from mcp_browser.actions import default_registry
from mcp_browser.cli import arguments
from mcp_browser.cli.clients import CLIENTS
from mcp_browser.cli.commands import OUTPUT, Commands, split, usage
from mcp_browser.settings import all_options
from mcp_browser.terminal import session_of
from scripts import counterparts, examples, generate_docs, server_examples
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
def test_each_of_the_two_commands_is_one_line_with_its_set_up_and_ci_runs_it(name: str, last: str) -> None:
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
        counted = await browser.do("count_links", host="books.example")
        refused = await browser.refused("count_links", host="other.example")
    assert tool.description == "Count the links of the page that lead to a host."
    assert tool.input_schema["properties"] == {"host": {"type": "string"}}
    assert "Links to books.example: 2." in counted
    assert "No link leads to other.example." in refused


# -- blocks, commands, links and messages

BLOCK = re.compile(r"^(?P<fence>`{3,})(?P<language>\w*)\n(?P<body>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
OWN_SITE = "https://github.com/mcp-browser/mcp-browser/blob/main/"
OF_OTHERS = set(
    """--mcp --remote-debugging-port --session-timeout --user-data-dir --disable-features
    --max-semi-space-size --bail --build-arg --cap-drop --format --security-opt --shm-size --target
    --tmpfs""".split()
)
"""Flags of other programs that the documents name."""

LINKING = [*PAGES, ROOT / "benchmarks" / "README.md"]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def blocks(page: Path, *languages: str) -> Iterator[str]:
    """The code blocks in these languages."""
    for found in BLOCK.finditer(page.read_text("utf-8")):
        if found["language"] in languages:
            yield found["body"]


def prose(page: Path) -> str:
    """The page without its blocks; of one about another program without what is that one's."""
    text = BLOCK.sub("", page.read_text("utf-8"))
    theirs = r"^\|[^|\n]*\||^#.*" if page.stem.startswith("moving") else r"(?!)"
    return re.sub(theirs, "|", text, flags=re.MULTILINE)


def commands(page: Path) -> Iterator[list[str]]:
    """Each command line of this program, without the program's name."""
    lines = [line for body in blocks(page, "bash") for line in body.replace("\\\n", " ").splitlines()]
    for line in (*lines, *SPAN.findall(prose(page))):
        for part in re.split(r"&&|[|;>]", re.sub(r"\s#.*", "", line)):
            try:
                words = shlex.split(part)
            except ValueError:
                continue
            # Another program may be told to start this one.
            words = words[words.index("--") + 1 :] if "--" in words else words
            while words and (re.match(r"[A-Z_]+=", words[0]) or words[0] == "uvx"):
                words.pop(0)
            if words and Path(words[0]).name in {"mcp-browser", "mcp-browser-server"}:
                yield [word.replace("SHELL", "bash") for word in words[1:]]


def takes_command(words: Sequence[str]) -> None:
    """Read a command of `do`, which has to be right."""
    _, settings, rest = split(session_of([word for word in words if word != "--help"])[1])
    arguments.parse_arguments(settings)
    if rest and rest[0] not in {"ACTION", "stop", "status", "-"} and "--help" not in words:
        commands_of_do().parse([word.replace("@form.json", "[]") for word in rest])


@cache
def commands_of_do() -> Commands:
    return Commands(default_registry())


def test_every_command_is_one_that_the_program_takes() -> None:
    found = {tuple(words) for page in PAGES for words in commands(page)}
    for words in sorted(found):
        if words[:1] == ("do",):
            takes_command(words[1:])
            continue
        taken = arguments.parse_arguments([word for word in words if word not in {"--help", "--version"}])
        assert taken.given.get("client", "CLIENT") in {*CLIENTS, "CLIENT"}, words
    assert ("try", "--with-deps") in found
    assert ("tasks", "resume", "TASK", "--tell", "…") in found
    assert len(found) > 40


@cache
def flags() -> set[str]:
    """Every flag of the program."""
    of_settings = {
        flag for option in all_options().values() for flag in (option.flag, option.off_flag) if flag
    }
    own = {flag for command in arguments.COMMANDS.values() for flag in command.own}
    of_actions = {flag for action in default_registry() for flag in re.findall(r"--[a-z-]+", usage(action))}
    return of_settings | own | of_actions | {*OUTPUT, "--all", "--config", "--help", "--stdio", "--version"}


@each_page
def test_every_flag_that_is_named_exists(page: Path) -> None:
    named = {
        flag for span in SPAN.findall(prose(page)) for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*", span)
    }
    assert named - flags() - OF_OTHERS == set()


@each_page
def test_every_block_can_be_read_in_its_language(page: Path) -> None:
    for body in blocks(page, "json"):
        json.loads(body)
    for body in blocks(page, "toml"):
        tomllib.loads(body)
    for body in blocks(page, "yaml"):
        list(yaml.safe_load_all(body))
    for body in blocks(page, "python"):
        compile(body, page.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        for node in ast.walk(ast.parse(body)):
            if isinstance(node, ast.ImportFrom):
                module = importlib.import_module(str(node.module))
                assert {one.name for one in node.names} <= set(dir(module))
            elif isinstance(node, ast.Import):
                for one in node.names:
                    importlib.import_module(one.name)


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the repository's host and the site make them."""
    text = BLOCK.sub("", page.read_text("utf-8"))
    headings = (re.sub(r"\]\([^)]*\)", "", one) for one in re.findall(r"^#+ +(.*)$", text, re.MULTILINE))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_heading_that_is_there(page: Path) -> None:
    for target, anchor in re.findall(
        r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", BLOCK.sub("", page.read_text("utf-8"))
    ):
        if target.startswith(OWN_SITE):
            assert (ROOT / target.removeprefix(OWN_SITE)).exists(), target
        elif "://" not in target and not target.startswith("mailto:"):
            there = page.parent / target if target else page
            assert there.exists(), target
            assert not anchor or anchor in anchors(there), f"{target}#{anchor}"


def test_the_site_s_navigation_leads_to_every_page_or_another_page_does() -> None:
    docs = ROOT / "docs"
    listed = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    linked = {
        (page.parent / target).resolve() if target else ROOT / named
        for page in LINKING
        for target, named in re.findall(r"\]\(([^)#\s]+\.md)|`(docs/[^`\s]+\.md)`", page.read_text("utf-8"))
    }
    assert [name for name in listed if not (docs / name).exists()] == []
    assert set(docs.rglob("*.md")) - {docs / name for name in listed} - linked == set()


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"theirs": "click", "here": "{press_element}"}, "click: there is no press_element here."),
        ({"theirs": "click", "here": "{click_element} with `strength`"}, "there is no strength here."),
        ({"theirs": "click", "differs": "`press_it` does it."}, "there is no press_it here."),
        ({"theirs": "click", "here": "`--click`"}, "there is no --click"),
        ({"theirs": "click"}, "click: neither a counterpart nor a reason."),
        ({"theirs": "click drag click", "differs": "No."}, "click is there twice."),
    ],
)
def test_a_counterpart_that_does_not_exist_is_refused(
    row: dict[str, str], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counterparts, "_DATA", {"other": [{"section": "All", "rows": [row]}]})
    with pytest.raises(SystemExit, match=re.escape(problem)):
        counterparts.counterpart_tables("other", generate_docs.groups(), generate_docs.schemas(), ["--http"])


def texts() -> str:
    """The package's source, each text of which stands on one line, whatever lines it is written on."""
    source = "\n".join(file.read_text("utf-8") for file in sorted((ROOT / "mcp_browser").rglob("*.py")))
    return re.sub(r'"\n\s+f?"', "", source)


def test_each_message_that_is_explained_is_one_of_the_program_s() -> None:
    page = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
    messages: list[str] = re.findall(r"^### `(.*)`$", page, re.MULTILINE)
    source = texts()
    lines = source.split("\n")

    def occurs(message: str) -> bool:
        parts = message.split("…")
        longest = max(parts, key=len)
        wanted = re.compile("[^\n]*?".join(map(re.escape, parts)))
        return longest in source and any(wanted.search(line) for line in lines if longest in line)

    assert len(messages) > 40
    assert len(set(messages)) == len(messages)
    assert [message for message in messages if not occurs(message)] == []
    assert not occurs("The moon … is covered.")
