"""Origins, patterns of hosts, and kinds of addresses."""

import pytest

from mcp_browser.hosts import HostPattern, Origin, address_in, is_on, kind_of, origin_of


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Shop.Example:443/a?b", "https://shop.example"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("https://shop.example.", "https://shop.example"),
        ("file:///etc/passwd", "file://"),
        ("about:blank", "null"),
        ("https://a:99999999/", "null"),
        ("", "null"),
    ],
)
def test_origins_of_addresses(url: str, origin: str) -> None:
    assert origin_of(url) == origin


KINDS = {
    "a loopback address": "127.0.0.1 127.8.9.1 ::1 ::ffff:127.0.0.1 64:ff9b::7f00:1 2002:7f00:1::"
    " 2001:0:4136:e378:8000:63bf:80ff:fffe",
    "an address of this machine": "0.0.0.0 ::",
    "a private address": "10.1.2.3 172.16.0.1 192.168.1.1 ::10.1.2.3 fd12::1 fec0::1",
    "a shared address": "100.64.0.1",
    "a link-local address": "169.254.1.1 fe80::1%eth0",
    "a cloud's metadata address": "169.254.169.254 ::ffff:169.254.169.254 168.63.129.16",
    "a multicast address": "224.0.0.1 ff02::1",
    "": "93.184.215.14 2606:2800:220:1::1 64:ff9b::5db8:d70e",
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_address_is_of_a_kind(kind: str) -> None:
    for host in KINDS[kind].split():
        address = address_in(host)
        assert address is not None
        assert kind_of(address) == kind, host


ADDRESS = "203.0.113.5"
NOTATIONS = ("[::ffff:cb00:7105]", "[64:ff9b::203.0.113.5]", "0xcb.0.0x7105", "203.0.113.5.")


@pytest.mark.parametrize(
    ("pattern", "url", "loosely", "strictly"),
    [
        ("a.org", "https://a.org/", True, True),
        ("a.org", "http://a.org:81/", True, False),
        ("A.org.", "wss://a.org", True, True),
        ("https://a.org/", "https://a.org:444/", True, False),
        ("https://*.a.org:*", "https://b.a.org:444/", True, True),
        ("*.a.org", "https://a.org/", True, True),
        ("*.a.org", "https://ba.org/", False, False),
        ("a?.org", "https://ab.org/", True, True),
        ("[ab].org", "https://b.org/", True, True),
        ("a.org:80*", "https://a.org:8080/", True, True),
        ("localhost", "http://localhost:81/", True, True),
        ("http://localhost", "http://localhost:81/", True, False),
        ("127.0.0.1", "http://localhost/", False, False),
        ("127.0.0.0/8", "https://127.1.1.1/", True, True),
        ("[::1]:81", "http://[::1]:81/", True, True),
        ("::1", "http://[::1]:81/", True, True),
        ("https://a.org", "http://a.org/", False, False),
        ("a.org:80", "http://a.org:81/", False, False),
        ("10.0.0.0/8", "https://10.2.3.4/", True, True),
        ("10.0.0.0/8", "https://11.2.3.4/", False, False),
        ("10.0.0.0/8", "https://[::ffff:10.2.3.4]/", True, True),
        ("[2001:4860::]/32", "https://[2001:4860::1]/", True, True),
        ("[fe80::]/10", "https://[fe80::1%25eth0]/", True, True),
        *((ADDRESS, f"https://{host}/", True, True) for host in NOTATIONS),
        ("münchen.test", "https://xn--mnchen-3ya.test/", True, True),
        ("straße.test", "https://xn--strae-oqa.test/", True, True),
        ("*.bücher.test", "https://a.xn--bcher-kva.test/", True, True),
        ("a。test", "https://a.test/", True, True),
        ("i❤.test", "https://xn--i-7iq.test/", True, True),
        ("a.org", "https://A.ORG./", True, True),
    ],
)
def test_what_a_pattern_leaves_out_is_any_or_what_browsers_take(
    pattern: str, url: str, loosely: bool, strictly: bool
) -> None:
    to = Origin.of(url)
    assert to is not None
    assert HostPattern.parse(pattern).matches(to) is loosely
    assert HostPattern.parse(pattern).matches(to, strict=True) is strictly


def test_a_page_is_on_a_host_by_its_name_only() -> None:
    assert is_on("https://www.shelf.example:8443/x", ["localhost", "*.shelf.example"])
    assert not is_on("http://localhost/", ["127.0.0.1", "not a host"])
    assert not is_on("about:blank", ["*.example"])
    assert is_on("about:blank", ["*"])
