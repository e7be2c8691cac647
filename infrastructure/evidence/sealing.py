"""Sealing one ledger: following its events, signing what they are, and saying so when they are others.

Everything is asked of `Events` and written by `SealedLog`; what is told (alarms, the halt) goes to `Telling`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

from domain.commands import HaltLog
from domain.events.evidence import HaltReason
from domain.registers import LogState
from infrastructure.evidence import merkle
from infrastructure.evidence.bundles import Bundles
from infrastructure.evidence.comparing import Comparing, Disagreement
from infrastructure.evidence.events import Events, are_in_order
from infrastructure.evidence.files import Disk
from infrastructure.evidence.folder import Generation, Head
from infrastructure.evidence.notes import Signer
from infrastructure.evidence.sealed import LogAhead, LogLost, SealedLog, TilesDamaged
from infrastructure.evidence.unavailable import LogUnavailable
from infrastructure.evidence.witnesses import Witnesses
from infrastructure.keys import KeysError

EVENTS_MAX: Final = 16_384
"""How many events are sealed in one turn; fewer where they are long."""
MANY_EVENTS: Final = 500
"""Where so many were waiting, more are likely to wait already."""

OFFER_SECONDS: Final = 2.0
"""How long a checkpoint that not all witnesses have signed waits to be offered again."""

BEHIND: Final = "log_behind"
DIFFERS: Final = "log_differs"
LOST: Final = "log_lost"
STUCK: Final = "log_stuck"
TILES: Final = "log_tiles"
WITNESS: Final = "log_witness"
BESIDE_THE_LEDGER: Final = frozenset({STUCK, TILES, WITNESS})
"""Alarms that say nothing against the ledger: it can go on being played."""
ALARMS: Final = (BEHIND, DIFFERS, LOST, STUCK, TILES, WITNESS)


class Telling(Protocol):
    """Where a sealer says what is wrong."""

    def alarm(self, name: str, position: int, detail: str) -> None:
        """Raise an alarm, or let it go on."""
        ...

    def ended(self, name: str) -> None:
        """End an alarm that is raised."""
        ...

    def halt(self, command: HaltLog) -> None:
        """Halt the ledger."""
        ...


@dataclass(slots=True)
class _Open:
    """The log that is being sealed. `cosigned` and `signatures`: of what witnesses were published."""

    log: SealedLog
    comparing: Comparing
    bundles: Bundles
    cosigned: int = 0
    signatures: tuple[int, int] = (0, 0)
    offered_at: float = 0.0


@dataclass(slots=True)
class Sealing:
    """The sealing of one ledger. Not thread safe.

    `sign_as` gives the key of a verifier key; it raises KeysError where that is not to be had.
    """

    events: Events
    folder: Path
    sign_as: Callable[[str], Signer]
    witnesses: Witnesses
    telling: Telling
    disk: Disk
    events_max: int = EVENTS_MAX
    _open: _Open | None = field(init=False, default=None)
    _head: Head | None = field(init=False, default=None)
    _raised: set[str] = field(init=False, default_factory=lambda: set(ALARMS))

    @property
    def size(self) -> int:
        """How many events are sealed."""
        return self._open.log.size if self._open is not None else 0

    def turn(self) -> bool:
        """Seal what there is, up to a bound; return whether there is more to do at once.

        What is wrong is told. Raises what reading the events, and telling, raise.
        """
        state = self.events.log()
        if not state.generation or state.halted is not None:
            self._open = None
            return False
        opened, self._open = self._open, None  # after any error the folder is read again
        try:
            if opened is None or opened.log.number != state.generation:
                opened = self._opened(state)
            more = self._seal(opened, state)
            more = opened.bundles.write() or more
            opened.comparing.go_on()
            self._take_cosignatures(opened)
        except Disagreement as problem:
            self._halt(state, problem.reason, problem.position, str(problem))
        except LogAhead as problem:
            self._head = problem.head
            self._halt(state, "behind", self.events.position(), str(problem))
        except LogLost as problem:
            self._halt(state, "lost", self.events.position(), str(problem))
        except (KeysError, LogUnavailable, OSError) as problem:
            self._alarm(STUCK, self.events.position(), str(problem))
        else:
            self._open = opened
            self._end(STUCK)
            return more
        return False

    def _opened(self, state: LogState) -> _Open:
        """The log that the ledger names, compared with the ledger before it is gone on with."""
        log = SealedLog(self.folder, state.generation, state.origin, self.disk)
        comparing = Comparing(self.events, log, self._repaired)
        self._head = None
        log.load_head()
        self._head = log.head
        if self.events.position() < log.size:
            raise comparing.disagree("the ledger has fewer events than were sealed")
        log.require_signed(state.keys)  # a ledger of before its last key's event is behind, and not lost
        if self.events.horizon() > log.size:
            raise LogUnavailable("events that the log needs were taken out: attach their partitions again")
        self._end(TILES)
        try:
            log.load_edge()
        except TilesDamaged:
            comparing.rebuild()
            log.load_edge()
        comparing.begin()
        log.publish_head()
        for name in (BEHIND, DIFFERS, LOST):
            self._end(name)
        return _Open(log, comparing, Bundles(self.events, log, comparing.compare))

    def _seal(self, opened: _Open, state: LogState) -> bool:
        """Seal the next events.

        The last sealed one is read with them: so a ledger that was put back is seen before it grows again.
        """
        log = opened.log
        last = self.events.position()
        rows = self.events.starting(max(log.size, 1), self.events_max)
        if log.size:
            if not rows or rows[0][0] != log.size or merkle.leaf_hash(rows[0][2]) != log.last_leaf:
                raise opened.comparing.disagree("the last event that was sealed is gone or another")
            rows = rows[1:]
        if not are_in_order(rows, log.size + 1) or (last > log.size and not rows):
            raise opened.comparing.disagree("an event is missing before one that is there")
        if not rows:
            return False
        signer = self.sign_as(state.vkey)
        log.write_keys(state.keys)
        self._head = log.seal(merkle.leaf_hashes(row[2] for row in rows), signer)
        opened.bundles.sealed(rows)
        opened.offered_at = 0.0
        return len(rows) >= min(self.events_max - 1, MANY_EVENTS)

    def _take_cosignatures(self, opened: _Open) -> None:
        """Publish what witnesses have signed since the last turn, and ask those that have not."""
        log = opened.log
        best = self.witnesses.newest()
        if (
            best is not None
            and best.checkpoint.origin == log.origin
            and best.checkpoint.size > opened.cosigned
        ):
            log.publish_cosigned(best.note, by_all=True)
            opened.cosigned, opened.signatures = (
                best.checkpoint.size,
                (best.checkpoint.size, len(best.witnesses)),
            )
        some = self.witnesses.newest(at_least=1)
        if some is not None and some.checkpoint.origin == log.origin:
            signatures = (some.checkpoint.size, len(some.witnesses))
            if signatures > opened.signatures and some.checkpoint.size == log.size:
                log.publish_cosigned(some.note, by_all=False)
                opened.signatures = signatures
        now = time.monotonic()
        if log.head is not None and opened.cosigned < log.size and now - opened.offered_at > OFFER_SECONDS:
            self.witnesses.offer(log.head.note, log.reader.consistency)
            opened.offered_at = now
        alarmed = [f"{each.name}: {each.problem}" for each in self.witnesses.standing() if each.alarm]
        if alarmed:
            self._alarm(WITNESS, log.size, "; ".join(alarmed))
        else:
            self._end(WITNESS)

    # ── What is wrong ───────────────────────────────────────────────────────────────────────────────────────
    def _halt(self, state: LogState, reason: HaltReason, position: int, detail: str) -> None:
        self._alarm(f"log_{reason}", position + 1, detail)
        command = HaltLog(state.generation, reason, position)
        if self._head is not None:
            checkpoint = self._head.checkpoint
            command = replace(command, size=checkpoint.size, root=checkpoint.root_text)
            if self._head.generation != state.generation:
                keys = Generation(self.folder / str(self._head.generation)).keys()
                command = replace(command, origin=checkpoint.origin, vkey=next(iter(keys), None))
        self.telling.halt(command)

    def _repaired(self, position: int) -> None:
        self._alarm(TILES, position, "files of the log were damaged and were written again from the events")

    def _alarm(self, name: str, position: int, detail: str) -> None:
        self._raised.add(name)
        self.telling.alarm(name, position, detail)

    def _end(self, name: str) -> None:
        if name in self._raised:
            self._raised.remove(name)
            self.telling.ended(name)
