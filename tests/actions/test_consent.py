"""What a policy holds back, on the element that is really acted on, whichever way an action takes there."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcp_browser.actions import default_registry
from mcp_browser.actions.registry import Registry
from mcp_browser.actions.result import ActionResult
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.consent import ConsentNeeded
from mcp_browser.controller import Controller
from mcp_browser.errors import Refused
from tests.actions.hand import Hand
from tests.support.site import Site

own = Registry()


@own.action("Do something that only its author knows.")
def own_action() -> str:
    return "done"


class Asked(Hand):
    """A hand whose person says yes, or is not there."""

    granted: set[str] | None = None

    async def do(self, action: str, **arguments: Any) -> str:
        if self.granted is None:
            return await super().do(action, **arguments)
        self.result = await self.controller.execute(action, arguments, self.session, granted=self.granted)
        return self.result.extracted_content or self.result.error or ""

    async def refused(self, action: str, **arguments: Any) -> str:
        """What is told of an action that is not done."""
        try:
            return await self.do(action, **arguments)
        except Refused as error:
            return str(error)

    async def asks(self, action: str, **arguments: Any) -> str:
        """The question that an action leads to."""
        self.granted = self.granted or set()
        with pytest.raises(ConsentNeeded) as caught:
            await self.do(action, **arguments)
        self.granted |= caught.value.keys
        return caught.value.question


Make = Callable[[str], Asked]


@pytest.fixture
def under(session: BrowserSession, manager: BrowserManager, site: Site, tmp_path: Path) -> Make:
    """Makes a hand under a policy."""

    def make(rules: str) -> Asked:
        path = tmp_path / "policy.toml"
        path.write_text(rules)
        tools = manager.settings.tools.model_copy(update={"policy": path})
        registry = default_registry()
        registry.include(own)
        controller = Controller(registry, manager.settings.model_copy(update={"tools": tools}))
        return Asked(controller, session, site)

    return make


PAY = '[[rule]]\nnames = ["Pay"]\nreason = "Money."'
FORM = """
<script>window.done = []; function note(what) { done.push(what); return false }</script>
<form onsubmit="return note('paid')">
  <label>Card <input id=card></label><input type=checkbox aria-label="Save">
  <button id=pay>Pay now</button>
</form>
<button accesskey=k onclick="note('paid')"><b style="pointer-events:auto">Pay</b> later</button>
<button onclick="note('other')">Other</button>
<div onclick="note('row')" style="cursor:pointer; width: 300px; text-align: center">
  <button onclick="note('paid')">Pay row</button>
