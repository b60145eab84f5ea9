"""A screenshot of the current tab as an attachment."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import anyio.to_thread

from mcp_browser.actions.result import ActionContext, Attachment
from mcp_browser.browser.element import Element, describe_element
from mcp_browser.browser.pictures import encode_whole, make_picture
from mcp_browser.dom.cdp import send
from mcp_browser.dom.models import Box, Size
from mcp_browser.errors import NotActionable
from mcp_browser.privacy.pictures import Shot

if TYPE_CHECKING:
    from playwright.async_api import FloatRect

    from mcp_browser.browser.tab import Tab

TALLEST = 3  # Times the longest side of a picture, for a full page; more could not be read
TALLEST_PAINTED = 16_000  # Chromium paints no taller picture, in its own pixels
PICTURES_SECONDS = 3  # How long a picture of a page waits for the pictures in it
LEAST_UNSEEN = 0.05  # Screens of a part of the page; less is not missed on a picture
PAINTING_SECONDS = 30  # How long a picture of a full page may take


@dataclass(frozen=True, slots=True)
class Screenshot:
    """A picture and its size in pixels, and how many CSS pixels of the page below it were left out."""

    attachment: Attachment
    size: Size
    left_out: int = 0


async def take_screenshot(
    ctx: ActionContext,
    *,
    full_page: bool = False,
    element: Element | None = None,
    labels: bool = False,
    cursor: bool = False,
) -> Screenshot:
    """A picture of the view, the full page or an element, in the format of the settings.

    The attachment's name is its size in pixels. `labels` draws the indexes of the elements in view, `cursor`
    an arrow where the mouse is. The session keeps the size of a picture of the view, for coordinates without
    one.

    Raises:
        NotActionable: nothing of the element is visible.
    """
    tab = ctx.tab
    await tab.await_pictures(PICTURES_SECONDS)
    tallest = TALLEST * ctx.settings.screenshots.screenshot_max_side
    shot, clip, left_out = await _shot(tab, element, full_page=full_page, tallest=tallest)
    boxes: list[Box] = []
    css_width: int | None = None
    if labels:
        left, top = (clip["x"], clip["y"]) if clip else (0.0, 0.0)
        seen = await tab.ask(tab.dom.boxes())
        boxes = [box.model_copy(update={"x": box.x - left, "y": box.y - top}) for box in seen]
        css_width = round(clip["width"]) if clip else (await _layout(tab))[0]
    at = tab.cursor if cursor else None
    if at is not None:
        css_width = (await view_size(tab)).width
    attachment, size = await made_picture(ctx, shot, css_width=css_width, labels=boxes, cursor=at)
    if element is None and not full_page:
        ctx.session.shown_picture = size
    return Screenshot(attachment, size, left_out)


async def made_picture(ctx: ActionContext, content: bytes | Shot, **options: Any) -> tuple[Attachment, Size]:
    """A picture in the settings' format, by options of `make_picture`; raises OSError, ValueError."""
    wanted = ctx.settings.screenshots
    options |= {"format": wanted.screenshot_format, "quality": wanted.screenshot_quality}
    picture = await anyio.to_thread.run_sync(
        lambda: make_picture(content, max_side=wanted.screenshot_max_side, **options), abandon_on_cancel=True
    )
    size = Size(width=picture.width, height=picture.height)
    attachment = Attachment(kind="image", mime_type=picture.mime_type, name=str(size), data=picture.data)
    return attachment, size


async def view_size(tab: "Tab") -> Size:
    """Size of what a picture of the view shows, scroll bars included, CSS pixels."""
    metrics = await tab.ask(send(tab.cdp, "Page.getLayoutMetrics"))
    seen = metrics["cssVisualViewport"]
    if seen["scale"] != 1:
        # A mobile layout that is wider than the screen is shown smaller than its CSS pixels.
        return Size(width=round(seen["clientWidth"]), height=round(seen["clientHeight"]))
    size = tab.page.viewport_size
    if size is None:
        window = await tab.ask(tab.dom.window())
        return Size(width=round(window.width), height=round(window.height))
    return Size(width=size["width"], height=size["height"])


