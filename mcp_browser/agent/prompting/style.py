"""Planner styles: how the page is shown to the model, and how its answer is turned into actions."""

from importlib import resources
from typing import TYPE_CHECKING, Protocol

from mcp_browser.actions.agent import DONE
from mcp_browser.actions.registry import Registry
from mcp_browser.agent.executor import Look
from mcp_browser.agent.prompting.message_manager import example_output
from mcp_browser.agent.prompting.output import AgentOutput, output_form, read_output
from mcp_browser.agent.task import Decision
from mcp_browser.llm.messages import OutputCall, OutputForm, Reply

if TYPE_CHECKING:
    from playwright.async_api import Page

SMALL_WINDOW = 16_384
"""Tokens of a model's window up to which its rules are brief, without an example.

With the example, a model of 1.5 billion parameters copied its goal and its index into steps of its own;
without it, it did not."""


class Turn(Protocol):
    """One request to the model: the form to fill in, and how to read its answer."""

    @property
    def form(self) -> OutputForm | None:
        """The form to fill in; None where the answer is a text."""
        ...

    def read(self, reply: Reply) -> Decision:
        """The decision in an answer; raises InvalidOutput."""
        ...

    def remembered(self, reply: Reply, decision: Decision) -> OutputCall | str:
        """The answer as it is kept in the conversation."""
        ...


class PlannerStyle(Protocol):
    """A way of working with a model."""

    images_kept: int  # How many pictures stay in the conversation
    needs_vision: bool  # Whether it cannot work without pictures
    shows_snapshot: bool  # Whether the page's text is shown
    last_words: str  # How to end, said in a step that can only report

    def system_prompt(self, registry: Registry, *, max_actions: int) -> str:
        """The rules."""
        ...

    def example(self) -> OutputCall | str | None:
        """What an answer looks like, where that helps."""
        ...

    def turn(self, registry: Registry, page: "Page | None", look: Look, *, only_done: bool) -> Turn:
        """A request about this page; with `only_done`, the model can only end the task."""
        ...


def prompt(name: str) -> str:
    """The text of a prompt that comes with the package."""
    file = resources.files("mcp_browser.agent.prompting") / "prompts" / f"{name}.md"
    return file.read_text(encoding="utf-8").strip()


class StructuredTurn:
    """A request for an AgentOutput, its actions being those that this page offers."""

    def __init__(self, model: type[AgentOutput]) -> None:
        self._model = model
        self.form: OutputForm | None = output_form(model)

    def read(self, reply: Reply) -> Decision:
        """Read the answer, wherever in the reply it stands."""
        return read_output(reply, self._model)

    def remembered(self, reply: Reply, decision: Decision) -> OutputCall | str:
        """The form, as it was understood."""
        del reply
        arguments = {
            "current_state": decision.brain.model_dump(),
            "action": [{call.name: call.arguments} for call in decision.calls],
        }
        assert self.form is not None
        return OutputCall(id="", name=self.form.name, arguments=arguments)


class StructuredStyle:
    """One AgentOutput a step, by function calling or as JSON, whichever the model can."""

    images_kept = 1
    needs_vision = False
    shows_snapshot = True
    last_words = "Use done now: report what was reached, and success only if all of it was."

    def __init__(self, *, window: int | None = None) -> None:
        """Work with a model that takes `window` tokens, None where that is not known."""
        self._brief = window is not None and window <= SMALL_WINDOW
        self._turns: dict[tuple[str, ...], StructuredTurn] = {}

    def system_prompt(self, registry: Registry, *, max_actions: int) -> str:
        """The rules; the actions stand in the form."""
        del registry
        rules = prompt("structured_brief" if self._brief else "structured")
        return rules.replace("{max_actions}", str(max_actions))

    def example(self) -> OutputCall | str | None:
        """A filled-in form."""
        return None if self._brief else example_output()

    def turn(self, registry: Registry, page: "Page | None", look: Look, *, only_done: bool) -> StructuredTurn:
        """A request with the actions of this page; models are cached by their actions."""
        del look
        names = tuple(
            action.name
            for action in registry
            if (action.name == DONE if only_done else action.offered_on(page))
        )
        if names not in self._turns:
            others = [action.name for action in registry if action.name not in names]
            actions = registry.without(others).create_action_model(page)
            self._turns[names] = StructuredTurn(AgentOutput.type_with_custom_actions(actions))
        return self._turns[names]
