"""What becomes hidden goes from the snapshot, and takes neither text nor clicks."""

import pytest

from mcp_browser.errors import ActionError
from tests.snapshot.hand import FILLER, Hand

CONTROLS = """
<label><input type=checkbox id=c> Agree</label> <label for=r>Pick</label><input type=radio id=r>
<button>Save</button> <a href=/x>Link</a> <input aria-label=Name> <select aria-label=Kind><option>A</select>
<div tabindex=0>Tile</div> <span onclick="0">Act</span> <h2 onclick="0">Head</h2>
<canvas width=80 height=80></canvas>
<label><input type=file style="opacity:0;width:1px">Upload</label> <input type=range aria-label=Size>
<div role=grid><div role=row><div role=gridcell tabindex=0>Cell</div></div></div>
<table><tr onclick="0"><td onclick="0">Row</td></tr></table> <img alt=Cat src=data:, width=30 height=30>
<img role=button tabindex=0 alt=Dog src=data:, width=30 height=30> <meter value=1></meter>
<svg width=30 height=30 onclick="0"><title>Icon</title><path d="M0 0h9v9"/></svg>
<div role=dialog aria-label=Ask>Sure?</div> <div aria-label=Hall role=heading>Hall</div>
<section aria-label=Part onclick="0"><b>In part</b></section>
<details open><summary>More</summary>Words</details>
<i style="cursor: pointer; display: inline-block; width: 20px; height: 20px"></i>
<div contenteditable>Text</div> <video controls width=90 height=50></video>
<iframe srcdoc="<button>Inner</button><input aria-label=Deep>" width=200 height=80></iframe>
<div role=option tabindex=0>Choice</div> <div role=tree><div role=treeitem tabindex=0>Leaf</div></div>
"""
WAYS = {
    "visibility": "style.visibility = 'hidden'",
    "collapse": "style.visibility = 'collapse'",
    "opacity": "style.opacity = 0",
    "display": "style.display = 'none'",
    "content-visibility": "style.contentVisibility = 'hidden'",
    "hidden": "hidden = true",
    "until-found": "setAttribute('hidden', 'until-found')",
    "clip-path": "style.clipPath = 'inset(100%)'",
    "no height": "style.cssText = 'height: 0; overflow: hidden'",
    "off the page": "style.cssText = 'position: absolute; left: -9999px'",
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
async def test_nothing_of_what_becomes_hidden_stays_listed(hand: Hand, way: str) -> None:
    view = await hand.show(f"<div><div id=a>{CONTROLS}</div></div><p>Rest</p>")
    for name in ("Agree", "Save", "Inner", "Tile"):
        assert view.offers(name), view.text
    await hand.script(f"a.{way}")
    assert (await hand.look()).text.splitlines() == ["Rest"]


@pytest.mark.parametrize("tag", ["details", "dialog"])
async def test_what_closes_takes_its_controls_along(hand: Hand, tag: str) -> None:
    view = await hand.show(f"<{tag} id=d open><label><input type=checkbox>Agree</label></{tag}>{FILLER}")
    assert view.offers("Agree")
    await hand.script("d.open = false")
    assert not (await hand.look()).offers("Agree")


FRAME = (
    "<label><input type=checkbox>Agree</label><input aria-label=Name>"
    "<button onclick='top.hit = 1'>Go</button>"
)
FRAME_WAYS = {f"{name} of {what}": f"{what}.{way}" for what in ("f", "a") for name, way in WAYS.items()} | {
    "no size": "f.style.cssText = 'width: 0; height: 0; border: 0'"
}
USUAL = {"visibility of f", "opacity of a", "no size"}


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(way, id=name, marks=() if name in USUAL else pytest.mark.slow)
        for name, way in FRAME_WAYS.items()
    ],
)
async def test_a_frame_that_becomes_hidden_goes_and_takes_no_input(hand: Hand, way: str) -> None:
    view = await hand.show(f'<div id=a><iframe id=f srcdoc="{FRAME}"></iframe></div><p>Rest</p>')
    name, go = view.index("Name"), view.index("Go")
    await hand.script(f"const f = document.getElementById('f'), a = document.getElementById('a'); {way}")
    for action, arguments in [
        ("input_text", {"index": name, "text": "x"}),
        ("click_element", {"index": go}),
        ("send_keys", {"index": name, "keys": "x"}),
    ]:
        with pytest.raises(ActionError, match=r"hidden|no size|outside of"):
            await hand.do(action, **arguments)
    assert (await hand.look()).text.splitlines() == ["Rest"]
    with pytest.raises(ActionError, match=r"hidden|outside of"):
        await hand.do("input_text", index=name, text="x")
    held = "document.getElementById('f').contentDocument.querySelectorAll('input')[1].value"
    assert await hand.script(f"[window.hit ?? 0, {held}]") == [0, ""]


async def test_a_frame_within_a_hidden_frame_takes_no_input(hand: Hand) -> None:
    inner = hand.site.page(FRAME)
    outer = hand.site.page(f"<iframe src='{inner}'></iframe>")
    view = await hand.show(f"<iframe id=f src='{outer}'></iframe><p>Rest</p>")
    name = view.index("Name")
    await hand.script("f.style.visibility = 'hidden'")
    assert (await hand.look()).text.splitlines() == ["Rest"]
    with pytest.raises(ActionError, match="hidden"):
        await hand.do("input_text", index=name, text="x")