async def describe_view(tab: "Tab", picture: Size | None) -> str:
    """A sentence with the size of the view and the mouse's place, also in the picture's pixels."""
    view = await view_size(tab)
    message = f"Viewport {view}"
    if tab.cursor is not None:
        message += f", cursor at {tab.cursor[0]:.0f},{tab.cursor[1]:.0f}"
    if picture is not None and picture != view:
        message += f"; the picture is {picture}"
        if tab.cursor is not None:
            x, y = tab.cursor[0] * picture.width / view.width, tab.cursor[1] * picture.height / view.height
            message += f", cursor at {x:.0f},{y:.0f} in it"
    return f"{message}."


async def png_picture(
    tab: "Tab", element: Element | None = None, *, full_page: bool = False
) -> tuple[bytes, int]:
    """A PNG of the view, the full page or an element at the screen's own resolution.

    With it, how many CSS pixels of the page below were left out. Raises NotActionable, DeadlineExceeded.
    """
    shot, _, left_out = await _shot(tab, element, full_page=full_page, kind="png")
    return await anyio.to_thread.run_sync(encode_whole, shot), left_out


async def describe_unscrolled(tab: "Tab") -> str:
    """What a picture of the full page lacks of a part that scrolls by itself; "" for nothing."""
    part = await tab.ask(tab.dom.scrolled_part())
    if part is None:
        return ""
    node, before, after = part
    if max(before, after) < LEAST_UNSEEN:
        return ""
    return (
        f" The page itself does not scroll: of {describe_element(node)}, which does, it shows only what is "
        f"in view, without {before:.1f} screens before and {after:.1f} after. To see the rest, scroll with "
        f"index={node.index} and take a picture of each view; the text is in get_state."
    )


async def _shot(
    tab: "Tab",
    element: Element | None,
    *,
    full_page: bool,
    tallest: float = math.inf,
    kind: Literal["png"] | None = None,
) -> "tuple[Shot, FloatRect | None, int]":
    """A picture, the part of the page that it shows unless all, and the CSS pixels left out below it."""
    clip: FloatRect | None = None
    left_out = 0
    if element is not None:
        box = await element.show()
        width, height, _, _ = await _layout(tab)
        left, top = max(0.0, box.x - box.width / 2), max(0.0, box.y - box.height / 2)
        right, bottom = min(width, box.x + box.width / 2), min(height, box.y + box.height / 2)
        if right - left < 1 or bottom - top < 1:
            hint = "Take a screenshot of the view instead."
            raise NotActionable(f"Nothing of {element} is to be seen.", hint=hint)
        clip = {"x": left, "y": top, "width": right - left, "height": bottom - top}
    elif full_page:
        _, _, width, height = await _layout(tab)
        scale = min(max((await tab.ask(tab.dom.window())).scale, 1.0), 8.0)  # Pixels for each CSS pixel
        left_out = max(0, height - int(min(tallest, TALLEST_PAINTED / scale)))
        if left_out:
            clip = {"x": 0.0, "y": 0.0, "width": float(width), "height": float(height - left_out)}
    limit = PAINTING_SECONDS if full_page else None
    return await tab.screenshot(full_page=full_page, clip=clip, kind=kind, limit=limit), clip, left_out


async def _layout(tab: "Tab") -> tuple[int, int, int, int]:
    """Width and height of the view, then of the page, in CSS pixels."""
    metrics = await tab.ask(send(tab.cdp, "Page.getLayoutMetrics"))
    view, page = metrics["cssLayoutViewport"], metrics["cssContentSize"]
    return view["clientWidth"], view["clientHeight"], page["width"], page["height"]
