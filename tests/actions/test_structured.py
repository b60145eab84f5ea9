"""Data by a schema, tables, the article of a page."""

import csv
import io
import json
from typing import Any

import pytest

from mcp_browser.errors import InvalidArguments, NotFound
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


STAFF = """<table><caption>Staff</caption><thead><tr><th rowspan=2>Name<th colspan=2>Contact</tr>
<tr><th>Phone<th>E-mail</tr></thead><tr><td><a href=/ann>Ann</a><td>12<td>a@x.org</tr>
<tr><td>Bob<td rowspan=2>13<td>b@x.org</tr><tr><td>Cy, "the boss"<td>c@x.org</tr></table>"""


async def test_a_table_fills_a_list_by_its_headers(hand: Hand) -> None:
    await hand.open(STAFF)
    got = await fill(hand, listing(name=TEXT, phone={"type": "integer"}, eMail=TEXT))
    assert got["data"][1:] == [
        {"name": "Bob", "phone": 13, "eMail": "b@x.org"},
        {"name": 'Cy, "the boss"', "phone": 13, "eMail": "c@x.org"},
    ]
    assert got["found"]["(the list)"] == 'table 1 "Staff": 3 records'
    assert got["problems"] == []
    assert "content" not in got


async def test_what_some_records_lack_is_no_reason_to_return_the_content(hand: Hand) -> None:
    await hand.open("<table><tr><th>Name<th>Cost</tr><tr><td>Lamp<td>3</tr><tr><td>Wick<td></tr></table>")
    got = await fill(hand, listing(name=TEXT, cost=NUMBER))
    assert got["data"] == [{"name": "Lamp", "cost": 3}, {"name": "Wick"}]
    assert got["missing"] == {"[].cost": "in some records: table 1 is empty"}
    assert "content" not in got


async def test_of_several_tables_that_fit_the_one_called_like_the_list_is_taken(hand: Hand) -> None:
    table = (
        "<table><caption>{}</caption><tr><th>Name<th>Cost</tr><tr><td>{}<td>€ 1.234,50</tr></table>".format
    )
    await hand.open(table("Lamps", "Lamp") + table("Oil cans", "Can") + table("Wicks", "Wick"))
    got = await fill(hand, record(oil_cans=listing(name=TEXT, cost=NUMBER)))
    assert got["data"] == {"oil_cans": [{"name": "Can", "cost": 1234.5}]}


async def test_a_name_that_is_only_alike_fills_nothing_and_the_content_is_returned(hand: Hand) -> None:
    await hand.open(
        "<h1>Shop</h1><p>Name: Ann Lee</p><div class=price>12</div>"
        "<table><tr><th>Name<th>City</tr><tr><td>Bo Ek<td>Rome</tr><tr><td>Cy Om<td>Oslo</tr></table>"
    )
    got = await fill(hand, record(first_name=TEXT, headline=TEXT, price=NUMBER, name=TEXT))
    assert got["data"] == {"name": "Ann Lee"}
    assert got["missing"] == dict.fromkeys(("first_name", "headline", "price"), "nothing of this name")
    assert "# Shop" in got["content"]
    assert "| Bo Ek | Rome |" in got["content"]
    assert "The data fits the schema; 3 properties are missing. The content may say the rest." in hand.told
    got = await fill(hand, listing(first_name=TEXT, city=TEXT, name=TEXT))
    assert got["data"] == [{"city": "Rome", "name": "Bo Ek"}, {"city": "Oslo", "name": "Cy Om"}]
    assert got["missing"] == {"[].first_name": "nothing of this name"}


async def test_content_that_is_too_long_for_a_result_is_cut(hand: Hand) -> None:
    await hand.open("<p>Words and words.</p>" * 5000)
    got = await fill(hand, record(name=TEXT))
    assert 10_000 < len(got["content"]) < 25_000
    assert "it is cut: see extract_content" in hand.told


