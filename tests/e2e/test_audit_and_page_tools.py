"""Audits and the page's own tools through a real client."""

import re

from tests.support.client import browsing
from tests.support.site import Site

PAGE = """<button onclick="this.style.background='red'"></button><p id=out>Shop</p><script>
document.modelContext.registerTool({ name: 'greet', description: 'Greets', inputSchema: { type: 'object' },
  execute: ({ who }) => { out.textContent = `Hello ${who}`; return 'greeted' } });
</script>"""


async def test_a_page_is_audited_compared_and_used_by_its_own_tools(site: Site) -> None:
    async with browsing("auto", "--tools", "core,audit,page_tools") as browser:
        assert '1 tool of the page: "greet"' in await browser.open(site.page(PAGE))
        audited = await browser.do("audit_accessibility")
        found = re.search(r"\[(\d+)\] button", audited)
        assert found is not None, audited
        assert "Buttons must have discernible text" in audited
        assert "Kept" in await browser.do("compare_screenshots", name="shop")
        await browser.do("click_element", index=int(found[1]))
        compared = await browser.call("compare_screenshots", name="shop")
        assert "differs from 'shop'" in compared.text
        assert len(compared.images) == 1
        called = await browser.do("call_page_tool", name="greet", arguments={"who": "you"})
        assert "greeted" in called
        assert "Hello you" in called
