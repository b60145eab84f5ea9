"""Where a connection may lead: patterns of hosts, ports and schemes, and the kinds of addresses."""

import fnmatch
import functools
import ipaddress
import re
import socket
from dataclasses import dataclass

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_SCHEMES = {"http": "http", "ws": "http", "https": "https", "wss": "https"}
"""What a scheme is on the wire: a WebSocket is opened over HTTP, or over TLS."""

_HOST_AND_PORT = re.compile(r"(\[[0-9a-fA-F:.]+\](?:/\d+)?|[^\s:@\[\]?#]+)(?::(\d{1,5}))?")
_MAX_PORT = 65_535
_LOOPBACK = (ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("::1"))
_METADATA = frozenset(
    map(ipaddress.ip_address, ("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "168.63.129.16"))
)
_TRANSLATED = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_SHARED = ipaddress.IPv4Network("100.64.0.0/10")


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a connection is to lead: `scheme` is http or https, `host` a name or an address."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port in (80, 443) else f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class DestinationPattern:
    """Hosts, as a setting names them: `[scheme://]host[:port]`.

    The host is a name, a glob (`*.example.com` takes example.com in), an address or a network. What is left
    out is any.
    """

    text: str
    scheme: str | None
    name: str | None
    network: IpNetwork | None
    port: int | None

    @classmethod
    def parse(cls, text: str) -> "DestinationPattern":
        """The pattern that a text stands for.

        Raises:
            ValueError: it is none; the message completes `must be …`.
        """
        scheme, separator, rest = text.rpartition("://")
        network, port = _network(rest), None
        name = None
        if network is None:
            found = _HOST_AND_PORT.fullmatch(rest)
            if found is None or not 0 < int(found[2] or 1) <= _MAX_PORT:
                raise _wrong()
            port = int(found[2]) if found[2] else None
            network = _network(found[1].replace("[", "").replace("]", ""))
            name = ascii_host(found[1]) if network is None else None
        if (separator and scheme.lower() not in _SCHEMES) or (name is not None and "/" in name):
            raise _wrong()
        return cls(text, _SCHEMES.get(scheme.lower()), name, network, port)

    def matches(self, destination: Destination) -> bool:
        """Whether it names this destination, by its host as it is written: no name is looked up."""
        if self.port not in (None, destination.port) or self.scheme not in (None, destination.scheme):
            return False
        if self.network is not None:
            return any(map(self.holds, addresses_written(destination.host)))
        host, name = normal_host(destination.host), self.name or ""
        return fnmatch.fnmatchcase(host, name) or (name.startswith("*.") and host == name[2:])

    def leads_to(self, destination: Destination, address: IpAddress) -> bool:
        """Whether it names the address that a destination's name leads to, at this port and scheme."""
        fits = self.port in (None, destination.port) and self.scheme in (None, destination.scheme)
        return fits and self.holds(address)

    def holds(self, address: IpAddress) -> bool:
        """Whether an address is, or carries, one in its network."""
        inner = _carried(address) if isinstance(address, ipaddress.IPv6Address) else None
        return self.network is not None and any(
            one.version == self.network.version and one in self.network for one in (address, inner) if one
        )


def normal_host(host: str) -> str:
    """A host in lower case, without the last dot and without brackets."""
    return host.strip("[]").rstrip(".").lower()


def ascii_host(host: str) -> str:
    """A name, or a glob of names, as browsers write it: in lower case, other letters by Punycode (UTS 46)."""
    host = host.rstrip(".").lower()
    if host.isascii():
        return host
    # Imported late: few names need it, and its tables are large.
    import idna  # noqa: PLC0415

    try:
        labels = idna.uts46_remap(host, std3_rules=False, transitional=False).rstrip(".").split(".")
    except idna.IDNAError:
        raise _wrong() from None
    return ".".join(
        label if label.isascii() else f"xn--{label.encode('punycode').decode()}" for label in labels
    )


def address_in(host: str) -> IpAddress | None:
    """The address that a host is, in any notation (`0x7f.1`, `[::1]`); None where it is a name."""
    text = normal_host(host)
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        pass
    try:
        # What the system takes for an address: octal, hexadecimal, fewer than four parts.
        return ipaddress.ip_address(socket.inet_aton(text)) if re.fullmatch(r"[0-9a-fx.]+", text) else None
    except (OSError, ValueError):
        return None


def addresses_written(host: str) -> tuple[IpAddress, ...]:
    """The addresses that a host stands for without being looked up: its own, or those of localhost."""
    text = normal_host(host)
    if text == "localhost" or text.endswith(".localhost"):
        return _LOOPBACK
    address = address_in(text)
    return (address,) if address is not None else ()


@functools.lru_cache(maxsize=1024)
def kind_of(address: IpAddress) -> str:
    """What makes an address one that the public network does not lead to, such as `a loopback address`.

    Empty where it is a public one. An IPv6 address that carries an IPv4 address is judged by that, too.
    """
    if address in _METADATA:
        return "a cloud's metadata address"
    inner = _carried(address) if isinstance(address, ipaddress.IPv6Address) else None
    if inner is not None and (kind := kind_of(inner)):
        return kind
    for is_so, kind in (
        (address.is_unspecified, "an address of this machine"),
        (address.is_loopback, "a loopback address"),
        (address.is_link_local, "a link-local address"),
        (address.is_multicast, "a multicast address"),
        (address in _SHARED if address.version == _SHARED.version else False, "a shared address"),
        (address.is_private or getattr(address, "is_site_local", False), "a private address"),
        (address.is_reserved and inner is None, "a reserved address"),
        (not address.is_global and inner is None, "not a public address"),
    ):
        if is_so:
            return kind
    return ""


def _carried(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address within an IPv6 one: mapped, compatible, translated, or at a tunnel's end."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if any(address in network for network in _TRANSLATED) or (
        address in _COMPATIBLE and int(address) > 1  # Not `::` and `::1`, which have kinds of their own
    ):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def _network(text: str) -> IpNetwork | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _wrong() -> ValueError:
    return ValueError(
        "hosts such as example.com, *.example.com, https://example.com:8443, 10.0.0.5 or 10.0.0.0/8"
    )
