"""The server as a process: what it prints, and what is left of it when it ends."""

import json
import signal
import sys
from pathlib import Path

import pytest

from tests.support.client import MODERN_FIRST, Era, browsing
from tests.support.process import RawServer
from tests.support.site import Site

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to find left-over processes")

FORM = """<form onsubmit="event.preventDefault(); out.textContent = 'Hello ' + who.value">
<label>Name <input id=who></label><button>Greet</button></form><p id=out>nobody</p>"""


@pytest.mark.smoke
@pytest.mark.parametrize("era", MODERN_FIRST)
async def test_a_client_of_either_era_works_in_a_page(site: Site, era: Era) -> None:
    async with browsing(era) as browser:
        names = {tool.name for tool in (await browser.client.list_tools()).tools}
        assert {"go_to_url", "get_state", "click_element", "input_text", "handle_dialog"} <= names
        assert "nobody" in await browser.open(site.page(FORM))
        await browser.fill("textbox", "Name", "Ada")
        assert "Hello Ada" in await browser.click("button", "Greet")
        assert (await browser.call("click_element", index=4711)).is_error
        assert "Hello Ada" in await browser.snapshot()
        (picture,) = (await browser.call("screenshot")).images
        assert picture.startswith(b"\xff\xd8")


ENDS = {
    "end of input": None,
    "SIGTERM": signal.SIGTERM,
    "SIGINT": signal.SIGINT,
    "SIGHUP": signal.SIGHUP,
    "SIGKILL": signal.SIGKILL,
}

ENDING_SECONDS = 90
"""The driver gives its browser 30 to end; on a busy machine the start may take as long before that."""


MOMENTS = [(how, moment) for moment in ("idle", "navigating", "while the browser starts") for how in ENDS]


@pytest.mark.parametrize(
    ("how", "moment"), [pytest.param("SIGTERM", "idle", marks=pytest.mark.smoke), *MOMENTS[:1], *MOMENTS[2:]]
)
def test_no_process_outlives_a_server(site: Site, how: str, moment: str) -> None:
    with RawServer() as server:
        if moment == "while the browser starts":
            while len(server.descendants()) < 2:
                assert server.process.poll() is None
        else:
            server.opens(site.page("<h1>Here</h1>"))
            assert len(server.descendants()) > 2, "the browser runs as processes of its own"
        if moment == "navigating":
            seen = len(site.requests)
            server.send("tools/call", {"name": "go_to_url", "arguments": {"url": site.url + "/hang"}})
            while "GET /hang" not in site.requests[seen:]:
                assert server.process.poll() is None
        server.end(ENDS[how])
        assert server.left_over(seconds=ENDING_SECONDS) == {}


@pytest.mark.slow
def test_the_exit_code_tells_the_signal_or_is_zero_at_the_end_of_input() -> None:
    codes: dict[str, int] = {}
    for how in ("end of input", "SIGTERM", "SIGINT"):
        with RawServer() as server:
            server.initialize()
            server.end(ENDS[how])
            codes[how] = server.process.wait(ENDING_SECONDS)
    assert codes == {"end of input": 0, "SIGTERM": 128 + 15, "SIGINT": 128 + 2}


def test_stdout_carries_nothing_but_the_protocol(site: Site, tmp_path: Path) -> None:
    actions = tmp_path / "chatty.py"
    actions.write_text(
        "from mcp_browser import Registry\n"
        "print('imported')\n"
        "registry = Registry()\n"
        "@registry.action('Say something.')\n"
        "def chatter(word: str) -> str:\n"
        "    print(word)\n"
        "    return word\n"
    )
    page = site.page("<button onclick=\"console.log('clicked'); throw new Error('oops')\">Go</button>")
    with RawServer("--actions", str(actions)) as server:
        server.opens(page)
        assert server.call("chatter", word="hello")["content"][0]["text"].startswith("hello")
        server.call("click_element", index=1)
        server.request("tools/call", {"name": "nope"})
        lines = server.all_lines()
        assert lines
        for line in lines:
            assert json.loads(line)["jsonrpc"] == "2.0"


def test_garbage_on_stdin_does_not_end_the_server(site: Site) -> None:
    with RawServer() as server:
        server.initialize()
        server.write("this is not JSON", "{}", "[]")
        assert not server.call("go_to_url", url=site.page("<p>still here</p>"))["isError"]
