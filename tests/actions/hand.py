"""A hand that works the browser as a model does: by actions, reading only what results say."""

import io
import re
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from PIL import Image

from mcp_browser.actions import default_registry
from mcp_browser.actions.result import ActionResult
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.errors import ActionError
from mcp_browser.rendering import render_error, render_result
from tests.support.site import Site

ELEMENT = re.compile(r'\[(\d+)\] (\S+) "(.*?)"')
LINE = re.compile(r'^\s*(?:[+~=-]\s*)?\*?\[(\d+)\] (\S+) "(.*?)"(.*)$')
ROW = re.compile(r"^\s*(?:[+~] )?\s*(?:\*?\[\d+\] row )?\| ")


class Hand:
    """Carries out actions in one session and remembers what their results said."""

    def __init__(self, controller: Controller, session: BrowserSession, site: Site) -> None:
        self.controller = controller
        self.session = session
        self.site = site
        self.result = ActionResult()
        self.told = ""

    async def do(self, action: str, **arguments: Any) -> str:
        self.result = await self.controller.execute(action, arguments, self.session)
        text = render_result(self.result, settings=self.controller.settings)[0]
        self.told += f"\n{text}"
        return text

    async def fails(self, action: str, error: type[ActionError] = ActionError, **arguments: Any) -> str:
        """Carry out an action that must fail in this way; the text of the error."""
        try:
            text = await self.do(action, **arguments)
        except error as caught:
            return render_error(caught)
        raise AssertionError(f"{action} did not fail but said: {text}")

    @contextmanager
    def under(self, **groups: dict[str, object]) -> Generator[None]:
        """Act under other settings meanwhile: `under(screenshots={"screenshots": "never"})`."""
        before = self.controller
        settings = before.settings
        changed = {name: getattr(settings, name).model_copy(update=group) for name, group in groups.items()}
        self.controller = Controller(before.registry, settings.model_copy(update=changed))
        try:
            yield
        finally:
            self.controller = before

    async def open(self, body: str, *, title: str = "Test page") -> str:
        return await self.do("go_to_url", url=self.site.page(body, title=title))

    def index(self, name: str, role: str | None = None) -> int:
        """The index last given for the element of that name."""
        found = [
            int(match[1])
            for line in self.told.splitlines()
            for match in (ELEMENT.finditer(line) if ROW.match(line) else filter(None, [LINE.match(line)]))
            if match[3] == name and role in (None, match[2])
        ]
        assert found, f"no {role or 'element'} {name!r} in {self.told}"
        return found[-1]

    def picture(self) -> Image.Image:
        (attachment,) = self.result.attachments
        assert attachment.data is not None
        return Image.open(io.BytesIO(attachment.data))

    @property
    def file(self) -> Path:
        (attachment,) = self.result.attachments
        assert attachment.path is not None
        return Path(attachment.path)

    @property
    def data(self) -> dict[str, Any]:
        assert self.result.data is not None
        return self.result.data

    async def js(self, expression: str) -> Any:
        """Ask the page itself, to see whether a result told the truth."""
        return await self.session.current_tab.page.evaluate(expression)


@asynccontextmanager
async def hand_in(manager: BrowserManager, site: Site, **options: Any) -> AsyncGenerator[Hand]:
    """A hand in a session of its own, opened with these options."""
    session = await manager.open_session(**options)
    try:
        yield Hand(Controller(default_registry(), manager.settings), session, site)
    finally:
        await session.close()
