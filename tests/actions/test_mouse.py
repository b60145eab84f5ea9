"""Clicking, moving, dragging, turning the wheel and typing at points of the picture, on a real page."""

import pytest

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.errors import DialogOpen, InvalidArguments
from tests.actions.hand import Hand, hand_in
from tests.support.site import Site

pytestmark = pytest.mark.slow

SPY = """<script>
const log = [];
for (const kind of ['mousedown', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu'])
  addEventListener(kind, e => log.push([e.type, e.button, e.detail, e.shiftKey, e.x, e.y].join()));
addEventListener('contextmenu', e => e.preventDefault());
</script>"""

PLACE = "style='position:absolute;left:300px;top:180px;width:100px;height:40px'"
BUY = f"<button {PLACE}>Buy</button>"


async def test_a_click_names_what_it_hit_and_shows_the_page_with_the_cursor(hand: Hand) -> None:
    await hand.open(BUY.replace("<button", "<button onclick=\"this.textContent='Bought'\""))
    told = await hand.do("mouse_click", at="320,200")
    index = hand.index("Buy")
    assert f'Clicked at 320,200: [{index}] button "Buy".' in told
    assert "Viewport 1280x720, cursor at 320,200." in told
    assert f'[{index}] button "Bought" focused' in told
    shown = hand.picture()
    assert shown.size == (1280, 720)
    # The arrow is black where the button is grey.
    assert all(level < 90 for level in shown.convert("RGB").getpixel((323, 208)))  # pyright: ignore


async def test_the_cursor_is_drawn_into_the_picture_and_not_into_the_page(hand: Hand) -> None:
    await hand.open(BUY)
    before = await hand.js("document.documentElement.outerHTML")
    await hand.do("mouse_move", at="600,600")
    assert await hand.js("document.documentElement.outerHTML") == before
    assert hand.picture().convert("RGB").getpixel((602, 609)) != (255, 255, 255)
    await hand.do("screenshot")
    assert hand.picture().convert("RGB").getpixel((602, 609)) == (255, 255, 255)
    # Points are scaled from a picture of any size.
    for at in ("160,100@640x360", "640,400@2560x1440", "[0.25,0.27,0.26,0.28]", "[250,270,260,280]"):
        assert 'button "Buy"' in await hand.do("mouse_click", at=at)


async def test_buttons_clicks_and_modifiers_reach_the_page_also_where_nothing_is(hand: Hand) -> None:
    await hand.open(f"<p>Only words</p>{SPY}")
    told = await hand.do("mouse_click", at="700,500")
    assert "Clicked at 700,500: nothing interactive there, only" in told
    assert "No text or control changed." in told
    await hand.do("mouse_click", at="10,20", button="right")
    told = await hand.do("mouse_click", at="30,40", clicks=2, modifiers=["Shift"])
    await hand.do("mouse_click", at="50,60", button="middle")
    await hand.do("mouse_click", at="70,80", clicks=3)
    assert "Double-clicked at 30,40 holding Shift: nothing interactive there, only" in told
    log = await hand.js("log")
    assert {"mousedown,2,1,false,10,20", "mouseup,2,1,false,10,20"} < set(log)
    assert "dblclick,0,2,true,30,40" in log
    assert "auxclick,1,1,false,50,60" in log
    assert "click,0,3,false,70,80" in log


async def test_a_button_can_be_held_down(hand: Hand) -> None:
    await hand.open(
        "<button id=b style='position:absolute;left:0;top:0;width:200px;height:100px'>Hold me</button>"
        "<script>b.onmousedown = e => b.since = e.timeStamp;"
        "b.onmouseup = e => b.textContent = e.timeStamp - b.since >= 300 ? 'Held' : 'Let go';</script>"
    )
    assert 'button "Held"' in await hand.do("mouse_click", at="50,50", hold=0.35)


