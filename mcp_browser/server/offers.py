"""Puts together what a server offers: actions and tools by their settings."""

import sys
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from mcp_browser.actions import default_registry
from mcp_browser.actions.registry import Registry
from mcp_browser.audit import audit_log_of
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.controller import Controller
from mcp_browser.policy import load_policy
from mcp_browser.server.app import Offer, Offers
from mcp_browser.server.calls import ServerTool
from mcp_browser.server.elicitation import OpenForm, ViewLink, no_view
from mcp_browser.server.observer import CallObserver
from mcp_browser.server.person import PersonTools
from mcp_browser.server.principals import SettingsOf
from mcp_browser.server.resources.catalog import ResourceProvider
from mcp_browser.server.resources.sessions import SessionFiles
from mcp_browser.server.runs.files import TaskFiles
from mcp_browser.server.runs.tools import RunTools
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.server.tool_groups import load_actions
from mcp_browser.server.tools import Tools
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from mcp_browser.server.view.app import ViewApp


def offers_of(  # noqa: PLR0913 - the parts of a server, by keyword
    settings_of: SettingsOf,
    manager: BrowserManager,
    sessions: Sessions,
    *,
    session_tools: Sequence[ServerTool] = (),
    open_form: OpenForm | None = None,
    view: "tuple[ViewLink, ViewApp] | None" = None,
    observer: CallObserver | None = None,
) -> tuple[Offers, list[ResourceProvider]]:
    """Make the offers of a server, and the resources that go with them. Raises as `Offers` does."""
    files = TaskFiles(sessions)
    view_link, app = view or (no_view, None)

    def make(settings: Settings) -> Offer:
        registry = registry_of(settings)
        controller = Controller(registry, settings)
        runs = RunTools(settings, sessions, registry, files=files, open_form=open_form, view_link=view_link)
        person = PersonTools(controller, view_link)
        own: Iterable[ServerTool] = (
            *session_tools,
            *runs.tools(),
            *person.tools(settings),
            *(app.tools(settings) if app is not None else ()),
        )
        tools = Tools(controller, sessions, own, observer=observer)
        return Offer(tools=tools, runs=runs, person=person)

    resources: list[ResourceProvider] = [SessionFiles(manager, sessions), files]
    return Offers(make, settings_of), [*resources, app] if app is not None else resources


def registry_of(settings: Settings) -> Registry:
    """The actions to offer.

    Raises:
        SettingsError: the actions that the settings name cannot be offered, or the policy or the audit
            log cannot be used.
    """
    # Standard output is the protocol's: what a file of actions prints when it is imported goes to the log.
    with redirect_stdout(sys.stderr):
        registry = load_actions(settings.tools)
    audit_log_of(settings)
    if settings.tools.policy is not None:
        known = dict.fromkeys(action.name for actions in (default_registry(), registry) for action in actions)
        load_policy(settings.tools.policy).check_actions(tuple(known))
    return registry
