"""Requests listed, looked at, awaited and exported, mocked and blocked."""

import base64
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import pytest_asyncio

from mcp_browser.browser import page_activity
from mcp_browser.browser.network.log import KEPT, MOST_ROUTES
from mcp_browser.errors import BlockedUrl, DeadlineExceeded, InvalidArguments, NotFound
from mcp_browser.settings import ObservationSettings, ToolSettings
from tests.actions.hand import Hand, hand_in
from tests.browser.conftest import managing
from tests.support.har import HAR
from tests.support.site import Reply, Request, Site
from tests.support.sockets import echo_server

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

SECRETS = {
    kind: f"Bh7-{kind}-secret-01"
    for kind in (
        "header cookie query form json answer multipart socket html console fragment storage".split()
    )
}


@pytest.fixture(scope="module")
def sockets() -> Iterator[str]:
    """The address of a web socket that sends back what it gets."""
    with echo_server() as url:
        yield url


def lines_of(told: str) -> list[str]:
    return [line for line in told.splitlines() if re.match(r"\d+ [A-Z]+ ", line)]


def number_of(told: str, text: str) -> int:
    (line,) = [line for line in lines_of(told) if text in line]
    return int(line.split()[0])


async def test_each_request_is_one_line_and_is_shown_with_headers_timing_and_bodies(
    listening: Hand, site: Site
) -> None:
    await listening.open(
        "<img src=/status/404><script>fetch('/echo?page=2', {method: 'POST', headers: {'X-Shelf': 'B7'},"
        "body: JSON.stringify({title: 'Emma'})})</script>"
    )
    told = await listening.do("get_network_requests")
    lines = lines_of(told)
    assert re.fullmatch(r"1 GET 200 document /page/\d+ \d+ bytes \d+ ms", lines[-1])
    assert any(re.fullmatch(r"\d POST 200 fetch /echo\?page=2 \d+ bytes \d+ ms", line) for line in lines)
    assert any(re.fullmatch(r"\d GET 404 image /status/404( \d+ bytes)? \d+ ms", line) for line in lines)
    assert [int(line.split()[0]) for line in lines] == list(range(len(lines), 0, -1)), "the newest first"
    shown = await listening.do("get_network_request", id=number_of(told, "/echo"))
    assert f"POST {site.url}/echo?page=2 (fetch, tab 1)\n200 OK, HTTP/1.1, " in shown
    assert re.search(r"\d+ ms \((\w+ \d+(, )?)+\)", shown)
    assert re.search(r"Request headers:\n(  .*\n)*  X-Shelf: B7\n", shown, re.IGNORECASE)
    assert 'Request body (16 bytes):\n{"title":"Emma"}\n' in shown
    assert re.search(r"Response headers:\n(  .*\n)*  Content-Type: text/plain", shown)
    assert re.search(r"Response body \(\d+ bytes\):\nPOST {'page': \['2'\]} {\"title\":\"Emma\"}", shown)


async def test_requests_are_chosen_by_url_method_status_and_type(listening: Hand) -> None:
    await listening.open(
        "<img src=/status/404><script>fetch('/echo?a=1'); fetch('/echo/none', {method: 'POST'});"
        "fetch('http://127.0.0.1:9/').catch(() => 0)</script>"
    )

    async def chosen(**arguments: Any) -> int:
        await listening.do("get_network_requests", **arguments)
        return listening.data["count"]

    assert await chosen(url="/echo") == 2
    assert await chosen(url="/echo?a=*") == 1
    assert await chosen(url="re:echo(/|\\?)") == 2
    assert await chosen(method="post") == 1
    assert await chosen(status="404") == 2
    assert await chosen(status="4xx", type="image") == 1
    assert await chosen(status="failed") == 1
    assert await chosen(type="document,image") == 2
    assert await chosen(url="/nowhere") == 0
    for wrong in ({"status": "bad"}, {"url": "re:("}, {"kind": "xhr"}, {"url": "x" * 600}):
        await listening.fails("get_network_requests", InvalidArguments, **wrong)


