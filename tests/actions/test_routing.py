"""Requests that are mocked and blocked."""

import time
from typing import Any

import pytest
import pytest_asyncio

from mcp_browser.browser.network.routes import MOST
from mcp_browser.errors import BlockedUrl, InvalidArguments, NotFound
from tests.actions.hand import Hand
from tests.support.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.fresh]


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


async def test_a_wrong_route_is_refused(shop: Hand) -> None:
    wrong: list[dict[str, Any]] = [
        *({"url": ""}, {"url": "re:("}, {"url": "/x", "status": 99}, {"url": "/x", "times": 0}),
        {"url": "/x", "delay": 61},
    ]
    for arguments in wrong:
        await shop.fails("mock_route", InvalidArguments, **arguments)
        assert await shop.do("list_routes") == "There are no routes.", arguments
    await shop.fails("block_route", InvalidArguments)
    assert await shop.do("list_routes") == "There are no routes."


async def test_there_are_only_so_many_routes(shop: Hand) -> None:
    for number in range(MOST):
        await shop.do("block_route", url=f"/ads/{number}/")
    assert f"There are {MOST} routes already." in await shop.fails("block_route", url="/ads/more")
