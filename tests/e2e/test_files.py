"""Files both ways through a real client: over stdio, and from and to another machine."""

from pathlib import Path

import anyio
import httpx2 as httpx
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from tests.support.client import Era, browsing
from tests.support.remote import RemoteBrowser, RemoteServer, connected, serving
from tests.support.site import Site


@pytest.mark.slow
async def test_temporary_files_are_gone_when_the_server_ends_and_named_folders_stay(
    site: Site, tmp_path: Path
) -> None:
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