async def test_redirects_failures_cache_and_other_tabs_are_told(listening: Hand, site: Site) -> None:
    kept = site.publish(b"'x'", content_type="text/javascript", headers={"Cache-Control": "max-age=600"})
    await listening.open(
        f"<script src={kept}></script><iframe src='{site.other}/echo?in=frame'></iframe><script>"
        f"fetch('/redirect?to=/echo'); fetch('{kept}'); fetch('http://127.0.0.1:9/').catch(() => 0)</script>"
    )
    await listening.do("open_tab", url=site.page("<h1>Other</h1>"))
    told = await listening.do("get_network_requests")
    path = kept.removeprefix(site.url)
    (redirect,) = [line for line in lines_of(told) if "/redirect" in line]
    target = number_of(told, "fetch /echo ")
    assert redirect.endswith(f"→ {target} tab 1")
    assert re.search(rf"GET 200 fetch {path} \d+ ms \(cache\) tab 1", told)
    assert re.search(r"GET failed:ERR_\w+ fetch http://127.0.0.1:9/ ", told)
    assert f"document {site.other}/echo?in=frame" in told
    assert re.search(r"^\d+ GET 200 document /page/\d+ \d+ bytes \d+ ms$", told, re.MULTILINE)


async def test_the_body_of_a_page_that_was_left_is_still_there(listening: Hand, site: Site) -> None:
    await listening.open("<h1>First page</h1>")
    await listening.do("go_to_url", url=site.other)
    assert "<h1>First page</h1>" in await listening.do("get_network_request", id=1)
    assert "There is no request 99." in await listening.fails("get_network_request", NotFound, id=99)


ROWS = "\n".join(f"row {number}" for number in range(3000)).encode()
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.mark.parametrize(
    ("kind", "content", "shown", "hidden"),
    [("text/csv", ROWS, "row 1\n", "row 2999"), ("image/png", PNG, "not text; saved as a file", "PNG")],
)
async def test_a_long_or_binary_body_is_saved_whole(
    listening: Hand, kind: str, content: bytes, shown: str, hidden: str
) -> None:
    url = listening.site.publish(content, content_type=kind, path="/whole")
    await listening.open(f"<script>fetch('{url}')</script>")
    told = await listening.do("get_network_requests")
    told = await listening.do("get_network_request", id=number_of(told, "/whole"))
    assert shown in told
    assert hidden not in told.partition("Response body")[2]
    assert listening.result.attachments[0].mime_type == kind
    assert listening.file.read_bytes() == content


async def test_a_response_is_waited_for_and_what_came_instead_is_told(listening: Hand) -> None:
    await listening.open("<button onclick=\"fetch('/echo?x=1')\">Ask</button>")
    await listening.do("click_element", index=listening.index("Ask"))
    told = await listening.do("wait_for_response", url="/echo", status="2xx")
    assert re.match(r"Request \d+ was answered before this call:", told), "since the last action"
    assert "GET 200 fetch /echo?x=1" in told
    assert "GET {'x': ['1']}" in told
    await listening.js("void setTimeout(() => fetch('/slow?s=0.3&text=at+last', {method: 'POST'}), 100)")
    told = await listening.do("wait_for_response", url="/slow*", method="POST", timeout=8)
    assert re.match(r"Request \d+ was answered:", told)
    assert told.rstrip("</page>\n").endswith("at last")
    await listening.open("<script>fetch('/status/404')</script>")
    wanted = {"url": "/status/404", "status": "200"}
    error = await listening.fails("wait_for_response", DeadlineExceeded, timeout=0.2, **wanted)
    assert "Waited 0.2 s in vain for an answer to: any request for /status/404." in error
    assert re.search(r"Request \d+ was for such an address: GET, 404\.", error)
    await listening.fails("wait_for_response", InvalidArguments, status="pending")


async def test_web_sockets_are_listed_with_their_messages(listening: Hand, sockets: str) -> None:
    await listening.open("<h1>Talk</h1>")
    await listening.js(
        f"new Promise(done => {{ const s = new WebSocket('{sockets}');"
        " s.onopen = () => s.send('hello there'); s.onmessage = () => { s.close(); done() } })"
    )
    await listening.do("wait_for", text="Talk")
    told = await listening.do("get_network_requests", type="websocket")
    shown = await listening.do("get_network_request", id=number_of(told, sockets))
    assert "→ hello there\n  ← hello there" in shown


