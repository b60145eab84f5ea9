"""Observe the page: its state, a search for elements, pictures."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import anyio.to_thread
from playwright.async_api import ElementHandle
from playwright.async_api import Error as PlaywrightError
from pydantic import Field, model_validator

from mcp_browser.actions.registry import ActionParams, Registry, without_bounds
from mcp_browser.actions.result import ActionContext, ActionResult, Attachment
from mcp_browser.actions.waiting import refuse_selector
from mcp_browser.browser.choosing import seek
from mcp_browser.browser.element import Element, describe_element
from mcp_browser.browser.pictures import encode_whole, make_picture
from mcp_browser.dom.cdp import send
from mcp_browser.dom.driver_errors import FrameGone, is_context_gone
from mcp_browser.dom.models import Box, ElementQuery, FoundElements, Size
from mcp_browser.dom.named import OptionalIndex
from mcp_browser.errors import ActionError, DeadlineExceeded, NotActionable, NotFound
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.privacy.pictures import Shot

if TYPE_CHECKING:
    from playwright.async_api import FloatRect

    from mcp_browser.browser.tab import Tab

observing = Registry(group="core")

MOST_FOUND = 200
TALLEST = 3  # Times the longest side of a picture, for a full page; more could not be read
TALLEST_PAINTED = 16_000  # Chromium paints no taller picture, in its own pixels
PICTURES_SECONDS = 3  # How long a picture of a page waits for the pictures in it
LEAST_UNSEEN = 0.05  # Screens of a part of the page; less is not missed on a picture
PAINTING_SECONDS = 30  # How long a picture of a full page may take


class FindElementsParams(ActionParams):
    text: str | None = Field(None, repr=False, description="part of a line")
    pattern: str | None = Field(None, description="regular expression")
    role: str | None = Field(None, description="ARIA role")
    selector: str | None = Field(None, description="CSS or Playwright")
    limit: int = Field(20, ge=1, le=MOST_FOUND, json_schema_extra=without_bounds)

    @model_validator(mode="after")
    def _looks_for_something(self) -> "FindElementsParams":
        if not any((self.text, self.pattern, self.role, self.selector)):
            raise ValueError("give text, pattern, role or selector")
        if self.selector and (self.text or self.pattern or self.role):
            raise ValueError("selector stands alone; Playwright's own `>> text=…` or `role=…` can narrow it")
        return self


class ScreenshotParams(ActionParams):
    index: OptionalIndex = Field(None, description="only this element")
    full_page: bool = False
    labels: bool = Field(False, description="draw indexes")

    @model_validator(mode="after")
    def _is_one_kind(self) -> "ScreenshotParams":
        if self.full_page and (self.labels or self.index is not None):
            raise ValueError("full_page goes neither with index nor with labels")
        return self


@observing.action(effect="read", during_dialog=True)
async def get_state(
    ctx: ActionContext,
    index: OptionalIndex = Field(None, description="only inside this"),
    part: int = Field(1, description="of a long page"),
    screenshot: bool | None = Field(None, description="add a picture"),
    labels: bool = Field(False, description="draw indexes on it"),
) -> ActionResult:
    """Show the page: its elements with indexes, its text, and a picture if wanted."""
    observation = await ctx.session.full_observation(region=index, part=part)
    pictures: tuple[Attachment, ...] = ()
    setting = ctx.settings.screenshots.screenshots
    wanted = screenshot if screenshot is not None else labels or setting == "always"
    if wanted and setting != "never" and observation.dialog is None:
        pictures = ((await take_screenshot(ctx, labels=labels)).attachment,)
    return ActionResult(observation=observation, attachments=pictures)


@observing.action(effect="read")
async def find_elements(ctx: ActionContext, params: FindElementsParams) -> ActionResult:
    """Get indexes of elements that are not shown, by a search of the whole page."""
    scrolled = ""
    if params.selector:
        found = await _by_selector(ctx, params.selector, params.limit)
    else:
        query = ElementQuery(text=params.text, pattern=params.pattern, role=params.role)
        found = await ctx.tab.ask(ctx.tab.dom.find(query, limit=params.limit))
        if not found.total and params.text and await seek(ctx.tab, params.text):
            found = await ctx.tab.ask(ctx.tab.dom.find(query, limit=params.limit))
            scrolled = " after scrolling to it"
    if not found.nodes:
        sought = ", ".join(f"{name}={value!r}" for name, value in params if value and name != "limit")
        raise _nothing(ctx, params.role, sought, found)
    nodes, total = found.nodes, found.total
    message = f"Found {total}" if total == len(nodes) else f"The first {len(nodes)} of {total} found"
    if found.missed:
        message += f" ({_unsearched(found)})"
    elements = [
        {"index": node.index, "role": node.role, "name": node.name, "states": list(node.states)}
        for node in nodes
    ]
    return ActionResult(
        extracted_content=f"{message}{scrolled}:",
        page_content="\n".join(map(str, nodes)),
        page_lines=True,
        stands_for_page=True,
        data={"total": total, "elements": elements},
    )


def _nothing(ctx: ActionContext, role: str | None, sought: str, found: FoundElements) -> ActionError:
    """The error for a search without a result, which says so only of what was searched."""
    url = cut_address(ctx.tab.url)
    if found.missed:
        return DeadlineExceeded(
            f"Nothing matches {sought} in what could be searched of {url}; {_unsearched(found)}.",
            hint="Wait with wait_for, then search again.",
        )
    if found.total:
        return NotFound(
            f"{found.total} on {url} match {sought}, but in frames that cannot be seen.",
            hint="Something else may have to be opened first.",
        )
    if ctx.tab.activity.begun_since(0):
        return NotFound(
            f"Nothing on {url} matches {sought} yet; the page is still loading.",
            hint="Wait with wait_for, then search again.",
        )
    asked = (role or "").strip().lower()
    if found.roles and {asked, "img" if asked == "image" else asked}.isdisjoint(found.roles):
        return NotFound(
            f"Nothing on {url} matches {sought}.",
            hint=f"No element has that role. Roles to be found here: {', '.join(found.roles)}.",
        )
    return NotFound(
        f"Nothing on {url} matches {sought}.",
        hint="Try a shorter text; what is not loaded yet, such as rows of a list, may need scrolling.",
    )


def _unsearched(found: FoundElements) -> str:
    return f"not searched: {'; '.join(found.missed)}"


@observing.action(effect="read")
async def screenshot(ctx: ActionContext, params: ScreenshotParams) -> ActionResult:
    """Take a picture of the view, the full page or an element."""
    if ctx.settings.screenshots.screenshots == "never":
        raise NotActionable("Screenshots are switched off (screenshots=never).", hint="Use get_state.")
    element = ctx.tab.element(params.index) if params.index is not None else None
    taken = await take_screenshot(ctx, full_page=params.full_page, element=element, labels=params.labels)
    what = element or ("the full page" if params.full_page else "the view")
    message = f"Picture of {what}, {taken.attachment.name}."
    if taken.left_out:
        message += f" The last {taken.left_out:,} px of the page are not on it: scroll there for more."
    if params.full_page:
        message += await describe_unscrolled(ctx.tab)
    return ActionResult(extracted_content=message, attachments=(taken.attachment,))


async def _by_selector(ctx: ActionContext, selector: str, limit: int) -> FoundElements:
    handles: list[ElementHandle] = []
    missed: list[str] = []
    total = 0
    for frame in ctx.tab.page.frames:
        try:
            found = frame.locator(selector)
            count = await ctx.tab.ask(found.count())
            for place in range(min(count, limit - len(handles))):
                # One, or none where it has left the page meanwhile; nothing is waited for.
                handles += await ctx.tab.ask(found.nth(place).element_handles())
        except DeadlineExceeded:
            if frame is ctx.tab.page.main_frame:
                raise
            missed.append(f"the frame {cut_address(frame.url)} does not answer: its script is busy")
        except FrameGone:
            missed.append(f"the frame {cut_address(frame.url)} is still loading")
        except PlaywrightError as error:
            refuse_selector(error, selector)
            if not is_context_gone(error):
                raise
            if not frame.is_detached():
                missed.append(f"the frame {cut_address(frame.url)} is still loading")
        else:
            total += count
    nodes = await ctx.tab.ask(ctx.tab.dom.nodes_of(handles)) if handles else []
    return FoundElements(nodes=tuple(filter(None, nodes)), total=total, missed=tuple(missed))


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
    one. Raises NotActionable: nothing of the element is visible.
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
    if part is None or max(part[1:]) < LEAST_UNSEEN:
        return ""
    node, before, after = part
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
