"""The client behind a run: its person, by MCP elicitation, and its own model, by MCP sampling."""

import base64
import contextlib
import fnmatch
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import SecretStr

from mcp_browser.agent.assembly import SCRIPTED, RunModels, chat_model, with_settings_models
from mcp_browser.agent.control import DONE_IN_BROWSER, Progress
from mcp_browser.browser.concurrency import first
from mcp_browser.errors import (
    InvalidArguments,
    ModelError,
    ModelRefused,
    ModelTimedOut,
    NotActionable,
    SettingsError,
)
from mcp_browser.llm.messages import (
    ImageBlock,
    Message,
    ModelInfo,
    OutputCall,
    OutputForm,
    Reply,
    as_json,
    assistant,
    estimated_usage,
)
from mcp_browser.server import elicitation
from mcp_browser.server.runs.runs import Run
from mcp_browser.server.view.card import TaskCard
from mcp_browser.settings import AgentSettings

MOST_TOKENS = 4_096  # Longest answer that is asked for, in tokens

AS_JSON = """\
Answer with one JSON object and nothing else: no words around it. It must fit this JSON schema:
{schema}"""
"""How a form is asked for where the client's model takes no tools."""


@dataclass(frozen=True, slots=True)
class ClientWatcher:
    """The watcher of a run whose person is behind an MCP client."""

    run: Run
    request: elicitation.Context
    open_form: elicitation.OpenForm | None
    view_link: elicitation.ViewLink | None

    async def progressed(self, progress: Progress) -> None:
        """Keep it for later questions, and wake those who wait."""
        self.run.notify(progress)
        (await self.run.agent.session.plugin(TaskCard)).progressed(progress)

    async def ask_person(self, question: str, choices: tuple[str, ...]) -> str | None:
        """Return the person's answer; None where nobody can be asked now.

        The client asks them, and the page of the live view if one is open: the first answer counts. They fill
        in one field; or act in the browser, and say whether they could.
        """
        session, mailbox = self.run.agent.session, self.run.mailbox
        asked: types.ElicitRequest | None = None
        acts = not choices and DONE_IN_BROWSER.search(question) is not None
        if acts:
            choices = elicitation.DONE, elicitation.COULD_NOT
            link = self.view_link(self.request, session) if self.view_link is not None else None
            asked = elicitation.handover_request(self.request, question, session, link)
        elif elicitation.takes_forms(self.request):
            field = {"type": "string", "title": "Answer", **({"enum": list(choices)} if choices else {})}
            asked = elicitation.form_of(question, "answer", answer=field)

        async def ask_client(asked: types.ElicitRequest) -> str | None:
            if acts:
                return await elicitation.hand_over(mailbox, asked)
            response = await mailbox.ask(asked)
            if not isinstance(response, types.ElicitResult) or response.action != "accept":
                return None
            return str((response.content or {}).get("answer", ""))

        card = await session.plugin(TaskCard)
        beside = ask_client(asked) if asked is not None and self.run.attended else None
        return await card.ask(question, choices, beside, limit=elicitation.PERSON_SECONDS)

    async def ask_secret(self, question: str, site: str) -> SecretStr | None:
        """Return the person's answer on a page of this server's; None where none can be asked."""
        if self.open_form is None or not elicitation.takes_urls(self.request) or not self.run.attended:
            return None
        async with self.open_form(self.request, question, site, self.run.agent.task.text) as form:
            params = elicitation.url_params(self.request, question, form.url)

            async def once_shown() -> SecretStr | None:
                response = await self.run.mailbox.ask(types.ElicitRequest(params=params))
                if not isinstance(response, types.ElicitResult) or response.action != "accept":
                    return None
                return await form.answer

            # The client may agree to show the form before or after it is filled in.
            answer = await first(form.answer, once_shown(), seconds=elicitation.FORM_SECONDS)
            identifier = params.elicitation_id
            if answer is not None and identifier is not None:
                # It is a courtesy: the answer has come, whether the client takes the notice or not.
                with contextlib.suppress(
                    MCPError, RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError
                ):
                    await self.request.session.send_elicit_complete(identifier, self.request.request_id)
            return answer


