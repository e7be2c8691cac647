"""A ledger in memory that is sealed into a folder, and a disk that dies and forgets what was not synced."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from pathlib import Path

from domain.commands import HaltLog
from domain.registers import LogState
from infrastructure.evidence import folder, merkle
from infrastructure.evidence.events import Row
from infrastructure.evidence.files import TEMPORARY, Disk
from infrastructure.evidence.folder import CHECKPOINT, Generation
from infrastructure.evidence.notes import Checkpoint, Signer, parse_checkpoint, parse_note, parse_vkey, verify
from infrastructure.evidence.sealing import Sealing
from infrastructure.evidence.witnesses import Witnesses
from infrastructure.keys import KeysError


class Died(Exception):
    """The process was killed here."""


class DyingDisk(Disk):
    """Writes like a disk, up to the operation at which the process dies; `operations` counts them.

    `published` is told what is put where everybody reads it.
    `cut` is what the machine's stop does to what was not synced: each such change is there or is not.
    """

    def __init__(
        self, dies_at: int | None = None, published: Callable[[Checkpoint], object] = lambda _: None
    ) -> None:
        super().__init__()
        self.close()
        self.published = published
        self.dies_at = dies_at
        self.operations = 0
        self._unsynced: dict[Path, list[tuple[Path, bytes | None]]] = {}

    def put_all(self, contents: Iterable[tuple[Path, bytes]]) -> None:
        """Put files in their places, one by one."""
        for path, data in contents:
            self.put(path, data)

    def put(self, path: Path, data: bytes) -> None:
        """Put a file in its place, or die with half of it written under another name."""
        self._count(lambda: path.with_name(path.name + TEMPORARY).write_bytes(data[: len(data) // 2]))
        if path.name == CHECKPOINT:
            self.published(parse_checkpoint(parse_note(data).text))
        before = path.read_bytes() if path.exists() else None
        self._unsynced.setdefault(path.parent, []).append((path, before))
        path.write_bytes(data)

    def sync(self, folder: Path) -> None:
        """Make what stands in a folder durable."""
        self._count()
        self._unsynced.pop(folder, None)

    def make_folder(self, folder: Path, below: Path) -> None:
        """Make a folder."""
        if not folder.is_dir():
            self._count()
            super().make_folder(folder, below)

    def remove(self, path: Path) -> None:
        """Take something away."""
        if path.exists():
            self._count()
            super().remove(path)

    def cut(self, rng: random.Random) -> None:
        """Stop the machine."""
        for changes in self._unsynced.values():
            kept = rng.randrange(len(changes) + 1)
            for path, before in reversed(changes[kept:]):
                if before is None:
                    path.unlink(missing_ok=True)
                else:
                    path.write_bytes(before)
        self._unsynced.clear()

    def _count(self, half: object = None) -> None:
        self.operations += 1
        if self.operations == self.dies_at:
            if callable(half):
                half()
            raise Died


@dataclass
class Ledger:
    """A ledger's events, as many as there are, and its log: an `Events` and a `Telling`."""

    folder: Path
    rows: list[Row] = field(default_factory=list)
    unfinished: set[str] = field(default_factory=set)
    state: LogState = field(default_factory=LogState)
    signers: dict[str, Signer] = field(default_factory=dict)
    signed: dict[str, list[Row]] = field(default_factory=dict)
    alarms: dict[str, tuple[int, str]] = field(default_factory=dict)
    halts: list[HaltLog] = field(default_factory=list)
    taken_out: int = 0
    slice_max: int = 1_000
    may_be_restored: bool = False

    def __post_init__(self) -> None:
        """Start the first log."""
        self.start_log(1)

    # ── What is done to it ──────────────────────────────────────────────────────────────────────────────────
    def start_log(self, generation: int) -> None:
        """Begin a log, as two people would."""
        origin = f"stud-ledger/0123456789abcdef/{generation}"
        folder.begin(self.folder, generation)
        self.state = LogState(generation, origin, [self._key(origin, generation)])

    def restore(self, position: int) -> None:
        """Put the events back to how they were at a position."""
        del self.rows[position:]

    def rotate(self, seed: int) -> None:
        """Let another key sign."""
        self.state.keys.insert(0, self._key(self.state.origin, seed))

    def append(self, count: int, stream: str = "other") -> None:
        """Add events; each is told apart from all others that ever stood at its position."""
        for _ in range(count):
            position = len(self.rows) + 1
            self.rows.append((position, stream, f"{position}:{random.random()}".encode()))

    def sealing(self, disk: Disk | None = None, events_max: int = 5_000) -> Sealing:
        """Return a process's sealing."""
        return Sealing(
            self, self.folder, partial(_Recording, self), Witnesses(()), self, disk or DyingDisk(), events_max
        )

    # ── Events ──────────────────────────────────────────────────────────────────────────────────────────────
    def log(self) -> LogState:
        """What the ledger says of its log."""
        return self.state

    def starting(self, position: int, limit: int) -> Sequence[Row]:
        """The events in a range of positions."""
        end = position + min(limit, self.slice_max)
        first, last = (bisect_left(self.rows, at, key=itemgetter(0)) for at in (position, end))
        return self.rows[first:last]

    def position(self) -> int:
        """The last position."""
        return self.rows[-1][0] if self.rows else 0

    def horizon(self) -> int:
        """How many events were taken out."""
        return self.taken_out

    def open_rounds(self) -> set[str]:
        """The unfinished rounds."""
        return set(self.unfinished)

    # ── Telling ─────────────────────────────────────────────────────────────────────────────────────────────
    def alarm(self, name: str, position: int, detail: str) -> None:
        """Remember an alarm."""
        self.alarms[name] = (position, detail)

    def ended(self, name: str) -> None:
        """Forget an alarm."""
        self.alarms.pop(name, None)

    def halt(self, command: HaltLog) -> None:
        """Halt the ledger."""
        self.halts.append(command)
        self.state.halted = command.reason

    # ── What others see ─────────────────────────────────────────────────────────────────────────────────────
    @property
    def generation(self) -> Generation:
        """The log, read anew."""
        return Generation(self.folder / str(self.state.generation))

    def root(self, size: int) -> bytes:
        """The root of its first events."""
        return self.root_of(self.rows[:size])

    @staticmethod
    def root_of(rows: Sequence[Row]) -> bytes:
        """The root of some events."""
        return merkle.root_of(merkle.leaf_hashes(row[2] for row in rows))

    def verify(self) -> int:
        """Check the published log as a stranger with the keys would, tiles and bundles; return its size."""
        generation = self.generation
        note = generation.note()
        if note is None:
            return 0
        parsed = parse_note(note)
        verify(parsed, map(parse_vkey, generation.keys()))
        checkpoint = parse_checkpoint(parsed.text)
        assert checkpoint.origin == self.state.origin
        assert checkpoint.root == self.root(checkpoint.size) == generation.root(checkpoint.size)
        for index in {0, checkpoint.size // 2, checkpoint.size - 1}:
            proof = generation.inclusion(index, checkpoint.size)
            leaf = merkle.leaf_hash(self.rows[index][2])
            assert merkle.verify_inclusion(leaf, index, checkpoint.size, proof, checkpoint.root)
        return checkpoint.size

    def hold_to_what_was_signed(self, checkpoint: Checkpoint) -> None:
        """Fail where a tree is signed that is not these events', or does not go on with the one before."""
        assert checkpoint.root == self.root(checkpoint.size)
        if self.may_be_restored:  # then what was signed counts from when it was on disk
            return
        before = self.signed.get(checkpoint.origin, [])
        assert before == self.rows[: len(before)]
        assert len(before) <= checkpoint.size
        self.signed[checkpoint.origin] = self.rows[: checkpoint.size]

    def _key(self, origin: str, seed: int) -> str:
        signer = Signer.from_seed(origin, seed.to_bytes(32, "big"))
        self.signers[signer.verifier.vkey] = signer
        return signer.verifier.vkey


class _Recording(Signer):
    """A key that holds every tree it signs against those that were signed before."""

    def __init__(self, ledger: Ledger, vkey: str) -> None:
        if vkey not in ledger.signers:
            raise KeysError("the key is missing")
        signer = ledger.signers[vkey]
        super().__init__(signer.name, signer.private)
        object.__setattr__(self, "ledger", ledger)

    def sign(self, text: str) -> str:
        """Sign, if that may be."""
        self.ledger.hold_to_what_was_signed(parse_checkpoint(text))  # type: ignore[attr-defined]
        return super().sign(text)
