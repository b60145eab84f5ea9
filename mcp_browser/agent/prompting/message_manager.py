"""The conversation of a run, kept within the model's window.

The conversation has a head that never goes (rules, task, placeholders of secrets, an example), the memory of
the steps so far (what the model put out, results, notes, a summary of what lies further back), and the state
of the page, which is there for one request only.
"""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from mcp_browser.agent.prompting.style import FORM_NAME
from mcp_browser.errors import ContextTooLong
from mcp_browser.llm.messages import (
    ImageBlock,
    Message,
    OutputCall,
    OutputForm,
    Usage,
    assistant,
    system,
    tokens_of,
    tokens_of_text,
    user,
)
from mcp_browser.text import counted, cut

Kind = Literal["head", "task", "memory", "output", "summary", "state"]
MEMORIES: tuple[Kind, ...] = ("memory", "output", "summary")

DEFAULT_WINDOW = 128_000  # Tokens that a model is taken to have room for where nothing is known of it
RESERVED_SHARE = 0.1  # Share of the window that is left for the answer
COMPACTION_SHARE = 0.6  # Share of the room from which the memory is to be summed up
KEPT_STEPS = 3  # How many of the last outputs stay as they are when the memory is summed up
LEAST_STATE = 200  # Characters of the page's state that are kept, however little room there is
LONGEST_RESULT = 20_000  # Characters of a result that are remembered; the model has seen it whole once
HISTORY_STARTS = "[Your memory of this task begins here.]"

PLACEHOLDERS = (
    "Secrets you may use, by name: {names}. Write <secret>NAME</secret> where the value is to be typed; "
    "you never see it, and it is not shown in results."
)


class ManagedMessage(BaseModel):
    """A message of the conversation, and what it is for."""

    message: Message
    kind: Kind


class MessageManagerState(BaseModel):
    """The saved state of a message manager.

    `scale` is the ratio of the provider's tokens to the estimated ones, by the last request.
    """

    messages: list[ManagedMessage] = Field(default_factory=list[ManagedMessage])
    calls: int = 0
    scale: float = 1.0


