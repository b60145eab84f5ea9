"""What users see, as the files beside this one, so that a change of it shows as a difference there.

`just golden` writes them anew. The history's schema and a result of each tool are in docs/ and checked there.
"""

import json
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from inline_snapshot import external_file
from mcp import MCPError
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

import mcp_browser
from mcp_browser.agent.record.history import history_schema
from mcp_browser.cli import main
from mcp_browser.cli.run import EXIT_CODES
from mcp_browser.settings import all_options
from tests.support.app_host import shows_apps
from tests.support.client import Browser, browsing
from tests.support.remote import client_of, serving
from tests.support.site import Site

ROOT = Path(__file__).parents[2]

SHOP = """
<h1>Shop</h1>
<nav aria-label=Main><a href=/golden/other>Other</a> <a href=/golden/other target=_blank>New tab</a></nav>
<button onclick="this.textContent = 'Added'; more.innerHTML = '<button>Pay</button>'">Add</button>
<button>Save</button> <button>Save</button> <button disabled>Closed</button>
<div id=more>Nothing yet</div>
<button onclick="document.title = confirm('Sure?')">Ask</button>
<button onclick="console.error('No stock')">Log</button>
<button onclick="document.querySelector('form').remove()">Remove</button>
<button onclick="fetch('/status/500')">Fetch</button>
<a href="/download/list.txt?text=tea" download>List</a>
<form aria-label=Order>
<label>Name <input value=Ada autocomplete=username></label>
<label>Password <input type=password value=x autocomplete=current-password></label>
<label><input type=checkbox checked> Gift</label>
<label>Size <select><option>Small<option selected>Large</select></label>
</form>
"""

DOWNLOAD = "document.querySelector('[download]').click(); await new Promise(end => setTimeout(end, 500))"

CALLS: Sequence[tuple[str, dict[str, Any]]] = (
    ("click_element", {"index": 1}),
    ("go_to_url", {"url": "SITE/golden/shop"}),
    ("get_state", {"screenshot": True}),
    ("find_elements", {"text": "Save"}),
    ("click_element", {"index": 4}),
    ("click_element", {"index": 5}),
    ("click_element", {"index": 7}),
    ("click_element", {"index": 99}),
    ("click_element", {"index": "Save"}),
    ("click_element", {}),
    ("input_text", {"index": 14, "text": "Bob"}),
    ("fill_form", {"fields": [{"index": 14, "value": "Eve"}, {"index": 5, "value": "Eve"}]}),
    ("click_element", {"index": 9}),
    ("click_element", {"index": 11}),
    ("evaluate_script", {"script": DOWNLOAD}),
    ("click_element", {"index": 10}),
    ("input_text", {"index": 14, "text": "Bob"}),
    ("click_element", {"index": 8}),
    ("click_element", {"index": 9}),
    ("handle_dialog", {"accept": True}),
    ("click_element", {"index": 3}),
    ("switch_tab", {"tab": 1}),
    ("evaluate_script", {"script": "({answer: 42})"}),
    ("evaluate_script", {"script": "nothing.there"}),
    ("wait_for", {"text": "Never", "timeout": 0.2}),
    ("extract_content", {}),
    ("click_element", {"index": 2}),
    ("go_to_url", {"url": "SITE/status/404"}),
    ("go_to_url", {"url": "http://127.0.0.1:9/"}),
    ("go_to_url", {"url": "file:///etc/hostname"}),
    ("run_task", {"task": "Report the heading."}),
    ("close_tab", {}),
    ("fly", {}),
)
"""Calls whose results show each part of their grammar once, in one session."""

PATHS: Sequence[tuple[str, str]] = (
    *(("GET", path) for path in ("/healthz", "/readyz", "/metrics", "/files/key/1/a.txt", "/ask/token")),
    *(("GET", f"/view{path}") for path in ("", "/view.css", "/view.js", "/me", "/link/token", "/live")),
    *(("POST", path) for path in ("/mcp", "/messages", "/view/sign-in", "/view/sign-out")),
    *(("GET", path) for path in ("/view/pictures/key/1", "/elsewhere")),
)

