"""The meaning of a provider's failure: whether to ask again, and the reason, without keys."""

import os
import re
from collections.abc import Mapping
from typing import Any, cast

from pydantic_ai import exceptions as wrong

from mcp_browser.errors import (
    ContextTooLong,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelTimedOut,
    ModelUnavailable,
)
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.privacy.redaction import LONG, Redactor, is_secret_name
from mcp_browser.text import one_line

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
    why += "" if why.endswith((".", "?", "!", "…")) else "."
    match error:
        case wrong.ModelRateLimitError():
            lasts = f" for {wait:g} s" if wait else ""
            failure: ModelError = ModelRateLimited(f"{name} limits the rate{lasts}: {why}")
        case wrong.ModelQuotaExceededError():
            failure = ModelRefused(f"{name}: the quota is used up: {why}", hint="Look at the account.")
        case wrong.ModelAuthenticationError():
            failure = ModelRefused(f"{name} refuses the key: {why}", hint=_key_advice(name))
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
        case _ if _is_too_long(error):
            failure = ContextTooLong(f"The conversation is too long for {name}: {why}")
        case wrong.ModelHTTPError() | wrong.ModelRequestRejectedError() | wrong.ContentFilterError():
            failure = ModelRefused(f"{name} refuses the request: {why}")
        case wrong.ModelAPIError() | wrong.UnexpectedModelBehavior():
            failure = ModelUnavailable(f"{name} gave an answer that cannot be read: {why}")
        case _:
            failure = ModelRefused(f"{name} cannot be asked this way: {why}")
    failure.retry_after = wait
    return failure


def _key_advice(name: str) -> str:
    provider = name.partition(":")[0]
    variable = _KEY_VARIABLES.get(provider, f"{provider.upper().replace('-', '_')}_API_KEY")
    return f"Set {variable} to a key that is valid and may use this model, and start the server again."


def cause(error: Exception) -> str:
    """The reason, in the provider's words if any: one short line, without keys."""
    words = _said(getattr(error, "body", None))
    status = getattr(error, "status_code", None)
    if words and status is not None:
        words = f"{words} (HTTP {status})"
    text = " ".join((words or str(error) or type(error).__name__).split())
    return one_line(Redactor(known=_keys()).text(text), LONGEST_CAUSE)


def unset_variables(error: Exception) -> list[str]:
    """The environment variables that an error of pydantic-ai's asks to be set."""
    text = str(error).partition("To try Pydantic AI")[0]
    names = dict.fromkeys(re.findall(r"`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`", text))
    return [name for name in names if not os.environ.get(name)]


def _is_too_long(error: Exception) -> bool:
    said = str(getattr(error, "body", None) or "").lower()
    return any(words in said for words in _TOO_LONG)


def _said(body: object) -> str:
    """The message in a provider's error: `{"message": …}`, `{"error": {"message": …}}`, `{"error": "…"}`."""
    if isinstance(body, list) and body:
        # Google's own address for OpenAI's protocol answers with a list.
        return _said(cast("list[object]", body)[0])
    if not isinstance(body, Mapping):
        return body if isinstance(body, str) else ""
    fields = cast("Mapping[str, Any]", body)
    return _said(fields["error"]) if "error" in fields else str(fields.get("message") or "")


def _keys() -> list[str]:
    return [value for name, value in os.environ.items() if is_secret_name(name) and len(value) >= LONG]
