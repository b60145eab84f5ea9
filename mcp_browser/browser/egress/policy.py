"""Where a browser may connect to, and why not elsewhere."""

import asyncio
import base64
import functools
import ipaddress
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from mcp_browser.browser.concurrency import begin
from mcp_browser.dom.cdp import send
from mcp_browser.errors import BlockedUrl, BrowserUnavailable
from mcp_browser.hosts import HostPattern, IpAddress, Origin, address_in, addresses_written, kind_of
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.settings import EgressSettings

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

NAME = "mcp-browser-egress"  # The only host name that the browsers resolve: to the proxy's address
SHOWN = 5  # How many patterns of a list a message names
REMEMBERED = 200  # For how many hosts a session remembers why a connection failed
NAMED = 3  # How many blocked hosts a notice names
KEPT_SECONDS = 30.0  # How long this machine's own addresses are cached, seconds


@dataclass(eq=False)
class EgressRefusal(Exception):
    """Why the policy refuses a connection: the rule's flag, the destination, and sentences for the model."""

    rule: str
    destination: Origin
    why: str
    hint: str

    def __str__(self) -> str:
        return f"blocked by {self.rule}: {self.why}"

    def error(self, url: str) -> BlockedUrl:
        """The error for an address that was refused, or that led to the refused destination."""
        itself = Origin.of(url) == self.destination
        there = "is" if itself else f"leads to {self.destination.authority}, which is"
        return BlockedUrl(f"{cut_address(url)} {there} {self}.", hint=self.hint)


@dataclass(frozen=True, slots=True)
class EgressPolicy:
    """Where a browser may connect to: hosts in `allow`, or all if that is empty, except those in `block`."""

    allow: tuple[HostPattern, ...] = ()
    block: tuple[HostPattern, ...] = ()
    block_private: bool = False
    allow_private: tuple[HostPattern, ...] = ()

    @classmethod
    def of(cls, settings: EgressSettings, *, remote: bool) -> "EgressPolicy":
        """The policy of the settings; `remote`: for clients on other machines."""
        patterns = (settings.allow_domains, settings.block_domains, settings.allow_private)
        allow, block, private = (tuple(map(HostPattern.parse, texts)) for texts in patterns)
        blocks = settings.blocks_private(remote=remote)
        return cls(allow=allow, block=block, block_private=blocks, allow_private=private)

    def refusal(self, to: Origin) -> EgressRefusal | None:
        """Why a destination is refused, by what is known before its name is looked up."""
        written, host = addresses_written(to.host), to.authority
        if blocking := next((pattern for pattern in self.block if pattern.matches(to, written)), None):
            why = f"{host} is on the list" + (f" ({blocking.text})" if blocking.text != host else "")
            return EgressRefusal("--block-domains", to, why, "Go elsewhere.")
        if self.allow and not any(pattern.matches(to, written) for pattern in self.allow):
            named = ", ".join(pattern.text for pattern in self.allow[:SHOWN])
            allowed = f"Allowed: {named}{', …' if len(self.allow) > SHOWN else ''}."
            return EgressRefusal("--allow-domains", to, f"{host} is not on the list", allowed)
        if self.checks_addresses(to) and written and all(map(_kind, written)):
            kind = _kind(written[0])
            is_name = address_in(to.host) is None
            return self.private_refusal(to, f"{to.host} {'leads to' if is_name else 'is'} {kind}")
        return None

    def allowed(self, to: Origin, addresses: list[IpAddress]) -> list[IpAddress]:
        """The addresses of a destination, whose name is allowed, to connect to; raises EgressRefusal."""
        for address in addresses:
            if blocking := next((one for one in self.block if one.matches(to, (address,))), None):
                why = f"{to.authority} leads to an address on the list ({blocking.text})"
                raise EgressRefusal("--block-domains", to, why, "Go elsewhere.")
        if not self.checks_addresses(to):
            return addresses
        public = [address for address in addresses if not _kind(address)]
        if not public:
            # The message does not contain the addresses.
            raise self.private_refusal(to, f"{to.host} leads to {_kind(addresses[0])}")
        return public

    def checks_addresses(self, to: Origin) -> bool:
        """Whether the addresses of a destination have to be public."""
        written = addresses_written(to.host)
        return self.block_private and not any(one.matches(to, written) for one in self.allow_private)

    def private_refusal(self, to: Origin, why: str) -> EgressRefusal:
        """The refusal of a destination that is not on the public network."""
        host = f"[{to.host}]" if ":" in to.host else to.host
        return EgressRefusal(
            "--block-private", to, why, f"The setting --allow-private {host} lifts the rule for it."
        )

    def check_url(self, url: str) -> None:
        """Raise BlockedUrl, which names the rule, if an address is not allowed; `data:` and the like pass."""
        to = Origin.of(url)
        refusal = self.refusal(to) if to is not None else None
        if refusal is not None:
            raise refusal.error(url)


