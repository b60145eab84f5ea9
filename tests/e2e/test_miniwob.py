"""MiniWoB++ over stdio: a policy for each task, two seeds each, the reward told by the page itself."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.e2e.miniwob.player import Player
from tests.e2e.miniwob.policies import POLICIES
from tests.support.client import Browser, browsing
from tests.support.miniwob import Gym, running_gym

SEEDS = (1, 2)

pytestmark = pytest.mark.apps


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
