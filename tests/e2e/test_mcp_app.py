"""The live view within a client that shows MCP Apps: by the official bridge, in a real browser."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from playwright.async_api import Browser as Chromium

from tests.support.agents import COUNTER, FIND, WAIT, Desk, done, output, refused
from tests.support.app_host import MIME_TYPE, Chat, bridge_script, shows_apps
from tests.support.client import ERAS, Browser, Era, browsing
from tests.support.principals import ALICE, BEARERS, BOB, bearer, tokens_in
from tests.support.remote import RemoteBrowser, client_of, reached, serving
from tests.support.site import Site
from tests.support.view import SHOP, click_in, expect, first_frame, take_over

URI = "ui://mcp-browser/view"
FLAGS = ("--view", "--tools", "core,person", "--takeover-wait", "120")


@pytest.fixture(scope="module")
def bridge() -> str:
    return bridge_script()


@asynccontextmanager
async def chatting(chromium: Chromium, client: Client, bridge: str) -> AsyncGenerator[Chat]:
    chat = await Chat.begin(chromium, client, bridge)
    try:
        yield chat
    finally:
        await chat.end()


async def call(client: Client, tool: str, **arguments: Any) -> types.CallToolResult:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, types.CallToolResult)
    return result


def handle_of(browser: Browser) -> dict[str, Any]:
    """The argument that names the session, where there are several."""
    session = browser.session if isinstance(browser, RemoteBrowser) else None
    return {} if session is None else {"session": session}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("way", ["stdio", "http", "without apps"])
async def test_only_clients_that_show_apps_are_told_of_it(way: str, era: Era) -> None:
    if way == "without apps":
        async with browsing(era, *FLAGS) as browser:
            tools = {tool.name: tool.meta for tool in (await browser.client.list_tools()).tools}
            assert not {"show_browser", "exchange_view"} & set(tools)
            assert tools["ask_person"] is None
            assert "shows no MCP Apps" in await browser.refused("show_browser")
        return
    async with reached(way, era, *FLAGS, extensions=[shows_apps()]) as browser:
        tools = {tool.name: tool.meta for tool in (await browser.client.list_tools()).tools}
        assert tools["show_browser"] == {"ui": {"resourceUri": URI}, "ui/resourceUri": URI}
        assert tools["exchange_view"] == {"ui": {"visibility": ["app"]}}
        assert (tools["ask_person"] or {})["ui"] == {"resourceUri": URI}
        assert tools["go_to_url"] is None
        (page,) = (await browser.client.read_resource(URI)).contents
        assert isinstance(page, types.TextResourceContents)
        assert page.mime_type == MIME_TYPE
        assert 'src="' not in page.text
        assert 'href="' not in page.text


@pytest.mark.slow
@pytest.mark.parametrize(("way", "era"), [("stdio", "auto"), ("http", "auto"), ("http", "legacy")])
async def test_a_person_watches_takes_over_and_hands_back_in_the_chat(
    site: Site, chromium: Chromium, bridge: str, way: str, era: Era
) -> None:
    async with (
        reached(way, era, *FLAGS, extensions=[shows_apps()]) as browser,
        chatting(chromium, browser.client, bridge) as chat,
    ):
        await browser.open(site.page(SHOP, title="Greengrocer"))
        named = handle_of(browser)
        shown = await call(browser.client, "show_browser", **named)
        assert "take" in str(shown.content)
        view = await chat.show("show_browser", named)
        await chat.tell_result(shown)
        await first_frame(view)
        await expect(view.locator("#live")).to_have_attribute("aria-label", "Live picture of Greengrocer")
        await browser.fill("textbox", "Name", "Ada")
        calls = view.locator("#calls > li")
        await expect(calls).to_have_count(2)
        # Step back, then to what is there now.
        await expect(view.locator("#line")).to_be_enabled()
        await view.locator("#line").focus()
        await chat.page.keyboard.press("Home")
        await expect(view.locator("#past")).to_have_js_property("naturalWidth", 1280)
        await view.get_by_role("button", name="Live").click()
        await take_over(view)
        waiting = asyncio.create_task(browser.call("get_state", screenshot=False))
        await click_in(view, 100, 10)
        await chat.page.keyboard.press("End")
        await chat.page.keyboard.type(" Lovelace")
        await click_in(view, 700, 350)
        await expect(view.get_by_role("button", name="Paid by Ada Lovelace")).to_be_visible()
        assert not waiting.done()
        # The whole window, and back.
        await view.get_by_role("button", name="Enlarge").click()
        await expect(view.locator("html")).to_have_class("app whole")
        await view.get_by_role("button", name="Enlarge").click()
        await expect(view.locator("html")).to_have_class("app")
        await view.get_by_label("Note to the model").fill("I have paid.")
        await view.get_by_role("button", name="Hand back").click()
        assert "I have paid." in (await waiting).text
        assert "Paid by Ada Lovelace" in await browser.snapshot()
        height = await chat.page.locator("iframe").evaluate("(frame) => frame.clientHeight")
        assert 400 < height < 900


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
async def test_a_person_is_asked_in_the_chat_by_a_client_without_forms(
    site: Site, chromium: Chromium, bridge: str, era: Era
) -> None:
    async with (
        reached("stdio", era, *FLAGS, extensions=[shows_apps()]) as browser,
        chatting(chromium, browser.client, bridge) as chat,
    ):
        await browser.open(site.page(SHOP, title="Checkout"))
        asking = asyncio.create_task(browser.call("ask_person", reason="Please pay."))
        view = await chat.show("ask_person", {"reason": "Please pay."}, theme="dark")
        await expect(view.get_by_role("status")).to_contain_text("Please pay.")
        assert await view.locator("html").evaluate("(root) => getComputedStyle(root).colorScheme") == "dark"
        await take_over(view)
        await click_in(view, 700, 350)
        await view.get_by_label("Note to the model").fill("Paid in cash.")
        await view.get_by_role("button", name="Hand back").click()
        told = await asking
        assert not told.is_error
        assert "The user says that it is done. They say: Paid in cash." in told.text


async def test_a_principal_without_the_view_is_not_asked_in_it(tmp_path: Path) -> None:
    config = tmp_path / "server.toml"
    config.write_text("[principals.bob]\nview = false\n")
    flags = ("--http", *FLAGS, "--config", str(config))
    async with (
        serving(*flags, environment=BEARERS) as server,
        client_of(server.url, headers=bearer("bob"), extensions=[shows_apps()]) as bob,
    ):
        tools = {tool.name: tool.meta for tool in (await bob.list_tools()).tools}
        assert "show_browser" not in tools
        assert tools["ask_person"] is None
        with pytest.raises(MCPError, match="There is no resource"):
            await bob.read_resource(URI)
        # Else they would wait for somebody who sees nothing.
        asked = refused(bob, "ask_person", {"reason": "Please pay."})
        assert "cannot ask its user" in await asyncio.wait_for(asked, 60)


async def test_what_lets_the_page_in_is_its_callers_alone(tmp_path: Path) -> None:
    tokens = tokens_in(tmp_path)
    audit = tmp_path / "audit.jsonl"
    page = {"page": "a-name-of-its-own"}

    def client(url: str, token: str) -> AbstractAsyncContextManager[Client]:
        return client_of(url, headers=bearer(token), extensions=[shows_apps()])

    flags = ("--http", *FLAGS, "--tokens", str(tokens), "--audit-log", str(audit))
    async with serving(*flags) as server, client(server.url, ALICE) as alice, client(server.url, BOB) as bob:
        shown = await call(alice, "show_browser")
        key = (shown.meta or {})["mcp-browser/view"]
        # Models read the content, and must not take the browser over.
        assert key not in str(shown.content) + str(shown.structured_content)
        own = await call(alice, "exchange_view", view=key, wait=True, **page)
        assert '"opened"' in str(own.content)
        for stranger, given in ((bob, key), (alice, "another-key")):
            told = await refused(stranger, "exchange_view", {"view": given, **page})
            assert "There is no such view" in told
        session = (shown.meta or {})["mcp-browser/session"]
        await alice.call_tool("close_session", {"session": session})
        assert "has ended" in await refused(alice, "exchange_view", {"view": key, **page})
    told = audit.read_text()
    assert "show_browser" in told
    assert "exchange_view" not in told
    assert key not in told + "".join(server.stderr)


@pytest.mark.slow
async def test_the_card_of_a_task_shows_its_steps_asks_and_is_steered(
    site: Site, chromium: Chromium, bridge: str, tmp_path: Path
) -> None:
    desk = Desk(tmp_path)
    asking = output(
        {"call_user": {"question": "Tea or coffee?", "choices": ["Tea", "Coffee"]}}, goal="ask which"
    )
    desk.follow(FIND, asking, FIND, WAIT, done("Ordered tea."))
    async with desk.client("auto", *desk.flags, "--view", extensions=[shows_apps()]) as client:
        tools = {tool.name: tool.meta for tool in (await client.list_tools()).tools}
        assert (tools["run_task"] or {})["ui"] == {"resourceUri": URI}
        assert tools["get_task"] is None
        async with chatting(chromium, client, bridge) as chat:
            given = {"task": "Order a drink.", "start_url": site.page(COUNTER)}
            view = await chat.show("run_task", given)
            await expect(view.locator("#state")).to_have_text("Connected.")
            running = asyncio.create_task(client.call_tool("run_task", given))
            card = view.locator("#task")
            await expect(card.get_by_role("heading")).to_contain_text("Order a drink.")
            await expect(card.locator("#question-text")).to_have_text("Tea or coffee?")
            await expect(card.locator("#steps > li").first).to_contain_text("find the button")
            await card.get_by_role("button", name="Tea", exact=True).click()
            await expect(card.locator("#doing")).to_contain_text("wait_for")
            await card.get_by_label("Instruction").fill("With milk.")
            await chat.page.keyboard.press("Enter")
            await card.get_by_role("button", name="Pause").click()
            await card.get_by_role("button", name="Stop").click()
            ended = await asyncio.wait_for(running, 60)
            assert isinstance(ended, types.CallToolResult)
            await expect(card.locator("#task-status")).to_have_text("stopped")
            await expect(card.get_by_role("button", name="Stop")).to_be_hidden()
    ((history,),) = [list(desk.tasks.glob("*/history.json"))]
    assert '"Tea"' in history.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["an answer", "a button"])
async def test_a_task_that_ended_with_a_question_goes_on_from_its_card(
    site: Site, chromium: Chromium, bridge: str, tmp_path: Path, how: str
) -> None:
    desk = Desk(tmp_path)
    desk.follow(output({"call_user": {"question": "What is the code?"}}), done("In."))
    async with desk.client("auto", *desk.flags, "--view", extensions=[shows_apps()]) as client:
        # Nobody looks yet, so that nobody is asked.
        ended = await call(client, "run_task", task="Log in.", start_url=site.page(COUNTER))
        assert "What is the code?" in str(ended.content)
        async with chatting(chromium, client, bridge) as chat:
            card = (await chat.show("show_browser", {})).locator("#task")
            await expect(card.locator("#task-status")).to_have_text("needs person")
            await expect(card.locator("#obstacle")).to_contain_text("What is the code?")
            if how == "an answer":
                await card.get_by_label("Answer").fill("It is 1234.")
                await chat.page.keyboard.press("Enter")
            else:
                await card.get_by_role("button", name="Done, go on").click()
            await expect(card.locator("#task-answer")).to_have_text("In.")
    kept = "".join(path.read_text() for path in desk.tasks.glob("*/*.json"))
    assert ("It is 1234." if how == "an answer" else "It is done: go on.") in kept
