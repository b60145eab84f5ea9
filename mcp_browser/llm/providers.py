"""Models of providers and OpenAI-compatible addresses, by pydantic-ai (slow to import)."""

import contextlib
import json
import logging
import os
from collections.abc import Mapping, Sequence
from decimal import Decimal
from inspect import signature
from typing import Any, Literal, cast

import anyio
import anyio.to_thread
from pydantic_ai import direct
from pydantic_ai import messages as pai
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers import infer_provider_class
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from mcp_browser.errors import ModelTimedOut, ModelUnavailable, NoModel
from mcp_browser.llm.failures import as_model_error, cause, unset_variables
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
    assistant,
    estimated_usage,
    system,
)
from mcp_browser.settings import AgentSettings

_TYPES = {"string": "text", "boolean": "true or false", "null": "null"}


def outline(schema: Mapping[str, Any]) -> str:
    """The shape that a schema describes: names, types, choices and descriptions."""
    return _shape(schema, schema.get("$defs", {}))


def _shape(schema: Mapping[str, Any], named: Mapping[str, Any]) -> str:
    match schema:
        case {"$ref": str(reference)}:
            shape = _shape(named.get(reference.rpartition("/")[2], {}), named)
        case {"enum": [*choices]}:
            shape = " | ".join(map(_quoted, choices))
        case {"const": choice}:
            shape = _quoted(choice)
        case {"anyOf": [*several]} | {"oneOf": [*several]}:
            shape = " | ".join(dict.fromkeys(_shape(one, named) for one in several))
        case {"type": "array"}:
            shape = f"[{_shape(schema.get('items', {}), named)}, …]"
        case {"properties": {**fields}}:
            shape = _fields(fields, set(schema.get("required", ())), named)
        case {"type": [*kinds]}:
            shape = " | ".join(_shape({"type": kind}, named) for kind in kinds)
        case {"type": str(kind)}:
            shape = _TYPES.get(kind, kind)
        case _:
            shape = "anything"
    return shape


def _fields(fields: Mapping[str, Any], required: set[str], named: Mapping[str, Any]) -> str:
    parts: list[str] = []
    for name, field in fields.items():
        words = f" ({field['description']})" if field.get("description") else ""
        parts.append(f'"{name}"{"" if name in required else "?"}: {_shape(field, named)}{words}')
    return "{" + ", ".join(parts) + "}"


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


RECEIVED = "Received."  # The result of a filled-in form; the next message has the outcome
LEAST_ANSWER = 512  # Tokens that an answer may have, however small the model's window is


