"""A screenshot of the current tab as an attachment."""

from typing import TYPE_CHECKING

import anyio.to_thread

from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.result import Attachment
from mcp_browser.browser.element import Element
from mcp_browser.browser.pictures import make_picture
from mcp_browser.dom.models import Box, ReadyElement

if TYPE_CHECKING:
    from playwright.async_api import FloatRect


async def take_screenshot(
    ctx: ActionContext, *, full_page: bool = False, element: Element | None = None, labels: bool = False
) -> Attachment:
    """A picture of the view, the full page or an element, as the settings want pictures.

    The attachment's name tells its size in pixels. `labels` draws the indexes of the elements in view.
    """
    tab = ctx.tab
    clip: FloatRect | None = None
    if element is not None:
        clip = _around(await element.show())
    raw = await tab.screenshot(full_page=full_page, clip=clip)
    drawn: list[Box] = []
    css_width: int | None = None
    if labels:
        left, top = (clip["x"], clip["y"]) if clip else (0.0, 0.0)
        drawn = [
            box.model_copy(update={"x": box.x - left, "y": box.y - top})
            for box in await tab.ask(tab.dom.boxes())
        ]
        css_width = round(clip["width"]) if clip else await _view_width(ctx)
    wanted = ctx.settings.screenshots
    picture = await anyio.to_thread.run_sync(
        lambda: make_picture(
            raw,
            format=wanted.screenshot_format,
            quality=wanted.screenshot_quality,
            max_side=wanted.screenshot_max_side,
            css_width=css_width,
            labels=drawn,
        ),
        abandon_on_cancel=True,
    )
    return Attachment(
        kind="image", mime_type=picture.mime_type, name=f"{picture.width}x{picture.height}", data=picture.data
    )


async def _view_width(ctx: ActionContext) -> int:
    """Width of the view in CSS pixels."""
    if size := ctx.tab.page.viewport_size:
        return size["width"]
    return int(await ctx.tab.ask(ctx.tab.page.evaluate("innerWidth")))


def _around(element: ReadyElement) -> "FloatRect":
    """The rectangle of an element, whose x and y are its middle."""
    left, top = element.x - element.width / 2, element.y - element.height / 2
    return {"x": left, "y": top, "width": element.width, "height": element.height}
