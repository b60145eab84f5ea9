"""The page's state, elements found, pictures, also against earlier ones."""

import base64
import io
from pathlib import Path

import pytest
from PIL import Image

from mcp_browser.browser.pictures import compare_pictures
from mcp_browser.errors import InvalidArguments, NotActionable, NotFound
from tests.actions.hand import Hand

PAGE = (
    "<h1>Shop</h1><nav><a href='/a'>Home</a><a href='/b'>Cart</a></nav>"
    "<section id=s role=region aria-label=Goods><button>Buy tea</button><button>Buy milk</button></section>"
    "<p>We have tea and milk.</p>"
)


async def test_the_state_is_the_page_with_a_picture_and_labels_only_if_asked(hand: Hand) -> None:
    await hand.open(PAGE)
    text = await hand.do("get_state")
    assert 'button "Buy tea"' in text
    assert "We have tea and milk." in text
    assert hand.result.attachments == ()
    before = await hand.js("document.documentElement.outerHTML")
    await hand.do("get_state", screenshot=True)
    assert hand.picture().size == (1280, 720)
    plain = hand.picture().convert("RGB")
    await hand.do("get_state", labels=True)
    assert hand.picture().convert("RGB").tobytes() != plain.tobytes()
    assert await hand.js("document.documentElement.outerHTML") == before


@pytest.mark.parametrize("action", ["get_state", "screenshot", "scroll", "extract_content", "get_html"])
async def test_an_index_of_0_is_none_where_none_need_be_given(hand: Hand, action: str) -> None:
    await hand.open(PAGE)
    assert await hand.do(action) == await hand.do(action, index=0)


@pytest.mark.parametrize("element", ["<button aria-label='{}'>Go</button>", "<input title='{}'>"])
async def test_a_name_that_is_shown_cut_is_found_by_all_of_it_and_by_its_end(
    hand: Hand, element: str
) -> None:
    name = " ".join(f"word{number}" for number in range(60))
    assert "…" in await hand.open(element.format(name))
    for text in (name, "word58 word59"):
        await hand.do("find_elements", text=text)
        assert hand.data["total"] == 1


async def test_the_state_can_be_asked_for_while_a_dialog_is_open(hand: Hand) -> None:
    await hand.open("<button onclick=\"confirm('Sure?')\">Ask</button>")
    await hand.do("click_element", index=hand.index("Ask"))
    assert 'confirm dialog is open: "Sure?"' in await hand.do("get_state", screenshot=True)
    assert hand.result.attachments == ()
    await hand.do("handle_dialog", accept=False)


async def test_plain_elements_are_found_by_selector_and_others_keep_their_index(hand: Hand) -> None:
    await hand.open(PAGE)
    known = hand.index("Buy milk")
    await hand.do("find_elements", selector="button >> nth=1")
    assert hand.index("Buy milk") == known
    await hand.do("find_elements", selector="p")
    index = hand.data["elements"][0]["index"]
    assert "tea and milk" in await hand.do("extract_content", index=index)


async def test_pictures_of_the_view_the_page_and_an_element(hand: Hand) -> None:
    await hand.open(
        PAGE + "<div style='height:1400px'></div><button style='width:200px;height:50px'>Low</button>"
    )
    assert "Picture of the view, 1280x720" in await hand.do("screenshot")
    assert hand.picture().size == (1280, 720)
    await hand.do("screenshot", full_page=True)
    assert hand.picture().height > 1400
    await hand.do("find_elements", text="Low")
    assert "Low" in await hand.do("screenshot", index=hand.index("Low"))
    assert hand.picture().size == (200, 50)
    # Of a very long page, the picture shows the beginning.
    await hand.open("<div style='height:50000px'>Long</div>")
    assert "px of the page are not on it" in await hand.do("screenshot", full_page=True)
    assert hand.picture().width > 300


async def test_an_element_larger_than_the_view_is_pictured_as_far_as_it_is_seen(hand: Hand) -> None:
    await hand.open("<button id=b style='width:300px;height:3000px'>Tall</button>")
    await hand.do("screenshot", index=hand.index("Tall"))
    assert hand.picture().size == (300, 720)
    await hand.js("b.style.display = 'none'")
    assert "Nothing of" in await hand.fails("screenshot", NotActionable, index=hand.index("Tall"))
    await hand.fails("screenshot", InvalidArguments, full_page=True, index=1)


