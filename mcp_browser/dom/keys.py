"""Where the keyboard is, and keys that go there or nowhere."""

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
from playwright.async_api import Error as PlaywrightError

from mcp_browser.dom.cdp import within
from mcp_browser.dom.driver_errors import FrameGone
from mcp_browser.dom.frames import Frames, FrameState, stands_of
from mcp_browser.dom.references import ElementRef
from mcp_browser.dom.worlds import World
from mcp_browser.errors import ActionError, NotActionable
from mcp_browser.policy import Target


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """What has the keyboard: an element of a document, or the document itself (`element` 0).

    `password` says that it is a field whose content nobody is to read; `origin` is the document's, as the
    browser has it: `null` where it is opaque. `watched` says that the hook has run there from the beginning.
    """

    world: World
    document: str
    element: int
    password: bool
    origin: str = ""
    watched: bool = True

    @property
    def page(self) -> tuple[World, str]:
        """The document that it is in."""
        return self.world, self.document


def key_place(world: World, answer: Mapping[str, Any]) -> KeyPlace:
    """A place as the page script describes it."""
    return KeyPlace(
        world, answer["doc"], answer["active"], answer["password"], answer["origin"], answer["watched"]
    )


def keyboard_unknown() -> NotActionable:
    """The error for input to a frame that cannot be asked."""
    return NotActionable("The frame that has the keyboard cannot be asked.", hint="Name an index.")


def targets_of(answer: Mapping[str, Any]) -> list[Target]:
    """What input acts on, as the page script describes it, for rules about elements."""
    return [
        Target(role=role, name=name, text=text, shown=(shown_role, shown_name), **answer["whose"])
        for role, name, text, shown_role, shown_name in answer["targets"]
    ]


@dataclass(frozen=True, slots=True)
class KeyHold:
    """Keys that are held to a place, None where nobody knows it; `targets` is what they act on.

    `first` says that nothing in any frame hears of a key before it is checked.
    """

    number: int
    place: KeyPlace | None
    targets: Sequence[Target] = ()
    first: bool = True
    frames: list[FrameState] = field(default_factory=list[FrameState])


@dataclass(frozen=True, slots=True)
class HeldKeys:
    """The outcome of keys that were held to a place.

    `keys` have come to it, and `inputs` of text without a key; `strayed`: one was to go elsewhere, after
    which none went anywhere; `gone`: the document went away. `field`: its `value` and `secret`, if asked for.
    """

    keys: int = 0
    inputs: int = 0
    strayed: bool = False
    gone: bool = False
    field: Mapping[str, Any] | None = None


Ask = Callable[..., Awaitable[dict[str, Any]]]  # Takes an element, a method of the page script, its arguments


