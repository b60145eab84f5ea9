"""The page of the view within a chat, with clients that send little, late, in another order, or wrong."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, FrameLocator, Page, expect

from mcp_browser.actions.auditing import _axe
from mcp_browser.server.view.app import KEY_META, app_page

Json = dict[str, Any]
Answers = Callable[[str, Json], Json | None]

OPENED: list[Json] = [
    {"type": "opened"},
    {"type": "sessions", "sessions": [{"id": "one", "title": "A shop"}]},
]
SESSION: Json = {"type": "session", "session": {"id": "one", "tabs": [], "may_take": True}}
CLIENT = """(html) => {
  const frame = document.body.appendChild(document.createElement("iframe"));
  Object.assign(frame, { sandbox: "allow-scripts", srcdoc: html, style: "width: 100%; height: 600px" });
  addEventListener("message", async ({ source, data }) => {
    const answer = await answerApp(data);
    if (answer) source.postMessage(answer, "*");
  });
}"""


def result(content: Any, **more: Any) -> Json:
    """What a tool gives back."""
    text = content if isinstance(content, str) else json.dumps(content)
    return {"result": {"content": [{"type": "text", "text": text}], **more}}


FAILED = result("There is no room.", isError=True)
SHOWN = result("The user sees the browser.", _meta={KEY_META: "the-key"})


class Client:
    """A client as these tests want it: `answers` are asked before the usual ones; None answers nothing."""

    def __init__(self, page: Page, answers: Answers, context: Json) -> None:
        self.page = page
        self.heard: list[Json] = []
        self._answers = answers
        self._context = context

    @property
    def view(self) -> FrameLocator:
        return self.page.frame_locator("iframe")

    @property
    def calls(self) -> list[Json]:
        """What the page has called: names and arguments."""
        return [one["params"] for one in self.heard if one.get("method") == "tools/call"]

    async def answer(self, message: Json) -> Json | None:
        self.heard.append(message)
        if "id" not in message or "method" not in message:
            return None
        given = message["params"].get("arguments", {})
        found = self._answers(message["params"].get("name", message["method"]), given)
        if found == {} and message["method"] == "ui/initialize":
            found = {"result": {"protocolVersion": "2026-01-26", "hostContext": self._context}}
        return None if found is None else {"jsonrpc": "2.0", "id": message["id"], **found}

    async def tell(self, method: str, params: Json, **more: Any) -> None:
        """Send the page a message."""
        told = {"jsonrpc": "2.0", "method": method, "params": params, **more}
        await self.page.evaluate('(told) => frames[0].postMessage(told, "*")', told)

    async def until(self, found: Callable[[Json], bool]) -> None:
        """Wait for a message of the page."""
        async with asyncio.timeout(30):
            while not any(map(found, self.heard)):  # noqa: ASYNC110 - the page tells it
                await asyncio.sleep(0.02)

    async def let_in(self) -> None:
        """Send the result that shows the view; the page connects."""
        await self.tell("ui/notifications/tool-result", SHOWN["result"])
        await self.says("Connected.")

    async def says(self, text: str) -> None:
        """The page says this of its state."""
        await expect(self.view.get_by_role("status")).to_contain_text(text, timeout=30_000)


@asynccontextmanager
async def showing(
    chromium: Browser, answers: Answers, *, begins: bool = True, **context: Any
) -> AsyncGenerator[Client]:
    """The page in a client, once it listens; its script may not have failed."""
    page = await chromium.new_page(viewport={"width": 800, "height": 700})
    client = Client(page, answers, {"toolInfo": {"tool": {"name": "show_browser"}}, **context})
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    await page.expose_function("answerApp", client.answer)  # pyright: ignore[reportUnknownMemberType] - Playwright's
    await page.set_content("<title>A chat</title>")
    await page.evaluate(CLIENT, app_page())
    if begins:
        await client.until(lambda one: one.get("method") == "ui/notifications/initialized")
    yield client
    await page.close()
    assert not wrong


def serves(name: str, given: Json) -> Json | None:
    """A server whose session is shown, and where nothing happens."""
    if name != "exchange_view":
        return {}
    return result([*OPENED, SESSION] if given.get("anew") else [])


def refuses(refused: str, answers: Answers = serves) -> Answers:
    """A client that refuses this."""
    error = {"error": {"code": -32000, "message": "Not here."}}
    return lambda name, given: error if name == refused else answers(name, given)


@pytest.mark.slow
async def test_a_slow_call_is_waited_for(chromium: Browser) -> None:
    async with showing(chromium, serves) as client:
        await client.tell("ui/notifications/tool-input", {"arguments": {}})
        await asyncio.sleep(2)
        await client.let_in()
        # Without the handle of the session that the call has begun, another call would show another one.
        assert {call["name"] for call in client.calls} == {"exchange_view"}


@pytest.mark.parametrize(
    ("method", "params", "says"),
    [
        ("ui/notifications/tool-cancelled", {"reason": "user action"}, "The call was cancelled."),
        ("ui/notifications/tool-result", FAILED["result"], "There is no room."),
    ],
)
async def test_a_call_that_fails_is_told_and_not_made_again(
    chromium: Browser, method: str, params: Json, says: str
) -> None:
    async with showing(chromium, serves) as client:
        await client.tell("ui/notifications/tool-input", {"arguments": {}})
        await client.tell(method, params)
        await client.says(says)
        assert not client.calls


async def test_a_page_that_is_shown_for_a_question_asks_for_what_lets_it_in(chromium: Browser) -> None:
    def answers(name: str, given: Json) -> Json | None:
        return SHOWN if name == "show_browser" else serves(name, given)

    async with showing(chromium, answers, toolInfo={"tool": {"name": "ask_person"}}) as client:
        await client.tell("ui/notifications/tool-input", {"arguments": {"reason": "Pay.", "session": "s1"}})
        await client.says("Connected.")
        assert client.calls[0] == {"name": "show_browser", "arguments": {"session": "s1"}}


async def test_a_client_that_refuses_the_page_is_quoted(chromium: Browser) -> None:
    async with showing(chromium, refuses("ui/initialize"), begins=False) as client:
        await client.says("Not here.")


async def test_a_client_without_a_context_and_one_that_enlarges_nothing_are_borne(chromium: Browser) -> None:
    answers = refuses("ui/request-display-mode", lambda _name, _given: {"result": {}})
    async with showing(chromium, answers) as client:
        await client.tell("ui/notifications/host-context-changed", {"availableDisplayModes": ["fullscreen"]})
        await client.view.get_by_role("button", name="Enlarge").click()
        await client.until(lambda one: one.get("method") == "ui/request-display-mode")


@pytest.mark.slow
async def test_answers_that_are_lost_are_made_good(chromium: Browser) -> None:
    asked: list[Json] = []

    def answers(name: str, given: Json) -> Json | None:
        if name == "exchange_view":
            asked.append(given)
            # The first answer, and what the page says then, which names the session that it shows.
            if len(asked) == 1 or (given.get("messages") and sum("messages" in one for one in asked) == 1):
                return {"error": {"code": -32000, "message": "Bad gateway."}}
        return serves(name, given)

    async with showing(chromium, answers) as client:
        await client.tell("ui/notifications/tool-result", SHOWN["result"])
        await client.says("Bad gateway.")
        await client.says("Connected.")
        await client.until(lambda _: sum("messages" in one for one in asked) > 1)
        watching = [one["messages"] for one in asked if "messages" in one]
        assert [one[0]["type"] for one in watching] == ["watch", "watch"]


async def test_what_was_taken_over_is_handed_back_with_the_page(chromium: Browser) -> None:
    async with showing(chromium, serves) as client:
        await client.let_in()  # By the result, without being told the arguments
        await client.tell("ui/resource-teardown", {}, id=7)
        await client.until(lambda one: one == {"jsonrpc": "2.0", "id": 7, "result": {}})
        assert {"type": "hand_back", "note": ""} in client.calls[-1]["arguments"]["messages"]


async def test_requests_are_answered_known_or_not(chromium: Browser) -> None:
    async with showing(chromium, serves) as client:
        await client.tell("ping", {}, id=7)
        await client.until(lambda one: one == {"jsonrpc": "2.0", "id": 7, "result": {}})
        await client.tell("ui/no-such-request", {}, id=8)
        await client.until(lambda one: one.get("id") == 8 and one["error"]["code"] == -32601)


async def test_the_page_tells_its_height_and_takes_the_width_that_it_gets(chromium: Browser) -> None:
    async with showing(chromium, serves) as client:
        await client.until(lambda one: one.get("method") == "ui/notifications/size-changed")
        told = [one["params"] for one in client.heard if "size-changed" in one.get("method", "")]
        assert all(set(one) == {"height"} and one["height"] > 400 for one in told)


async def test_the_page_has_no_barriers_that_can_be_measured(chromium: Browser) -> None:
    async with showing(chromium, serves, availableDisplayModes=["inline", "fullscreen"]) as client:
        await client.let_in()
        (frame,) = client.page.main_frame.child_frames
        for theme in ("light", "dark"):
            await client.tell("ui/notifications/host-context-changed", {"theme": theme})
            await frame.evaluate(f"{_axe()};0")
            found = await frame.evaluate("axe.run().then((found) => JSON.stringify(found.violations))")
            assert json.loads(found) == []
