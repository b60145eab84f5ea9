"""Several actions in one call."""

import itertools
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from mcp_browser.actions.registry import Expansion, Registry
from mcp_browser.actions.result import Outcome
from mcp_browser.text import counted

several = Registry(group="core")

DO_ACTIONS = "do_actions"
MOST_ACTIONS = 20


def _summary(outcomes: Sequence[Outcome]) -> str:
    """One line for each action; those that were not started share one."""
    lines = [
        f"{one.position}. {f'{one.action} failed: ' if one.outcome == 'failed' else ''}{one.text}"
        for one in outcomes
        if one.outcome != "not started"
    ]
    positions = {one.position: one.action for one in outcomes}
    failed = next((one for one in outcomes if one.outcome == "failed"), None)
    if failed is None:
        return "\n".join((f"Did {counted(len(positions), 'action')}.", *lines))
    left = [f"{at}. {name}" for at, name in itertools.islice(positions.items(), failed.position, None)]
    rest = [f"Not started: {', '.join(left)}."] if left else []
    return "\n".join((f"Stopped at action {failed.position} of {len(positions)}.", *lines, *rest))


@several.action(expansion=Expansion(into=lambda params: params.actions, summary=_summary))
async def do_actions(
    actions: list[dict[str, Any]] = Field(
        repr=False,
        min_length=1,
        max_length=MOST_ACTIONS,
        description='each by name: {"click_element": {"index": 12}}',
    ),
) -> None:
    """Do known steps in one call: it stops where one fails or the page is not as it was shown."""
    raise AssertionError(f"the pipeline carries out {actions}")
