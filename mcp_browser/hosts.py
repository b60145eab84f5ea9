"""Hosts, origins, patterns of them, and kinds of addresses.

A pattern is `[scheme://]host[:port]`. The host is a name, a glob (`*.example.com` includes example.com), an
address or a network; the port may be `*`. A missing part means any, for hosts to connect to and pages to stay
on (`matches`), or the browser's default, for the origins of secrets and policy rules (`matches`, `strict`).
"""

import fnmatch
import functools
import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

PORTS = {"http": 80, "https": 443}
THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})

_SCHEMES = {"http": "http", "ws": "http", "https": "https", "wss": "https"}
"""The HTTP scheme of each scheme: web sockets are opened over HTTP or HTTPS."""

_SCHEME = re.compile(r"\*|[a-z][a-z0-9+.-]*")
_HOST_AND_PORT = re.compile(
    r"(\[[0-9a-f:.]+\](?:/\d+)?|(?:[^\s:@\[\]#=&]|\[[^\s:@\[\]/]+\])+)(?::([\d*?]{1,5}))?/?"
)
_MAX_PORT = 65_535
_LOOPBACK = (ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("::1"))
_METADATA = frozenset(
    map(ipaddress.ip_address, ("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "168.63.129.16"))
)
_TRANSLATED = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_SHARED = ipaddress.IPv4Network("100.64.0.0/10")


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a page or a connection: `scheme` is http or https, `host` a name or an address."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> "Origin | None":
        """The origin of an address; None if it is not on the network, or not an address."""
        try:
            parts = urlsplit(url)
            port, host = parts.port, ascii_host(parts.hostname or "")
        except ValueError:
            return None
        scheme = _SCHEMES.get(parts.scheme)
        return cls(scheme, host, port or PORTS[scheme]) if scheme and host else None

    def __str__(self) -> str:
        """The origin in a browser's form: `https://example.com:8443`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}{'' if self.port == PORTS[self.scheme] else f':{self.port}'}"

    @property
    def authority(self) -> str:
        """The host, with the port unless it is 80 or 443."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port in PORTS.values() else f"{host}:{self.port}"


def origin_of(url: str) -> str:
    """The origin of an address as text; `file://` for a file, `null` if it has none."""
    return "file://" if url.lower().startswith("file:") else str(Origin.of(url) or "null")


@dataclass(frozen=True, slots=True)
class HostPattern:
    """A pattern of hosts; the module's docstring has the grammar."""

    text: str
    scheme: str | None
    name: str | None
    network: IpNetwork | None
    port: str | None

    @classmethod
    @functools.lru_cache(maxsize=1024)
    def parse(cls, text: str, *, any_scheme: bool = False) -> "HostPattern":
        """Parse a pattern; `any_scheme` also allows `*`, and schemes without hosts, which match nothing.

        Raises ValueError: it is not a pattern; the message completes `must be …`.
        """
        scheme, separator, rest = text.strip().lower().rpartition("://")
        network, port, name = _network(rest), None, None
        if network is None:
            found = _HOST_AND_PORT.fullmatch(rest)
            if found is None or ((found[2] or "1").isdigit() and not 0 < int(found[2] or 1) <= _MAX_PORT):
                raise _wrong()
            port = found[2]
            network = _network(found[1].replace("[", "").replace("]", ""))
            name = ascii_host(found[1].removesuffix("/")) if network is None else None
        known = bool(_SCHEME.fullmatch(scheme)) if any_scheme else scheme in _SCHEMES
        if (separator and not known) or (name is not None and (not name or "/" in name)):
            raise _wrong()
        return cls(text, _SCHEMES.get(scheme, scheme or None), name, network, port)

    def matches(self, to: Origin, addresses: Iterable[IpAddress] = (), *, strict: bool = False) -> bool:
        """Whether it matches this origin, whose host has these known `addresses`, and is not looked up.

        `strict`: a missing scheme is https, a missing port the scheme's default. Without a scheme, any page
        of this machine matches.
        """
        loose = not strict or (self.scheme is None and to.host in THIS_MACHINE)
        scheme = self.scheme or ("*" if loose else "https")
        port = self.port or ("*" if loose else str(PORTS[to.scheme]))
        if scheme not in ("*", to.scheme) or not fnmatch.fnmatchcase(str(to.port), port):
            return False
        if self.network is None:
            name = self.name or ""
            return fnmatch.fnmatchcase(to.host, name) or name == f"*.{to.host}"
        for address in (*addresses, address_in(to.host)):
            # An IPv6 address may carry one of IPv4.
            inner = _carried(address) if isinstance(address, ipaddress.IPv6Address) else None
            if any(
                one.version == self.network.version and one in self.network for one in (address, inner) if one
            ):
                return True
        return False


def is_on(url: str, patterns: Iterable[str]) -> bool:
    """Whether a page is on one of these hosts; invalid patterns match nothing."""
    patterns, to = tuple(patterns), Origin.of(url)
    return "*" in patterns or (to is not None and any(_names(text, to) for text in patterns))


def _names(text: str, to: Origin) -> bool:
    try:
        return HostPattern.parse(text).matches(to)
    except ValueError:
        return False


def ascii_host(host: str) -> str:
    """A name or glob in a browser's form: lower case, Punycode (UTS 46). Raises ValueError."""
    host = host.rstrip(".").lower()
    if host.isascii():
        return host
    # Imported late: few names need its large tables.
    import idna  # noqa: PLC0415

    try:
        labels = idna.uts46_remap(host, std3_rules=False, transitional=False).rstrip(".").split(".")
    except idna.IDNAError:
        raise _wrong() from None
    return ".".join(
        label if label.isascii() else f"xn--{label.encode('punycode').decode()}" for label in labels
    )


def address_in(host: str) -> IpAddress | None:
    """The address in a host, in any notation (`0x7f.1`, `[::1]`); None if it is a name."""
    text = host.strip("[]").rstrip(".").lower()
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        pass
    try:
        # Other notations that the system accepts: octal, hexadecimal, fewer than four parts.
        return ipaddress.ip_address(socket.inet_aton(text)) if re.fullmatch(r"[0-9a-fx.]+", text) else None
    except (OSError, ValueError):
        return None


def addresses_written(host: str) -> tuple[IpAddress, ...]:
    """The addresses of a host that are known without a lookup: its own, or those of localhost."""
    if host == "localhost" or host.endswith(".localhost"):
        return _LOOPBACK
    address = address_in(host)
    return (address,) if address is not None else ()


@functools.lru_cache(maxsize=1024)
def kind_of(address: IpAddress) -> str:
    """Why an address, or the IPv4 address in it, is not public: `a loopback address`; empty if it is."""
    if address in _METADATA:
        return "a cloud's metadata address"
    inner = _carried(address) if isinstance(address, ipaddress.IPv6Address) else None
    if inner is not None and (kind := kind_of(inner)):
        return kind
    kinds = (
        (address.is_unspecified, "an address of this machine"),
        (address.is_loopback, "a loopback address"),
        (address.is_link_local, "a link-local address"),
        (address.is_multicast, "a multicast address"),
        (address in _SHARED if address.version == _SHARED.version else False, "a shared address"),
        (address.is_private or getattr(address, "is_site_local", False), "a private address"),
        (address.is_reserved and inner is None, "a reserved address"),
        (not address.is_global and inner is None, "not a public address"),
    )
    return next((kind for is_so, kind in kinds if is_so), "")


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
