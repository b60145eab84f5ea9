"""A recorded run as a Playwright script in Python that does the same."""

from collections.abc import Iterator
from functools import cache
from importlib import resources

from jinja2 import Environment, StrictUndefined, Template

from mcp_browser.actions.agent import CALL_USER, DONE
from mcp_browser.actions.code import Comment, Print, Python, all_lines, secrets_in, variable_of
from mcp_browser.actions.code_body import CodeBody, Entry, one_line
from mcp_browser.actions.code_statements import READING
from mcp_browser.actions.recording import RecordedAction
from mcp_browser.agent.record.history import ActionRecord, AgentHistory

SCRIPT_FILE = "script.py"


def export_script(history: AgentHistory) -> str:
    """A script for Python and Playwright's sync API that does what the run has done.

    Failed actions are left out, and those that only read. An action without an equivalent raises
    NotImplementedError where it would be done. A secret is taken from an environment variable.
    """
    start = history.task.start_url or next((step.url for step in history.steps), "")
    statements = CodeBody(start).add([*_entries(history)])
    lines = all_lines(statements, Python(resilient=True)) or ["pass"]
    text = "\n".join(lines)
    secrets = secrets_in([action.call.arguments for action in history.actions()])
    return _template().render(
        title=_in_docstring(history.task.text),
        made_from=_in_docstring(f"mcp-browser {history.version} from the run {history.id}"),
        viewport=history.settings.viewport,
        lines=lines,
        variables={name: variable_of(name) for name in secrets},
        finds="the(" in text,
        dialogs="answer_dialogs(" in text,
        secrets=bool(secrets),
        patterns="re.compile(" in text,
        expects="expect(" in text,
    )


def _entries(history: AgentHistory) -> Iterator[Entry]:
    for step in history.steps:
        goal = one_line(step.brain.next_goal)
        yield Comment()
        yield Comment(f"Step {step.number}{': ' if goal else ''}{goal}")
        for action in step.actions:
            yield _entry(action)


def _entry(action: ActionRecord) -> Entry:
    name = action.call.name
    if action.error is not None:
        return Comment(one_line(f"Failed, and is left out: {action.call}"))
    if name == DONE:
        return Print(str(action.call.arguments.get("text", "")))
    if name == CALL_USER or name in READING:
        return Comment(one_line(f"Left out: {action.call}"))
    return RecordedAction(
        name=name,
        arguments=action.call.arguments,
        elements=action.elements,
        url=action.url,
        tab=action.tab,
        opened=action.opened,
        downloads=action.downloads,
    )


def _in_docstring(text: str) -> str:
    return one_line(text).replace("\\", "/").replace('"', "'")


@cache
def _template() -> Template:
    text = (
        resources.files("mcp_browser.agent.record").joinpath("templates", "script.py.txt").read_text("utf-8")
    )
    # What is put in is Python that was quoted as such.
    environment = Environment(
        autoescape=False, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(text)
