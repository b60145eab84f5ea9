"""Expressions by which Playwright finds a recorded element."""

from mcp_browser.dom.identities import ElementRecord
from mcp_browser.dom.locators import ElementLocator, locators


def test_an_element_of_which_only_the_text_is_known_is_found_by_it() -> None:
    record = ElementRecord(index=1, role="text", name="", text="Buy now", tag="b")
    assert [locator.python() for locator in locators(record)] == ['page.get_by_text("Buy now")']


def test_a_locator_is_written_in_both_languages() -> None:
    locator = ElementLocator("role", "button", 'Say "hi"\u2028', frames=("#inner",))
    assert locator.python("page_2") == (
        'page_2.frame_locator("#inner").get_by_role("button", name=\'Say "hi"\\u2028\', exact=True)'
    )
    assert locator.typescript() == (
        'page.frameLocator("#inner").getByRole("button", { name: "Say \\"hi\\"\\u2028", exact: true })'
    )
