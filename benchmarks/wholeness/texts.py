"""Which of the texts that a person sees are in the snapshot or found by `find_elements`."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from benchmarks.wholeness.ours import Ours

_SCRIPT = (Path(__file__).parent / "texts.js").read_text(encoding="utf-8")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ue000-\uf8ff\ufeff]")


@dataclass
class Texts:
    """The texts of one page."""

    page: str
    listed: int = 0
    found: int = 0
    lost: list[str] = field(default_factory=list[str])

    @property
    def count(self) -> int:
        """How many a person sees."""
        return self.listed + self.found + len(self.lost)


async def seen_texts(page: Page) -> list[str]:
    """The texts that a person sees in all frames, each once."""
    texts: dict[str, None] = {}
    for frame in page.frames:
        try:
            texts |= dict.fromkeys(await frame.evaluate(_SCRIPT))
        except PlaywrightError:
            continue  # It has gone, or nobody sees it.
    return [text for text in texts if text]


async def compare(name: str, page: Page, ours: Ours) -> Texts:
    """Compare the texts of a page with the snapshot and the searches."""
    texts = await seen_texts(page)
    await ours.list()
    snapshot = _plain(ours.text)
    outcome = Texts(name)
    for text in texts:
        if _plain(text) in snapshot:
            outcome.listed += 1
        elif await ours.search(text=text):
            outcome.found += 1
        else:
            outcome.lost.append(text)
    return outcome


def _plain(text: str) -> str:
    """As it compares: without escapes, ends of lines and what cannot be seen."""
    text = _INVISIBLE.sub("", re.sub(r"\\(.)", r"\1", text)).replace("⏎", " ")
    return " ".join(text.split()).casefold()
