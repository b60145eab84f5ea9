"""The tasks of the benchmark: this server does each of them, and within its budget."""

from collections.abc import Iterator

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
def test_a_policy_that_reads_only_what_the_tools_return_does(stage: Stage, name: str) -> None:
    settings = Settings().browser
    chromium = str(find_browser(settings).executable)
    stage.reset()
    hand = McpBrowser(servers.Connection(servers.command(OURS, chromium, sandbox=uses_sandbox(settings))))
    try:
        assert TASKS[name].policy(hand, stage), "\n".join(hand.transcript)
    finally:
        hand.connection.close()
    assert all(characters < MOST for _, characters in hand.calls)
