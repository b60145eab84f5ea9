"""The program that Playwright starts instead of Chromium if the browser of a profile is shared.

It passes its two ends of the DevTools pipe to the profile's broker, which it starts if there is none, and
runs as long as they are served. It runs as a file, without site-packages, and imports next to nothing until
Chromium has started, since imports delay the browser.
"""

# ruff: noqa: PLC0415, BLE001, PTH100, PTH115, PTH118, PTH123 - see above

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

FOLDER = "MCP_BROWSER_SHARED_PROFILE"
EXECUTABLE = "MCP_BROWSER_SHARED_EXECUTABLE"
TERMS = "MCP_BROWSER_SHARED_TERMS"
LOCK = ".mcp-browser.lock"
CHROMIUM_LOCK = "SingletonLock"
SOCKET = ".mcp-browser.socket"
LOG = ".mcp-browser.log"
DOWNLOADS = ".mcp-browser-downloads"
START_SECONDS = 15.0  # How long a broker may take to start, or to end before another one starts
FAILED = 1
_TO_BROWSER, _FROM_BROWSER = 3, 4
_ROOT = os.path.abspath(__file__).rsplit(os.sep + "mcp_browser" + os.sep, 1)[0]


def main() -> int:
    """Connect to the broker of the profile, started if needed, and wait until it is done with this client."""
    folder, executable = os.environ.pop(FOLDER), os.environ.pop(EXECUTABLE)
    terms = os.environ.pop(TERMS)
    child = _start_broker(folder, executable, terms)

    # From here on Chromium starts, or another client's broker, so that imports cost nothing.
    import json
    import socket
    import time

    hello = json.dumps({"pid": os.getppid(), "terms": terms}).encode() + b"\n"
    deadline = time.monotonic() + START_SECONDS
    os.chdir(folder)
    while time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as broker:
            try:
                # By its name in this folder: addresses of sockets have to be short.
                broker.connect(SOCKET)
                socket.send_fds(broker, [hello], [_TO_BROWSER, _FROM_BROWSER])
                taken = _listen(broker)
            except OSError:
                taken = None
        if taken is not None:
            return taken
        time.sleep(0.01)
        if child and os.waitpid(child, os.WNOHANG)[0]:
            sys.stderr.write("mcp-browser: the broker ended as it began\n")
            return FAILED
        child = child or _start_broker(folder, executable, terms)
    sys.stderr.write("mcp-browser: in use: nobody answers for this profile\n")
    return FAILED


def _listen(broker: "socket.socket") -> "int | None":
    """Forward the broker's output until it closes; the exit code, None if it ended before it accepted."""
    taken: int | None = None
    with broker.makefile("rb") as lines:
        for line in lines:
            if line.startswith(b"taken"):
                taken = 0
            elif line.startswith(b"refused "):
                sys.stderr.write(f"mcp-browser: {line.decode()}")
                taken = FAILED
            else:
                sys.stderr.buffer.write(line)
                sys.stderr.flush()
    return taken


def _start_broker(folder: str, executable: str, terms: str) -> int:
    """Start a broker, which starts the browser, unless the profile is in use; its process id, or 0."""
    import fcntl

    lock = os.open(os.path.join(folder, LOCK), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        ready = not _browser_lives(folder)
    except OSError:
        ready = False
    if not ready:
        os.close(lock)
        return 0
    if child := os.fork():
        # The broker holds the lock as long as it runs.
        os.close(lock)
        return child
    code = FAILED
    try:
        os.setsid()
        os.ftruncate(lock, 0)
        signature = f'{{"pid": {os.getpid()}, "host": "{os.uname().nodename}", "shared": true}}'
        os.pwrite(lock, signature.encode(), 0)
        _serve(folder, executable, terms, lock)
        code = 0
    except BaseException:
        import traceback

        with open(os.path.join(folder, LOG), "a", encoding="utf-8") as log:
            traceback.print_exc(file=log)
    finally:
        os._exit(code)


def _browser_lives(folder: str) -> bool:
    """Whether a browser uses the profile, such as one whose broker was just killed."""
    try:
        host, _, number = os.readlink(os.path.join(folder, CHROMIUM_LOCK)).rpartition("-")
        os.kill(int(number), 0)
    except (OSError, ValueError):
        return False
    return host == os.uname().nodename


def _serve(folder: str, executable: str, terms: str, lock: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(_FROM_BROWSER + 1):
        os.dup2(null, number)
    commands, to_browser = os.pipe()
    from_browser, answers = os.pipe()
    log, errors = os.pipe()
    browser = os.posix_spawn(
        executable,
        [executable, *sys.argv[1:]],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, errors, 2),
            (os.POSIX_SPAWN_DUP2, commands, _TO_BROWSER),
            (os.POSIX_SPAWN_DUP2, answers, _FROM_BROWSER),
        ],
        setpgroup=0,
    )
    for number in (commands, answers, errors):
        os.close(number)
    sys.path.insert(0, _ROOT)
    os.chdir(folder)
    from mcp_browser.browser.process.divide.profile_broker import ProfileBroker

    ProfileBroker(
        lock=lock,
        browser=browser,
        pipe=(from_browser, to_browser),
        log=log,
        terms=terms,
        place=SOCKET,
        downloads=DOWNLOADS,
        start_seconds=START_SECONDS,
    ).run()


if __name__ == "__main__":
    sys.exit(main())
