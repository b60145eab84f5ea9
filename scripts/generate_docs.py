"""Write what the documents say about tools and settings, from the registry and the settings themselves.

python scripts/generate_docs.py            write README.md, the documents, the history's schema
python scripts/generate_docs.py --check    exit with 1 where they are out of date
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcp_browser.actions import default_registry
from mcp_browser.actions.registry import RegisteredAction
from mcp_browser.actions.schema import tool_schema
from mcp_browser.agent.record.history import history_schema
from mcp_browser.cli.clients import CLIENTS, Client
from mcp_browser.cli.config import NAME, entry_as_text
from mcp_browser.server.calls import ServerTool
from mcp_browser.server.person import PersonTools
from mcp_browser.server.prompts import all_prompts
from mcp_browser.server.runs.tools import RunTools, TaskFiles
from mcp_browser.server.sessions.tools import session_tools
from mcp_browser.server.tool_groups import AGENT_TOOLS, PERSON, SESSIONS
from mcp_browser.settings import Option, Settings, all_options, group_titles
from scripts.counterparts import counterpart_tables

ROOT = Path(__file__).resolve().parent.parent

_EXAMPLES: dict[str, dict[str, Any]] = json.loads((ROOT / "docs" / "examples.json").read_text("utf-8"))


def main() -> int:
    """Write or check; the exit code."""
    check = "--check" in sys.argv[1:]
    wanted = {
        ROOT / "README.md": _readme(),
        ROOT / "docs" / "tools.md": _tools(),
        ROOT / "docs" / "prompts.md": _prompts(),
        ROOT / "docs" / "settings.md": _settings(),
        **{
            path: _filled(path, counterparts=counterpart_tables(server, groups(), schemas(), _flags()))
            for server in ("playwright-mcp", "chrome-devtools-mcp")
            for path in (ROOT / "docs" / f"moving-from-{server}.md",)
        },
        ROOT / "docs" / "start.md": _filled(ROOT / "docs" / "start.md", clients=_clients()),
        ROOT / "docs" / "agent-history.schema.json": json.dumps(history_schema(), indent=1) + "\n",
    }
    stale = {
        path: text for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text
    }
    for path, text in stale.items():
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        sys.stdout.write(f"{'out of date' if check else 'written'}: {path.relative_to(ROOT)}\n")
    if check and stale:
        sys.stdout.write("Bring them up to date with `just docs`.\n")
        return 1
    return 0


def _readme() -> str:
    return _filled(ROOT / "README.md", tools=_tool_table())


def _prompts() -> str:
    return _filled(ROOT / "docs" / "prompts.md", prompts=_prompt_table())


def _filled(path: Path, **parts: str) -> str:
    """A document with its generated parts, each between two comments that name it."""
    text = path.read_text("utf-8")
    for name, part in parts.items():
        pattern = rf"(<!-- generated: {name} -->\n).*?(<!-- end: {name} -->)"
        if not re.search(pattern, text, re.DOTALL):
            raise SystemExit(f"{path.name} has no place for the generated {name}")
        text = re.sub(pattern, lambda found, part=part: found[1] + part + found[2], text, flags=re.DOTALL)
    return text


def _prompt_table() -> str:
    lines = ["| Prompt | What it is for | Arguments | Offered with |", "|---|---|---|---|"]
    for prompt in all_prompts():
        arguments = "<br>".join(
            (f"`{one.name}`" if one.required else f"*`{one.name}`*") + f": {_cell(one.description or '')}"
            for one in prompt.arguments or ()
        )
        needs = ", ".join(f"[`{name}`](tools.md#{name})" for name in prompt.needs)
        lines.append(f"| `{prompt.name}` | {prompt.description} | {arguments} | {needs} |")
    return "\n".join(lines) + "\n\nArguments in *italics* are optional.\n"


_GROUPS = {
    "core": "Navigate, click, type, read",
    "extraction": "Data by schema, tables, articles",
    "files": "Drop, save, list and read files",
    "console": "Console messages",
    "mouse": "Mouse and keys by coordinates",
    "emulation": "Device, locale, network",
    "scripting": "JavaScript in the page",
    "network": "Inspect, mock and block requests",
    "storage": "Cookies, local storage, logins",
    "testing": "Assertions, Playwright scripts",
    "audit": "Accessibility, pictures, speed",
    "page_tools": "Tools that a page offers (WebMCP)",
    "recording": "Videos and traces",
    "browser_action": "All of it by one tool and pictures",
    "agent": "Whole tasks by an agent",
    PERSON: "Ask the person to act",
    SESSIONS: "Several browser sessions",
}
"""What the tools of each group are for, in the README."""


def _tool_table() -> str:
    rows: list[str] = []
    for group, names in groups().items():
        links = ", ".join(f"[`{name}`](docs/tools.md#{name})" for name in names)
        rows.append(f"| `{group}` | {_GROUPS[group]} | {links} |")
    return "\n".join(["| Group | For | Tools |", "|---|---|---|", *rows]) + "\n"


_ABOUT_SESSIONS = (
    "Always offered over HTTP and SSE, as told here. Over stdio `new_session` has `isolated` (clean, without "
    "the profile's logins) instead of `profile` and `logins_of`, and `close_session` without `session` "
    "closes the default one."
)


def groups() -> dict[str, list[str]]:
    """The tools' names by their groups, the server's own last."""
    groups: dict[str, list[str]] = {}
    for action in default_registry():
        groups.setdefault(action.group, []).append(action.name)
    return groups | {group: [tool.name for tool in tools] for group, tools in _own_tools().items()}


def schemas() -> dict[str, dict[str, Any]]:
    """The arguments of every tool by its name, as a JSON schema."""
    actions = {action.name: action.param_model for action in default_registry()}
    own = {tool.name: tool.param_model for tools in _own_tools().values() for tool in tools}
    return {name: tool_schema(model) for name, model in (actions | own).items()}


def _own_tools() -> dict[str, list[ServerTool[Any]]]:
    """The tools that are not actions of a page."""
    nothing: Any = None
    agent = RunTools(Settings(), nothing, default_registry(), TaskFiles(nothing))
    return {
        "agent": agent.tools(AGENT_TOOLS),
        PERSON: [PersonTools(nothing).tool()],
        SESSIONS: list(session_tools(nothing)),
    }


def _flags() -> list[str]:
    return [flag for option in all_options().values() for flag in (option.flag, option.off_flag) if flag]


def _settings() -> str:
    return "\n".join(
        [
            "<!-- Made by `just docs` from the settings themselves; do not edit. -->",
            "",
            "# Settings",
            "",
            "Each is a flag, a variable (`--action-timeout` is `MCP_BROWSER_ACTION_TIMEOUT`), or a line of",
            "the TOML or JSON file that `--config` names (`action-timeout = 5`). A flag wins over a",
            "variable, that over the file. A wrong setting ends the program with one line that says what",
            "is allowed, and exit code 2.",
            "",
            _settings_table(),
        ]
    )


def _settings_table() -> str:
    lines: list[str] = []
    options = all_options().values()
    for group, title in group_titles().items():
        lines += [f"## {title}", "", "| Flag | Default | What it does |", "|---|---|---|"]
        lines += [_setting_row(option) for option in options if option.group == group]
        lines.append("")
    return "\n".join(lines)


def _setting_row(option: Option) -> str:
    if option.variable_only:
        flag = f"variable `{option.variable}`"
    elif option.off_flag:
        flag = f"`{option.flag}`, `{option.off_flag}`"
    elif option.choices:
        flag = f"`{option.flag}` " + ", ".join(f"`{choice}`" for choice in option.choices)
    else:
        flag = f"`{option.flag} {option.placeholder}`"
    default = f"`{option.default}`" if option.default else ""
    return f"| {flag} | {default} | {_cell(option.description)} |"


SYSTEMS = {
    "Linux": {"home": "~", "config": "~/.config", "zed": "~/.config/zed", "codex": "~/.codex"},
    "macOS": {
        "home": "~",
        "config": "~/Library/Application Support",
        "zed": "~/.config/zed",
        "codex": "~/.codex",
    },
    "Windows": {
        "home": "%USERPROFILE%",
        "config": "%APPDATA%",
        "zed": "%APPDATA%/Zed",
        "codex": "%USERPROFILE%/.codex",
    },
}
"""Where the folders are on each system that a client's file is named by."""


