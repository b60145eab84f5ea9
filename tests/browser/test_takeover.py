"""A person takes over the browser: calls wait, and are told what the person did."""

import asyncio
import math
from collections.abc import AsyncIterator

import anyio
import pytest
import pytest_asyncio
from playwright.async_api import expect

from mcp_browser.actions.result import ActionResult
from mcp_browser.browser import takeover
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.takeover import Takeover
from mcp_browser.controller import Controller
from mcp_browser.errors import DeadlineExceeded, NotActionable, NotFound, TakenOver
from mcp_browser.rendering import render_result
from tests.browser.conftest import Hand, another, managing, shown, until
from tests.support.site import Site


@pytest_asyncio.fixture(autouse=True, loop_scope="session")
async def handed_back(hand: Hand) -> AsyncIterator[None]:
    yield
    await hand.session.takeover.end()
    hand.session.take_notices()


@pytest.fixture
def person(hand: Hand) -> Takeover:
    return hand.session.takeover


def rendered(result: ActionResult, session: BrowserSession) -> str:
    return render_result(result, settings=session.settings, secrets=session.hidden)[0]


async def test_a_call_waits_until_it_is_handed_back(hand: Hand, person: Takeover, site: Site) -> None:
    await hand.open(site.page("<button onclick=\"this.textContent='Pressed'\">Press</button>"))
    holder = await person.begin("Ann")
    assert person.active is holder
    assert "Ann" in str(holder)
    waiting = asyncio.create_task(Controller().execute("get_state", {}, hand.session))
    await hand.tab.page.get_by_text("Press").click()
    assert not waiting.done()
    assert await person.end("I have pressed it.")
    told = rendered(await waiting, hand.session)
    assert "A person (Ann) had the browser for" in told
    assert '"I have pressed it."' in told
    assert 'button "Pressed"' in told
    assert person.active is None
    assert not await person.end()


