"""A recorded run as a Playwright script in Python that does the same."""

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources

from jinja2 import Environment, StrictUndefined, Template

from mcp_browser.actions.agent import CALL_USER, DONE
from mcp_browser.agent.record.history import ActionRecord, AgentHistory, StepRecord
from mcp_browser.agent.record.locators import quoted
from mcp_browser.agent.record.script_statements import (
    READING,
    STATEMENTS,
    NoEquivalent,
    Words,
    address_of,
    text_of,
)
from mcp_browser.agent.secrets.store import PLACEHOLDER

SCRIPT_FILE = "script.py"

HANDLE_DIALOG = "handle_dialog"
WAIT_FOR_DOWNLOAD = "wait_for_download"
OPEN_TAB = "open_tab"

LONGEST_COMMENT = 100


def export_script(history: AgentHistory) -> str:
    """A script for Python and Playwright's sync API that does what the run has done.

    Failed actions are left out, and those that only read. An action without an equivalent raises
    NotImplementedError where it would be done. A secret is taken from an environment variable.
    """
    body = _Body(history)
    lines = body.lines()
    text = "\n".join(lines)
    arguments = str([action.call.arguments for action in history.actions()])
    secrets = sorted(set(PLACEHOLDER.findall(arguments)))
    return _template().render(
        title=_in_docstring(history.task.text),
        made_from=_in_docstring(f"mcp-browser {history.version} from the run {history.id}"),
        viewport=history.settings.viewport,
        lines=lines,
        variables={name: variable_of(name) for name in secrets},
        finds="the(" in text,
        dialogs="answer_dialogs(" in text,
        secrets=bool(secrets),
    )


def variable_of(secret: str) -> str:
    """The environment variable that a script takes a secret from."""
    return re.sub(r"\W", "_", secret).upper()


class _Body:
    def __init__(self, history: AgentHistory) -> None:
        self._history = history
        self._tabs: dict[int, str] = {}
        self._lines: list[str] = []

    def lines(self) -> list[str]:
        task = self._history.task
        start = task.start_url or next((step.url for step in self._history.steps), "")
        if start and start != "about:blank":
            self._lines.append(f"page.goto({text_of(start)})")
        for step in self._history.steps:
            self._step(step)
        return self._lines or ["pass"]

    def _step(self, step: StepRecord) -> None:
        goal = _one_line(step.brain.next_goal)
        self._lines += ["", f"# Step {step.number}{': ' if goal else ''}{goal}"]
        for number, action in enumerate(step.actions):
            self._action(action, self._after(step, number))

    def _after(self, step: StepRecord, number: int) -> Sequence[ActionRecord]:
        later = [
            action for other in self._history.steps if other.number > step.number for action in other.actions
        ]
        return [action for action in (*step.actions[number + 1 :], *later) if action.error is None]

    def _action(self, action: ActionRecord, after: Sequence[ActionRecord]) -> None:
        name = action.call.name
        if action.error is not None:
            self._comment(f"Failed, and is left out: {action.call}")
        elif name == DONE:
            self._lines.append(f"print({text_of(str(action.call.arguments.get('text', '')))})")
        elif name == CALL_USER or name in READING:
            self._comment(f"Left out: {action.call}")
        elif name not in (HANDLE_DIALOG, WAIT_FOR_DOWNLOAD):
            statements = [line for text in self._statements(action) for line in text.split("\n")]
            self._lines += self._around(action, statements, after)

    def _statements(self, action: ActionRecord) -> list[str]:
        page = self._page(action)
        if _opens_tab(action):
            return []
        make = STATEMENTS.get(action.call.name)
        try:
            if make is None:
                raise NoEquivalent("Playwright has nothing like it")
            return make(Words(action, page, self._tabs))
        except NoEquivalent as problem:
            why = str(problem)
        except (AttributeError, KeyError, TypeError, ValueError):
            # A history from elsewhere may hold anything.
            why = "its arguments are not those of the action"
        return [f"raise NotImplementedError({quoted(f'{action.call.name}: {why}')})"]

    def _around(
        self, action: ActionRecord, statements: list[str], after: Sequence[ActionRecord]
    ) -> list[str]:
        """The statements with what has to be there before them: for dialogs, downloads and new tabs."""
        page = self._page(action)
        if _opens_tab(action):
            new = self._new_tab(action)
            given = action.call.arguments
            url = given.get("url") if "query" not in given else action.url
            return [
                f"{new} = {page}.context.new_page()",
                *([f"{new}.goto({text_of(address_of(url))})"] if url else []),
            ]
        answers: list[str] = []
        for later in after:
            if later.call.name != HANDLE_DIALOG:
                break
            given = later.call.arguments
            answers.append(text_of(given["text"]) if given.get("text") else repr(bool(given.get("accept"))))
        if action.downloads or (after and after[0].call.name == WAIT_FOR_DOWNLOAD):
            statements = [
                f"with {page}.expect_download() as download:",
                *(f"    {line}" for line in statements),
                "download.value.save_as(download.value.suggested_filename)",
            ]
        elif action.opened:
            new = self._new_tab(action)
            statements = [
                f"with {page}.context.expect_page() as opened:",
                *(f"    {line}" for line in statements),
                f"{new} = opened.value",
            ]
        if answers:
            statements = [f"answer_dialogs({page}, {', '.join(answers)})", *statements]
        return statements

    def _page(self, action: ActionRecord) -> str:
        if action.tab is None:
            return "page"
        return self._tabs.setdefault(action.tab, "page" if not self._tabs else f"page_{action.tab}")

    def _new_tab(self, action: ActionRecord) -> str:
        self._page(action)
        names = [self._tabs.setdefault(tab, f"page_{tab}") for tab in action.opened]
        return names[0] if names else "new_page"

    def _comment(self, text: str) -> None:
        self._lines.append(f"# {_one_line(text)}")


def _opens_tab(action: ActionRecord) -> bool:
    return action.call.name == OPEN_TAB or bool(action.call.arguments.get("new_tab"))


def _one_line(text: str) -> str:
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= LONGEST_COMMENT else f"{line[:LONGEST_COMMENT]}…"


def _in_docstring(text: str) -> str:
    return _one_line(text).replace("\\", "/").replace('"', "'")


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
