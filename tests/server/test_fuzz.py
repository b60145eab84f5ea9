"""Any arguments for any tool, names of any length and any letters among them: no crash, hang, or leak."""

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp.server.lowlevel import Server

from mcp_browser.actions import default_registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.controller import Controller
from mcp_browser.server.runs.tools import RunTools, TaskFiles
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.settings import (
    AgentSettings,
    BrowserSettings,
    FileSettings,
    LimitSettings,
    Settings,
    ToolSettings,
)
from tests.support.agents import text as text_of
from tests.support.servers import server_of
from tests.support.site import Site

pytestmark = pytest.mark.slow

PASSWORD = "hunter2-of-the-page"
PAGE = f"""<form><input aria-label=Name><input type=password value={PASSWORD}>
<select><option>One<option>Two</select>
<input type=file><input type=checkbox aria-label=Box><input type=date><button type=button>Go</button></form>
<iframe srcdoc='<button>Inside</button>'></iframe><div contenteditable>Text</div>"""
SECONDS = 40.0
UNCHECKED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
LEAKS = ("Traceback", "site-packages", 'File "', "Internal error", PASSWORD, "pydantic")
WAITS = frozenset({"timeout", "seconds", "hold", "wait_seconds", "element_seconds", "max_seconds"})
ADDRESSES = frozenset({"url", "start_url"})

texts = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            *("", "\x00", "\ud83d", "\u202e\u2066", "</page>", '[7] button "Go"', "%s{0}${x}"),
            *("../../etc/passwd", "re:(a+)+$", "re:[", "*", "data:,x", "data:;base64,!", "browser://x/y"),
            *("Control++", "Enter", "-1", "9" * 400, "0.5,0.5", "[1,2,3,4]", "1,1@0x0", "a" * 5000),
            *("NaN", "\u2028", "file:///etc/passwd"),
        ]
    ),
)
numbers = st.one_of(
    st.integers(-5, 60),
    st.sampled_from([0.5, -0.0, 1e308, 2**53, -(2**63), 2**64]),
    st.floats(allow_nan=False),
)
anything: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


def fitting(  # noqa: PLR0911, PLR0912 (a case for each kind of schema)
    schema: dict[str, Any], whole: dict[str, Any], indexes: list[int], name: str = ""
) -> st.SearchStrategy[Any]:
    """Values that a JSON schema takes, near enough; waits are short, and addresses lead nowhere."""
    if "$ref" in schema:
        return fitting(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole, indexes, name)
    if name in WAITS:
        return st.sampled_from([0.01, 0.05])
    if name in ADDRESSES:
        return st.sampled_from(
            ["about:blank", "javascript:1", "http://", "::", "\x00", "file:///x", "http://[", "?"]
        )
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return st.one_of([fitting(one, whole, indexes, name) for one in schema[several]])
    match schema.get("type"):
        case "integer" if name in ("index", "target"):
            return st.sampled_from([*indexes, *indexes, 0, 10**6])
        case "integer":
            low, high = schema.get("minimum", -3), schema.get("maximum", 60)
            return st.integers(int(low), int(max(low, high)))
        case "number":
            low = schema.get("minimum", schema.get("exclusiveMinimum", -3))
            high = schema.get("maximum", 60)
            return st.floats(low, max(low, high), exclude_min="exclusiveMinimum" in schema and low < high)
        case "boolean":
            return st.booleans()
        case "string":
            return texts
        case "array":
            return st.lists(fitting(schema.get("items", {}), whole, indexes, name), max_size=3)
        case "object" if "properties" in schema:
            wanted = set(schema.get("required", ()))
            parts = {key: fitting(part, whole, indexes, key) for key, part in schema["properties"].items()}
            return st.fixed_dictionaries(
                {key: part for key, part in parts.items() if key in wanted},
                optional={key: part for key, part in parts.items() if key not in wanted},
            )
        case "object":
            return st.dictionaries(st.text(max_size=8), texts, max_size=3)
        case "null":
            return st.none()
        case _:
            return anything


