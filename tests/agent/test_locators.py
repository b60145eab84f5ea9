"""Expressions by which Playwright finds a recorded element."""

from mcp_browser.agent.record.locators import locators
from mcp_browser.dom.identities import ElementRecord


def test_an_element_of_which_only_the_text_is_known_is_found_by_it() -> None:
    record = ElementRecord(index=1, role="text", name="", text="Buy now", tag="b")
    assert locators(record, "page") == ['page.get_by_text("Buy now")']
