"""What can be acted on, and what a person sees: each kind of element that pages are made of."""

import pytest

from mcp_browser.errors import ActionError
from tests.snapshot.hand import LOG, Hand, words_of

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
