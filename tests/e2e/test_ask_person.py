"""The person is asked by a tool: to act in the browser, or to answer."""

import asyncio
from typing import Any

import mcp_types as types
import pytest
from mcp import Client

from mcp_browser.actions import default_registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.controller import Controller
from mcp_browser.server.person import PersonTools
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.settings import BrowserSettings, Settings, ToolSettings
from tests.support.agents import text
from tests.support.client import ERAS, Era, browsing
from tests.support.remote import reached
from tests.support.servers import server_of
from tests.support.site import Reply, Site
from tests.support.waiting import until

GROUPS = ("--tools", "core,person", "--takeover-wait", "0.1")
CAPTCHA = """
<h1>Are you human?</h1><script>setInterval(async () => {
  const answer = await fetch("SOLVED");
  if (answer.ok && !document.querySelector("button")) {
    document.body.innerHTML = "<button>Go on</button>";
    await fetch("SEEN");
  }
}, 100)</script>"""


class Person:
    """Solves the captcha of a page while they are asked, and answers then."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.solved, self.seen = f"/solved/{id(self)}", f"/seen/{id(self)}"
        site.handlers[self.solved] = lambda _: Reply(b"", status=200 if self.solves.is_set() else 404)
        site.handlers[self.seen] = lambda _: Reply(b"")
        self.asked = asyncio.Event()
        self.solves = asyncio.Event()
        self.question = ""

    def page(self) -> str:
        return self._site.page(CAPTCHA.replace("SOLVED", self.solved).replace("SEEN", self.seen))

    async def elicit(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.question = params.message
        self.asked.set()
        await self.solves.wait()
        await until(lambda: any(self.seen in request for request in self._site.requests))
        return types.ElicitResult(action="accept", content={"outcome": "Done", "note": "It was a duck."})


@pytest.mark.parametrize("way", ["stdio", "http"])
@pytest.mark.parametrize("era", ERAS)
async def test_a_person_solves_what_only_they_can(site: Site, era: Era, way: str) -> None:
    person = Person(site)
    async with reached(way, era, *GROUPS, elicitation_callback=person.elicit) as browser:
        await browser.open(person.page())
        asking = asyncio.create_task(browser.call("ask_person", reason="Please solve the captcha."))
        async with asyncio.timeout(60):
            await person.asked.wait()
        assert person.question == "Please solve the captcha."
        assert 'A person is being asked ("Please solve the captcha.")' in await browser.refused("get_state")
        person.solves.set()
        answered = await asking
        assert not answered.is_error, answered.text
        assert "The user says that it is done. They say: It was a duck." in answered.text
        assert 'button "Go on"' in answered.text
        await browser.click("button", "Go on")


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_cannot_ask_is_told_what_to_tell(site: Site, era: Era) -> None:
    async with browsing(era, *GROUPS) as browser:
        await browser.open(site.page("Log in"))
        told = await browser.refused("ask_person", reason="Log in.")
        assert "cannot ask its user" in told
        assert "Tell the user what they are to do" in told
        assert not (await browser.call("get_state")).is_error


@pytest.mark.parametrize(
    ("action", "told"), [("decline", "The user declined."), ("cancel", "has not answered")]
)
async def test_a_person_need_not(site: Site, action: Any, told: str) -> None:
    async def elicit(context: Any, _params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action=action)

    async with browsing("legacy", *GROUPS, elicitation_callback=elicit) as browser:
        await browser.open(site.page("Log in"))
        assert told in await browser.do("ask_person", reason="Log in.")
        await browser.snapshot()


@pytest.mark.parametrize("era", ERAS)
async def test_a_person_is_led_to_the_view_and_hands_back_there(site: Site, era: Era) -> None:
    links: list[str] = []

    async def elicit(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        assert isinstance(params, types.ElicitRequestURLParams)
        links.append(params.url)
        working.append(asyncio.create_task(work()))
        return types.ElicitResult(action="accept")

    async def work() -> None:
        session = await manager.default_session()
        await session.takeover.begin("Ann")
        await session.current_tab.page.get_by_role("button").click()
        await session.takeover.end("Paid.")

    working: list[asyncio.Task[None]] = []
    tools = ToolSettings(tools=("core", "person"))
    settings = Settings(browser=BrowserSettings(headless=True, isolated=True), tools=tools)
    manager = BrowserManager(settings)
    controller = Controller(default_registry().only({"core"}), settings)
    person = PersonTools(controller, lambda _request, _session: "http://127.0.0.1:1/view#x")
    server = server_of(controller, Sessions(manager), [person.tool()])
    try:
        async with Client(server, mode=era, elicitation_callback=elicit) as client:
            page = site.page("<button onclick=\"document.body.append(' Thank you')\">Pay</button>")
            await client.call_tool("go_to_url", {"url": page})
            result = await client.call_tool("ask_person", {"reason": "Pay, please."})
        assert links == ["http://127.0.0.1:1/view#x"]
        assert "The user says that it is done. They say: Paid." in text(result)
        assert "Thank you" in text(result)
    finally:
        await asyncio.gather(*working)
        await person.close()
        await manager.close()
