"""Files that are whole at any time, and that only their owner can read."""

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Write a file; a `durable` one is on the disk when this returns.

    Raises:
        OSError: it cannot be written; what was there stays.
    """
    # Beside it first, so that nobody ever meets half of it, or all of it under open permissions.
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(descriptor)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
