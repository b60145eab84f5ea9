"""How a run ends, and what is left of it, when something gets in its way."""

import pytest

from mcp_browser.agent.task import Budget, Task, TaskStatus
from mcp_browser.browser.session import BrowserSession
from tests.agent.conftest import make_agent, script
from tests.support.site import Site

COUNTER = """<title>Counter</title><button onclick="out.textContent = 'Count ' + ++n">More</button>
<p id=out>Count 0</p><script>let n = 0</script>"""


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("", TaskStatus.OUT_OF_BUDGET),
        (", success='false'", TaskStatus.OUT_OF_BUDGET),
        (", success='true'", TaskStatus.SUCCEEDED),
    ],
)
async def test_a_vision_agent_over_its_budget_succeeds_only_where_it_says_so(
    session: BrowserSession, site: Site, claim: str, status: TaskStatus
) -> None:
    task = Task(text="Log in.", start_url=site.page(COUNTER), style="gui", budget=Budget(steps=1))
    agent = make_agent(task, [f"Thought: t\nAction: finished(content='The login page.'{claim})"], session)
    outcome = await agent.run()
    assert outcome.status is status
    assert outcome.answer == "The login page."
    assert "success='true'" in script(agent).requests[0][-1].text
