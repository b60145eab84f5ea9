"""JupyterLab, worked by a policy that reads only what the tools return."""

import json
import re

import pytest

from tests.support.apps import JupyterLab
from tests.support.client import browsing

pytestmark = pytest.mark.apps


async def test_a_new_notebook_runs_a_cell_and_shows_its_output(jupyter: JupyterLab) -> None:
    async with browsing("auto") as browser:
        await browser.open(f"{jupyter.url}/lab")
        await browser.wait_until("Text File")
        await browser.click("button", re.compile("Python 3"))
        await browser.wait_until("[ ]:")
        await browser.do("send_keys", keys="Escape")
        await browser.do("send_keys", keys="Enter")
        await browser.do("send_keys", keys="print('sum is', sum(range(10)))")
        await browser.do("send_keys", keys="Shift+Enter")
        await browser.wait_until("sum is 45")
        editor = browser.all("textbox")[-1]
        await browser.do("input_text", index=editor.index, text="'-'.join('abc')")
        await browser.click("button", re.compile("^Run this cell"))
        await browser.wait_until("a-b-c")
        await browser.click("button", re.compile("^Save and create checkpoint"))
        saved = await browser.snapshot()
        assert "Untitled.ipynb" in saved
    cells = json.loads((jupyter.folder / "Untitled.ipynb").read_text())["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    assert sources[:2] == ["print('sum is', sum(range(10)))", "'-'.join('abc')"]
