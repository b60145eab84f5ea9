"""`python -m benchmarks.agent` lets both agents do the tasks; see benchmarks/README.md."""

import argparse
import asyncio
import contextlib
import itertools
import json
import subprocess
import time
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.agent import model, ours, report
from benchmarks.agent.episodes import EXCLUDED, TASKS, Episode, Limits, Result
from mcp_browser.browser.process.launch import find_browser
from mcp_browser.settings import Settings
from tests.support.miniwob import Gym, running_gym

OURS, THEIRS = "mcp-browser", "browser-use"


def main() -> None:
    """Do the tasks, keep each result in a file of JSON lines, write the page from them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agent", description=__doc__)
    parser.add_argument("--tasks", default=",".join(TASKS), help="names, with commas between them")
    parser.add_argument("--seeds", default="1,2", help="numbers, with commas between them")
    parser.add_argument("--agents", default=f"{OURS},{THEIRS}")
    parser.add_argument("--steps", type=int, default=5, help="most steps of a task")
    parser.add_argument("--seconds", type=float, default=900, help="most seconds of a task")
    parser.add_argument("--threads", type=int, default=2, help="threads of the model")
    parser.add_argument("--model-url", help="a server that already runs, in the place of the packaged model")
    parser.add_argument(
        "--results",
        type=Path,
        default=Path(__file__).with_name("results.jsonl"),
        help="goes on in this file; delete it to begin anew",
    )
    parser.add_argument("--note", default="", help="what else the page is to say of this run")
    parser.add_argument("--no-write", action="store_true", help="do not write docs/agent-benchmark.md")
    asked = parser.parse_args()
    limits = Limits(steps=asked.steps, seconds=asked.seconds)
    results = report.read(asked.results)
    serving = (
        contextlib.nullcontext(asked.model_url) if asked.model_url else model.served(threads=asked.threads)
    )
    with serving as url, running_gym() as gym, asked.results.open("a") as file:
        # Agent after agent on each task, so that a busy hour of the machine is shared.
        seeds, tasks, agents = (text.split(",") for text in (asked.seeds, asked.tasks, asked.agents))
        for seed, task, agent in itertools.product(seeds, tasks, agents):
            attempt = (agent, task, int(seed))
            if attempt in results:
                continue
            result = asyncio.run(_attempt(attempt, url, gym, limits))
            results[attempt] = result
            print(json.dumps({"agent": agent, **asdict(result)}), file=file, flush=True)
            report.progress(agent, result)
    if not asked.no_write:
        report.write(results, limits, note=asked.note)


async def _attempt(asked: tuple[str, str, int], url: str, gym: Gym, limits: Limits) -> Result:
    """One episode, with a fresh browser; its page is opened once before to read the goal."""
    agent, task, seed = asked
    async with ours.connected(url, seconds=limits.seconds) as client:
        goal = await ours.goal_of(client, gym.episode(task, seed))
        episode = Episode(task, seed, gym.episode(task, seed, once=True), goal)
        if agent == OURS:
            return await _rewarded(episode, gym, await ours.attempt(client, episode, limits))
    return await _rewarded(episode, gym, await _theirs(episode, url, limits))


async def _theirs(episode: Episode, url: str, limits: Limits) -> Result:
    asked = {
        **{"goal": episode.goal, "url": episode.url, "model_url": url, **asdict(limits)},
        **{
            "chromium": str(find_browser(Settings().browser).executable),
            "window": model.CONTEXT,
            "excluded": EXCLUDED,
        },
    }
    script = Path(__file__).with_name("browser_use_agent.py")
    started = time.monotonic()
    done = await asyncio.to_thread(
        subprocess.run,
        [model.browser_use(), script],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    took = time.monotonic() - started
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        last = " ".join(done.stderr.split())[-300:]
        return Result(episode.task, None, False, 0, 0, 0, 0, took, f"it failed: {last}", episode.seed)
    return Result(task=episode.task, seed=episode.seed, reward=None, seconds=took, **answer)


async def _rewarded(episode: Episode, gym: Gym, result: Result) -> Result:
    """The result with the first reward of the episode's page."""
    try:
        outcome = await asyncio.to_thread(gym.outcome, episode.task, episode.seed, seconds=1)
    except TimeoutError:
        return result
    return replace(result, reward=outcome.reward)


if __name__ == "__main__":
    main()
