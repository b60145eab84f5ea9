"""Runs a caller's script in a page and tells what came of it."""

import asyncio
import contextlib
import re
from typing import TYPE_CHECKING, Any

from playwright.async_api import ElementHandle, JSHandle, Page
from playwright.async_api import Error as PlaywrightError
from pydantic import JsonValue

from mcp_browser.dom.cdp import send
from mcp_browser.dom.driver_errors import is_context_gone, plain_message
from mcp_browser.dom.models import Frozen
from mcp_browser.dom.scripts import evaluate_script_source
from mcp_browser.errors import ActionError, DeadlineExceeded, ScriptFailed
from mcp_browser.text import cut_address, quoted

if TYPE_CHECKING:
    from mcp_browser.browser.tab import Tab

# The caller's text begins on the first line, so that lines count as they do in it.
_EXPRESSION = ("element => ({ element, run: async () => (", "\n) })")
_BODY = ("element => ({ element, run: async () => {", "\n} })")

_OWN_PLACE = re.compile(r"\(eval at .*<anonymous>:(\d+):(\d+)\)$", re.MULTILINE)
_OTHER_PLACE = re.compile(r"\b((?:https?|file|blob|data):\S+:\d+:\d+)\)?$", re.MULTILINE)

CONTROL_SECONDS = 2.0
LONGEST_THROWN = 1_000  # How much of what a script has thrown is told, characters


class Evaluation(Frozen):
    """What a script has given, as JSON, cut where `is_cut`; nothing where it has `left_page` first."""

    value: JsonValue = None
    is_undefined: bool = False
    is_cut: bool = False
    left_page: bool = False


async def evaluate(
    tab: "Tab", script: str, *, index: int | None, seconds: float, characters: int
) -> Evaluation:
    """Run an expression, a function, or a function's body in the page; promises are awaited.

    The script finds the element at `index` as `element`, and runs in its frame; a function takes it too.

    Raises:
        ScriptFailed: it threw, or it is no JavaScript; the message tells the line.
        DeadlineExceeded: it did not end in `seconds`; one that runs without end is stopped.
        DialogOpen: it has opened a dialog and waits for the answer.
        StaleElement: the element is gone.
    """
    target = tab.page if index is None else await tab.ask(tab.dom.handle(index))
    box: JSHandle | None = None
    try:
        async with asyncio.timeout(seconds):
            box, prefix = await _box(tab, target, script)
            answer: dict[str, Any] = await tab.guarded(box.evaluate(evaluate_script_source(), characters))
    except TimeoutError as error:
        raise await _too_long(tab, index, seconds) from error
    except PlaywrightError as error:
        if is_context_gone(error):
            return Evaluation(left_page=True)
        raise
    finally:
        if box is not None and not tab.held:
            with contextlib.suppress(PlaywrightError, ActionError, TimeoutError):
                async with asyncio.timeout(CONTROL_SECONDS):
                    await tab.guarded(box.dispose())
    if "thrown" in answer:
        raise _failure(answer, prefix)
    return Evaluation(value=answer["value"], is_undefined=answer["isUndefined"], is_cut=answer["isCut"])


async def _box(tab: "Tab", target: Page | ElementHandle, script: str) -> tuple[JSHandle, str]:
    """The script, ready to run but not run yet, and what stands before it on its first line."""
    for prefix, suffix in (_EXPRESSION, _BODY):
        try:
            return await tab.guarded(target.evaluate_handle(prefix + script + suffix)), prefix
        except PlaywrightError as error:
            if "SyntaxError" not in error.message:
                raise
            problem = error
    raise await _no_script(tab, script, plain_message(problem))


async def _no_script(tab: "Tab", script: str, why: str) -> ScriptFailed:
    """The error for what is no JavaScript; only CDP tells the line."""
    where = ""
    prefix, suffix = _BODY
    with contextlib.suppress(PlaywrightError, ActionError):
        parsed = await tab.ask(send(tab.cdp, "Runtime.evaluate", expression=f"({prefix}{script}{suffix})"))
        details = parsed.get("exceptionDetails")
        if details:
            line = int(details["lineNumber"]) + 1
            column = int(details["columnNumber"]) + 1 - (len(prefix) + 1 if line == 1 else 0)
            where = f" (line {min(line, script.count(chr(10)) + 1)}, column {max(1, column)})"
    return ScriptFailed(
        f"The script is no JavaScript: {why}{where}.",
        hint="Give an expression, a function, or statements that end with return.",
    )


def _failure(answer: dict[str, Any], prefix: str) -> ScriptFailed:
    thrown = quoted(str(answer["thrown"]), LONGEST_THROWN)
    thrown = thrown if answer["isError"] else f"threw {thrown}"
    stack = str(answer["stack"])
    where = ""
    if own := _OWN_PLACE.search(stack):
        line = int(own[1])
        where = f" (line {line}, column {max(1, int(own[2]) - (len(prefix) if line == 1 else 0))}"
        other = _OTHER_PLACE.search(stack[: own.start()])
        where += f", in {cut_address(other[1])})" if other else ")"
    return ScriptFailed(f"The script failed: {thrown}{where}.")


async def _too_long(tab: "Tab", index: int | None, seconds: float) -> DeadlineExceeded:
    if await tab.dom.break_off(index):
        return DeadlineExceeded(
            f"The script did not end within {seconds:g} s and was stopped; the page goes on.",
            hint="It may have done a part of its work: look with get_state.",
        )
    return DeadlineExceeded(
        f"The script still waits for something after {seconds:g} s; it is not waited for any longer.",
        hint="Give a longer timeout, or do not await what never comes.",
    )
