"""MiniWoB++ by scripted policies that read only what the tools return: action by action, and in lists.

python -m benchmarks.tasks.miniwob [TASK …]

The policies are those of the tests. In lists, an action is sent together with those that follow it until the
policy reads something; what it reads then is the last entry of the list.
"""

import asyncio
import html
import re
import sys
import time
from collections.abc import Mapping
from typing import Any

from rich.console import Console

from tests.e2e.miniwob.player import Player
from tests.e2e.miniwob.policies import POLICIES
from tests.support.client import Element, NotSeenError, ToolError, browsing, elements_in
from tests.support.miniwob import Gym, running_gym

console = Console(soft_wrap=True)
SEEDS = (1, 2, 3)
READS = {"get_state", "find_elements"}


class OneByOne(Player):
    """Reads the page that opening it shows, then calls a tool for each action."""

    async def start(self, url: str) -> None:
        """Open an episode and read its goal."""
        self._take(await self.open(url))

    async def look(self) -> None:
        """Read the page anew."""
        self._take(await self.do("get_state"))

    def _take(self, text: str) -> None:
        self.page = text
        self.elements = {element.index: element for element in elements_in(text)}
        found = re.search(r'^<page .*\btitle="([^"]*)"', text, re.M)
        self.goal = html.unescape(found[1]) if found else self.goal

    async def finish(self) -> None:
        """Do what is left to be done."""


class InLists(OneByOne):
    """Keeps actions back until something is to be read, then sends all of them in one call."""

    kept: list[Mapping[str, Any]]

    async def start(self, url: str) -> None:
        """Open an episode and read its goal."""
        self.kept = []
        self._take(await super().do("go_to_url", url=url))

    async def do(self, tool: str, **arguments: Any) -> str:
        """Do it later, unless it reads; its text where it does."""
        self.kept.append({tool: arguments})
        return await self._send() if tool in READS else ""

    async def select(self, selector: str) -> list[Element]:
        """The elements that a selector finds."""
        text = await self.do("find_elements", selector=selector, limit=100)
        return elements_in(text.partition("<page ")[2].partition("</page>")[0])

    async def finish(self) -> None:
        """Send what is kept."""
        if self.kept:
            await self._send()

    async def _send(self) -> str:
        kept, self.kept = self.kept, []
        if len(kept) > 1:
            return await super().do("do_actions", actions=kept)
        ((tool, arguments),) = kept[0].items()
        return await super().do(tool, **arguments)


async def play(kind: type[OneByOne], gym: Gym, tasks: list[str]) -> str:
    """What all episodes came to with one kind of player."""
    calls = characters = solved = 0
    started = time.monotonic()
    async with browsing() as browser:
        for task in tasks:
            for seed in SEEDS:
                player = kind(browser.client)
                try:
                    await player.start(gym.episode(task, seed))
                    await POLICIES[task](player)
                    await player.finish()
                    solved += (outcome := gym.outcome(task, seed)).reward > 0
                    why = "" if outcome.reward > 0 else str(outcome)
                except (ToolError, NotSeenError, TimeoutError) as error:
                    why = str(error)[:400]
                calls += len(player.transcript)
                characters += sum(len(result.text) for _, _, result in player.transcript)
                if why:
                    console.print(f"{kind.__name__}, {task}, seed {seed}: {why}", markup=False)
    episodes = len(tasks) * len(SEEDS)
    return (
        f"{kind.__name__}: {solved} of {episodes} solved, {calls / episodes:.2f} calls, "
        f"{characters / episodes:,.0f} characters, {(time.monotonic() - started) / episodes:.2f} s each"
    )


async def main() -> None:
    """Play the tasks that are named, or all, both ways."""
    tasks = sys.argv[1:] or [*POLICIES]
    with running_gym() as gym:
        for kind in (OneByOne, InLists):
            console.print(await play(kind, gym, tasks))


if __name__ == "__main__":
    asyncio.run(main())
