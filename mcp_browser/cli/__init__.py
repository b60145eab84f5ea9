"""The command line: flags to settings, then serve, or one of the other commands."""

import os
import sys
from collections.abc import Sequence

from mcp_browser.cli.arguments import parse_arguments, whole_parser
from mcp_browser.cli.sources import load_settings, make_folders, with_all_tools
from mcp_browser.errors import ActionError, ModelError, NoModel, SettingsError

FAILED = 1
WRONG_SETTING = 2
INTERRUPTED = 130


def main(words: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code, 2 for a wrong setting and 1 for a failure."""
    try:
        return _run(sys.argv[1:] if words is None else words)
    except (SettingsError, NoModel) as error:
        return _fail(error, WRONG_SETTING)
    except (ActionError, ModelError) as error:
        return _fail(error, FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(words: Sequence[str]) -> int:  # noqa: PLR0911, PLR0912 - one a command
    if words and words[0] == "do":
        from mcp_browser.cli import terminal

        return terminal.serve() if words[1:] == ["--serve"] else terminal.show_help(words[1:])
    arguments = parse_arguments(words)
    loaded = load_settings(arguments.flags, environment=os.environ, config=arguments.config)
    if arguments.command in {"serve", "try", "run", "record"}:
        make_folders(loaded)
    # Each command imports what it needs, so that the server does not wait for the others' imports.
    match arguments.command:
        case "serve":
            from mcp_browser.cli.serve import serve

            return serve(loaded.settings)
        case "try":
            from mcp_browser.cli.trial import try_page

            return try_page(loaded, arguments.given.get("url"), with_deps="with_deps" in arguments.given)
        case "do":
            raise SettingsError("`do` stands first: mcp-browser do [SETTINGS] ACTION [ARGUMENTS].")
        case "install":
            from mcp_browser.cli.install import install

            return install(loaded.settings, with_deps="with_deps" in arguments.given)
        case "config":
            from mcp_browser.cli.config import config

            return config(loaded.settings, arguments.given, flags=arguments.flags, file=arguments.config)
        case "skill":
            from mcp_browser.cli.skill import skill

            return skill(with_all_tools(loaded).settings, arguments.given)
        case "completion":
            import shtab

            from mcp_browser.cli.commands import Commands
            from mcp_browser.server.tool_groups import load_actions

            parser = whole_parser(Commands(load_actions(with_all_tools(loaded).settings.tools)).add_to)
            sys.stdout.write(shtab.complete(parser, shell=arguments.given["shell"]) + "\n")
            return 0
        case "doctor":
            from mcp_browser.cli.doctor import doctor

            return doctor(loaded)
        case "token":
            from mcp_browser.cli.token import token

            return token(loaded.settings.access, arguments.given.get("name"))
        case "run":
            from mcp_browser.cli.run import run

            return run(loaded.settings, arguments.given)
        case "record":
            from mcp_browser.cli.record import record

            return record(loaded, arguments.given)
        case "tasks":
            from mcp_browser.cli.tasks import tasks

            return tasks(loaded.settings, arguments.given)


def _fail(error: Exception, code: int) -> int:
    sys.stderr.write(f"mcp-browser: {error}\n")
    return code
