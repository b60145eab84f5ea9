"""A page to measure: where it comes from, and how it is brought into the state that matters."""

from dataclasses import dataclass
from typing import Literal

Half = Literal["first", "second"]


@dataclass(frozen=True)
class Page:
    """One page in one state.

    `source` is a file of `pages/`: an HTML page in which `{NAME}` is the address of the npm package NAME's
    folder; a script (`.mjs`, `.jsx`) that is bundled with what it imports and finds `<div id="root">`; or a
    Python program that serves on the port in its first argument and gets the site's address as its second.
    `steps` lead from the page as it loads to its state, one each: a word and what it needs, as `run` of
    `stage.py` knows them: `wait SELECTOR`, `click SELECTOR`, `hover SELECTOR`, `fill SELECTOR | TEXT`,
    `press KEY`, `scroll SELECTOR | PIXELS`.
    """

    name: str
    half: Half
    packages: tuple[str, ...]
    source: str
    steps: tuple[str, ...] = ()
    framed: bool = False
    """Whether it is shown in a frame of a page of another site."""
