"""The steps of a call; `STEPS` lists them in order."""

import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Protocol

import anyio
from playwright.async_api import Error as PlaywrightError
from pydantic import BaseModel

from mcp_browser.actions.code import Script
from mcp_browser.actions.observing import Screenshot, describe_view, take_screenshot
from mcp_browser.actions.recording import SessionScript, with_indexes
from mcp_browser.actions.registry import RegisteredAction
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.audit import audit_log_of, name_of, outcome_of, redacted
from mcp_browser.batch import Batch, ListedAction, Premises, foresee
from mcp_browser.browser.files.artifacts import ServerPaths
from mcp_browser.browser.page import ActionScope
from mcp_browser.browser.session import BrowserSession
from mcp_browser.consent import PolicyGate
from mcp_browser.dom.driver_errors import FrameGone, as_action_error
from mcp_browser.errors import ActionError, BrowserUnavailable, DeadlineExceeded, DialogOpen, NotFound
from mcp_browser.hosts import origin_of
from mcp_browser.policy import load_policy
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.settings import Settings

logger = logging.getLogger(__name__)

Prepare = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]  # Checks an action's arguments
ONE_MORE_NAME = 0.5  # How long to wait for a named element in a list in which another was missing, seconds
REPORT_SECONDS = 10.0  # How much longer than its actions a list may take, seconds


class Rules:
    """The settings of calls, with their policy, their audit log and their pipelines."""

    def __init__(self, settings: Settings, *, exports: bool) -> None:
        """Follow the settings; `exports`: record actions as code. Raises SettingsError."""
        self.settings = settings
        self.audit = audit_log_of(settings)
        self.policy = load_policy(settings.tools.policy) if settings.tools.policy is not None else None
        self.records = exports or settings.tools.codegen != "none"
        self.carry_out = pipeline(STEPS, carried_out, self)
        part = pipeline(PART_STEPS, carried_out, self)
        self.carry_out_list = pipeline(LIST_STEPS, partial(listed, carry_out=part), self)
        self.look = pipeline(GUARDS, looked, self)

    @cached_property
    def paths(self) -> ServerPaths:
        return ServerPaths(self.settings)


@dataclass(slots=True, eq=False)
class Execution:
    """The state of an action during the steps.

    The result of `prepare` replaces `arguments` for the action itself. `granted` are the keys of a person's
    yes, None if nobody can be asked. `premises` are those under which it was chosen. `batch` is its list,
    `within` the list that it is part of (or the last one of).
    """

    action: RegisteredAction
    arguments: Mapping[str, Any]
    session: BrowserSession
    rules: Rules
    prepare: Prepare | None = None
    granted: Collection[str] | None = None
    premises: Premises | None = None
    batch: Batch | None = None
    within: Batch | None = None
    is_last: bool = False
    params: BaseModel = field(init=False)
    scope: ActionScope = field(init=False)  # The state of the session when the action began
    gate: PolicyGate | None = field(init=False, default=None)
    has_begun: bool = False  # Whether there is a scope: the session is locked

    @property
    def parts(self) -> list[tuple[RegisteredAction, BaseModel]]:
        """The action, or those of its list, with their parameters."""
        if self.batch is None:
            return [(self.action, self.params)]
        return [(one.action, one.action.validate(one.arguments)) for one in self.batch.entries]


Next = Callable[[Execution], Awaitable[ActionResult]]


class Step(Protocol):
    """One step: runs before and after the steps that follow."""

    def __call__(self, call: Execution, next: Next) -> Awaitable[ActionResult]:
        """Return the result of the call, from `next` unless the step ends it."""
        ...


async def watched(call: Execution, next: Next) -> ActionResult:
    """Report the call and its outcome to the session's watcher, such as the live view."""
    if call.session.watcher is None:
        return await next(call)
    report = call.session.watcher(
        call.action.name, redacted(call.arguments, call.action.param_model, call.session.hidden)
    )
    try:
        result = await next(call)
    except BaseException as error:
        report(error)
        raise
    report(result)
    return result


