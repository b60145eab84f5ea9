"""Long lists in parts that fit the budget."""

from collections.abc import Iterator, Sequence
from typing import Any

from mcp_browser.actions.context import ActionContext, part_of
from mcp_browser.actions.result import ActionResult
from mcp_browser.errors import NotFound
from mcp_browser.text import clean_text, counted


def list_part(  # noqa: PLR0913 - options, all by keyword
    ctx: ActionContext,
    entries: Sequence[str],
    *,
    what: str,
    part: int,
    data: Sequence[dict[str, Any]] | None = None,
    dropped: int = 0,
    note: str = "",
) -> ActionResult:
    """Part `part`, from 1, of a list as a result; `what` names one of its entries.

    An entry's further lines are indented, so that none can be taken for another entry. `data` are the same
    entries for programs; `dropped` is how many are not kept any more; `note` says something about the list,
    for its heading.

    Raises:
        NotFound: there is no such part.
    """
    heading = counted(len(entries), what)
    if dropped:
        heading += f" ({dropped:,} older ones are not kept)"
    heading += f" ({note})" if note else ""
    told = [clean_text(entry).replace("\n", "\n  ") for entry in entries]
    parts = list(_parts(told, ctx.room // 2))
    if not 1 <= part <= len(parts):
        raise NotFound(f"There is no part {part}: the list has {len(parts)}.")
    heading += part_of(part, len(parts))
    known: dict[str, Any] = {"count": len(entries), "part": part, "parts": len(parts)}
    if data is not None:
        known |= {f"{what}s": list(data[parts[part - 1]]), "dropped": dropped, "note": note}
    return ActionResult(
        extracted_content=f"{heading}{':' if entries else '.'}",
        page_content="\n".join(told[parts[part - 1]]) if entries else None,
        data=known,
        data_is_whole=data is not None,
    )


def _parts(entries: Sequence[str], size: int) -> Iterator[slice]:
    """Which entries stand together, so that they have at most `size` characters; one at least."""
    start = length = 0
    for place, entry in enumerate(entries):
        length += len(entry) + 1
        if length > size and place > start:
            yield slice(start, place)
            start, length = place, len(entry) + 1
    yield slice(start, len(entries))
