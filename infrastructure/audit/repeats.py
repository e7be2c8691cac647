"""Rounds that are in a ledger twice: one stream, two beginnings, each of them a whole round that derives.

No round by itself shows that. So the place of every round is noted in temporary files, by a hash of its
stream: 16 bytes a round, and at the end those of one hash's first digit in memory at a time.
"""

from __future__ import annotations

import struct
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import IO, Final

_NOTED: Final = struct.Struct("=8sQ")
_PLACE: Final = struct.Struct("=QQ")
_FILES: Final = 16


def place(stream: str, position: int) -> bytes:
    """The place of a round, as it is noted: 64 bits of a hash of its stream, and a position in it."""
    return _NOTED.pack(sha256(stream.encode()).digest(), position)


class Repeats:
    """The places of rounds. `close` lets go of the files."""

    def __init__(self) -> None:
        self._files: list[IO[bytes]] = []

    def close(self) -> None:
        """Let go of the files."""
        for file in self._files:
            file.close()
        self._files = []

    def note(self, places: bytes | bytearray) -> None:
        """Note places, each as `place` gives it, one behind the other."""
        if places and not self._files:
            # They are closed with the object, whose life is not that of a block.
            self._files = [tempfile.TemporaryFile() for _ in range(_FILES)]  # noqa: SIM115
        for hashed, position in _PLACE.iter_unpack(places):
            self._files[hashed % _FILES].write(_PLACE.pack(hashed, position))

    def found(self) -> Iterator[tuple[int, int]]:
        """Yield each place that is a round's once more, and its first place."""
        for file in self._files:
            file.seek(0)
            noted = array("Q", file.read())
            hashes = noted[::2]
            if len(set(hashes)) < len(hashes):
                yield from _again(zip(hashes, noted[1::2], strict=True))


def _again(places: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    first: dict[int, int] = {}
    for hashed, position in places:
        known = first.setdefault(hashed, position)
        if known != position:
            yield position, known
