"""Makes every result short enough for clients, and removes invisible characters."""

import base64
import json
import mimetypes
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import anyio.to_thread
import mcp_types as types

from mcp_browser.browser.files.artifacts import Artifacts
from mcp_browser.browser.pictures import make_picture
from mcp_browser.text import clean_text, cut, in_texts

LONGEST_RESULT = 900_000  # Characters of JSON: the SDK's own client refuses more than a megabyte
LONGEST_TEXT = 500_000  # How much of that texts may take together
LONGEST_DATA = 200_000  # How much of that structured content may take, unless there is nothing else
SMALLEST_PICTURE = 24_000  # A picture of so many bytes still shows something
MARGIN = 2_000  # For what stands around the contents
SHORT_TEXT = (LONGEST_RESULT - MARGIN) // 12  # A text that is short enough, however JSON escapes it


async def fit(result: types.CallToolResult, artifacts: Artifacts | None) -> types.CallToolResult:
    """Clean the result, and make it short enough for every client.

    Texts are cut, and say by how much. Pictures are made smaller; those without room are kept in `artifacts`,
    and replaced by their address. Of structured content the longest entries are left out, and named.
    """
    cleaned = [
        block.model_copy(update={"text": clean_text(block.text)})
        if isinstance(block, types.TextContent)
        else block
        for block in result.content
    ]
    structured = in_texts(result.structured_content, clean_text)
    result = result.model_copy(update={"content": cleaned, "structured_content": structured})
    if _length(result) <= LONGEST_RESULT:
        return result
    data = _short_data(result.structured_content)
    content: list[types.ContentBlock] = _short_texts(result.content)
    room = LONGEST_RESULT - MARGIN - (_json_length(data) if data else 0)
    room -= sum(_length(block) for block in content if not isinstance(block, types.ImageContent))
    content = await _small_pictures(content, max(0, room), artifacts)
    short = result.model_copy(update={"content": content, "structured_content": data})
    if _length(short) <= LONGEST_RESULT:
        return short
    # Contents of other kinds are left, which cannot be shortened.
    texts: list[types.ContentBlock] = [block for block in content if isinstance(block, types.TextContent)]
    left_out = types.TextContent(text="More was left out: it is longer than a result may be.")
    return short.model_copy(update={"content": [*texts, left_out]})


def _short_data(data: dict[str, Any] | None) -> dict[str, Any] | None:
    """Structured content, without its longest entries where it is too long."""
    if data is None:
        return None
    lengths = {name: _json_length(value) for name, value in data.items()}
    left_out: list[str] = []
    while sum(lengths.values()) > LONGEST_DATA:
        left_out.append(max(lengths, key=lengths.__getitem__))
        del lengths[left_out[-1]]
    return {name: data[name] for name in lengths} | ({"left_out": left_out} if left_out else {})


def _short_texts(content: Sequence[types.ContentBlock]) -> list[types.ContentBlock]:
    """The contents, with texts that take `LONGEST_TEXT` together: the longest ones are cut."""
    lengths = sorted(_length(block) for block in content if isinstance(block, types.TextContent))
    room, share = LONGEST_TEXT, LONGEST_TEXT
    for place, length in enumerate(lengths):
        # Those that need less than an equal part leave more of it to the others.
        share = room // (len(lengths) - place)
        if length > share:
            break
        room -= length
    return [_short_text(block, share) if isinstance(block, types.TextContent) else block for block in content]


def _short_text(block: types.TextContent, room: int) -> types.TextContent:
    length, text, kept = _length(block), block.text, len(block.text)
    while length > room and kept:
        # A character takes between one and twelve in JSON.
        kept = min(kept - 1, int(kept * room / length * 0.95))
        shorter = cut(text, kept)
        if shorter.rfind("<page ", 0, kept) > shorter.rfind("</page>", 0, kept):
            shorter += "\n</page>"
        block = block.model_copy(update={"text": shorter})
        length = _length(block)
    return block


async def _small_pictures(
    content: Sequence[types.ContentBlock], room: int, artifacts: Artifacts | None
) -> list[types.ContentBlock]:
    """The contents, with pictures that take at most `room` characters together."""
    pictures = sum(isinstance(block, types.ImageContent) for block in content)
    fitted: list[types.ContentBlock] = []
    for block in content:
        if isinstance(block, types.ImageContent):
            # Each gets an equal share of the room, but enough to show something.
            share = max(room // pictures, min(room, SMALLEST_PICTURE * 4 // 3 + MARGIN // 10))
            pictures -= 1
            fitted.append(await _small_picture(block, share, artifacts))
            room = max(0, room - _length(fitted[-1]))
        else:
            fitted.append(block)
    return fitted


async def _small_picture(
    block: types.ImageContent, room: int, artifacts: Artifacts | None
) -> types.ContentBlock:
    if _length(block) <= room:
        return block
    raw = base64.b64decode(block.data)
    bytes_left = (room - MARGIN // 10) * 3 // 4
    if bytes_left >= SMALLEST_PICTURE // 2:
        smaller = partial(make_picture, raw, format="jpeg", quality=75, max_side=2000, max_bytes=bytes_left)
        with suppress(OSError, ValueError):  # It may be none that can be made smaller.
            small = await anyio.to_thread.run_sync(smaller)
            data = base64.b64encode(small.data).decode()
            return block.model_copy(update={"data": data, "mime_type": small.mime_type})
    if artifacts is None:
        return types.TextContent(text="A picture was left out: the result is too long.")
    suffix = mimetypes.guess_extension(block.mime_type) or ".bin"
    kept = await artifacts.add(raw, f"picture{suffix}", mime_type=block.mime_type, kind="screenshot")
    return types.ResourceLink(name=kept.name, uri=kept.uri, mime_type=kept.mime_type, size=kept.size)


def _length(part: types.CallToolResult | types.ContentBlock) -> int:
    return _json_length(part.model_dump(mode="json", by_alias=True, exclude_none=True))


def _json_length(value: object) -> int:
    # As the most wasteful of the transports writes it, with escapes for all that is not ASCII.
    return len(json.dumps(value))
