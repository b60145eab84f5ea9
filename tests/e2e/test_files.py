"""Files both ways through a real client over stdio, in both eras."""

from pathlib import Path

import anyio
import mcp_types as types
import pytest

from tests.support.client import MODERN_FIRST, Era, browsing
from tests.support.site import Site


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
