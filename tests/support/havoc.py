"""A server for many clients while browsers, renderers and connections are killed at random.

async with visited(profiles, temporary) as havoc:
    await havoc.strike("renderer", "download")
"""

import asyncio
import itertools
import logging
import random
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from mcp.shared.exceptions import MCPError

from mcp_browser.browser.process.profile import profile_holder
from tests.support.client import Era, Result
from tests.support.gates import GatedSite, Relay, gated_site, holder_of, relay
from tests.support.remote import RemoteBrowser, RemoteServer, connected, serving, until

logger = logging.getLogger(__name__)
WHAT = ("browser", "connection", "renderer")
WHEN = ("idle", "call", "download", "navigation")

KINDS: list[tuple[str, bool, Era, str | None]] = [
    ("modern", False, "auto", None),
    ("legacy", False, "legacy", None),
    ("events", True, "legacy", None),
    ("profiled", False, "auto", "logins"),
]
"""The visitors: name, whether by Server-Sent Events, era, profile."""

RENDERER_TRIES = 40
BUSY_SECONDS = 0.3
BUSY = """let worked = 0, before = performance.now();
while (worked < 400) { const now = performance.now(); worked += Math.min(now - before, 1); before = now }"""
"""Works for 0.4 s of the processor's time: a pause in which others have the processor does not count."""

ANSWER_SECONDS = 60
"""How long a call may go on when something has been killed under it; no call of the server is longer."""


def page(path: str) -> str:
    """A page that tells who has been there, and begins what does not end."""
    rest = path.removeprefix("/page")
    return f"""<title>Notes</title><p id=kept></p>
    <label>Note <input></label>
    <button onclick="localStorage.who = document.cookie = document.querySelector('input').value;
      tell()">Keep</button>
    <button onclick="fetch('/never/call{rest}')">Ask</button>
    <a href="/part{rest}" download>Part</a>
    <script>function tell() {{
      kept.textContent = `Kept: ${{localStorage.who || "nobody"}}, ${{document.cookie || "nobody"}}.` }}
    tell()</script>"""


@dataclass(eq=False, kw_only=True)
class Visitor:
    """A client behind a relay of its own, its session, and what there should be in it."""

    name: str
    sse: bool
    era: Era
    profile: str | None
    line: Relay
    site: GatedSite
    stack: AsyncExitStack
    load: int = 0
    handle: str | None = None

    @property
    def rest(self) -> str:
        """What the paths of the page that is open end with."""
        return f"/{self.name}/{self.load}"

    async def connect(self) -> None:
        """Come in, and go on in the session of an earlier connection where that goes on."""
        url = f"http://127.0.0.1:{self.line.port}/{'sse' if self.sse else 'mcp'}"
        self.browser = await self.stack.enter_async_context(_surviving(url, self.era))
        if self.handle is not None:
            self.browser.session = self.handle
        elif self.profile is not None:
            await self.browser.do("new_session", profile=self.profile)

    async def arrive(self, *, known: bool) -> None:
        """Open the page, which has to know the visitor or not to, and leave a note there."""
        self.load += 1
        await self.browser.open(f"{self.site.url}/page{self.rest}")
        kept = self.name if known else "nobody"
        assert self.browser.shows(f"Kept: {kept}, {kept}."), self.browser.last()
        await self.browser.fill("textbox", "Note", self.name)
        if not known:
            await self.browser.click("button", "Keep")
            assert self.browser.shows(f"Kept: {self.name}, {self.name}."), self.browser.last()
        if not self.sse and self.handle is None:
            self.handle = self.browser.session = await self.browser.handle()

    async def look(self) -> Result:
        return await self.browser.call("get_state", screenshot=False)

    def is_untouched(self, seen: Result) -> bool:
        """Whether a look shows the page as the visitor has left it."""
        return (
            not seen.is_error
            and f"Kept: {self.name}, {self.name}." in seen.text
            and f'value="{self.name}"' in seen.text
        )

    async def begin(self, when: str) -> "asyncio.Task[Result] | None":
        """Start what is to be disturbed, and return in the middle of it."""
        work, path = None, ""
        if when == "call":
            work, path = ("click_element", {"index": self.browser.find("button", "Ask")}), "/never/call"
        elif when == "download":
            work, path = ("click_element", {"index": self.browser.find("link", "Part")}), "/part"
        elif when == "navigation":
            path = "/never/navigation"
            work = ("go_to_url", {"url": f"{self.site.url}{path}{self.rest}"})
        if work is None:
            return None
        call = asyncio.create_task(self.browser.call(work[0], **work[1]))
        await self.site.asked(path + self.rest)
        return call