def _clients() -> str:
    lines: list[str] = []
    for name, client in CLIENTS.items():
        entry = client.local_entry("mcp-browser", "--stdio")
        lines += ["", f"### {client.title}", "", "```bash", f"mcp-browser config {name} --write", "```", ""]
        language = "toml" if client.is_toml else "json"
        lines += [f"Its file is {_places(client)}. There it has:", "", f"```{language}"]
        lines += [entry_as_text(client, NAME, entry).rstrip(), "```"]
        if client.project:
            lines += ["", f"A project's own file is `{client.project}`."]
    return "\n".join(lines) + "\n\n"


def _places(client: Client) -> str:
    """The client's file on each system; said once where it is the same everywhere."""
    files = {system: client.file.format(**folders) for system, folders in SYSTEMS.items()}
    files["Windows"] = files["Windows"].replace("/", "\\")
    systems: dict[str, list[str]] = {}
    for system, file in files.items():
        systems.setdefault(file, []).append(system)
    return ", ".join(f"`{file}` on {' and '.join(those)}" for file, those in systems.items())


def _tools() -> str:
    lines = [
        "<!-- Made by `just docs` from the actions themselves; do not edit. -->",
        "",
        "# Tools",
        "",
        "A client is offered the group `core` and `run_task`, other groups with `--tools`, such as",
        "`--tools core,network`; `--tools all` takes all but `sessions`. Arguments in *italics* are",
        "optional. The examples are real results, on the page that `mcp-browser try` shows; in those of the",
        "agent's tools a script stands in the model's place.",
    ]
    group = None
    for action in default_registry():
        if action.group != group:
            group = action.group
            lines += ["", f"## Group `{group}`"]
        lines += ["", *_tool(action)]
    for title, tools in _own_tools().items():
        lines += ["", f"## Group `{title}`"]
        if title == SESSIONS:
            lines += ["", _ABOUT_SESSIONS]
        for tool in tools:
            lines += ["", f"### `{tool.name}`", "", tool.description]
            schema = tool_schema(tool.param_model)
            if properties := schema.get("properties"):
                lines += _arguments(schema, properties)
            lines += _example(tool.name)
    return "\n".join(lines) + "\n"


