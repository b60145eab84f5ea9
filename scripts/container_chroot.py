"""Carry out the steps of the Dockerfile in a Debian of its own, and run the outcome as compose.yaml says.

    python scripts/container_chroot.py [FOLDER] [--debian RELEASE]

FOLDER keeps the systems and uses them again; RELEASE stands for that of the Dockerfile. Needs root,
debootstrap, crun and a Debian mirror (DEBIAN_MIRROR), and nothing of Docker. What runs has the image's user,
an unwritable root, no capabilities, the seccomp profile and Chromium's sandbox; clients come over HTTP, then
it is told to stop.
"""

import argparse
import asyncio
import contextlib
import hashlib
import http.server
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast
from urllib.request import urlopen

import httpx2
import psutil
from dockerfile_steps import CONTAINER, Image, build, run, say
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from ruamel.yaml import YAML

# It refuses a machine that has both versions of control groups: it is shown the newer one, and uses none.
_CRUN = 'mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec crun --cgroup-manager=disabled "$@"'
CRUN = ["unshare", "--mount", "sh", "-c", _CRUN, "crun"]
NAME = f"mcp-browser-{os.getpid()}"
TOKEN = secrets.token_urlsafe(32)
CLIENTS = 12
CALLS = 5  # Of each client
STARTING_SECONDS = 60
PAGE = b"""<!doctype html><title>Harbour</title><meta charset=utf-8><label>Boat <input></label>
<button onclick="out.textContent = document.querySelector('input').value">Sail</button><p id=out></p>
<p>\xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\x9a\xa2</p>"""


def main() -> int:
    """Build, run and try; the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--debian")
    options = parser.parse_args()
    for program in ("debootstrap", "crun"):
        if shutil.which(program) is None:
            sys.exit(f"{program} is missing: it is a package of Debian's.")
    if os.geteuid() != 0:
        sys.exit("A system of its own needs root.")
    with contextlib.ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        image = build(folder.absolute(), {"DEBIAN": options.debian} if options.debian else {})
        with running(image, folder.absolute()) as (process, url):
            run([*CRUN, "exec", NAME, *image.health])
            asyncio.run(load(url, process.pid))
            say("SIGTERM")
            run([*CRUN, "kill", NAME, "TERM"])
            code = process.wait(60)
            assert code == 0, f"it ended with {code}"
    say("done")
    return 0


@contextlib.contextmanager
def running(image: Image, folder: Path) -> Generator[tuple[subprocess.Popen[bytes], str]]:
    """The image as a container with what compose.yaml says of it, once it answers, and its address."""
    service = cast("Any", YAML(typ="safe")).load(CONTAINER / "compose.yaml")["services"]["mcp-browser"]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    bundle, data = folder / "bundle", folder / "data"
    for place in (bundle, data):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
    os.chown(data, *map(int, service["user"].split(":")))
    (bundle / "tokens").write_text(f"alice: sha256:{hashlib.sha256(TOKEN.encode()).hexdigest()}\n")
    said = {name: re.sub(r"\$\{\w+:-(.*?)\}", r"\1", value) for name, value in service["environment"].items()}
    # This machine's network: what it opens is served here, too.
    own = {
        "MCP_BROWSER_HOST": "127.0.0.1",
        "MCP_BROWSER_PORT": str(port),
        "MCP_BROWSER_ALLOW_PRIVATE": "127.0.0.1",
    }
    environment = {**image.environment, **said, **own}
    (bundle / "config.json").write_text(
        json.dumps(configuration(image, service, environment, bundle, data), indent=1)
    )
    say("the container")
    process = subprocess.Popen([*CRUN, "run", "--bundle", str(bundle), NAME], stdin=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{port}/readyz", process)
        yield process, f"http://127.0.0.1:{port}/mcp"
    finally:
        if process.poll() is None:
            process.kill()
        subprocess.run([*CRUN, "delete", "--force", NAME], check=False, capture_output=True)


def configuration(
    image: Image, service: dict[str, Any], environment: dict[str, str], bundle: Path, data: Path
) -> dict[str, Any]:
    """What the OCI runtime is told: the image, with the rights that the service has."""
    assert service["read_only"], "the root is to be unwritable"
    assert service["cap_drop"] == ["ALL"], "no capabilities"
    options = dict(re.split("[=:]", option, maxsplit=1) for option in service["security_opt"])
    assert options["no-new-privileges"] == "true"
    profile = json.loads((CONTAINER / options["seccomp"]).read_text("utf-8"))
    for rule in profile["syscalls"]:
        rule.pop("comment", None)
    user, group = map(int, image.user.split(":"))
    assert service["user"] == image.user, "compose.yaml and the Dockerfile name different users"
    closed = ["nosuid", "noexec", "nodev"]
    mounts = [
        ("proc", "/proc", "proc", closed),
        ("tmpfs", "/dev", "tmpfs", ["nosuid", "strictatime", "mode=755", "size=65536k"]),
        ("devpts", "/dev/pts", "devpts", ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"]),
        ("shm", "/dev/shm", "tmpfs", [*closed, "mode=1777", f"size={service['shm_size'].removesuffix('b')}"]),
        (str(data), "/data", "bind", ["bind", "rw", "nosuid", "nodev"]),
        (str(bundle / "tokens"), "/run/secrets/tokens", "bind", ["bind", "ro"]),
    ]
    for given in service["tmpfs"]:
        place, _, how = given.partition(":")
        mounts.append(("tmpfs", place, "tmpfs", ["nosuid", "nodev", *how.split(",")]))
    return {
        "ociVersion": "1.0.2",
        "process": {
            "user": {"uid": user, "gid": group},
            "args": image.entry,
            "env": [f"{name}={value}" for name, value in environment.items()],
            "cwd": image.folder,
            "capabilities": {},
            "noNewPrivileges": True,
        },
        "root": {"path": str(image.root), "readonly": True},
        "hostname": "mcp-browser",
        "mounts": [
            {"source": source, "destination": place, "type": kind, "options": how}
            for source, place, kind, how in mounts
        ],
        "linux": {
            "namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")],
            "seccomp": profile,
            "maskedPaths": ["/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug"],
            "readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
        },
    }


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until an address answers 200.

    Raises:
        AssertionError: the process has ended, or it takes too long.
    """
    until = time.monotonic() + STARTING_SECONDS
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), urlopen(url, timeout=30):  # noqa: S310 - an address of our own
            return
        time.sleep(0.2)
    raise AssertionError(f"{url} does not answer; exit code {process.poll()}")


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Answer with the page."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Say nothing."""


