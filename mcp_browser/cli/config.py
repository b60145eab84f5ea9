"""`mcp-browser config`, `skill` and `token`: what a client needs to use this server, or its commands.

Each is printed, or written to where a client looks for it.
"""

import contextlib
import json
import re
import shlex
import shutil
import stat
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import tomlkit
from tomlkit.exceptions import TOMLKitError

from mcp_browser.browser.files.artifacts import write_whole
from mcp_browser.cli.arguments import Arguments
from mcp_browser.cli.clients import CLIENTS, TOKEN_VARIABLE, TRANSPORT_KEYS, Client, Transport
from mcp_browser.cli.sources import LoadedSettings, with_all_tools
from mcp_browser.errors import SettingsError
from mcp_browser.settings import Settings, all_options, did_you_mean
from mcp_browser.version import DISTRIBUTION

if TYPE_CHECKING:
    from mcp_browser.actions.registry import RegisteredAction, Registry

NAME = "browser"
SKILL = "mcp-browser"

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')  # Of JSON
_OURS = ("mcp-browser", "mcp_browser")  # Of which the command of an entry of ours has one
_FOR_A_WHILE = {"archive-v0", "environments-v2"}  # Folders of uv's cache that hold environments


def config(loaded: LoadedSettings, asked: Arguments) -> int:
    """Show the entry for a client, or write it into the client's file; the exit code.

    The entry starts the server with the flags and the configuration file that were given. Raises
    SettingsError: there is no such client or transport, or the file cannot be read or written.
    """
    given, client_name = asked.given, str(asked.given.get("client") or "")
    if client_name not in CLIENTS:
        unknown = f"there is no client {client_name!r}{did_you_mean(client_name, CLIENTS)}"
        problem = unknown if client_name else "name a client"
        raise SettingsError(f"{problem}: mcp-browser config {'|'.join(CLIENTS)}.")
    client = CLIENTS[client_name]
    entry = _entry(client, loaded.settings, given, _words(asked.flags, asked.config))
    path = cast("Path | None", given.get("file")) or client.path(project="project" in given)
    if path is None:
        raise SettingsError(f"{client.title} has no configuration for a project; leave out --project.")
    name = str(given.get("name") or NAME)
    code = 0
    if "write" not in given:
        _show(client, name, entry, f"This belongs into {path}; --write puts it there.")
    elif not changed(
        path.expanduser(),
        lambda before, place: _merged(client, before, name, entry, place),
        what="this entry",
        done=f"Wrote the server {name!r} to {{path}}. Start {client.title} again to use it.",
    ):
        why = "the entry cannot be put there without changing other entries or comments"
        _show(client, name, entry, f"{path} is left as it is: {why}. Put this there.")
        code = 1
    if "bearer_token_env_var" in entry:
        sys.stderr.write(f"{client.title} takes the token from {TOKEN_VARIABLE}, which must be set for it.\n")
    return code


def _entry(
    client: Client, settings: Settings, given: Mapping[str, Any], words: tuple[str, ...]
) -> dict[str, Any]:
    url = str(given.get("url") or "")
    by_address: Transport = "stdio" if not url else "sse" if url.rstrip("/").endswith("/sse") else "http"
    transport: Transport = given.get("transport") or by_address
    if transport == "stdio":
        if url:
            raise SettingsError("--url is for --transport http or sse.")
        return client.local_entry(*program(), "--stdio", *words)
    if not url:
        raise SettingsError(
            f"--transport {transport} needs --url, such as https://browser.example.com/"
            f"{'sse' if transport == 'sse' else 'mcp'}."
        )
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise SettingsError(f"--url must be an address such as https://browser.example.com/mcp, not {url!r}.")
    if words:
        flag = words[0].partition("=")[0]
        raise SettingsError(f"{flag} is for a server that the client starts; with --url it has its own.")
    token = settings.access.token
    # Of several, each `name:token`, the first one.
    first = token.get_secret_value().partition(",")[0].rpartition(":")[2].strip() if token else None
    entry = client.remote_entry(transport, url, first)
    if entry is None:
        raise SettingsError(
            f"{client.title} does not speak {transport}: start the server with --http, and give "
            "--url its address for that, which ends with /mcp."
        )
    return entry


def program() -> tuple[str, ...]:
    """The words that start this program again, wherever it is started from."""
    home = Path(sys.prefix)
    # An environment that is kept for a while only is made again by what has made it.
    if _FOR_A_WHILE & set(home.parts):
        return (shutil.which("uvx") or "uvx", DISTRIBUTION)
    if "pipx" in home.parts and {".cache", "cache"} & {part.lower() for part in home.parts}:
        return (shutil.which("pipx") or "pipx", "run", DISTRIBUTION)
    beside = Path(sys.executable).parent / ("mcp-browser.exe" if sys.platform == "win32" else "mcp-browser")
    return (str(beside),) if beside.is_file() else (sys.executable, "-m", "mcp_browser")


