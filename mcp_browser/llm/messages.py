"""Messages to models and their answers, for every kind of model; tokens that no provider has counted.

Such tokens are an estimate: English text has about four characters a token in current tokenizers, JSON and
page snapshots about three, so three is taken (the share that browser-use's early releases took, too). A
picture is counted by its area, as Anthropic states it for Claude: width times height by 750, at most about
1,600 (https://docs.anthropic.com/en/docs/build-with-claude/vision); one of unknown size as 1,600.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from math import ceil
from typing import Annotated, Any, Literal, Protocol

from pydantic import Discriminator

from mcp_browser.dom.models import Frozen

LEAST_CHARACTERS_A_TOKEN = 3
PIXELS_A_TOKEN = 750
MOST_A_PICTURE = 1_600
A_MESSAGE = 4  # Tokens that a message has beside its content


def tokens_of_text(text: str) -> int:
    """Tokens of a text, estimated."""
    return ceil(len(text) / LEAST_CHARACTERS_A_TOKEN)


class TextBlock(Frozen):
    """A text."""

    kind: Literal["text"] = "text"
    text: str


class ImageBlock(Frozen, ser_json_bytes="base64", val_json_bytes="base64"):
    """A picture, encoded as `mime_type` says; `width` and `height` are in pixels."""

    kind: Literal["image"] = "image"
    data: bytes
    mime_type: str
    width: int = 0
    height: int = 0

    @property
    def tokens(self) -> int:
        area = self.width * self.height
        return min(MOST_A_PICTURE, ceil(area / PIXELS_A_TOKEN)) if area else MOST_A_PICTURE


Block = Annotated[TextBlock | ImageBlock, Discriminator("kind")]


class OutputCall(Frozen):
    """A model's answer in the form that it was asked to fill in.

    `arguments` is the form, or a text that cannot be read as one.
    """

    id: str
    name: str
    arguments: dict[str, Any] | str


class Message(Frozen):
    """One message of a conversation; an assistant's may carry a call."""

    role: Literal["system", "user", "assistant"]
    blocks: tuple[Block, ...] = ()
    call: OutputCall | None = None

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.blocks if isinstance(block, TextBlock))

    @property
    def images(self) -> tuple[ImageBlock, ...]:
        return tuple(block for block in self.blocks if isinstance(block, ImageBlock))

    @property
    def tokens(self) -> int:
        called = tokens_of_text(as_json(self.call.arguments)) if self.call is not None else 0
        texts = tokens_of_text(self.text) if self.blocks else 0
        return A_MESSAGE + texts + called + sum(image.tokens for image in self.images)


def system(text: str) -> Message:
    """A message with a model's role and rules."""
    return Message(role="system", blocks=(TextBlock(text=text),))


def user(text: str, *images: ImageBlock) -> Message:
    """A message to a model."""
    return Message(role="user", blocks=(TextBlock(text=text), *images))


def assistant(text: str = "", *, call: OutputCall | None = None) -> Message:
    """A message of a model."""
    return Message(role="assistant", blocks=(TextBlock(text=text),) if text else (), call=call)


class OutputForm(Frozen):
    """The form that a model fills in: a named JSON schema of an object."""

    name: str
    description: str
    json_schema: dict[str, Any]


class Usage(Frozen):
    """What a request has used, in tokens; `cost` is in US dollars, None where no price is known.

    `estimated` says that the tokens were not counted by the provider.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    requests: int = 0
    cost: Decimal | None = None
    estimated: bool = False

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __str__(self) -> str:
        counted = " (estimated)" if self.estimated else ""
        cached = f" ({self.cached_tokens:,} from the cache)" if self.cached_tokens else ""
        price = "price unknown" if self.cost is None else f"${self.cost:.4f}"
        return f"{self.tokens:,} tokens{cached}{counted}{f', {price}' if self.requests else ''}"

    def __add__(self, other: "Usage") -> "Usage":
        """Both together; a cost is known where every part that used anything has one."""
        costs = [usage.cost for usage in (self, other) if usage.requests]
        known = [cost for cost in costs if cost is not None]
        cost = sum(known, Decimal(0)) if known and len(known) == len(costs) else None
        counts = ("input_tokens", "output_tokens", "cached_tokens", "requests")
        both = {name: getattr(self, name) + getattr(other, name) for name in counts}
        return Usage(**both, cost=cost, estimated=self.estimated or other.estimated)


def tokens_of(messages: Iterable[Message], form: OutputForm | None = None) -> int:
    """Tokens of a conversation and of the form that goes with it, estimated."""
    asked = tokens_of_text(json.dumps(form.json_schema)) + tokens_of_text(form.description) if form else 0
    return asked + sum(message.tokens for message in messages)


def estimated_usage(messages: Iterable[Message], answer: Message, form: OutputForm | None) -> Usage:
    """The usage of one request, estimated."""
    used = tokens_of(messages, form)
    return Usage(input_tokens=used, output_tokens=answer.tokens, requests=1, estimated=True)


class Reply(Frozen):
    """What a model has answered."""

    text: str = ""
    call: OutputCall | None = None
    usage: Usage = Usage()
    model: str = ""
    finish: Literal["stop", "length", "filtered", "other"] = "stop"


class ModelInfo(Frozen):
    """What is known of a model; `context_window` is in tokens, None if unknown.

    `sees` says whether it takes pictures, `priced` whether its price is known, `judges` whether it can judge
    a claim.
    """

    name: str
    context_window: int | None = None
    sees: bool = True
    priced: bool = False
    judges: bool = True


def as_json(arguments: Mapping[str, Any] | str) -> str:
    """The arguments of a call as text."""
    return arguments if isinstance(arguments, str) else json.dumps(dict(arguments), ensure_ascii=False)


class ChatModel(Protocol):
    """A model that answers a conversation."""

    @property
    def info(self) -> ModelInfo: ...

    async def ask(self, messages: Sequence[Message], *, form: OutputForm | None, seconds: float) -> Reply:
        """One answer to the conversation, which may begin with a system message and ends with a user's.

        Without a `form` to fill in, the model answers in text. Raises ModelError, whose kind says whether to
        try again.
        """
        ...
