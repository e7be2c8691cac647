"""Projecting from an archive where the ledger no longer has the oldest events."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infrastructure.archive import parquet, reader, source
from infrastructure.archive.layout import EVENTS
from infrastructure.archive.manifest import ArchiveError
from infrastructure.archive.source import ArchivedSource
from infrastructure.ledger.memory import MemoryLedger
from infrastructure.projections.catalogue import PROJECTIONS
from infrastructure.projections.engine import Engine
from infrastructure.projections.memory import MemorySink
from infrastructure.projections.round_facts import RoundFacts
from infrastructure.projections.source import MemorySource
from tests.unit.infrastructure.archives import archive, lively

ENDS = (260, 400, 401, 700)
DETACHED = 600


@pytest.fixture(scope="module", autouse=True)
def small_groups() -> Iterator[None]:
    """Let a row group have few rows, so that every file has several."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (parquet, reader, source):
            patch.setattr(module, "ROW_GROUP", 64)
        yield


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an archive of all days but the last."""
    return archive(tmp_path_factory.mktemp("archive") / "a", lively(), ENDS, only=len(ENDS)).path


class Rest(MemorySource):
    """What is left of a ledger whose first `DETACHED` events are elsewhere."""

    def __init__(self, ledger: MemoryLedger) -> None:
        streams = {
            stream: [row for row in rows if row.position > DETACHED]
            for stream, rows in ledger.streams.items()
        }
        super().__init__(dataclasses.replace(ledger, streams=streams))
        self._streams = streams

    def after(self, position: int, limit: int) -> tuple[list[bytes], bool]:
        """Refuse to tell what is not there."""
        assert position >= DETACHED
        found, more = super().after(position, limit)
        return list(found), more

    def older(self, below: dict[str, int]) -> Iterator[bytes]:  # type: ignore[override] # a test's
        """What is left of the streams."""
        for stream, version in below.items():
            yield from (row.data for row in self._streams.get(stream, ()) if row.version < version)


def archived(path: Path) -> ArchivedSource:
    """Return a source of an archive, and of what is left of its ledger."""
    return ArchivedSource(reader.Archive(path), Rest(lively()))


@pytest.mark.parametrize("limit", [1, 50, 10_000])
def test_events_are_read_as_if_none_were_away(path: Path, limit: int) -> None:
    """From the first position to the last every event comes once, whatever is asked for at a time."""
    source_, found = archived(path), list[bytes]()
    while True:
        events, more = source_.after(len(found), limit)
        assert len(events) <= limit
        found += events
        if not more:
            break
    assert found == [row.data for row in lively().events]


@settings(max_examples=25)
@given(st.data())
def test_a_rounds_earlier_events_are_found_wherever_they_are(path: Path, data: st.DataObject) -> None:
    """In the ledger, in the archive, or the first ones there and the later ones here."""
    ledger = lively()
    source_ = archived(path)
    source_.after(data.draw(st.integers(0, ledger.position)), 10)
    streams = data.draw(
        st.lists(st.sampled_from(sorted(ledger.streams)), min_size=1, max_size=4, unique=True)
    )
    below = {stream: data.draw(st.integers(1, len(ledger.streams[stream]) + 1)) for stream in streams}
    assert list(source_.older(below)) == list(MemorySource(ledger).older(below))


def test_projections_are_the_same(path: Path) -> None:
    """All projections, built from an archive and what is left, have the rows that the whole ledger gives."""
    built, expected = (
        MemorySink([make() for make in PROJECTIONS]),
        MemorySink([make() for make in PROJECTIONS]),
    )
    for sink, events in ((built, archived(path)), (expected, MemorySource(lively()))):
        engine = Engine(events, sink, PROJECTIONS, RoundFacts, batch_events_max=37)
        engine.load()
        while engine.turn():
            pass
    assert not built.alarms
    assert built.tables == expected.tables


def test_a_changed_file_is_not_read(path: Path, tmp_path: Path) -> None:
    """A file that is not the one that was exported is refused as often as it is asked for."""
    copy = archive(tmp_path / "a", lively(), ENDS, only=len(ENDS)).path
    file = sorted(copy.iterdir())[1] / EVENTS
    file.write_bytes(file.read_bytes()[:-9] + b"123456789")
    source_ = archived(copy)
    assert len(source_.after(0, 10)[0]) == 10
    for _ in range(2):
        with pytest.raises(ArchiveError, match="not the file that was exported"):
            source_.after(300, 10)
    file.unlink()
    with pytest.raises(ArchiveError, match="cannot be read"):
        source_.after(300, 10)
    assert archived(path).after(300, 10) == MemorySource(lively()).after(300, 10)
