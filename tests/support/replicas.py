"""Several servers behind a real nginx, with the configuration that the manifests have.

async with replicated(folder) as site:
    async with connected(site.url) as browser:
        await browser.open("http://127.0.0.1:8000/")
"""

import contextlib
import re
import shutil
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.apps import free_port, running
from tests.support.packages import debian_package
from tests.support.remote import RemoteServer, serving

CONFIGURATION = Path(__file__).parents[2] / "manifests" / "nginx.conf"

PORTS = {"a": 8601, "b": 8602, "c": 8603}
"""The replicas in the configuration, and where they listen."""

LISTENS = "listen 8600;"

_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@dataclass(frozen=True, kw_only=True)
class Replicas:
    """Servers by the names of the replicas, and the address of nginx before them."""

    base: str
    servers: dict[str, RemoteServer]

    @property
    def url(self) -> str:
        """Streamable HTTP."""
        return f"{self.base}/mcp"

    @property
    def sse_url(self) -> str:
        """Server-Sent Events."""
        return f"{self.base}/sse"


@asynccontextmanager
async def replicated(folder: Path, *flags: str) -> AsyncGenerator[Replicas]:
    """Three replicas and nginx, on free ports.

    Args:
        folder: for nginx' own files.
        flags: more settings for each replica.
    """
    ports = {name: free_port() for name in PORTS}
    trust = ("--http", "--sse", "--trusted-proxies", "127.0.0.1", *flags)
    async with contextlib.AsyncExitStack() as stack:
        servers = {
            name: await stack.enter_async_context(serving("--replica", name, "--port", str(port), *trust))
            for name, port in ports.items()
        }
        base = stack.enter_context(nginx(folder, ports))
        yield Replicas(base=base, servers=servers)


@contextmanager
def nginx(folder: Path, ports: dict[str, int]) -> Generator[str]:
    """nginx as the manifest configures it, with other ports; its address."""
    port = free_port()
    text = CONFIGURATION.read_text("utf-8")
    assert LISTENS in text
    text = text.replace(LISTENS, f"listen 127.0.0.1:{port};")
    for name, written in PORTS.items():
        text, count = re.subn(rf"127\.0\.0\.1:{written}\b", f"127.0.0.1:{ports[name]}", text)
        assert count, f"{CONFIGURATION} does not have the replica {name} at {written}"
    (folder / "mcp-browser.conf").write_text(text, "utf-8")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in _TEMPORARY)
    (folder / "nginx.conf").write_text(
        f"pid {folder}/nginx.pid; daemon off; events {{ worker_connections 4096; }}"
        f"http {{ access_log off; {temporary} include {folder}/mcp-browser.conf; }}"
    )
    command = [str(executable()), "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")]
    base = f"http://127.0.0.1:{port}"
    with running(command, folder, ready=f"{base}/healthz"):
        yield base


def executable() -> Path:
    """Debian's nginx, that of the system or of the package; the test is skipped where there is neither."""
    if (found := shutil.which("nginx") or shutil.which("/usr/sbin/nginx")) is not None:
        return Path(found)
    try:
        return debian_package("nginx") / "usr" / "sbin" / "nginx"
    except RuntimeError as error:
        pytest.skip(f"there is no nginx here, and it cannot be had: {error}")
