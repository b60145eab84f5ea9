"""The client's own model, by MCP sampling."""

import base64
import json
from collections.abc import Sequence
from typing import Any

import anyio
import mcp_types as types

from mcp_browser.errors import ModelRefused, ModelTimedOut
from mcp_browser.llm import tokens
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
)
from mcp_browser.server.ask import Mailbox

MOST_TOKENS = 4_096  # Longest answer that is asked for, in tokens


AS_JSON = """\
Answer with one JSON object and nothing else: no words around it. It must fit this JSON schema:
{schema}"""
"""How a form is asked for where the client's model takes no tools."""


class ClientModel:
    """Asks the client's model, which the client chooses. Sampling counts no tokens: usage is an estimate."""

    def __init__(self, mailbox: Mailbox, *, takes_tools: bool) -> None:
        self._mailbox = mailbox
        self._takes_tools = takes_tools
        self.info = ModelInfo(name="client:sampling")

    async def ask(self, messages: Sequence[Message], *, form: OutputForm | None, seconds: float) -> Reply:
        """One answer of the client's model.

        Raises:
            ModelTimedOut: there was none in time.
            ModelRefused: the client, or its person, will not answer.
        """
        request = types.CreateMessageRequest(params=self._params(messages, form))
        try:
            with anyio.fail_after(seconds):
                response = await self._mailbox.ask(request)
        except TimeoutError as error:
            raise ModelTimedOut(f"The client's model did not answer within {seconds:g} s.") from error
        if response is None or isinstance(response, types.ElicitResult):
            raise ModelRefused(
                "The client's model did not answer: sampling was declined, or the client has gone.",
                hint="Allow it there, or set --model and the provider's key.",
            )
        return self._reply(response, messages, form)

    def _params(
        self, messages: Sequence[Message], form: OutputForm | None
    ) -> types.CreateMessageRequestParams:
        told = [message for message in messages if message.role != "system"]
        rules = "\n\n".join(message.text for message in messages if message.role == "system")
        options: dict[str, Any] = {}
        if form is not None and self._takes_tools:
            tool = types.Tool(name=form.name, description=form.description, input_schema=form.json_schema)
            options = {"tools": [tool], "tool_choice": types.ToolChoice(mode="required")}
        elif form is not None:
            rules += "\n\n" + AS_JSON.format(schema=json.dumps(form.json_schema, ensure_ascii=False))
        return types.CreateMessageRequestParams(
            messages=_as_turns(told),
            system_prompt=rules or None,
            max_tokens=MOST_TOKENS,
            **options,
        )

    def _reply(
        self,
        response: types.CreateMessageResult | types.CreateMessageResultWithTools,
        messages: Sequence[Message],
        form: OutputForm | None,
    ) -> Reply:
        content = response.content if isinstance(response.content, list) else [response.content]
        text = "\n".join(part.text for part in content if isinstance(part, types.TextContent))
        used = next((part for part in content if isinstance(part, types.ToolUseContent)), None)
        call = OutputCall(id=used.id, name=used.name, arguments=used.input) if used is not None else None
        usage = Usage(
            input_tokens=tokens.of_messages(messages, form),
            output_tokens=tokens.of_message(assistant(text, call=call)),
            requests=1,
            estimated=True,
        )
        return Reply(
            text=text,
            call=call,
            usage=usage,
            model=response.model,
            finish="length" if response.stop_reason == "maxTokens" else "stop",
        )


def _as_turns(messages: Sequence[Message]) -> list[types.SamplingMessage]:
    turns: list[tuple[types.Role, list[types.SamplingMessageContentBlock]]] = []
    for message in messages:
        role: types.Role = "assistant" if message.role == "assistant" else "user"
        if not turns or turns[-1][0] != role:
            turns.append((role, []))
        blocks = turns[-1][1]
        if message.call is not None:
            # As text: a tool's use would want a tool's result, which not every client takes.
            blocks.append(types.TextContent(text=as_json(message.call.arguments)))
        for block in message.blocks:
            if isinstance(block, ImageBlock):
                data = base64.b64encode(block.data).decode()
                blocks.append(types.ImageContent(data=data, mime_type=block.mime_type))
            elif block.text:
                blocks.append(types.TextContent(text=block.text))
    return [types.SamplingMessage(role=role, content=blocks) for role, blocks in turns if blocks]
