"""What a session has done, as a test for Playwright."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

from mcp_browser.actions.code import Python, TypeScript, all_lines, secrets_in, variable_of
from mcp_browser.actions.code_body import CodeBody
from mcp_browser.actions.code_statements import READING, STATEMENTS
from mcp_browser.actions.keyboard import parse_keys
from mcp_browser.actions.recording import (
    UNKNOWN,
    RecordedAction,
    locator_of,
    place_of,
    record_elements,
    typed_places,
)
from mcp_browser.actions.registry import RegisteredAction
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.session_plugins import SessionPlugin
from mcp_browser.dom.identities import ElementRecord
from mcp_browser.dom.locators import ElementLocator
from mcp_browser.errors import InvalidArguments, NotActionable
from mcp_browser.privacy.addresses import redact_addresses
from mcp_browser.privacy.redaction import is_secret_name
from mcp_browser.text import in_texts

if TYPE_CHECKING:
    from jinja2 import Template

CodeLanguage = Literal["python", "typescript"]

EXPORT_SCRIPT = "export_script"
MOST_RECORDED = 2_000  # How many actions of a session are kept; then the oldest go
TYPED = ("text", "value", "keys")  # Arguments whose text is typed into the element beside them
NOT_RECORDED = READING | {EXPORT_SCRIPT}


class SessionScript(SessionPlugin):
    """The actions that a session has carried out, in order; `dropped` is how many older ones went."""

    def __init__(self, session: BrowserSession) -> None:
        self._session = session
        self.actions: list[RecordedAction] = []
        self.dropped = 0
        self.start = ""

    async def before(self, action: RegisteredAction, arguments: Mapping[str, Any]) -> "PendingAction | None":
        """Note what an action is about to act on; its caller holds the session."""
        if action.name not in STATEMENTS and (action.effect == "read" or action.name in NOT_RECORDED):
            return None
        session = self._session
        if not self.actions and not self.dropped:
            self.start = _without_secrets(session.current_tab.url)
        elements = await record_elements(session, arguments, hide=lambda value: value)
        found: dict[str, ElementLocator] = {}
        lost: set[str] = set()
        for record in elements:
            try:
                found[record.argument] = await locator_of(session.current_tab, record.index)
            except NotActionable:
                lost.add(record.argument)
            except UNKNOWN:
                continue
        kept = await self._without_secrets(action, arguments, elements)
        return PendingAction(session, action.name, kept, elements, found, frozenset(lost))

    def add(self, action: RecordedAction) -> None:
        """Keep an action that was carried out."""
        self.actions.append(action)
        if len(self.actions) > MOST_RECORDED:
            del self.actions[0]
            self.dropped += 1

    async def _without_secrets(
        self, action: RegisteredAction, arguments: Mapping[str, Any], elements: tuple[ElementRecord, ...]
    ) -> dict[str, Any]:
        """The arguments with names in the places of what is typed into password fields and their like."""
        kept = in_texts(dict(arguments), _without_secrets)
        for record in elements:
            holder, _ = place_of(kept, record.argument)
            typed = [name for name in TYPED if isinstance(holder.get(name), str)]
            if typed and (_is_secret(record) or await self._is_masked(record.index)):
                holder.update(dict.fromkeys(typed, f"<secret>{_name_of(record)}</secret>"))
        places = [slot for slot in typed_places(action.param_model, kept) if slot[0].get("index") is None]
        for holder, name in places if places and await self._is_masked() else ():
            if isinstance(holder[name], str) and not _are_keys(holder[name]):
                holder[name] = "<secret>password</secret>"
        return kept

    async def _is_masked(self, index: int | None = None) -> bool:
        """Whether what is typed into an element, or by the keyboard, is masked; yes where nobody knows."""
        tab = self._session.current_tab
        try:
            place = await tab.ask(tab.dom.typed_at(index))
        except UNKNOWN:
            return True
        return place.password


class PendingAction:
    """An action that is being carried out, and how things were before it."""

    def __init__(  # noqa: PLR0913, PLR0917 - what is known before it is done
        self,
        session: BrowserSession,
        name: str,
        arguments: dict[str, Any],
        elements: tuple[ElementRecord, ...],
        found: dict[str, ElementLocator],
        lost: frozenset[str],
    ) -> None:
        self._session = session
        self._name, self._arguments = name, arguments
        self._elements, self._locators, self._lost = elements, found, lost
        self._tab = session.current_tab.id
        self._tabs, self._files = set(session.tabs), len(session.downloads)

    def done(self, data: Mapping[str, Any]) -> RecordedAction:
        """The action as it was carried out; `data` are those of its result."""
        session = self._session
        more = {"snapshot": data["snapshot"]} if "snapshot" in data else {}
        return RecordedAction(
            name=self._name,
            arguments=self._arguments | more,
            elements=self._elements,
            locators=self._locators,
            lost=self._lost,
            url=_without_secrets(session.current_tab.url),
            tab=self._tab,
            opened=tuple(sorted(set(session.tabs) - self._tabs)),
            downloads=tuple(file.name for file in session.downloads[self._files :]),
        )


def lines_of(action: RecordedAction, language: CodeLanguage) -> list[str]:
    """The lines of one action."""
    return all_lines(CodeBody().add([action]), _language(language))


def write_script(script: SessionScript, language: CodeLanguage, *, name: str, version: str) -> str:
    """A test of pytest-playwright or of @playwright/test that does what the session has done."""
    first = script.actions[0].name if script.actions else ""
    start = "" if first in ("go_to_url", "open_tab") else script.start
    lines = all_lines(CodeBody(start).add(script.actions), _language(language))
    text = "\n".join(lines)
    secrets = secrets_in([action.arguments for action in script.actions])
    return _template(language).render(
        name=name,
        version=version,
        dropped=script.dropped,
        lines=lines,
        variables={secret: variable_of(secret) for secret in secrets},
        dialogs="answer_dialogs(" in text or "answerDialogs(" in text,
        patterns="re.compile(" in text,
        expects="expect(" in text,
    )


def _language(language: CodeLanguage) -> Python | TypeScript:
    return Python() if language == "python" else TypeScript()


def _are_keys(text: str) -> bool:
    try:
        return parse_keys(text) is not None
    except InvalidArguments:
        return False


def _without_secrets(text: str) -> str:
    """A text with names in the places of the secrets in its addresses."""
    return redact_addresses(
        text, take=lambda name, _: f"<secret>{re.sub(r'[^a-zA-Z0-9_.-]+', '_', name)}</secret>"
    )


def _is_secret(record: ElementRecord) -> bool:
    given = record.attributes
    return given.get("type") == "password" or any(
        is_secret_name(given[name]) for name in ("name", "id", "autocomplete") if given.get(name)
    )


def _name_of(record: ElementRecord) -> str:
    name = record.attributes.get("name") or record.name or "password"
    return re.sub(r"\W+", "_", name).strip("_").lower() or "password"


@cache
def _template(language: CodeLanguage) -> "Template":
    # Imported late: most sessions write no script.
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415

    suffix = "py" if language == "python" else "ts"
    file = resources.files("mcp_browser.actions").joinpath("templates", f"test.{suffix}.txt")
    # What is put in are statements that were quoted as such.
    environment = Environment(
        autoescape=False, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(file.read_text("utf-8"))
