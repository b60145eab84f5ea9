"""Many sessions on three replicas behind nginx, one of which is killed."""

import os
import tempfile
import time
from pathlib import Path

from tests.support.site import Site
from tests.support.visitors import crowd


async def measure(sessions: int) -> str:
    """Let so many clients come in; the section.

    Raises:
        AssertionError: a call did not reach its browser, or more was lost than the dead replica's.
    """
    began = time.monotonic()
    with Site() as site, tempfile.TemporaryDirectory(prefix="replicas-") as folder:
        outcome = await crowd(site, Path(folder), sessions)
    spread = ", ".join(f"{name}: {count}" for name, count in sorted(outcome.spread.items()))
    return (
        f"{sessions} sessions over Streamable HTTP in both eras and SSE, all open at a time, on three "
        f"replicas behind nginx with the configuration in manifests/ ({spread}). Each call reached the "
        "browser in which its session began. Then replica b was killed: its "
        f"{outcome.lost} sessions were told so, the others went on, and who came anew was served. "
        f"{time.monotonic() - began:.0f} s, load average {os.getloadavg()[0]:.0f} at the end."
    )
