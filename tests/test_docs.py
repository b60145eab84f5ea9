"""The documents: what they show works as they say."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from tests.support.site import Site

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("manifests/*.md")])


def block(marker: str) -> str:
    """The code block that follows a marker in the README."""
    found = re.search(rf"<!-- {re.escape(marker)} -->\n```\w+\n(.*?)\n```", README, re.DOTALL)
    assert found is not None, marker
    return found[1]


def test_the_generated_documents_are_up_to_date() -> None:
    check = [sys.executable, "scripts/generate_docs.py", "--check"]

    done = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["try", "test"])
def test_each_of_the_two_commands_is_one_line_that_does_its_own_set_up(name: str) -> None:
    command = block(f"command: {name}")

    assert "\n" not in command
    assert command.startswith("python3 -m venv .venv && .venv/bin/pip install")
    assert command.endswith({"try": ".venv/bin/mcp-browser try", "test": ".venv/bin/just test"}[name])


def test_the_ci_runs_the_two_commands_from_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")

    for name in ("try", "test"):
        assert f'bash -euc "$(readme_command {name})"' in script


@pytest.mark.parametrize("name", ["claude-desktop.json", "cursor.json", "vscode.json"])
def test_the_readme_shows_the_client_configurations_as_they_are(name: str) -> None:
    shown = [json.loads(found) for found in re.findall(r"```json\n(.*?)```", README, re.DOTALL)]

    assert json.loads((ROOT / "manifests" / name).read_text("utf-8")) in shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


async def test_the_readmes_action_works_as_a_tool(tmp_path: Path, site: Site) -> None:
    actions = tmp_path / "my_actions.py"
    actions.write_text(block("example: my_actions.py"), "utf-8")
    url = site.page('<a href="http://books.example/1">One</a> <a href="http://books.example/2">Two</a>')
    command = ["-m", "mcp_browser", "--stdio", "--headless", "--isolated", "--actions", str(actions)]

    async with Client(
        StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    ) as client:
        (tool,) = [tool for tool in (await client.list_tools()).tools if tool.name == "count_links"]
        await client.call_tool("go_to_url", {"url": url})
        counted = await client.call_tool("count_links", {"host": "books.example"})
        refused = await client.call_tool("count_links", {"host": "other.example"})

    assert tool.description == "Count the links of the page that lead to a host."
    assert tool.input_schema["properties"] == {"host": {"type": "string"}}
    assert not counted.is_error
    assert "2 links lead to books.example." in text_of(counted)
    assert refused.is_error
    assert "No link leads to other.example." in text_of(refused)


def text_of(result: types.CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, types.TextContent))
