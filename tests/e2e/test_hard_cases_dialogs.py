"""Hard cases with JavaScript dialogs, over stdio: held open, told, and answered only by handle_dialog."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.client import Browser, browsing
from tests.support.site import Site


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with browsing() as connected:
        yield connected


def button(script: str) -> str:
    return f'<p id=out>nothing</p><button onclick="{script}">Go</button>'


async def test_an_alert_is_told_and_holds_other_tools_until_it_is_handled(
    browser: Browser, site: Site
) -> None:
    await browser.open(site.page(button("alert('Watch out'); out.textContent = 'went on'")))
    go = browser.find("button", "Go")
    async with asyncio.timeout(60):
        told = await browser.do("click_element", index=go)
        assert "Watch out" in told
        for tool, arguments in (("click_element", {"index": go}), ("go_back", {}), ("extract_content", {})):
            result = await browser.call(tool, **arguments)
            assert result.is_error
            assert "Watch out" in result.text
            assert "handle_dialog" in result.text
        assert "went on" in await browser.do("handle_dialog", accept=True)


async def test_two_alerts_in_a_row_are_handled_one_by_one(browser: Browser, site: Site) -> None:
    await browser.open(site.page(button("alert('first'); alert('second'); out.textContent = 'went on'")))
    assert "first" in await browser.click("button", "Go")
    assert "second" in await browser.do("handle_dialog", accept=True)
    assert "went on" in await browser.do("handle_dialog", accept=True)


@pytest.mark.parametrize(
    ("kind", "answer", "outcome"),
    [
        ("confirm('Sure?')", {"accept": True}, "true"),
        ("confirm('Sure?')", {"accept": False}, "false"),
        ("prompt('Name?', 'Bob')", {"accept": True, "text": "Ada"}, "Ada"),
        ("prompt('Name?', 'Bob')", {"accept": True}, "Bob"),
        ("prompt('Name?', 'Bob')", {"accept": False}, "null"),
    ],
)
async def test_the_answer_to_a_dialog_arrives(
    browser: Browser, site: Site, kind: str, answer: dict[str, object], outcome: str
) -> None:
    await browser.open(site.page(button(f"out.textContent = 'answer: ' + {kind}")))
    assert "?" in await browser.click("button", "Go")
    assert f"answer: {outcome}" in await browser.do("handle_dialog", **answer)


async def test_a_dialog_at_load_is_told_and_the_page_goes_on_after_it(browser: Browser, site: Site) -> None:
    url = site.page("<script>alert('Welcome')</script><h1>Behind it</h1>")
    async with asyncio.timeout(60):
        assert "Welcome" in await browser.open(url)
        assert "Behind it" in await browser.do("handle_dialog", accept=True)


async def test_a_dialog_by_a_timer_is_told_with_the_next_call(browser: Browser, site: Site) -> None:
    await browser.open(site.page("<h1>Quiet</h1><script>setTimeout(() => alert('Boo'), 1500)</script>"))
    result = await browser.call("wait_for", text="never", timeout=5)
    assert "Boo" in result.text
    await browser.do("handle_dialog", accept=True)


async def test_a_page_that_asks_before_it_is_left_is_left_only_when_told(
    browser: Browser, site: Site
) -> None:
    page = """<h1>Draft</h1><input aria-label=Text>
    <script>addEventListener('beforeunload', event => event.preventDefault())</script>"""
    await browser.open(site.page(page))
    await browser.fill("textbox", "Text", "unsaved")
    there = site.page("<h1>Elsewhere</h1>")
    async with asyncio.timeout(60):
        result = await browser.call("go_to_url", url=there)
        assert "beforeunload" in result.text
        await browser.do("handle_dialog", accept=False)
        assert "Draft" in await browser.snapshot()
        result = await browser.call("go_to_url", url=there)
        assert "beforeunload" in result.text
        await browser.do("handle_dialog", accept=True)
        await browser.do("wait_for", text="Elsewhere")


async def test_handling_a_dialog_when_none_is_open_is_an_error(browser: Browser, site: Site) -> None:
    await browser.open(site.page("<h1>Calm</h1>"))
    assert (await browser.call("handle_dialog", accept=True)).is_error


async def test_a_tab_can_be_closed_while_its_dialog_is_open(browser: Browser, site: Site) -> None:
    await browser.open(site.page("<h1>Base</h1>"))
    await browser.do("open_tab", url=site.page(button("alert('Stuck')")))
    await browser.click("button", "Go")
    async with asyncio.timeout(60):
        await browser.do("close_tab")
        assert "Base" in await browser.snapshot()
