"""The container image and the systemd service: built, started, used by a client and stopped for real.

No registry is needed: both start from a Debian made by debootstrap.
"""

import faulthandler
import os
import re
import resource
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import httpx2
import psutil
import pytest
from ruamel.yaml import YAML

from tests.support.apps import free_port
from tests.support.packages import debian_system
from tests.support.process import succeeds
from tests.support.remote import connected
from tests.support.site import Site
from tests.support.waiting import until

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
CONTAINER = ROOT / "manifests" / "container"
SYSTEMD = ROOT / "manifests" / "systemd"
STARTING_SECONDS = 120
STOPPING_SECONDS = 5.0
# A session may have less than Podman and the unit ask for, and no right to raise it.
ULIMITS = ["--ulimit", "nofile=10000:10000", "--ulimit", "nproc=5000:5000"]
PAGE = """<label>Boat <input></label><button onclick="out.textContent = 'Hello ' + boat.value">Sail</button>
<p id=out></p><p>漢字 🚢</p><script>const boat = document.querySelector('input')</script>"""


@pytest.fixture(autouse=True)
def unlimited() -> None:
    """How long a test takes depends on the network: it is not ended as one that hangs."""
    faulthandler.cancel_dump_traceback_later()


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skip a test where it cannot run."""
    lacking = [program for program in programs if shutil.which(program) is None]
    if sys.platform != "linux" or os.geteuid() != 0:
        lacking.append("root's rights")
    return pytest.mark.skipif(bool(lacking), reason=f"{', '.join(lacking)} missing")


def files_of_pip() -> list[str]:
    """What pip is configured by on this machine, with the folders and files that this names."""
    listed = succeeds(sys.executable, "-m", "pip", "config", "list")
    named = re.findall(r"(?:file://)?(/[\w./-]+)", listed)
    folders = [name.removesuffix("/simple") for name in named]
    own = str(Path.home() / ".config" / "pip")
    return [
        name
        for name in dict.fromkeys(["/etc/ssl/certs", "/etc/pip.conf", own, *folders])
        if Path(name).exists()
    ]


async def until_ready(port: int, process: subprocess.Popen[Any]) -> None:
    """Wait until the server answers."""

    def answers() -> bool:
        assert process.poll() is None, process.returncode
        with suppress(httpx2.TransportError):
            return httpx2.get(f"http://127.0.0.1:{port}/readyz").status_code == 200
        return False

    await until(answers, seconds=STARTING_SECONDS)


async def visit(port: int, token: str, site: Site, server: psutil.Process) -> list[psutil.Process]:
    """Do something in a page; the processes that served it."""
    headers = {"Authorization": f"Bearer {token}"}
    async with connected(f"http://127.0.0.1:{port}/mcp", headers=headers) as browser:
        await browser.open(site.page(PAGE))
        assert browser.shows("漢字")
        await browser.fill("textbox", "Boat", "Ann")
        await browser.click("button", "Sail")
        assert browser.shows("Hello Ann")
        family = [server, *server.children(recursive=True)]
        assert_sandboxed([process for process in family if process.cmdline()])
        return family


def assert_sandboxed(family: list[psutil.Process]) -> None:
    """Pages run in a user namespace of their own, without rights, behind a further filter of system calls."""
    assert not any("--no-sandbox" in process.cmdline() for process in family)
    renderers = [process for process in family if "--type=renderer" in process.cmdline()]
    assert renderers, [process.cmdline()[:2] for process in family]
    servers = [process for process in family if "--type=" not in " ".join(process.cmdline())]
    outside = {Path(f"/proc/{process.pid}/ns/user").readlink() for process in servers}
    for renderer in renderers:
        lines = Path(f"/proc/{renderer.pid}/status").read_text("utf-8").splitlines()
        status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        assert Path(f"/proc/{renderer.pid}/ns/user").readlink() not in outside
        assert (status["NoNewPrivs"], status["Seccomp"], int(status["CapEff"], 16)) == ("1", "2", 0)
        assert int(status["Seccomp_filters"]) > 1


def assert_gone(family: list[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(family, timeout=STOPPING_SECONDS)
    assert alive == []


@pytest.fixture(scope="module")
def podman() -> Iterator[Callable[..., list[str]]]:
    """Podman's command with a storage of its own, in which the Dockerfile's base is."""
    base = debian_system("trixie", "ca-certificates")
    # Podman takes no path as long as that of pytest's folder.
    folder = Path(tempfile.mkdtemp(prefix="podman"))
    own = ["podman", "--root", str(folder / "root"), "--runroot", str(folder / "run")]
    if shutil.which("runc"):
        own += ["--runtime", "runc"]

    def command(*words: str | Path) -> list[str]:
        return [*own, *map(str, words)]

    try:
        name = "docker.io/library/debian:trixie-slim"
        succeeds("sh", "-c", f"tar -C {base} -c . | {shlex.join(command('import', '-', name))}")
        yield command
    finally:
        subprocess.run(command("rm", "--all", "--force"), check=False)
        subprocess.run(["umount", "--lazy", "--quiet", folder / "root" / "overlay"], check=False)
        shutil.rmtree(folder)


def options_of_compose() -> list[str]:
    """What compose.yaml says of the server's container, save its networks, as options of `podman run`."""
    service = cast("Any", YAML(typ="safe")).load(CONTAINER / "compose.yaml")["services"]["mcp-browser"]
    options = [f"--user={service['user']}", f"--shm-size={service['shm_size']}"]
    options += ["--read-only"] if service["read_only"] else []
    options += [f"--cap-drop={one}" for one in service["cap_drop"]]
    options += [f"--tmpfs={one}" for one in service["tmpfs"]]
    for option in service["security_opt"]:
        name, _, value = re.sub(":", "=", option, count=1).partition("=")
        options.append(
            f"--security-opt={name}={CONTAINER / value}" if name == "seccomp" else f"--security-opt={name}"
        )
    said = {name: re.sub(r"\$\{\w+:-(.*?)\}", r"\1", value) for name, value in service["environment"].items()}
    return options + [f"--env={name}={value}" for name, value in said.items()]