async def test_what_a_service_worker_answers_is_told(listening: Hand, site: Site) -> None:
    worker = (
        "self.onactivate = e => e.waitUntil(clients.claim()); self.onfetch = e => {"
        " if (e.request.url.endsWith('/made-up')) e.respondWith(new Response('from the worker')) }"
    )
    site.publish(worker.encode(), content_type="text/javascript", path="/worker.js")
    await listening.do("go_to_url", url=site.page("<h1>Worker</h1>"))
    ready = (
        "new Promise(done => { navigator.serviceWorker.oncontrollerchange = done; "
        "navigator.serviceWorker.register('/worker.js') })"
    )
    await listening.js(ready)
    assert await listening.js("fetch('/made-up').then(r => r.text())") == "from the worker"
    assert "(service worker)" in await listening.do("get_network_requests", url="/made-up")


async def test_only_the_newest_requests_are_kept(listening: Hand, site: Site) -> None:
    await listening.open("<h1>Many</h1>")
    site.route("/many", lambda _request: Reply(b"", "text/plain"))
    asking = (
        f"(async () => {{ for (let i = 0; i < {KEPT + 20}; i += 20) await Promise.all("
        "[...Array(20).keys()].map(j => fetch('/many/' + (i + j)).then(r => r.text()))) })()"
    )
    await listening.js(asking)
    told = await listening.do("get_network_requests")
    assert re.match(r"1,000 requests \(\d+ older ones are not kept\), part 1 of ", told)
    assert "is not kept any more" in await listening.fails("get_network_request", NotFound, id=1)


async def test_a_log_that_begins_late_says_since_when(hand: Hand) -> None:
    await hand.open("<h1>Before</h1>")
    assert re.match(r"0 requests \(Recorded since \d\d:\d\d:\d\d\)\.", await hand.do("get_network_requests"))


async def test_what_is_hidden_is_in_no_file_of_the_network(listening: Hand, site: Site) -> None:
    # Under a name that tells nothing, as a person may have typed it.
    hidden = "duckling pond 7"
    listening.session.hide({"typed by a person": hidden})
    long = json.dumps({"note": hidden, "rest": ["x" * 60] * 2000})
    answer = site.publish(long.encode(), content_type="application/json")
    page = site.page(
        f"<script>fetch('/echo', {{method: 'POST', body: 'note={hidden}'}}); fetch('{answer}')</script>"
    )
    await listening.do("go_to_url", url=page)
    listed = await listening.do("get_network_requests", url=answer.removeprefix(site.url))
    (number,) = re.findall(r"^\W*(\d+)", listed.partition("\n")[2], re.MULTILINE)[:1]
    await listening.do("get_network_request", id=int(number))
    files = [listening.file.read_text()]
    await listening.do("export_har", name="all")
    for text in (*files, listening.file.read_text()):
        assert hidden not in text
        assert "<secret>typed by a person</secret>" in text


async def test_an_archive_is_a_valid_har_of_all_that_was_recorded(
    listening: Hand, site: Site, sockets: str
) -> None:
    cookies = {"Set-Cookie": "basket=full; Path=/; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Secure; HttpOnly"}
    body = (
        f"<img src=/status/404><iframe src={site.other}/echo></iframe><script>fetch('/redirect?to=/echo');"
        "fetch('/echo?a=1&b=', {method: 'POST', body: new URLSearchParams({title: 'Emma'})});"
        "fetch('http://127.0.0.1:9/').catch(() => 0);"
        f"new WebSocket('{sockets}').onopen = e => e.target.send('hi')</script>"
    )
    await listening.do("go_to_url", url=site.publish(body.encode(), headers=cookies))
    await listening.do("wait_for_response", url="/echo?a=1")
    told = await listening.do("export_har", name="shop")
    assert re.match(rf"Saved \d+ requests as {re.escape(str(listening.file))}\.", told)
    archive = json.loads(listening.file.read_text())
    jsonschema.validate(archive, HAR)
    entries = archive["log"]["entries"]
    by_url = {entry["request"]["url"].removeprefix(site.url): entry for entry in entries}
    posted = by_url["/echo?a=1&b="]
    assert posted["request"]["queryString"] == [{"name": "a", "value": "1"}, {"name": "b", "value": ""}]
    assert posted["request"]["postData"]["params"] == [{"name": "title", "value": "Emma"}]
    assert posted["response"]["content"]["text"] == "POST {'a': ['1']} title=Emma"
    assert by_url["/redirect?to=/echo"]["response"]["redirectURL"] == "/echo"
    assert by_url["http://127.0.0.1:9/"]["response"]["_error"].startswith("net::ERR_")
    assert by_url["http://127.0.0.1:9/"]["response"]["status"] == 0
    assert archive["log"]["pages"][0]["id"] == posted["pageref"]
    assert {entry["_resourceType"] for entry in entries} >= {"document", "fetch", "image", "websocket"}
    assert all(
        cookie["value"] == "[redacted]" for entry in entries for cookie in entry["response"]["cookies"]
    )
    await listening.do("export_har", url="a=1")
    archive = json.loads(listening.file.read_text())
    assert [entry["request"]["url"][-12:] for entry in archive["log"]["entries"]] == ["/echo?a=1&b="]


