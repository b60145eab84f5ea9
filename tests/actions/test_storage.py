"""Cookies, storage, saved logins."""

import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.errors import InvalidArguments, NotActionable, NotFound
from tests.actions.hand import Hand, hand_in
from tests.support.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

STORED = """<h1>Shop</h1><script>
document.cookie = 'theme=dark; path=/'; document.cookie = 'sessionid=abc1234567; path=/';
localStorage.cart = '{"books": 2}'; localStorage.access_token = 'tok1234567';
sessionStorage.step = '3';
</script>"""


@pytest_asyncio.fixture(loop_scope="session")
async def shop(hand: Hand, site: Site) -> Hand:
    """A hand at a page that has stored something; one of its cookies is HttpOnly."""
    headers = {"Set-Cookie": "remembered=verysecret1; Path=/; HttpOnly"}
    await hand.do("go_to_url", url=site.publish(STORED.encode(), headers=headers))
    return hand


@pytest_asyncio.fixture(loop_scope="session")
async def fresh(manager: BrowserManager, site: Site) -> AsyncIterator[Hand]:
    """A hand in another session."""
    async with hand_in(manager, site) as hand:
        yield hand


async def test_cookies_are_listed_by_site_and_name_without_the_values_of_secret_ones(
    shop: Hand, site: Site
) -> None:
    told = await shop.do("get_cookies")
    assert told.startswith("3 cookies:")
    assert "theme=dark (127.0.0.1/, session" in told
    assert "sessionid=[redacted] (127.0.0.1/, session" in told
    assert "remembered=[redacted] (127.0.0.1/, session, HttpOnly" in told
    assert "abc1234567" not in told
    assert "verysecret1" not in told
    assert "0 cookies." in await shop.do("get_cookies", url=site.other)
    assert "1 cookie:" in await shop.do("get_cookies", name="theme")
    await shop.do("set_cookie", name="elsewhere", value="1", url=site.other)
    assert "4 cookies:" in await shop.do("get_cookies", all=True)


async def test_a_cookie_is_set_and_the_site_gets_it(shop: Hand) -> None:
    await shop.do("set_cookie", name="lang", value="de", expires=3600, same_site="Lax")
    await shop.do("set_cookie", name="deep", value="1", path="/deeper", http_only=True)
    told = await shop.do("get_cookies", all=True)
    assert "lang=de (127.0.0.1/, until 20" in told
    assert "deep=[redacted] (127.0.0.1/deeper, session, HttpOnly" in told
    assert "lang=de" in await shop.js("document.cookie")


async def test_cookies_are_deleted_one_by_one_and_all_of_a_site(shop: Hand, site: Site) -> None:
    await shop.do("set_cookie", name="elsewhere", value="1", url=site.other)
    assert await shop.js("document.cookie.split('; ').length") == 2
    assert 'Deleted cookies: "theme".' in await shop.do("delete_cookies", name="theme")
    assert await shop.js("document.cookie") == "sessionid=abc1234567"
    assert "has no cookie 'theme'" in await shop.fails("delete_cookies", NotFound, name="theme")
    await shop.do("delete_cookies")
    assert "1 cookie:" in await shop.do("get_cookies", all=True)


async def test_wrong_arguments_are_refused(shop: Hand) -> None:
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("set_cookie", {"name": "", "value": "x"}),
        ("set_cookie", {"name": "a", "value": "x", "url": "about:blank"}),
        ("set_cookie", {"name": "a;b", "value": "x"}),
        ("set_storage", {}),
        ("set_storage", {"items": {"a": "x"}, "area": "cloud"}),
        ("load_storage_state", {"file": "/etc/passwd"}),
        ("clear_site_data", {"origin": "no origin at all://"}),
    ]
    for action, arguments in wrong:
        await shop.fails(action, InvalidArguments, **arguments)


async def test_storage_is_listed_without_secrets(shop: Hand) -> None:
    assert 'access_token: [redacted]\ncart: {"books": 2}' in await shop.do("get_storage")
    assert "step: 3" in await shop.do("get_storage", area="session")
    assert '{"books": 2}' in await shop.do("get_storage", key="cart")
    assert "tok1234567" not in await shop.do("get_storage", key="access_token")
    assert "Keys: " in await shop.fails("get_storage", NotFound, key="none")


