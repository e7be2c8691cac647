"""Archives of ledgers in memory, cut into days wherever a test likes, and a log that has sealed all of it."""

from __future__ import annotations

import functools
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

from infrastructure.archive.due import DueDay
from infrastructure.archive.export import export_day, open_archive
from infrastructure.archive.manifest import ArchiveError, Sealed
from infrastructure.archive.reader import Archive
from infrastructure.evidence.merkle import consistency_proof, leaf_hash, root_of
from infrastructure.evidence.notes import Checkpoint, Signer, write_note
from infrastructure.ledger.memory import MemoryLedger
from infrastructure.projections.source import MemorySource
from tests.unit.infrastructure.eventful_play import eventful

ORIGIN = "stud-ledger/5e1f/1"
FIRST_DAY = date(2026, 10, 2)


@dataclass
class OwnSeal:
    """The log of a ledger in memory: it has sealed everything, and is asked for the tree of any size."""

    ledger: MemoryLedger
    signer: Signer = field(default_factory=lambda: Signer.from_seed(ORIGIN, b"s" * 32))

    def prove(self, size: int, root: bytes) -> Sealed:
        """Show that the first `size` events have this root. Raises ArchiveError where they do not."""
        leaves = self._leaves
        if root_of(leaves[:size]) != root:
            raise ArchiveError("the events are not those that were sealed")
        checkpoint = Checkpoint(ORIGIN, len(leaves), root_of(leaves))
        proof = consistency_proof(
            size,
            len(leaves),
            lambda level, index: root_of(leaves[index << level : (index + 1) << level]),
        )
        note = write_note(checkpoint.body(), [self.signer.sign(checkpoint.body())])
        return Sealed(
            note.decode(),
            tuple(b64encode(each).decode() for each in proof),
            (self.signer.verifier.vkey,),
        )

    def sign(self, text: str) -> bytes:
        """A signed note of a text."""
        return write_note(text, [self.signer.sign(text)])

    @functools.cached_property
    def _leaves(self) -> list[bytes]:
        return [leaf_hash(row.data) for row in self.ledger.events]


@functools.cache
def lively(seed: int = 3) -> MemoryLedger:
    """A ledger on which everything has happened. Do not write to it."""
    return eventful(seed)


def cut(ledger: MemoryLedger, ends: Iterable[int]) -> list[DueDay]:
    """The days of a ledger that end at these positions, and one more with the rest."""
    days = []
    first = 1
    for number, last in enumerate([*ends, ledger.position]):
        days.append(DueDay((FIRST_DAY + timedelta(days=number)).isoformat(), first, last))
        first = last + 1
    return days


def archive(
    target: Path,
    ledger: MemoryLedger,
    ends: Iterable[int],
    *,
    seal: OwnSeal | None = None,
    only: int | None = None,
) -> Archive:
    """Export the days that `target` does not have yet, or `only` so many of them all.

    `ends` are the positions that days end at.
    """
    found = open_archive(target)
    for due in cut(ledger, ends)[len(found.days) : only]:
        export_day(found, due, MemorySource(ledger), seal or OwnSeal(ledger))
    return found


def contents(target: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path."""
    return {str(path.relative_to(target)): path.read_bytes() for path in target.rglob("*") if path.is_file()}