def _planted(site: Site, sockets: str) -> str:
    """A page full of secrets: in headers, cookies, addresses, bodies, messages, storage and the console."""

    def answer(request: Request) -> Reply:
        # What is long is kept in a file, which is called by its path.
        more = "x" * 50_000 if SECRETS["header"] in request.path else f"you sent {SECRETS['header']}"
        body = json.dumps({"access_token": SECRETS["answer"], "note": more})
        cookie = {
            "Set-Cookie": f"sid={SECRETS['cookie']}; Path=/; HttpOnly",
            "X-Auth-Token": SECRETS["answer"],
        }
        return Reply(body.encode(), "application/json", headers=cookie)

    site.route("/login", answer)
    return f"""<form><input type=password name=password value="{SECRETS["html"]}"></form><script>
    const auth = {{Authorization: 'Bearer {SECRETS["header"]}'}};
    document.cookie = 'visible_session={SECRETS["cookie"]}; path=/';
    localStorage.access_token = '{SECRETS["storage"]}';
    sessionStorage.login = JSON.stringify({{password: '{SECRETS["storage"]}'}});
    const form = new FormData(); form.append('api_key', '{SECRETS["multipart"]}');
    (async () => {{
      await fetch('/login?token={SECRETS["query"]}#access_token={SECRETS["fragment"]}', {{headers: auth}});
      await fetch('/login', {{method: 'POST', body: JSON.stringify({{password: '{SECRETS["json"]}'}})}});
      await fetch('/login', {{method: 'POST', body: new URLSearchParams({{passwd: '{SECRETS["form"]}'}})}});
      await fetch('/login', {{method: 'POST', body: form}});
      await fetch('/status/404?api_key={SECRETS["query"]}');
      await fetch('/login/{SECRETS["header"]}?again={SECRETS["json"]}');
      await fetch('/redirect?to=/echo%3Fsession_token%3D{SECRETS["query"]}');
      console.error('token={SECRETS["console"]}');
      const socket = new WebSocket('{sockets}?token={SECRETS["query"]}');
      socket.onopen = () => socket.send(JSON.stringify({{password: '{SECRETS["socket"]}'}}));
      socket.onmessage = () => {{ socket.close(); setTimeout(() => document.body.append('All done')) }};
    }})();
    </script>"""


async def test_no_secret_is_in_any_result_or_file(listening: Hand, site: Site, sockets: str) -> None:
    told = [await listening.open(_planted(site, sockets)), await listening.do("wait_for", text="All done")]
    told.append(await listening.do("get_network_requests"))
    numbers = [int(line.split()[0]) for line in lines_of(told[-1])]
    files: list[str] = []
    for number in numbers:
        told.append(await listening.do("get_network_request", id=number))
        files += [file.path or "" for file in listening.result.attachments]
    told.append(await listening.do("wait_for_response", url="/login", method="POST"))
    await listening.js(f"document.title = 'Welcome, {SECRETS['header']}'")
    told.append(await listening.do("export_har"))
    files += [file.path or "" for file in listening.result.attachments]
    told.append(await listening.do("get_console_messages"))
    written = [Path(file).read_text() for file in files]  # noqa: ASYNC240 (small files)
    assert len(numbers) >= 9
    assert "[redacted]" in "".join(told)
    leaks = [
        text[max(0, text.index(secret) - 100) :][:200]
        for secret in SECRETS.values()
        for text in told + written
        if secret in text
    ]
    assert leaks == []


