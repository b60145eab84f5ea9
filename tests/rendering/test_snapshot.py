"""Snapshots and changes as text."""

from typing import Any

import pytest

from mcp_browser.dom.models import DomChange, DomChanges, DomNode, DomSnapshot, Gap, Scroll
from mcp_browser.rendering import render_changes, render_snapshot

BUTTON = DomNode(kind="interactive", index=7, role="button", name="Buy now")
PRICE = DomNode(kind="text", name="12 €")


def snapshot(*nodes: DomNode, y: int = 0, page_height: int = 500, **fields: Any) -> DomSnapshot:
    view = {"viewport_width": 1000, "viewport_height": 500, "page_width": 1000}
    scroll = Scroll(x=0, y=y, page_height=page_height, **view)
    return DomSnapshot(url="https://shop.example/", title="Shop", scroll=scroll, nodes=nodes, **fields)


def test_a_snapshot_is_its_lines_indented_by_depth() -> None:
    inner = BUTTON.model_copy(update={"depth": 1, "is_new": True, "states": ("disabled",)})
    assert render_snapshot(snapshot(PRICE, inner)) == '12 €\n  *[7] button "Buy now" disabled'


def test_what_the_budget_left_out_is_counted_with_its_distance() -> None:
    gaps = (Gap(at=0, lines=3, where="above", screens=0.5), Gap(at=1, lines=1, where="below", screens=2.5))
    text = render_snapshot(snapshot(PRICE, y=250, page_height=2000, gaps=gaps))
    assert text.splitlines()[0] == "… 3 more lines above (0.5 screens)"
    assert text.splitlines()[-1].startswith("… 1 more line below (2.5 screens)")


WHOLE = {
    "empty": ((), 500, "(The page shows nothing.)"),
    "fits the view": ((PRICE,), 500, "12 €"),
    "fits the view but for a sliver": ((PRICE,), 505, "12 €"),
    "long": ((PRICE,), 1500, "12 €\n(2.0 screens below the view; everything is listed)"),
}


@pytest.mark.parametrize(("nodes", "page_height", "told"), WHOLE.values(), ids=WHOLE)
def test_a_page_that_is_told_whole_says_how_much_lies_out_of_view(
    nodes: tuple[DomNode, ...], page_height: int, told: str
) -> None:
    assert render_snapshot(snapshot(*nodes, page_height=page_height)) == told


def test_what_came_and_went_is_marked_and_what_went_does_not_look_like_an_element() -> None:
    sold = DomNode(kind="text", name="Sold out")
    changes = DomChanges(changes=(DomChange(op="removed", node=BUTTON), DomChange(op="added", node=sold)))
    assert render_changes(changes) == '- button "Buy now" (was [7])\n+ Sold out'


def test_changes_left_out_are_said() -> None:
    assert "40 more changes" in render_changes(DomChanges(omitted=40))
