"""Names of files, tasks, profiles and sessions, of any length and any letters, get an answer that teaches."""

from collections.abc import AsyncIterator
from typing import Any

import mcp_types as types
import pytest
import pytest_asyncio
from mcp import Client

from tests.server.test_fuzz import Fuzzed, fuzzing
from tests.support.agents import text as text_of
from tests.support.site import Site

pytestmark = pytest.mark.slow

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


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def fuzzed(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Fuzzed]:
    async with fuzzing(site, tmp_path_factory.mktemp("names")) as server:
        yield server


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
