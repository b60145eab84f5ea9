"""Round trips to the browser: each call makes as few as can be, whatever the page is."""

import pytest

from mcp_browser.dom import reading
from tests.snapshot.hand import Hand
from tests.snapshot.trips import counting

pytestmark = pytest.mark.slow

ROWS = "".join(f"<p>Line {n} <button>Act {n}</button></p>" for n in range(2000))


async def test_a_snapshot_and_changes_are_one_evaluation_each_however_long_the_page(hand: Hand) -> None:
    await hand.show(ROWS)
    for read in (hand.look, hand.tab.dom.changes):
        with counting() as trips:
            await read()
        assert trips.messages == ["send Runtime.evaluate"]


async def test_frames_of_the_same_process_and_of_others_are_read_side_by_side(hand: Hand) -> None:
    inner = hand.site.page("<button>Inner</button>")
    far = inner.replace(hand.site.url, hand.site.other)
    await hand.show(f"<iframe src='{inner}'></iframe>" * 3 + f"<iframe src='{far}'></iframe>" * 2)
    with counting() as trips:
        view = await hand.look()
    assert len(view.all("Inner")) == 5
    assert trips.messages.count("send Runtime.evaluate") == 6
    assert trips.chain <= 3


async def test_the_page_script_is_sent_once_into_each_frame_of_another_process(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "EARLY_SECONDS", 60)
    inner = hand.site.page("<button>Inner</button>")
    others = f"<iframe src='{inner.replace(hand.site.url, hand.site.other)}'></iframe>" * 4
    await hand.show("<p>Before</p>")
    with counting() as trips:
        view = await hand.visit(hand.site.page(others))
    assert len(view.all("Inner")) == 4
    assert trips.page_scripts == 5, trips.messages


async def test_a_click_that_starts_nothing_is_five_messages(hand: Hand) -> None:
    view = await hand.show("<button onclick=\"this.textContent = 'Hit'\">Act</button>")
    await hand.click(view.index("Act"))
    with counting() as trips:
        await hand.click(view.index("Act"))
    # Ready, mouse (move, down, up), then settle and changes in one.
    assert trips.messages.count("send Runtime.evaluate") == 2, trips.messages
    assert len(trips) == 5, trips.messages


PLAIN = "<button>Act</button>"


@pytest.mark.parametrize(
    ("page", "asks"),
    [
        (f"{PLAIN}<b onmousedown='0'>Elsewhere</b>", False),
        (f"<iframe srcdoc='{PLAIN}'></iframe><script>onmousedown = () => 0</script>", False),
        ("<button onpointerdown='0'>Act</button>", True),
        (f"{PLAIN}<script>addEventListener('mousedown', () => 0)</script>", True),
        (f"<iframe srcdoc='{PLAIN}<script>onfocus = () => 0</script>'></iframe>", True),
        (f"{PLAIN}<input autofocus onblur='0'>", True),
        (f"{PLAIN}<script>document.body.onblur = () => 0</script>", True),
    ],
)
async def test_a_page_is_asked_between_press_and_release_where_it_listens_for_the_press(
    hand: Hand, page: str, asks: bool
) -> None:
    view = await hand.show(page)
    with counting() as trips:
        await hand.tab.element(view.index("Act")).click()
    at = trips.messages.index("mouseDown")
    assert trips.messages[at:] == ["mouseDown", *["send Runtime.evaluate"] * asks, "mouseUp"]


@pytest.mark.parametrize(
    ("action", "name", "arguments"),
    [
        ("input_text", "Town", {"text": "Gent"}),
        ("select_option", "Size", {"options": ["Large"]}),
        ("set_checked", "Agree", {"checked": True}),
        ("hover_element", "Agree", {}),
        ("scroll", None, {"direction": "down"}),
        ("find_elements", None, {"text": "Town"}),
        ("get_state", None, {"screenshot": False}),
    ],
)
async def test_every_other_action_stays_small(
    hand: Hand, action: str, name: str | None, arguments: dict[str, object]
) -> None:
    view = await hand.show(
        "<label>Town <input></label><label>Size <select><option>Small<option>Large</select></label>"
        "<label><input type=checkbox> Agree</label>" + ROWS
    )
    if name is not None:
        arguments = {**arguments, "index": view.index(name)}
    with counting() as trips:
        await hand.do(action, **arguments)
    keys = len(str(arguments["text"])) if action == "input_text" else 0  # All sent at once
    assert len(trips) <= 9 + keys, trips.messages
