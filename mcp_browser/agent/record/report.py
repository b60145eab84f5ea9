"""The report of a run as one HTML file, made from its history; its script."""

import base64
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from mcp_browser.actions.agent import agent_actions
from mcp_browser.actions.catalog import default_registry
from mcp_browser.actions.code import RecordedAction, Script
from mcp_browser.actions.recording import params_of
from mcp_browser.actions.registry import RegisteredAction
from mcp_browser.agent.record.history import ActionRecord, AgentHistory
from mcp_browser.agent.task import TaskOutcome, TaskStatus
from mcp_browser.browser.pictures import make_picture
from mcp_browser.llm.messages import Usage
from mcp_browser.text import clean_text, one_line

REPORT_FILE = "report.html"

MOST_PICTURES = 2_500_000  # All pictures of a report together, bytes; each gets its share of it
LARGEST_PICTURE = 60_000

PICTURE_SIDE = 800

LONGEST_RESULT = 1_500  # How much of an action's result is shown, characters

_SAID = {
    TaskStatus.WORKING: "The run had not ended when this was written.",
    TaskStatus.PAUSED: "Not done: the run is paused.",
    TaskStatus.NEEDS_PERSON: "Not done: the run waits for a person.",
    TaskStatus.INTERRUPTED: "Not done: the run was interrupted and can go on.",
    TaskStatus.SUCCEEDED: "Done, as the agent reports and its judge has confirmed.",
    TaskStatus.UNCONFIRMED: "Not confirmed: the agent claims that it is done, and nobody has borne that out.",
    TaskStatus.FAILED: "Not done: the run failed.",
    TaskStatus.STUCK: "Not done: the agent was stuck.",
    TaskStatus.OUT_OF_BUDGET: "Not done: a limit was reached.",
    TaskStatus.STOPPED: "Not done: the run was stopped.",
    TaskStatus.CANCELLED: "Not done: the run was cancelled.",
}


def render_report(history: AgentHistory, folder: Path) -> str:
    """The report as HTML: all in one file, without scripts, with everything that pages said escaped."""
    outcome = history.outcome or TaskOutcome(id=history.id, status=history.status)
    said = _SAID[history.status]
    if history.status is TaskStatus.SUCCEEDED and history.replay_of is not None:
        said = "Every action was done again and had the same effect as in the recorded run, which succeeded."
    templates = PackageLoader("mcp_browser.agent.record")
    environment = Environment(
        loader=templates, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    filters: dict[str, Any] = {"link": _link, "short": _short, "tokens": _tokens}
    environment.filters.update(filters)
    style = templates.get_source(environment, "report.css")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    share = min(LARGEST_PICTURE, MOST_PICTURES // (len(history.steps) + 1))
    html = environment.get_template("report.html").render(
        history=history,
        task=history.task,
        outcome=outcome,
        said=said,
        mood="good" if outcome.succeeded else "open" if not history.status.is_final else "bad",
        facts=_facts(history, outcome),
        data=json.dumps(outcome.data, indent=2, ensure_ascii=False) if outcome.data is not None else None,
        pictures={step.number: _picture(step.screenshot, folder, share) for step in history.steps},
        end_picture=_picture(history.end_picture, folder, share),
        style=style,
        digest=digest,
    )
    return clean_text(html)


def _facts(history: AgentHistory, outcome: TaskOutcome) -> list[tuple[str, str]]:
    usage = outcome.usage
    model = f"{history.model or 'none'}, {history.task.style} style"
    if history.replay_of is not None:
        model = f"none: {history.replay_of} was replayed"
    cost = f"${usage.cost:.4f}" if usage.cost is not None else "not known" if usage.requests else "none"
    facts = [
        ("Model", model),
        ("Started", f"{history.created:%Y-%m-%d %H:%M:%S %Z}"),
        ("Time", f"{outcome.seconds:.1f} s"),
        ("Steps", f"{outcome.steps} of at most {history.task.budget.steps}"),
        ("Tokens", _tokens(usage)),
        ("Cost", cost),
        ("Run", history.id),
    ]
    if history.settings.fallback_model:
        facts.insert(1, ("Fallback", history.settings.fallback_model))
    if history.task.secrets:
        facts.append(("Secrets", ", ".join(history.task.secrets)))
    return facts


def _tokens(usage: Usage) -> str:
    about = " (estimated)" if usage.estimated else ""
    return f"{usage.input_tokens:,} in, {usage.output_tokens:,} out{about}"


def _picture(name: str | None, folder: Path, largest: int) -> str | None:
    # A history may come from elsewhere: only a plain name is a file of its folder.
    if name is None or Path(name).name != name:
        return None
    try:
        raw = (folder / name).read_bytes()
        picture = make_picture(raw, format="jpeg", quality=60, max_side=PICTURE_SIDE, max_bytes=largest)
    except OSError:
        return None
    return f"data:{picture.mime_type};base64,{base64.b64encode(picture.data).decode()}"


def _link(url: str) -> str | None:
    return url if url.startswith(("http://", "https://")) else None


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_RESULT else f"{text[:LONGEST_RESULT]}…"


SCRIPT_FILE = "script.py"
LONGEST_COMMENT = 100  # Characters


def export_script(history: AgentHistory, own: Iterable[RegisteredAction] = ()) -> str:
    """A script for Python and Playwright's sync API that repeats the run.

    Failed actions and those that only read are left out. An action without an equivalent raises
    NotImplementedError. Secrets come from environment variables. `own` are further actions of the run.
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
                script.add(as_recorded(record, action))
    return script.render(
        "run.py.txt",
        title=_in_docstring(history.task.text),
        made_from=_in_docstring(f"mcp-browser {history.version} from the run {history.id}"),
        viewport=history.settings.viewport,
    )


def as_recorded(record: ActionRecord, action: RegisteredAction | None, **found: Any) -> RecordedAction:
    """An action of a history as it is written as code; `found` are its locators."""
    return RecordedAction(
        name=record.call.name,
        params=params_of(action, record.call.arguments) if action else None,
        code=action.code if action else None,
        elements=record.elements,
        url=record.url,
        tab=record.tab,
        opened=record.opened,
        downloads=record.downloads,
        **found,
    )


def _comment(text: str) -> str:
    return one_line("".join(sign if sign.isprintable() else " " for sign in text), LONGEST_COMMENT)


def _in_docstring(text: str) -> str:
    return _comment(text).replace("\\", "/").replace('"', "'")
