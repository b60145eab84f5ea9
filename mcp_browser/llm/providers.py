"""Models of providers and OpenAI-compatible addresses, by pydantic-ai (slow to import); their failures."""

import contextlib
import json
import logging
import os
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from inspect import signature
from typing import Any, Literal, cast

import anyio
import anyio.to_thread
from pydantic_ai import direct
from pydantic_ai import exceptions as wrong
from pydantic_ai import messages as pai
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers import infer_provider_class
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

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
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.privacy.redaction import LONG, Redactor, is_secret_name
from mcp_browser.settings import AgentSettings
from mcp_browser.text import one_line

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
            required, parts = schema.get("required", ()), list[str]()
            for name, field in fields.items():
                words = f" ({field['description']})" if field.get("description") else ""
                parts.append(f'"{name}"{"" if name in required else "?"}: {_shape(field, named)}{words}')
            shape = f"{{{', '.join(parts)}}}"
        case {"type": [*kinds]}:
            shape = " | ".join(_shape({"type": kind}, named) for kind in kinds)
        case {"type": str(kind)}:
            shape = _TYPES.get(kind, kind)
        case _:
            shape = "anything"
    return shape


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


_FINISHES: dict[str, Literal["stop", "length", "filtered", "other"]] = {
    "stop": "stop",
    "tool_call": "stop",
    "length": "length",
    "content_filter": "filtered",
}
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
        # Whether the price is known, asked before the first request.
        priced = pai.ModelResponse(
            parts=[],
            usage=RequestUsage(input_tokens=1_000),
            model_name=model.model_name,
            provider_name=model.system,
            provider_url=model.base_url,
        )
        self.info = ModelInfo(
            name=f"{model.system}:{model.model_name}",
            context_window=window or profile.get("context_window"),
            sees=profile.get("supports_image_input", True),
            priced=_price_of(priced) is not None,
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
        return [system(f"{first.text}\n\n{shape}"), *rest]

    def _parameters(self, form: OutputForm | None) -> ModelRequestParameters:
        if form is None:
            return ModelRequestParameters()
        name, words, schema = form.name, form.description, form.json_schema
        if self._by_json:
            output = OutputObjectDefinition(name=name, description=words, json_schema=schema)
            return ModelRequestParameters(output_mode="native", output_object=output)
        tool = ToolDefinition(name=name, description=words, parameters_json_schema=schema, strict=False)
        return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)

    def _reply(
        self, response: pai.ModelResponse, messages: Sequence[Message], form: OutputForm | None
    ) -> Reply:
        text = response.text or ""
        call = None
        if response.tool_calls:
            part = response.tool_calls[0]
            call = OutputCall(id=part.tool_call_id, name=part.tool_name, arguments=_arguments(part.args))
        elif form is not None and self._by_json and text:
            call = OutputCall(id="answer", name=form.name, arguments=_arguments(text))
        used = response.usage
        if used.unmeasured_requests or not used.input_tokens:
            usage = estimated_usage(messages, assistant(text, call=call), form)
        else:
            usage = Usage(
                input_tokens=used.input_tokens,
                output_tokens=used.output_tokens,
                cached_tokens=used.cache_read_tokens,
                requests=1,
                cost=_price_of(response),
            )
        return Reply(
            text=text,
            call=call,
            model=response.model_name or self.info.name,
            usage=usage,
            finish=_FINISHES.get(response.finish_reason or "stop", "other"),
        )


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
                key = os.environ.get("OPENAI_API_KEY") or "none"
                here = partial(_at, base_url=base_url, api_key=key)
                model = infer_model(f"openai-chat:{name.removeprefix('openai:')}", here)
            elif base_url and is_main:
                model = infer_model(name, partial(_at, base_url=base_url))
            else:
                model = infer_model(name)
        except ImportError as error:
            raise NoModel(f"The model {name} needs another package: {cause(error)}") from error
        except UserError as error:
            asked = str(error).partition("To try Pydantic AI")[0]
            variables = dict.fromkeys(re.findall(r"`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`", asked))
            if missing := [variable for variable in variables if not os.environ.get(variable)]:
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


def _at(provider: str, **where: str) -> Any:
    """The provider at another address of its own."""
    kind: Any = infer_provider_class(provider)
    if "base_url" not in signature(kind).parameters:
        raise UserError(f"--model-url does not apply to {provider}: its address is fixed")
    return kind(**where)


def _as_request(messages: Sequence[Message]) -> list[pai.ModelMessage]:
    """The conversation in pydantic-ai's form; each call is followed by its result."""
    made: list[pai.ModelMessage] = []
    for message in messages:
        asked: list[pai.ModelRequestPart] = []
        if message.role == "system":
            asked.append(pai.SystemPromptPart(content=message.text))
        elif message.role == "user":
            content = [
                pai.BinaryContent(data=block.data, media_type=block.mime_type)
                if isinstance(block, ImageBlock)
                else block.text
                for block in message.blocks
            ]
            asked.append(pai.UserPromptPart(content=content))
        else:
            said: list[pai.ModelResponsePart] = [pai.TextPart(content=message.text)] if message.text else []
            if (call := message.call) is not None:
                said.append(pai.ToolCallPart(call.name, as_json(call.arguments), call.id))
                asked.append(pai.ToolReturnPart(call.name, RECEIVED, call.id))
            made.append(pai.ModelResponse(parts=said))
        if made and isinstance(last := made[-1], pai.ModelRequest):
            last.parts = [*last.parts, *asked]
        elif asked:
            made.append(pai.ModelRequest(parts=asked))
    return made


