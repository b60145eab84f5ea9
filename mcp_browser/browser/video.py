"""A video of pictures that come one after another, as WebM."""

import importlib.util
import io
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

MILLISECONDS = Fraction(1, 1000)
BITS_A_SECOND = 1_000_000

can_be_written = importlib.util.find_spec("av") is not None
"""Whether what encodes videos is installed: the extra `video`."""


class VideoWriter:
    """Writes a file of VP8 in WebM; each picture stands until the next. Its methods block, and take turns."""

    def __init__(self, path: Path, *, size: tuple[int, int] | None = None) -> None:
        """Write to `path` with the first picture. `size` in pixels is by default that picture's."""
        self._path = path
        self._size = size
        self._lock = threading.Lock()
        self._output: Any = None
        self._stream: Any = None
        self._last: tuple[bytes, int] | None = None
        self._closed = False

    @property
    def written(self) -> int:
        """Bytes of the file so far; 0 where nothing has been shown."""
        return self._path.stat().st_size if self._output is not None else 0

    def add(self, picture: bytes, at: float) -> None:
        """Show a picture, in any format, from `at` seconds on; one of another shape gets black bars."""
        with self._lock:
            if not self._closed:
                self._add(picture, round(at * 1000))

    def close(self, at: float) -> bool:
        """End the video `at` seconds; False where it has no picture, and so no file."""
        with self._lock:
            self._closed = True
            if self._output is None or self._last is None:
                return False
            picture, last = self._last
            # A picture lasts until the next one comes.
            if round(at * 1000) > last:
                self._add(picture, round(at * 1000))
            self._output.mux(self._stream.encode(None))
            self._output.close()
            self._output = None
            return True

    def _add(self, picture: bytes, milliseconds: int) -> None:
        # Imported late: they take long, and come with an extra.
        from av import VideoFrame  # noqa: PLC0415
        from PIL import Image, ImageOps  # noqa: PLC0415

        with Image.open(io.BytesIO(picture)) as opened:
            image = opened.convert("RGB")
        output, stream = self._started(image.width, image.height)
        size = (stream.width, stream.height)
        if image.size != size:
            image = ImageOps.pad(image, size)
        if self._last is not None:
            milliseconds = max(milliseconds, self._last[1] + 1)
        frame = cast("Any", VideoFrame).from_image(image)
        frame.pts, frame.time_base = milliseconds, MILLISECONDS
        output.mux(stream.encode(frame))
        self._last = (picture, milliseconds)

    def _started(self, width: int, height: int) -> tuple[Any, Any]:
        if self._output is None:
            import av  # noqa: PLC0415

            width, height = self._size or (width, height)
            self._output = cast("Any", av).open(str(self._path), "w", format="webm")
            options = {"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0", "crf": "12"}
            self._stream = self._output.add_stream("libvpx", options=options)
            # The encoder takes no odd sizes.
            self._stream.width, self._stream.height = max(2, width & ~1), max(2, height & ~1)
            self._stream.pix_fmt = "yuv420p"
            self._stream.bit_rate = BITS_A_SECOND
            self._stream.codec_context.time_base = MILLISECONDS
        return self._output, self._stream
