"""Files over plain HTTP: by their owner only, and harmless to whatever opens them."""

from collections.abc import AsyncIterator

import httpx2 as httpx
import pytest_asyncio
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from mcp_browser.browser.files.artifacts import Artifact
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.server.http.serving import files_route
from mcp_browser.server.principals import Principal, set_principal
from mcp_browser.server.resources import SessionFiles
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.settings import Settings


class Room:
    """An app in which a session belongs to `alice`; callers name themselves in a header."""

    def __init__(self, manager: BrowserManager, session: BrowserSession) -> None:
        self.session = session
        files = SessionFiles(manager, Sessions(manager))
        route = files_route(files, lambda caller, _session: caller.id == "alice", prefix="/browser")
        self.app = Starlette(routes=[route])
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(self), base_url="http://test")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = dict(scope["headers"]).get(b"x-name", b"").decode()
        set_principal(scope, Principal(name=name, id=name))
        await self.app(scope, receive, send)

    async def get(self, file: Artifact | str, *, name: str = "alice", **headers: str) -> httpx.Response:
        path = file if isinstance(file, str) else path_of(file)
        return await self.client.get(f"/browser{path}", headers={"x-name": name, **headers})


def path_of(file: Artifact) -> str:
    return "/files/" + file.uri.removeprefix("browser://").replace("/files/", "/", 1)


@pytest_asyncio.fixture(loop_scope="session")
async def room() -> AsyncIterator[Room]:
    manager = BrowserManager(Settings())
    room = Room(manager, await manager.open_session())
    yield room
    await room.client.aclose()
    await manager.close()


async def test_a_file_of_any_size_is_sent_whole_to_be_saved(room: Room) -> None:
    content = bytes(range(256)) * 10_000
    file = await room.session.artifacts.add(content, "Grüße <b>.html")
    answer = await room.get(file)
    assert (answer.status_code, answer.content) == (200, content)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-disposition"].startswith("attachment; filename*=utf-8''Gr%C3%BC")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert "no-store" in answer.headers["cache-control"]


async def test_a_file_is_for_its_owner_and_for_nobody_else(room: Room) -> None:
    file = await room.session.artifacts.add(b"secret", "a.txt")
    missing = path_of(file).replace("/1/", "/7/")
    for answer in (await room.get(file, name="mallory"), await room.get(missing)):
        assert (answer.status_code, answer.text) == (404, "There is no such file.")
    await room.session.close()
    assert (await room.get(file)).status_code == 404


async def test_no_path_leads_to_another_file(room: Room) -> None:
    await room.session.artifacts.add(b"x", "a.txt")
    paths = """/files/{key}/1/../../../../etc/passwd /files/{key}/..%2f..%2f..%2fetc/passwd
        /files/{key}/%2e%2e/passwd /files/%2fetc/1/passwd /files/{key}/0/a.txt /files/{key}/1%00/a.txt
        /files/{key}/1"""
    for path in paths.format(key=room.session.artifacts.key).split():
        assert (await room.get(path)).status_code == 404, path


async def test_a_file_that_somebody_has_deleted_is_gone(room: Room) -> None:
    file = await room.session.artifacts.add(b"x", "a.txt")
    file.path.unlink()
    assert (await room.get(file)).status_code == 410