@asynccontextmanager
async def _surviving(url: str, era: Era) -> AsyncGenerator[RemoteBrowser]:
    """A connection that may have been cut when it is closed."""
    client = connected(url, era)
    browser = await client.__aenter__()
    try:
        yield browser
    finally:
        with suppress(Exception):
            await client.__aexit__(None, None, None)


@dataclass(frozen=True)
class Folders:
    """Where a server keeps its profiles, and its temporary files."""

    profiles: Path
    temporary: Path
    """A short path: a browser makes a socket below it."""

    def kept(self) -> str:
        return "".join(file.read_text("utf-8") for file in self.profiles.glob("*/*/state.json"))

    async def profile_is_free(self) -> bool:
        (profile,) = self.profiles.glob("*/logins")
        return await asyncio.to_thread(profile_holder, profile) is None

    def left(self) -> list[str]:
        """What is left of the temporary files.

        A Chromium that is killed leaves the folder of its socket and files it was writing; only it knows.
        """
        return [path.name for path in self.temporary.iterdir() if "org.chromium.Chromium." not in path.name]


@contextmanager
def havoc_folders() -> Generator[Folders]:
    with tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as folder:
        folders = Folders(Path(folder, "profiles"), Path(folder, "t"))
        folders.temporary.mkdir()
        yield folders


