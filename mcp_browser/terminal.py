"""`mcp-browser do`: sends a command to the background server of its session, which it starts if need be.

Imports next to nothing, so that a command costs little more than what it does: the server reads the words
(`cli/terminal.py`). The two speak the protocol of standard input and output, JSON-RPC by lines, over a Unix
socket in a folder that only its owner may enter; where there are no such sockets, over the loopback with a
token from a file there.
"""

import contextlib
import errno
import json
import os
import re
import socket
import stat
import sys
from collections.abc import Generator, Iterator, Sequence
from typing import IO, Any

DEFAULT = "default"
METHOD = "mcp-browser/do"
READY = b'{"jsonrpc":"2.0","method":"mcp-browser/ready"}\n'
"""What the server writes first: a command that was sent after it was not lost with an ending server."""

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130
MOST_STARTS = 5
ANSWER_SECONDS = 10.0
"""How long a server may take to say how it is; to end, twice as long."""

NO_ACTION = "name an action; `mcp-browser do --help` lists them."
_ENDED = "The background server ended before it answered: look with get_state what was done."
_ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "mcp-browser do", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Unusable(Exception):
    """The folder of the sockets cannot be trusted, or a server cannot be started; the text says why."""


def main(words: Sequence[str]) -> int:
    """Carry out what follows `mcp-browser do`; the exit code."""
    try:
        name, words = session_of(words)
        if not words:
            raise Unusable(NO_ACTION)
        os.makedirs(folder(), mode=0o700, exist_ok=True)
        checked(folder())
        if words[0] in ("status", "stop"):
            if words[1:] and words not in (["stop", "--all"], ["status", "--json"]):
                raise Unusable(
                    f"{words[0]} takes no {words[1]}; `mcp-browser do -s NAME stop` ends a session."
                )
            if words[0] == "status":
                return _status(as_json=len(words) > 1)
            return _stop(list(running()) if words[1:] else [name])
        return _done(name, list(words))
    except (Unusable, OSError) as error:
        sys.stderr.write(f"mcp-browser do: {error}\n")
        return WRONG_USAGE if isinstance(error, Unusable) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def session_of(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the session that `-s NAME` says, and the other words."""
    rest = list(words)
    end = rest.index("--") if "--" in rest else len(rest)
    if "-s" not in rest[:end]:
        return DEFAULT, rest
    at = rest.index("-s")
    name = rest[at + 1] if at + 1 < len(rest) else ""
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,39}", name):
        raise Unusable(
            "-s takes the name of a session: up to 40 letters, digits, dots, hyphens, underscores."
        )
    return name, rest[:at] + rest[at + 2 :]


def folder() -> str:
    """Return the folder of the sockets: the user's own, and of this machine's start where there is one."""
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA") or os.path.expanduser("~"), "mcp-browser", "run")
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.access(runtime, os.W_OK):
        return f"{runtime}/mcp-browser"
    return f"{os.environ.get('TMPDIR', '/tmp').rstrip('/')}/mcp-browser-{os.getuid()}"


def checked(path: str) -> None:
    """Let a folder be used that only this user may enter; raises Unusable."""
    if sys.platform == "win32":
        return
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise Unusable(f"{path} must be a folder that only you may enter: `chmod 700 {path}`, or delete it.")


def running() -> Iterator[str]:
    """The names of the sessions that have a server, or had one that was killed."""
    names = os.listdir(folder())
    yield from sorted(name.removesuffix(".sock") for name in names if name.endswith(".sock"))


@contextlib.contextmanager
def within(path: str) -> Generator[None]:
    """Within it, names are of that folder: the path of a socket may have a hundred characters only."""
    try:
        before = os.getcwd()
    except FileNotFoundError:
        raise Unusable("the folder that you work in was deleted: go to another one.") from None
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


def remove(name: str) -> None:
    """Remove the files of a session's server."""
    for suffix in (".sock", ".log"):
        with contextlib.suppress(OSError):
            os.unlink(f"{folder()}/{name}{suffix}")


def is_own(line: socket.socket) -> bool:
    """Whether the other end of a Unix socket is of this user, as far as this system says."""
    credentials = getattr(socket, "SO_PEERCRED", None)
    if credentials is None or line.family != getattr(socket, "AF_UNIX", None):
        return True
    peer = line.getsockopt(socket.SOL_SOCKET, credentials, 12)
    return int.from_bytes(peer[4:8], sys.byteorder) == os.getuid()


def _connected(name: str, limit: float | None = None) -> tuple[socket.socket, IO[bytes]] | None:
    """Return the line to a session's server and its file to read; None where there is no server."""
    proof = ""
    try:
        with within(folder()):
            if hasattr(socket, "AF_UNIX"):
                line = socket.socket(socket.AF_UNIX)
                line.connect(f"{name}.sock")
            else:
                with open(f"{name}.sock", encoding="ascii") as file:
                    port, token, proof = file.read().split()
                # Another program may have the port by now: that knows no proof, and may be silent.
                limit = ANSWER_SECONDS
                line = socket.create_connection(("127.0.0.1", int(port)))
                line.sendall(f"{token}\n".encode())
    except (OSError, ValueError):
        return None
    if not is_own(line):
        raise Unusable(f"the server of {name!r} in {folder()} is not yours.")
    answers = line.makefile("rb")
    line.settimeout(limit)
    try:
        is_there = answers.readline() == proof.encode() + READY
    except OSError as error:
        is_there = isinstance(error, TimeoutError) and not proof  # It hangs.
    if is_there:
        return line, answers
    line.close()
    return None


def _is_served(name: str) -> bool:
    connection = _connected(name, 1.0)  # One that is silent is there.
    if connection is not None:
        connection[0].close()
    return connection is not None


def _asked(name: str, words: Sequence[str], given: str | None = None) -> dict[str, Any] | None:
    """Return what a session's server answers; None where there is no server."""
    limit = ANSWER_SECONDS if words[0] in ("status", "stop") else None
    connection = _connected(name, limit)
    if connection is None:
        return None
    line, answers = connection
    line.settimeout(limit)
    params = {**_asking(words), "path": sys.path, "input": given, "_meta": _ENVELOPE}
    request = {"jsonrpc": "2.0", "id": 1, "method": METHOD, "params": params}
    with line, answers:
        try:
            # What is no Unicode has no place in the protocol.
            line.sendall(json.dumps(request, ensure_ascii=False).encode(errors="replace") + b"\n")
            answer = answers.readline()
            while answer and b'"id":1,' not in answer[:40]:
                answer = answers.readline()
            if b'"wants":"end"' in answer:
                line.settimeout(2 * ANSWER_SECONDS)
                answers.read()  # It ends with the server.
        except OSError:
            answer = b""
    if not answer:
        return {"errors": _ENDED, "code": FAILED}
    read = json.loads(answer)
    return read.get("result") or {"errors": read["error"]["message"], "code": FAILED}


def _asking(words: Sequence[str]) -> dict[str, Any]:
    settings = {name: value for name, value in os.environ.items() if name.startswith("MCP_BROWSER_")}
    return {"words": list(words), "folder": os.getcwd(), "environment": settings}


def _done(name: str, words: list[str]) -> int:
    given: str | None = None
    for _ in range(MOST_STARTS):
        answer = _asked(name, words, given)
        if answer is None:
            _start(name, words)
        elif answer.get("wants") in ("input", "secret"):
            given = _given(secret=answer["wants"] == "secret")
        elif answer.get("wants") == "restart":
            sys.stderr.write(f"mcp-browser do: {answer['errors']}\n")
            # Another command may have replaced it meanwhile.
            _asked(name, ["stop", answer["process"]])
        else:
            return _shown(answer)
    raise Unusable(f"the background server ends as soon as it has started: see {folder()}/{name}.log.")


def _given(*, secret: bool) -> str:
    """Read what the command wants from standard input; a secret that is typed there is not shown."""
    if not sys.stdin:
        raise Unusable("standard input is closed.")
    if secret and sys.stdin.isatty():
        import getpass  # a person at a terminal

        return getpass.getpass("Secret: ")
    return sys.stdin.read()


def _shown(answer: dict[str, Any]) -> int:
    for stream, text in ((sys.stderr, answer.get("errors")), (sys.stdout, answer.get("output"))):
        if text:
            stream.flush()
            try:
                stream.buffer.write(f"{text}\n".encode(errors="replace"))
                stream.buffer.flush()
            except OSError:  # Nobody reads it, or there is no room for it.
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
                return FAILED
    return answer.get("code", 0)


def _status(*, as_json: bool) -> int:
    answers = {name: answer for name in running() if (answer := _asked(name, ["status"])) is not None}
    if as_json:
        return _shown({"output": json.dumps({name: one.get("data") for name, one in answers.items()})})
    lines = [f"{name}: {one.get('output', 'does not answer')}" for name, one in answers.items()]
    return _shown({"output": "\n".join(lines) or "No session is open. The first command starts one."})


def _stop(names: Sequence[str]) -> int:
    code = 0
    for name in names:
        answer = _asked(name, ["stop"])
        with _lock():
            if not _is_served(name):
                remove(name)
            elif answer is not None and answer.get("code"):
                code = FAILED
                sys.stderr.write(
                    f"mcp-browser do: the server of {name!r} does not answer; end its process yourself.\n"
                )
                continue
        _shown({"output": f"{name}: {'was not running' if answer is None else 'stopped'}"})
    return code


@contextlib.contextmanager
def _lock() -> Generator[None]:
    """Within it, no other command starts or clears away a server."""
    if sys.platform == "win32":
        import msvcrt

        with open(f"{folder()}/lock", "a+b") as file:
            file.seek(0)
            while True:
                try:
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                    break
                except OSError as error:
                    if error.errno != errno.EDEADLK:  # It gives up after ten seconds.
                        raise
            yield
        return
    import fcntl  # only where a server is started or ended

    descriptor = os.open(folder(), os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _start(name: str, words: Sequence[str]) -> None:
    """Start the server of a session, unless another command has done so meanwhile; raises Unusable."""
    import subprocess  # most commands find a server

    with _lock():
        if _is_served(name):
            return
        if os.path.exists(f"{folder()}/{name}.sock"):
            sys.stderr.write(f"mcp-browser do: the server of {name!r} was killed; its pages are lost.\n")
        remove(name)
        # What it is to do is not for everybody to read in the list of processes.
        command = [sys.executable, "-P", "-m", "mcp_browser", "do", "--serve"]
        flags = 0x00000208 if sys.platform == "win32" else 0  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP
        log = os.open(f"{folder()}/{name}.log", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        with (
            os.fdopen(log, "r+b") as errors,
            subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                creationflags=flags,
            ) as process,
        ):
            assert process.stdin is not None
            assert process.stdout is not None
            unix = hasattr(socket, "AF_UNIX")
            asked = {"name": name, "unix": unix, **_asking(words)}
            process.stdin.write(json.dumps(asked).encode())
            process.stdin.close()
            try:
                is_ready = process.stdout.read() == READY
            except KeyboardInterrupt:
                process.terminate()
                process.wait()
                remove(name)
                raise
            if is_ready:
                process.returncode = 0  # It goes on; nobody waits for it.
                return
            process.wait()
            if _is_served(name):  # By one whose command was killed while it started.
                return
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()
            remove(name)
            raise Unusable(said.removeprefix("mcp-browser: ") or "the background server did not start.")
