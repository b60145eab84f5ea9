"""HTML as Markdown, and its parts."""

import pytest

from mcp_browser.actions.markdown import clean, split_parts, take_part, to_markdown
from mcp_browser.errors import NotFound


def markdown(html: str, *, links: bool = False) -> str:
    return to_markdown(html, base_url="https://example.com/shop/", links=links)


def test_structure_becomes_markdown() -> None:
    text = markdown(
        "<h1>Shop</h1><p>Some <b>bold</b> words.</p><ul><li>One</li><li>Two</li></ul>"
        "<table><tr><th>Name</th><th>Price</th></tr><tr><td>Tea</td><td>3</td></tr></table><pre>a\n  b</pre>"
    )
    assert "# Shop" in text
    assert "Some **bold** words." in text
    assert "- One\n- Two" in text
    assert "| Name | Price |" in text
    assert "| Tea | 3 |" in text
    assert "a\n  b" in text


def test_scripts_styles_and_comments_are_left_out() -> None:
    html = "<style>p{}</style><script>alert(1)</script><!-- no --><p>yes</p><svg><text>no</text></svg>"
    assert markdown(html) == "yes"


def test_links_have_whole_addresses_when_they_are_wanted() -> None:
    html = '<a href="cart?a=1">Cart</a> <a href="javascript:go()">Go</a> <img src="/a.png" alt="A cat">'
    assert markdown(html, links=True) == (
        "[Cart](https://example.com/shop/cart?a=1) Go ![A cat](https://example.com/a.png)"
    )
    assert markdown(html) == "Cart Go A cat"


def test_fields_show_what_they_hold_but_no_secrets() -> None:
    html = (
        '<input value="Ann"><input type=password value="hunter2"><input type=hidden value="token">'
        "<input type=checkbox checked>Yes<input type=checkbox>No"
        "<select><option>S<option selected>M</select>"
    )
    text = markdown(html)
    assert "Ann" in text
    assert "[x] Yes" in text
    assert "[ ] No" in text
    assert "M" in text
    assert "hunter2" not in text
    assert "token" not in text


def test_a_password_is_not_in_cleaned_html_either() -> None:
    assert "hunter2" not in str(clean("<input type=PASSWORD value=hunter2>"))


@pytest.mark.parametrize(
    "html", ["", "<", "<p", "</div></div>", "<table><td>x", "a\ud800b", "<a href='http://[bad'>x</a>"]
)
def test_broken_html_does_no_harm(html: str) -> None:
    markdown(html, links=True)


def test_text_with_markdown_signs_stays_as_it_is() -> None:
    assert markdown("<p>snake_case * 2 # 3</p>") == "snake_case * 2 # 3"


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
