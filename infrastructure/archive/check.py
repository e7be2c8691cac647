"""Whether an archive is whole and genuine: chain, signatures, files, and the log's tree over all its events.

Nothing but the folder is needed for that. That its last days were not taken away can only be told by somebody
who knew them: by what the ledger recorded, or by a manifest's signature that was kept elsewhere (`Known`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from infrastructure.archive import manifest as manifests
from infrastructure.archive.day import frontier_of, hashes_of
from infrastructure.archive.layout import CONTEXT, EVENTS, SEALED, SIGNATURE
from infrastructure.archive.manifest import FORMAT, ArchiveError, hash_from, hash_text
from infrastructure.archive.reader import Archive, Day, events, read_whole
from infrastructure.evidence.merkle import leaf_hashes, verify_consistency
from infrastructure.evidence.notes import (
    NOTE_BYTES_MAX,
    Checkpoint,
    NoteError,
    Verifier,
    parse_checkpoint,
    parse_note,
    parse_vkey,
    verify,
)

PROBLEMS_MAX: Final = 100
_BATCH: Final = 5_000
_EXPORTED: Final = b'"type":"ArchiveExported"'
_KEYS: Final = (b'"type":"LogStarted"', b'"type":"LogKeyRotated"')
_LINES: Final = 4


class Known(NamedTuple):
    """An export that somebody knows of: its number, its day, the SHA-256 (hex) of its manifest."""

    sequence: int
    day: str
    sha256: str


class Found(NamedTuple):
    """What a check came to. `problems`: a line each. `keys` signed the manifests, as far as is known.

    `checkpoint` is the newest that covers the archive and is signed.
    """

    days: int
    events: int
    problems: list[str]
    keys: list[str]
    checkpoint: Checkpoint | None


def known_from(note: bytes) -> Known:
    """What a manifest's signature says that was kept elsewhere. Raises ArchiveError where it is none."""
    try:
        format_, about, sha256, end = parse_note(note).text.split("\n", _LINES - 1)
        day, sequence = about.split(" ")
        known = Known(int(sequence), day, sha256)
    except (NoteError, ValueError) as error:
        raise ArchiveError(f"this is not the signature of a manifest ({error})") from None
    if format_ != FORMAT or end:
        raise ArchiveError("this is not the signature of a manifest")
    return known


def check(
    path: Path,
    keys: Sequence[Verifier] = (),
    known: Iterable[Known] = (),
    *,
    progress: Callable[[int, int], None] = lambda _at, _of: None,
) -> Found:
    """Check an archive. With `keys`, nothing but what these signed counts; without, what its own log's did.

    `progress` is told events. Raises nothing for an archive that is not what it should be.
    """
    try:
        archive = Archive(path)
    except ArchiveError as error:
        return Found(0, 0, [str(error)], [], None)
    if not archive.days:  # whoever empties a folder must not be told that nothing is wrong with it
        return Found(0, 0, [f"there is no day in {path}"], [], None)
    checking = _Checking(archive, keys)
    if not archive.is_whole:
        first = archive.days[0].manifest
        checking.differs(
            f"it begins at position {first.first_position}: the days before {first.day} are missing"
        )
    checking.compare_known(known)
    for day in archive.days:
        checking.check_files(day, progress)
    for day in archive.days:  # when all the keys that sign the log are known
        checking.check_signed(day)
    return checking.found()


