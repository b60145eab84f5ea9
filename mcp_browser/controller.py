"""Carries out actions through the pipeline."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mcp_browser.actions.catalog import default_registry
from mcp_browser.actions.observing import get_state
from mcp_browser.actions.recording import EXPORT_SCRIPT
from mcp_browser.actions.registry import ActionModel, Registry
from mcp_browser.actions.result import ActionResult
from mcp_browser.actions.several import DO_ACTIONS
from mcp_browser.batch import Batch, Premises, entries_of, only
from mcp_browser.browser.session import BrowserSession
from mcp_browser.consent import Paused
from mcp_browser.errors import ActionError
from mcp_browser.pipeline import Execution, Prepare, Rules
from mcp_browser.settings import Settings


class Controller:
    """Carries out every action by the one pipeline, for the MCP server, the agent and programs."""

    def __init__(self, registry: Registry | None = None, settings: Settings | None = None) -> None:
        """Carry out the actions of `registry`, by default all of the package.

        Without `settings`, those of each session apply in it, including its policy and its audit log. Raises
        SettingsError: the policy cannot be read, or the audit log cannot be written.
        """
        self.registry = default_registry() if registry is None else registry
        self._follows_sessions = settings is None
        self.rules = Rules(settings or Settings(), exports=EXPORT_SCRIPT in self.registry)

    @property
    def settings(self) -> Settings:
        """The settings in force: its own, or those of the session in which it has acted last."""
        return self.rules.settings

    async def act(
        self,
        action: ActionModel | Mapping[str, Any] | Sequence[ActionModel | Mapping[str, Any]],
        session: BrowserSession,
    ) -> ActionResult:
        """Carry out the action that an action model names, or a mapping such as `{"go_back": {}}`.

        Several are carried out by `do_actions`, which has to be in the registry. A failure is a result, too:
        its `error` says why and what to try.
        """
        try:
            if isinstance(action, Sequence):
                several = [{name: arguments} for name, arguments in map(only, action)]
                return await self.execute(DO_ACTIONS, {"actions": several}, session)
            name, arguments = only(action)
            return await self.execute(name, arguments, session)
        except ActionError as error:
            return ActionResult(error="\n".join((str(error), *error.notices)))

    async def execute(  # noqa: PLR0913 - what goes with an action, by keyword
        self,
        name: str,
        arguments: Mapping[str, Any],
        session: BrowserSession,
        *,
        prepare: Prepare | None = None,
        granted: Collection[str] | None = None,
        premises: Premises | None = None,
        paused: Paused | None = None,
    ) -> ActionResult:
        """Carry out one action in a session, one at a time, and report what changed on the page.

        The call ends within `limits.call_timeout` plus the time that its caller asked it to wait. The result
        of `prepare` replaces `arguments`; nothing else runs in the session between it and the action.
        `granted` are the keys of a person's yes; None if nobody can be asked. `premises` are those under
        which the action was chosen. A `paused` list of actions is resumed.

        Raises:
            ConsentNeeded: a person has to be asked first; only if `granted` are given.
            ActionError: it failed; the message says why and what to try, its notices what else happened.
        """
        action = self.registry[name]
        if self._follows_sessions and self.rules.settings is not session.settings:
            self.rules = Rules(session.settings, exports=EXPORT_SCRIPT in self.registry)
        call = Execution(action, arguments, session, self.rules, prepare, granted, premises=premises)
        if action.expansion is not None:
            alone = self.settings.tools.do_actions_all
            entries = entries_of(action, action.validate(arguments), self.registry, alone=alone)
            call.batch = paused if isinstance(paused, Batch) else Batch(whole=action, entries=entries)
            return await self.rules.carry_out_list(call)
        return await self.rules.carry_out(call)

    async def look(self, session: BrowserSession) -> ActionResult:
        """What has changed in a session since it was shown; raises ActionError as `execute`.

        It has the policy, the time limit and the audit log of `get_state`, offered or not.
        """
        call = Execution(default_registry()[get_state.__name__], {}, session, self.rules)
        return await self.rules.look(call)
