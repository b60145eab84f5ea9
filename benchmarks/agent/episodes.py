"""The tasks, and what came of them."""

from dataclasses import dataclass

TASKS = (
    *("click-test", "click-button", "click-link", "click-dialog", "click-option"),
    *("click-checkboxes", "choose-list", "enter-text", "focus-text", "login-user"),
    # The agent's rules and prompts were not tried on these.
    *("click-tab", "click-collapsible", "click-button-sequence", "click-widget", "enter-password"),
    *("focus-text-2", "enter-date", "read-table", "simple-arithmetic", "use-autocomplete"),
)
"""MiniWoB++ tasks of one page that a policy reading the page solves always."""

ACTIONS = ("click_element", "input_text", "select_option", "set_checked", "send_keys", "scroll")
"""What this project's agent may do, beside what every task may."""

EXCLUDED = (
    *("search", "navigate", "go_back", "wait", "upload_file", "switch", "close", "extract", "search_page"),
    *("find_elements", "find_text", "screenshot", "save_as_pdf", "evaluate", "write_file", "read_file"),
    *("replace_file", "read_long_content"),
)
"""What browser-use's agent may not do, so that both choose among the same."""


@dataclass(frozen=True)
class Episode:
    """One task to do: its name, the address that starts it, and what is asked."""

    task: str
    seed: int
    url: str
    goal: str


@dataclass(frozen=True)
class Limits:
    """What one episode may take at most."""

    steps: int
    seconds: float


@dataclass(frozen=True)
class Result:
    """What an agent has made of an episode.

    `reward` is the page's own, None where the episode did not end; `claimed` is whether the agent says that
    it has succeeded. `cached` counts the asked tokens that the model's server still knew.
    """

    task: str
    reward: float | None
    claimed: bool
    steps: int
    asked: int
    cached: int
    answered: int
    seconds: float
    note: str = ""
    seed: int = 1

    @property
    def solved(self) -> bool:
        """Whether the page says that the task is done."""
        return (self.reward or 0) > 0

    @property
    def false_success(self) -> bool:
        """Whether the agent says that it has succeeded, and the page does not."""
        return self.claimed and not self.solved
