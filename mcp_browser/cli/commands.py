"""The actions as commands of a terminal, such as `input_text 8 "tea" --submit`, by their models."""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, cast

from mcp_browser.actions.code import secrets_named
from mcp_browser.actions.registry import RegisteredAction, Registry, is_typed_in
from mcp_browser.actions.schema import Schema, tool_schema
from mcp_browser.cli.arguments import Arguments, Parser, settings_length, whole_parser
from mcp_browser.cli.sources import LoadedSettings, with_all_tools
from mcp_browser.errors import SettingsError
from mcp_browser.server.tool_groups import load_actions
from mcp_browser.settings import did_you_mean

STDIN = "stdin"
"""The name of the secret that `--secret-stdin` reads."""

FROM_STDIN = "-"
OUTPUT = ("--json", "--file", "--secret-stdin")
OTHERS = {
    FROM_STDIN: "carry out the commands of standard input, one a line",
    "status": "list the sessions; --json for programs",
    "stop": "end the session; --all ends all",
}
"""What may stand in the place of an action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalCommand:
    """A command as it was read: an action with its arguments, and what is to be done with its result.

    Without an action, the commands stand on standard input, one a line.
    """

    action: RegisteredAction | None
    arguments: Mapping[str, Any]
    as_json: bool = False
    file: Path | None = None
    reads_secret: bool = False

    @property
    def names_secret(self) -> bool:
        """Whether a secret stands in the arguments by its name."""
        return any(secrets_named(self.arguments))


class Commands:
    """Reads commands for the actions of a registry."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry

    def parse(self, words: Sequence[str], before: Sequence[str] = ()) -> TerminalCommand:
        """Read a command; `before` are words for the output before its name. Raises SettingsError."""
        name, *rest = words
        if name == FROM_STDIN:
            action, parser = None, Parser(prog="mcp-browser do -")
            add_output(parser, types=False)
        else:
            action = self.action(name)
            parser = parser_of(action, without_typed="--secret-stdin" in (*before, *rest))
        found, unknown = parser.parse_known_args([*before, *rest])
        if unknown:
            known = re.findall(r"--[a-z][a-z-]*", parser.format_help())
            is_value = unknown[0].startswith("-") and not unknown[0].startswith("--")
            hint = " (a value that begins with - stands after --)" if is_value else ""
            takes = f" It takes: {usage(action)}." if action is not None else ""
            raise SettingsError(
                f"{name} takes no {unknown[0]}{did_you_mean(unknown[0], known) or hint}.{takes}"
            )
        values = vars(found)
        file = values.pop("output_file", None)
        if file is not None and not (place := Path(file).expanduser().absolute().parent).is_dir():
            raise SettingsError(f"--file: there is no folder {place}.")
        reads_secret = values.pop("secret_stdin", False)
        if action is None and (file is not None or reads_secret):
            raise SettingsError("- takes neither --file nor --secret-stdin; its commands may take --file.")
        return TerminalCommand(
            as_json=values.pop("output_json", False),
            file=None if file is None else Path(file).expanduser().absolute(),
            reads_secret=reads_secret,
            action=action,
            arguments=_arguments(action, values, reads_secret=reads_secret) if action is not None else {},
        )

    def action(self, name: str) -> RegisteredAction:
        """Return an action. Raises SettingsError: there is none of that name."""
        if name not in self.registry:
            names = [action.name for action in self.registry]
            word = name.partition("_")[0]
            alike = [one for one in names if word in one.split("_")] or get_close_matches(name, names)
            near = f" (did you mean {', '.join(alike[:3])}?)" if alike else ""
            raise SettingsError(f"there is no action {name!r}{near}; `mcp-browser do --help` lists them.")
        return self.registry[name]

    def add_to(self, parsers: Any) -> None:
        """Add a parser of each action, and what else may stand in its place."""
        for action in self.registry:
            about = action.description.partition(". ")[0].rstrip(".")[:100].replace("%", "%%")
            parser_of(action, make=partial(parsers.add_parser, action.name, help=about))
        for name, about in OTHERS.items():
            parsers.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")


def completion(loaded: LoadedSettings, asked: Arguments) -> int:
    """Print the script by which a shell completes commands and settings; the exit code."""
    import shtab  # noqa: PLC0415 - not for `do`

    commands = Commands(load_actions(with_all_tools(loaded).settings.tools))
    script = shtab.complete(whole_parser(commands.add_to), shell=asked.given["shell"])
    # In bash the names of files are completed where nothing else is.
    sys.stdout.write(script.replace("\ncomplete -o ", "\ncomplete -o default -o ") + "\n")
    return 0


