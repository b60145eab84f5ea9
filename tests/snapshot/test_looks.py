"""What an action did to looks alone is said, and never that nothing visible changed."""

import pytest

from mcp_browser.rendering import render_changes
from tests.snapshot.hand import FILLER, Hand, changes_of

pytestmark = pytest.mark.slow

PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
CANVAS = "<canvas id=c width=400 height=300 aria-label=Board></canvas>"
DRAWING = "<svg width=90 height=90 role=img aria-label=Plan><g id=g></g></svg>"


async def told(hand: Hand, page: str, script: str) -> str:
    view = await hand.show(f'{page}<button onclick="{script}">Do it</button>{FILLER}')
    return render_changes(changes_of(await hand.click(view.index("Do it"))))


@pytest.mark.parametrize(
    ("page", "script", "look"),
    [
        ("", "this.style.color = 'red'", r'[{}] button "Do it" (style)'),
        ("<p id=p>Words</p>", "p.className = 'warm'", r'p "Words" (class)'),
        (f"<img id=i alt=Cat width=30 height=30 src='{PIXEL}'>", "i.src = '/x.gif'", 'image "Cat" (picture)'),
        (CANVAS, "c.getContext('2d').fillRect(200, 100, 8, 3)", 'canvas "Board" (painted)'),
        (DRAWING, "g.innerHTML = '<circle r=9 />'", "(drawing)"),
        ("", "document.documentElement.className = 'dark'", "html"),
    ],
)
async def test_what_changed_in_looks_is_told(hand: Hand, page: str, script: str, look: str) -> None:
    text = await told(hand, page, script)
    assert text.startswith("= no text or control changed, only looks: ")
    assert look.rsplit("}", maxsplit=1)[-1].removeprefix("]") in text


async def test_of_much_that_looks_different_the_first_is_named_and_the_rest_counted(hand: Hand) -> None:
    page = "".join(f"<p class=x>Part {number}</p>" for number in range(20))
    text = await told(hand, page, "for (const x of document.querySelectorAll('.x')) x.className = 'y'")
    assert text.endswith("(class), 17 more")


@pytest.mark.parametrize("script", ["0", "this.style.color = 'red'; this.removeAttribute('style')"])
async def test_without_any_change_it_is_said_what_did_not_change(hand: Hand, script: str) -> None:
    assert await told(hand, CANVAS, script) == "No text or control changed."


async def test_looks_are_told_once(hand: Hand) -> None:
    await told(hand, "<button>Idle</button>", "this.className += 1")
    assert not changes_of(await hand.do("click_element", index='button "Idle"')).looks


async def test_a_page_that_restyles_itself_all_the_time_is_not_listed(hand: Hand) -> None:
    each = "for (const p of document.querySelectorAll('p')) p.style.left = Math.random() + 'px'"
    spinning = f"setInterval(() => {{ {each} }}, 5)"
    many = "".join(f"<p>Dot {number}</p>" for number in range(500))
    text = await told(hand, f"{many}<script>{spinning}</script>", "0")
    assert len(text) < 200
