"""The Controller: one way for every action, with its guards, deadlines and endings."""

import asyncio
import logging

import anyio
import pytest

from mcp_browser import ActionContext, ActionResult, Registry, Tab
from mcp_browser.actions import default_registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.errors import ActionError, DeadlineExceeded, InvalidArguments, NotActionable, UnknownAction
from mcp_browser.privacy.pictures import Shot
from mcp_browser.settings import LimitSettings, Settings
from tests.support.site import Site
from tests.support.waiting import until


def controller(registry: Registry | None = None, **limits: float) -> Controller:
    settings = Settings(limits=LimitSettings.model_validate(limits))
    everything = default_registry()
    if registry is not None:
        everything.include(registry)
    return Controller(everything, settings)


async def on_page(
    session: BrowserSession, site: Site, registry: Registry | None = None, html: str = "<p>Page</p>"
) -> Controller:
    """A controller that has opened a page."""
    working = controller(registry)
    await working.execute("go_to_url", {"url": site.page(html)}, session)
    return working


async def test_an_action_model_is_carried_out(session: BrowserSession, site: Site) -> None:
    working = controller()
    model = working.registry.create_action_model()
    action = model.model_validate({"go_to_url": {"url": site.page("<h1>Here</h1>")}})
    result = await working.act(action, session)
    assert result.extracted_content is not None
    assert result.extracted_content.startswith("Opened")
    assert result.observation is not None
    assert result.observation.snapshot is not None
    assert "names none" in str((await working.act(model(), session)).error)
    named = model.model_validate({"click_element": {"index": 'button "Go"'}})
    lead = model.model_validate({"go_to_url": {"url": site.page("<button>Go</button>")}})
    assert (await working.act([lead, named], session)).error is None


async def test_arguments_are_checked_before_the_browser_starts(manager: BrowserManager) -> None:
    session = await manager.open_session()
    with pytest.raises(InvalidArguments):
        await controller().execute("go_to_url", {"adress": "x"}, session)
    with pytest.raises(UnknownAction):
        await controller().execute("fly", {}, session)
    assert not session.tabs
    await session.close()


async def test_an_action_for_certain_pages_is_refused_elsewhere(session: BrowserSession, site: Site) -> None:
    registry = Registry()

    @registry.action("For localhost.", domains=["localhost"])
    def local() -> None: ...

    @registry.action("For carts.", page_filter=lambda page: page.url.endswith("cart"))
    def cart() -> None: ...

    working = controller(registry)
    url = site.page("<p>Page</p>")
    await working.execute("go_to_url", {"url": url}, session)
    with pytest.raises(UnknownAction, match=r"not offered on .* It is for localhost"):
        await working.execute("local", {}, session)
    with pytest.raises(UnknownAction, match="pages that pass its filter"):
        await working.execute("cart", {}, session)
    await working.execute("go_to_url", {"url": url.replace(site.url, site.other)}, session)
    await working.execute("local", {}, session)


def slow_registry() -> tuple[Registry, list[str]]:
    registry = Registry()
    steps: list[str] = []

    @registry.action("Take long.", effect="read")
    async def dawdle(seconds: float) -> str:
        steps.append("begin")
        try:
            await anyio.sleep(seconds)
        except asyncio.CancelledError:
            steps.append("cancelled")
            raise
        steps.append("end")
        return "done"

    @registry.action("Wait as asked.", effect="read", own_time=lambda params: params.seconds)
    async def patient(seconds: float) -> str:
        await anyio.sleep(seconds)
        return "done"

    return registry, steps


async def test_a_call_ends_at_its_limit_and_its_own_waiting_time(session: BrowserSession, site: Site) -> None:
    registry, steps = slow_registry()
    working = controller(registry, call_timeout=1.5)
    await on_page(session, site)
    with pytest.raises(DeadlineExceeded, match=r"dawdle did not finish within 1\.5 s"):
        await working.execute("dawdle", {"seconds": 60}, session)
    assert steps == ["begin", "cancelled"]
    assert (await working.execute("patient", {"seconds": 1.8}, session)).extracted_content == "done"
    assert (await working.execute("get_state", {}, session)).observation is not None


