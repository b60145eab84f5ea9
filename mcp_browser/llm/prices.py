"""What a request has used, as its provider has counted it, and what that costs."""

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from mcp_browser.llm import tokens
from mcp_browser.llm.messages import Message, OutputForm, Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model


def usage_of(
    response: "ModelResponse", messages: Sequence[Message], said: Message, form: OutputForm | None
) -> Usage:
    """What a request has used, as the provider counted it; an estimate without a price where it did not."""
    used = response.usage
    if used.unmeasured_requests or not used.input_tokens:
        return Usage(
            input_tokens=tokens.of_messages(messages, form),
            output_tokens=tokens.of_message(said),
            requests=1,
            estimated=True,
        )
    return Usage(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cached_tokens=used.cache_read_tokens,
        requests=1,
        cost=price_of(response),
    )


def price_of(response: "ModelResponse") -> Decimal | None:
    """US dollars: what the provider itself has said, or what its price list makes of the tokens."""
    if response.usage.cost is not None:
        return response.usage.cost
    told: object = (response.provider_details or {}).get("cost")
    if isinstance(told, int | float):
        # OpenRouter's bill
        return Decimal(str(told))
    try:
        return response.cost().total_price
    except (LookupError, AssertionError, ValueError):
        return None


def is_priced(model: "Model") -> bool:
    """Whether the price of a model is known before it has been asked anything."""
    from pydantic_ai.messages import ModelResponse  # noqa: PLC0415
    from pydantic_ai.usage import RequestUsage  # noqa: PLC0415

    asked = ModelResponse(
        parts=[],
        usage=RequestUsage(input_tokens=1_000),
        model_name=model.model_name,
        provider_name=model.system,
        provider_url=model.base_url,
    )
    return price_of(asked) is not None
