"""What only its looks disable: a cursor that refuses clicks, or the mouse passing through a list item."""

import pytest

from mcp_browser.errors import NotActionable
from tests.snapshot.hand import Hand

PAGE = """<style>li { cursor: pointer } .off { opacity: .5; cursor: not-allowed }
.through { pointer-events: none }</style>
<ul id=u><li>Copy</li><li class=off>Delete</li><li>Print</li><li class=through>Mail</li></ul>
<div class=off id=d>Archive</div><button class=off>Ship</button> <a href=#x class=off>Next</a>
<p class=disabled><a href=#p style='cursor: default'>Back</a></p>
<p class=disabled onclick=0><a href=#p class=through>First</a></p>
<div role=menuitem tabindex=0 style='cursor: not-allowed'>Cut</div><input class=off aria-label=Note>
<div id=h></div><script>window.log = [];
h.attachShadow({ mode: 'open' }).innerHTML = "<style>b { cursor: not-allowed }</style><b onclick=0>Pack</b>";
d.onclick = () => log.push('Archive');
u.onclick = e => {
  const item = e.target.closest('li'); if (item && !item.className) log.push(item.innerText) }
</script>"""


async def test_what_the_cursor_refuses_or_lets_through_is_shown_and_a_click_says_so(hand: Hand) -> None:
    view = await hand.show(PAGE)
    off = ["Delete", "Archive", "Ship", "Next", "Back", "First", "Cut", "Pack"]
    assert [one.name for one in view.elements if "disabled" in one.states] == off
    for name in ("Delete", "Next", "First", "Pack"):
        with pytest.raises(NotActionable, match=r"is shown as disabled, .* force"):
            await hand.click(view.index(name))
    assert "unclickable" in view.one("Mail").states
    with pytest.raises(NotActionable, match="pointer-events: none"):
        await hand.click(view.index("Mail"))
    await hand.click(view.index("Copy"))
    await hand.do("input_text", index=view.index("Note"), text="x")
    await hand.do("click_element", index=view.index("Archive"), force=True)
    assert await hand.log() == ["Copy", "Archive"]


async def test_a_canvas_whose_cursor_follows_the_mouse_takes_clicks_and_a_drawing_that_refuses_says_so(
    hand: Hand,
) -> None:
    view = await hand.show(
        "<canvas tabindex=0 aria-label=Board onclick=log.push(1) onmousemove='this.style.cursor = "
        '"not-allowed"\'></canvas><script>window.log = []</script>'
        "<svg role=button tabindex=0 aria-label=Cut cursor=not-allowed width=30 height=30><path /></svg>"
    )
    assert "disabled" in view.one("Cut").states
    with pytest.raises(NotActionable, match=r"is shown as disabled"):
        await hand.click(view.index("Cut"))
    for _ in range(2):
        await hand.click(view.index("Board"))
    assert await hand.log() == [1, 1]