async def test_a_point_names_controls_in_frames_and_shadow_trees(hand: Hand) -> None:
    inner = hand.site.page(
        "<button style='position:absolute;left:20px;top:20px;width:60px;height:30px'"
        " onclick=\"this.textContent='Pressed'\">Far</button>"
    )
    await hand.open(
        "<style>iframe { position:absolute; left:100px; top:100px; width:300px; height:100px;"
        "border:5px solid; transform: scale(2); transform-origin: 0 0 }</style>"
        f"<iframe src='{inner.replace('127.0.0.1', 'localhost')}'></iframe>"
        "<div id=host style='position:absolute;left:800px;top:100px'></div><script>"
        "host.attachShadow({mode: 'closed'}).innerHTML = '<button>Within</button>'</script>"
    )
    far = await hand.do("mouse_click", at="210,180")
    within = await hand.do("mouse_click", at="820,115")
    assert f'Clicked at 210,180: [{hand.index("Far", "button")}] button "Far".' in far
    assert 'button "Pressed"' in far
    assert f'Clicked at 820,115: [{hand.index("Within")}] button "Within".' in within


@pytest.mark.fresh
async def test_a_control_that_came_after_the_page_was_told_is_named(hand: Hand) -> None:
    await hand.open("")
    await hand.js(f"document.body.innerHTML = `{BUY}`")
    assert 'The mouse is at 320,200: [1] button "Buy".' in await hand.do("mouse_move", at="320,200")


async def test_a_device_scale_and_a_smaller_picture_change_nothing_about_where_a_click_goes(
    manager: BrowserManager, site: Site
) -> None:
    scaled = {"device_scale_factor": 2}
    async with hand_in(manager, site, context_options=scaled) as hand:
        with hand.under(screenshots={"screenshot_max_side": 800}):
            await hand.open(BUY)
            assert "800x450" in await hand.do("screenshot")
            told = await hand.do("mouse_click", at="200,125")
            assert 'Clicked at 320,200: [1] button "Buy".' in told
            view = "Viewport 1280x720, cursor at 320,200; the picture is 800x450, cursor at 200,125 in it."
            assert view in told
            assert hand.picture().size == (800, 450)
            outside = await hand.fails("mouse_click", InvalidArguments, at="801,10")
            assert "outside the picture, which is 800x450" in outside


async def test_a_point_that_is_malformed_or_outside_is_refused_and_the_session_goes_on(hand: Hand) -> None:
    await hand.open(SPY)
    told = await hand.fails("mouse_click", InvalidArguments, at="1300,10")
    assert "The point 1300,10 is outside the picture, which is 1280x720." in told
    for at in ("", "abc", "5", "[1,2,3]", "10,10@0x0", [1, 2, 3], None):
        assert "'at'" in await hand.fails("mouse_click", InvalidArguments, at=at)
    assert await hand.js("log.length") == 0
    assert "Clicked" in await hand.do("mouse_click", at="10,10")


@pytest.mark.fresh
async def test_a_drag_goes_through_the_points_between(hand: Hand) -> None:
    await hand.open(
        "<canvas id=c width=600 height=400 style='position:absolute;left:0;top:0'></canvas><script>"
        "const pen = c.getContext('2d'); pen.lineWidth = 9; let on = false;"
        "c.onmousedown = e => { on = true; pen.beginPath(); pen.moveTo(e.offsetX, e.offsetY) };"
        "c.onmousemove = e => { if (on) { pen.lineTo(e.offsetX, e.offsetY); pen.stroke() } };"
        "onmouseup = () => on = false;</script>"
    )
    told = await hand.do("mouse_drag", start="50,50", via=["50,300"], end="400,300")
    assert 'Dragged from 50,50 ([1] canvas "" hint="c") to 400,300.' in told
    inked = "(x, y) => pen.getImageData(x, y, 1, 1).data[3] > 0"
    seen = await hand.js(f"[[50, 200], [200, 300], [200, 160]].map(([x, y]) => ({inked})(x, y))")
    assert seen == [True, True, False]


async def test_html5_drag_and_drop_follows_the_mouse(hand: Hand) -> None:
    await hand.open(
        "<style>div { position:absolute; width:100px; height:100px; top:0 }</style>"
        "<div id=card draggable=true style='left:0'>Card</div><div id=done style='left:300px;width:200px;"
        "height:200px'>Done</div><script>card.ondragstart = e => e.dataTransfer.setData('text', 'Card');"
        "done.ondragover = e => e.preventDefault();"
        "done.ondrop = e => { done.textContent = 'Took ' + e.dataTransfer.getData('text') };</script>"
    )
    assert "Took Card" in await hand.do("mouse_drag", start="50,50", end="400,100")


