"""Devices, places and networks that a real browser is made to show pages with."""

from typing import Any

import pytest

from mcp_browser.browser.emulation import Emulation
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.errors import InvalidArguments, NotActionable, NotFound
from tests.actions.hand import Hand, hand_in
from tests.browser.conftest import managing
from tests.support.site import Reply, Request, Site

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

SCREEN = "[innerWidth, innerHeight, devicePixelRatio]"
META = "<meta name=viewport content='width=device-width, initial-scale=1'>"


async def test_a_device_sets_size_scale_touch_and_user_agent(hand: Hand) -> None:
    await hand.open(META)
    told = await hand.fails("emulate", NotFound, device="iPhone 99")
    assert "There is no device 'iPhone 99'" in told
    assert "iPhone" in told.partition("Some of its")[2]
    told = await hand.do("emulate", device="iphone 15")
    await hand.open(META)
    assert "Emulating: device iPhone 15, viewport 393x659, scale 3, mobile on, touch on" in told
    assert "Reload the page" in told
    assert await hand.js(SCREEN) == [393, 659, 3]
    assert "iPhone" in await hand.js("navigator.userAgent")
    assert await hand.js("[navigator.maxTouchPoints, 'ontouchstart' in window]") == [5, True]


async def test_the_server_is_told_the_user_agent_and_the_language(hand: Hand) -> None:
    sent: list[Request] = []
    url = hand.site.route("/agent", lambda request: (sent.append(request), Reply(b"<p>Here"))[1])
    await hand.open("")
    await hand.do("emulate", user_agent="Custom/1", locale="de-DE")
    await hand.do("go_to_url", url=url)
    assert sent[0].headers["user-agent"] == "Custom/1"
    assert await hand.js("[navigator.userAgent, navigator.language, (1.5).toLocaleString()]") == [
        *("Custom/1", "de-DE", "1,5")
    ]


async def test_media_time_and_place_are_as_wanted_until_reset(hand: Hand) -> None:
    await hand.open("<p>Here</p>")
    queries = "['(prefers-color-scheme: dark)', '(prefers-reduced-motion: reduce)', 'print']"
    media = f"{queries}.map(query => matchMedia(query).matches)"
    where = (
        "new Promise(done => navigator.geolocation.getCurrentPosition("
        "place => done(place.coords.latitude), error => done(error.message)))"
    )
    told = await hand.do(
        "emulate",
        **{"color_scheme": "dark", "reduced_motion": True, "media": "print"},
        **{"timezone": "Asia/Tokyo", "geolocation": "52.52, 13.4"},
    )
    assert "geolocation 52.52,13.4" in told
    assert await hand.js(media) == [True, True, True]
    assert await hand.js("new Date().getTimezoneOffset()") == -540
    assert await hand.js(where) == 52.52
    assert "Nothing is emulated." in await hand.do("emulate", reset=True)
    assert await hand.js(media) == [False, False, False]
    assert await hand.js("new Date().getTimezoneOffset()") != -540


async def test_settings_add_up_and_are_told(hand: Hand) -> None:
    await hand.open("")
    await hand.do("emulate", viewport="800x600")
    await hand.do("emulate", scale=2)
    assert "Emulating: viewport 800x600, scale 2." in await hand.do("emulate")
    assert await hand.js(SCREEN) == [800, 600, 2]
    assert "Emulating: color scheme light." in await hand.do("emulate", reset=True, color_scheme="light")
    assert await hand.js(SCREEN) == [1280, 720, 1]


async def test_new_tabs_have_the_settings_too(hand: Hand) -> None:
    await hand.open("<a target=_blank href='/echo'>Out</a>")
    await hand.do("emulate", viewport="500x400", color_scheme="dark")
    await hand.do("open_tab", url=hand.site.page("Second"))
    assert await hand.js("[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]") == [500, True]
    await hand.do("switch_tab", tab=1)
    await hand.do("click_element", index=hand.index("Out"))
    assert await hand.js("[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]") == [500, True]


async def test_the_settings_outlive_a_browser_that_dies(site: Site) -> None:
    async with managing() as manager:
        session = await manager.open_session()
        await session.ensure_open()
        emulation = await session.plugin(Emulation)
        await emulation.override({"cpu": 2.0, "locale": "fr-FR", "network": "offline", "scale": 2.0})
        browser = session.context.browser
        assert browser is not None
        await browser.close()
        await session.ensure_open()
        page = session.current_tab.page
        seen = await page.evaluate("[navigator.language, devicePixelRatio, navigator.onLine]")
    assert seen == ["fr-FR", 2, False]


