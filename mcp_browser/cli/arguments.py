"""The command line: its flags, made from the settings, and its commands."""

import argparse
import functools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from mcp_browser.cli.clients import CLIENTS
from mcp_browser.cli.sources import CONFIG_VARIABLE
from mcp_browser.errors import SettingsError
from mcp_browser.settings import Option, all_options, did_you_mean, group_titles
from mcp_browser.settings.values import OWN_BROWSERS

CONFIG = "--config"


def _argument(about: str, metavar: str | None = None, **more: Any) -> Mapping[str, Any]:
    """Return what argparse takes of an argument: a switch where it has no metavar and nothing else."""
    more |= {} if metavar is None else {"metavar": metavar}
    return {"help": about, **(more or {"action": "store_true"})}


def _above_zero(kind: type[int] | type[float]) -> Callable[[str], float]:
    """Return what reads a number above zero for argparse."""

    def read(text: str) -> float:
        with suppress(ValueError):
            if (value := kind(text)) > 0:
                return value
        what = "whole number" if kind is int else "number"
        raise argparse.ArgumentTypeError(f"must be a {what} above 0, not {text!r}")

    return read


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its help, the settings that its own help shows, and its own arguments for argparse.

    Every other setting is taken, too.
    """

    summary: str
    helped: str = ""
    usage: str = ""
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])


_WITH_DEPS = _argument(
    "let the system's package manager install what is missing; else you are asked at a terminal"
)

COMMANDS: Mapping[str, Command] = {
    "try": Command(
        "open a page, print its snapshot and save a screenshot; needs no MCP client",
        "headless executable allow_file_urls output_dir viewport",
        "[URL] ",
        {
            "url": _argument("page to open; without it, a page shipped here", "URL", nargs="?"),
            "--with-deps": _WITH_DEPS,
        },
    ),
    "do": Command(
        "carry out an action in a browser that goes on between the commands, or those of standard input (-)",
        "headless profile isolated config tools",
        "[-s NAME] [SETTINGS] ACTION [ARGUMENTS]",
        {"words": _argument("an action and its arguments, status, or stop", "ACTION", nargs="...")},
    ),
    "run": Command(
        "let the built-in agent do a task; show each step, and print its answer",
        "model model_url secrets headless profile isolated allow_domains view",
        "TASK | --replay TASK ",
        {
            "task": _argument("what is to be done, and what to report", "TASK", nargs="?"),
            "--start-url": _argument("page to begin on", "URL"),
            "--output-schema": _argument("JSON schema that the answer must fit", "FILE", type=Path),
            "--json": _argument("print all of the outcome as JSON"),
            "--max-seconds": _argument("most working time", "NUMBER", type=_above_zero(float)),
            "--max-tokens": _argument("most tokens", "NUMBER", type=_above_zero(int)),
            "--max-cost": _argument("most US dollars", "NUMBER", type=_above_zero(float)),
            "--style": _argument("gui is for vision agents such as UI-TARS", choices=("structured", "gui")),
            "--vision": _argument("show the model a picture of each page"),
            "--secret": _argument("one of --secrets for it; repeatable", "NAME", action="append"),
            "--example": _argument("do it like this recorded task or folder, with other values", "TASK"),
            "--replay": _argument("do this task or folder again, without a model", "TASK"),
            "--variable": _argument(
                "with --replay: a new value for a field or an old value; repeatable",
                "NAME=VALUE",
                action="append",
            ),
        },
    ),
    "record": Command(
        "record what you do in the browser's window, as a Playwright test and a task to do again",
        "executable profile viewport tasks_dir",
        "[URL] ",
        {
            "url": _argument("page to begin on", "URL", nargs="?"),
            "--name": _argument("of the test and its files [recorded]", "NAME"),
            "--folder": _argument("where the tests are written [the working folder]", "FOLDER", type=Path),
        },
    ),
    "tasks": Command(
        "list the tasks of run and run_task; show, resume, report, export (as a script) or delete them",
        "tasks_dir",
        "[list | show TASK | resume TASK | report TASK | export TASK | delete TASK…] ",
        {
            "do": _argument(
                "list is the default; report prints HTML, export a Playwright script",
                nargs="?",
                default="list",
                choices=("list", "show", "resume", "report", "export", "delete"),
            ),
            "names": _argument("identifier, its beginning, or the task's folder", "TASK", nargs="*"),
            "--tell": _argument("with resume: what the agent is to know, or its answer", "TEXT"),
            "--json": _argument("with resume: print all of the outcome as JSON"),
        },
    ),
    "install": Command("find a browser, or get one", "browser executable", own={"--with-deps": _WITH_DEPS}),
    "config": Command(
        "show the entry for an MCP client, or write it into the client's configuration",
        "headless isolated profile tools output_dir",
        "CLIENT ",
        {
            "client": _argument(f"one of {', '.join(CLIENTS)}", "CLIENT", nargs="?"),
            "--write": _argument(
                "write it into the client's file, which is kept as it was beside it; its other entries stay"
            ),
            "--project": _argument("for the project in the working folder only"),
            "--url": _argument(
                "the server runs there, such as https://host/mcp; a token is taken from MCP_BROWSER_TOKEN",
                "ADDRESS",
            ),
            "--transport": _argument(
                "stdio by default; http or sse with --url", choices=("stdio", "http", "sse")
            ),
            "--name": _argument("what the client calls the server [browser]", "NAME"),
            "--file": _argument("another file than the client's usual one", "FILE", type=Path),
        },
    ),
    "skill": Command(
        "print how an agent uses `do`, as an Agent Skill, or write it to where a client looks for skills",
        "tools",
        "[CLIENT --write] ",
        {
            "client": _argument("the client to write it for, such as claude-code", "CLIENT", nargs="?"),
            "--write": _argument("write SKILL.md there; an older one is kept beside it"),
            "--project": _argument("for the project in the working folder only"),
        },
    ),
    "doctor": Command("show what was found on this machine and which settings are in force"),
    "token": Command(
        "make a bearer token for a client over HTTP; with --tokens FILE, add its hash there",
        "tokens",
        "[NAME] ",
        {"name": _argument("whose it is; default: default", "NAME", nargs="?")},
    ),
    "completion": Command(
        "print the script by which a shell completes commands and settings",
        usage="SHELL ",
        own={"shell": _argument("the shell", choices=("bash", "zsh", "fish", "powershell"))},
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """What a command line says: the command, settings by field name, the configuration file.

    `given` are the command's own arguments, by name.
    """

    command: str
    flags: Mapping[str, Any]
    config: Path | None
    given: Mapping[str, Any]


def parse_arguments(words: Sequence[str]) -> Arguments:
    """Read a command line. `--help` and `--version` print and exit. Raises SettingsError."""
    for option in all_options().values():
        if option.variable_only and any(word.partition("=")[0] == option.flag for word in words):
            raise SettingsError(
                f"{option.flag} would show its value to everybody on this machine: set the variable "
                f"{option.variable} instead."
            )
    parser = whole_parser(words=words)
    own_flags = [flag for name in words if name in COMMANDS for flag in COMMANDS[name].own if flag[0] == "-"]
    try:
        found, unknown = parser.parse_known_args(_joined(words))
    except SettingsError:
        # What stands behind an unknown flag is taken for a command.
        begun = next((at for at, word in enumerate(words) if word in COMMANDS), len(words))
        its = [word for word in words[begun:] if word.partition("=")[0] not in own_flags]
        flags = [word for word in [*words[:begun], *its] if word.startswith("--")]
        _refuse(parser, flags, own_flags)
        raise
    _refuse(parser, unknown, own_flags)
    values = vars(found)
    if values.get("stdio") and (values.get("http") or values.get("sse")):
        raise SettingsError("--stdio and --http or --sse exclude each other; see --help.")
    if values.get("stdio"):
        # It wins over a variable or a file, as any flag does.
        values |= {"http": False, "sse": False}
    command = values.get("command") or "serve"
    words_of_it = COMMANDS[command].own if command in COMMANDS else ()
    own = (name.removeprefix("--").replace("-", "_") for name in words_of_it)
    return Arguments(
        command=command,
        flags={name: values[name] for name in all_options() if name in values},
        config=values.get("config"),
        given={name: values[name] for name in own if values.get(name) is not None},
    )


def _refuse(parser: argparse.ArgumentParser, words: Sequence[str], own_flags: Sequence[str]) -> None:
    flags = re.findall(r"--[a-z][a-z-]*", parser.format_help()) if words else []
    unknown = [word for word in words if word.partition("=")[0] not in flags]
    if unknown and (flag := unknown[0].partition("=")[0]) in own_flags:
        raise SettingsError(f"{flag} stands after the command; see --help.")
    if unknown:
        near = did_you_mean(unknown[0], [*own_flags, *flags])
        raise SettingsError(f"unknown argument {unknown[0]}{near}; see --help.")


class Parser(argparse.ArgumentParser):
    """A parser whose errors are settings that are wrong."""

    def __init__(self, **options: Any) -> None:
        """Take flags written in full, and give back only what was given; `options` are argparse's."""
        wide = functools.partial(argparse.HelpFormatter, max_help_position=34, width=110)
        options |= {"allow_abbrev": False, "formatter_class": wide, "argument_default": argparse.SUPPRESS}
        super().__init__(**options)

    def error(self, message: str) -> NoReturn:
        """Raise it."""
        unknown = re.search(r"argument COMMAND: invalid choice: '(.*?)' ", message)
        if unknown is not None:
            near = did_you_mean(unknown[1], COMMANDS)
            raise SettingsError(
                f"unknown command {unknown[1]!r}{near}; commands: {', '.join(COMMANDS)}; see --help."
            )
        raise SettingsError(f"{message}; see {self.prog.partition(' ')[2]} --help.".replace("  ", " "))