async def test_the_one_row_of_a_table_fills_an_object(hand: Hand) -> None:
    table = "<table><tr><th>Id<th>Name<th>Cost</tr><tr><td class=col-id>3<td>Lamp 3<td>3,000.50</tr></table>"
    await hand.open(f"<h1>lamps: 3</h1>{table}")
    got = await fill(hand, record(id={"type": "integer"}, name=TEXT, cost=NUMBER))
    assert got["data"] == {"id": 3, "name": "Lamp 3", "cost": 3000.5}
    # A table that has little of it is of something else.
    await hand.open(f"<h1>Oil</h1><p>Litres: 4</p><p>Maker: Ann</p>{table}")
    got = await fill(hand, record(name=TEXT, litres=NUMBER, maker=TEXT))
    assert got["data"] == {"litres": 4, "maker": "Ann"}


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


async def test_data_of_several_things_fill_a_list(hand: Hand) -> None:
    things = "".join(
        f"<li itemscope itemtype=http://schema.org/Book><b itemprop=name>Book {n}</b><i itemprop=isbn>{n}</i>"
        for n in (1, 2)
    )
    await hand.open(f"<ul>{things}</ul>")
    got = await fill(hand, listing(name=TEXT, isbn=TEXT))
    assert got["data"] == [{"name": "Book 1", "isbn": "1"}, {"name": "Book 2", "isbn": "2"}]
    assert got["found"]["(the list)"] == 'data of "Book": 2 records'


async def test_data_are_taken_from_one_element_where_an_index_is_given(hand: Hand) -> None:
    await hand.open("<ul><li><b>Name:</b> Fig</ul><ul aria-label=Tea><li><b>Name:</b> Assam</ul>")
    tools = await hand.do("find_elements", selector="ul[aria-label]")
    index = int(tools.split("[")[1].split("]")[0])
    assert (await fill(hand, record(name=TEXT), index=index))["data"] == {"name": "Assam"}
    assert "2 different ones" in (await fill(hand, record(name=TEXT)))["missing"]["name"]


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


async def test_tables_come_as_csv(hand: Hand) -> None:
    layout = "<table><tr><td><table><tr><td>x<td>y</tr></table><td>layout</tr></table>"
    await hand.open(f"{layout}{STAFF}<table role=presentation><tr><td>1<td>2</tr><tr><td>3<td>4</tr></table>")
    text = await hand.do("extract_tables", links=True)
    assert text.startswith("1 table:")
    assert "Table 1 Staff, 3 rows, 3 columns:" in text
    rows = list(csv.reader(io.StringIO("\n".join(text.splitlines()[3:-1]))))
    assert rows == [
        ["Name", "Name link", "Contact / Phone", "Contact / E-mail"],
        ["Ann", f"{hand.site.url}/ann", "12", "a@x.org"],
        ["Bob", "", "13", "b@x.org"],
        ['Cy, "the boss"', "", "13", "c@x.org"],
    ]


def grid_row(number: int, *cells: tuple[int, str], role: str = "gridcell") -> str:
    inside = "".join(f"<div role={role} aria-colindex={column}>{text}</div>" for column, text in cells)
    return f"<div role=row aria-rowindex={number}>{inside}</div>"


async def test_a_grid_of_roles_is_a_table_and_says_how_much_of_it_is_in_the_page(hand: Hand) -> None:
    fixed = grid_row(1, (1, "Name"), role="columnheader") + grid_row(3, (1, "Nut")) + grid_row(2, (1, "Fig"))
    moving = grid_row(1, (3, "Sold"), (2, "Count"), role="columnheader")
    moving += grid_row(2, (2, "7"), (3, "<input type=checkbox checked>")) + grid_row(3, (2, "9"), (3, ""))
    await hand.open(
        f"<div role=grid aria-label=Stock aria-rowcount=1001><div>{fixed}</div><div>{moving}</div></div>"
    )
    text = await hand.do("extract_tables", format="json")
    assert "Table 1 Stock, 2 rows in the page of 1,000, 3 columns:" in text
    rows = json.loads("\n".join(text.splitlines()[3:-1]))
    assert rows == [{"Name": "Fig", "Count": "7", "Sold": "[x]"}, {"Name": "Nut", "Count": "9", "Sold": ""}]


