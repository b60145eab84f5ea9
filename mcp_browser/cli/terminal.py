"""The background server of `mcp-browser do`, which keeps a session open between commands."""

import asyncio
import base64
import itertools
import json
import mimetypes
import os
import secrets
import shlex
import shutil
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from pydantic import SecretStr

from mcp_browser.actions.several import DO_ACTIONS, MOST_ACTIONS
from mcp_browser.cli.arguments import parse_arguments, whole_parser
from mcp_browser.cli.commands import OTHERS, STDIN, Commands, TerminalCommand, split
from mcp_browser.cli.serve import begin, wrong_settings
from mcp_browser.cli.sources import DEFAULT, LoadedSettings, load_settings, make_folders, with_all_tools
from mcp_browser.errors import ActionError, BrowserUnavailable, InvalidArguments, SettingsError, UnknownAction
from mcp_browser.pipeline import Prepare
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.server.tool_groups import load_actions
from mcp_browser.settings import all_options
from mcp_browser.terminal import (
    FAILED,
    METHOD,
    NO_ACTION,
    READY,
    WRONG_USAGE,
    folder,
    is_own,
    remove,
    session_of,
    within,
)
from mcp_browser.text import counted
from mcp_browser.version import DISTRIBUTION, __version__

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.context import ServerRequestContext

    from mcp_browser.browser.session import BrowserSession
    from mcp_browser.server.app import BrowserServer, Offers
    from mcp_browser.server.sessions.sessions import Sessions

NO_BROWSER = 6
LONGEST_OUTPUT, FIRST_PART = 16_000, 4_000
"""Characters that are printed at most; of longer output, which is written to a file."""

Result = dict[str, Any]  # What the client prints


def show_help(words: Sequence[str]) -> NoReturn:
    """Print the help of `do`, or of an action, and exit; raises SettingsError."""
    if not words:
        raise SettingsError(NO_ACTION)
    _, settings, rest = split([word for word in session_of(words)[1] if word not in ("-h", "--help")])
    commands = Commands(load_actions(_loaded(settings).settings.tools))
    asked = [name for name in rest[:1] if name in OTHERS or commands.action(name)]
    whole_parser(commands.add_to, ["do"]).parse_args(["do", *asked, "--help"])
    raise AssertionError


def _loaded(words: Sequence[str], environment: Mapping[str, str] = os.environ) -> LoadedSettings:
    """The settings for a session, with whole paths. Raises SettingsError: one is wrong."""
    asked = parse_arguments(words)
    if asked.command != "serve" or asked.flags.get("http") or asked.flags.get("sse"):
        raise SettingsError("settings, then one action: mcp-browser do [SETTINGS] ACTION [ARGUMENTS].")
    loaded = with_all_tools(load_settings(asked.flags, environment=environment, config=asked.config))
    settings = loaded.settings
    changed: dict[str, dict[str, Any]] = {"server": {"http": False, "sse": False}}
    for option in all_options().values():
        value: Any = getattr(getattr(settings, option.group), option.name)
        if option.holds_paths and value:
            # Each command has a folder of its own.
            whole = value.absolute() if isinstance(value, Path) else tuple(path.absolute() for path in value)
            changed.setdefault(option.group, {})[option.name] = whole
    groups = {name: getattr(settings, name).model_copy(update=values) for name, values in changed.items()}
    return LoadedSettings(settings.model_copy(update=groups), loaded.origins)


def serve() -> NoReturn:
    """Serve the session that standard input names, until it is stopped, idle for long, or a signal comes."""
    asked = json.load(sys.stdin)
    settings_words = split(asked["words"])[1]
    loaded = _loaded(settings_words)
    begin(loaded.settings)
    make_folders(loaded)
    from mcp_browser.server.startup import run_local  # noqa: PLC0415 - after the signals

    accepted = (settings_words, asked["environment"], asked["folder"])
    background = Background(asked["name"], loaded, asked["unix"], [accepted])
    with wrong_settings():
        run_local(loaded.settings, background.serving, background.clear)
    raise AssertionError


