"""Wait for a condition of the page."""

import fnmatch
from collections.abc import Awaitable, Callable
from typing import Annotated

import anyio
from playwright.async_api import Error as PlaywrightError
from pydantic import AfterValidator, Field, model_validator

from mcp_browser.actions.code import Code
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext
from mcp_browser.dom.driver_errors import FrameGone, is_context_gone
from mcp_browser.dom.named import OptionalIndex
from mcp_browser.errors import DeadlineExceeded, DialogOpen, InvalidArguments
from mcp_browser.privacy.hiding import cut_address

waiting = Registry(group="core")

Condition = Callable[[], Awaitable[bool]]

FIRST_POLL = 0.05
LONGEST_POLL = 0.5  # Seconds between two looks: shorter at first, so that a heavy page is not kept busy
LONGEST_WAIT = 600  # Longest time that a caller may ask to wait, seconds

_SELECTOR_ERRORS = ("parsing", "Unknown engine", "not a valid selector", "Malformed", "Unexpected token")

OptionalSeconds = Annotated[float | None, AfterValidator(lambda given: given or None)]  # 0 is none


class WaitForParams(ActionParams):
    text: str | None = Field(None, repr=False, description="is seen")
    text_gone: str | None = Field(None, description="is not seen any more")
    selector: str | None = Field(None, description="CSS, role=… or any Playwright selector")
    index: OptionalIndex = Field(None, description="can be used")
    url: str | None = Field(None, description="glob or part of it")
    seconds: OptionalSeconds = Field(None, description="at most; alone, a pause")
    timeout: float = Field(10, description="where `seconds` is not given")

    @model_validator(mode="after")
    def _has_something_to_wait_for(self) -> "WaitForParams":
        if not any((self.text, self.text_gone, self.selector, self.index, self.url, self.seconds)):
            raise ValueError("give text, text_gone, selector, index, url or seconds")
        for name in ("seconds", "timeout"):
            value = getattr(self, name)
            if value is not None and not 0 < value <= LONGEST_WAIT:
                raise ValueError(f"{name} must be above 0 and at most {LONGEST_WAIT}")
        return self


def _wait_for_code(code: Code, params: WaitForParams) -> None:
    limit = {"timeout": (params.seconds or params.timeout) * 1000}
    if params.text:
        code.call(code.find("text", params.text), "wait_for", **limit)
    if params.text_gone:
        code.call(code.find("text", params.text_gone), "wait_for", state="hidden", **limit)
    if params.selector:
        code.call(code.find("selector", params.selector), "wait_for", **limit)
    if params.index is not None:
        code.call(code.element(), "wait_for", **limit)
    if params.url:
        url = params.url if "*" in params.url else f"**{params.url}**"
        code.call(code.page, "wait_for_url", url, **limit)
    if not code.body:
        code.call(code.page, "wait_for_timeout", limit["timeout"])


@waiting.action(effect="read", own_time=lambda params: params.seconds or params.timeout, code=_wait_for_code)
async def wait_for(ctx: ActionContext, params: WaitForParams) -> str:
    """Wait until all that is given holds."""
    conditions: dict[str, Condition] = {}
    if text := params.text:
        conditions[f'the text "{text}"'] = lambda: _has_text(ctx, text)
    if gone := params.text_gone:
        conditions[f'the text "{gone}" to be gone'] = lambda: _has_text(ctx, gone, wanted=False)
    if selector := params.selector:
        conditions[f"an element {selector}"] = lambda: _is_visible(ctx, selector)
    if (index := params.index) is not None:
        conditions[f"the element [{index}]"] = lambda: _is_usable(ctx, index)
    if url := params.url:
        conditions[f"the URL {url}"] = lambda: _url_matches(ctx, url)
    if not conditions:
        await anyio.sleep(params.seconds or 0)
    limit, lacking, pause = params.seconds or params.timeout, list(conditions), FIRST_POLL
    with anyio.move_on_after(limit):
        # All have to hold at one look.
        while lacking:
            stop_at_dialog(ctx)
            lacking = [name for name in conditions if not await _holds(conditions[name])]
            if lacking:
                await anyio.sleep(pause)
                pause = min(LONGEST_POLL, pause * 1.5)
        return f"Waited for {', '.join(conditions) or f'{params.seconds:g} s'}."
    raise DeadlineExceeded(
        f"Waited {limit:g} s in vain for {', '.join(lacking)}. The page is {cut_address(ctx.tab.url)}.",
        hint="Look with get_state, or wait again with a longer timeout.",
    )


async def _holds(condition: Condition) -> bool:
    """Whether a condition holds; False while the page is being replaced."""
    try:
        return await condition()
    except FrameGone:
        return False
    except PlaywrightError as error:
        if is_context_gone(error):
            return False
        raise


def stop_at_dialog(ctx: ActionContext) -> None:
    """End a wait by DialogOpen if a dialog holds the page."""
    dialog = ctx.tab.dialog
    if dialog is not None:
        raise DialogOpen(
            f"{dialog}, so the waiting has ended.", hint="Answer it with handle_dialog, then wait again."
        )


async def _has_text(ctx: ActionContext, text: str, *, wanted: bool = True) -> bool:
    # None: a frame that does not answer may have it.
    return await ctx.tab.ask(ctx.tab.dom.has_text(text)) is wanted


async def _is_visible(ctx: ActionContext, selector: str) -> bool:
    for frame in ctx.tab.page.frames:
        try:
            if await ctx.tab.ask(frame.locator(selector).filter(visible=True).count()):
                return True
        except PlaywrightError as error:
            refuse_selector(error, selector)
            # A frame that goes away or loads anew while it is asked has not matched.
    return False


async def _is_usable(ctx: ActionContext, index: int) -> bool:
    return "disabled" not in (await ctx.tab.ask(ctx.tab.dom.describe(index))).states


def is_selector_error(error: Exception | str) -> bool:
    """Whether Playwright could not read a selector."""
    return any(sign in str(error) for sign in _SELECTOR_ERRORS)


def refuse_selector(error: PlaywrightError, selector: str) -> None:
    """Raise InvalidArguments if the error says that Playwright could not read the selector."""
    if is_selector_error(error):
        raise InvalidArguments(f"{selector!r} is not a selector that Playwright knows.") from error


async def _url_matches(ctx: ActionContext, pattern: str) -> bool:
    return pattern in ctx.tab.url or fnmatch.fnmatchcase(ctx.tab.url, pattern)
