"""Swagger UI over a small local API, worked by a policy that reads only what the tools return."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.bookshop import Bookshop
from tests.support.client import Browser, browsing
from tests.support.site import Site

pytestmark = pytest.mark.apps


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with browsing("auto") as running:
        yield running


@pytest.fixture
def shop(site: Site, swagger_files: str) -> Bookshop:
    return Bookshop(site, swagger_files)


async def test_a_list_is_asked_for_with_parameters_and_read(browser: Browser, shop: Bookshop) -> None:
    await _try_out(browser, shop, "GET /books List books")
    await browser.fill("textbox", "author", "austen")
    limit = browser.element("textbox", "limit")
    assert limit.value() == "10"
    await browser.fill("textbox", "limit", "1")
    answer = await browser.click("button", "Execute")
    assert "author=austen&limit=1" in answer
    assert "Emma" in answer
    assert "Middlemarch" not in answer
    assert shop.requests[-1] == "GET /books"


async def test_a_book_is_added_with_a_body_typed_into_the_editor(browser: Browser, shop: Bookshop) -> None:
    await _try_out(browser, shop, "POST /books Add a book")
    (editor,) = [e for e in browser.all("textbox") if "author" in e.states or "author" in e.name]
    body = '{"title": "Silas Marner", "author": "George Eliot", "price": 6.75}'
    await browser.do("input_text", index=editor.index, text=body)
    answer = await browser.click("button", "Execute")
    assert "201" in answer
    assert "Silas Marner" in answer
    assert shop.books[4] == {"id": 4, "title": "Silas Marner", "author": "George Eliot", "price": 6.75}


async def test_a_missing_book_shows_status_404(browser: Browser, shop: Bookshop) -> None:
    await _try_out(browser, shop, "GET /books/{number} Show a book")
    await browser.fill("textbox", "number", "99")
    answer = await browser.click("button", "Execute")
    assert "no such book" in answer
    assert shop.requests[-1] == "GET /books/99"


async def test_a_required_parameter_left_empty_sends_nothing(browser: Browser, shop: Bookshop) -> None:
    await _try_out(browser, shop, "DELETE /books/{number} Remove a book")
    number = browser.find("textbox", "number")
    await browser.click("button", "Execute")
    assert shop.requests == ["GET /openapi.json"]
    assert browser.elements[number].name == "Required field is not provided"
    await browser.do("input_text", index=number, text="2")
    answer = await browser.click("button", "Execute")
    assert "Persuasion" in answer
    assert sorted(shop.books) == [1, 3]


async def _try_out(browser: Browser, shop: Bookshop, operation: str) -> None:
    await browser.open(shop.url)
    await browser.click("button", operation)
    await browser.click("button", "Try it out")
