"""Playwright's list of devices."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from mcp_browser.errors import NotFound

NAMED = 8  # How many names of devices an error lists


def find_device(name: str, devices: Mapping[str, Mapping[str, Any]]) -> tuple[str, Mapping[str, Any]]:
    """Name and description of a device, ignoring case; raises NotFound, which lists similar names."""
    names = {known.lower(): known for known in devices}
    found = names.get(" ".join(name.lower().split()))
    if found is None:
        like = get_close_matches(name.lower(), names, n=NAMED, cutoff=0.3) or list(names)[:NAMED]
        raise NotFound(
            f"There is no device {name!r} in Playwright's list.",
            hint=f"Some of its {len(devices)}: {', '.join(names[one] for one in like)}.",
        )
    return found, devices[found]
