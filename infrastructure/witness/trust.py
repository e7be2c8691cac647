"""Which logs a witness knows, and the keys each of them may sign with.

A log's key is named as the log itself: the checkpoints' origin is the key's name. After a log has changed its
key, both keys have the same name, and a witness knows both.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from infrastructure.evidence.notes import ED25519, NoteError, Verifier, parse_vkey

KEYS_BYTES_MAX: Final = 64 * 1024


class KnownLogs:
    """The logs that were named, and those whose keys lie in a folder on this machine.

    Each of `vkeys` may be several, on lines of their own: so a log tells its keys, old and new.

    `folder` holds a folder for each log with a file `keys`, a key on each line. It is looked at anew every
    time, as the log that is kept there changes its keys without telling us.
    """

    def __init__(self, vkeys: Iterable[str], folder: Path | None = None) -> None:
        """Raises NoteError where a key is not a log's."""
        self._named = [_log_key(vkey) for text in vkeys for vkey in text.split()]
        self._folder = folder

    def __call__(self, origin: str) -> list[Verifier]:
        """Return the keys of a log, none where it is not known."""
        return [each for each in [*self._named, *self._found()] if each.name == origin]

    def _found(self) -> list[Verifier]:
        if self._folder is None:
            return []
        found = []
        for path in sorted(self._folder.glob("*/keys")):
            lines: list[str] = []
            with suppress(OSError), path.open(encoding="ascii", errors="replace") as file:
                lines = file.read(KEYS_BYTES_MAX).splitlines()
            for line in lines:
                with suppress(NoteError):
                    found.append(_log_key(line))
        return found


def _log_key(vkey: str) -> Verifier:
    verifier = parse_vkey(vkey.strip())
    if verifier.algorithm != ED25519:
        raise NoteError("the key is not a log's: ask the ledger for its /log/key")
    return verifier
