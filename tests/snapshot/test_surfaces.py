"""What takes drops, parts of drawings, handles and swatches: told apart, named, and acted on."""

import re

import pytest

from mcp_browser.errors import NotActionable
from tests.snapshot.hand import LOG, Hand

SURFACE = (
    f"{LOG}<div draggable=true id=d>Card</div><main><div id=s class=canvas aria-label=Plan "
    "style='height: 200px; border: 1px solid'>CONTENT</div></main><script>"
    "s.addEventListener('dragover', event => event.preventDefault());"
    "s.addEventListener('drop', note('dropped'))</script>"
)


@pytest.mark.parametrize(
    "content",
    ["", "<p>One</p>", "".join(f"<p>Step {n} <button>Edit {n}</button></p>" for n in range(15))],
    ids=["empty", "with a text", "with many children"],
)
async def test_a_surface_that_only_takes_drops_is_told_and_dropped_on(hand: Hand, content: str) -> None:
    view = await hand.show(SURFACE.replace("CONTENT", content))
    surface = view.one("Plan")
    assert "droppable" in surface.states
    await hand.do("drag_element", index=view.index("Card"), target=surface.index)
    assert await hand.log() == ["dropped"]


async def test_the_root_of_a_framework_listens_for_what_is_in_it(hand: Hand) -> None:
    events = ["abort", "click", "drop", "dragover", "encrypted", "mousedown", "volumechange"]
    listen = "one.addEventListener(type, () => 0, true); one.addEventListener(type, () => 0)"
    view = await hand.show(
        "<h1>Shop</h1><div id=a><p>In stock: 5</p></div><div id=b><p>Hello</p><button>Go</button></div>"
        "<p>Text</p><div id=c><p>Mine</p></div><div id=d><p>Pin</p></div><p style='height: 2000px'></p>"
        "<video id=e controls aria-label=Film width=90></video><script>d.onclick = () => 0;"
        f"for (const type of {events}) for (const one of [a, b, d, e]) {{ {listen} }}"
        "for (const type of ['click', 'drop']) c.addEventListener(type, () => 0)</script>"
    )
    names = [node.name for node in view.elements]
    assert names[:3] == ["Go", "Mine", "Pin"], "what listens for itself, too, is listed"
    assert "Film" in names


@pytest.mark.parametrize("event", ["click", "pointerdown", "contextmenu"])
async def test_the_nodes_and_wires_of_a_drawing_are_told_and_clicked(hand: Hand, event: str) -> None:
    view = await hand.show(
        f"{LOG}<svg width=400 height=200>"
        "<g id=a><rect x=10 y=10 width=60 height=40 /><text x=15 y=35>Start</text></g>"
        "<g id=b><rect x=200 y=90 width=60 height=40 /><text x=205 y=115>End</text></g>"
        "<path id=w d='M70 30 C 130 30, 130 110, 200 110' fill=none stroke=black stroke-width=4>"
        "<title>Start to End</title></path>"
        "<line id=l x1=10 y1=150 x2=300 y2=150 stroke=black stroke-width=4><title>Ground</title></line></svg>"
        f"<script>for (const one of [a, b, w, l]) one.addEventListener('{event}', note(one.id))</script>"
    )
    names = ["Start", "End", "Start to End", "Ground"]
    assert [node.name for node in view.elements] == names
    for name in names:
        arguments = {"button": "right"} if event == "contextmenu" else {}
        await hand.do("click_element", index=view.index(name), **arguments)
    assert await hand.log() == ["a", "b", "w", "l"]


async def test_a_shape_of_a_drawing_is_called_by_the_text_in_its_group(hand: Hand) -> None:
    shape = (
        "<g><g><rect x={0} width=90 height=60 /><text x={0} y=30><tspan>{1}</tspan></text></g>"
        "<rect x={0} width=90 height=60 fill=none style='cursor: move; pointer-events: all'></rect></g>"
    )
    view = await hand.show(
        f"<svg width=300 height=90>{shape.format(0, 'Pack')}{shape.format(120, 'Send')}</svg>"
    )
    assert view.text.splitlines() == [
        f'[{view.index("Pack")}] clickable "Pack"',
        f'[{view.index("Send")}] clickable "Send"',
    ]


