"""Files of sessions as resources: listed, read, watched, by the client that owns the session only."""

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types as types
import pytest
import pytest_asyncio
from mcp import Client
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated

from mcp_browser.actions.registry import Registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.server.elicitation import Context
from mcp_browser.server.principals import Principal
from mcp_browser.server.resources import LARGEST_PART, NEXT, OFFSET, SIZE, SessionFiles
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.settings import Settings
from tests.support.client import both_eras
from tests.support.servers import server_of


class OwnSession(Sessions):
    """The source as one of several clients has it: it sees one session."""

    def __init__(self, manager: BrowserManager, own: BrowserSession) -> None:
        super().__init__(manager)
        self._own = own

    def owns(self, _request: Context, session: BrowserSession) -> bool:
        return session is self._own

    def may_read(self, _principal: Principal, session: BrowserSession) -> bool:
        return session is self._own


@dataclass
class Room:
    """A server for the client of one session, beside which there is another client's."""

    manager: BrowserManager
    mine: BrowserSession
    theirs: BrowserSession
    server: Server[Any] = field(init=False)

    def __post_init__(self) -> None:
        files = SessionFiles(self.manager, OwnSession(self.manager, self.mine))
        controller = Controller(Registry(), self.manager.settings)
        self.server = server_of(controller, Sessions(self.manager), resources=[files])


@pytest_asyncio.fixture(loop_scope="session")
async def room() -> AsyncIterator[Room]:
    manager = BrowserManager(Settings())
    yield Room(manager, await manager.open_session(), await manager.open_session())
    await manager.close()


@pytest.fixture
def server(room: Room) -> Server[Any]:
    return room.server


async def read(client: Client, uri: str) -> types.TextResourceContents | types.BlobResourceContents:
    (contents,) = (await client.read_resource(uri)).contents
    return contents


async def blob(client: Client, uri: str) -> bytes:
    contents = await read(client, uri)
    assert isinstance(contents, types.BlobResourceContents)
    return base64.b64decode(contents.blob)


async def refused(client: Client, uri: str) -> MCPError:
    with pytest.raises(MCPError) as caught:
        await client.read_resource(uri)
    assert caught.value.code == types.INVALID_PARAMS
    return caught.value


@both_eras
async def test_files_are_listed_oldest_first_with_type_and_size(room: Room, client: Client) -> None:
    await room.mine.artifacts.add(b"%PDF", "page.pdf")
    await room.mine.artifacts.add(b"a,b\n1", "table.csv")
    await room.theirs.artifacts.add(b"secret", "theirs.txt")
    listed = (await client.list_resources()).resources
    assert [(one.name, one.mime_type, one.size) for one in listed] == [
        ("page.pdf", "application/pdf", 4),
        ("table.csv", "text/csv", 5),
    ]
    (template,) = (await client.list_resource_templates()).resource_templates
    assert template.uri_template == "browser://{key}/files/{id}/{name}{?offset,length}"


async def test_a_long_list_comes_in_pages(room: Room) -> None:
    for number in range(101):
        for session in (room.mine, room.theirs):
            await session.artifacts.add(b"x", f"{number}.txt")
    sessions = Sessions(room.manager)
    both = SessionFiles(room.manager, sessions)
    controller = Controller(Registry(), room.manager.settings)
    async with Client(server_of(controller, sessions, resources=[both])) as client:
        first = await client.list_resources()
        assert len(first.resources) == 100
        second = await client.list_resources(cursor=first.next_cursor)
        assert len(second.resources) == 100
        assert second.next_cursor is None, "each session keeps its newest hundred"
        with pytest.raises(MCPError, match="cursor"):
            await client.list_resources(cursor="-1")


