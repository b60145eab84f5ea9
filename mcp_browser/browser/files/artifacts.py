"""Files that a session has made, with safe names: downloads, PDFs, pictures, page archives, recordings.

Each has an address, `browser://KEY/files/NUMBER/NAME`, by which the client that owns the session can read it
as long as the session keeps it. KEY belongs to the session and cannot be guessed.
"""

import asyncio
import contextlib
import mimetypes
import os
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

import anyio.to_thread

from mcp_browser.browser.process.profile import TemporaryFolder
from mcp_browser.dom.models import Frozen
from mcp_browser.errors import NotActionable, NotFound
from mcp_browser.privacy.hiding import hide
from mcp_browser.settings import FileSettings, Settings
from mcp_browser.text import clean_text, quoted

HIDDEN = "(a file of the server)"
LONGEST_NAME = 120
LONGEST_STEM = 200  # Bytes of a name before its suffix: file systems take 255 in all
LONGEST_SUFFIX = 20
OWNERS_FILE, OWNERS_FOLDER = 0o600, 0o700  # Only the server's user can read the files of sessions

_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\u202a-\u202e\u2066-\u2069\ud800-\udfff]+')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
_ENDINGS = (".tar.gz", ".spec.ts")  # Suffixes of two parts


def safe_name(name: str, *, suffix: str = "", default: str = "file") -> str:
    """A file name made of a suggested one.

    Separators and characters that a file system may refuse are removed. The name has at most `LONGEST_NAME`
    characters and ends with `suffix`; `default` replaces an empty one.
    """
    name = clean_text(_UNSAFE.sub("-", name)).strip(" .-")
    if suffix and name.lower().endswith(suffix.lower()):
        name = name[: -len(suffix)]
    name = (name or default) + suffix
    if _RESERVED.match(name):
        name = f"_{name}"
    ending = Path(name).suffix[:LONGEST_SUFFIX]
    stem = Path(name).stem[: LONGEST_NAME - len(ending)].encode()[:LONGEST_STEM].decode(errors="ignore")
    return stem.rstrip(" .") + ending


def make_folder(folder: Path) -> None:
    """Make a folder and missing parents, accessible by the user only; raises OSError."""
    for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        missing.mkdir(mode=OWNERS_FOLDER, exist_ok=True)


def take_free_path(folder: Path, name: str) -> Path:
    """Create an empty file in `folder`, which is made if missing; raises OSError.

    `name` is a safe one; if it is taken, a number is put before its suffix. Creating the file reserves the
    name, since another session may ask for it.
    """
    make_folder(folder)
    suffix = next((ending for ending in _ENDINGS if name.endswith(ending)), Path(name).suffix)
    stem = name.removesuffix(suffix)
    number = 1
    while True:
        path = folder / (name if number == 1 else f"{stem}-{number}{suffix}")
        try:
            path.touch(mode=OWNERS_FILE, exist_ok=False)
        except FileExistsError:
            number += 1
        else:
            return path


def size_text(size: int) -> str:
    """A size in bytes for people, such as `1.5 MB`."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"


def write_whole(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Replace a file atomically; a `durable` one is synced to disk. Raises OSError: the old file stays."""
    # A temporary file beside it: no reader sees half of it, or all of it with open permissions.
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(descriptor)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


class ServerPaths:
    """Hides the server's paths in texts for clients on other machines."""

    def __init__(self, settings: Settings) -> None:
        browser, files, agent = settings.browser, settings.files, settings.agent
        known = (
            *(Path(tempfile.gettempdir()), Path.home(), Path.cwd(), Path(sys.prefix), Path(sys.base_prefix)),
            *(files.output_dir, *files.upload_dirs, browser.profile, settings.sessions.profiles),
            *(browser.executable and browser.executable.parent, agent.tasks_dir, agent.secrets),
        )
        roots = {str(path.absolute()) for path in known if path is not None}
        # The longest first, since one may contain another; `/` alone is not hidden.
        names = [re.escape(root) for root in sorted(roots, key=len, reverse=True) if len(root) > 1]
        self._paths = re.compile(
            rf"(?<![\w.:/-])(?:{'|'.join(names)})(?:[/\\][^\s'\"`]*[^\s'\"`.,;:)])?(?![\w-])"
        )

    def hide(self, text: str, *, known: str) -> str:
        """The text without server paths, except those that the client itself gave in `known`."""
        return self._paths.sub(lambda found: found[0] if found[0] in known else HIDDEN, text)