class ProviderModel:
    """A provider's model, by pydantic-ai."""

    def __init__(
        self, model: Model, settings: AgentSettings, *, is_main: bool = True, describes_form: bool = False
    ) -> None:
        """Use a model of pydantic-ai's; the settings' window is that of the main model only.

        An answer may have a tenth of that window. `describes_form` adds the form in words: local servers
        enforce a schema without showing it to the model.
        """
        self._model = model
        self._by_json = settings.model_output == "json"
        self._describes_form = describes_form and self._by_json
        # The agent retries: it notes each try and knows the deadline.
        self._settings = ModelSettings(max_retries=0)
        if settings.model_temperature is not None:
            self._settings["temperature"] = settings.model_temperature
        if (window := settings.model_window if is_main else None) is not None:
            self._settings["max_tokens"] = max(LEAST_ANSWER, window // 10)
        profile = model.profile
        self.info = ModelInfo(
            name=f"{model.system}:{model.model_name}",
            context_window=window or profile.get("context_window"),
            sees=profile.get("supports_image_input", True),
            priced=_is_priced(model),
        )

    async def ask(self, messages: Sequence[Message], *, form: OutputForm | None, seconds: float) -> Reply:
        """One answer of the provider's.

        Raises ModelRateLimited, ModelTimedOut, ModelUnavailable if it may answer later; ContextTooLong;
        ModelRefused if the key, the name or the request is wrong.
        """
        try:
            with anyio.fail_after(seconds):
                response = await direct.model_request(
                    self._model,
                    _as_request(self._with_form(messages, form)),
                    model_settings=self._settings,
                    model_request_parameters=self._parameters(form),
                    instrument=False,
                )
        except TimeoutError as error:
            raise ModelTimedOut(f"{self.info.name} did not answer within {seconds:g} s.") from error
        except (AgentRunError, UserError) as error:
            raise as_model_error(self.info.name, error, self._model.base_url) from error
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            # What a server says it speaks and what it sends are two things: no choices, null for a list.
            unreadable = f"{self.info.name} gave an answer that cannot be read: {cause(error)}"
            raise ModelUnavailable(unreadable) from error
        return self._reply(response, messages, form)

    def _with_form(self, messages: Sequence[Message], form: OutputForm | None) -> Sequence[Message]:
        """The conversation, with the form in words if the model would not see it otherwise."""
        if form is None or not self._describes_form:
            return messages
        shape = f"{form.description} Answer with one JSON object of this shape:\n{outline(form.json_schema)}"
        first, *rest = messages
        if first.role != "system":
            return [system(shape), *messages]
        return [first.with_text(f"{first.text}\n\n{shape}"), *rest]

    def _parameters(self, form: OutputForm | None) -> Any:
        if form is None:
            return ModelRequestParameters()
        if self._by_json:
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

    def _reply(
        self, response: pai.ModelResponse, messages: Sequence[Message], form: OutputForm | None
    ) -> Reply:
        call = next(
            (
                OutputCall(id=part.tool_call_id, name=part.tool_name, arguments=_arguments(part.args))
                for part in response.tool_calls
            ),
            None,
        )
        text = response.text or ""
        if call is None and form is not None and self._by_json and text:
            call = OutputCall(id="answer", name=form.name, arguments=_arguments(text))
        return Reply(
            text=text,
            call=call,
            model=response.model_name or self.info.name,
            usage=_usage_of(response, messages, assistant(text, call=call), form),
            finish=_FINISHES.get(response.finish_reason or "stop", "other"),
        )


_FINISHES: dict[str, Literal["stop", "length", "filtered", "other"]] = {
    "stop": "stop",
    "tool_call": "stop",
    "length": "length",
    "content_filter": "filtered",
}


def own_model(model: object, settings: AgentSettings) -> ProviderModel:
    """A model that a program has made with pydantic-ai; raises NoModel for anything else."""
    if isinstance(model, Model):
        return ProviderModel(cast("Model", model), settings)
    raise NoModel(
        f"{type(model).__module__.partition('.')[0]}'s {type(model).__name__} is no model.",
        hint="Give a name, a ChatModel, or a model of pydantic-ai's that has your client: "
        'OpenAIChatModel("gpt-5", provider=OpenAIProvider(openai_client=client)), '
        'AnthropicModel("claude-sonnet-4-5", provider=AnthropicProvider(anthropic_client=client)).',
    )


async def provider_model(name: str, settings: AgentSettings | None = None) -> ProviderModel:
    """The model of a name such as `anthropic:claude-sonnet-4-5`; its key comes from the environment.

    For names without a provider and for `openai:`, the settings' address speaks OpenAI's protocol, and the
    key may be missing; for the settings' main model, it is one of its provider's. Raises NoModel: the
    provider's package is missing, the name is unknown, or there is no key.
    """
    settings = settings or AgentSettings()
    base_url, is_main = settings.model_url, name == settings.model

    def make() -> ProviderModel:
        own = base_url is not None and not _names_another_provider(name)
        try:
            if name == "test":
                raise UserError("it is pydantic-ai's own for tests; scripted:FILE is ours")
            if base_url and own:
                model = _compatible(name, base_url)
            elif (url := base_url) and is_main:
                model = infer_model(name, lambda provider: _at(provider, url))
            else:
                model = infer_model(name)
        except ImportError as error:
            raise NoModel(f"The model {name} needs another package: {cause(error)}") from error
        except UserError as error:
            if missing := unset_variables(error):
                raise NoModel(
                    f"The model {name} needs {' or '.join(missing)}, which is not set.",
                    hint="Set it where the server is started: in the shell, or under `env` in the client's "
                    "configuration.",
                ) from error
            raise NoModel(
                f"The model {name} cannot be used: {cause(error).rstrip('.')}.",
                hint="--model takes provider:name, such as anthropic:claude-sonnet-4-5; "
                "the provider's key is taken from its usual variable, such as ANTHROPIC_API_KEY.",
            ) from error
        # Keep requests, which hold pages and keys, out of the log at every level.
        for logger in ("openai", "anthropic", "google_genai", "httpx", "httpx2", "httpcore", "httpcore2"):
            logging.getLogger(logger).setLevel(logging.WARNING)
        return ProviderModel(model, settings, is_main=is_main, describes_form=own)

    # A thread: importing a provider's package takes long, and other callers should not wait.
    return await anyio.to_thread.run_sync(make)


def _names_another_provider(name: str) -> bool:
    """Whether a name begins with a provider other than OpenAI; `qwen2.5:7b` does not."""
    prefix, colon, _ = name.partition(":")
    if not colon or prefix == "openai":
        return False
    try:
        infer_provider_class(prefix)
    except ImportError:
        return True
    except ValueError:
        return False
    return True


def _compatible(name: str, base_url: str) -> Model:
    # Here only: OpenAI's package is one of several that may be installed.
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    key = os.environ.get("OPENAI_API_KEY") or "none"
    return OpenAIChatModel(
        name.removeprefix("openai:"), provider=OpenAIProvider(base_url=base_url, api_key=key)
    )


def _at(provider: str, base_url: str) -> Any:
    """The provider at another address of its own."""
    kind: Any = infer_provider_class(provider)
    if "base_url" not in signature(kind).parameters:
        raise UserError(f"--model-url does not apply to {provider}: its address is fixed")
    return kind(base_url=base_url)


def _as_request(messages: Sequence[Message]) -> list[pai.ModelMessage]:
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


def _content(block: Block) -> str | pai.BinaryContent:
    if isinstance(block, ImageBlock):
        return pai.BinaryContent(data=block.data, media_type=block.mime_type)
    return block.text


def _arguments(given: str | dict[str, Any] | None) -> dict[str, Any] | str:
    if not isinstance(given, str):
        return dict(given or {})
    with contextlib.suppress(ValueError, RecursionError):
        read: object = json.loads(given)
        if isinstance(read, dict):
            return cast("dict[str, Any]", read)
    return given


def _usage_of(
    response: pai.ModelResponse, messages: Sequence[Message], said: Message, form: OutputForm | None
) -> Usage:
    """The usage that the provider counted; an estimate without a price if it did not."""
    used = response.usage
    if used.unmeasured_requests or not used.input_tokens:
        return estimated_usage(messages, said, form)
    return Usage(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cached_tokens=used.cache_read_tokens,
        requests=1,
        cost=_price_of(response),
    )


def _price_of(response: pai.ModelResponse) -> Decimal | None:
    """US dollars: the provider's own figure, else by its price list."""
    if response.usage.cost is not None:
        return response.usage.cost
    billed: object = (response.provider_details or {}).get("cost")
    if isinstance(billed, int | float):
        # OpenRouter's bill
        return Decimal(str(billed))
    try:
        return response.cost().total_price
    except (LookupError, AssertionError, ValueError):
        return None


def _is_priced(model: Model) -> bool:
    """Whether a model's price is known before the first request."""
    asked = pai.ModelResponse(
        parts=[],
        usage=RequestUsage(input_tokens=1_000),
        model_name=model.model_name,
        provider_name=model.system,
        provider_url=model.base_url,
    )
    return _price_of(asked) is not None