class ProxySession:
    """The access of one session, whose browser sends `user` and `password`, and what it was refused."""

    def __init__(self, policy: EgressPolicy, forget: Callable[[], object]) -> None:
        self.policy = policy
        self._forget = forget
        self.user = secrets.token_hex(8)
        self.password = secrets.token_urlsafe(24)
        # The value of `Proxy-Authorization` that identifies it.
        self.header = b"Basic " + base64.b64encode(f"{self.user}:{self.password}".encode())
        self.greeted = asyncio.Event()  # Set once its browser has logged in
        self._why: OrderedDict[Origin | None, tuple[float, EgressRefusal | str]] = OrderedDict()
        self._unreported: dict[str, EgressRefusal] = {}
        self.connections: WeakSet[asyncio.Task[None]] = WeakSet()  # Their tasks, cancelled at its end

    def failed(self, to: Origin, why: EgressRefusal | str) -> None:
        """Remember why a connection failed: a refusal, or the browser's code for it."""
        _, known = self._why.get(to, (0.0, None))
        is_new = not isinstance(known, EgressRefusal) and len(self._unreported) < REMEMBERED
        if isinstance(why, EgressRefusal) and is_new:
            self._unreported[to.authority] = why
        self._why[to] = (time.monotonic(), why)
        self._why.move_to_end(to)
        while len(self._why) > REMEMBERED:
            self._why.popitem(last=False)

    def why_failed(self, url: str, *, since: float) -> BlockedUrl | str | None:
        """Why an address, or one that it led to, failed after `since`: an error, or the browser's code."""
        at, why = self._why.get(Origin.of(url), (0.0, None))
        if why is None or at < since:
            later = ((at, why) for at, why in reversed(self._why.values()) if at >= since)
            why = next((why for _, why in later if isinstance(why, EgressRefusal)), None)
        if isinstance(why, EgressRefusal):
            self._unreported.pop(why.destination.authority, None)
            return why.error(url)
        return why

    def page_failed(self, url: str) -> None:
        """Report the refusal again, since it blocked a page and not a part of one."""
        _, why = self._why.get(Origin.of(url), (0.0, None))
        if isinstance(why, EgressRefusal):
            self._unreported = {why.destination.authority: why, **self._unreported}

    def notices(self) -> tuple[str, ...]:
        """A sentence about the hosts that were blocked since the last call."""
        refusals, self._unreported = [f"{one.why} ({one.rule})" for one in self._unreported.values()], {}
        if len(refusals) > NAMED:
            least = "at least " if len(refusals) == REMEMBERED else ""
            refusals[NAMED:] = [f"and {least}{len(refusals) - NAMED} more"]
        return (f"Blocked: {'; '.join(refusals)}.",) if refusals else ()

    def end(self) -> None:
        """Refuse all further requests, and close open connections."""
        self._forget()
        for task in self.connections:
            task.cancel()


def _kind(address: IpAddress) -> str:
    """Why an address is not public; empty if it is."""
    if (kind := kind_of(address)) or address not in _own_addresses(int(time.monotonic() / KEPT_SECONDS)):
        return kind
    return "an address of this machine"


@functools.lru_cache(maxsize=1)
def _own_addresses(_time: int) -> frozenset[IpAddress]:
    """The addresses of this machine, whose services may be private."""
    # Imported late: it is needed only if connections are restricted.
    import psutil  # noqa: PLC0415

    return frozenset(
        ipaddress.ip_address(address.address.partition("%")[0])
        for addresses in psutil.net_if_addrs().values()
        for address in addresses
        if address.family.name in ("AF_INET", "AF_INET6")
    )


LOGIN_SECONDS = 10.0


async def log_in(context: "BrowserContext", admitted: "ProxySession") -> None:
    """Log the context in to the proxy by an empty page, which stays open; raises BrowserUnavailable."""
    page = context.pages[0] if context.pages else await context.new_page()
    cdp = await context.new_cdp_session(page)
    credentials = {"response": "ProvideCredentials", "username": admitted.user, "password": admitted.password}

    def go_on(event: dict[str, Any]) -> None:
        begin(send(cdp, "Fetch.continueRequest", requestId=event["requestId"]))

    def answer(event: dict[str, Any]) -> None:
        given = {"requestId": event["requestId"], "authChallengeResponse": credentials}
        begin(send(cdp, "Fetch.continueWithAuth", **given))

    cdp.on("Fetch.requestPaused", go_on)
    cdp.on("Fetch.authRequired", answer)
    admitted.greeted.clear()
    try:
        async with asyncio.timeout(LOGIN_SECONDS):
            await send(cdp, "Fetch.enable", handleAuthRequests=True, patterns=[{"urlPattern": "*"}])
            # The answer is 204, so that the page stays as it is.
            await send(cdp, "Page.navigate", url=f"http://{NAME}/")
            await admitted.greeted.wait()
            await send(cdp, "Fetch.disable")
    except TimeoutError:
        raise BrowserUnavailable(
            "The browser does not use the server's proxy.", hint="mcp-browser doctor tells more."
        ) from None
    finally:
        begin(cdp.detach())
