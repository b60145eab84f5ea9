"""What a model reads of a result or an error. Protocol-free, pure functions.

A result is a text, then its pictures. The text tells what happened in our own words; then, in a frame, what
comes from the page and is nobody's instruction; then notices, one a line:

    Clicked [12] button "Buy now".
    <page url="https://shop.example/cart" title="Cart" untrusted>
    + *[40] link "Checkout" → /checkout
    </page>
    Note: Saved download "bill.pdf" as /tmp/bill.pdf.

`title` stands there with a whole snapshot, `status` where HTTP's is not 200. Text from the page cannot close
or open a frame: in it `<page` and `</page` become `&lt;page` and `&lt;/page`. Nor can it look like a line of
ours: it is cleaned, then kept from passing for an element's line, and last from passing for a frame.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from mcp_browser.actions.result import ActionResult
from mcp_browser.browser.observation import DialogInfo, Observation
from mcp_browser.dom.models import DomChanges, DomSnapshot, Frozen
from mcp_browser.errors import ActionError
from mcp_browser.privacy.hiding import hide
from mcp_browser.rendering.snapshot import NO_CHANGE, render_changes, render_snapshot
from mcp_browser.settings import Settings
from mcp_browser.text import (
    CHARACTERS_A_TOKEN,
    clean_text,
    cut,
    one_line,
    plain_lines,
    quoted,
)

LONGEST_URL = 300
LONGEST_TITLE = 120
LONGEST_NOTICE = 600
LONGEST_ERROR = 8_000

_FRAME = re.compile(r"<(?=\s*+(?:/\s*+)?page\b)", re.IGNORECASE)

Bounded = Callable[[str], str]  # Cuts a text to the length of a piece

NO_SECRETS: Mapping[str, str] = MappingProxyType({})


class TextPart(Frozen):
    """A text."""

    text: str

    def __str__(self) -> str:
        return self.text


class ImagePart(Frozen):
    """A picture, encoded as `mime_type` says."""

    data: bytes
    mime_type: str

    def __str__(self) -> str:
        return f"({self.mime_type}, {len(self.data):,} bytes)"


class LinkPart(Frozen):
    """A file of the session, `size` bytes long, that a client can read at `uri`."""

    uri: str
    name: str
    mime_type: str
    size: int | None = None

    def __str__(self) -> str:
        return f"({self.name}: {self.uri})"


ResultPart = TextPart | ImagePart | LinkPart


def render_result(
    result: ActionResult, *, settings: Settings | None = None, secrets: Mapping[str, str] = NO_SECRETS
) -> list[ResultPart]:
    """A result as parts: one text, then the pictures, then links to files; `str` of each is for people.

    No piece of the text is longer than one and a half snapshot budgets; pictures are as they came. `secrets`
    are values that must not be read, by the names that stand for them.
    """
    limit = (settings or Settings()).observation.snapshot_budget * CHARACTERS_A_TOKEN * 3 // 2

    def bounded(text: str) -> str:
        return cut(hide(text, secrets), limit) if len(text) > limit else text

    text = "\n".join(_pieces(result, bounded))
    parts: list[ResultPart] = [TextPart(text=hide(text or "Done.", secrets))]
    parts += [
        ImagePart(data=picture.data, mime_type=picture.mime_type)
        for picture in result.attachments
        if picture.kind == "image" and picture.data is not None
    ]
    parts += [
        LinkPart(uri=file.uri, name=file.name, mime_type=file.mime_type, size=file.size)
        for file in result.attachments
        if file.uri is not None
    ]
    return parts


def structured(result: ActionResult) -> dict[str, Any] | None:
    """The result as data, where that tells all of it: a client may give its model nothing else.

    What happened beside the page stands under `notes`.
    """
    if not result.data or result.error or result.attachments:
        return None
    if not (result.data_is_whole or _is_data(result)) or any(_page(result.observation, str, beside=True)):
        return None
    notes = list(_beside(result.observation))
    more = ({"notes": notes} if notes else {}) | ({"code": list(result.code)} if result.code else {})
    return {**result.data, **more} if more else result.data


def _is_data(result: ActionResult) -> bool:
    return bool(result.data) and not (result.extracted_content or result.page_content)


def render_error(error: ActionError, *, secrets: Mapping[str, str] = NO_SECRETS) -> str:
    """What went wrong, what to try, and what else happened meanwhile."""
    lines = [_escaped(" ".join(str(error).split())), *_notes(error.notices)]
    return cut(hide("\n".join(lines), secrets), LONGEST_ERROR)


def frame(content: str, *, url: str, title: str | None = None, status: int | None = None) -> str:
    """Text from a page, marked as such."""
    attributes = [f'url="{_attribute(url, LONGEST_URL)}"']
    if title:
        attributes.append(f'title="{_attribute(title, LONGEST_TITLE)}"')
    if status is not None and status != HTTPStatus.OK:
        attributes.append(f"status={status}")
    return f"<page {' '.join(attributes)} untrusted>\n{_escaped(content)}\n</page>"


def _escaped(text: str) -> str:
    """Text that can neither open nor close a frame; cleaned first, since what goes may have hidden one."""
    return _FRAME.sub("&lt;", clean_text(text))


def _pieces(result: ActionResult, bounded: Bounded) -> Iterator[str]:
    if result.error:
        yield bounded(_escaped(result.error))
    if result.extracted_content:
        yield bounded(_escaped(result.extracted_content))
    elif _is_data(result):
        yield bounded(_escaped(json.dumps(result.data, ensure_ascii=False)))
    if result.code:
        yield _escaped("\n".join(("Code:", *(one_line(line, LONGEST_NOTICE) for line in result.code))))
    observation = result.observation
    content = result.page_content
    if content is not None:
        content = content if result.page_lines else plain_lines(clean_text(content))
        yield frame(bounded(content), url=observation.url if observation else "")
    yield from _page(observation, bounded, beside=content is not None)
    if observation is not None and (observation.dialog is not None or observation.notices):
        yield from _beside(observation)
    told = "\n".join((result.extracted_content or "", *(observation.notices if observation else ())))
    for attachment in result.attachments:
        place = attachment.path or attachment.uri
        if place and place not in told:
            yield f"File: {_escaped(place)} ({attachment.mime_type})"


def _page(observation: Observation | None, bounded: Bounded, *, beside: bool) -> Iterator[str]:
    """The tabs, and the page or what became of it; `beside` something else that was read of it."""
    if observation is None:
        return
    lines: list[str] = []
    title: str | None = None
    status: int | None = None
    if len(observation.tabs) > 1:
        for tab in observation.tabs:
            mark = (" (current)" if tab.current else "") + (" (the user's)" if tab.lent else "")
            lines.append(
                f'Tab {tab.id}{mark}: "{_attribute(tab.title, 60)}" {_attribute(tab.url, LONGEST_URL)}'
            )
    match observation.snapshot, observation.changes:
        case DomSnapshot() as snapshot, _:
            title, status = snapshot.title, snapshot.status
            lines.append(bounded(render_snapshot(snapshot)))
        case None, DomChanges() as changes if changes != DomChanges(new_page=changes.new_page):
            lines.append(bounded(render_changes(changes)))
        case None, DomChanges() if not beside:
            yield NO_CHANGE
        case _:
            pass
    if lines:
        yield frame("\n".join(lines), url=observation.url, title=title, status=status)


def _beside(observation: Observation | None) -> Iterator[str]:
    """What happened beside the page: a dialog, notices."""
    if observation is None:
        return
    if observation.dialog is not None:
        yield _dialog(observation.dialog)
    yield from _notes(observation.notices)


def _dialog(dialog: DialogInfo) -> str:
    default = f" (preset: {quoted(dialog.default_value)})" if dialog.default_value else ""
    return _escaped(f"{dialog}{default}. Answer it with handle_dialog.")


def _notes(notices: tuple[str, ...]) -> Iterator[str]:
    for notice in notices:
        yield f"Note: {_escaped(one_line(notice, LONGEST_NOTICE))}"


def _attribute(text: str, limit: int) -> str:
    return one_line(text, limit).replace('"', "'").replace("<", "&lt;").replace(">", "&gt;")
