"""Safe file names from names of pages and models, atomic writing, and texts without the server's paths."""

import os
import re
import sys
import tempfile
from pathlib import Path

from mcp_browser.settings import Settings
from mcp_browser.text import clean_text

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
