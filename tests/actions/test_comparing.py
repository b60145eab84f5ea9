"""Pictures of a page against earlier ones."""

import base64
import io
from pathlib import Path

import pytest
from PIL import Image

from mcp_browser.browser.pictures import compare_pictures
from mcp_browser.errors import InvalidArguments, NotActionable, NotFound
from tests.actions.hand import Hand

PAGE = (
    "<style>body { margin: 0 } div { width: 100px; height: 50px; background: #08f }</style><div id=box></div>"
)


@pytest.mark.fresh
async def test_a_page_is_compared_with_how_it_looked(hand: Hand) -> None:
    await hand.open(PAGE)
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
    await hand.open(PAGE)
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
