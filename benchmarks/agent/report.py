"""Reads and prints results; writes docs/agent-benchmark.md."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.agent import model
from benchmarks.agent.episodes import Limits, Result

PAGE = Path(__file__).parents[2] / "docs" / "agent-benchmark.md"

Results = Mapping[tuple[str, str, int], Result]
"""Results by agent, task and seed."""


def read(path: Path) -> dict[tuple[str, str, int], Result]:
    """The results of earlier, broken-off runs."""
    found: dict[tuple[str, str, int], Result] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        entry = json.loads(line)
        agent = entry.pop("agent")
        result = Result(**entry)
        found[agent, result.task, result.seed] = result
    return found


def progress(agent: str, result: Result) -> None:
    """Print one result to standard error."""
    solved = "solved" if result.solved else "not solved"
    print(  # noqa: T201 - a command's output
        f"{agent}: {result.task} {result.seed}: {solved}, {result.steps} steps, {result.seconds:.0f} s: "
        f"{result.note}",
        file=sys.stderr,
        flush=True,
    )


def write(results: Results, limits: Limits, *, note: str = "") -> None:
    """Write the page; `note` is what else is to be known of this run."""
    agents = list(dict.fromkeys(agent for agent, _, _ in results))
    episodes = list(dict.fromkeys((task, seed) for _, task, seed in results))
    shared = [episode for episode in episodes if all((agent, *episode) in results for agent in agents)]
    columns = "solved | falsely claimed | steps | tokens asked | answered | s"
    head = " | ".join(f"{agent}: {columns}" for agent in agents)
    lines = [
        "# The agent with a small model",
        "",
        "Written by `python -m benchmarks.agent` (benchmarks/README.md). Both agents do the same MiniWoB++ "
        f"tasks with each seed, with the same model, {model.NAME}, at temperature 0 with a window of "
        f"{model.CONTEXT:,} tokens, by its OpenAI-compatible server with JSON schemas, and at most "
        f"{limits.steps} steps and {limits.seconds:.0f} s a task. A fresh browser for each task; its page is "
        "open before the first step; the same kinds of actions are offered to both; no pictures. *Solved* is "
        "the page's own reward, *falsely claimed* how often the agent claims success without it. Tokens are "
        "those that the model's server has counted, those from its cache included; an answer may have a "
        "tenth of the window.",
        "",
        f"browser-use {model.browser_use_version()} works in its flash mode (short rules, no plan, no "
        "judge), with the schema in words. mcp-browser is asked through `run_task` over MCP; for so small a "
        "window it takes its brief rules by itself. These were written while this model did click-test and "
        "enter-text; browser-use was not tuned beyond its own settings.",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}: {os.cpu_count()} cores, without a graphics card, with other work on "
        "them: the times are what they were, and say little about an idle machine. One run of each: "
        "single results vary from run to run.",
        "",
        *([note, ""] if note else []),
        f"| task | {head} |",
        "|---|" + "---|---:|---:|---:|---:|---:|" * len(agents),
    ]
    for task in (*dict.fromkeys(task for task, _ in shared), "all"):
        own = [episode for episode in shared if task in (episode[0], "all")]
        sums = (_sums([results[agent, *episode] for episode in own]) for agent in agents)
        lines.append(f"| {task} | " + " | ".join(sums) + " |")
    PAGE.write_text("\n".join(lines) + "\n")


def _sums(own: Sequence[Result]) -> str:
    solved = sum(result.solved for result in own)
    wrong = sum(result.false_success for result in own)
    return (
        f"{solved} of {len(own)} | {wrong} | {sum(result.steps for result in own)} | "
        f"{sum(result.asked for result in own):,} | {sum(result.answered for result in own):,} | "
        f"{sum(result.seconds for result in own):,.0f}"
    )
