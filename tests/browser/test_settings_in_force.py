"""What the settings say about the browser, as a page sees it."""

from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler

import pytest

from tests.browser.conftest import answering, browsing, shown
from tests.support.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

WHAT_A_PAGE_SEES = """() => ({
    size: `${innerWidth}x${innerHeight}`,
    scale: devicePixelRatio,
    language: navigator.language,
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    agent: navigator.userAgent,
})"""


@pytest.mark.parametrize("kept", [False, True])
async def test_a_page_sees_the_settings(
    site: Site, tmp_path_factory: pytest.TempPathFactory, kept: bool
) -> None:
    async with browsing(
        isolated=not kept,
        profile=tmp_path_factory.mktemp("profile"),
        viewport="640x480",
        device_scale=2,
        locale="de-DE",
        timezone="Asia/Tokyo",
        user_agent="Tester/1.0",
        browser_args=["--host-resolver-rules=MAP made-up.example 127.0.0.1"],
    ) as hand:
        await hand.open(f"http://made-up.example:{site.port}/status/200")
        assert await hand.tab.page.evaluate(WHAT_A_PAGE_SEES) == {
            "size": "640x480",
            "scale": 2,
            "language": "de-DE",
            "zone": "Asia/Tokyo",
            "agent": "Tester/1.0",
        }


def proxy(asked: list[tuple[str, str | None]]) -> AbstractContextManager[str]:
    """A proxy that answers everything itself and wants to know who asks."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            credentials = self.headers.get("Proxy-Authorization")
            asked.append((self.path, credentials))
            self.send_response(200 if credentials else 407)
            self.send_header("Proxy-Authenticate", 'Basic realm="proxy"')
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<h1>From the proxy</h1>")

        def do_CONNECT(self) -> None:
            asked.append((self.path, None))
            self.send_error(403)

    return answering(Handler)


async def test_requests_go_by_the_proxy_whose_password_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    asked: list[tuple[str, str | None]] = []
    caplog.set_level("DEBUG")
    with proxy(asked) as address:
        async with browsing(isolated=True, proxy=f"http://me:s3cret@{address}") as hand:
            assert "From the proxy" in shown(await hand.open("http://nowhere.example/"))
            settings = hand.session.settings.browser
    assert ("http://nowhere.example/", "Basic bWU6czNjcmV0") in asked
    assert "s3cret" not in caplog.text
    assert "s3cret" not in repr(settings)
    assert not any("nowhere.example" not in path for path, _ in asked), (
        "the browser asked for something itself"
    )
