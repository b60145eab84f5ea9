"""JavaScript dialogs: held open, told, answered, closed by others."""

import asyncio

import pytest

from mcp_browser.dom.cdp import send
from mcp_browser.errors import BrowserUnavailable, DialogOpen, NotFound
from tests.browser.conftest import Hand, button, dialog_of, shown, until
from tests.support.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.fresh]


async def test_while_a_dialog_is_open_the_page_is_asked_nothing(hand: Hand, site: Site) -> None:
    await hand.open(site.page(button("alert('Stop')"), title="Stopped"))
    told = await hand.click("Go")
    dialog = dialog_of(told)
    assert (dialog.kind, dialog.message) == ("alert", "Stop")
    assert (told.snapshot, told.changes, hand.tab.held) == (None, None, True)
    with pytest.raises(DialogOpen, match="Stop"):
        await hand.tab.screenshot()
    with pytest.raises(DialogOpen, match="handle_dialog"):
        await hand.tab.ask(hand.tab.page.title())
    told = await hand.look()
    assert dialog_of(told) == dialog
    assert told.title == "Stopped", "the browser knows the title without the page"
    await hand.answer(True)


async def test_a_dialog_closed_by_a_person_is_open_no_more(hand: Hand, site: Site) -> None:
    await hand.open(site.page(button("alert('Hello'); out.textContent = 'went on'")))
    await hand.click("Go")
    await send(hand.tab.cdp, "Page.handleJavaScriptDialog", accept=True)
    await until(lambda: hand.tab.dialog is None)
    assert "went on" in shown(await hand.look())
    with pytest.raises(NotFound, match="No dialog is open"):
        await hand.tab.answer_dialog(True)


async def test_a_question_or_an_action_that_a_dialog_holds_is_broken_off(hand: Hand, site: Site) -> None:
    await hand.open(site.page("<script>setTimeout(() => alert('Late'), 600)</script>Quiet"))
    with pytest.raises(DialogOpen, match="Late"):
        await hand.tab.ask(hand.tab.page.evaluate("new Promise(() => {})"), limit=10)
    await hand.tab.answer_dialog(False)
    held = "setTimeout(() => alert('Held'), 200); new Promise(() => {})"
    with pytest.raises(DialogOpen, match="Held"):
        await hand.do(lambda tab: tab.page.evaluate(held))
    await hand.answer(True)
    assert "Quiet" in shown(await hand.look())


async def test_a_page_that_asks_before_it_is_left_stays_or_goes_as_told(hand: Hand, site: Site) -> None:
    there = site.page("<h1>Elsewhere</h1>")
    await hand.open(site.page("<h1>Draft</h1><script>onbeforeunload = e => e.preventDefault()</script>"))
    await hand.click("Draft")
    for accept, arrived in ((False, "Draft"), (True, "Elsewhere")):
        with pytest.raises(DialogOpen, match="beforeunload"):
            await hand.open(there)
        await hand.answer(accept)
        assert arrived in shown(await hand.look())


async def test_a_dialog_of_another_tab_is_told_and_leaves_this_one_usable(hand: Hand, site: Site) -> None:
    await hand.open(site.page("<script>setTimeout(() => alert('Behind you'), 400)</script>First"))
    first = hand.tab
    told = await hand.do(lambda _: hand.session.new_tab(site.page("Second")), effect="navigation")
    notices = told.notices
    await until(lambda: first.dialog is not None)
    told = await hand.look()
    notices += told.notices
    assert "Second" in shown(told)
    assert any("Behind you" in notice and f"tab {first.id}" in notice for notice in notices)
    dialog_of(await hand.do(lambda _: hand.session.switch_tab(first.id), effect="navigation"))
    await hand.answer(True)


async def test_a_dialog_of_the_first_script_does_not_hold_the_navigation(hand: Hand, site: Site) -> None:
    there = site.page("<script>alert('Welcome')</script><h1>Behind</h1>")
    assert dialog_of(await hand.open(there)).message == "Welcome"
    assert "Behind" in shown(await hand.answer(True))
    # Nor that of a popup.
    await hand.open(site.page(button(f"window.open('{there}')")))
    assert dialog_of(await hand.click("Go")).message == "Welcome"
    assert "Behind" in shown(await hand.answer(True))


async def test_a_tab_with_an_open_dialog_can_be_closed(hand: Hand, site: Site) -> None:
    await hand.open(site.page("Base"))
    await hand.do(lambda _: hand.session.new_tab(site.page(button("alert('Stuck')"))), effect="navigation")
    await hand.click("Go")
    told = await hand.do(lambda tab: hand.session.close_tab(tab.id), effect="navigation")
    assert "Base" in shown(await hand.look()) or "Base" in shown(told)


async def test_a_cancelled_question_leaves_the_page_usable(hand: Hand, site: Site) -> None:
    await hand.open(site.page("<h1>Here</h1>"))
    asking = asyncio.create_task(hand.tab.ask(hand.tab.page.evaluate("new Promise(() => {})")))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait({asking})
    assert "Here" in shown(await hand.look())
    # A closed tab answers nothing.
    tab = await hand.session.new_tab(site.page("Brief"))
    await hand.session.close_tab(tab.id)
    with pytest.raises(BrowserUnavailable, match=f"Tab {tab.id} was closed"):
        await tab.ask(tab.page.title())
