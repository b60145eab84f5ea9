"""`python -m benchmarks.tool_choice` asks a model for each call; see benchmarks/README.md."""

import argparse
import asyncio
import contextlib
import json
import sys
import time
from pathlib import Path

from benchmarks.agent import model as small
from benchmarks.tool_choice import lists, report
from benchmarks.tool_choice.asking import Asked, ask, digest
from benchmarks.tool_choice.instructions import INSTRUCTIONS
from mcp_browser.llm.providers import provider_model
from mcp_browser.settings import AgentSettings


def main() -> None:
    """Ask for each call, keep each answer in a file of JSON lines, write the page from them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tool_choice", description=__doc__)
    parser.add_argument("--model", help="provider:name; by default the small model from packages")
    parser.add_argument("--model-url", help="a server of your own that speaks OpenAI's protocol")
    parser.add_argument("--model-window", type=int, help="tokens of its window, where that is not known")
    parser.add_argument("--called", help="what the page is to call the model")
    parser.add_argument("--servers", default=f"{lists.OURS},{lists.THEIRS}")
    parser.add_argument(
        "--only", default="", help="numbers of instructions, from 1, with commas between them"
    )
    parser.add_argument(
        "--block", type=int, default=10, help="how many of one server before the other's turn"
    )
    parser.add_argument("--minutes", type=float, default=float("inf"), help="ask no more after so long")
    parser.add_argument("--seconds", type=float, default=600, help="most seconds of an answer")
    parser.add_argument("--threads", type=int, default=2, help="threads of the small model")
    parser.add_argument(
        "--results", type=Path, default=Path("tool-choice.jsonl"), help="goes on in this file"
    )
    parser.add_argument("--note", default="", help="what else the page is to say of this run")
    parser.add_argument("--no-write", action="store_true", help="do not write docs/tool-choice.md")
    parser.add_argument("--record", action="store_true", help="ask playwright-mcp for its list anew, no more")
    asked = parser.parse_args()
    if asked.record:
        lists.record()
        return
    is_small = asked.model is None and asked.model_url is None
    serving = small.served(threads=asked.threads) if is_small else contextlib.nullcontext(asked.model_url)
    with serving as url:
        asyncio.run(_ask_all(asked, url, is_small=is_small))
    if not asked.no_write:
        report.write(report.read(asked.results), note=asked.note)


async def _ask_all(asked: argparse.Namespace, url: str | None, *, is_small: bool) -> None:
    name = asked.model or "qwen"
    window = small.CONTEXT if is_small else asked.model_window
    settings = AgentSettings(model=name, model_url=url, model_window=window, model_temperature=0)
    chat = await provider_model(name, settings)
    known = {(one.model, one.server, one.list, one.says) for one in report.read(asked.results)}
    called = asked.called or (small.NAME if is_small else chat.info.name)
    end = time.monotonic() + asked.minutes * 60
    chosen = [int(number) for number in asked.only.split(",") if number] or range(1, len(INSTRUCTIONS) + 1)
    numbers = [*chosen]
    with asked.results.open("a", encoding="utf-8") as file:
        for start in range(0, len(numbers), asked.block):
            for server in asked.servers.split(","):
                tools = lists.theirs() if server == lists.THEIRS else lists.ours()
                for number in numbers[start : start + asked.block]:
                    instruction = INSTRUCTIONS[number - 1]
                    if (called, server, digest(tools, server), instruction.says) in known:
                        continue
                    if time.monotonic() > end:
                        return
                    answer = await ask(chat, called, server, tools, instruction, seconds=asked.seconds)
                    file.write(f"{answer.as_line()}\n")
                    file.flush()
                    _progress(number, answer)


def _progress(number: int, answer: Asked) -> None:
    right = "right" if answer.arguments_right else "right tool" if answer.tool_right else "wrong"
    line = f"{number} {answer.server}: {right}: {answer.tool} {json.dumps(answer.arguments)} {answer.why}"
    print(f"{line} ({answer.seconds:.0f} s)", file=sys.stderr, flush=True)  # noqa: T201 - a command's output


if __name__ == "__main__":
    main()