def wrong(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments of the tool's names, and others, with values of any kind."""
    names = [name for name in schema["properties"] if name not in WAITS | ADDRESSES]
    some = st.one_of(st.sampled_from(names), st.text(max_size=10)) if names else st.text(max_size=10)
    return st.dictionaries(some, anything, max_size=4)


class Fuzzed:
    """The server, and what is known of the page that its tools are tried on."""

    def __init__(self, server: Server[Any], folder: Path) -> None:
        """`folder` is one that files may be uploaded from."""
        self.server = server
        self.folder = folder
        self.is_there = False
        self.indexes = [1]

    def look(self, state: str) -> None:
        """Note whether the page is still there, and the indexes that it has."""
        self.is_there = 'button "Go"' in state and "dialog" not in state
        self.indexes = [int(index) for index in re.findall(r"\[(\d+)\] ", state)] or [1]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def fuzzed(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Fuzzed]:
    """A server with every tool, whose calls are short."""
    folder = tmp_path_factory.mktemp("fuzz")
    given_settings = Settings(
        browser=BrowserSettings(headless=True, isolated=True),
        limits=LimitSettings(action_timeout=2, navigation_timeout=3, settle_timeout=1, call_timeout=10),
        tools=ToolSettings(tools=("all",), search_engine=f"{site.page('found')}?q={{query}}"),
        files=FileSettings(output_dir=folder / "out", upload_dirs=(folder,)),
        agent=AgentSettings(tasks_dir=folder / "tasks"),
    )
    manager = BrowserManager(given_settings)
    source, registry = Sessions(manager), default_registry()
    agent = RunTools(given_settings, source, registry, TaskFiles(source))
    server = server_of(
        Controller(registry, given_settings), source, tools=agent.tools(), find_call=agent.find_call
    )
    yield Fuzzed(server, folder)
    await agent.close()
    await manager.close()


@pytest.mark.parametrize("fits", [True, False], ids=["by the schema", "anything"])
@settings(
    max_examples=50,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=UNCHECKED,
)
@given(data=st.data())
async def test_any_arguments_get_a_result_or_an_error_that_teaches(
    fuzzed: Fuzzed, site: Site, fits: bool, data: st.DataObject
) -> None:
    async with Client(fuzzed.server, mode="legacy") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        if not fuzzed.is_there:
            await client.call_tool("close_tab", {})
            await client.call_tool("go_to_url", {"url": site.page(PAGE)})
            fuzzed.look(text_of(await client.call_tool("get_state", {})))
        name = data.draw(st.sampled_from(sorted(tools)))
        schema = tools[name].input_schema
        arguments = data.draw(fitting(schema, schema, fuzzed.indexes) if fits else wrong(schema))
        async with asyncio.timeout(SECONDS):
            result = await client.call_tool(name, arguments)
        assert isinstance(result, types.CallToolResult)
        told = text_of(result)
        assert told.strip() or result.structured_content or len(result.content) > 1
        for leak in LEAKS:
            assert leak not in told, (name, arguments, told)
        if result.is_error:
            assert len(told) < 20_000
            assert "\x00" not in told
        # Whatever it was, the next call works; a dialog may be open, or the last tab closed.
        state = text_of(await client.call_tool("get_state", {}))
        assert "Internal error" not in state
        fuzzed.look(state)


NAMES = frozenset({"file", "history", "logins_of", "name", "paths", "profile", "session", "task_id"})
VALUES = {
    "long": "a" * 5000,
    "long in the folder": f"FOLDER/{'a' * 5000}",
    "long in many bytes": "\U0001f600" * 100,
    "as long as an identifier": "a" * 64,
    "a long number": f"browser://x/files/{'9' * 5000}/a",
    "a null character": "FOLDER/a\0b",
    "half a character": "\ud83d",
    "above": "../../../etc/passwd",
    "from the root": "/etc/passwd",
    "a folder": "FOLDER",
    "nothing": "",
    "a user's folder": "~nobody-here/a",
    "a device": "CON",
    "line ends": "a\nb\r\u2028c",
    "many folders": f"FOLDER/{'a/' * 3000}",
}
"""Values that no file system takes, or that lead elsewhere; FOLDER is one that files may be read from."""

FILLING: dict[str, Any] = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}


@pytest.mark.parametrize("value", VALUES)
async def test_any_name_gets_an_answer_that_teaches(fuzzed: Fuzzed, site: Site, value: str) -> None:
    text = VALUES[value].replace("FOLDER", str(fuzzed.folder))
    async with Client(fuzzed.server, mode="legacy") as client:
        await client.call_tool("go_to_url", {"url": site.page("<input type=file><p>Text")})
        for tool in (await client.list_tools()).tools:
            properties: dict[str, Any] = tool.input_schema["properties"]
            for name in NAMES & properties.keys():
                needed = {
                    one: FILLING.get(str(properties[one].get("type")), "x")
                    for one in tool.input_schema.get("required", ())
                }
                given = [text] if "array" in str(properties[name]) else text
                result = await client.call_tool(tool.name, {**needed, name: given})
                assert isinstance(result, types.CallToolResult)
                told = text_of(result)
                assert "Internal error" not in told, (tool.name, name, told)
                assert told.strip()
