"""Which files may be uploaded."""

from collections.abc import Iterable
from pathlib import Path

from mcp_browser.errors import InvalidArguments, NotFound


def allowed_files(paths: Iterable[str], folders: Iterable[Path]) -> list[Path]:
    """The files that paths name, with links followed, if all of them lie in the allowed folders.

    Raises:
        NotFound: there is no such file.
        InvalidArguments: a path leads out of the allowed folders, or to a folder.
    """
    allowed = [folder.expanduser().resolve() for folder in folders]
    files: list[Path] = []
    for path in paths:
        given = Path(path).expanduser()
        file = given.resolve()
        if not any(file.is_relative_to(folder) for folder in allowed):
            names = ", ".join(str(folder) for folder in allowed) or "none"
            raise InvalidArguments(
                f"{path} is not in a folder that files may be uploaded from.",
                hint=f"Allowed: {names}. More can be allowed with --upload-dirs when the server starts.",
            )
        if not file.exists():
            raise NotFound(f"There is no file {path}.")
        if not file.is_file():
            raise InvalidArguments(f"{path} is a folder, not a file.")
        files.append(file)
    return files
