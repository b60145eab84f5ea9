"""What can be acted on, and what a person sees: each kind of element that pages are made of."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from mcp_browser.actions.result import ActionResult
from mcp_browser.errors import ActionError, NotActionable
from tests.snapshot.hand import CLIPPED, LOG, Hand, View, words_of

ITEMS = "".join(f"<button onclick='log.push({n})'>Item {n}</button>" for n in range(200))
CLICKED = {
    "a listener": ("<b id=s>Go on</b><script>s.addEventListener('click', note('hit'))</script>", "Go on"),
    "an attribute": ("<div onclick=\"log.push('hit')\">Attribute</div>", "Attribute"),
    "a property": ("<div id=d>Property</div><script>d.onclick = note('hit')</script>", "Property"),
    "an item of a list that listens": (
        "<ul id=u><li style='cursor: pointer'>One</li><li style='cursor: pointer'>hit</li></ul>"
        "<script>u.addEventListener('click', e => log.push(e.target.closest('li').innerText))</script>",
        "hit",
    ),
    "hidden from readers alone": (
        "<div aria-hidden=true><button onclick=\"log.push('hit')\">Seen</button></div>",
        "Seen",
    ),
    "a popover above a modal dialog": (
        "<dialog id=d><button>In dialog</button><div id=p popover><button onclick=\"log.push('hit')\">On top"
        "</button></div></dialog><script>d.showModal(); p.showPopover()</script>",
        "On top",
    ),
    "under what lets the mouse through": (
        "<button onclick=\"log.push('hit')\">Buy</button><div style='position: fixed;"
        " inset: 0; pointer-events: none'></div>",
        "Buy",
    ),
    "under a fixed footer": (
        "<footer style='position: fixed; bottom: 0; height: 150px; width: 100%; background: silver'>Foot"
        "</footer><div style='height: 900px'></div><button onclick=\"log.push('hit')\">Low</button>"
        "<div style='height: 900px'></div>",
        "Low",
    ),
    "in a box that scrolls": (
        "<style>button { display: block }</style><div style='height: 150px; overflow: auto'>"
        f"<div style='height: 100px; overflow: auto'>{ITEMS.replace('push(180)', 'push(`hit`)')}</div></div>",
        "Item 180",
    ),
    "to the right in a carousel": (
        "<style>button { min-width: 300px }</style><div style='display: flex; width: 600px; overflow: auto'>"
        f"{ITEMS.replace('push(17)', 'push(`hit`)')}</div>",
        "Item 17",
    ),
    "in a closed shadow root": (
        "<div id=h></div><script>const r = h.attachShadow({mode: 'closed'}); r.innerHTML = '<button>Closed"
        "</button>'; r.querySelector('button').addEventListener('click', note('hit'))</script>",
        "Closed",
    ),
    "in a closed declarative shadow root": (
        "<div><template shadowrootmode=closed><button onclick=\"log.push('hit')\">Declared</button>"
        "</template></div>",
        "Declared",
    ),
    "a shape of a drawing": (
        "<svg width=200 height=60><circle id=c cx=30 cy=30 r=20><title>Node A</title></circle></svg>"
        "<script>c.addEventListener('click', note('hit'))</script>",
        "Node A",
    ),
    "what moves": (
        "<style>@keyframes slide { from { margin-left: 0 } to { margin-left: 500px } }"
        "button { animation: slide .4s linear forwards }</style>"
        "<button onclick=\"log.push('hit')\">Moving</button>",
        "Moving",
    ),
}


@pytest.mark.parametrize(("html", "name"), CLICKED.values(), ids=CLICKED.keys())
async def test_what_takes_clicks_is_offered_and_hit(hand: Hand, html: str, name: str) -> None:
    view = await hand.show(LOG + html)
    assert not view.one(name).states
    assert await hand.clicks(view.index(name)) == ["hit"]


@pytest.mark.parametrize("event", ["mousedown", "mouseup", "pointerdown", "dblclick", "contextmenu"])
async def test_a_listener_for_another_mouse_event_counts_too(hand: Hand, event: str) -> None:
    view = await hand.show(f"<b id=b>Press</b><script>b.addEventListener('{event}', () => 0)</script>")
    assert view.offers("Press")


BEGIN = """<style>div { width: 100px; height: 40px }</style><script>
const begin = () => requestAnimationFrame(() => setTimeout(() =>
    addEventListener('mouseup', () => { day.textContent = 'Chosen'; }, { once: true })));
