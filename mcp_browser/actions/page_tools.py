"""The tools that a page offers by WebMCP."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeoutError
from pydantic import Field

from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.browser.playwright_errors import is_context_gone
from mcp_browser.dom.driver_errors import plain_message
from mcp_browser.errors import DeadlineExceeded, DialogOpen, NotFound, ScriptFailed
from mcp_browser.text import counted, cut

if TYPE_CHECKING:
    from playwright.async_api import Frame

page_tools = Registry(group="page_tools")

LISTING_SECONDS = 5.0  # How long one frame may take to list its tools
SLACK = 1.0
DIALOG_SECONDS = 600.0  # How much longer the answer of a tool that waits for a dialog is awaited


class CallPageToolParams(ActionParams):
    name: str = Field(min_length=1, description="as list_page_tools has it")
    arguments: dict[str, Any] = Field(default_factory=dict, description="as its schema wants them")
    timeout: float = Field(30, gt=0, le=600, description="seconds")


@page_tools.action(effect="read")
async def list_page_tools(ctx: ActionContext) -> ActionResult:
    """List the tools that the page offers, with their schemas."""
    tools = [tool async for _, tool in _tools(ctx)]
    if not tools:
        return ActionResult(extracted_content="The page offers no tools.", data={"tools": []})
    return ActionResult(
        extracted_content=f"{counted(len(tools), 'tool')} of the page, as it describes them itself:",
        page_content="\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools),
        data={"tools": tools},
    )


@page_tools.action(destructive=True, own_time=lambda params: params.timeout)
async def call_page_tool(ctx: ActionContext, params: CallPageToolParams) -> ActionResult:
    """Call a tool that the page offers."""
    name, arguments = params.name, params.arguments
    known: list[str] = []
    async for frame, tool in _tools(ctx):
        if tool["name"] == name:
            # Imported late: it imports jsonschema.
            from mcp_browser.actions.page_arguments import check_arguments  # noqa: PLC0415

            check_arguments(name, arguments, tool.get("inputSchema"))
            milliseconds = (params.timeout + DIALOG_SECONDS) * 1000
            asked = frame.webmcp.call_tool(name, arguments, timeout=milliseconds)
            return await answer_of(ctx, name, asyncio.ensure_future(asked), params.timeout)
        known.append(str(tool["name"]))
    raise NotFound(
        f"The page offers no tool {name!r}.", hint=f"It offers: {cut(', '.join(known), 500) or 'none'}."
    )


async def answer_of(
    ctx: ActionContext, name: str, asked: asyncio.Future[Any], seconds: float
) -> ActionResult:
    """The answer of a page's tool; if a dialog holds it up, the tab keeps the pending call."""
    # Once nobody waits for it, an error must not be reported as never retrieved.
    asked.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        async with asyncio.timeout(seconds):
            answer = await ctx.tab.guarded(asyncio.shield(asked))
    except DialogOpen:
        ctx.tab.waiting = name, asked
        return ActionResult(
            extracted_content=f"{name} waits for the dialog that is open; handle_dialog tells its answer."
        )
    except (TimeoutError, PlaywrightTimeoutError):
        asked.cancel()
        return ActionResult(
            extracted_content=f"{name} has not answered within {seconds:g} s, and goes on. "
            "A form that it has filled in may wait to be submitted."
        )
    except PlaywrightError as error:
        if is_context_gone(error):
            return ActionResult(extracted_content=f"{name} has led to another page, and gave no answer.")
        message = plain_message(error).removeprefix("WebMCP.call_tool: ")
        raise ScriptFailed(
            f"The page's tool {name} failed: {cut(message, 1_000)}.",
            hint="Look with get_state; list_page_tools has its schema.",
        ) from error
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return ActionResult(extracted_content=f"{name} returned:", page_content=cut(text, ctx.room))


async def _tools(ctx: ActionContext) -> AsyncIterator[tuple["Frame", dict[str, Any]]]:
    """The tools of each frame, the main one's first."""
    for frame in ctx.tab.page.frames:
        try:
            found = await ctx.tab.ask(
                frame.webmcp.tools(timeout=LISTING_SECONDS * 1000), limit=LISTING_SECONDS + SLACK
            )
        except AttributeError:
            return  # This Playwright knows nothing of them.
        except (PlaywrightError, DeadlineExceeded) as error:
            if frame is ctx.tab.page.main_frame and isinstance(error, DeadlineExceeded):
                raise
            continue
        for tool in found:
            yield frame, dict(tool)
