"""What the processes of a server hold."""

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path

from tests.support.process import MarkedProcesses


@dataclass(frozen=True)
class Memory:
    """Megabytes in proportional set size, without what is mapped from files.

    Pages that processes share are counted in proportion. Those of the programs' own files are left out: how
    many others run the same program would change what one of them seems to hold.
    """

    server: float
    """Of the server's own process."""
    driver: float
    """Of Playwright's driver, where that is a process of its own."""
    browser: float
    """Of everything else: the browser with its renderers."""

    @property
    def tree(self) -> float:
        """Of all of them."""
        return self.server + self.driver + self.browser


def memory(processes: MarkedProcesses, root: int) -> Memory:
    """What a server and all that it has started hold now."""
    server = driver = browser = 0.0
    for pid, command in processes.living(root).items():
        held = _held(pid)
        if pid == root:
            server += held
        elif "playwright" in command and "run-driver" in command:
            driver += held
        else:
            browser += held
    return Memory(server, driver, browser)


def _held(pid: int) -> float:
    with contextlib.suppress(OSError):
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        return sum(int(number) for number in re.findall(r"^Pss_(?:Anon|Shmem):\s+(\d+)", rollup, re.M)) / 1024
    return 0
