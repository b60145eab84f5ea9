"""The network of Swagger UI and the logins of Django, seen and changed by what the tools offer."""

import re
from pathlib import Path

import pytest

from tests.support.apps import Django
from tests.support.bookshop import Bookshop
from tests.support.client import Browser, browsing
from tests.support.site import Site

pytestmark = pytest.mark.apps


async def test_a_request_of_swagger_ui_is_found_read_mocked_blocked_and_waited_for(
    site: Site, swagger_files: str
) -> None:
    shop = Bookshop(site, swagger_files)
    async with browsing("auto", "--tools", "core,network") as browser:
        await _try_out(browser, shop)
        await browser.click("button", "Execute")

        came = await browser.do("wait_for_response", url="/books?*", method="GET", status="200")
        number = int(re.findall(r"^(\d+) GET 200 fetch", came, re.MULTILINE)[0])
        found = await browser.do("get_network_requests", type="fetch", url="/books")
        shown = await browser.do("get_network_request", id=number)

        await browser.do("mock_route", url="/books?*", body='[{"title": "The Made-up Book"}]', times=1)
        mocked = await browser.click("button", "Execute")
        asked = len(shop.requests)
        await browser.do("block_route", url="/books?*")
        await browser.click("button", "Execute")
        failed = await browser.do("get_network_requests", status="failed")
        await browser.do("remove_route")
        freed = await browser.click("button", "Execute")
        archived = await browser.do("export_har", url="/books")

    assert f"{number} GET 200 fetch /bookshop/books?" in found
    assert re.search(r"Request headers:\n(  .*\n)*  accept: ", shown, re.IGNORECASE)
    assert "Persuasion" in shown
    assert "The Made-up Book" in mocked
    assert len(shop.requests) == asked + 1
    assert "failed:ERR_BLOCKED_BY_CLIENT" in failed
    assert "Persuasion" in freed or "Persuasion" in browser.page
    assert re.search(r"Saved [4-9] requests as \S+network\.har", archived)


async def test_a_login_of_django_is_saved_and_holds_in_a_fresh_session(
    django_admin: Django, tmp_path: Path
) -> None:
    django_admin.reset()
    arguments = ("--tools", "core,storage", "--output-dir", str(tmp_path))
    async with browsing("auto", *arguments) as browser:
        await browser.open(f"{django_admin.url}/admin/")
        await browser.fill("textbox", "Username:", django_admin.user)
        await browser.fill("textbox", "Password:", django_admin.password)
        await browser.click("button", "Log in")
        assert browser.shows("Site administration")
        cookies = await browser.do("get_cookies")
        saved = await browser.do("save_storage_state", name="boss")
    async with browsing("legacy", *arguments) as browser:
        await browser.open(f"{django_admin.url}/admin/")
        assert browser.shows("Username:")
        loaded = await browser.do("load_storage_state", file=str(tmp_path / "boss.json"))
        welcome = await browser.open(f"{django_admin.url}/admin/")
        await browser.do("clear_site_data")
        left = await browser.open(f"{django_admin.url}/admin/")

    assert "sessionid=[redacted]" in cookies
    assert "csrftoken=[redacted]" in cookies
    assert "Saved 2 cookies" in saved
    assert "Loaded 2 cookies" in loaded
    assert "Site administration" in welcome
    assert "Username:" in left


async def _try_out(browser: Browser, shop: Bookshop) -> None:
    await browser.open(shop.url)
    await browser.click("button", "GET /books List books")
    await browser.click("button", "Try it out")
