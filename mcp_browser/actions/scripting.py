"""A caller's own JavaScript, in the page."""

import json
import re

from pydantic import Field

from mcp_browser.actions.code import Code
from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionResult
from mcp_browser.browser.evaluation import evaluate
from mcp_browser.dom.named import OptionalIndex
from mcp_browser.errors import DialogOpen

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
async def evaluate_script(ctx: ActionContext, params: EvaluateScriptParams) -> ActionResult:
    """Run JavaScript in the page; its result comes as JSON."""
    budget = ctx.room
    try:
        given = await evaluate(
            ctx.tab, params.script, index=params.index, seconds=params.timeout, characters=budget
        )
    except DialogOpen:
        return ActionResult(
            extracted_content="The script waits for the dialog that is open; its result will not be told."
        )
    if given.left_page:
        return ActionResult(
            extracted_content="The page went to another address before the script ended: it has no result."
        )
    if given.is_undefined:
        hint = "" if "return" in params.script or ";" not in params.script else " Statements need a return."
        return ActionResult(extracted_content=f"The script returned undefined.{hint}")
    told = "The script returned"
    if given.is_cut:
        told += f", cut to about {budget:,} characters (return less to see more)"
    return ActionResult(
        extracted_content=f"{told}:",
        page_content=json.dumps(given.value, ensure_ascii=False),
        by_caller=True,
    )