async def test_calls_of_a_session_take_turns_and_say_so(session: BrowserSession, site: Site) -> None:
    registry, steps = slow_registry()
    working = await on_page(session, site, registry)
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(working.execute, "dawdle", {"seconds": 0.05}, session)
    assert steps == ["begin", "end"] * 3
    hasty = controller(registry, call_timeout=0.3)
    async with session.lock:
        waiting = asyncio.create_task(hasty.execute("dawdle", {"seconds": 0}, session))
        with pytest.raises(DeadlineExceeded, match="waiting for another call to end"):
            await waiting


async def test_a_cancelled_call_leaves_the_session_usable(session: BrowserSession, site: Site) -> None:
    working = await on_page(session, site, html="<p>Page</p><button>Go</button>")
    call = asyncio.create_task(working.execute("wait_for", {"text": "never", "timeout": 60}, session))
    await until(session.lock.locked)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    result = await working.execute("find_elements", {"role": "button"}, session)
    assert result.data is not None
    assert result.data["total"] == 1


mishaps = Registry()


@mishaps.action("Do what does not work.")
async def broken(tab: Tab) -> None:
    await tab.page.locator("#missing").click(timeout=200)


@mishaps.action("Fail.")
async def bug() -> None:
    raise ZeroDivisionError


@mishaps.action("Let something else happen, then fail.")
async def mishap(ctx: ActionContext) -> ActionResult:
    ctx.session.notice("Something else happened.")
    raise NotActionable("It did not work.")


@mishaps.action("Go elsewhere, then fail.")
async def astray(tab: Tab, url: str) -> None:
    await tab.goto(url)
    raise NotActionable("It did not work.")


@mishaps.action("Ask, then fail.")
async def ask(tab: Tab) -> None:
    await tab.act(tab.page.evaluate("confirm('Really?')"))
    raise NotActionable("It did not work.")


async def test_an_error_of_the_browser_becomes_one_clear_sentence_and_any_other_passes_through(
    session: BrowserSession, site: Site
) -> None:
    working = await on_page(session, site, mishaps)
    with pytest.raises(ActionError, match="broken") as caught:
        await working.execute("broken", {}, session)
    assert "Call log" not in str(caught.value)
    with pytest.raises(ZeroDivisionError):
        await working.execute("bug", {}, session)
    assert (await working.execute("get_state", {}, session)).observation is not None


async def test_a_failed_action_tells_what_else_happened(session: BrowserSession, site: Site) -> None:
    working, elsewhere = await on_page(session, site, mishaps), site.page("<p>Elsewhere</p>")
    for name, given, notice in (
        ("mishap", {}, "Something else happened."),
        ("astray", {"url": elsewhere}, f"The page is {elsewhere} now."),
        ("ask", {}, 'A confirm dialog is open: "Really?"; answer it with handle_dialog.'),
    ):
        with pytest.raises(NotActionable, match="It did not work") as caught:
            await working.execute(name, given, session)
        assert caught.value.notices == (notice,)
    await working.execute("handle_dialog", {"accept": True}, session)


async def test_a_result_stands_even_where_no_picture_can_be_taken(
    session: BrowserSession, site: Site, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings()
    always = settings.screenshots.model_copy(update={"screenshots": "always"})
    working = Controller(default_registry(), settings.model_copy(update={"screenshots": always}))
    await working.execute("go_to_url", {"url": site.page("<button>Busy</button>")}, session)
    page = session.current_tab.page

    async def unavailable(**_options: object) -> Shot:
        raise NotActionable("no picture now")

    monkeypatch.setattr(session.current_tab, "screenshot", unavailable)
    with caplog.at_level(logging.WARNING):
        result = await working.execute("scroll", {}, session)
    assert page is session.current_tab.page
    assert result.attachments == ()
    assert "No screenshot" in caplog.text
