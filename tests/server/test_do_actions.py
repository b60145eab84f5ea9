"""Several actions in one call, as a client sends them, and what the page's server receives of it."""

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client

from mcp_browser.actions import default_registry
from mcp_browser.actions.registry import Registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.tab import Tab
from mcp_browser.controller import Controller
from tests.server.task_room import Lending
from tests.support.agents import text as text_of
from tests.support.agents import until
from tests.support.client import MODERN_FIRST, held
from tests.support.remote import client_of, serving
from tests.support.servers import server_of
from tests.support.site import Reply, Request, Site

PAGE = """
<label>Name <input id=name></label>
<label>Note <input id=note onchange="seen('note ' + note.value)"></label>
<label><input type=checkbox id=agree> Agree</label>
<label>Photo <input type=file></label>
<button onclick="seen('a')">A</button>
<button onclick="seen('b')">B</button>
<button onclick="seen('remove'); document.querySelector('#gone').remove()">Remove</button>
<button id=gone onclick="seen('gone')">Gone</button>
<button onclick="seen('rename'); renamed.textContent = 'Delete all'">Rename</button>
<button id=renamed onclick="seen('renamed')">Keep</button>
<button onclick="seen('cover'); veil.hidden = false">Cover</button>
<button onclick="seen('disable'); off.disabled = true">Disable</button>
<label>A list whose name has so many words that a short description of it would be cut somewhere, as some are
<select multiple onchange="seen('two')"><option>One<option>Two</select></label>
<button id=off onclick="seen('off')">Off</button>
<button onclick="seen('ask ' + confirm('Sure?'))">Ask</button>
<button onclick="seen('late'); setTimeout(() => list.hidden = false, 400)">Late</button>
<button onclick="seen('passing'); note.value = 'x'; setTimeout(() => note.value = '', 50)">Passing</button>
<button onclick="seen('redraw'); drawn.innerHTML = drawn.innerHTML">Redraw</button>
<button onclick="seen('less'); drawn.innerHTML = '<p><button>Twin</button></p>'">Less</button>
<div id=drawn><table><tr><td>One<td>Row<td><button onclick="seen('anew')">Anew</button></table>
<p><button>Twin</button></p><p><button>Twin</button></p></div>
<a href="NEXT">Next</a>
<a href="NEXT" target=_blank>New tab</a>
<ul id=list role=listbox hidden><li role=option onclick="seen('rome')">Rome</li></ul>
<section role=region aria-label=Left><button onclick="seen('left')">Same</button></section>
<section role=region aria-label=Right><button onclick="seen('right')">Same</button></section>
<div id=veil hidden style="position:fixed; inset:0; background:#fff" role=dialog aria-label=Veil>Veil</div>
<iframe title=Frame srcdoc="<button onclick=&quot;parent.see('inner')&quot;>Inner</button>"></iframe>
<script>var see, seen = see = what => fetch('/seen?at=' + performance.now() + '&what=' + what)</script>
"""
own = Registry()


@own.action("Write a word on the page.")
async def write_word(tab: Tab, word: str) -> str:
    await tab.page.evaluate("word => document.body.append(word)", word)
    return f"Wrote {word}."


@own.action("For one site only.", domains=["*.example.com"])
def only_there() -> str:
    return "done"


class Room:
    """A server, a client's person, and what the page's server has seen."""

    def __init__(self, manager: BrowserManager, session: BrowserSession, site: Site, **tools: Any) -> None:
        registry = default_registry()
        registry.include(own)
        tools_of = manager.settings.tools.model_copy(update=tools)
        settings = manager.settings.model_copy(update={"tools": tools_of})
        self.server = server_of(Controller(registry, settings), Lending(session))
        self.session = session
        self.asked: list[str] = []
        self.answers: list[bool] = []
        self.heard: list[tuple[float, str]] = []
        self.site = site
        body = "<h1>Next page</h1><button onclick=\"fetch('/seen?what=next')\">Go</button>"
        self.next = site.page(body)
        self.long = site.page(body + "".join(f"<p>Line {n} of a long page of text</p>" for n in range(50)))
        site.route("/seen", self._see)

    @property
    def seen(self) -> list[str]:
        """What the page sent, in the order in which it did: requests may overtake each other."""
        return [what for _, what in sorted(self.heard)]

    def _see(self, request: Request) -> Reply:
        self.heard.append((float(request.first("at", "inf")), request.first("what")))
        return Reply(b"")

    async def person(self, context: Any, params: Any) -> types.ElicitResult:
        del context
        self.asked.append(params.message)
        return types.ElicitResult(action="accept", content={"allow": self.answers.pop(0)})

    def client(self, era: Any = "auto") -> Client:
        return Client(self.server, mode=era, elicitation_callback=self.person)