async def test_items_are_set_removed_and_cleared(shop: Hand) -> None:
    told = await shop.do("set_storage", items={"note": "hello", "cart": None})
    assert told.startswith("Local storage: set note; removed cart.")
    assert await shop.js("Object.keys(localStorage).sort().join()") == "access_token,note"
    await shop.do("set_storage", items={"only": "1"}, clear=True, area="session")
    assert await shop.js("JSON.stringify({...sessionStorage})") == '{"only":"1"}'


async def test_storage_of_a_frame_is_reached_by_its_origin(hand: Hand, site: Site) -> None:
    with Site() as another:
        inner = another.page("<script>localStorage.inner = 'yes'</script>")
        await hand.open(f"<h1>Outer</h1><iframe src={inner}></iframe>")
        assert "inner: yes" in await hand.do("get_storage", origin=another.url)
        await hand.do("set_storage", items={"inner": "no"}, origin=inner)
        assert "inner: no" in await hand.do("get_storage", origin=another.url)
    error = await hand.fails("get_storage", NotFound, origin="https://nowhere.example")
    assert "Nothing of https://nowhere.example is open" in error
    assert site.url in error
    await hand.do("go_to_url", url="about:blank")
    assert "has no storage" in await hand.fails("get_storage", NotActionable)


async def test_what_sites_have_stored_goes_over_to_another_session(
    shop: Hand, fresh: Hand, site: Site
) -> None:
    told = await shop.do("save_storage_state", name="logins")
    file, uri = shop.file, shop.result.attachments[0].uri
    assert f"Saved 3 cookies, storage of 1 site as {file}." in told
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IRUSR | stat.S_IWUSR
    assert "verysecret1" not in told
    loaded = await fresh.do("load_storage_state", file=str(file))
    await fresh.do("go_to_url", url=site.page("<h1>Back</h1>"))
    assert "Loaded 3 cookies, storage of 1 site." in loaded
    assert await fresh.js("localStorage.cart") == '{"books": 2}'
    assert "sessionid=abc1234567" in await fresh.js("document.cookie")
    # Its own session may name it by its address.
    await shop.do("clear_site_data", all=True)
    await shop.do("load_storage_state", file=uri)
    assert "3 cookies:" in await shop.do("get_cookies")


async def test_named_profiles_are_for_servers_that_keep_them(shop: Hand) -> None:
    assert "keeps no profiles" in await shop.fails("save_storage_state", NotFound, profile="shop")
    assert "keeps no profiles" in await shop.fails("load_storage_state", NotFound, profile="shop")
    error = await shop.fails("load_storage_state", InvalidArguments, profile="shop", file="state.json")
    assert "give either file or profile" in error


async def test_a_file_that_is_no_storage_state_is_refused(shop: Hand, upload_dir: Path) -> None:
    file = upload_dir / "state.json"
    for content in ("no json", "[]", '{"cookies": 5, "origins": []}', '{"cookies": []}'):
        file.write_text(content)
        told = await shop.fails("load_storage_state", InvalidArguments, file=str(file))
        assert "state.json is no storage state." in told, content
        assert "3 cookies:" in await shop.do("get_cookies"), content
    file.write_text('{"cookies": [{"name": 5}], "origins": []}')
    told = await shop.fails("load_storage_state", InvalidArguments, file=str(file))
    assert "does not take this storage state" in told


async def test_the_data_of_one_site_and_of_all_sites_are_cleared(shop: Hand, site: Site) -> None:
    await shop.do("set_cookie", name="elsewhere", value="1", url=site.other)
    assert f"Deleted what {site.url} had stored." in await shop.do("clear_site_data")
    assert await shop.js("localStorage.length + document.cookie.length") == 0
    assert "elsewhere=1" in await shop.do("get_cookies", all=True)
    await shop.do("set_storage", items={"again": "1"})
    await shop.do("clear_site_data", all=True)
    assert "0 cookies." in await shop.do("get_cookies", all=True)
    assert await shop.js("localStorage.length") == 0
