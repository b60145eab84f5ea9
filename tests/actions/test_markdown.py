"""HTML as Markdown, and its parts."""

import re
from typing import Any

import pytest

from mcp_browser.actions.extraction import to_markdown, without_scripts
from mcp_browser.actions.result import ActionContext, split_parts
from mcp_browser.errors import NotFound
from mcp_browser.settings import Settings


def markdown(html: str, *, links: bool = False) -> str:
    return to_markdown(html, base_url="https://example.com/shop/", links=links)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h1>Shop</h1><p>Some <b>bold</b> words.</p>", "# Shop\n\nSome **bold** words."),
        ("<h2>Two <code>x</code></h2>text", "## Two `x`\n\ntext"),
        ("<p>one<br>two</p>", "one  \ntwo"),
        ("<div>a</div><div>b</div>", "a\n\nb"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("<ul><li>One<ul><li>Sub</li></ul></li><li>Two</li></ul>", "- One\n  - Sub\n- Two"),
        ("<ol><li>One</li><li>Two</li></ol>", "1. One\n2. Two"),
        ("<blockquote cite='https://example.com/'><p>q</p></blockquote>", "> q"),
        ("<pre>a\n  b\n</pre>c", "```\na\n  b\n```\n\nc"),
        (
            "<p>snake_case * 2 # 3 [x](y) https://example.com/</p>",
            "snake_case * 2 # 3 [x](y) https://example.com/",
        ),
        ("<button>A</button><button>B</button>", "A B"),
        ("<abbr title='Hypertext'>HTML</abbr>", "HTML"),
        ("<video src=/x.mp4>Film</video><audio src=/x.mp3></audio><iframe src=/x></iframe><p>End</p>", "End"),
        ("a\ud800b", "a\ufffdb"),
        (
            "<table><thead><tr><th>Name</th><th>Price</th></tr></thead>"
            "<tbody><tr><td><p>Green</p><p>tea</p></td><td>3<br>or 4 | 5</td></tr></tbody></table>",
            "| Name | Price |\n| --- | --- |\n| Green tea | 3 or 4 \\| 5 |",
        ),
    ],
)
def test_structure_becomes_markdown(html: str, text: str) -> None:
    assert markdown(html) == text


def test_navigation_forms_and_sidebars_are_content() -> None:
    html = "<nav>Menu</nav><aside class=sidebar>Side</aside><form>Form</form><p aria-hidden=true>Foot</p>"
    assert markdown(html).split() == ["Menu", "Side", "Form", "Foot"]


def test_tables_for_layout_lose_nothing() -> None:
    html = (
        "<table><tr><td>Menu</td><td><h1>Title</h1><table><tr><td>a</td><td>b</td></tr></table>after</td></tr>"
        "<tr><td>Foot</td></tr></table>"
    )
    assert re.findall(r"\w+", markdown(html)) == ["Menu", "Title", "a", "b", "after", "Foot"]


def test_scripts_styles_and_comments_are_left_out() -> None:
    html = "<style>p{}</style><script>alert(1)</script><!-- no --><p>yes</p><svg><text>no</text></svg>"
    assert markdown(html) == "yes"
    assert without_scripts(html) == "<!-- no --><p>yes</p><svg><text>no</text></svg>"


def test_links_have_whole_addresses_when_they_are_wanted() -> None:
    html = '<a href="cart?a=1">Cart</a> <img src="/a.png" alt="A cat"> <img src="data:,x" alt="A dog">'
    assert markdown(html, links=True) == (
        "[Cart](https://example.com/shop/cart?a=1) ![A cat](https://example.com/a.png) A dog"
    )


@pytest.mark.parametrize(
    "html",
    [
        "{}",
        "<h1>{}</h1>",
        "<table><tr><th>{}</th></tr><tr><td><p>{}</p></td></tr></table>",
        "<ul><li>{}</li></ul>",
        "<figure>{}<figcaption>{}</figcaption></figure>",
        "<button>{}</button><label>{}</label>",
        "<blockquote>{}</blockquote><dl><dt>{}</dt><dd>{}</dd></dl>",
    ],
)
def test_no_addresses_are_shown_unless_they_are_wanted(html: str) -> None:
    link = (
        '<a href="/x"><h2>Title</h2><p>Words</p><img src="/x.png" alt="cat"></a> <img src="/x.png" alt="dog">'
    )
    text = markdown(html.replace("{}", link) + "<p>End</p>")
    assert "x.png" not in text
    assert "](" not in text
    assert "example.com" not in text
    words = re.findall(r"\w+", text)
    assert words == ["Title", "Words", "cat", "dog"] * html.count("{}") + ["End"]


def test_a_link_around_blocks_keeps_its_address() -> None:
    text = markdown('<a href="/x"><h3>Title</h3><p>Words</p></a>', links=True)
    assert text == "[Title Words](https://example.com/x)"


def test_broken_html_does_no_harm() -> None:
    for html in ("", "<", "<p", "</div></td></table></li></pre>", "<table><td>x", "<li>x<td>y"):
        markdown(html, links=True)
    markdown("<a href='http://[bad'>x</a>", links=True)


def test_a_page_nested_too_deep_is_plain_text_that_says_so() -> None:
    deep = "<div>" * 5000 + "<p>deep &lt;b&gt;</p><script>alert(1)</script>" + "</div>" * 5000
    note = "(This page is nested too deep to be shown as Markdown. Its plain text:)"
    assert markdown(deep) == f"{note}\n\ndeep <b>"
    nested = "<ul><li><blockquote><b>" * 1000 + "x" + "</b></blockquote></li></ul>" * 1000
    assert markdown(nested) == f"{note}\n\nx"


def test_what_the_library_refuses_is_plain_text_that_says_so() -> None:
    text = markdown("<p>Before</p>" + "\0" * 1000 + "<p>After</p>")
    assert text.startswith("(This page could not be turned into Markdown.")
    assert text.index("Before") < text.index("After")


def test_long_pages_are_converted_whole() -> None:
    rows = "".join(f"<tr><td>{n}</td><td><a href='/{n}'>Row {n}</a></td></tr>" for n in range(20_000))
    assert markdown(f"<table>{rows}</table>").endswith("| 19999 | Row 19999 |")


def test_parts_are_cut_between_paragraphs_and_lose_nothing() -> None:
    text = "\n\n".join(f"Paragraph {number} " + "word " * 30 for number in range(40))
    parts = split_parts(text, 1000)
    assert all(len(part) <= 1000 for part in parts)
    assert all(part.startswith("Paragraph") for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert split_parts("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]


def test_a_part_that_is_not_there_says_how_many_there_are() -> None:
    session: Any = None
    ctx = ActionContext(session, Settings())
    text = "x" * int(2.5 * ctx.room)
    last = ctx.one_part("The text", text, 3)
    assert last.page_content == "x" * (ctx.room // 2)
    assert last.extracted_content == "The text, part 3 of 3:"
    assert ctx.one_part("The text", text, 1).extracted_content == "The text, part 1 of 3 (next: part=2):"
    assert ctx.one_part("Nothing", "", 1).extracted_content == "Nothing:"
    for part in (0, 4):
        with pytest.raises(NotFound, match=rf"no part {part}: the text has 3"):
            ctx.one_part("The text", text, part)