</script>"""
LATE = f"{BEGIN}<div id=day tabindex=0>Day</div><script>day.onmousedown = begin</script>"
PRESSED = {
    "an attribute": "<div id=day tabindex=0 onmousedown='late()'>Day</div>",
    "a property of the window": "<div id=day tabindex=0>Day</div><script>onpointerdown = late</script>",
    "a listener": "<div id=day tabindex=0>Day</div><script>addEventListener('mousedown', late)</script>",
    "a stream of events": "<div id=day tabindex=0>Day</div>"
    "<script>day.when('mousedown').subscribe(late)</script>",
    "a property for the focus": "<div id=day tabindex=0>Day</div><script>day.onfocus = late</script>",
    "an attribute for the focus": "<div id=day tabindex=0 onfocus='late()'>Day</div>",
    "an attribute for the focus lost": "<input autofocus onblur='late()'><div id=day tabindex=0>Day</div>",
    "a listener that is added as the mouse comes": "<div id=day tabindex=0>Day</div><script>"
    "day.onmouseenter = () => day.addEventListener('mousedown', late)</script>",
    "an attribute around a closed shadow tree": "<div id=day onmousedown='late()'>Day</div><script>"
    "day.attachShadow({ mode: 'closed' }).innerHTML = '<button><slot></slot></button>'</script>",
}


@pytest.mark.parametrize("page", PRESSED.values(), ids=PRESSED.keys())
async def test_however_a_page_listens_for_the_press_it_has_its_frame_before_the_release(
    hand: Hand, page: str
) -> None:
    view = await hand.show(f"{BEGIN}<script>const late = () => requestAnimationFrame(begin)</script>{page}")
    await hand.click(view.index("Day"))
    await hand.tab.page.get_by_text("Chosen").wait_for(timeout=10_000)


async def test_a_page_that_listens_for_the_release_a_frame_after_the_press_hears_of_it(hand: Hand) -> None:
    inner = hand.elsewhere(LATE)
    view = await hand.show(f"{LATE}<iframe src='{inner}'></iframe>")
    own, framed = (node.index for node in view.all("Day"))
    await hand.click(own)
    await hand.click(framed)
    for frame in hand.tab.page.frames:
        await frame.get_by_text("Chosen").wait_for(timeout=10_000)
    assert len((await hand.look()).all("Chosen")) == 2


async def test_a_button_of_which_the_press_opens_a_dialog_comes_up_when_that_is_closed(hand: Hand) -> None:
    view = await hand.show(
        """<button onmousedown="alert('Stop')" onclick="this.textContent = 'Gone'">Go</button>"""
    )
    await hand.click(view.index("Go"))
    await hand.do("handle_dialog", accept=True)
    await hand.tab.page.get_by_text("Gone").wait_for(timeout=10_000)


async def test_what_lets_the_mouse_through_says_so_unless_something_else_takes_its_clicks(hand: Hand) -> None:
    view = await hand.show(
        f"""{LOG}<style>.off {{ pointer-events: none }}</style>
        <a class=off href=#a>Next page</a><button style="pointer-events: none">Save</button>
        <div class=off><button>Within</button><button style="pointer-events: auto">Apart</button></div>
        <button class=off><i style="pointer-events: auto">Icon</i></button>
        <ul><li id=item><a class=off href=#b>Row</a></li></ul><input class=off aria-label=Name>
        <label><input type=checkbox class=off onchange="log.push('box')">Box</label>
        <script>item.addEventListener('click', note('row'))</script>"""
    )
    marked = {node.name for node in view.elements if "unclickable" in node.states}
    assert marked == {"Next page", "Save", "Within"}
    assert "unclickable" in await hand.find(text="Next page")
    for name in marked:
        with pytest.raises(NotActionable, match="mouse through"):
            await hand.click(view.index(name))
    assert await hand.clicks(view.index("Row")) == ["row"]
    assert await hand.clicks(view.index("Box")) == ["row", "box"]


async def test_a_listener_added_late_makes_the_element_appear(hand: Hand) -> None:
    view = await hand.show(
        "<p><b id=b>Press</b></p><button onclick=\"b.addEventListener('click', () => 0)\">Arm</button>"
    )
    assert not view.offers("Press")
    await hand.click(view.index("Arm"))
    assert (await hand.look()).offers("Press")


async def test_rows_of_a_delegating_table_can_be_clicked_one_by_one(hand: Hand) -> None:
    view = await hand.show(
        f"{LOG}<table><tbody id=t><tr><td>Ann<td>Paris<tr><td>Ben<td>Oslo</table>"
        "<style>tr { cursor: pointer }</style><script>"
        "t.addEventListener('click', e => log.push(e.target.closest('tr').cells[0].innerText))</script>"
    )
    assert await hand.clicks(next(node.index for node in view.elements if "Ben" in node.name)) == ["Ben"]


async def test_a_button_inside_a_card_with_a_pointer_is_offered_beside_the_card(hand: Hand) -> None:
    view = await hand.show(
        f"{LOG}<div style='cursor:pointer' onclick=\"log.push('card')\"><p>Holiday in Rome</p>"
        "<button onclick=\"event.stopPropagation(); log.push('like')\">Like</button></div>"
    )
    assert await hand.clicks(view.index("Like")) == ["like"]
    assert await hand.clicks(
        next(node.index for node in view.elements if "Holiday in Rome" in node.name)
    ) == ["like", "card"]


@pytest.mark.parametrize(
    "hiding",
    [
        "opacity:0",
        "position:absolute;opacity:0;width:0;height:0",
        "position:absolute;left:-9999px",
        "position:absolute;clip:rect(0 0 0 0);width:1px;height:1px",
        "display:none",
        "appearance:none;width:0;height:0",
        "visibility:hidden;position:absolute",
    ],
)
async def test_a_checkbox_hidden_behind_a_drawn_one_can_be_set(hand: Hand, hiding: str) -> None:
    view = await hand.show(
        f"<label style='position:relative;display:block'><input type=checkbox id=c style='{hiding}'>"
        "<i style='display:inline-block;width:20px;height:20px;border:1px solid'></i> Remember me</label>"
    )
    await hand.do("set_checked", index=view.index("Remember me"), checked=True)
    assert await hand.script("c.checked")
    again = (await hand.look()).one("Remember me")
    assert "checked" in again.states


async def test_inert_content_is_told_as_inert(hand: Hand) -> None:
    view = await hand.show("<div inert><button>Asleep</button></div><button id=b>Awake</button>")
    assert view.one("Asleep").states == ("inert",)
    assert view.one("Awake").states == ()
    await hand.script("b.inert = true")
    assert (await hand.look()).one("Awake").states == ("inert",)


@pytest.mark.parametrize(
    "asleep",
    [
        "<div inert onclick=1 style='position: absolute; left: -99px; width: 50px; height: 20px'>Off</div>",
        "<table><tr><th inert onclick=1>Name <button>Filter</button></th><th>Age</th></tr></table>",
    ],
    ids=["a clickable outside of the page", "a header with a control in it"],
)
async def test_inert_ends_with_its_element(hand: Hand, asleep: str) -> None:
    view = await hand.show(f"{asleep}<button>Awake</button>")
    assert view.one("Awake").states == ()


async def test_a_popover_is_offered_only_while_it_is_open(hand: Hand) -> None:
    view = await hand.show(
        "<button popovertarget=p>Menu</button><div id=p popover><button>Entry</button></div>"
    )
    assert not view.offers("Entry")
    await hand.click(view.index("Menu"))
    assert (await hand.look()).offers("Entry")


async def test_details_hide_their_body_until_they_are_opened(hand: Hand) -> None:
    view = await hand.show(
        "<details><summary>Shipping</summary>In short: <p>Two days</p><button>Track</button></details>"
    )
    assert not view.says("Two days")
    assert not view.says("In short")
    assert not view.offers("Track")
    assert "expanded=false" in view.one("Shipping").states
    result = await hand.click(view.index("Shipping"))
    assert "Two days" in words_of(result)
    assert "expanded=true" in (await hand.look()).one("Shipping").states


async def test_content_visibility_hidden_is_not_told_and_auto_is(hand: Hand) -> None:
    view = await hand.show(
        "<div style='content-visibility:hidden'>Skipped words <button>Skipped</button></div>"
        "<div style='height:3000px'></div>"
        f"{LOG}<div style='content-visibility:auto'><button onclick=\"log.push('far')\">Far "
        "below</button></div>"
    )
    assert not view.offers("Skipped")
    assert not view.says("Skipped words")
    assert await hand.clicks(view.index("Far below")) == ["far"]


async def test_display_contents_keeps_its_children_and_its_role(hand: Hand) -> None:
    view = await hand.show(
        f"{LOG}<button style='display:contents' onclick=\"log.push('contents')\">Boxless</button>"
        "<div style='display:contents'><a href=#x>Inside</a> and words</div>"
    )
    assert view.offers("Inside")
    assert view.says("and words")
    assert await hand.clicks(view.index("Boxless", role="button")) == ["contents"]


async def test_a_tracking_frame_of_no_size_is_not_told(hand: Hand) -> None:
    inner = hand.site.page("<button>Tracker</button>")
    view = await hand.show(
        f"<iframe src='{inner}' width=0 height=0 style='border:0'></iframe>"
        f"<iframe src='{inner}' hidden></iframe><p>x</p>"
    )
    assert not view.offers("Tracker")


async def test_an_element_under_a_sticky_header_is_scrolled_from_under_it(hand: Hand) -> None:
    await hand.show(
        f"{LOG}<header style='position:sticky;top:0;height:120px;background:silver;z-index:9'>Head</header>"
        "<div style='height:600px'></div><button onclick=\"log.push('under')\">Under</button>"
        "<div style='height:3000px'></div>"
    )
    await hand.script(
        "scrollTo(0, document.querySelector('button').getBoundingClientRect().top + scrollY - 40)"
    )
    assert await hand.clicks((await hand.look()).index("Under")) == ["under"]


async def test_cross_site_frames_three_deep_are_stitched_and_clicked(hand: Hand) -> None:
    site = hand.site

    def elsewhere(url: str) -> str:
        return url.replace(site.url, site.other)

    third = site.page(
        f"{LOG}<button onclick=\"log.push('third'); this.textContent = 'Pressed'\">Third</button>"
    )
    second = elsewhere(site.page(f"<p>Second</p><iframe src='{third}' width=400 height=150></iframe>"))
    first = site.page(f"<p>First</p><iframe src='{second}' width=500 height=250></iframe>")
    view = await hand.show(
        f"<h1>Top</h1><iframe src='{elsewhere(first)}' width=600 height=350></iframe><p>After</p>"
    )
    lines = [node.name for node in view.snapshot.nodes]
    assert [line for line in lines if line] == ["Top", "First", "Second", "Third", "After"]
    result = await hand.click(view.index("Third"))
    assert "Pressed" in words_of(result)


@pytest.mark.parametrize("elsewhere", [False, True], ids=["same site", "other site"])
async def test_a_frame_that_is_reloaded_gets_new_indexes(hand: Hand, elsewhere: bool) -> None:
    publish = hand.elsewhere if elsewhere else hand.site.page
    view = await hand.show(f"<iframe src='{publish('<button>Inner</button>')}' id=f></iframe>")
    old = view.index("Inner")
    again = "f.src = f.src" if elsewhere else "f.contentWindow.location.reload()"
    await hand.script(f"new Promise(done => {{ f.onload = done; {again} }})")
    new = (await hand.look()).index("Inner")
    assert new != old
    with pytest.raises(ActionError, match=None if elsewhere else rf"\[{new}\] button \"Inner\""):
        await hand.click(old)


@pytest.mark.parametrize(
    "frame",
    [
        "<iframe src='{}' style='border: 13px solid; padding: 9px; transform: scale(.7);"
        " transform-origin: 0 0; margin: 31px' width=500 height=300></iframe>",
        "<div style='height: 2500px'></div><iframe src='{}'></iframe><div style='height: 2500px'></div>",
    ],
    ids=["scrolled, scaled and with a border", "far below"],
)
async def test_a_target_in_a_frame_is_clicked_in_its_place(hand: Hand, frame: str) -> None:
    target = "<div style='height: 900px'></div><button onclick=\"this.textContent = 'Hit'\">Target</button>"
    for publish in (hand.site.page, hand.elsewhere):
        view = await hand.show(frame.format(publish(target)))
        assert "Hit" in words_of(await hand.click(view.index("Target")))


async def test_frames_of_srcdoc_object_and_frameset_are_entered(hand: Hand) -> None:
    inner = hand.site.page("<button>Within object</button>")
    view = await hand.show(
        "<iframe srcdoc='<button>Within srcdoc</button>'></iframe>"
        f"<object data='{inner}' type=text/html></object>"
    )
    assert view.offers("Within srcdoc")
    assert view.offers("Within object")
    frames = hand.site.publish(
        f"<!doctype html><frameset cols='50%,50%'><frame src='{inner}'><frame src='{inner}'>"
        "</frameset>".encode()
    )
    assert len((await hand.visit(frames)).all("Within object")) == 2


async def test_the_areas_of_an_image_map_are_clicked(hand: Hand) -> None:
    picture = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='200' height='100'/%3E"
    view = await hand.show(
        f'<p>Map below</p><img src="{picture}" usemap="#m" alt="Rooms" width=200 height=100><map name=m>'
        "<area shape=rect coords='0,0,100,100' href=#west alt=West>"
        "<area shape=circle coords='150,50,40' href=#east alt=East>"
        "<area shape=poly coords='0,0,5,0,0,5' href=#corner alt=Corner></map>"
    )
    for name in ("East", "West"):
        await hand.click(view.index(name, role="link"))
        assert await hand.script("location.hash") == f"#{name.lower()}"


async def test_a_rotated_button_and_a_round_one_are_hit(hand: Hand) -> None:
    view = await hand.show(
        f"{LOG}<button style='position:absolute;left:200px;top:200px;transform:rotate(45deg)' "
        "onclick=\"log.push('rotated')\">Rotated</button><button style='border-radius:50%;width:80px;"
        "height:80px' onclick=\"log.push('round')\">Round</button>"
    )
    assert await hand.clicks(view.index("Rotated")) == ["rotated"]
    assert await hand.clicks(view.index("Round")) == ["rotated", "round"]


async def test_a_menu_that_opens_on_hover_is_worked_through(hand: Hand) -> None:
    view = await hand.show(
        f"{LOG}<style>nav div {{ display: none }} nav:hover div {{ display: block }}</style>"
        "<nav><a href=#>Products</a><div><button onclick=\"log.push('shoes')\">Shoes</button></div></nav>"
    )
    assert not view.offers("Shoes")
    told = await hand.do("hover_element", index=view.index("Products"))
    assert "Shoes" in words_of(told)
    assert await hand.clicks((await hand.look()).index("Shoes")) == ["shoes"]


Act = Callable[[Hand, View], Awaitable[ActionResult]]


def act(action: str, name: str, *, role: str | None = None, target: str | None = None, **more: Any) -> Act:
    """An action on the element of that name, and on a second one, for tables of cases."""

    def carry_out(hand: Hand, view: View) -> Awaitable[ActionResult]:
        given = {**more, "target": view.index(target)} if target else more
        return hand.do(action, index=view.index(name, role=role), **given)

    return carry_out


DONE: dict[str, tuple[str, Act, str, object]] = {
    "a click on a canvas, in its middle": (
        f"{LOG}<canvas id=c width=300 height=150 aria-label=Drawing></canvas>"
        "<script>c.addEventListener('click', e => log.push([e.offsetX, e.offsetY]))</script>",
        act("click_element", "Drawing"),
        "window.log",
        [[150, 75]],
    ),
    "text into a field in a shadow root": (
        "<div id=h></div><script>h.attachShadow({mode:'open'}).innerHTML = '<label>Town <input>"
        "</label>'</script>",
        act("input_text", "Town", text="Gent"),
        "h.shadowRoot.querySelector('input').value",
        "Gent",
    ),
    "a click on a link in a drawing": (
        "<svg width=200 height=60><a href=#reached><text y=30>Vector link</text></a></svg>",
        act("click_element", "Vector link", role="link"),
        "location.hash",
        "#reached",
    ),
    "a click on a link broken over two lines": (
        "<div style='width:300px;font:20px monospace'>xxxxxxxxxxxxxxxxxx <a href=#hit>one two "
        "three four</a> yyyyyyyyyyyy</div>",
        act("click_element", "one two three four"),
        "location.hash",
        "#hit",
    ),
    "text into a context that draws itself": (
        "<div id=d tabindex=0 aria-label=Note style='width: 200px; height: 30px'>old</div><script>"
        "const context = d.editContext = new EditContext({text: 'old'});"
        "context.addEventListener('textupdate', () => d.textContent = context.text);"
        "d.addEventListener('keydown', event => event.ctrlKey && context.updateSelection(0, 3))</script>",
        act("input_text", "Note", role="textbox", text="new"),
        "d.textContent",
        "new",
    ),
    "a click on a text from right to left": (
        "<div dir=rtl><button onclick=\"document.title = 'hit'\">שלום עולם</button> <a href=#>رابط</a></div>",
        act("click_element", "שלום עולם"),
        "document.title",
        "hit",
    ),
    "scrolling what is named, by the box in it": (
        "<div role=group aria-label=Tree style='height:200px'><div><div id=s"
        " style='height:200px;overflow:auto'>"
        "<div style='height:900px'>Rows</div></div></div></div><div style='height:3000px'></div>",
        act("scroll", "Tree", direction="down"),
        "[s.scrollTop > 0, scrollY]",
        [True, 0],
    ),
    "a click, where nobody can scroll the page": (
        "<style>body { margin: 0 }</style><div id=shell style='height:100vh;overflow:hidden'>"
        "<div style='height:60px'>Bar</div><main style='height:600px;overflow:auto'>"
        "<div style='height:900px'></div><button>Below</button><div style='height:900px'></div></main>"
        "<div style='height:260px'></div></div>",
        act("click_element", "Below"),
        "shell.scrollTop",
        0,
    ),
    "a drag to a point far down in its target": (
        "<button id=b>Source</button><div id=g role=group aria-label=Grid style='height:4000px;width:300px'>"
        "</div><script>window.log = []; g.onpointerup = e => log.push(Math.round(e.offsetY))</script>",
        act("drag_element", "Source", target="Grid", offset_x=50, offset_y=125),
        "window.log",
        [125],
    ),
    "text into a field that rewrites each key": (
        "<input aria-label=Colour id=i><script>i.oninput = () => { if (/^#[0-9a-f]{3}$/.test(i.value))"
        " i.value = '#' + [...i.value.slice(1)].map(one => one + one).join('') }</script>",
        act("input_text", "Colour", text="#224488"),
        "i.value",
        "#224488",
    ),
    "a choice from a select that is clipped": (
        f"<div style='{CLIPPED}'><select id=s aria-label=Fruit><option>Apple<option>Pear</select></div>",
        act("select_option", "Fruit", options=["Pear"]),
        "s.value",
        "Pear",
    ),
    "text into a field of no opacity over drawn boxes": (
        "<div style='position:relative;width:200px;height:40px'>_ _ _ _"
        "<input id=i aria-label=Code style='position:absolute;inset:0;opacity:0'></div>",
        act("input_text", "Code", text="1234"),
        "i.value",
        "1234",
    ),
    "a tick of an item by its icon that is a box": (
        f"{LOG}<div id=t><div class=row>"
        "<i class='x-checkbox icon' style='display:inline-block;width:16px;height:16px'></i><b>Valve</b>"
        "</div></div><script>t.firstChild.onclick = ({target}) => log.push(target.tagName)</script>",
        act("set_checked", "Valve", checked=True),
        "window.log",
        ["I"],
    ),
    "a click on a field without a width, at what is around it": (
        f"{LOG}<div onclick='log.push(1)' style='width:200px;height:30px;border:1px solid'>"
        "<input role=combobox aria-label=Crew readonly style='width:0.4px;border:0;padding:0'></div>",
        act("click_element", "Crew", role="combobox"),
        "window.log",
        [1],
    ),
    "a click on an item of a list that something around listens for": (
        f"{LOG}<main id=m><h1>Files</h1><ul><li>Lease</li><li>Plan</li></ul></main>"
        "<script>m.oncontextmenu = m.onclick = ({target}) => log.push(target.innerText)</script>",
        act("click_element", "Plan"),
        "window.log",
        ["Plan"],
    ),
    "a click on an item below the field of a box that listens": (
        """<p style="height: 300px">Towns</p><div id=list style="width: 200px">
        <input readonly value=Paris><div><div class=item>Rome</div>
        <div class=item>Paris</div><div class=item>Oslo</div></div></div>
        <script>list.addEventListener('mousedown', ({ target }) => {
        document.title = target.textContent })</script>""",
        act("click_element", "Oslo"),
        "document.title",
        "Oslo",
    ),
    "a click on a link without an address in a button": (
        """<button onclick="log.push('open')">Blue <a aria-label="Clear choice"><svg width=15 height=15>
        <path d="M0 0L15 15"/></svg></a></button><script>window.log = [];
        addEventListener('click', event => event.target.closest('a') && log.push('clear'), true)</script>""",
        act("click_element", "Clear choice", role="link"),
        "window.log[0]",
        "clear",
    ),
    "a value for a slider that lets the mouse through, by keys": (
        """<style>b { pointer-events: none; display: block; width: 9px; height: 9px }</style>
        <div style="width: 200px; height: 20px"><b role=slider tabindex=0 aria-label=Angle aria-valuenow=0
        aria-valuemin=0 aria-valuemax=360></b></div><script>
        document.querySelector('b').addEventListener('keydown', ({ key, target }) => {
          const step = { ArrowRight: 1, ArrowLeft: -1 }[key] || 0;
          target.ariaValueNow = Number(target.ariaValueNow) + step;
        })</script>""",
        act("input_text", "Angle", text="90"),
        "document.querySelector('b').ariaValueNow",
        "90",
    ),
    "a tick of a box that lets the mouse through to its cell": (
        """<table><tr><td onclick="box.checked = !box.checked">
        <input id=box type=checkbox tabindex=-1 aria-label=Choose style="pointer-events: none"></td><td>Ann
        </table>""",
        act("set_checked", "Choose", checked=True),
        "box.checked",
        True,
    ),
}


@pytest.mark.parametrize(("html", "action", "expression", "value"), DONE.values(), ids=DONE.keys())
async def test_what_is_done_comes_to_its_element(
    hand: Hand, html: str, action: Act, expression: str, value: object
) -> None:
    await action(hand, await hand.show(html))
    assert await hand.script(expression) == value
