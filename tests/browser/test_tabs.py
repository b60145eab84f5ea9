"""Tabs: opened, followed, closed, never confused; their dialogs, and the files that pages give."""

import asyncio

import pytest

from mcp_browser.dom.cdp import send
from mcp_browser.errors import BlockedUrl, BrowserUnavailable, DialogOpen, NavigationError, NotFound
from tests.browser.conftest import Hand, button, dialog_of, shown, until
from tests.support.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.fresh]


async def test_a_link_into_a_new_tab_is_followed_and_told(hand: Hand, site: Site) -> None:
    there = site.page("<h1>New one</h1>", title="New")
    await hand.open(site.page(f"<a href='{there}' target=_blank>Open</a>", title="Old"))
    old = hand.tab
    told = await hand.click("Open")
    assert told.url == there
    assert "New one" in shown(told)
    assert hand.tab.opener == old.id
    assert [(tab.title, tab.current) for tab in told.tabs] == [("Old", False), ("New", True)]
    assert any(f"new tab {hand.tab.id}" in notice for notice in told.notices)


async def test_a_popup_between_calls_is_told_but_not_followed(hand: Hand, site: Site) -> None:
    there = site.page("Late one")
    await hand.open(site.page(f"Base<script>setTimeout(() => window.open('{there}'), 1300)</script>"))
    base = hand.tab
    await until(lambda: len(hand.session.tabs) == 2)
    told = await hand.look()
    assert hand.tab is base
    assert "Base" in shown(told)
    assert any("switch_tab" in notice for notice in told.notices)


CHOSEN = "opener.document.querySelector('p').textContent = 'chosen'; window.close()"
CHOOSERS = {
    "at once": f'<button onclick="{CHOSEN}">Choose</button>',
    "by a timer": f'<button onclick="setTimeout(() => {{ {CHOSEN} }}, 150)">Choose</button>',
    "by the answer to its form": "<form action=/chosen><button>Choose</button></form>",
}


@pytest.mark.parametrize("way", CHOOSERS)
async def test_a_window_that_closes_itself_gives_way_to_its_opener(hand: Hand, site: Site, way: str) -> None:
    site.page(f"<script>{CHOSEN}</script>", path="/chosen")
    popup = site.page(CHOOSERS[way], title="Chooser")
    await hand.open(
        site.page(f"<p>nothing</p><button onclick=\"open('{popup}', 'c', 'width=400')\">Open</button>")
    )
    base = hand.tab
    await hand.click("Open")
    closing = hand.tab.id
    assert hand.tab is not base
    told = await hand.click("Choose")
    assert hand.tab is base
    assert "chosen" in shown(told)
    assert any("is the current one now" in notice for notice in told.notices)
    assert closing not in hand.session.tabs


async def test_a_slow_popup_and_what_its_timer_does_are_awaited(hand: Hand, site: Site) -> None:
    await hand.open(site.page("<button onclick=\"window.open('/slow?s=1&text=Popped')\">Open</button>"))
    assert "Popped" in shown(await hand.click("Open"))
    later = "setTimeout(() => { document.querySelector('h1').textContent = 'Later' }, 200)"
    popup = site.page(f'<h1>Popup</h1><button onclick="{later}">Change</button>')
    await hand.open(site.page(f"<button onclick=\"open('{popup}', 'p', 'width=400')\">Open</button>"))
    await hand.click("Open")
    assert "Later" in shown(await hand.click("Change"))


async def test_after_its_tab_went_away_between_calls_input_is_refused_once(hand: Hand, site: Site) -> None:
    popup = site.page("<script>setTimeout(() => window.close(), 1300)</script>Brief")
    await hand.open(site.page(f"<button onclick=\"window.open('{popup}')\">Open</button>"))
    await hand.click("Open")
    brief = hand.tab
    await until(lambda: len(hand.session.tabs) == 1)
    clicked = False

    async def click(_: object) -> None:
        nonlocal clicked
        clicked = True

    with pytest.raises(NotFound, match=f"Tab {brief.id} .* was closed"):
        await hand.do(click)
    assert not clicked
    await hand.do(click)
    assert clicked


