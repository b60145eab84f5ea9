"""`mcp-browser skill`: how an agent drives this browser from a shell, in the Agent Skills format."""

import shlex
import shutil
import sys
from importlib import resources
from pathlib import Path

import jinja2

from mcp_browser.actions.registry import RegisteredAction, Registry
from mcp_browser.cli.arguments import Arguments
from mcp_browser.cli.clients import CLIENTS
from mcp_browser.cli.commands import usage
from mcp_browser.cli.config import changed, program
from mcp_browser.cli.sources import LoadedSettings, with_all_tools
from mcp_browser.errors import SettingsError
from mcp_browser.server.tool_groups import load_actions
from mcp_browser.settings import did_you_mean

NAME = "mcp-browser"


def skill(loaded: LoadedSettings, asked: Arguments) -> int:
    """Print the skill, or write it to where a client looks for one; the exit code. Raises SettingsError."""
    given = asked.given
    command = "mcp-browser" if shutil.which("mcp-browser") else shlex.join(program())
    text = skill_text(load_actions(with_all_tools(loaded).settings.tools), command)
    if "write" not in given:
        sys.stdout.write(text)
        return 0
    readers = {name: client for name, client in CLIENTS.items() if client.skills is not None}
    name = given.get("client")
    if name not in readers:
        problem = f"{name!r} is none of them{did_you_mean(name, readers)}" if name else "name one"
        raise SettingsError(f"for --write, {problem}: mcp-browser skill {'|'.join(readers)} --write.")
    client = readers[name]
    home = Path.cwd() if "project" in given else Path.home()
    changed(
        home / str(client.skills) / NAME / "SKILL.md",
        lambda _before, _path: text,
        what="this skill",
        done=f"Wrote the skill to {{path}}. Start {client.title} again to use it.",
    )
    return 0


def skill_text(registry: Registry, command: str) -> str:
    """Return the skill for these actions; `command` starts this program."""

    def actions(names: str) -> list[RegisteredAction]:
        return [registry[name] for name in names.split() if name in registry]

    groups = [
        (group, ", ".join(action.name for action in registry if action.group == group))
        for group in registry.groups()
    ]
    template = resources.files("mcp_browser").joinpath("assets", "skill.md").read_text("utf-8")
    # Markdown for a model, no HTML.
    environment = jinja2.Environment(keep_trailing_newline=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(template).render(
        do=f"{command} do", actions=actions, usage=usage, groups=groups
    )
