"""Many clients of one server at once."""

import asyncio
from itertools import count

import pytest

from tests.support.client import ERAS
from tests.support.load import load
from tests.support.remote import RemoteBrowser, connected, serving
from tests.support.site import Reply, Request, Site

pytestmark = pytest.mark.slow

CLIENTS = load(6, full=32)

FORM = """<form action=/order><label>Name <input name=name></label>
<label>Number <input name=number></label><button>Order</button></form><p id=kept></p>
<script>kept.textContent = `Kept: ${localStorage.who || "nobody"}, ${document.cookie || "nobody"}`</script>"""


async def order(
    browser: RemoteBrowser, site: Site, number: int, turns: list[int], all_there: asyncio.Barrier
) -> None:
    """Work through the form three times, and look each time whether everything is this client's own."""
    name = f"client-{number}"
    for round_ in range(3):
        await browser.open(f"{site.url}/form-of-orders")
        if round_ == 0:
            # How fast browser contexts open is not the subject.
            await all_there.wait()
        kept = name if round_ else "nobody"
        assert browser.shows(f"Kept: {kept}, {kept}"), browser.last()
        await browser.fill("textbox", "Name", name)
        await browser.fill("textbox", "Number", str(round_))
        await browser.click("button", "Order")
        assert browser.shows(f"{name} ordered {round_}."), browser.last()
        turns.append(number)


def answer(request: Request) -> Reply:
    """Confirms an order; the page keeps its client's name in a cookie and in the storage."""
    name, number = request.first("name"), request.first("number")
    body = f"""<title>Ordered</title><p>{name} ordered {number}.</p>
    <script>localStorage.who = "{name}"; document.cookie = "{name}"</script>"""
    return Reply(body.encode())


async def test_many_clients_work_at_once_and_none_meets_another(site: Site) -> None:
    site.page(FORM, path="/form-of-orders", title="Order")
    site.handlers["/order"] = answer
    turns: list[int] = []
    numbers = count()
    all_there = asyncio.Barrier(CLIENTS)

    async with serving("--http", "--sse", "--max-sessions", str(CLIENTS)) as server:

        async def client(url: str, era: str) -> None:
            async with connected(url, era) as browser:  # type: ignore[arg-type]
                await order(browser, site, next(numbers), turns, all_there)

        ways = [(server.url, ERAS[0]), (server.url, ERAS[1]), (server.sse_url, ERAS[1])]
        await asyncio.gather(*(client(*ways[number % len(ways)]) for number in range(CLIENTS)))

    assert len(turns) == 3 * CLIENTS
    first = [turns.index(number) for number in range(CLIENTS)]
    last = [len(turns) - 1 - turns[::-1].index(number) for number in range(CLIENTS)]
    # Fair: nobody has ended all its rounds while another one has not ended its first.
    assert max(first) < sorted(last)[CLIENTS // 2], "half of the clients were done before the slowest began"
