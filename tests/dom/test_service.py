"""The service over a bare page, with the page script apart from the page and in it."""

import asyncio
import gc
from collections import Counter
from pathlib import Path

import pytest
from playwright.async_api import Page

from mcp_browser.dom import references
from mcp_browser.dom.cdp import send
from mcp_browser.dom.models import DomChanges, ElementQuery
from mcp_browser.dom.scripts import hook_script, page_script
from mcp_browser.dom.service import DomService
from mcp_browser.errors import NotFound, StaleElement
from tests.dom.conftest import Show
from tests.snapshot.hand import View
from tests.support.site import Site


async def test_secrets_are_masked_even_when_the_field_is_turned_into_text(show: Show, page: Page) -> None:
    dom = await show(
        "<input type=password aria-label=Word value=hunter2><input name=cvv aria-label=Code value=123>"
    )
    before = [str(node) for node in (await dom.snapshot()).nodes]
    await page.evaluate("document.querySelector('input').type = 'text'")
    after = [str(node) for node in (await dom.snapshot()).nodes]
    assert not any("hunter2" in line or "123" in line for line in [*before, *after])
    assert "hunter2" not in await dom.html()
    assert sum("•••" in line for line in after) == 2


async def test_a_thrown_away_reading_is_told_again(show: Show, page: Page) -> None:
    dom = await show("<p id=a>One</p>" + "<p>Filler that stays as it is.</p>" * 40)
    await dom.snapshot()
    await page.evaluate("a.textContent = 'Two'")
    await dom.settle_and_changes(limit=1)
    _, told = await dom.settle_and_changes(limit=1, again=True)
    assert isinstance(told, DomChanges)
    assert [change.node.name for change in told.changes] == ["Two"]


