"""The state of a session after an action, as values."""

from http import HTTPStatus
from typing import Literal

from mcp_browser.dom.models import DomChanges, DomSnapshot, Frozen
from mcp_browser.text import quoted

Effect = Literal["read", "input", "navigation"]  # None; input as by a person; opening another page
SHORT_PAGE = 1_500  # A page of so many characters costs less than another call
LONGEST_MESSAGE = 600  # How much of a dialog's message is repeated, characters


class TabInfo(Frozen):
    """One open tab. `id` is never reused in the session; `lent`: it is a tab of the browser's user."""

    id: int
    url: str
    title: str
    current: bool = False
    lent: bool = False


class DialogInfo(Frozen):
    """A JavaScript dialog that is open: `kind` is alert, confirm, prompt or beforeunload."""

    kind: str
    message: str
    default_value: str = ""

    def __str__(self) -> str:
        said = quoted(self.message, LONGEST_MESSAGE)
        return f"{'An' if self.kind == 'alert' else 'A'} {self.kind} dialog is open: {said}"


class DialogAnswer(Frozen):
    """A dialog that was opened: `accepted` with `text`, or not; None while it is open."""

    kind: str
    message: str
    accepted: bool | None = None
    text: str = ""

    def __str__(self) -> str:
        how = {None: "unanswered", True: "accepted", False: "dismissed"}[self.accepted]
        text = f" with {quoted(self.text)}" if self.text else ""
        return f"{self.kind} {quoted(self.message, LONGEST_MESSAGE)} {how}{text}"


class Observation(Frozen):
    """The state of the session now.

    At most one of `snapshot` and `changes` is set; neither while a dialog is open. `tabs` is filled when
    they have changed, and with a snapshot when there are several. `notices` are sentences about what else
    happened: a new tab, a download, a dialog, console errors, a browser restart, unfinished requests.
    """

    url: str
    title: str
    snapshot: DomSnapshot | None = None
    changes: DomChanges | None = None
    tabs: tuple[TabInfo, ...] = ()
    dialog: DialogInfo | None = None
    notices: tuple[str, ...] = ()

    def without_page(self) -> "Observation":
        """The same without a whole page, which a notice names instead; changes and a short page stay."""
        if self.snapshot is None or sum(len(str(node)) for node in self.snapshot.nodes) <= SHORT_PAGE:
            return self
        status = self.snapshot.status
        named = f"{quoted(self.title)}{f' (status {status})' if status not in (None, HTTPStatus.OK) else ''}"
        notice = f"The page is {named} now; it is not shown beside what was read of it: look with get_state."
        return self.model_copy(update={"snapshot": None, "notices": (*self.notices, notice)})
