"""Screenshots prepared for a model: labels, size, format. Pure functions on image bytes."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from mcp_browser.dom.models import Box, Frozen
from mcp_browser.privacy.pictures import Shot, paint_over

if TYPE_CHECKING:
    from PIL import Image


PictureFormat = Literal["jpeg", "png", "webp"]

MAX_BYTES = 600_000  # Largest picture: clients refuse messages of a megabyte, and base64 adds a third
SMALLEST_SIDE = 64

LOWEST_QUALITY = 40

_COLOURS = ("#c2185b", "#1565c0", "#2e7d32", "#6a1b9a", "#d84315", "#00695c", "#4e342e", "#283593")

# Corners of the cursor, pixels from its tip
_ARROW = ((0, 0), (0, 17), (4, 13), (7, 20), (10, 19), (7, 12), (12, 12))


class Picture(Frozen):
    """An encoded image and its size in pixels."""

    data: bytes
    format: PictureFormat
    width: int
    height: int

    @property
    def mime_type(self) -> str:
        return f"image/{self.format}"


def make_picture(  # noqa: PLR0913 - options, all by keyword
    shot: bytes | Shot,
    *,
    format: PictureFormat,
    quality: int,
    max_side: int,
    css_width: int | None = None,
    labels: Sequence[Box] = (),
    cursor: tuple[float, float] | None = None,
    max_bytes: int = MAX_BYTES,
) -> Picture:
    """Draw labels and a cursor on a screenshot, shrink its longest side to `max_side` pixels, and encode it.

    The quality (1 to 100), then the size, is lowered until it has at most `max_bytes`. `css_width` is the
    screenshot's width in CSS pixels, the unit of labels and cursor; by default they are in its pixels.
    """
    from PIL import Image, ImageDraw  # noqa: PLC0415

    shot = Shot(shot) if isinstance(shot, bytes) else shot
    with Image.open(io.BytesIO(shot.raw)) as opened:
        is_drawn_on = shot.covers or labels or cursor is not None
        fits = max(opened.size) <= max_side and len(shot.raw) <= max_bytes
        if fits and not is_drawn_on and (opened.format or "").lower() == format:
            return Picture(data=shot.raw, format=format, width=opened.width, height=opened.height)
        image = opened.convert("RGB")
    paint_over(image, shot)
    scale = image.width / css_width if css_width else 1.0
    longest = max(image.size)
    if longest > max_side:
        scale *= max_side / longest
        image = _resized(image, max_side / longest)
    # Labels are drawn after resizing, so that they can be read.
    draw_labels(image, labels, scale=scale)
    if cursor is not None:
        outline = [(cursor[0] * scale + right, cursor[1] * scale + down) for right, down in _ARROW]
        ImageDraw.Draw(image).polygon(outline, fill="black", outline="white", width=1)
    return _encoded(image, format=format, quality=quality, max_bytes=max_bytes)


def size_of(data: bytes) -> tuple[int, int]:
    """The width and height of an encoded image, pixels; only its head is read."""
    from PIL import Image  # noqa: PLC0415

    with Image.open(io.BytesIO(data)) as image:
        return image.size


def encode_whole(shot: Shot) -> bytes:
    """A screenshot at its own size, in the browser's format."""
    if not shot.covers:
        return shot.raw
    from PIL import Image  # noqa: PLC0415

    with Image.open(io.BytesIO(shot.raw)) as opened:
        format, image = opened.format or "PNG", opened.convert("RGB")
    paint_over(image, shot)
    return _saved(image, format, **({"quality": 95} if format == "JPEG" else {}))


