"""What each tool finds in a tampered copy, and where it says that it is.

A tool here is what stands behind its command: the same function, in this process. All of them know the log's
key from elsewhere, those in `OUTSIDE` something that was kept, too.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import psycopg
from eventsourcing.persistence import PersistenceError

from api.cli.check import guards
from api.log.checkpoints import newest_note
from api.play.evidence import evidence
from domain.commands import HaltLog
from domain.round import IllegalTransition
from infrastructure import log_keys
from infrastructure.archive.check import check, known_from
from infrastructure.archive.manifest import ArchiveError
from infrastructure.audit.prepare import Held
from infrastructure.audit.rebuilt import check_projections
from infrastructure.audit.results import Finding
from infrastructure.checking import full
from infrastructure.evidence.events import PostgresEvents
from infrastructure.evidence.files import Disk
from infrastructure.evidence.folder import LogFolder
from infrastructure.evidence.merkle import TILE_WIDTH
from infrastructure.evidence.notes import parse_checkpoint, parse_note, parse_vkey
from infrastructure.evidence.sealing import Sealing
from infrastructure.evidence.unavailable import LogUnavailable
from infrastructure.evidence.witnesses import Witnesses
from infrastructure.reading import Reading
from infrastructure.witness.state import State
from infrastructure.witness.trust import KnownLogs
from infrastructure.witness.witness import Asked, RefusedError, Witness
from tests.integration.audited_ledger import Audited
from tests.integration.checked_ledger import SCHEMA
from tests.integration.tamper.story import Kept
from tests.unit.scripts.verifier import verify

KEPT: Final = "kept.note"
PARTITION: Final = 1_000
NOT_HANDED_OUT: Final = (LogUnavailable, PersistenceError, IllegalTransition, LookupError, ValueError)


class Hit(NamedTuple):
    """Something a tool says is wrong. `position` is None where it names none."""

    position: int | None
    text: str


@dataclass(frozen=True)
class Scene:
    """A ledger to look at, tampered with or not: where it is, what of it was kept, and a folder for scraps.

    `round_id` is the round whose evidence somebody asks for.
    """

    place: Audited
    kept: Kept
    round_id: str
    scraps: Path

    # ── The operator's own ──────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def checked(self) -> list[Hit]:
        """`scripts/check`."""
        report = full.check(self._connect, SCHEMA, lambda *_: None)
        found = [*guards(self.place.app), *report.findings]
        return [Hit(each.position, f"table.{each.name} {each.detail}") for each in found]

    def audited(self) -> list[Hit]:
        """`scripts/audit`, which has the tables compared by the code of `scripts/check`."""
        projected, _ = check_projections((self.place.admin, SCHEMA), lambda _: None)
        return [*_without_kept(self._audit), *self.checked, *_hits(projected)]

    def archive_audited(self) -> list[Hit]:
        """`scripts/audit --archive`."""
        return _without_kept(self._archive_audit)

    def archive_verified(self) -> list[Hit]:
        """`scripts/archive --verify`."""
        return self._archive_check

    def sealed(self) -> list[Hit]:
        """The sealer: its alarms, and what it halts the ledger for."""
        heard, compared = _Heard([]), 0
        log = Path(shutil.copytree(self.place.log, self.scraps / "log", dirs_exist_ok=True))
        disk = Disk()
        with psycopg.connect(self.place.app, autocommit=True) as connection:
            sealing = Sealing(
                PostgresEvents(connection, SCHEMA),
                log,
                lambda vkey: log_keys.load_for(self.place.keys, vkey),
                Witnesses([]),
                heard,
                disk,
            )
            while compared * TILE_WIDTH <= sealing.size:  # a tile in each turn, at least
                sealing.turn()
                compared += 1
                if heard.hits or sealing._open is None:
                    break
                sealing._open.comparing._not_before = 0.0  # with no pause between
        disk.close()
        return heard.hits

    def verified(self) -> list[Hit]:
        """`verify.py FILE`."""
        return self._verified()

    def meter_verified(self) -> list[Hit]:
        """`verify.py FILE --jackpot DIR`."""
        return self._verified(jackpot=self.place.log)

    # ── With what was kept elsewhere ────────────────────────────────────────────────────────────────────────
    def verified_since(self) -> list[Hit]:
        """`verify.py FILE --since CHECKPOINT`."""
        return self._verified(since=self.kept.checkpoint.decode())

    def verified_witnessed(self) -> list[Hit]:
        """`verify.py FILE --witness VKEY`."""
        return self._verified(witness=[self.kept.witness_key])

    def audited_against(self) -> list[Hit]:
        """`scripts/audit --checkpoint FILE`."""
        return self._audit

    def archive_audited_against(self) -> list[Hit]:
        """`scripts/audit --archive --checkpoint FILE`."""
        return self._archive_audit

    def archive_verified_against(self) -> list[Hit]:
        """`scripts/archive --verify --saved FILE`."""
        found = check(self.place.archive, [parse_vkey(self.kept.key)], [known_from(self.kept.manifest)])
        return [Hit(None, problem) for problem in found.problems]

    def witnessed(self) -> list[Hit]:
        """A witness, shown the newest checkpoint as the sealer shows it."""
        folder = shutil.copytree(self.kept.witness, self.scraps / "witness", dirs_exist_ok=True)
        log = LogFolder(self.place.log)
        with State.open(Path(folder)) as state:
            witness = Witness(state, KnownLogs([self.kept.key]), lambda: 1_797_000_000.0, lambda _: None)
            try:
                note = parse_note(log.note() or b"")
                checkpoint = parse_checkpoint(note.text)
                last = witness.last(checkpoint.origin)
                old = 0 if last is None else last.size
                if old > checkpoint.size:
                    return [Hit(checkpoint.size + 1, f"it has signed a tree of {old} leaves")]
                witness.cosign(Asked(old, log.consistency(old, checkpoint.size), note, checkpoint))
            except (RefusedError, LogUnavailable, ValueError) as refused:
                return [Hit(None, str(refused))]
        return []

    def proves(self, step: str) -> bool:
        """Whether the verifier passes a step, with a copy of the log."""
        asked = argparse.Namespace(key=[self.kept.key], witness=[], since="", jackpot=self.place.log)
        case = verify.examine(self._evidence_now, asked)
        return bool(case.result(step) == "PASS")

    # ── How ─────────────────────────────────────────────────────────────────────────────────────────────────
    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(self.place.admin, autocommit=True)

    @cached_property
    def _held(self) -> Held:
        return Held([(KEPT, self.kept.checkpoint)], keys=[self.kept.key])

    @cached_property
    def _audit(self) -> list[Hit]:
        return _hits(self.place.of_database(held=self._held, partition=PARTITION).exceptions)

    @cached_property
    def _archive_audit(self) -> list[Hit]:
        try:
            report = self.place.of_archive(held=self._held)
        except ArchiveError as refused:
            return [Hit(None, str(refused))]
        return [*_hits(report.exceptions), *self._archive_check]

    @cached_property
    def _archive_check(self) -> list[Hit]:
        found = check(self.place.archive, [parse_vkey(self.kept.key)])
        return [Hit(None, problem) for problem in found.problems]

    def _verified(
        self, *, since: str = "", witness: list[str] | None = None, jackpot: Path | None = None
    ) -> list[Hit]:
        """Have the round's evidence made as it is served now, and verify it. None to be had is a finding."""
        asked = argparse.Namespace(key=[self.kept.key], witness=witness or [], since=since, jackpot=jackpot)
        try:
            file = self._evidence_since_kept if since else self._evidence_now
        except NOT_HANDED_OUT as refused:
            return [Hit(None, f"no evidence: {refused}")]
        case = verify.examine(file, asked)
        if len(case.faults["log.inclusion"]) == len(case.events):  # which tells nothing of any of them
            case.faults["log.inclusion"] = [("all", "in the log", "not in the log")]
        hits = [
            Hit(None, f"{step} {where}: {must} {found}")
            for step, faults in case.faults.items()
            for where, must, found in faults
        ]
        return [*hits, Hit(None, case.unusable)] if case.unusable else hits

    @cached_property
    def _evidence_now(self) -> bytes:
        return asyncio.run(self._evidence(None))

    @cached_property
    def _evidence_since_kept(self) -> bytes:
        return asyncio.run(self._evidence(self.kept.size))

    async def _evidence(self, since: int | None) -> bytes:
        reading = Reading(self.place.app, SCHEMA, connections_max=1)
        await reading.open()
        try:
            found = await reading.round(self.round_id)
            if found is None:
                raise LookupError("there is no such round")
            stored = await reading.events(self.round_id)
        finally:
            await reading.close()
        log = LogFolder(self.place.log).current
        last = verify.json.loads(stored[-1])["position"]
        note = None if log is None else newest_note(log, max(last, since or 0))
        if log is None or note is None:
            raise LogUnavailable("the log has not signed so many events")
        return evidence(found, stored, None, log, note, since)


