"""What a policy says of destinations, without a browser."""

from typing import Any

import pytest
from pydantic import ValidationError

from mcp_browser.browser.egress.policy import EgressPolicy
from mcp_browser.hosts import Origin
from mcp_browser.settings import EgressSettings


def policy_of(*, remote: bool = False, **settings: object) -> EgressPolicy:
    return EgressPolicy.of(EgressSettings.model_validate(settings), remote=remote)


def origin(place: str) -> Origin:
    """The origin of an address, or of a host over HTTP."""
    to = Origin.of(place if "://" in place else f"http://{place}/")
    assert to is not None
    return to


def why(url: str, *, remote: bool = False, **settings: object) -> str:
    """Why an address is refused before it is looked up, or nothing."""
    return str(policy_of(remote=remote, **settings).refusal(origin(url)) or "")


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.1", "127.0.0.1."),
        *("localhost", "LOCALHOST.", "a.localhost", "[::1]", "[::ffff:7f00:1]", "[0:0::1]"),
    ],
)
def test_loopback_is_blocked_in_every_notation(host: str) -> None:
    assert "blocked by --block-private" in why(f"http://{host}:8080/", block_private=True)
    assert why(f"http://{host}:8080/") == ""
    assert "--block-private" in why(f"https://{host}/", remote=True)
    assert why(f"http://{host}/", remote=True, block_private=False) == ""


def test_what_is_blocked_stays_so_although_it_is_allowed() -> None:
    lists: dict[str, Any] = {
        "allow_domains": "*.example.com, other.org:8443",
        "block_domains": "ads.example.com",
    }
    for allowed in ("https://www.example.com/", "https://example.com/", "wss://other.org:8443/"):
        assert why(allowed, **lists) == ""
    for other in ("https://example.com.evil.org/", "https://notexample.com/", "https://other.org/"):
        assert "--allow-domains" in why(other, **lists)
    blocked = why("https://ads.example.com/", **lists)
    assert blocked == "blocked by --block-domains: ads.example.com is on the list"


def test_an_exception_is_for_what_it_names() -> None:
    policy = policy_of(block_private=True, allow_private="127.0.0.1:8080, 10.0.0.0/24, *.corp")
    for place in ("127.0.0.1:8080", "localhost:8080", "10.0.0.9", "wiki.corp"):
        assert not policy.checks_addresses(origin(place))
        assert policy.refusal(origin(place)) is None
    for place in ("127.0.0.1:8081", "10.0.1.9"):
        assert policy.refusal(origin(place)) is not None
    assert policy.checks_addresses(origin("wiki.example"))


@pytest.mark.parametrize(
    "text", ["ftp://a.test", "a.test/path", "a b", "a.test:99999", "u@a.test", ":80", "["]
)
def test_what_is_no_pattern_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="hosts such as"):
        EgressSettings(block_domains=(text,))
