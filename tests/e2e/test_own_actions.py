"""A user's own actions from a file, as an MCP client meets them."""

from pathlib import Path

import pytest

from tests.support.client import MODERN_FIRST, Era, browsing
from tests.support.site import Site

ACTIONS = """
from typing import Literal



from mcp_browser import ActionResult, Registry, Tab

registry = Registry()


@registry.action("Count the links or buttons of the page.")
async def count_elements(tab: Tab, kind: Literal["a", "button"], at_least: int = 0) -> ActionResult:
    found = await tab.page.locator(kind).count()
    return ActionResult(extracted_content=f"{found} of {kind}, enough: {found >= at_least}")


@registry.action("Add two numbers.")
def add_numbers(first: float, second: float) -> str:
    return f"The sum is {first + second:g}."


@registry.action("Only for the bank.", domains=["*.bank.example"])
def pay_bill() -> str:
    return "paid"
"""


@pytest.mark.parametrize("era", MODERN_FIRST)
async def test_actions_from_a_file_are_tools_with_schemas_and_results(
    era: Era, tmp_path: Path, site: Site
) -> None:
    file = tmp_path / "my_actions.py"
    file.write_text(ACTIONS)
    async with browsing(era, "--actions", str(file)) as browser:
        tools = {tool.name: tool for tool in (await browser.client.list_tools()).tools}
        schema = tools["count_elements"].input_schema
        assert tools["count_elements"].description == "Count the links or buttons of the page."
        assert schema["required"] == ["kind"]
        assert schema["properties"]["kind"]["enum"] == ["a", "button"]
        assert schema["additionalProperties"] is False

        await browser.open(site.page("<a href=/x>one</a> <a href=/y>two</a>"))
        assert "2 of a, enough: True" in await browser.do("count_elements", kind="a", at_least=2)
        assert "The sum is 5.5." in await browser.do("add_numbers", first=2, second=3.5)
        wrong = await browser.call("count_elements", kind="table")
        assert wrong.is_error
        assert "kind" in wrong.text
        elsewhere = await browser.call("pay_bill")
        assert elsewhere.is_error
        assert "*.bank.example" in elsewhere.text