async def test_headers_in_a_table_of_their_own_belong_to_the_next(hand: Hand) -> None:
    await hand.open(
        "<table><thead><tr><th>City<th>People</tr></thead></table><table><thead><tr><th><th></tr></thead>"
        "<tr><td>Rome<td>3</tr><tr><td>Oslo<td>1</tr></table><table><tr><th>A<th>A</tr><tr><td>1<td>2</tr></table>"
    )
    assert "Table 1, 2 rows, 2 columns:\nCity,People\nRome,3\nOslo,1\n" in await hand.do("extract_tables")
    assert "A,A (2)\n1,2\n" in await hand.do("extract_tables", table=2)
    assert "there are 2" in await hand.fails("extract_tables", InvalidArguments, table=3)


async def test_a_table_that_scrolls_is_one_with_its_headers_and_its_foot(hand: Hand) -> None:
    rows = "".join(f"<tr><td><button>+</button><td>Lamp {n}<td>{n}</tr>" for n in (1, 2, 3))
    await hand.open(
        "<div><div><table><thead><tr><th><th>Name<th>Cost</tr></thead></table></div>"
        f"<div><table><tr><td><td><td></tr>{rows}</table></div>"
        "<div><table><tfoot><tr><td colspan=2>Total<td>6</tr></tfoot></table></div></div><div role=table>"
        "<div role=none><table role=none><thead><tr><th>City<th>People</tr></thead></table></div>"
        "<div role=none><table role=none><tfoot role=none><tr role=row><th role=columnheader>City"
        "<th role=columnheader></tr></tfoot><tbody role=rowgroup><tr role=row><td role=cell>Rome"
        "<td role=cell>3</tr></tbody></table></div></div><table><tr><th>Loose</th><th>head</th></tr></table>"
        "<p>Told between</p><table><tr><td>a<td>b</tr><tr><td>c<td>d</tr></table>"
    )
    text = await hand.do("extract_tables")
    assert "Table 1, 4 rows, 3 columns:\ncolumn 1,Name,Cost\n+,Lamp 1,1\n" in text
    assert "\nTotal,Total,6\n" in text
    assert "Table 2, 1 row, 2 columns:\nCity,People\nRome,3\n" in text
    assert "Table 3, 2 rows, 2 columns:\na,b\nc,d\n" in text
    got = await fill(hand, listing(name=TEXT, cost=NUMBER))
    assert got["data"] == [{"name": f"Lamp {n}", "cost": n} for n in (1, 2, 3)]


async def test_a_line_over_all_columns_is_told_once_and_is_no_record(hand: Hand) -> None:
    await hand.open(
        "<table><thead><tr><td colspan=3>Sales</tr><tr><td colspan=3>by shop</tr><tr><th>Shop<th>Count<th>"
        "Cost</tr></thead><tfoot><tr><th>Shop<th><th>Cost</tr><tr><td>Sum<td>4<td>8.5</tr><tr><td colspan=3>"
        "Source: us</tr></tfoot><tr><th colspan=3>North</tr><tr><td>A<td>1<td>2.5e0</tr><tr><th>Shop<th>Count"
        "<th>Cost</tr><tr><th colspan=3>South</tr><tr><td>B<td>3<td>6.0e+00</tr></table>"
    )
    text = await hand.do("extract_tables")
    assert (
        "Table 1 Sales. by shop, 6 rows, 3 columns:\n"
        "Shop,Count,Cost\nNorth,,\nA,1,2.5e0\nSouth,,\nB,3,6.0e+00\n" in text
    )
    assert "\nSum,4,8.5\nSource: us,,\n</page>" in text
    got = await fill(hand, listing(shop=TEXT, count=NUMBER, cost=NUMBER))
    assert got["data"] == [{"shop": "A", "count": 1, "cost": 2.5}, {"shop": "B", "count": 3, "cost": 6}]


