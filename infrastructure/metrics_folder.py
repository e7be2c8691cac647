"""The folder that a service's processes count into: one service's, empty at its start.

Apart from the counting itself, so that whoever only looks after the processes does not load it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"
"""Names the folder to the client library, in the environment that it is imported in."""


def begin(folder: Path) -> None:
    """Make the folder, empty. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for file in folder.glob("*.db"):
        file.unlink()


def reserve(folder: Path, pid: int) -> None:
    """Give a process's files all the blocks they claim, as far as the disk has them.

    They are made sparse and mapped into memory, where a page that a full disk has no block for ends the
    process.
    """
    for file in folder.glob(f"*_{pid}.db"):
        with suppress(OSError), file.open("r+b") as opened:
            os.posix_fallocate(opened.fileno(), 0, os.fstat(opened.fileno()).st_size)


def forget_process(folder: Path, pid: int) -> None:
    """Take a process that has ended out of what is true only of those that live."""
    for file in folder.glob(f"gauge_live*_{pid}.db"):
        with suppress(OSError):
            file.unlink()
