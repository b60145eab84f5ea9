"""Assertions about the page, with Playwright's waiting and messages."""

import re
from collections.abc import Coroutine, Mapping
from difflib import unified_diff
from typing import Any, NamedTuple

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator, expect
from pydantic import Field, model_validator

from mcp_browser.actions.code import Code, Expression, NoEquivalent
from mcp_browser.actions.recording import locator_of
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.actions.waiting import LONGEST_WAIT, is_selector_error
from mcp_browser.browser.network.log import UrlPattern
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.session_plugins import SessionPlugin
from mcp_browser.dom.identities import ElementLocator
from mcp_browser.dom.named import OptionalIndex
from mcp_browser.errors import InvalidArguments, NotActionable, NotFound
from mcp_browser.privacy.hiding import cut_address, hide
from mcp_browser.text import counted, cut

testing = Registry(group="testing")

SECONDS = 5.0  # How long an assertion waits where its caller does not say, as Playwright's do
SLACK = 2.0  # How much longer Playwright may take to say that it has waited in vain, seconds
MOST_KEPT = 50  # How many regions a session keeps
LONGEST_REGION = 50_000  # How long one may be, characters
LONGEST_REPORT = 4_000  # How much is reported of what was seen instead, characters
SHORTEST_HIDDEN = 3  # A secret value shorter than this stands in too many words to be taken out of them
HIDDEN = "•••"

_WHOLE = "- /children: deep-equal\n"  # Else Playwright takes a region that has more for the same


class _Assertion(NamedTuple):
    """A method of Playwright's `expect`, by its name in Python; `condition` is what it says in messages."""

    condition: str
    method: str
    arguments: tuple[object, ...] = ()
    options: Mapping[str, object] = {}


class _Timed(ActionParams):
    timeout: float = Field(SECONDS, ge=0, le=LONGEST_WAIT, description="seconds")

    @property
    def milliseconds(self) -> float:
        """The limit as Playwright takes it, for which 0 is none."""
        return max(1.0, self.timeout * 1000)


class _OfElement(_Timed):
    index: OptionalIndex = None
    selector: str | None = Field(None, description="in place of index: CSS or Playwright's")

    @model_validator(mode="after")
    def _names_one(self) -> "_OfElement":
        if self.index is not None and self.selector is not None:
            raise ValueError("give index or selector, not both")
        return self


class ExpectVisibleParams(_OfElement):
    text: str | None = Field(None, repr=False, description="or a text that is seen anywhere on the page")
    hidden: bool = Field(False, description="expect that it is not visible, or not there")

    @model_validator(mode="after")
    def _names_what(self) -> "ExpectVisibleParams":
        if sum(map(bool, (self.index, self.selector, self.text))) != 1:
            raise ValueError("give one of index, selector and text")
        return self

    @property
    def assertion(self) -> _Assertion:
        state = "hidden" if self.hidden else "visible"
        return _Assertion(f"to be {state}", f"to_be_{state}")


class ExpectTextParams(_OfElement):
    text: str = Field(repr=False, description="that the element, or the page, contains")
    exact: bool = Field(False, description="it is the whole text")

    @model_validator(mode="after")
    def _is_of_an_element(self) -> "ExpectTextParams":
        if self.exact and self.index is None and not self.selector:
            raise ValueError("exact needs an index or a selector")
        return self

    @property
    def assertion(self) -> _Assertion:
        verb = "have" if self.exact else "contain"
        return _Assertion(f"to {verb} the text {self.text!r}", f"to_{verb}_text", (self.text,))


class ExpectValueParams(_OfElement):
    value: str | bool | list[str] = Field(
        repr=False, description="of a field; true or false for checked; several of a multiple select"
    )

    @model_validator(mode="after")
    def _names_any(self) -> "ExpectValueParams":
        if self.index is None and not self.selector:
            raise ValueError("give index or selector")
        return self

    @property
    def assertion(self) -> _Assertion:
        match self.value:
            case True:
                return _Assertion("to be checked", "to_be_checked")
            case False:
                return _Assertion("to be unchecked", "to_be_checked", options={"checked": False})
            case str(value):
                return _Assertion(f"to have the value {value!r}", "to_have_value", (value,))
            case values:
                condition = f"to have the values {', '.join(map(repr, values))}"
                return _Assertion(condition, "to_have_values", (values,))


class ExpectUrlParams(_Timed):
    url: str = Field(min_length=1, description="address, part of it, or glob")

    @property
    def assertion(self) -> _Assertion:
        if "://" in self.url and "*" not in self.url:
            return _Assertion(f"to be {cut_address(self.url)}", "to_have_url", (self.url,))
        return _Assertion(f"to match {self.url!r}", "to_have_url", (UrlPattern(self.url).regex,))