async def test_a_network_is_offline_and_slow_and_permissions_are_granted_and_taken_back(hand: Hand) -> None:
    await hand.open("")
    fetch = "fetch('/echo').then(r => r.status, e => e.name)"
    await hand.do("emulate", network="offline")
    assert await hand.js(fetch) == "TypeError"
    await hand.do("emulate", network="full")
    assert await hand.js(fetch) == 200
    state = "navigator.permissions.query({ name: 'notifications' }).then(p => p.state)"
    await hand.do("emulate", permissions=["notifications"])
    assert await hand.js(state) == "granted"
    await hand.do("emulate", reset=True)
    assert await hand.js(state) != "granted"
    await hand.do("emulate", network="slow-3g", cpu=4)
    assert await hand.js("navigator.connection.rtt") >= 1500
    taken = "performance.getEntriesByName(new URL('/echo', location)).at(-1).duration"
    assert await hand.js(f"fetch('/echo').then(r => r.text()).then(() => {taken})") > 1500


async def test_points_of_a_mobile_page_that_is_shown_smaller_hit_what_is_seen(hand: Hand) -> None:
    await hand.do("emulate", device="Pixel 7")
    await hand.open(
        "<button style='position:absolute;left:690px;top:800px;width:200px;height:100px'>Far</button>"
    )
    await hand.do("screenshot")
    scale = await hand.js("visualViewport.scale")
    told = await hand.do("mouse_click", at=f"{round(790 * scale)},{round(850 * scale)}@412x839")
    assert scale < 0.5
    assert 'button "Far"' in told
    assert await hand.js("document.activeElement.textContent") == "Far"


async def test_a_point_without_a_size_is_meant_in_the_new_view_after_a_resize(hand: Hand) -> None:
    end = "style='position:absolute;left:580px;top:380px;width:20px;height:20px'"
    await hand.open(f"<button {end}>End</button>")
    await hand.do("screenshot")
    await hand.do("emulate", viewport="600x400")
    assert 'Clicked at 590,390: [1] button "End".' in await hand.do("mouse_click", at="590,390")
    assert hand.result.attachments[0].name == "600x400"


async def test_wrong_values_are_refused_and_nothing_is_changed(hand: Hand) -> None:
    await hand.open("")
    wrong: list[dict[str, Any]] = [
        *({"viewport": "big"}, {"viewport": "0x5"}, {"geolocation": "91,0"}, {"geolocation": "here"}),
        *({"timezone": "Mars/Base"}, {"locale": "no such!"}, {"cpu": 0}, {"network": "2g"}, {"scale": 0}),
        {"permissions": ["no-such-permission"]},
    ]
    for values in wrong:
        await hand.fails("emulate", InvalidArguments, color_scheme="dark", **values)
        assert await hand.js("matchMedia('(prefers-color-scheme: dark)').matches") is False, values
        assert "Nothing is emulated." in await hand.do("emulate"), values


async def test_what_the_browser_was_started_with_is_said_to_stay(manager: BrowserManager, site: Site) -> None:
    viewport = {"width": 400, "height": 300}
    options = {"locale": "fr-FR", "timezone_id": "Europe/Paris", "viewport": viewport}
    async with hand_in(manager, site, context_options=options) as hand:
        await hand.open("")
        locale = await hand.fails("emulate", NotActionable, locale="de-DE")
        assert "Start the server without --locale" in locale
        timezone = await hand.fails("emulate", NotActionable, timezone="Asia/Tokyo")
        assert "Start the server without --timezone" in timezone
        assert await hand.js("navigator.language") == "fr-FR"
        assert await hand.js("innerWidth") == 400


async def test_pictures_of_an_emulated_device_leave_it_as_it_is(hand: Hand) -> None:
    await hand.do("emulate", device="Pixel 7")
    await hand.open(f"{META}<button>Small</button><p style='height:2000px'>Long</p>")
    for options in ({}, {"full_page": True}, {"index": hand.index("Small")}):
        assert "Picture of" in await hand.do("screenshot", **options)
    assert await hand.js(SCREEN) == [412, 839, 2.625]
    width, height = map(int, hand.result.attachments[0].name.split("x"))
    assert (width, height) < (412, 200)
