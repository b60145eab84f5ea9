"""Addresses, history, search; scrolling; tabs, and the JavaScript dialogs that hold them."""

import math
from typing import Annotated, Literal
from urllib.parse import quote_plus

from pydantic import Field

from mcp_browser.actions.code import Code
from mcp_browser.actions.registry import ActionParams, Registry, without_bounds
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.actions.scripting import answer_of
from mcp_browser.browser.choosing import seek
from mcp_browser.dom.named import OptionalIndex
from mcp_browser.errors import NotFound, ScriptFailed
from mcp_browser.hosts import origin_of
from mcp_browser.text import quoted

navigation = Registry(group="core")

SEARCH_ENGINES = {
    "duckduckgo": "https://duckduckgo.com/?q={query}",
    "google": "https://www.google.com/search?q={query}",
    "bing": "https://www.bing.com/search?q={query}",
}


def address_of(url: str) -> str:
    """An address as a browser's address field takes it."""
    known = ("http:", "https:", "file:", "data:", "about:", "<secret>")
    return url if url.startswith(known) else f"https://{url}"


def _open(code: Code, url: str, *, new_tab: bool) -> None:
    if new_tab:
        code.new_page(url)
    else:
        code.call(code.page, "goto", url)


@navigation.action(
    effect="navigation",
    code=lambda code, params: _open(code, address_of(params.url), new_tab=params.new_tab),
)
async def go_to_url(ctx: ActionContext, url: str, new_tab: bool = False) -> str:
    """Open a URL."""
    return await open_url(ctx, url, new_tab=new_tab)


@navigation.action(effect="navigation", code=lambda code, _: code.call(code.page, "go_back"))
async def go_back(ctx: ActionContext) -> str:
    """Go back in the tab's history."""
    await ctx.tab.back()
    return "Went back."


@navigation.action(effect="navigation", code=lambda code, _: code.call(code.page, "go_forward"))
async def go_forward(ctx: ActionContext) -> str:
    """Go forward in the tab's history."""
    await ctx.tab.forward()
    return "Went forward."


@navigation.action(effect="navigation", code=lambda code, _: code.call(code.page, "reload"))
async def reload(ctx: ActionContext) -> str:
    """Reload the page."""
    await ctx.tab.reload()
    return "Reloaded the page."


@navigation.action(
    effect="navigation", code=lambda code, params: _open(code, code.action.url, new_tab=params.new_tab)
)
async def search_web(
    ctx: ActionContext, query: Annotated[str, Field(min_length=1)], new_tab: bool = False
) -> str:
    """Ask a search engine of the web; a page's own search box is a field."""
    return await open_url(ctx, search_url(ctx.settings.tools.search_engine, query), new_tab=new_tab)


def search_url(engine: str, query: str) -> str:
    """The address of a search; `engine` is a name of SEARCH_ENGINES or a URL with `{query}` in it."""
    return SEARCH_ENGINES.get(engine, engine).replace("{query}", quote_plus(query))


async def open_url(ctx: ActionContext, url: str, *, new_tab: bool) -> str:
    """Open an address, in a new tab if asked; return where it led."""
    before, url = ctx.tab, ctx.session.restored(url)
    if new_tab:
        tab = await ctx.session.new_tab(url)
        downloaded, message = tab is before, f"Opened {tab.url} in tab {tab.id}."
    else:
        arrival = await before.goto(url)
        downloaded, message = arrival.downloaded, f"Opened {arrival.url}."
    return f"{url} is a file: it is downloaded, and the page has stayed." if downloaded else message


tabs = Registry(group="core")


@tabs.action(
    effect="navigation",
    code=lambda code, params: code.new_page(address_of(params.url) if params.url else None),
)
async def open_tab(
    ctx: ActionContext, url: str | None = Field(None, description="default: an empty tab")
) -> str:
    """Open a new tab and switch to it."""
    if url is not None:
        return await open_url(ctx, url, new_tab=True)
    return f"Opened the blank tab {(await ctx.session.new_tab()).id}."


@tabs.action(
    effect="navigation",
    during_dialog=True,
    code=lambda code, params: code.call(code.tab(params.tab), "bring_to_front"),
)
async def switch_tab(ctx: ActionContext, tab: int) -> ActionResult:
    """Switch to a tab by its number."""
    message = f"Switched to tab {(await ctx.session.switch_tab(tab)).id}."
    # Indexes belong to their tab, so the whole page is shown.
    shown = ctx.settings.observation.observe != "none"
    observation = await ctx.session.full_observation() if shown else None
    return ActionResult(extracted_content=message, observation=observation)


@tabs.action(
    effect="navigation",
    destructive=True,
    during_dialog=True,
    code=lambda code, params: code.call(code.page if params.tab is None else code.tab(params.tab), "close"),
)
async def close_tab(
    ctx: ActionContext, tab: int | None = Field(None, description="default: the current one")
) -> str:
    """Close a tab."""
    closing = ctx.tab.id if tab is None else tab
    await ctx.session.close_tab(closing)
    return f"Closed tab {closing}; tab {ctx.tab.id} is in front."


