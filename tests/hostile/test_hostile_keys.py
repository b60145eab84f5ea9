"""Keys and presses go where they were meant, or nowhere, whatever the page does and moves meanwhile."""

from typing import Any, cast

import pytest

from mcp_browser.browser.session import BrowserSession
from tests.hostile.conftest import Make
from tests.hostile.kit import Heard, Victim, few, framed, hearing, in_script, kit
from tests.hostile.test_hostile_frames import VALUE, type_secret
from tests.support.site import Site

DENY_PAY = '[[rule]]\nnames = ["Pay"]\ndecision = "deny"\n'

MOMENTS: dict[str, dict[str, Any]] = {
    "a question about a key": {"mute": ["key"], "steal": {"on": ["key"]}},
    "any question": {"mute": ["key"], "steal": {"on": ["channel"]}},
    **{f"question {nth}": {"mute": ["key"], "steal": {"nth": nth}} for nth in range(1, 7)},
    "any question and keydown, with a command": {
        "mute": ["*"],
        "commands": ["release", "settled"],
        "steal": {"on": ["channel", "keydown"]},
    },
    "keydown": {"steal": {"on": ["keydown"]}},
    "keydown, kept from others": {"steal": {"on": ["keydown"], "stop": True}},
    "keypress": {"steal": {"on": ["keypress"]}},
    "beforeinput": {"steal": {"on": ["beforeinput"]}},
    "each event": {
        "mute": ["*"],
        "steal": {"on": ["channel", "keydown", "keypress", "beforeinput", "focusin"]},
    },
}

some_moments = few(MOMENTS, ("a question about a key", "keydown"), night=True)
moments = pytest.mark.parametrize("moment", some_moments)


def moving(heard: Heard, moment: str, to: str) -> str:
    """The hostile script that moves the focus at a moment."""
    options = MOMENTS[moment]
    return kit(heard, **{**options, "steal": {**options["steal"], "to": to}})


def buttons(heard: Heard) -> str:
    """A button that is allowed and one that is denied."""
    look, pay = heard.script("`look ${event.isTrusted}`"), heard.script("`pay ${event.isTrusted}`")
    return (
        "<button id=look>Look</button><button id=pay>Pay</button><input aria-label=Search id=search>"
        f"<script>look.onclick = event => {{ {look} }}; pay.onclick = event => {{ {pay} }}</script>"
    )


Way = tuple[str, dict[str, Any]]
KEYS: list[Way] = [
    ("send_keys", {"keys": "Enter"}),
    ("send_keys", {"keys": "Space"}),
    ("send_keys", {"keys": "Enter", "index": "Look"}),
    ("hotkey", {"keys": "enter"}),
    ("type_text", {"text": "\n"}),
    ("type_text", {"text": "a b\n"}),
]


