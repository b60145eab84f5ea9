"""A server in the user's own browser, as a process: it ends, however it does, and the browser goes on."""

import re
import signal
import sys
from pathlib import Path

import anyio
import pytest

from tests.browser.conftest import until
from tests.support.own_chrome import users_browser
from tests.support.process import RawServer
from tests.support.site import Site

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to find left-over processes")


@pytest.mark.parametrize("how", [None, signal.SIGTERM, signal.SIGKILL])
async def test_the_users_browser_outlives_a_server(
    site: Site, tmp_path: Path, how: signal.Signals | None
) -> None:
    witness, url = site.page("<h1>The user's</h1>"), site.page("<h1>The client's</h1>")
    with (
        users_browser(tmp_path, witness) as user,
        RawServer("--connect", str(user.folder), browser=()) as server,
    ):
        server.initialize()
        told = server.call("go_to_url", url=url)["content"][0]["text"]
        assert "The client's" in told
        assert "1 tab of its user's is not touched" in told
        assert user.attached() == {url}
        if how is None:
            assert server.process.stdin is not None
            server.process.stdin.close()
        else:
            server.process.send_signal(how)
        assert server.left_over(seconds=40) == {}
        await until(lambda: not user.attached())
        # Nobody is left to close what a server that was killed had open.
        assert set(user.tabs()) == ({witness, url} if how is signal.SIGKILL else {witness})
        assert user.running


async def test_doctor_lists_the_users_tabs_and_marks_those_that_are_lent(site: Site, tmp_path: Path) -> None:
    kept = site.page("", title="Kept")
    lent = site.page("", title="Lent").replace("127.0.0.1", "localhost")
    with users_browser(tmp_path, kept) as user:
        user.open(lent)
        await until(lambda: {kept, lent} <= set(user.tabs()))
        flags = ("--connect", str(tmp_path), "--connect-tabs", "localhost")
        command = [sys.executable, "-m", "mcp_browser", "doctor", *flags]
        done = await anyio.run_process(command)
        assert not user.attached()
    told = done.stdout.decode()
    assert "Your tabs   2, 1 of which may be used" in told
    assert re.search(rf'may be used: ("Lent" )?{re.escape(lent)}', told)
    assert re.search(rf'not touched: ("Kept" )?{re.escape(kept)}', told)
