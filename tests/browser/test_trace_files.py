"""What Playwright writes while a trace records: no secrets, and nothing of it stays."""

import io
import re
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.process import RawServer
from tests.support.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="needs /proc and SIGKILL")]

SECRET = "0pen-sesame-now"
PAGE = """<style>p { color: #123456 }</style><p>Hello</p>
<label>Password <input type=password id=pw></label><button id=send>Send</button>
<script>
  pw.onchange = () => history.pushState(0, "", `?${pw.value}`);
  send.onclick = () => fetch("?", { method: "POST", body: JSON.stringify({ saw: pw.value }) });
</script>"""


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


def test_a_password_that_is_typed_during_a_trace_is_on_no_disk(temporary: Path, site: Site) -> None:
    with RawServer("--tools", "core,recording") as server:
        server.initialize()
        assert not server.call("start_recording", kind="trace")["isError"]
        server.call("go_to_url", url=site.page(PAGE))
        password, send = re.findall(r"\[(\d+)\] (?:textbox|button)", str(server.call("get_state")))
        told = server.call("input_text", index=int(password), text=SECRET)
        assert "the trace was discarded" in str(told)
        assert not server.call("click_element", index=int(send))["isError"]
        assert list(temporary.glob("playwright-artifacts-*/*.trace")), "written until then"
        assert not telling(temporary)
        server.all_lines()
    assert not list(temporary.glob("playwright-artifacts-*"))
