"""Several servers behind a real nginx, with one of the configurations that the manifests have.

async with replicated(folder) as site:
    async with connected(site.url) as browser:
        await browser.open("http://127.0.0.1:8000/")
"""

import contextlib
import re
import shutil
import socketserver
import struct
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import inet_aton

import pytest

from tests.support.apps import free_port, running
from tests.support.packages import debian_package
from tests.support.remote import RemoteServer, serving

MANIFESTS = Path(__file__).parents[2] / "manifests"
CONFIGURATION = MANIFESTS / "nginx.conf"
ROUTER = MANIFESTS / "kubernetes" / "overlays" / "many-replicas" / "router.conf"
PORTS = {"a": 8601, "b": 8602, "c": 8603}
"""The replicas in the configuration, and where they listen."""

PODS = {"mcp-browser-0": "127.0.0.2", "mcp-browser-1": "127.0.0.3", "mcp-browser-2": "127.0.0.4"}
"""The servers of a cluster as the router knows them, and the addresses that they have here."""

_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@dataclass(frozen=True, kw_only=True)
class Replicas:
    """Servers by the names of the replicas, and the address of nginx before them."""

    base: str
    servers: dict[str, RemoteServer]

    @property
    def url(self) -> str:
        return f"{self.base}/mcp"

    @property
    def sse_url(self) -> str:
        return f"{self.base}/sse"


@asynccontextmanager
async def replicated(folder: Path, *flags: str) -> AsyncGenerator[Replicas]:
    """Three replicas, with more flags, and nginx with `manifests/nginx.conf`, on free ports.

    nginx has its own files in `folder`.
    """
    ports = {name: free_port() for name in PORTS}
    trust = ("--http", "--sse", "--trusted-proxies", "127.0.0.1", *flags)
    async with contextlib.AsyncExitStack() as stack:
        servers = {
            name: await stack.enter_async_context(serving("--replica", name, "--port", str(port), *trust))
            for name, port in ports.items()
        }
        here = {rf"127\.0\.0\.1:{written}\b": f"127.0.0.1:{ports[name]}" for name, written in PORTS.items()}
        base = stack.enter_context(nginx(folder, CONFIGURATION, here))
        yield Replicas(base=base, servers=servers)


@asynccontextmanager
async def clustered(folder: Path, *flags: str) -> AsyncGenerator[Replicas]:
    """Three servers and a router as in the overlay `many-replicas`: all at one port, each by its name.

    What stands for the cluster's names knows those whose process runs. nginx has its own files in `folder`.
    """
    port = str(free_port())
    trust = ("--http", "--sse", "--trusted-proxies", "127.0.0.0/8", *flags)
    async with contextlib.AsyncExitStack() as stack:
        servers = {
            name: await stack.enter_async_context(
                serving("--replica", name, "--host", address, "--port", port, *trust)
            )
            for name, address in PODS.items()
        }

        def addresses(asked: str) -> list[str]:
            name, _, rest = asked.partition(".")
            running = {one: PODS[one] for one in PODS if servers[one].process.poll() is None}
            if rest == "mcp-browser-servers.mcp-browser.svc.cluster.local":
                return [running[name]] if name in running else []
            return list(running.values()) if asked == "mcp-browser.mcp-browser.svc.cluster.local" else []

        names = stack.enter_context(name_server(addresses))
        here = {r"kube-dns\.kube-system\.svc\.cluster\.local": names, r"\b8585\b": port}
        yield Replicas(base=stack.enter_context(nginx(folder, ROUTER, here)), servers=servers)


@contextmanager
def nginx(
    folder: Path,
    configuration: Path,
    here: dict[str, str],
    *,
    certificate: Path | None = None,
    port: int | None = None,
) -> Generator[str]:
    """nginx, with its own files in `folder`, as a manifest configures it; its address.

    `here` has what stands in the place of what the configuration says, by regular expressions for that. With
    a `certificate`, a PEM file with the key in it, it speaks TLS.
    """
    port = port or free_port()
    text = configuration.read_text("utf-8")
    tls = f" ssl; ssl_certificate {certificate}; ssl_certificate_key {certificate};" if certificate else ";"
    for written, instead in {r"listen \d+;": f"listen 127.0.0.1:{port}{tls}", **here}.items():
        text, count = re.subn(written, instead, text)
        assert count, f"{configuration} does not say {written}"
    (folder / "mcp-browser.conf").write_text(text, "utf-8")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in _TEMPORARY)
    (folder / "nginx.conf").write_text(
        f"pid {folder}/nginx.pid; daemon off; events {{ worker_connections 4096; }}"
        f"http {{ access_log off; {temporary} include {folder}/mcp-browser.conf; }}"
    )
    command = [str(executable()), "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")]
    base = f"{'https' if certificate else 'http'}://127.0.0.1:{port}"
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


@contextmanager
def name_server(addresses: Callable[[str], list[str]]) -> Generator[str]:
    """A name server (DNS, over UDP) that knows these addresses of a name; its own address and port."""

    class Answer(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            query, socket = self.request
            end = query.index(b"\0", 12)
            labels: list[str] = []
            at = 12
            while at < end:
                labels.append(query[at + 1 : at + 1 + query[at]].decode())
                at += 1 + query[at]
            found = addresses(".".join(labels))
            head = query[:2] + struct.pack(">5H", 0x8180 if found else 0x8183, 1, len(found), 0, 0)
            records = (b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 1, 4) + inet_aton(one) for one in found)
            socket.sendto(head + query[12 : end + 5] + b"".join(records), self.client_address)

    with socketserver.ThreadingUDPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