@pytest.mark.slow
async def test_what_is_kept_of_pages_is_bounded_over_many_navigations(
    show: Show, page: Page, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(references, "MOST_REMEMBERED", 100)
    inner = site.page("<button>Inner</button>").replace(site.url, site.other)
    buttons = "".join(f"<button>Button {number}</button>" for number in range(60))

    async def visit() -> list[int]:
        dom = await show(f"{buttons}<iframe src='{inner}'></iframe>")
        await dom.snapshot()
        found = await dom.find(ElementQuery(role="button"), limit=100)
        return [node.index for node in found.nodes if node.index is not None]

    def kept() -> tuple[int, int]:
        gc.collect()
        kinds = Counter(type(thing).__name__ for thing in gc.get_objects())
        return kinds["ElementRef"], kinds["World"]

    dom = await show("<p>Beginning</p>")
    before = kept()
    visits = [await visit() for _ in range(8)]
    await dom.snapshot()
    after = kept()
    # The page that is open, the one before it, and what there is room for.
    assert after[0] - before[0] <= 3 * 62 + 100
    assert after[1] - before[1] <= 6
    assert len({index for visit in visits for index in visit}) == 8 * 61
    with pytest.raises(StaleElement, match=rf"\[{visits[0][5]}\] is gone: .* left long ago"):
        await dom.ready(visits[0][5], for_="click")
    with pytest.raises(StaleElement, match=r'button "Button 5" is gone.* button "Button 5"'):
        await dom.ready(visits[-2][5], for_="click")
    with pytest.raises(NotFound, match="no snapshot of this tab has shown"):
        await dom.ready(visits[-1][-1] + 1000, for_="click")


@pytest.mark.parametrize("by_content", [False, True])
async def test_a_file_input_gets_files(show: Show, page: Page, tmp_path: Path, by_content: bool) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.bin"]
    for path, content in zip(paths, (b"words \xc3\xbc", bytes(range(256))), strict=True):
        path.write_bytes(content)
    dom = await show(
        "<label>Files <input type=file id=f multiple></label>"
        "<script>seen = []; f.oninput = f.onchange = event => seen.push(event.type)</script>"
    )
    await dom.set_files(View(await dom.snapshot()).index("Files"), paths, by_content=by_content)
    read = "async file => [file.name, file.type, [...new Uint8Array(await file.arrayBuffer())]]"
    given = await page.evaluate(f"Promise.all([...f.files].map({read}))")
    assert [name for name, _, _ in given] == ["a.txt", "b.bin"]
    assert [bytes(content) for _, _, content in given] == [path.read_bytes() for path in paths]
    assert given[0][1] == "text/plain"
    assert await page.evaluate("seen") == ["input", "change"]


async def test_an_element_that_playwright_has_found_gets_an_index(show: Show, page: Page) -> None:
    dom = await show("<p id=p>Words</p><p id=gone>Gone</p>")
    handles = [await page.wait_for_selector("#gone"), await page.wait_for_selector("#p")]
    await page.evaluate("gone.remove()")
    gone, node = await dom.nodes_of([handle for handle in handles if handle])
    assert gone is None
    assert node is not None
    assert node.index is not None
    assert (await dom.ready(node.index, for_="read")).tag == "p"


async def test_a_value_is_set_so_that_frameworks_notice(show: Show, page: Page) -> None:
    dom = await show(
        "<input id=i type=date aria-label=Day><script>"
        "const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');"
        "let known = ''; Object.defineProperty(i, 'value', {get() { return own.get.call(i) },"
        " set(v) { known = v; own.set.call(i, v) }});"
        "i.addEventListener('input', () => { if (own.get.call(i) !== known) document.title = 'noticed' });"
        "i.addEventListener('change', () => { i.value = '2030-01-01' })"
        "</script>"
    )
    key = await dom.call(View(await dom.snapshot()).index("Day"), "setValue", "2031-05-06")
    assert await page.title() == "noticed"
    assert key == "", "no key follows, although the page has set another value"


async def test_html_is_written_out_with_shadow_trees_and_frames(show: Show) -> None:
    dom = await show(
        "<div id=h></div><iframe srcdoc='<b>framed</b>'></iframe><p hidden>unseen</p>"
        "<script>h.attachShadow({mode: 'open'}).innerHTML = '<i>shadow</i>'</script>"
    )
    for readable in (False, True):
        html = await dom.html(readable=readable)
        assert "<i>shadow</i>" in html
        assert "<b>framed</b>" in html
        assert ("unseen" in html, "attachShadow" in html) == (not readable, not readable)


async def test_boxes_of_frames_lie_where_they_are_seen(show: Show) -> None:
    dom = await show(
        "<div style='height:100px'></div>"
        "<iframe srcdoc='<button>Deep</button>' style='border:0;margin:0 0 0 50px'></iframe>"
    )
    view = View(await dom.snapshot())
    (box,) = [box for box in await dom.boxes() if box.index == view.index("Deep")]
    ready = await dom.ready(box.index, for_="click")
    assert box.x < ready.x < box.x + box.width
    assert box.y < ready.y < box.y + box.height
    assert (found := await dom.at_point(ready.x, ready.y)) is not None
    assert found.node.index == box.index
    assert found.actable


async def test_the_page_is_read_while_it_navigates(
    show: Show, page: Page, site: Site, dom: DomService
) -> None:
    await show("<button>First</button>")
    await dom.snapshot()
    there = site.page("<button>Second</button>")

    async def read_often() -> None:
        for _ in range(5):
            await dom.snapshot()

    await asyncio.gather(page.goto(there), read_often())
    assert View(await dom.snapshot()).offers("Second")


async def test_the_number_of_a_world_that_is_another_documents_by_now_is_not_used(show: Show) -> None:
    # Each process of the browser numbers its worlds from the start.
    dom = await show("<button>Go</button>")
    await dom.snapshot()
    world = (await dom._frames.main()).world
    other = await send(world.session, "Page.createIsolatedWorld", frameId=world.frame_id, worldName="other")
    world._context = other["executionContextId"]
    assert View(await dom.snapshot()).offers("Go")


def test_no_comments_are_sent_to_pages() -> None:
    scripts = page_script(), hook_script("channel")
    assert not [script for script in scripts if "@param" in script]
