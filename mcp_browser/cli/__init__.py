"""The command line: flags to settings, then serve, or one of the other commands."""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from mcp_browser.cli.arguments import Arguments, parse_arguments
from mcp_browser.cli.sources import LoadedSettings, load_settings, make_folders
from mcp_browser.errors import ActionError, ModelError, NoModel, SettingsError

FAILED = 1
WRONG_SETTING = 2
INTERRUPTED = 130


def main(words: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code, 2 for a wrong setting and 1 for a failure."""
    try:
        code = _run(sys.argv[1:] if words is None else words)
        if sys.stdout:
            sys.stdout.flush()
    except BrokenPipeError:  # Nobody reads on.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (SettingsError, ActionError, ModelError) as error:
        sys.stderr.write(f"mcp-browser: {error}\n")
        return WRONG_SETTING if isinstance(error, SettingsError | NoModel) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _run(words: Sequence[str]) -> int:
    if words and words[0] == "do":
        from mcp_browser.cli import terminal

        return terminal.serve() if words[1:] == ["--serve"] else terminal.show_help(words[1:])
    asked = parse_arguments(words)
    loaded = load_settings(asked.flags, environment=os.environ, config=asked.config)
    if asked.command == "do":
        raise SettingsError("`do` stands first: mcp-browser do [SETTINGS] ACTION [ARGUMENTS].")
    if asked.command in {"serve", "try", "run", "record"}:
        make_folders(loaded)
    return command_of(asked.command)(loaded, asked)


def command_of(name: str) -> Callable[[LoadedSettings, Arguments], int]:
    """The function of a command; it imports what it needs, so that the server does not wait for others."""
    elsewhere = {"record": "run", "skill": "config", "token": "config", "completion": "commands"}
    module, function = ("install", "try_page") if name == "try" else (elsewhere.get(name, name), name)
    command: Callable[[LoadedSettings, Arguments], int]
    command = getattr(import_module(f"mcp_browser.cli.{module}"), function)
    return command