async def test_points_and_lines_of_a_flow_are_named_by_what_they_belong_to(hand: Hand) -> None:
    node = (
        "<g cursor=move transform='translate({x} 20)'><rect width=100 height=50 fill=silver></rect>"
        "<text x=20 y=30>{name}</text><circle port=in cx=0 cy=25 r=6></circle>"
        "<circle port=out cx=100 cy=25 r=6></circle></g>"
    )
    view = await hand.show(
        f"{LOG}<div id=flow><svg width=500 height=100>{node.format(x=20, name='Read')}"
        f"{node.format(x=300, name='Store')}<path d='M126 45H290' cursor=pointer fill=none stroke=red />"
        "</svg></div><script>flow.onmousedown = event => log.push(event.target.localName)</script>"
    )
    assert re.sub(r"\[\d+\]", "[n]", view.text).splitlines() == [
        '[n] clickable "Read"',
        '  [n] clickable "" hint="in, left of Read"',
        '  [n] clickable "" hint="out, right of Read"',
        '[n] clickable "Store"',
        '  [n] clickable "" hint="in, left of Store"',
        '  [n] clickable "" hint="out, right of Store"',
        '[n] clickable "" hint="line from Read to Store"',
    ]
    for node in view.elements[-2:]:
        await hand.click(node.index)
    assert await hand.log() == ["circle", "path"]


async def test_pictures_in_a_drawing_that_is_dragged_are_clicked_one_by_one(hand: Hand) -> None:
    edge = (
        "<g role=img aria-label='{name}' cursor=pointer>"
        "<path d='M10 {y}H90V{end}' stroke=red fill=none></path></g>"
    ).format
    edges = edge(name="Edge to load", y=10, end=40) + edge(name="Edge to save", y=60, end=90)
    view = await hand.show(
        f"{LOG}<div id=pane style='cursor: grab'><svg width=300 height=100>{edges}</svg>"
        "<button>Zoom</button></div>"
        "<script>pane.onclick = event => log.push(event.target.parentNode.ariaLabel)</script>"
    )
    for name in ("Edge to load", "Edge to save"):
        await hand.click(view.index(name))
    assert await hand.log() == ["Edge to load", "Edge to save"]


async def test_a_broad_line_that_nobody_sees_takes_the_mouse_for_the_thin_one(hand: Hand) -> None:
    # As flow editors draw wires: the broad line listens, and the chart around all.
    node = (
        "<g class=node transform='translate({x} 20)'><rect width=100 height=50 fill=silver></rect>"
        "<text x=20 y=30>{name}</text></g>"
    ).format
    wire = "<path d='M122 {y}H298' style='fill: none; stroke-width: {w}px; stroke: gray; {more}' />".format
    lines = wire(y=45, w=20, more="opacity: 0") + wire(y=45, w=3, more="pointer-events: none")
    view = await hand.show(
        f"{LOG}<div id=chart style='width: 500px'><svg width=500 height=100><g>{lines}</g>"
        f"{wire(y=85, w=9, more='opacity: 0')}{node(x=20, name='Read')}{node(x=300, name='Store')}"
        "</svg></div><p style='height: 500px'></p>"
        "<script>chart.onmousedown = () => log.push('chart'); chart.addEventListener('drop', () => 0);"
        "for (const broad of document.querySelectorAll('[style*=opacity]')) "
        "broad.addEventListener('mousedown', e => { log.push('wire'); e.stopPropagation() })</script>"
    )
    assert [(node.role, node.name, *node.states) for node in view.elements if node.role != "group"] == [
        ("clickable", "", 'hint="line from Read to Store"'),
        ("clickable", "Read"),
        ("clickable", "Store"),
    ]
    for node in view.elements[-3:]:
        await hand.click(node.index)
    assert await hand.log() == ["wire", "chart", "chart"]
    lid = "<rect id=lid width=500 height=90 y=20 fill=red></rect>"
    await hand.tab.page.locator("svg").evaluate("(svg, lid) => svg.insertAdjacentHTML('beforeend', lid)", lid)
    with pytest.raises(NotActionable, match="covered"):
        await hand.click(view.elements[-3].index)