def draw_labels(image: "Image.Image", labels: Sequence[Box], *, scale: float) -> None:
    """Draw a frame around each element, and its index; `scale` is pixels of the image for each CSS pixel."""
    from PIL import ImageDraw, ImageFont  # noqa: PLC0415

    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=12)
    for number, label in enumerate(labels):
        colour = _COLOURS[number % len(_COLOURS)]
        left, top = label.x * scale, label.y * scale
        right, bottom = left + label.width * scale, top + label.height * scale
        if right <= 0 or bottom <= 0 or left >= image.width or top >= image.height:
            continue
        draw.rectangle((left, top, max(left, right - 1), max(top, bottom - 1)), outline=colour, width=2)
        text = str(label.index)
        box = draw.textbbox((0, 0), text, font=font)
        width, height = box[2] - box[0] + 4, box[3] - box[1] + 4
        # Inside the frame if the element stays readable, else above it.
        roomy = bottom - top >= 2.5 * height
        tag_left = min(max(0, right - width if roomy else left), image.width - width)
        tag_top = min(max(0, top if roomy else top - height), image.height - height)
        draw.rectangle((tag_left, tag_top, tag_left + width, tag_top + height), fill=colour)
        draw.text((tag_left + 2 - box[0], tag_top + 2 - box[1]), text, fill="white", font=font)


def _encoded(image: "Image.Image", *, format: PictureFormat, quality: int, max_bytes: int) -> Picture:
    while True:
        options = {"compress_level": 6} if format == "png" else {"quality": quality}
        data = _saved(image, format, **options, **({"method": 2} if format == "webp" else {}))
        if len(data) <= max_bytes or max(image.size) <= SMALLEST_SIDE:
            return Picture(data=data, format=format, width=image.width, height=image.height)
        if format != "png" and quality > LOWEST_QUALITY:
            quality = max(LOWEST_QUALITY, quality - 20)
        else:
            # The length of an encoding is roughly proportional to the area.
            image = _resized(image, max(0.3, 0.95 * (max_bytes / len(data)) ** 0.5))


def _saved(image: "Image.Image", format: str, **options: int) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format, **options)
    return buffer.getvalue()


def _resized(image: "Image.Image", factor: float) -> "Image.Image":
    from PIL import Image  # noqa: PLC0415

    size = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
    return image.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)  # pyright: ignore[reportUnknownMemberType] - numpy types in its signature


FADED = 0.75  # How much equal pixels are faded in the picture of the difference
MARK = (214, 0, 64)


@dataclass(frozen=True, slots=True)
class PictureDifference:
    """The difference of two pictures.

    `pixels` differ of `total`; all of them lie in `box`: left, top, right, bottom, in pixels. `sizes` are the
    width and height of both. `picture` is a PNG: the later picture faded, what differs in red.
    """

    pixels: int
    total: int
    box: tuple[int, int, int, int] | None
    sizes: tuple[tuple[int, int], tuple[int, int]]
    picture: bytes

    @property
    def share(self) -> float:
        """The share of the pixels that differ, 0 to 1."""
        return self.pixels / self.total if self.total else 0.0


def compare_pictures(before: bytes, after: bytes, *, threshold: float) -> PictureDifference:
    """Compare two pictures pixel by pixel, from their upper left corners.

    A pixel differs if a colour channel does by more than `threshold`, a share of its range, or if only the
    larger picture has it. Raises OSError: one of them is no picture.
    """
    from PIL import Image, ImageChops  # noqa: PLC0415

    with Image.open(io.BytesIO(before)) as first, Image.open(io.BytesIO(after)) as second:
        sizes = first.size, second.size
        size = max(first.width, second.width), max(first.height, second.height)
        old, new = Image.new("RGBA", size), Image.new("RGBA", size)
        old.paste(first.convert("RGBA"))
        new.paste(second.convert("RGBA"))
    red, green, blue, alpha = ImageChops.difference(old, new).split()
    most = ImageChops.lighter(ImageChops.lighter(red, green), ImageChops.lighter(blue, alpha))
    # Pillow's type is incomplete.
    differs: Image.Image = cast("Any", most).point(
        [255 if value > threshold * 255 else 0 for value in range(256)]
    )
    shown = Image.blend(new.convert("RGB"), Image.new("RGB", size, "white"), FADED)
    shown.paste(MARK, mask=differs)
    return PictureDifference(
        pixels=differs.histogram()[255],
        total=size[0] * size[1],
        box=differs.getbbox(),
        sizes=sizes,
        picture=_saved(shown, "PNG"),
    )
