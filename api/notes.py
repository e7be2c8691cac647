"""Free text that goes with a command: kept outside the log, which holds only its salted hash.

The salt follows from the command's id and a secret of the service, so that a command that is sent again has
the same one: where the service ended between a command's commit and the keeping of its note, the repeat keeps
it.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final, NamedTuple

from infrastructure.reading import Reading

SALT_BYTES: Final = 16
_PURPOSE: Final = b"stud-ledger/note-salt/1\x00"


class Note(NamedTuple):
    """A note with its salt; `sha256` (hex) is of the salt followed by the text in UTF-8."""

    sha256: str
    salt: bytes
    text: str


class Notes:
    """Makes notes and keeps them. `key` is a secret of the service."""

    def __init__(self, key: bytes, reading: Reading) -> None:
        self._key = key
        self._reading = reading

    def of(self, command_id: bytes, text: str) -> Note:
        """The note of a command."""
        salt = hmac.digest(self._key, _PURPOSE + command_id, "sha256")[:SALT_BYTES]
        return Note(hashlib.sha256(salt + text.encode()).hexdigest(), salt, text)

    async def keep(self, note: Note) -> None:
        """Keep the text; once is enough. Raises ReadingUnavailable."""
        await self._reading.keep_note(note.sha256, note.salt, note.text)
