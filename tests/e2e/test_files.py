"""Files, recordings and extracted data through a real client: over stdio, and from and to another machine."""

import base64
import csv
import io
import itertools
import json
import zipfile
from pathlib import Path

import anyio
import httpx2 as httpx
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from tests.support.client import ERAS, MODERN_FIRST, Era, browsing
from tests.support.remote import RemoteBrowser, RemoteServer, connected, files_in, reached, serving
from tests.support.site import Site
from tests.support.video import RED, shows


@pytest.mark.slow
async def test_temporary_files_go_with_the_server_and_named_folders_stay(site: Site, tmp_path: Path) -> None:
    async with browsing("auto") as browser:
        await browser.open(site.page("<h1>Here</h1>"))
        told = await browser.do("save_pdf", name="temporary")
        path = anyio.Path(told.partition("Saved the page as ")[2].partition(" (")[0])
        assert await path.exists()
    assert not await path.parent.exists()
    async with browsing("auto", "--output-dir", str(tmp_path)) as browser:
        await browser.open(site.page("<h1>Here</h1>"))
        await browser.do("save_pdf", name="kept")
    assert await anyio.Path(tmp_path / "kept.pdf").exists()


PICKER = """
<input type=file aria-label=File onchange="files[0].text().then(text => out.textContent = text)">
<output id=out></output>"""

WAYS = [
    ("http", "auto"),
    pytest.param("http", "legacy", marks=pytest.mark.slow),
    pytest.param("sse", "legacy", marks=pytest.mark.slow),
]


async def link_of(browser: RemoteBrowser, tool: str, **arguments: object) -> types.ResourceLink:
    handle = {"session": browser.session} if browser.session else {}
    answer = await browser.client.call_tool(tool, {**arguments, **handle})
    assert isinstance(answer, types.CallToolResult)
    assert "/tmp" not in answer.model_dump_json()
    (link,) = (part for part in answer.content if isinstance(part, types.ResourceLink))
    return link


def get(server: RemoteServer, uri: str) -> httpx.Response:
    key, _, rest = uri.removeprefix("browser://").partition("/files/")
    return httpx.get(f"{server.base}/files/{key}/{rest}", timeout=30)


@pytest.mark.parametrize(("transport", "era"), WAYS)
async def test_a_remote_client_gives_files_and_gets_files(site: Site, transport: str, era: Era) -> None:
    async with serving("--tools", "core,files") as server:
        url = server.sse_url if transport == "sse" else server.url
        async with connected(url, era) as browser:
            await browser.open(site.page(PICKER))
            await browser.do(
                "upload_file", index=browser.find("button", "File"), paths=["data:;name=a.txt,from%20afar"]
            )
            await browser.wait_until("from afar")
            told = await browser.refused("upload_file", index=1, paths=["/etc/hostname"])
            assert "the browser is on another machine" in told

            await browser.open(site.page("<a href='/download/a.csv?text=1,2'>Table</a>"))
            link = await link_of(browser, "click_element", index=browser.find("link", "Table"))
            assert (link.name, link.mime_type, link.size) == ("a.csv", "text/csv", 3)
            (contents,) = (await browser.client.read_resource(link.uri)).contents
            assert isinstance(contents, types.TextResourceContents)
            assert contents.text == "1,2"
            answer = get(server, link.uri)
            assert (answer.status_code, answer.text) == (200, "1,2")
            assert "attachment" in answer.headers["content-disposition"]
            resources = (await browser.client.list_resources()).resources
            listed = [one.uri for one in resources if "/files/" in one.uri]
            # In the modern protocol a caller without a name cannot be told from others.
            assert listed == ([] if era == "auto" else [link.uri])

            async with connected(url, era) as other:
                await other.open(site.page("<h1>Other</h1>"))
                others = (await other.client.list_resources()).resources
                assert [one for one in others if "/files/" in one.uri] == []
                assert other.session != browser.session or era == "legacy"
            await browser.call("close_session", **({} if browser.session else {"session": "none"}))
            if browser.session:
                with pytest.raises(MCPError, match="There is no file"):
                    await browser.client.read_resource(link.uri)
                assert get(server, link.uri).status_code == 404


