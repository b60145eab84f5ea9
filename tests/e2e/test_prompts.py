"""Prompts, completion and pages as resources, as clients meet them: over stdio and HTTP, in both eras."""

import base64
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import pytest_asyncio
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcp_browser.agent.record.history import HISTORY_FILE
from mcp_browser.server.agent.saved import RECORD_FILE, RunRecord, owner_of
from mcp_browser.server.principals import ANONYMOUS
from tests.support.client import Browser, Era, browsing
from tests.support.remote import RemoteBrowser, RemoteServer, connected, serving
from tests.support.site import Site

TOKENS = {name: f"{name}-0123456789abcdef" for name in ("alice", "bob")}
FLAGS = ("--tools", "core,console,agent,sessions")
TASK = "t4sk-0123456789"

PAGE = """<h1>Orders</h1>
<form aria-label="New order"><label>Product <input></label><button>Order tea</button></form>
<h2>Log in</h2><label>Name <input></label>
<table><caption>Open orders</caption><tr><th>Tea<th>Price<tr><td>Sencha<td>6</table>
<table><tr><th>Month<th>Sum<tr><td>May<td>60</table>
<script>console.warn("brewing")</script>"""


@dataclass
class Place:
    """A client of a server; `name` is its session's in addresses, `arguments` name it for prompts."""

    browser: Browser
    name: str

    @property
    def client(self) -> Client:
        return self.browser.client

    @property
    def given(self) -> dict[str, str]:
        return {} if self.name == "current" else {"session": self.name}

    async def complete(self, prompt: str, argument: str, value: str = "") -> list[str]:
        reference = types.PromptReference(name=prompt)
        asked = {"name": argument, "value": value}
        result = await self.client.complete(reference, asked, context_arguments=self.given or None)
        assert result.completion.total == len(result.completion.values)
        return result.completion.values

    async def read(self, view: str) -> str:
        (contents,) = (await self.client.read_resource(f"browser://{self.name}/{view}")).contents
        return contents.text if isinstance(contents, types.TextResourceContents) else contents.blob


def saved_task(folder: Path) -> None:
    run = folder / TASK
    run.mkdir(parents=True)
    (run / HISTORY_FILE).write_text("{}")
    (run / RECORD_FILE).write_text(RunRecord(owner=owner_of(ANONYMOUS)).model_dump_json())


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def http() -> AsyncIterator[RemoteServer]:
    bearers = {"MCP_BROWSER_TOKEN": ",".join(f"{name}:{token}" for name, token in TOKENS.items())}
    async with serving("--http", *FLAGS, environment=bearers) as server:
        yield server


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKENS[name]}"}


@pytest_asyncio.fixture(
    scope="module",
    loop_scope="session",
    params=[("stdio", "auto"), ("stdio", "legacy"), ("http", "auto"), ("http", "legacy")],
    ids="-".join,
)
async def place(
    request: pytest.FixtureRequest, site: Site, http: RemoteServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Place]:
    way, era = request.param
    async with AsyncExitStack() as stack:
        if way == "stdio":
            tasks = tmp_path_factory.mktemp("tasks")
            saved_task(tasks)
            connecting = browsing(era, *FLAGS, "--tasks-dir", str(tasks))
        else:
            connecting = connected(http.url, era, headers=bearer("alice"))
        browser = await stack.enter_async_context(connecting)
        await browser.open(site.page(PAGE, title="Orders"))
        session = browser.session if isinstance(browser, RemoteBrowser) else None
        yield Place(browser, session or "current")


async def refused(call: Any) -> str:
    with pytest.raises(MCPError) as caught:
        await call
    assert caught.value.code == types.INVALID_PARAMS
    return caught.value.message


async def test_the_session_is_read_as_resources(place: Place) -> None:
    listed = {one.uri: one for one in (await place.client.list_resources()).resources}
    views = ("page", "snapshot", "picture", "tabs", "console", "downloads")
    assert {f"browser://{place.name}/{view}" for view in views} <= listed.keys()
    templates = [
        one.uri_template for one in (await place.client.list_resource_templates()).resource_templates
    ]
    assert "browser://{session}/page{?part}" in templates
    assert listed[f"browser://{place.name}/page"].mime_type == "text/markdown"

    page = await place.read("page")
    assert page.startswith("Content of the page:\n<page url=")
    assert "# Orders" in page
    assert 'button "Order tea"' in await place.read("snapshot")
    assert base64.b64decode(await place.read("picture"))[:2] == b"\xff\xd8"
    assert '(current): "Orders" http://' in await place.read("tabs")
    assert "brewing" in await place.read("console")
    assert await place.read("downloads") == "There is no file yet."
    assert "session" in await refused(place.client.read_resource("browser://nobodys/page"))
    index = place.browser.find("button", "Order tea")
    assert f"[{index}] " in await place.read("snapshot"), "indexes are those of the tools"


