"""Files that are there whole or not at all, and stay there when the machine stops: how a log is written.

A log's files are its owner's alone: bundles of entries are for auditors, whoever else has an account here.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

TEMPORARY: Final = ".new"
"""What the name of a file ends in that was not finished: no path of a log does."""
THREADS: Final = 4
"""Waiting for a disk, several at a time share its commits."""


class Disk:
    """How a log's writer touches its folder. Tests put one in its place that fails, or forgets."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "log-files")

    def close(self) -> None:
        """End its threads."""
        self._threads.shutdown()

    def put(self, path: Path, data: bytes) -> None:
        """Put a file in its place; its folder is still to be synced. Raises OSError."""
        put(path, data)

    def put_all(self, contents: Iterable[tuple[Path, bytes]]) -> None:
        """Put files in their places. Raises OSError, when all that were begun have ended."""
        futures = [self._threads.submit(self.put, path, data) for path, data in contents]
        for error in [future.exception() for future in futures]:
            if error is not None:
                raise error

    def sync(self, folder: Path) -> None:
        """Make what stands in a folder durable. Raises OSError."""
        sync_folder(folder)

    def make_folder(self, folder: Path, below: Path) -> None:
        """Make a folder, durably, with those between it and one that is there. Raises OSError."""
        make_folder(folder, below)

    def remove(self, path: Path) -> None:
        """Take away a file or a folder that nobody needs; in no hurry to have it gone for good."""
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

    def write(self, path: Path, data: bytes) -> None:
        """Put a file in its place, durably, over one that is there. Raises OSError."""
        self.put(path, data)
        self.sync(path.parent)


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
        folder.mkdir(mode=0o700)
    sync_folder(folder.parent)


def _opened(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
