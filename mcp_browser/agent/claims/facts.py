"""What speaks against a claim: facts for the judge, from the run's own record, none of them a verdict."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mcp_browser.actions.agent import CALL_USER, DONE
from mcp_browser.agent.claims.seen import Seen, values_in, values_told
from mcp_browser.agent.record.evidence import Evidence, Passage
from mcp_browser.agent.record.history import ActionRecord, AgentHistory
from mcp_browser.text import one_line, quoted

if TYPE_CHECKING:
    from mcp_browser.browser.observation import DialogAnswer

MOST_FACTS = 20
LONGEST_QUOTE = 160
_INVALID = re.compile(r'^\s*\*?\[\d+\] [\w ]+ "((?:[^"\\]|\\.)*)".*\binvalid\b', re.MULTILINE)


def facts(  # noqa: PLR0913 - what there is to hold it against
    history: AgentHistory, *, people: Sequence[str], answer: str, data: Any, page: Passage, pictured: bool
) -> tuple[str, ...]:
    """The facts against a claim.

    `people` is what was said beside the task, `page` the last one, `pictured` whether the model had pictures,
    whose words are in no record.
    """
    acted = [one for one in history.actions() if one.call.name not in (DONE, CALL_USER)]
    note = " (pictures are not in the record)" if pictured else ""
    values = (*values_in(data), *values_told(answer))
    found = [*_failed(acted), *_unfounded(history, people, page, values, note)]
    found += [f"The last page marks {quoted(one)} as invalid." for one in _INVALID.findall(page.text)]
    if not any(one.evidence is not None and not one.error for one in acted):
        found.append("No action was carried out on any page.")
    elif all(one.changed is False for one in acted if not one.error):
        found.append("No action changed what a page shows.")
    if acted and (error := acted[-1].error):
        found.append(f"The last action failed: {acted[-1].call.name}: {one_line(error, LONGEST_QUOTE)}")
    if not answer.strip():
        found.append("The answer is empty.")
    return tuple(dict.fromkeys(found))[:MOST_FACTS]


def _failed(acted: Sequence[ActionRecord]) -> Iterator[str]:
    dialogs: dict[str, DialogAnswer] = {}
    for action in acted:
        evidence = action.evidence or Evidence()
        dialogs |= {f"{one.kind} {one.message}": one for one in evidence.dialogs}
        for sent in evidence.sent:
            if sent.failed or (sent.method != "GET" and sent.status is None):
                yield f"{sent.method} {one_line(sent.url)} was answered: {sent.outcome}."
        yield from (f"Download: {file}." for file in evidence.downloads if file.error or file.size is None)
    yield from (f"Dialog: {one}." for one in dialogs.values() if not one.accepted)


def _unfounded(
    history: AgentHistory, people: Sequence[str], page: Passage, values: Iterable[str], note: str
) -> Iterator[str]:
    """Values that no page showed by itself: those of the claim, and those that were sent.

    The run is gone through in order: what a page shows only after the agent wrote it is the agent's.
    """
    pages, agent, sent = Seen(), Seen(), list[tuple[str, str, str]]()

    def read(*passages: Passage) -> None:
        for passage in passages:
            words = Seen((passage.text,)).words
            (pages if passage.origin == "page" else agent).words |= words - (agent.words - pages.words)

    for step in history.steps:
        if step.page is not None:
            read(step.page)
        for action in step.actions:
            if action.call.name in (DONE, CALL_USER):
                continue
            evidence = action.evidence or Evidence()
            agent.words |= Seen(values_in(action.call.arguments)).words
            read(Passage(text=action.result, origin=evidence.result_from), *evidence.passages)
            beside = (
                *evidence.console,
                *evidence.dialogs,
                *(f"{one.url} {one.outcome}" for one in evidence.sent),
            )
            read(*(Passage(text=str(text)) for text in beside))
            sent += [(one.url, name, value) for one in evidence.sent for name, value in one.fields]
    read(page)
    task = history.task
    asked = Seen((*people, task.text, task.context or "", task.start_url or ""))
    for value in dict.fromkeys(values):
        if not asked.has(value) and not pages.has(value):
            where = "only in what the agent itself introduced" if agent.has(value) else "nowhere"
            yield f"The claim's {quoted(value)} appears {where}{note}."
    for url, name, value in sent:
        if value.strip() and agent.has(value) and not asked.has(value) and not pages.has(value):
            yield f"Sent to {one_line(url)}: {quoted(name)} as {quoted(value)}, which nobody asked for."