async def test_prompts_are_listed_and_name_the_tools_that_there_are(place: Place) -> None:
    declared = place.client.server_capabilities
    assert declared is not None
    assert declared.prompts == types.PromptsCapability(list_changed=False)
    assert declared.completions is not None
    prompts = {one.name: one for one in (await place.client.list_prompts()).prompts}
    assert [*prompts] == ["fill_form", "test_page", "extract_table", "run_task"]
    offered = {tool.name for tool in (await place.client.list_tools()).tools}
    values = {"values": "tea Sencha", "task": "Order tea", "format": "csv", **place.given}
    for prompt in prompts.values():
        taken = {one.name: values[one.name] for one in prompt.arguments or [] if one.name in values}
        (message,) = (await place.client.get_prompt(prompt.name, taken)).messages
        assert isinstance(message.content, types.TextContent)
        text = message.content.text
        named = {word for word in text.split("`")[1::2] if word.replace("_", "").isalpha() and "_" in word}
        assert named - {"task_id", "start_url"} <= offered
        assert ("get_state" in text) == (prompt.name != "run_task")
        assert all(value in text for name, value in taken.items() if name not in ("format", "submit"))


async def test_wrong_arguments_of_prompts_are_told(place: Place) -> None:
    for name, arguments, why in (
        ("nope", {}, "There are: fill_form"),
        ("fill_form", {}, "needs the argument 'values'"),
        ("fill_form", {"values": " \u200b "}, "needs the argument 'values'"),
        ("fill_form", {"values": "x", "sumbit": "yes"}, "no argument 'sumbit'"),
        ("fill_form", {"values": "x", "submit": "maybe"}, "one of: yes, no, ask"),
        ("run_task", {"task": "x" * 5000}, "5,000 characters"),
    ):
        assert why in await refused(place.client.get_prompt(name, arguments))
    reference = types.PromptReference(name="fill_form")
    wrong = place.client.complete(reference, {"name": "nope", "value": ""})
    assert "no argument 'nope'" in await refused(wrong)


async def test_arguments_are_completed_from_what_is_open(place: Place) -> None:
    url = place.browser.page.split('url="')[1].split('"')[0]
    assert await place.complete("fill_form", "url", "http") == [url]
    assert await place.complete("fill_form", "form") == ["New order", "Log in"]
    assert await place.complete("fill_form", "submit", "Y") == ["yes"]
    assert await place.complete("extract_table", "table") == ["Open orders", "Month | Sum"]
    assert await place.complete("test_page", "focus", "order TEA") == ['button "Order tea"']
    assert await place.complete("extract_table", "columns") == []
    own = await place.complete("run_task", "task_id")
    assert own == ([TASK] if place.name == "current" and not isinstance(place.browser, RemoteBrowser) else [])
    template = types.ResourceTemplateReference(uri="browser://{session}/page{?part}")
    names = (await place.client.complete(template, {"name": "session", "value": ""})).completion.values
    assert place.name in names


async def test_another_client_sees_nothing_of_it(place: Place, http: RemoteServer, site: Site) -> None:
    if not isinstance(place.browser, RemoteBrowser):
        pytest.skip("a server over stdio has one client")
    alices = place.name
    if alices == "current":
        (listed,) = (await place.browser.call("list_sessions")).structured["sessions"][-1:]
        alices = listed["session"]
        assert "Orders" in await Place(place.browser, alices).read("page"), "the handle names it, too"
    era: Era = "auto" if place.name == "current" else "legacy"
    async with connected(http.url, era, headers=bearer("bob")) as bob:
        if era == "legacy":
            await bob.open(site.page("<h1>Bobs</h1>"))
        own = {one.uri.split("/")[2] for one in (await bob.client.list_resources()).resources}
        assert alices not in own
        for view in ("page", "snapshot", "picture", "tabs", "console", "downloads"):
            why = await refused(bob.client.read_resource(f"browser://{alices}/{view}"))
            assert why.startswith("There is no such session.")
        theirs = Place(bob, alices)
        assert await theirs.complete("fill_form", "form") == []
        assert await theirs.complete("fill_form", "url") == []
        assert alices not in await theirs.complete("fill_form", "session")
