"""What was told, put together again: a snapshot and the changes since."""

from collections.abc import Sequence

from mcp_browser.dom.models import DomChanges, DomNode, DomSnapshot


def bare(nodes: Sequence[DomNode]) -> list[DomNode]:
    """The lines without their mark for what is new."""
    return [node.model_copy(update={"is_new": False}) for node in nodes]


Known = DomNode | None
"""A line of the page, or one of which only is known that it is there."""


def expanded(nodes: Sequence[DomNode]) -> list[Known]:
    """All lines that a snapshot stands for; those behind a fold are not known."""
    lines: list[Known] = []
    for node in nodes:
        lines += [None] * node.lines if node.kind == "fold" else bare([node])
    return lines


def applied(lines: Sequence[Known], told: DomChanges | DomSnapshot) -> list[Known]:
    """The lines after the changes: what went is dropped by its old place, what came is put at its new one."""
    if isinstance(told, DomSnapshot):
        return expanded(told.nodes)
    gone = {
        change.was + line
        for change in told.changes
        if change.was is not None
        for line in range(change.node.lines)
    }
    after = [line for place, line in enumerate(lines) if place not in gone]
    came = [(change.at, change.node) for change in told.changes if change.at is not None]
    for place, node in sorted(came, key=lambda pair: pair[0]):
        after[place:place] = expanded([node])
    return after
