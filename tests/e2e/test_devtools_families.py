"""The console, the network and what sites store, as clients of both eras work with them."""

from pathlib import Path

import pytest

from tests.support.client import MODERN_FIRST, Era, browsing
from tests.support.site import Site

PAGE = """<h1>Shop</h1><script>
console.error('no stock, token=abc123456');
localStorage.cart = 'two books';
document.cookie = 'theme=dark';
fetch('/echo?page=2', {method: 'POST', body: 'hello'});
const ask = b => fetch("/prices").then(r => r.text()).then(t => b.textContent = t);
</script><button onclick="ask(this)">Prices</button>"""


@pytest.mark.parametrize("era", MODERN_FIRST)
async def test_a_client_sees_the_console_the_network_and_the_storage(site: Site, era: Era) -> None:
    async with browsing(era, "--tools", "core,console,network,storage") as browser:
        await browser.open(site.page(PAGE))
        button = browser.find("button", "Prices")

        spoken = await browser.do("get_console_messages", level="error")
        came = await browser.do("wait_for_response", url="/echo", method="POST")
        requests = await browser.do("get_network_requests", type="fetch,document")
        shown = await browser.do("get_network_request", id=2)
        await browser.do("mock_route", url="/prices", body="All half off")
        priced = await browser.do("click_element", index=button)
        await browser.do("remove_route")
        await browser.do("block_route", url="/prices")
        await browser.do("click_element", index=button)
        blocked = await browser.do("get_network_requests", status="failed")
        archived = await browser.do("export_har")
        stored = await browser.do("get_storage")
        cookies = await browser.do("get_cookies")
        saved = await browser.do("save_storage_state")
        unknown = await browser.call("get_network_request", id=999)

    assert "error: no stock, token=[redacted]" in spoken
    assert "POST 200 fetch /echo?page=2" in came
    assert "GET 200 document /page/" in requests
    assert "Request body (5 bytes):\nhello" in shown
    assert 'button "All half off"' in priced
    assert "failed:ERR_BLOCKED_BY_CLIENT" in blocked
    assert ".har" in archived
    assert "cart: two books" in stored
    assert "theme=dark" in cookies
    assert "Saved 1 cookie, storage of 1 site" in saved
    assert unknown.is_error
    assert "There is no request 999." in unknown.text


@pytest.mark.slow
async def test_logins_go_from_one_run_to_the_next_by_a_named_profile(site: Site, tmp_path: Path) -> None:
    arguments = ("--tools", "core,storage", "--profiles", str(tmp_path))
    async with browsing("auto", *arguments) as browser:
        await browser.open(site.page("<script>localStorage.cart = 'two books'</script><h1>Shop</h1>"))
        saved = await browser.do("save_storage_state", profile="shop")
        unnamed = await browser.call("save_storage_state", profile="../shop")
    async with browsing("auto", *arguments) as browser:
        await browser.do("load_storage_state", profile="shop")
        await browser.open(site.page("<h1>Back</h1>"))
        stored = await browser.do("get_storage")
        unknown = await browser.call("load_storage_state", profile="none")

    (file,) = tmp_path.rglob("state.json")  # noqa: ASYNC240 (a small folder)
    assert file.stat().st_mode & 0o777 == 0o600
    assert 'Saved 0 cookies, storage of 1 site in the profile "shop".' in saved
    assert "cart: two books" in stored
    assert unnamed.is_error
    assert "cannot be the name of a profile" in unnamed.text
    assert unknown.is_error
    assert "Profiles: shop." in unknown.text
