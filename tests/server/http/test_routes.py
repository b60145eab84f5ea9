"""What is served beside MCP: metrics, files, and pages on which people give what is secret."""

import asyncio
import base64
import hashlib
import sys
from collections.abc import AsyncIterator
from itertools import chain

import httpx2 as httpx
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from mcp_browser.browser.files.artifacts import Artifact
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.server.elicitation import SecretForm, SecretForms
from mcp_browser.server.http.metrics import Metrics, process_memory
from mcp_browser.server.http.middleware import middleware_stack
from mcp_browser.server.http.secret_pages import LONGEST_ANSWER, STYLE, secret_route
from mcp_browser.server.http.serving import files_route
from mcp_browser.server.principals import Principal, SettingsOf, set_principal
from mcp_browser.server.resources import SessionFiles
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.settings import AccessSettings, ServerSettings, Settings

LABELS = ("tool", "outcome", "reason", "process", "le")


async def shown(metrics: Metrics) -> dict[str, float]:
    """What a scrape gets: each sample with its labels, and its value."""
    answer = await metrics.show(Request({"type": "http", "method": "GET", "headers": []}))
    assert answer.headers["content-type"].startswith("text/plain; version=")
    families = text_string_to_metric_families(bytes(answer.body).decode())
    found: dict[str, float] = {}
    for sample in chain.from_iterable(family.samples for family in families):
        labels = [sample.labels[name] for name in LABELS if name in sample.labels]
        found[" ".join([sample.name, *labels])] = sample.value
    return found


def metrics_of(sessions: int = 0, connections: int = 0, restarts: int = 0) -> Metrics:
    return Metrics(sessions=lambda: sessions, connections=lambda: connections, restarts=lambda: restarts)


async def test_calls_are_counted_and_timed_beside_refusals_sessions_connections_and_restarts() -> None:
    metrics = metrics_of(3, 5, 2)
    metrics.called("click_element", "ok", 0.04)
    metrics.called("click_element", "error", 2)
    metrics.called("go_to_url", "cancelled", 100)
    metrics.refused("rate")
    metrics.refused("rate")
    found = await shown(metrics)
    expected = {
        "calls_total click_element ok": 1,
        "calls_total click_element error": 1,
        "call_seconds_bucket click_element 0.05": 1,
        "call_seconds_bucket click_element 2.5": 2,
        "call_seconds_sum click_element": 2.04,
        "call_seconds_bucket go_to_url 60.0": 0,
        "call_seconds_count go_to_url": 1,
        "refused_total rate": 2,
        "sessions": 3,
        "connections": 5,
        "restarts_total": 2,
    }
    assert {name: found[f"mcp_browser_{name}"] for name in expected} == expected


async def test_memory_counts_the_processes_that_were_started() -> None:
    metrics = metrics_of()
    before = (await shown(metrics))["mcp_browser_memory_bytes children"]
    code = "held = b'x' * 400_000_000; print(flush=True); input()"
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdin=pipe, stdout=pipe)
    assert child.stdout is not None
    await child.stdout.readline()
    # A browser of other tests may give some back meanwhile.
    assert process_memory()["children"] - before > 200_000_000
    # Many scrapes do not measure more often than every few seconds.
    assert (await shown(metrics))["mcp_browser_memory_bytes children"] == before
    await child.communicate(b"\n")
    assert (await shown(metrics))["mcp_browser_memory_bytes server"] > 10_000_000


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


BASE = "http://127.0.0.1:8585"
OWN = {"Origin": BASE}


class Place:
    """A server that asks everybody else for a token, and one form of it."""

    def __init__(self, forms: SecretForms, form: SecretForm) -> None:
        settings = Settings(
            server=ServerSettings(http=True, path_prefix="/browser"),
            access=AccessSettings(token=SecretStr("t" * 32)),
        )
        self.forms, self.form = forms, form
        self.path = form.url.removeprefix(BASE)
        self.refusals: list[str] = []
        app = Starlette(
            routes=[secret_route(self.forms, prefix="/browser")],
            middleware=middleware_stack(SettingsOf(settings), self.refusals.append),
        )
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=BASE)


@pytest_asyncio.fixture(loop_scope="session")
async def place() -> AsyncIterator[Place]:
    forms = SecretForms()
    asked = ('Your "password" for <shop>?', "shop.example", "Buy <tea>.")
    async with forms.asking(f"{BASE}/browser", *asked) as form:
        place = Place(forms, form)
        async with place.client:
            yield place


async def test_a_form_is_for_whoever_has_its_address_and_for_one_answer(place: Place) -> None:
    assert (await place.client.get("/browser/mcp")).status_code == 401
    shown = await place.client.get(place.path)
    assert shown.status_code == 200
    assert (await place.client.get(place.path)).status_code == 200, "looking at it does not use it up"
    assert "Your &quot;password&quot; for &lt;shop&gt;?" in shown.text
    assert "shop.example" in shown.text
    assert "Buy &lt;tea&gt;." in shown.text
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    assert f"<style>{STYLE}</style>" in shown.text
    assert f"style-src 'sha256-{digest}'" in shown.headers["content-security-policy"]
    assert shown.headers["cache-control"] == "no-store"
    assert "form-action 'self'" in shown.headers["content-security-policy"]
    answer = "Größe & more=1 +%"
    given = await place.client.post(place.path, data={"answer": answer}, headers=OWN)
    assert given.status_code == 200
    assert answer not in given.text
    assert (await place.form.answer).get_secret_value() == answer
    for again in (place.client.get(place.path), place.client.post(place.path, data={"answer": "x"})):
        assert (await again).status_code == 410


async def test_what_is_no_answer_or_too_long_is_asked_for_again(place: Place) -> None:
    long = b"answer=" + b"x" * LONGEST_ANSWER
    for body in (b"", b"answer=", b"other=x", b"answer=%ff", b"answer=\xff", b"a&" * 9, long):
        answered = await place.client.post(place.path, content=body, headers=OWN)
        assert answered.status_code == 400
        assert "<form" in answered.text
        assert not place.form.answer.done()


async def test_another_site_cannot_fill_a_form_in(place: Place) -> None:
    headers = {"Origin": "https://evil.example"}
    assert (await place.client.post(place.path, data={"answer": "x"}, headers=headers)).status_code == 403
    assert place.refusals == ["origin"]
    assert not place.form.answer.done()


async def test_a_form_ends_with_its_time_and_with_its_question(place: Place) -> None:
    place.form.expires = 0
    assert (await place.client.get(place.path)).status_code == 410
    async with place.forms.asking(f"{BASE}/browser", "Code?", "shop.example", "Buy tea.") as other:
        assert other.token != place.form.token
    assert (await place.client.get(other.url)).status_code == 410
    assert other.answer.cancelled()


async def test_an_address_begins_with_the_name_of_its_replica() -> None:
    """A proxy before several servers routes by it."""
    forms = SecretForms("b")
    async with forms.asking(BASE, "Code?", "shop.example", "Buy tea.") as form:
        assert form.token.startswith("b.")
        assert forms.find(form.token) is form
