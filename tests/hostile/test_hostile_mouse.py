"""A press of the mouse comes to what was checked, whatever the page moves under it."""

import pytest

from tests.hostile.conftest import Make
from tests.hostile.kit import Heard, few, kit
from tests.hostile.test_hostile_keys import DENY_PAY, settled
from tests.support.site import Site

MOMENTS = ("pointermove", "mousemove", "pointerdown", "mousedown", "pointerup", "mouseup", "focusin")
WAYS = ("click_element", "click_element by force", "mouse_click", "browser_action", "hover_element")


@pytest.mark.parametrize("way", few(WAYS, WAYS[:1]))
@pytest.mark.parametrize("moment", few(MOMENTS, ["mousemove"]))
async def test_what_a_page_moves_under_the_mouse_is_not_pressed_where_a_policy_denies_it(
    under: Make, site: Site, heard: Heard, moment: str, way: str
) -> None:
    victim = under(DENY_PAY)
    attack = kit(heard, reparent={"on": [moment], "what": "#go"}, log=["mousedown", "click"])
    # What comes next takes the place of what is moved to the end.
    body = f"{attack}<div><button id=go>Next</button></div><div><button id=pay>Pay</button></div>"
    body += "<style>body { margin: 0 } div:empty { display: none } button { width: 120px }</style>"
    await victim.open(site.page(body))
    point = "20,10@1280x720"
    match way.split(maxsplit=1)[0]:
        case "mouse_click":
            await victim.call("mouse_click", at=point)
        case "browser_action":
            await victim.call("browser_action", action="click", coordinate=point)
        case name:
            forced = {"force": True} if "force" in way else {}
            await victim.call(name, index=victim.index("Next"), **forced)
    await settled(victim, heard)
    assert "click trusted pay" not in heard.whats, heard.whats
