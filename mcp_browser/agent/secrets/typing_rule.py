"""Where an action of a task may type what: only where it was looked when that was decided."""

from mcp_browser.dom.keys import KeyPlace
from mcp_browser.dom.worlds import World
from mcp_browser.errors import NotActionable


class CheckedTyping:
    """The rule of one action."""

    def __init__(self) -> None:
        self._bound: list[tuple[str, tuple[World, str] | None]] = []
        self._expected: list[KeyPlace | None] = []

    def __bool__(self) -> bool:
        return bool(self._bound or self._expected)

    def bind(self, text: str, document: tuple[World, str] | None) -> None:
        """Let this text be typed into this document only; it is confidential."""
        self._bound.append((_lines(text), document))

    def expect(self, place: KeyPlace | None) -> None:
        """Let texts be typed into this place's document only, and into no password field but this one."""
        self._expected.append(place)

    def check(self, place: KeyPlace | None, text: str) -> None:
        """Return if this text may be typed there.

        Raises:
            NotActionable: it was decided upon for another place.
        """
        documents = self._documents_of(text)
        if documents and (place is None or place.page not in documents):
            raise NotActionable("The focus has moved to another document.")
        for expected in self._expected:
            if expected is None or place is None or place.page != expected.page:
                raise NotActionable("The focus has moved to another document.")
            if place.password and not expected.password:
                raise NotActionable("The focus has moved to a password field.")

    def is_confidential(self, text: str) -> bool:
        """Whether no other document may hear a single key of it."""
        return bool(self._documents_of(text))

    def _documents_of(self, text: str) -> list[tuple[World, str] | None]:
        return [document for bound, document in self._bound if bound in _lines(text)]


def _lines(text: str) -> str:
    """A text with one kind of line ends, and none at its end."""
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
