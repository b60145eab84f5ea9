"""HTML as Markdown, and its parts."""

import pytest

from mcp_browser.actions.markdown import split_parts, take_part, to_markdown, without_scripts
from mcp_browser.errors import NotFound


def markdown(html: str, *, links: bool = False) -> str:
    return to_markdown(html, base_url="https://example.com/shop/", links=links)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h1>Shop</h1><p>Some <b>bold</b> words.</p>", "# Shop\n\nSome **bold** words."),
        ("<p>a<b> b </b>c <i></i>d</p>", "a **b** c d"),
        ("<h2>Two <code>x</code></h2>text", "## Two `x`\n\ntext"),
        ("<p>one<br>two</p>", "one\ntwo"),
        ("<div>a</div><div>b</div>", "a\nb"),
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("<p>a  \n b&nbsp;c</p>", "a b c"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("<ul><li>One</li><li>Two</li></ul>", "- One\n- Two"),
        ("<ol><li>One</li><li><p>Two</p><p>More</p></li></ol>", "1. One\n2. Two\n\n  More"),
        ("<ul><li>One<ul><li>Sub</li></ul></li><li>Two</li></ul>", "- One\n  - Sub\n- Two"),
        ("<blockquote><p>q</p><p>r</p></blockquote>", "> q\n\n> r"),
        ("<pre>a\n  b\n</pre>c", "```\na\n  b\n```\n\nc"),
        ("<p>snake_case * 2 # 3 [x](y)</p>", "snake_case * 2 # 3 [x](y)"),
        ("<button>A</button><button>B</button>", "A B"),
        ("<details><summary>More</summary>Hidden no more</details>", "More\nHidden no more"),
    ],
)
def test_structure_becomes_markdown(html: str, text: str) -> None:
    assert markdown(html) == text


def test_tables_become_rows() -> None:
    html = (
        "<p>Prices</p><table><caption>Goods</caption><thead><tr><th>Name</th><th>Price</th></tr></thead>"
        "<tbody><tr><td><p>Green</p><p>tea</p></td><td>3<br>or 4 | 5</td></tr><tr></tr></tbody></table>"
        "<p>End</p>"
    )
    assert markdown(html) == (
        "Prices\n\nGoods\n| Name | Price |\n| --- | --- |\n| Green tea | 3 or 4 \\| 5 |\n\nEnd"
    )


def test_tables_for_layout_are_no_tables() -> None:
    html = (
        "<table><tr><td>Menu</td><td><h1>Title</h1><table><tr><td>a</td><td>b</td></tr></table>after</td></tr>"
        "<tr><td>Foot</td></tr></table>"
    )
    text = markdown(html)
    assert "| a | b |" in text
    assert text.splitlines()[0] == "Menu Title"
    assert text.endswith("after\nFoot")


def test_scripts_styles_and_comments_are_left_out() -> None:
    html = "<style>p{}</style><script>alert(1)</script><!-- no --><p>yes</p><svg><text>no</text></svg>"
    assert markdown(html) == "yes"
    assert without_scripts(html) == "<!-- no --><p>yes</p><svg><text>no</text></svg>"


def test_links_have_whole_addresses_when_they_are_wanted() -> None:
    html = '<a href="cart?a=1">Cart</a> <a href="javascript:go()">Go</a> <img src="/a.png" alt="A cat">'
    assert markdown(html, links=True) == (
        "[Cart](https://example.com/shop/cart?a=1) Go ![A cat](https://example.com/a.png)"
    )
    assert markdown(html) == "Cart Go A cat"


def test_a_link_around_blocks_keeps_its_address() -> None:
    html = '<a href="/x"><h3>Title</h3><p>Words</p></a>'
    assert markdown(html, links=True) == "### Title\n\nWords\n\n(https://example.com/x)"


def test_fields_show_what_they_hold_but_no_secrets() -> None:
    html = (
        'Name <input value="Ann"><input type="password" value="hunter2"><input type="hidden" value="token">'
        '<label><input type="checkbox" checked>Yes</label><label><input type="checkbox">No</label>'
        "<select><option>S</option><option selected>M</option></select><textarea>typed</textarea>"
    )
    assert markdown(html) == "Name Ann [x] Yes [ ] No M\ntyped"


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<",
        "<p",
        "</div></td></table></li></pre>",
        "<table><td>x",
        "<a href='http://[bad'>x</a>",
        "<li>x<td>y",
    ],
)
def test_broken_html_does_no_harm(html: str) -> None:
    markdown(html, links=True)


def test_half_characters_are_replaced() -> None:
    assert markdown("a\ud800b") == "a\ufffdb"


def test_deep_and_long_pages_are_converted_in_one_pass() -> None:
    deep = "<div>" * 5000 + "deep" + "</div>" * 5000
    assert markdown(deep) == "deep"
    nested = "<ul><li><blockquote><b>" * 1000 + "x" + "</b></blockquote></li></ul>" * 1000
    assert "x" in markdown(nested)
    rows = "".join(f"<tr><td>{n}</td><td><a href='/{n}'>Row {n}</a></td></tr>" for n in range(20_000))
    assert markdown(f"<table>{rows}</table>").endswith("| 19999 | Row 19999 |")


def test_parts_are_cut_between_paragraphs_and_lose_nothing() -> None:
    text = "\n\n".join(f"Paragraph {number} " + "word " * 30 for number in range(40))
    parts = split_parts(text, 1000)
    assert all(len(part) <= 1000 for part in parts)
    assert all(part.startswith("Paragraph") for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_a_text_without_spaces_is_cut_anyway() -> None:
    assert split_parts("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]


def test_a_part_that_is_not_there_says_how_many_there_are() -> None:
    assert take_part("x" * 25, part=3, size=10) == ("x" * 5, 3)
    assert take_part("", part=1, size=10) == ("", 1)
    for part in (0, 4):
        with pytest.raises(NotFound, match=rf"no part {part}: the text has 3"):
            take_part("x" * 25, part=part, size=10)