async def test_the_console_repeats_no_secret_that_a_request_has_sent(listening: Hand) -> None:
    seen = await listening.open(
        """<script>
        const headers = {Authorization: 'Bearer kirschbaum77'};
        fetch('/echo', {headers}).then(() => fetch('/status/500?for=/kirschbaum77')).then(() => {
          console.error('GET /files/kirschbaum77/list failed');
          document.body.append('All done');
        });
        </script>"""
    )
    seen += await listening.do("wait_for", text="All done")
    told = await listening.do("get_console_messages")
    assert "kirschbaum77" not in seen + told
    assert "GET /files/[redacted]/list failed" in seen
    assert "GET /files/[redacted]/list failed" in told
    assert "for=/[redacted]" in told


async def test_secrets_are_shown_where_the_settings_say_so(site: Site) -> None:
    shown, tools = ObservationSettings(show_secrets=True), ToolSettings(tools=("core", "network"))
    async with managing(observation=shown, tools=tools) as manager, hand_in(manager, site) as hand:
        await hand.open(
            "<script>fetch('/echo?token=abcdef1', {headers: {Authorization: 'Bearer qwertz77'}})</script>"
        )
        told = await hand.do("get_network_requests")
        assert "Authorization: Bearer qwertz77" in await hand.do(
            "get_network_request", id=number_of(told, "/echo?token=abcdef1")
        )
    assert "Recorded since" not in told


async def test_requests_that_ended_are_listed_whole_after_playwright_let_go_of_them(
    listening: Hand, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_activity, "RETAINED", 5)
    monkeypatch.setattr(page_activity, "RETAINED_SECONDS", 0.5)
    monkeypatch.setattr("mcp_browser.browser.network.log.ASKABLE", 3)
    requests: list[Any] = []
    await listening.do("get_state")
    tab = listening.session.current_tab

    def keep(request: Any) -> None:
        requests.append(request)

    tab.page.on("request", keep)
    await listening.open(
        "<script>const load = i => { if (i < 40) { const image = new Image(); image.onerror = () => "
        "setTimeout(load, 40, i + 1); image.src = `/data/${i}`; } else document.title = 'Loaded' }; load(0)"
        "</script>"
    )
    await tab.page.wait_for_function("document.title == 'Loaded'")
    await listening.do("export_har", name="all")
    freed = [request for request in requests if "_initializer" not in vars(request._impl_obj)]
    assert len(freed) > 20
    entries = json.loads(listening.file.read_text())["log"]["entries"]
    asked = [entry for entry in entries if "/data/" in entry["request"]["url"]]
    assert len(asked) == 40
    assert all(entry["response"]["status"] == 404 and entry["response"]["headers"] for entry in asked)
    assert "Go on" in await listening.open("<button>Go on</button>")


@pytest_asyncio.fixture(loop_scope="session")
async def shop(listening: Hand) -> Hand:
    """A hand with a page, whose session listens to the network."""
    await listening.open("<h1>Shop</h1>")
    return listening


async def ask(hand: Hand, url: str, options: str = "{}") -> Any:
    """What the page gets when it asks for an address: status, type and body, or the failure."""
    answer = "r => r.text().then(body => [r.status, r.headers.get('content-type'), body])"
    return await hand.js(f"fetch('{url}', {options}).then({answer}, String)")


async def test_a_mock_answers_instead_of_the_server(shop: Hand, site: Site) -> None:
    told = await shop.do(
        "mock_route", url="/api/books*", body='[{"title": "Emma"}]', status=201, headers={"X-Shelf": "B7"}
    )
    assert told.startswith("Route 1: mock 201 any method /api/books* (used 0 times). ")
    assert await ask(shop, "/api/books?page=2") == [201, "application/json", '[{"title": "Emma"}]']
    assert not [line for line in site.requests if "/api/books" in line]
    assert "GET 201 fetch /api/books?page=2 19 bytes" in await shop.do("get_network_requests")
    assert "(mock 1)" in await shop.do("get_network_requests")
    assert 'Response body (19 bytes):\n[{"title": "Emma"}]' in await shop.do("get_network_request", id=2)


