"""The hook in the page's own world: it tells what it must, and a page cannot tell it is there."""

from playwright.async_api import Page

from tests.dom.conftest import Show


async def test_wrapped_functions_look_as_they_did(show: Show, page: Page) -> None:
    await show("<p>x</p>")
    assert await page.evaluate(
        "[setTimeout, document.addEventListener, Element.prototype.attachShadow].map(wrapped => wrapped.name)"
    ) == ["setTimeout", "addEventListener", "attachShadow"]
    assert await page.evaluate("Function.prototype.toString.call(Element.prototype.attachShadow)") == (
        "function () { [native code] }"
    )


async def test_listeners_in_closed_roots_are_told(show: Show) -> None:
    dom = await show(
        "<div id=h></div><script>const root = h.attachShadow({mode: 'closed'});root.innerHTML = '<span>Deep"
        "</span>';root.firstChild.addEventListener('mousedown', () => 0)</script>"
    )
    assert [str(node) for node in (await dom.snapshot()).nodes] == ['[1] clickable "Deep"']


async def test_a_page_that_writes_itself_anew_is_still_heard(show: Show, page: Page) -> None:
    dom = await show("<p>Old</p>")
    await dom.snapshot()
    await page.evaluate(
        "document.open(); document.write('<span id=s>Written</span>'); document.close();"
        "s.addEventListener('click', () => 0)"
    )
    assert [str(node) for node in (await dom.snapshot()).nodes] == ['*[1] clickable "Written"']