async def test_the_cells_of_a_grid_stand_in_the_columns_that_they_name(hand: Hand) -> None:
    cell = "<div role={} aria-colindex={} {}>{}</div>".format
    rows = (
        cell("columnheader", 5, "aria-colspan=2", "Size"),
        "".join(cell("columnheader", n, "", text) for n, text in ((1, "Name"), (5, "Height"), (6, "Width"))),
        "".join(cell("gridcell", n, "", "<input aria-label=Filter>") for n in (1, 5, 6)),
        "".join(cell("gridcell", n, "", text) for n, text in ((1, "Fig"), (6, "7"))),
        cell("gridcell", 1, "", "Nut")
        + cell("gridcell", 5, "aria-checked=true", "")
        + cell("gridcell", 6, "", "9"),
    )
    lines = "".join(f"<div role=row aria-rowindex={n}>{row}</div>" for n, row in enumerate(rows, 1))
    await hand.open(f"<div role=grid aria-rowcount=103 aria-colcount=17>{lines}</div>")
    text = await hand.do("extract_tables")
    assert (
        "Table 1, 2 rows in the page of 100, 3 columns of 17:\n"
        "Name,Size / Height,Size / Width\nFig,,7\nNut,[x],9\n" in text
    )


SCROLLED = """<div style="height:200px; overflow:auto">
<div {role} style="padding-bottom:{below}px">{rows}</div></div>"""


async def test_a_table_that_draws_more_rows_as_it_is_scrolled_says_so(hand: Hand) -> None:
    rows = "".join(
        f"<div role=row><span role=cell>Lamp {n}</span> <span role=cell>{n}</span></div>" for n in range(30)
    )
    await hand.open(SCROLLED.format(role="role=table", rows=rows, below=9000))
    assert "30 rows in the page, more come as it is scrolled, 2 columns:" in await hand.do("extract_tables")
    await hand.open(
        SCROLLED.format(role="role=table", rows=rows, below=0) + "<div style='height:4000px'></div>"
    )
    assert "Table 1, 30 rows, 2 columns:" in await hand.do("extract_tables")
    # What is below the table is something else.
    more = f"<table>{'<tr><td>1<td>2</tr>' * 3}</table><p>{'Another thing. ' * 30}</p>"
    await hand.open(SCROLLED.format(role="", rows=more, below=9000))
    assert "Table 1, 3 rows, 2 columns:" in await hand.do("extract_tables")


async def test_what_a_table_says_elsewhere_of_its_rows_is_told_with_it(hand: Hand) -> None:
    rows = "<tr><th>Name<th>Cost</tr><tr><td>Lamp 1<td>3</tr><tr><td>Lamp 2<td>4</tr>"
    await hand.open(
        f"<table aria-describedby=info>{rows}</table><p id=info>Showing 1 to 2 of 500 entries</p>"
    )
    assert "2 rows, 2 columns (Showing 1 to 2 of 500 entries):" in await hand.do("extract_tables")
    got = await fill(hand, listing(name=TEXT, cost=NUMBER))
    assert got["found"]["(the list)"] == "table 1 (Showing 1 to 2 of 500 entries): 2 records"


async def test_what_cannot_be_extracted_says_so(hand: Hand) -> None:
    await hand.open("<ul><li>x</ul>")
    text = await hand.fails("extract_data", InvalidArguments, output_schema={"type": "thing"})
    assert "not a JSON schema" in text
    assert "The page has no table." in await hand.fails("extract_tables", NotFound)
    assert "The page has no article." in await hand.fails("extract_article", NotFound)


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
