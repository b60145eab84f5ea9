"""A tab that was open before the server connected to it: no script of ours ran before the page's."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.browser.test_cdp_endpoint import attached, running_chromium
from tests.hostile.conftest import victim_of
from tests.hostile.kit import Heard, Victim
from tests.hostile.test_hostile_frames import type_secret, word
from tests.hostile.test_hostile_keys import DENY_PAY, FIELDS, buttons, press, settled
from tests.support.site import Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="starts Chromium by hand as on POSIX"),
]


@asynccontextmanager
async def in_an_open_tab(tmp_path: Path, url: str, rules: str = "") -> AsyncGenerator[Victim]:
    """A client of a server in whose browser a page was open already."""
    with running_chromium(tmp_path / "theirs", url=url) as address:
        async with attached(address) as hand:
            victim = victim_of(hand.manager, hand.session, tmp_path, rules)
            await victim.call("get_state")
            yield victim


async def test_no_secret_is_typed_until_the_page_loads_anew(site: Site, heard: Heard, tmp_path: Path) -> None:
    async with in_an_open_tab(tmp_path, site.page(word(heard))) as victim:
        assert "reload" in ((await type_secret(victim.session, None)).error or "")
        assert heard.of("word") == []
        await victim.call("reload")
        assert (await type_secret(victim.session, None)).error is None
        await heard.until("word corr3ct-horse")


async def test_text_goes_into_the_field_and_not_into_the_password(site: Site, tmp_path: Path) -> None:
    moves = "<script>onkeydown = () => pw.focus()</script>"
    for page, kept in ((FIELDS, "abc"), (FIELDS + moves, "")):
        async with in_an_open_tab(tmp_path / kept, site.page(page)) as victim:
            await press(victim, "type_text", {"text": "abc"}, focused="search")
            held = await victim.values()
            assert held["pw"] == ""
            assert held["search"] == kept


async def test_enter_presses_only_what_a_policy_allows(site: Site, heard: Heard, tmp_path: Path) -> None:
    moves = "<script>addEventListener('keydown', () => pay.focus(), true)</script>"
    for page in (buttons(heard), buttons(heard) + moves):
        async with in_an_open_tab(tmp_path / str(len(page)), site.page(page), DENY_PAY) as victim:
            await press(victim, "send_keys", {"keys": "Enter"})
            await settled(victim, heard)
            assert heard.of("pay") == []
            # By the calm page alone.
            assert heard.of("look") == ["look true"]