async def private(call: Execution, next: Next) -> ActionResult:
    """Redact secrets in addresses; for a remote client, redact server paths in errors."""
    session = call.session
    redact = session.addresses.redact
    hide = partial(call.rules.paths.hide, known=repr(call.arguments)) if session.artifacts.remote else str
    try:
        result = await next(call)
    except ActionError as error:
        error.reword(lambda text: redact(hide(text)))
        raise
    if result.error:
        result = result.model_copy(update={"error": hide(result.error)})
    return result.reword(redact)


async def audited(call: Execution, next: Next) -> ActionResult:
    """Write the action and its outcome to the audit log."""
    # As the caller gave them: steps replace names by indexes.
    log, action, session, arguments = call.rules.audit, call.action, call.session, call.arguments
    assert log is not None
    started, origin, outcome = time.monotonic(), _origin(session), "ok"
    try:
        return await next(call)
    except BaseException as error:
        outcome = outcome_of(error)
        raise
    finally:
        consented = call.gate is not None and call.gate.was_opened
        log.write(
            "action",
            action=action.name,
            session=name_of(session),
            arguments=redacted(arguments, action.param_model, session.hidden),
            origin=origin,
            origin_after=_origin(session),
            outcome=outcome,
            consent="yes" if consented else "asked" if outcome == "consent_needed" else None,
            seconds=round(time.monotonic() - started, 3),
        )


async def timed(call: Execution, next: Next) -> ActionResult:
    """End the call after `limits.call_timeout` plus the time that its caller asked it to wait."""
    action, session = call.action, call.session
    call.params = action.validate(call.arguments)
    limit = call.rules.settings.limits.call_timeout
    if call.batch is not None or action.own_time is not None:
        limit += sum(one.time_of(given) for one, given in call.parts)
    if call.batch is not None:
        call.batch.deadline = time.monotonic() + limit
        limit += REPORT_SECONDS
    over = f"within {limit:g} s"
    if call.within is not None and (left := call.within.deadline - time.monotonic()) < limit:
        limit, over = max(0.0, left), "in the time of the whole list"
    with anyio.move_on_after(limit) as clock, session.takeover.stops(clock):
        return await next(call)
    waited = ": it spent them waiting for another call to end" * (call.within is None and not call.has_begun)
    raise DeadlineExceeded(
        f"{action.name} did not finish {over}{waited}.",
        hint="The session goes on: look with get_state, or reload the page.",
    )


async def not_taken_over(call: Execution, next: Next) -> ActionResult:
    """Wait until nobody has taken over the browser."""
    if call.session.takeover.busy:
        await call.session.takeover.let_pass()
    return await next(call)


async def locked(call: Execution, next: Next) -> ActionResult:
    """Hold the session for this action alone; open it if needed.

    It is not checked whether its browser still runs: if that has ended unnoticed, nothing was done yet, and
    the call is repeated in another browser.
    """
    for is_last in (False, True):
        try:
            async with call.session.action(call.action.effect) as call.scope:
                call.has_begun = True
                return await next(call)
        except BrowserUnavailable:
            if is_last or not call.has_begun or not await call.session.ended_before(call.scope):
                raise
    raise AssertionError


async def entered(call: Execution, next: Next) -> ActionResult:
    """Act within a list, which holds the session."""
    async with call.session.action(call.action.effect, within=True) as call.scope:
        call.has_begun = True
        return await next(call)


async def expected(call: Execution, next: Next) -> ActionResult:
    """Refuse an action if the page is not as it was when the action was chosen."""
    if call.premises is not None:
        given = await call.premises.check(call.action, call.arguments)
        if given is not call.arguments:
            call.arguments, call.params = given, call.action.validate(given)
    return await next(call)


async def named(call: Execution, next: Next) -> ActionResult:
    """Replace names of elements by indexes, as soon as the elements are there."""
    may_name = any(isinstance(value, str | list) for value in call.arguments.values())
    if may_name and (call.batch is None or call.prepare is not None):
        within, limit = call.within, call.action.time_of(call.params)
        # What only reads and has a timeout of its own, such as wait_for, waits for a name no longer.
        if call.action.own_time is None or call.action.effect != "read":
            limit = max(limit, call.rules.settings.limits.action_timeout)
        if within is not None and within.has_missed:
            limit = ONE_MORE_NAME
        try:
            given = await with_indexes(call.session, call.arguments, call.params, limit=limit)
        except NotFound:
            if within is not None:
                within.has_missed = True
            raise
        if given is not call.arguments:
            call.arguments, call.params = given, call.action.validate(given)
    return await next(call)