def _words(flags: Mapping[str, Any], file: Path | None) -> tuple[str, ...]:
    """The settings as words of a command line; paths are whole, since clients start servers anywhere."""
    words = [f"--config={file.expanduser().absolute()}"] if file else []
    for name, value in flags.items():
        option = all_options()[name]
        if name in {"http", "sse"}:
            if value:
                raise SettingsError(f"Start the server with {option.flag}, and name its address here: --url.")
            continue
        if isinstance(value, bool):
            words.append(option.flag if value else str(option.off_flag))
            continue
        for one in cast("list[str]", value) if isinstance(value, list) else [str(value)]:
            whole = Path(one).expanduser().absolute() if option.holds_paths else one
            words.append(f"{option.flag}={whole}")
    return tuple(words)


def entry_as_text(client: Client, name: str, entry: Mapping[str, Any]) -> str:
    """The entry alone, as it stands in a file of the client's."""
    content = nested((*client.keys, name), dict(entry))
    return (
        tomlkit.dumps(content) if client.is_toml else json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    )


def _show(client: Client, name: str, entry: Mapping[str, Any], where: str) -> None:
    sys.stdout.write(entry_as_text(client, name, entry))
    sys.stdout.flush()
    sys.stderr.write(f"{where}\n")


def changed(path: Path, change: Callable[[str, Path], str | None], *, what: str, done: str) -> bool:
    """Change a client's file, say so, keep a copy; whether it could be. Raises SettingsError."""
    # A configuration that is kept elsewhere and linked here stays a link.
    path = path.resolve()
    try:
        before = path.read_bytes().decode("utf-8") if path.exists() else ""
        after = change(before, path)
        if after is None:
            return False
        if after == before:
            sys.stdout.write(f"{path} has {what} already.\n")
            return True
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
        backup = _backed_up(path) if before else None
        write_whole(path, after.encode("utf-8"))
        if mode is not None:
            path.chmod(mode)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SettingsError(f"{path} cannot be changed: {why}.") from None
    sys.stdout.write(f"{done.format(path=path)}\n")
    if backup is not None:
        sys.stdout.write(f"The file as it was: {backup}\n")
    return True


def _merged(client: Client, text: str, name: str, entry: dict[str, Any], path: Path) -> str | None:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark)
    keys = (*client.keys, name)
    try:
        old = _table(parsed(text, toml=client.is_toml), keys)
        if old and not _is_ours(old, entry):
            raise SettingsError(
                f"{path} has another server named {name!r}: give this one a name with --name, or delete that."
            )
        kept = {key: value for key, value in old.items() if key not in TRANSPORT_KEYS}
        if environment := kept.get("env", {}) | entry.get("env", {}):
            kept["env"] = environment
        entry = {**entry, **kept}
        after = text if old == entry else with_entry(text, keys, entry, toml=client.is_toml)
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError) and re.search(r"//|/\*", _STRING.sub("", text)):
            return None  # It has comments, which some clients allow.
        reason = " ".join(str(error).split())
        raise SettingsError(f"{path} cannot be read, and is left as it is: {reason}.") from None
    return None if after is None else mark + after


# -- files of clients: TOML, whose comments tomlkit keeps, and JSON, of which nothing keeps comments


def parsed(text: str, *, toml: bool) -> dict[str, Any]:
    """Return the content of a client's file, which may be empty; ValueError: it is no TOML or JSON object."""
    content: Any = tomllib.loads(text) if toml else json.loads(text.strip() or "{}")
    if not isinstance(content, dict):
        raise ValueError("it holds no JSON object")
    return cast("dict[str, Any]", content)


def with_entry(text: str, path: Sequence[str], entry: dict[str, Any], *, toml: bool) -> str | None:
    """Return the text with the entry at a path of keys; None where it cannot be put there alone.

    What is written is parsed and compared with what was there plus the entry. Raises
    ValueError: it is no TOML, or no JSON object, or what stands on the path is none.
    """
    wanted = parsed(text, toml=toml)
    tables = [wanted]
    for key in path:
        inner: Any = tables[-1].setdefault(key, {})
        if not isinstance(inner, dict):
            raise ValueError(f'its "{key}" is no {"table" if toml else "object"}')
        tables.append(cast("dict[str, Any]", inner))
    tables[-2][path[-1]] = entry
    for change in (_appended, _updated) if toml else (_rewritten,):
        # tomlkit cannot change each way of writing, and not always says so by an error of its own.
        with contextlib.suppress(ValueError, LookupError, TOMLKitError):
            changed = change(text.replace("\r\n", "\n"), path, wanted)
            changed.encode()
            if _exact(parsed(changed, toml=toml)) == _exact(wanted):
                return changed.replace("\n", "\r\n") if "\r\n" in text else changed
    return None


