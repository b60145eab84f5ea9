"""What a client can see of a session without a tool. Each view is one that a tool gives, too."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mcp_browser.actions.console import GetConsoleMessagesParams, get_console_messages
from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.extraction import ExtractContentParams, extract_content
from mcp_browser.actions.files import list_files
from mcp_browser.actions.listing import list_part
from mcp_browser.actions.result import ActionResult
from mcp_browser.actions.screenshots import take_screenshot
from mcp_browser.browser.observation import Observation
from mcp_browser.text import cut_address, quoted


@dataclass(frozen=True, slots=True)
class View:
    """A view: `action` names the tool whose permission it needs, `in_parts` says that a long one has several.

    `look` is given the number of the part, from 1, and takes nothing of what is still to be told.
    """

    name: str
    title: str
    description: str
    mime_type: str
    action: str
    look: Callable[[ActionContext, int], Awaitable[ActionResult]]
    in_parts: bool = False


async def _page(ctx: ActionContext, part: int) -> ActionResult:
    result = await extract_content(ctx, ExtractContentParams.model_validate({"links": True, "part": part}))
    # The frame around it names the page.
    return result.model_copy(update={"observation": _where(ctx)})


async def _snapshot(ctx: ActionContext, part: int) -> ActionResult:
    return ActionResult(observation=await ctx.session.glance(part=part))


async def _picture(ctx: ActionContext, _part: int) -> ActionResult:
    # Coordinates are meant in the picture that a tool has shown.
    shown = ctx.session.shown_picture
    try:
        return ActionResult(attachments=((await take_screenshot(ctx)).attachment,))
    finally:
        ctx.session.shown_picture = shown


async def _tabs(ctx: ActionContext, part: int) -> ActionResult:
    for tab in ctx.session.tabs.values():
        await tab.refresh_title()
    lines = [
        f"Tab {tab.id}{' (current)' if tab is ctx.tab else ''}: {quoted(tab.title)} {cut_address(tab.url)}"
        for tab in ctx.session.tabs.values()
    ]
    result = list_part(ctx, lines, what="tab", part=part)
    return result.model_copy(update={"observation": _where(ctx)})


async def _console(ctx: ActionContext, part: int) -> ActionResult:
    result = await get_console_messages(ctx, GetConsoleMessagesParams.model_validate({"part": part}))
    return result.model_copy(update={"observation": _where(ctx)})


async def _downloads(ctx: ActionContext, _part: int) -> ActionResult:
    return await list_files(ctx)


def _where(ctx: ActionContext) -> Observation:
    return Observation(url=ctx.tab.url, title=ctx.tab.title)


VIEWS: Mapping[str, View] = MappingProxyType(
    {
        view.name: view
        for view in (
            View(
                "page",
                "Page as Markdown",
                "The current page's text as Markdown, links included.",
                "text/markdown",
                "extract_content",
                _page,
                in_parts=True,
            ),
            View(
                "snapshot",
                "Snapshot of the page",
                "The current page as the tools show it: its elements with indexes, and its text.",
                "text/plain",
                "get_state",
                _snapshot,
                in_parts=True,
            ),
            View(
                "picture",
                "Picture of the page",
                "A picture of the view of the current page.",
                "image/*",
                "screenshot",
                _picture,
            ),
            View(
                "tabs",
                "Open tabs",
                "The open tabs: numbers, titles and addresses.",
                "text/plain",
                "get_state",
                _tabs,
                in_parts=True,
            ),
            View(
                "console",
                "Console of the page",
                "What the current tab has written to its console, and errors that nothing has caught.",
                "text/plain",
                "get_console_messages",
                _console,
                in_parts=True,
            ),
            View(
                "downloads",
                "Downloads",
                "The session's downloads and other files; each is a resource of its own, too.",
                "text/plain",
                "list_files",
                _downloads,
            ),
        )
    }
)
