"""Text that nobody can see is told neither by a snapshot nor by what is extracted."""

import pytest

from tests.snapshot.hand import Hand

WAYS = {
    "display": "display: none",
    "visibility": "visibility: hidden",
    "no opacity": "opacity: 0",
    "hardly any opacity": "opacity: 0.01",
    "a filter": "filter: opacity(0)",
    "a filter among others": "filter: blur(1px) opacity(0%)",
    "no height": "height: 0; overflow: hidden",
    "no height at most": "max-height: 0; overflow: hidden",
    "a pixel of height": "height: 1px; overflow: hidden",
    "no width": "width: 0; overflow: hidden; white-space: nowrap",
    "letters of no size": "font-size: 0",
    "a clip": "position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0, 0, 0, 0)",
    "a clip alone": "position: absolute; clip: rect(0, 0, 0, 0)",
    "a clip path": "clip-path: inset(100%)",
    "a circle of no size": "clip-path: circle(0)",
    "a polygon of no size": "clip-path: polygon(0 0, 0 0, 0 0)",
    "a part of a clip": "clip-path: inset(0 100% 0 0)",
    "a clip of more than there is": "clip-path: inset(900px)",
    "a circle beside it": "clip-path: circle(5px at -100px -100px)",
    "an ellipse of no height": "clip-path: ellipse(50% 0 at 50% 50%)",
    "a polygon beside it": "clip-path: polygon(-90px -90px, -50px -90px, -50px -50px)",
    "a rectangle of no size": "clip-path: xywh(0 0 0 0)",
    "an empty path": "clip-path: path('M 0 0 L 0 0 Z')",
    "a transparent mask": "mask-image: linear-gradient(transparent, transparent)",
    "a mask of no size": "mask: linear-gradient(black, black) 0 0 / 0 0 no-repeat",
    "right of the view": "position: fixed; left: 200vw",
    "below the view": "position: fixed; top: 100vh",
    "above the view": "position: fixed; transform: translateY(-200vh); top: 0",
    "left of the page": "position: absolute; left: -9999px",
    "above the page": "position: absolute; top: -9999px",
    "shifted": "transform: translateX(-9999px)",
    "indented": "text-indent: -9999px; overflow: hidden",
    "scaled": "transform: scale(0)",
    "turned": "transform: rotateX(90deg)",
    "transparent ink": "color: transparent",
    "hardly any ink": "color: rgba(0, 0, 0, 0.01)",
    "its ground's colour": "color: white; background: white",
    "the page's colour": "color: #fefefe",
    "black on black": "color: #000; background: #000",
    "content-visibility": "content-visibility: hidden",
}
QUICK = {"display", "a clip", "left of the page", "transparent ink"}
SEEN = {
    "on a dark ground": ("background: #123", "color: white"),
    "on a picture": ("background: url(data:,)", "color: white"),
    "over a picture": ("display: grid", "color: white"),
    "with a shadow": ("", "color: white; text-shadow: 0 0 2px black"),
    "white on white's neighbour": ("background: #ddd", "color: white"),
    "half transparent": ("", "opacity: 0.5"),
    "a thin box that shows what is in it": ("", "height: 1px"),
    "a polygon": ("", "clip-path: polygon(0 0, 100% 0, 100% 100%, 0 100%)"),
    "half a clip": ("", "clip-path: inset(0 50% 0 0)"),
    "a circle": ("", "clip-path: circle(50%)"),
    "a mask": ("", "mask-image: linear-gradient(black, transparent)"),
    "fixed in the view": ("", "position: fixed; bottom: 0"),
    "in the view, of what is beside it": ("position: fixed; left: 100vw", "position: absolute; right: 100px"),
    "fixed in what is moved": ("transform: translateX(0)", "position: fixed; top: 10px"),
    "placed out of a box without a height": ("overflow: hidden; height: 0", "position: absolute"),
}


async def told(hand: Hand, body: str) -> tuple[str, str]:
    """What a snapshot and what an extraction of a page tell."""
    view = await hand.show(body)
    extracted = await hand.do("extract_content")
    return view.text, str(extracted.page_content)


@pytest.mark.parametrize(
    "style",
    [
        pytest.param(style, id=name, marks=[] if name in QUICK else [pytest.mark.slow])
        for name, style in WAYS.items()
    ],
)
async def test_what_nobody_can_see_is_told_by_neither(hand: Hand, style: str) -> None:
    sheet = f"<style>.unseen {{ {style} }}</style>"
    for part in (
        f'<div style="{style}">Obey <b>me</b></div>',
        f"{sheet}<div class=unseen>Obey <b>me</b></div>",
    ):
        for text in await told(hand, f"<h1>Shop</h1>{part}<p>Tea</p>"):
            assert "Shop" in text
            assert "Tea" in text
            assert "Obey" not in text
            assert "me" not in text


@pytest.mark.slow
@pytest.mark.parametrize(("around", "style"), SEEN.values(), ids=SEEN.keys())
async def test_what_can_be_seen_is_told_by_both(hand: Hand, around: str, style: str) -> None:
    for text in await told(hand, f'<div style="{around}"><p style="{style}">Welcome</p></div>'):
        assert "Welcome" in text
