"""The result of an action."""

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from mcp_browser.browser.files.artifacts import Artifact
from mcp_browser.browser.observation import Observation
from mcp_browser.dom.models import Frozen
from mcp_browser.text import in_texts

FrozenT = TypeVar("FrozenT", bound=Frozen)


class Attachment(BaseModel):
    """A picture, or a file that was written.

    A picture is in `data`. A file has a `uri` that the client can read, a `size` in bytes, and an absolute
    `path` if the client is on the same machine.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["image", "file"]
    mime_type: str
    name: str
    data: bytes | None = None
    path: str | None = None
    uri: str | None = None
    size: int | None = None

    @classmethod
    def of_file(cls, artifact: Artifact, *, local: bool) -> "Attachment":
        """A file that the session has made; `local` where its client can use the path."""
        return cls(
            kind="file",
            mime_type=artifact.mime_type,
            name=artifact.name,
            path=str(artifact.path) if local else None,
            uri=artifact.uri,
            size=artifact.size,
        )


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
    """A value with its own texts changed."""
    return value.model_copy(update={name: change(text) for name, text in value if isinstance(text, str)})
