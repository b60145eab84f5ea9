"""Videos and traces of a session, as files without secrets."""

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
from mcp_browser.privacy.hiding import in_base64
from mcp_browser.settings import Settings
from tests.actions.hand import Hand
from tests.browser.conftest import until
from tests.support.sockets import echo_server
from tests.support.video import BLUE, GREEN, RED, Colour, colour_at, frames, is_near, pictures, shows

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

PAGE = "<style>body{{background:{}}}</style><p>Hello"


def file_of(hand: Hand) -> Path:
    """The file that the last result has brought."""
    (attachment,) = hand.result.attachments
    assert attachment.path is not None
    return Path(attachment.path)


async def until_recorded(session: BrowserSession, condition: Callable[[bytes], bool]) -> None:
    """Wait until the frame that the current tab shows is so, and has had time to be written."""
    async with asyncio.timeout(60), session.current_tab.screencast.watch() as watching:
        async for frame in watching:
            if condition(frame.data):
                break
    recording: Any = (await session.plugin(Recordings))._under_way["video"]
    before = recording._writer._last
    await session.current_tab.page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<i style=color:#080>.</i>')"
    )
    await until(lambda: recording._writer._last is not before)


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
    path = file_of(hand)
    assert re.fullmatch(r"shop(-\d+)?\.webm", path.name)
    assert path.name in told
    assert hand.result.attachments[0].mime_type == "video/webm"
    red, green, blue = (shows(path, colour) for colour in (RED, GREEN, BLUE))
    assert red[0] < green[0] < blue[0] < frames(path)[-1][0] <= took + 1
    with av.open(str(path)) as video:
        assert (video.streams.video[0].width, video.streams.video[0].height) == (1280, 720)
    assert path.name in await hand.do("list_files")


async def test_a_video_that_ends_at_once_shows_the_page(hand: Hand) -> None:
    await hand.open(PAGE.format("red"))
    for _ in range(3):
        await hand.do("start_recording")
        await hand.do("stop_recording")
        assert shows(file_of(hand), RED)


async def test_a_video_has_the_size_that_is_asked_for(hand: Hand) -> None:
    await hand.open(PAGE.format("red"))
    await hand.do("start_recording", size="640x480", fps=2)
    await until_recorded(hand.session, is_colour(RED))
    await hand.do("stop_recording", kind="video")
    with av.open(str(file_of(hand))) as video:
        assert (video.streams.video[0].width, video.streams.video[0].height) == (640, 480)
    assert shows(file_of(hand), RED)


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
    for _, picture in pictures(file_of(hand)):
        pixels: bytes = cast("Any", picture).resize((320, 180), Image.Resampling.NEAREST).tobytes()
        assert not [1 for r, g in zip(pixels[::3], pixels[1::3], strict=True) if r > 200 and g < 100]


async def test_what_cannot_be_recorded_says_why(hand: Hand) -> None:
    await hand.open(PAGE.format("red"))
    assert "start_recording" in await hand.fails("stop_recording", NotFound)
    await hand.fails("start_recording", InvalidArguments, kind="trace", fps=3)
    assert "1280x720" in await hand.fails("start_recording", InvalidArguments, size="big")
    await hand.do("start_recording", name="one")
    assert "one" in await hand.fails("start_recording", NotActionable)
    await until_recorded(hand.session, is_colour(RED))
    await hand.do("stop_recording")


async def test_a_server_without_the_encoder_names_the_extra(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hand.open(PAGE.format("red"))
    monkeypatch.setattr("mcp_browser.browser.recording.can_be_written", False)
    assert "mcp-browser-server[video]" in await hand.fails("start_recording", NotActionable)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"record": "trace"}, "--output-dir FOLDER"),
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


FORM = """<form action=/nowhere><label>User <input name=user></label>
<label>Password <input type=password name=pw></label>
<input name=card-no value=4000-1234-9><input autocomplete=cc-exp value=11/2031></form>
<script>
  document.cookie = 'sid=s3ss10n-c00kie-value';
  const body = JSON.stringify({ password: 'b0dy-passw0rd' });
  fetch('?access_token=t0k3n-of-the-query', { method: 'POST', body });
  console.log('the word is Correct horse 42');
</script><p id=p>Here: Correct horse 42</p>"""


async def test_a_trace_opens_and_holds_no_secret(hand: Hand, tmp_path: Path) -> None:
    hand.session.hidden["word"] = "Correct horse 42"
    await hand.open("Before")
    assert "trace" in await hand.do("start_recording", kind="trace")
    await hand.open(FORM)
    await hand.do("input_text", index=hand.index("User"), text="ada")
    await hand.do("input_text", index=hand.index("Password"), text="opensesame!")
    await hand.do("click_element", index=hand.index("Password"))
    await hand.do("stop_recording", kind="trace")
    path = file_of(hand)
    assert path.suffix == ".zip"
    with zipfile.ZipFile(path) as trace:
        parts = {name: trace.read(name) for name in trace.namelist()}
    whole = b"\n".join(parts.values())
    for secret in (
        *("Correct horse 42", "opensesame", "s3ss10n-c00kie-value", "t0k3n-of-the-query", "b0dy-passw0rd"),
        *("4000-1234-9", "11/2031"),
        # Nor is what the server is made of.
        *("site-packages", str(Path(__file__).parents[2])),
    ):
        assert secret.encode() not in whole, secret
    assert b"Here: " in whole
    events = [json.loads(line) for line in parts["trace.trace"].splitlines()]
    assert {"context-options", "before", "after", "frame-snapshot"} <= {event["type"] for event in events}
    assert not [name for name in parts if name.endswith((".jpeg", ".stacks"))]

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


SOCKET_PAGE = """<label>Password <input type=password id=pw></label><button id=send>Send</button>
<p id=p></p><script>
  const socket = new WebSocket("{address}");
  let left = 5;
  socket.onmessage = () => {{ if (!--left) p.textContent = "Answered" }};
  send.onclick = () => {{
    const bytes = (text) => new TextEncoder().encode(text);
    for (const before of ["", "1", "22"]) socket.send(bytes(`${{before}}${{pw.value}}\\x01`));
    socket.send(JSON.stringify({{ inner: JSON.stringify({{ token: "t0k3n-in-a-frame", word: pw.value }}) }}));
    fetch("?", {{ method: "POST", body: `data:text/plain;base64,${{btoa("a" + pw.value)}}` }});
    socket.send("kept as it is");
  }};
</script>"""


async def test_what_sockets_carry_and_base64_hold_no_secret_in_a_trace(hand: Hand) -> None:
    secret = "0pen?sesame>now"
    with echo_server() as address:
        await hand.open("Before")
        await hand.do("start_recording", kind="trace")
        await hand.open(SOCKET_PAGE.format(address=address))
        await hand.do("input_text", index=hand.index("Password"), text=secret)
        await hand.do("click_element", index=hand.index("Send"))
        await hand.do("wait_for", text="Answered")
        await hand.do("stop_recording", kind="trace")
    with zipfile.ZipFile(file_of(hand)) as trace:
        whole = b"\n".join(trace.read(name) for name in trace.namelist())
    for hidden in (secret, "t0k3n-in-a-frame", *in_base64(secret)):
        assert hidden.encode() not in whole, hidden
    assert b"kept as it is" in whole


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
