"""What the tabs of one session share."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import anyio
from playwright.async_api import BrowserContext

from mcp_browser.browser.clipboard import Clipboard
from mcp_browser.browser.concurrency import FairSemaphore
from mcp_browser.browser.files.artifacts import Artifact, ClientDisk
from mcp_browser.browser.files.downloads import Downloads
from mcp_browser.dom.keys import KeyPlace
from mcp_browser.errors import ActionError
from mcp_browser.policy import Target
from mcp_browser.privacy.hiding import Hidden, SessionAddresses
from mcp_browser.privacy.redaction import Redactor
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from mcp_browser.browser.egress.proxy import ProxySession


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLimits:
    """What limits a session, and what it shares with others; by default it has the browser for itself.

    `lock` is held during a call, which also takes a turn of its `tenant` in `turns`. `why_no_tab` takes the
    number of tabs, and returns why there may not be another one. `find_file` finds the file of an address in
    any session of the same caller. `output_dir` is the caller's folder for files that stay, `disk` what all
    its sessions share. Sessions of different `tenant`s are in different browser processes. `clipboard` is the
    session's own, if sessions of other clients use the same process.
    """

    lock: anyio.Lock = field(default_factory=anyio.Lock)
    turns: FairSemaphore | None = None
    why_no_tab: Callable[[int], str] = lambda _tabs: ""
    find_file: Callable[[str], Artifact | None] = lambda _uri: None
    output_dir: Path | None = None
    tenant: str = ""
    disk: ClientDisk | None = None
    clipboard: Clipboard | None = None
    logins: "Logins | None" = None


class Logins(Protocol):
    """Named profiles of one caller: storage states as Playwright writes them."""

    def load(self, name: str) -> dict[str, Any]:
        """The state of a name. Raises InvalidArguments: it cannot be a name; NotFound: there is none."""
        ...

    async def save(self, name: str, state: dict[str, Any]) -> None:
        """Save a state under a name. Raises InvalidArguments; ProfileInUse: a session uses it; OSError."""


class Gate(Protocol):
    """Checks whether an action is allowed."""

    def check(self, targets: Sequence[Target]) -> None:
        """Raise an error if one of these may not be acted on."""

    def passed(self) -> None:
        """Input was sent: the action cannot be repeated from the start any more."""


class TypingRule(Protocol):
    """Where texts may be typed."""

    def check(self, place: KeyPlace | None, text: str) -> None:
        """Raise NotActionable if this text may not be typed there; None is an unknown place."""

    def is_confidential(self, text: str) -> bool:
        """Whether no other document may receive a key of it."""
        ...


class ServicePlugin(Protocol):
    """The part of a `SessionPlugin` that the services use."""

    def notices(self) -> Iterable[str]:
        """Sentences for the next result; each is returned once."""
        return ()

    def secrets(self) -> Iterable[str]:
        """Secrets that it has seen under their names, to be redacted everywhere."""
        return ()

    def holds_secret(self) -> None:
        """The session now holds another value that nothing may show."""


@dataclass(slots=True, eq=False, kw_only=True)
class SessionServices:
    """The parts of a session that its tabs use.

    `channel` names the event by which the page script and the hooks communicate. `hidden` are values that no
    result and no picture may show, by the names that replace them. `addresses` redacts those in results.
    `notice` takes sentences for the next result. `egress` knows why loads were refused. `openings` limits how
    many sessions and tabs are opened at a time. `why_ended` returns the error of an action whose browser has
    ended. `context` is Playwright's, None while the session is not open; `closed`: it has ended. `acted_at`
    is when the last action began that does more than read, seconds since 1970. `holds_requests`: requests
    are intercepted, so that their events come later. `learnt` is what the pages of each origin have learnt of
    waits that change nothing. `gate` and `typing_rule` belong to the current action: they check its input.
    """

    settings: Settings
    channel: str
    downloads: Downloads
    plugins: Iterable[ServicePlugin]
    hidden: Hidden
    addresses: SessionAddresses
    limits: SessionLimits
    notice: Callable[[str], None]
    openings: asyncio.Semaphore
    why_ended: Callable[[], ActionError]
    egress: "ProxySession | None" = None
    context: BrowserContext | None = None
    closed: bool = False
    acted_at: float = 0.0
    holds_requests: bool = False
    gate: Gate | None = None
    typing_rule: TypingRule | None = None
    learnt: dict[str, str] = field(default_factory=dict[str, str])

    def hide(self, values: Mapping[str, str]) -> None:
        """Hide these values, by their names, from now on; earlier values of a name stay hidden."""
        before = len(self.hidden)
        self.hidden.add(values)
        for plugin in self.plugins if len(self.hidden) > before else ():
            plugin.holds_secret()

    def redactor(self) -> Redactor:
        """A redactor for the network and the console, which knows the secrets that plugins have seen."""
        show = self.settings.observation.show_secrets
        known = () if show else {secret for plugin in self.plugins for secret in plugin.secrets()}
        return Redactor(show=show, known=frozenset(known), keep=self.addresses.keep)