def named(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    name, arguments = cast("Way", value)
    keys = arguments.get("keys", "")
    return " ".join(filter(None, [name, repr(keys) if keys else "", *(["index"] * ("index" in arguments))]))


async def press(victim: Victim, name: str, arguments: dict[str, Any], *, focused: str = "look") -> str:
    """What a tool that presses keys says, once something has the focus."""
    await victim.read(f"document.getElementById('{focused}').focus()")
    if "index" in arguments:
        arguments = {**arguments, "index": victim.index(arguments["index"])}
    return await victim.call(name, **arguments)


def reopened(html: str, focus: str) -> str:
    return f"<!doctype html>{html}<script>document.getElementById('{focus}').focus()</script>"


WRITTEN = ("written at keydown", "written at keypress", "written at keyup")


@pytest.mark.parametrize("moment", [*some_moments, *few(WRITTEN, WRITTEN[:1])])
@pytest.mark.parametrize("way", few(KEYS, KEYS[:1]), ids=named)
async def test_no_key_presses_what_a_policy_denies(
    under: Make, site: Site, heard: Heard, moment: str, way: Way
) -> None:
    victim = under(DENY_PAY)
    if moment in WRITTEN:
        html = reopened(buttons(heard), "pay")
        attack = kit(heard, reopen={"on": [moment.rpartition(" ")[2]], "html": html})
    else:
        attack = moving(heard, moment, "#pay")
    await victim.open(site.page(attack + buttons(heard)))
    await press(victim, *way)
    await settled(victim, heard)
    assert heard.of("pay") == []


async def settled(victim: Victim, heard: Heard) -> None:
    """Wait until the web server has heard all that the page had to report."""
    await victim.read(f"void ({heard.script('`end`')})")
    await heard.until("end")


@pytest.mark.parametrize("way", few(KEYS[:5], KEYS[:1]), ids=named)
async def test_keys_press_what_is_allowed_where_the_focus_stays(
    under: Make, site: Site, heard: Heard, way: Way
) -> None:
    victim = under(DENY_PAY)
    await victim.open(site.page(kit(heard) + buttons(heard)))
    text = await press(victim, *way)
    assert not victim.failed, text
    await heard.until("look true")
    text = await press(victim, "send_keys", {"keys": "Enter"}, focused="pay")
    assert "forbids" in text
    await settled(victim, heard)
    assert heard.of("pay") == []


FIELDS = "<input aria-label=Search id=search><input aria-label=Other id=other><input type=password id=pw>"
TYPING: list[Way] = [
    ("type_text", {"text": "abc"}),
    ("send_keys", {"keys": "abc"}),
    ("send_keys", {"keys": "abc", "index": "Search"}),
    ("browser_action", {"action": "type", "text": "abc"}),
    ("input_text", {"text": "abc", "index": "Search", "slowly": True}),
    ("input_text", {"text": "abc", "index": "Search"}),
    ("fill_form", {"fields": [{"index": "Search", "value": "abc"}]}),
]
typing = pytest.mark.parametrize("way", few(TYPING, TYPING[:1]), ids=named)


async def type_into_search(victim: Victim, name: str, arguments: dict[str, Any]) -> str:
    """What a tool that types says, once the field Search has the focus."""
    if "fields" in arguments:
        fields = [{**field, "index": victim.index(field["index"])} for field in arguments["fields"]]
        arguments = {"fields": fields}
    return await press(victim, name, arguments, focused="search")


@moments
@typing
async def test_no_text_goes_into_a_password_field_that_the_page_moves_the_focus_to(
    victim: Victim, site: Site, heard: Heard, moment: str, way: Way
) -> None:
    await victim.open(site.page(moving(heard, moment, "#pw") + FIELDS))
    await type_past_the_password(victim, way, chosen="index" not in str(way) and moment == "each event")


async def type_past_the_password(victim: Victim, way: Way = TYPING[0], *, chosen: bool) -> None:
    """Type; nothing goes into the password field unless it had the focus before: the result names it."""
    text = await type_into_search(victim, *way)
    held = await victim.values()
    named = 'textbox "" hint="pw"' in text.splitlines()[0]
    assert held.get("pw", "") == "" or (chosen and named), text
    assert held.get("search") in ("", "a", "ab", "abc")
    if held.get("search") != "abc" and not held.get("pw"):
        assert "Typed 3 characters" not in text
        assert '"abc"' not in text.splitlines()[0]


@typing
async def test_a_text_goes_where_the_focus_stays(victim: Victim, site: Site, heard: Heard, way: Way) -> None:
    for page in (kit(heard) + FIELDS, *[written(FIELDS)] * (way == TYPING[0])):
        await victim.open(site.page(page))
        text = await type_into_search(victim, *way)
        assert not victim.failed, text
        assert await victim.values() == {"search": "abc", "other": "", "pw": ""}


@pytest.mark.parametrize("kind", few(["cross-site", "srcdoc"], ["cross-site"]))
@typing
async def test_no_key_goes_into_another_sites_frame_that_the_page_moves_the_focus_to(
    victim: Victim, site: Site, heard: Heard, kind: str, way: Way
) -> None:
    inner = hearing(site)
    listens = LISTENS.format(report=inner.script("`${e.type} ${e.key}`"))
    frame = framed(site, kind, f"<input id=thief autofocus><script>{listens}</script>")
    await victim.open(site.page(moving(heard, "keydown", "#frame") + FIELDS + frame))
    await type_into_search(victim, *way)
    await settled(victim, heard)
    # Of the key that moves the focus, only its end may be heard there.
    assert [what for what in inner.whats if not what.startswith("keyup")] == []


LISTENS = (
    "for (const type of ['keydown', 'keypress', 'beforeinput', 'input', 'keyup'])"
    " addEventListener(type, e => {{ {report} }}, true)"
)


@typing
async def test_what_is_told_is_what_the_field_has(victim: Victim, site: Site, heard: Heard, way: Way) -> None:
    """The page keeps only vowels, or nothing."""
    for kept in ("a", ""):
        keep = f"search.oninput = () => {{ search.value = search.value.includes('a') ? '{kept}' : '' }}"
        await victim.open(site.page(f"{FIELDS}<script>{keep}</script>"))
        await type_into_search(victim, *way)
        held = (await victim.values())["search"]
        assert held == kept
        if not victim.failed:
            said = await victim.call("get_state")
            assert f'value="{held}"' in said if held else 'value="' not in said


# document.open() takes every listener off the document and its window, also those of other worlds.
PASSWORD_FIRST = "<input type=password id=pw autofocus><input id=search aria-label=Search>"


def written(html: str) -> str:
    """A page that writes itself anew once it has loaded."""
    again = f"document.open(); document.write({in_script(html)}); document.close()"
    return f"<script>onload = () => {{ {again} }}</script>"


@pytest.mark.parametrize("moment", few(["keydown", "keypress", "beforeinput", "input"], ["keydown"]))
@typing
async def test_no_text_goes_into_a_password_field_of_a_document_written_while_it_is_typed(
    victim: Victim, site: Site, heard: Heard, moment: str, way: Way
) -> None:
    attack = kit(
        heard,
        reopen={"on": [moment], "html": reopened(PASSWORD_FIRST, "pw")},
        steal={"on": ["keydown"], "to": "#pw"},
    )
    # Nothing to take before the document is another one.
    await victim.open(site.page(attack + FIELDS.replace("id=pw", "id=old")))
    text = await type_into_search(victim, *way)
    held = await victim.values()
    assert held.get("pw", "") == "", (text, held)
    if held.get("search") != "abc":
        assert "Typed 3 characters" not in text or "which has left the page" in text


@moments
@pytest.mark.parametrize("rules", [DENY_PAY, ""], ids=["under a policy", "in a document written anew"])
async def test_no_text_goes_into_a_password_field_under_a_policy_or_of_a_document_written_before(
    under: Make, site: Site, heard: Heard, moment: str, rules: str
) -> None:
    victim, attack = under(rules), moving(heard, moment, "#pw") + FIELDS
    await victim.open(site.page(attack if rules else written(attack)))
    await type_past_the_password(victim, chosen=moment == "each event")


@pytest.mark.parametrize("on", few(["keydown", "beforeinput", "input", "focusin", "channel"], ["keydown"]))
async def test_a_secret_stays_in_its_document_whatever_the_page_writes_and_moves(
    session: BrowserSession, site: Site, heard: Heard, on: str
) -> None:
    inner = hearing(site)
    listens = f"addEventListener('input', () => {inner.script('thief.value')}, true)"
    thief = f"<input id=thief><script>{listens}</script>"
    frame = framed(site, "cross-site", thief)
    attack = kit(heard, mute=["*"], steal={"on": [on], "to": "#frame"}, commands=["release"])
    for way in ("input_text", "type_text", "send_keys"):
        await type_secret(session, site.page(f"{attack}<input aria-label=Word id=word>{frame}"), way)
    assert inner.whats == []
    assert VALUE not in "".join(heard.whats)


MOVES = ("pointermove", "mousemove", "pointerdown", "mousedown", "pointerup", "mouseup", "focusin")
PRESSES = ("click_element", "click_element by force", "mouse_click", "browser_action", "hover_element")


@pytest.mark.parametrize("way", few(PRESSES, PRESSES[:1]))
@pytest.mark.parametrize("moment", few(MOVES, ["mousemove"]))
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
