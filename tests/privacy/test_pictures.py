"""A hidden value is painted over on every picture of a page that shows it."""

import io
import unicodedata
from typing import Any

import pytest
from PIL import Image

from mcp_browser.actions import default_registry
from mcp_browser.browser.pictures import encode_whole
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.privacy.pictures import PAINT
from tests.support.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

VALUE, ACCENTS = "Correct horse 42", "Corréct hörse 42"
STYLE = "<style>body{margin:0;font:20px/30px monospace;background:#fff} .box{height:60px}</style>"
WHERE = "element => { const b = element.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; }"


async def picture(session: BrowserSession, body: str, site: Site) -> Image.Image:
    """The page with this body, as it is pictured while the values are hidden."""
    await session.ensure_open()
    session.hidden.update({"word": VALUE, "accents": ACCENTS})
    await session.current_tab.goto(site.page(STYLE + body))
    return await shot(session)


async def shot(session: BrowserSession, **options: Any) -> Image.Image:
    taken = await session.current_tab.screenshot(kind="png", **options)
    return Image.open(io.BytesIO(encode_whole(taken))).convert("RGB")


def colours(image: Image.Image, box: tuple[float, float, float, float]) -> set[str]:
    part = image.crop(tuple(round(side) for side in box))  # type: ignore[arg-type]
    found = part.getcolors(maxcolors=part.width * part.height)
    assert found
    return {"#{:02x}{:02x}{:02x}".format(*colour) for _, colour in found}  # type: ignore[misc]


async def box_of(session: BrowserSession, selector: str) -> tuple[float, float, float, float]:
    return tuple(await session.current_tab.page.locator(selector).first.evaluate(WHERE))


SHOWN = {
    "a text": f"<span>{VALUE}</span>",
    "a text in other case and with other spaces": "<span>CORRECT&nbsp; horse\n42</span>",
    "a text over several elements": "<span><b>Corr</b>ect <i>hor</i>se 42</span>",
    "a decomposed text": f"<span>{unicodedata.normalize('NFD', ACCENTS)}</span>",
    "a text field": f"<input value='{VALUE}' size=30>",
    "a part in a field that was too short": "<input maxlength=8 value='Correct '>",
    "a text area": f"<textarea>My word: {VALUE}</textarea>",
    "a choice": f"<select><option>{VALUE}</select>",
    "a hint": f"<input placeholder='{VALUE}' size=30>",
    "an editor": f"<span contenteditable>{VALUE}</span>",
    "a pseudo-element": f"<b class=repeats data-word='{VALUE}'></b>",
    "an open shadow tree": f"<u-host><template shadowrootmode=open><span>{VALUE}</span></template></u-host>",
    "a closed shadow tree that came with the page": (
        f"<u-shut style='display:inline-block'><template shadowrootmode=closed><span>{VALUE}</span>"
        "</template></u-shut>"
    ),
    "a frame": f"<iframe srcdoc='<body style=margin:0><span>{VALUE}</span>'></iframe>",
}


async def test_what_shows_a_hidden_value_is_of_one_colour(session: BrowserSession, site: Site) -> None:
    session.context_options.update(device_scale_factor=2, viewport={"width": 700, "height": 800})
    body = "".join(f"<div class=case>{shown}</div><p class=other>Other</p>" for shown in SHOWN.values())
    style = ".repeats::before{content:attr(data-word)} p,div{margin:0;line-height:24px} iframe{height:40px}"
    image = await picture(session, f"<style>{style}</style>{body}", site)
    page = session.current_tab.page
    cases, others = [
        await page.locator(selector).evaluate_all(f"elements => elements.map({WHERE})")
        for selector in (".case > *", ".other")
    ]
    for kind, case, other in zip(SHOWN, cases, others, strict=True):
        left, top, right, bottom = case
        if kind == "a frame":
            x, y, width, height = await page.frames[1].locator("span").evaluate(WHERE)
            left, top, right, bottom = left + 2 + x, top + 2 + y, left + 2 + width, top + 2 + height
        assert right - left > 20, kind
        assert colours(image, (2 * left, 2 * top, 2 * right, 2 * bottom)) == {PAINT}, kind
        x, y, width, height = other
        assert "#ffffff" in colours(image, (2 * x, 2 * y + 8, 2 * width, 2 * height - 8)), kind