def outcomes_of(result: types.CallToolResult) -> list[dict[str, Any]]:
    data: dict[str, Any] = result.structured_content or {}
    return data["outcomes"]


class Page:
    """The page as a client sees it."""

    def __init__(self, room: Room, client: Client) -> None:
        self.room, self.client, self.shown = room, client, ""
        self.more: dict[str, Any] = {}

    async def open(self) -> "Page":
        url = self.room.site.page(PAGE.replace("NEXT", self.room.next))
        opened = await self.client.call_tool("go_to_url", {"url": url, **self.more})
        self.shown = text_of(opened)
        if "mcp-browser/session" in (opened.meta or {}):
            self.more = {"session": dict(opened.meta or {})["mcp-browser/session"]}
        self.room.heard.clear()
        return self

    def index(self, name: str) -> int:
        found = re.search(rf'\[(\d+)\] \S+ "{name}"', self.shown)
        assert found is not None, (name, self.shown)
        return int(found[1])

    def click(self, name: str) -> dict[str, Any]:
        return {"click_element": {"index": self.index(name)}}

    def type(self, name: str, text: str) -> dict[str, Any]:
        return {"input_text": {"index": self.index(name), "text": text}}

    async def do(self, *actions: dict[str, Any]) -> types.CallToolResult:
        return await self.client.call_tool("do_actions", {"actions": list(actions), **self.more})

    async def stops(self, *actions: dict[str, Any], seen: list[str]) -> str:
        """Do them; the second one is not done."""
        self.room.heard.clear()
        result = await self.do(*actions)
        assert result.is_error, text_of(result)
        assert self.room.seen == seen
        assert [one["outcome"] for one in outcomes_of(result)] == [
            "done",
            "failed",
            *["not started"] * (len(actions) - 2),
        ]
        return text_of(result)


@pytest.fixture
def room(manager: BrowserManager, session: BrowserSession, site: Site) -> Room:
    return Room(manager, session, site)


@pytest.fixture
async def page(room: Room) -> AsyncGenerator[Page]:
    async with held(room.client()) as client:
        yield await Page(room, client).open()


async def test_twenty_actions_are_one_call_with_one_report(page: Page) -> None:
    fields = [
        {"index": page.index("Name"), "value": "Ann"},
        {"index": page.index("Agree"), "value": True},
    ]
    actions = [page.click("A"), page.click("B")] * 8
    actions += [page.type("Note", "hi"), {"fill_form": {"fields": fields}}]
    actions += [page.click("Inner"), {"write_word": {"word": "Hello"}}]
    result = await page.do(*actions)
    text = text_of(result)
    assert not result.is_error, text
    assert page.room.seen == [*["a", "b"] * 8, "note hi", "inner"]
    assert text.startswith("Did 20 actions.\n1. Clicked [")
    assert '\n18. Typed "Ann" into' in text
    assert "\n20. Wrote Hello." in text
    assert text.count("<page ") == 1
    page_text = text.partition("<page ")[2]
    for part in ('textbox "Name" value="Ann"', 'textbox "Note" value="hi"', "checked", "Hello"):
        assert part in page_text
    outcomes = outcomes_of(result)
    assert len(outcomes) == 21
    assert outcomes[0] == {
        "position": 1,
        "action": "click_element",
        "outcome": "done",
        "text": text.split("\n")[1][3:],
    }
    assert "Hello" in (result.structured_content or {})["page"]


async def test_a_list_that_ends_with_a_search_reports_what_it_finds_and_no_new_page(page: Page) -> None:
    search, lead = {"find_elements": {"text": "Go"}}, {"go_to_url": {"url": page.room.long}}
    result = await page.do(lead, search)
    assert not result.is_error
    page.shown = text_of(result)
    assert page.shown.count("<page ") == 1
    assert "Line 1" not in page.shown
    assert "it is not shown beside what was read of it: look with get_state." in page.shown
    assert "is not shown" in (result.structured_content or {})["page"]
    # What follows is reported as a change of that page, and a search in vain shows the page.
    result = await page.client.call_tool("click_element", page.click("Go")["click_element"])
    assert "<page " not in text_of(result)
    assert page.room.seen == ["next"]
    await page.open()
    assert "Line 1" in text_of(await page.do(lead, {"find_elements": {"text": "Nowhere"}}))


