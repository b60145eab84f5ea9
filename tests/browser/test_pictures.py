"""Screenshots made fit for a model."""

import io
from typing import Any, Literal

import pytest
from PIL import Image

from mcp_browser.browser.pictures import Picture, make_picture
from mcp_browser.dom.models import Box

pytestmark = pytest.mark.slow

Format = Literal["png", "jpeg", "webp"]


def image(width: int, height: int, *, noise: bool = False) -> bytes:
    buffer = io.BytesIO()
    made = Image.effect_noise((width, height), 90) if noise else Image.new("RGB", (width, height), "white")
    made.save(buffer, "PNG")
    return buffer.getvalue()


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def made(raw: bytes, format: Format = "png", **more: Any) -> Picture:
    given: dict[str, Any] = {"quality": 75, "max_side": 400, **more}
    return make_picture(raw, format=format, **given)


@pytest.mark.parametrize("format", ["png", "jpeg", "webp"])
def test_a_picture_has_the_format_that_was_asked_for_and_is_short_enough(format: Format) -> None:
    picture = made(image(300, 200), format)
    assert (opened(picture.data).format or "").lower() == format
    assert picture.mime_type == f"image/{format}"
    assert (picture.width, picture.height) == (300, 200)
    picture = made(image(1200, 900, noise=True), format, quality=95, max_side=2000, max_bytes=60_000)
    assert len(picture.data) <= 60_000
    assert opened(picture.data).size == (picture.width, picture.height)


def test_a_picture_that_is_fit_already_is_not_encoded_again() -> None:
    raw = image(300, 200)
    assert made(raw, max_side=300).data == raw


@pytest.mark.parametrize(
    ("side", "most", "size"), [((3000, 1500), 1000, (1000, 500)), ((1200, 16_000), 1568, (118, 1568))]
)
def test_the_longest_side_has_its_limit(side: tuple[int, int], most: int, size: tuple[int, int]) -> None:
    picture = made(image(*side), "jpeg", max_side=most)
    assert (picture.width, picture.height) == opened(picture.data).size == size


def test_labels_frame_their_elements_at_any_scale() -> None:
    label = Box(index=12, x=50, y=40, width=100, height=60)
    for factor in (1, 2):
        picture = made(image(400 * factor, 300 * factor), css_width=400, labels=[label])
        drawn = opened(picture.data).convert("RGB")
        assert drawn.getpixel((50, 70)) != (255, 255, 255), "the frame's left side"
        assert drawn.getpixel((149, 90)) != (255, 255, 255), "the frame's right side"
        assert drawn.getpixel((75, 85)) == (255, 255, 255), "the element itself stays readable"
        assert drawn.getpixel((300, 200)) == (255, 255, 255)


def test_labels_beyond_the_edges_do_no_harm() -> None:
    labels = [
        Box(index=1, x=-50, y=-50, width=60, height=60),
        Box(index=123456, x=390, y=290, width=500, height=500),
        Box(index=3, x=1000, y=1000, width=5, height=5),
        Box(index=4, x=10, y=10, width=0, height=0),
    ]
    made(image(400, 300), labels=labels)
