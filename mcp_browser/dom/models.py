"""What the page script finds, as values."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

NodeKind = Literal["interactive", "text", "heading", "region", "row", "image"]


class Frozen(BaseModel):
    """A value: built once, never changed."""

    model_config = ConfigDict(frozen=True)


class DomNode(Frozen):
    """One line of a snapshot.

    `index` is set for what can be acted on; `states` holds only what is not the default, ready to print
    (`checked`, `expanded=false`, `value="2"`, `disabled`, `→ /cart`, `covered by [31]`).
    """

    kind: NodeKind
    depth: int = 0
    index: int | None = None
    role: str = ""
    name: str = ""
    states: tuple[str, ...] = ()
    is_new: bool = False


class Scroll(Frozen):
    """Scroll position of the page, in CSS pixels."""

    x: int
    y: int
    viewport_width: int
    viewport_height: int
    page_width: int
    page_height: int


class DomSnapshot(Frozen):
    """The page as a model sees it, cut to a budget.

    `above` and `below` count the lines left out before and after the nodes shown.
    """

    url: str
    title: str
    status: int | None = None
    nodes: tuple[DomNode, ...] = ()
    scroll: Scroll
    above: int = 0
    below: int = 0


class DomChange(Frozen):
    """One line that came, went or became different since the last observation.

    For `changed`, `before` is the line as it was; the other lines are as they are now (or last were).
    `replaced` is a re-render: the same line under a new index, `before` holding the old one.
    """

    op: Literal["added", "removed", "changed", "replaced"]
    node: DomNode
    before: DomNode | None = None


class DomChanges(Frozen):
    """What became of the page since the last observation, cut to a budget.

    `omitted` counts the changes left out; `new_page` is true where the document is another one, so that
    there is nothing to compare with.
    """

    changes: tuple[DomChange, ...] = ()
    omitted: int = 0
    new_page: bool = False
