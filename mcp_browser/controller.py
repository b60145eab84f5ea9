"""Carries out an action: validate, prepare, guard, run, settle, observe."""

import contextlib
import logging
from collections.abc import Awaitable, Callable, Collection, Generator, Mapping
from functools import cached_property, partial
from typing import Any, cast

import anyio
from playwright.async_api import Error as PlaywrightError
from pydantic import BaseModel

from mcp_browser.actions.catalog import default_registry
from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.registry import ActionModel, RegisteredAction, Registry
from mcp_browser.actions.result import ActionResult, Attachment
from mcp_browser.actions.screenshots import Screenshot, describe_view, take_screenshot
from mcp_browser.actions.session_script import EXPORT_SCRIPT, SessionScript, lines_of
from mcp_browser.audit import audit_log_of, redacted
from mcp_browser.browser.files.server_paths import ServerPaths
from mcp_browser.browser.playwright_errors import as_action_error
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.settling import ActionScope
from mcp_browser.consent import PolicyGate
from mcp_browser.dom.worlds import FrameGone
from mcp_browser.errors import ActionError, DeadlineExceeded, DialogOpen, InvalidArguments, UnknownAction
from mcp_browser.policy import load_policy
from mcp_browser.settings import Settings
from mcp_browser.text import cut_address

logger = logging.getLogger(__name__)

Look = Callable[[ActionContext], Awaitable[ActionResult]]  # Reads something of a session
Prepare = Callable[[], Awaitable[Mapping[str, Any]]]  # Checks an action's arguments and gives them


