"""What the tabs of one session have in common."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from playwright.async_api import BrowserContext

from mcp_browser.browser.clipboard import Clipboard
from mcp_browser.browser.concurrency import SessionLock
from mcp_browser.browser.files.artifacts import Artifact, ClientDisk
from mcp_browser.browser.files.downloads import Downloads
from mcp_browser.dom.keys import KeyPlace
from mcp_browser.policy import Target
from mcp_browser.privacy.addresses import SessionAddresses
from mcp_browser.privacy.hiding import Hidden
from mcp_browser.privacy.redaction import Redactor
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from mcp_browser.browser.egress.proxy import ProxySession


def _no_file(_uri: str) -> Artifact | None:
    return None


def _no_limit(_tabs: int) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLimits:
    """On what terms a session works; by default it has the browser for itself.

    `lock` is held while a call works. `why_no_tab` takes how many tabs there are, and says why there may
    not be another one. `find_file` finds the file at an address in any session of the same caller.
    `output_dir` is the caller's own folder for files that stay, `disk` what all its sessions share.
    `tenant` is whose it is: sessions of different ones are in different browser processes.
    `clipboard` is the session's own, where others than its client's sessions work in the same process.
    """

    lock: SessionLock = field(default_factory=SessionLock)
    why_no_tab: Callable[[int], str] = _no_limit
    find_file: Callable[[str], Artifact | None] = _no_file
    output_dir: Path | None = None
    tenant: str = ""
    disk: ClientDisk | None = None
    clipboard: Clipboard | None = None
    logins: "Logins | None" = None


class Logins(Protocol):
    """Named profiles of one caller: storage states as Playwright writes them."""

    def load(self, name: str) -> dict[str, Any]:
        """What is kept under a name.

        Raises:
            InvalidArguments: this cannot be a name.
            NotFound: nothing is.
        """
        ...

    async def save(self, name: str, state: dict[str, Any]) -> None:
        """Keep a state under a name, instead of what was kept there.

        Raises:
            InvalidArguments: this cannot be a name.
            ProfileInUse: a session keeps its logins there.
            OSError: it cannot be written.
        """


class Gate(Protocol):
    """Lets an action pass that is allowed, and no other."""

    def check(self, targets: Sequence[Target]) -> None:
        """Return if all of these may be acted on; else raise what says why not."""

    def passed(self) -> None:
        """Input has gone through: the action cannot begin anew as if nothing had happened."""


class TypingRule(Protocol):
    """Where a text may go that the caller has checked."""

    def check(self, place: KeyPlace | None, text: str) -> None:
        """Return if this text may be typed there (None: nobody knows where); else raise NotActionable."""

    def is_confidential(self, text: str) -> bool:
        """Whether no other document may hear a single key of it."""
        ...


class SecretKeeper(Protocol):
    """A plugin of the session, as far as secrets go."""

    def secrets(self) -> Iterable[str]:
        """Secrets that it has seen under their names."""
        ...

    def holds_secret(self) -> None:
        """The session holds another value from now on that nothing may show."""
        ...


@dataclass(slots=True, eq=False, kw_only=True)
class SessionServices:
    """The parts of a session that its tabs work with.

    `channel` names the event by which the page script and the hooks find each other. `hidden` are values that
    no result and no picture may show, by the names that stand for them. `addresses` redacts those in results.
    `notice` takes sentences for the next result. `egress` knows why what could not be loaded could not.
    `openings` are turns at opening a session or a tab, among all sessions. `context` is Playwright's, None
    while the session is not open; `closed` says that it has ended for good.
    `learnt` is what the pages of each origin have learnt of waits that change nothing.
    `gate` and `typing_rule` belong to the action under way: what its input has to pass, where it may type.
    """

    settings: Settings
    channel: str
    downloads: Downloads
    plugins: Iterable[SecretKeeper]
    hidden: Hidden
    addresses: SessionAddresses
    limits: SessionLimits
    notice: Callable[[str], None]
    openings: asyncio.Semaphore
    egress: "ProxySession | None" = None
    context: BrowserContext | None = None
    closed: bool = False
    gate: Gate | None = None
    typing_rule: TypingRule | None = None
    learnt: dict[str, str] = field(default_factory=dict[str, str])

    def hide(self, values: Mapping[str, str]) -> None:
        """Hide these values from now on, by their names; an earlier one of a name stays hidden, too."""
        before = len(self.hidden)
        self.hidden.add(values)
        for plugin in self.plugins if len(self.hidden) > before else ():
            plugin.holds_secret()

    def redactor(self) -> Redactor:
        """Return what takes secrets out of reports of the network and the console, as the settings want it.

        What one request has sent under its name is taken out wherever it stands.
        """
        show = self.settings.observation.show_secrets
        known = () if show else {secret for plugin in self.plugins for secret in plugin.secrets()}
        return Redactor(show=show, known=frozenset(known), keep=self.addresses.keep)
