"""Several browser sessions of one client over stdio."""

import asyncio
from pathlib import Path

from tests.support.client import Browser, browsing
from tests.support.site import Reply, Request, Site

PAGE = """<h1 id=who></h1><button onclick="document.cookie = 'login=ann; max-age=999'; tell()">Log in</button>
<input aria-label=Text autofocus>
<script>function tell() { who.textContent = document.cookie || 'Nobody' }; tell()</script>"""


async def test_agents_work_side_by_side_with_the_logins_of_the_profile(site: Site, tmp_path: Path) -> None:
    url = site.page(PAGE)
    flags = ("--no-isolated", f"--profile={tmp_path}", "--tools=core,sessions")
    async with browsing("auto", *flags) as browser:
        assert "Nobody" in await browser.open(url)
        await browser.click("button", "Log in")
        agent = await started(browser)
        clean = await started(browser, isolated=True, locale="fr-FR")
        told = await asyncio.gather(
            browser.do("go_to_url", url=url, session=agent), browser.do("go_to_url", url=url, session=clean)
        )
        assert "login=ann" in told[0]
        assert "Nobody" in told[1]
        await browser.do("go_to_url", url=site.page("<h1>Elsewhere</h1>"), session=agent)
        assert "Elsewhere" not in await browser.snapshot()

        listed = await browser.do("list_sessions")
        assert all(f'"{handle}"' in listed for handle in ("default", agent, clean))
        await browser.do("close_session", session=agent)
        told = await browser.refused("get_state", session=agent)
        assert f"There is no session '{agent}'" in told
        assert clean in told
        assert "login=ann" in await browser.snapshot()
        await browser.do("close_session")
        assert "login=ann" in await browser.open(url)


async def test_logins_go_from_one_run_to_the_next_by_a_named_profile(site: Site, tmp_path: Path) -> None:
    arguments = ("--tools", "core,storage", "--profiles", str(tmp_path))
    shop = b"<script>localStorage.cart = 'two books'</script><h1>Shop</h1>"

    def account(asked: Request) -> Reply:
        return Reply(b"Ann's orders" if "login=ann" in asked.headers.get("cookie", "") else b"Log in")

    async with browsing("auto", *arguments) as browser:
        await browser.open(site.publish(shop, headers={"Set-Cookie": "login=ann; HttpOnly; Path=/"}))
        saved = await browser.do("save_storage_state", profile="shop")
        unnamed = await browser.refused("save_storage_state", profile="../shop")
    async with browsing("auto", *arguments) as browser:
        await browser.do("load_storage_state", profile="shop")
        orders = await browser.open(site.route("/account", account))
        stored = await browser.do("get_storage")
        unknown = await browser.refused("load_storage_state", profile="none")

    (file,) = tmp_path.rglob("state.json")  # noqa: ASYNC240 (a small folder)
    assert file.stat().st_mode & 0o777 == 0o600
    assert 'Saved 1 cookie, storage of 1 site in the profile "shop".' in saved
    assert "Ann's orders" in orders
    assert "cart: two books" in stored
    assert "cannot be the name of a profile" in unnamed
    assert "Profiles: shop." in unknown


async def started(browser: Browser, **options: object) -> str:
    """The handle of a new session."""
    result = await browser.call("new_session", **options)
    assert not result.is_error, result.text
    assert result.structured is not None
    return str(result.structured["session"])
