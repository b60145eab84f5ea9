"""Files that pages give to the browser: saved under safe names, and told."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

from playwright.async_api import Download
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.activity import Activity
from mcp_browser.browser.playwright_errors import plain_message
from mcp_browser.dom.models import Frozen

LONGEST_NAME = 120
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\u202a-\u202e\u2066-\u2069\ud800-\udfff]+')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


class DownloadInfo(Frozen):
    """A file that a page has given: `size` in bytes once it is saved, `error` where it could not be."""

    name: str
    url: str
    path: Path
    size: int | None = None
    error: str | None = None

    @property
    def done(self) -> bool:
        """Whether it is saved or has failed."""
        return self.size is not None or self.error is not None

    def __str__(self) -> str:
        """A sentence for a result."""
        if self.error is not None:
            return f"Download of {self.name} from {self.url[:200]} failed: {self.error}."
        if self.size is None:
            return f"Download of {self.name} is under way; it will be saved as {self.path}."
        return f"Downloaded {self.name} ({size_text(self.size)}), saved as {self.path}."


class Downloads:
    """The downloads of one session, in the order in which they began."""

    def __init__(self, folder: Callable[[], Path], notice: Callable[[str], None]) -> None:
        """Save into `folder()`, asked for at the first download; `notice` takes sentences about them."""
        self._folder = folder
        self._notice = notice
        self._infos: list[DownloadInfo] = []
        self._saving: dict[int, asyncio.Task[None]] = {}
        self._told_under_way: set[int] = set()

    def __len__(self) -> int:
        """How many downloads have begun."""
        return len(self._infos)

    def infos(self) -> list[DownloadInfo]:
        """Every download of the session as it stands."""
        return list(self._infos)

    def start(self, download: Download, activity: Activity | None) -> None:
        """Save a download that has just begun; returns at once."""
        number = len(self._infos)
        path = free_path(self._folder(), download.suggested_filename)
        # The name is taken at once, for another download may ask for it before this one has ended.
        path.touch()
        self._infos.append(DownloadInfo(name=path.name, url=download.url, path=path))
        self._saving[number] = asyncio.create_task(self._save(number, download))
        if activity is not None:
            activity.forget_navigation()

    async def wait(self, *, limit: float) -> None:
        """Wait for those under way, `limit` seconds at most; those that go on are told, once."""
        if self._saving:
            await asyncio.wait(set(self._saving.values()), timeout=max(0.0, limit))
        for number in self._saving.keys() - self._told_under_way:
            self._told_under_way.add(number)
            self._notice(str(self._infos[number]))

    async def close(self) -> None:
        """Give up those under way."""
        saving = list(self._saving.values())
        for task in saving:
            task.cancel()
        if saving:
            await asyncio.wait(saving, timeout=1)

    async def _save(self, number: int, download: Download) -> None:
        info = self._infos[number]
        try:
            await download.save_as(info.path)
            info = info.model_copy(update={"size": info.path.stat().st_size})
        except PlaywrightError as error:
            info = info.model_copy(update={"error": plain_message(error)})
        except OSError as error:
            info = info.model_copy(
                update={"error": f"it could not be saved as {info.path} ({error.strerror})"}
            )
        finally:
            del self._saving[number]
            if info.size is None:
                info.path.unlink(missing_ok=True)
        self._infos[number] = info
        self._notice(str(info))


def free_path(folder: Path, name: str) -> Path:
    """A path right in `folder`, which is made where it is missing, that no file has yet.

    `name` is what a page suggests: whatever could lead out of the folder or trouble a file system is left
    out.
    """
    name = _UNSAFE.sub("-", name).strip(" .-") or "download"
    if _RESERVED.match(name):
        name = f"_{name}"
    stem, suffix = Path(name).stem, Path(name).suffix[:20]
    stem = stem[: LONGEST_NAME - len(suffix)]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}{suffix}"
    number = 2
    while path.exists():
        path = folder / f"{stem}-{number}{suffix}"
        number += 1
    return path


def size_text(size: int) -> str:
    """A size in bytes as people read it."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"
