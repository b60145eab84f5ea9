"""Clients that give their model only a result's texts, or only its structured content where it has one."""

import base64
import itertools
import json
import re
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client

import mcp_browser
from scripts.examples import EXAMPLES, PAGE, SITE
from tests.support.agents import COUNTER, FIND, WAIT, Desk, done
from tests.support.agents import text as texts
from tests.support.client import ERAS
from tests.support.remote import client_of, serving
from tests.support.site import Site

pytestmark = pytest.mark.slow

FACTS: Mapping[str, tuple[str, ...]] = {
    "get_cookies": ("shelf", "poems"),
    "get_network_requests": ("/prices", "GET", "404"),
    "list_files": ("hello.txt", "text/plain"),
}
"""Actions whose result is data, and what of it either reader has to be told."""

SOME = ("find_elements", "get_console_messages", "extract_content", "click_element", "get_options", *FACTS)
"""Actions whose results are read in every way; in the first one it is those of all."""

HANDLE = re.compile(r'"([\w.-]{24,})"')
UNREACHABLE = {"search_web"}  # It asks a site on the Internet
WAYS = [*itertools.product(("http", "sse", "stdio"), ERAS)]


def told(result: types.CallToolResult) -> tuple[str, ...]:
    """What a model is told by a client that reads the texts, and by one that prefers the data."""
    said = texts(result)
    assert said
    if result.structured_content is None:
        return (said,)
    return said, json.dumps(result.structured_content, ensure_ascii=False)


PATHS = (f"{tempfile.gettempdir()}/", f"{Path.home()}/", f"{Path(mcp_browser.__file__).parent}/")


def assert_pathless(text: str) -> None:
    """Nothing in a text is a path of the server: of its output, its tasks, its home, or its code."""
    assert not [text[max(0, text.find(path) - 80) :][:200] for path in PATHS if path in text]


class Reader:
    """A client of a server; every result that it gets is read in both ways."""

    def __init__(self, client: Client, way: str, home: str, listed: Sequence[types.Tool]) -> None:
        self.client = client
        self.way = way
        self.home = home
        self.session: dict[str, str] = {}
        self.tools = {tool.name for tool in listed}
        self.called: set[str] = set()
        self.in_session = {tool.name for tool in listed if "session" in tool.input_schema["properties"]}

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        self.called.add(tool)
        session = self.session if tool in self.in_session else {}
        result = await self.client.call_tool(tool, {**arguments, **session})
        assert isinstance(result, types.CallToolResult)
        if self.way != "stdio":
            await self.learns_no_path(result)
        return result

    async def learns_no_path(self, result: types.CallToolResult) -> None:
        """Neither a result nor a file that it links to says where the server has its files."""
        assert_pathless(result.model_dump_json())
        for block in result.content:
            if block.type == "resource_link":
                await self.reads_no_path(block.uri)

    async def reads_no_path(self, uri: str) -> None:
        for part in (await self.client.read_resource(uri)).contents:
            is_text = isinstance(part, types.TextResourceContents)
            assert_pathless(part.text if is_text else base64.b64decode(part.blob).decode("latin-1"))

    async def open(self) -> None:
        """A page in a tab whose indexes begin anew; its session's handle is what each reader was told."""
        url = {"url": f"{self.home}/"}
        if self.way == "stdio":
            opened = re.search(r"in tab (\d+)", texts(await self.call("open_tab", url)))
            assert opened is not None
            await self.call("close_tab", {"tab": int(opened[1]) - 1})
            return
        self.session = {}
        handles = {HANDLE.findall(read)[0] for read in told(await self.call("new_session", {}))}
        assert len(handles) == 1
        self.session = {"session": handles.pop()}
        assert "Lantern Books" in texts(await self.call("go_to_url", url))

    async def example(self, name: str) -> types.CallToolResult:
        """The result of an action's example."""
        example = EXAMPLES[name]
        await self.open()
        saved = ""
        for tool, arguments in example.before:
            result = await self.call(tool, self.here(arguments, saved))
            saved = next((block.uri for block in result.content if block.type == "resource_link"), "")
        result = await self.call(name, self.here(example.arguments, saved))
        if self.way != "stdio":
            await self.call("close_session", {})
        return result

    def here(self, arguments: Mapping[str, Any], saved: str) -> dict[str, Any]:
        """The arguments of an example for this server, which has no folder of its files."""
        given = json.dumps(arguments).replace(SITE, self.home).replace("/files/out/reader.json", saved)
        return json.loads(given.replace("/files/cover.txt", "data:text/plain,A cover"))


