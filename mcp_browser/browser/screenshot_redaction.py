"""Texts that must not be seen are painted over on a picture."""

from typing import TYPE_CHECKING

from mcp_browser.dom.secrecy import Cover, Covers, Shot

if TYPE_CHECKING:
    from PIL import Image

PAINT = "#4a4f57"

SLACK = 2  # How much more is painted over on each side, CSS pixels: letters reach out of their boxes


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
