"""The tasks of the benchmark and of MiniWoB++: this server does each, by policies that read its results."""

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio

from benchmarks import servers
from benchmarks.tasks import libraries, run
from benchmarks.tasks.ours import McpBrowser
from benchmarks.tasks.stage import Stage
from benchmarks.tasks.task import OURS, TASKS
from mcp_browser.browser.process.launch import find_browser, uses_sandbox
from mcp_browser.settings import Settings
from tests.e2e.miniwob.player import Player
from tests.e2e.miniwob.policies import POLICIES
from tests.support.client import Browser, browsing
from tests.support.miniwob import Gym, running_gym

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


# -- MiniWoB++ over stdio: a policy for each task, two seeds each, the reward told by the page itself

SEEDS = (1, 2)


@pytest.fixture(scope="module")
def gym() -> Iterator[Gym]:
    with running_gym() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with browsing() as connected:
        yield connected


@pytest.mark.parametrize("task", POLICIES)
async def test_a_policy_that_reads_only_tool_results_solves(gym: Gym, browser: Browser, task: str) -> None:
    for seed in SEEDS:
        player = Player(browser.client)
        await player.start(gym.episode(task, seed))
        await POLICIES[task](player)
        outcome = gym.outcome(task, seed)
        assert outcome.reward > 0, f"{task}, seed {seed}: {outcome}; the goal was: {player.goal}"
