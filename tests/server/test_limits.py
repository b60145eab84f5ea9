"""Results that would be too long for a client."""

import base64
import io
import json
from collections.abc import AsyncIterator
from typing import Any

import mcp_types as types
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp.server.lowlevel import Server
from PIL import Image

from mcp_browser.actions import default_registry
from mcp_browser.browser.files.artifacts import Artifacts
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.controller import Controller
from mcp_browser.server.limits import LONGEST_RESULT, fit
from mcp_browser.server.resources import SessionFiles
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.settings import (
    BrowserSettings,
    FileSettings,
    ObservationSettings,
    ScreenshotSettings,
    Settings,
    Viewport,
)
from tests.support.client import Era, both_eras
from tests.support.servers import server_of
from tests.support.site import Site


@pytest_asyncio.fixture(loop_scope="session")
async def artifacts() -> AsyncIterator[Artifacts]:
    notices: list[str] = []
    kept = Artifacts(FileSettings(), notices.append)
    yield kept
    await kept.close()


async def fitted(
    artifacts: Artifacts | None, *content: types.ContentBlock, **data: Any
) -> types.CallToolResult:
    """A result of this content and structured content, if any, as it fits."""
    return await fit(types.CallToolResult(content=[*content], structured_content=data or None), artifacts)


def wire(result: types.CallToolResult) -> str:
    return json.dumps(result.model_dump(mode="json", by_alias=True, exclude_none=True))


def noise(side: int) -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise((side, side), 100).save(buffer, "PNG")
    return buffer.getvalue()


def image(data: bytes, mime_type: str = "image/png") -> types.ImageContent:
    return types.ImageContent(data=base64.b64encode(data).decode(), mime_type=mime_type)


async def test_what_is_short_enough_stays_as_it_is(artifacts: Artifacts) -> None:
    text = types.TextContent(text="x" * 800_000)
    result = types.CallToolResult(content=[text], structured_content={"a": [1]})
    assert await fit(result, artifacts) == result


@pytest.mark.parametrize("letter", ["x", "世", "😀", '"'])
async def test_a_text_of_any_letters_is_cut_and_says_by_how_much(letter: str, artifacts: Artifacts) -> None:
    result = await fitted(artifacts, types.TextContent(text=letter * 1_500_000))
    assert len(wire(result)) <= LONGEST_RESULT
    (text,) = result.content
    assert isinstance(text, types.TextContent)
    kept = text.text.count(letter)
    assert text.text.endswith(f"… ({1_500_000 - kept:,} more characters)")
    assert len(json.dumps(text.text)) > 400_000


async def test_a_frame_that_is_cut_is_closed(artifacts: Artifacts) -> None:
    text = f"Opened.\n<page url='' untrusted>\n{'x' * 2_000_000}\n</page>\nNote: a file came."
    (cut,) = (await fitted(artifacts, types.TextContent(text=text))).content
    assert isinstance(cut, types.TextContent)
    assert cut.text.count("<page") == cut.text.count("</page>") == 1


async def test_short_texts_are_whole_where_a_long_one_is_cut(artifacts: Artifacts) -> None:
    sizes = {"a": 10, "b": 10**6, "c": 10**5}
    texts = [types.TextContent(text=letter * size) for letter, size in sizes.items()]
    result = await fitted(artifacts, *texts)
    assert [one == text for one, text in zip(result.content, texts, strict=True)] == [True, False, True]


async def test_the_longest_structured_entries_are_left_out_and_named(artifacts: Artifacts) -> None:
    found, long = types.TextContent(text="Found."), ["x" * 1000] * 1000
    result = await fitted(artifacts, found, session="abc", total=3, elements=long)
    assert result.structured_content == {"session": "abc", "total": 3, "left_out": ["elements"]}


