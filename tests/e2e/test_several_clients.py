"""Servers that share a browser: several with one profile, and one in the user's own browser."""

import contextlib
import os
import random
import re
import signal
import sys
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

import anyio
import psutil
import pytest

from mcp_browser.browser.process.profile import profile_holder
from tests.browser.conftest import until
from tests.support.load import load
from tests.support.own_chrome import users_browser
from tests.support.process import RawServer
from tests.support.site import Site

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc; Windows has no broker")

CLIENTS = load(5, full=10)
T = TypeVar("T")

PAGE = """<title>none</title><h1 id=who></h1><p id=login></p>
<button onclick="document.cookie = 'login=ann; max-age=999'; tell()">Log in</button>
<button onclick="window.open(location.href + '-popup')">Open</button>
<button onclick="count.textContent++">Count</button><output id=count>0</output>
<script>
  function tell() { login.textContent = document.cookie.includes('login=ann') ? 'Hello Ann' : 'Nobody' }
  document.title = who.textContent = 'Page of ' + location.search.slice(1); tell();
</script>"""


class Client(RawServer):
    """A server on a shared profile, and the model that drives it."""

    def __init__(self, number: int, folder: Path, url: str) -> None:
        super().__init__("--no-isolated", f"--profile={folder}")
        self.number = number
        self.url = f"{url}?{number}"

    def do(self, tool: str, **arguments: object) -> str:
        """Call a tool that has to succeed; the text of its result."""
        result = self.call(tool, **arguments)
        text = "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
        assert not result.get("isError"), text
        return text

    def open(self) -> str:
        """Greet the server, and open this client's page."""
        self.initialize()
        return self.again()

    def again(self) -> str:
        return self.do("go_to_url", url=self.url)

    def press(self, button: str) -> str:
        seen = re.search(rf'\[(\d+)\] button "{button}"', self.look())
        assert seen is not None
        return self.do("click_element", index=int(seen[1]))

    def look(self) -> str:
        return self.do("get_state", screenshot=False)

    def check(self) -> None:
        """The page, and the only one, is this client's; and it answers."""
        state = self.look()
        assert f"Page of {self.number}" in state
        pages = set(re.findall(r"Page of (\d+)", state))
        assert pages == {str(self.number)}, state

    def go(self, how: str) -> None:
        """Kill the server, or leave it as clients do."""
        self.end(signal.SIGKILL if how == "killed" else None)
        self.process.wait(30)


@contextmanager
def clients(number: int, folder: Path, url: str) -> Generator[list[Client]]:
    with ExitStack() as running:
        yield [running.enter_context(Client(one, folder, url)) for one in range(number)]


def at_once(everyone: Iterable[Client], work: Callable[[Client], T]) -> list[T]:
    with ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(work, everyone))


def browsers(folder: Path) -> list[psutil.Process]:
    """The browsers that run on a profile, their helpers left out."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            command = process.cmdline()
            is_one = {"--remote-debugging-pipe", f"--user-data-dir={folder}"} <= set(command)
            if is_one and not re.search(r" --type=|profile_client\.py", " ".join(command)):
                found.append(process)
    return found


def test_many_clients_killed_in_any_order_share_one_browser(
    site: Site, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    seed = random.randrange(1000)
    record_property("seed", seed)
    chance = random.Random(seed)
    with clients(CLIENTS, tmp_path, site.page(PAGE)) as everyone:
        assert all("Nobody" in told for told in at_once(everyone, Client.open))
        assert len(browsers(tmp_path)) == 1
        assert "Hello Ann" in chance.choice(everyone).press("Log in")
        assert all("Hello Ann" in told for told in at_once(everyone, Client.again))
        left = chance.sample(everyone, CLIENTS)
        while left:
            going = left.pop()
            going.go(chance.choice(("killed", "left")))
            at_once(chance.sample(left, min(2, len(left))), Client.check)
            if len(left) == 1:
                at_once(left, lambda last: last.press("Count"))
        for client in everyone:
            assert client.left_over(seconds=30) == {}
        assert profile_holder(tmp_path) is None


def test_a_broker_that_dies_is_replaced_by_one_for_all(site: Site, tmp_path: Path) -> None:
    with clients(2, tmp_path, site.page(PAGE)) as everyone:
        at_once(everyone, Client.open)
        everyone[0].press("Log in")
        holder = profile_holder(tmp_path)
        assert holder is not None
        assert holder.pid is not None
        (browser,) = browsers(tmp_path)
        os.kill(browser.ppid(), signal.SIGKILL)
        assert all("Hello Ann" in told for told in at_once(everyone, Client.again))
        (another,) = browsers(tmp_path)
        assert another != browser
        everyone[1].go("killed")
        everyone[0].check()


@pytest.mark.parametrize("how", [None, signal.SIGTERM, signal.SIGKILL])
async def test_the_users_browser_outlives_a_server(
    site: Site, tmp_path: Path, how: signal.Signals | None
) -> None:
    witness, url = site.page("<h1>The user's</h1>"), site.page("<h1>The client's</h1>")
    with (
        users_browser(tmp_path, witness) as user,
        RawServer("--connect", str(user.folder), browser=()) as server,
    ):
        told = server.opens(url)
        assert "The client's" in told
        assert "1 tab of its user's is not touched" in told
        assert user.attached() == {url}
        server.end(how)
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
