"""What people do in the live view, in a page of its own or in a chat."""

import re

from playwright.async_api import Expect, FrameLocator, Page

SHOP = """
<style>body { margin: 0; background: #00ff00 }</style><label>Name <input id=name autofocus></label>
<label>Password <input type=password></label>
<button style="position:absolute;left:600px;top:300px;width:200px;height:100px"
  onclick="document.title = 'Paid by ' + document.getElementById('name').value">Pay</button>
"""
SECONDS = 60_000  # A busy machine takes its time, milliseconds

expect = Expect()
expect.set_options(timeout=SECONDS)


async def first_frame(view: Page | FrameLocator) -> None:
    """Wait until there is a picture: of a page that does not change, there is no other one."""
    await expect(view.locator("#live")).to_have_attribute("data-frames", re.compile("."))


async def click_in(view: Page | FrameLocator, x: float, y: float) -> None:
    """Click in the picture, at a point of the page that it shows; it is 1280 pixels wide."""
    await first_frame(view)
    live = view.locator("#live")
    box = await live.bounding_box()
    assert box is not None
    columns, rows = await live.evaluate("(one) => [one.width, one.height]")
    scale = min(box["width"] / columns, box["height"] / rows)
    left = box["x"] + (box["width"] - columns * scale) / 2
    top = box["y"] + (box["height"] - rows * scale) / 2
    zoom = columns * scale / 1280
    await live.page.mouse.click(left + x * zoom, top + y * zoom)


async def take_over(view: Page | FrameLocator) -> None:
    await view.get_by_role("button", name="Take over").click()
    await expect(view.get_by_role("button", name="Hand back")).to_be_visible()
