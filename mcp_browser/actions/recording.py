"""The elements that an action's arguments mean: recorded, located, found by their names.

The actions of a session, recorded with them, can be exported as a Playwright test; the session itself, as a
video or a trace.
"""

import contextlib
import copy
import difflib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import anyio
from playwright.async_api import Error as PlaywrightError
from pydantic import BaseModel, Field

from mcp_browser.actions.code import CodeLanguage, RecordedAction, Script
from mcp_browser.actions.keyboard import parse_keys
from mcp_browser.actions.mouse import parse_coordinates
from mcp_browser.actions.observing import view_size
from mcp_browser.actions.registry import ActionParams, RegisteredAction, Registry, is_typed_in
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.browser.choosing import seek
from mcp_browser.browser.files.artifacts import size_text
from mcp_browser.browser.recording import FRAMES_A_SECOND, Recordings
from mcp_browser.browser.screencast import FRAMES_A_SECOND as MOST_FRAMES
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.session_plugins import SessionPlugin
from mcp_browser.dom.driver_errors import FrameGone, is_context_gone
from mcp_browser.dom.identities import ElementLocator, ElementRecord, locators
from mcp_browser.dom.models import DomNode, ElementQuery
from mcp_browser.dom.named import ElementName, Index, index_of
from mcp_browser.errors import ActionError, DialogOpen, InvalidArguments, NotActionable, NotFound
from mcp_browser.privacy.hiding import hide, redact_addresses
from mcp_browser.privacy.redaction import is_secret_name
from mcp_browser.settings.values import Viewport
from mcp_browser.text import counted, in_texts
from mcp_browser.version import __version__

if TYPE_CHECKING:
    from mcp_browser.browser.tab import Tab

INDEX_ARGUMENTS = frozenset({"index", "target"})
POINT_ARGUMENTS = frozenset({"at", "start", "end"})

Slot = tuple[dict[str, Any], str]  # An object among the arguments, and the name in it whose value is typed

MOST_ALIKE = 100  # How many elements of one locator are looked through
RECORDING_SECONDS = 2.0  # How long a page may take to describe one element
UNKNOWN = (ActionError, PlaywrightError, FrameGone)  # What cannot be asked has no record