@both_eras
async def test_text_is_read_as_text_and_anything_else_as_a_blob(room: Room, client: Client) -> None:
    text = await room.mine.artifacts.add("Grüße".encode(), "a.txt")
    latin = await room.mine.artifacts.add("Grüße".encode("latin-1"), "latin.txt")
    data = await room.mine.artifacts.add(bytes(range(256)), "data.bin")
    empty = await room.mine.artifacts.add(b"", "empty.json")
    # It grows too long in transit.
    long = await room.mine.artifacts.add(("世" * 200_000).encode(), "long.txt")
    contents = await read(client, text.uri)
    assert isinstance(contents, types.TextResourceContents)
    assert (contents.text, contents.uri, contents.mime_type) == ("Grüße", text.uri, "text/plain")
    assert await blob(client, latin.uri) == "Grüße".encode("latin-1")
    assert await blob(client, data.uri) == bytes(range(256))
    assert await blob(client, long.uri) == ("世" * 200_000).encode()
    contents = await read(client, empty.uri)
    assert isinstance(contents, types.TextResourceContents)
    assert contents.text == ""


@both_eras
async def test_a_large_file_is_read_in_parts(room: Room, client: Client) -> None:
    content = bytes(range(251)) * 8000
    large = await room.mine.artifacts.add(content, "large.bin")
    error = await refused(client, large.uri)
    assert "2.0 MB" in error.message
    assert error.data["size"] == len(content)
    uri: str | None = error.data["first"]
    parts = b""
    while uri is not None:
        contents = await read(client, uri)
        assert isinstance(contents, types.BlobResourceContents)
        assert len(contents.model_dump_json()) < 900_000
        assert contents.meta is not None
        assert (contents.meta[SIZE], contents.meta[OFFSET]) == (len(content), len(parts))
        parts += base64.b64decode(contents.blob)
        uri = contents.meta.get(NEXT)
    assert parts == content


async def test_a_part_is_what_was_asked_for_within_the_file_and_what_an_answer_holds(
    room: Room, client: Client
) -> None:
    file = await room.mine.artifacts.add(b"abcdefghij", "a.txt")
    large = await room.mine.artifacts.add(b"x" * (LARGEST_PART + 1), "a.bin")
    parts = {"offset=2&length=3": b"cde", "offset=8": b"ij", "length=1": b"a", "offset=10": b""}
    wrong = "offset=-1 offset=11 length=0 offset=x path=/etc/passwd offset=1&offset=2 x offset"
    for query, content in parts.items():
        assert await blob(client, f"{file.uri}?{query}") == content, query
    for query in wrong.split():
        assert "part" in (await refused(client, f"{file.uri}?{query}")).message, query
    assert len(await blob(client, f"{large.uri}?length=999999999")) == LARGEST_PART


@both_eras
async def test_the_files_of_another_session_are_not_found(room: Room, client: Client) -> None:
    theirs = await room.theirs.artifacts.add(b"secret", "theirs.txt")
    mine = await room.mine.artifacts.add(b"mine", "mine.txt")
    nothing = mine.uri.replace(room.mine.artifacts.key, "0123456789abcdef")
    mixed = theirs.uri.replace(room.theirs.artifacts.key, room.mine.artifacts.key).replace("/1/", "/2/")
    for uri in (theirs.uri, nothing):
        # Whether it exists is not told.
        message = (await refused(client, uri)).message
        assert message == f"There is no file at {uri}. It ends with its browser session."
    await refused(client, f"{theirs.uri}?offset=0")
    await refused(client, mixed)


async def test_an_address_of_another_form_leads_nowhere(room: Room, client: Client) -> None:
    await room.mine.artifacts.add(b"x", "a.txt")
    key = room.mine.artifacts.key
    own = f"browser://{key}/files"
    for uri in (
        *(f"{own}/1/../../../etc/passwd", f"{own}/..%2f..%2fetc/passwd", f"{own}//etc/passwd"),
        *(f"{own}/0", f"{own}/١/a.txt", f"browser://{key}/../files/1/a.txt#"),
        *(f"browser://{key}@{key}/files/1/a.txt", "file:///etc/passwd", "/etc/passwd", ""),
    ):
        await refused(client, uri)


