"""A chat that shows MCP Apps: a page with the official bridge, between an app's frame and an MCP client."""

import json
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp import Client
from mcp.client.extension import ClientExtension, advertise
from playwright.async_api import Browser, FrameLocator, Page

from tests.support.packages import npm_packages

EXTENSION = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"
_PACKAGES = (
    "@modelcontextprotocol/ext-apps@2.0.4",
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/core@2.4.0",
    "zod@4.6.7",
    "esbuild@0.28.2",
)


def shows_apps() -> ClientExtension:
    """What a client declares that shows MCP Apps."""
    return advertise(EXTENSION, {"mimeTypes": [MIME_TYPE]})


def bridge_script() -> str:
    modules = npm_packages("ext-apps", *_PACKAGES)
    entry = modules.parent / "app_host.js"
    entry.write_text(Path(__file__).with_name("app_host.js").read_text())
    command = [modules / ".bin" / "esbuild", entry, "--bundle", "--format=iife", "--log-level=error"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Chat:
    """A chat whose client has called a tool that has an app."""

    def __init__(self, page: Page, client: Client, tools: Sequence[types.Tool]) -> None:
        self.page = page
        self.client = client
        self.tools = {tool.name: tool for tool in tools}
        self.said: list[str] = []

    @classmethod
    async def begin(cls, chromium: Browser, client: Client, script: str) -> "Chat":
        page = await chromium.new_page(viewport={"width": 800, "height": 900})
        chat = cls(page, client, (await client.list_tools()).tools)
        page.on("console", lambda message: chat.said.append(message.text))
        page.on("pageerror", lambda error: chat.said.append(str(error)))
        call: Callable[[dict[str, Any]], Any] = chat._call
        await page.expose_function("callTool", call)  # pyright: ignore[reportUnknownMemberType] - Playwright's
        await page.set_content(f"<title>A chat</title><body><script>{script}</script>")
        return chat

    async def _call(self, params: dict[str, Any]) -> dict[str, Any]:
        tool = self.tools[params["name"]]
        # As clients have to check.
        assert "app" in ((tool.meta or {}).get("ui", {})).get("visibility", ["model", "app"])
        result = await self.client.call_tool(params["name"], params.get("arguments", {}))
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    async def show(self, name: str, arguments: dict[str, Any], *, theme: str = "light") -> FrameLocator:
        """Show the app of a tool, which is being called with these arguments."""
        tool = self.tools[name]
        uri = (tool.meta or {})["ui"]["resourceUri"]
        (html,) = (await self.client.read_resource(uri)).contents
        assert isinstance(html, types.TextResourceContents)
        assert html.mime_type == MIME_TYPE
        told = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
        await self.page.evaluate(
            "(all) => showApp(all.html, all.tool, all.arguments, all.options)",
            {"html": html.text, "tool": told, "arguments": arguments, "options": {"theme": theme}},
        )
        return self.page.frame_locator("iframe").last

    async def tell_result(self, result: types.CallToolResult) -> None:
        told = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        await self.page.evaluate(f"app.sendToolResult({json.dumps(told)})")

    async def end(self) -> None:
        """Close the chat; nothing in it may have gone wrong."""
        await self.page.close()
        wrong = [text for text in self.said if re.search("Error|Content Security|Blocked", text)]
        assert not wrong, wrong
