"""Data, tables, articles and PDFs through a real client: over stdio and over HTTP, in both protocol eras."""

import csv
import io
import itertools
import json
from typing import Any

import mcp_types as types
import pytest

from tests.support.client import ERAS, Browser, Era
from tests.support.remote import RemoteBrowser, reached
from tests.support.site import Site

WAYS = [*itertools.product(("stdio", "http"), ERAS)]

LAMPS = [{"name": f"Lamp {n}", "price": n + 0.5} for n in (1, 2, 3)]
LAMP_TABLE = "".join(f"<tr><td>{lamp['name']}<td>£{lamp['price']:.2f}</tr>" for lamp in LAMPS)
ROWS = [[f"Part {n}", str(n * 7), f"2026-01-{n % 28 + 1:02}"] for n in range(1, 2001)]
STOCK = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in ROWS)
ABOUT = {"@type": "Store", "name": "Lamp Hall", "telephone": "+44 20 7946 0958"}

SHOP = f"""<script type=application/ld+json>{json.dumps(ABOUT)}</script>
<h1>Lamp Hall</h1><nav><a href=/>Home</a> <a href=/help>Help</a></nav>
<table><caption>Lamps</caption><tr><th>Name<th>Price</tr>{LAMP_TABLE}</table>
<table><caption>Hours</caption><tr><th>Day<th>Opens<tr><td>Monday<td>9:00<tr><td>Sunday<td>closed</table>
<dl><dt>Password</dt><dd><input type=password value=hush1></dd><dt>Manager</dt><dd>Ines Marlowe</dd></dl>
<input type=hidden name=token value=hush2><p hidden>Token: hush3</p>
<form><label>Key <input name=api_key type=password value=hush4></label></form>"""

TEXT = {"type": "string"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("telephone", "manager", "password", "token", "key"), TEXT),
        "lamps": {
            "type": "array",
            "items": {"type": "object", "properties": {"name": TEXT, "price": {"type": "number"}}},
        },
    },
    "required": ["telephone", "lamps"],
}


def framed(text: str) -> str:
    """What stands in the frame of a result, for a client that gives its model the texts alone."""
    return text.partition(" untrusted>\n")[2].rpartition("\n</page>")[0]


async def file_of(browser: Browser, tool: str, **arguments: Any) -> tuple[str, str]:
    """The text of a result that has become a file, and the file as the client reads it."""
    if session := getattr(browser, "session", None):
        arguments["session"] = session
    answer = await browser.answer(tool, arguments)
    assert answer.structured_content is None
    (link,) = [part for part in answer.content if isinstance(part, types.ResourceLink)]
    (contents,) = (await browser.client.read_resource(link.uri)).contents
    assert isinstance(contents, types.TextResourceContents)
    if isinstance(browser, RemoteBrowser):
        assert "/tmp" not in answer.model_dump_json()
    said = "\n".join(part.text for part in answer.content if isinstance(part, types.TextContent))
    return said, contents.text


@pytest.mark.parametrize(("way", "era"), WAYS)
async def test_content_is_taken_whole_in_each_channel_over_each_transport(
    site: Site, way: str, era: Era
) -> None:
    async with reached(way, era, "--tools", "core,extraction") as browser:
        await browser.open(site.page(SHOP))
        result = await browser.call("extract_data", output_schema=SCHEMA)
        assert result.structured is not None
        for read in (result.structured, json.loads(framed(result.text))):
            assert read["data"] == {
                "telephone": "+44 20 7946 0958",
                "manager": "Ines Marlowe",
                "lamps": LAMPS,
            }
            assert read["found"]["telephone"] == 'data of "Store"'
            assert read["found"]["lamps"] == 'table 1 "Lamps": 3 records'
            assert "| Monday | 9:00 |" in read["content"]
            assert {"password", "token", "key"} <= read["missing"].keys()
            assert read["problems"] == []
            assert "hush" not in json.dumps(read)
        assert "hush" not in result.text

        tables = await browser.call("extract_tables", table=2)
        assert tables.structured is None
        assert (
            framed(tables.text) == "Table 2 Hours, 2 rows, 2 columns:\nDay,Opens\nMonday,9:00\nSunday,closed"
        )

        await browser.open(site.page(f"<h1>Stock</h1><table><tr><th>Part<th>Count<th>Seen{STOCK}</table>"))
        said, text = await file_of(browser, "extract_tables")
        assert "Table 1, 2,000 rows, 3 columns, whole in the file" in said
        assert list(csv.reader(io.StringIO(text))) == [["Part", "Count", "Seen"], *ROWS]
        assert ",".join(ROWS[0]) in said
        assert ROWS[-1][0] not in said

        items = {"type": "object", "properties": {"part": TEXT, "count": {"type": "integer"}, "seen": TEXT}}
        said, text = await file_of(browser, "extract_data", output_schema={"type": "array", "items": items})
        assert len(json.loads(framed(said))["data"]) < len(ROWS)
        assert json.loads(text) == [
            {"part": part, "count": int(count), "seen": seen} for part, count, seen in ROWS
        ]
