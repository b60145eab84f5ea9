"""What a chat model is to the agent."""

from collections.abc import Sequence
from typing import Protocol

from mcp_browser.llm.messages import Message, ModelInfo, OutputForm, Reply


class ChatModel(Protocol):
    """A model that answers a conversation."""

    @property
    def info(self) -> ModelInfo:
        """Its name and what it can do."""
        ...

    async def ask(self, messages: Sequence[Message], *, form: OutputForm | None, seconds: float) -> Reply:
        """One answer to the conversation.

        Args:
            messages: the conversation; the first may be the system's, the last is a user's.
            form: what the model is to fill in; without one, it answers in text.
            seconds: how long the answer may take.

        Raises:
            ModelError: there is no answer; its kind says whether to try again.
        """
        ...
