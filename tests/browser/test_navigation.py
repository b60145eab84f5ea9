"""Where a tab goes: good and bad addresses, slow and broken servers, history."""

from collections.abc import Awaitable
from http.server import BaseHTTPRequestHandler

import pytest

from mcp_browser.browser.observation import Observation
from mcp_browser.browser.page import DOCUMENTS_KEPT
from mcp_browser.dom.cdp import send
from mcp_browser.errors import BlockedUrl, DeadlineExceeded, NavigationError
from tests.browser.conftest import Hand, answering, shown, until
from tests.support.apps import free_port
from tests.support.site import Site

pytestmark = pytest.mark.slow


class Garbage(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.wfile.write(b"this is not HTTP\r\n\r\n")


async def test_the_status_of_a_document_is_told(hand: Hand, site: Site) -> None:
    async def status(telling: Awaitable[Observation]) -> int | None:
        snapshot = (await telling).snapshot
        assert snapshot is not None
        assert snapshot.status == hand.tab.activity.status
        return snapshot.status

    for code in (200, 404, 500):
        assert await status(hand.open(f"{site.url}/status/{code}")) == code
    await hand.do(lambda tab: tab.page.evaluate("history.pushState({}, '', '/elsewhere')"))
    assert hand.tab.activity.status == 500, "the document is the same"
    assert await status(hand.open("about:blank")) is None
    # It is that of the last redirect, and follows a click.
    assert await status(hand.open(f"{site.url}/redirect?to=/status/404")) == 404
    assert hand.tab.url == f"{site.url}/status/404"
    await hand.open(site.page("<a href='/status/403'>Closed</a>"))
    assert await status(hand.click("Closed")) == 403


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("http://127.0.0.1:{closed}/", "connection refused"),
        ("http://127.0.0.1:1/", "port 1 as unsafe"),
        ("http://nobody.invalid/", "DNS"),
        ("https://127.0.0.1:{site}/", "TLS"),
        ("http://{garbage}/", "not (?:valid )?HTTP|broke|without an answer"),
        ("http://127.0.0.1:{site}/empty", "HTTP 500"),
        ("http://127.0.0.1:{site}/redirect?to=file:///etc/passwd", "redirect"),
        ("http://[::1%25lo]/", "not a valid address"),
    ],
)
async def test_why_a_page_does_not_open(hand: Hand, site: Site, address: str, reason: str) -> None:
    site.publish(b"", path="/empty", status=500)
    with answering(Garbage) as garbage:
        url = address.format(closed=free_port(), site=site.port, garbage=garbage)
        with pytest.raises(NavigationError, match=reason) as refusal:
            await hand.open(url)
    assert url in str(refusal.value)
    assert "Call log" not in str(refusal.value)
    assert "After" in shown(await hand.open(site.page("After")))


async def test_an_address_without_answer_in_time_or_content_leaves_the_page(hand: Hand, site: Site) -> None:
    await hand.open(site.page("Staying"))
    with pytest.raises(NavigationError, match="HTTP 204"):
        await hand.open(site.publish(b"", status=204))
    assert "Staying" in shown(await hand.look())
    with pytest.raises(DeadlineExceeded, match="/hang did not begin to show within 4 s"):
        await hand.open(f"{site.url}/hang")
    assert "Staying" in shown(await hand.look())
    assert "After" in shown(await hand.open(site.page("After")))


async def test_a_page_shows_while_a_script_or_its_rest_hangs(hand: Hand, site: Site) -> None:
    scripted = site.page("<h1>Above</h1><script src=/hang></script><h1>Below</h1>")
    half = f"{site.url}/stream?type=text/html&every=1&text=<h1>Half"
    for address, part in ((scripted, "Above"), (half, "Half")):
        told = await hand.open(address)
        assert part in shown(told)
        assert any("still loading" in notice.lower() for notice in told.notices)