@pytest.mark.slow
async def test_what_a_list_reads_at_its_end_stands_for_a_page_that_is_long(page: Page) -> None:
    search, lead = {"find_elements": {"text": "Go"}}, {"go_to_url": {"url": page.room.long}}
    result = await page.do(lead, {"extract_content": {}})
    assert text_of(result).count("Line 1 ") == 1
    # A short page and changes are reported beside it, and only the end of a list counts.
    await page.open()
    assert text_of(await page.do(page.click("Next"), search)).count("Next page") == 1
    await page.open()
    result = await page.do(page.type("Name", "Ann"), {"find_elements": {"text": "Keep"}})
    assert 'textbox "Name" value="Ann"' in text_of(result)
    assert "Line 1" in text_of(await page.do(lead, search, {"wait_for": {"text": "Go"}}))


async def test_a_list_of_a_long_name_is_what_it_was(page: Page) -> None:
    choose = {"index": page.index('A list whose [^"]*'), "options": ["Two"]}
    result = await page.do(page.click("A"), {"select_option": choose})
    assert not result.is_error, text_of(result)
    assert page.room.seen == ["a", "two"]


async def test_a_list_stops_where_its_premise_is_gone(page: Page) -> None:
    click = page.click
    told = await page.stops(click("Remove"), click("Gone"), click("A"), seen=["remove"])
    assert "Stopped at action 2 of 3." in told
    assert "2. click_element failed: The element" in told
    assert "Not started: 3. click_element." in told
    assert '- button "Gone"' in told.partition("<page ")[2], "what the first one changed is reported"
    await page.open()
    told = await page.stops(page.click("Next"), page.click("A"), seen=[])
    assert "The page is another one now" in told
    assert "Next page" in told
    await page.open()
    told = await page.stops(page.click("Rename"), page.click("Keep"), seen=["rename"])
    assert 'was shown as button "Keep", and is button "Delete all" now' in told
    for written in ("{}", "[{}]"):
        await page.open()
        keep = {"click_element": {"index": written.format(page.index("Keep"))}}
        told = await page.stops(page.click("Rename"), keep, seen=["rename"])
        assert 'was shown as button "Keep", and is button "Delete all" now' in told


async def test_a_list_stops_once_a_person_has_taken_over(page: Page) -> None:
    async def take_over() -> None:
        await until(lambda: page.room.seen)
        await page.room.session.takeover.end(holder=await page.room.session.takeover.begin("Ann"))

    person = asyncio.create_task(take_over())
    result = await page.do(page.click("A"), {"wait_for": {"seconds": 3}}, page.click("B"))
    await person
    assert " failed: A person has taken over the browser." in text_of(result)
    assert page.room.seen == ["a"]


@pytest.mark.slow
async def test_a_list_stops_where_an_element_cannot_be_used(page: Page) -> None:
    assert "covered by" in await page.stops(page.click("Cover"), page.click("A"), seen=["cover"])
    await page.open()
    assert "disabled" in await page.stops(page.click("Disable"), page.click("Off"), seen=["disable"])
    await page.open()
    told = await page.stops(page.click("Ask"), page.click("A"), seen=[])
    assert "confirm dialog is open" in told
    await page.client.call_tool("handle_dialog", {"accept": True})


@pytest.mark.slow
async def test_an_element_that_is_drawn_anew_is_followed_where_there_is_one_like_it(page: Page) -> None:
    result = await page.do(page.click("Redraw"), page.click("Anew"))
    assert not result.is_error, text_of(result)
    assert page.room.seen == ["redraw", "anew"]
    assert f"[{page.index('Anew')}] was drawn anew, same otherwise, as [" in text_of(result)
    await page.open()
    told = await page.stops(page.click("Less"), page.click("Twin"), seen=["less"])
    assert "is gone from the page" in told


@pytest.mark.slow
async def test_what_was_foreseen_goes_on(page: Page) -> None:
    answer = {"handle_dialog": {"accept": True}}
    waits = {"wait_for": {"text": "Rome", "index": 0}}, {"wait_for": {"text": "Rome"}}
    result = await page.do(page.click("Ask"), answer, page.click("Late"), *waits, page.click("A"))
    assert not result.is_error, text_of(result)
    assert page.room.seen == ["ask true", "late", "a"]
    # A new tab does not end it: what was shown before is where it was.
    result = await page.do(page.click("New tab"), page.click("B"))
    assert not result.is_error, text_of(result)
    assert page.room.seen[3:] == ["b"]
    assert "is the current one again" in text_of(result)
    # What came and went in between is left out.
    result = await page.do(page.click("Passing"), {"wait_for": {"seconds": 0.2}}, page.click("A"))
    assert 'value="x"' not in text_of(result)


