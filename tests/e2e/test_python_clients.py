"""Client libraries of other makers, all at once on one server: open, extract, picture, break off."""

import asyncio
import json
import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.support.packages import python_packages
from tests.support.process import succeeds
from tests.support.remote import serving
from tests.support.site import Site

pytestmark = pytest.mark.slow

SECONDS = 120
LIBRARIES = {
    "python_sdk_1": "mcp==1.30.0",
    "langchain": "langchain-mcp-adapters==0.3.2",
    "fastmcp": "fastmcp==3.4.10",
    "pydantic_ai": "pydantic-ai-slim[mcp]==2.68.0",
    "openai_agents": "openai-agents==0.24.0",
}
"""All of them work with the Python SDK's 1.x, so that they share an environment."""


@pytest.fixture(scope="module")
async def told(site: Site) -> AsyncGenerator[dict[str, Any]]:
    """What each library prints, or the error that it ends with."""
    python = await asyncio.to_thread(python_packages, "clients", *LIBRARIES.values())
    page = site.page("<h1>Tea</h1><button>Buy</button><p>Fresh this week.</p>")

    async def run(library: str, url: str) -> Any:
        words = (str(python), str(Path(__file__).with_name("python_clients.py")), library, url, page)
        try:
            printed = await asyncio.to_thread(succeeds, *words, timeout=SECONDS)
            return json.loads(printed.splitlines()[-1])
        except (subprocess.TimeoutExpired, AssertionError) as error:
            return f"{type(error).__name__}: {error}"

    async with serving("--http", "--tools", "core,files") as server:
        found = await asyncio.gather(*(run(library, server.url) for library in LIBRARIES))
        yield dict(zip(LIBRARIES, found, strict=True))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_opens_extracts_pictures_and_breaks_off(told: dict[str, Any], library: str) -> None:
    found = told[library]
    assert not isinstance(found, str), found
    assert {"go_to_url", "run_task", "new_session"} <= set(found["tools"])
    assert 'button "Buy"' in found["opened"]
    assert "Fresh this week." in found["extracted"]
    assert found["picture"] > 500
    assert found["broken_off"]
    assert "There is no file yet." in found["files"] or "files" in found["files"].splitlines(), found["files"]
    assert 'button "Buy"' in found["after"]
