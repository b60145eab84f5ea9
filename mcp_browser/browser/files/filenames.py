"""Files whose names come from the web: safe in every file system, never leading out; and written whole."""

import os
import re
import tempfile
from pathlib import Path

from mcp_browser.text import clean_text

LONGEST_NAME = 120
LONGEST_STEM = 200  # Bytes of a name before its suffix: file systems take 255 in all
LONGEST_SUFFIX = 20
OWNERS_FILE, OWNERS_FOLDER = 0o600, 0o700  # Only the server's user gets at the files of sessions

_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\u202a-\u202e\u2066-\u2069\ud800-\udfff]+')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


_ENDINGS = (".tar.gz", ".spec.ts")  # Suffixes of two parts, which programs go by


def safe_name(name: str, *, suffix: str = "", default: str = "file") -> str:
    """A file name made of what a page or a model suggests.

    Whatever could lead out of a folder or trouble a file system is left out. It is at most `LONGEST_NAME`
    characters long and ends with `suffix`; `default` stands for a name of which nothing is left.
    """
    # A folder in front is no part of the name, and a name such as `..` is none.
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
    """Make a folder, and those above it, where they are missing, for its user alone; raises OSError."""
    for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        missing.mkdir(mode=OWNERS_FOLDER, exist_ok=True)


def take_free_path(folder: Path, name: str) -> Path:
    """An empty new file right in `folder`, which is made where it is missing.

    `name` is a safe one; where there is such a file already, a number is put before its suffix. Making the
    file takes the name at once, for another session may ask for it.

    Raises:
        OSError: the folder cannot be written to.
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
    """A size in bytes as people read it."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"


def write_whole(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Write a file; a `durable` one is on the disk when this returns.

    Raises:
        OSError: it cannot be written; what was there stays.
    """
    # Beside it first, so that nobody ever meets half of it, or all of it under open permissions.
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