async def test_one_wrong_action_refuses_all_of_them(page: Page) -> None:
    first = page.click("A")
    wrong: list[tuple[dict[str, Any], str]] = [
        (
            {"click_elemnt": {"index": 1}},
            "Action 2 (click_elemnt): There is no action 'click_elemnt' (did",
        ),
        ({"click_element": {"idx": 1}}, "Action 2 (click_element): 'index' is missing"),
        *(
            ({"click_element": {"index": gone}}, "Action 2 (click_element): There is no element [99999]")
            for gone in (99_999, "99999", "[99999]")
        ),
        ({"do_actions": {"actions": [first]}}, "A list has no list in it"),
        ({"evaluate_script": {"script": "1"}}, "Action 2 (evaluate_script): It may not be one of a list"),
        ({"upload_file": {"index": 1, "paths": ["a"]}}, "It may not be one of a list"),
        ({"go_to_url": {"url": "file:///etc/passwd"}}, "Action 2 (go_to_url)"),
        ({"only_there": {}}, "Action 2 (only_there): only_there is not offered on"),
        ({"a": {}, "b": {}}, "one name with its arguments"),
    ]
    for action, said in wrong:
        result = await page.do(first, action)
        assert result.is_error
        assert said in text_of(result), text_of(result)
        assert "Nothing was done." in text_of(result)
    many = await page.do(*[first] * 21)
    assert many.is_error
    files = {"fill_form": {"fields": [{"index": page.index("Photo"), "value": "a.txt"}]}}
    assert "takes files" in text_of(await page.do(files))
    assert page.room.seen == []


