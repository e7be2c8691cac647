"""One process at a time on a directory, decided by the kernel: a killed owner's lock is free at once."""

from __future__ import annotations

import fcntl
import os
import time
from typing import TYPE_CHECKING, Self

from infrastructure.postgres.errors import DirectoryInUseError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

PID_DIGITS_MAX = 20
OWNER_ATTEMPTS = 50


class DirectoryLock:
    """An exclusive lock on a directory, held by the file `lock` in it from `acquire` to `release`.

    The file holds the owner's pid, for people; what counts is the lock on it. It is never deleted: deleting
    it would let two processes lock two files of one name.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._file: int | None = None

    def acquire(self) -> Self:
        """Take the lock or raise DirectoryInUseError naming the owner; never waits."""
        file = os.open(self._directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = _owner(file)
            os.close(file)
            message = f"data directory in use by pid {owner}: {self._directory}"
            raise DirectoryInUseError(f"{message} (stop it, or choose another --data-dir)") from None
        except BaseException:
            os.close(file)
            raise
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        self._file = file
        return self

    def release(self) -> None:
        """Give the lock back; harmless when it is not held."""
        if self._file is not None:
            os.ftruncate(self._file, 0)
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Self:
        return self if self._file is not None else self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _owner(file: int) -> str:
    """Return the pid in a lock file: an owner has the lock a moment before it has written its pid."""
    for _ in range(OWNER_ATTEMPTS):
        if owner := os.pread(file, PID_DIGITS_MAX, 0).decode("ascii", "replace").strip():
            return owner
        time.sleep(0.01)
    return "unknown"
