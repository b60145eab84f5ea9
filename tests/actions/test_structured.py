"""Data by a schema, tables, the article of a page."""

import json
from typing import Any

import pytest

from mcp_browser.errors import NotFound
from mcp_browser.rendering import structured
from tests.actions.hand import Hand

TEXT = {"type": "string"}
NUMBER = {"type": "number"}


def listing(**properties: object) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "object", "properties": properties}}


def record(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


async def fill(hand: Hand, schema: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    """What extract_data gives; the same in its text."""
    text = await hand.do("extract_data", output_schema=schema, **arguments)
    data = structured(hand.result)
    assert data is not None
    assert json.loads(text.splitlines()[2]) == data
    return data


async def test_of_several_tables_that_fit_the_one_called_like_the_list_is_taken(hand: Hand) -> None:
    table = (
        "<table><caption>{}</caption><tr><th>Name<th>Cost</tr><tr><td>{}<td>€ 1.234,50</tr></table>".format
    )
    await hand.open(table("Lamps", "Lamp") + table("Oil cans", "Can") + table("Wicks", "Wick"))
    got = await fill(hand, record(oil_cans=listing(name=TEXT, cost=NUMBER)))
    assert got["data"] == {"oil_cans": [{"name": "Can", "cost": 1234.5}]}


async def test_content_that_is_too_long_for_a_result_is_cut(hand: Hand) -> None:
    await hand.open("<p>Words and words.</p>" * 5000)
    got = await fill(hand, record(name=TEXT))
    assert 10_000 < len(got["content"]) < 25_000
    assert "it is cut: see extract_content" in hand.told


async def test_labels_fill_an_object_and_what_is_not_there_is_left_out(hand: Hand) -> None:
    await hand.open(
        "<h1>Lake Ontario</h1><table><tr><th colspan=2>Lake</tr><tr><th>Surface area<td>18,960</tr><tr><th>"
        "Max. depth<td>802 ft (244 m)</tr><tr><th>Visitors<td>2.5 million</tr><tr><th>Shores<td>4</tr><tr>"
        "<th>Shores<td>5</tr><tr><th>Countries<td><ul><li>Canada<li>United States</ul></tr></table><dl><dt>"
        "Residence time<dt>Turnover<dd>6 years</dl><p><b>Founded:</b> 3 May 1820</p><label>Outflow</label>"
        "<input value='the river'><p>Seen: <time datetime=2026-03-04>March</time></p><div><span>Web site"
        "</span><a href=/lake>here</a></div><p><label><input type=checkbox checked> Salty</label></p>"
    )
    names = record(
        surface_area=NUMBER,
        max_depth=NUMBER,
        visitors=NUMBER,
        shores=NUMBER,
        countries={"type": "array", "items": TEXT},
        residence_time=TEXT,
        turnover=TEXT,
        outflow=TEXT,
        founded={"type": "string", "format": "date"},
        webSite={"type": "string", "format": "uri"},
        salty={"type": "boolean"},
        population={"type": ["integer", "null"]},
    )
    got = await fill(hand, {**names, "required": ["surface_area", "population"]})
    assert got["data"] == {
        "surface_area": 18960,
        "countries": ["Canada", "United States"],
        "residence_time": "6 years",
        "turnover": "6 years",
        "outflow": "the river",
        "webSite": f"{hand.site.url}/lake",
        "salty": True,
    }
    assert got["found"]["outflow"] == "label"
    assert got["missing"]["max_depth"] == 'label says "802 ft (244 m)", which does not fit'
    assert got["missing"]["visitors"] == 'label says "2.5 million", which does not fit'
    assert "2 different ones" in got["missing"]["shores"]
    assert '"3 May 1820"' in got["missing"]["founded"]
    assert got["missing"]["population"] == "nothing of this name"
    assert got["problems"] == ["data: 'population' is a required property"]
    assert "does not fit the schema yet" in hand.told


async def test_what_a_page_says_to_machines_fills_objects_in_objects(hand: Hand) -> None:
    said = {
        "@type": "Product",
        "name": "Chair",
        "brand": {"@type": "Brand", "name": "Seat & Co"},
        "offers": {"price": "99.90", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"},
        "review": [{"author": {"name": "Ann"}, "reviewBody": "Good"}, {"author": "Bob", "reviewBody": "Bad"}],
    }
    site = {"@type": "WebSite", "name": "Seats", "url": "https://seats.example"}
    await hand.open(
        f"<script type='application/ld+json'>{json.dumps([site, said])}</script>"
        "<meta name=csrf-token content=hush><h1>A chair</h1><div itemscope itemtype=https://schema.org/Thing>"
        "<b itemprop=gtin13>12</b><p itemprop=weight itemscope><i itemprop=value>7</i></p>"
        "<a itemprop=manual href=/manual>Read</a></div>"
    )
    got = await fill(
        hand,
        record(
            name=TEXT,
            brand=TEXT,
            availability={"enum": ["in stock", "sold out"]},
            offers=record(price=NUMBER, priceCurrency=TEXT),
            price=NUMBER,
            review=listing(author=TEXT, reviewBody=TEXT),
            reviewBody=TEXT,
            gtin13=TEXT,
            weight=record(value={"type": "integer"}),
            manual=TEXT,
            csrf_token=TEXT,
        ),
    )
    assert got["data"] == {
        "name": "Chair",
        "brand": "Seat & Co",
        "availability": "in stock",
        "offers": {"price": 99.9, "priceCurrency": "EUR"},
        "price": 99.9,
        "review": [{"author": "Ann", "reviewBody": "Good"}, {"author": "Bob", "reviewBody": "Bad"}],
        "gtin13": "12",
        "weight": {"value": 7},
        "manual": f"{hand.site.url}/manual",
    }
    assert got["found"]["brand"] == 'data of "Product"'
    assert "2 different ones" in got["missing"]["reviewBody"]
    assert "hush" not in hand.told


@pytest.mark.slow
async def test_data_nested_without_end_and_endless_lists_of_definitions_are_read_in_part(hand: Hand) -> None:
    deep = '{"@type": "Book", "isbn": ' + "[" * 400 + "1" + "]" * 400 + ', "part": '
    deep += '{"part":' * 400 + "1" + "}" * 400 + "}"
    await hand.open(f"<script type=application/ld+json>{deep}</script><dl><dt>Tea{'<dd>x' * 9000}</dl>")
    got = await fill(hand, record(isbn=TEXT, part=record(part=TEXT), tea={"type": "array", "items": TEXT}))
    assert got["data"] == {"tea": ["x"] * 50}


async def test_a_long_list_is_saved_as_a_file(hand: Hand) -> None:
    rows = "".join(f"<tr><td>{n}<td>{'word ' * 10}</tr>" for n in range(900))
    await hand.open(f"<table><tr><th>Number<th>Text</tr>{rows}</table>")
    text = await hand.do("extract_data", output_schema=record(rows=listing(number=NUMBER, text=TEXT)))
    assert structured(hand.result) is None
    assert str(hand.file) in text
    kept = json.loads(hand.file.read_text("utf-8"))
    assert len(kept["rows"]) == 900
    assert kept["rows"][899] == {"number": 899, "text": ("word " * 10).strip()}
    assert len(text) < 10_000
    await hand.do("extract_tables", format="json")
    assert len(json.loads(hand.file.read_text("utf-8"))) == 900


ARTICLE = (
    "<header><div class=header__title>The Daily</div><nav><a href=/>Home</a> <a href=/news>News</a></nav>"
    "</header><div class=ad>Buy our shoes now</div><main><article><h1>River floods the old town</h1>"
    + "<p>The river rose in the night, and the people of the old town, who had been warned, left.</p>"
    * 5
    + "<div class=scroll><table><tr><th>Place<th>Level</tr><tr><td>Bridge<td>4.2 m</tr></table></div>"
    "<pre><code class=language-python>rise = 1</code></pre></article>"
    "<aside><a href=/1>Best umbrellas</a></aside></main>"
    "<section class=comments><p>First! Great article, thanks for it.</p></section><footer>Imprint</footer>"
    "<meta name=author content='Jane Roe'><meta property='article:published_time' content=2026-03-04>"
)


async def test_an_article_is_read_without_what_is_around_it(hand: Hand) -> None:
    await hand.open(ARTICLE, title="River floods - The Daily")
    text = await hand.do("extract_article")
    assert text.splitlines()[2:6] == ["# River floods the old town", "", "Jane Roe, 2026-03-04", ""]
    assert "| Bridge | 4.2 m |" in text
    assert "```python\nrise = 1\n```" in text
    for around in ("shoes", "umbrellas", "Great article", "Imprint", "News"):
        assert around not in text


async def test_an_article_keeps_its_lists_its_tables_and_headings_that_link_to_themselves(hand: Hand) -> None:
    parts = (
        "<h2 id=needs><a href='#needs'>What it needs</a></h2><ul class=simple><li><p>oil</p>"
        "<li><p>a match</p></ul><dl><dt>Parameters</dt><dd><ul><li><p>lamp – the lamp</p></li>"
        "<li><p>when – the hour</p></li></ul></dd></dl>"
        "<h2><a href=/other>Another article</a></h2><ul><li><a href=/1>Tea of the day</a></ul>"
    )
    await hand.open(ARTICLE.replace("</article>", f"{parts}</article>"))
    text = await hand.do("extract_article")
    for part in ("## What it needs", "oil", "a match", "lamp – the lamp", "when – the hour", "| 4.2 m |"):
        assert part in text
    assert "Another article" not in text
    assert "Tea of the day" not in text


async def test_a_page_of_one_table_has_no_article(hand: Hand) -> None:
    rows = "".join(
        f"<tr><td>{n}<td>Lamp {n}, lit by hand each night<td>0.14285{n}<td>1901-02-{n}" for n in range(10, 40)
    )
    await hand.open(
        f"<h1>lamps</h1><div><table><thead><tr><th>id<th>name<th>height<th>built<tbody>{rows}</table></div>"
    )
    assert "its tables with extract_tables" in await hand.fails("extract_article", NotFound)
    # In an article, such a table stays one.
    prose = "<p>They burn all night, by the sea.</p>" * 20
    await hand.open(f"<article><h1>Lamps</h1>{prose}<table>{rows}</table></article>")
    text = await hand.do("extract_article")
    assert "| 10 | Lamp 10, lit by hand each night | 0.1428510 | 1901-02-10 |" in text
