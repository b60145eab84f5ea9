"""MCP clients: where each keeps its servers, and how an entry is written there."""

import os
import sys
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Literal

Transport = Literal["stdio", "http", "sse"]

TOKEN_VARIABLE = "MCP_BROWSER_TOKEN"

_BY_NAME: Mapping[Transport, str] = {"stdio": "stdio", "http": "http", "sse": "sse"}
_URLS: Mapping[Transport, str] = {"http": "url", "sse": "url"}


@dataclass(frozen=True, slots=True)
class Client:
    """A client: its files, and the form of an entry.

    `file` is the user's own, with `{home}` and `{config}` to be filled in; `project` one in a project's
    folder. `keys` lead to the entries. `types` has the `type` of an entry by transport, where one is written;
    `urls` the key of its address. What reaches no server by HTTP itself does it by the program mcp-remote.
    `skills` is the folder of skills in the user's home and in a project's folder, where it reads any.
    """

    title: str
    file: str
    project: str | None = None
    _: KW_ONLY
    keys: tuple[str, ...] = ("mcpServers",)
    types: Mapping[Transport, str] = field(default_factory=dict[Transport, str])
    urls: Mapping[Transport, str] = field(default_factory=lambda: _URLS)
    by_mcp_remote: bool = False
    skills: str | None = None

    @property
    def is_toml(self) -> bool:
        return self.file.endswith(".toml")

    def path(self, *, project: bool) -> Path | None:
        """The file, in the working folder or the user's; None where a project can have none."""
        if project:
            return Path.cwd() / self.project if self.project else None
        home = Path.home()
        on_unix = home / ".config"
        match sys.platform:
            case "darwin":
                config, zed = home / "Library" / "Application Support", on_unix / "zed"
            case "win32":
                config = Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming")
                zed = config / "Zed"
            case _:
                config = Path(os.environ.get("XDG_CONFIG_HOME") or on_unix)
                zed = config / "zed"
        codex = os.environ.get("CODEX_HOME") or home / ".codex"
        return Path(self.file.format(home=home, config=config, zed=zed, codex=codex))

    def local_entry(self, command: str, *arguments: str) -> dict[str, Any]:
        """An entry for a server that the client starts."""
        kind = {"type": self.types["stdio"]} if "stdio" in self.types else {}
        return {**kind, "command": command, "args": list(arguments)}

    def remote_entry(self, transport: Transport, url: str, token: str | None = None) -> dict[str, Any] | None:
        """An entry for a server at an address; None where the client does not speak that transport."""
        bearer = f"Bearer {token}" if token else None
        if self.by_mcp_remote:
            arguments = ["-y", "mcp-remote", url, "--transport", f"{transport}-only"]
            if bearer is None:
                return {"command": "npx", "args": arguments}
            # Claude Desktop on Windows breaks arguments at their spaces.
            arguments += ["--header", "Authorization:${AUTHORIZATION}"]
            return {"command": "npx", "args": arguments, "env": {"AUTHORIZATION": bearer}}
        if transport not in self.urls:
            return None
        entry: dict[str, Any] = {"type": self.types[transport]} if transport in self.types else {}
        entry[self.urls[transport]] = url
        if bearer is not None and self.is_toml:
            entry["bearer_token_env_var"] = TOKEN_VARIABLE
        elif bearer is not None:
            entry["headers"] = {"Authorization": bearer}
        return entry


TRANSPORT_KEYS = frozenset(
    ("type source command args url httpUrl serverUrl headers bearer_token_env_var http_headers").split()
)
"""The keys of an entry that say how the server is reached; others, such as `disabled`, are the user's."""

_STORAGE = "{config}/Code/User/globalStorage"

CLIENTS: Mapping[str, Client] = {
    "claude-desktop": Client(
        "Claude Desktop", "{config}/Claude/claude_desktop_config.json", by_mcp_remote=True
    ),
    "claude-code": Client(
        "Claude Code", "{home}/.claude.json", ".mcp.json", types=_BY_NAME, skills=".claude/skills"
    ),
    "vscode": Client(
        "VS Code",
        "{config}/Code/User/mcp.json",
        ".vscode/mcp.json",
        keys=("servers",),
        types=_BY_NAME,
        skills=".copilot/skills",
    ),
    "cursor": Client("Cursor", "{home}/.cursor/mcp.json", ".cursor/mcp.json", skills=".cursor/skills"),
    "windsurf": Client(
        "Windsurf", "{home}/.codeium/windsurf/mcp_config.json", urls={"http": "serverUrl", "sse": "serverUrl"}
    ),
    "zed": Client(
        "Zed", "{zed}/settings.json", ".zed/settings.json", keys=("context_servers",), urls={"http": "url"}
    ),
    "cline": Client(
        "Cline",
        f"{_STORAGE}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        types={"http": "streamableHttp", "sse": "sse"},
    ),
    "roo": Client(
        "Roo Code",
        f"{_STORAGE}/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        ".roo/mcp.json",
        types={"http": "streamable-http", "sse": "sse"},
    ),
    "continue": Client(
        "Continue",
        "{home}/.continue/mcpServers/mcp-browser.json",
        ".continue/mcpServers/mcp-browser.json",
        types={"http": "http", "sse": "sse"},
    ),
    "gemini": Client(
        "Gemini CLI",
        "{home}/.gemini/settings.json",
        ".gemini/settings.json",
        urls={"http": "httpUrl", "sse": "url"},
        skills=".gemini/skills",
    ),
    "codex": Client(
        "Codex CLI",
        "{codex}/config.toml",
        ".codex/config.toml",
        keys=("mcp_servers",),
        urls={"http": "url"},
        skills=".agents/skills",
    ),
}
"""The clients by the names that `mcp-browser config` takes."""