class _Rules:
    """The settings that calls are carried out under, with the policy and the audit log that they name."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.audit = audit_log_of(settings)
        path = settings.tools.policy
        self.policy = load_policy(path) if path is not None else None

    @cached_property
    def paths(self) -> ServerPaths:
        return ServerPaths(self.settings)


class Controller:
    """The one way by which an action is carried out, for the MCP server, the agent and programs."""

    def __init__(self, registry: Registry | None = None, settings: Settings | None = None) -> None:
        """Carry out the actions of `registry`, by default all that come with the package.

        Without `settings`, those of each session hold in it, its policy and its audit log among them.

        Raises:
            SettingsError: the policy cannot be read.
        """
        self.registry = default_registry() if registry is None else registry
        self._follows_sessions = settings is None
        self._rules = _Rules(settings or Settings())

    @property
    def settings(self) -> Settings:
        """The settings that hold: its own, or those of the session in which it has acted last."""
        return self._rules.settings

    async def act(self, action: ActionModel | Mapping[str, Any], session: BrowserSession) -> ActionResult:
        """Carry out the action that an action model names, or a mapping such as `{"go_back": {}}`.

        What could not be carried out is a result, too: its `error` says why and what to try.
        """
        try:
            name, arguments = action.chosen() if isinstance(action, ActionModel) else _only(action)
            return await self.execute(name, arguments, session)
        except ActionError as error:
            return ActionResult(error="\n".join((str(error), *error.notices)))

    async def execute(
        self,
        name: str,
        arguments: Mapping[str, Any],
        session: BrowserSession,
        *,
        prepare: Prepare | None = None,
        granted: Collection[str] | None = None,
    ) -> ActionResult:
        """Carry out one action in a session, one at a time, and tell what became of the page.

        The call ends within `limits.call_timeout` and the time that its caller asked it to wait. What
        `prepare` gives replaces `arguments`; nothing else works in the session between it and the action.
        `granted` are the keys of what a person has said yes to; None where nobody can be asked.

        Raises:
            ConsentNeeded: a person has to be asked first; only where `granted` are given.
            ActionError: it could not be carried out; the message says why and what to try, its notices what
                happened meanwhile.
        """
        action = self.registry[name]
        if self._follows_sessions and self._rules.settings is not session.settings:
            self._rules = _Rules(session.settings)
        rules = self._rules
        with _watched(action, arguments, session) as tell:
            with self._told_of(action, arguments, session, consented=bool(granted)) as hide:
                result = await self._execute(
                    action, arguments, session, rules, prepare=prepare, granted=granted
                )
            if result.error:
                result = result.model_copy(update={"error": hide(result.error)})
            result = result.reword(session.addresses.redact)
            tell(result)
        return result

    @contextlib.contextmanager
    def _told_of(
        self,
        action: RegisteredAction,
        arguments: Mapping[str, Any],
        session: BrowserSession,
        *,
        consented: bool,
    ) -> Generator[Callable[[str], str]]:
        """Within it, an action is carried out that is told to the audit log, and its failure to the client.

        A client on another machine is not told where this one has its files: that is taken out of the error,
        and by the function that is given, out of other texts.
        """
        rules = self._rules
        hide = partial(rules.paths.hide, known=repr(arguments)) if session.artifacts.remote else str
        redact = session.addresses.redact
        try:
            with (
                rules.audit.of_action(
                    action.name, action.param_model, arguments, session, consented=consented
                )
                if rules.audit is not None
                else contextlib.nullcontext()
            ):
                yield hide
        except ActionError as error:
            error.reword(lambda text: redact(hide(text)))
            raise

    async def _execute(  # noqa: PLR0913 - what a call is made of
        self,
        action: RegisteredAction,
        arguments: Mapping[str, Any],
        session: BrowserSession,
        rules: "_Rules",
        *,
        prepare: Prepare | None,
        granted: Collection[str] | None,
    ) -> ActionResult:
        name = action.name
        params = action.validate(arguments)
        limit = rules.settings.limits.call_timeout + (action.own_time(params) if action.own_time else 0)
        doing = "waiting for another call to end"
        with anyio.move_on_after(limit) as clock, session.takeover.stops(clock):
            async with session.action(action.effect) as scope:
                doing = name
                given = await prepare() if prepare is not None else arguments
                if action.effect == "navigation" and isinstance(given.get("url"), str):
                    # Before the policy is asked.
                    given = {**given, "url": session.restored(given["url"])}
                    arguments = {**arguments, "url": session.restored(arguments["url"])}
                params = action.validate(given)
                self._guard(action, session)
                if rules.policy is not None:
                    gate = session.gate = PolicyGate(rules.policy, action, session, granted)
                    gate.begin(arguments)
                ctx = ActionContext(session=session, settings=rules.settings)
                script = await self._script_of(session, rules.settings)
                pending = await script.before(action, arguments) if script is not None else None
                result = await self._carry_out(action, params, ctx, scope)
                if script is None or pending is None or result.error:
                    return result
                done = pending.done(result.data or {})
                script.add(done)
                language = rules.settings.tools.codegen
                code = () if language == "none" else tuple(lines_of(done, language))
                return result.model_copy(update={"code": code})
        raise DeadlineExceeded(
            f"{name} did not finish within {limit:g} s"
            + ("." if doing == name else f": it spent them {doing}."),
            hint="The session goes on: look with get_state, or reload the page.",
        )

    async def _script_of(self, session: BrowserSession, settings: Settings) -> SessionScript | None:
        """Where the session's actions are recorded as code; None where nobody can ask for it."""
        if EXPORT_SCRIPT in self.registry or settings.tools.codegen != "none":
            return await session.plugin(SessionScript)
        return None

    async def look(
        self, name: str, arguments: Mapping[str, Any], look: Look, session: BrowserSession
    ) -> ActionResult:
        """What `look` sees of a session where the action of that name could be carried out now.

        It is bound as that action is, by the policy and the time limit among others, and told to the audit
        log.

        Args:
            name: an action of the package, offered or not, that only reads.
            arguments: those that the action would have.
            look: what is done instead of it.
            session: where; it is opened if need be.

        Raises:
            ActionError: it cannot be seen; the message says why and what to try.
        """
        action = default_registry()[name]
        with self._told_of(action, arguments, session, consented=False):
            result = await self._look(action, arguments, look, session)
        return result.reword(session.addresses.redact)

    async def _look(
        self, action: RegisteredAction, arguments: Mapping[str, Any], look: Look, session: BrowserSession
    ) -> ActionResult:
        rules = self._rules
        limit = rules.settings.limits.call_timeout
        with anyio.move_on_after(limit) as clock, session.takeover.stops(clock):
            async with session.action("read") as scope:
                self._guard(action, session)
                if rules.policy is not None:
                    session.gate = PolicyGate(rules.policy, action, session, None)
                    session.gate.begin(arguments)
                await session.refuse_blocked()
                try:
                    result = await scope.run(look(ActionContext(session=session, settings=rules.settings)))
                except (PlaywrightError, FrameGone) as error:
                    raise _as_action_error(error, doing="reading the page") from error
                await session.refuse_blocked()
                return result
        raise DeadlineExceeded(f"Nothing could be read within {limit:g} s.", hint="Try again later.")

    async def _carry_out(
        self, action: RegisteredAction, params: BaseModel, ctx: ActionContext, scope: ActionScope
    ) -> ActionResult:
        session = ctx.session
        try:
            result = await scope.run(action.run(ctx, params))
            if result.observation is None:
                observation = await session.observe(scope)
                result = result.model_copy(update={"observation": observation})
        except (PlaywrightError, FrameGone) as error:
            failure = _as_action_error(error, doing=action.name)
            failure.notices = _happened_since(session, scope, failure)
            raise failure from error
        except ActionError as error:
            error.notices = _happened_since(session, scope, error)
            raise
        pictured = action.pictured(params) if callable(action.pictured) else action.pictured
        result = _with_downloads(result, session, acted=action.effect != "read")
        return await self._with_picture(result, ctx, pictured=pictured)

    def _guard(self, action: RegisteredAction, session: BrowserSession) -> None:
        """Refuse what cannot be done now.

        Raises:
            DialogOpen: a dialog holds the page.
            UnknownAction: the action is for other pages.
        """
        tab = session.current_tab
        if tab.dialog is not None and not action.during_dialog:
            raise DialogOpen(f"{tab.dialog}.", hint="Answer it with handle_dialog first.")
        if action.is_bound_to_pages and not action.offered_on(tab.page):
            raise UnknownAction(
                f"{action.name} is not offered on {cut_address(tab.url)}.",
                hint=f"It is for {', '.join(action.domains) or 'pages that pass its filter'}.",
            )

    async def _with_picture(
        self, result: ActionResult, ctx: ActionContext, *, pictured: bool
    ) -> ActionResult:
        setting = ctx.settings.screenshots.screenshots
        wanted = setting == "always" or (pictured and setting != "never")
        has_one = any(attachment.kind == "image" for attachment in result.attachments)
        picture: Screenshot | None = None
        if wanted and not has_one and ctx.tab.dialog is None:
            try:
                picture = await take_screenshot(ctx, cursor=pictured)
            except (PlaywrightError, ActionError):
                # The action is done: a page that cannot be pictured now must not turn it into a failure.
                logger.warning("No screenshot could be taken", exc_info=True)
        if picture is not None:
            result = result.model_copy(update={"attachments": (*result.attachments, picture.attachment)})
        if pictured and not ctx.tab.held:
            told = await describe_view(ctx.tab, picture.size if picture is not None else None)
            result = result.model_copy(update={"extracted_content": f"{result.extracted_content} {told}"})
        return result


