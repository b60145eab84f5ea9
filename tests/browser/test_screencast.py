"""Frames of a tab for all who watch it, with nothing on them that is to be hidden."""

import asyncio
import contextlib
import io
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

from mcp_browser.browser.screencast import Frame, Frames
from mcp_browser.browser.tab import Tab
from mcp_browser.errors import NotActionable
from mcp_browser.privacy.pictures import PAINT
from mcp_browser.settings import Settings
from tests.browser.conftest import Hand
from tests.support.site import Site
from tests.support.video import BLUE, GREEN, RED, Colour

pytestmark = pytest.mark.slow

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
