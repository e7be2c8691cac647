"""Exporting days: each grows in a folder of its own beside the others, and takes its place when it is whole.

A process that is ended at any point leaves either nothing of a day but a folder that the next export removes,
or the whole day; and if the ledger has not recorded it by then, the next export has it recorded.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from infrastructure.archive import manifest as manifests
from infrastructure.archive import parquet
from infrastructure.archive.day import write_day
from infrastructure.archive.due import DueDay
from infrastructure.archive.layout import MANIFEST, SEALED, SIGNATURE
from infrastructure.archive.manifest import ArchiveError, Manifest, Sealed
from infrastructure.archive.reader import Archive, Day, read_day
from infrastructure.evidence.files import sync_folder
from infrastructure.projections.source import Source

_UNFINISHED: Final = ".unfinished-"


class Seal(Protocol):
    """The evidence log, for whoever has its key."""

    def prove(self, size: int, root: bytes) -> Sealed:
        """Show that the first `size` events have this root. Raises ArchiveError where they do not."""

    def sign(self, text: str) -> bytes:
        """A signed note of a text."""


def open_archive(target: Path) -> Archive:
    """The archive in a folder, without what an interrupted export left there.

    A folder that is made for it is ours alone: it has the events of every player. Raises ArchiveError,
    OSError.
    """
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in target.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(left)
    return Archive(target)


def export_day(
    archive: Archive,
    due: DueDay,
    source: Source,
    seal: Seal,
    *,
    known: str | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Day:
    """Add the next day to an archive; return it when it is on the disk, in its place.

    `known` is the SHA-256 (hex) of the manifest that the day had when it was exported before. Raises
    ArchiveError where the day does not follow on the last one, or its events are not what the log has sealed;
    OSError, and what the source raises.
    """
    before = archive.days[-1] if archive.days else None
    expected = before.manifest.last_position + 1 if before else 1
    if due.first != expected:
        raise ArchiveError(
            f"{due.day} begins at position {due.first}, and this archive goes on at {expected}"
        )
    draft = archive.path / f"{_UNFINISHED}{due.day}"
    draft.mkdir()
    try:
        found = _write(draft, due, source, before, seal, progress)
        if known is not None and found != known:
            raise ArchiveError(
                f"{due.day} comes out with the manifest {found}, and the ledger recorded {known}: its events "
                f"have changed, or {parquet.WRITER} writes other files than what exported it then"
            )
        place = archive.path / due.day
        draft.rename(place)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    sync_folder(archive.path)
    day = read_day(place)
    archive.days.append(day)
    return day


def _write(
    draft: Path, due: DueDay, source: Source, before: Day | None, seal: Seal, progress: Callable[[int], None]
) -> str:
    """Write a day into a folder; return the SHA-256 (hex) of its manifest."""
    written = write_day(draft, source, due.first, due.last, before, progress)
    sealed = seal.prove(due.last, written.root)
    manifest = Manifest(
        sequence=before.manifest.sequence + 1 if before else 1,
        previous=manifests.sha256(before.stored) if before else "",
        day=due.day,
        first_position=due.first,
        last_position=due.last,
        first_time=written.first_time,
        last_time=written.last_time,
        files=written.files,
        log=written.log,
        writer=parquet.WRITER,
    )
    stored = manifests.encode(manifest)
    _put(draft / SEALED, manifests.encode_sealed(sealed))
    _put(draft / SIGNATURE, seal.sign(manifests.signed_text(manifest, stored)))
    _put(draft / MANIFEST, stored)
    sync_folder(draft)
    return manifests.sha256(stored)


def _put(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