async def load(url: str, container: int) -> None:
    """Clients that come at once, each with a session of its own; then look at the sandbox."""
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    say(f"{CLIENTS} clients")
    looked = asyncio.Event()
    ready = asyncio.Barrier(CLIENTS + 1)

    async def visit(number: int) -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http), read_timeout_seconds=120) as client,
        ):
            await client.list_tools()
            opened = await client.call_tool("go_to_url", {"url": f"http://127.0.0.1:{site.server_port}/"})
            session = {"session": (opened.meta or {})["mcp-browser/session"]}
            lines = str(opened.content)
            assert "漢字" in lines, lines
            box, button = (int(re.findall(rf"\[(\d+)\] {role}", lines)[0]) for role in ("textbox", "button"))
            for call in range(CALLS):
                name = f"boat-{number}-{call}"
                await client.call_tool("input_text", {"index": box, "text": name, **session})
                told = await client.call_tool("click_element", {"index": button, **session})
                assert name in str(told.content), told
            await ready.wait()
            await looked.wait()
            closed = await client.call_tool("close_session", session)
            assert not closed.is_error, closed

    async with asyncio.TaskGroup() as visits:
        for number in range(CLIENTS):
            visits.create_task(visit(number))
        await ready.wait()
        check_sandbox(container)
        looked.set()
    site.shutdown()


def check_sandbox(container: int) -> None:
    """Whether pages run in namespaces of their own, without rights and behind two filters of system calls.

    Raises:
        AssertionError: they do not.
    """
    everybody = [
        process for process in psutil.Process(container).children(recursive=True) if process.cmdline()
    ]
    pages = [process for process in everybody if "--type=renderer" in process.cmdline()]
    piped = [process for process in everybody if "--remote-debugging-pipe" in process.cmdline()]
    browsers = [process for process in piped if process not in pages]
    assert len(pages) >= CLIENTS, (
        f"{len(pages)} renderers: {[process.cmdline()[:2] for process in everybody]}"
    )
    assert browsers, "no browser"
    assert not any("--no-sandbox" in process.cmdline() for process in everybody), "the sandbox is off"
    own = {Path(f"/proc/{process.pid}/ns/user").readlink() for process in browsers}
    for page in pages:
        status = dict(
            line.split(":\t", 1)
            for line in Path(f"/proc/{page.pid}/status").read_text().splitlines()
            if ":\t" in line
        )
        assert Path(f"/proc/{page.pid}/ns/user").readlink() not in own, "no namespace of users of its own"
        assert status["NoNewPrivs"] == "1", status
        assert status["Seccomp"] == "2", status
        assert int(status["Seccomp_filters"]) > 1, "the container's filter alone"
        assert int(status["CapEff"], 16) == 0, status
    say(f"{len(pages)} pages, each in a sandbox")


if __name__ == "__main__":
    sys.exit(main())
