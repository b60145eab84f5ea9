"""What a chat model is to the agent."""

from collections.abc import Sequence
from typing import Protocol

from mcp_browser.llm.messages import Message, ModelInfo, OutputForm, Reply


class ChatModel(Protocol):
    """A model that answers a conversation."""

    @property
    def info(self) -> ModelInfo: ...

    async def ask(self, messages: Sequence[Message], *, form: OutputForm | None, seconds: float) -> Reply:
        """One answer to the conversation, whose first message may be the system's, and the last is a user's.

        Without a `form` to fill in, the model answers in text.

        Raises:
            ModelError: there is no answer; its kind says whether to try again.
        """
        ...
