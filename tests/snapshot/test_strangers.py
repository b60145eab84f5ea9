"""What pages leave without names: handles for sizes, swatches of colours."""

import pytest

from tests.snapshot.hand import Hand

BAR = "<i style='position: absolute; cursor: {}-resize; {}'></i>"
BOX = "<div style='position: absolute; inset: 60px 300px auto 60px; height: 120px'>Note{}</div>"
FLEX = "<style>div { display: flex } div > * { flex: 1; height: 80px } div > i { flex: 0 0 8px }</style>"
PARTS = (
    FLEX
    + """<style>p { margin: 0 }</style>
    <div><nav><h2>Folders</h2><p>Much</nav><i style="cursor: col-resize"></i><main>
    <div style="flex-direction: column"><p>List</p><i style="cursor: row-resize"></i><p>Message</p></div>
    </main></div>"""
)
BETWEEN = ["between Folders and List Message", "between List and Message"]
HANDLES: dict[str, tuple[str, list[str]]] = {
    **{
        place: (BOX.format(BAR.format(cursor, style)), [place])
        for place, cursor, style in (
            ("right of Note", "e", "right: -5px; top: 0; width: 10px; height: 100%"),
            ("left of Note", "ew", "left: 0; top: 0; width: 10px; height: 100%"),
            ("top of Note", "ns", "top: -5px; left: 0; width: 100%; height: 10px"),
            ("bottom right of Note", "nwse", "right: -5px; bottom: -5px; width: 10px; height: 10px"),
            ("bottom left of Note", "sw", "left: -5px; bottom: -5px; width: 10px; height: 10px"),
        )
    },
    "two parts of a page": (PARTS, BETWEEN),
    "out of view": (f"<p style='height: 3000px'>{PARTS}", BETWEEN),
    "covered": (f"<b style='position: fixed; inset: 0; background: #fff'>News</b>{PARTS}", BETWEEN),
    "a long text is not quoted": (
        FLEX
        + """<div><nav aria-label=Chats>Ada: see you then<p>Bob: where were you yesterday?</nav>
        <i style="cursor: col-resize"></i><main><h2>Ada</h2></main></div>
        <div><nav>Ada: see you then<p>Bob: where were you yesterday?</nav>
        <i style="cursor: col-resize"></i><main><h2>Ada</h2></main></div>""",
        ["between Chats and Ada", ""],
    ),
}


@pytest.mark.parametrize(("page", "places"), HANDLES.values(), ids=HANDLES)
async def test_a_handle_says_at_which_side_of_what_it_is(hand: Hand, page: str, places: list[str]) -> None:
    view = await hand.show(page)
    states = [
        [state for state in line.states if not state.startswith("covered")]
        for line in view.of_role("clickable")
    ]
    assert states == [[f'hint="{" ".join(["resize", *place.split()])}"'] for place in places]


SWATCHES = {
    "a style of its own": (
        "<style>b { display: inline-block; width: 20px; height: 20px }</style>"
        "<button style='background: #1fbc9c'></button><b style='background: red' onclick=1></b>"
        "<button><b style='background: rgb(0, 0, 128)'></b></button>",
        ["#1fbc9c", "#ff0000", "#000080"],
    ),
    "a class for each": (
        "<style>b { display: inline-block; width: 20px; height: 20px } .a { background: red }"
        ".b { background: lime } .c { background: blue }</style>"
        "<p><b class=a onclick=1></b><b class=b onclick=1></b><b class=c onclick=1></b></p>",
        ["#ff0000", "#00ff00", "#0000ff"],
    ),
    "what lies over it": (
        "<style>button::after { content: ''; position: absolute; inset: 0; background: var(--tint) }"
        "button { position: relative; width: 20px; height: 20px; background: white }</style>"
        "<button style='--tint: #f00'></button><button style='--tint: rgb(0, 128, 128)'></button>",
        ["#ff0000", "#008080"],
    ),
    "words": (
        "<style>b { display: inline-block; width: 20px; height: 20px }</style>"
        "<b style='background: #f00' data-color='Signal red' onclick=1></b>"
        "<b style='background: #0f0' title='Lime' onclick=1></b>",
        ["Signal red", "Lime"],
    ),
}


@pytest.mark.parametrize(("page", "colours"), SWATCHES.values(), ids=SWATCHES)
async def test_a_swatch_is_called_by_its_colour(hand: Hand, page: str, colours: list[str]) -> None:
    view = await hand.show(page)
    assert [line.name or line.states[0].removeprefix('hint="')[:-1] for line in view.elements] == colours


async def test_swatches_of_one_name_say_their_colours_and_other_buttons_say_none(hand: Hand) -> None:
    view = await hand.show(
        "<style>button { width: 20px; height: 20px }"
        ".dot { background: grey } .on { background: navy }</style>"
        "<button aria-label=Colour style='background: red'></button>"
        "<button aria-label=Colour style='background: lime'></button>"
        "<p><button class=dot></button><button class='dot on'></button><button class=dot></button></p>"
        "<p><button></button></p>"
    )
    assert [line.states for line in view.all("Colour")] == [('hint="#ff0000"',), ('hint="#00ff00"',)]
    assert len(view.all("")) == 4
    assert not [line for line in view.all("") if "#" in str(line.states)]


async def test_the_colour_of_a_control_with_a_name_or_an_icon_is_no_hint(hand: Hand) -> None:
    view = await hand.show(
        """<style>button, a { display: inline-block; width: 20px; height: 20px }</style>
        <p><button aria-label=Close style='background: #fff'><svg></svg></button></p>
        <a id=facebook href=/f style='background: #3b5998'><svg><path d='M0 0h9v9z'/></svg></a>
        <button role=switch id=night style='background: green'></button>"""
    )
    assert view.one("Close").states == ()
    assert view.of_role("link")[0].states[-1] == 'hint="facebook"'
    assert view.of_role("switch")[0].states[-1] == 'hint="night"'


async def test_what_acts_in_a_box_that_refuses_clicks_is_an_element_of_its_own(hand: Hand) -> None:
    view = await hand.show(
        """<script>window.log = []</script><section><div style='cursor: not-allowed'>Plan
        <span style='cursor: pointer'>Upgrade</span></div></section>
        <script>onclick = ({ target }) => log.push(target.innerText)</script>"""
    )
    await hand.click(view.index("Upgrade"))
    assert view.one("Upgrade").states == ()
    assert view.says("Plan")
    assert await hand.log() == ["Upgrade"]


async def test_handles_of_a_box_that_is_dragged_are_listed_in_it(hand: Hand) -> None:
    bar = BAR.format("e", "right: 0; top: 0; width: 8px; height: 100%")
    view = await hand.show(
        "<div style='position: relative; width: 200px; height: 80px; cursor: move' onmousedown=1>"
        f"Note{bar}</div>"
        "<div class=gutter style='cursor: col-resize; width: 8px; height: 80px' onmousedown=1></div>"
    )
    assert view.one("Note", role="clickable")
    assert [line.states for line in view.all("")] == [('hint="resize right of Note"',), ('hint="resize"',)]
