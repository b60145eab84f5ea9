"""A recorded run as a Playwright script in Python that does the same."""

from collections.abc import Iterable

from mcp_browser.actions.agent import agent_actions
from mcp_browser.actions.catalog import default_registry
from mcp_browser.actions.code import RecordedAction, Script
from mcp_browser.actions.recording import params_of
from mcp_browser.actions.registry import RegisteredAction
from mcp_browser.agent.record.history import AgentHistory
from mcp_browser.text import one_line

SCRIPT_FILE = "script.py"
LONGEST_COMMENT = 100  # Characters


def export_script(history: AgentHistory, own: Iterable[RegisteredAction] = ()) -> str:
    """A script for Python and Playwright's sync API that does what the run has done.

    Failed actions are left out, and those that only read. An action without an equivalent raises
    NotImplementedError where it would be done. A secret is taken from an environment variable. `own` are
    actions that the run may have had beside those that come with the package.
    """
    known = (*default_registry(), *agent_actions(history.task.output_schema), *own)
    actions = {action.name: action for action in known}
    start = history.task.start_url or next((step.url for step in history.steps), "")
    script = Script("python", start, resilient=True)
    for step in history.steps:
        goal = _comment(step.brain.next_goal)
        script.comment()
        script.comment(f"Step {step.number}{': ' if goal else ''}{goal}")
        for record in step.actions:
            name = record.call.name
            action = actions.get(name)
            if record.error is not None:
                script.comment(_comment(f"Failed, and is left out: {record.call}"))
            elif action is not None and action.code is None and action.effect == "read":
                script.comment(_comment(f"Left out: {record.call}"))
            else:
                script.add(
                    RecordedAction(
                        name=name,
                        params=params_of(action, record.call.arguments) if action else None,
                        code=action.code if action else None,
                        elements=record.elements,
                        url=record.url,
                        tab=record.tab,
                        opened=record.opened,
                        downloads=record.downloads,
                    )
                )
    return script.render(
        "run.py.txt",
        title=_in_docstring(history.task.text),
        made_from=_in_docstring(f"mcp-browser {history.version} from the run {history.id}"),
        viewport=history.settings.viewport,
    )


def _comment(text: str) -> str:
    return one_line("".join(sign if sign.isprintable() else " " for sign in text), LONGEST_COMMENT)


def _in_docstring(text: str) -> str:
    return _comment(text).replace("\\", "/").replace('"', "'")