@dataclass
class _Heard:
    """A `Telling` that remembers; a halt names the last position on which ledger and log agree."""

    hits: list[Hit]

    def alarm(self, name: str, position: int, detail: str) -> None:
        """Remember an alarm."""
        self.hits.append(Hit(position, f"{name} {detail}"))

    def ended(self, name: str) -> None:
        """Nothing is raised before it begins."""

    def halt(self, command: HaltLog) -> None:
        """Remember a halt."""
        self.hits.append(Hit(command.position + 1, f"halted: {command.reason}"))


def _without_kept(hits: list[Hit]) -> list[Hit]:
    """What an audit finds that is not given the checkpoint: one that is adds findings that name it."""
    return [hit for hit in hits if KEPT not in hit.text]


def _hits(findings: list[Finding] | tuple[Finding, ...]) -> list[Hit]:
    return [Hit(each.position, f"{each.what} {each.expected} {each.found}") for each in findings]


class Tool(NamedTuple):
    """A tool: of the database and the folders, what it reads, and how it looks."""

    reads: frozenset[str]
    look: Callable[[Scene], list[Hit]]


_DATABASE: Final = frozenset(("database",))
_LOG: Final = frozenset(("log",))
_ARCHIVE: Final = frozenset(("archive",))
_KEYS: Final = frozenset(("keys",))

