"""Run a caller's JavaScript in the page."""

import asyncio
import contextlib
import json
import re
from typing import Any, NamedTuple, cast

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError
from pydantic import Field

from mcp_browser.actions.code import Code
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.dom.cdp import send
from mcp_browser.dom.driver_errors import is_context_gone
from mcp_browser.dom.named import OptionalIndex
from mcp_browser.dom.scripts import evaluate_script_source
from mcp_browser.errors import ActionError, DeadlineExceeded, DialogOpen, ScriptFailed
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.text import one_line, quoted

# The caller's text begins on the first line, so that lines count as they do in it.
_EXPRESSION = (
    "(function () { const element = this === window ? undefined : this; return { element, run: async () => (",
    "\n) } })",
)
_BODY = (_EXPRESSION[0][:-1] + "{", "\n} } })")

_GIVEN = frozenset(("value", "isUndefined", "isCut"))
_SPOILT = "The script gave no answer: the page has replaced built-ins of its own that it needs."

_OWN_PLACE = re.compile(r"<anonymous>:(\d+):(\d+)\)?$", re.MULTILINE)
_OTHER_PLACE = re.compile(r"\b((?:https?|file|blob|data):\S+:\d+:\d+)\)?$", re.MULTILINE)

CONTROL_SECONDS = 2.0
LONGEST_THROWN = 1_000  # Longest thrown value that is repeated, characters


class _Box(NamedTuple):
    """A script in the page, ready to run, and the number of our characters before it."""

    session: CDPSession
    object: str
    prefix: int

    async def run(self, characters: int) -> dict[str, Any]:
        given = await send(
            self.session,
            "Runtime.callFunctionOn",
            objectId=self.object,
            functionDeclaration=f"function (limit) {{ return ({evaluate_script_source()})(this, limit) }}",
            arguments=[{"value": characters}],
            returnByValue=True,
            awaitPromise=True,
            userGesture=True,
        )
        if "exceptionDetails" in given:
            raise ScriptFailed(f"The script failed: {_reason(given['exceptionDetails'])}.")
        answer = given["result"].get("value")
        if not isinstance(answer, dict) or not ("thrown" in answer or answer.keys() >= _GIVEN):
            raise ScriptFailed(_SPOILT, hint="Look with get_state, or get_html.")
        return cast("dict[str, Any]", answer)


async def _box(session: CDPSession, element: str | None, script: str) -> _Box:
    details: dict[str, Any] = {}
    for prefix, suffix in (_EXPRESSION, _BODY):
        declaration = prefix + script + suffix
        given = await (
            send(session, "Runtime.evaluate", expression=f"{declaration}()")
            if element is None
            else send(
                session, "Runtime.callFunctionOn", objectId=element, functionDeclaration=declaration[1:-1]
            )
        )
        if "exceptionDetails" not in given and "objectId" in given["result"]:
            return _Box(session, given["result"]["objectId"], len(prefix))
        details = given.get("exceptionDetails", details)
    if not details:
        raise ScriptFailed(_SPOILT, hint="Look with get_state, or get_html.")
    line = int(details["lineNumber"]) + 1
    column = int(details["columnNumber"]) + 1 - (len(_BODY[0]) if line == 1 else 0)
    where = f"line {min(line, script.count(chr(10)) + 1)}, column {max(1, column)}"
    raise ScriptFailed(
        f"The script is no JavaScript: {_reason(details)} ({where}).",
        hint="Give an expression, a function, or statements that end with return.",
    )


def _reason(details: dict[str, Any]) -> str:
    text = str(details.get("exception", {}).get("description") or details["text"])
    return one_line(text.partition("\n")[0].rstrip("."), LONGEST_THROWN)


def _failure(answer: dict[str, Any], prefix: int) -> ScriptFailed:
    thrown = quoted(str(answer["thrown"]), LONGEST_THROWN)
    thrown = thrown if answer.get("isError") else f"threw {thrown}"
    stack = str(answer.get("stack", ""))
    where = ""
    if own := _OWN_PLACE.search(stack):
        line = int(own[1])
        where = f" (line {line}, column {max(1, int(own[2]) - (prefix if line == 1 else 0))}"
        other = _OTHER_PLACE.search(stack[: own.start()])
        where += f", in {cut_address(other[1])})" if other else ")"
    return ScriptFailed(f"The script failed: {thrown}{where}.")


scripting = Registry(group="scripting")

SECONDS = 30.0  # How long a script may take where its caller does not say


class EvaluateScriptParams(ActionParams):
    script: str = Field(
        min_length=1, repr=False, description="expression, function, or statements with return"
    )
    index: OptionalIndex = Field(None, description="given to it as `element`")
    timeout: float = Field(SECONDS, gt=0, le=600, description="seconds")


_FUNCTION = re.compile(r"\s*(?:async\b|function\b|\([^()]*\)\s*=>|\w+\s*=>)")


def _code(code: Code, params: EvaluateScriptParams) -> None:
    script = params.script
    if params.index is not None:
        # Ours is given the element as `element`, and may be statements with a return.
        body = script if "return" in script else f"return {script}"
        code.call(code.element(), "evaluate", f"element => {{ {body} }}")
    else:
        wrapped = "return" in script and _FUNCTION.match(script) is None
        code.call(code.page, "evaluate", f"() => {{ {script} }}" if wrapped else script)


@scripting.action(destructive=True, own_time=lambda params: params.timeout, code=_code)
async def evaluate_script(ctx: ActionContext, params: EvaluateScriptParams) -> ActionResult | str:
    """Run JavaScript in the page; its result comes as JSON."""
    tab, budget, box = ctx.tab, ctx.room, None
    try:
        async with asyncio.timeout(params.timeout):
            box = await tab.guarded(_box(*await tab.ask(tab.dom.in_page(params.index)), params.script))
            prefix, answer = box.prefix, await tab.guarded(box.run(budget))
    except TimeoutError as error:
        if await tab.dom.break_off(params.index):
            raise DeadlineExceeded(
                f"The script did not end within {params.timeout:g} s and was stopped; the page goes on.",
                hint="It may have done a part of its work: look with get_state.",
            ) from error
        waited = f"after {params.timeout:g} s; it is not waited for any longer"
        raise DeadlineExceeded(
            f"The script still waits for something {waited}.",
            hint="Give a longer timeout, or do not await what never comes.",
        ) from error
    except DialogOpen:
        return "The script waits for the dialog that is open; its result will not be told."
    except PlaywrightError as error:
        if is_context_gone(error):
            return "The page went to another address before the script ended: it has no result."
        raise
    finally:
        if box is not None and not tab.held:
            with contextlib.suppress(PlaywrightError, ActionError, TimeoutError):
                async with asyncio.timeout(CONTROL_SECONDS):
                    await tab.guarded(send(box.session, "Runtime.releaseObject", objectId=box.object))
    if "thrown" in answer:
        raise _failure(answer, prefix)
    if answer["isUndefined"]:
        hint = "" if "return" in params.script or ";" not in params.script else " Statements need a return."
        return f"The script returned undefined.{hint}"
    is_cut = f", cut to about {budget:,} characters (return less to see more)" if answer["isCut"] else ""
    return ActionResult(
        extracted_content=f"The script returned{is_cut}:",
        page_content=json.dumps(answer["value"], ensure_ascii=False),
        by_caller=True,
    )
