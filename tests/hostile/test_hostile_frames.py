"""Whose a frame is: a page cannot pass one of its frames off as another one."""

from typing import TYPE_CHECKING, Any

import anyio
import pytest

from mcp_browser.agent.record.history import ActionRecord
from mcp_browser.agent.secrets.store import Secret, Secrets
from mcp_browser.agent.task import ActionCall
from mcp_browser.browser.session import BrowserSession
from mcp_browser.dom.models import ElementQuery
from tests.agent.conftest import done, make_agent
from tests.hostile.conftest import Make
from tests.hostile.kit import Heard, Victim, few, framed, hearing, kit
from tests.support.site import Site

if TYPE_CHECKING:
    from mcp_browser.agent.executor import ActionOutcome

VALUE = "corr3ct-horse"
PLACE = "<secret>login</secret>"
HERE = "127.0.0.1"
OPAQUE = ("data", "sandboxed")
WITHOUT_ADDRESS = ("srcdoc", "blank", *OPAQUE)
WAYS: dict[str, dict[str, Any]] = {
    "input_text": {"index": "Word", "text": PLACE},
    "fill_form": {"fields": [{"index": "Word", "value": PLACE}]},
    "type_text": {"text": PLACE},
    "send_keys": {"index": "Word", "keys": PLACE},
}


def word(heard: Heard) -> str:
    """A field that sends what it gets to the hostile server."""
    return (
        "<input aria-label=Word id=word>"
        f"<script>word.oninput = () => {heard.script('`word ${word.value}`')}</script>"
    )


def bank(site: Site, heard: Heard) -> str:
    """A frame of the site that the secret belongs to."""
    body = "<input aria-label=Login id=login><script>login.oninput = () => "
    return framed(site, "cross-site", f"{body}{heard.script('`login ${login.value}`')}</script>", id="bank")


async def type_secret(
    session: BrowserSession, start: str | None, way: str = "input_text", *, at: str = HERE, to: str = ""
) -> ActionRecord:
    """What an agent records of typing a site's secret, on a page that it opens first, if any.

    `way` is one of WAYS, `to` the name of the field where that is not Word.
    """
    secrets = Secrets({"login": Secret.model_validate({"value": VALUE, "domains": [at]})})
    agent = make_agent(session, [done()], secrets=secrets)
    if start is not None:
        await agent.executor.open(start)
    with anyio.fail_after(10):
        while "textbox" not in (await agent.executor.look(picture=False)).text:  # noqa: ASYNC110
            await anyio.sleep(0.05)

    async def indexed(value: Any) -> Any:
        if isinstance(value, list):
            return [await indexed(one) for one in value]  # type: ignore[reportUnknownVariableType]
        if not isinstance(value, dict):
            return value
        given: dict[str, Any] = {**value}
        if "index" in given:
            found = await session.current_tab.dom.find(ElementQuery(name=given["index"]), limit=1)
            given["index"] = found.nodes[0].index
        return {key: await indexed(one) for key, one in given.items()}

    arguments = {**WAYS[way], "index": to} if to else WAYS[way]
    if way == "type_text":
        # Where no element is named, the keyboard has to be there.
        index = (await indexed({"index": "Word"}))["index"]
        await agent.executor.act([ActionCall(name="click_element", arguments={"index": index})], [])
    outcomes: list[ActionOutcome] = []
    await agent.executor.act([ActionCall(name=way, arguments=await indexed(arguments))], outcomes)
    record = outcomes[0].record
    assert VALUE not in record.model_dump_json()
    return record


@pytest.mark.parametrize("way", few(WAYS, ["input_text"]))
@pytest.mark.parametrize("kind", few(WITHOUT_ADDRESS, ["srcdoc"]))
async def test_a_secret_goes_to_no_frame_that_a_page_passes_off_as_its_sites(
    session: BrowserSession, site: Site, heard: Heard, kind: str, way: str
) -> None:
    login = hearing(site)
    frames = framed(site, kind, word(heard), id="mine") + bank(site, login)
    attack = kit(heard, swap={"of": "#mine", "give": "#bank"})
    record = await type_secret(session, site.page(attack + frames), way, at="localhost")
    assert not [what for what in heard.of("word") if VALUE in what], record
    assert record.error
    if way != "input_text":
        return
    # Where nothing is passed off, it is refused there as well, and typed at its site.
    record = await type_secret(session, site.page(frames), at="localhost")
    assert "may not be used" in (record.error or "")
    assert heard.of("word") == []
    record = await type_secret(session, None, at="localhost", to="Login")
    assert record.error is None
    await login.until(f"login {VALUE}")


