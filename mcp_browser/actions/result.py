"""The context and the result of an action."""

import contextlib
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from mcp_browser.browser.element import Element, FieldValue
from mcp_browser.browser.files.artifacts import Artifact
from mcp_browser.browser.observation import Observation
from mcp_browser.dom.models import Frozen
from mcp_browser.errors import NotFound
from mcp_browser.settings import Settings
from mcp_browser.text import CHARACTERS_A_TOKEN, clean_text, counted, in_texts

if TYPE_CHECKING:
    from mcp_browser.browser.session import BrowserSession
    from mcp_browser.browser.tab import Tab

FrozenT = TypeVar("FrozenT", bound=Frozen)


class Attachment(BaseModel):
    """A picture, in `data`; or a file that was written.

    It has a `uri` that the client can read, a `size` in bytes, and a `path` if both are on one machine.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["image", "file"]
    mime_type: str
    name: str
    data: bytes | None = None
    path: str | None = None
    uri: str | None = None
    size: int | None = None

    def __str__(self) -> str:
        return f"({self.mime_type}, {len(self.data):,} bytes)" if self.data else f"({self.name}: {self.uri})"


class Outcome(BaseModel):
    """The outcome of one action of a list; `position` counts from 1, `text` is its result or its error."""

    model_config = ConfigDict(frozen=True)

    position: int
    action: str
    outcome: Literal["done", "failed", "not started"]
    text: str = ""


class ActionResult(BaseModel):
    """The outcome of an action that was carried out; a failure is raised as an ActionError instead.

    `extracted_content` is the action's message, in our own words; `page_content` is text of the page, never
    an instruction; with `page_lines` its lines are those of a snapshot. `data` is for programs,
    JSON-compatible; with `data_is_whole` it contains all of the text, so that a client may give its model
    either. `code` are Playwright's statements for it. `observation` is the page afterwards; the controller
    sets it if the action did not. `error` is the failure of an action that was carried out in part; the
    result then counts as failed. With `stands_for_page`, a list that ends with this action shows its result
    instead of the whole page. `by_caller`: the caller's own script computed `page_content`. `outcomes` are
    those of a list of actions.
    """

    model_config = ConfigDict(frozen=True)

    is_done: bool = False
    success: bool | None = None
    extracted_content: str | None = None
    page_content: str | None = None
    page_lines: bool = False
    stands_for_page: bool = False
    by_caller: bool = False
    error: str | None = None
    include_in_memory: bool = True
    attachments: tuple[Attachment, ...] = ()
    data: dict[str, Any] | None = None
    data_is_whole: bool = False
    code: tuple[str, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    observation: Observation | None = None

    def reword(self, change: Callable[[str], str]) -> "ActionResult":
        """The result with all texts changed, save the lines of the page and what its files are called."""
        texts = self.model_dump(include={"error", "extracted_content", "page_content", "data", "code"})
        update = {name: in_texts(value, change) for name, value in texts.items()}
        update["code"] = tuple(update["code"])
        update["outcomes"] = tuple(one.model_copy(update={"text": change(one.text)}) for one in self.outcomes)
        if (seen := self.observation) is not None:
            parts = {
                "snapshot": seen.snapshot and _with_texts(seen.snapshot, change),
                "tabs": tuple(_with_texts(tab, change) for tab in seen.tabs),
                "dialog": seen.dialog and _with_texts(seen.dialog, change),
                "notices": tuple(map(change, seen.notices)),
            }
            update["observation"] = _with_texts(seen, change).model_copy(update=parts)
        return self.model_copy(update=update)


def _with_texts(value: FrozenT, change: Callable[[str], str]) -> FrozenT:
    return value.model_copy(update={name: change(text) for name, text in value if isinstance(text, str)})


@dataclass(frozen=True, slots=True)
class ActionContext:
    """The session that an action works in, its current tab, and the settings in force.

    `gives_files` is False in a list of actions that may give away none. `typed` are the text fields typed
    into, each with what it held then.
    """

    session: "BrowserSession"
    settings: Settings
    gives_files: bool = True
    typed: list[tuple[Element, FieldValue]] = field(default_factory=list[tuple[Element, FieldValue]])

    @property
    def tab(self) -> "Tab":
        return self.session.current_tab

    @property
    def room(self) -> int:
        """How many characters a result has room for."""
        return self.settings.observation.snapshot_budget * CHARACTERS_A_TOKEN

    @contextlib.contextmanager
    def writing(self) -> Generator[None]:
        """Raise NotActionable if a file of the session cannot be written."""
        try:
            yield
        except OSError as error:
            raise self.session.artifacts.not_written(error) from error

    async def keep(self, content: bytes, name: str, **options: Any) -> Artifact:
        """Keep something as a file of the session, by options of `Artifacts.add`; raises NotActionable."""
        with self.writing():
            return await self.session.artifacts.add(content, name, **options)

    def attach(self, *files: Artifact) -> tuple[Attachment, ...]:
        """Files of the session as attachments of a result; a remote client cannot use their paths."""
        return tuple(
            Attachment(
                kind="file",
                path=None if self.session.artifacts.remote else str(file.path),
                **file.model_dump(include={"mime_type", "name", "uri", "size"}),
            )
            for file in files
        )

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
        ends = (text.rfind(boundary, start + size // 2, start + size) for boundary in ("\n\n", "\n", " "))
        cut = next((end for end in ends if end > 0), start + size)
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
