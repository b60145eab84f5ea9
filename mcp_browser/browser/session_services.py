"""What the tabs of one session share."""

import asyncio
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast

import anyio
from playwright.async_api import BrowserContext

from mcp_browser.browser.concurrency import SessionLock
from mcp_browser.browser.files.artifacts import Artifact, ClientDisk
from mcp_browser.browser.files.downloads import Downloads
from mcp_browser.dom.keys import KeyPlace
from mcp_browser.dom.scripts import copying_script
from mcp_browser.dom.service import DomService
from mcp_browser.errors import ActionError, InvalidArguments
from mcp_browser.policy import Target
from mcp_browser.privacy.hiding import Hidden, SessionAddresses
from mcp_browser.privacy.redaction import Redactor
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from mcp_browser.browser.egress.proxy import ProxySession


LONGEST = 1_000_000  # How much is kept, characters
Command = Literal["copy", "cut", "paste"]

_FIELDS = {"ctrl": "Control", "shift": "Shift", "meta": "Meta"}
_KEY_CODES = {"insert": 45, "delete": 46}

_MODIFIERS = frozenset(("Control", "Shift", "Alt", "Meta"))

_KEYS: Mapping[Command, str] = {
    "copy": "Control+c Meta+c Control+insert",
    "cut": "Control+x Meta+x Shift+delete",
    "paste": "Control+v Control+Shift+v Meta+v Meta+Shift+v Shift+insert",
}
_COMMANDS: Mapping[frozenset[str], Command] = {
    frozenset(keys.split("+")): command for command, chords in _KEYS.items() for keys in chords.split()
}


class Chord(NamedTuple):
    """Keys of a clipboard command: a lower-case key, and the modifiers that are held."""

    command: Command
    held: frozenset[str]
    key: str


def chord_of(keys: str) -> Chord | None:
    """The clipboard command in these keys; None for none. Raises InvalidArguments: they do more than that."""
    held: set[str] = set()
    others = 0
    found: list[Chord] = []
    for name in re.findall(r"[^+]+|\+(?=\+|$)", keys):
        modifier = re.sub(r"(?:Left|Right|OrMeta)$", "", name)
        if modifier in _MODIFIERS:
            held.add(modifier)
            continue
        others += 1
        key = name.removeprefix("Key").lower()
        if command := _COMMANDS.get(frozenset((*held, key))):
            found.append(Chord(command, frozenset(held), key))
    if found and others > 1:
        raise InvalidArguments(
            f"{keys} does more than to {found[0].command}.", hint="Press one combination after the other."
        )
    return found[0] if found else None


class Clipboard:
    """What one session has copied, by MIME type."""

    def __init__(self) -> None:
        self._data: dict[str, str] = {}

    async def use(self, dom: DomService, chord: Chord) -> None:
        """Copy, cut or paste at the focus, as these keys do."""
        letter = len(chord.key) == 1
        copied = await dom.use_clipboard(
            chord.command,
            {
                "key": chord.key if letter else chord.key.capitalize(),
                "code": f"Key{chord.key.upper()}" if letter else chord.key.capitalize(),
                "keyCode": ord(chord.key.upper()) if letter else _KEY_CODES[chord.key],
                **{f"{name}Key": modifier in chord.held for name, modifier in _FIELDS.items()},
            },
            self._data if chord.command == "paste" else {},
        )
        if copied is not None:
            self._keep(None, copied)

    async def follow(self, context: BrowserContext) -> None:
        """Keep what the pages of a context put on the clipboard by themselves."""
        name = f"x{secrets.token_hex(12)}"
        await cast("Any", context).expose_binding(name, self._keep)
        await context.add_init_script(copying_script(name))

    def _keep(self, _source: object, data: object) -> None:
        # A page can call this with anything; it only changes its own session's clipboard.
        if isinstance(data, dict):
            pairs = cast("dict[object, object]", data).items()
            texts = {key: text for key, text in pairs if isinstance(key, str) and isinstance(text, str)}
            if sum(map(len, texts.values())) <= LONGEST:
                self._data = texts


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLimits:
    """What limits a session, and what it shares with others; by default it has the browser for itself.

    `lock` is held during a call. `why_no_tab` takes the number of tabs, and returns why there may not be
    another one. `find_file` finds the file of an address in any session of the same caller. `output_dir` is
    the caller's folder for files that stay, `disk` what all its sessions share. Sessions of different
    `tenant`s are in different browser processes. `clipboard` is the session's own, if sessions of other
    clients use the same process.
    """

    lock: anyio.Lock | SessionLock = field(default_factory=anyio.Lock)
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


class SessionPlugin(Protocol):
    """Follows a session through all its contexts and tabs.

    A subclass defines the methods that it needs. None is called twice for the same context or tab. A
    PlaywrightError or ActionError that it raises is reported with the next result, and the session continues.
    """

    def __init__(self, session: Any) -> None:
        """Belong to a `BrowserSession`, which may not be open yet."""

    async def opened(self, context: BrowserContext) -> None:
        """A context was opened, the first one or one after a crash; `tab_opened` of its tabs follows."""

    async def tab_opened(self, tab: Any) -> None:
        """A tab was opened; no action runs in it before this returns."""

    def tab_closed(self, tab: Any) -> None:
        """A tab is gone, for whatever reason."""

    def notices(self) -> Iterable[str]:
        """Sentences for the next result; each is returned once."""
        return ()

    def secrets(self) -> Iterable[str]:
        """Secrets that it has seen under their names, to be redacted everywhere."""
        return ()

    def holds_secret(self) -> None:
        """The session now holds another value that nothing may show."""

    async def leaving(self) -> None:
        """The context, still open, is about to be released; the session may get another one later."""

    async def closed(self) -> None:
        """The session ends; its context is still open if the browser runs."""


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
    hidden: Hidden
    addresses: SessionAddresses
    limits: SessionLimits
    notice: Callable[[str], None]
    openings: asyncio.Semaphore
    why_ended: Callable[[], ActionError]
    egress: "ProxySession | None" = None
    context: BrowserContext | None = None
    closed: bool = False
    plugins: list[SessionPlugin] = field(default_factory=list[SessionPlugin])
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
