"""Shoelace's components, whose parts live in shadow roots, worked by a policy that reads only the tools."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.client import Browser, browsing
from tests.support.site import Reply, Request, Site

pytestmark = pytest.mark.apps

PAGE = Path(__file__).parent.parent / "support" / "shoelace_order.html"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with browsing("auto") as running:
        yield running


@pytest.fixture
def orders() -> list[dict[str, Any]]:
    """The orders that the site has taken."""
    return []


@pytest.fixture
def order_page(site: Site, shoelace_files: str, orders: list[dict[str, Any]]) -> str:
    def take(request: Request) -> Reply:
        orders.append(json.loads(request.body))
        return Reply(f"Order {len(orders)} sent".encode(), "text/plain")

    html = PAGE.read_text()
    for name, value in {"files": shoelace_files, "orders": site.route("/orders", take)}.items():
        html = html.replace(f"{{{name}}}", value)
    return site.publish(html.encode())


async def test_a_whole_order_goes_through_select_switch_tabs_inputs_and_dialog(
    browser: Browser, order_page: str, orders: list[dict[str, Any]]
) -> None:
    await browser.open(order_page)
    await browser.click("combobox", "Kind of tea")
    await browser.click("option", "Sencha")
    await browser.do("set_checked", index=browser.find("switch", "Organic"), checked=True)
    await browser.do("set_checked", index=browser.find("radio", "Large"), checked=True)
    await browser.click("tab", "Delivery")
    await browser.fill("textbox", "Your name", "Ann")
    await browser.fill("textbox", "Door code", "4711")
    await browser.fill("textbox", "Note to the driver", "Ring twice")
    await browser.do("set_checked", index=browser.find("checkbox", "Before noon"), checked=True)
    shown = await browser.click("button", "Review order")
    assert "tea: sencha" in shown
    assert "4711" not in "".join(result.text for _, _, result in browser.transcript)
    await browser.click("button", "Send order")
    await browser.wait_until("Order 1 sent")
    assert orders == [
        {
            "tea": "sencha",
            "extras": [],
            "size": "large",
            "organic": True,
            "name": "Ann",
            "pin": "4711",
            "note": "Ring twice",
            "morning": True,
        }
    ]


async def test_select_option_works_a_component_select_by_its_labels(
    browser: Browser, order_page: str, orders: list[dict[str, Any]]
) -> None:
    await browser.open(order_page)
    await browser.do("select_option", index=browser.find("combobox", "Kind of tea"), options=["Darjeeling"])
    await browser.do("select_option", index=browser.find("combobox", "Extras"), options=["Milk", "Sugar"])
    await browser.click("button", "Review order")
    await browser.click("button", "Send order")
    await browser.wait_until("Order 1 sent")
    assert orders[0]["tea"] == "darjeeling"
    assert orders[0]["extras"] == ["milk", "sugar"]


async def test_a_dialog_covers_the_page_until_it_is_dismissed(browser: Browser, order_page: str) -> None:
    await browser.open(order_page)
    review = browser.find("button", "Review order")
    await browser.click("button", "Review order")
    covered = await browser.call("click_element", index=review)
    assert covered.is_error
    assert "Your order" in covered.text
    await browser.click("button", "Change it")
    await browser.do("click_element", index=review)
    await browser.do("send_keys", keys="Escape")
    state = await browser.snapshot()
    assert "Send order" not in state


async def test_a_disabled_tab_is_told_and_stays_shut(browser: Browser, order_page: str) -> None:
    await browser.open(order_page)
    gift = browser.element("tab", "Gift")
    assert "disabled" in gift.states
    refused = await browser.call("click_element", index=gift.index)
    assert refused.is_error
    assert "disabled" in refused.text


async def test_details_open_and_show_their_text(browser: Browser, order_page: str) -> None:
    await browser.open(order_page)
    await browser.click("tab", "Delivery")
    assert not browser.shows("No returns of opened tins")
    opened = await browser.click("button", "Small print")
    assert "No returns of opened tins" in opened