class ClientDisk:
    """The files of one client: those of its open sessions, and those left by earlier ones."""

    def __init__(self, *, most: int, folder: Path | None, refuses: bool = True) -> None:
        """Limit the files to `most` bytes.

        `folder` is the client's own output folder, where files stay after a session. `refuses`: refuse a file
        if deleting others makes no room; otherwise sessions keep theirs.
        """
        self.sessions: list[Artifacts] = []  # The files of each open session
        self._most = most
        self._folder = folder
        self._refuses = refuses

    def make_room(self, size: int, session: "Artifacts", path: Path) -> None:
        """Delete files for one at `path`: those of ended sessions, then the session's own. Raises OSError."""
        left = list(self._left_over(besides=path))
        used = size + sum(one.size for one in self.sessions) + sum(found.st_size for found, _ in left)
        for found, leftover in sorted(left, key=lambda one: one[0].st_mtime):
            if used <= self._most:
                return
            leftover.unlink(missing_ok=True)
            used -= found.st_size
        while self._refuses and used > self._most:
            before = session.size
            if not session.drop_oldest(", to make room on the disk."):
                allowed = size_text(self._most)
                raise OSError(0, f"one client's files may take {allowed}; close a session to free its own")
            used -= before - session.size

    def _left_over(self, *, besides: Path) -> Iterator[tuple[os.stat_result, Path]]:
        if self._folder is None or not self._folder.is_dir():
            return
        for path in self._folder.rglob("*"):
            if path == besides or any(one.holds(path) for one in self.sessions):
                continue
            with contextlib.suppress(OSError):
                if path.is_file() and not path.is_symlink():
                    yield path.stat(), path


URI = re.compile(r"browser://(?P<key>[\w.-]+)/files/(?P<number>[0-9]{1,9})(?:/[^/?#]*)?")
"""The address of a file; its last part, the name, is for people."""

BYTES_A_MEGABYTE = 1_000_000
IN_CLEAR = "It may contain secrets in the clear; only the server's user can read it (mode 0600)."


class PendingArtifact(Frozen):
    """A file that is not complete yet; its name, address and path are reserved.

    `place` is its path or address for the client.
    """

    number: int
    uri: str
    name: str
    kind: str
    path: Path
    place: str


class Artifact(PendingArtifact):
    """A complete file of a session; `size` in bytes."""

    mime_type: str
    size: int