class ClientModel:
    """Asks the client's model, which the client chooses. Sampling counts no tokens: usage is an estimate."""

    def __init__(self, *, takes_tools: bool) -> None:
        self.mailbox = elicitation.Mailbox()
        self._takes_tools = takes_tools
        self.info = ModelInfo(name="client:sampling")

    async def ask(self, messages: Sequence[Message], *, form: OutputForm | None, seconds: float) -> Reply:
        """One answer of the client's model; raises ModelTimedOut, ModelRefused also by its person."""
        request = types.CreateMessageRequest(params=self._params(messages, form))
        try:
            with anyio.fail_after(seconds):
                response = await self.mailbox.ask(request)
        except TimeoutError as error:
            raise ModelTimedOut(f"The client's model did not answer within {seconds:g} s.") from error
        if response is None or isinstance(response, types.ElicitResult):
            raise ModelRefused(
                "The client's model did not answer: sampling was declined, or the client has gone.",
                hint="Allow it there, or set --model and the provider's key.",
            )
        content = response.content if isinstance(response.content, list) else [response.content]
        text = "\n".join(part.text for part in content if isinstance(part, types.TextContent))
        uses = (part for part in content if isinstance(part, types.ToolUseContent))
        call = next((OutputCall(id=used.id, name=used.name, arguments=used.input) for used in uses), None)
        usage = estimated_usage(messages, assistant(text, call=call), form)
        finish = "length" if response.stop_reason == "maxTokens" else "stop"
        return Reply(text=text, call=call, usage=usage, model=response.model, finish=finish)

    def _params(
        self, messages: Sequence[Message], form: OutputForm | None
    ) -> types.CreateMessageRequestParams:
        others = [message for message in messages if message.role != "system"]
        rules = "\n\n".join(message.text for message in messages if message.role == "system")
        options: dict[str, Any] = {}
        if form is not None and self._takes_tools:
            tool = types.Tool(name=form.name, description=form.description, input_schema=form.json_schema)
            options = {"tools": [tool], "tool_choice": types.ToolChoice(mode="required")}
        elif form is not None:
            rules += "\n\n" + AS_JSON.format(schema=json.dumps(form.json_schema, ensure_ascii=False))
        return types.CreateMessageRequestParams(
            messages=_as_turns(others), system_prompt=rules or None, max_tokens=MOST_TOKENS, **options
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


HOW_TO_SET_UP = (
    "No model is set up for run_task. Start the server with --model provider:name and the provider's key in "
    "its usual variable (for example --model anthropic:claude-sonnet-4-5 with ANTHROPIC_API_KEY, after "
    "pip install 'mcp-browser-server[agent]'), with --model-url for a server of your own that speaks "
    "OpenAI's protocol, or use a client that offers sampling. The other tools work without a model."
)


async def run_models(
    settings: AgentSettings, request: elicitation.Context, name: str | None, *, attended: bool
) -> RunModels:
    """Find the models for a run; an `attended` one has a client there to answer, if it is asked.

    Raises NotActionable: there is none, with how to set one up; InvalidArguments: a call cannot name it.
    """
    if name is not None and name.startswith(SCRIPTED):
        # A script is a file of the server's, which its clients have no business with.
        raise InvalidArguments("A scripted model can only be set up where the server is started.")
    allowed = settings.allowed_models
    name = name or settings.model
    is_own = name in (None, settings.model)
    if not is_own and allowed and not any(fnmatch.fnmatchcase(str(name), pattern) for pattern in allowed):
        hint = f"Models that may be named: {', '.join(allowed)}. Or leave `model` out."
        raise InvalidArguments(f"The model {str(name)[:100]!r} may not be used here.", hint=hint)
    try:
        if name is not None:
            model = await chat_model(name, settings)
        elif (sampling := elicitation.capabilities(request).sampling) is None:
            raise ModelError(HOW_TO_SET_UP)
        elif not attended:
            raise ModelError(
                "The client's own model can only be asked while a call waits.",
                hint="Use run_task with wait=true; with its task_id to go on with a task.",
            )
        else:
            model = ClientModel(takes_tools=sampling.tools is not None)
        return await with_settings_models(model, settings)
    except (ModelError, SettingsError) as error:
        raise NotActionable(str(error)) from error