async def test_frames_of_other_sites_and_closed_shadow_trees_hide_it_too(
    session: BrowserSession, site: Site
) -> None:
    green = f"<p style='background:#0f0;width:300px;margin:0'>{VALUE}</p>"
    inner = f"""{STYLE}<p>Frame</p><div id=host></div><script>
        host.attachShadow({{mode: 'closed'}}).innerHTML = "{green}"</script>"""
    path = site.page(inner).removeprefix(site.url)
    frame = f"<iframe style='border:0' width=400 height=200 src='{site.other}{path}'></iframe>"
    image = await picture(session, f"<div class=box></div>{frame}", site)
    # Where the letters were there is no green; where the rest of their line is, there is.
    assert colours(image, (2, 134, 180, 156)) == {PAINT}
    assert "#00ff00" in colours(image, (220, 132, 290, 156))


async def test_a_frame_that_is_not_asked_is_covered_as_a_whole(session: BrowserSession, site: Site) -> None:
    url = site.page("The innermost frame")
    for _ in range(7):
        url = site.page(f"<style>body{{margin:0}}</style><iframe id=f style='border:0' src='{url}'></iframe>")
    await picture(session, f"<iframe id=f style='border:0' src='{url}'></iframe>", site)
    await session.current_tab.page.wait_for_load_state("load")
    image = await shot(session)
    assert colours(image, (0, 0, 290, 140)) == {PAINT}, "frames further in than the snapshot reads"


async def test_a_full_page_a_part_and_a_scrolled_page_hide_it(session: BrowserSession, site: Site) -> None:
    gap = "<div style='height:900px'></div>"
    fixed = f"<div style='position:fixed;top:0;left:500px' id=fixed>{VALUE}</div>"
    body = f"{gap}<p><span id=x>{VALUE}</span></p>{gap}{fixed}"
    await picture(session, body, site)
    page = session.current_tab.page
    await page.evaluate("scrollTo(0, 700)")
    image = await shot(session)
    assert colours(image, await box_of(session, "#x")) == {PAINT}
    assert colours(image, await box_of(session, "#fixed")) == {PAINT}
    left, top, right, bottom = await box_of(session, "#x")
    clipped = await shot(
        session, clip={"x": left - 10, "y": top - 10, "width": right - left + 20, "height": bottom - top + 20}
    )
    assert colours(clipped, (10, 10, clipped.width - 10, clipped.height - 10)) == {PAINT}
    whole = await shot(session, full_page=True)
    assert colours(whole, (left, top + 700, right, bottom + 700)) == {PAINT}
    # Wherever the engine draws what is fixed, no letter of it is to be seen.
    column = whole.crop((500, 0, 800, whole.height))
    assert "#000000" not in colours(column, (0, 0, *column.size))


async def test_a_page_that_shows_nothing_hidden_is_pictured_as_it_is(
    session: BrowserSession, site: Site
) -> None:
    image = await picture(session, "<p>Nothing of it: correct, 42</p>", site)
    assert PAINT not in colours(image, (0, 0, *image.size))


async def test_the_tools_pictures_hide_it(session: BrowserSession, site: Site) -> None:
    await picture(session, f"<p><span id=x>{VALUE}</span></p>", site)
    controller = Controller(default_registry(), session.settings)
    for name, arguments in {
        "screenshot": {"full_page": True},
        "get_state": {"screenshot": True, "labels": True},
    }.items():
        (attachment,) = (await controller.execute(name, arguments, session)).attachments
        assert attachment.data is not None
        image = Image.open(io.BytesIO(attachment.data)).convert("RGB")
        left, top, right, bottom = await box_of(session, "#x")
        inner = colours(image, (left + 4, top + 4, right - 4, bottom - 4))
        # JPEG has its own idea of one colour.
        assert all(abs(int(colour[1:3], 16) - int(PAINT[1:3], 16)) < 12 for colour in inner), name
