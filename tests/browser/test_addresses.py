"""Which addresses may be opened, and what a loosely written one means."""

import pytest

from mcp_browser.browser.addresses import MAX_URL, check_url, may_show
from mcp_browser.errors import BlockedUrl, NavigationError
from mcp_browser.settings import FileSettings, Settings

SETTINGS = Settings()
WITH_FILES = Settings(files=FileSettings(allow_file_urls=True))
COMPLETED = {
    "https://": [
        *("Example.com", "example.com/a?b=c#d", "www.example.co.uk:8443/x", "user@example.com/x"),
        "bücher.example",
    ],
    "http://": [
        *("localhost:3000/app", "localhost", "app.localhost:8080", "127.0.0.1:8000", "192.168.1.1/admin"),
        *("[::1]:8000/x", "intranet:8080/wiki"),
    ],
    "https:": ["//example.com/x"],
    "": [
        *("http://intranet/", "HTTPS://example.com", "https://example.com/with space", "about:blank"),
        *("data:text/html,<h1>Hi there</h1>", "data:,plain"),
    ],
}
"""Addresses as they are written, by what is put before them."""


@pytest.mark.parametrize("before", COMPLETED)
def test_an_address_is_completed_as_a_person_means_it(before: str) -> None:
    for written in COMPLETED[before]:
        assert check_url(written, SETTINGS) == before + written
        assert check_url(f"  {written}\n", SETTINGS) == before + written


@pytest.mark.parametrize(
    ("written", "meant"),
    [("/cart", "cart"), ("./item", "a/item"), ("../", ""), ("?page=2", "a/b?page=2"), ("#top", "a/b#top")],
)
def test_a_path_is_taken_from_the_current_page(written: str, meant: str) -> None:
    base = "https://shop.example/"
    assert check_url(written, SETTINGS, base=f"{base}a/b") == base + meant


REFUSED = {
    "--allow-file-urls": [
        *("file:///etc/passwd", "FILE:///etc/passwd", "fi\nle:///etc/passwd", "\x00file:///etc/passwd"),
    ],
    "run a script": ["javascript:alert(1)", "javascript:1", "JavaScript:alert(1)"],
    "own pages": ["chrome://settings", "chrome:version", "about:config"],
    "own tools": ["devtools://devtools/bundled/inspector.html", "view-source:file:///etc/passwd"],
    "get_html": ["view-source:https://example.com"],
    "page that made it": ["blob:https://example.com/1"],
    "mail program": ["mailto:a@example.com"],
    "text and pictures": ["data:application/x-msdownload,MZ"],
}


@pytest.mark.parametrize("reason", REFUSED)
def test_addresses_that_are_not_web_pages_are_refused_with_a_reason(reason: str) -> None:
    for address in REFUSED[reason]:
        with pytest.raises(BlockedUrl, match=reason):
            check_url(address, SETTINGS)


NO_ADDRESSES = {
    "search_web": ["not a url", "weather in Paris?", "what is 2+2"],
    r"https://notaurl\.com/.*search_web": ["notaurl", "[notaurl]:"],
    "only a path": ["/etc/passwd"],
    "too long": ["https://example.com/" + "x" * MAX_URL],
    "": [
        *("", "   ", "http://", "https://exa mple.test/", "http://host:0/", "http://[::1/", "a..b"),
        "foo://bar",
    ],
}
"""What is no address, by what is said of it."""


@pytest.mark.parametrize("told", NO_ADDRESSES)
def test_what_is_no_address_is_refused(told: str) -> None:
    for address in NO_ADDRESSES[told]:
        with pytest.raises(NavigationError, match=told):
            check_url(address, SETTINGS, base="about:blank")


def test_pages_may_be_shown_however_they_were_reached_but_not_from_the_machine() -> None:
    assert check_url("file:///tmp/a.html", WITH_FILES) == "file:///tmp/a.html"
    assert may_show("file:///tmp/a.html", WITH_FILES)
    for url in ("https://example.com", "about:blank", "data:,x", "blob:https://a/1", "chrome-error://x"):
        assert may_show(url, SETTINGS)
    for url in ("file:///etc/passwd", "FILE:///etc", "view-source:https://example.com"):
        assert not may_show(url, SETTINGS)
