"""A tab that was open before the server connected to it: no script of ours ran before the page's."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mcp_browser.actions import default_registry
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.settings import ToolSettings
from tests.browser.test_cdp_endpoint import attached, running_chromium
from tests.hostile.kit import Heard, Victim
from tests.hostile.test_hostile_frames import WAYS, type_secret, word
from tests.hostile.test_hostile_keys import DENY_PAY, FIELDS, buttons, press, settled
from tests.support.servers import server_of
from tests.support.site import Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="starts Chromium by hand as on POSIX"),
]


@asynccontextmanager
async def in_an_open_tab(tmp_path: Path, url: str, rules: str = "") -> AsyncGenerator[Victim]:
    """A client of a server in whose browser a page was open already."""
    with running_chromium(tmp_path / "theirs", url=url) as address:
        async with attached(address) as manager:
            tools = ToolSettings(tools=("all",))
            if rules:
                (tmp_path / "policy.toml").write_text(rules)
                tools = ToolSettings(tools=("all",), policy=tmp_path / "policy.toml")
            settings = manager.settings.model_copy(update={"tools": tools})
            controller = Controller(default_registry(), settings)
            session = await manager.default_session()
            victim = Victim(server_of(controller, Sessions(manager)), session)
            await victim.call("get_state")
            yield victim


async def secret_in(session: BrowserSession) -> str:
    record = await type_secret(session, None, "input_text", WAYS["input_text"], domain="127.0.0.1")
    return record.error or ""


async def test_no_secret_is_typed_until_the_page_is_loaded_anew(
    site: Site, heard: Heard, tmp_path: Path
) -> None:
    async with in_an_open_tab(tmp_path, site.page(word(heard))) as victim:
        assert "reload" in await secret_in(victim.session)
        assert heard.of("word") == []
        await victim.call("reload")
        assert await secret_in(victim.session) == ""
        await heard.until("word corr3ct-horse")


async def test_text_goes_into_the_field_and_not_into_the_password(site: Site, tmp_path: Path) -> None:
    moves = "<script>onkeydown = () => pw.focus()</script>"
    for page, kept in ((FIELDS, "abc"), (FIELDS + moves, "")):
        async with in_an_open_tab(tmp_path / kept, site.page(page)) as victim:
            await press(victim, "type_text", {"text": "abc"}, focused="search")
            held = await victim.values()
            assert held["pw"] == ""
            assert held["search"] == kept


async def test_enter_presses_what_is_allowed_and_not_what_a_policy_denies(
    site: Site, heard: Heard, tmp_path: Path
) -> None:
    moves = "<script>addEventListener('keydown', () => pay.focus(), true)</script>"
    for page in (buttons(heard), buttons(heard) + moves):
        async with in_an_open_tab(tmp_path / str(len(page)), site.page(page), DENY_PAY) as victim:
            await press(victim, "send_keys", {"keys": "Enter"})
            await settled(victim, heard)
            assert heard.of("pay") == []
            # By the calm page alone.
            assert heard.of("look") == ["look true"]
