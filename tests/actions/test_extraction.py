"""Content as Markdown and as HTML."""

import re

import pytest

from mcp_browser.actions.extraction import to_markdown, without_scripts
from mcp_browser.actions.result import split_parts
from mcp_browser.errors import InvalidArguments, NotActionable, NotFound
from tests.actions.hand import Hand


async def test_a_long_page_is_read_in_parts(hand: Hand) -> None:
    await hand.open("".join(f"<p>Paragraph {n} with some more words in it.</p>" for n in range(2000)))
    text = await hand.do("extract_content")
    parts = hand.data["parts"]
    assert parts > 2
    assert text.startswith(f"Content of the page, part 1 of {parts} (next: part=2):")
    last = await hand.do("extract_content", part=parts)
    assert last.startswith(f"Content of the page, part {parts} of {parts}:")
    assert "Paragraph 1999 " in last
    for part in (0, parts + 1):
        told = await hand.fails("extract_content", NotFound, part=part)
        assert f"no part {part}: the text has {parts}" in told


async def printed(hand: Hand, *pages: str) -> bytes:
    """A PDF with these pages."""
    await hand.open("".join(f"<div style='break-after:page'>{page}</div>" for page in pages))
    await hand.do("save_pdf")
    return hand.file.read_bytes()


BOX = "<svg width=9 height=9><rect width=9 height=9 /></svg>"


async def test_a_pdf_is_read_as_text(hand: Hand) -> None:
    file = await printed(hand, "First page", BOX, "Third &lt;/page&gt; page")
    url = hand.site.publish(file, content_type="application/pdf")
    await hand.do("go_to_url", url=url)
    text = await hand.do("extract_content")
    assert text.startswith("Text of the PDF (")
    assert "; without text, as scans and pictures are: 2" in text
    assert "## Page 1\n\nFirst page\n\n## Page 3\n\nThird &lt;/page> page" in text
    text = await hand.do("extract_content", pages="3")
    assert "of which 3 was read" in text
    assert "First" not in text
    assert "There is no page 9" in await hand.fails("extract_content", InvalidArguments, pages="1,9")
    assert "such as 1-3,5" in await hand.fails("extract_content", InvalidArguments, pages="all")


@pytest.mark.slow
async def test_a_pdf_in_a_frame_is_read_by_index_and_one_without_text_or_damaged_says_so(hand: Hand) -> None:
    file = await printed(hand, "Framed words")
    url = hand.site.publish(file, content_type="application/pdf").replace(hand.site.url, hand.site.other)
    text = await hand.open(f"<h1>Bill</h1><iframe title=Bill src='{url}' width=500 height=400></iframe>")
    assert "Framed words" in await hand.do("extract_content", index=hand.index("Bill", "iframe")), text
    file = await printed(hand, BOX)
    await hand.do("go_to_url", url=hand.site.publish(file, content_type="application/pdf"))
    assert "without text, as scans and pictures are" in await hand.do("extract_content")
    assert "Look with screenshot" in hand.told
    await hand.do("go_to_url", url=hand.site.publish(b"%PDF-1.7 nothing", content_type="application/pdf"))
    assert "it is damaged" in await hand.fails("extract_content", NotActionable)


async def test_a_page_is_saved_as_a_pdf_and_never_outside_of_the_output_folder(hand: Hand) -> None:
    await hand.open("<h1>Report</h1>", title="A report: 1/2")
    text = await hand.do("save_pdf")
    assert hand.file.name == "A report- 1-2.pdf"
    assert str(hand.file) in text
    assert hand.file.read_bytes().startswith(b"%PDF")
    await hand.do("save_pdf", name="mine.pdf")
    await hand.do("save_pdf", name="mine")
    assert "mine-2.pdf" in hand.told
    for name in ("../../evil", "/tmp/evil", "..", "a\x00b"):
        await hand.do("save_pdf", name=name)
        assert hand.file.parent == hand.session.output_dir


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
    text = markdown('<a href="/x"><h3>Title</h3><p>Words</p></a>', links=True)
    assert text == "[Title Words](https://example.com/x)", "blocks in a link"


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
