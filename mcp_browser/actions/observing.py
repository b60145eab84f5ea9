"""Observe the page: its state, a search for elements, pictures."""

from playwright.async_api import ElementHandle
from playwright.async_api import Error as PlaywrightError
from pydantic import Field, model_validator

from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext, ActionResult, Attachment
from mcp_browser.actions.screenshots import describe_unscrolled, take_screenshot
from mcp_browser.actions.waiting import refuse_selector
from mcp_browser.browser.choosing import seek
from mcp_browser.browser.playwright_errors import is_context_gone
from mcp_browser.dom.models import ElementQuery, FoundElements
from mcp_browser.dom.named import OptionalIndex
from mcp_browser.dom.worlds import FrameGone
from mcp_browser.errors import ActionError, DeadlineExceeded, NotActionable, NotFound
from mcp_browser.privacy.hiding import cut_address

observing = Registry(group="core")

MOST_FOUND = 200


class FindElementsParams(ActionParams):
    text: str | None = Field(None, repr=False, description="part of a line")
    pattern: str | None = Field(None, description="regular expression")
    role: str | None = Field(None, description="ARIA role")
    selector: str | None = Field(None, description="CSS or Playwright")
    limit: int = 20

    @model_validator(mode="after")
    def _looks_for_something(self) -> "FindElementsParams":
        if not any((self.text, self.pattern, self.role, self.selector)):
            raise ValueError("give text, pattern, role or selector")
        if self.selector and (self.text or self.pattern or self.role):
            raise ValueError("selector stands alone; Playwright's own `>> text=…` or `role=…` can narrow it")
        if not 1 <= self.limit <= MOST_FOUND:
            raise ValueError(f"limit must be 1 to {MOST_FOUND}")
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
    if params.index is None:
        taken = await take_screenshot(ctx, full_page=params.full_page, labels=params.labels)
        what = "the full page" if params.full_page else "the view"
    else:
        element = ctx.tab.element(params.index)
        taken = await take_screenshot(ctx, element=element, labels=params.labels)
        what = str(element)
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
