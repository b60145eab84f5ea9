"""What becomes of Playwright's errors, each raised by a real page."""

import asyncio
from collections.abc import Awaitable

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from mcp_browser.dom.cdp import send
from mcp_browser.dom.driver_errors import as_action_error, navigation_error
from mcp_browser.errors import (
    ActionError,
    BrowserUnavailable,
    DeadlineExceeded,
    StaleElement,
)


async def error_of(work: Awaitable[object], kind: type[ActionError], *parts: str) -> ActionError:
    """The error of ours that a failure of Playwright's becomes, of this kind, with these parts."""
    with pytest.raises(PlaywrightError) as raised:
        await work
    error = as_action_error(raised.value, doing="the test")
    assert not any(part in str(error) for part in ("\n", "Call log", "Page."))
    assert isinstance(error, kind)
    assert [part for part in parts if part not in str(error)] == []
    return error


async def test_a_time_limit(page: Page) -> None:
    waiting = page.wait_for_selector("#never", timeout=50)
    await error_of(waiting, DeadlineExceeded, "within 0.05 s", "the test")


async def test_a_closed_page(page: Page) -> None:
    await page.close()
    await error_of(page.title(), BrowserUnavailable, "closed")


async def test_a_crashed_page(page: Page) -> None:
    asking = asyncio.ensure_future(page.evaluate("new Promise(() => {})"))
    cdp = await page.context.new_cdp_session(page)
    async with page.expect_event("crash"):
        crashing = asyncio.create_task(send(cdp, "Page.crash"))
    await error_of(asking, BrowserUnavailable, "crashed")
    crashing.cancel()


async def test_a_document_that_goes_away(page: Page) -> None:
    asking = page.evaluate("setTimeout(() => location.href = 'about:blank?next'), new Promise(() => {})")
    await error_of(asking, ActionError, "went to another address")


async def test_an_element_that_goes_away(page: Page) -> None:
    await page.set_content("<button>Gone</button>")
    button = await page.query_selector("button")
    assert button is not None
    await page.evaluate("document.querySelector('button').remove()")
    await error_of(button.scroll_into_view_if_needed(), StaleElement)


async def test_anything_else_in_one_sentence(page: Page) -> None:
    throwing = page.evaluate("(() => { throw new Error('first line\\nsecond line') })()")
    assert str(await error_of(throwing, ActionError)) == "the test failed: first line."


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("ERR_NAME_NOT_RESOLVED", "host.example:8443 is not known"),
        ("ERR_INVALID_AUTH_CREDENTIALS", "host.example:8443 asks for a login"),
        ("ERR_CERT_DATE_INVALID", "expired"),
        ("ERR_CERT_SOMETHING_NEW", "not valid"),
        ("ERR_NEVER_HEARD_OF", "could not load"),
        ("ERR_UNSAFE_PORT", "port 8443"),
    ],
)
def test_each_code_of_the_network_has_its_words(code: str, words: str) -> None:
    error = navigation_error("https://host.example:8443/x", code)
    assert words in str(error)
    assert code in str(error)


def test_an_address_that_nobody_can_read_is_no_failure_of_its_own() -> None:
    cause = PlaywrightError("Page.goto: net::ERR_CONNECTION_REFUSED at http://h:99999/")
    error = as_action_error(cause, doing="the test")
    assert "http://h:99999/" in str(error)
    assert "ERR_CONNECTION_REFUSED" in str(error)