@pytest.fixture(scope="module")
def home(site: Site) -> str:
    """The page of the examples, on a site of this machine."""
    page = Path(mcp_browser.__file__).parent / "assets" / PAGE.name
    site.publish(page.read_bytes(), path="/")
    site.publish(b"<title>Second</title><h1>Second page</h1>", path="/second")
    return site.url


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """Where the agent works."""
    desk = Desk(tmp_path_factory.mktemp("agent"))
    desk.follow(done("Nothing was to be done."))
    return desk


@pytest.fixture(scope="module")
async def addresses(desk: Desk) -> AsyncGenerator[Mapping[str, str]]:
    """Where each remote transport is reached, every tool offered."""
    out, profiles = (str(desk.tasks.parent / name) for name in ("out", "profiles"))
    flags = ("--output-dir", out, "--profiles", profiles, *desk.flags)
    async with serving("--tools", "all", *flags) as server:
        yield {"http": server.url, "sse": server.sse_url}


@pytest.fixture(params=WAYS, ids=" ".join)
async def reader(
    request: pytest.FixtureRequest, addresses: Mapping[str, str], desk: Desk, home: str
) -> AsyncGenerator[Reader]:
    way, era = request.param
    async with AsyncExitStack() as stack:
        client = desk.client(era, "--tools", "all", *desk.flags) if way == "stdio" else None
        client = await stack.enter_async_context(client or client_of(addresses[way], era))
        yield Reader(client, way, home, (await client.list_tools()).tools)


async def test_either_channel_tells_the_whole_result(reader: Reader, desk: Desk, site: Site) -> None:
    assert reader.tools >= set(EXAMPLES)
    first = (reader.way, reader.client.mode) == ("http", "auto")
    for name in set(EXAMPLES) - UNREACHABLE if first else SOME:
        result = await reader.example(name)
        assert reader.way == "stdio" or not result.is_error, f"{name}: {texts(result)}"
        reads = told(result)
        assert len(reads) == (2 if name in FACTS else 1), f"{name}: {result.structured_content}"
        for read in reads:
            assert all(fact in read for fact in FACTS.get(name, ())), f"{name}: {read}"
    await do_tasks(reader, desk, site.page(COUNTER))
    assert not first or reader.tools - reader.called == UNREACHABLE


async def do_tasks(reader: Reader, desk: Desk, page: str) -> None:
    """Call the tools of the agent, and those of sessions, as each reader knows how."""
    await reader.open()
    found = done("There is one.")
    found["action"][0]["done"]["data"] = {"buttons": 41}
    desk.follow(FIND, found)
    schema = {"type": "object", "properties": {"buttons": {"type": "integer"}}, "required": ["buttons"]}
    run = await reader.call("run_task", {"task": "Count.", "start_url": page, "output_schema": schema})
    ids = {re.findall(r"(?:Task |task_id\": \")([\w-]+)", read)[-1] for read in told(run)}
    assert len(ids) == 1
    task = {"task_id": ids.pop()}
    for read in (*told(run), *told(await reader.call("get_task", task))):
        assert "There is one." in read
        assert '"buttons": 41' in read
    assert all("1" in read for read in told(await reader.call("replay_task", task)))
    desk.follow(WAIT)
    started = await reader.call("run_task", {"task": "Wait.", "start_url": page, "wait": False})
    task = {"task_id": re.findall(r"Task ([\w-]+)", texts(started))[0]}
    for tool, more in (
        ("pause_task", {}),
        ("add_instructions", {"text": "Stop."}),
        ("resume_task", {}),
        ("stop_task", {}),
    ):
        result = await reader.call(tool, {**task, **more})
        reads = told(result)
        sentence = texts(result).splitlines()[0]
        assert all(sentence in read or "stopped" in read for read in reads), reads
    if reader.way != "stdio":
        (handle,) = reader.session.values()
        reader.session = {}
        listed = await reader.call("list_sessions", {"session": handle})
        assert all(handle in read for read in told(listed))
        for resource in (await reader.client.list_resources()).resources:
            await reader.reads_no_path(resource.uri)
        assert "Closed" in texts(await reader.call("close_session", {"session": handle}))
