"""Servers behind real proxies, with the configurations that the manifests have: with TLS, and replicas."""

import re
import shutil
import socket
import ssl
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from tests.e2e.test_view import link_in
from tests.support.apps import free_port, running
from tests.support.certificates import self_signed
from tests.support.load import load
from tests.support.packages import debian_package
from tests.support.remote import RemoteServer, serving
from tests.support.replicas import CONFIGURATION, MANIFESTS, PORTS, clustered, nginx, replicated
from tests.support.site import Site
from tests.support.visitors import Behind, crowd

pytestmark = pytest.mark.slow

NAME = "browser.localhost"
UNVERIFIED = ssl.create_default_context()
UNVERIFIED.check_hostname, UNVERIFIED.verify_mode = False, ssl.CERT_NONE


@pytest.fixture(autouse=True)
def _resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the name be this machine's, as browsers take it."""
    ask = socket.getaddrinfo

    def resolve(host: Any, *rest: Any, **more: Any) -> Any:
        return ask("127.0.0.1" if host in {NAME, NAME.encode()} else host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


@contextmanager
def caddy_with_tls(folder: Path, server: int, port: int) -> Generator[str]:
    """Caddy as compose.yaml runs it, before a server's port; its address."""
    text = (
        (MANIFESTS / "container" / "Caddyfile")
        .read_text("utf-8")
        .replace("mcp-browser:8585", f"127.0.0.1:{server}")
    )
    # Nothing beside the one port, and no change of the machine's certificates.
    options = "{\nadmin off\nauto_https disable_redirects\nskip_install_trust\n}\n"
    (folder / "Caddyfile").write_text(options + text, "utf-8")
    environment = {"MCP_BROWSER_DOMAIN": f"https://{NAME}:{port}", "HOME": str(folder)}
    caddy = shutil.which("caddy") or str(debian_package("caddy") / "usr/bin/caddy")
    command = [caddy, "run", "--config", str(folder / "Caddyfile")]
    with running(command, folder, environment, ready=f"https://{NAME}:{port}/healthz"):
        yield f"https://{NAME}:{port}"


@contextmanager
def nginx_with_tls(folder: Path, server: int, port: int) -> Generator[str]:
    """nginx with manifests/nginx.conf and a certificate, before a server's port; its address."""
    pem = self_signed(folder, NAME)
    here = {rf"127\.0\.0\.1:{written}\b": f"127.0.0.1:{server}" for written in PORTS.values()}
    with nginx(folder, CONFIGURATION, here, certificate=pem, port=port) as base:
        yield base.replace("127.0.0.1", NAME)


@asynccontextmanager
async def behind(proxy: str, folder: Path, *, told: str) -> AsyncGenerator[tuple[str, RemoteServer]]:
    """A server behind a proxy; it knows of TLS by its public address, or by what the proxy says."""
    port, own = free_port(), free_port()
    flags = (
        ("--public-url", f"https://{NAME}:{port}")
        if told == "public address"
        else (*("--trusted-proxies", "127.0.0.1"), *("--allowed-hosts", NAME))
    )
    start = caddy_with_tls if proxy == "caddy" else nginx_with_tls
    async with serving("--http", "--view", "--port", str(own), *flags) as server:
        with start(folder, own, port) as base:
            yield base, server


@pytest.mark.parametrize("told", ["public address", "forwarded headers"])
@pytest.mark.parametrize("proxy", ["caddy", "nginx"])
async def test_pages_of_the_same_name_without_tls_are_other_pages(
    proxy: str, told: str, tmp_path: Path
) -> None:
    async with behind(proxy, tmp_path, told=told) as (base, server):
        plain = base.replace("https", "http")
        ports = (f"https://{NAME}", f"https://{NAME}:1", plain.rpartition(":")[0])
        others = (plain, *ports, "https://evil.example")
        async with httpx2.AsyncClient(base_url=base, verify=UNVERIFIED, timeout=60) as client:

            async def status(method: str, path: str, origin: str) -> int:
                answer = await client.request(method, path, headers={"Origin": origin})
                return answer.status_code

            assert await status("POST", "/mcp", base) not in {403, 421}
            assert await status("POST", "/view/sign-out", base) == 303
            for origin in others:
                assert await status("POST", "/mcp", origin) == 403, origin
                assert await status("POST", "/view/sign-out", origin) == 403, origin
            link = link_in(server.stderr)
            assert (await client.get(re.sub(r"^https?://[^/]+", "", link))).status_code in {200, 303}
            cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        if proxy == "nginx":
            return  # Its configuration has no WebSockets: each replica has a view of its own.
        wanted = {"Cookie": cookie}
        live = f"{base.replace('https', 'wss')}/view/live"
        async with connect(live, ssl=UNVERIFIED, origin=Origin(base), additional_headers=wanted) as line:
            assert '"sessions"' in str(await line.recv())
        for origin in others:
            with pytest.raises(InvalidStatus):
                async with connect(live, ssl=UNVERIFIED, origin=Origin(origin), additional_headers=wanted):
                    pass


SESSIONS = load(6, full=24)
"""`just remote replicas` does it with two hundred."""


@pytest.mark.parametrize(("behind", "sessions"), [(replicated, SESSIONS), (clustered, SESSIONS // 2)])
async def test_sessions_are_spread_and_found_again_and_a_dead_replica_loses_only_its_own(
    site: Site, tmp_path: Path, behind: Behind, sessions: int
) -> None:
    outcome = await crowd(site, tmp_path, sessions, behind=behind)
    assert outcome.spread.total() >= sessions
    assert outcome.lost == outcome.spread[outcome.killed] > 0
