"""Extracted data through a real client: over stdio and over HTTP, in both protocol eras."""

import csv
import io
import itertools
import json

import mcp_types as types
import pytest

from tests.support.client import ERAS, Era
from tests.support.remote import RemoteBrowser, reached
from tests.support.site import Site

ROWS = [[f"Part {n}", str(n * 7), f"2026-01-{n % 28 + 1:02}"] for n in range(1, 2001)]
STOCK = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in ROWS)
PAGE = f"""<table><caption>Lamps</caption><tr><th>Name<th>Price<tr><td>Lamp 1<td>£1.50</table>
<table><tr><th>Part<th>Count<th>Seen{STOCK}</table>"""
LAMPS = {
    "type": "array",
    "items": {"type": "object", "properties": {"name": {"type": "string"}, "price": {"type": "number"}}},
}


@pytest.mark.parametrize(("way", "era"), [*itertools.product(("stdio", "http"), ERAS)])
async def test_content_is_taken_whole_in_each_channel_over_each_transport(
    site: Site, way: str, era: Era
) -> None:
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
