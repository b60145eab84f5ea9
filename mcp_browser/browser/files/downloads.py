"""Downloads: saved by safe names, and reported."""

import asyncio
import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import anyio
from playwright.async_api import Download
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.concurrency import Condition, begin
from mcp_browser.browser.files.artifacts import BYTES_A_MEGABYTE, Artifacts, PendingArtifact, size_text
from mcp_browser.browser.page_activity import Activity
from mcp_browser.dom.driver_errors import plain_message
from mcp_browser.dom.models import Frozen
from mcp_browser.errors import DeadlineExceeded
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.settings import FileSettings
from mcp_browser.text import quoted

LOOKING_SECONDS = 0.2  # How often the size of a download under way is looked at


class _TooLargeError(Exception):
    """A download has grown beyond its limit."""


class DownloadInfo(Frozen):
    """A download: `size` in bytes once it is saved, `error` if it could not be.

    `place` is its path or address for the client, `uri` its address, `path` where it is saved. All three are
    empty if no name could be reserved for it.
    """

    name: str
    url: str
    path: Path | None = None
    uri: str = ""
    place: str = ""
    size: int | None = None
    error: str | None = None

    @property
    def done(self) -> bool:
        return self.size is not None or self.error is not None

    def __str__(self) -> str:
        if self.error is not None:
            return f"Download of {quoted(self.name)} from {cut_address(self.url)} failed: {self.error}."
        if self.size is None:
            return f"Download of {quoted(self.name)} is under way; it will be saved as {self.place}."
        return f"Downloaded {quoted(self.name)} ({size_text(self.size)}), saved as {self.place}."


class Downloads:
    """The downloads of one session, in the order in which they began."""

    def __init__(self, artifacts: Artifacts, notice: Callable[[str], None], settings: FileSettings) -> None:
        self._most = (settings.max_download_size or settings.max_files_size) * BYTES_A_MEGABYTE
        self._most_together = settings.max_files_size * BYTES_A_MEGABYTE
        self._sizes: dict[int, int] = {}
        self._artifacts = artifacts
        self._notice = notice
        self.infos: list[DownloadInfo] = []  # All of the session, in their current state
        self.saving: dict[int, asyncio.Task[None]] = {}
        self._reported_under_way: set[int] = set()
        self.ended: list[DownloadInfo] = []
        self.brought: list[DownloadInfo] = []
        self._changed = Condition()

    def __len__(self) -> int:
        return len(self.infos)

    def start(self, download: Download, activity: Activity) -> None:
        """Save a download that has just begun; returns at once."""
        number = len(self.infos)
        activity.forget_navigation()
        name = download.suggested_filename
        try:
            pending = self._artifacts.reserve(name, kind="download", default="download")
        except OSError as error:
            self.infos.append(DownloadInfo(name=name, url=download.url))
            self._end(number, error=self._cannot_save(error))
            return
        info = DownloadInfo(
            name=pending.name, url=download.url, path=pending.path, uri=pending.uri, place=pending.place
        )
        self.infos.append(info)
        self._changed.wake()
        self.saving[number] = asyncio.create_task(self._save(number, download, pending))

    async def wait(self, *, limit: float) -> None:
        """Wait for those under way, `limit` seconds at most; report each that is not finished, once."""
        if self.saving:
            await asyncio.wait(set(self.saving.values()), timeout=max(0.0, limit))
        for number in self.saving.keys() - self._reported_under_way:
            self._reported_under_way.add(number)
            self._notice(str(self.infos[number]))

    async def wait_for_end(self, *, limit: float) -> list[DownloadInfo]:
        """The downloads that end within `limit` seconds: those under way, else the next one to begin.

        Those of the last action, and those not reported yet, count too. Raises DeadlineExceeded.
        """
        with anyio.move_on_after(limit):
            while self.saving or not (self.ended or self.brought):
                await self._changed.wait()
            ended = [*self.brought, *self.ended]
            self.brought, self.ended = [], []
            return ended
        if self.saving:
            names = ", ".join(self.infos[number].name for number in self.saving)
            raise DeadlineExceeded(
                f"Still under way after {limit:g} s: {names}.", hint="Wait again, with a longer timeout."
            )
        raise DeadlineExceeded(f"No download began within {limit:g} s.", hint="Click what starts it first.")

    def take_ended(self, *, acted: bool) -> list[DownloadInfo]:
        """Those that have ended since the last call; `acted`: the action did more than read."""
        ended, self.ended = self.ended, []
        self.brought = [*([] if acted else self.brought), *ended]
        return ended

    async def close(self) -> None:
        """Cancel those under way."""
        saving = list(self.saving.values())
        for task in saving:
            task.cancel()
        if saving:
            await asyncio.wait(saving, timeout=1)

    async def _save(self, number: int, download: Download, pending: PendingArtifact) -> None:
        size = error = None
        try:
            await self._watch(number, download)
            await download.save_as(pending.path)
            self._check(pending.path.stat().st_size)
            size = self._artifacts.complete(pending).size
        except _TooLargeError as problem:
            error = str(problem)
        except PlaywrightError as problem:
            error = _plain_cause(problem)
        except OSError as problem:
            error = self._cannot_save(problem)
        finally:
            del self.saving[number]
            self._sizes.pop(number, None)
            # The browser's own copy would stay until its context closes.
            begin(_delete(download))
            if size is None:
                self._artifacts.abandon(pending)
        self._end(number, size=size, error=error)

    async def _watch(self, number: int, download: Download) -> None:
        """Wait for the end of a download; stop it and raise _TooLargeError if it grows too large."""
        path = _growing_file(download)
        ending = asyncio.ensure_future(download.failure())
        try:
            while not ending.done():
                await asyncio.wait({ending}, timeout=LOOKING_SECONDS if path is not None else None)
                self._sizes[number] = _size_of(path)
                self._check(self._sizes[number])
        except _TooLargeError:
            with contextlib.suppress(PlaywrightError):
                await download.cancel()
            raise
        finally:
            ending.add_done_callback(lambda ended: ended.cancelled() or ended.exception())

    def _check(self, size: int) -> None:
        if size > self._most:
            raise _TooLargeError(f"it was stopped, since a download may have {size_text(self._most)} at most")
        if sum(self._sizes.values()) > self._most_together:
            most = size_text(self._most_together)
            raise _TooLargeError(f"it was stopped, since downloads may have {most} together at most")

    def _cannot_save(self, error: OSError) -> str:
        return f"it {self._artifacts.why_not_written(error)}"

    def _end(self, number: int, **outcome: int | str | None) -> None:
        self.infos[number] = info = self.infos[number].model_copy(update=outcome)
        self.ended.append(info)
        self._notice(str(info))
        self._changed.wake()


async def _delete(download: Download) -> None:
    with contextlib.suppress(PlaywrightError):
        await download.delete()


def _growing_file(download: Download) -> Path | None:
    """Where the browser writes a download; None if Playwright does not have it."""
    with contextlib.suppress(AttributeError, KeyError, TypeError):
        return Path(cast("Any", download)._impl_obj._artifact._initializer["absolutePath"])
    return None


def _size_of(path: Path | None) -> int:
    """The size so far; 0 if the file is on another machine."""
    for each in (path, path.with_name(f"{path.name}.crdownload")) if path is not None else ():
        with contextlib.suppress(OSError):
            return each.stat().st_size
    return 0


def _plain_cause(error: PlaywrightError) -> str:
    """The cause of an error, without the paths in messages of the driver."""
    message = plain_message(error)
    found = re.search(r"\bE[A-Z]+: ([^,]+), \w+ '", message)
    return f"it could not be saved ({found[1]})" if found is not None else message
