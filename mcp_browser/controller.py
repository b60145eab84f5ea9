"""Carries out an action: validate, guard, run, settle, observe."""

import logging
from collections.abc import Mapping
from typing import Any

import anyio
from playwright.async_api import Error as PlaywrightError

from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.registry import ActionModel, RegisteredAction, Registry
from mcp_browser.actions.result import ActionResult
from mcp_browser.browser.playwright_errors import as_action_error
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import DeadlineExceeded, DialogOpen, UnknownAction
from mcp_browser.settings import Settings

logger = logging.getLogger(__name__)


class Controller:
    """The one way by which an action is carried out, for the MCP server and for the agent."""

    def __init__(self, registry: Registry, settings: Settings) -> None:
        """Carry out the actions of `registry` under `settings`."""
        self.registry = registry
        self.settings = settings

    async def act(self, action: ActionModel, session: BrowserSession) -> ActionResult:
        """Carry out the action that an action model names.

        Raises:
            ActionError: it could not be carried out; the message says why and what to try.
        """
        name, arguments = action.chosen()
        return await self.execute(name, arguments, session)

    async def execute(self, name: str, arguments: Mapping[str, Any], session: BrowserSession) -> ActionResult:
        """Carry out one action in a session, one at a time, and tell what became of the page.

        Raises:
            ActionError: it could not be carried out; the message says why and what to try.
        """
        action = self.registry[name]
        params = action.validate(arguments)
        limit = self.settings.limits.call_timeout
        try:
            with anyio.fail_after(limit):
                async with session.lock:
                    return await self._carry_out(action, params, session)
        except TimeoutError as error:
            raise DeadlineExceeded(
                f"{name} did not finish within {limit:g} s.",
                hint="The session goes on: look with get_state, or reload the page.",
            ) from error
        except PlaywrightError as error:
            raise as_action_error(error, doing=name) from error

    async def _carry_out(self, action: RegisteredAction, params: Any, session: BrowserSession) -> ActionResult:
        await session.ensure_open()
        self._guard(action, session)
        ctx = ActionContext(session=session, settings=self.settings)
        async with session.watching(action.effect) as watch:
            result = await action.run(ctx, params)
        if result.observation is not None:
            return result
        observation = await session.observe(action.effect, watch)
        return result.model_copy(update={"observation": observation})

    def _guard(self, action: RegisteredAction, session: BrowserSession) -> None:
        dialog = session.current_tab.dialog
        if dialog is not None and not action.during_dialog:
            raise DialogOpen(
                f'A {dialog.kind} dialog is open: "{dialog.message}".',
                hint="Answer it with handle_dialog first.",
            )
        if not action.offered_on(session.current_tab.page):
            raise UnknownAction(
                f"{action.name} is not offered on {session.current_tab.page.url}.",
                hint=f"It is for: {', '.join(action.domains) or 'pages that pass its filter'}.",
            )