COMMANDS: Sequence[str] = (
    *("--version", "--help", "fly", "--viewport big", "--model-retries 3", "config", "config nobody"),
    *("config cursor", "token", "completion bash", "tasks", "tasks show", "tasks show none", "run"),
    *("run --model nobody:x Look", "install --executable /no/such", "do", "do fly --help", "do --help"),
    *("skill", "skill nobody --write"),
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The server's folder for files."""
    return tmp_path_factory.mktemp("files")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser(site: Site, files: Path) -> AsyncIterator[Browser]:
    """A client over stdio that is offered all there is."""
    site.page(SHOP, path="/golden/shop", title="Shop")
    site.page("<h1>Other</h1>", path="/golden/other", title="Other")
    flags = "--tools=all", "--view", f"--output-dir={files}"
    async with browsing("auto", *flags, extensions=[shows_apps()]) as browser:
        yield browser


async def test_the_tools(browser: Browser) -> None:
    tools = (await browser.client.list_tools()).tools
    assert {tool.name: _plain(tool) for tool in tools} == external_file("tools.json")


async def test_what_else_the_server_lists(browser: Browser) -> None:
    client = browser.client
    listed = {
        "instructions": (client.instructions or "").splitlines(),
        "capabilities": _plain(client.server_capabilities),
        "prompts": [_plain(one) for one in (await client.list_prompts()).prompts],
        "templates": [_plain(one) for one in (await client.list_resource_templates()).resource_templates],
    }
    assert listed == external_file("lists.json")


async def test_the_results(browser: Browser, site: Site, files: Path) -> None:
    results: list[dict[str, Any]] = []
    for tool, arguments in CALLS:
        given = {name: _with(value, "SITE", site.url) for name, value in arguments.items()}
        try:
            answer = _plain(await browser.answer(tool, given))
        except MCPError as error:
            answer = {"protocol error": [error.code, error.message]}
        results.append({"tool": tool, "arguments": arguments, **answer})
    resources = [_plain(one) for one in (await browser.client.list_resources()).resources]
    text = json.dumps({"results": results, "resources": resources}).replace(site.url, "SITE")
    text = re.sub(r"browser://\w{16,}/", "browser://KEY/", text).replace(str(files), "FILES")
    assert json.loads(text) == external_file("results.json")


async def test_the_paths_over_http_and_what_is_listed_there(browser: Browser) -> None:
    over_stdio = {tool.name for tool in (await browser.client.list_tools()).tools}
    async with serving("--http", "--sse", "--view", "--tools=all") as server, client_of(server.url) as client:
        tools = (await client.list_tools()).tools
        templates = (await client.list_resource_templates()).resource_templates
        async with httpx2.AsyncClient(base_url=server.base) as web:
            answers = {f"{method} {path}": await _answer(web, method, path) for method, path in PATHS}
    session = {tool.name: tool.input_schema["properties"].get("session") for tool in tools}
    listed = {
        "paths": answers,
        "templates": [_plain(one) for one in templates],
        "tools": {tool.name: _plain(tool) for tool in tools if tool.name not in over_stdio},
        "session": session["click_element"],
        "without session": [name for name, schema in session.items() if schema is None],
    }
    assert listed == external_file("http.json")


def test_the_settings() -> None:
    options = {
        option.name: {
            "group": option.group,
            "flag": option.flag,
            "off": option.off_flag,
            "variable": option.variable,
            "default": to_jsonable_python(option.field.default),
            "choices": list(option.choices),
        }
        for option in all_options().values()
    }
    assert options == external_file("settings.json")


def test_the_exit_codes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MCP_BROWSER_TASKS_DIR", str(tmp_path))
    codes = {command: _exit_code(command) for command in COMMANDS}
    codes |= {f"run: {status}": code for status, code in EXIT_CODES.items()}
    assert codes == external_file("exit_codes.json")


def test_the_public_names() -> None:
    assert sorted(mcp_browser.__all__) == external_file("public_names.json")


def test_the_schema_of_a_history() -> None:
    assert history_schema() == json.loads((ROOT / "docs" / "agent-history.schema.json").read_text("utf-8"))


def _plain(message: BaseModel) -> dict[str, Any]:
    """A message as JSON: a text as its lines, a picture without its bytes, nothing that each result has."""
    plain = message.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"result_type"})
    if plain.get("_meta", {}).pop("io.modelcontextprotocol/serverInfo", None) and not plain["_meta"]:
        del plain["_meta"]
    for part in plain.get("content", ()):
        part.pop("data", None)
        if part["type"] == "text":
            part["text"] = part["text"].splitlines()
    return plain


def _with(value: Any, old: str, new: str) -> Any:
    return value.replace(old, new) if isinstance(value, str) else value


async def _answer(web: httpx2.AsyncClient, method: str, path: str) -> list[Any]:
    async with web.stream(method, path) as answer:
        return [answer.status_code, answer.headers.get("content-type")]


def _exit_code(command: str) -> int:
    try:
        return main(command.split())
    except SystemExit as ended:
        return int(ended.code or 0)
