"""Where a browser may connect to, and why not elsewhere."""

import functools
import ipaddress
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from mcp_browser.errors import BlockedUrl
from mcp_browser.hosts import HostPattern, IpAddress, Origin, address_in, addresses_written, kind_of
from mcp_browser.settings import EgressSettings
from mcp_browser.text import cut_address

SHOWN = 5  # How many patterns of a list a message names
KEPT_SECONDS = 30.0  # How long this machine's own addresses are taken for what they were


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a destination is not connected to: the flag of the rule, and a sentence that names it."""

    rule: str
    destination: Origin
    why: str
    hint: str

    def __str__(self) -> str:
        return f"blocked by {self.rule}: {self.why}"

    def error(self, url: str) -> BlockedUrl:
        """The error for an address that could not be opened for this reason."""
        itself = Origin.of(url) == self.destination
        there = "is" if itself else f"leads to {self.destination.authority}, which is"
        return BlockedUrl(f"{cut_address(url)} {there} {self}.", hint=self.hint)


class Refused(Exception):
    """A destination is not connected to."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class EgressPolicy:
    """Which destinations a session's browser may connect to.

    What is blocked stays so although it is allowed, too. Without `allow` everything is that is not blocked.
    """

    allow: tuple[HostPattern, ...] = ()
    block: tuple[HostPattern, ...] = ()
    block_private: bool = False
    allow_private: tuple[HostPattern, ...] = field(default=())

    @classmethod
    def of(cls, settings: EgressSettings, *, remote: bool) -> "EgressPolicy":
        """What settings say; `remote`: for clients on other machines, whom this network is closed to."""
        patterns = (settings.allow_domains, settings.block_domains, settings.allow_private)
        allow, block, private = (tuple(map(HostPattern.parse, texts)) for texts in patterns)
        blocks = settings.blocks_private(remote=remote)
        return cls(allow=allow, block=block, block_private=blocks, allow_private=private)

    def refusal(self, to: Origin) -> Refusal | None:
        """Why a destination is not connected to, as far as it shows before its name is looked up."""
        written, host = addresses_written(to.host), to.authority
        if blocking := next((pattern for pattern in self.block if pattern.matches(to, written)), None):
            why = f"{host} is on the list" + (f" ({blocking.text})" if blocking.text != host else "")
            return Refusal("--block-domains", to, why, "Go elsewhere.")
        if self.allow and not any(pattern.matches(to, written) for pattern in self.allow):
            named = ", ".join(pattern.text for pattern in self.allow[:SHOWN])
            more = ", …" if len(self.allow) > SHOWN else ""
            return Refusal("--allow-domains", to, f"{host} is not on the list", f"Allowed: {named}{more}.")
        if self.checks_addresses(to) and written and not self.public(written):
            kind = _kind(written[0])
            is_name = address_in(to.host) is None
            return self.private_refusal(to, f"{to.host} {'leads to' if is_name else 'is'} {kind}")
        return None

    def refusal_of(self, to: Origin, addresses: Iterable[IpAddress]) -> Refusal | None:
        """Why a destination is not connected to although its name passed: where the name leads."""
        for address in addresses:
            if blocking := next((one for one in self.block if one.matches(to, (address,))), None):
                why = f"{to.authority} leads to an address on the list ({blocking.text})"
                return Refusal("--block-domains", to, why, "Go elsewhere.")
        return None

    def checks_addresses(self, to: Origin) -> bool:
        """Whether the addresses behind a destination have to be public."""
        written = addresses_written(to.host)
        return self.block_private and not any(one.matches(to, written) for one in self.allow_private)

    def public(self, addresses: Iterable[IpAddress]) -> list[IpAddress]:
        """Those of the addresses that are public."""
        return [address for address in addresses if not _kind(address)]

    def private_refusal(self, to: Origin, why: str) -> Refusal:
        """The refusal of a destination that the public network does not lead to."""
        host = f"[{to.host}]" if ":" in to.host else to.host
        return Refusal(
            "--block-private", to, why, f"The setting --allow-private {host} lifts the rule for it."
        )

    def leads_to(self, to: Origin, addresses: Iterable[IpAddress]) -> Refusal:
        """The refusal of a name none of whose addresses is public. Which they are is not told."""
        kind = _kind(next(iter(addresses))) or "no public address"
        return self.private_refusal(to, f"{to.host} leads to {kind}")

    def check_url(self, url: str) -> None:
        """Refuse an address before it is opened; those that are not on the network pass.

        Raises:
            BlockedUrl: it is not allowed; the message names the rule.
        """
        to = Origin.of(url)
        refusal = self.refusal(to) if to is not None else None
        if refusal is not None:
            raise refusal.error(url)


def _kind(address: IpAddress) -> str:
    own = "an address of this machine"
    return kind_of(address) or (
        own if address in _own_addresses(int(time.monotonic() / KEPT_SECONDS)) else ""
    )


@functools.lru_cache(maxsize=1)
def _own_addresses(_time: int) -> frozenset[IpAddress]:
    """The addresses of this machine: what it serves there may be meant for itself only."""
    # Imported late: only those who restrict something need it.
    import psutil  # noqa: PLC0415

    return frozenset(
        ipaddress.ip_address(address.address.partition("%")[0])
        for addresses in psutil.net_if_addrs().values()
        for address in addresses
        if address.family.name in ("AF_INET", "AF_INET6")
    )
