"""What results tell of the console, by the groups of tools that are offered."""

from tests.support.client import browsing
from tests.support.site import Site

PAGE = """<style>button { position: fixed; inset: 0; width: 100%; height: 100% }</style>
<button onclick="console.log('pressed')">Press</button>"""


async def test_who_works_by_pictures_is_told_every_new_line(site: Site) -> None:
    async with browsing("auto", "--tools", "core,mouse") as browser:
        await browser.open(site.page(PAGE))
        assert '"pressed"' in await browser.do("mouse_click", at="100,100")
        assert '"pressed"' not in await browser.do("mouse_move", at="100,100")


async def test_others_are_told_errors_only(site: Site) -> None:
    async with browsing() as browser:
        await browser.open(site.page(PAGE))
        assert "pressed" not in await browser.click("button", "Press")


async def test_the_setting_goes_before_the_groups(site: Site) -> None:
    async with browsing("auto", "--tools", "core,mouse", "--console", "errors") as browser:
        await browser.open(site.page(PAGE))
        assert "pressed" not in await browser.do("mouse_click", at="100,100")
