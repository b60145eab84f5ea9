"""Fill secrets into an action's arguments, where they may be typed."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from playwright.async_api import Error as PlaywrightError

from mcp_browser.actions.code import secrets_named
from mcp_browser.actions.keyboard import parse_keys
from mcp_browser.actions.recording import place_of, typed_places
from mcp_browser.actions.registry import RegisteredAction
from mcp_browser.agent.secrets.store import Secrets
from mcp_browser.browser.session import BrowserSession
from mcp_browser.dom.identities import ElementRecord
from mcp_browser.dom.keys import KeyPlace
from mcp_browser.dom.worlds import FrameGone, World
from mcp_browser.errors import InvalidArguments, NotActionable, StaleElement

PRESS = "press"  # What `browser_action` does with a text that are keys


class CheckedTyping:
    """Fills secrets into one action's arguments, and checks where it types; its caller holds the session."""

    def __init__(self, session: BrowserSession, secrets: Secrets, action: RegisteredAction) -> None:
        self._session = session
        self._secrets = secrets
        self._action = action
        # Texts, which are confidential, with the documents that alone may get them.
        self._bound: list[tuple[str, tuple[World, str]]] = []
        # Texts may go into these places' documents only, and into no other password field.
        self._expected: list[KeyPlace] = []

    def apply(self) -> None:
        """Check what the session types from now on, and hide the values of the secrets."""
        self._session.services.typing_rule = self if self._bound or self._expected else None
        self._session.hide(self._secrets.values)

    def check(self, place: KeyPlace | None, text: str) -> None:
        """Raise NotActionable if this text may not be typed there."""
        documents = self._documents_of(text)
        if documents and (place is None or place.page not in documents):
            raise NotActionable("The focus has moved to another document.")
        for expected in self._expected:
            if place is None or place.page != expected.page:
                raise NotActionable("The focus has moved to another document.")
            if place.password and not expected.password:
                raise NotActionable("The focus has moved to a password field.")

    def is_confidential(self, text: str) -> bool:
        """Whether no other document may see a single key of it."""
        return bool(self._documents_of(text))

    def _documents_of(self, text: str) -> list[tuple[World, str]]:
        return [document for bound, document in self._bound if bound in _lines(text)]

    async def fill_in(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Replace the names of secrets in the arguments.

        Raises InvalidArguments for a name that is none, or where nothing is typed; BlockedUrl if the secret
        is not for the document that would get it; ActionError if that document cannot be determined.
        """
        if not any(secrets_named(arguments)):
            return dict(arguments)
        # Read as the action will read them: the index "5" is 5.
        filled = self._action.validate(arguments).model_dump(exclude_unset=True)
        model, rest = self._action.param_model, copy.deepcopy(filled)
        places = [place for place in typed_places(model, filled) if any(secrets_named(place[0][place[1]]))]
        for holder, name in typed_places(model, rest):
            holder[name] = None
        if (misplaced := next(secrets_named(rest), None)) is not None:
            raise InvalidArguments(
                f"The secret {misplaced!r} can only be typed into a page: as text of input_text or "
                "type_text, keys of send_keys, or a value of fill_form.",
                hint="Leave it out of everything else.",
            )
        for holder, name in places:
            place = await self._goes_to(holder.get("index"))
            if not place.watched:
                raise NotActionable(
                    "No secret is typed into a page that was open before the server connected to its tab.",
                    hint="Load it anew with reload, then try again.",
                )
            given = holder[name]
            holder[name] = typed = self._secrets.fill_in(given, url=place.origin)
            texts = {typed} if isinstance(typed, str) else {*typed} - {*given}
            self._bound += [(_lines(text), place.page) for text in texts]
        return filled

    async def note_typed(
        self, arguments: Mapping[str, Any], elements: Sequence[ElementRecord]
    ) -> dict[str, Any]:
        """The arguments with names for passwords that the model writes itself, which may go only there.

        A password is a text that goes into a masked field: the named element, else the one with the keyboard.
        Raises ActionError if it cannot be determined where the keyboard is.
        """
        kept = copy.deepcopy(dict(arguments))
        for record in elements:
            holder, _ = place_of(kept, record.argument)
            texts = {name: _own_text(holder, name) for name in ("text", "value", "keys")}
            if any(text is not None for text in texts.values()):
                place = await self._goes_to(record.index)
                for name, text in texts.items():
                    self._note(holder, name, text, place)
        for holder, name in typed_places(self._action.param_model, kept):
            if holder is kept and holder.get("index") is None and _typed_text(holder, name) is not None:
                place = await self._goes_to(None)
                self._expected.append(place)
                self._note(holder, name, _own_text(holder, name), place)
        return kept

    def _note(self, holder: dict[str, Any], name: str, text: str | None, place: KeyPlace) -> None:
        if text is None or not place.password:
            return
        end = "\n" if text.endswith("\n") else ""
        holder[name] = self._secrets.note_typed(text.rstrip("\n")) + end
        self._bound.append((_lines(text), place.page))

    async def _goes_to(self, index: int | None) -> KeyPlace:
        tab = self._session.current_tab
        try:
            return await tab.ask(tab.dom.typed_at(index))
        except (FrameGone, PlaywrightError) as error:
            raise StaleElement("The frame to be typed into is gone.", hint="Look with get_state.") from error


def _lines(text: str) -> str:
    """A text with one kind of line ends, without those at its end."""
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


def _own_text(holder: Mapping[str, Any], name: str) -> str | None:
    """A text that the model has written itself; None if it is blank or names a secret, too."""
    text = _typed_text(holder, name)
    return text if text is not None and text.strip() and not any(secrets_named(text)) else None


def _typed_text(holder: Mapping[str, Any], name: str) -> str | None:
    """An argument that is a text; None if it is keys or something else."""
    value = holder.get(name)
    if not isinstance(value, str) or not value:
        return None
    if name != "keys" and holder.get("action") != PRESS:
        return value
    try:
        return value if parse_keys(value) is None else None
    except InvalidArguments:
        return value
