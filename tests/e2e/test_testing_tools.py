"""Assertions, and the session as a test, through a real client."""

import ast

import mcp_types as types
import pytest

from tests.support.client import MODERN_FIRST, Era, browsing
from tests.support.site import Site


@pytest.mark.parametrize("era", MODERN_FIRST)
async def test_a_session_is_asserted_and_exported(site: Site, era: Era) -> None:
    async with browsing(era, "--tools", "core,testing", "--codegen", "typescript") as browser:
        page = "<button onclick=\"out.textContent='Paid'\">Pay</button><p id=out></p>"
        assert 'Code:\nawait page.goto("' in await browser.open(site.page(page))
        clicked = await browser.click("button", "Pay")
        assert 'await page.getByRole("button", { name: "Pay", exact: true }).click();' in clicked
        passed = await browser.do("expect_text", selector="#out", text="Paid", exact=True)
        assert passed.startswith("Passed: ")
        failed = await browser.call("expect_visible", text="Refused", timeout=0.2)
        assert failed.is_error
        assert "Expected the text 'Refused' to be visible" in failed.text
        answer = await browser.answer("export_script", {})
        (link,) = [part for part in answer.content if isinstance(part, types.ResourceLink)]
        (contents,) = (await browser.client.read_resource(link.uri)).contents
        assert isinstance(contents, types.TextResourceContents)
        assert 'expect(page.locator("#out")).to_have_text("Paid")' in contents.text
        assert "Refused" not in contents.text
        ast.parse(contents.text)