def element_arguments(arguments: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The arguments that mean elements, by place: `index`, `target`, `at`, `fields.0.index`."""
    for name, value in arguments.items():
        is_place = name in POINT_ARGUMENTS and isinstance(value, str)
        if is_place or isinstance(value, ElementName):
            yield prefix + name, value
        elif name in INDEX_ARGUMENTS and (index := index_of(value)) is not None:
            yield prefix + name, index
        elif isinstance(value, list):
            for number, part in enumerate(cast("list[object]", value)):
                if isinstance(part, dict):
                    yield from element_arguments(cast("dict[str, Any]", part), f"{prefix}{name}.{number}.")


def place_of(arguments: Mapping[str, Any], argument: str) -> tuple[Any, str]:
    """The object that holds such an argument, and its name there."""
    holder: Any = arguments
    *way, last = argument.split(".")
    for step in way:
        holder = holder[int(step)] if step.isdigit() else holder[step]
    return holder, last


def params_of(action: RegisteredAction, arguments: Mapping[str, Any]) -> BaseModel | None:
    """Recorded arguments as the action's parameters; None if they do not fit."""
    try:
        return action.validate(arguments)
    except InvalidArguments:
        return None


def typed_places(params: type[BaseModel], arguments: dict[str, Any]) -> Iterator[Slot]:
    """The places among an action's arguments whose text is typed into the page."""
    for name, value in arguments.items():
        field = params.model_fields.get(name)
        if field is None:
            continue
        if is_typed_in(field):
            yield arguments, name
        elif isinstance(value, list):
            for kind in get_args(field.annotation):
                if isinstance(kind, type) and issubclass(kind, BaseModel):
                    for part in cast("list[dict[str, Any]]", value):
                        yield from typed_places(kind, part)


async def record_elements(
    session: BrowserSession, arguments: Mapping[str, Any], *, hide: Callable[[Any], Any]
) -> tuple[ElementRecord, ...]:
    """Record the elements that an action's arguments mean now; the caller holds the session."""
    records: list[ElementRecord] = []
    for argument, value in element_arguments(arguments):
        try:
            tab = session.current_tab
            work = tab.dom.record(value) if isinstance(value, int) else _at_point(session, value)
            record = await tab.ask(work, limit=RECORDING_SECONDS)
        except UNKNOWN:
            continue
        if record is not None:
            record = record.model_copy(update={"argument": argument})
            records.append(ElementRecord.model_validate(hide(record.model_dump(mode="json"))))
    return tuple(records)


async def _at_point(session: BrowserSession, point: str) -> ElementRecord | None:
    tab = session.current_tab
    x, y = parse_coordinates(point).in_view(await view_size(tab), shown=session.shown_picture)
    hit = await tab.dom.at_point(x, y)
    if hit is None or hit.node.index is None:
        return None
    record = await tab.dom.record(hit.node.index)
    if record.width <= 0 or record.height <= 0:
        return None
    at = (round((x - record.x) / record.width, 4), round((y - record.y) / record.height, 4))
    return record.model_copy(update={"point": at})


async def locator_of(tab: "Tab", index: int, known: ElementRecord | None = None) -> ElementLocator:
    """The best locator that finds this element alone; raises NotFound, StaleElement, NotActionable."""
    record = known or await tab.ask(tab.dom.record(index))
    for candidate in locators(record):
        try:
            handles = await tab.ask(candidate.on(tab.page).element_handles())
            nodes = await tab.ask(tab.dom.nodes_of(handles, most=MOST_ALIKE))
        except (PlaywrightError, FrameGone):
            continue
        for place, node in enumerate(nodes):
            if node is not None and node.index == index:
                return candidate if len(handles) == 1 else replace(candidate, nth=place)
    raise NotActionable(
        f"No locator of Playwright's finds [{index}] {record}.", hint="Name it by a selector of your own."
    )


POLL_SECONDS = 0.1
SEEKING_AFTER = 0.5  # Seconds, after which lists are scrolled for what they have not drawn
MOST_NAMED = 300
MOST_LISTED = 5


async def with_indexes(
    session: BrowserSession, arguments: Mapping[str, Any], params: BaseModel, *, limit: float
) -> Mapping[str, Any]:
    """Replace names by indexes, waiting `limit` seconds for each; raises NotFound, DialogOpen."""
    names = [
        (at, name) for at, name in element_arguments(params.model_dump()) if isinstance(name, ElementName)
    ]
    arguments = copy.deepcopy(dict(arguments)) if names else arguments
    for at, name in names:
        holder, last = place_of(arguments, at)
        holder[last] = await _index_of(session, name, limit)
    return arguments


async def _index_of(session: BrowserSession, name: ElementName, limit: float) -> int:
    place = await _index_of(session, name.place, limit) if isinstance(name.place, ElementName) else name.place
    begins = time.monotonic()
    ends = begins + limit
    was_sought = False
    while True:
        tab = session.current_tab
        if tab.held and tab.dialog is not None:
            raise DialogOpen(f"{tab.dialog}.", hint="Answer it with handle_dialog first.")
        same: list[DomNode] = []
        try:
            query = ElementQuery(role=name.role, name=name.name or None)
            same = name.of(await tab.ask(tab.dom.alike(query, place, limit=MOST_NAMED)))
            if name.number and name.nth is None and all(node.index != name.number for node in same):
                with contextlib.suppress(*UNKNOWN):
                    if not name.of([await tab.ask(tab.dom.describe(name.number))]):
                        same = []  # It is called otherwise now: another one of its old name is not meant.
        except FrameGone:
            pass
        except PlaywrightError as error:
            if not is_context_gone(error):
                raise
        usable = [
            node
            for node in same
            if not any(state == "disabled" or state.startswith("covered") for state in node.states)
        ]
        is_over = time.monotonic() >= ends
        # Why one cannot be used, the action says.
        found = usable or (same if is_over else [])
        found = [node for node in found if node.index == name.number] or found
        if len(found) > 1:
            raise NotFound(
                f"{len(found)} elements are {name}: {_listed(found)}.",
                hint="Name one by its index, by #2 for the second, or by where it is: in [12].",
            )
        if found and found[0].index is not None:
            return found[0].index
        if not was_sought and (is_over or time.monotonic() >= begins + SEEKING_AFTER):
            was_sought = True
            if await seek(tab, name.name):
                continue
        if is_over:
            lines = await tab.ask(tab.dom.alike(ElementQuery(pattern="."), place, limit=MOST_NAMED))
            near = _listed(_nearest(name, lines))
            raise NotFound(
                f"There is no {name}; it was waited for {limit:g} s.",
                hint=f"The nearest: {near}." if near else "Look with get_state what there is.",
            )
        await anyio.sleep(POLL_SECONDS)


def _nearest(name: ElementName, lines: Iterable[DomNode]) -> list[DomNode]:
    wanted = f"{name.role} {name.name}".casefold()

    def likeness(node: DomNode) -> tuple[bool, float]:
        ratio = difflib.SequenceMatcher(None, wanted, f"{node.role} {node.name}".casefold()).ratio()
        is_called_so = bool(name.name) and node.name.casefold() == name.name.casefold()
        return is_called_so or node.index == name.number, ratio

    usable = (node for node in lines if node.kind == "interactive" or node.role == name.role)
    return sorted(usable, key=likeness, reverse=True)


def _listed(nodes: list[DomNode]) -> str:
    return ", ".join(str(node.model_copy(update={"is_new": False})) for node in nodes[:MOST_LISTED])


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
        found: dict[str, ElementLocator | None] = {}
        for record in elements:
            try:
                found[record.argument] = await locator_of(session.current_tab, record.index)
            except NotActionable:
                found[record.argument] = None
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
            names = filter(None, map(record.attributes.get, ("name", "id", "autocomplete")))
            is_secret = record.attributes.get("type") == "password" or any(map(is_secret_name, names))
            if typed and (is_secret or await self._is_masked(record.index)):
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


def secret_name_of(record: ElementRecord) -> str:
    """The name of the secret that goes into a field."""
    name = record.attributes.get("name") or record.name or "password"
    return re.sub(r"\W+", "_", name).strip("_").lower() or "password"


session_recording = Registry(group="recording")

PERSON_RECORDER = "mcp_browser.agent.recorder:PersonRecorder"  # It writes histories, which are the agent's


class StartRecordingParams(ActionParams):
    kind: Literal["video", "trace", "actions"] = Field(
        "video", description="trace: for Playwright's trace viewer; actions: a person's, as a test"
    )
    name: str | None = Field(None, description="file name")
    size: str | None = Field(None, description="of a video, WIDTHxHEIGHT; by default the view's")
    fps: int = Field(FRAMES_A_SECOND, ge=1, le=MOST_FRAMES, description="most frames a second of a video")


@session_recording.action(effect="read")
async def start_recording(ctx: ActionContext, params: StartRecordingParams) -> str:
    """Record the session, in whichever tab it works, until stop_recording."""
    if params.kind != "video" and (given := {"size", "fps"} & params.model_fields_set):
        raise InvalidArguments(f"{params.kind} has no {', '.join(sorted(given))}.")
    if params.kind == "actions":
        await (await _person_recorder(ctx)).start(params.name)
        return (
            "Recording what a person does in the browser; stop_recording ends it. Your own calls are not "
            "recorded."
        )
    try:
        size = Viewport.model_validate(params.size) if params.size else None
    except ValueError as error:
        raise InvalidArguments("size must be WIDTHxHEIGHT, 100 to 10000 each, such as 1280x720.") from error
    recordings = await ctx.session.plugin(Recordings)
    with ctx.writing():
        file = await recordings.start(
            params.kind, name=params.name, size=(size.width, size.height) if size else None, fps=params.fps
        )
    bounds = ctx.settings.recording
    return (
        f"Recording a {params.kind} as {file.place}, {bounds.record_minutes:g} minutes and "
        f"{bounds.record_size} MB at most. stop_recording ends it."
    )


@session_recording.action(effect="read", own_time=lambda _: 60)
async def stop_recording(
    ctx: ActionContext,
    kind: Literal["video", "trace", "actions"] | None = Field(None, description="by default all"),
) -> ActionResult:
    """End the recording; its file."""
    recorder = await _person_recorder(ctx)
    if kind == "actions" or (kind is None and recorder.active):
        # What a person did: the tests, and the history that replay_task takes.
        recording = await recorder.stop()
        with ctx.writing():
            files = await recorder.keep(recording)
        return ActionResult(
            extracted_content=f"Recorded {counted(recording.steps, 'step')}: "
            f"{', '.join(file.place for file in files)}. replay_task does them again, by the history.",
            page_content=recording.tests["python"],
            attachments=ctx.attach(*files),
        )
    recordings = await ctx.session.plugin(Recordings)
    with ctx.writing():
        ended = await recordings.stop(kind)
    recorded = "; ".join(f"{one.place} ({size_text(one.size)})" for one in ended)
    return ActionResult(extracted_content=f"Recorded {recorded}.", attachments=ctx.attach(*ended))


async def _person_recorder(ctx: ActionContext) -> Any:
    return await ctx.session.plugin(resolve_name(PERSON_RECORDER))