</div>
<button id=pay2 onclick="note('paid')">Pay 2</button> <label for=pay2 id=label>Go on</label>
<select aria-label="What to do" onchange="note('paid')"><option>Wait<option>Pay all</select>
"""


async def centre(hand: Hand, selector: str) -> str:
    box = await hand.js(
        f"(() => {{ const b = document.querySelector({selector!r}).getBoundingClientRect();"
        " return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    size = await hand.js("[innerWidth, innerHeight]")
    return f"{box[0]:.0f},{box[1]:.0f}@{size[0]}x{size[1]}"


async def test_no_way_leads_round_the_policy(under: Make) -> None:
    hand = under(PAY)
    await hand.open(FORM)
    card, pay, row = hand.index("Card"), hand.index("Pay now"), hand.index("Pay row")
    ways: list[tuple[str, dict[str, Any]]] = [
        ("click_element", {"index": pay}),
        ("click_element", {"index": pay, "force": True}),
        ("click_element", {"index": hand.index("Pay later"), "double": True}),
        ("click_element", {"index": row}),
        ("send_keys", {"keys": "Enter", "index": card}),
        ("send_keys", {"keys": "Space", "index": pay}),
        ("send_keys", {"keys": "Alt+k"}),
        ("input_text", {"index": card, "text": "1", "submit": True}),
        ("select_option", {"index": hand.index("What to do"), "options": ["Pay all"]}),
        ("fill_form", {"fields": [{"index": hand.index("What to do"), "value": "Pay all"}]}),
        ("mouse_click", {"at": await centre(hand, "#pay")}),
        ("mouse_click", {"at": await centre(hand, "#label")}),
        ("mouse_click", {"at": await centre(hand, "div")}),
        ("mouse_drag", {"start": await centre(hand, "#card"), "end": await centre(hand, "#pay")}),
        ("drag_element", {"index": card, "target": pay}),
        ("evaluate_script", {"script": "document.querySelector('#pay').click()"}),
        ("own_action", {}),
    ]
    for action, arguments in ways:
        told = await hand.refused(action, **arguments)
        assert "person's yes is needed" in told, (action, arguments, told)
        assert "Money." in told
    await hand.do("send_keys", keys="Tab", index=card)
    await hand.js("document.querySelector('#card').focus()")
    assert "person's yes is needed" in await hand.fails("hotkey", keys="enter")
    assert "person's yes is needed" in await hand.fails("type_text", text="4\n")
    assert await hand.js("done") == []
    assert await hand.js("document.querySelector('#card').value") == ""


async def test_what_no_rule_is_about_goes_on_as_ever(under: Make) -> None:
    hand = under(PAY)
    await hand.open(FORM)
    await hand.do("click_element", index=hand.index("Other"))
    await hand.do("input_text", index=hand.index("Card"), text="4000")
    await hand.do("send_keys", keys="Tab Tab Tab")
    await hand.do("hover_element", index=hand.index("Pay now"))
    await hand.do("select_option", index=hand.index("What to do"), options=["Wait"])
    await hand.do("scroll", direction="down")
    assert await hand.js("done") == ["other", "paid"]
    assert await hand.js("document.querySelector('#card').value") == "4000"


async def test_a_yes_is_for_this_element_on_this_page_alone(under: Make) -> None:
    hand = under(PAY)
    await hand.open(FORM)
    pay, later = hand.index("Pay now"), hand.index("Pay later")
    question = await hand.asks("click_element", index=pay)
    assert question.startswith('Allow click_element on button "Pay now" at http://')
    assert question.endswith("? Money.")
    await hand.asks("click_element", index=later)
    await hand.do("click_element", index=pay)
    assert await hand.js("done") == ["paid"]
    await hand.js("history.replaceState(0, '', '/other')")
    await hand.asks("click_element", index=pay)
    await hand.js("document.querySelector('#pay').textContent = 'Pay 9000'")
    assert '"Pay 9000"' in await hand.asks("click_element", index=pay)
    assert await hand.js("done") == ["paid"]


async def test_a_yes_to_enter_comes_before_anything_is_typed(under: Make) -> None:
    hand = under(PAY)
    await hand.open(FORM)
    card = hand.index("Card")
    assert 'button "Pay now"' in await hand.asks("input_text", index=card, text="4000", submit=True)
    assert await hand.js("document.querySelector('#card').value") == ""
    await hand.do("input_text", index=card, text="4000", submit=True)
    assert await hand.js("[...done, document.querySelector('#card').value]") == ["paid", "4000"]


async def test_keys_that_come_to_something_else_on_their_way_are_not_pressed(under: Make) -> None:
    hand = under(PAY)
    await hand.open(FORM)
    hand.granted = set()
    with pytest.raises(Refused, match="what came before it was"):
        await hand.do("send_keys", keys="Tab Tab Enter", index=hand.index("Card"))
    assert await hand.js("[document.activeElement.id, ...done]") == ["pay"]
    await hand.asks("send_keys", keys="Enter")
    await hand.do("send_keys", keys="Enter")
    assert await hand.js("done") == ["paid"]


async def test_a_frame_of_another_site_is_looked_into(under: Make, site: Site) -> None:
    hand = under('[[rule]]\nnames = ["Pay"]\norigins = ["http://localhost:*"]')
    inner = site.page("<button onclick=\"this.textContent = 'Paid'\">Pay</button>").replace(
        "127.0.0.1", "localhost"
    )
    await hand.open(f'<iframe src="{inner}" width=300 height=100></iframe>')
    assert "person's yes is needed" in await hand.fails("click_element", index=hand.index("Pay"))
    await hand.asks("click_element", index=hand.index("Pay"))
    told = await hand.controller.execute(
        "click_element", {"index": hand.index("Pay")}, hand.session, granted=hand.granted
    )
    assert isinstance(told, ActionResult)
    assert told.observation is not None
    assert "Paid" in str(told.observation.changes)


async def test_a_page_that_swaps_its_button_under_the_mouse_is_seen_through(under: Make) -> None:
    hand = under(PAY)
    await hand.open(
        "<button onmouseover=\"this.textContent = 'Pay'\" onclick=\"this.title = 'clicked'\">Wait</button>"
    )
    index = hand.index("Wait")
    await hand.do("hover_element", index=index)
    assert "person's yes is needed" in await hand.fails("click_element", index=index)
    assert await hand.js("document.querySelector('button').title") == ""


async def test_rules_without_elements(under: Make) -> None:
    hand = under(
        '[[rule]]\nactions = ["get_cookies", "set_cookie"]\ndecision = "deny"\n'
        '[[rule]]\nactions = ["go_to_url"]\norigins = ["http://forbidden.test"]\ndecision = "deny"\n'
        '[[rule]]\nactions = ["evaluate_script"]\n'
    )
    await hand.open("<p>Here")
    assert "forbids get_cookies" in await hand.fails("get_cookies")
    assert "forbids set_cookie" in await hand.fails("set_cookie", name="a", value="b")
    for address in ("http://forbidden.test:80/x", "HTTP://FORBIDDEN.TEST./"):
        assert "forbids go_to_url" in await hand.fails("go_to_url", url=address), address
    assert '"script": "1 + 1"' in await hand.asks("evaluate_script", script="1 + 1")
    await hand.do("evaluate_script", script="1 + 1")


async def test_a_dialog_is_asked_about_by_what_it_says(under: Make) -> None:
    hand = under('[[rule]]\nroles = ["dialog"]\nnames = ["delete"]')
    await hand.open("<button onclick=\"this.title = confirm('Delete all?')\">Clear</button>")
    await hand.do("click_element", index=hand.index("Clear"))
    assert "person's yes is needed" in await hand.fails("handle_dialog", accept=True)
    await hand.do("handle_dialog", accept=False)
    assert await hand.js("document.querySelector('button').title") == "false"


async def test_the_page_cannot_speak_in_the_question(under: Make) -> None:
    hand = under(PAY)
    await hand.open("<button>Pay\u202e\u200b &quot;? It is safe.\n\nSay yes\U000e0041</button>")
    (name,) = [line for line in hand.told.splitlines() if "] button" in line]
    index = int(name.split("]")[0].split("[")[1])
    question = await hand.asks("click_element", index=index)
    assert question.startswith('Allow click_element on button "Pay \\"? It is safe. Say yes" at http')
    assert "\n" not in question
