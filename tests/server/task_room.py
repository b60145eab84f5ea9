"""A server whose agent follows a script, in this process: for what is the same over every transport."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest_asyncio

from mcp_browser.actions import default_registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.server.elicitation import Context
from mcp_browser.server.principals import Principal
from mcp_browser.server.runs.tools import RunTools, TaskFiles
from mcp_browser.server.sessions.sessions import DEFAULT, HeldSession, Sessions
from mcp_browser.settings import AgentSettings
from tests.support.agents import Desk
from tests.support.servers import server_of


class Lending(Sessions):
    """Lends one session, to everybody; owned by nobody where `owned` is false."""

    def __init__(self, session: BrowserSession, manager: BrowserManager | None = None) -> None:
        """A session beside it is opened by `manager`."""
        super().__init__(manager or BrowserManager(session.settings))
        self._hold(HeldSession(handle=DEFAULT, session=session))
        self.owned = True

    def owns(self, _request: Context, _session: BrowserSession) -> bool:
        return self.owned

    def may_read(self, _principal: Principal, _session: BrowserSession) -> bool:
        return self.owned


class TaskRoom:
    """A server with all of the agent's tools."""

    def __init__(
        self,
        manager: BrowserManager,
        session: BrowserSession,
        desk: Desk,
        groups: Mapping[str, Any] = MappingProxyType({}),
        **more: Any,
    ) -> None:
        """Work in `session`, by the script of `desk`.

        `groups` are other settings by their group, `more` settings of the agent's.
        """
        models = {"model": f"scripted:{desk.script}", "judge_model": f"scripted:{desk.judge}"}
        given = {**models, "tasks_dir": desk.tasks, **more}
        update: dict[str, Any] = {"agent": AgentSettings.model_validate(given)}
        for name, own in groups.items():
            update[name] = getattr(manager.settings, name).model_copy(update=own)
        settings = manager.settings.model_copy(update=update)
        registry = default_registry()
        self.desk = desk
        self.manager = manager
        self.session = session
        self.source = Lending(session, manager)
        self.agent = RunTools(settings, self.source, registry, TaskFiles(self.source))
        self.server = server_of(
            Controller(registry, settings),
            self.source,
            tools=self.agent.tools(),
            resources=[self.agent.files],
            find_call=self.agent.find_call,
        )


@pytest_asyncio.fixture(loop_scope="session")
async def room(manager: BrowserManager, session: BrowserSession, tmp_path: Path) -> AsyncIterator[TaskRoom]:
    """A room with a desk of its own."""
    room = TaskRoom(manager, session, Desk(tmp_path))
    yield room
    await room.agent.close()