async def test_a_mock_can_be_for_one_method_for_some_times_and_late(shop: Hand) -> None:
    await shop.do("mock_route", url="/echo", method="post", body="mocked", times=1, delay=0.2)
    assert await ask(shop, "/echo") == [200, "text/plain; charset=utf-8", "GET {} "]
    began = time.monotonic()
    assert await ask(shop, "/echo", "{method: 'POST'}") == [200, "text/plain; charset=utf-8", "mocked"]
    assert time.monotonic() - began >= 0.2
    assert (await ask(shop, "/echo", "{method: 'POST'}"))[2] == "POST {} "
    assert await shop.do("list_routes") == "There are no routes."


async def test_a_mock_may_be_read_by_pages_of_other_sites_and_be_a_whole_page(shop: Hand, site: Site) -> None:
    await shop.do("mock_route", url=f"{site.other}/private*", body="<b>open</b>")
    assert await ask(shop, f"{site.other}/private") == [200, "text/html; charset=utf-8", "<b>open</b>"]
    await shop.do("mock_route", url="/no-such-page", body="<title>Made up</title><button>Pay</button>")
    assert 'button "Pay"' in await shop.do("go_to_url", url=f"{site.url}/no-such-page")


async def test_a_block_lets_requests_fail(shop: Hand, site: Site) -> None:
    await shop.do("block_route", url="re:/ads?/")
    error = await shop.fails("remove_route", NotFound, id=7)
    assert error == "There is no route 7. Routes: 1: block any method re:/ads?/ (used 0 times)."
    assert await ask(shop, "/ad/1") == "TypeError: Failed to fetch"
    assert (await ask(shop, "/echo"))[0] == 200
    assert not [line for line in site.requests if "/ad/" in line]
    told = await shop.do("get_network_requests", status="failed")
    assert "GET failed:ERR_BLOCKED_BY_CLIENT" in told
    assert "(block 1)" in told


async def test_the_newest_route_counts_and_routes_are_removed_one_by_one(shop: Hand) -> None:
    await shop.do("mock_route", url="/echo", body="old")
    await shop.do("mock_route", url="/echo", body="new")
    assert (await ask(shop, "/echo"))[2] == "new"
    told = await shop.do("remove_route", id=2)
    assert told.startswith("Removed 2: mock 200 any method /echo (used 1 time). Routes: 1: mock 200 ")
    assert (await ask(shop, "/echo"))[2] == "old"
    assert "There are no routes." in await shop.do("remove_route")
    assert (await ask(shop, "/echo"))[2] == "GET {} "


async def test_routes_hold_in_new_tabs_and_after_the_browser_was_lost(shop: Hand, site: Site) -> None:
    await shop.do("mock_route", url="/echo", body="mocked")
    await shop.do("open_tab", url=site.page("<h1>Other</h1>"))
    assert (await ask(shop, "/echo"))[2] == "mocked"
    await shop.session.context.close()
    await shop.open("<h1>Again</h1>")
    assert (await ask(shop, "/echo"))[2] == "mocked"


async def test_no_mock_stands_in_for_an_address_that_is_not_allowed(shop: Hand) -> None:
    await shop.do("mock_route", url="file://*", body="<h1>secret file</h1>")
    assert "secret file" not in await shop.fails("go_to_url", BlockedUrl, url="file:///etc/hostname")
    assert "(used 0 times)" in await shop.do("list_routes")


async def test_a_wrong_route_is_refused_and_one_too_many(shop: Hand) -> None:
    wrong: list[dict[str, Any]] = [
        *({"url": ""}, {"url": "re:("}, {"url": "/x", "status": 99}, {"url": "/x", "times": 0}),
        {"url": "/x", "delay": 61},
    ]
    for arguments in wrong:
        await shop.fails("mock_route", InvalidArguments, **arguments)
        assert await shop.do("list_routes") == "There are no routes.", arguments
    await shop.fails("block_route", InvalidArguments)
    assert await shop.do("list_routes") == "There are no routes."
    for number in range(MOST_ROUTES):
        await shop.do("block_route", url=f"/ads/{number}/")
    assert f"There are {MOST_ROUTES} routes already." in await shop.fails("block_route", url="/ads/more")