def whole_parser(
    add_actions: Callable[[Any], None] | None = None, words: Sequence[str] = tuple(COMMANDS)
) -> argparse.ArgumentParser:
    """Return the parser; `add_actions` adds parsers to that of `do`.

    A command that is not among the words gets no settings, which take long to declare.
    """
    parser = Parser(
        prog="mcp-browser",
        usage="mcp-browser [--stdio | --http --sse] [SETTINGS]\n"
        "       mcp-browser try [URL] | run TASK | record [URL] | tasks | install | config CLIENT\n"
        "       mcp-browser doctor | token [NAME] [SETTINGS]",
        description="Give an MCP client a real browser. Without a command, serve MCP: over standard "
        "input and output, or over HTTP with --http or --sse.",
        epilog="Each setting can also be a variable, such as MCP_BROWSER_ACTION_TIMEOUT, or a line in the "
        "--config file, such as action-timeout = 5. A flag wins over a variable, a variable over the file. "
        "`mcp-browser doctor` shows what is in force and where it came from.",
    )
    version = ""
    if "--version" in words:
        from mcp_browser import __version__ as version  # noqa: PLC0415 - it slows down a server's start
    parser.add_argument(
        "--version", action="version", version=f"mcp-browser {version}", help="print the version and exit"
    )
    parser.add_argument(
        "--stdio", action="store_true", help="serve over standard input and output (the default)"
    )
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", title="commands", required=False, prog=parser.prog
    )
    for name, command in COMMANDS.items():
        added = commands.add_parser(
            name,
            usage=f"mcp-browser {name} {command.usage}{'' if name == 'do' else '[SETTINGS]'}",
            help=command.summary,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            epilog="Other settings are taken, too: see `mcp-browser --help`.",
        )
        if name == "do" and add_actions is not None:
            added.add_argument("-s", metavar="NAME", help="the session")
            add_actions(added.add_subparsers(dest="action", metavar="ACTION", prog="mcp-browser do"))
        else:
            for argument, options in command.own.items():
                added.add_argument(argument, **options)
        if name in words:
            _add_settings(added, helped=command.helped.split())
    _add_settings(parser)
    return parser


