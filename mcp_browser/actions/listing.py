"""Long lists in parts that fit the budget."""

from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.markdown import take_part
from mcp_browser.actions.result import ActionResult
from mcp_browser.text import CHARACTERS_A_TOKEN


def list_part(  # noqa: PLR0913 - options, all by keyword
    ctx: ActionContext, lines: list[str], *, what: str, part: int, dropped: int = 0, note: str = ""
) -> ActionResult:
    """Part `part`, from 1, of a list as a result, each line one thing; `what` names one of them.

    `dropped` is how many are not kept any more; `note` says something about the list, for its heading.

    Raises:
        InvalidArguments: there is no such part.
    """
    heading = f"{len(lines):,} {what}{'' if len(lines) == 1 else 's'}"
    if dropped:
        heading += f" ({dropped:,} older ones are not kept)"
    heading += f" ({note})" if note else ""
    if not lines:
        return ActionResult(extracted_content=f"{heading}.", data={"count": 0, "part": 1, "parts": 1})
    size = ctx.settings.observation.snapshot_budget * CHARACTERS_A_TOKEN // 2
    shown, parts = take_part("\n".join(lines), part=part, size=size)
    if parts > 1:
        heading += f", part {part} of {parts}" + (f" (next: part={part + 1})" if part < parts else "")
    return ActionResult(
        extracted_content=f"{heading}:",
        page_content=shown,
        data={"count": len(lines), "part": part, "parts": parts},
    )
