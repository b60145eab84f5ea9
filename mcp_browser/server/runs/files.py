"""The files of tasks: their addresses, and those that their owner may read."""

import mimetypes
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from mcp_browser.server.resources import TaskFile

URI = re.compile(r"browser://tasks/(?P<task>[\w-]{8,64})/(?P<name>[\w%][\w.%-]*)")

PRIVATE = frozenset({"run.json", "state.json"})
"""The server's own files in a task's folder: its owner, and the conversation with the model."""


def uri_of(task: str, name: str) -> str:
    """The address of a file of a task."""
    return f"browser://tasks/{task}/{quote(name)}"


def is_picture(name: str) -> bool:
    """Whether a file is the picture of a step."""
    return name.startswith("step-")


def files_in(folder: Path) -> Iterator[TaskFile]:
    """The files of a task's folder that its owner may read, by name; the history and the report first."""
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    files = (file_in(folder, name) for name in sorted(names, key=is_picture))
    return filter(None, files)


def file_in(folder: Path, name: str) -> TaskFile | None:
    """A file of a task's folder by its name; None where its owner may not read it, or there is none."""
    path = folder / name
    try:
        if name in PRIVATE or name.startswith(".") or path.parent != folder or not path.is_file():
            return None
    except OSError:
        return None  # The name is too long for a file system.
    mime_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return TaskFile(name, uri_of(folder.name, name), mime_type, path.stat().st_size, path)
