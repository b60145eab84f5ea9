"""Standard input and output of the client, read from the start, before the SDK is imported.

The SDK takes half a second to import, and a client's first requests are the same at each start: the handshake
and `tools/list`. The SDK's answers are kept in the user's cache folder, and the next start sends them while
the SDK is imported. The key of an answer is all that the client has sent so far, without ids; so nothing is
assumed about the protocol but the names of the requests whose answers depend on nothing else. The first
message without a known answer, and all after it, wait for the SDK. The SDK gets all messages from the first
one; its answers to those that were answered are dropped.
"""

import codecs
import hashlib
import io
import json
import logging
import os
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from platformdirs import user_cache_dir

from mcp_browser.settings import Settings

logger = logging.getLogger(__name__)

_REPEATABLE = {
    "initialize": "protocolVersion",
    "notifications/initialized": "",
    "server/discover": "supportedVersions",
    "tools/list": "tools",
}
"""What may be answered as it was before, since it depends on the installation and the settings alone; by the
method, what each such answer has in it."""

_REPLAYED = f"replayed-{os.urandom(8).hex()}"
"""The id under which the SDK is given a request that has been answered already."""

_RESULT = ',"result":'
_KEYS = {"jsonrpc", "id", "method", "params"}
_MOST_ANSWERS = 64
_MOST_FILES = 32
_CHUNK = 65_536


class KnownAnswers:
    """What the SDK has answered at earlier starts of this installation with these settings."""

    def __init__(self, settings: Settings) -> None:
        """Read them; without a file that can be read, there are none."""
        folder = Path(user_cache_dir("mcp-browser")) / "answers"
        self._path = folder / f"{_digest(settings.model_dump_json())}.json"
        self._made_by = _installation()
        self.texts: dict[str, str] = {}  # Of each answer, after its id
        self._keeping = threading.Lock()
        with suppress(OSError, ValueError, TypeError, KeyError):
            kept = json.loads(self._path.read_bytes())
            if kept["made_by"] == self._made_by:
                self.texts = {str(key): str(answer) for key, answer in kept["answers"].items()}

    def keep(self, key: str, answer: str) -> None:
        """Keep an answer for later starts, unless plugins offer tools, which may change at any time."""
        from importlib.metadata import entry_points  # noqa: PLC0415 - seldom wanted

        if entry_points(group="mcp_browser.actions"):
            return
        # Without a cache folder each start is as slow as the first.
        with self._keeping, suppress(OSError):
            self.texts[key] = answer
            newest = dict(list(self.texts.items())[-_MOST_ANSWERS:])
            folder = self._path.parent
            folder.mkdir(parents=True, exist_ok=True)
            written = folder / f"{os.getpid()}.new"
            written.write_text(json.dumps({"made_by": self._made_by, "answers": newest}), encoding="utf-8")
            written.replace(self._path)
            files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)
            for path in files[:-_MOST_FILES]:
                path.unlink(missing_ok=True)


