"""Models of providers (OpenAI, Anthropic, Google, OpenRouter, Ollama, any OpenAI-compatible address).

pydantic-ai speaks their protocols; it is imported when the first model is made.
"""

import contextlib
import json
import os
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, cast

import anyio
import anyio.to_thread

from mcp_browser.errors import (
    ContextTooLong,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelTimedOut,
    ModelUnavailable,
    NoModel,
)
from mcp_browser.llm.messages import (
    Block,
    ImageBlock,
    Message,
    ModelInfo,
    OutputCall,
    OutputForm,
    Reply,
    Usage,
    as_json,
)

if TYPE_CHECKING:
    from pydantic_ai import messages as pai
    from pydantic_ai.models import Model

OutputMode = Literal["tool", "json"]
"""How a form is asked for: as a tool to be called, or as the schema of the whole answer."""

RECEIVED = "Received."
"""What a model is told of the form that it has filled in; what came of it stands in the next message."""

LONGEST_CAUSE = 400


class ProviderModel:
    """A provider's model, by pydantic-ai."""

    def __init__(
        self, model: "Model", *, mode: OutputMode = "tool", temperature: float | None = None
    ) -> None:
        """Speak to `model`; make one with `provider_model`."""
        self._model = model
        self._mode: OutputMode = mode
        self._temperature = temperature
        profile = model.profile
        self.info = ModelInfo(
            name=f"{model.system}:{model.model_name}", context_window=profile.get("context_window")
        )

    async def ask(self, messages: Sequence[Message], *, form: OutputForm | None, seconds: float) -> Reply:
        """One answer of the provider's.

        Raises:
            ModelRateLimited, ModelTimedOut, ModelUnavailable: it may answer later.
            ContextTooLong: the conversation is too long for it.
            ModelRefused: it will not answer this way: the key, the name or the request is wrong.
        """
        from pydantic_ai import direct  # noqa: PLC0415 - takes a second to import
        from pydantic_ai.exceptions import AgentRunError, UserError  # noqa: PLC0415

        try:
            with anyio.fail_after(seconds):
                response = await direct.model_request(
                    self._model,
                    _as_request(messages),
                    model_settings=self._settings(),
                    model_request_parameters=self._parameters(form),
                    instrument=False,
                )
        except TimeoutError as error:
            raise ModelTimedOut(f"{self.info.name} did not answer within {seconds:g} s.") from error
        except (AgentRunError, UserError) as error:
            raise self._failure(error) from error
        return self._reply(response, form)

    def _settings(self) -> Any:
        # Retries are the agent's, which tells of them and knows the deadline.
        settings: dict[str, Any] = {"max_retries": 0}
        if self._temperature is not None:
            settings["temperature"] = self._temperature
        return settings

    def _parameters(self, form: OutputForm | None) -> Any:
        from pydantic_ai.models import ModelRequestParameters  # noqa: PLC0415
        from pydantic_ai.output import OutputObjectDefinition  # noqa: PLC0415
        from pydantic_ai.tools import ToolDefinition  # noqa: PLC0415

        if form is None:
            return ModelRequestParameters()
        if self._mode == "json":
            return ModelRequestParameters(
                output_mode="native",
                output_object=OutputObjectDefinition(
                    json_schema=form.json_schema, name=form.name, description=form.description
                ),
            )
        tool = ToolDefinition(
            name=form.name,
            description=form.description,
            parameters_json_schema=form.json_schema,
            strict=False,
        )
        return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)

    def _reply(self, response: "pai.ModelResponse", form: OutputForm | None) -> Reply:
        call = next(
            (
                OutputCall(id=part.tool_call_id, name=part.tool_name, arguments=_arguments(part.args))
                for part in response.tool_calls
            ),
            None,
        )
        text = response.text or ""
        if call is None and form is not None and self._mode == "json" and text:
            call = OutputCall(id="answer", name=form.name, arguments=_arguments(text))
        used = response.usage
        return Reply(
            text=text,
            call=call,
            model=response.model_name or self.info.name,
            usage=Usage(
                input_tokens=used.input_tokens,
                output_tokens=used.output_tokens,
                cached_tokens=used.cache_read_tokens,
                requests=1,
                cost=_price(response),
            ),
            finish=_FINISHES.get(response.finish_reason or "stop", "other"),
        )

    def _failure(self, error: Exception) -> ModelError:
        from pydantic_ai import exceptions as wrong  # noqa: PLC0415

        name, cause = self.info.name, _cause(error)
        match error:
            case wrong.ModelRateLimitError():
                failure = ModelRateLimited(f"{name} limits the rate: {cause}", retry_after=error.retry_after)
            case wrong.ModelQuotaExceededError():
                failure = ModelRefused(f"{name}: the quota is used up: {cause}")
            case wrong.ModelContextWindowExceededError():
                failure = ContextTooLong(f"The conversation is too long for {name}: {cause}")
            case wrong.ModelAuthenticationError():
                failure = ModelRefused(f"{name} refuses the key: {cause}", hint="Look at its API key.")
            case wrong.ModelNotFoundError():
                failure = ModelRefused(f"{name} does not exist: {cause}", hint="Look at --model.")
            case wrong.ModelTimeoutError() | wrong.ModelRequestTimeout():
                failure = ModelTimedOut(f"{name} did not answer in time.")
            case wrong.ModelConnectionError() | wrong.ModelUnavailableError() | wrong.ModelServerError():
                failure = ModelUnavailable(f"{name} cannot be reached or has failed: {cause}")
            case wrong.UnexpectedModelBehavior() if not isinstance(error, wrong.ContentFilterError):
                failure = ModelUnavailable(f"{name} gave an answer that cannot be read: {cause}")
            case _:
                failure = ModelRefused(f"{name} refuses the request: {cause}")
        return failure


