"""Screenshots made fit for a model; frames of a tab for all who watch it, with nothing secret on them."""

import asyncio
import contextlib
import io
from collections.abc import Callable
from typing import Any, Literal

import pytest
from PIL import Image

from mcp_browser.browser.pictures import Picture, make_picture
from mcp_browser.browser.screencast import Frame, Frames
from mcp_browser.browser.tab import Tab
from mcp_browser.dom.models import Box
from mcp_browser.errors import NotActionable
from mcp_browser.privacy.pictures import PAINT
from mcp_browser.settings import Settings
from tests.browser.conftest import Hand
from tests.support.site import Site
from tests.support.video import BLUE, GREEN, RED, Colour

pytestmark = pytest.mark.slow

Format = Literal["png", "jpeg", "webp"]


def blank(width: int, height: int, *, noise: bool = False) -> bytes:
    buffer = io.BytesIO()
    made = Image.effect_noise((width, height), 90) if noise else Image.new("RGB", (width, height), "white")
    made.save(buffer, "PNG")
    return buffer.getvalue()


def decoded(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def made(raw: bytes, format: Format = "png", **more: Any) -> Picture:
    given: dict[str, Any] = {"quality": 75, "max_side": 400, **more}
    return make_picture(raw, format=format, **given)


@pytest.mark.parametrize("format", ["png", "jpeg", "webp"])
def test_a_picture_has_the_format_that_was_asked_for_and_is_short_enough(format: Format) -> None:
    picture = made(blank(300, 200), format)
    assert (decoded(picture.data).format or "").lower() == format
    assert picture.mime_type == f"image/{format}"
    assert (picture.width, picture.height) == (300, 200)
    picture = made(blank(1200, 900, noise=True), format, quality=95, max_side=2000, max_bytes=60_000)
    assert len(picture.data) <= 60_000
    assert decoded(picture.data).size == (picture.width, picture.height)


def test_a_picture_that_is_fit_already_is_not_encoded_again() -> None:
    raw = blank(300, 200)
    assert made(raw, max_side=300).data == raw


@pytest.mark.parametrize(
    ("side", "most", "size"), [((3000, 1500), 1000, (1000, 500)), ((1200, 16_000), 1568, (118, 1568))]
)
def test_the_longest_side_has_its_limit(side: tuple[int, int], most: int, size: tuple[int, int]) -> None:
    picture = made(blank(*side), "jpeg", max_side=most)
    assert (picture.width, picture.height) == decoded(picture.data).size == size


def test_labels_frame_their_elements_at_any_scale() -> None:
    label = Box(index=12, x=50, y=40, width=100, height=60)
    for factor in (1, 2):
        picture = made(blank(400 * factor, 300 * factor), css_width=400, labels=[label])
        drawn = decoded(picture.data).convert("RGB")
        assert drawn.getpixel((50, 70)) != (255, 255, 255), "the frame's left side"
        assert drawn.getpixel((149, 90)) != (255, 255, 255), "the frame's right side"
        assert drawn.getpixel((75, 85)) == (255, 255, 255), "the element itself stays readable"
        assert drawn.getpixel((300, 200)) == (255, 255, 255)


def test_labels_beyond_the_edges_do_no_harm() -> None:
    labels = [
        Box(index=1, x=-50, y=-50, width=60, height=60),
        Box(index=123456, x=390, y=290, width=500, height=500),
        Box(index=3, x=1000, y=1000, width=5, height=5),
        Box(index=4, x=10, y=10, width=0, height=0),
    ]
    made(blank(400, 300), labels=labels)


# -- frames of a tab

GREY: Colour = tuple(int(PAINT[at : at + 2], 16) for at in (1, 3, 5))  # type: ignore[assignment]
PLAIN = "<style>body{margin:0}</style><body style='background: COLOUR; height: 3000px'>"
MOVING = """<style>body{margin:0} #a{position:absolute;width:90px;height:90px;background:#000}</style>
<i id=a></i>
<script>
  let at = 0;
  const step = () => { a.style.left = (at += 3) % 1200 + 'px'; requestAnimationFrame(step); };
  step();
</script>"""


def image(frame: Frame) -> Image.Image:
    return Image.open(io.BytesIO(frame.data)).convert("RGB")


def colour(frame: Frame, x: int = 600, y: int = 600) -> Colour:
    return image(frame).getpixel((x, y))  # type: ignore[return-value]


def near(one: Colour, other: Colour) -> bool:
    return all(abs(a - b) < 16 for a, b in zip(one, other, strict=True))


async def until(watching: Frames, shown: Callable[[Frame], bool]) -> Frame:
    """The next frame that is so."""
    async with asyncio.timeout(30):
        async for frame in watching:
            if shown(frame):
                return frame
    raise AssertionError("the frames ended")


async def shows(watching: Frames, wanted: Colour, x: int = 600, y: int = 600) -> Frame:
    return await until(watching, lambda frame: near(colour(frame, x, y), wanted))


async def opened(hand: Hand, site: Site, body: str) -> Tab:
    await hand.tab.goto(site.page(body))
    return hand.tab


async def test_what_is_shown_comes_at_once_then_what_changes(hand: Hand, site: Site) -> None:
    tab = await opened(hand, site, PLAIN.replace("COLOUR", "red"))
    async with tab.screencast.watch() as frames:
        frame = await shows(frames, RED)
        assert (frame.width, frame.height) == (1280, 720)
        await tab.page.evaluate("document.body.style.background = 'green'")
        assert (await shows(frames, GREEN)).time > frame.time
        # One who comes later need not wait for a change.
        async with tab.screencast.watch() as others:
            await shows(others, GREEN)
        # It goes on through other documents, of other sites too, and pictures that are taken meanwhile.
        await tab.goto(site.page(PLAIN.replace("COLOUR", "blue")))
        await shows(frames, BLUE)
        await tab.screenshot(full_page=True)
        other_site = site.page(PLAIN.replace("COLOUR", "red")).replace("127.0.0.1", "localhost")
        await tab.goto(other_site)
        await shows(frames, RED)


async def test_frames_are_many_only_where_the_page_moves(hand: Hand, site: Site) -> None:
    tab = await opened(hand, site, MOVING)
    seen: list[Frame] = []
    async with tab.screencast.watch() as frames:
        async with asyncio.timeout(60):
            async for frame in frames:
                seen.append(frame)
                if len(seen) == 20:
                    break
        assert len({frame.data for frame in seen}) == 20
        await tab.page.evaluate("document.body.innerHTML = ''")
        await until(frames, lambda frame: near(colour(frame), (255, 255, 255)))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                still = [frame async for frame in frames]
                pytest.fail(f"{len(still)} frames, then the end")


async def test_the_browser_sends_once_for_all_who_watch(hand: Hand, site: Site) -> None:
    tab = await opened(hand, site, MOVING)
    # One who is slow holds up nobody.
    async with tab.screencast.watch() as slow, tab.screencast.watch() as quick:
        first = await anext(slow)
        seen = [await anext(quick) for _ in range(12)]
        assert (await anext(slow)).time >= seen[-1].time > first.time
    sent: list[float] = []

    def on_frame(event: dict[str, Any]) -> None:
        sent.append(event["metadata"]["timestamp"])

    tab.cdp.on("Page.screencastFrame", on_frame)
    given: list[Frame] = []
    async with tab.screencast.watch() as one, tab.screencast.watch() as other:
        for _ in range(8):
            given += [await anext(one), await anext(other)]
    assert len({id(frame) for frame in given}) < len(given)
    async with asyncio.timeout(30):
        while True:
            before = len(sent)
            await tab.page.evaluate("new Promise(done => setTimeout(done, 300))")
            if len(sent) == before:
                break
    async with tab.screencast.watch() as again:
        await anext(again)


@pytest.mark.fresh
async def test_the_frames_end_with_the_tab(hand: Hand, site: Site) -> None:
    tab = await hand.session.new_tab(site.page(PLAIN.replace("COLOUR", "red")))
    async with tab.screencast.watch() as frames:
        await shows(frames, RED)
        await hand.session.close_tab(tab.id)
        async with asyncio.timeout(30):
            assert [frame async for frame in frames] == []
    async with tab.screencast.watch() as frames:
        assert [frame async for frame in frames] == []


SHOWN = {
    "a known secret": ("<p id=box>Correct horse 42</p>", ""),
    "a password field that shows letters": (
        "<input type=password id=box value='opensesame' size=30>",
        "box.type = 'text'",
    ),
    "what repeats a password": (
        "<input type=password value='opensesame'><p id=box>&nbsp;</p>",
        "box.textContent = 'opensesame'",
    ),
    "what repeats a masked field": (
        "<input value='opensesame' style='-webkit-text-security: disc'><p id=box>&nbsp;</p>",
        "box.textContent = 'opensesame'",
    ),
    "a field for a one-time code": ("<input id=box autocomplete=one-time-code>", "box.value = '123456'"),
    "a secret in a frame": (
        "<iframe id=box srcdoc=\"<p style='margin:0;color:red'>Correct horse 42\"></iframe>",
        "",
    ),
}


@pytest.mark.fresh
@pytest.mark.parametrize("what", SHOWN)
async def test_nothing_secret_is_on_a_frame(what: str, hand: Hand, site: Site) -> None:
    body, then = SHOWN[what]
    style = (
        "<style>body{margin:0;background:#fff} "
        "#box{display:block;margin:0;border:0;padding:0;font:30px/60px monospace;"
        "color:#f00;background:#fff;outline:0} #box[type=password]{color:#000}</style>"
    )
    hand.session.hidden["word"] = "Correct horse 42"
    tab = await opened(hand, site, style + body)
    async with tab.screencast.watch() as frames:
        seen = [await anext(frames)]
        if then:
            await tab.page.evaluate(then)
        if GREY not in colours(seen[0]):
            seen.append(await until(frames, lambda frame: GREY in colours(frame)))
        # While it moves about, too.
        await tab.page.evaluate(
            "new Promise(done => { let n = 0; const step = () => { box.style.marginTop = `${n * 9}px`;"
            "n++ < 40 ? requestAnimationFrame(step) : done(); }; step(); })"
        )
        async with asyncio.timeout(30):
            while len(seen) < 6 and not any(GREY in colours(frame, below=300) for frame in seen):
                seen.append(await anext(frames))
    assert not [frame for frame in seen if any(r > 200 and g < 120 for r, g, _ in colours(frame))]


def colours(frame: Frame, below: int = 0) -> set[Colour]:
    """The colours of a frame; that of covers is told exactly in spite of JPEG."""
    picture = image(frame)
    pixels = picture.crop((0, below, picture.width, picture.height)).tobytes()
    found = set(zip(pixels[::3], pixels[1::3], pixels[2::3], strict=True))
    return found | ({GREY} if any(near(pixel, GREY) for pixel in found) else set())


@pytest.mark.fresh
async def test_a_frame_waits_until_a_dialog_is_answered(hand: Hand, site: Site) -> None:
    tab = await opened(hand, site, PLAIN.replace("COLOUR", "red"))
    async with tab.screencast.watch() as frames:
        await shows(frames, RED)
        await tab.page.evaluate("setTimeout(() => { document.body.style.background = 'blue'; alert(1); })")
        while not tab.held:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.02)
        await tab.answer_dialog(True)
        await shows(frames, BLUE)


async def test_a_server_without_pictures_has_no_frames(hand: Hand, site: Site) -> None:
    tab = await opened(hand, site, PLAIN.replace("COLOUR", "red"))
    tab.screencast._settings = Settings.of(screenshots="never")
    try:
        with pytest.raises(NotActionable, match="switched off"):
            async with tab.screencast.watch():
                pass
    finally:
        tab.screencast._settings = hand.session.settings
