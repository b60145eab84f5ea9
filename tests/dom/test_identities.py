"""Elements are recorded, and found again on pages that have changed since."""

import pytest
from playwright.async_api import Page

from mcp_browser.dom.identities import ElementRecord
from mcp_browser.dom.models import ElementQuery
from mcp_browser.dom.service import DomService
from mcp_browser.errors import NotFound
from tests.dom.conftest import Show
from tests.support.site import Site

pytestmark = pytest.mark.slow


async def recorded(dom: DomService, role: str, name: str, *, nth: int = 0) -> ElementRecord:
    """The record of an element that is on the page."""
    await dom.snapshot()
    found = await dom.find(ElementQuery(role=role, name=name), limit=10)
    index = found.nodes[nth].index
    assert index is not None
    return await dom.record(index)


async def found(dom: DomService, record: ElementRecord) -> tuple[str, str]:
    """By what a recorded element is found, and the text that tells which one it is."""
    located = await dom.locate(record)
    assert located.node.index is not None
    mark = await dom.call(located.node.index, "attribute", "data-mark")
    return located.level, mark or located.node.name


async def test_a_record_says_all_that_an_element_can_be_found_by(show: Show) -> None:
    dom = await show(
        "<form><label>Town"
        " <input id=town name=town type=search placeholder=Anywhere data-testid=where></label></form>"
    )
    record = await recorded(dom, "searchbox", "Town")
    assert (record.role, record.name, record.tag) == ("searchbox", "Town", "input")
    assert record.attributes == {
        "data-testid": "where",
        "id": "town",
        "name": "town",
        "placeholder": "Anywhere",
        "type": "search",
    }
    assert record.path == "html > body > form > label > input"
    assert record.frames == ()
    assert record.width > 0
    assert str(record) == 'searchbox "Town"'


def shelf(*books: tuple[str, str], tag: str = "button") -> str:
    """A list of books, each with what one puts it in by and the attributes of that."""
    rows = (f"<li>{book} <{tag} {how} data-mark={book.lower()}>Add</{tag}></li>" for book, how in books)
    return f"<ul>{''.join(rows)}</ul>"


OLD = shelf(("Emma", "id=a1"), ("Persuasion", "id=a2"))
CHANGED = {
    "unchanged": (OLD, "exact"),
    "other order, ids by order": (shelf(("Persuasion", "id=a1"), ("Emma", "id=a2")), "role"),
    "other ids, one more around": (f"<main>{OLD.replace('id=a', 'id=x')}</main>", "role"),
    "another name": (OLD.replace("Add", "Put in"), "attributes"),
    "another role": (shelf(("Emma", "href=#"), ("Persuasion", "href=#"), tag="a"), "text"),
}


async def test_an_element_is_found_again(show: Show, page: Page, site: Site, dom: DomService) -> None:
    await show(OLD)
    record = await recorded(dom, "button", "Add", nth=1)
    assert record.twins == 1
    for change, (after, level) in CHANGED.items():
        await page.goto(site.page(after))
        assert await found(dom, record) == (level, "persuasion"), change


async def test_what_cannot_be_told_apart_is_not_guessed(show: Show, page: Page, site: Site) -> None:
    dom = await show("<p>One <button>Add</button></p>")
    record = await recorded(dom, "button", "Add")
    await page.goto(site.page("<button>Add</button><button>Add</button>"))
    with pytest.raises(NotFound, match="2 elements fit"):
        await dom.locate(record)
    await page.goto(site.page("<button>Remove</button>"))
    with pytest.raises(NotFound, match=r'like button "Add"'):
        await dom.locate(record)


async def test_an_element_in_a_shadow_tree_and_frame_is_found(show: Show, page: Page, site: Site) -> None:
    inner = "<div id=host></div><script>host.attachShadow({mode: 'closed'}).innerHTML = '<button>In</button>'"
    path = site.page(f"{inner}</script>").removeprefix(site.url)
    body = f"<button>In</button><iframe title=far src='{site.other}{path}'></iframe>"
    dom = await show(body)
    await page.frames[1].wait_for_load_state()
    record = await recorded(dom, "button", "In", nth=1)
    assert record.frame == site.other + path
    assert record.frames == ("html > body > iframe",)
    assert record.path.endswith(" >> button")
    assert record.x > 40, "its place is the page's"
    await page.reload()
    await page.frames[1].wait_for_load_state()
    await dom.snapshot()
    located = await dom.locate(record)
    assert located.level == "exact"
    assert located.node.index is not None
    again = await dom.record(located.node.index)
    assert again.frame == record.frame
