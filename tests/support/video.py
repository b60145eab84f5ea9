"""What is in a video, frame by frame."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import av
from PIL import Image

Colour = tuple[int, int, int]
RED, GREEN, BLUE = (255, 0, 0), (0, 128, 0), (0, 0, 255)


def is_near(seen: Colour, wanted: Colour) -> bool:
    """Whether two colours are the same, as far as a lossy picture can tell."""
    return all(abs(a - b) < 30 for a, b in zip(seen, wanted, strict=True))


def pictures(path: Path) -> Iterator[tuple[float, Image.Image]]:
    """The time of each frame of a video in seconds, and the frame."""
    with av.open(str(path)) as video:
        for frame in cast("Any", video).decode(video=0):
            yield frame.time or 0.0, frame.to_image()


def frames(path: Path) -> list[tuple[float, Colour]]:
    """The time of each frame of a video in seconds, and its colour below the middle."""
    return [(time, colour_at(one, one.width // 2, one.height * 3 // 4)) for time, one in pictures(path)]


def colour_at(picture: Image.Image, x: int, y: int) -> Colour:
    return cast("Colour", picture.convert("RGB").getpixel((x, y)))


def shows(path: Path, wanted: Colour) -> list[float]:
    """When a video shows a colour, seconds."""
    return [time for time, seen in frames(path) if is_near(seen, wanted)]
