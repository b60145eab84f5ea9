"""How many clients, sessions and examples tests of load have: for each change, or for `just nightly`."""

import os

_FULL = os.environ.get("TEST_LOAD") == "full"


def load(usual: int, *, full: int) -> int:
    """`full` where `TEST_LOAD=full` is set, else `usual`."""
    return full if _FULL else usual
