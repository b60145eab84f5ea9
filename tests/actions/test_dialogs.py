"""JavaScript dialogs."""

import re

import pytest

from mcp_browser.errors import DialogOpen, NotFound
from tests.actions.hand import Hand

pytestmark = pytest.mark.fresh

PAGE = """
<button onclick="out.textContent = String(confirm('Sure?'))">Confirm</button>
<button onclick="out.textContent = String(prompt('Name?', 'Ann'))">Prompt</button>
<button onclick="alert('One'); alert('Two'); out.textContent = 'both'">Twice</button>
<p id=out></p>
"""


@pytest.mark.parametrize(
    ("button", "answer", "outcome"),
    [
        ("Confirm", {"accept": True}, "true"),
        ("Confirm", {"accept": False}, "false"),
        ("Prompt", {"accept": True}, "Ann"),
        ("Prompt", {"accept": True, "text": "Bob"}, "Bob"),
        ("Prompt", {"accept": True, "text": ""}, ""),
        ("Prompt", {"accept": False}, "null"),
    ],
)
async def test_a_dialog_is_answered(hand: Hand, button: str, answer: dict[str, object], outcome: str) -> None:
    await hand.open(PAGE)
    await hand.do("click_element", index=hand.index(button))
    assert ("Accepted" if answer["accept"] else "Dismissed") in await hand.do("handle_dialog", **answer)
    assert await hand.js("out.textContent") == outcome


async def test_other_actions_wait_for_the_answer(hand: Hand) -> None:
    await hand.open(PAGE)
    await hand.do("click_element", index=hand.index("Confirm"))
    for action, arguments in {
        "click_element": {"index": hand.index("Confirm")},
        "extract_content": {},
        "scroll": {},
        "go_to_url": {"url": hand.site.url},
    }.items():
        error = await hand.fails(action, DialogOpen, **arguments)
        assert re.search(r'confirm dialog is open: "Sure\?".*handle_dialog', error)
    await hand.do("handle_dialog", accept=True)


async def test_a_second_dialog_is_told_after_the_first(hand: Hand) -> None:
    await hand.open(PAGE)
    assert '"One"' in await hand.do("click_element", index=hand.index("Twice"))
    assert '"Two"' in await hand.do("handle_dialog", accept=True)
    assert "both" in await hand.do("handle_dialog", accept=True)
    assert "No dialog is open" in await hand.fails("handle_dialog", NotFound, accept=True)