@contextlib.contextmanager
def _watched(
    action: RegisteredAction, arguments: Mapping[str, Any], session: BrowserSession
) -> Generator[Callable[[ActionResult], None]]:
    """Within it, an action is carried out that whoever watches the session is told of.

    The function that it gives takes the result; an exception is told, too.
    """
    if session.watcher is None:
        yield lambda _: None
        return
    told = session.watcher(action.name, redacted(arguments, action.param_model, session.hidden))
    try:
        yield told
    except BaseException as error:
        told(error)
        raise


def _only(action: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The name and the arguments in a mapping that names one action."""
    match [*action.items()]:
        case [(str(name), {**arguments})]:
            return name, cast("Mapping[str, Any]", arguments)
        case _:
            raise InvalidArguments(
                "An action is one name with its arguments.", hint='Such as {"click_element": {"index": 3}}.'
            )


def _with_downloads(result: ActionResult, session: BrowserSession, *, acted: bool) -> ActionResult:
    files = session.artifacts
    came = {info.uri for info in session.take_downloads(acted=acted) if info.size is not None}
    attachments = [
        Attachment.of_file(artifact, local=not files.remote)
        for artifact in files.files()
        if artifact.uri in came and all(artifact.uri != has.uri for has in result.attachments)
    ]
    if not attachments:
        return result
    return result.model_copy(update={"attachments": (*result.attachments, *attachments)})


def _as_action_error(error: PlaywrightError | FrameGone, *, doing: str) -> ActionError:
    if isinstance(error, PlaywrightError):
        return as_action_error(error, doing=doing)
    return ActionError(
        f"The page went to another address during {doing}.", hint="Look with get_state, then try again."
    )


def _happened_since(session: BrowserSession, scope: ActionScope, error: ActionError) -> tuple[str, ...]:
    """What a failed action has brought about all the same: another page, a dialog, and other notices."""
    told = [*error.notices]
    try:
        now = session.current_tab
    except ActionError:
        return (*told, *session.take_notices())
    if now is scope.tab and now.url != scope.url:
        told.append(f"The page is {cut_address(now.url)} now.")
    if now.dialog is not None and not isinstance(error, DialogOpen):
        told.append(f"{now.dialog}; answer it with handle_dialog.")
    return (*told, *session.take_notices())