@tabs.action(
    reach="elements",
    during_dialog=True,
    code=lambda code, params: code.answer_dialog((params.accept and params.text) or params.accept),
)
async def handle_dialog(
    ctx: ActionContext,
    accept: bool = Field(description="true: OK, also with a text; false: Cancel"),
    text: str | None = Field(None, repr=False, description="answer to a prompt"),
) -> ActionResult:
    """Accept or dismiss the open JavaScript dialog."""
    dialog = ctx.tab.dialog
    if dialog is None:
        raise NotFound("No dialog is open.", hint="It may have closed by itself; look with get_state.")
    if accept:
        ctx.tab.input.check_dialog(dialog.message, origin_of(ctx.tab.url))
    await ctx.tab.answer_dialog(accept, text)
    how = "Accepted" if accept else "Dismissed"
    message = f"{how} the {dialog.kind} dialog {quoted(dialog.message)}."
    if ctx.tab.waiting is None:
        return ActionResult(extracted_content=message)
    waiting, ctx.tab.waiting = ctx.tab.waiting, None
    try:
        answer = await answer_of(ctx, *waiting, ctx.settings.limits.action_timeout)
    except ScriptFailed as error:
        answer = ActionResult(extracted_content=str(error))
    return answer.model_copy(update={"extracted_content": f"{message} {answer.extracted_content}"})


scrolling = Registry(group="core")

Direction = Literal["down", "up", "right", "left", "top", "bottom"]

_STEPS: dict[Direction, tuple[float, float]] = {
    "down": (0, 1),
    "up": (0, -1),
    "right": (1, 0),
    "left": (-1, 0),
    "top": (0, -math.inf),
    "bottom": (0, math.inf),
}


class ScrollParams(ActionParams):
    direction: Direction = "down"
    pages: float = Field(
        1, gt=0, le=1000, json_schema_extra=without_bounds, description="in views, such as 0.5"
    )
    index: OptionalIndex = Field(None, description="scroll inside this")


def _scroll_code(code: Code, params: ScrollParams) -> None:
    x, y = _STEPS[params.direction]
    if math.isinf(y):
        by = f"top: {'-' if y < 0 else ''}1e6"
    else:
        by = f"left: {x * params.pages:g} * innerWidth" if x else f"top: {y * params.pages:g} * innerHeight"
    if params.index is not None:
        code.call(code.element(), "evaluate", f"element => element.scrollBy({{{by}}})")
    else:
        code.call(code.page, "evaluate", f"document.scrollingElement.scrollBy({{{by}}})")


@scrolling.action(reach="view", code=_scroll_code)
async def scroll(ctx: ActionContext, params: ScrollParams) -> str:
    """Scroll the page, or inside an element."""
    x, y = _STEPS[params.direction]
    # Infinity times any number of pages is still the end.
    asked = ctx.tab.dom.scroll(x=x * params.pages, y=y * params.pages, index=params.index)
    scrolled = await ctx.tab.ask(asked)
    what = str(scrolled.node) if scrolled.node else "the page"
    pairs = (scrolled.moved, scrolled.position, scrolled.seen, scrolled.size)
    moved, at, view, whole = (across if x else down for across, down in pairs)
    side = {"top": "up", "bottom": "down"}.get(params.direction, params.direction)
    if whole <= view + 1:
        return f"Nothing to scroll {side}: {what} shows all of its content."
    if not moved:
        return f"{what[0].upper()}{what[1:]} cannot be scrolled further {side}."
    rest = max(0.0, (whole - view - at) / view)
    screens = f"{at / view:.1f} screens before, {rest:.1f} after"
    return f"Scrolled {what} {side} by {abs(moved)} px; {screens} what is in view."


@scrolling.action(
    reach="view",
    code=lambda code, params: code.call(
        code.find("text", params.text, nth=params.nth - 1), "scroll_into_view_if_needed"
    ),
)
async def scroll_to_text(
    ctx: ActionContext,
    text: str = Field(min_length=1, repr=False),
    nth: int = Field(1, ge=1, json_schema_extra=without_bounds, description="which occurrence"),
) -> ActionResult:
    """Scroll to where a text stands."""
    asked = ctx.tab.dom.scroll_to_text
    try:
        context, count = await ctx.tab.ask(asked(text, nth=nth))
    except NotFound:
        if nth > 1 or not await seek(ctx.tab, text):
            raise
        context, count = await ctx.tab.ask(asked(text))
    which = f"match {nth} of {count}" if count > 1 else "the only match"
    return ActionResult(extracted_content=f"Scrolled to {which}:", page_content=context, page_lines=True)