INSIDE: Final = {
    "`check`": Tool(_DATABASE, lambda scene: scene.checked),
    "`audit`": Tool(_DATABASE | _LOG, Scene.audited),
    "`audit --archive`": Tool(_ARCHIVE, Scene.archive_audited),
    "`archive --verify`": Tool(_ARCHIVE, Scene.archive_verified),
    "sealer": Tool(_DATABASE | _LOG | _KEYS, Scene.sealed),
    "`verify.py`": Tool(_DATABASE | _LOG, Scene.verified),
    "`verify.py --jackpot`": Tool(_DATABASE | _LOG, Scene.meter_verified),
}
"""What needs nothing but the log's key."""
OUTSIDE: Final = {
    "`verify.py --since`": Tool(_DATABASE | _LOG, Scene.verified_since),
    "`verify.py --witness`": Tool(_DATABASE | _LOG, Scene.verified_witnessed),
    "witness": Tool(_LOG, Scene.witnessed),
    "`audit --checkpoint`": Tool(_DATABASE | _LOG, Scene.audited_against),
    "`audit --archive --checkpoint`": Tool(_ARCHIVE, Scene.archive_audited_against),
    "`archive --verify --saved`": Tool(_ARCHIVE, Scene.archive_verified_against),
}
"""What needs something that was kept where no insider reaches it."""
TOOLS: Final = INSIDE | OUTSIDE