async def test_closing_the_current_tab_returns_to_its_opener(hand: Hand, site: Site) -> None:
    base = hand.tab
    second = await hand.session.new_tab(site.page("Second"))
    third = await hand.session.new_tab(site.page("Third"))
    await hand.session.switch_tab(second.id)
    await hand.session.close_tab(second.id)
    assert hand.tab is base
    # Numbers are never used again.
    with pytest.raises(NotFound, match=f"no tab {second.id}.*Open tabs.*{third.id}"):
        await hand.session.close_tab(second.id)
    assert (await hand.session.new_tab()).id > third.id


async def test_closing_the_last_tab_leaves_a_blank_one(hand: Hand, site: Site) -> None:
    await hand.open(site.page("Only"))
    last = hand.tab
    told = await hand.do(lambda _: hand.session.close_tab(last.id), effect="navigation")
    assert told.url == "about:blank"
    assert hand.tab.id != last.id
    assert "Again" in shown(await hand.open(site.page("Again")))


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("notaurl", NavigationError),
        ("http://127.0.0.1:1/", NavigationError),
        ("file:///etc/passwd", BlockedUrl),
    ],
)
async def test_a_tab_that_cannot_open_is_closed_again(hand: Hand, url: str, error: type[Exception]) -> None:
    before = hand.tab
    with pytest.raises(error):
        await hand.session.new_tab(url)
    assert hand.tab is before
    assert list(hand.session.tabs) == [before.id]


async def test_changes_come_with_the_tabs_only_where_these_are_others(hand: Hand, site: Site) -> None:
    await hand.open(site.page(f"<p onclick=\"this.textContent = 'Now'\">Then</p>{'Words. ' * 90}"))
    await hand.do(lambda tab: tab.page.evaluate("open('about:blank')"))
    assert len((await hand.look()).tabs) == 2
    first = next(iter(hand.session.tabs))
    await hand.do(lambda _: hand.session.switch_tab(first))
    assert (await hand.click("Then")).tabs == ()


# -- JavaScript dialogs: held open, told, answered, closed by others


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


# -- files: saved, told, never where a page wants them


async def test_downloads_by_links_are_saved_and_told_with_path_and_size(hand: Hand, site: Site) -> None:
    # Two of one name are two files.
    links = "<a href='/download/a.txt?text=figures'>One</a> <a href='/download/a.txt?text=2'>Two</a>"
    await hand.open(site.page(links))
    told = await hand.click("One")
    await hand.click("Two")
    info, _ = hand.session.downloads
    assert info.size == len("figures")
    assert any(str(info.path) in notice and "7 bytes" in notice for notice in told.notices)
    paths = [info.path for info in hand.session.downloads if info.path]
    assert [path.name for path in paths] == ["a.txt", "a-2.txt"]
    assert [path.read_text() for path in paths] == ["figures", "2"]
    assert {path.parent for path in paths} == {hand.session.output_dir}


async def test_a_tab_opened_for_a_file_is_closed_again(hand: Hand, site: Site) -> None:
    await hand.open(site.page("<a href='/download/b.txt' target=_blank>File</a> Base"))
    await hand.click("File")
    (info,) = hand.session.downloads
    assert info.size is not None
    await hand.do(lambda _: hand.session.new_tab(site.url + "/download/c.txt"), effect="navigation")
    assert [info.name for info in hand.session.downloads] == ["b.txt", "c.txt"]
    assert "Base" in shown(await hand.look())
    assert len(hand.session.tabs) == 1


async def test_a_download_that_breaks_off_is_told_and_leaves_no_file(hand: Hand, site: Site) -> None:
    await hand.open(site.page("<a href='/download/half.bin?length=100000'>Half</a>"))
    told = await hand.click("Half")
    (info,) = hand.session.downloads
    assert info.error
    assert info.path is not None
    assert not info.path.exists()
    assert any("failed" in notice for notice in told.notices)
