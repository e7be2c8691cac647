"""Looking at a log's files, which its sealer in another process changes at any moment."""

from __future__ import annotations

from pathlib import Path
from typing import Final

LOOK_SECONDS: Final = 0.05
"""How long what a file said is believed before the file is looked at again."""


class LogUnavailable(RuntimeError):
    """What was asked for is not in the log's folder, or not readable there. The message is one line."""


def read_file(path: Path) -> bytes | None:
    """What a file holds; None where there is none. Raises LogUnavailable."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise LogUnavailable(f"{path} cannot be read: {error.strerror}") from error


def stamp_of(path: Path) -> tuple[int, ...]:
    """What changes whenever a file is put in another's place; nothing where there is none."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size