@pytest.mark.parametrize("kind", few(WITHOUT_ADDRESS, ["srcdoc", "blank", OPAQUE[0]]))
async def test_a_frame_without_an_address_gets_the_secret_of_its_creators_origin_if_it_has_that(
    session: BrowserSession, site: Site, heard: Heard, kind: str
) -> None:
    record = await type_secret(session, site.page(framed(site, kind, word(heard))))
    if kind in OPAQUE:
        assert record.error
        assert heard.of("word") == []
    else:
        assert record.error is None
        await heard.until(f"word {VALUE}")


async def test_a_blank_frame_in_a_site_that_the_page_around_it_has_opened_is_that_pages(
    session: BrowserSession, site: Site, heard: Heard
) -> None:
    within = framed(site, "cross-site", "<iframe srcdoc='<p>Within</p>'></iframe>", id="bank")
    # A page may navigate the frames of its frames: a blank document is then its own.
    take = (
        "onload = () => { frames[0].frames[0].location = 'about:blank';"
        "const taking = setInterval(() => { try {"
        "const taken = frames[0].frames[0].document; clearInterval(taking);"
        "taken.body.innerHTML = '<input aria-label=Word>'; taken.body.firstChild.oninput = event => "
        f"{heard.script('`word ${event.target.value}`')}; {heard.script('`taken`')} }} catch {{ }} }}, 50) }}"
    )
    record = await type_secret(session, site.page(f"{within}<script>{take}</script>"), at="localhost")
    assert "taken" in heard.whats
    assert record.error
    assert heard.of("word") == []


def till(heard: Heard) -> str:
    """A button that must not be pressed."""
    note = heard.script("`pay ${event.isTrusted}`")
    form = '<form onsubmit="return false"><button id=pay>Pay</button><input aria-label=Card></form>'
    return f"{form}<script>pay.onclick = event => {{ {note} }}</script>"


def denied(site: Site) -> str:
    return f'[[rule]]\norigins = ["{site.url}"]\nnames = ["Pay"]\ndecision = "deny"\n'


@pytest.mark.parametrize("swap", [True, False], ids=["swapped", "not swapped"])
async def test_what_a_policy_denies_in_a_frame_is_not_clicked_whatever_frame_the_page_offers(
    under: Make, site: Site, shop: Site, heard: Heard, swap: bool
) -> None:
    victim = under(denied(shop))
    attack = kit(heard, swap={"of": "#shop", "give": "#other"}) if swap else ""
    frame = framed(shop, "same process", till(heard), id="shop")
    await victim.open(site.page(attack + frame + framed(site, "srcdoc", "<p>Other</p>", id="other")))
    pay, card = victim.index("Pay"), victim.index("Card")
    told = [
        await victim.call("click_element", index=pay),
        await victim.call("click_element", index=pay, force=True),
        await victim.call("send_keys", index=card, keys="Enter"),
        await victim.call("input_text", index=card, text="1", submit=True),
        await victim.call("browser_action", action="click", coordinate=await centre(victim, "#shop", 30, 18)),
    ]
    for text in told:
        assert "forbids" in text, told
    assert heard.of("pay") == []


async def centre(victim: Victim, frame: str, x: int, y: int) -> str:
    """A point of a frame as a client names it."""
    box = f"document.querySelector('{frame}').getBoundingClientRect()"
    left, top, width, height = await victim.read(f"[{box}.x, {box}.y, innerWidth, innerHeight]")
    return f"{left + x:.0f},{top + y:.0f}@{width}x{height}"


async def test_what_no_rule_is_about_is_clicked_in_a_frame_of_another_origin(
    under: Make, site: Site, shop: Site, heard: Heard
) -> None:
    victim = under(denied(site).replace("Pay", "Delete"))
    await victim.open(site.page(framed(shop, "same process", till(heard))))
    assert 'button "Pay"' in await victim.call("click_element", index=victim.index("Pay"))
    await heard.until("pay true")


@pytest.mark.parametrize("kind", few(["srcdoc", "blank", "blob", "data", "sandboxed"], ["srcdoc"]))
async def test_what_is_denied_to_a_frame_is_denied_to_frames_that_it_makes(
    under: Make, site: Site, shop: Site, heard: Heard, kind: str
) -> None:
    victim = under(denied(shop))
    within = framed(shop, "same process", framed(shop, kind, till(heard), id="within"))
    await victim.open(site.page(within))
    assert "forbids" in await victim.call("click_element", index=victim.index("Pay"))
    assert heard.of("pay") == []
