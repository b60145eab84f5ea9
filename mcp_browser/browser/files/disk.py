"""What the files of one client take on the disk, in all its sessions together."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from mcp_browser.browser.files.filenames import size_text


class _Member(Protocol):
    """The files of one session."""

    @property
    def size(self) -> int:
        """What they take, bytes."""
        ...

    def holds(self, path: Path) -> bool:
        """Whether a file is one of them."""
        ...

    def drop_oldest(self) -> bool:
        """Delete the oldest one; False where there is none to spare."""
        ...


class ClientDisk:
    """The files of one client: of its living sessions, and what earlier ones have left behind."""

    def __init__(self, *, most: int, folder: Path | None, refuses: bool = True) -> None:
        """Let them take `most` bytes.

        Args:
            most: bytes.
            folder: the client's own in the output folder, where files stay when a session ends.
            refuses: a file is refused where no other one can go for it. Otherwise sessions keep theirs.
        """
        self._most = most
        self._folder = folder
        self._refuses = refuses
        self._members: list[_Member] = []

    def join(self, member: _Member) -> None:
        """A session of the client begins."""
        self._members.append(member)

    def leave(self, member: _Member) -> None:
        """A session has ended."""
        self._members.remove(member)

    def make_room(self, size: int, member: _Member, path: Path) -> None:
        """Let older files go for a new one at `path`: what ended sessions have left, then the session's own.

        Raises:
            OSError: that is not enough.
        """
        left = list(self._left_over(besides=path))
        used = size + sum(one.size for one in self._members) + sum(found.st_size for found, _ in left)
        for found, leftover in sorted(left, key=lambda one: one[0].st_mtime):
            if used <= self._most:
                return
            leftover.unlink(missing_ok=True)
            used -= found.st_size
        while self._refuses and used > self._most:
            before = member.size
            if not member.drop_oldest():
                allowed = size_text(self._most)
                raise OSError(0, f"one client's files may take {allowed}; close a session to free its own")
            used -= before - member.size

    def _left_over(self, *, besides: Path) -> Iterator[tuple[os.stat_result, Path]]:
        if self._folder is None or not self._folder.is_dir():
            return
        for path in self._folder.rglob("*"):
            if path == besides or any(one.holds(path) for one in self._members):
                continue
            with contextlib.suppress(OSError):
                if path.is_file() and not path.is_symlink():
                    yield path.stat(), path