def _add_settings(parser: argparse.ArgumentParser, *, helped: Collection[str] | None = None) -> None:
    """Let a parser take the settings; its help shows those named by `helped`, or all in their groups."""
    parser.add_argument(
        CONFIG, type=Path, metavar="FILE", help=f"TOML or JSON file with settings ({CONFIG_VARIABLE})"
    )
    one = parser.add_argument_group("settings") if helped is not None else None
    groups = {name: one or parser.add_argument_group(title) for name, title in group_titles().items()}
    for option in all_options().values():
        if option.variable_only:
            if one is None:
                groups[option.group].description = f"{option.variable}: {option.description}"
            continue
        add = groups[option.group].add_argument
        about = option.description.replace("%", "%%").rstrip(".")
        if helped is not None and option.name not in helped:
            about = argparse.SUPPRESS
        elif option.default and option.off_flag is None:
            about += f" [{option.default}]"
        if option.off_flag is not None:
            add(option.flag, option.off_flag, dest=option.name, action=_Switch, nargs=0, help=about)
            continue
        action = "append" if option.repeatable else "store"
        add(option.flag, dest=option.name, action=action, metavar=option.placeholder, help=about)


class _Switch(argparse.Action):
    """A pair of flags, the first of which says true and the second false."""

    def __call__(self, parser: object, namespace: argparse.Namespace, *given: object) -> None:
        setattr(namespace, self.dest, given[-1] == self.option_strings[0])


def _joined(words: Sequence[str]) -> list[str]:
    """The words with `--flag --value` as `--flag=--value`, which argparse would refuse."""
    joined: list[str] = []
    at = 0
    while at < len(words):
        length = settings_length(words[at:])
        option = _takes_value().get(words[at])
        bare = f"={option.bare}" if option is not None and option.bare is not None and length == 1 else ""
        joined.append("=".join(words[at : at + length]) + bare)
        at += length
    return joined


def settings_length(words: Sequence[str]) -> int:
    """Return how many words the first one takes: two where it is a setting's flag and its value follows."""
    option = _takes_value().get(words[0])
    if len(words) == 1 or (option is None and words[0] != CONFIG):
        return 1
    if option is None or option.bare is None:
        return 2
    # A flag that needs no value takes the name of a browser, or a path.
    takes_next = words[1] in OWN_BROWSERS or re.match(r"[/~\\]|\.\.?[/\\]|[A-Za-z]:[/\\]", words[1])
    return 2 if takes_next else 1


@functools.cache
def _takes_value() -> Mapping[str, Option]:
    return {
        option.flag: option
        for option in all_options().values()
        if option.off_flag is None and not option.variable_only
    }
