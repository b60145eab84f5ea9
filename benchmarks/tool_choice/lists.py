"""The servers' lists of tools, and a page as each of them would show it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.servers import PEERS, Connection, command
from benchmarks.tool_choice.instructions import State
from mcp_browser.actions import load_registry
from mcp_browser.browser.process.launch import find_browser
from mcp_browser.controller import Controller
from mcp_browser.server.runs.tools import RunTools, TaskFiles
from mcp_browser.server.tools import Tools
from mcp_browser.settings import Settings

OURS, THEIRS = "mcp-browser", "playwright-mcp"
COMMANDS = "mcp-browser do"
"""This server by the commands of a shell, which the skill describes."""

VERSION = PEERS[THEIRS][1]
RECORDED = Path(__file__).with_name("playwright_mcp.json")

Listed = Sequence[dict[str, Any]]
"""Tools with `name`, `description` and `inputSchema`."""


class _NoSessions:
    """Stands for the sessions of a list that is never called."""

    has_handles = is_remote = False


def ours() -> Listed:
    """What this server lists by default over stdio."""
    settings, nowhere = Settings(), _NoSessions()
    registry = load_registry(settings.tools)
    source: Any = nowhere
    agent = RunTools(settings, source, registry, TaskFiles(source))
    tools = Tools(Controller(registry, settings), source, agent.tools())
    return [_entry(tool.model_dump(mode="json", by_alias=True, exclude_none=True)) for tool in tools.listed]


def theirs() -> Listed:
    """What playwright-mcp lists by default, as it was recorded."""
    return json.loads(RECORDED.read_text("utf-8"))["tools"]


def record() -> None:
    """Ask playwright-mcp, of the pinned version, for its list, and write it down."""
    chromium = str(find_browser(Settings().browser).executable)
    connection = Connection(command(THEIRS, chromium, sandbox=False))
    try:
        listed = [_entry(tool) for tool in connection.request("tools/list", {}, limit=60)["tools"]]
    finally:
        connection.close()
    RECORDED.write_text(json.dumps({"version": VERSION, "tools": listed}, indent=1) + "\n", "utf-8")


def shown(state: State, server: str) -> str:
    """What is open, in the words of the server."""
    return _shown_by_them(state) if server == THEIRS else _shown_by_us(state)


def _entry(tool: dict[str, Any]) -> dict[str, Any]:
    schema = {key: value for key, value in tool["inputSchema"].items() if key != "$schema"}
    return {"name": tool["name"], "description": tool["description"], "inputSchema": schema}


def _shown_by_us(state: State) -> str:
    lines = [
        f'Tab {number}{" (current)" if number == 1 else ""}: "{title}" {url}'
        for number, (title, url) in enumerate(state.tabs, 1)
    ]
    for node in state.nodes:
        if node.number:
            lines.append(f'[{node.number}] {node.role} "{node.name}" {node.states}'.rstrip())
        else:
            lines.append(f"# {node.name}" if node.role == "heading" else node.name)
    page = "\n".join([f'<page url="{state.url}" title="{state.title}" untrusted>', *lines, "</page>"])
    if not state.dialog:
        return page
    kind, _, message = state.dialog.partition(" ")
    return f"{page}\nA {kind} dialog is open: {message}. Answer it with handle_dialog."


def _shown_by_them(state: State) -> str:
    parts: list[str] = []
    if state.tabs:
        tabs = [
            f"- {place}:{' (current)' if place == 0 else ''} [{title}]({url})"
            for place, (title, url) in enumerate(state.tabs)
        ]
        parts += ["### Open tabs", *tabs]
    parts += ["### Page", f"- Page URL: {state.url}", f"- Page Title: {state.title}"]
    if state.dialog:
        kind, _, message = state.dialog.partition(" ")
        return "\n".join(
            [
                *parts,
                "### Modal state",
                f"- [{message} {kind} dialog]: can be handled by browser_handle_dialog",
            ]
        )
    lines: list[str] = []
    for node in state.nodes:
        if node.role == "text":
            lines.append(f"- text: {node.name}")
            continue
        states = _states_of_theirs(node.states)
        lines.append(
            f'- {node.role} "{node.name}"' + (f" [ref=e{node.number}]" if node.number else "") + states
        )
    return "\n".join([*parts, "### Snapshot", "```yaml", *lines, "```"])


def _states_of_theirs(states: str) -> str:
    if states == "checked":
        return " [checked]"
    for begin in ("value=", "options=", "multiple options="):
        if states.startswith(begin):
            return f": {states.removeprefix(begin).strip(chr(34))}"
    return ""
