"""Export a session as a Playwright test; generate locators for tests."""

import contextlib
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from mcp_browser.actions.code import CodeLanguage, RecordedAction, Script
from mcp_browser.actions.keyboard import parse_keys
from mcp_browser.actions.recording import (
    UNKNOWN,
    locator_of,
    params_of,
    place_of,
    record_elements,
    typed_places,
)
from mcp_browser.actions.registry import RegisteredAction, Registry
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.session_plugins import SessionPlugin
from mcp_browser.dom.identities import ElementRecord
from mcp_browser.dom.named import Index
from mcp_browser.errors import InvalidArguments, NotActionable, NotFound
from mcp_browser.privacy.hiding import hide, redact_addresses
from mcp_browser.privacy.redaction import is_secret_name
from mcp_browser.text import counted, in_texts
from mcp_browser.version import __version__

if TYPE_CHECKING:
    from mcp_browser.dom.locators import ElementLocator

session_script = Registry(group="testing")

EXPORT_SCRIPT = "export_script"
MOST_RECORDED = 500  # How many actions of a session are kept, about 3 kB each; then the oldest go
TYPED = ("text", "value", "keys")  # Arguments whose text is typed into the element beside them


Ended = Callable[[Mapping[str, Any]], RecordedAction]
"""Gives an action as it was carried out, by the data of its result."""


class SessionScript(SessionPlugin):
    """The actions of a session, in order; `dropped` counts older ones that were removed."""

    def __init__(self, session: BrowserSession) -> None:
        self._session = session
        self.actions: list[RecordedAction] = []
        self.dropped = 0
        self.start = ""

    async def before(self, action: RegisteredAction, arguments: Mapping[str, Any]) -> Ended | None:
        """Note what an action is about to act on; its caller holds the session."""
        if action.code is None and action.effect == "read":
            return None
        session = self._session
        if not self.actions and not self.dropped:
            opens = action.effect == "navigation" and isinstance(arguments.get("url"), str)
            self.start = "" if opens else without_address_secrets(session.current_tab.url)
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
        tab, tabs, downloads = session.current_tab.id, set(session.tabs), len(session.downloads)
        return lambda data: RecordedAction(
            name=action.name,
            params=params_of(action, kept),
            code=action.code,
            elements=elements,
            locators=found,
            lost=frozenset(lost),
            tab=tab,
            url=without_address_secrets(session.current_tab.url),
            opened=tuple(sorted(set(session.tabs) - tabs)),
            downloads=tuple(file.name for file in session.downloads[downloads:]),
            snapshot=data.get("snapshot"),
        )

    def add(self, action: RecordedAction) -> None:
        """Keep an action that was carried out."""
        self.actions.append(action)
        if len(self.actions) > MOST_RECORDED:
            del self.actions[0]
            self.dropped += 1

    async def _without_secrets(
        self, action: RegisteredAction, arguments: Mapping[str, Any], elements: tuple[ElementRecord, ...]
    ) -> dict[str, Any]:
        """The arguments with placeholders for what is typed into password fields and the like."""
        kept = in_texts(dict(arguments), without_address_secrets)
        for record in elements:
            holder, _ = place_of(kept, record.argument)
            typed = [name for name in TYPED if isinstance(holder.get(name), str)]
            if typed and (_is_secret(record) or await self._is_masked(record.index)):
                holder.update(dict.fromkeys(typed, f"<secret>{secret_name_of(record)}</secret>"))
        places = [slot for slot in typed_places(action.param_model, kept) if slot[0].get("index") is None]
        for holder, name in places if places and await self._is_masked() else ():
            if isinstance(holder[name], str):
                with contextlib.suppress(InvalidArguments):
                    if parse_keys(holder[name]) is not None:
                        continue
                holder[name] = "<secret>password</secret>"
        return kept

    async def _is_masked(self, index: int | None = None) -> bool:
        """Whether what is typed into an element, or by the keyboard, is masked; True if unknown."""
        tab = self._session.current_tab
        try:
            return (await tab.ask(tab.dom.typed_at(index))).password
        except UNKNOWN:
            return True


def lines_of(action: RecordedAction, language: CodeLanguage) -> list[str]:
    """The lines of one action."""
    script = Script(language)
    script.add(action)
    return script.lines()


def as_test(script: Script, *, name: str, dropped: int = 0) -> str:
    """A script as the file of a test; `dropped` is how many earlier actions are not in it."""
    return script.render(f"test.{script.suffix}.txt", name=name, version=__version__, dropped=dropped)


@session_script.action(effect="read")
async def export_script(
    ctx: ActionContext,
    language: CodeLanguage = "python",
    name: str = Field("session", pattern=r"^\w{1,60}$", description="of the test and its file"),
) -> ActionResult:
    """Write what this session has done, with its assertions, as a test for Playwright."""
    done = await ctx.session.plugin(SessionScript)
    if not done.actions:
        raise NotFound("Nothing has been done in this session yet.", hint="Act on a page, then export it.")
    script = Script(language, done.start)
    for action in done.actions:
        script.add(action)
    text = as_test(script, name=name, dropped=done.dropped)
    # A page may show what was typed into it: the name of a button, the text of a region.
    text = hide(text, ctx.session.hidden, mark="<{}>")
    file = f"test_{name}.py" if language == "python" else f"{name}.spec.ts"
    artifact = await ctx.keep(text.encode(), file, suffix=f".{script.suffix}", kind="script", default="test")
    return ActionResult(
        extracted_content=f"Wrote {counted(len(done.actions), 'action')} as {artifact.place}.",
        page_content=text,
        attachments=ctx.attach(artifact),
    )


@session_script.action(effect="read")
async def generate_locator(ctx: ActionContext, index: Index) -> ActionResult:
    """Get Playwright's locator for an element, for a test in Python or TypeScript."""
    found = await locator_of(ctx.tab, index)
    languages: tuple[CodeLanguage, ...] = ("python", "typescript")
    data = {language: str(Script(language).element("page", [found])) for language in languages}
    return ActionResult(
        extracted_content=f"The locators of [{index}]:",
        page_content=f"Python: {data['python']}\nTypeScript: {data['typescript']}",
        data=data,
    )


def without_address_secrets(text: str) -> str:
    """A text with placeholders for the secrets in its addresses."""
    return redact_addresses(
        text, take=lambda name, _: f"<secret>{re.sub(r'[^a-zA-Z0-9_.-]+', '_', name)}</secret>"
    )


def _is_secret(record: ElementRecord) -> bool:
    given = record.attributes
    return given.get("type") == "password" or any(
        is_secret_name(given[name]) for name in ("name", "id", "autocomplete") if given.get(name)
    )


def secret_name_of(record: ElementRecord) -> str:
    """The name of the secret that goes into a field."""
    name = record.attributes.get("name") or record.name or "password"
    return re.sub(r"\W+", "_", name).strip("_").lower() or "password"