async def test_the_wheel_turns_in_four_directions_where_the_mouse_is(hand: Hand) -> None:
    await hand.open(
        "<div id=box style='overflow:auto;width:400px;height:300px;position:absolute;left:0;top:0'>"
        "<div style='width:3000px;height:3000px'>Inside</div></div>"
        "<div style='width:4000px;height:4000px'></div>"
    )
    inside = "[box.scrollLeft, box.scrollTop, scrollX, scrollY]"
    await hand.do("mouse_wheel", at="100,100", direction="down", pixels=240)
    await hand.do("mouse_wheel", direction="right", pixels=120)
    assert await hand.js(inside) == [120, 240, 0, 0]
    await hand.do("mouse_wheel", at="100,100", direction="up", pixels=240)
    await hand.do("mouse_wheel", at="100,100", direction="left", pixels=20)
    assert await hand.js(inside) == [100, 0, 0, 0]
    told = await hand.do("mouse_wheel", at="900,600")
    assert await hand.js(inside) == [100, 0, 0, 720]
    assert "Turned the wheel down by 720 px at 900,600." in told


@pytest.mark.fresh
async def test_text_goes_where_the_focus_is_and_a_line_end_presses_enter(hand: Hand) -> None:
    await hand.open(
        "<form onsubmit=\"event.preventDefault(); out.textContent = 'Sent ' + f.value\">"
        "<input id=f aria-label=Name style='position:absolute;left:10px;top:10px'></form><p id=out></p>"
    )
    nowhere = await hand.do("type_text", text="lost")
    await hand.do("mouse_click", at="60,20")
    told = await hand.do("type_text", text="Ada Löwe 漢\r\n")
    assert "Typed 4 characters; nothing on the page has the focus." in nowhere
    assert 'Typed 10 characters and pressed Enter in [1] textbox "Name".' in told
    assert "Sent Ada Löwe 漢" in told


async def test_a_password_that_is_typed_is_not_told(hand: Hand) -> None:
    await hand.open("<input type=password aria-label=Secret autofocus>")
    told = await hand.do("type_text", text="hunter22")
    assert await hand.js("document.querySelector('input').value") == "hunter22"
    assert "hunter22" not in told


@pytest.mark.parametrize("keys", ["ctrl a", "Ctrl+A", "CTRL  + a"])
async def test_keys_are_pressed_together_however_they_are_parted(hand: Hand, keys: str) -> None:
    await hand.open("<input id=f value='some words' autofocus>")
    assert "Pressed Control+a." in await hand.do("hotkey", keys=keys)
    assert await hand.js("[f.selectionStart, f.selectionEnd]") == [0, 10]
    assert "for a text use type_text" in await hand.fails("hotkey", InvalidArguments, keys="hello world")


@pytest.mark.fresh
async def test_a_native_select_tells_how_to_choose_since_its_list_is_not_in_the_picture(hand: Hand) -> None:
    await hand.open(
        "<select aria-label=Size style='position:absolute;left:10px;top:10px'><option>S<option>M</select>"
    )
    assert "use select_option with index 1, or keys." in await hand.do("mouse_click", at="20,20")


async def test_a_click_that_opens_a_dialog_returns_at_once_without_a_picture(hand: Hand) -> None:
    await hand.open(BUY.replace("<button", "<button onclick=\"alert('Sure?')\""))
    assert 'An alert dialog is open: "Sure?"' in await hand.do("mouse_click", at="320,200")
    assert hand.result.attachments == ()
    await hand.fails("mouse_click", DialogOpen, at="320,200")
    await hand.do("handle_dialog", accept=True)


async def test_with_pictures_switched_off_points_are_pixels_of_the_view(hand: Hand) -> None:
    with hand.under(screenshots={"screenshots": "never"}):
        await hand.open(BUY)
        told = await hand.do("mouse_click", at="320,200")
    assert 'button "Buy". Viewport 1280x720, cursor at 320,200.' in told
    assert hand.result.attachments == ()
