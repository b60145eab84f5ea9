"""Settings of the agent."""

from typing import Literal

from mcp_browser.settings.values import Address, Folder, Names, Seconds, SettingsGroup, UserPath, setting


class AgentSettings(SettingsGroup):
    """The agent behind run_task."""

    model: str | None = setting(
        "Model for run_task, provider:name, such as anthropic:claude-sonnet-4-5. Default: the client's own, "
        "by sampling.",
    )
    allowed_models: Names = setting(
        "Models that a call may name instead, comma-separated globs such as anthropic:*. Default: any.", ()
    )
    model_url: Address | None = setting(
        "Address for the model: one that speaks OpenAI's protocol, or of its provider's."
    )
    model_output: Literal["tool", "json"] = setting(
        "How the model is asked for its actions: by a tool, or by a JSON schema.", "tool"
    )
    model_window: int | None = setting(
        "Tokens that the model takes. Default: what is known of it, else 128,000.", ge=1_000
    )
    model_temperature: float | None = setting("How freely the model answers. Default: its own.", ge=0, le=2)
    fallback_model: str | None = setting("Model to go on with when the first one fails.")
    judge: bool = setting("Let a model check what a task claims; without, no task succeeds.", True)
    judge_model: str | None = setting("Model that checks claims, provider:name. Default: that of the task.")
    gui_scale: Literal["pixels", "thousandths", "unit"] | None = setting(
        "A vision model's coordinates: pixels of the picture, thousandths or parts of its sides. Default: as "
        "the model's name says, else pixels.",
    )
    max_steps: int = setting("Most steps of a task.", 100, ge=1, le=1000)
    max_actions: int = setting("Most actions of one step.", 5, ge=1, le=50)
    max_failures: int = setting("Failed steps in a row that end a task.", 5, ge=1, le=100)
    model_timeout: Seconds = setting("Limit for one answer of the model, seconds.", 60)
    step_timeout: Seconds = setting("Limit for one step of a task, seconds.", 180)
    tasks_dir: Folder | None = setting("Folder for the histories of tasks. Default: per user.")
    tasks_days: float = setting("Days after which the folder of a task that has ended is deleted.", 90, gt=0)
    tasks_mb: float = setting("Megabytes of such folders; beyond, the oldest are deleted.", 2000, gt=0)
    step_pictures: bool = setting("Keep a small picture of each step of a task, for its report.", True)
    secrets: UserPath | None = setting("TOML file with secrets that tasks may use by name.")