class StdioWire:
    """Standard input and output, for the protocol alone; others get the null device and standard error."""

    def __init__(self, known: KnownAnswers | None) -> None:
        """Take the two over and begin to read. Raises OSError: one of them is closed."""
        self._input = os.dup(0)
        self._output = os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        try:
            os.dup2(2, 1)
        except OSError:
            os.dup2(null, 1)
        os.close(null)
        self._known = known
        self._answering = known is not None
        self._transcript = None if known is None else hashlib.sha256()
        self._ids: set[str | int] = set()
        self._expected: dict[str, tuple[str, str]] = {}
        self._held: list[str | None] = []
        self._handing_over = threading.Lock()
        self._receiver: Callable[[str | None], None] | None = None
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    # -- the methods of a file that the SDK's transport calls

    async def __aiter__(self) -> AsyncGenerator[str]:
        """The lines for the SDK, from the first one; to be read once."""
        import asyncio  # noqa: PLC0415 - after the first answers

        import anyio  # noqa: PLC0415

        sender, receiver = anyio.create_memory_object_stream[str | None](0)
        with self._handing_over:
            held, self._held = self._held, []
            loop = asyncio.get_running_loop()
            self._receiver = lambda line: asyncio.run_coroutine_threadsafe(sender.send(line), loop).result()
        for line in held:
            if line is None:
                return
            yield line
        async for line in receiver:
            if line is None:
                return
            yield line

    async def write(self, text: str) -> None:
        """Send a line, unless it answers what has been answered already."""
        from anyio import to_thread  # noqa: PLC0415 - after the first answers

        if not text.startswith(_head(_REPLAYED).removesuffix(_RESULT)):
            self._keep(text)
            await to_thread.run_sync(self._send, text)

    async def flush(self) -> None:
        """Nothing is held back."""

    # -- reading

    def _read(self) -> None:
        decoder = io.IncrementalNewlineDecoder(
            codecs.getincrementaldecoder("utf-8")("replace"), translate=True
        )
        begun: list[str] = []
        with suppress(OSError):
            while chunk := os.read(self._input, _CHUNK):
                first, *others = decoder.decode(chunk).split("\n")
                begun.append(first)
                for other in others:
                    self._pass_on(self._noted("".join(begun) + "\n"))
                    begun = [other]
        if rest := "".join(begun) + decoder.decode(b"", final=True):
            self._pass_on(self._noted(rest))
        self._pass_on(None)

    def _pass_on(self, line: str | None) -> None:
        if line == "":
            return
        with self._handing_over:
            if self._receiver is None:
                self._held.append(line)
                return
        # A server that has ended receives nothing any more.
        with suppress(Exception):
            self._receiver(line)

    # -- answers that are known, and those that come to be

    def _noted(self, line: str) -> str:
        """Answer a line if that can be done already; the line for the SDK, empty if it need not see it."""
        message = None if self._transcript is None else _repeatable(line)
        number = None if message is None else message.pop("id", None)
        if self._transcript is None or self._known is None or message is None or number in self._ids:
            self._transcript = None
            return line
        self._transcript.update(json.dumps(message).encode() + b"\n")
        if number is None:
            return line
        self._ids.add(number)
        key, method = self._transcript.hexdigest(), message["method"]
        answer = self._known.texts.get(key) if self._answering else None
        if answer is None:
            # A later answer does not overtake an earlier one.
            self._answering = False
            self._expected[_head(number)] = key, _REPEATABLE[method]
            return line
        with suppress(OSError):
            self._send(_head(number) + answer)
        # The list leaves nothing behind; but the first request decides on the era.
        needed = len(self._ids) == 1 or method != "tools/list"
        return json.dumps({**message, "id": _REPLAYED}) if needed else ""

    def _keep(self, text: str) -> None:
        head = next((head for head in self._expected if text.startswith(head)), None)
        if head is None or self._known is None:
            return
        key, part = self._expected.pop(head)
        answer = text[len(head) :]
        # A client that uses an id again, against the protocol, gets the answer to another question.
        if part in json.loads(text)["result"]:
            threading.Thread(target=self._known.keep, args=(key, answer), daemon=True).start()

    def _send(self, text: str) -> None:
        rest = memoryview(text.encode())
        while rest:
            rest = rest[os.write(self._output, rest) :]


def open_wire(settings: Settings) -> StdioWire | None:
    """The client's end, with answers to its first requests; None where the SDK's own transport is used."""
    if sys.platform == "win32":
        return None
    # The user's own actions may change between starts; traces would lack the answers from here.
    own = settings.tools.actions or settings.sessions.profiles
    traced = any(name.startswith("OTEL_") for name in os.environ)
    try:
        return StdioWire(None if own or traced else KnownAnswers(settings))
    except OSError as error:
        logger.info("Standard input and output cannot be taken over: %s", error)
        return None


def _repeatable(line: str) -> dict[str, Any] | None:
    """The message if its answer may be repeated, and can be with its id."""
    try:
        message = json.loads(line)
        if message["jsonrpc"] != "2.0" or message["method"] not in _REPEATABLE or message.keys() - _KEYS:
            return None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    number = message.get("id")
    is_plain = (isinstance(number, str) and number.isalnum() and number.isascii()) or type(number) is int
    if message["method"].startswith("notifications/"):
        is_plain = "id" not in message
    return cast("dict[str, Any]", message) if is_plain else None


def _head(number: str | int) -> str:
    """How the SDK begins the answer to a request with this id, up to the result."""
    return f'{{"jsonrpc":"2.0","id":{json.dumps(number)}{_RESULT}'


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _installation() -> str:
    """A digest of this Python, its packages (by their metadata folders) and this package's files."""
    seen: list[object] = [sys.version, sys.prefix, sys.path[1:]]
    for place in sys.path[1:]:
        with suppress(OSError), os.scandir(place) as entries:
            packages = [entry for entry in entries if entry.name.endswith((".dist-info", ".egg-info"))]
            seen.extend(sorted((package.name, package.stat().st_mtime_ns) for package in packages))
    for folder, _, names in os.walk(Path(__file__).parent.parent):
        for name in sorted(names):
            if name.endswith(".py"):
                status = (Path(folder) / name).stat()
                seen.append((folder, name, status.st_mtime_ns, status.st_size))
    return _digest(repr(seen))