async def test_a_shape_below_its_text_is_one_with_it(hand: Hand) -> None:
    shape = "<g cursor=move><rect x={0} width=90 height=60 fill=silver></rect></g>"
    text = "<g cursor=move><text x={0} y=30>{1}</text></g>"
    both = (shape + text).format
    view = await hand.show(f"<svg width=300 height=90>{both(5, 'Order')}{both(150, 'Ship')}</svg>")
    assert {node.role for node in view.elements} == {"clickable"}
    assert [node.name for node in view.elements] == ["Order", "Ship"]


async def test_a_canvas_below_what_takes_its_clicks_is_one_surface_with_it(hand: Hand) -> None:
    view = await hand.show(
        f"{LOG}<div style='position: relative'><canvas aria-label=Sheet width=300 height=200></canvas>"
        "<div id=over style='position: absolute; inset: 0; width: 300px; height: 200px'></div></div>"
        "<script>over.onmousedown = event => log.push([event.offsetX, event.offsetY])</script>"
    )
    assert view.text == f'[{view.index("Sheet")}] canvas "Sheet"'
    assert await hand.clicks(view.index("Sheet")) == [[150, 100]]


BAR = "<i style='position: absolute; cursor: {}-resize; {}'></i>"
PULLED = {
    "right of Note": BAR.format("e", "right: -5px; top: 0; width: 10px; height: 100%"),
    "left of Note": BAR.format("ew", "left: 0; top: 0; width: 10px; height: 100%"),
    "top of Note": BAR.format("ns", "top: -5px; left: 0; width: 100%; height: 10px"),
    "bottom right of Note": BAR.format("nwse", "right: -5px; bottom: -5px; width: 10px; height: 10px"),
    "bottom left of Note": BAR.format("sw", "left: -5px; bottom: -5px; width: 10px; height: 10px"),
}


@pytest.mark.parametrize(("place", "bar"), PULLED.items(), ids=PULLED)
async def test_a_handle_for_the_size_of_a_box_says_at_which_side_it_is(
    hand: Hand, place: str, bar: str
) -> None:
    view = await hand.show(
        f"<div style='position: absolute; inset: 60px 300px auto 60px; height: 120px'>Note{bar}</div>"
    )
    assert [line.states for line in view.of_role("clickable")] == [(f'hint="resize {place}"',)]


@pytest.mark.parametrize(
    "around",
    ["", "<p style='height: 3000px'>", "<b style='position: fixed; inset: 0; background: #fff'>News</b>"],
    ids=["seen", "out of view", "covered"],
)
async def test_a_bar_between_two_parts_of_a_page_says_between_which(hand: Hand, around: str) -> None:
    view = await hand.show(
        around
        + """<style>div { display: flex } div > * { flex: 1; height: 80px } div > i { flex: 0 0 8px }
        p { margin: 0 }</style>
        <div><nav><h2>Folders</h2><p>Much</nav><i style="cursor: col-resize"></i><main>
        <div style="flex-direction: column"><p>List</p><i style="cursor: row-resize"></i><p>Message</p></div>
        </main></div>"""
    )
    assert [line.states[:1] for line in view.of_role("clickable")] == [
        ('hint="resize between Folders and List Message"',),
        ('hint="resize between List and Message"',),
    ]


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