class MessageManager:
    """Writes the conversation down, and keeps it within the model's window."""

    def __init__(  # noqa: PLR0913 - what a conversation begins with
        self,
        *,
        system_prompt: str,
        task: str,
        context: str | None = None,
        secrets: Sequence[str] = (),
        example: OutputCall | None = None,
        window: int | None = None,
        images_kept: int = 1,
        state: MessageManagerState | None = None,
    ) -> None:
        """Begin a conversation, or go on with a saved one; `images_kept` counts this step's pictures, too."""
        self.window = window or DEFAULT_WINDOW
        self.state = state or MessageManagerState()
        self._images_kept = images_kept
        if self.state.messages:
            return
        self._add(system(system_prompt), "head")
        if context:
            self._add(user(f"Context of the task: {context}"), "head")
        self._add(user(f"Your task:\n{task}"), "task")
        if secrets:
            self._add(user(PLACEHOLDERS.format(names=", ".join(secrets))), "head")
        if example is not None:
            self._add(user("An example of an answer:"), "head")
            self._add(self._answer(example), "head")
        self._add(user(HISTORY_STARTS), "head")

    # -- writing down

    def add_task(self, text: str) -> None:
        """Add a further instruction; it counts as part of the task and is never left out."""
        self._add(user(f"A new instruction for your task, which goes before older ones:\n{text}"), "task")

    def remember(self, *texts: str) -> None:
        """Remember results of actions, and other notes."""
        for text in filter(None, texts):
            self._add(user(cut(text, LONGEST_RESULT)), "memory")

    def add_output(self, output: OutputCall | str) -> None:
        """Remember what the model has put out: a filled-in form, or its text."""
        self._add(self._answer(output), "output")

    def add_state(self, text: str, images: Sequence[ImageBlock] = ()) -> None:
        """Add the state of the page, in place of the state before."""
        self.remove_state()
        self._add(user(text, *images), "state")

    def remove_state(self) -> None:
        """Remove the state of the page; keep its picture if several are to be kept."""
        if (place := self._place_of("state")) is not None:
            images = self.state.messages.pop(place).message.images
            if self._images_kept > 1 and images:
                kept = ManagedMessage(message=user("The page then:", *images), kind="memory")
                self.state.messages.insert(place, kept)
        self._drop_images(keep=self._images_kept - 1)

    # -- asking

    def messages(self, form: OutputForm | None = None) -> list[Message]:
        """The conversation for a request, cut to the model's window. Raises ContextTooLong.

        First the picture goes, then a part of the state's text, then the oldest memories; a note says what
        was left out. Rules and task always stay.
        """
        self.cut(self._room - self._scaled(tokens_of((), form)))
        return [managed.message for managed in self.state.messages]

    def cut(self, room: int) -> None:
        """Shorten the conversation to `room` tokens; raises ContextTooLong."""
        if self.tokens <= room:
            return
        self._drop_images(keep=0)
        state = self._place_of("state")
        if self.tokens > room and state is not None:
            message = self.state.messages[state].message
            text, excess = message.text, self.tokens - room + tokens_of_text(" " * 200)
            share = max(0.0, 1 - excess / max(1, self._scaled(message.tokens)))
            kept = max(LEAST_STATE, int(len(text) * share))
            if kept < len(text):
                left_out = counted(len(text) - kept, "character")
                shorter = f"{text[:kept]}\n… {left_out} of the page left out for want of room."
                shortened = ManagedMessage(message=user(shorter, *message.images), kind="state")
                self.state.messages[state] = shortened
        lost = 0
        while self.tokens > room:
            place = self._place_of(*MEMORIES)
            if place is None:
                raise ContextTooLong(
                    f"Rules and task alone have about {self.tokens} tokens, and the model takes {room}.",
                    hint="Use a model with a larger window, or a shorter task.",
                )
            del self.state.messages[place]
            lost += 1
        if lost:
            older = counted(lost, "older message")
            loss = user(f"[{older} of your memory had to be left out for want of room.]")
            heads = [i for i, managed in enumerate(self.state.messages) if managed.kind == "head"]
            if self._scaled(loss.tokens) + self.tokens <= room:
                place = max(heads, default=-1) + 1
                self.state.messages.insert(place, ManagedMessage(message=loss, kind="summary"))

    @property
    def tokens(self) -> int:
        """The estimated length in tokens, calibrated by the provider's last count."""
        return self._scaled(tokens_of(managed.message for managed in self.state.messages))

    def calibrate(self, usage: Usage, form: OutputForm | None = None) -> None:
        """Calibrate the estimate by the provider's count for the conversation as it is now."""
        estimate = tokens_of((managed.message for managed in self.state.messages), form)
        if not usage.estimated and usage.input_tokens and estimate:
            self.state.scale = min(4.0, max(0.25, usage.input_tokens / estimate))

    # -- summing up

    def to_sum_up(self) -> list[ManagedMessage]:
        """The memories that a summary should replace: all but the last steps, once the memory is long."""
        outputs = [i for i, managed in enumerate(self.state.messages) if managed.kind == "output"]
        if self.tokens <= COMPACTION_SHARE * self._room or len(outputs) <= KEPT_STEPS:
            return []
        return [m for m in self.state.messages[: outputs[-KEPT_STEPS]] if m.kind in MEMORIES]

    def replace_by_summary(self, old: Sequence[ManagedMessage], summary: str) -> None:
        """Put a summary in the place of memories from `to_sum_up`."""
        gone = {id(managed) for managed in old}
        place = next(i for i, managed in enumerate(self.state.messages) if id(managed) in gone)
        self.state.messages = [m for m in self.state.messages if id(m) not in gone]
        text = f"What happened in earlier steps (only what is confirmed counts as done):\n{summary}"
        self.state.messages.insert(place, ManagedMessage(message=user(text), kind="summary"))

    @property
    def _room(self) -> int:
        return int(self.window * (1 - RESERVED_SHARE))

    def _scaled(self, estimate: int) -> int:
        return int(estimate * self.state.scale)

    def _add(self, message: Message, kind: Kind) -> None:
        self.state.messages.append(ManagedMessage(message=message, kind=kind))

    def _answer(self, output: OutputCall | str) -> Message:
        if isinstance(output, str):
            return assistant(output)
        self.state.calls += 1
        call = output.model_copy(update={"id": f"{output.name or FORM_NAME}-{self.state.calls}"})
        return assistant(call=call)

    def _place_of(self, *kinds: Kind) -> int | None:
        return next((i for i, managed in enumerate(self.state.messages) if managed.kind in kinds), None)

    def _drop_images(self, *, keep: int) -> None:
        pictured = [managed for managed in self.state.messages if managed.message.images]
        for managed in pictured[: max(0, len(pictured) - keep)]:
            managed.message = user(managed.message.text)