async def test_a_cancelled_list_stops_and_names_what_it_does(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    clock = anyio.CancelScope()

    async def report(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        told.append(message or "")
        if told[-1].startswith("do_actions: action 2 of 3, wait_for, "):
            clock.cancel()

    monkeypatch.setattr("mcp_browser.server.tools.PROGRESS_SECONDS", 0.3)

    actions = [page.click("A"), {"wait_for": {"seconds": 30}}, page.click("B")]
    with clock:
        await page.client.call_tool("do_actions", {"actions": actions}, progress_callback=report)
    await page.client.call_tool("get_state", {})
    assert page.room.seen == ["a"]
    assert clock.cancelled_caught, told


async def test_elements_are_named_before_they_exist(page: Page) -> None:
    def click(name: Any) -> dict[str, Any]:
        return {"click_element": {"index": name}}

    fields = [{"index": 'textbox "Name"', "value": "Ann"}, {"index": 'checkbox "agree"', "value": True}]
    result = await page.do(
        click('button "Late"'),
        click('option "Rome"'),
        {"fill_form": {"fields": fields}},
        click('button "Same" #2'),
        click('button "Same" in region "Left"'),
        click(f'button "Same" in [{page.index("Right")}]'),
        click('button "Inner"'),
        click('button "Inner" in iframe "Frame"'),
        {"drag_element": {"index": 'button "A"', "target": 'button "B"'}},
        {"screenshot": {"index": 'button "A"'}},
        click('link "Next"'),
        click('button "Go"'),
    )
    assert not result.is_error, text_of(result)
    assert page.room.seen == ["late", "rome", "right", "left", "right", "inner", "inner", "next"]


@pytest.mark.slow
async def test_an_element_is_named_in_a_single_call_whose_error_says_what_there_is(page: Page) -> None:
    result = await page.client.call_tool("click_element", {"index": 'button "Same"'})
    same = [int(found) for found in re.findall(r'\[(\d+)\] button "Same"', page.shown)]
    assert result.is_error
    assert all(f'[{index}] button "Same"' in text_of(result) for index in same)
    result = await page.client.call_tool("wait_for", {"index": 'button "Remov"', "seconds": 0.3})
    assert f'The nearest: [{page.index("Remove")}] button "Remove"' in text_of(result)
    await page.client.call_tool("click_element", {"index": 'button "Late"'})
    assert not (await page.client.call_tool("wait_for", {"index": 'option "Rome"'})).is_error
    result = await page.client.call_tool("click_element", {"index": "the button"})
    assert "role and name as a snapshot shows them" in text_of(result)
    result = await page.client.call_tool("wait_for", {"index": 'region "Lef"', "seconds": 0.3})
    assert text_of(result).split("The nearest: ")[1].startswith(f'[{page.index("Left")}] region "Left"')
    # A whole line of a snapshot.
    result = await page.client.call_tool("click_element", {"index": f'[{same[-1]}] button "Same"'})
    assert not result.is_error, text_of(result)
    # It is called otherwise now: another one of that name is not meant.
    result = await page.client.call_tool("click_element", {"index": f'[{page.index("Off")}] button "A"'})
    assert f'The nearest: [{page.index("A")}] button "A"' in text_of(result)
    assert f'[{page.index("Off")}] button "Off"' in text_of(result)
    assert page.room.seen == ["late", "right"]


POLICY = '[[rule]]\nnames = ["B", "Go"]\n[[rule]]\nnames = ["Off"]\ndecision = "deny"\n'


@pytest.mark.parametrize("era", MODERN_FIRST)
async def test_a_person_is_asked_before_the_first_or_in_the_middle(
    manager: BrowserManager, session: BrowserSession, site: Site, tmp_path: Path, era: str
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY)
    room = Room(manager, session, site, policy=policy)
    go = {"send_keys": {"keys": "Tab"}}, {"send_keys": {"keys": "Enter"}}
    async with room.client(era) as client:
        page = await Page(room, client).open()
        # What is known before is asked before.
        room.answers = [False]
        result = await page.do(page.click("A"), page.click("B"))
        assert "nothing was done" in text_of(result)
        assert (room.seen, len(room.asked)) == ([], 1)
        result = await page.do(page.click("A"), page.click("Off"))
        assert "Action 2 (click_element): The policy of this server forbids" in text_of(result)
        assert room.seen == []
        # What is not, when its turn comes; what was done is not done again.
        room.answers = [True]
        result = await page.do(page.click("A"), page.click("Next"), *go)
        assert not result.is_error, text_of(result)
        assert room.seen == ["a", "next"]
        assert text_of(result).startswith("Did 4 actions.")
        await page.open()
        room.answers = [False]
        result = await page.do(page.click("A"), page.click("Next"), *go, {"wait_for": {"text": "x"}})
        assert result.is_error
        assert room.seen == ["a"]
        assert "4. send_keys failed: The person was asked and has not said yes" in text_of(result)
        assert "Not started: 5. wait_for." in text_of(result)


async def test_a_person_is_asked_of_each_action_of_a_list(
    manager: BrowserManager, session: BrowserSession, site: Site, tmp_path: Path
) -> None:
    names = ["A", "B", "Remove", "Rename", "Redraw", "Less", "Late"]
    policy = tmp_path / "policy.toml"
    policy.write_text(f"[[rule]]\nnames = {names}\n")
    room = Room(manager, session, site, policy=policy)
    room.answers = [True for _ in names]
    async with room.client("legacy") as client:
        page = await Page(room, client).open()
        result = await page.do(*({"click_element": {"index": f'button "{name}"'}} for name in names))
    assert not result.is_error, text_of(result)
    assert room.seen == [name.lower() for name in names]


@pytest.mark.slow
async def test_a_paused_list_goes_on_once_over_http(room: Room, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY)
    async with (
        serving("--http", "--policy", str(policy)) as server,
        client_of(server.url, elicitation_callback=room.person) as client,
    ):
        page = await Page(room, client).open()
        named = {"click_element": {"index": 'button "B"'}}
        arguments = {"actions": [page.click("A"), named, page.click("A")], **page.more}
        answers: dict[str, Any] = {"consent": {"action": "accept", "content": {"allow": True}}}

        async def ask(kind: Any, state: str | None) -> Any:
            params = types.CallToolRequestParams(
                name="do_actions", arguments=arguments, input_responses=answers, request_state=state
            )
            return await client.session.send_request(types.CallToolRequest(params=params), kind)

        required = await ask(types.InputRequiredResult, None)
        assert room.seen == ["a"]
        done = await ask(types.CallToolResult, required.request_state)
        assert text_of(done).startswith("Did 3 actions."), text_of(done)
        again = await ask(types.CallToolResult, required.request_state)
        assert "has gone on already" in text_of(again)
        assert room.seen == ["a", "b", "a"]
        # Where the page is another one by then, what is left is not done.
        required = await ask(types.InputRequiredResult, None)
        await page.open()
        left = await ask(types.CallToolResult, required.request_state)
        assert "The page is another one now than when the person was asked" in text_of(left)
        assert room.seen == []
        # A session that the list has begun goes on with it.
        lead = {"go_to_url": {"url": room.site.page(PAGE)}}
        arguments = {"actions": [lead, {"click_element": {"index": 'button "A"'}}, named]}
        required = await ask(types.InputRequiredResult, None)
        done = await ask(types.CallToolResult, required.request_state)
        assert "Did 3 actions." in text_of(done), text_of(done)
        assert (done.meta or {})["mcp-browser/session"] in text_of(done)
        assert room.seen == ["a", "b"]
