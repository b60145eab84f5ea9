"""Files both ways through a real client over stdio, in both eras."""

import base64
from pathlib import Path

import anyio
import mcp_types as types
import pytest

from tests.support.client import MODERN_FIRST, Era, browsing
from tests.support.site import Site

PICKER = """
<input type=file aria-label=File onchange="files[0].text().then(text => out.textContent = text)">
<output id=out></output>"""

ZONE = """
<button id=zone ondragover="event.preventDefault()" style="padding:40px"
  ondrop="event.preventDefault(); event.dataTransfer.files[0].text().then(text => out.textContent = text)"
>Drop here</button> <output id=out></output>"""


@pytest.mark.parametrize("era", MODERN_FIRST)
async def test_files_travel_both_ways(site: Site, era: Era, tmp_path: Path) -> None:
    big = "figures " * 200_000
    site.publish(
        big.encode(),
        path="/big.txt",
        content_type="application/octet-stream",
        headers={"Content-Disposition": "attachment; filename=big.txt"},
    )
    async with browsing(era, "--tools", "core,files") as browser:
        await browser.open(site.page("<h1>Report</h1><a href=/big.txt>Big</a>", title="Report"))
        await browser.do("save_pdf")
        told = await browser.click("link", "Big")
        assert 'Downloaded "big.txt" (1.6 MB), saved as /' in told

        resources = (await browser.client.list_resources()).resources
        listed = [one for one in resources if "/files/" in one.uri]
        assert [(one.name, one.mime_type) for one in listed] == [
            ("Report.pdf", "application/pdf"),
            ("big.txt", "text/plain"),
        ]
        (pdf,) = (await browser.client.read_resource(listed[0].uri)).contents
        assert isinstance(pdf, types.BlobResourceContents)
        assert base64.b64decode(pdf.blob).startswith(b"%PDF")

        content, uri = b"", f"{listed[1].uri}?offset=0"
        while uri:
            (part,) = (await browser.client.read_resource(uri)).contents
            assert isinstance(part, types.BlobResourceContents)
            content += base64.b64decode(part.blob)
            uri = (part.meta or {}).get("mcp-browser/next")
        assert content.decode() == big
        assert "part 1 of 67" in await browser.do("read_file", file="big.txt")

        await browser.open(site.page(PICKER))
        await browser.do(
            "upload_file", index=browser.find("button", "File"), paths=["data:;name=a.txt,given%20text"]
        )
        await browser.wait_until("given text")
        await browser.open(site.page(ZONE))
        await browser.do("drop_files", index=browser.find("button", "Drop here"), paths=[listed[1].uri])
        await browser.wait_until("figures figures")
        refused = await browser.call("upload_file", index=1, paths=[str(tmp_path)])
        assert refused.is_error


@pytest.mark.parametrize("era", MODERN_FIRST)
async def test_a_result_links_the_file_that_it_tells_of(site: Site, era: Era) -> None:
    async with browsing(era) as browser:
        await browser.open(site.page("<a href='/download/a.csv?text=1,2'>Table</a>"))
        answer = await browser.client.call_tool("click_element", {"index": browser.find("link", "Table")})
        assert isinstance(answer, types.CallToolResult)
        (link,) = (part for part in answer.content if isinstance(part, types.ResourceLink))
        assert (link.name, link.mime_type, link.size) == ("a.csv", "text/csv", 3)
        (contents,) = (await browser.client.read_resource(link.uri)).contents
        assert isinstance(contents, types.TextResourceContents)
        assert contents.text == "1,2"


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