class _Checking:
    """What was found so far."""

    def __init__(self, archive: Archive, keys: Sequence[Verifier]) -> None:
        self._archive = archive
        self._days = {day.manifest.sequence: day for day in archive.days}
        self._all = sum(day.manifest.events for day in archive.days)
        self._events = 0
        self._given = list(keys)
        self._own: list[Verifier] = []
        self._problems: list[str] = []
        self._signed: dict[Verifier, None] = {}
        self._checkpoint: Checkpoint | None = None

    def differs(self, problem: str) -> None:
        """Note what is not as it should be."""
        if len(self._problems) < PROBLEMS_MAX:
            self._problems.append(problem)

    def found(self) -> Found:
        """What it came to."""
        keys = [key.vkey for key in self._signed]
        return Found(len(self._days), self._events, self._problems, keys, self._checkpoint)

    def compare_known(self, known: Iterable[Known]) -> None:
        """Compare the days with what is known of them."""
        for each in known:
            day = self._days.get(each.sequence)
            if day is None:
                self.differs(f"export number {each.sequence}, of {each.day}, is missing")
            elif (found := manifests.sha256(day.stored)) != each.sha256:
                self.differs(f"{day.manifest.day}: its manifest was {each.sha256} and is {found}")

    def check_files(self, day: Day, progress: Callable[[int, int], None]) -> None:
        """Check a day's files, and hash its events."""
        sound = [self._check_file(day, file) for file in day.manifest.files]
        if all(sound):
            try:
                self._check_events(day, progress)
            except ArchiveError as error:
                self.differs(f"{day.manifest.day}: {error}")

    def check_signed(self, day: Day) -> None:
        """Check a day's signature and its place in the log."""
        name = day.manifest.day
        try:
            self._check_signature(day)
        except (NoteError, ArchiveError, OSError) as error:
            self.differs(f"{name}/{SIGNATURE}: {error}")
        try:
            self._check_log(day)
        except (NoteError, ArchiveError) as error:
            self.differs(f"{name}/{SEALED}: {error}")

    def _check_file(self, day: Day, name: str) -> bool:
        said = day.manifest.files[name]
        path = day.folder / name
        try:
            with path.open("rb") as file:
                found = path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            self.differs(f"{day.manifest.day}/{name} cannot be read ({error.strerror})")
            return False
        if found != (said.bytes, said.sha256):
            self.differs(f"{day.manifest.day}/{name} is not the file that was exported")
            return False
        try:
            rows: int = pq.read_metadata(path).num_rows
        except (OSError, pa.ArrowException):
            self.differs(f"{day.manifest.day}/{name} is no Parquet file")
            return False
        if rows != said.rows:
            self.differs(f"{day.manifest.day}/{name} has {rows} rows, the manifest says {said.rows}")
        return rows == said.rows

    def _check_events(self, day: Day, progress: Callable[[int, int], None]) -> None:
        """Hash every event, and see what the events say of the archive itself."""
        manifest = day.manifest
        frontier = frontier_of(manifest.first_position - 1, manifest.log.before)
        for _, _, _, data in events(day.folder / CONTEXT):
            self._notice(data)
        position = manifest.first_position - 1
        for batch in _batches(events(day.folder / EVENTS)):
            frontier.extend(leaf_hashes(batch))
            for data in batch:
                self._notice(data)
            position += len(batch)
            self._events += len(batch)
            progress(self._events, self._all)
        if position != manifest.last_position:
            raise ArchiveError(f"its events end at position {position}, not {manifest.last_position}")
        root = hash_text(frontier.root())
        if root != manifest.log.root or hashes_of(frontier) != manifest.log.after:
            raise ArchiveError("its events do not have the root that the manifest says")

    def _notice(self, data: bytes) -> None:
        """Take from the ledger's events which days it exported, and which keys sign its log."""
        is_export, is_key = _EXPORTED in data, any(mark in data for mark in _KEYS)
        if not is_export and not is_key:
            return
        try:
            said = orjson.loads(data)["data"]
            if is_export:
                self.compare_known([Known(said["sequence"], said["day"], said["manifest_sha256"])])
            elif (key := parse_vkey(said["vkey"])) not in self._own:
                self._own.append(key)
        except (KeyError, TypeError, ValueError, AttributeError):
            self.differs("an event about the log, or about an export, is not one of its kind")

    def _check_signature(self, day: Day) -> None:
        note = parse_note(read_whole(day.folder / SIGNATURE, NOTE_BYTES_MAX))
        if note.text != manifests.signed_text(day.manifest, day.stored):
            raise NoteError("it signs another manifest")
        for verified in verify(note, self._keys(day)):
            self._signed[verified.verifier] = None

    def _check_log(self, day: Day) -> None:
        """The day's root is one that the log has signed, or that what it has signed grew out of."""
        manifest, sealed = day.manifest, day.sealed
        for key in sealed.keys:  # a claim, but not a damaged one
            parse_vkey(key)
        note = parse_note(sealed.checkpoint.encode())
        verify(note, self._keys(day))
        checkpoint = parse_checkpoint(note.text)
        grown = verify_consistency(
            manifest.last_position,
            hash_from(manifest.log.root),
            checkpoint.size,
            checkpoint.root,
            [*map(hash_from, sealed.proof)],
        )
        if not grown:
            raise NoteError("the checkpoint's tree does not begin with the day's events")
        self._checkpoint = checkpoint

    def _keys(self, day: Day) -> list[Verifier]:
        """Whose signatures count.

        Without keys from elsewhere, those that the archive's own events name: a key that came later has to be
        given. Where the log itself began after the archived days, those that the export named.
        """
        return self._given or self._own or [parse_vkey(key) for key in day.sealed.keys]


def _batches(rows: Iterator[Any]) -> Iterator[list[bytes]]:
    while batch := [data for _, _, _, data in islice(rows, _BATCH)]:
        yield batch
