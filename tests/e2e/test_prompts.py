"""Prompts as clients meet them: over stdio and HTTP, in both eras."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import mcp_types as types
import pytest
import pytest_asyncio
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests.support.client import browsing
from tests.support.remote import RemoteBrowser, connected, serving
from tests.support.site import Site

FLAGS = ("--tools", "core,console,sessions")


@dataclass
class Place:
    """A client of a server; `given` names its session for prompts, where calls have to."""

    client: Client
    given: dict[str, str]


@pytest_asyncio.fixture(
    scope="module",
    loop_scope="session",
    params=[("stdio", "auto"), ("stdio", "legacy"), ("http", "auto"), ("http", "legacy")],
    ids="-".join,
)
async def place(request: pytest.FixtureRequest, site: Site) -> AsyncIterator[Place]:
    way, era = request.param
    async with AsyncExitStack() as stack:
        if way == "stdio":
            browser = await stack.enter_async_context(browsing(era, *FLAGS))
        else:
            server = await stack.enter_async_context(serving("--http", *FLAGS))
            browser = await stack.enter_async_context(connected(server.url, era))
        await browser.open(site.page("<h1>Orders</h1>"))
        session = browser.session if isinstance(browser, RemoteBrowser) else None
        yield Place(browser.client, {"session": session} if session else {})


async def refused(call: Any) -> str:
    with pytest.raises(MCPError) as caught:
        await call
    assert caught.value.code == types.INVALID_PARAMS
    return caught.value.message


async def test_prompts_are_listed_and_name_the_tools_that_there_are(place: Place) -> None:
    declared = place.client.server_capabilities
    assert declared is not None
    assert declared.prompts == types.PromptsCapability(list_changed=False)
    assert declared.completions is None
    prompts = {one.name: one for one in (await place.client.list_prompts()).prompts}
    assert [*prompts] == ["fill_form", "test_page", "extract_table"]
    offered = {tool.name for tool in (await place.client.list_tools()).tools}
    values = {"values": "tea Sencha", "format": "csv", **place.given}
    for prompt in prompts.values():
        taken = {one.name: values[one.name] for one in prompt.arguments or [] if one.name in values}
        (message,) = (await place.client.get_prompt(prompt.name, taken)).messages
        assert isinstance(message.content, types.TextContent)
        text = message.content.text
        named = {word for word in text.split("`")[1::2] if word.replace("_", "").isalpha() and "_" in word}
        assert named <= offered
        assert all(value in text for name, value in taken.items() if name not in ("format", "submit"))


async def test_wrong_arguments_of_prompts_are_told(place: Place) -> None:
    for name, arguments, why in (
        ("nope", {}, "There are: fill_form"),
        ("fill_form", {}, "needs the argument 'values'"),
        ("fill_form", {"values": " \u200b "}, "needs the argument 'values'"),
        ("fill_form", {"values": "x", "sumbit": "yes"}, "no argument 'sumbit'"),
        ("fill_form", {"values": "x", "submit": "maybe"}, "one of: yes, no, ask"),
        ("fill_form", {"values": "x" * 5000}, "5,000 characters"),
    ):
        assert why in await refused(place.client.get_prompt(name, arguments))
