"""A run of recorded actions as statements, with what dialogs, downloads and new tabs need around them."""

from collections.abc import Sequence

from mcp_browser.actions.code import Call, Comment, Dialogs, During, NewPage, Print, Statement
from mcp_browser.actions.code_statements import address_of, statements_of
from mcp_browser.actions.recording import RecordedAction

Entry = RecordedAction | Comment | Print

HANDLE_DIALOG = "handle_dialog"
WAIT_FOR_DOWNLOAD = "wait_for_download"
OPEN_TAB = "open_tab"


class CodeBody:
    """The statements of a run; each tab gets a variable, the first one `page`."""

    def __init__(self, start: str = "") -> None:
        """Begin at an address, or where the first action goes."""
        self.statements: list[Statement] = []
        self._tabs: dict[int, str] = {}
        if start and start != "about:blank":
            self.statements.append(Call("page", "goto", (start,)))

    def add(self, entries: Sequence[Entry]) -> list[Statement]:
        """Add actions in their order, and lines between them; all statements so far."""
        for number, entry in enumerate(entries):
            if isinstance(entry, Comment | Print):
                self.statements.append(entry)
            elif entry.name not in (HANDLE_DIALOG, WAIT_FOR_DOWNLOAD):
                later = [other for other in entries[number + 1 :] if isinstance(other, RecordedAction)]
                self.statements += self._around(entry, later)
        return self.statements

    def _around(self, action: RecordedAction, after: Sequence[RecordedAction]) -> list[Statement]:
        page = self._page(action)
        if _opens_tab(action):
            given = action.arguments
            url = given.get("url") if "query" not in given else action.url
            return [NewPage(self._new_tab(action), page, address_of(url) if url else None)]
        statements: Sequence[Statement] = statements_of(action, page, self._tabs)
        answers: list[str | bool] = []
        for later in after:
            if later.name != HANDLE_DIALOG:
                break
            answers.append(later.arguments.get("text") or bool(later.arguments.get("accept")))
        if action.downloads or (after and after[0].name == WAIT_FOR_DOWNLOAD):
            statements = [During("download", page, tuple(statements))]
        elif action.opened:
            statements = [During("page", page, tuple(statements), self._new_tab(action))]
        return [*([Dialogs(page, tuple(answers))] if answers else []), *statements]

    def _page(self, action: RecordedAction) -> str:
        if action.tab is None:
            return "page"
        return self._tabs.setdefault(action.tab, "page" if not self._tabs else f"page_{action.tab}")

    def _new_tab(self, action: RecordedAction) -> str:
        self._page(action)
        names = [self._tabs.setdefault(tab, f"page_{tab}") for tab in action.opened]
        return names[0] if names else "new_page"


def _opens_tab(action: RecordedAction) -> bool:
    return action.name == OPEN_TAB or bool(action.arguments.get("new_tab"))


def one_line(text: str, *, longest: int = 100) -> str:
    """A text as the line of a comment: printable, and cut."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= longest else f"{line[:longest]}…"
