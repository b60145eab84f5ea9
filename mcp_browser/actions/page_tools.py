"""The tools that a page offers by WebMCP, whose schemas may be wrong or hostile."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeoutError
from pydantic import Field

from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.browser.playwright_errors import is_context_gone
from mcp_browser.dom.driver_errors import plain_message
from mcp_browser.errors import DeadlineExceeded, DialogOpen, InvalidArguments, NotFound, ScriptFailed
from mcp_browser.text import counted, cut, one_line

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator
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
    """How many values there are in one."""
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
