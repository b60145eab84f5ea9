"""Clicking, moving, dragging, turning the wheel and typing at points of the picture, on a real page."""

import pytest

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.errors import DialogOpen, InvalidArguments
from tests.actions.hand import Hand, hand_in
from tests.support.site import Site

pytestmark = pytest.mark.slow

PLACE = "style='position:absolute;left:300px;top:180px;width:100px;height:40px'"
BUY = f"<button {PLACE}>Buy</button>"


async def test_a_click_names_what_it_hit_and_shows_the_page_with_the_cursor(hand: Hand) -> None:
    await hand.open(BUY.replace("<button", "<button onclick=\"this.textContent='Bought'\""))
    told = await hand.do("mouse_click", at="320,200")
    index = hand.index("Buy")
    assert f'Clicked at 320,200: [{index}] button "Buy".' in told
    assert "Viewport 1280x720, cursor at 320,200." in told
    assert f'[{index}] button "Bought" focused' in told
    shown = hand.picture()
    assert shown.size == (1280, 720)
    # The arrow is black where the button is grey.
    assert all(level < 90 for level in shown.convert("RGB").getpixel((323, 208)))  # pyright: ignore


async def test_the_cursor_is_drawn_into_the_picture_and_not_into_the_page(hand: Hand) -> None:
    await hand.open(BUY)
    before = await hand.js("document.documentElement.outerHTML")
    await hand.do("mouse_move", at="600,600")
    assert await hand.js("document.documentElement.outerHTML") == before
    assert hand.picture().convert("RGB").getpixel((602, 609)) != (255, 255, 255)
    await hand.do("screenshot")
    assert hand.picture().convert("RGB").getpixel((602, 609)) == (255, 255, 255)


async def test_a_device_scale_and_a_smaller_picture_change_nothing_about_where_a_click_goes(
    manager: BrowserManager, site: Site
) -> None:
    scaled = {"device_scale_factor": 2}
    async with hand_in(manager, site, context_options=scaled) as hand:
        with hand.under(screenshots={"screenshot_max_side": 800}):
            await hand.open(BUY)
            assert "800x450" in await hand.do("screenshot")
            told = await hand.do("mouse_click", at="200,125")
            assert 'Clicked at 320,200: [1] button "Buy".' in told
            view = "Viewport 1280x720, cursor at 320,200; the picture is 800x450, cursor at 200,125 in it."
            assert view in told
            assert hand.picture().size == (800, 450)
            outside = await hand.fails("mouse_click", InvalidArguments, at="801,10")
            assert "outside the picture, which is 800x450" in outside


async def test_a_click_that_opens_a_dialog_returns_at_once_without_a_picture(hand: Hand) -> None:
    await hand.open(BUY.replace("<button", "<button onclick=\"alert('Sure?')\""))
    assert 'An alert dialog is open: "Sure?"' in await hand.do("mouse_click", at="320,200")
    assert hand.result.attachments == ()
    await hand.fails("mouse_click", DialogOpen, at="320,200")
    await hand.do("handle_dialog", accept=True)


async def test_with_pictures_switched_off_points_are_pixels_of_the_view(hand: Hand) -> None:
    with hand.under(screenshots={"screenshots": "never"}):
        await hand.open(BUY)
        told = await hand.do("mouse_click", at="320,200")
    assert 'button "Buy". Viewport 1280x720, cursor at 320,200.' in told
    assert hand.result.attachments == ()
