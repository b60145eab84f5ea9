"""Planner styles: how the page is shown to the model, and how its answer is turned into actions."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING

from mcp_browser.actions.agent import DONE
from mcp_browser.actions.registry import Registry
from mcp_browser.agent.executor import Look
from mcp_browser.agent.prompting.output import FORM_NAME, AgentOutput, output_form, read_output
from mcp_browser.agent.task import Decision
from mcp_browser.llm.messages import OutputCall, OutputForm, Reply

if TYPE_CHECKING:
    from playwright.async_api import Page

SMALL_WINDOW = 16_384
"""Tokens of a model's window up to which its rules are brief, without an example.

With the example, a model of 1.5 billion parameters copied its goal and its index into steps of its own;
without it, it did not."""

EXAMPLE = OutputCall(
    id="example",
    name=FORM_NAME,
    arguments={
        "current_state": {
            "evaluation_previous_goal": "Success: the search page shows a search box [4].",
            "memory": "Opened the shop. Still to do: find the blue lamp (0 of 1), read its price.",
            "next_goal": "Search for the blue lamp.",
        },
        "action": [{"input_text": {"index": 4, "text": "blue lamp"}}, {"click_element": {"index": 5}}],
    },
)
"""What a filled-in form looks like."""


def prompt(name: str) -> str:
    """The text of a prompt that comes with the package."""
    file = resources.files("mcp_browser.agent.prompting") / "prompts" / f"{name}.md"
    return file.read_text(encoding="utf-8").strip()


@dataclass(frozen=True, slots=True)
class Turn:
    """One request to the model: the form to fill in, None for a text; and how to read its answer.

    `read` raises InvalidOutput, which says how to answer.
    """

    form: OutputForm | None
    read: Callable[[Reply], Decision]

    def remembered(self, reply: Reply, decision: Decision) -> OutputCall | str:
        """The answer as it is kept in the conversation: the text, or the form as it was understood."""
        if self.form is None:
            return reply.text
        actions = [{call.name: call.arguments} for call in decision.calls]
        arguments = {"current_state": decision.brain.model_dump(), "action": actions}
        return OutputCall(id="", name=self.form.name, arguments=arguments)


class PlannerStyle(ABC):
    """A way of working with a model."""

    rules: str  # The name of its prompt
    example: OutputCall | None = None  # What an answer looks like, where that helps
    images_kept = 1  # How many pictures stay in the conversation
    by_pictures = False  # Whether it works by pictures, in the place of the page's text
    last_words: str  # How to end, said in a step that can only report

    def system_prompt(self, *, max_actions: int) -> str:
        """The rules."""
        return prompt(self.rules).replace("{max_actions}", str(max_actions))

    @abstractmethod
    def turn(self, registry: Registry, page: "Page | None", look: Look, *, only_done: bool) -> Turn:
        """A request about this page; with `only_done`, the model can only end the task."""


class StructuredStyle(PlannerStyle):
    """One AgentOutput a step, by function calling or as JSON, whichever the model can."""

    last_words = "Use done now: report what was reached, and success only if all of it was."

    def __init__(self, *, window: int | None = None) -> None:
        """Work with a model that takes `window` tokens, None where that is not known."""
        is_small = window is not None and window <= SMALL_WINDOW
        self.rules, self.example = ("structured_brief", None) if is_small else ("structured", EXAMPLE)
        self._turns: dict[tuple[str, ...], Turn] = {}

    def turn(self, registry: Registry, page: "Page | None", look: Look, *, only_done: bool) -> Turn:
        """A request for an AgentOutput with the actions of this page; cached by their names."""
        del look
        names = tuple(
            action.name
            for action in registry
            if (action.name == DONE if only_done else action.offered_on(page))
        )
        if names not in self._turns:
            others = [action.name for action in registry if action.name not in names]
            actions = registry.without(others).create_action_model(page)
            model = AgentOutput.type_with_custom_actions(actions)
            self._turns[names] = Turn(output_form(model), partial(read_output, model=model))
        return self._turns[names]