def _arguments(given: str | dict[str, Any] | None) -> dict[str, Any] | str:
    if not isinstance(given, str):
        return dict(given or {})
    with contextlib.suppress(ValueError, RecursionError):
        read: object = json.loads(given)
        if isinstance(read, dict):
            return cast("dict[str, Any]", read)
    return given


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


LONGEST_CAUSE = 400  # Characters of a provider's message that are repeated

_KEY_VARIABLES = {
    "google": "GOOGLE_API_KEY",
    "huggingface": "HF_TOKEN",
    "bedrock": "AWS_BEARER_TOKEN_BEDROCK",
    "azure": "AZURE_OPENAI_API_KEY",
}
"""Variables of keys that are not simply called PROVIDER_API_KEY."""

_TOO_LONG = (
    *("exceed_context_size_error", "context size", "context length", "context window"),
    *("prompt is too long", "context_length_exceeded"),
)
"""How servers say that a conversation is too long, those that pydantic-ai does not know too (llama.cpp)."""


def as_model_error(name: str, error: Exception, address: str | None = None) -> ModelError:
    """An error of pydantic-ai's as one of ours; `name` is the model's, with its provider."""
    why, wait = cause(error), getattr(error, "retry_after", None)
    body = str(getattr(error, "body", None) or "").lower()
    why += "" if why.endswith((".", "?", "!", "…")) else "."
    match error:
        case wrong.ModelRateLimitError():
            lasts = f" for {wait:g} s" if wait else ""
            failure: ModelError = ModelRateLimited(f"{name} limits the rate{lasts}: {why}")
        case wrong.ModelQuotaExceededError():
            failure = ModelRefused(f"{name}: the quota is used up: {why}", hint="Look at the account.")
        case wrong.ModelAuthenticationError():
            provider = name.partition(":")[0]
            variable = _KEY_VARIABLES.get(provider, f"{provider.upper().replace('-', '_')}_API_KEY")
            hint = (
                f"Set {variable} to a key that is valid and may use this model, and start the server again."
            )
            failure = ModelRefused(f"{name} refuses the key: {why}", hint=hint)
        case wrong.ModelNotFoundError():
            failure = ModelRefused(
                f"{name} does not exist there: {why}",
                hint="Look at --model, and at the address (--model-url) where one is set.",
            )
        case wrong.ModelTimeoutError() | wrong.ModelRequestTimeout():
            failure = ModelTimedOut(f"{name} did not answer in time.")
        case wrong.ModelConnectionError():
            where = f" at {cut_address(address)}" if address else ""
            failure = ModelUnavailable(f"{name} cannot be reached{where}: {why}")
        case wrong.ModelUnavailableError() | wrong.ModelServerError():
            failure = ModelUnavailable(f"{name} has failed: {why}")
        case _ if any(words in body for words in _TOO_LONG):
            failure = ContextTooLong(f"The conversation is too long for {name}: {why}")
        case wrong.ModelHTTPError() | wrong.ModelRequestRejectedError() | wrong.ContentFilterError():
            failure = ModelRefused(f"{name} refuses the request: {why}")
        case wrong.ModelAPIError() | wrong.UnexpectedModelBehavior():
            failure = ModelUnavailable(f"{name} gave an answer that cannot be read: {why}")
        case _:
            failure = ModelRefused(f"{name} cannot be asked this way: {why}")
    failure.retry_after = wait
    return failure


def cause(error: Exception) -> str:
    """The reason, in the provider's words if any: one short line, without keys."""
    words = _said(getattr(error, "body", None))
    status = getattr(error, "status_code", None)
    if words and status is not None:
        words = f"{words} (HTTP {status})"
    keys = [value for name, value in os.environ.items() if is_secret_name(name) and len(value) >= LONG]
    text = " ".join((words or str(error) or type(error).__name__).split())
    return one_line(Redactor(known=keys).text(text), LONGEST_CAUSE)


def _said(body: object) -> str:
    """The message in a provider's error: `{"message": …}`, `{"error": {"message": …}}`, `{"error": "…"}`."""
    if isinstance(body, list) and body:
        # Google's own address for OpenAI's protocol answers with a list.
        return _said(cast("list[object]", body)[0])
    if not isinstance(body, Mapping):
        return body if isinstance(body, str) else ""
    fields = cast("Mapping[str, Any]", body)
    return _said(fields["error"]) if "error" in fields else str(fields.get("message") or "")
