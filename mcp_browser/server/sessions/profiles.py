"""Named profiles: logins that outlive sessions, kept as Playwright's storage state.

A state is cookies, localStorage and IndexedDB of every site. It is a small file that any session can start
from, in a browser that it shares with others; a persistent context would need a browser process for itself.
"""

import asyncio
import hashlib
import json
import logging
import re
from pathlib import Path
from typing import Any, cast

from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.files.artifacts import write_whole
from mcp_browser.browser.process.profile import ProfileLock
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import InvalidArguments, NotFound, ProfileInUse
from mcp_browser.server.principals import Principal

logger = logging.getLogger(__name__)

KEEPING_SECONDS = 3.0  # How long the pages may take to report what their sites have stored, seconds
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FILE = "state.json"

StorageState = dict[str, Any]


class Profiles:
    """The profiles of one caller: in its part of `folder` there is a folder for each."""

    def __init__(self, folder: Path, principal: Principal) -> None:
        # Names of callers may hold anything, and ids may be long.
        self._folder = folder / hashlib.sha256(principal.id.encode()).hexdigest()[:32]

    def names(self) -> list[str]:
        """The profiles in which something was kept."""
        return sorted(path.parent.name for path in self._folder.glob(f"*/{_FILE}"))

    async def acquire(self, name: str) -> "NamedProfile":
        """Take a profile, perhaps a new one, for one session; raises InvalidArguments, ProfileInUse."""
        folder = self._folder / _checked(name)
        lock = ProfileLock(folder)
        try:
            await lock.acquire()
        except ProfileInUse as error:
            raise ProfileInUse(
                f"Another session has the profile {name!r}.",
                hint="list_sessions may show it: go on in that one, or close it. Or start from a copy of the "
                "profile's logins with `logins_of`.",
            ) from error
        return NamedProfile(name, folder / _FILE, lock)

    def load(self, name: str) -> StorageState:
        """A copy of a profile's state; raises InvalidArguments for a name, NotFound."""
        if (state := _read(self._folder / _checked(name) / _FILE)) is None:
            names = self.names()
            raise NotFound(
                f"Nothing is kept in a profile {name!r}.",
                hint=f"Profiles: {', '.join(names)}." if names else "There are no profiles yet.",
            )
        return state

    async def save(self, name: str, state: StorageState) -> None:
        """Keep a state in a profile that no session holds. Raises as `acquire` does, and OSError."""
        profile = await self.acquire(name)
        try:
            await profile.write(state)
        finally:
            profile.release()


class NamedProfile:
    """A profile that one session holds."""

    def __init__(self, name: str, file: Path, lock: ProfileLock) -> None:
        self.name = name
        self.state = _read(file)
        self._file = file
        self._lock = lock
        self._keeping = asyncio.Lock()

    async def keep(self, session: BrowserSession) -> None:
        """Save what the sites have stored."""
        async with self._keeping:
            if (context := session.open_context) is None:
                return
            try:
                async with asyncio.timeout(KEEPING_SECONDS):
                    state = cast("StorageState", await context.storage_state(indexed_db=True))
            except (TimeoutError, PlaywrightError):
                # A page that does not answer keeps its storage to itself; the cookies are the browser's.
                try:
                    async with asyncio.timeout(KEEPING_SECONDS):
                        cookies: Any = await context.cookies()
                except (TimeoutError, PlaywrightError):
                    logger.warning("The logins of the profile %s could not be kept just now", self.name)
                    return
                state = {**(self.state or {"origins": []}), "cookies": cookies}
            self.state = state
            # After a crash of the browser, the next context starts from this state.
            session.context_options["storage_state"] = state
            try:
                await self.write(state)
            except OSError as error:
                logger.error("The profile %s cannot be written: %s", self.name, error)

    async def write(self, state: StorageState) -> None:
        """Replace the file atomically. Raises OSError: it cannot be written."""
        await asyncio.to_thread(write_whole, self._file, json.dumps(state).encode(), durable=True)

    def release(self) -> None:
        """Let other sessions have it."""
        self._lock.release()


def _checked(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise InvalidArguments(
            f"{name[:80]!r} cannot be the name of a profile.",
            hint="Use up to 64 letters, digits, dots, hyphens and underscores, a letter or digit first.",
        )
    return name


def _read(file: Path) -> StorageState | None:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        logger.error("The profile at %s cannot be read: %s", file, error)
        return None
