"""Paints over hidden texts on pictures."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from PIL import Image

PAINT = "#4a4f57"
SLACK = 2  # How much more to paint over on each side, CSS pixels: letters may extend beyond their boxes


class Cover(BaseModel, frozen=True):
    """A box to cover, in CSS pixels from the corner of the layout; `pinned` does not scroll with the page."""

    x: float
    y: float
    width: float
    height: float
    pinned: bool = False


class Covers(BaseModel, frozen=True):
    """What to cover on a picture, and the position of the page in it.

    `scroll` is how far the page is scrolled, `page` its whole size, `view` the left, top, width and height of
    the visible part of the layout; all in CSS pixels. `document` identifies the document.
    """

    boxes: tuple[Cover, ...]
    scroll: tuple[float, float]
    page: tuple[float, float]
    view: tuple[float, float, float, float]
    document: str = ""


@dataclass(frozen=True, slots=True)
class Shot:
    """A screenshot from the browser, and what to cover on it.

    `covers` are those before and after the capture. `clip` is left, top, width and height of the part that it
    shows, in CSS pixels; `full_page`: it shows the page, not the view.
    """

    raw: bytes
    covers: tuple[Covers, ...] = ()
    full_page: bool = False
    clip: tuple[float, float, float, float] | None = None


def paint_over(image: "Image.Image", shot: Shot) -> None:
    """Paint over the covers of a screenshot; `image` is the screenshot at the browser's size."""
    # Imported late: it takes long, and many sessions have no covers.
    from PIL import ImageDraw  # noqa: PLC0415

    draw = ImageDraw.Draw(image)
    for cover, box in [(each, box) for each in shot.covers for box in each.boxes]:
        left, top, width, _ = shot.clip or ((0.0, 0.0, *cover.page) if shot.full_page else cover.view)
        scale = image.width / width
        places = [(box.x, box.y)]
        if shot.full_page:
            # A pinned element may be drawn at the top of the page, or at its bottom.
            pinned = [*places, (box.x, box.y + max(0.0, cover.page[1] - cover.view[3]))]
            places = [(box.x + cover.scroll[0], box.y + cover.scroll[1]), *(pinned if box.pinned else ())]
        for x, y in places:
            x0, y0 = (x - left - SLACK) * scale, (y - top - SLACK) * scale
            x1, y1 = (x - left + box.width + SLACK) * scale, (y - top + box.height + SLACK) * scale
            if x1 >= 0 and y1 >= 0 and x0 < image.width and y0 < image.height:
                draw.rectangle((x0, y0, x1, y1), fill=PAINT)