class ExpectCountParams(_Timed):
    selector: str = Field(min_length=1, description="CSS, role=… or any Playwright selector")
    count: int = Field(ge=0)

    @property
    def assertion(self) -> _Assertion:
        return _Assertion(f"to match {counted(self.count, 'element')}", "to_have_count", (self.count,))


class ExpectSnapshotParams(_OfElement):
    name: str = Field(min_length=1, max_length=100, description="of the region; its first use keeps it")
    replace: bool = Field(False, description="keep it anew, do not compare")


_Stated = ExpectVisibleParams | ExpectTextParams | ExpectValueParams | ExpectUrlParams | ExpectCountParams


class _KeptRegions(SessionPlugin):
    """The regions that a session keeps, as Aria snapshots, by their names."""

    def __init__(self, session: BrowserSession) -> None:
        self.snapshots: dict[str, str] = {}


def _code(code: Code, params: _Stated) -> None:
    """Add an assertion, with its limit unless that is Playwright's own."""
    _, method, arguments, options = params.assertion
    limit = {} if params.timeout == SECONDS else {"timeout": params.milliseconds}
    subject = code.page if isinstance(params, ExpectUrlParams) else _subject(code, params)
    code.expect(subject, method, *arguments, **options, **limit)


def _subject(code: Code, params: _OfElement | ExpectCountParams) -> Expression:
    """The element that an assertion is about, as code."""
    if isinstance(params, ExpectVisibleParams) and params.text:
        return code.find("visible text", params.text)
    if isinstance(params, _OfElement) and params.index is not None:
        return code.element()
    return code.find("selector", params.selector or "body", nth=None)


@testing.action(effect="read", own_time=lambda params: params.timeout, code=_code)
async def expect_visible(ctx: ActionContext, params: ExpectVisibleParams) -> ActionResult:
    """Assert that an element or a text is visible, or that it is hidden."""
    return await _assert_stated(ctx, params)


@testing.action(effect="read", own_time=lambda params: params.timeout, code=_code)
async def expect_text(ctx: ActionContext, params: ExpectTextParams) -> ActionResult:
    """Assert what text an element or the page has; spaces are taken as one."""
    return await _assert_stated(ctx, params)


@testing.action(effect="read", own_time=lambda params: params.timeout, code=_code)
async def expect_value(ctx: ActionContext, params: ExpectValueParams) -> ActionResult:
    """Assert the value of a field, or whether it is checked."""
    return await _assert_stated(ctx, params)


@testing.action(effect="read", own_time=lambda params: params.timeout, code=_code)
async def expect_url(ctx: ActionContext, params: ExpectUrlParams) -> ActionResult:
    """Assert the address of the page."""
    return await _assert_stated(ctx, params)


@testing.action(effect="read", own_time=lambda params: params.timeout, code=_code)
async def expect_count(ctx: ActionContext, params: ExpectCountParams) -> ActionResult:
    """Assert how many elements match a selector."""
    return await _assert_stated(ctx, params)


def _snapshot_code(code: Code, params: ExpectSnapshotParams) -> None:
    if code.action.snapshot is None:
        raise NoEquivalent("the region was not recorded")
    code.expect(_subject(code, params), "to_match_aria_snapshot", code.action.snapshot)


@testing.action(effect="read", own_time=lambda params: params.timeout, code=_snapshot_code)
async def expect_snapshot(ctx: ActionContext, params: ExpectSnapshotParams) -> ActionResult:
    """Keep a region's roles, names and texts under a name; from then on, assert that they are the same."""
    target, name = await _target(ctx, params)
    regions = (await ctx.session.plugin(_KeptRegions)).snapshots
    kept = regions.get(params.name)
    if kept is None or params.replace:
        if len(regions) >= MOST_KEPT and kept is None:
            raise NotActionable(f"{MOST_KEPT} regions are kept, as many as a session can.")
        regions[params.name] = await _aria_snapshot(ctx, target, name, params.timeout)
        lines = counted(len(regions[params.name].splitlines()), "line")
        return ActionResult(
            extracted_content=f"Kept {name} as {params.name!r}, {lines}. "
            "The next call with this name compares it.",
            data={"snapshot": _WHOLE + regions[params.name]},
        )
    wanted = expect(target).to_match_aria_snapshot(_WHOLE + kept, timeout=params.milliseconds)
    result = await _assert(ctx, params, wanted, f"{name} to be as it was kept under {params.name!r}")
    if result.error is None:
        return result.model_copy(update={"data": {"snapshot": _WHOLE + kept}})
    now = await _aria_snapshot(ctx, target, name, SLACK)
    changes = unified_diff(kept.splitlines(), now.splitlines(), "kept", "now", lineterm="", n=2)
    return result.model_copy(update={"page_content": cut("\n".join(changes), LONGEST_REPORT)})


