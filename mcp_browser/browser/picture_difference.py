"""Where two pictures differ. Pure functions on image bytes."""

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

# Pillow is imported where pictures are compared: it takes long, and most sessions compare none.
if TYPE_CHECKING:
    from PIL import Image

FADED = 0.75  # How much of what is the same is taken away on the picture of the difference
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

    A pixel differs where a colour channel does by more than `threshold`, a share of its range; one that only
    the larger picture has differs, too.

    Raises:
        OSError: one of them is no picture.
    """
    from PIL import Image, ImageChops  # noqa: PLC0415

    with Image.open(io.BytesIO(before)) as first, Image.open(io.BytesIO(after)) as second:
        sizes = first.size, second.size
        size = max(first.width, second.width), max(first.height, second.height)
        old, new = _on_canvas(first, size), _on_canvas(second, size)
    red, green, blue, alpha = ImageChops.difference(old, new).split()
    most = ImageChops.lighter(ImageChops.lighter(red, green), ImageChops.lighter(blue, alpha))
    # Pillow leaves a type within open.
    differs: Image.Image = cast("Any", most).point(
        [255 if value > threshold * 255 else 0 for value in range(256)]
    )
    shown = Image.blend(new.convert("RGB"), Image.new("RGB", size, "white"), FADED)
    shown.paste(MARK, mask=differs)
    written = io.BytesIO()
    shown.save(written, "PNG")
    return PictureDifference(
        pixels=differs.histogram()[255],
        total=size[0] * size[1],
        box=differs.getbbox(),
        sizes=sizes,
        picture=written.getvalue(),
    )


def _on_canvas(image: "Image.Image", size: tuple[int, int]) -> "Image.Image":
    """The picture on a transparent one of this size."""
    from PIL import Image  # noqa: PLC0415

    canvas = Image.new("RGBA", size)
    canvas.paste(image.convert("RGBA"))
    return canvas
