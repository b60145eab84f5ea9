"""Videos and traces of a session, and no secrets in them."""

import asyncio
import io
import json
import re
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import av
import pytest
from PIL import Image

from mcp_browser.browser.recording import Recordings, check
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import InvalidArguments, NotActionable, NotFound, SettingsError
from mcp_browser.settings import Settings
from tests.actions.hand import Hand
from tests.browser.conftest import until
from tests.support.video import BLUE, GREEN, RED, Colour, colour_at, frames, is_near, pictures, shows

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

PAGE = "<style>body{{background:{}}}</style><p>Hello"


async def until_recorded(session: BrowserSession, condition: Callable[[bytes], bool]) -> None:
    """Wait until the frame that the current tab shows is so, and has had time to be written."""
    async with asyncio.timeout(60), session.current_tab.screencast.watch() as watching:
        async for frame in watching:
            if condition(frame.data):
                break
    recording: Any = (await session.plugin(Recordings))._under_way["video"]
    before = recording._last
    await session.current_tab.page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<i style=color:#080>.</i>')"
    )
    await until(lambda: recording._last is not before)


def is_colour(wanted: Colour) -> Callable[[bytes], bool]:
    def check(data: bytes) -> bool:
        return is_near(colour_at(Image.open(io.BytesIO(data)), 640, 540), wanted)

    return check


async def test_a_video_shows_what_the_pages_showed_in_real_time(hand: Hand) -> None:
    await hand.open(PAGE.format("red"))
    assert "60 minutes and 200 MB at most" in await hand.do("start_recording", name="shop")
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await until_recorded(hand.session, is_colour(RED))
    await hand.open(PAGE.format("green"))
    await until_recorded(hand.session, is_colour(GREEN))
    # It goes along into other tabs.
    await hand.do("open_tab", url=hand.site.page(PAGE.format("blue")))
    await until_recorded(hand.session, is_colour(BLUE))
    told = await hand.do("stop_recording")
    took = loop.time() - begun
    path = hand.file
    assert re.fullmatch(r"shop(-\d+)?\.webm", path.name)
    assert path.name in told
    assert hand.result.attachments[0].mime_type == "video/webm"
    red, green, blue = (shows(path, colour) for colour in (RED, GREEN, BLUE))
    assert red[0] < green[0] < blue[0] < frames(path)[-1][0] <= took + 1
    with av.open(str(path)) as video:
        assert (video.streams.video[0].width, video.streams.video[0].height) == (1280, 720)
    assert path.name in await hand.do("list_files")


async def test_a_video_that_ends_at_once_shows_the_page_and_one_has_the_size_asked_for(hand: Hand) -> None:
    await hand.open(PAGE.format("red"))
    for _ in range(3):
        await hand.do("start_recording")
        await hand.do("stop_recording")
        assert shows(hand.file, RED)
    await hand.do("start_recording", size="640x480", fps=2)
    await until_recorded(hand.session, is_colour(RED))
    await hand.do("stop_recording", kind="video")
    with av.open(str(hand.file)) as video:
        assert (video.streams.video[0].width, video.streams.video[0].height) == (640, 480)
    assert shows(hand.file, RED)


async def test_a_secret_is_not_in_a_video(hand: Hand) -> None:
    hand.session.hidden["word"] = "Correct horse 42"
    await hand.open("<style>body{margin:0;background:#fff;color:#f00;font:90px/700px monospace}</style>")
    await hand.do("start_recording")
    await until_recorded(hand.session, is_colour((255, 255, 255)))
    await hand.js("document.body.textContent = 'Correct horse 42'")
    await until_recorded(hand.session, lambda _: True)
    await hand.js("document.body.textContent = ''")
    await until_recorded(hand.session, is_colour((255, 255, 255)))
    await hand.do("stop_recording")
    for _, picture in pictures(hand.file):
        pixels: bytes = cast("Any", picture).resize((320, 180), Image.Resampling.NEAREST).tobytes()
        assert not [1 for r, g in zip(pixels[::3], pixels[1::3], strict=True) if r > 200 and g < 100]