_FINISHES: dict[str, Literal["stop", "length", "filtered", "other"]] = {
    "stop": "stop",
    "tool_call": "stop",
    "length": "length",
    "content_filter": "filtered",
}


async def provider_model(
    name: str, *, base_url: str | None = None, mode: OutputMode = "tool", temperature: float | None = None
) -> ProviderModel:
    """The model of a name such as `anthropic:claude-sonnet-4-5`; its key is taken from the environment.

    Args:
        name: provider and model as pydantic-ai names them.
        base_url: another address that speaks OpenAI's protocol; the key may then be missing.
        mode: how forms are asked for.
        temperature: how freely it answers; the provider's own default where None.

    Raises:
        NoModel: pydantic-ai or the provider's package is missing, the name is unknown, or there is no key.
    """

    def make() -> ProviderModel:
        try:
            from pydantic_ai.exceptions import UserError  # noqa: PLC0415
            from pydantic_ai.models import infer_model  # noqa: PLC0415
        except ImportError:
            raise NoModel(
                "Models need more packages.", hint="Install them: pip install 'mcp-browser[agent]'."
            ) from None
        try:
            model = _compatible(name, base_url) if base_url else infer_model(name)
        except ImportError as error:
            raise NoModel(f"The model {name} needs another package: {_cause(error)}") from error
        except UserError as error:
            raise NoModel(
                f"The model {name} cannot be used: {_cause(error)}",
                hint="--model takes provider:name, such as anthropic:claude-sonnet-4-5; "
                "the provider's key is taken from its usual variable, such as ANTHROPIC_API_KEY.",
            ) from error
        return ProviderModel(model, mode=mode, temperature=temperature)

    # A thread: the first import takes a second, and the browser's other callers should not wait.
    return await anyio.to_thread.run_sync(make)


def _compatible(name: str, base_url: str) -> "Model":
    """A model at an address that speaks OpenAI's chat protocol."""
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    key = os.environ.get("OPENAI_API_KEY") or "none"
    return OpenAIChatModel(
        name.removeprefix("openai:"), provider=OpenAIProvider(base_url=base_url, api_key=key)
    )


def _as_request(messages: Sequence[Message]) -> "list[pai.ModelMessage]":
    from pydantic_ai import messages as pai  # noqa: PLC0415

    made: list[pai.ModelMessage] = []
    parts: list[pai.ModelRequestPart] = []

    def flush() -> None:
        if parts:
            made.append(pai.ModelRequest(parts=list(parts)))
            parts.clear()

    for message in messages:
        match message.role:
            case "system":
                parts.append(pai.SystemPromptPart(content=message.text))
            case "user":
                parts.append(pai.UserPromptPart(content=[_content(block) for block in message.blocks]))
            case "assistant":
                flush()
                said: list[pai.ModelResponsePart] = []
                if message.text:
                    said.append(pai.TextPart(content=message.text))
                if (call := message.call) is not None:
                    said.append(
                        pai.ToolCallPart(
                            tool_name=call.name, args=as_json(call.arguments), tool_call_id=call.id
                        )
                    )
                    parts.append(
                        pai.ToolReturnPart(tool_name=call.name, content=RECEIVED, tool_call_id=call.id)
                    )
                made.append(pai.ModelResponse(parts=said))
    flush()
    return made


def _content(block: Block) -> "str | pai.BinaryContent":
    from pydantic_ai.messages import BinaryContent  # noqa: PLC0415

    if isinstance(block, ImageBlock):
        return BinaryContent(data=block.data, media_type=block.mime_type)
    return block.text


def _arguments(given: str | dict[str, Any] | None) -> dict[str, Any] | str:
    if not isinstance(given, str):
        return dict(given or {})
    with contextlib.suppress(ValueError, RecursionError):
        read: object = json.loads(given)
        if isinstance(read, dict):
            return cast("dict[str, Any]", read)
    return given


def _price(response: "pai.ModelResponse") -> Decimal | None:
    try:
        return response.cost().total_price
    except (LookupError, AssertionError, ValueError):
        return None


def _cause(error: Exception) -> str:
    """Why, in one line and not too long."""
    text = " ".join(str(error).split())
    return text if len(text) <= LONGEST_CAUSE else f"{text[:LONGEST_CAUSE]}…"