def nested(path: Sequence[str], value: object) -> Any:
    """Return a value as the only one at a path of keys."""
    for key in reversed(path):
        value = {key: value}
    return value


def _at(content: Any, path: Sequence[str]) -> Any:
    for key in path:
        content = content[key]
    return content


def _exact(content: object) -> str:
    """Return a text that differs wherever two contents do: 1, 1.0 and true are equal to Python."""
    return json.dumps(content, sort_keys=True, default=repr)


def _appended(text: str, path: Sequence[str], wanted: dict[str, Any]) -> str:
    return (f"{text.rstrip()}\n\n" if text.strip() else "") + tomlkit.dumps(nested(path, _at(wanted, path)))


def _updated(text: str, path: Sequence[str], wanted: dict[str, Any]) -> str:
    """What stays keeps its place and its comment."""
    document = tomlkit.parse(text)
    tables, entry = _at(document, path[:-1]), _at(wanted, path)
    table: Any = tables.setdefault(path[-1], entry)
    for key in table.keys() - entry.keys():
        del table[key]
    for key, value in entry.items():
        if table.get(key) != value:
            table[key] = value
    return tomlkit.dumps(document)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(content := dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice in an object")
    return content


def _rewritten(text: str, _path: Sequence[str], wanted: dict[str, Any]) -> str:
    """In the file's own indentation: that of the first line that has any."""
    json.loads(text or "{}", object_pairs_hook=_without_repeats)
    found = re.search(r"^[ \t]+", text, re.MULTILINE)
    return json.dumps(wanted, indent=found[0] if found else "  ", ensure_ascii=False, allow_nan=False) + "\n"


def _table(content: object, path: Sequence[str]) -> Mapping[str, Any]:
    """The table at a path of keys; an empty one where there is none."""
    for key in path:
        content = cast("dict[str, Any]", content).get(key) if isinstance(content, dict) else None
    return cast("dict[str, Any]", content) if isinstance(content, dict) else {}


def _is_ours(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether an entry starts this server, or reaches the one that the new entry does."""

    def words(entry: Mapping[str, Any]) -> list[str]:
        return [str(word) for word in (*entry.values(), *entry.get("args", ()))]

    command = " ".join(map(str, (old.get("command", ""), *old.get("args", ()))))
    addresses = [word for word in words(new) if word.startswith("http")]
    return any(name in command for name in _OURS) or any(address in words(old) for address in addresses)


def _backed_up(path: Path) -> Path:
    number = 1
    while (backup := path.with_name(f"{path.name}.bak{'' if number == 1 else number}")).exists():
        number += 1
    shutil.copy2(path, backup)
    return backup


def skill(loaded: LoadedSettings, asked: Arguments) -> int:
    """Print the skill, or write it to where a client looks for one; the exit code. Raises SettingsError."""
    from mcp_browser.server.tool_groups import load_actions  # noqa: PLC0415 - imports every action

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
        home / str(client.skills) / SKILL / "SKILL.md",
        lambda _before, _path: text,
        what="this skill",
        done=f"Wrote the skill to {{path}}. Start {client.title} again to use it.",
    )
    return 0


def skill_text(registry: "Registry", command: str) -> str:
    """Return the skill for these actions; `command` starts this program."""

    import jinja2  # noqa: PLC0415

    from mcp_browser.cli.commands import usage  # noqa: PLC0415 - imports every action

    def actions(names: str) -> "list[RegisteredAction]":
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


def token(loaded: LoadedSettings, asked: Arguments) -> int:
    """Make a token and print it, and nothing else, to standard output; the exit code.

    With a file of tokens in the settings its hash is added there, and counts within a second where a server
    reads the file. What to do with it is written to standard error. Raises SettingsError.
    """
    from mcp_browser.server.http.auth.tokens import DEFAULT_NAME, add_token, new_token  # noqa: PLC0415

    name, tokens = str(asked.given.get("name") or DEFAULT_NAME), loaded.settings.access.tokens
    if tokens is None:
        made = new_token()
        how = f"Start the server with MCP_BROWSER_TOKEN={name}:TOKEN in its environment."
    else:
        made = add_token(tokens, name)
        how = f"Its hash is in {tokens}, and counts for servers with --tokens {tokens}."
    sys.stdout.write(f"{made}\n")
    sys.stdout.flush()
    sys.stderr.write(
        f"{how}\nClients send the header `Authorization: Bearer TOKEN`. It is not shown again.\n"
    )
    return 0