async def test_what_cannot_be_recorded_says_why(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    await hand.open(PAGE.format("red"))
    assert "start_recording" in await hand.fails("stop_recording", NotFound)
    await hand.fails("start_recording", InvalidArguments, kind="trace", fps=3)
    assert "1280x720" in await hand.fails("start_recording", InvalidArguments, size="big")
    await hand.do("start_recording", name="one")
    assert "one" in await hand.fails("start_recording", NotActionable)
    await until_recorded(hand.session, is_colour(RED))
    await hand.do("stop_recording")
    monkeypatch.setattr("mcp_browser.browser.recording.can_be_written", False)
    assert "mcp-browser-server[video]" in await hand.fails("start_recording", NotActionable)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"record": "trace"}, "--output-dir FOLDER"),
        ({"record": "trace", "output_dir": "out", "secrets": "secrets.toml"}, "--secrets"),
        ({"record": "video", "output_dir": "out", "screenshots": "never"}, "--screenshots never"),
    ],
)
def test_a_server_that_cannot_record_its_sessions_says_why(wanted: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        check(Settings.of(**wanted))


async def test_a_recording_ends_at_its_limits_and_is_whole(hand: Hand) -> None:
    await hand.open(PAGE.format("red"))
    recordings: Any = await hand.session.plugin(Recordings)
    settings = recordings._settings
    recordings._settings = settings.model_copy(update={"record_minutes": 0.05})
    try:
        await hand.do("start_recording", name="short")
        await hand.js("setInterval(() => document.body.append('.'), 100)")
        await until(lambda: not recordings._under_way and not recordings._ending)
    finally:
        recordings._settings = settings
    assert "so the video was ended" in await hand.do("get_state")
    (artifact,) = [one for one in hand.session.artifacts.files() if one.name.startswith("short")][-1:]
    assert shows(artifact.path, RED)


LOGIN = """<form action=/nowhere method=post><label>User <input name=user></label>
<label>Password <input type=password name=pw></label><button>Log in</button></form>"""


async def test_a_trace_opens_in_playwrights_viewer(hand: Hand, tmp_path: Path) -> None:
    await hand.open("Before")
    assert "trace" in await hand.do("start_recording", kind="trace")
    await hand.open(LOGIN)
    await hand.do("input_text", index=hand.index("User"), text="ada")
    await hand.js("fetch('?', { method: 'POST' })")
    await hand.do("stop_recording", kind="trace")
    path = hand.file
    with zipfile.ZipFile(path) as trace:
        events = [json.loads(line) for line in trace.read("trace.trace").splitlines()]
        assert not [name for name in trace.namelist() if name.endswith(".jpeg")]
    assert {"context-options", "before", "after", "frame-snapshot"} <= {event["type"] for event in events}

    async def playwright(*arguments: str) -> str:
        command = (sys.executable, "-m", "playwright", "trace", *arguments)
        process = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, cwd=tmp_path
        )
        told, _ = await process.communicate()
        assert process.returncode == 0, told.decode()
        return told.decode()

    await playwright("open", str(path))
    assert "Navigate" in await playwright("actions")
    assert "POST" in await playwright("requests")
    await playwright("close")


async def test_a_session_that_holds_secrets_has_no_trace(hand: Hand) -> None:
    await hand.open(LOGIN)
    await hand.do("start_recording", kind="trace", name="early")
    hand.session.hide({"word": "Correct horse 42"})
    assert "the trace was discarded. Record a video" in await hand.do("get_state")
    await hand.fails("stop_recording", NotFound)
    assert "early" not in await hand.do("list_files")
    assert "Record a video" in await hand.fails("start_recording", NotActionable, kind="trace")


@pytest.mark.parametrize("by", ["index", "keyboard"])
async def test_a_trace_is_discarded_before_a_password_is_typed(hand: Hand, by: str) -> None:
    await hand.open(LOGIN)
    await hand.do("start_recording", kind="trace", name="login")
    recordings: Any = await hand.session.plugin(Recordings)
    path = recordings._under_way["trace"].file.path
    if by == "index":
        told = await hand.do("input_text", index=hand.index("Password"), text="opensesame!")
    else:
        told = await hand.do("click_element", index=hand.index("Password"))
        told += await hand.do("send_keys", keys="opensesame!")
    assert "Input may go to a secret field" in told
    assert not path.exists()
    assert "secret field" in await hand.fails("start_recording", NotActionable, kind="trace")
    # What comes after the log-in can be traced.
    await hand.do("click_element", index=hand.index("Log in"))
    await hand.do("start_recording", kind="trace")
    await hand.open("Inside")
    await hand.do("stop_recording")
    assert zipfile.ZipFile(hand.file).testzip() is None


async def test_a_trace_is_not_written_while_a_password_stands_in_a_field(hand: Hand) -> None:
    await hand.open(LOGIN)
    await hand.do("start_recording", kind="trace")
    await hand.js("document.querySelector('[type=password]').value = 'filled in by the browser'")
    assert "secret field of tab" in await hand.fails("stop_recording", NotActionable)
    assert not [name for name in await hand.do("list_files") if "trace" in name]


async def test_a_trace_that_is_too_large_is_discarded(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    await hand.open("Before")
    await hand.do("start_recording", kind="trace")
    monkeypatch.setattr("mcp_browser.browser.recording.BYTES_A_MEGABYTE", 1)
    assert "--record-size" in await hand.fails("stop_recording", NotActionable)


async def test_recordings_are_whole_when_the_session_ends(hand: Hand) -> None:
    await hand.open(PAGE.format("red"))
    await hand.do("start_recording", name="until-the-end")
    await hand.do("start_recording", kind="trace", name="until-the-end")
    await until_recorded(hand.session, is_colour(RED))
    await hand.session.close()
    folder = hand.session.artifacts._output_dir
    assert folder is not None
    video, trace = (max(folder.glob(f"until-the-end*{end}")) for end in (".webm", ".zip"))
    assert shows(video, RED)
    assert zipfile.ZipFile(trace).testzip() is None
