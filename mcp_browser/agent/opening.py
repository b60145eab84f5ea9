"""The page that a run begins with, or goes on with."""

from mcp_browser.agent.control import Progress, Watcher
from mcp_browser.agent.executor import Executor
from mcp_browser.agent.prompting.message_manager import MessageManager
from mcp_browser.agent.record.history import AgentHistory
from mcp_browser.agent.secrets.store import Secrets
from mcp_browser.agent.state import AgentState
from mcp_browser.errors import ActionError

TAKEN_UP = (
    "You were broken off, and now go on. {opened} Indexes of before are of no use. What your last step did "
    "may not stand above: look before you repeat it."
)


async def open_start(  # noqa: PLR0913 - the parts of a run that hear of it
    executor: Executor,
    *,
    history: AgentHistory,
    state: AgentState,
    secrets: Secrets,
    messages: MessageManager,
    watcher: Watcher,
) -> None:
    """Open the task's first page, once; that it could not be opened is kept, and told to the model."""
    state.started = True
    task = history.task
    if task.start_url is None:
        return
    url = secrets.hide(task.start_url)
    await watcher.progressed(Progress(step=0, steps=task.budget.steps, goal="open the start page", url=url))
    try:
        await executor.open(task.start_url)
    except ActionError as error:
        state.start_problem = secrets.hide(str(error))
        messages.add_results([f"The start page could not be opened: {error}"])


async def open_again(
    executor: Executor, *, history: AgentHistory, secrets: Secrets, messages: MessageManager
) -> None:
    """Open the last page of a run again that goes on in another browser, and tell the model."""
    opened = "The browser is another one, and no page was open."
    url = history.urls_in_order[-1] if history.urls else history.task.start_url
    if url is not None:
        try:
            await executor.open(url)
            opened = f"The browser may be another one; the page {url} was opened again."
        except ActionError as error:
            reason = secrets.hide(str(error))
            opened = f"The browser may be another one; the page {url} could not be opened: {reason}"
    messages.add_note(TAKEN_UP.format(opened=opened))
