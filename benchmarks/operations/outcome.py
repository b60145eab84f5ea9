"""The outcome of an operation with a server."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """`tried` is at which try it was done, 0 for never; `false` what was said that is not so."""

    operation: str
    kind: str
    server: str
    tried: int
    calls: int
    characters: int
    seconds: float
    false: str
    why: str