async def test_pictures_share_the_room_and_those_without_any_become_files(artifacts: Artifacts) -> None:
    pictures = [image(noise(300))] * 80
    result = await fitted(artifacts, types.TextContent(text="Eighty."), *pictures)
    assert len(wire(result)) <= LONGEST_RESULT
    shown = [block for block in result.content if isinstance(block, types.ImageContent)]
    links = [block for block in result.content if isinstance(block, types.ResourceLink)]
    assert len(shown) > 20
    assert len(shown) + len(links) == 80
    assert links
    for picture in shown:
        with Image.open(io.BytesIO(base64.b64decode(picture.data))) as opened:
            opened.load()
    assert [file.uri for file in artifacts.files()] == [link.uri for link in links]
    assert artifacts.files()[0].path.read_bytes().startswith(b"\x89PNG")


async def test_a_picture_that_cannot_be_read_becomes_a_file_or_a_sentence(artifacts: Artifacts) -> None:
    picture = image(b"<svg/>" * 200_000, "image/svg+xml")
    (link,) = (await fitted(artifacts, picture)).content
    assert isinstance(link, types.ResourceLink)
    assert link.name == "picture.svg"
    (sentence,) = (await fitted(None, picture)).content
    assert isinstance(sentence, types.TextContent)
    assert "left out" in sentence.text


async def test_contents_of_other_kinds_are_left_out_where_they_are_too_long(artifacts: Artifacts) -> None:
    text = types.TextResourceContents(uri="browser://x", text="x" * 10**6)
    result = await fitted(artifacts, types.TextContent(text="Here."), types.EmbeddedResource(resource=text))
    assert [block.type for block in result.content] == ["text", "text"]
    assert len(wire(result)) < 1000


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(
        st.tuples(st.sampled_from(["a", "é", "😀", "\n", "\\"]), st.integers(0, 900_000)), max_size=5
    ),
    pictures=st.integers(0, 5),
    data=st.dictionaries(st.sampled_from("abc"), st.integers(0, 400_000)),
)
async def test_whatever_comes_the_result_fits(
    artifacts: Artifacts, texts: list[tuple[str, int]], pictures: int, data: dict[str, int]
) -> None:
    blocks: list[types.ContentBlock] = [types.TextContent(text=letter * size) for letter, size in texts]
    blocks += [image(b"no picture" * 30_000)] * pictures
    structured: dict[str, Any] = {name: "x" * size for name, size in data.items()}
    assert len(wire(await fitted(artifacts, *blocks, **structured))) <= LONGEST_RESULT


async def call(client: Client, tool: str, **arguments: Any) -> types.CallToolResult:
    result = await client.call_tool(tool, arguments)
    assert len(wire(result)) <= LONGEST_RESULT
    return result


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def server() -> AsyncIterator[Server[Any]]:
    """One with the widest settings there are."""
    wide = Settings(
        browser=BrowserSettings(headless=True, isolated=True, viewport=Viewport(width=1280, height=720)),
        observation=ObservationSettings(snapshot_budget=200_000, changes_budget=200_000),
        screenshots=ScreenshotSettings(screenshot_max_side=4000, screenshots="always"),
    )
    manager = BrowserManager(wide)
    manager.default = await manager.open_session(context_options={"device_scale_factor": 3})
    source = Sessions(manager)
    files = SessionFiles(manager, source)
    yield server_of(Controller(default_registry(), wide), source, resources=[files])
    await manager.close()


@pytest.mark.slow
@both_eras
async def test_a_page_of_millions_of_letters_does_not_break_a_client(
    server: Server[Any], site: Site, era: Era
) -> None:
    rows = "".join(f"<li><a href='#{n}'>Отчёт {n} {'я' * 300}</a>" for n in range(4000))
    async with Client(server, mode=era) as client:
        opened = await call(client, "go_to_url", url=site.page(f"<ul>{rows}</ul>"))
        assert not opened.is_error
        await call(client, "get_state")
        await call(client, "extract_content")
        found = await call(client, "find_elements", text="Отчёт", limit=200)
        assert not found.is_error
