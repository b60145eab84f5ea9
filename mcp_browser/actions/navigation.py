"""Navigation: addresses, history, search."""

from typing import Annotated
from urllib.parse import quote_plus

from pydantic import Field

from mcp_browser.actions.code import Code
from mcp_browser.actions.registry import Registry
from mcp_browser.actions.result import ActionContext

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
    effect="navigation", code=lambda code, params: _open(code, address_of(params.url), new_tab=params.new_tab)
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
