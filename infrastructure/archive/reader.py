"""Reading an archive: its days, and their events in parts that can be given to many processes or machines.

`Archive` reads manifests, and refuses an archive whose chain of days is broken; whether the files are what
the manifests say, and who signed them, is told by `infrastructure.archive.check`. A `Part` is a few values
that can be pickled; `read` needs nothing but it and the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from infrastructure.archive.layout import (
    CLOSING,
    CONTEXT,
    EVENTS,
    EXACT_DIGITS,
    MANIFEST,
    ONWARD,
    OPENING,
    ROW_GROUP,
    SEALED,
    Balance,
    StoredRow,
)
from infrastructure.archive.manifest import ArchiveError, Manifest, Sealed, decode, decode_sealed, sha256

MANIFEST_BYTES_MAX: Final = 65_536
SEALED_BYTES_MAX: Final = 1_048_576
"""Files that are read as a whole have a few kilobytes: whoever puts a larger one there fills no memory."""

_AT_ONCE: Final = 2_048
_ROW: Final = ["position", "stream", "version", "data"]


class Part(NamedTuple):
    """Consecutive events of one day: row groups `first_group` up to, without it, `end_group` of a file."""

    file: str
    day: str
    first_group: int
    end_group: int
    first_position: int
    last_position: int

    @property
    def rows(self) -> int:
        """How many events it has."""
        return self.last_position - self.first_position + 1


class Day(NamedTuple):
    """An archived day: its folder, its manifest, that manifest's bytes, and what the log says of it."""

    folder: Path
    manifest: Manifest
    stored: bytes
    sealed: Sealed


class Archive:
    """The archive in a folder, or a run of its days. Raises ArchiveError where the days are not a chain.

    `days` are in order, and empty where there is nothing yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            folders = sorted(each for each in path.iterdir() if each.is_dir() and each.name[0] != ".")
        except OSError as error:
            raise ArchiveError(f"there is no archive in {path} ({error.strerror})") from None
        self.days = [read_day(folder) for folder in folders]
        for before, day in zip(self.days, self.days[1:], strict=False):
            _require_next(before, day)

    @property
    def is_whole(self) -> bool:
        """Whether it begins with the ledger's first event, so that all balances begin at zero."""
        return bool(self.days) and self.days[0].manifest.first_position == 1

    def partitions(self, rows: int = ROW_GROUP, first: int = 1, last: int | None = None) -> list[Part]:
        """The events from position `first` to `last` in parts of about `rows`, in order.

        Parts are made of whole row groups: the first and last one may begin before and end after what was
        asked for. No part has events of two days.
        """
        groups = max(rows // ROW_GROUP, 1)
        parts = []
        for day in self.days:
            start, end = day.manifest.first_position, day.manifest.last_position
            count = -(-(end - start + 1) // ROW_GROUP)
            for group in range(0, count, groups):
                next_group = min(group + groups, count)
                part = Part(
                    str(day.folder / EVENTS),
                    day.manifest.day,
                    group,
                    next_group,
                    start + group * ROW_GROUP,
                    min(start + next_group * ROW_GROUP - 1, end),
                )
                if part.last_position >= first and (last is None or part.first_position <= last):
                    parts.append(part)
        return parts

    def opening(self, day: Day) -> Iterator[Balance]:
        """What was held before the day's first event. Raises ArchiveError."""
        return balances(day.folder / OPENING)

    def closing(self, day: Day) -> Iterator[Balance]:
        """What was held after the day's last event. Raises ArchiveError."""
        return balances(day.folder / CLOSING)

    def context(self, day: Day) -> list[StoredRow]:
        """Earlier events that the day's need, in the order of their positions. Raises ArchiveError."""
        return [*events(day.folder / CONTEXT)]


def read(part: Part) -> Iterator[StoredRow]:
    """The events of a part, a row group in memory at a time. Raises ArchiveError."""
    for batch in _batches(part.file, _ROW, range(part.first_group, part.end_group)):
        yield from _rows(batch)


def events(path: Path) -> Iterator[StoredRow]:
    """The rows of a whole file of events. Raises ArchiveError."""
    for batch in _batches(str(path), _ROW, None):
        yield from _rows(batch)


def balances(path: Path) -> Iterator[Balance]:
    """The rows of a file of balances. Raises ArchiveError."""
    names = list(Balance._fields)
    for batch in _batches(str(path), names, None):
        kinds, owners, currencies, classes, amounts, versions = (
            batch.column(name).to_pylist() for name in names
        )
        exact = (int(amount.scaleb(EXACT_DIGITS)) for amount in amounts)
        yield from map(Balance, kinds, owners, currencies, classes, exact, versions)


def _rows(batch: Any) -> Iterator[StoredRow]:
    """The rows of a row group, made of it as they are asked for: who takes them one by one holds but few."""
    for begin in range(0, batch.num_rows, _AT_ONCE):
        some = batch.slice(begin, _AT_ONCE)
        yield from zip(*(some.column(name).to_pylist() for name in _ROW), strict=True)


def _batches(path: str, names: list[str], groups: range | None) -> Iterator[Any]:
    """Row groups of a file with some of its columns."""
    try:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups) if groups is None else groups:
                yield file.read_row_group(group, columns=names, use_threads=False)
    except (OSError, pa.ArrowException, KeyError, IndexError) as error:
        reason = str(error).partition("\n")[0]
        raise ArchiveError(f"{path} cannot be read ({type(error).__name__}: {reason})") from error


def read_day(folder: Path) -> Day:
    """A day in its folder. Raises ArchiveError where it is none."""
    name = MANIFEST
    try:
        stored = read_whole(folder / name, MANIFEST_BYTES_MAX)
        manifest = decode(stored)
        name = SEALED
        sealed = decode_sealed(read_whole(folder / name, SEALED_BYTES_MAX))
    except OSError as error:
        raise ArchiveError(f"{folder.name}/{name} cannot be read ({error.strerror})") from None
    except ArchiveError as error:
        raise ArchiveError(f"{folder.name}/{name}: {error}") from None
    if manifest.day != folder.name:
        raise ArchiveError(f"the folder {folder.name} holds the day {manifest.day}")
    return Day(folder, manifest, stored, sealed)


def read_whole(path: Path, bytes_max: int) -> bytes:
    """A small file. Raises ArchiveError where it is larger, and OSError."""
    with path.open("rb") as file:
        data = file.read(bytes_max + 1)
    if len(data) > bytes_max:
        raise ArchiveError(f"it is larger than {bytes_max} bytes")
    return data


def _require_next(before: Day, day: Day) -> None:
    """Raise ArchiveError where a day does not follow on the one before."""
    earlier, later = before.manifest, day.manifest
    if later.first_position != earlier.last_position + 1:
        raise ArchiveError(
            f"{later.day} begins at position {later.first_position}, and {earlier.day} before it ends at "
            f"{earlier.last_position}: a day between them is missing, or one was exchanged"
        )
    if later.sequence != earlier.sequence + 1 or later.previous != sha256(before.stored):
        raise ArchiveError(
            f"the manifest of {later.day} (number {later.sequence}) does not follow on that of {earlier.day} "
            f"(number {earlier.sequence}): one of them is not the one that was exported"
        )
    if (
        later.files[OPENING].sha256 != earlier.files[CLOSING].sha256
        or later.files[CONTEXT].sha256 != earlier.files[ONWARD].sha256
        or later.log.before != earlier.log.after
    ):
        raise ArchiveError(f"{later.day} does not begin with what {earlier.day} ended with")