class InputTargets:
    """Where the input of one page goes: reads what it acts on, and holds keys to a place, in all frames."""

    def __init__(self, frames: Frames, ask: Ask) -> None:
        self._frames = frames
        self._ask_element = ask
        self._numbers = itertools.count(1)

    async def hold(self, *, ruled: bool, enter: bool = False, letter: str = "") -> KeyHold:
        """Let keys go only to what has the keyboard now, until they are released.

        `ruled`: rules are asked, so that what keys act on is read, and frames that are new are held, too.
        `enter`: Enter is among the keys. `letter` is one that is pressed with Alt.
        """
        number = next(self._numbers)
        try:
            return await self._held(number, ruled, enter, letter)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.release(KeyHold(number, None, frames=[frame for frame, _ in self._frames.known()]))
            raise

    async def _held(self, number: int, ruled: bool, enter: bool, letter: str) -> KeyHold:
        place: KeyPlace | None = None
        found: list[Target] = []
        held: list[FrameState] = []
        first, alone = True, True
        async for frame, answer in self._frames.inward("holdKeys", number, ruled, enter, letter):
            held.append(frame)
            found += targets_of(answer)
            first = first and answer["first"]
            if owners := stands_of(answer):
                alone = False
                await self._frames.meet(frame, owners)
            if not answer["frame"]:
                place = key_place(frame.world, answer)
        if not alone and ruled:
            first = await self._hold_all(number, held) and first
        elif not alone:
            others = [frame for frame, _ in self._frames.known() if frame not in held]
            await asyncio.gather(*(self._ask(frame, "holdOthers", number) for frame in others))
            held += others
        return KeyHold(number, place, found, first, held)

    async def _hold_all(self, number: int, held: list[FrameState]) -> bool:
        """Hold keys in all frames, new ones too; whether no listener of the page runs before the check."""
        first = True
        async for frame, answer in self._frames.each("holdOthers", number):
            first = first and answer["first"]
            if frame not in held:
                held.append(frame)
        return first

    async def has_come(self, hold: KeyHold) -> bool:
        """Whether the first key has come to the place, which has the keyboard still, and no frame is new."""
        assert hold.place is not None
        await self._hold_all(hold.number, hold.frames)
        answer = await self._ask_of(hold.place, "hasCome", [hold.number])
        return bool(answer.get("come"))

    async def release(self, hold: KeyHold, *, read: bool = False) -> HeldKeys:
        """Let keys go where they will; the outcome of those held, with `read` also what the place holds."""
        place = hold.place
        answers = await asyncio.gather(*(self._ask(frame, "releaseKeys", read) for frame in hold.frames))
        strayed = any(answer["strayed"] for answer in answers if answer)
        for frame, answer in zip(hold.frames, answers, strict=True):
            if not answer or place is None or frame.world is not place.world or not answer["held"]:
                continue
            if answer["doc"] == place.document:
                return HeldKeys(answer["keys"], answer["inputs"], strayed, field=answer["field"])
        return HeldKeys(strayed=strayed, gone=True)

    async def put(self, place: KeyPlace, text: str, *, exactly: bool, secret: bool) -> tuple[int, bool]:
        """Put text in where the caret of the place's document is, and nowhere else.

        `exactly`: begin only in the place's own element. `secret`: it may go into fields whose content nobody
        is to read. Return how many characters were put in, and whether the focus moved before the rest.
        """
        answer = await self._ask_of(place, "putText", [text, place.element if exactly else 0, secret])
        return answer.get("done", 0), answer.get("moved", True)

    async def _ask_of(self, place: KeyPlace, method: str, args: list[Any]) -> dict[str, Any]:
        try:
            return await place.world.run("ofDocument", place.document, method, args)
        except FrameGone:
            return {}

    async def _ask(self, frame: FrameState, method: str, *args: Any) -> dict[str, Any] | None:
        """The answer of a frame; None where it is gone or does not answer."""
        with contextlib.suppress(FrameGone, TimeoutError, ActionError, PlaywrightError):
            return await within(frame.world.run(method, *args), frame.deadline)
        return None

    async def at(self, x: float, y: float) -> list[Target]:
        """What a mouse at a point of the view acts on; CSS pixels."""
        found, leads_on = list[Target](), True
        async for _, answer in self._frames.inward("targetsAt", point=(x, y)):
            found += targets_of(answer)
            leads_on = answer["frame"]
        return [*found, await self._unknown()] if leads_on else found

    async def of_keys(self, *, enter: bool, letter: str = "") -> tuple[Sequence[Target], KeyPlace | None]:
        """What keys act on, with Enter or a letter pressed with Alt; and where that is, None if unknown."""
        found, place = list[Target](), None
        async for frame, answer in self._frames.inward("targetsOfKeys", enter, letter):
            found += targets_of(answer)
            if not answer["frame"]:
                found = found or [Target(**answer["whose"])]
                place = key_place(frame.world, answer)
        return (found if place is not None else [*found, await self._unknown()]), place

    async def of(self, ref: ElementRef, *, enter: bool = False) -> list[Target]:
        """What acting on an element acts on; with `enter`, pressing Enter in it, too. Raises StaleElement."""
        return targets_of(await self._ask_element(ref, "targetsOf", ref.id, enter))

    async def page(self) -> Target:
        """The page as a whole."""
        return Target(**await (await self._frames.main()).world.run("whose"))

    async def _unknown(self) -> Target:
        """What is in a frame that cannot be asked."""
        return (await self.page()).model_copy(update={"role": "iframe", "origin": "null", "unknown": True})
