"""What is in a video, frame by frame."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import av

if TYPE_CHECKING:
    from PIL import Image

Colour = tuple[int, int, int]

RED, GREEN, BLUE = (255, 0, 0), (0, 128, 0), (0, 0, 255)


def is_near(seen: Colour, wanted: Colour) -> bool:
    """Whether two colours are the same, as far as a lossy picture can tell."""
    return all(abs(a - b) < 30 for a, b in zip(seen, wanted, strict=True))


def frames(path: Path) -> list[tuple[float, Colour]]:
    """The time of each frame of a video in seconds, and its colour below the middle."""
    shown: list[tuple[float, Colour]] = []
    with av.open(str(path)) as video:
        for frame in video.decode(video=0):
            picture: Image.Image = frame.to_image()  # pyright: ignore[reportUnknownMemberType]
            colour: Any = picture.getpixel((picture.width // 2, picture.height * 3 // 4))
            shown.append((frame.time or 0.0, colour))
    return shown


def shows(path: Path, wanted: Colour) -> list[float]:
    """When a video shows a colour, seconds."""
    return [time for time, seen in frames(path) if is_near(seen, wanted)]