async def prepared(call: Execution, next: Next) -> ActionResult:
    """Fill in secrets and restore redacted addresses in the arguments."""
    action, restored = call.action, call.session.restored
    if call.prepare is None and action.effect != "navigation":
        return await next(call)
    given = await call.prepare(call.arguments) if call.prepare is not None else call.arguments
    if action.effect == "navigation" and isinstance(given.get("url"), str):
        given = {**given, "url": restored(given["url"])}
        call.arguments = {**call.arguments, "url": restored(call.arguments["url"])}
    call.params = action.validate(given)
    return await next(call)


async def guarded(call: Execution, next: Next) -> ActionResult:
    """Refuse the action if a dialog holds the page, or if it is for other pages."""
    action, tab = call.action, call.session.current_tab
    if tab.held and tab.dialog is not None and not action.during_dialog:
        raise DialogOpen(f"{tab.dialog}.", hint="Answer it with handle_dialog first.")
    if not action.offered_on(tab.page):
        raise action.not_offered(tab.page)
    return await next(call)


async def consented(call: Execution, next: Next) -> ActionResult:
    """Check the policy now and before each input; it may require a person's yes."""
    assert call.rules.policy is not None
    gate = PolicyGate(call.rules.policy, call.action, call.session, call.granted)
    call.gate = call.session.services.gate = gate
    gate.begin(call.arguments)
    return await next(call)


async def recorded_as_code(call: Execution, next: Next) -> ActionResult:
    """Record the action as Playwright code; add that to the result if the settings want it."""
    script = await call.session.plugin(SessionScript)
    pending = await script.before(call.action, call.arguments)
    result = await next(call)
    if pending is None or result.error:
        return result
    done = pending(result.data or {})
    script.add(done)
    language = call.rules.settings.tools.codegen
    if language == "none":
        return result
    lines = Script(language)
    lines.add(done)
    return result.model_copy(update={"code": tuple(lines.lines())})


async def pictured(call: Execution, next: Next) -> ActionResult:
    """Add a picture of the view if the action or the settings want one."""
    result = await next(call)
    setting = call.rules.settings.screenshots.screenshots
    wanted = any(action.pictured(params) for action, params in call.parts)
    if not wanted and setting != "always":
        return result
    ctx = ActionContext(call.session, call.rules.settings)
    has_one = any(attachment.kind == "image" for attachment in result.attachments)
    picture: Screenshot | None = None
    if setting != "never" and not has_one and ctx.tab.dialog is None:
        try:
            picture = await take_screenshot(ctx, cursor=wanted)
        except (PlaywrightError, ActionError):
            # The action is done: a page that cannot be pictured now must not turn it into a failure.
            logger.warning("No screenshot could be taken", exc_info=True)
    if picture is not None:
        result = result.model_copy(update={"attachments": (*result.attachments, picture.attachment)})
    if wanted and not ctx.tab.held and result.error is None:
        view = await describe_view(ctx.tab, picture.size if picture is not None else None)
        result = result.model_copy(update={"extracted_content": f"{result.extracted_content} {view}"})
    return result


