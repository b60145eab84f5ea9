"""The files of tasks as resources: the history, the report, the picture of each step."""

import contextlib
import mimetypes
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import mcp_types as types

from mcp_browser.browser.concurrency import added
from mcp_browser.errors import NotFound
from mcp_browser.server.elicitation import Context
from mcp_browser.server.principals import ANONYMOUS, Principal, principal_of_request
from mcp_browser.server.resources import (
    Changed,
    Contents,
    ResourceProvider,
    TaskFile,
    contents_of,
    resource_of,
)
from mcp_browser.server.sessions.sessions import Sessions

if TYPE_CHECKING:
    from mcp_browser.server.runs.run import Run

URI = re.compile(r"browser://tasks/(?P<task>[\w-]{8,64})/(?P<name>[\w%][\w.%-]*)")

PRIVATE = frozenset({"run.json", "state.json"})
"""The server's own files in a task's folder: its owner, and the conversation with the model."""


class TaskFiles(ResourceProvider):
    """Lists and reads the files of tasks, each only for the client that has started it.

    Only tasks of this server are listed; the same client can read those of earlier servers by their address.
    """

    templates = (
        types.ResourceTemplate(
            name="task",
            title="File of a task",
            uri_template="browser://tasks/{id}/{name}{?offset,length}",
            description="What run_task has left: history.json, report.html, a picture of each step.",
        ),
    )

    def __init__(self, sessions: Sessions) -> None:
        """There are none before `follow` is called."""
        self._sessions = sessions
        self._followed: list[tuple[Callable[[], list[Run]], Callable[[str, Principal], Path]]] = []
        self._listeners: list[tuple[Context, Changed]] = []

    def follow(self, runs: Callable[[], "list[Run]"], folder_for: Callable[[str, Principal], Path]) -> None:
        """List the files of these runs; `folder_for` returns a caller's folder of a task (NotFound)."""
        self._followed.append((runs, folder_for))

    def listed(self, caller: Context) -> list[types.Resource]:
        """The files of the caller's tasks, oldest first."""
        return [
            resource_of(file)
            for runs, _ in self._followed
            for run in runs()
            if self._is_listed(caller, run)
            # Somebody may have deleted its folder.
            if (folder := self._folder_of(run.id, run.principal)) is not None
            for file in files_in(folder)
        ]

    async def read(self, caller: Context, uri: str) -> Contents | None:
        """A file, or the part of it that the address asks for; raises NotFound, MCPError."""
        if (match := URI.fullmatch(uri.partition("?")[0])) is None:
            return None
        folder = self._folder_of(match["task"], principal_of_request(caller))
        file = _file(folder, unquote(match["name"])) if folder is not None else None
        if file is None:
            raise NotFound(f"There is no file at {uri[:300]}.")
        return await contents_of(file, uri)

    def _folder_of(self, task: str, principal: Principal) -> Path | None:
        for _, folder_for in self._followed:
            with contextlib.suppress(NotFound):
                return folder_for(task, principal)
        return None

    def listen(self, caller: Context, changed: Changed) -> Callable[[], None]:
        """Report when a file of the caller's tasks is added or changed."""
        return added(self._listeners, (caller, changed))

    def written(self, run: "Run", name: str) -> None:
        """Notify the owner of a run that a file of it was written."""
        if name in PRIVATE:
            return
        is_new = name not in run.files
        run.files.add(name)
        for caller, changed in list(self._listeners):
            if principal_of_request(caller) == run.principal:
                changed(uri_of(run.id, name), is_new and self._is_listed(caller, run))

    def _is_listed(self, caller: Context, run: "Run") -> bool:
        if principal_of_request(caller) != run.principal:
            return False
        # Anonymous callers cannot be distinguished: each sees what its connection has done.
        return run.principal != ANONYMOUS or self._sessions.owns(caller, run.agent.session)


def uri_of(task: str, name: str) -> str:
    """The address of a file of a task."""
    return f"browser://tasks/{task}/{quote(name)}"


def is_picture(name: str) -> bool:
    """Whether a file is the picture of a step."""
    return name.startswith("step-")


def files_in(folder: Path) -> Iterator[TaskFile]:
    """The files of a task's folder that its owner may read, by name; the history and the report first."""
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    files = (_file(folder, name) for name in sorted(names, key=is_picture))
    return filter(None, files)


def _file(folder: Path, name: str) -> TaskFile | None:
    path = folder / name
    try:
        if name in PRIVATE or name.startswith(".") or path.parent != folder or not path.is_file():
            return None
    except OSError:
        return None  # The name is too long for a file system.
    mime_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return TaskFile(name, uri_of(folder.name, name), mime_type, path.stat().st_size, path)
