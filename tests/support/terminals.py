"""A command at a terminal of its own, where a person can read and type (Unix)."""

import asyncio
import fcntl
import os
import pty
import select
import termios
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

LONGEST = 120  # Seconds that a command may show nothing, on the busiest machine


class Screen:
    """What a command shows at a terminal, and what is typed there."""

    def __init__(self, process: asyncio.subprocess.Process, master: int) -> None:
        self.process = process
        self.shown = ""
        self._master = master

    async def until(self, text: str | None) -> None:
        """Read until a text is shown; None reads to the end."""
        while text is None or text not in self.shown:
            try:
                ready, _, _ = await asyncio.to_thread(select.select, [self._master], [], [], LONGEST)
                assert ready, f"nothing more is shown after {self.shown!r}"
                read = os.read(self._master, 4096)
            except OSError:  # On Linux the end of a terminal is an error.
                read = b""
            if not read:
                assert text is None, self.shown
                return
            self.shown += read.decode(errors="replace")

    async def ended(self) -> int:
        """Read to the end; the exit code."""
        await self.until(None)
        return await self.process.wait()

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def echoes(self) -> bool:
        """Whether what is typed is shown."""
        return bool(termios.tcgetattr(self._master)[3] & termios.ECHO)


@asynccontextmanager
async def at_terminal(*command: str, env: Mapping[str, str]) -> AsyncGenerator[Screen]:
    """Run a command at a terminal, whose Ctrl+C is for it."""
    master, slave = pty.openpty()
    control = lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0))  # noqa: E731
    process = await asyncio.create_subprocess_exec(
        *command, stdin=slave, stdout=slave, stderr=slave, preexec_fn=control, env=env
    )
    os.close(slave)
    try:
        yield Screen(process, master)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        os.close(master)