@pytest.mark.fresh
async def test_pictures_can_come_with_every_result_or_with_none(hand: Hand) -> None:
    with hand.under(screenshots={"screenshots": "always", "screenshot_max_side": 640}):
        for action in (hand.open(PAGE), hand.do("get_state")):
            await action
            assert hand.picture().size == (640, 360)
    with hand.under(screenshots={"screenshots": "never"}):
        await hand.do("get_state", screenshot=True)
        assert hand.result.attachments == ()
        assert "switched off" in await hand.fails("screenshot", NotActionable)


BOX = (
    "<style>body { margin: 0 } div { width: 100px; height: 50px; background: #08f }</style><div id=box></div>"
)


@pytest.mark.fresh
async def test_a_page_is_compared_with_how_it_looked(hand: Hand) -> None:
    await hand.open(BOX)
    assert "Kept the picture 'box'" in await hand.do("compare_screenshots", name="box")
    (kept,) = hand.result.attachments
    assert kept.kind == "file"
    assert "looks as in 'box'" in await hand.do("compare_screenshots", name="box")
    await hand.js("box.style.background = '#f80'")
    told = await hand.do("compare_screenshots", name="box")
    assert "0.54% of the picture differs from 'box' (5,000 pixels), between 0,0 and 100,50" in told
    red, green, _ = hand.picture().convert("RGB").getpixel((50, 25))  # type: ignore[misc]
    assert red > 150 > green, "what differs is red"
    assert "Kept" in await hand.do("compare_screenshots", name="box", replace=True)
    assert "looks as in" in await hand.do("compare_screenshots", name="box")
    await hand.fails("compare_screenshots", InvalidArguments, name="x", baseline="/etc/passwd")


@pytest.mark.fresh
async def test_an_element_and_the_full_page_are_compared_by_themselves(hand: Hand) -> None:
    await hand.open("<button>Go</button><p style='height: 2000px'>Tall</p><i id=end>End</i>")
    index = hand.index("Go")
    await hand.do("compare_screenshots", name="go", index=index)
    await hand.do("compare_screenshots", name="all", full_page=True)
    await hand.js("end.textContent = 'Other'")
    assert "looks as in" in await hand.do("compare_screenshots", name="go", index=index)
    assert "differs" in await hand.do("compare_screenshots", name="all", full_page=True)
    await hand.js("end.style.marginTop = '300px'; end.style.display = 'block'")
    assert "and was" in await hand.do("compare_screenshots", name="all", full_page=True)


@pytest.mark.slow
@pytest.mark.fresh
async def test_a_file_can_be_compared_with(hand: Hand, upload_dir: Path) -> None:
    await hand.open(BOX)
    await hand.do("compare_screenshots", name="box")
    (kept,), content = hand.result.attachments, hand.file.read_bytes()
    (upload_dir / "before.png").write_bytes(content)
    data = "data:image/png;base64," + base64.b64encode(content).decode()
    for baseline in (str(upload_dir / "before.png"), kept.uri, data):
        assert "looks as in" in await hand.do("compare_screenshots", name="x", baseline=baseline)
    await hand.fails("compare_screenshots", InvalidArguments, name="x", baseline="data:text/plain,Hello")
    await hand.fails("compare_screenshots", NotFound, name="x", baseline=str(upload_dir / "none.png"))
    await hand.fails("compare_screenshots", InvalidArguments, name="x", index=1, full_page=True)
    with hand.under(screenshots={"screenshots": "never"}):
        await hand.fails("compare_screenshots", NotActionable, name="x")


def png(width: int, height: int, colour: tuple[int, int, int]) -> bytes:
    written = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(written, "PNG")
    return written.getvalue()


@pytest.mark.parametrize(
    ("before", "after", "threshold", "pixels", "total"),
    [
        (png(10, 10, (0, 0, 0)), png(10, 10, (0, 0, 0)), 0, 0, 100),
        (png(10, 10, (0, 0, 0)), png(10, 10, (20, 0, 0)), 0.1, 0, 100),
        (png(10, 10, (0, 0, 0)), png(10, 10, (30, 0, 0)), 0.1, 100, 100),
        (png(10, 10, (0, 0, 0)), png(10, 20, (0, 0, 0)), 0.1, 100, 200),
        (png(20, 10, (9, 9, 9)), png(10, 20, (9, 9, 9)), 0.1, 200, 400),
    ],
)
def test_pixels_differ_by_more_than_the_threshold(
    before: bytes, after: bytes, threshold: float, pixels: int, total: int
) -> None:
    difference = compare_pictures(before, after, threshold=threshold)
    assert (difference.pixels, difference.total) == (pixels, total)
    assert (difference.box is None) is (pixels == 0)
