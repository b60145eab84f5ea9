"""Texts that must not be seen are painted over on a picture."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from PIL import Image

PAINT = "#4a4f57"

SLACK = 2  # How much more is painted over on each side, CSS pixels: letters reach out of their boxes


class Cover(BaseModel):
    """A box to cover, in CSS pixels from the corner of the layout; `pinned` does not scroll with the page."""

    model_config = ConfigDict(frozen=True)

    x: float
    y: float
    width: float
    height: float
    pinned: bool = False


class Covers(BaseModel):
    """What to cover on a picture, and how the page lies in it.

    `scroll` is how far the page is scrolled, `page` the size of all of it, `view` the left, top, width and
    height of what is seen of the layout; all in CSS pixels. `document` is a new one for each document.
    """

    model_config = ConfigDict(frozen=True)

    boxes: tuple[Cover, ...]
    scroll: tuple[float, float]
    page: tuple[float, float]
    view: tuple[float, float, float, float]
    document: str = ""


@dataclass(frozen=True, slots=True)
class Shot:
    """A screenshot as the browser took it, and what nobody may see on it.

    `covers` is what to cover, as it was before and after. `clip` is left, top, width and height of the part
    that it shows, CSS pixels; `full_page` says that it shows the page, not the view.
    """

    raw: bytes
    covers: tuple[Covers, ...] = ()
    full_page: bool = False
    clip: tuple[float, float, float, float] | None = None


def paint_over(image: "Image.Image", shot: Shot) -> None:
    """Paint over what a screenshot must not show; `image` is the screenshot at the browser's size."""
    # Imported late: it takes long, and many sessions paint nothing over.
    from PIL import ImageDraw  # noqa: PLC0415

    draw = ImageDraw.Draw(image)
    full_page = shot.full_page
    for cover, box in [(each, box) for each in shot.covers for box in each.boxes]:
        left, top, width, _ = shot.clip or ((0.0, 0.0, *cover.page) if full_page else cover.view)
        scale = image.width / width
        for x, y in _places(cover, box, full_page=full_page):
            corners = (
                (x - left - SLACK) * scale,
                (y - top - SLACK) * scale,
                (x - left + box.width + SLACK) * scale,
                (y - top + box.height + SLACK) * scale,
            )
            if corners[2] >= 0 and corners[3] >= 0 and corners[0] < image.width and corners[1] < image.height:
                draw.rectangle(corners, fill=PAINT)


def _places(cover: Covers, box: Cover, *, full_page: bool) -> list[tuple[float, float]]:
    if not full_page:
        return [(box.x, box.y)]
    places = [(box.x + cover.scroll[0], box.y + cover.scroll[1])]
    if box.pinned:
        # What does not scroll may be drawn at the top of the page, or at its bottom.
        view_height = cover.view[3]
        places += [(box.x, box.y), (box.x, box.y + max(0.0, cover.page[1] - view_height))]
    return places