class Havoc:
    """A server with visitors, and what is done to them."""

    def __init__(
        self, server: RemoteServer, site: GatedSite, visitors: list[Visitor], *, folders: Folders, seed: int
    ) -> None:
        self.server = server
        self.site = site
        self.visitors = visitors
        self.folders = folders
        self.random = random.Random(seed)
        self.told: Counter[str] = Counter()
        self._browsers: dict[str, psutil.Process] = {}
        site.on_page = self._loaded

    def _loaded(self, path: str, port: int) -> None:
        process = holder_of(port, self.server.process.pid)
        while _is_browser(parent := process.parent()):
            assert parent is not None
            process = parent
        self._browsers[path.split("/")[2]] = process

    def browser_of(self, visitor: Visitor) -> psutil.Process:
        """The main process of the browser in which a visitor's page was loaded last."""
        return self._browsers[visitor.name]

    def browsers(self) -> set[psutil.Process]:
        everything = psutil.Process(self.server.process.pid).children(recursive=True)
        return {one for one in everything if _is_browser(one) and not _is_browser(one.parent())}

    async def rage(self, faults: int) -> None:
        """Strike so many times, each kind as often as the others, in a random order.

        At the end no browser runs that nobody uses, and a profile whose session was closed is free.
        """

        async def is_kept() -> bool:
            return self.folders.kept().count("profiled") > 1

        await until(is_kept)
        order = list(itertools.product(WHAT, WHEN))
        for number in range(faults):
            if number % len(order) == 0:
                self.random.shuffle(order)
            await self.strike(*order[number % len(order)])
        await until(self.only_browsers_in_use_run)
        profiled = next(visitor for visitor in self.visitors if visitor.profile)
        await profiled.browser.do("close_session", session=profiled.browser.session)
        await until(self.folders.profile_is_free)

    async def strike(self, what: str, when: str) -> None:
        """Kill something in the middle of something; see that all goes on."""
        victim = self.random.choice(self.visitors)
        browser = self.browser_of(victim)
        neighbours = [one for one in self.visitors if self.browser_of(one) == browser]
        target = await self._renderer_of(victim) if what == "renderer" else browser
        call = await victim.begin(when)
        if what == "connection":
            victim.line.cut()
        else:
            target.kill()
        answer = await _answered(call)
        self.site.hang_up()
        logger.info("%s at %s of %s: %s", what, when, victim.name, answer)

        bereft = neighbours if what == "browser" else []
        if what == "connection":
            # The session of Server-Sent Events ends with its connection, the others' goes on.
            bereft = [victim] if victim.sse else []
            await victim.connect()
        elif when == "idle":
            assert not victim.is_untouched(await victim.look()), "what was killed was not the victim's"
        await victim.arrive(known=victim not in bereft or victim.profile is not None)
        await self._see_to_the_others(victim, bereft)
        self.told[f"{what}, {when}: {answer}"] += 1

    async def _see_to_the_others(self, victim: Visitor, bereft: list[Visitor]) -> None:
        """Each of the others has all it had, save those of a dead browser."""
        for other in self.visitors:
            if other is victim:
                continue
            seen = await other.look()
            if other in bereft:
                assert not other.is_untouched(seen)
                await other.arrive(known=other.profile is not None)
            else:
                assert other.is_untouched(seen), (other.name, seen.text)

    async def _renderer_of(self, visitor: Visitor) -> psutil.Process:
        """The process that runs the scripts of a visitor's page: it alone works each time a script does."""
        guess: psutil.Process | None = None
        looks: list[dict[int, float]] = []
        for _ in range(RENDERER_TRIES):
            children = self.browser_of(visitor).children(recursive=True)
            before = {child: _worked(child) for child in children if "--type=renderer" in _command(child)}
            await visitor.browser.do("evaluate_script", script=BUSY)
            worked = {child: _worked(child) - so_far for child, so_far in before.items()}
            busy = [child for child, seconds in worked.items() if seconds >= BUSY_SECONDS]
            if busy == [guess]:
                return busy[0]
            guess = busy[0] if len(busy) == 1 else None
            looks.append({child.pid: round(seconds, 2) for child, seconds in worked.items()})
        raise AssertionError(f"no renderer of {visitor.name} alone works when its page does: {looks}")

    async def only_browsers_in_use_run(self) -> bool:
        """Whether no browser is left of those that nobody uses."""
        return self.browsers() == {self.browser_of(visitor) for visitor in self.visitors}


def _is_browser(process: psutil.Process | None) -> bool:
    return process is not None and "chrom" in _command(process)[0]


def _worked(process: psutil.Process) -> float:
    """The processor's time that a process has taken, seconds; 0 for one that has ended."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0
    return times.user + times.system


def _command(process: psutil.Process) -> list[str]:
    """The words of a process's command; one empty word for a process that has ended."""
    try:
        return process.cmdline() or [""]
    except psutil.Error:
        return [""]


async def _answered(call: "asyncio.Task[Result] | None") -> str:
    """How a call was answered; it has to be."""
    if call is None:
        return "no call"
    async with asyncio.timeout(ANSWER_SECONDS):
        try:
            result = await call
        except MCPError as error:
            return f"not reached: {error}"[:80]
    return "error" if result.is_error else "result"


@asynccontextmanager
async def visited(folders: Folders, seed: int) -> AsyncGenerator[Havoc]:
    """A server with four visitors in two browsers, one of them with a profile."""
    flags = ("--tools", "core,scripting", "--sessions-per-browser", "2", "--profiles", str(folders.profiles))
    environment = {"TMPDIR": str(folders.temporary)}
    async with (
        # The pages know by their connections which process of a browser has loaded them.
        serving("--no-block-private", *flags, environment=environment) as server,
        gated_site(page) as site,
        AsyncExitStack() as stack,
    ):
        visitors: list[Visitor] = []
        havoc = Havoc(server, site, visitors, folders=folders, seed=seed)
        for name, sse, era, profile in KINDS:
            line = await stack.enter_async_context(relay(server.port))
            visitor = Visitor(name=name, sse=sse, era=era, profile=profile, line=line, site=site, stack=stack)
            await visitor.connect()
            await visitor.arrive(known=False)
            visitors.append(visitor)
        yield havoc
