"""What a server offers by its settings: actions, and which of its own tools, by their groups."""

from mcp_browser.actions.catalog import ALL, CORE, load_registry
from mcp_browser.actions.registry import Registry
from mcp_browser.settings import Settings, ToolSettings

SESSIONS = "sessions"  # The tools by which a client over stdio has several sessions, which HTTP always offers
PERSON = "person"
PERSON_TOOLS = ("ask_person",)
SHOW_BROWSER = "show_browser"
VIEW_TOOLS = (SHOW_BROWSER, "exchange_view")
"""The tools by which clients that show MCP Apps show the live view."""
AGENT = "agent"
RUN_TASK = "run_task"
REPLAY_TASK = "replay_task"
AGENT_TOOLS = (
    *(RUN_TASK, "get_task", "pause_task", "resume_task", "stop_task", "add_instructions"),
    REPLAY_TASK,
)


def load_actions(settings: ToolSettings) -> Registry:
    """The actions that the settings name, beside groups and tools of the server; raises SettingsError."""
    return load_registry(
        settings,
        other_groups=(AGENT, PERSON, SESSIONS),
        other_tools=(*AGENT_TOOLS, *PERSON_TOOLS, *VIEW_TOOLS),
    )


def agent_tools(settings: Settings) -> tuple[str, ...]:
    """The tools of the built-in agent that are offered.

    All of them where their group is named or the agent has a model. With the core tools only `run_task`: it
    can use the client's model, and otherwise says how to set one up.
    """
    groups = set(settings.tools.tools)
    offered: tuple[str, ...] = ()
    if settings.agent.model is not None or not groups.isdisjoint({AGENT, ALL}):
        offered = AGENT_TOOLS
    elif CORE in groups:
        offered = (RUN_TASK,)
    excluded = {*settings.tools.exclude_actions, *((REPLAY_TASK,) if settings.tools.read_only else ())}
    return tuple(name for name in offered if name not in excluded)


def person_tools(settings: Settings) -> tuple[str, ...]:
    """The tools that ask the person, where their group is named."""
    offered = PERSON_TOOLS if not {PERSON, ALL}.isdisjoint(settings.tools.tools) else ()
    return tuple(name for name in offered if name not in settings.tools.exclude_actions)


def view_tools(settings: Settings) -> tuple[str, ...]:
    """The tools that show the live view, where it is served: both or none."""
    excluded = not settings.server.view or not set(VIEW_TOOLS).isdisjoint(settings.tools.exclude_actions)
    return () if excluded else VIEW_TOOLS
