"""Documents that may run no scripts, such as a mail that is shown in a frame with `sandbox`."""

import html

import pytest

from tests.snapshot.hand import Hand, snapshot_of, words_of

MESSAGE = """<style>@keyframes come { from { opacity: 0 } } p { animation: come .2s }</style><p>Dear Ann</p>
<label><input type=checkbox> Agree</label><label>Name <input name=name></label>
<details><summary>More</summary>Yours, Bob</details><p style='height: 900px'></p><button>Answer</button>"""


@pytest.mark.parametrize("sandbox", ["", "allow-same-origin"])
async def test_a_frame_without_scripts_is_read_and_worked(hand: Hand, sandbox: str) -> None:
    frame = f"<iframe sandbox='{sandbox}' width=600 height=300 srcdoc=\"{html.escape(MESSAGE)}\"></iframe>"
    opened = await hand.do("go_to_url", url=hand.site.page(f"<h1>Inbox</h1>{frame}"))
    assert opened.observation is not None
    names = [node.name for node in snapshot_of(opened).nodes]
    assert names == ["Inbox", "", "Dear Ann", "Agree", "Name", "More", "Answer"]
    assert opened.observation.notices == ()  # None about scripts of ours that were kept from running
    assert "checked" in words_of(await hand.do("set_checked", index='checkbox "Agree"', checked=True))
    assert 'value="Bob"' in words_of(await hand.do("input_text", index='textbox "Name"', text="Bob"))
    assert "+ Yours, Bob" in words_of(await hand.do("click_element", index='disclosure "More"'))
    clicked = await hand.do("click_element", index='button "Answer"')
    assert "Clicked" in str(clicked.extracted_content)


async def test_a_page_without_scripts_is_read_and_worked(hand: Hand) -> None:
    url = hand.site.publish(MESSAGE.encode(), headers={"Content-Security-Policy": "sandbox"})
    opened = snapshot_of(await hand.do("go_to_url", url=url))
    assert "Dear Ann" in [node.name for node in opened.nodes]
    assert "+ Yours, Bob" in words_of(await hand.do("click_element", index='disclosure "More"'))
