"""What the page of one tab shows, and its elements: the page script's counterpart."""

import contextlib
import time
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from mimetypes import guess_type
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal

from playwright.async_api import CDPSession, ElementHandle, Page
from playwright.async_api import Error as PlaywrightError
from pydantic import JsonValue

from mcp_browser.dom.accessibility import AccessibilityAudit
from mcp_browser.dom.cdp import send
from mcp_browser.dom.deadlines import extra_seconds
from mcp_browser.dom.frames import (
    MOST_NESTED_FRAMES,
    Frames,
    FrameState,
    Missed,
    Reading,
    all_readings,
    known,
    settled,
    state_of,
)
from mcp_browser.dom.identities import Identities
from mcp_browser.dom.keys import KeyHolder, KeyPlace, TargetReader, key_place
from mcp_browser.dom.models import (
    AnswerReading,
    Box,
    DomChanges,
    DomNode,
    DomSnapshot,
    ElementQuery,
    FoundElements,
    FoundText,
    PointHit,
    ReadyElement,
    Scrolled,
    SettleState,
    WindowState,
)
from mcp_browser.dom.page_reader import PageReader
from mcp_browser.dom.problems import not_actionable
from mcp_browser.dom.references import ID, KIND, NAME, ROLE, STATES, ElementRef, References
from mcp_browser.dom.secrecy import find_covers
from mcp_browser.dom.sent_secrets import SentSecrets, Tell
from mcp_browser.dom.worlds import (
    FrameGone,
    World,
    answers,
    break_off,
    reading_of,
)
from mcp_browser.errors import InvalidArguments, NotActionable, NotFound, StaleElement
from mcp_browser.privacy.addresses import SessionAddresses
from mcp_browser.privacy.pictures import Covers
from mcp_browser.text import CHARACTERS_A_TOKEN, cut_address, one_line, quoted

Purpose = Literal["click", "hover", "fill", "select", "check", "drag", "upload", "read"]

FURTHEST_SCROLL = 1e7
SEARCH_SECONDS = 1.0  # How long what a search has read counts as the page as it is


