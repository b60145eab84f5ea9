"""Recordings through a real client, over stdio and over HTTP."""

import base64
import zipfile
from pathlib import Path

import mcp_types as types
import pytest

from tests.support.client import MODERN_FIRST, Era, browsing
from tests.support.remote import connected, files_in, serving
from tests.support.site import Site
from tests.support.video import RED, shows

PAGE = """<style>body{background:red}</style><p id=p></p>
<script>let n = 0; setInterval(() => { p.textContent = `Tick ${++n}` }, 100)</script>"""


def holds(trace: Path, text: bytes) -> bool:
    with zipfile.ZipFile(trace) as parts:
        return any(text in parts.read(name) for name in parts.namelist())


@pytest.mark.parametrize("era", MODERN_FIRST)
async def test_a_client_records_a_video_and_reads_it(site: Site, era: Era, tmp_path: Path) -> None:
    async with browsing(era, "--tools", "core,recording") as browser:
        await browser.open(site.page(PAGE))
        assert "60 minutes and 200 MB at most" in await browser.do("start_recording", name="ticks")
        await browser.do("wait_for", text="Tick 20", timeout=60)
        answer = await browser.answer("stop_recording", {})
        (link,) = [part for part in answer.content if isinstance(part, types.ResourceLink)]
        assert (link.name, link.mime_type) == ("ticks.webm", "video/webm")
        (contents,) = (await browser.client.read_resource(link.uri)).contents
        assert isinstance(contents, types.BlobResourceContents)
        copy = tmp_path / "copy.webm"
        copy.write_bytes(base64.b64decode(contents.blob))
        assert shows(copy, RED)


@pytest.mark.parametrize("era", MODERN_FIRST)
async def test_a_server_over_stdio_records_its_session_to_the_end(
    site: Site, era: Era, tmp_path: Path
) -> None:
    async with browsing(era, "--record", "video", "--output-dir", str(tmp_path)) as browser:
        await browser.open(site.page(PAGE))
        await browser.do("wait_for", text="Tick 20", timeout=60)
    (video,) = files_in(tmp_path)
    assert shows(video, RED)


@pytest.mark.parametrize("kind", ["video", "trace"])
async def test_a_server_over_http_records_each_session(site: Site, kind: str, tmp_path: Path) -> None:
    async with serving("--http", "--record", kind, "--output-dir", str(tmp_path)) as server:
        for _ in range(2):
            async with connected(server.url, "legacy") as browser:
                await browser.open(site.page(PAGE))
                await browser.do("wait_for", text="Tick 20", timeout=60)
    first, second = files_in(tmp_path)
    for path in (first, second):
        if kind == "video":
            assert shows(path, RED)
        else:
            assert holds(path, b"Tick")