@needs("podman", "debootstrap")
@pytest.mark.parametrize(("browser", "most"), [("chromium", 1.5e9), ("chromium-headless-shell", 1.25e9)])
async def test_the_image_is_built_serves_a_client_and_stops(  # noqa: PLR0913, PLR0917 - fixtures
    podman: Callable[..., list[str]],
    browser: str,
    most: float,
    site: Site,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    words = ["--isolation=chroot", "--network=host", "--format=docker", *ULIMITS]
    words += [f"--volume={name}:{name}:ro" for name in files_of_pip()]
    words += [f"--build-arg=BROWSER={browser}", "--build-arg=VERSION=0.1.0", f"--tag={browser}"]
    succeeds(*podman("build", *words, f"--file={CONTAINER}/Dockerfile", ROOT))
    size = int(succeeds(*podman("image", "inspect", "--format", "{{.Size}}", browser)))
    record_property("size", size)
    assert size <= most

    token, port = secrets.token_urlsafe(32), free_port()
    (tmp_path / "tokens").write_text(f"alice: sha256:{sha256(token.encode()).hexdigest()}\n", "utf-8")
    (tmp_path / "data").mkdir()
    os.chown(tmp_path / "data", 10001, 10001)
    own = {"HOST": "127.0.0.1", "PORT": port, "ALLOW_PRIVATE": "127.0.0.1"}
    options = [*options_of_compose(), *ULIMITS, "--network=host", "--rm", f"--name={browser}"]
    options += [f"--env=MCP_BROWSER_{name}={value}" for name, value in own.items()]
    options += [f"--volume={tmp_path}/tokens:/run/secrets/tokens:ro", f"--volume={tmp_path}/data:/data"]
    process = subprocess.Popen(podman("run", *options, browser), stdin=subprocess.DEVNULL)  # noqa: ASYNC220
    try:
        await until_ready(port, process)
        succeeds(*podman("healthcheck", "run", browser))
        for wanted, family in (("sans:lang=ja", "Noto Sans CJK JP"), ("emoji", "Noto Color Emoji")):
            assert family in succeeds(*podman("exec", browser, "fc-match", wanted, "family"))
        server = psutil.Process(int(succeeds(*podman("inspect", "--format", "{{.State.Pid}}", browser))))
        assert server.uids().effective == 10001
        family = await visit(port, token, site, server)
        began = time.monotonic()
        succeeds(*podman("stop", "--time=60", browser))
        assert process.wait(10) == 0
        record_property("stopped", time.monotonic() - began)
        assert time.monotonic() - began < STOPPING_SECONDS
        assert_gone(family)
    finally:
        process.kill()


@needs("systemd-nspawn", "debootstrap", "nsenter")
async def test_the_service_is_set_up_as_its_head_says_serves_a_client_and_stops(
    site: Site, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    system, port = tmp_path / "debian", free_port()
    base = debian_system("bookworm", "ca-certificates", "systemd", "systemd-sysv", "dbus")
    succeeds("cp", "--archive", base, system)
    wheel = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]
    succeeds(sys.executable, *wheel, system / "wheels", ROOT)
    shutil.copy(SYSTEMD / "mcp-browser.service", system / "etc/systemd/system")
    (system / "etc/sysusers.d").mkdir(exist_ok=True)
    shutil.copy(SYSTEMD / "mcp-browser.conf", system / "etc/sysusers.d")
    (system / "etc/mcp-browser").mkdir()
    settings = f"MCP_BROWSER_PORT={port}\nMCP_BROWSER_ALLOW_PRIVATE=127.0.0.1\n"
    (system / "etc/mcp-browser/environment").write_text(settings, "utf-8")
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    drop_in = system / "etc/systemd/system/mcp-browser.service.d"
    drop_in.mkdir()
    (drop_in / "limit.conf").write_text(f"[Service]\nLimitNOFILE={min(most, 65536)}\n", "utf-8")
    binds = [f"--bind-ro={name}" for name in files_of_pip()]
    boot = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--boot", "--resolv-conf=copy-host"]
    with (tmp_path / "log").open("wb") as log:
        machine = subprocess.Popen(  # noqa: ASYNC220
            [*boot, *binds, f"--directory={system}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        init = await started(machine)
        inside = ["nsenter", f"--target={init.pid}", "--all", "--"]
        text = (SYSTEMD / "mcp-browser.service").read_text("utf-8")
        steps = "\n".join(re.findall(r"^#     (.*)$", text, re.MULTILINE))
        # This checkout's, where the instructions install the one that was published.
        steps = steps.replace("install mcp-browser-server", "install /wheels/*.whl")
        told = succeeds(*inside, "bash", "-euc", steps)
        (token,) = re.findall(r"^\S{40,}$", told, re.MULTILINE)
        await until_ready(port, machine)
        (server,) = (one for one in init.children(recursive=True) if "--tokens" in one.cmdline())
        family = await visit(port, token, site, server)
        began = time.monotonic()
        succeeds(*inside, "systemctl", "stop", "mcp-browser")
        record_property("stopped", time.monotonic() - began)
        assert time.monotonic() - began < STOPPING_SECONDS
        shown = succeeds(*inside, "systemctl", "show", "--property=Result,ExecMainStatus", "mcp-browser")
        assert set(shown.split()) == {"Result=success", "ExecMainStatus=0"}
        assert_gone(family)
        exposure = ["systemd-analyze", "security", "--threshold=25", "--no-pager", "mcp-browser"]
        succeeds(*inside, *exposure)
    finally:
        machine.terminate()
        try:
            machine.wait(60)
        except subprocess.TimeoutExpired:
            machine.kill()


async def started(machine: subprocess.Popen[Any]) -> psutil.Process:
    """The first process of a machine, once its services run."""
    found: list[psutil.Process] = []

    def runs() -> bool:
        assert machine.poll() is None, machine.returncode
        for init in psutil.Process(machine.pid).children():
            words = ["nsenter", f"--target={init.pid}", "--all", "--", "systemctl", "is-system-running"]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.stdout.strip() in {"running", "degraded"}:
                found.append(init)
        return bool(found)

    await until(runs, seconds=STARTING_SECONDS)
    return found[0]
