"""The evidence of a run as text for a judge: what was sent and what failed is whole, pages are shortened."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from mcp_browser.actions.agent import DONE
from mcp_browser.agent.claims.seen import parts
from mcp_browser.agent.record.evidence import Evidence, Passage
from mcp_browser.agent.record.history import ActionRecord, AgentHistory
from mcp_browser.text import cut, one_line

LONGEST_CALL = 400
LEAST_PASSAGE = 200
_ORIGINS = {
    "page": "from the page",
    "agent": "written or computed by the agent itself, no page says it",
    "person": "from a person",
    "file": "from a file",
}
_FRAME = ("<page ", "</page>")


@dataclass(slots=True)
class _Text:
    """A passage on its way into the account, under a heading."""

    heading: str
    text: str


def account(history: AgentHistory, *, wanted: str, room: int) -> str:
    """The evidence, at most about `room` characters unless what is never left out is longer.

    Of long texts the lines stay that have most to do with `wanted`, the task and the claim.
    """
    pieces = [*_pieces(history)]
    texts = [piece for piece in pieces if isinstance(piece, _Text)]
    left = room - sum(len(piece) + 1 for piece in pieces if isinstance(piece, str))
    # The shortest first: what they do not need is for the others.
    for count, text in zip(
        range(len(texts), 0, -1), sorted(texts, key=lambda one: len(one.text)), strict=True
    ):
        share = max(LEAST_PASSAGE, (left // count) - len(text.heading))
        text.text = excerpt(text.text, wanted, share)
        left -= len(text.text) + len(text.heading)
    return "\n".join(
        piece if isinstance(piece, str) else f"{piece.heading}\n{piece.text}" for piece in pieces
    )


def excerpt(text: str, wanted: str, room: int) -> str:
    """The lines of a text that have most to do with what is wanted, in their order, within `room`."""
    if len(text) <= room:
        return text
    lines = [cut(line, room) for line in text.splitlines()]
    words = set(parts(wanted))
    found = [words.intersection(parts(line)) for line in lines]
    often = Counter(word for line in found for word in line)
    # A word counts the more, the fewer lines have it; frames stay, and else what comes first.
    rank = [
        (not line.startswith(_FRAME), -sum(1 / often[word] for word in found[number]), number)
        for number, line in enumerate(lines)
    ]
    kept: set[int] = set()
    for *_, number in sorted(rank):
        room -= len(lines[number]) + 2
        if room < 0:
            break
        kept.add(number)
    shown = (line if number in kept else "…" for number, line in enumerate(lines))
    return "\n".join(line for line, _ in groupby(shown))


def _pieces(history: AgentHistory) -> Iterator[str | _Text]:
    shown: list[str] = []
    for step in history.steps:
        if step.page is None and all(action.call.name == DONE for action in step.actions):
            continue
        yield f"Step {step.number}, at {one_line(step.url)}"
        if step.page is not None:
            before, shown = shown, step.page.text.splitlines()
            lines = [line for line in shown if line not in before or line.startswith(_FRAME)]
            what = "What is new on the page" if len(lines) < len(shown) else "The page"
            yield _passage(what, step.page.model_copy(update={"text": "\n".join(lines)}))
        for action in step.actions:
            if action.call.name != DONE:
                yield from _of_action(action)


def _of_action(action: ActionRecord) -> Iterator[str | _Text]:
    on = f" on {', '.join(map(str, action.elements))}" if action.elements else ""
    yield f"- {one_line(str(action.call), LONGEST_CALL)}{on}{f' [tab {action.tab}]' if action.tab else ''}"
    evidence = action.evidence or Evidence()
    if action.error:
        yield f"  failed: {one_line(action.error, LONGEST_CALL)}"
    elif action.result:
        origin = f" ({_ORIGINS['agent']})" if evidence.result_from == "agent" else ""
        yield _Text(f"  result{origin}:", action.result)
    yield from (_passage("  text", passage) for passage in evidence.passages)
    if action.changed is False:
        yield "  nothing changed on the page"
    yield from (f"  {line}" for line in evidence.lines())


def _passage(what: str, passage: Passage) -> _Text:
    return _Text(f"{what} ({_ORIGINS[passage.origin]}):", passage.text)


def listed(heading: str, lines: Iterable[str]) -> str:
    """Lines under a heading; "" where there are none."""
    items = [f"- {line}" for line in lines]
    return "\n".join((heading, *items, "")) if items else ""