def split(words: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Split words into those for the output and the settings before the name of the action, and the rest."""
    output: list[str] = []
    at = begun = 0
    settings: list[str] = []
    while at < len(words) and words[at].startswith("-") and words[at] != FROM_STDIN:
        begun = at
        is_output = words[at].partition("=")[0] in OUTPUT
        at += (2 if words[at] == "--file" else 1) if is_output else settings_length(words[at:])
        (output if is_output else settings).extend(words[begun:at])
    return output, settings, list(words[at:])


def parser_of(
    action: RegisteredAction,
    *,
    without_typed: bool = False,
    make: Callable[..., argparse.ArgumentParser] | None = None,
) -> argparse.ArgumentParser:
    """Return the parser of an action: what it needs stands in its order, the rest are options.

    Where it needs nothing, its first argument may stand without its flag: `close_tab 3`.

    With `without_typed` the text that is typed into the page is not expected. `make` makes the parser.
    """
    description = action.description
    if action.is_bound_to_pages:
        description += f" Only on {', '.join(action.domains) or 'pages that pass its filter'}."
    parser = (make or partial(Parser, prog=f"mcp-browser do {action.name}"))(
        description=description, conflict_handler="resolve"
    )
    add_output(parser, types=any(_typed(action)))
    schema = tool_schema(action.param_model)
    typed = set(_typed(action)) if without_typed else set[str]()
    needed, fields = schema.get("required", ()), schema["properties"]
    # What a number like a timeout is for comes first.
    first = next(
        (name for name, field in fields.items() if not (_is(field, "number") and "default" in field)),
        next(iter(fields), None),
    )
    for name, field in fields.items():
        if name in typed:
            continue
        about = _about(field)
        is_list, flag = _is(field, "array"), f"--{name.replace('_', '-')}"
        if name in needed:
            parser.add_argument(name, metavar=name.upper(), help=about, nargs="+" if is_list else None)
        elif _is(field, "boolean"):
            kind = "store_true" if field.get("default") is False else argparse.BooleanOptionalAction
            parser.add_argument(flag, dest=name, action=kind, help=about)
        else:
            kind = "append" if is_list else "store"
            if name == first and not needed and not is_list:
                parser.add_argument(name, nargs="?", metavar=name.upper(), help=argparse.SUPPRESS)
            parser.add_argument(flag, dest=name, action=kind, metavar=_placeholder(field), help=about)
    return parser


def usage(action: RegisteredAction) -> str:
    """Return an action with its arguments in one line, without those for the output."""
    schema = tool_schema(action.param_model)
    needed, options = [action.name], list[str]()
    for name, field in schema["properties"].items():
        flag = f"--{name.replace('_', '-')}"
        if name in schema.get("required", ()):
            needed.append(f"{name.upper()}…" if _is(field, "array") else name.upper())
        elif _is(field, "boolean"):
            options.append(f"[--no-{flag[2:]}]" if field.get("default") is True else f"[{flag}]")
        else:
            options.append(f"[{flag} {_placeholder(field)}]")
    return " ".join((*needed, *options))


def add_output(parser: argparse.ArgumentParser, *, types: bool) -> None:
    """Let a parser take what is done with the result; its help shows how to give a secret if it `types`."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--json", dest="output_json", action="store_true", default=False, help="print the result as JSON"
    )
    group.add_argument(
        "--file", dest="output_file", metavar="PATH", help="write the result, or its picture, to this file"
    )
    group.add_argument(
        "--secret-stdin",
        action="store_true",
        default=False,
        help="type what standard input has; no result shows it" if types else argparse.SUPPRESS,
    )


def _about(field: Schema) -> str:
    about = str(field.get("description", ""))
    if field.get("default") not in (None, False, ""):
        about += f" [{field['default']}]"
    if _is(field, "array") and "enum" not in (items := field.get("items", {})):
        keys = ", ".join(f'"{name}": …' for name in items.get("properties", ()))
        shape = f": {{{keys}}}" if keys else ""
        about += f" (JSON{shape}, or @FILE)" if items.get("type") != "string" else ""
    elif _is(field, "object"):
        about += " (JSON, or @FILE)"
    return about.strip().replace("%", "%%")


def _placeholder(field: Schema) -> str:
    if {"type": "integer"} in field.get("anyOf", ()):
        return "INDEX"
    choices = field.get("enum") or field.get("items", {}).get("enum")
    if choices:
        return "|".join(map(str, choices))
    if _is(field, "object"):
        return "JSON"
    return {"integer": "NUMBER", "number": "NUMBER"}.get(str(field.get("type")), "TEXT")


def _is(field: Schema, kind: str) -> bool:
    """Whether a field is of this type, in all its forms where it has several."""
    forms = [one for one in field.get("anyOf") or field.get("oneOf") or () if one.get("type") != "null"]
    return all(_is(one, kind) for one in forms) if forms else field.get("type") == kind


def _typed(action: RegisteredAction) -> Iterator[str]:
    return (name for name, field in action.param_model.model_fields.items() if is_typed_in(field))


def _arguments(action: RegisteredAction, values: Mapping[str, Any], *, reads_secret: bool) -> dict[str, Any]:
    """Return the words as the values that the action's model takes; it reads numbers and indexes itself."""
    properties = tool_schema(action.param_model)["properties"]
    arguments: dict[str, Any] = {}
    for name, value in values.items():
        field: Schema = properties[name]
        if _is(field, "array"):
            arguments[name] = [part for word in value for part in _parts(name, word, field.get("items", {}))]
        elif _is(field, "object"):
            arguments[name] = _json(name, value)
        else:
            arguments[name] = value
    if reads_secret:
        arguments |= dict.fromkeys(_typed(action), f"<secret>{STDIN}</secret>")
        if STDIN not in secrets_named(arguments):
            raise SettingsError(
                f"{action.name} types nothing: --secret-stdin is for an action that does, and one that has "
                f"<secret>{STDIN}</secret> among its values."
            )
    return arguments


def _parts(name: str, word: str, items: Schema) -> list[Any]:
    """What one word says of a list: a part of it, or several as JSON."""
    if items.get("type", "string") == "string" and not word.startswith(("@", "[")):
        return [word]
    value = _json(name, word)
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _json(name: str, word: str) -> Any:
    text, where = word, f"{name.upper()} must be JSON or @FILE"
    if word.startswith("@"):
        where = f"{name.upper()}: {word[1:]} must hold JSON"
        try:
            text = Path(word[1:]).expanduser().read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise SettingsError(f"{name.upper()}: {word[1:]} cannot be read: {reason}.") from None
    try:
        return json.loads(text)
    except ValueError as error:
        raise SettingsError(f"{where}: {error}.") from None
