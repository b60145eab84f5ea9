"""Visitors of several replicas behind a proxy, and what each of them has to find there."""

import asyncio
import itertools
import math
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import httpx2
from mcp.shared.exceptions import MCPError

from tests.support.client import Era
from tests.support.remote import RemoteBrowser, connected
from tests.support.replicas import Replicas, replicated
from tests.support.site import Site

T = TypeVar("T")
Behind = Callable[..., AbstractAsyncContextManager[Replicas]]
"""Takes a folder and flags of the replicas, and starts these and a proxy before them."""

AT_ONCE = 5
"""How many clients call at a time: more would only wait for the processor, and some of them too long."""

MORE = 24
"""How many may come besides, until each replica has one that reads files."""

WAYS: list[tuple[bool, Era]] = [(False, "auto"), (False, "legacy"), (True, "legacy")]
"""Whether by Server-Sent Events, and in which era."""

PAGE = """<label>Name <input name=name></label><button onclick="document.cookie = `name=${document.
querySelector('input').value}`; out.textContent = `${document.cookie}.`">Keep</button><p id=out></p>
<a href="/download/note.txt?text=mine" download>Note</a>
<script>out.textContent = document.cookie || "nobody"</script>"""


@dataclass
class Visitor:
    """A client with a session of its own, the name it gave there, and the replica that has it."""

    browser: RemoteBrowser
    name: str
    era: Era
    sse: bool
    replica: str

    async def is_known(self) -> bool:
        """Whether a call reaches the browser in which the name was given."""
        return f"name={self.name}." in await self.browser.do("get_state", screenshot=False)


async def visit(replicas: Replicas, stack: AsyncExitStack, page: str, number: int) -> Visitor:
    """Come in, over one of the transports in one of the eras, and give a name."""
    sse, era = WAYS[number % len(WAYS)]
    url = replicas.sse_url if sse else replicas.url
    browser = await stack.enter_async_context(connected(url, era))
    name = f"visitor-{number}"
    assert "nobody" in await browser.open(page)
    await browser.fill("textbox", "Name", name)
    await browser.click("button", "Keep")
    return Visitor(browser, name, era, sse, (await browser.handle()).partition(".")[0])


@dataclass(frozen=True)
class Outcome:
    """How many sessions each replica had before one was `killed`, and how many were lost: those there."""

    spread: Counter[str]
    killed: str
    lost: int


async def crowd(site: Site, folder: Path, sessions: int, *, behind: Behind = replicated) -> Outcome:
    """Let so many come in, call again and again, read files; kill a replica; see what each of them has then.

    The site has the page that they open, `folder` the proxy's own files.
    """
    page = site.page(PAGE)
    flags = ("--tools", "core,files", "--rate-limit", "0", "--max-sessions", str(sessions + MORE))
    async with behind(folder, *flags) as replicas, AsyncExitStack() as stack:
        names = list(replicas.servers)
        killed = names[1]
        visitors = await together(visit(replicas, stack, page, number) for number in range(sessions))
        spread = Counter(visitor.replica for visitor in visitors)
        assert spread.keys() <= set(names)
        fewest = min(spread[name] for name in names)
        assert fewest >= fewest_by_lot(sessions, len(names)), f"not by lot: {spread}"
        for _ in range(2):
            assert all(await together(visitor.is_known() for visitor in visitors))
        for name in names:
            await read_a_file(replicas, await reader_at(replicas, stack, page, name, visitors))
        spread = Counter(visitor.replica for visitor in visitors)
        replicas.servers[killed].process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(replicas.servers[killed].process.wait)
        lost = [visitor for visitor in visitors if visitor.replica == killed]
        kept = [visitor for visitor in visitors if visitor.replica != killed]
        told, known = await asyncio.gather(
            together(what_is_told(visitor) for visitor in lost),
            together(visitor.is_known() for visitor in kept),
        )
        assert all(known)
        for visitor, text in zip(lost, told, strict=True):
            assert text, visitor
            if not visitor.sse:
                expected = "Session not found" if visitor.era == "legacy" else "call without `session`"
                assert expected in text, (visitor, text)
        # Whoever comes anew, also one that lost its session, works with those that are left.
        for number in range(6):
            again = await visit(replicas, stack, page, number)
            assert again.replica != killed
            assert await again.is_known()
        assert all(await together(visitor.is_known() for visitor in kept))
    return Outcome(spread, killed, len(lost))


def fewest_by_lot(sessions: int, replicas: int) -> float:
    """What each replica has at least if sessions come by lot: the mean less four deviations (binomial)."""
    share = 1 / replicas
    return sessions * share - 4 * math.sqrt(sessions * share * (1 - share))


async def reader_at(
    replicas: Replicas, stack: AsyncExitStack, page: str, name: str, visitors: list[Visitor]
) -> Visitor:
    """A visitor of the modern protocol at a replica: more come until there is one."""
    first = len(visitors)
    for number in itertools.count(first, len(WAYS)):
        for visitor in visitors:
            if visitor.replica == name and visitor.era == "auto":
                return visitor
        assert number < first + MORE * len(WAYS), f"{MORE} more have come, and none to {name}"
        visitors.append(await visit(replicas, stack, page, number - number % len(WAYS)))
    raise AssertionError


async def together(works: Iterable[Awaitable[T]]) -> list[T]:
    """The outcomes of all, `AT_ONCE` of which are under way at a time."""
    room = asyncio.Semaphore(AT_ONCE)

    async def one(work: Awaitable[T]) -> T:
        async with room:
            return await work

    return await asyncio.gather(*(one(work) for work in works))


async def read_a_file(replicas: Replicas, visitor: Visitor) -> None:
    """Download a file and read it by its address, which is no call with a session, and by its path."""
    await visitor.browser.click("link", "Note")
    listed = await visitor.browser.do("list_files")
    address = next(word for word in listed.split() if word.startswith("browser://"))
    assert address.startswith(f"browser://{visitor.replica}.")
    (content,) = (await visitor.browser.client.read_resource(address.rstrip(",.;"))).contents
    assert getattr(content, "text", "") == "mine"
    key, _, rest = address.rstrip(",.;").removeprefix("browser://").partition("/files/")
    async with httpx2.AsyncClient() as http:
        assert (await http.get(f"{replicas.base}/files/{key}/{rest}")).text == "mine"


async def what_is_told(visitor: Visitor) -> str:
    """What a client whose session is lost learns from its next call."""
    try:
        async with asyncio.timeout(20):
            result = await visitor.browser.call("get_state", screenshot=False)
    except MCPError as error:
        return str(error)
    assert result.is_error
    return result.text
