"""The models of a run: those of the settings or of the call, else the client's own."""

import fnmatch
from collections.abc import Sequence

from mcp_browser.agent.assembly import SCRIPTED, RunModels, chat_model, with_settings_models
from mcp_browser.errors import InvalidArguments, ModelError, NotActionable, SettingsError
from mcp_browser.server.elicitation import Context, Mailbox, capabilities
from mcp_browser.server.runs.client import ClientModel
from mcp_browser.settings import AgentSettings

HOW_TO_SET_UP = (
    "No model is set up for run_task. Start the server with --model provider:name and the provider's key in "
    "its usual variable (for example --model anthropic:claude-sonnet-4-5 with ANTHROPIC_API_KEY, after "
    "pip install 'mcp-browser-server[agent]'), with --model-url for a server of your own that speaks "
    "OpenAI's protocol, or use a client that offers sampling. The other tools work without a model."
)


async def run_models(
    settings: AgentSettings, request: Context, name: str | None, *, attended: bool
) -> RunModels:
    """Find the models for a run; an `attended` one has a client there to answer, if it is asked.

    Raises:
        NotActionable: there is none; the message says how to set one up.
        InvalidArguments: it cannot be named in a call.
    """
    if name is not None and name.startswith(SCRIPTED):
        # A script is a file of the server's, which its clients have no business with.
        raise InvalidArguments("A scripted model can only be set up where the server is started.")
    allowed = settings.allowed_models
    name = name or settings.model
    if name is not None and name != settings.model and not _matches(name, allowed):
        hint = f"Models that may be named: {', '.join(allowed)}. Or leave `model` out."
        raise InvalidArguments(f"The model {name[:100]!r} may not be used here.", hint=hint)
    try:
        if name is not None:
            model = await chat_model(name, settings)
        else:
            model = _clients_model(request, attended=attended)
        return await with_settings_models(model, settings)
    except (ModelError, SettingsError) as error:
        raise NotActionable(str(error)) from error


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _clients_model(request: Context, *, attended: bool) -> ClientModel:
    sampling = capabilities(request).sampling
    if sampling is None:
        raise ModelError(HOW_TO_SET_UP)
    if not attended:
        raise ModelError(
            "The client's own model can only be asked while a call waits.",
            hint="Use run_task with wait=true; with its task_id to go on with a task.",
        )
    return ClientModel(Mailbox(), takes_tools=sampling.tools is not None)
