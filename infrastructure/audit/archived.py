"""The events of an archive as a source of an audit: no database is needed, nor anything but the files."""

from __future__ import annotations

import base64
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow.compute as pc
import pyarrow.parquet as pq

from infrastructure.archive import reader
from infrastructure.archive.check import check
from infrastructure.archive.day import frontier_of
from infrastructure.archive.layout import EVENTS, MANIFEST, ONWARD
from infrastructure.archive.manifest import ArchiveError
from infrastructure.archive.reader import Archive, Day
from infrastructure.audit.prepare import Held, claims_of
from infrastructure.audit.report import Check, Report, Scope, Totals
from infrastructure.audit.results import Finding, Opening, StoredRow
from infrastructure.audit.run import Aside, Wanted
from infrastructure.audit.signed import Claim
from infrastructure.audit.source import published
from infrastructure.checking.exact import MINOR
from infrastructure.evidence.notes import Checkpoint, parse_vkey

_POOLS: Final = ("jackpot", "jackpot_overflow", "jackpot_diversion")


@dataclass(frozen=True, slots=True)
class ArchivedPart:
    """Row groups of a day's file, of which the positions behind `after` up to `up_to` are wanted."""

    part: reader.Part
    after: int
    up_to: int

    def rows(self) -> Iterator[StoredRow]:
        """Yield the events in order. Raises ArchiveError."""
        rows = reader.read(self.part)
        # What a file says of positions may be wrong: only where it is cut anything is left out.
        cut = self.part.first_position <= self.after or self.part.last_position > self.up_to
        return (row for row in rows if self.after < row[0] <= self.up_to) if cut else rows


class Archived:
    """An archive. `first` and `last` are the positions of its events. Raises ArchiveError, wherever it reads.

    Its days have to follow on each other.
    """

    kind: Final = "archive"

    def __init__(self, path: Path) -> None:
        self.archive = Archive(path)
        if not self.archive.days:
            raise ArchiveError(f"there is no day in {path}")
        self.first = self.archive.days[0].manifest.first_position
        self.last = self.archive.days[-1].manifest.last_position
        self._onward: list[StoredRow] | None = None

    def parts(self, after: int, up_to: int) -> Iterator[ArchivedPart]:
        """Yield the parts of a range, in order."""
        for part in self.archive.partitions(first=after + 1, last=up_to):
            yield ArchivedPart(part, max(after, part.first_position - 1), min(up_to, part.last_position))

    def rulesets(self) -> dict[str, bytes]:
        """The content of all rule sets that were published up to the end, by its SHA-256 (hex)."""
        return published(self.stream_events("ruleset"))

    def stream_events(self, kind: str) -> list[bytes]:
        """The events of all streams of a kind that is kept from day to day, in the order of positions."""
        if self._onward is None:
            self._onward = [*reader.events(self.archive.days[-1].folder / ONWARD)]
        return [data for _, stream, _, data in self._onward if stream.startswith(f"{kind}-")]

    def opening(self, after: int) -> Opening | None:
        """What was held behind a position: as recorded, where a day begins there; None at the beginning."""
        if not after:
            return None
        for day in self.archive.days:
            if day.manifest.first_position == after + 1:
                return self._opening(day)
        return Opening(after)

    def last_by(self, moment: str) -> int:
        """The last position recorded at or before a moment (UTC, six digits); `first` - 1 where none was."""
        days = self.archive.days
        number = bisect_right([day.manifest.first_time for day in days], moment) - 1
        if number < 0:
            return self.first - 1
        day = days[number]
        if day.manifest.last_time <= moment:
            return day.manifest.last_position
        column: Any = pq.read_table(day.folder / EVENTS, columns=["recorded_at"]).column(0)
        earlier = pc.sum(pc.less_equal(column, datetime.fromisoformat(moment))).as_py() or 0
        return day.manifest.first_position - 1 + int(earlier)

    def _opening(self, day: Day) -> Opening:
        wallets: dict[str, int] = {}
        pots: dict[str, list[int]] = {}
        for kind, owner, _, _, balance, _ in self.archive.opening(day):
            if kind == "wallet":
                wallets[owner] = balance // MINOR
            elif kind in _POOLS:
                pots.setdefault(owner, [0, 0, 0])[_POOLS.index(kind)] = balance
        pools = {name: (held[0], held[1], held[2]) for name, held in pots.items()}
        rounds: dict[str, list[StoredRow]] = {}
        for row in self.archive.context(day):
            if row[1].startswith("round-"):
                rounds.setdefault(row[1], []).append(row)
        after = day.manifest.first_position - 1
        return Opening(after, wallets, pools, rounds, frontier_of(after, day.manifest.log.before))


def of_archive(
    source: Archived,
    span: tuple[int, int],
    *,
    run_id: str,
    software: str,
    log_folder: Path | None = None,
    held: Held | None = None,
    with_files: bool = True,
) -> Wanted:
    """What is wanted of an archive; its manifests say what root the log had at the end of each day.

    `with_files`: the archive's files, its chain of days and its signatures are checked, too. Raises
    ArchiveError, LogUnavailable.
    """
    after, up_to = span
    held = held or Held()
    claims = claims_of(source.stream_events("log"), log_folder, held)
    for day in source.archive.days:
        manifest = day.manifest
        if after < manifest.last_position <= up_to:
            root = base64.b64decode(manifest.log.root)
            checkpoint = Checkpoint("", manifest.last_position, root)
            claims.claims.append(Claim(f"the manifest of {manifest.day}", checkpoint, ()))
    claims.not_checked += [
        Check(name, "not_checked", note="there is no database") for name in ("tables", "projections")
    ]
    return Wanted(
        run_id,
        after,
        up_to,
        software,
        claims=claims.claims,
        files=claims.files,
        asides=[Aside("archive", "events", check_files, _Files(source.archive.path, tuple(held.keys)))]
        if with_files
        else [],
        not_checked=claims.not_checked,
        found=claims.findings,
        log=claims.log,
    )


def broken(path: Path, problem: ArchiveError, *, run_id: str, software: str) -> Report:
    """The report on an archive whose days do not follow on each other: nothing else of it can be audited.

    Raises the problem where there is no archive at all.
    """
    if not any(path.glob(f"*/{MANIFEST}")):
        raise problem
    found = Finding(1, "archive.chain", "days that follow on each other", str(problem))
    return Report(
        run_id=run_id,
        scope=Scope("archive", 1, 1, "", ""),
        totals=Totals(0, 0, 0, 0, {}, {}, {}),
        checks=[Check("archive", "fail")],
        exceptions=[found],
        found=1,
        made_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=0.0,
        software=software,
    )


class _Files(NamedTuple):
    """An archive's folder, and the keys (as text) that are known from elsewhere."""

    path: Path
    keys: Sequence[str]


def check_files(task: _Files, tell: Callable[[int], None]) -> tuple[list[Finding], int]:
    """Check an archive's files, chain of days and signatures. Returns what is wrong, and how many events."""
    found = check(task.path, [parse_vkey(key) for key in task.keys], progress=lambda done, _: tell(done))
    return [Finding(1, "archive", "as it was exported", problem) for problem in found.problems], found.events
