"""Estimate the tokens of a conversation that no provider has counted.

The estimate is stated, not exact: English text has about four characters a token in current tokenizers, JSON
and page snapshots about three, so three is taken (the share that browser-use's early releases took, too). A
picture is counted by its area, as Anthropic states it for Claude: width times height by 750, at most about
1,600 (https://docs.anthropic.com/en/docs/build-with-claude/vision); one of unknown size as 1,600.
"""

import json
from collections.abc import Iterable
from math import ceil

from mcp_browser.llm.messages import ImageBlock, Message, OutputForm, Usage, as_json

LEAST_CHARACTERS_A_TOKEN = 3
PIXELS_A_TOKEN = 750
MOST_A_PICTURE = 1_600
A_MESSAGE = 4  # Tokens that a message has beside its content


def of_text(text: str) -> int:
    """Tokens of a text."""
    return ceil(len(text) / LEAST_CHARACTERS_A_TOKEN)


def of_image(image: ImageBlock) -> int:
    """Tokens of a picture."""
    area = image.width * image.height
    return min(MOST_A_PICTURE, ceil(area / PIXELS_A_TOKEN)) if area else MOST_A_PICTURE


def of_message(message: Message) -> int:
    """Tokens of a message."""
    called = of_text(as_json(message.call.arguments)) if message.call is not None else 0
    texts = of_text(message.text) if message.blocks else 0
    return A_MESSAGE + texts + called + sum(map(of_image, message.images))


def of_messages(messages: Iterable[Message], form: OutputForm | None = None) -> int:
    """Tokens of a conversation and of the form that goes with it."""
    asked = of_text(json.dumps(form.json_schema)) + of_text(form.description) if form is not None else 0
    return asked + sum(map(of_message, messages))


def estimated_usage(messages: Iterable[Message], answer: Message, form: OutputForm | None) -> Usage:
    """The usage of one request, estimated."""
    used, made = of_messages(messages, form), of_message(answer)
    return Usage(input_tokens=used, output_tokens=made, requests=1, estimated=True)
