"""Files that are there whole or not at all, and stay there when the machine stops: how a log is written."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

TEMPORARY: Final = ".new"
"""What the name of a file ends in that was not finished: no path of a log does."""


def write(path: Path, data: bytes) -> None:
    """Put a file in its place, durably, over one that is there. Raises OSError."""
    put(path, data)
    sync_folder(path.parent)


def put(path: Path, data: bytes) -> None:
    """Put a file in its place; its folder is still to be synced. Raises OSError."""
    temporary = path.with_name(path.name + TEMPORARY)
    descriptor = _opened(temporary)
    try:
        written = memoryview(data)
        while written:
            written = written[os.write(descriptor, written) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    temporary.replace(path)


def sync_folder(folder: Path) -> None:
    """Make what stands in a folder durable. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path, below: Path) -> None:
    """Make a folder, durably, with those between it and one that is there. Raises OSError."""
    if folder == below or folder.is_dir():
        return
    make_folder(folder.parent, below)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o755)
    sync_folder(folder.parent)


def _opened(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
