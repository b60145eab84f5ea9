"""What a model reads of a result, an error, a snapshot and changes. Protocol-free, pure functions.

A result is a text, then its pictures. The text says what happened in our own words; then, in a frame, what
comes from the page and is nobody's instruction; then notices, one a line:

    Clicked [12] button "Buy now".
    <page url="https://shop.example/cart" title="Cart" untrusted>
    + *[40] link "Checkout" → /checkout
    </page>
    Note: Saved download "bill.pdf" as /tmp/bill.pdf.

`title` stands there with a whole snapshot and where it has changed, `status` where HTTP's is not 200. Text
from the page cannot close or open a frame: its `<page` and `</page` are written `&lt;page` and `&lt;/page`.
Nor can it look like a line of ours: it is cleaned, then kept from passing for an element's line, and last
from passing for a frame.

In a snapshot each element stands on a line of its own, `[12] button "Buy now" disabled`, a `*` before the
bracket marking what is new; text, headings (`# …`) and table rows (`| … |`) stand between. Only what is on
the page matches `^\\s*\\*?\\[(\\d+)\\] (role) "(name)"`: a line of what has gone begins without brackets.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from itertools import groupby
from types import MappingProxyType
from typing import Any

from mcp_browser.actions.result import ActionResult, Attachment
from mcp_browser.browser.observation import Observation
from mcp_browser.dom.models import DomChange, DomChanges, DomNode, DomSnapshot
from mcp_browser.errors import ActionError
from mcp_browser.privacy.hiding import hide, hide_in
from mcp_browser.settings import Settings
from mcp_browser.text import CHARACTERS_A_TOKEN, clean_text, counted, cut, one_line, plain_lines, quoted

LONGEST_URL = 300
LONGEST_TITLE = 120
LONGEST_NOTICE = 600
LONGEST_ERROR = 8_000

NO_CHANGE = "No text or control changed."
ONLY_TITLE = "= no text or control changed, only the title"
INDENT = "  "
DEEPEST = 12  # Levels of indentation that are shown; what is nested deeper stands with them
MOST_MOVED = 4  # So many lines, or runs of lines, that moved are shown
SHOWN_MOVED = 60  # How much of a line that moved is shown, characters
LEAST_RUN = 4  # Of so many indexes in a row only the first and the last are printed
MOST_GAPS = 6  # So many places where lines are left out between others are shown, the longest
LEAST_SCREENS = 0.05  # Less than this is printed as 0.0

_FRAME = re.compile(r"<(?=\s*+(?:/\s*+)?page\b)", re.IGNORECASE)

Bounded = Callable[[str], str]  # Cuts a text to the length of a piece
NO_SECRETS: Mapping[str, str] = MappingProxyType({})


def render_result(
    result: ActionResult, *, settings: Settings | None = None, secrets: Mapping[str, str] = NO_SECRETS
) -> tuple[str, *tuple[Attachment, ...]]:
    """A result as parts: a text, then its pictures, then its files; `str` of each is for people.

    No piece of the text is longer than one and a half snapshot budgets; pictures are as they came. `secrets`
    are values that must not be read, by the names that stand for them.
    """
    text = hide(_text_of(result, settings or Settings(), secrets) or "Done.", secrets)
    return text, *sorted(result.attachments, key=lambda one: one.data is None)


def _text_of(result: ActionResult, settings: Settings, secrets: Mapping[str, str]) -> str:
    limit = settings.observation.snapshot_budget * CHARACTERS_A_TOKEN * 3 // 2

    def bounded(text: str) -> str:
        return cut(hide(text, secrets), limit) if len(text) > limit else text

    is_data = result.data and not (result.extracted_content or result.page_content)
    data = json.dumps(result.data, ensure_ascii=False) if is_data else ""
    said = (result.error, result.extracted_content or data)
    pieces = [bounded(_escaped(text)) for text in said if text]
    if result.code:
        code = (one_line(line, LONGEST_NOTICE) for line in result.code)
        pieces.append(_escaped("\n".join(("Code:", *code))))
    observation = result.observation
    content = result.page_content
    if content is not None:
        content = content if result.page_lines else plain_lines(clean_text(content))
        pieces.append(frame(bounded(content), url=observation.url if observation else ""))
    pieces += _page(observation, bounded, beside=content is not None)
    pieces += _beside(observation)
    named = "\n".join((result.extracted_content or "", *(observation.notices if observation else ())))
    for attachment in result.attachments:
        place = attachment.path or attachment.uri
        if place and place not in named:
            pieces.append(f"File: {_escaped(place)} ({attachment.mime_type})")
    return "\n".join(pieces)


def structured(
    result: ActionResult, *, settings: Settings | None = None, secrets: Mapping[str, str] = NO_SECRETS
) -> dict[str, Any] | None:
    """The result as data, where that is all of it: a client may give its model nothing else.

    What happened beside the page stands under `notes`. A list of actions has its `outcomes`, and all that the
    text says of the page under `page`.
    """
    if result.outcomes and not result.attachments:
        page = result.model_copy(update={"error": None, "extracted_content": None})
        outcomes = [one.model_dump(exclude_defaults=True) for one in result.outcomes]
        data = {"outcomes": outcomes, "page": _text_of(page, settings or Settings(), secrets)}
        return hide_in(data, secrets)
    is_all = result.data_is_whole or not (result.extracted_content or result.page_content)
    if not result.data or not is_all or result.error or result.attachments:
        return None
    if any(_page(result.observation, str, beside=True)):
        return None
    notes = list(_beside(result.observation))
    more = ({"notes": notes} if notes else {}) | ({"code": list(result.code)} if result.code else {})
    return hide_in({**result.data, **more} if more else result.data, secrets)


def render_error(error: ActionError, *, secrets: Mapping[str, str] = NO_SECRETS) -> str:
    """What went wrong, what to try, and what else happened meanwhile."""
    lines = [_escaped(" ".join(str(error).split())), *_notes(error.notices)]
    return cut(hide("\n".join(lines), secrets), LONGEST_ERROR)


def frame(content: str, *, url: str, title: str | None = None, status: int | None = None) -> str:
    """Text from a page, marked as such."""
    named = f' title="{_attribute(title, LONGEST_TITLE)}"' if title else ""
    failed = f" status={status}" if status not in (None, HTTPStatus.OK) else ""
    head = f'<page url="{_attribute(url, LONGEST_URL)}"{named}{failed} untrusted>'
    return f"{head}\n{_escaped(content)}\n</page>"


def _escaped(text: str) -> str:
    """Text that can neither open nor close a frame; cleaned first, since what goes may have hidden one."""
    return _FRAME.sub("&lt;", clean_text(text))


def _page(observation: Observation | None, bounded: Bounded, *, beside: bool) -> Iterator[str]:
    """The tabs, and the page or its changes; `beside` something else that was read of it."""
    if observation is None:
        return
    lines: list[str] = []
    title: str | None = None
    status: int | None = None
    for tab in observation.tabs if len(observation.tabs) > 1 else ():
        mark = (" (current)" if tab.current else "") + (" (the user's)" if tab.lent else "")
        lines.append(f'Tab {tab.id}{mark}: "{_attribute(tab.title, 60)}" {_attribute(tab.url, LONGEST_URL)}')
    if (snapshot := observation.snapshot) is not None:
        title, status = snapshot.title, snapshot.status
        lines.append(bounded(render_snapshot(snapshot)))
    elif (changes := observation.changes) is not None and changes != DomChanges():
        title = changes.title
        lines.append(bounded(render_changes(changes)))
    elif changes is not None and not beside:
        yield NO_CHANGE
    if lines:
        yield frame("\n".join(lines), url=observation.url, title=title, status=status)


def _beside(observation: Observation | None) -> Iterator[str]:
    """What happened beside the page: a dialog, notices."""
    if observation is None:
        return
    if (dialog := observation.dialog) is not None:
        default = f" (preset: {quoted(dialog.default_value)})" if dialog.default_value else ""
        yield _escaped(f"{dialog}{default}. Answer it with handle_dialog.")
    yield from _notes(observation.notices)


def _notes(notices: tuple[str, ...]) -> Iterator[str]:
    for notice in notices:
        yield f"Note: {_escaped(one_line(notice, LONGEST_NOTICE))}"


def _attribute(text: str, limit: int) -> str:
    return one_line(text, limit).replace('"', "'").replace("<", "&lt;").replace(">", "&gt;")


def render_node(node: DomNode) -> str:
    """One line, indented."""
    return f"{INDENT * min(node.depth, DEEPEST)}{node}"


def render_snapshot(snapshot: DomSnapshot) -> str:
    """The lines of a snapshot, and before and after them what was left out."""
    lines: list[str] = []
    scroll = snapshot.scroll
    height = max(1, scroll.viewport_height)
    above = max(0.0, scroll.y / height)
    below = max(0.0, (scroll.page_height - scroll.y - scroll.viewport_height) / height)
    gaps = _gap_lines(snapshot)
    for number, node in enumerate(snapshot.nodes):
        lines += gaps.get(number, ())
        lines.append(render_node(node))
    lines += gaps.get(len(snapshot.nodes), ())
    if not gaps and max(above, below) >= LEAST_SCREENS:
        at = f"scrolled {above:.1f} screens down, " if scroll.y else ""
        folds = {node.role for node in snapshot.nodes if node.kind == "fold"}
        scope = "; all is listed, long lists in short" if folds else "; everything is listed"
        lines.append(f"({at}{below:.1f} screens below the view{scope if 'behind' not in folds else ''})")
    return "\n".join(lines) or "(The page shows nothing.)"


def render_changes(changes: DomChanges) -> str:
    """What came, went and changed: `+`, `-` and `~` lines, and `=` for what was only drawn anew or moved."""
    lines: list[str] = []
    came = [change for change in changes.changes if change.op == "added"]
    base = min((change.node.depth for change in came), default=0)
    for change in changes.changes:
        node = change.node
        if change.op == "removed":
            lines.append(f"- {_gone(node)}")
        elif change.op == "added":
            lines.append(f"+ {render_node(node.model_copy(update={'depth': node.depth - base}))}")
        # One that only stands in something else reads as before.
        elif change.op == "changed" and str(node) != str(change.before):
            lines += [f"~ {line}" for line in _changed(node, change.before)]
    if changes.behind:
        lines.append(f"= behind it: {counted(changes.behind, 'element')}")
    lines += _beside_lines(changes)
    if changes.omitted:
        lines.append(f"… {changes.omitted:,} more changes: look with get_state.")
    return "\n".join(lines) or (NO_CHANGE if changes.title is None else ONLY_TITLE)


def _beside_lines(changes: DomChanges) -> Iterator[str]:
    """What happened to the page without changing what it says."""
    replaced = [change for change in changes.changes if change.op == "replaced"]
    if replaced and (redrawn := list(_redrawn(replaced))):
        yield f"= drawn anew, same otherwise: {', '.join(redrawn)}"
    unlisted = (change.node for change in changes.changes if change.op == "unlisted")
    if left := [str(node.model_copy(update={"states": ()})) for node in unlisted]:
        yield f"= still there, without a line of its own: {', '.join(left)}"
    if moved := [change for change in changes.changes if change.op == "moved"]:
        lines = list(_moved(moved))
        rest = f", and {len(lines) - MOST_MOVED} more: look with get_state" * (len(lines) > MOST_MOVED)
        yield f"= moved: {', '.join(lines[:MOST_MOVED])}{rest}"
    if changes.looks:
        looks = [f"{look.node} ({look.what})" for look in changes.looks]
        if changes.other_looks:
            looks.append(f"{changes.other_looks} more")
        yield f"= no text or control changed, only looks: {', '.join(looks)}"


def _moved(moved: Sequence[DomChange]) -> Iterator[str]:
    """What stands at another place now, and before what: `[4] clickable "B" before [2] clickable "A"`."""
    for i, change in enumerate(moved):
        # What moved with the line before it, and to the same place, is said with that.
        last = moved[i - 1] if i else None
        if last is not None and last.at is not None and change.at == last.at + 1:
            deeper = change.node.depth - last.node.depth
            if deeper > 0 or (deeper == 0 and change.before == last.before):
                continue
        where = f"before {_short(change.before)}" if change.before is not None else "to the end"
        yield f"{_short(change.node)} {where}"


def _short(node: DomNode) -> str:
    return cut(str(node.model_copy(update={"states": (), "depth": 0})), SHOWN_MOVED)


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
        where = gap.where or ("above" if gap.at == 0 else "below" if gap.at == end else "")
        side = f" to the {where}" if where in ("left", "right") else f" {where}".rstrip()
        line = f"… {counted(gap.lines, 'more line')}{side}"
        if gap.screens >= LEAST_SCREENS:
            line += f" ({gap.screens:.1f} screens)"
        scroll = "scroll" if gap.index is None else f"scroll index={gap.index}"
        if gap is last and gap.at == end:
            part = f"get_state part={snapshot.part + 1}, " if snapshot.part < snapshot.parts else ""
            line += f": {part}{scroll}, or find_elements"
        elif gap.index is not None and gap.index not in scrolled:
            line += f": {scroll}"
            scrolled.add(gap.index)
        lines.setdefault(gap.at, []).append(line)
    return lines


def _gone(node: DomNode) -> str:
    """A line that is not on the page any more, so that nobody takes it for one that is."""
    for part in node.parts:
        node = node.model_copy(update={"name": node.name.replace(part.inline, _gone(part), 1)})
    if node.index is None:
        return str(node)
    return f"{node.model_copy(update={'index': None, 'is_new': False})} (was [{node.index}])"


def _redrawn(replaced: Sequence[DomChange]) -> Iterator[str]:
    """Old index and new of lines, and of what stands in them; of many in a row, the first and the last."""
    pairs: list[tuple[int, int, DomNode]] = []
    for change in replaced:
        if (before := change.before) is not None:
            node = change.node
            for one, old in ((node, before), *zip(node.parts, before.parts, strict=False)):
                if one.index is not None and old.index is not None and one.index != old.index:
                    pairs.append((old.index, one.index, one))
    for _, numbered in groupby(enumerate(pairs), lambda one: (one[1][0] - one[0], one[1][1] - one[0])):
        run = [pair for _, pair in numbered]
        if len(run) >= LEAST_RUN:
            yield f"[{run[0][0]}]…[{run[-1][0]}]→[{run[0][1]}]…[{run[-1][1]}]"
        else:
            yield from (
                f'[{old}]→[{new}] {one.role} "{"" if one.parts else one.name}"' for old, new, one in run
            )


def _changed(node: DomNode, before: DomNode | None) -> list[str]:
    """A line that is different now; of a row in which only controls are, one for each of these."""
    now, then = node.name.split(" | "), before.name.split(" | ") if before is not None else []
    is_row = before is not None and node.kind == before.kind and node.role == "row"
    if before is None or not is_row or node.states != before.states or len(now) != len(then):
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
    # An unchanged list of options was shown before.
    same = [state for state in node.states if state.startswith("options=") and state in before.states]
    now = str(node.model_copy(update={"states": tuple(state for state in node.states if state not in same)}))
    was = [before.role or "text"] if before.role != node.role else []
    if before.name != node.name:
        was.append(f'"{before.name}"')
    if lost := [state for state in before.states if state not in node.states]:
        was.append(" ".join(lost))
    elif len(node.states) > len(before.states) and not was:
        return now
    return f"{now} (was {', '.join(was)})" if was else now