async def observed(call: Execution, next: Next) -> ActionResult:
    """Wait until all that the action started has ended; add what changed, new files, and notices."""
    session = call.session
    try:
        result = await next(call)
        if result.observation is None:
            observation = await session.observe(call.scope)
            if call.batch is not None and result.stands_for_page:
                observation = observation.without_page()
            result = result.model_copy(update={"observation": observation})
    except ActionError as error:
        happened, now = [*error.notices], session.tab_in_use
        if now is not None and now is call.scope.tab and now.url != call.scope.url:
            happened.append(f"The page is {cut_address(now.url)} now.")
        if now is not None and now.dialog is not None and not isinstance(error, DialogOpen):
            happened.append(f"{now.dialog}; answer it with handle_dialog.")
        error.notices = (*happened, *session.take_notices())
        raise
    incoming = session.incoming
    news = incoming.ended or incoming.brought
    if news and (ended := incoming.take_ended(acted=call.action.effect != "read")):
        came = {info.uri for info in ended if info.size is not None}
        came -= {attachment.uri for attachment in result.attachments}
        new = (artifact for artifact in session.artifacts.files() if artifact.uri in came)
        attachments = ActionContext(session, call.rules.settings).attach(*new)
        result = result.model_copy(update={"attachments": (*result.attachments, *attachments)})
    return result


async def settled(call: Execution, next: Next) -> ActionResult:
    """In a list: wait until all that the action started has ended; the last action is observed instead."""
    result = await next(call)
    if not call.is_last:
        await call.session.settle(call.scope)
    return result


async def carried_out(call: Execution) -> ActionResult:
    """The last step: the action itself."""
    ctx, within = ActionContext(call.session, call.rules.settings), call.within
    if within is not None:
        gives_files = not within.strict or ctx.settings.tools.do_actions_all
        ctx = replace(ctx, gives_files=gives_files, typed=within.typed)
    return await call.scope.run(call.action.run(ctx, call.params), doing=call.action.name)


async def looked(call: Execution) -> ActionResult:
    """The last step of a look: read what has changed, instead of the action."""
    await call.session.refuse_blocked()
    tab = call.session.current_tab
    # A scope of its own: what a person has started before is waited for, too.
    work = call.session.observe(ActionScope("read", tab, tab.url))
    return ActionResult(observation=await call.scope.run(work, doing="reading the page"))


async def listed(call: Execution, carry_out: Next) -> ActionResult:
    """The last step of a list: each of its actions, by its own steps."""
    batch, session, rules = call.batch, call.session, call.rules
    assert batch is not None
    if call.prepare is not None:
        batch.prepare(call.params)

    async def do(entry: ListedAction) -> ActionResult:
        one = Execution(entry.action, entry.arguments, session, rules, granted=call.granted)
        one.premises, one.within, one.is_last = batch.premises, batch, entry is batch.entries[-1]
        try:
            return await carry_out(one)
        finally:
            if one.has_begun:
                call.scope = one.scope

    try:
        if not batch.outcomes:
            await batch.begin(session)
            if rules.policy is not None:
                await foresee(rules.policy, batch.entries, session, call.granted)
        await batch.run(do, session)
    except (PlaywrightError, FrameGone) as error:
        raise as_action_error(error, doing=call.action.name) from error
    result = batch.result()
    # An action has read the page anew: earlier changes are not known any more.
    if result.observation is None and any(one.observation is not None for one in batch.results.values()):
        result = result.model_copy(update={"observation": await session.full_observation()})
    return result


BEFORE: tuple[Step, ...] = (timed, not_taken_over, locked, expected, named, prepared)
GUARDS: tuple[Step, ...] = (private, audited, *BEFORE, guarded, consented)
STEPS: tuple[Step, ...] = (watched, *GUARDS, recorded_as_code, pictured, observed)
"""The steps of a call, the outermost first."""
LIST_STEPS: tuple[Step, ...] = (private, *BEFORE, pictured, observed)
PART_STEPS: tuple[Step, ...] = (
    *(watched, private, audited, timed, entered, expected, named, prepared, guarded, consented),
    *(recorded_as_code, settled),
)
"""The steps of a list as a whole, and those of each action in it."""


def pipeline(steps: tuple[Step, ...], end: Next, rules: Rules) -> Next:
    """The steps as one function, without those that the rules do not need; each gets the next one."""
    unwanted: dict[Step, bool] = {
        audited: rules.audit is None,
        consented: rules.policy is None,
        recorded_as_code: not rules.records,
    }
    for step in reversed(steps):
        if not unwanted.get(step):
            end = partial(step, next=end)
    return end


def _origin(session: BrowserSession) -> str | None:
    tab = session.tab_in_use
    return origin_of(tab.url) if tab is not None else None
