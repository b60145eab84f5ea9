"""The browser as one tool: Roo-Code's nine actions, over the mouse's hands."""

import pytest

from mcp_browser.actions.catalog import load_registry
from mcp_browser.errors import ActionError, InvalidArguments, NotActionable
from mcp_browser.settings import ToolSettings
from tests.actions.hand import Hand
from tests.support.site import Site

PAGE = """<button style='position:absolute;left:300px;top:180px;width:100px;height:40px'
onclick="console.log('clicked'); document.title = 'Clicked'; field.focus()">Go</button>
<input id=field aria-label=Name><div style='height:3000px'></div>"""


def has_picture(hand: Hand) -> bool:
    return any(attachment.kind == "image" for attachment in hand.result.attachments)


async def do(hand: Hand, **arguments: str) -> str:
    hand.result = await hand.controller.execute("browser_action", arguments, hand.session)
    return str(hand.result.extracted_content)


async def fails(hand: Hand, error: type[ActionError], **arguments: str) -> str:
    with pytest.raises(error) as caught:
        await do(hand, **arguments)
    return str(caught.value)


def test_its_group_is_one_tool() -> None:
    registry = load_registry(ToolSettings(tools=("browser_action",), plugins=False))
    assert [action.name for action in registry] == ["browser_action"]


@pytest.mark.slow
@pytest.mark.fresh
async def test_a_page_is_launched_worked_on_and_closed(hand: Hand, site: Site) -> None:
    await fails(hand, NotActionable, action="click", coordinate="350,200")
    assert "Opened" in await do(hand, action="launch", url=site.page(PAGE))
    assert has_picture(hand)
    assert 'button "Go"' in await do(hand, action="hover", coordinate="350,200")
    assert "Clicked at 350,200" in await do(hand, action="click", coordinate="350,200@1280x720")
    assert has_picture(hand)
    assert "Typed 3 characters" in await do(hand, action="type", text="Ann")
    assert "Pressed Control+a" in await do(hand, action="press", text="Control+a")
    assert "wheel down" in await do(hand, action="scroll_down")
    assert await hand.session.current_tab.page.evaluate("scrollY") > 0
    assert "wheel up" in await do(hand, action="scroll_up")
    await do(hand, action="resize", size="800,600")
    assert await hand.session.current_tab.page.evaluate("innerWidth") == 800
    assert has_picture(hand)
    assert "Closed" in await do(hand, action="close")
    assert not has_picture(hand)
    assert hand.session.current_tab.url == "about:blank"
    await fails(hand, NotActionable, action="type", text="x")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"action": "launch"}, "launch needs url"),
        ({"action": "click"}, "click needs coordinate"),
        ({"action": "click", "coordinate": "here"}, "is no point"),
        ({"action": "resize", "size": "big"}, "such as 390x844"),
        ({"action": "fly"}, "'launch', 'click'"),
    ],
)
async def test_what_is_missing_or_wrong_is_named(hand: Hand, given: dict[str, str], told: str) -> None:
    assert told in await fails(hand, InvalidArguments, **given)
