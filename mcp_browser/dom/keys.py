"""Where the keyboard is, and keys that go there or nowhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_browser.dom.frames import Frames
from mcp_browser.dom.worlds import FrameGone, World
from mcp_browser.policy import Target


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """What has the keyboard: an element of a document, or the document itself (`element` 0).

    `password` says that it is a field whose content nobody is to read; `origin` is the document's, as the
    browser has it: `null` where it is opaque.
    """

    world: World
    document: str
    element: int
    password: bool
    origin: str = ""

    @property
    def page(self) -> tuple[World, str]:
        """The document that it is in."""
        return self.world, self.document


def key_place(world: World, answer: Mapping[str, Any]) -> KeyPlace:
    """A place as the page script tells it."""
    return KeyPlace(world, answer["doc"], answer["active"], answer["password"], answer["origin"])


@dataclass(frozen=True, slots=True)
class KeyTargets:
    """What keys would act on, as rules about elements read it, and where; `place` None where nobody knows."""

    targets: Sequence[Target]
    place: KeyPlace | None


@dataclass(frozen=True, slots=True)
class HeldKeys:
    """What has become of keys that were held to a place.

    `keys` have come to it, and `inputs` of text without a key; `strayed` says that one was to go elsewhere,
    after which none went anywhere; `gone` that the document went away meanwhile.
    """

    keys: int = 0
    inputs: int = 0
    strayed: bool = False
    gone: bool = False


@dataclass(frozen=True, slots=True)
class PutText:
    """How many characters of a text were put in, and whether the rest was not since the focus had moved."""

    done: int
    moved: bool


class KeyHolder:
    """Holds the keys of one page to a place, in all its frames."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames

    async def hold(self, place: KeyPlace) -> None:
        """Let keys go to this place only, until they are released or the page is looked at."""
        async for _ in self._frames.each("holdKeys", place.document, place.element):
            pass

    async def release(self, place: KeyPlace) -> HeldKeys:
        """Let keys go where they will; what has become of those that were held to the place."""
        held, strayed = HeldKeys(gone=True), False
        try:
            async for frame, answer in self._frames.each("releaseKeys"):
                strayed = strayed or answer["strayed"]
                if frame.world is place.world and answer["doc"] == place.document and answer["held"]:
                    held = HeldKeys(keys=answer["keys"], inputs=answer["inputs"])
        except FrameGone:
            return HeldKeys(gone=True)
        return HeldKeys(held.keys, held.inputs, strayed, held.gone)

    async def put(self, place: KeyPlace, text: str) -> PutText:
        """Put text in where the caret of the place's document is, and nowhere else."""
        answer = await place.world.run("ofDocument", place.document, "putText", [text])
        return PutText(answer.get("done", 0), answer.get("moved", True))