# -- recordings

TICKS = """<style>body{background:red}</style><p id=p></p>
<script>let n = 0; setInterval(() => { p.textContent = `Tick ${++n}` }, 100)</script>"""


def holds(trace: Path, text: bytes) -> bool:
    with zipfile.ZipFile(trace) as parts:
        return any(text in parts.read(name) for name in parts.namelist())


@pytest.mark.parametrize("era", MODERN_FIRST)
async def test_a_client_records_a_video_and_reads_it(site: Site, era: Era, tmp_path: Path) -> None:
    async with browsing(era, "--tools", "core,recording") as browser:
        await browser.open(site.page(TICKS))
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
async def test_a_server_over_stdio_records_to_the_end(site: Site, era: Era, tmp_path: Path) -> None:
    async with browsing(era, "--record", "video", "--output-dir", str(tmp_path)) as browser:
        await browser.open(site.page(TICKS))
        await browser.do("wait_for", text="Tick 20", timeout=60)
    (video,) = files_in(tmp_path)
    assert shows(video, RED)


@pytest.mark.parametrize("kind", ["video", "trace"])
async def test_a_server_over_http_records_each_session(site: Site, kind: str, tmp_path: Path) -> None:
    async with serving("--http", "--record", kind, "--output-dir", str(tmp_path)) as server:
        for _ in range(2):
            async with connected(server.url, "legacy") as browser:
                await browser.open(site.page(TICKS))
                await browser.do("wait_for", text="Tick 20", timeout=60)
    first, second = files_in(tmp_path)
    for path in (first, second):
        if kind == "video":
            assert shows(path, RED)
        else:
            assert holds(path, b"Tick")


# -- extracted data

ROWS = [[f"Part {n}", str(n * 7), f"2026-01-{n % 28 + 1:02}"] for n in range(1, 2001)]
STOCK = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in ROWS)
PAGE = f"""<table><caption>Lamps</caption><tr><th>Name<th>Price<tr><td>Lamp 1<td>£1.50</table>
<table><tr><th>Part<th>Count<th>Seen{STOCK}</table>"""
LAMPS = {
    "type": "array",
    "items": {"type": "object", "properties": {"name": {"type": "string"}, "price": {"type": "number"}}},
}


@pytest.mark.parametrize(("way", "era"), [*itertools.product(("stdio", "http"), ERAS)])
async def test_content_is_whole_in_each_channel_over_each_transport(site: Site, way: str, era: Era) -> None:
    async with reached(way, era, "--tools", "core,extraction") as browser:
        await browser.open(site.page(PAGE))
        result = await browser.call("extract_data", output_schema=LAMPS)
        assert result.structured is not None
        assert result.structured["data"] == [{"name": "Lamp 1", "price": 1.5}]
        # For a client that gives its model the texts alone.
        framed = result.text.partition(" untrusted>\n")[2].rpartition("\n</page>")[0]
        assert json.loads(framed) == result.structured

        session = {"session": browser.session} if isinstance(browser, RemoteBrowser) else {}
        answer = await browser.answer("extract_tables", {"table": 2, **session})
        assert answer.structured_content is None
        assert "Table 2, 2,000 rows, 3 columns, whole in the file" in answer.model_dump_json()
        assert way == "stdio" or "/tmp" not in answer.model_dump_json()
        (link,) = [part for part in answer.content if isinstance(part, types.ResourceLink)]
        (contents,) = (await browser.client.read_resource(link.uri)).contents
        assert isinstance(contents, types.TextResourceContents)
        assert list(csv.reader(io.StringIO(contents.text))) == [["Part", "Count", "Seen"], *ROWS]
