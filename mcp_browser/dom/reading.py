"""Observations: the lines of all frames as one snapshot, and what has changed since the last one."""

import asyncio
import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from mcp_browser.dom.cdp import extra_seconds, within
from mcp_browser.dom.driver_errors import FrameGone
from mcp_browser.dom.frames import (
    MOST_NESTED_FRAMES,
    NOTHING,
    Answer,
    Frames,
    FrameState,
    Placing,
    Reading,
    Shown,
    all_readings,
    frames_in,
    insert_within,
    known,
    part_of,
    settled,
    shown_lines,
)
from mcp_browser.dom.models import (
    DomChange,
    DomChanges,
    DomLook,
    DomNode,
    DomSnapshot,
    Gap,
    Scroll,
    SettleState,
)
from mcp_browser.dom.omissions import Omissions, Repeated, SeenParts, repeated_parts, seen_parts
from mcp_browser.dom.references import ID, KIND, ROLE, ElementRef, References
from mcp_browser.dom.worlds import SentSecrets, World, Worlds, reading_of
from mcp_browser.errors import InvalidArguments, StaleElement
from mcp_browser.privacy.hiding import SessionAddresses
from mcp_browser.text import CHARACTERS_A_TOKEN

SEARCH_SECONDS = 1.0  # How long what a search has read counts as the page as it is
EARLY_SECONDS = 1.0  # How long frames are looked for that are read beside the page they stand in
MEETINGS = 2  # A frame that was lost is met anew once
MEETING_SECONDS = 1.0  # How long one is waited for that Playwright does not know yet
LONGEST_EARLY = 200  # Milliseconds: if the page took longer to rest, its new frames are read again
MEETING_PAUSE = 0.03  # Seconds until it is looked for again

Wish = dict[str, Any]  # How the page script is to read a frame
EarlyReadings = dict[int, asyncio.Task[Reading | None]]
Early = tuple[asyncio.Task[None], EarlyReadings]
"""The readings of frames of other sites that have just come, by owner: all, once the first task has ended."""