def _tool(action: RegisteredAction) -> Iterator[str]:
    yield f"### `{action.name}`"
    yield ""
    yield action.description
    marks = [
        {"read": "reads only", "input": "acts on the page", "navigation": "goes elsewhere"}[action.effect]
    ]
    marks += ["may delete or overwrite"] if action.destructive else []
    marks += ["works while a dialog is open"] if action.during_dialog else []
    yield ""
    yield f"*{', '.join(marks).capitalize()}.*"
    schema = tool_schema(action.param_model)
    properties: dict[str, Any] = schema.get("properties", {})
    if properties:
        yield from _arguments(schema, properties)
    yield from _example(action.name)


def _arguments(schema: dict[str, Any], properties: dict[str, Any]) -> Iterator[str]:
    yield ""
    for name, field in properties.items():
        shown = f"`{name}`" if name in schema.get("required", ()) else f"*`{name}`*"
        default = f"; default `{field['default']}`" if field.get("default") not in (None, "", []) else ""
        meaning = " ".join(field.get("description", "").split())
        yield f"* {shown} ({_type(field)}{default})" + (f": {meaning}" if meaning else "")


def _example(name: str) -> Iterator[str]:
    example = _EXAMPLES[name]
    arguments = json.dumps(example["arguments"], ensure_ascii=False)
    yield ""
    yield f"Example: `{name} {arguments}`"
    yield ""
    yield "````text"
    yield from example["result"]
    yield "````"


def _type(field: dict[str, Any]) -> str:
    """A JSON schema's type in a few words."""
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "anyOf" in field:
        return " or ".join(_type(part) for part in field["anyOf"] if part.get("type") != "null")
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}))}"
    return {"integer": "number", "number": "number", "string": "text", "boolean": "true or false"}.get(
        str(field.get("type")), str(field.get("type", "object"))
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
