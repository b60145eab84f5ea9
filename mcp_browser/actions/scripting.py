"""Run a caller's JavaScript in the page, and the tools that it offers by WebMCP.

The schemas of its tools may be wrong or hostile.
"""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import unquote

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeoutError
from pydantic import Field

from mcp_browser.actions.code import Code
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.dom.cdp import send
from mcp_browser.dom.driver_errors import is_context_gone, plain_message
from mcp_browser.dom.named import OptionalIndex
from mcp_browser.dom.scripts import evaluate_script_source
from mcp_browser.errors import (
    ActionError,
    DeadlineExceeded,
    DialogOpen,
    InvalidArguments,
    NotFound,
    ScriptFailed,
)
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.text import counted, cut, one_line, quoted

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator
    from playwright.async_api import Frame

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


MOST_PARTS = 500  # Of a schema, its definitions counted at each use; later parts accept anything
MOST_FOLLOWED = 4  # References within one another
MOST_WORK = 1_000_000  # Values in the arguments by characters of the schema
MOST_PROBLEMS = 4
LONGEST_PROBLEM = 200

_PLAIN = frozenset(
    "type const minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems "
    "maxItems".split()
)
_LISTED = frozenset({"enum", "required"})
_ALTERNATIVES = frozenset({"allOf", "anyOf", "oneOf"})

_Schema = dict[str, Any]


def check_arguments(tool: str, arguments: Mapping[str, Any], schema: object) -> None:
    """Raise InvalidArguments, which names them, if arguments do not fit.

    A schema that is wrong, or too large to check, accepts everything.
    """
    # Imported late: most calls do not need it.
    from jsonschema import Draft202012Validator  # noqa: PLC0415
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415

    try:
        checkable = _Checkable(schema).schema
        if _values(arguments) * len(json.dumps(checkable)) > MOST_WORK:
            return
        Draft202012Validator.check_schema(checkable)
        validator = cast("Validator", Draft202012Validator(checkable))
        errors = islice(validator.iter_errors(arguments), MOST_PROBLEMS)
        problems = [one_line(problem, LONGEST_PROBLEM) for problem in map(_explain, errors)]
    except (SchemaError, RecursionError):
        return
    if problems:
        raise InvalidArguments(
            f"The arguments do not fit the page's tool {tool}: {'; '.join(dict.fromkeys(problems))}.",
            hint="list_page_tools has its schema.",
        )


def _explain(error: "ValidationError") -> str:
    """The error's message, with the argument that it is about."""
    wanted = cast("Any", error.validator_value)
    match error.validator:
        case "required":
            kinds: _Schema = cast("_Schema", error.schema).get("properties", {})
            missing = [name for name in wanted if name not in cast("_Schema", error.instance)]
            said = f"missing {', '.join(f'{name!r}{_kind(kinds.get(name))}' for name in missing)}"
        case "anyOf":
            said = f"{error.instance!r} fits none of {json.dumps(wanted)}"
        case _:
            said = error.message
    where = "/".join(map(str, error.absolute_path))
    return f"{where}: {said}" if where else said


def _kind(schema: Any) -> str:
    kind = cast("_Schema", schema).get("type") if isinstance(schema, dict) else None
    return f" ({kind})" if isinstance(kind, str) else ""


def _values(value: Any) -> int:
    match value:
        case dict():
            return 1 + sum(map(_values, cast("_Schema", value).values()))
        case list():
            return 1 + sum(map(_values, cast("list[Any]", value)))
        case _:
            return 1


class _Checkable:
    """The part of a schema that can be checked in bounded time.

    It only accepts more than the whole: it leaves out patterns, which may backtrack without end, negations,
    and references to other schemas.
    """

    def __init__(self, schema: object) -> None:
        self._whole = schema
        self._parts = 0
        self.schema = self._of(schema, 0)

    def _of(self, schema: Any, followed: int) -> _Schema | bool:
        self._parts += 1
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict) or self._parts > MOST_PARTS or followed > MOST_FOLLOWED:
            return {}
        part = cast("_Schema", schema)
        if "$ref" in part:
            return self._of(self._found(part["$ref"]), followed + 1)
        kept: _Schema = {}
        for key, value in part.items():
            if key in _PLAIN:
                kept[key] = value
            elif key in _LISTED and isinstance(value, list):
                self._parts += len(cast("list[Any]", value))
                if self._parts <= MOST_PARTS:
                    kept[key] = value
            elif key in _ALTERNATIVES and isinstance(value, list):
                # With less asked for, more than one may fit.
                name = "anyOf" if key == "oneOf" and "anyOf" not in part else key
                if name != "oneOf":
                    kept[name] = [self._of(one, followed) for one in cast("list[Any]", value)]
            elif key == "properties" and isinstance(value, dict):
                named = cast("_Schema", value)
                kept[key] = {name: self._of(one, followed) for name, one in named.items()}
            elif (key == "additionalProperties" and "patternProperties" not in part) or (
                key == "items" and "prefixItems" not in part
            ):
                kept[key] = self._of(value, followed)
        return kept

    def _found(self, reference: Any) -> Any:
        """The part of the schema that a reference names."""
        start, *path = reference.split("/") if isinstance(reference, str) else [""]
        found = self._whole if start == "#" else None
        for name in path:
            key = unquote(name).replace("~1", "/").replace("~0", "~")
            found = cast("_Schema", found).get(key) if isinstance(found, dict) else None
        return found