async def _target(ctx: ActionContext, params: _OfElement | ExpectCountParams) -> tuple[Locator, str]:
    """What an assertion is about, and its name in messages."""
    page = ctx.tab.page
    if isinstance(params, ExpectVisibleParams) and params.text:
        return ElementLocator("visible text", params.text, nth=0).on(page), f"the text {params.text!r}"
    if isinstance(params, _OfElement) and params.index is not None:
        node = await ctx.tab.ask(ctx.tab.dom.describe(params.index))
        return (await locator_of(ctx.tab, params.index)).on(page), f"[{params.index}] {node.role}"
    return page.locator(params.selector or "body"), repr(params.selector) if params.selector else "the page"


async def _assert_stated(ctx: ActionContext, params: _Stated) -> ActionResult:
    condition, method, arguments, options = params.assertion
    if isinstance(params, ExpectUrlParams):
        asked, name = expect(ctx.tab.page), "the page's URL"
    else:
        target, name = await _target(ctx, params)
        asked = expect(target)
    wanted = getattr(asked, method)(*arguments, **options, timeout=params.milliseconds)
    return await _assert(ctx, params, wanted, f"{name} {condition}")


async def _assert(
    ctx: ActionContext, params: _Timed, wanted: Coroutine[Any, Any, None], what: str
) -> ActionResult:
    """Run an assertion of Playwright's; the result of one that fails counts as failed."""
    try:
        await ctx.tab.ask(wanted, limit=params.timeout + SLACK)
    except AssertionError as error:
        said = str(error)
        reason = re.search(r"^Error: (?!strict)(.*)", said, re.MULTILINE)
        if reason is not None and is_selector_error(reason[1]):
            raise InvalidArguments(
                f"Playwright does not know this selector. Expected was {what}.", hint="Give CSS, or an index."
            ) from error
        several = "strict mode violation" in said
        why = "but that means several elements" if several else f"it was not within {params.timeout:g} s"
        return ActionResult(
            error=f"Expected {what}; {why}.",
            page_content=cut(_without(await _secrets(ctx), _report(said)), LONGEST_REPORT),
        )
    return ActionResult(extracted_content=f"Passed: {what}.")


def _report(said: str) -> str:
    """The page's state in Playwright's message: the actual value, and the last elements found."""
    _, _, rest = said.partition("\nActual value: ")
    actual, _, log = rest.partition("\nCall log:")
    log = log.partition("\nAria snapshot:")[0]
    found = [line.strip() for line in log.splitlines() if "resolved to" in line][-1:]
    lines = [f"Actual value: {actual.strip()}", *found]
    return "\n".join(line for line in lines if line != "Actual value: None")


async def _aria_snapshot(ctx: ActionContext, target: Locator, name: str, seconds: float) -> str:
    """The region as Playwright's Aria snapshot, without secret fields; raises NotFound, InvalidArguments."""
    try:
        taken = await ctx.tab.ask(
            target.aria_snapshot(timeout=max(1.0, seconds * 1000)), limit=seconds + SLACK
        )
    except PlaywrightError as error:
        if "strict mode violation" in error.message:
            raise InvalidArguments(f"Several elements match {name}.", hint="Name one.") from error
        if is_selector_error(error):
            raise InvalidArguments(f"Playwright does not know this selector: {name}.") from error
        if "Timeout" in error.message:
            raise NotFound(f"There is no {name} within {seconds:g} s.") from error
        raise
    if len(taken) > LONGEST_REGION:
        raise InvalidArguments(
            f"The region has {len(taken):,} characters; at most {LONGEST_REGION:,} are kept.",
            hint="Name a smaller one.",
        )
    secrets = await _secrets(ctx)
    return "\n".join(_without_value(line, secrets) for line in taken.splitlines())


async def _secrets(ctx: ActionContext) -> frozenset[str]:
    return await ctx.tab.ask(ctx.tab.dom.secret_values())


def _without_value(line: str, secrets: frozenset[str]) -> str:
    """A line of an Aria snapshot; a secret value in it matches any value."""
    for secret in secrets:
        for written in (secret, '"' + secret.replace("\\", "\\\\").replace('"', '\\"') + '"'):
            if line.endswith(f": {written}"):
                return f"{line.removesuffix(written)}/.+/"
    return line


def _without(secrets: frozenset[str], text: str) -> str:
    long = {secret: secret for secret in secrets if len(secret) >= SHORTEST_HIDDEN}
    if any(re.search(rf"(?<!\w){re.escape(short)}(?!\w)", text) for short in secrets - long.keys()):
        return ""
    return hide(text, long, mark=HIDDEN)
