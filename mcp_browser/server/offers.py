"""What callers are offered: actions and tools by their settings, made once for all who have the same."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from mcp_browser.actions import default_registry
from mcp_browser.actions.registry import Registry
from mcp_browser.audit import audit_log_of
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.controller import Controller
from mcp_browser.policy import load_policy
from mcp_browser.server.calls import ServerTool
from mcp_browser.server.elicitation import OpenForm, ViewLink, no_view
from mcp_browser.server.observer import CallObserver
from mcp_browser.server.person import PersonTools
from mcp_browser.server.principals import Principal, SettingsOf
from mcp_browser.server.resources.catalog import ResourceProvider
from mcp_browser.server.resources.sessions import SessionFiles
from mcp_browser.server.runs.files import TaskFiles
from mcp_browser.server.runs.tools import RunTools
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.server.tasks import LongCall
from mcp_browser.server.tool_groups import load_actions
from mcp_browser.server.tools import Tools
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from mcp_browser.server.view.app import ViewApp


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What callers with the same settings are offered; `runs` and `person` have work that outlives calls."""

    tools: Tools
    runs: RunTools | None = None
    person: PersonTools | None = None

    async def close(self) -> None:
        """End that work."""
        for part in (self.person, self.runs):
            if part is not None:
                await part.close()


class Offers:
    """The offer of each caller, by the settings that hold for it."""

    def __init__(self, make: Callable[[Settings], Offer], settings_of: SettingsOf | None = None) -> None:
        """Make the offers of all variants of the settings, so that what cannot be offered is reported now.

        Raises:
            SettingsError: actions that the settings name cannot be offered.
            ValueError: two tools have one name, or an action has an argument `session` of its own.
        """
        self._make = make
        self._settings_of = settings_of or SettingsOf(Settings())
        self._made: dict[int, Offer] = {}
        default = self._of(self._settings_of.default)
        tools = [default.tools, *(make(one).tools for one in self._settings_of.default.variants[1:])]
        self.all_names = frozenset[str]().union(*(one.names for one in tools))
        self.has_apps = any(one.has_apps for one in tools)
        differ = self._settings_of.differ or self.has_apps
        self.cached_for: Literal["public", "private"] = "private" if differ else "public"

    @classmethod
    def same(cls, tools: Tools) -> "Offers":
        """The same tools for everybody."""
        return cls(lambda _: Offer(tools=tools))

    def __call__(self, principal: Principal) -> Offer:
        """Return the offer of a caller."""
        return self._of(self._settings_of(principal))

    def names(self, principal: Principal) -> frozenset[str]:
        """The names of a caller's tools."""
        return self(principal).tools.names

    def schema_of(self, name: str) -> Mapping[str, Any] | None:
        """The schema of a tool's arguments, the same for all who are offered it; None where nobody is."""
        return next((found for one in self._made.values() if (found := one.tools.schema_of(name))), None)

    async def find_call(self, identifier: str, principal: Principal) -> LongCall | None:
        """Return the long call of that identifier; None where this caller has none."""
        runs = self(principal).runs
        return await runs.find_call(identifier, principal) if runs is not None else None

    async def close(self) -> None:
        """End the work that outlives calls."""
        for offer in self._made.values():
            await offer.close()

    def _of(self, settings: Settings) -> Offer:
        # `SettingsOf` keeps the settings, so that their identity stays theirs.
        if id(settings) not in self._made:
            self._made[id(settings)] = self._make(settings)
        return self._made[id(settings)]


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
