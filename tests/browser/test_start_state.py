"""What the settings put into each context: a device, scripts, headers, cookies, a storage state."""

import json
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from mcp_browser.browser.site_data import check, read_cookies
from mcp_browser.cli import main
from mcp_browser.errors import BrowserUnavailable, NotFound, SettingsError
from mcp_browser.settings import BrowserSettings
from tests.browser.conftest import answering, browsing, shown
from tests.support.site import Reply, Request, Site

NETSCAPE = """# Netscape HTTP Cookie File
# made by hand

127.0.0.1\tFALSE\t/\tFALSE\t0\tshelf\tpoems
#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t4102444800\tsid\ts3cret-of-the-session
"""
PLAYWRIGHT = {
    "cookies": [{"name": "shelf", "value": "poems", "domain": "127.0.0.1", "path": "/", "expires": -1}],
    "origins": [],
}
EXTENSION = [
    {"name": "shelf", "value": "poems", "domain": "127.0.0.1", "sameSite": "no_restriction", "session": True},
    {"name": "old", "value": "x", "url": "http://a.test/", "expirationDate": 4102444800.5, "sameSite": "lax"},
]


def written(folder: Path, text: str) -> Path:
    (folder / "given").write_text(text)
    return folder / "given"


def echo(site: Site) -> str:
    """A page that shows what its request had."""

    def answer(request: Request) -> Reply:
        told = f"cookie={request.headers.get('cookie', '')} team={request.headers.get('x-team', '')}"
        return Reply(f"<!doctype html><p>{told}<p id=out></p>".encode())

    return site.route("/echo-of-the-start", answer)


@pytest.mark.slow
@pytest.mark.parametrize("isolated", [True, False])
async def test_each_page_has_what_the_settings_name(tmp_path: Path, site: Site, isolated: bool) -> None:
    script = tmp_path / "first.js"
    script.write_text("addEventListener('DOMContentLoaded', () => { out.textContent = 'Scripted' })")
    cookies, url = written(tmp_path, NETSCAPE), echo(site)
    profile = {} if isolated else {"profile": tmp_path / "profile"}
    async with browsing(
        init_scripts=(script,), extra_headers=("X-Team: shop",), cookies=cookies, isolated=isolated, **profile
    ) as hand:
        for _ in range(2):
            told = shown(await hand.open(url))
            assert "team=shop" in told
            assert "shelf=poems" in told
            assert "sid=s3cret-of-the-session" in told
            assert "Scripted" in told
            await hand.session.new_tab()
        assert "shop" in hand.session.redactor().known


WHAT_A_PAGE_SEES = """() => ({
    size: `${innerWidth}x${innerHeight}`,
    screen: screen.width,
    scale: devicePixelRatio,
    language: navigator.language,
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    agent: navigator.userAgent,
    touch: navigator.maxTouchPoints > 0,
})"""
TESTER = {"locale": "de-DE", "timezone": "Asia/Tokyo", "user_agent": "Tester/1.0"}
SETTINGS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"viewport": "640x480", "device_scale": 2, **TESTER},
        {"size": "640x480", "scale": 2, "language": "de-DE", "zone": "Asia/Tokyo", "agent": "Tester/1.0"},
    ),
    (
        {"device": "iphone 15", "locale": "de-DE"},
        {"screen": 393, "scale": 3, "touch": True, "language": "de-DE"},
    ),
    ({"device": "iPhone 15", "viewport": "500x400", "device_scale": 1}, {"screen": 500, "scale": 1}),
]


@pytest.mark.slow
@pytest.mark.parametrize("isolated", [True, False])
async def test_a_page_sees_the_settings(tmp_path: Path, site: Site, isolated: bool) -> None:
    args = ["--host-resolver-rules=MAP made-up.example 127.0.0.1"]
    for number, (given, sees) in enumerate(SETTINGS):
        profile = {} if isolated else {"profile": tmp_path / f"profile{number}"}
        async with browsing(isolated=isolated, browser_args=args, **given, **profile) as hand:
            await hand.open(f"http://made-up.example:{site.port}/status/200")
            seen = await hand.tab.page.evaluate(WHAT_A_PAGE_SEES)
            assert {name: seen[name] for name in sees} == sees
            assert ("iPhone" in seen["agent"]) is ("device" in given)


@pytest.mark.slow
async def test_a_device_that_is_not_known_is_refused() -> None:
    async with browsing(isolated=True, device="iPhon 15") as hand:
        with pytest.raises(NotFound, match="There is no device"):
            await hand.look()


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


@pytest.mark.slow
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


@pytest.mark.slow
async def test_an_isolated_session_starts_with_a_storage_state(tmp_path: Path, site: Site) -> None:
    url = echo(site)
    origin = url.rpartition("/")[0]
    storage = [{"origin": origin, "localStorage": [{"name": "theme", "value": "dark"}]}]
    state = written(tmp_path, json.dumps({**PLAYWRIGHT, "origins": storage}))
    async with browsing(isolated=True, storage_state=state) as hand:
        assert "shelf=poems" in shown(await hand.open(url))
        assert await hand.session.current_tab.page.evaluate("localStorage.theme") == "dark"


async def test_a_profile_is_not_replaced_by_a_storage_state(tmp_path: Path) -> None:
    state = written(tmp_path, json.dumps(PLAYWRIGHT))
    with pytest.raises(BrowserUnavailable, match="--isolated"):
        async with browsing(isolated=False, storage_state=state, profile=tmp_path / "profile"):
            pass


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (NETSCAPE, ["shelf", "sid"]),
        (json.dumps(PLAYWRIGHT), ["shelf"]),
        (json.dumps(EXTENSION), ["shelf", "old"]),
        (NETSCAPE.partition("\n")[2], ["shelf", "sid"]),
    ],
)
def test_cookies_come_from_common_formats(tmp_path: Path, text: str, names: list[str]) -> None:
    cookies = read_cookies(written(tmp_path, text))
    assert [cookie.get("name") for cookie in cookies] == names
    assert cookies[0].get("value") == "poems"
    if "sid" in names:
        assert cookies[1].get("httpOnly") is True
        assert cookies[1].get("expires") == 4102444800


@pytest.mark.parametrize(
    "text",
    [
        "a b c s3cret",
        "127.0.0.1\tFALSE\t/\tFALSE\tnever\tsid\ts3cret",
        '{"s3cret": 1}',
        "[s3cret",
        '["s3cret"]',
        '[{"name": "s3cret", "value": "s3cret"}]',
    ],
)
def test_a_file_of_cookies_that_is_none_is_refused_without_its_values(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError) as refused:
        check(BrowserSettings(cookies=written(tmp_path, text)))
    assert "cookies" in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    for setting, given in (("storage_state", missing), ("cookies", missing), ("init_scripts", (missing,))):
        with pytest.raises(SettingsError, match=r"^(storage-state|cookies|init-script): cannot read .*none"):
            check(BrowserSettings.model_validate({setting: given}))


@pytest.mark.slow
def test_doctor_tells_of_files_and_no_header(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for header, code, said in (
        ("X-Team-Key: s3cret", 1, ("X-Team-Key: ***", "cookies: cannot read")),
        ("Bearer s3cret", 2, ("extra-header",)),
    ):
        assert main(["doctor", "--extra-header", header, "--cookies", str(tmp_path / "none")]) == code
        told = "".join(capsys.readouterr())
        assert [one for one in said if one not in told] == []
        assert "s3cret" not in told
