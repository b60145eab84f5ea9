"""What a hostile page leaves behind for others, and what it asks of the browser beside its own document."""

from pathlib import Path

import pytest

from mcp_browser.browser.manager import BrowserManager
from tests.browser.conftest import Hand, another, shown, until
from tests.support.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

SCRIPTS = {
    "/walls.js": Path(__file__).with_name("walls.js").read_text("utf-8"),
    "/shared.js": """const names = [], ports = [];
        onconnect = ({ ports: [port] }) => {
            ports.push(port);
            port.onmessage = ({ data }) => {
                names.push(data);
                for (const port of ports) port.postMessage(names);
            };
        };""",
    "/beating.js": """const name = new URL(location).searchParams.get('name');
        oninstall = () => skipWaiting();
        setInterval(() => fetch('/beat?name=' + name).catch(() => 0), 50);""",
}

NOTHING = {f"got {nothing}" for nothing in ("", "denied", "false", "null", "undefined")}


@pytest.fixture
def hostile(site: Site) -> str:
    for path, script in SCRIPTS.items():
        site.publish(script.encode(), path=path, content_type="text/javascript")
    return site.page(
        "<h1>All</h1><button onclick='asked = ask()'>Go</button><script src=/walls.js></script>", path="/all"
    )


async def test_nothing_of_a_page_reaches_another_session_or_outlives_its_own(
    manager: BrowserManager, hand: Hand, site: Site, hostile: str
) -> None:
    def beats(name: str, since: int = 0) -> int:
        return sum(f"/beat?name={name}" in asked for asked in site.requests[since:])

    async def visit(one: Hand, name: str) -> None:
        await one.open(f"{hostile}?name={name}")
        await one.tab.page.evaluate("leave()")

    async with another(manager) as other:
        for _ in range(2):
            await visit(hand, "first")
            await visit(other, "second")
        await until(lambda: min(beats("first"), beats("second")) > 0)
        for one in (hand, other):
            assert await one.tab.page.evaluate("[...found]") == []
    since = len(site.requests)
    # The other's beats tell how long to wait.
    await until(lambda: beats("first", since) > 5)
    assert beats("second", since) <= 1
    async with another(manager) as later:
        await visit(later, "third")
        assert await later.tab.page.evaluate("[...found]") == []


async def test_what_a_page_asks_of_a_person_is_refused(hand: Hand, site: Site, hostile: str) -> None:
    await hand.open(f"{hostile}?name=asking")
    await hand.click("Go")
    told = await hand.tab.page.evaluate("asked")
    given = {name: said for name, said in told.items() if said.startswith("got ") and said not in NOTHING}
    assert given == {}
    seen = await hand.look()
    assert (seen.dialog, len(hand.session.tabs)) == (None, 1)
    assert "All" in shown(seen)
