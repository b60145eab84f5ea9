"""Hard cases of waiting, over stdio: what an action starts is awaited, what goes on for ever is not."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.client import Browser, browsing
from tests.support.site import Site


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with browsing() as connected:
        yield connected


def button(script: str) -> str:
    return f'<p id=out>nothing</p><button onclick="{script}">Go</button>'


@pytest.mark.parametrize("seconds", [0.4, 2.5])
async def test_a_request_that_a_click_starts_is_awaited(browser: Browser, site: Site, seconds: float) -> None:
    script = f"fetch('/slow?s={seconds}&text=arrived').then(r => r.text()).then(t => out.textContent = t)"
    await browser.open(site.page(button(script)))
    assert "arrived" in await browser.click("button", "Go")


async def test_a_request_that_follows_from_a_request_is_awaited(browser: Browser, site: Site) -> None:
    script = """fetch('/slow?s=0.3').then(() => fetch('/slow?s=0.3&text=second'))
      .then(r => r.text()).then(t => setTimeout(() => out.textContent = t, 100))"""
    await browser.open(site.page(button(script)))
    assert "second" in await browser.click("button", "Go")


async def test_a_navigation_that_a_timer_begins_after_the_click_is_awaited(
    browser: Browser, site: Site
) -> None:
    there = site.page("<h1>Arrived</h1>", title="There")
    await browser.open(site.page(button(f"setTimeout(() => location.href = '{there}', 300)")))
    told = await browser.click("button", "Go")
    assert "Arrived" in told
    assert there in told


async def test_a_navigation_to_a_slow_page_is_awaited(browser: Browser, site: Site) -> None:
    await browser.open(site.page("<a href='/slow?s=2&text=<h1>Slowly</h1>'>Go</a>"))
    assert "Slowly" in await browser.click("link", "Go")


async def test_a_form_that_is_sent_shows_its_answer(browser: Browser, site: Site) -> None:
    await browser.open(site.page("<form action=/echo method=post><input name=q aria-label=Question></form>"))
    assert "q=why" in await browser.fill("textbox", "Question", "why", submit=True)


async def test_a_page_that_changes_its_address_by_script_tells_the_new_one(
    browser: Browser, site: Site
) -> None:
    await browser.open(site.page(button("history.pushState({}, '', '/pushed'); out.textContent = 'moved'")))
    told = await browser.click("button", "Go")
    assert "/pushed" in told
    assert "moved" in told


ENDLESS = {
    "polling": "setInterval(() => fetch('/slow?s=0.05'), 100)",
    "a hanging request": "fetch('/hang')",
    "animation": "(function step() { out.style.left = Math.random() + 'px'; requestAnimationFrame(step) })()",
    "a ticking clock": "setInterval(() => out.dataset.now = Date.now(), 20)",
    "a chain of timers": "(function again() { setTimeout(again, 50); out.title += '.' })()",
}


@pytest.mark.parametrize("what", ENDLESS)
async def test_what_goes_on_for_ever_does_not_hold_a_call(browser: Browser, site: Site, what: str) -> None:
    await browser.open(
        site.page(
            f"<script>onload = () => {{ {ENDLESS[what]} }}</script>" + button("out.textContent = 'done'")
        )
    )
    async with asyncio.timeout(60):
        assert "done" in await browser.click("button", "Go")


@pytest.mark.parametrize("what", ENDLESS)
async def test_what_a_click_starts_for_ever_does_not_hold_it(browser: Browser, site: Site, what: str) -> None:
    await browser.open(site.page(button(f"out.textContent = 'begun'; {ENDLESS[what]}")))
    async with asyncio.timeout(60):
        assert "begun" in await browser.click("button", "Go")


async def test_a_change_between_calls_is_told_with_the_next_result(browser: Browser, site: Site) -> None:
    page = """<p id=out>nothing</p><button>Go</button>
    <script>setTimeout(() => out.textContent = 'late news', 1200)</script>"""
    await browser.open(site.page(page))
    waited = await browser.do("wait_for", seconds=2)
    assert "late news" in waited or "late news" in await browser.click("button", "Go")


async def test_a_wait_survives_the_navigation_of_its_page(browser: Browser, site: Site) -> None:
    there = site.page("<h1>Arrived</h1>")
    await browser.open(
        site.page(f"<script>setTimeout(() => location.href = '{there}', 800)</script><p>Here</p>")
    )
    await browser.do("wait_for", text="Arrived")
    assert "Arrived" in await browser.snapshot()


async def test_a_text_that_goes_away_can_be_waited_for(browser: Browser, site: Site) -> None:
    await browser.open(
        site.page("<p id=out>Loading…</p><script>setTimeout(() => out.remove(), 1200)</script>")
    )
    await browser.do("wait_for", text_gone="Loading…")
    assert "Loading" not in await browser.snapshot()


async def test_a_wait_in_vain_says_for_what(browser: Browser, site: Site) -> None:
    await browser.open(site.page("<p>Here</p>"))
    result = await browser.call("wait_for", text="Godot", timeout=0.5)
    assert result.is_error
    assert "Godot" in result.text


async def test_a_wait_for_nothing_is_refused(browser: Browser, site: Site) -> None:
    await browser.open(site.page("<p>Here</p>"))
    assert (await browser.call("wait_for")).is_error


async def test_a_selector_that_no_one_understands_is_refused_at_once(browser: Browser, site: Site) -> None:
    await browser.open(site.page("<p>Here</p>"))
    async with asyncio.timeout(60):
        result = await browser.call("wait_for", selector="p[[")
    assert result.is_error
    assert "p[[" in result.text
