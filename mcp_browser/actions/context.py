"""The context of an action."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_browser.actions.result import ActionResult, Attachment
from mcp_browser.browser.files.artifacts import Artifact
from mcp_browser.errors import NotFound
from mcp_browser.settings import Settings
from mcp_browser.text import CHARACTERS_A_TOKEN, clean_text, counted

if TYPE_CHECKING:
    from mcp_browser.browser.session import BrowserSession
    from mcp_browser.browser.tab import Tab


@dataclass(frozen=True, slots=True)
class ActionContext:
    """The session that an action works in, its current tab, and the settings in force.

    `gives_files` is False in a list of actions that may give away none.
    """

    session: "BrowserSession"
    settings: Settings
    gives_files: bool = True

    @property
    def tab(self) -> "Tab":
        return self.session.current_tab

    @property
    def room(self) -> int:
        """How many characters a result has room for."""
        return self.settings.observation.snapshot_budget * CHARACTERS_A_TOKEN

    async def keep(self, content: bytes, name: str, **options: Any) -> Artifact:
        """Keep something as a file of the session, by options of `Artifacts.add`; raises NotActionable."""
        try:
            return await self.session.artifacts.add(content, name, **options)
        except OSError as error:
            raise self.session.artifacts.not_written(error) from error

    def attach(self, *files: Artifact) -> tuple[Attachment, ...]:
        """Files of the session as attachments of a result."""
        return tuple(Attachment.of_file(file, local=not self.session.artifacts.remote) for file in files)

    def one_part(self, what: str, text: str, part: int) -> ActionResult:
        """One part of a long text as a result, counted from 1; `what` names the text. Raises NotFound."""
        parts = split_parts(text, self.room)
        if not 1 <= part <= len(parts):
            raise NotFound(f"There is no part {part}: the text has {len(parts)}.")
        what += part_of(part, len(parts))
        data = {"part": part, "parts": len(parts)}
        return ActionResult(
            extracted_content=f"{what}:", page_content=parts[part - 1], stands_for_page=True, data=data
        )


def part_of(part: int, parts: int) -> str:
    """Which part of how many is shown, and how to get the next one; empty for the only one."""
    if parts <= 1:
        return ""
    return f", part {part} of {parts}" + (f" (next: part={part + 1})" if part < parts else "")


def split_parts(text: str, size: int) -> list[str]:
    """Cut a text into parts of at most `size` characters, where a paragraph, line or word ends if it can."""
    parts: list[str] = []
    start = 0
    while len(text) - start > size:
        cut = -1
        for boundary in ("\n\n", "\n", " "):
            cut = text.rfind(boundary, start + size // 2, start + size)
            if cut > 0:
                break
        if cut <= 0:
            cut = start + size
        parts.append(text[start:cut].rstrip())
        start = cut
        while start < len(text) and text[start] == "\n":
            start += 1
    return [*parts, text[start:]]


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
    """Part `part`, from 1, of a list as a result; `what` names one of its entries. Raises NotFound.

    Further lines of an entry are indented, so that none looks like another entry. `data` are the same entries
    for programs; `dropped` counts those not kept any more; `note` goes into the heading.
    """
    heading = counted(len(entries), what)
    if dropped:
        heading += f" ({dropped:,} older ones are not kept)"
    heading += f" ({note})" if note else ""
    lines = [clean_text(entry).replace("\n", "\n  ") for entry in entries]
    parts = list(_parts(lines, ctx.room // 2))
    if not 1 <= part <= len(parts):
        raise NotFound(f"There is no part {part}: the list has {len(parts)}.")
    heading += part_of(part, len(parts))
    known: dict[str, Any] = {"count": len(entries), "part": part, "parts": len(parts)}
    if data is not None:
        known |= {f"{what}s": list(data[parts[part - 1]]), "dropped": dropped, "note": note}
    return ActionResult(
        extracted_content=f"{heading}{':' if entries else '.'}",
        page_content="\n".join(lines[parts[part - 1]]) if entries else None,
        data=known,
        data_is_whole=data is not None,
    )


def _parts(entries: Sequence[str], size: int) -> Iterator[slice]:
    """Group entries into parts of at most `size` characters, each of at least one entry."""
    start = length = 0
    for place, entry in enumerate(entries):
        length += len(entry) + 1
        if length > size and place > start:
            yield slice(start, place)
            start, length = place, len(entry) + 1
    yield slice(start, len(entries))