@dataclass(eq=False, slots=True)
class Background:
    """What a session's server has besides what every server has: commands, a socket, an end."""

    name: str
    loaded: LoadedSettings
    unix: bool
    accepted: list[tuple[list[str], dict[str, str], str]]
    """Words, variables and folders by which the settings in force were asked for."""
    _token: str = field(default_factory=secrets.token_urlsafe)
    _proof: str = field(default_factory=secrets.token_urlsafe)
    """Without Unix sockets, what a client shows, and what shows that this is the server."""
    _begun: float = field(default_factory=time.time)
    _used: float = field(default_factory=time.monotonic)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _ended: asyncio.Event = field(default_factory=asyncio.Event)
    _cleared: bool = True
    """Whether there are no files of this server, as before it listens."""
    _commands: Commands = field(init=False)
    _offers: "Offers" = field(init=False)
    _sessions: "Sessions" = field(init=False)

    def serving(self, transports: Any) -> Callable[..., Awaitable[None]]:
        """Return the transport that serves this session; it listens from now on."""
        ends = {"listener": self._listening(), "ended": self._ended}
        return partial(transports.serve_lines, admit=self._admit, install=self._install, **ends)

    def clear(self) -> None:
        """Remove the files, once: later files of this name belong to another server."""
        if not self._cleared:
            self._cleared = True
            remove(self.name)

    def _listening(self) -> socket.socket:
        place = f"{self.name}.sock"
        try:
            with within(folder()):
                if self.unix:
                    listener = socket.socket(socket.AF_UNIX)
                    listener.bind(place)
                    Path(place).chmod(0o600)
                else:
                    listener = socket.create_server(("127.0.0.1", 0))
                    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                    with os.fdopen(descriptor, "w") as file:
                        file.write(f"{listener.getsockname()[1]} {self._token} {self._proof}")
        except OSError as error:
            raise SettingsError(f"the session {self.name} cannot be served: {error.strerror}.") from None
        self._cleared = False
        listener.listen()
        listener.setblocking(False)
        return listener

    async def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether this user has connected; send `READY` then."""
        if self.unix:
            proof, admitted = "", is_own(writer.get_extra_info("socket"))
        else:
            proof, given = self._proof, await reader.readline()
            admitted = secrets.compare_digest(given.strip(), self._token.encode())
        if admitted and not self._ended.is_set():
            self._used = time.monotonic()
            writer.write(proof.encode() + READY)
            return True
        return False

    def _install(self, server: "BrowserServer", offers: "Offers", sessions: "Sessions") -> None:
        from mcp_types import RequestParams  # noqa: PLC0415 - with the SDK

        class CommandParams(RequestParams):
            words: list[str]
            folder: str
            environment: dict[str, str]
            path: list[str]
            input: str | None = None

        self._offers, self._sessions, self._used = offers, sessions, time.monotonic()
        self._commands = Commands(load_actions(self.loaded.settings.tools))
        server.add_request_handler(METHOD, CommandParams, self._answer)
        asyncio.get_running_loop().call_soon(self._end_when_idle)
        with suppress(BrokenPipeError):  # The process that started this one reads until here.
            os.write(1, READY)
        os.dup2(2, 1)

    def _end_when_idle(self) -> None:
        left = self._used + self.loaded.settings.sessions.idle_timeout - time.monotonic()
        busy = self._turn.locked() or any(held.is_busy for held in self._sessions.all())
        if left <= 0 and not busy:
            self._end()
        else:
            asyncio.get_running_loop().call_later(max(left, 1), self._end_when_idle)

    def _end(self) -> None:
        self.clear()
        self._ended.set()

    # -- a command

    async def _answer(self, request: "ServerRequestContext[Any, Any]", asked: Any) -> Result:
        own = str(os.getpid())
        if asked.words in (["stop"], ["stop", own]):
            self._end()
            return {"wants": "end"}
        if asked.words[0] == "status":
            return await self._status()
        # What is installed for the program that asks, by its path of modules.
        installed = next(iter(distributions(name=DISTRIBUTION, path=asked.path)), None)
        if installed is not None and installed.version != __version__:
            return {
                "wants": "restart",
                "process": own,
                "errors": f"the background server was version {__version__}, this is {installed.version}: it "
                "is replaced, and its pages are closed.",
            }
        async with self._turn:
            self._used = time.monotonic()
            try:
                os.chdir(asked.folder)
                return await self._carried_out(request, asked)
            except (SettingsError, OSError) as error:
                code = WRONG_USAGE if isinstance(error, SettingsError) else FAILED
                return {"errors": f"mcp-browser do: {error}", "code": code}
            finally:
                os.chdir("/")
                self._used = time.monotonic()

    async def _status(self) -> Result:
        session = (await self._sessions.named(None)).session
        tab, tabs, minutes = session.tab_in_use, len(session.tabs), round((time.time() - self._begun) / 60)
        url = cut_address(tab.url) if tab else None
        where = f"{counted(tabs, 'tab')}, {url}" if tab else "no page is open"
        version = {"process": os.getpid(), "version": __version__}
        return {
            "output": f"{where}, for {minutes} min (process {os.getpid()}, version {__version__})",
            "data": {"tabs": tabs, "url": url, "minutes": minutes, **version},
        }

    async def _carried_out(self, request: "ServerRequestContext[Any, Any]", asked: Any) -> Result:
        before, settings, words = split(asked.words)
        self._check(settings, asked.environment)
        if not words:
            raise SettingsError(NO_ACTION)
        command = self._commands.parse(words, before)
        if asked.input is None and (command.reads_secret or command.action is None):
            return {"wants": "secret" if command.reads_secret else "input"}
        given = asked.input or ""
        if command.action is not None:
            return await self._call(request, command, given.rstrip("\r\n"))
        outputs: list[str] = []
        calls = self._calls(given, command)
        for number, call in enumerate(calls, 1):
            result = await self._call(request, call, "")
            outputs += [result["output"]] if result.get("output") else []
            if result.get("code"):
                left = len(calls) - number
                rest = f"\n{counted(left, 'call')} after it not done." if left else ""
                return {**result, "output": "\n".join(outputs), "errors": f"{result.get('errors', '')}{rest}"}
        return {"output": "\n".join(outputs)}

    def _check(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        """Refuse settings other than those that the session has begun with; raises SettingsError."""
        asked = (list(words), dict(environment), os.getcwd())  # noqa: PTH109 - a text
        if not (words or environment) or asked in self.accepted:
            return
        wanted, there = _loaded(words, environment), self.loaded.settings
        differ = [
            wanted.named(option.name)
            for option in all_options().values()
            if wanted.origins[option.name] != DEFAULT
            and getattr(getattr(wanted.settings, option.group), option.name)
            != getattr(getattr(there, option.group), option.name)
        ]
        if differ:
            raise SettingsError(
                f"the session {self.name} was begun with other settings: {', '.join(differ)}. End it with "
                f"`mcp-browser do -s {self.name} stop`, or begin another one with -s NAME."
            )
        self.accepted.append(asked)

    def _calls(self, text: str, whole: TerminalCommand) -> list[TerminalCommand]:
        """Read commands, one a line, and join them to lists where possible. Raises SettingsError."""
        commands: list[TerminalCommand] = []
        for number, line in enumerate(text.splitlines(), 1):
            try:
                if words := shlex.split(line, comments=True):
                    command = self._commands.parse(words, ["--json"] if whole.as_json else ())
                    if command.action is None or command.reads_secret:
                        raise SettingsError("standard input has the commands already.")
                    commands.append(command)
            except (ValueError, SettingsError) as error:
                raise SettingsError(f"line {number}: {str(error).rstrip('.')}. Nothing was done.") from None
        calls: list[TerminalCommand] = []
        for may_be_listed, group in itertools.groupby(commands, self._may_be_listed):
            some, most = list(group), MOST_ACTIONS if may_be_listed else 1
            for at in range(0, len(some), most):
                part = some[at : at + most]
                if len(part) > 1:
                    actions = [{one.action.name: one.arguments} for one in part if one.action is not None]
                    listed = self._commands.registry[DO_ACTIONS]
                    part = [replace(part[0], action=listed, arguments={"actions": actions})]
                calls += part
        return calls

    def _may_be_listed(self, command: TerminalCommand) -> bool:
        action = command.action
        if action is None or action.alone or command.file or command.names_secret:
            return False
        return DO_ACTIONS in self._commands.registry and (
            action.expansion is None or action.expansion.lenient
        )

    async def _call(
        self, request: "ServerRequestContext[Any, Any]", command: TerminalCommand, secret: str
    ) -> Result:
        """Carry out a command as a call of its tool, through the pipeline of every call."""
        from mcp_types import CallToolRequestParams  # noqa: PLC0415 - with the SDK

        from mcp_browser.server.calls import Call  # noqa: PLC0415
        from mcp_browser.server.principals import ANONYMOUS  # noqa: PLC0415

        assert command.action is not None
        session = (await self._sessions.named(None)).session
        params = CallToolRequestParams(name=command.action.name, arguments=dict(command.arguments))
        call = Call(
            request=request,
            params=params,
            arguments=command.arguments,
            principal=ANONYMOUS,
            prepare=self._filling(command, session, secret) if command.names_secret else None,
        )
        answer = cast("types.CallToolResult", await self._offers(ANONYMOUS).tools.call(call))
        return await _shown(command, answer, call.failures, session)

    def _filling(self, command: TerminalCommand, session: "BrowserSession", secret: str) -> Prepare:
        """Return what puts secrets in the places of their names, as in the agent's actions."""
        # Seldom wanted.
        from mcp_browser.agent.secrets.store import CheckedTyping, Secret, Secrets, load_secrets  # noqa: PLC0415

        action, file = command.action, self.loaded.settings.agent.secrets
        assert action is not None
        known = load_secrets(file) if file is not None else Secrets()
        if command.reads_secret:
            if not secret:
                raise SettingsError("--secret-stdin: standard input is empty.")
            # Who types it sees the page; the others say where they may be typed.
            known.add(STDIN, Secret(value=SecretStr(secret), origins=("*",)))

        async def prepare(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
            typing = CheckedTyping(session, known, action)
            filled = await typing.fill_in(arguments)
            typing.apply()
            return filled

        return prepare


async def _shown(
    command: TerminalCommand,
    result: "types.CallToolResult",
    failures: Sequence[ActionError],
    session: "BrowserSession",
) -> Result:
    """What the client prints of a result; pictures and long texts are written to files."""
    assert command.action is not None
    texts: list[str] = []
    files: list[str] = []
    for part in result.content:
        if part.type == "text":
            texts.append(part.text)
        elif part.type == "image":
            content = base64.b64decode(part.data)
            name = f"{command.action.name}{mimetypes.guess_extension(part.mime_type) or ''}"
            kept = await session.artifacts.add(content, name, mime_type=part.mime_type, kind="screenshot")
            texts.append(f"Picture: {kept.path}")
            files.append(str(kept.path))
        elif part.type == "resource_link":
            files.append(str(session.artifacts.find(part.uri).path))
    text = "\n".join(texts)
    if command.as_json:
        data = {
            "error": bool(result.is_error),
            "text": text,
            "data": result.structured_content,
            "files": files,
        }
        text = json.dumps(data, ensure_ascii=False)
    if result.is_error:
        error = next(iter(failures), None)
        code = WRONG_USAGE if isinstance(error, InvalidArguments | UnknownAction) else FAILED
        code = NO_BROWSER if isinstance(error, BrowserUnavailable) else code
        return {"output" if command.as_json else "errors": text, "code": code}
    if command.file is not None and files:
        await asyncio.to_thread(_copy, files[0], command.file)
        return {"output": text.replace(files[0], str(command.file))}
    if command.file is not None:
        await asyncio.to_thread(command.file.write_text, f"{text}\n", "utf-8")
        return {"output": f"Wrote {len(text):,} characters to {command.file}."}
    if len(text) > LONGEST_OUTPUT:
        name = f"{command.action.name}.{'json' if command.as_json else 'txt'}"
        path = (await session.artifacts.add(text.encode(), name)).path
        line_end = text.rfind("\n", FIRST_PART // 2, FIRST_PART)
        first = text[: line_end if line_end > 0 else FIRST_PART]
        return {"output": f"{first}\n… all {len(text):,} characters: {path}"}
    return {"output": text}


def _copy(source: str, target: Path) -> None:
    """Copy a file; a picture is written in the format that the target's name says, where it is another."""
    kinds = [mimetypes.guess_type(name)[0] or "" for name in (source, target.name)]
    if kinds[0] != kinds[1] and all(kind.startswith("image/") for kind in kinds):
        from PIL import Image  # noqa: PLC0415 - seldom wanted

        # A format that Pillow does not write.
        with suppress(ValueError, KeyError, OSError), Image.open(source) as picture:
            picture.convert("RGB").save(target)
            return
    shutil.copyfile(source, target)