async def test_going_back_and_forward_and_reloading(hand: Hand, site: Site) -> None:
    second = site.page("Two<img src=/hang>")
    await hand.session.new_tab(site.page("One<img src=/hang>"))
    await hand.open(second)
    assert "One" in shown(await hand.do(lambda tab: tab.back(), effect="navigation"))
    assert "Two" in shown(await hand.do(lambda tab: tab.forward(), effect="navigation"))
    assert "Two" in shown(await hand.do(lambda tab: tab.reload(), effect="navigation"))
    # Within a document, too.
    await hand.do(lambda tab: tab.page.evaluate("location.hash = 'part'"))
    assert hand.tab.url == f"{second}#part"
    await hand.do(lambda tab: tab.back(), effect="navigation")
    assert hand.tab.url == second
    for _ in range(2):
        await hand.tab.back()
    with pytest.raises(NavigationError, match="no page to go back to"):
        await hand.tab.back()


async def test_a_page_that_sends_elsewhere_while_it_loads_is_followed(hand: Hand, site: Site) -> None:
    there = site.page("Arrived")
    told = await hand.open(site.page(f"<script>location.href = '{there}'</script>"))
    assert told.url == there
    assert "Arrived" in shown(told)
    # A path opens on the site of the page.
    assert "Status 200" in shown(await hand.open("/status/200"))


async def test_no_click_leads_to_a_file_of_this_machine(hand: Hand, site: Site) -> None:
    await hand.open(
        site.page(
            "<a href='file:///etc/passwd'>Link</a><a target=_blank href='file:///etc/passwd'>Tab</a>"
            "<button onclick=\"location.href = 'file:///etc/passwd'\">Script</button>"
            "<button onclick=\"window.open('file:///etc/passwd')\">Popup</button>"
            "<iframe src='file:///etc/passwd'></iframe>"
        )
    )
    base = hand.tab
    for text in ("Link", "Tab", "Script", "Popup"):
        told = await hand.click(text)
        assert "root:" not in shown(told)
        await hand.session.switch_tab(base.id)
    assert all("file:" not in tab.url for tab in hand.session.tabs.values())


async def test_a_file_that_was_reached_all_the_same_is_not_shown_and_left(hand: Hand, site: Site) -> None:
    await hand.open(site.page("Base"))
    with pytest.raises(BlockedUrl, match="file:///etc/hostname, which is not allowed"):
        await hand.do(lambda tab: tab.page.goto("file:///etc/hostname"))
    assert hand.tab.url == "about:blank"
    await hand.tab.page.goto("file:///etc/hostname")
    with pytest.raises(BlockedUrl):
        await hand.look()
    assert "Base" in shown(await hand.open(site.page("Base")))


async def test_a_page_that_loops_for_ever_can_be_reloaded_and_left(hand: Hand, site: Site) -> None:
    await hand.open(site.page("<button onclick='for (;;);'>Freeze</button>"))
    with pytest.raises(DeadlineExceeded, match="its script is busy"):
        await hand.click("Freeze")
    assert "Freeze" in shown(await hand.do(lambda tab: tab.reload(), effect="navigation"))
    with pytest.raises(DeadlineExceeded):
        await hand.click("Freeze")
    assert "Thawed" in shown(await hand.open(site.page("Thawed")))
    # Also one whose loop nobody has noticed.
    loop = "const x = new XMLHttpRequest(); x.open('GET', '/status/200?looping', false); x.send(); for (;;);"
    await hand.open(site.page(f"Base<script>setTimeout(() => {{ {loop} }}, 1200)</script>"))
    await until(lambda: "GET /status/200?looping" in site.requests)
    assert "Thawed" in shown(await hand.open(site.page("Thawed")))


async def test_documents_that_are_gone_do_not_fill_the_memory(hand: Hand, site: Site) -> None:
    page = site.page("<p>One of many</p>")
    for _ in range(DOCUMENTS_KEPT + 1):
        await hand.open(page)

    async def are_collected() -> bool:
        return (await send(hand.tab.cdp, "Memory.getDOMCounters"))["documents"] < DOCUMENTS_KEPT / 2

    await until(are_collected)
