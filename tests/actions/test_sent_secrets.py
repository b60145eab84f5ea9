"""A password that a form writes into an address stands in no result."""

import pytest

from mcp_browser.rendering import render_result
from tests.actions.hand import Hand
from tests.support.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

MARK = "<secret>sent in an address</secret>"


async def told(hand: Hand, action: str, **arguments: object) -> str:
    """The text of a result as a client gets it."""
    await hand.do(action, **arguments)
    return render_result(hand.result, settings=hand.controller.settings, secrets=hand.session.hidden)[0]


async def sent(hand: Hand, site: Site, form: str, password: str = "s3cret pass!") -> str:
    """What is told after a form with a password was sent to a page with this form."""
    site.publish(b"<title>There</title><script>console.error(location.href)</script>", path="/there")
    await hand.open(f"{form}User<input name=u value=ann><input type=password name=p aria-label=P><button>Go")
    await hand.do("input_text", index=hand.index("P"), text=password)
    return await told(hand, "click_element", index=hand.index("Go"))


@pytest.mark.parametrize(
    "form",
    [
        "<form action=/there>",
        "<form action=/there onsubmit='event.preventDefault(); this.submit()'>",
        '<form action=/there onsubmit="event.preventDefault();'
        "location = '/there?' + new URLSearchParams(new FormData(this))\">",
    ],
    ids=["sent", "sent by a script", "an address made by a script"],
)
async def test_a_password_in_an_address_is_hidden_wherever_addresses_are_told(
    hand: Hand, site: Site, form: str
) -> None:
    page = await sent(hand, site, form)
    assert "p=s3cret+pass%21" in hand.session.current_tab.url
    tabs = await told(hand, "open_tab")
    await hand.do("switch_tab", tab=1)
    console = await told(hand, "get_console_messages", level="error")
    for text in (page, tabs, console):
        assert f"/there?u=ann&{MARK}" in text
    for text in (page, tabs, console, await told(hand, "get_network_requests")):
        assert "s3cret" not in text


async def test_a_password_that_is_typed_and_sent_at_once_is_hidden_too(hand: Hand, site: Site) -> None:
    site.publish(b"<p>There", path="/there")
    await hand.open("<form action=/there><input type=password name=p aria-label=P autofocus>")
    page = await told(hand, "input_text", index=hand.index("P"), text="s3cret pass!", submit=True)
    assert f"/there?{MARK}" in page
    assert "s3cret" not in page


async def test_each_page_is_listened_to_also_in_another_process(hand: Hand, site: Site) -> None:
    site.publish(b"<p>There", path="/there")
    for number, host in enumerate((site.url, site.other, site.url)):
        path = f"/from{number}"
        site.publish(b"<form action=/there><input type=password name=p aria-label=P>", path=path)
        await hand.do("go_to_url", url=f"{host}{path}")
        page = await told(hand, "input_text", index=hand.index("P"), text=f"s3cret{number}", submit=True)
        assert "/there?<secret>sent in an address" in page
        assert "s3cret" not in page


async def test_what_is_no_secret_or_too_short_or_sent_otherwise_is_told(hand: Hand, site: Site) -> None:
    assert "u=ann&p=abc" in await sent(hand, site, "<form action=/there>", "abc")
    assert "s3cret" not in await sent(hand, site, "<form action=/there method=post>")
    assert not hand.session.hidden


async def test_a_page_can_hide_only_what_it_has_sent(hand: Hand, site: Site) -> None:
    await hand.open(
        "<form id=f><input type=password name=p id=p></form><script>onclick = () => {"
        "for (let n = 0; n < 500; n++) { p.value = `word ${n}`; new FormData(f) } }</script><button>Go"
    )
    await hand.do("click_element", index=hand.index("Go"))
    await hand.do("reload")
    assert not hand.session.hidden