@both_eras
async def test_a_file_ends_with_its_session(room: Room, client: Client) -> None:
    file = await room.mine.artifacts.add(b"x", "a.txt")
    await read(client, file.uri)
    await room.mine.close()
    assert "ends with its browser session" in (await refused(client, file.uri)).message
    assert (await client.list_resources()).resources == []


async def test_a_file_that_somebody_has_deleted_is_an_error_without_its_path(
    room: Room, client: Client
) -> None:
    file = await room.mine.artifacts.add(b"x", "a.txt")
    file.path.unlink()
    with pytest.raises(MCPError, match=r"^The file could not be read\.$"):
        await client.read_resource(file.uri)


async def test_a_file_that_is_not_whole_is_neither_listed_nor_read(room: Room, client: Client) -> None:
    pending = room.mine.artifacts.reserve("big.bin", kind="download")
    assert "not whole yet" in (await refused(client, pending.uri)).message
    assert (await client.list_resources()).resources == []
    room.mine.artifacts.complete(pending)
    await read(client, pending.uri)


async def test_modern_clients_hear_of_their_own_files_only(room: Room, client: Client) -> None:
    pending = room.mine.artifacts.reserve("big.bin", kind="download")
    with anyio.fail_after(10):
        async with client.listen(
            resources_list_changed=True, resource_subscriptions=[pending.uri]
        ) as changes:
            await room.theirs.artifacts.add(b"x", "theirs.txt")
            room.mine.artifacts.complete(pending)
            heard = {await anext(changes), await anext(changes)}
            assert heard == {ResourcesListChanged(), ResourceUpdated(pending.uri)}
            assert [one.name for one in (await client.list_resources()).resources] == ["big.bin"]


async def test_modern_clients_hear_only_of_what_they_asked_for(room: Room, client: Client) -> None:
    theirs, mine = room.theirs.artifacts.reserve("theirs.bin"), room.mine.artifacts.reserve("mine.bin")
    with anyio.fail_after(10):
        async with client.listen(resource_subscriptions=[theirs.uri, mine.uri]) as changes:
            room.theirs.artifacts.complete(theirs)
            room.mine.artifacts.complete(mine)
            assert await anext(changes) == ResourceUpdated(mine.uri)


class Inbox:
    """The notifications that a client of the handshake era has got."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self._came = anyio.Event()

    async def __call__(self, message: Any) -> None:
        self.messages.append(message)
        self._came.set()
        self._came = anyio.Event()

    async def until(self, count: int) -> list[Any]:
        with anyio.fail_after(10):
            while len(self.messages) < count:
                await self._came.wait()
        return self.messages


@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
async def test_legacy_clients_are_told_of_their_own_files_only(room: Room) -> None:
    inbox = Inbox()
    pending = room.mine.artifacts.reserve("big.bin", kind="download")
    async with Client(room.server, mode="legacy", message_handler=inbox) as client:
        await client.session.subscribe_resource(pending.uri)  # pyright: ignore[reportDeprecated]
        await room.theirs.artifacts.add(b"x", "theirs.txt")
        room.mine.artifacts.complete(pending)
        changed, updated = await inbox.until(2)
        assert isinstance(changed, types.ResourceListChangedNotification)
        assert isinstance(updated, types.ResourceUpdatedNotification)
        assert updated.params.uri == pending.uri

        await client.session.unsubscribe_resource(pending.uri)  # pyright: ignore[reportDeprecated]
        await room.mine.close()
        assert isinstance((await inbox.until(3))[2], types.ResourceListChangedNotification)
        await client.list_resources()
        assert len(inbox.messages) == 3


async def test_a_connection_that_has_ended_is_told_nothing_more(room: Room) -> None:
    inbox = Inbox()
    async with Client(room.server, mode="legacy", message_handler=inbox) as client:
        await client.list_resources()
    await room.mine.artifacts.add(b"x", "late.txt")
    assert inbox.messages == []
    assert room.manager.file_listeners == []
