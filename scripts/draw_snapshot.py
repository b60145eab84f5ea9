"""Draw the README's picture: a page, and beside it the snapshot that a model reads of it.

    python scripts/draw_snapshot.py [URL]

runs the real thing on the page that is shipped (or on URL) and writes docs/images/snapshot.png.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "images" / "snapshot.png"

HEIGHT = 860
TEXT_WIDTH = 760
MARGIN = 28
LINE_HEIGHT = 21
FONT_SIZE = 15
BACKGROUND = "#16181d"
COLOURS = (
    (re.compile(r"^\s*\*?\[\d+\]"), "#6fb7ff"),
    (re.compile(r"(?<=\] )[a-z]+(?= \")"), "#8fd694"),
    (re.compile(r'"(?:[^"\\]|\\.)*"'), "#f0c674"),
)
PLAIN = "#c5c8c6"


def main() -> int:
    """Draw; the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        page, text = _try_page(Path(folder), *sys.argv[1:])
        picture = _beside(page, text)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    picture.save(TARGET, optimize=True)
    sys.stdout.write(f"{TARGET.relative_to(ROOT)}: {picture.width}x{picture.height}\n")
    return 0


def _try_page(folder: Path, *url: str) -> tuple[Image.Image, str]:
    command = [sys.executable, "-m", "mcp_browser", "try", *url]
    options = [
        "--headless",
        "--screenshot-format",
        "png",
        "--viewport",
        f"{HEIGHT * 5 // 4}x{HEIGHT}",
        "--output-dir",
        str(folder),
    ]
    printed = subprocess.run([*command, *options], capture_output=True, text=True, check=True).stdout
    text, _, path = printed.rpartition("\nScreenshot: ")
    with Image.open(path.strip()) as page:
        return page.convert("RGB"), text.strip()


def _beside(page: Image.Image, text: str) -> Image.Image:
    picture = Image.new("RGB", (page.width + TEXT_WIDTH, page.height), BACKGROUND)
    picture.paste(page, (0, 0))
    draw = ImageDraw.Draw(picture)
    font = _monospaced()
    fits = (page.height - 2 * MARGIN) // LINE_HEIGHT
    columns = int((TEXT_WIDTH - 2 * MARGIN) / font.getlength("m"))
    lines = text.splitlines()
    shown = lines if len(lines) <= fits else [*lines[: fits - 1], f"… {len(lines) - fits + 1} more lines"]
    for number, line in enumerate(shown):
        place = (page.width + MARGIN, MARGIN + number * LINE_HEIGHT)
        _draw_line(draw, font, place, line if len(line) <= columns else line[: columns - 1] + "…")
    return picture


def _draw_line(
    draw: ImageDraw.ImageDraw, font: ImageFont.FreeTypeFont, place: tuple[float, float], line: str
) -> None:
    """A line with its index, role and name in colours."""
    x, y = place
    colours = [PLAIN] * len(line)
    for pattern, colour in COLOURS:
        for found in pattern.finditer(line):
            colours[found.start() : found.end()] = [colour] * len(found[0])
    for character, colour in zip(line, colours, strict=True):
        draw.text((x, y), character, font=font, fill=colour)
        x += font.getlength("m")


def _monospaced() -> ImageFont.FreeTypeFont:
    for name in ("DejaVuSansMono.ttf", "LiberationMono-Regular.ttf", "Menlo.ttc", "consola.ttf"):
        try:
            return ImageFont.truetype(name, FONT_SIZE)
        except OSError:
            continue
    raise SystemExit("No monospaced font was found: install DejaVu Sans Mono or Liberation Mono.")


if __name__ == "__main__":
    sys.exit(main())
