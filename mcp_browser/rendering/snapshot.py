"""What a model reads of a page: a snapshot, changes. Pure functions.

Each element stands on a line of its own, `[12] button "Buy now" disabled`, a `*` before the bracket marking
what is new; text, headings (`# …`) and table rows (`| … |`) stand between. What is on the page, and nothing
else, matches `^\\s*\\*?\\[(\\d+)\\] (role) "(name)"`: what has gone is told without brackets at its start.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from mcp_browser.dom.models import DomChanges, DomNode, DomSnapshot, Gap, Scroll
from mcp_browser.text import counted

NO_CHANGE = "No text or control changed."
INDENT = "  "
DEEPEST = 12  # Levels of indentation that are shown; what is nested deeper stands with them
LEAST_RUN = 4  # So many indexes that follow one another are told by the first and the last
MOST_GAPS = 6  # So many places where lines are left out between others are shown, the longest
_BESIDE = frozenset({"replaced", "unlisted", "moved"})  # What does not change what the page says
LEAST_SCREENS = 0.05  # Less than this is printed as 0.0


def render_node(node: DomNode) -> str:
    """One line, indented."""
    return f"{INDENT * min(node.depth, DEEPEST)}{node}"


def render_snapshot(snapshot: DomSnapshot) -> str:
    """The lines of a snapshot, and before and after them what was left out."""
    lines: list[str] = []
    scroll = snapshot.scroll
    above = max(0.0, scroll.y / max(1, scroll.viewport_height))
    below = max(
        0.0, (scroll.page_height - scroll.y - scroll.viewport_height) / max(1, scroll.viewport_height)
    )
    gaps = _gap_lines(snapshot)
    for number, node in enumerate(snapshot.nodes):
        lines += gaps.get(number, ())
        lines.append(render_node(node))
    lines += gaps.get(len(snapshot.nodes), ())
    if not gaps and max(above, below) >= LEAST_SCREENS:
        lines.append(
            _position(scroll, above, below, {node.role for node in snapshot.nodes if node.kind == "fold"})
        )
    if not lines:
        lines.append("(The page shows nothing.)")
    return "\n".join(lines)


def render_changes(changes: DomChanges) -> str:
    """What came, went and changed: `+`, `-` and `~` lines, and `=` for what was only drawn anew or moved."""
    lines: list[str] = []
    came = [change for change in changes.changes if change.op == "added"]
    base = min((change.node.depth for change in came), default=0)
    for change in changes.changes:
        node = change.node
        match change.op:
            case "removed":
                lines.append(f"- {_gone(node)}")
            case "added":
                lines.append(f"+ {render_node(node.model_copy(update={'depth': node.depth - base}))}")
            case "changed":
                lines += [f"~ {line}" for line in _changed(change.node, change.before)]
            case _:
                pass
    if changes.behind:
        lines.append(f"= behind it: {counted(changes.behind, 'element')}")
    if changes.looks or any(change.op in _BESIDE for change in changes.changes):
        lines += _beside(changes)
    if changes.omitted:
        lines.append(f"… {changes.omitted:,} more changes: look with get_state.")
    return "\n".join(lines) or NO_CHANGE


def _beside(changes: DomChanges) -> Iterator[str]:
    """What happened to the page without changing what it says."""
    redrawn = [
        pair
        for change in changes.changes
        if change.op == "replaced" and change.before is not None
        for pair in _renumbered(change.node, change.before)
    ]
    if redrawn:
        yield f"= drawn anew, same otherwise: {', '.join(_redrawn(redrawn))}"
    left = [
        change.node.model_copy(update={"states": ()}) for change in changes.changes if change.op == "unlisted"
    ]
    if left:
        yield f"= still there, without a line of its own: {', '.join(map(str, left))}"
    moved = sum(change.op == "moved" for change in changes.changes)
    if moved:
        yield f"= {counted(moved, 'line')} moved to another place: look with get_state."
    if changes.looks:
        looks = [f"{look.node} ({look.what})" for look in changes.looks]
        if changes.other_looks:
            looks.append(f"{changes.other_looks} more")
        yield f"= no text or control changed, only looks: {', '.join(looks)}"


def _gap_lines(snapshot: DomSnapshot) -> dict[int, list[str]]:
    """What is said of the lines left out, by the number of the node before which they were."""
    end = len(snapshot.nodes)
    inner = sorted((gap for gap in snapshot.gaps if 0 < gap.at < end), key=lambda gap: -gap.lines)
    unsaid = inner[MOST_GAPS:]
    last = snapshot.gaps[-1] if snapshot.gaps else None
    lines: dict[int, list[str]] = {}
    scrolled: set[int] = set()
    for gap in snapshot.gaps:
        if gap in unsaid:
            continue
        told = f"… {counted(gap.lines, 'more line')}{_side(gap, end)}"
        if gap.screens >= LEAST_SCREENS:
            told += f" ({gap.screens:.1f} screens)"
        scroll = "scroll" if gap.index is None else f"scroll index={gap.index}"
        if gap is last and gap.at == end:
            part = f"get_state part={snapshot.part + 1}, " if snapshot.part < snapshot.parts else ""
            told += f": {part}{scroll}, or find_elements"
        elif gap.index is not None and gap.index not in scrolled:
            told += f": {scroll}"
            scrolled.add(gap.index)
        lines.setdefault(gap.at, []).append(told)
    return lines


def _side(gap: Gap, end: int) -> str:
    if gap.where in ("left", "right"):
        return f" to the {gap.where}"
    where = gap.where or ("above" if gap.at == 0 else "below" if gap.at == end else "")
    return f" {where}" if where else ""


def _position(scroll: Scroll, above: float, below: float, folds: set[str]) -> str:
    at = f"scrolled {above:.1f} screens down, " if scroll.y else ""
    if "behind" in folds:
        return f"({at}{below:.1f} screens below the view)"
    told = "all is listed, long lists in short" if folds else "everything is listed"
    return f"({at}{below:.1f} screens below the view; {told})"


def _gone(node: DomNode) -> str:
    """A line that is not on the page any more, so that nobody takes it for one that is."""
    for part in node.parts:
        node = node.model_copy(update={"name": node.name.replace(part.inline, _gone(part), 1)})
    if node.index is None:
        return str(node)
    return f"{node.model_copy(update={'index': None, 'is_new': False})} (was [{node.index}])"


def _redrawn(pairs: Iterable[tuple[int, DomNode]]) -> Iterator[str]:
    """Old index and new; where many follow one another in both, the first and the last of them."""
    for _, run in groupby(
        enumerate(pairs), lambda one: (one[1][0] - one[0], (one[1][1].index or 0) - one[0])
    ):
        told = [pair for _, pair in run]
        if len(told) >= LEAST_RUN:
            (first, begin), (last, end) = told[0], told[-1]
            yield f"[{first}]…[{last}]→[{begin.index}]…[{end.index}]"
        else:
            yield from (f'[{old}]→[{node.index}] {node.role} "{node.name}"' for old, node in told)


def _renumbered(node: DomNode, before: DomNode) -> Iterator[tuple[int, DomNode]]:
    """What of a line has another index now: itself, and what stands in it."""
    for one, old in ((node, before), *zip(node.parts, before.parts, strict=False)):
        if one.index is not None and old.index is not None and one.index != old.index:
            yield old.index, one.model_copy(update={"name": ""}) if one.parts else one


def _changed(node: DomNode, before: DomNode | None) -> list[str]:
    """A line that is different now; of a row in which only controls are, one for each of these."""
    if before is None or node.kind != before.kind or node.role != "row" or node.states != before.states:
        return [_changed_line(node, before)]
    now, then = node.name.split(" | "), before.name.split(" | ")
    if len(now) != len(then):
        return [_changed_line(node, before)]
    differing = [(new, old) for new, old in zip(now, then, strict=True) if new != old]
    parts = {part.inline: part for part in node.parts}
    old_parts = {part.inline: part for part in before.parts}
    pairs = [(parts.get(new), old_parts.get(old)) for new, old in differing]
    if pairs and all(part and old and part.index == old.index for part, old in pairs):
        return [_changed_line(part, old) for part, old in pairs if part]
    return [f"{node.model_copy(update={'is_new': False})} (was {' | '.join(old for _, old in differing)})"]


def _changed_line(node: DomNode, before: DomNode | None) -> str:
    node = node.model_copy(update={"is_new": False})
    if before is None:
        return str(node)
    # A list of options that is as it was has been told.
    same = [state for state in node.states if state.startswith("options=") and state in before.states]
    now = str(node.model_copy(update={"states": tuple(state for state in node.states if state not in same)}))
    was: list[str] = []
    if before.role != node.role:
        was.append(before.role or "text")
    if before.name != node.name:
        was.append(f'"{before.name}"')
    lost = [state for state in before.states if state not in node.states]
    if lost:
        was.append(" ".join(lost))
    elif len(node.states) > len(before.states) and not was:
        return now
    return f"{now} (was {', '.join(was)})" if was else now
