"""Client libraries of other makers, each in an environment of its own: open, extract, picture, break off."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.support.packages import python_packages
from tests.support.remote import serving
from tests.support.site import Site

pytestmark = pytest.mark.slow

SECONDS = 120
LIBRARIES = {
    "python_sdk_1": "mcp==1.30.0",
    "langchain": "langchain-mcp-adapters==0.3.2",
}


@pytest.mark.parametrize("library", LIBRARIES)
async def test_a_library_opens_extracts_pictures_and_breaks_off(library: str, site: Site) -> None:
    python = await asyncio.to_thread(python_packages, library, LIBRARIES[library])
    page = site.page("<h1>Tea</h1><button>Buy</button><p>Fresh this week.</p>")
    async with serving("--http", "--tools", "core,files") as server:
        process = await asyncio.create_subprocess_exec(
            *(str(python), str(Path(__file__).with_name("python_clients.py")), library, server.url, page),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            printed, said = await asyncio.wait_for(process.communicate(), SECONDS)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    assert process.returncode == 0, said.decode()[-3000:]
    found = json.loads(printed.splitlines()[-1])
    assert {"go_to_url", "run_task", "new_session"} <= set(found["tools"])
    assert 'button "Buy"' in found["opened"]
    assert "Fresh this week." in found["extracted"]
    assert found["picture"] > 500
    assert found["broken_off"]
    assert "There is no file yet." in found["files"]
    assert 'button "Buy"' in found["after"], "the call that was broken off holds up the session"
