"""Traces as Playwright writes them: with their secrets, and kept until their browser ends."""

import contextlib
import os
import shutil
import uuid
import zipfile
from pathlib import Path

from mcp_browser.browser.process.temporary import TemporaryFolder

RESOURCES = "resources"
"""The folder of bodies and stylesheets, named by their content: traces of one browser share them."""


class RawTraces:
    """The folder that one browser's traces are written into. Of one that has ended nothing stays as it was.

    Playwright writes a body only once for a context, and every later trace of it is to find it: so bodies are
    replaced, and not deleted.
    """

    def __init__(self) -> None:
        self._folder = TemporaryFolder()
        self._under_way: set[str] = set()
        self._safe: set[str] = set()
        self._since = 0

    @property
    def path(self) -> Path:
        """The folder."""
        return self._folder.path

    def begin(self) -> str:
        """A name for a trace that begins, which its files have."""
        name = f"raw-{uuid.uuid4().hex}"
        if not self._under_way:
            self._since = self._now(name)
        self._under_way.add(name)
        return name

    def clear(self, name: str, raw: Path | None = None, scrubbed: Path | None = None) -> None:
        """Leave nothing secret of a trace that has ended.

        Args:
            name: its name.
            raw: the file that Playwright has made of it.
            scrubbed: the same one without secrets. Without both, what may be this trace's is emptied.
        """
        self._under_way.discard(name)
        # The folder may go meanwhile, with its browser.
        with contextlib.suppress(FileNotFoundError):
            span = (self._since, self._now(name)) if not self._under_way else None
            for file in self.path.glob(f"{name}*"):
                file.unlink(missing_ok=True)
            if raw is not None and scrubbed is not None:
                self._replace_bodies(raw, scrubbed)
            if span is not None:
                self._empty_others(*span)

    def remove(self) -> None:
        """The browser has ended."""
        self._folder.remove()

    def _now(self, name: str) -> int:
        """The time by the clock of the files, nanoseconds."""
        mark = self.path / f"{name}.mark"
        mark.touch()
        return mark.stat().st_mtime_ns

    def _replace_bodies(self, raw: Path, scrubbed: Path) -> None:
        with zipfile.ZipFile(raw) as whole, zipfile.ZipFile(scrubbed) as kept:
            left = set(kept.namelist())
            for entry in whole.namelist():
                folder, _, file = entry.rpartition("/")
                if folder == RESOURCES and (place := self.path / RESOURCES / file).exists():
                    safe = kept.read(entry) if entry in left else b""
                    if safe != whole.read(entry):
                        _replace(place, safe)
                    self._safe.add(file)

    def _empty_others(self, since: int, until: int) -> None:
        """Empty bodies of that time, in which traces were under way, that are in none of their files."""
        safe, self._safe = self._safe, set()
        with os.scandir(self.path / RESOURCES) as bodies:
            for body in bodies:
                if body.name not in safe and since <= body.stat().st_mtime_ns <= until:
                    _replace(Path(body.path), b"")


def _replace(file: Path, content: bytes) -> None:
    """Put another content in a file's place, for whoever opens it from now on."""
    new = file.with_name(f"{file.name}.new")
    new.write_bytes(content)
    # Else the next trace of its context would count it as new.
    shutil.copystat(file, new)
    new.replace(file)
