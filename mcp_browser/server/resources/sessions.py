"""The files of browser sessions as resources."""

from collections.abc import Callable

import mcp_types as types

from mcp_browser.browser.files.artifacts import URI, Artifact
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import NotFound
from mcp_browser.server.resources.catalog import Changed, Contents, ResourceCaller
from mcp_browser.server.resources.contents import LARGEST_PART, contents_of, resource_of
from mcp_browser.server.sessions.sessions import Sessions


class SessionFiles:
    """Lists and reads the files of the sessions that a caller may see."""

    templates = (
        types.ResourceTemplate(
            name="file",
            title="File of a browser session",
            uri_template="browser://{key}/files/{id}/{name}{?offset,length}",
            description=(
                "A download, PDF, picture or recording. With offset and length, in bytes, a part of it as a "
                f"blob; files over {LARGEST_PART:,} bytes are read in parts."
            ),
        ),
    )

    def __init__(self, manager: BrowserManager, sessions: Sessions) -> None:
        self._manager = manager
        self._sessions = sessions

    def listed(self, caller: ResourceCaller) -> list[types.Resource]:
        """The files of the caller's own sessions, oldest first in each."""
        return [
            resource_of(artifact)
            for session in self._manager.sessions
            if self._sessions.owns(caller.request, caller.principal, session)
            for artifact in session.artifacts.files()
        ]

    async def read(self, caller: ResourceCaller, uri: str) -> Contents | None:
        """A file, or the part of it that the address asks for.

        Raises:
            NotFound: the caller has no such file, or it is not whole yet.
            MCPError: the part is outside the file, or the file is to be read in parts.
        """
        address = uri.partition("?")[0]
        match = URI.fullmatch(address)
        if match is None:
            return None
        artifact = self.find(address, lambda session: self._may_read(caller, session))
        return await contents_of(artifact, uri)

    def find(self, address: str, may_read: Callable[[BrowserSession], bool]) -> Artifact:
        """The file at an address, in a session for which `may_read` is true.

        Raises:
            NotFound: there is none; for files of others the message is the same.
        """
        match = URI.fullmatch(address)
        for session in self._manager.sessions:
            if match is not None and session.artifacts.key == match["key"] and may_read(session):
                return session.artifacts.find(address)
        raise NotFound(f"There is no file at {address[:300]}.", hint="It ends with its browser session.")

    def listen(self, caller: ResourceCaller, changed: Changed) -> Callable[[], None]:
        """Tell when a file of the caller's sessions comes or goes."""

        def heard(session: BrowserSession, uri: str) -> None:
            if self._may_read(caller, session):
                changed(uri, self._sessions.owns(caller.request, caller.principal, session))

        return self._manager.listen_to_files(heard)

    def _may_read(self, caller: ResourceCaller, session: BrowserSession) -> bool:
        return self._sessions.may_read(caller.principal, session)