class Artifacts:
    """The files of one session, oldest first."""

    def __init__(  # noqa: PLR0913 - options, most by keyword
        self,
        settings: FileSettings,
        notice: Callable[[str], None],
        *,
        remote: bool = False,
        replica: str | None = None,
        output_dir: Path | None = None,
        disk: ClientDisk | None = None,
        hidden: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Make no folder yet; `notice` takes sentences about files that were removed.

        For `remote` clients files have addresses but no paths. Addresses begin with the name of the
        `replica`, so that a proxy can route them. `output_dir` is the client's own, instead of the settings';
        `disk` is what its sessions share. `hidden` values are removed from names.
        """
        self.key = (f"{replica}." if replica else "") + secrets.token_hex(8)
        self.remote = remote
        self._settings = settings
        self._output_dir = output_dir or settings.output_dir
        self._disk = disk
        self._hidden = hidden
        if disk is not None:
            disk.sessions.append(self)
        self._notice = notice
        self._temporary: TemporaryFolder | None = None
        self._next = 1
        self._kept: dict[int, Artifact] = {}
        self._pending: dict[int, PendingArtifact] = {}
        self._staged: dict[Path, int] = {}
        # Takes the address of a file added or removed
        self.on_change: Callable[[str], None] = lambda _uri: None

    @property
    def folder(self) -> Path:
        """The folder of the files: the output folder, or a temporary one that is deleted with the session."""
        return self._output_dir or self._temporary_folder

    @property
    def _temporary_folder(self) -> Path:
        if self._temporary is None:
            self._temporary = TemporaryFolder()
        return self._temporary.path

    @property
    def size(self) -> int:
        """The bytes of all files, including those given to pages."""
        return sum(artifact.size for artifact in self._kept.values()) + sum(self._staged.values())

    def holds(self, path: Path) -> bool:
        """Whether a path belongs to one of the files, complete or not."""
        return any(path == one.path for one in (*self._kept.values(), *self._pending.values()))

    def drop_oldest(self, why: str, *, delete: bool = True) -> bool:
        """Forget the oldest file, and delete it; False if there is none."""
        if not self._kept:
            return False
        oldest = self._kept.pop(next(iter(self._kept)))
        if delete:
            oldest.path.unlink(missing_ok=True)
            self._notice(f"{oldest.name} was removed{why}")
        self.on_change(oldest.uri)
        return True

    def files(self) -> list[Artifact]:
        """All files, oldest first."""
        return list(self._kept.values())

    def named(self, name: str) -> Artifact:
        """The file of an address or path, or the newest one of a name; raises NotFound."""
        if name.startswith("browser://"):
            return self.find(name)
        for artifact in reversed(self._kept.values()):
            if name in (artifact.name, artifact.place):
                return artifact
        there_are = ", ".join(quoted(artifact.name) for artifact in self._kept.values()) or "none"
        raise NotFound(f"The session has no file {name[:300]}.", hint=f"It has: {there_are[:1000]}.")

    def find(self, uri: str) -> Artifact:
        """The file of an address; raises NotFound, which says whether it is gone or incomplete."""
        match = URI.fullmatch(uri)
        number = int(match["number"]) if match is not None and match["key"] == self.key else 0
        if artifact := self._kept.get(number):
            return artifact
        if number in self._pending:
            raise NotFound(
                f"{self._pending[number].name} is not whole yet.", hint="Wait for it with wait_for_download."
            )
        if 0 < number < self._next:
            raise NotFound(f"The file at {uri[:300]} is not there any more.", hint=self._bounds())
        raise NotFound(f"There is no file at {uri[:300]}.")

    def reserve(
        self, name: str, *, kind: str = "file", suffix: str = "", default: str = "file"
    ) -> PendingArtifact:
        """Reserve a name, a number and a path for a file that is still to be written; raises OSError.

        The name is made safe, and numbered if it is taken; `default` replaces an empty one.
        """
        name = hide(name, self._hidden, mark="{}")
        path = take_free_path(self.folder, safe_name(name, suffix=suffix, default=default))
        number, self._next = self._next, self._next + 1
        uri = f"browser://{self.key}/files/{number}/{quote(path.name)}"
        place = uri if self.remote else str(path)
        pending = PendingArtifact(number=number, uri=uri, name=path.name, kind=kind, path=path, place=place)
        self._pending[number] = pending
        return pending

    def complete(self, pending: PendingArtifact, *, mime_type: str | None = None) -> Artifact:
        """Add a reserved file that is written now; its type is by default its name's. Raises OSError."""
        size = pending.path.stat().st_size
        pending.path.chmod(OWNERS_FILE)  # A copy may have the permissions of another file.
        if self._disk is not None:
            self._disk.make_room(size, self, pending.path)
        guessed = mime_type or mimetypes.guess_type(pending.name)[0] or "application/octet-stream"
        artifact = Artifact(**pending.model_dump(), mime_type=guessed, size=size)
        del self._pending[pending.number]
        self._kept[pending.number] = artifact
        self.on_change(artifact.uri)
        most = self._settings
        while len(self._kept) > 1 and (  # The newest one always stays.
            len(self._kept) > most.max_files
            or sum(one.size for one in self._kept.values()) > most.max_files_size * BYTES_A_MEGABYTE
        ):
            self.drop_oldest(f". {self._bounds()}", delete=self._output_dir is None)
        return artifact

    def abandon(self, pending: PendingArtifact) -> None:
        """Delete a reserved file that was not completed."""
        self._pending.pop(pending.number, None)
        pending.path.unlink(missing_ok=True)
        self.on_change(pending.uri)

    async def add(  # noqa: PLR0913 - options, all by keyword
        self,
        content: bytes | Path,
        name: str,
        *,
        mime_type: str | None = None,
        kind: str = "file",
        suffix: str = "",
        default: str = "file",
    ) -> Artifact:
        """Add bytes, or a file, which is moved; its type is by default that of its name. Raises OSError."""
        pending = self.reserve(name, kind=kind, suffix=suffix, default=default)
        try:
            if isinstance(content, bytes):
                # Private from its first byte, and not written on after a cancelled call has deleted it.
                await anyio.to_thread.run_sync(write_whole, pending.path, content)
            else:
                await asyncio.to_thread(shutil.move, content, pending.path)
            return self.complete(pending, mime_type=mime_type)
        except BaseException:
            self.abandon(pending)
            raise

    async def stage(self, content: bytes, name: str) -> Path:
        """Write a file for pages to take, until the session ends, by this name if it is safe; raises OSError.

        It is not one of `files`. The oldest such files are deleted if all exceed the size limit.
        """
        most = self._settings.max_files_size * BYTES_A_MEGABYTE
        while self._staged and sum(self._staged.values()) + len(content) > most:
            oldest = next(iter(self._staged))
            del self._staged[oldest]
            oldest.unlink(missing_ok=True)
        path = take_free_path(self._temporary_folder / secrets.token_hex(4), safe_name(name))
        await asyncio.to_thread(path.write_bytes, content)
        self._staged[path] = len(content)
        return path

    def why_not_written(self, error: OSError) -> str:
        """Why a file could not be written, with the folder unless the client is remote."""
        where = "" if self.remote else f" in {self._output_dir or tempfile.gettempdir()}"
        return f"could not be written{where} ({error.strerror or error})"

    def not_written(self, error: OSError) -> NotActionable:
        """The error for a file that could not be written."""
        hint = "" if self.remote else "Start the server with another folder: --output-dir FOLDER."
        return NotActionable(f"The file {self.why_not_written(error)}.", hint=hint)

    async def close(self) -> None:
        """Delete the files, except those in an output folder."""
        for pending in list(self._pending.values()):
            self.abandon(pending)
        while self.drop_oldest("", delete=False):
            pass
        self.on_change = lambda _uri: None
        if self._disk is not None:
            self._disk.sessions.remove(self)
            self._disk = None
        folder, self._temporary = self._temporary, None
        if folder is not None:
            await asyncio.to_thread(folder.remove)

    def _bounds(self) -> str:
        most = self._settings
        return f"A session keeps its newest {most.max_files} files, {most.max_files_size} MB in all."
