"""What is asked of one client is answered by that client alone, in both eras; its tasks are its own."""

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from tests.e2e.test_resuming import Legacy
from tests.support.agents import Desk, output, text, until
from tests.support.long_calls import LongCallsExtension, ask, begun, state_in
from tests.support.principals import BEARERS, bearer
from tests.support.remote import client_of, serving
from tests.support.site import Site

PAY = "<button onclick=\"this.textContent = 'Paid'\">Pay</button>"
YES: dict[str, Any] = {"action": "accept", "content": {"allow": True}}
QUESTION = output({"call_user": {"question": "Which colour?", "choices": ["Red", "Blue"]}})


async def test_what_one_client_is_asked_no_other_answers(site: Site, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.follow(QUESTION)
    policy = tmp_path / "policy.toml"
    policy.write_text('[[rule]]\nnames = ["Pay"]\n')
    url = site.page(PAY)
    asked: list[types.RequestId] = []
    settled = asyncio.Event()

    async def person(context: Any, _params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(context.request_id)
        await settled.wait()
        return types.ElicitResult(action="decline")

    def modern(name: str) -> Any:
        asking = LongCallsExtension()
        return client_of(server.url, headers=bearer(name), extensions=[asking], elicitation_callback=person)

    async with (
        serving("--http", *desk.flags, "--policy", str(policy), environment=BEARERS) as server,
        modern("alice") as alice,
        modern("bob") as bob,
        client_of(server.url, "legacy", headers=bearer("alice"), elicitation_callback=person) as earlier,
        httpx2.AsyncClient(base_url=server.base, timeout=60) as http,
    ):
        task = (await begun(alice, task="Ask.")).task_id
        waiting = await state_in(alice.session, task, "input_required")
        methods: tuple[Any, ...] = ("tasks/get", "tasks/update", "tasks/cancel")
        for method in methods:
            with pytest.raises(MCPError, match="There is no task"):
                await ask(
                    bob.session, method, task, inputResponses=dict.fromkeys(waiting["inputRequests"], YES)
                )
        assert (await ask(alice.session, "tasks/get", task))["status"] == "input_required"
        await ask(alice.session, "tasks/cancel", task)

        told = await alice.call_tool("go_to_url", {"url": url})
        click: dict[str, Any] = {"index": 1, "session": dict(told.meta or {})["mcp-browser/session"]}

        await asyncio.gather(alice.list_tools(), bob.list_tools())
        consent: dict[str, Any] = {"consent": YES}

        async def pay(client: Any, state: str | None = None) -> Any:
            params = types.CallToolRequestParams(
                name="click_element", arguments=click, input_responses=consent, request_state=state
            )
            kind = types.InputRequiredResult if state is None else types.CallToolResult
            return await client.session.send_request(types.CallToolRequest(params=params), kind)

        required = await pay(alice)
        with pytest.raises(MCPError, match="requestState"):
            await pay(bob, required.request_state)
        assert "Paid" in text(await pay(alice, required.request_state))

        await earlier.call_tool("go_to_url", {"url": url})
        paying = asyncio.create_task(earlier.call_tool("click_element", {"index": 1}))
        await until(lambda: asked)
        other = Legacy(http, "bob")
        await other.begin()
        answer = {"jsonrpc": "2.0", "id": asked[0], "result": YES}
        await http.post("/mcp", json=answer, headers=other.headers)
        settled.set()
        assert "has not said yes; nothing was done" in text(await paying)
