"""What Playwright writes while a trace records does not stay on the disk with its secrets."""

import io
import os
import re
import signal
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.process import RawServer, browser_of
from tests.support.site import Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs /proc and SIGKILL"),
]

SECRET = "0pen-sesame-now"
PAGE = """<style>p { color: #123456 }</style><p>Hello</p>
<label>Password <input type=password id=pw></label><button id=send>Send</button>
<script>
  pw.onchange = () => history.pushState(0, "", `?${pw.value}`);
  send.onclick = () => fetch("?", { method: "POST", body: JSON.stringify({ saw: pw.value }) });
</script>"""


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder for this test alone; with a long path, Chromium could not make its socket in it."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


def telling(folder: Path) -> list[str]:
    """The files in which the secret can be read; the browser's own profile is none of them."""
    return [
        str(path.relative_to(folder))
        for path in list(folder.rglob("*"))
        if path.is_file() and "profile" not in str(path) and SECRET.encode() in whole(path)
    ]


def whole(path: Path) -> bytes:
    content = path.read_bytes()
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return content
    with zipfile.ZipFile(path) as parts:
        return b"\n".join(parts.read(name) for name in parts.namelist())


def recorded(server: RawServer, page: str) -> None:
    """Begin a trace, and type the secret."""
    assert not server.call("start_recording", kind="trace")["isError"]
    server.call("go_to_url", url=page)
    state = str(server.call("get_state"))
    password, send = re.findall(r"\[(\d+)\] (?:textbox|button)", state)
    assert not server.call("input_text", index=int(password), text=SECRET)["isError"]
    assert not server.call("click_element", index=int(send))["isError"]


@pytest.mark.parametrize("isolated", [True, False])
def test_nothing_secret_stays_after_a_trace_while_its_browser_lives(
    temporary: Path, site: Site, isolated: bool
) -> None:
    profile = ("--isolated",) if isolated else ("--profile", str(temporary / "profile"))
    with RawServer("--tools", "core,recording", browser=("--headless", *profile)) as server:
        server.initialize()
        page = site.page(PAGE)
        for _ in range(2):
            recorded(server, page)
            assert telling(temporary)
            assert not (told := server.call("stop_recording"))["isError"], told
            assert not telling(temporary)
        # What a page has loaded once is in later traces of its browser as well.
        (first, second) = sorted(temporary.glob("*/trace-*.zip"), key=lambda one: one.stat().st_mtime)
        names = [set(zipfile.ZipFile(one).namelist()) for one in (first, second)]
        shared = [name for name in names[0] & names[1] if name.startswith("resources/")]
        assert [name for name in shared if zipfile.ZipFile(second).read(name)]
        assert not server.call("get_state")["isError"]


def test_nothing_secret_stays_after_a_crash_of_the_browser(temporary: Path, site: Site) -> None:
    with RawServer("--tools", "core,recording") as server:
        server.initialize()
        recorded(server, site.page(PAGE))
        assert telling(temporary)
        os.kill(browser_of(server.descendants()), signal.SIGKILL)
        deadline = time.monotonic() + 60
        while telling(temporary):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert "lost with the browser" in str(server.call("get_state"))


def test_nothing_secret_stays_after_the_server(temporary: Path, site: Site) -> None:
    with RawServer("--tools", "core,recording") as server:
        server.initialize()
        recorded(server, site.page(PAGE))
        server.process.stdin.close()  # type: ignore[union-attr]
        server.process.wait(60)
    assert not telling(temporary)
