"""JupyterLab, worked by a policy that reads only what the tools return."""

import json
import re

import pytest

from tests.support.apps import JupyterLab
from tests.support.client import browsing

pytestmark = pytest.mark.apps


async def test_a_new_notebook_runs_cells_shows_their_output_and_is_saved_under_a_name(
    jupyter: JupyterLab,
) -> None:
    async with browsing("auto") as browser:
        # The server keeps what other tests have opened; `reset` begins with the launcher.
        await browser.open(f"{jupyter.url}/lab?reset")
        await browser.wait_until("Text File", timeout=60)
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