class PageReader:
    """Reads the page of one tab, all frames included, and remembers which reading was reported last.

    Nothing here, and in what derives from it, may be called twice at the same time.
    """

    def __init__(  # noqa: PLR0913 (what the page of a tab is read by)
        self,
        page: Page,
        *,
        channel: str,
        budget: int,
        changes_budget: int,
        sent: Callable[[str], None],
        addresses: SessionAddresses,
        learnt: dict[str, str],
    ) -> None:
        """Serve a page of Playwright's.

        `channel` is the random name that the hook in the page's own world was given; "" for none. A snapshot
        has at most `budget` tokens, an account of changes `changes_budget`. `sent` is called with what a form
        wrote of a secret field into an address, as it stands there. `addresses`, `learnt`: the session's.
        """
        self._page = page
        self._budget = budget
        self._frames = Frames(Worlds(page, channel, SentSecrets(page, sent), learnt))
        self._references = References(addresses)
        self._changes_budget = changes_budget
        self._seen = self._seen_next = SeenParts()
        self._searched = -SEARCH_SECONDS
        self.title: str | None = None  # As it was read last; who has reported it sets None
        self.may_show = False  # Whether the page showed nothing when it was last read, but may be about to
        self.resolve = self._references.__getitem__
        """What an index stands for, without asking the page; raises NotFound: it was never given."""

    async def snapshot(
        self, *, region: int | None = None, part: int = 1, budget: int | None = None, folded: bool = True
    ) -> DomSnapshot:
        """The page, or what is in one element, cut to a budget; the page counts as reported from then on.

        `region` is the index of that element. `part` is 1 for what is in and near the view, 2 for what comes
        next, and so on. `budget`, in tokens, stands for the one in force. `folded`: shorten long lists but
        the one looked into. Raises InvalidArguments: there is no such part; StaleElement: the region is gone.
        """
        budget = budget or self._budget
        if region is not None:
            ref = self.resolve(region)
            how = (budget * CHARACTERS_A_TOKEN * part, folded)
            answer = await self._ask(ref, "part", ref.id, *how)
            return self._as_snapshot(await self._frames.read_part(ref.world, answer, *how), budget, part)
        self._confirm()
        reading = await self._observe(whole=True, room=budget * part, folded=folded)
        self._confirm()
        return self._as_snapshot(reading, budget, part)

    async def changes(self) -> DomChanges | DomSnapshot:
        """What has changed since the last report; the snapshot where the page is new or that is shorter."""
        _, seen = await self.settle_and_changes(limit=0)
        return seen

    async def settle_and_changes(
        self, *, limit: float, again: bool = False, came: bool = False
    ) -> tuple[SettleState, DomChanges | DomSnapshot]:
        """Wait `limit` seconds at most for the page to rest; return what has changed: one evaluation a frame.

        `again`: what the last call gave was thrown away, so compare with the report before it. `came`:
        scripts or answers have come meanwhile, which take the page a moment to draw.
        """
        if not again:
            self._confirm()
        # A search that has just been made has read all of the page.
        searched = limit == 0 and time.monotonic() - self._searched < SEARCH_SECONDS
        self._searched = -SEARCH_SECONDS
        reading = await self._observe(
            whole=False, room=self._budget, settle=limit, came=came, searched=searched
        )
        state = settled([inner.answer["state"] for inner in all_readings(reading) if "state" in inner.answer])
        changes = None if "lines" in reading.answer else self._as_changes(reading)
        if changes is not None:
            return state, changes
        if any("lines" not in inner.answer for inner in all_readings(reading)):
            reading = await self._observe(whole=True, room=self._budget)
        return state, self._as_snapshot(reading, self._budget, 1, familiar=True)

    @property
    def deadline(self) -> float:
        """How much longer than others the page may take to answer, because it is large, seconds."""
        return max((extra_seconds(frame.world.elements) for frame, _ in self._frames.known()), default=0.0)

    @property
    def reading(self) -> str:
        """What is being read at this moment, in words; empty where it is the page that is busy."""
        elements = sum(frame.world.elements for frame, _ in self._frames.known() if frame.world.reading)
        return reading_of(elements) if elements else ""

    # -- readings of all frames

    async def _observe(  # noqa: PLR0913 (one keyword for each part of what is wished for)
        self,
        *,
        whole: bool,
        room: int,
        folded: bool = True,
        settle: float = 0.0,
        came: bool = False,
        searched: bool = False,
    ) -> Reading:
        """Read all frames at once; new ones of other sites beside the page, others after what they stand in.

        Each is first waited for, `settle` seconds at most. `searched`: use the reading of the last search.
        """
        wish = {
            "folded": folded,
            "whole": whole,
            "budget": room * CHARACTERS_A_TOKEN,
            "changes": self._changes_budget * CHARACTERS_A_TOKEN,
            "came": came,
            "searched": searched,
        }
        main = await self._frames.main()
        early: Early | None = None
        if len(self._page.frames) > 1 and self._frames.worlds.has_new():
            shown = await main.world.run("framesShown")
            readings: EarlyReadings = {}
            early = self._frames.worlds.begin(self._read_early(main, shown, wish, settle, readings)), readings
        try:
            reading = await self._read(main, wish, settle, 0, early)
        finally:
            for task in () if early is None else (early[0], *early[1].values()):
                task.cancel()
        self.title, self.may_show = reading.answer["title"], bool(reading.answer.get("unshown"))
        return reading

    async def _read_early(
        self, main: FrameState, shown: Answer, wish: Wish, settle: float, readings: EarlyReadings
    ) -> None:
        """Begin to read the frames that have just come and are shown, as far as they are found soon."""
        main.enter(shown["doc"])
        before = set(main.children)
        with contextlib.suppress(TimeoutError, FrameGone, PlaywrightError):
            async with asyncio.timeout(EARLY_SECONDS):
                await self._frames.meet(main, shown["shown"])
        for owner, child in main.children.items():
            if owner not in before:
                readings[owner] = self._frames.worlds.begin(self._try_read(child, wish, settle, 1))

    async def _read(
        self, frame: FrameState, wish: Wish, settle: float, deep: int, early: Early | None = None
    ) -> Reading:
        """Read a frame and those within; of those that are read `early`, it awaits what has a line."""
        begun = time.monotonic()
        # What is seen of a frame that does not fit into the view is known once the page around it was read.
        met = [
            child
            for owner, child in frame.children.items()
            if owner in frame.read.stands and child.seen is None
        ]
        answer, inner = await asyncio.gather(
            self._ask_frame(frame, wish, settle, deep),
            asyncio.gather(*(self._try_read(child, wish, settle, deep + 1) for child in met)),
        )
        read = {id(child): reading for child, reading in zip(met, inner, strict=False)}
        frame.read = known(answer)
        if early is not None:
            await early[0]
        if answer["doc"] != frame.document:
            frame.enter(answer["doc"])
        if early is not None:
            read |= await self._take_early(frame, early[1], answer)
        reading = Reading(frame, answer)
        if not frame.read.stands or deep >= MOST_NESTED_FRAMES:
            return reading
        meetings, until = MEETINGS, time.monotonic() + MEETING_SECONDS
        while meetings:
            # One without an answer is in another process now, or was lost on the way: it is met anew.
            frame.children = {o: c for o, c in frame.children.items() if c.silent or read.get(id(c), c)}
            late = await self._late(frame, read, answer["seen"])
            if late:
                meetings -= 1
                left = max(0.0, settle - (time.monotonic() - begun))
                come = await asyncio.gather(*(self._try_read(one, wish, left, deep + 1) for one in late))
                read |= {id(child): given for child, given in zip(late, come, strict=True)}
            elif frame.unmet and time.monotonic() < until:
                await asyncio.sleep(MEETING_PAUSE)
            else:
                frame.unfound = (frame.unfound | frame.unmet) - frame.children.keys()
                break
        for owner, child in frame.children.items():
            if owner in frame.read.stands and (given := read.get(id(child))) is not None:
                reading.within[owner] = given
        return reading

    async def _take_early(
        self, frame: FrameState, early: EarlyReadings, answer: Answer
    ) -> dict[int, Reading | None]:
        """Await the early readings of what has a line in the answer; the other frames count as never met."""
        read: dict[int, Reading | None] = {}
        for owner in early.keys() & frame.children.keys():
            if owner not in frame.read.stands:
                early[owner].cancel()
                del frame.children[owner]
                continue
            given = await early[owner]
            if answer.get("state", {}).get("waited", 0) <= LONGEST_EARLY:
                read[id(frame.children[owner])] = given
        return read

    async def _late(
        self, frame: FrameState, read: Mapping[int, Reading | None], seen: Mapping[str, Sequence[float]]
    ) -> list[FrameState]:
        """The frames within that are new, or of which another part is seen than they were read for."""
        await self._frames.meet(frame, list(frame.read.stands))
        late: list[FrameState] = []
        for owner, child in frame.children.items():
            part = seen.get(str(owner))
            if owner in frame.read.stands and (id(child) not in read or part != child.seen):
                late.append(child)
            child.seen = part
        return late

    async def _try_read(self, frame: FrameState, wish: Wish, settle: float, deep: int) -> Reading | None:
        try:
            reading = await within(
                self._read(frame, wish, settle, deep), lambda: settle + frame.deadline_within()
            )
        except FrameGone:
            return None
        except TimeoutError:
            frame.silent = True
            return None
        frame.silent = False
        return reading

    async def _ask_frame(self, frame: FrameState, wish: Wish, settle: float, deep: int) -> Answer:
        base, strict = frame.reported, deep > 0
        wish = wish | {"base": base.number, "of": base.document, "strict": strict, "seen": frame.seen}
        if settle > 0:
            answer = await frame.world.run("settleAndObserve", settle * 1000, wish)
        else:
            answer = await frame.world.run("observe", wish)
        if (hosts := answer.get("hosts")) and await frame.world.open_hosts(hosts):
            state = {name: answer[name] for name in ("state",) if name in answer}
            return {**await frame.world.run("observe", wish), **state}
        return answer

    def _confirm(self) -> None:
        """Count what was last read as reported."""
        self._seen = self._seen_next
        # Frames come before those within them, which are counted first.
        frames = [frame for frame, _ in self._frames.known()]
        living = {frame.read.document for frame in frames}
        if not self._references.documents.keys() <= living:
            self._references.forget_documents(living=living)
        for frame in reversed(frames):
            for owner in frame.reported.stands.keys() - frame.read.stands.keys():
                frame.children.pop(owner, None)
            # Of a frame that did not answer nothing was reported: it is reported whole once it does.
            frame.reported = NOTHING if frame.silent else frame.read
            frame.reported_within = {
                owner: child.reported.count + sum(child.reported_within.values())
                for owner, child in frame.children.items()
                if owner in frame.reported.stands
            }

    def _as_snapshot(
        self, reading: Reading, budget: int, part: int, *, familiar: bool = False
    ) -> DomSnapshot:
        """The lines of all frames in their places, the part of them that is asked for.

        `familiar`: shorten what is as on the page reported before. Raises InvalidArguments: no such part.
        """
        shown = list(shown_lines(reading, 0, 0, 0))
        room = budget * CHARACTERS_A_TOKEN
        cost = sum(float(inner.answer["cost"]) for inner in all_readings(reading))
        parts = 1
        if cost > room:
            parts = math.ceil(cost / room)
            shown = part_of(shown, room, part)
        elif part > 1:
            shown = []
        if not shown and part > 1:
            raise InvalidArguments(f"There is no part {part}: the page has {parts}.")
        same = repeated_parts(reading, shown, self._seen) if familiar else Repeated()
        for element_id, index in same.kept:
            self._references.keep(index, element_id, reading.state.world, reading.answer["doc"])
        nodes = [self._node(item) for item in shown]
        self._seen_next = seen_parts(reading, shown, nodes)
        rest = Omissions(reading, self._references)
        gaps: list[Gap] = []
        nodes_listed: list[DomNode] = []
        for item, node in zip(shown, nodes, strict=True):
            gaps += rest.leave_out(item.place, at=len(nodes_listed))
            said = rest.stand_for(item.place, node)
            if item.place in same.heads:
                # Links keep their indexes, too.
                nodes_listed.append(node.model_copy(update={"states": (*node.states, "as before")}))
            elif said and item.place not in same.left_out:
                nodes_listed.append(node)
        gaps += rest.leave_out(reading.total, at=len(nodes_listed))
        view = zip(Scroll.model_fields, reading.answer["view"], strict=True)
        return DomSnapshot(
            url=reading.answer["url"],
            title=reading.answer["title"],
            nodes=tuple(nodes_listed),
            scroll=Scroll.model_validate(dict(view)),
            gaps=tuple(gaps),
            part=part,
            parts=max(parts, part),
        )

    def _as_changes(self, reading: Reading) -> DomChanges | None:
        """The changes of all frames; None where only a snapshot can show them."""
        changes: list[DomChange] = []
        omitted = 0
        room = self._changes_budget * CHARACTERS_A_TOKEN
        for inner, at, was, depth in frames_in(reading):
            frame = inner.state
            if "lines" in inner.answer:
                added = self._added(inner, at, depth)
                if sum(len(str(change.node)) + 1 for change in added) > room:
                    # What is in the frame is the page: it is to be read, not a beginning of it.
                    return None
                insert_within(changes, added)
                omitted += int(inner.answer["count"]) - sum(change.node.lines for change in added)
                continue
            own = list(self._gone(inner, was, depth)) if frame.reported_within else []
            omitted += inner.answer["omitted"]
            room = max(room, inner.answer["room"])
            for change in inner.answer["changes"]:
                op, line, before, old, new, _ = change
                if op == "moved" and line[ROLE] == "iframe":
                    # What is in the frame moves with it, unseen by any comparison of its lines.
                    return None
                references, world, document = self._references, frame.world, frame.reported.document
                node = (
                    references.gone(change, world, document, depth)
                    if op in ("removed", "unlisted")
                    else references.node(line, world, frame.read.document, depth=depth)
                )
                is_past = before and op != "removed"
                past = references.node(before, world, document, use="past") if is_past else None
                places = {"was": was(old) if old >= 0 else None, "at": at(new) if new >= 0 else None}
                own.append(DomChange(op=op, node=node, before=past, **places))
            insert_within(changes, own)
        kept: list[DomChange] = []
        for change in changes:
            room -= len(str(change.node)) + 1 if change.op != "replaced" else 14
            if room < 0:
                break
            kept.append(change)
        omitted += len(changes) - len(kept)
        looks = tuple(
            DomLook(
                node=self._references.shown(line, inner.state.world, inner.state.read.document), what=what
            )
            for inner in (() if changes or omitted else all_readings(reading))
            for line, what in inner.answer.get("looks", ())
        )
        more = sum(inner.answer.get("others", 0) for inner in all_readings(reading)) if looks else 0
        behind = sum(inner.answer.get("behind", 0) for inner in all_readings(reading))
        found = DomChanges(changes=tuple(kept), omitted=omitted, looks=looks, other_looks=more, behind=behind)
        title = reading.state.read.title
        return found if title == reading.state.reported.title else found.model_copy(update={"title": title})

    def _added(self, inner: Reading, at: Placing, depth: int) -> list[DomChange]:
        changes: list[DomChange] = []
        for item in shown_lines(Reading(inner.state, inner.answer), 0, depth, 0):
            node = self._node(item).model_copy(update={"is_new": item.line[KIND] == "interactive"})
            changes.append(DomChange(op="added", node=node, at=at(item.place)))
        return changes

    def _gone(self, inner: Reading, was: Placing, depth: int) -> Iterator[DomChange]:
        """What went with the documents that were in the frames within: its lines are not known any more."""
        frame = inner.state
        for owner, count in frame.reported_within.items():
            now = inner.within.get(owner)
            if count == 0 or (now is not None and "lines" not in now.answer):
                continue
            index = self._references.known(owner, frame.reported.document)
            place, own_depth, _ = frame.reported.stands[owner]
            where = f"[{index}]" if index is not None else "a frame"
            child = frame.children.get(owner)
            why = ", which does not answer now" if child is not None and child.silent else ""
            text = f"({count} line{'s' if count > 1 else ''} that stood in {where}{why})"
            node = DomNode(kind="text", depth=depth + own_depth + 1, name=text, lines=count)
            yield DomChange(op="removed", node=node, was=was(place) + 1)

    def _node(self, item: Shown) -> DomNode:
        node = self._references.node(item.line, item.frame.world, item.frame.read.document, depth=item.depth)
        state = item.frame.why_empty(item.line[ID])
        return node.model_copy(update={"states": (*node.states, state)}) if state else node

    async def _standing(self, index: int | None) -> tuple[World, ElementRef | None]:
        """The frame and reference of an element, or the page's frame. Raises StaleElement: it is gone."""
        if index is None:
            return (await self._frames.main()).world, None
        ref = self.resolve(index)
        await self._ask(ref, "describe", ref.id)
        return ref.world, ref

    async def _ask(self, ref: ElementRef, method: str, *args: Any) -> Answer:
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
        best, redrawn = 0, None
        with contextlib.suppress(FrameGone):
            async for frame, answer in self._frames.each("nearest", ref.role, ref.name, ref.id, ref.document):
                if answer["node"] is not None and answer["score"] > best:
                    best = answer["score"]
                    nearest = self._references.shown(answer["node"], frame.world, answer["doc"])
                    redrawn = nearest.index if answer["redrawn"] else None
        hint = "Look with get_state what is there now."
        if nearest is not None:
            hint = f"The nearest match now is {nearest.model_copy(update={'depth': 0})}."
        error = StaleElement(f"The element {ref.node} is gone from the page.", hint=hint)
        error.redrawn = redrawn
        return error
