"""Texts that must not be seen are painted over on a picture. A pure function on image bytes."""

import io
from collections.abc import Iterable

from PIL import Image, ImageDraw

from mcp_browser.dom.secrecy import Cover, Covers

PAINT = "#4a4f57"

SLACK = 2
"""How much more is painted over on each side, CSS pixels: letters reach out of their boxes."""


def masked(
    raw: bytes,
    covers: Iterable[Covers],
    *,
    full_page: bool = False,
    clip: tuple[float, float, float, float] | None = None,
) -> bytes:
    """A screenshot with boxes painted over, in its own format; itself where there is nothing to paint.

    Args:
        raw: the screenshot as PNG or JPEG.
        covers: what to cover, as it was before and after the screenshot was taken.
        full_page: it shows the page, not the view.
        clip: left, top, width and height of the part that it shows, CSS pixels.
    """
    every = [(cover, box) for cover in covers for box in cover.boxes]
    if not every:
        return raw
    with Image.open(io.BytesIO(raw)) as opened:
        kind = opened.format or "PNG"
        image = opened.convert("RGB")
    draw = ImageDraw.Draw(image)
    for cover, box in every:
        left, top, width, _ = clip or ((0.0, 0.0, *cover.page) if full_page else cover.view)
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
    buffer = io.BytesIO()
    image.save(buffer, kind, **({"quality": 95} if kind == "JPEG" else {}))
    return buffer.getvalue()


def _places(cover: Covers, box: Cover, *, full_page: bool) -> list[tuple[float, float]]:
    """Where a box may be on the picture."""
    if not full_page:
        return [(box.x, box.y)]
    places = [(box.x + cover.scroll[0], box.y + cover.scroll[1])]
    if box.pinned:
        # What does not scroll may be drawn at the top of the page, or at its bottom.
        view_height = cover.view[3]
        places += [(box.x, box.y), (box.x, box.y + max(0.0, cover.page[1] - view_height))]
    return places
