"""JupyterLab, worked by a policy that reads only what the tools return."""

import json
import re

import pytest

from tests.support.apps import JupyterLab
from tests.support.client import Browser, browsing

pytestmark = pytest.mark.apps


async def open_launcher(browser: Browser, url: str) -> None:
    """Come to the launcher; JupyterLab may stay at its splash on a busy machine, and is reloaded then."""
    await browser.open(url)
    if not (await browser.call("wait_for", text="Text File", timeout=40)).is_error:
        return
    before = await browser.snapshot()
    await browser.do("reload")
    again = await browser.call("wait_for", text="Text File", timeout=60)
    assert not again.is_error, f"before:\n{before}\nreloaded:\n{await browser.snapshot()}"


async def test_a_new_notebook_runs_cells_shows_their_output_and_is_saved_under_a_name(
    jupyter: JupyterLab,
) -> None:
    async with browsing("auto") as browser:
        await open_launcher(browser, f"{jupyter.url}/lab")
        await browser.click("button", re.compile("Python 3"))
        await browser.wait_until("[ ]:", timeout=60)
        await browser.do("send_keys", keys="print('sum is', sum(range(10)))")
        await browser.do("send_keys", keys="Shift+Enter")
        await browser.wait_until("sum is 45", timeout=60)
        assert browser.shows("sum is 45")
        second = browser.all("textbox")[-1]
        await browser.do("input_text", index=second.index, text="'-'.join('abc')")
        await browser.click("button", re.compile("^Run this cell"))
        await browser.wait_until("a-b-c")
        await browser.click("button", re.compile("^Save and create checkpoint"))
        await browser.fill("textbox", "File name", "sums.ipynb")
        await browser.click("button", "Rename and Save")
        await browser.wait_until("sums.ipynb")
    cells = json.loads((jupyter.folder / "sums.ipynb").read_text())["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    assert sources[:2] == ["print('sum is', sum(range(10)))", "'-'.join('abc')"]
    assert cells[0]["outputs"][0]["text"] == ["sum is 45\n"]