async def test_in_a_window_a_person_gets_the_systems_dialog_for_files(
    hand: Hand, person: Takeover, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a window the dialog is cancelled at once, which the page hears of where it is not kept away.
    monkeypatch.setattr(person, "in_window", True)
    await hand.open(site.page("<input type=file oncancel='out.textContent += `cancelled `'><p id=out>"))
    page, out = hand.tab.page, hand.tab.page.locator("#out")
    await person.begin("Ann")
    await page.locator("input").click()
    await expect(out).to_have_text("cancelled")
    await person.end()
    async with page.expect_file_chooser():
        await page.locator("input").click()
    assert await out.inner_text() == "cancelled"


async def test_a_persons_changes_are_told_and_no_input_goes_to_a_page_of_theirs(
    hand: Hand, person: Takeover, site: Site
) -> None:
    await hand.open(site.page("<h1>Shop</h1><div id=cart></div><button>Here</button>"))
    await person.begin("Ann")
    await hand.tab.page.evaluate("cart.innerHTML = '<p>One book</p>'")
    await person.end()
    told = await hand.do(lambda tab: tab.page.evaluate("1"), effect="read")
    assert told.changes is not None
    assert "One book" in shown(told)
    await person.begin("Ann")
    await hand.tab.page.goto(site.page("<button>Here</button>", title="Elsewhere"))
    await person.end()
    with pytest.raises(NotFound, match=r"Ann.* is http.*Nothing was done"):
        await hand.click("Here")
    assert "Elsewhere" in shown(await hand.look())
    await hand.click("Here")


async def test_a_call_that_runs_ends_first_or_the_takeover_is_given_up(
    hand: Hand, person: Takeover, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hand.open(site.page("Base"))
    go_on = asyncio.Event()

    async def work() -> None:
        assert person.active is None
        await go_on.wait()

    running = asyncio.create_task(hand.do(lambda _: work()))
    await until(hand.session.lock.locked)
    with monkeypatch.context() as patch:
        patch.setattr(takeover, "BEGIN_SECONDS", 0.05)
        with pytest.raises(DeadlineExceeded, match="still runs"):
            await person.begin("Ann")
    await person.over()
    taking = asyncio.create_task(person.begin("Ann"))
    await until(lambda: person.busy)
    assert person.active is None
    go_on.set()
    await running
    assert (await taking).by == "Ann"


async def test_only_one_person_has_the_browser(person: Takeover) -> None:
    first = await person.begin("Ann")
    with pytest.raises(NotActionable, match=r"\(Ann\) has taken over"):
        await person.begin("Bob")
    assert await person.end(holder=first)
    second = await person.begin("Bob")
    assert not await person.end(holder=first)
    assert person.active is second


async def test_who_was_asked_may_begin_and_end_it(hand: Hand, person: Takeover, site: Site) -> None:
    await hand.open(site.page("Base"))
    hand.session.take_notices()
    asked = await person.begin("the user", asked="Solve the captcha")
    assert asked.waiting
    # Nothing is told of a question that nobody came for.
    await person.end()
    assert hand.session.take_notices() == ()
    await person.begin("the user", asked="Solve the captcha")
    with pytest.raises(NotActionable, match="Solve the captcha"):
        await person.begin("the agent", asked="Something else")
    came = await person.begin("Ann")
    assert (came.by, came.asked, came.waiting) == ("Ann", "Solve the captcha", False)
    await person.end("Solved")
    assert any("Ann" in notice and "Solved" in notice for notice in hand.session.take_notices())


async def test_a_call_gives_up_in_time(hand: Hand, person: Takeover, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(person, "_longest_wait", 0.05)
    await person.begin("Ann")
    with pytest.raises(TakenOver, match=r"\(Ann\) has taken over .* nothing was done\. Call again later"):
        await Controller().execute("get_state", {}, hand.session)


async def test_a_person_s_time_does_not_count_against_a_limit(hand: Hand, person: Takeover) -> None:
    with anyio.CancelScope(deadline=anyio.current_time() + 5) as before, person.stops(before):
        await person.begin("Ann")
        with anyio.CancelScope(deadline=anyio.current_time() + 0.2) as meanwhile, person.stops(meanwhile):
            await asyncio.sleep(0.3)
            assert before.deadline == meanwhile.deadline == math.inf
    with anyio.move_on_after(0.1) as after, person.stops(after):
        await person.end()
        await asyncio.sleep(30)
    assert after.cancelled_caught
    assert person.seconds >= 0.3


async def test_a_password_that_a_person_types_is_in_no_result(hand: Hand, site: Site) -> None:
    done = site.page("<p id=p></p><script>p.textContent = location.hash.slice(1)</script>")
    await hand.open(
        site.page(
            f"<input type=password id=p><button onclick=\"location = '{done}#' + p.value\">Log in</button>"
            "<button onclick=\"p.type = 'text'\">Show</button><button onclick='p.remove()'>Away</button>"
        )
    )
    person, page = hand.session.takeover, hand.tab.page
    await person.begin("Ann")
    for part in ("correct", " horse"):
        await page.locator("#p").press_sequentially(part)
        await person.read_secrets()
    await page.get_by_text("Show").click()
    await person.end()
    values = hand.session.hidden.values()
    assert "correct horse" in values
    assert "correct" not in values, "only the whole of what was typed"
    controller = Controller()
    told = rendered(await controller.execute("get_state", {}, hand.session), hand.session)
    assert "correct" not in told
    await person.begin("Ann")
    await page.get_by_text("Log in").click()
    await page.wait_for_url("**/*#correct%20horse")
    await person.end()
    for name, arguments in (("get_state", {}), ("evaluate_script", {"script": "document.body.innerText"})):
        told = rendered(await controller.execute(name, arguments, hand.session), hand.session)
        assert "correct" not in told
        assert "typed by a person" in told


async def test_a_session_that_a_person_has_can_be_closed() -> None:
    async with managing() as manager, another(manager) as hand:
        person = hand.session.takeover
        await person.begin("Ann")
        await hand.session.close()
        await person.over()
        assert person.active is None
