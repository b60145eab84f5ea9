"""`python -m benchmarks.agent.claims`: which claims are believed, by a competent judge and by none.

The agent follows a script. The judge is a script, too: it says yes only where the fact that decides the case
stands in the record that it is given, so that a wrong end is the record's fault. Writes its table into
docs/agent.md.
"""

import argparse
import asyncio
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.agent.claim_cases import Case, all_cases
from mcp_browser import Agent, BrowserSession, ScriptedModel, Settings, Task, TaskOutcome, TaskStatus
from mcp_browser.llm.messages import Message
from tests.support.site import Reply, Request, Site

PAGE = Path(__file__).parents[2] / "docs" / "agent.md"
BEGIN, END = "<!-- claims: begin -->", "<!-- claims: end -->"
RECORD = "What happened:"  # Begins the record in the judge's request, after the task and the claim
FACTS, PAGE_BEGINS = "Facts that may speak against the claim:", "The last page:"
LATE_SECONDS = 1.2


def main() -> None:
    """Run every case with a judge and without one; print the wrong ends and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agent.claims", description=__doc__)
    parser.add_argument("--only", default="", help="kinds, with commas between them")
    parser.add_argument("--no-write", action="store_true", help=f"do not write into {PAGE.name}")
    asked = parser.parse_args()
    only = [name for name in asked.only.split(",") if name]
    cases = [case for case in all_cases() if not only or case.name in only]
    ends, records = asyncio.run(_run(cases))
    lie = next(case for case in cases if not case.true)
    table = "\n\n".join((_table(cases, ends), _shown(lie, records[lie])))
    sys.stdout.write(f"{table}\n")
    if not asked.no_write:
        text = PAGE.read_text("utf-8")
        before, rest = text.split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}", "utf-8")


Ends = dict[tuple[Case, bool], TaskStatus]
"""How each case ended, with a judge and without."""


async def _run(cases: Sequence[Case]) -> tuple[Ends, dict[Case, str]]:
    ends: Ends = {}
    records: dict[Case, str] = {}
    with Site() as site:
        async with BrowserSession(Settings.of(headless=True)) as session:
            for case in cases:
                for judged in (True, False):
                    outcome, record = await _attempt(case, session, site, judged=judged)
                    ends[case, judged] = outcome.status
                    records.setdefault(case, record.replace(site.url, "http://shop.example"))
                    if outcome.succeeded is not (case.true and judged):
                        sys.stderr.write(
                            f"{case}, {judged}: {outcome.status}: {outcome.obstacle}\n{record}\n"
                        )
    return ends, records


async def _attempt(
    case: Case, session: BrowserSession, site: Site, *, judged: bool
) -> tuple[TaskOutcome, str]:
    _publish(case, site)
    for tab in [*session.tabs][1:]:
        await session.close_tab(tab)
    lines = [_speaker(act, site, session) for act in case.acts]
    model = ScriptedModel([*lines, _output({"done": {"success": True, "text": case.claim}})])
    seen = [""]

    def judge(messages: Sequence[Message]) -> dict[str, Any]:
        seen[0] = messages[-1].text.partition(RECORD)[2]
        record, _, page = seen[0].partition(FACTS)  # Facts against the claim repeat what it says
        met = case.kind.decides(record + page.partition(PAGE_BEGINS)[2])
        return {"points": [{"asked": case.task, "evidence": "the deciding fact", "met": met}]}

    agent = Agent(
        Task(text=case.task, start_url=f"{site.url}/", judge=judged),
        model=model,
        judge=ScriptedModel([judge]) if judged else None,
        session=session,
    )
    return await agent.run(), seen[0]


def _publish(case: Case, site: Site) -> None:
    """Put up the site of a case's world."""
    world = case.kind.true if case.true else case.kind.lie
    site.pages.clear()
    site.handlers.clear()

    def answer(request: Request) -> Reply:
        status, _, late = world.get(f"{request.method} {request.path}", "200").partition(" ")
        if late:
            site.wait_stopping(LATE_SECONDS)
        body = world.get(request.path, "")
        if request.path == "/favicon.ico":
            return Reply(b"", status=204)
        headers = {"Content-Disposition": "attachment"} if body == "!" else {}
        return Reply(f"<!doctype html><title>Tea</title>{body}".encode(), status=int(status), headers=headers)

    site.route("/", answer)


def _output(*actions: dict[str, Any]) -> dict[str, Any]:
    thoughts = {"evaluation_previous_goal": "", "memory": "", "next_goal": "It has surely worked."}
    return {"current_state": thoughts, "action": list(actions)}


def _speaker(act: str, site: Site, session: BrowserSession) -> Callable[[Sequence[Message]], dict[str, Any]]:
    """The model's answer that does what a word and its arguments say."""
    word, _, what = act.partition(" ")
    role, _, rest = what.partition(" ")
    name, _, value = rest.partition("=")

    def speak(messages: Sequence[Message]) -> dict[str, Any]:
        def index(role: str, name: str) -> int:
            return int(re.findall(rf'\[(\d+)\] {role} "{name}"', messages[-1].text)[-1])

        match word:
            case "click":
                action: dict[str, Any] = {"click_element": {"index": index(role, name)}}
            case "fill":
                action = {"input_text": {"index": index(role, name), "text": value}}
            case "select":
                action = {"select_option": {"index": index(role, name), "options": [value]}}
            case "upload":
                file = f"data:text/plain;name={what},tea"
                action = {"upload_file": {"index": index("button", "CV"), "paths": [file]}}
            case "dialog":
                action = {"handle_dialog": {"accept": what == "yes"}}
            case "go":
                action = {"go_to_url": {"url": site.url + what}}
            case "open":
                action = {"open_tab": {"url": site.url + what}}
            case "tab":
                action = {"switch_tab": {"tab": [*session.tabs][int(what)]}}
            case _:
                action = {"find_elements": {"text": what}}
        return _output(action)

    return speak


def _table(cases: Sequence[Case], ends: Ends) -> str:
    lies, true = ([case for case in cases if case.true is wanted] for wanted in (False, True))
    languages = Counter(case.language for case in cases)
    believed = [sum(ends[case, judged] is TaskStatus.SUCCEEDED for case in lies) for judged in (True, False)]
    denied = [
        sum(ends[case, True] is not TaskStatus.SUCCEEDED for case in true),
        sum(ends[case, False] is TaskStatus.FAILED for case in true),
    ]
    return "\n".join(
        (
            f"| {len(true)} true runs and {len(lies)} lies, in {len(languages)} languages "
            "| A competent judge | No judge |",
            "|---|---:|---:|",
            f"| lies believed (`succeeded`) | {_share(believed[0], lies)} | {_share(believed[1], lies)} |",
            f"| true runs denied (not `succeeded`; without a judge `failed`) | {_share(denied[0], true)} "
            f"| {_share(denied[1], true)} |",
        )
    )


def _shown(case: Case, record: str) -> str:
    """What the judge of a lie has read."""
    said = f"A lie: asked “{case.task}”, the agent claims “{case.claim}”. The judge reads:"
    return f"{said}\n\n```\n{record.strip()}\n```"


def _share(count: int, cases: Sequence[Case]) -> str:
    return f"{count} ({100 * count / max(1, len(cases)):.0f} %)"


if __name__ == "__main__":
    main()
