"""The tasks of the benchmark: this server does each of them, and within its budget."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks import servers
from benchmarks.tasks import libraries, run
from benchmarks.tasks.ours import McpBrowser
from benchmarks.tasks.stage import Stage
from benchmarks.tasks.task import OURS, TASKS
from mcp_browser.browser.process.launch import find_browser, uses_sandbox
from mcp_browser.settings import Settings

pytestmark = pytest.mark.apps

MOST = 6_000 * 4 * 1.1
"""Characters of the longest result: a snapshot, and the frame around it."""


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage() as running:
        yield running


@pytest.fixture(scope="module")
def connection() -> Iterator[servers.Connection]:
    """A server for all tasks."""
    settings = Settings().browser
    chromium = str(find_browser(settings).executable)
    command = servers.command(OURS, chromium, sandbox=uses_sandbox(settings))
    command.argv.extend(("--tools", "core,sessions", "--navigation-timeout", "60", "--call-timeout", "120"))
    running = servers.Connection(command)
    yield running
    running.close()


class Visitor(McpBrowser):
    """Works in a session of its own."""

    def __init__(self, connection: servers.Connection) -> None:
        super().__init__(connection)
        told, _ = connection.answer("new_session")
        (self.session,) = re.findall(r'"(s\d+)"', told)

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool in it."""
        return super().call(tool, **arguments, session=self.session)


def test_there_are_thirty_five_tasks() -> None:
    assert len(run.MODULES) == 3
    assert len(TASKS) == 35


@pytest.mark.parametrize(
    "name",
    [
        # Installing the packages of these takes a while.
        pytest.param(name, marks=[pytest.mark.slow] * (task.policy.__module__ == libraries.__name__))
        for name, task in TASKS.items()
    ],
)
def test_a_policy_that_reads_only_what_the_tools_return_does(
    stage: Stage, connection: servers.Connection, name: str
) -> None:
    stage.reset()
    hand = Visitor(connection)
    assert TASKS[name].policy(hand, stage), "\n".join(hand.transcript)
    hand.call("close_session")
    assert all(characters < MOST for _, characters in hand.calls)