class DomService:
    """Reads the page of one tab and finds, describes and prepares its elements.

    Nothing here may be called twice at the same time.
    """

    def __init__(  # noqa: PLR0913 (what the page of a tab is read by)
        self,
        page: Page,
        *,
        channel: str,
        budget: int,
        changes_budget: int,
        sent: Tell | None = None,
        addresses: SessionAddresses | None = None,
    ) -> None:
        """Serve a page.

        Args:
            page: Playwright's page.
            channel: the random name that the hook in the page's own world was given; "" for none.
            budget: longest snapshot, in tokens.
            changes_budget: longest account of changes, in tokens.
            sent: called with what a form wrote of a secret field into an address, as it stands there.
            addresses: redacts those in lines.
        """
        self._page = page
        self._budget = budget
        self._frames = Frames(page, channel, SentSecrets(page, sent) if sent else None)
        self._references = References(addresses or SessionAddresses())
        self._reader = PageReader(self._frames, self._references, changes_budget=changes_budget)
        self._searched = -SEARCH_SECONDS
        self.title: str | None = None  # As it was read last; who has reported it sets None
        self.may_show = False  # Whether the page showed nothing when it was last read, but may be about to
        self.identities = Identities(self._frames, self._references, self._ask)
        self.resolve = self._references.__getitem__
        """What an index stands for, without asking the page; raises NotFound: it was never given."""
        self.targets = TargetReader(self._frames, self._ask)
        self.keys = KeyHolder(self._frames)

    # Looking ------------------------------------------------------------------------------------------------

    async def snapshot(
        self,
        *,
        region: int | None = None,
        part: int = 1,
        budget: int | None = None,
        folded: bool = True,
    ) -> DomSnapshot:
        """The page, or what is in one element, cut to a budget; of the page it remembers that it was told.

        Args:
            region: index of the element to look into.
            part: 1 for what is in and near the view, 2 for what comes next, and so on.
            budget: longest snapshot in tokens, instead of the one in force.
            folded: shorten long lists, save the one that is looked into.

        Raises:
            InvalidArguments: there is no such part.
            StaleElement: the region is gone.
        """
        budget = budget or self._budget
        if region is not None:
            ref = self.resolve(region)
            answer = await self._ask(ref, "part", ref.id, budget * CHARACTERS_A_TOKEN * part, folded)
            frame = FrameState(world=ref.world, read=known(answer))
            return self._reader.as_snapshot(Reading(frame, answer), budget, part)
        self._reader.confirm()
        reading = await self._reader.observe(whole=True, room=budget * part, folded=folded)
        self.title, self.may_show = reading.answer["title"], bool(reading.answer.get("unshown"))
        self._reader.confirm()
        return self._reader.as_snapshot(reading, budget, part)

    async def changes(self) -> DomChanges | DomSnapshot:
        """What became of the page since it was last told; the snapshot where it is new or that is shorter."""
        _, told = await self.settle_and_changes(limit=0)
        return told

    async def settle_and_changes(
        self, *, limit: float, again: bool = False, came: bool = False
    ) -> tuple[SettleState, DomChanges | DomSnapshot]:
        """Wait for the page to come to rest, then tell what has changed, in one evaluation a frame.

        Args:
            limit: longest wait in seconds; 0 for none.
            again: what the last call gave was thrown away, so compare with what was told before it.
            came: scripts or answers have come meanwhile, which take the page a moment to draw.
        """
        if not again:
            self._reader.confirm()
        # A search that has just been made has read all there is to tell.
        searched = limit == 0 and time.monotonic() - self._searched < SEARCH_SECONDS
        self._searched = -SEARCH_SECONDS
        reading = await self._reader.observe(
            whole=False, room=self._budget, settle=limit, came=came, searched=searched
        )
        self.title, self.may_show = reading.answer["title"], bool(reading.answer.get("unshown"))
        state = settled(reading)
        changes = None if "lines" in reading.answer else self._reader.as_changes(reading)
        if changes is not None:
            return state, changes
        if any("lines" not in inner.answer for inner in all_readings(reading)):
            reading = await self._reader.observe(whole=True, room=self._budget)
        return state, self._reader.as_snapshot(reading, self._budget, 1, familiar=True)

    @property
    def deadline(self) -> float:
        """How much longer than others the page may take to answer, because it is large, seconds."""
        return max((extra_seconds(frame.world.elements) for frame, _ in self._frames.known()), default=0.0)

    @property
    def reading(self) -> str:
        """What is being read at this moment, in words; empty where it is the page that is busy."""
        elements = sum(frame.world.elements for frame, _ in self._frames.known() if frame.world.reading)
        return reading_of(elements) if elements else ""

    async def settle(self, *, limit: float) -> SettleState:
        """Wait until the page has done what the last input started, `limit` seconds at most.

        Knows of frames drawn, mutations, transitions and short timers; not of requests and navigations.
        """
        main = await self._frames.main()
        return state_of(await main.world.run("settle", limit * 1000))

    async def pressed(self, x: float, y: float) -> None:
        """Let the page get ready for the release of the mouse's button, which went down at this point."""
        main = await self._frames.main()
        await main.world.run("pressed", x, y)

    async def answers_read(self) -> dict[str, AnswerReading]:
        """How the page and its frames read the answers to their requests, by URL without its query."""
        read: dict[str, AnswerReading] = {}
        async for _, answer in self._frames.each("answersRead"):
            read |= dict(answer["answers"])
        return read

    async def find(self, query: ElementQuery, *, limit: int) -> FoundElements:
        """Search the whole page, what is out of view and in frames included.

        Raises:
            InvalidArguments: the pattern is no regular expression.
            FrameGone: the page goes to other addresses while it is searched.
        """
        found: list[DomNode] = []
        missed: list[Missed] = []
        total = 0
        self._searched = time.monotonic()
        async for frame, answer in self._frames.each("find", query.model_dump(), limit, missed=missed):
            if answer.get("problem") == "pattern":
                raise InvalidArguments(
                    f"{query.pattern!r} is not a regular expression: {answer['message']}.",
                    hint="Escape ( ) [ ] { } . * + ? with a backslash, or use text.",
                )
            total += answer["total"]
            lines = answer["found"][: limit - len(found)]
            places = await self._tell_apart(frame, lines)
            for line in lines:
                node = self._references.shown(line, frame.world, answer["doc"])
                if place := places.get(str(line[ID])):
                    node = node.model_copy(update={"states": (*node.states, f"in={place}")})
                found.append(node)
        return FoundElements(nodes=tuple(found), total=total, missed=await self._described(missed))

    async def has_text(self, text: str) -> bool | None:
        """Whether a text can be read anywhere on the page; None where a frame gave no answer."""
        found = await self.find(ElementQuery(text=text), limit=0)
        return found.total > 0 or (None if found.missed else False)

    async def _tell_apart(self, frame: FrameState, lines: Sequence[list[Any]]) -> dict[str, str]:
        """Where those stand that have the same role and name, or hint, by their ids."""
        alike: dict[tuple[Any, ...], list[int]] = {}
        for line in lines:
            if line[KIND] == "interactive" and not any(state.startswith("in=") for state in line[STATES]):
                hints = tuple(state for state in line[STATES] if state.startswith("hint="))
                alike.setdefault((line[ROLE], line[NAME], hints), []).append(line[ID])
        groups = [ids for ids in alike.values() if len(ids) > 1]
        try:
            places: dict[str, str] = await frame.world.run("placesOf", groups) if groups else {}
        except FrameGone:
            return {}
        return places

    async def _described(self, missed: Sequence[Missed]) -> tuple[str, ...]:
        """What kept frames from being searched, as `[4] iframe "Chat" is still loading`."""
        told: list[str] = []
        for frame in missed:
            world = frame.parent.world
            answer = await world.run("describe", frame.owner)
            if "problem" not in answer:
                node = self._references.shown(answer["node"], world, await world.run("doc"))
                told.append(f"[{node.index}] {node.role} {quoted(node.name)} {frame.why}")
        return tuple(told)

    async def boxes(self) -> list[Box]:
        """Where the elements that have an index are in the view."""
        boxes: list[Box] = []
        main = await self._frames.main()
        await self._boxes(main, 0.0, 0.0, 1.0, boxes)
        return boxes

    async def covers(self, values: Sequence[str], *, fields: bool = False) -> Covers:
        """The boxes of what shows one of these texts: what to cover on a picture of the page.

        With `fields`, also of what secret fields hold. This one may be called while others are.
        """
        return await find_covers(self._frames, values, fields=fields)

    async def vitals(self) -> dict[str, Any]:
        """What the browser has measured of the main frame's document, as dom/page/vitals.js gives it.

        In the place of each line of an element, `node`, stands the element, with an index, or None.
        """
        main = await self._frames.main()
        answer = await main.world.run("vitals")

        def shown(line: list[Any] | None) -> DomNode | None:
            return self._references.shown(line, main.world, answer["doc"]) if line else None

        for part in (answer["lcp"], *answer["interactions"]):
            if part is not None:
                part["node"] = shown(part["node"])
        for shift in answer["shifts"]:
            shift["nodes"] = [shown(line) for line in shift["nodes"]]
        return answer

    async def secret_values(self) -> frozenset[str]:
        """What the page's password fields hold, and others whose values are never told."""
        values: set[str] = set()
        async for _, answer in self._frames.each("secretValues"):
            values |= set(answer["values"])
        return frozenset(values)

    async def audit_accessibility(
        self, axe: str, *, tags: Sequence[str], index: int | None = None, most: int
    ) -> AccessibilityAudit:
        """What axe-core finds wrong with the page and its frames, or with an element.

        Args:
            axe: the source of axe-core.
            tags: those of its rules.
            index: an element, instead of the page.
            most: how many elements of a rule are named.

        Raises:
            StaleElement: the element is gone.
            FrameGone: the page goes to other addresses meanwhile.
        """
        audit = AccessibilityAudit()
        if index is not None:
            ref = self.resolve(index)
            await ref.world.add("axe", axe)
            answer = await self._ask(ref, "auditAccessibility", ref.id, tags, most)
            audit.add(answer, lambda line: self._references.shown(line, ref.world, ref.document))
            return audit
        async for frame, _ in self._frames.each("stands"):
            await frame.world.add("axe", axe)
        missed: list[Missed] = []
        async for frame, answer in self._frames.each("auditAccessibility", 0, tags, most, missed=missed):
            audit.add(answer, lambda line: self._references.shown(line, frame.world, answer["doc"]))  # noqa: B023 (called at once)
        audit.missed = await self._described(missed)
        return audit

    # One element --------------------------------------------------------------------------------------------

    async def describe(self, index: int) -> DomNode:
        """An element as it is now.

        Raises:
            StaleElement: it is gone; the message names the nearest match.
            NotFound: the index was never given.
        """
        ref = self.resolve(index)
        answer = await self._ask(ref, "describe", ref.id)
        return self._references.shown(answer["node"], ref.world, ref.document)

    async def ready(self, index: int, *, for_: Purpose, force: bool = False) -> ReadyElement:
        """Make an element ready for an action: in view, at rest, enabled, reached by the mouse.

        What may pass is waited for, a second at most.

        Args:
            index: the element.
            for_: what is to be done with it.
            force: act on it whatever covers or disables it.

        Raises:
            StaleElement: it is gone; the message names the nearest match.
            NotActionable: it cannot take the action; the message says why.
            NotFound: the index was never given.
        """
        ref = self.resolve(index)
        answer = await self._ask(ref, "ready", ref.id, for_, force)
        node = self._references.shown(answer["node"], ref.world, ref.document)
        if "problem" in answer:
            raise self._refusal(node, answer, for_, ref.world, ref.document)
        x, y = answer["x"], answer["y"]
        if not ref.world.is_main:
            x, y = await self._in_page(ref.world, x, y, node, for_)
        return ReadyElement(
            node=node,
            tag=answer["tag"],
            type=answer["type"],
            kind=answer["kind"],
            x=x,
            y=y,
            width=answer["width"],
            height=answer["height"],
            checked=answer["checked"],
            multiple=answer["multiple"],
            secret=answer["secret"],
            focused=answer["focused"],
            reached=answer.get("reached", True),
        )

    async def call(self, index: int, function: str, *args: JsonValue) -> Any:
        """Run a helper of the page script on an element: focus, setValue, selectText, options, text, …

        Raises:
            StaleElement: the element is gone.
        """
        ref = self.resolve(index)
        answer = await self._ask(ref, "call", ref.id, function, args)
        value = answer["value"]
        if function == "options":
            for option in value:
                if "id" in option:
                    option["index"] = self._references.index(option.pop("id"), ref.world, ref.document)
        return value

    async def window(self) -> WindowState:
        """Return the size of the view and whether it is shown."""
        return WindowState.model_validate(await (await self._frames.main()).world.run("window"))

    async def in_page(self, index: int | None) -> tuple[CDPSession, str | None]:
        """Return an element's object in the page's own world and the CDP session of its frame.

        Args:
            index: the element; None for no object, and the session of the main frame.

        Raises:
            StaleElement: it is gone.
        """
        if index is None:
            return (await self._frames.main()).world.session, None
        ref = self.resolve(index)
        await self._ask(ref, "describe", ref.id)
        try:
            return ref.world.session, await ref.world.object_in_page(ref.id)
        except (KeyError, PlaywrightError) as error:
            raise await self._stale(ref) from error

    async def set_files(self, index: int, paths: Sequence[Path], *, by_content: bool) -> None:
        """Give files to a file input; `by_content` where the browser cannot read the paths itself.

        Raises:
            StaleElement: it is gone.
        """
        ref = self.resolve(index)
        target = (await self._ask(ref, "ready", ref.id, "upload", False)).get("target", ref.id)
        if by_content:
            files = [
                (path.name, guess_type(path.name)[0] or "", b64encode(path.read_bytes()).decode())
                for path in paths
            ]
            await self._ask(ref, "call", target, "setFiles", [files])
            return
        try:
            found = await ref.world.object(target)
            files = [str(path) for path in paths]
            await send(ref.world.session, "DOM.setFileInputFiles", objectId=found, files=files)
        except (KeyError, PlaywrightError) as error:
            raise await self._stale(ref) from error

    async def nodes_of(self, handles: Sequence[ElementHandle]) -> list[DomNode | None]:
        """Return the nodes, with indexes, of elements that Playwright has found; None for one that is gone.

        Playwright dispatches an event of a random name to each, which the page script listens for. A page
        that interferes has another of its own elements returned, described as what that is.
        """
        name = token_hex(12)
        worlds = [frame.world async for frame, _ in self._frames.each("listenFor", name, len(handles))]
        nodes: list[DomNode | None] = [None] * len(handles)
        for number, handle in enumerate(handles):
            await handle.dispatch_event(f"{name}{number}")
        for world in worlds:
            with contextlib.suppress(FrameGone):
                answer = await world.run("heard")
                for number, line in answer["found"]:
                    nodes[number] = self._references.shown(line, world, answer["doc"])
        return nodes

    async def at_point(self, x: float, y: float) -> PointHit | None:
        """What is at a point of the view (CSS pixels), in frames too: the innermost control, or what is seen.

        None where nothing is.
        """
        frame = await self._frames.main()
        hit: PointHit | None = None
        for _ in range(MOST_NESTED_FRAMES):
            answer = await frame.world.run("atPoint", x, y)
            if answer["node"] is None:
                return hit
            node = self._references.shown(answer["node"], frame.world, answer["doc"])
            hit = PointHit(node=node, actable=answer["actable"])
            inner = await self._within(frame, answer)
            if inner is None:
                return hit
            origin = await frame.world.run("framePoint", answer["node"][ID], 0, 0, "read")
            x, y = (x - origin["x"]) / origin["scale"], (y - origin["y"]) / origin["scale"]
            frame = inner
        return hit

    async def focused(self) -> DomNode | None:
        """The element that has the keyboard, in frames too; None where none has."""
        frame = await self._frames.main()
        node: DomNode | None = None
        for _ in range(MOST_NESTED_FRAMES):
            answer = await frame.world.run("focused")
            if answer["node"] is None:
                return node
            node = self._references.shown(answer["node"], frame.world, answer["doc"])
            inner = await self._within(frame, answer)
            if inner is None:
                return node
            frame = inner
        return node

    async def typed_at(self, index: int | None = None) -> KeyPlace:
        """Return what gets what is typed: an element, or what has the keyboard.

        Raises:
            NotActionable: the frame that has the keyboard cannot be asked.
            StaleElement: the element is gone.
        """
        if index is not None:
            ref = self.resolve(index)
            return key_place(ref.world, await self._ask(ref, "keyPlaceOf", ref.id))
        found = (await self.targets.of_keys(enter=False)).place
        if found is None:
            raise NotActionable("The frame that has the keyboard cannot be asked.", hint="Name an index.")
        return found

    async def use_clipboard(
        self, command: str, key: Mapping[str, Any], data: Mapping[str, str]
    ) -> dict[str, str] | None:
        """Copy, cut or paste where the keyboard is, without the browser's own clipboard.

        Args:
            command: `copy`, `cut` or `paste`.
            key: the fields of the key's events.
            data: what is pasted, by MIME types.

        Returns:
            What was copied, by MIME types; None for nothing.

        Raises:
            NotActionable: the frame that has the keyboard cannot be asked.
        """
        return await (await self._with_keyboard()).run("useClipboard", command, key, data)

    async def _with_keyboard(self) -> World:
        """The frame that gets what is typed."""
        frame = await self._frames.main()
        for _ in range(MOST_NESTED_FRAMES):
            answer = await frame.world.run("focused")
            if not answer.get("frame"):
                return frame.world
            inner = await self._within(frame, answer)
            if inner is None:
                break
            frame = inner
        raise NotActionable("The frame that has the keyboard cannot be asked.", hint="Name an index.")

    async def break_off(self, index: int | None = None) -> bool:
        """Stop the script that keeps the page busy, or the frame of an element; False where none does."""
        world = (await self._frames.main()).world if index is None else self.resolve(index).world
        if await answers(world.session):
            return False
        await break_off(world.session)
        return True

    # The page -----------------------------------------------------------------------------------------------

    async def html(self, index: int | None = None, *, readable: bool = False, detailed: bool = False) -> str:
        """HTML of the page or of an element, with shadow trees and frames written out in their places.

        Args:
            index: the element; None for the page.
            readable: leave out scripts, styles and what is hidden.
            detailed: of the readable HTML, keep classes and roles, and what the page says to machines about
                its content: metadata, and data of schema.org.
        """
        if index is None:
            main = await self._frames.main()
            return await self._html(main.world, None, (readable, detailed), MOST_NESTED_FRAMES)
        ref = self.resolve(index)
        await self._ask(ref, "describe", ref.id)
        return await self._html(ref.world, ref.id, (readable, detailed), MOST_NESTED_FRAMES)

    async def pdf(self, index: int | None = None, *, most: int) -> bytes | None:
        """The PDF that the page, or the frame at an index, shows; None where it shows none.

        Args:
            index: the element of a frame; None for the page.
            most: how many bytes it may have.

        Raises:
            NotActionable: it cannot be had again, or is larger.
        """
        if index is None:
            world = (await self._frames.main()).world
        else:
            ref = self.resolve(index)
            await self._ask(ref, "describe", ref.id)
            children = await self._children(ref.world, [ref.id])
            if ref.id not in children:
                return None
            world = children[ref.id].world
        answer = await world.run("pdf", most)
        if "size" in answer:
            raise NotActionable(
                f"The PDF has {answer['size']:,} bytes; {most:,} can be read.", hint="Look with screenshot."
            )
        if "failed" in answer:
            raise NotActionable(
                f"The PDF cannot be read: {one_line(str(answer['failed']))}.",
                hint="Save it with its button Download, then use read_file; or look with screenshot.",
            )
        return b64decode(answer["pdf"]) if answer["pdf"] is not None else None

    async def scroll(self, *, x: float = 0, y: float = 0, index: int | None = None) -> Scrolled:
        """Scroll by `x` and `y` times what is seen; infinity goes to the end.

        Scrolls the page (or what fills it), or with an index the nearest thing around that element that can
        scroll.

        Raises:
            StaleElement: the element is gone.
        """
        x, y = (max(-FURTHEST_SCROLL, min(FURTHEST_SCROLL, by)) for by in (x, y))
        if index is None:
            world = (await self._frames.main()).world
            document = ""
            answer = await world.run("scroll", None, x, y)
        else:
            ref = self.resolve(index)
            world, document = ref.world, ref.document
            answer = await self._ask(ref, "scroll", ref.id, x, y)
        if "problem" in answer:
            raise NotActionable("There is nothing to scroll.", hint="Look with get_state.")
        within = answer["within"]
        return Scrolled(
            node=self._references.shown(within, world, document or answer["doc"]) if within else None,
            moved_x=answer["moved"][0],
            moved_y=answer["moved"][1],
            left=answer["position"][0],
            top=answer["position"][1],
            view_width=answer["seen"][0],
            view_height=answer["seen"][1],
            width=answer["size"][0],
            height=answer["size"][1],
        )

    async def scroll_to_text(self, text: str, *, nth: int = 1) -> FoundText:
        """Bring the nth line that holds a text into view.

        Raises:
            NotFound: there is no such line.
        """
        matches = 0
        found: FoundText | None = None
        missed: list[Missed] = []
        async for frame, answer in self._frames.each("scrollToText", text, nth, missed=missed):
            matches += answer["matches"]
            if found is None and matches >= nth and answer["node"] is None:
                # Counted from the first frame on, the match is in this one.
                before = matches - answer["matches"]
                answer = await frame.world.run("scrollToText", text, nth - before)  # noqa: PLW2901
            if found is None and matches >= nth and answer["node"] is not None:
                node, *lines = (
                    self._references.node(line, frame.world, answer["doc"])
                    for line in [answer["node"], *answer["context"]]
                )
                found = FoundText(node=node, context="\n".join(map(str, lines)), count=matches)
                await self._show_frame(frame)
        if found is None:
            hint = "Content that loads while scrolling may come with scroll; find_elements takes patterns."
            if missed:
                unsearched = "; ".join(await self._described(missed))
                raise NotFound(
                    f"The text {text!r} is not in what could be searched; not searched: {unsearched}.",
                    hint="Wait with wait_for, then try again.",
                )
            if matches:
                raise NotFound(
                    f"The text {text!r} is on the page only {matches} times, not {nth}.", hint=hint
                )
            raise NotFound(f"The text {text!r} is not on {cut_address(self._page.url)}.", hint=hint)
        return found.model_copy(update={"count": matches})

    # Within -------------------------------------------------------------------------------------------------

    async def _ask(self, ref: ElementRef, method: str, *args: Any) -> dict[str, Any]:
        """Ask about an element; the answer is sure to be about that very one."""
        try:
            answer = await ref.world.run("ofDocument", ref.document, method, args)
        except FrameGone as error:
            raise await self._stale(ref) from error
        if answer.get("problem") == "stale":
            raise await self._stale(ref)
        return answer

    async def _stale(self, ref: ElementRef) -> StaleElement:
        """The error for an element that is gone; it names what is most like it now."""
        nearest: DomNode | None = None
        best = 0
        with contextlib.suppress(FrameGone):
            async for frame, answer in self._frames.each("nearest", ref.role, ref.name):
                if answer["node"] is not None and answer["score"] > best:
                    best = answer["score"]
                    nearest = self._references.shown(answer["node"], frame.world, answer["doc"])
        hint = "Look with get_state what is there now."
        if nearest is not None:
            hint = f"The nearest match now is {nearest.model_copy(update={'depth': 0})}."
        return StaleElement(f"The element {ref.node} is gone from the page.", hint=hint)

    def _refusal(
        self, node: DomNode, answer: dict[str, Any], for_: Purpose, world: World, document: str
    ) -> NotActionable:
        named = (answer.get(part) for part in ("by", "close"))
        by, close = (line and self._references.shown(line, world, document) for line in named)
        return not_actionable(node, answer, for_, by, close)

    async def _in_page(
        self, world: World, x: float, y: float, node: DomNode, for_: Purpose
    ) -> tuple[float, float]:
        """A point of a frame as a point of the page; brings the frame into view and checks what covers it."""
        way = self._frames.way_to(world)
        if not way and world is not (await self._frames.main()).world:
            raise not_actionable(node, {"problem": "hidden", "how": "its frame is not shown"}, for_)
        for parent, owner in reversed(way):
            answer = await parent.world.run("framePoint", owner, x, y, for_)
            if answer.get("problem") in ("covered", "hidden"):
                raise self._refusal(node, answer, for_, parent.world, answer.get("doc", ""))
            if "problem" in answer:
                raise NotActionable(f"The frame of {node} is gone.", hint="Look with get_state.")
            x, y = answer["x"], answer["y"]
        return x, y

    async def _within(self, frame: FrameState, answer: dict[str, Any]) -> FrameState | None:
        """The frame that an answer about one of its parent's elements leads into."""
        if not answer["frame"]:
            return None
        owner = answer["node"][ID]
        await self._frames.meet(frame, [owner])
        return frame.children.get(owner)

    async def _show_frame(self, frame: FrameState) -> None:
        for parent, owner in reversed(self._frames.way_to(frame.world)):
            await parent.world.run("call", owner, "scrollIntoView", [])

    async def _boxes(self, frame: FrameState, x: float, y: float, scale: float, into: list[Box]) -> None:
        try:
            answer = await frame.world.run("boxes")
        except FrameGone:
            return
        for element_id, left, top, width, height in answer["boxes"]:
            index = self._references.known(element_id, answer["doc"])
            if index is not None:
                into.append(
                    Box(
                        index=index,
                        x=x + left * scale,
                        y=y + top * scale,
                        width=width * scale,
                        height=height * scale,
                    )
                )
        for owner, child in frame.children.items():
            if owner not in frame.read.stands:
                continue
            at = await frame.world.run("framePoint", owner, 0, 0, "read")
            if "problem" not in at:
                await self._boxes(child, x + at["x"] * scale, y + at["y"] * scale, scale * at["scale"], into)

    async def _children(self, world: World, ids: Sequence[int]) -> Mapping[int, FrameState]:
        """The frames that stand in these elements of a world, by the elements' ids."""
        state = next((frame for frame, _ in self._frames.known() if frame.world is world), None)
        if state is None:
            return {}
        await self._frames.meet(state, ids)
        return state.children

    async def _html(self, world: World, element_id: int | None, how: tuple[bool, bool], deep: int) -> str:
        answer = await world.run("html", element_id, *how)
        text: str = answer["html"]
        if not answer["frames"] or deep == 0:
            return text
        children = await self._children(world, answer["frames"])
        for owner in answer["frames"]:
            child = children.get(owner)
            try:
                inner = await self._html(child.world, None, how, deep - 1) if child else ""
            except FrameGone:
                inner = ""
            text = text.replace(f"\ue000{owner}\ue001", inner)
        return text
