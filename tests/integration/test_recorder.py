"""The eventsourcing library over the ledger, in memory and in PostgreSQL: it reads and never writes."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from eventsourcing.application import AggregateNotFoundError
from eventsourcing.persistence import IntegrityError, MapperDeserialisationError, StoredEvent
from eventsourcing.utils import resolve_topic

from domain.envelope import Recorded
from domain.events import EVENT_CLASSES, BettingClosed, Folded, RoundClosed
from infrastructure.bootstrap import prepare
from infrastructure.ledger.memory import MemoryLedger, MemoryStore
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.reading import EventReader, MemoryReader, PostgresReader
from infrastructure.ledger.recorder import LedgerApplication, LedgerMapper, LedgerRecorder, ReadOnlyError
from infrastructure.ledger.store import Changes, FirstReading, Store, StoredEventRow
from infrastructure.ledger.stored_form import encode

if TYPE_CHECKING:
    from collections.abc import Iterator

PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
NOW = 1_796_000_000_000_000
SALT = "Wl" * 11
META: dict[str, str | int] = {"actor": "operator", "command": "c" * 22, "schema": 1}
EVENTS = (BettingClosed(2), Folded(1, "player"), Folded(2, "timeout"), RoundClosed("ab"))

_schemas = itertools.count(1)


@dataclass(frozen=True)
class Ledger:
    """A ledger to write to and to read from."""

    new_store: Callable[[], Store]
    reader: EventReader

    def write(self, *rows: StoredEventRow) -> None:
        """Write a batch of events and nothing else."""
        store = self.new_store()
        store.begin(FirstReading(0))
        store.commit(Changes(rows[-1].position, NOW + rows[-1].position, list(rows)))
        store.close()


@pytest.fixture(params=["memory", "postgres"])
def ledger(request: pytest.FixtureRequest) -> Iterator[Ledger]:
    """Yield an empty ledger."""
    if request.param == "memory":
        memory = MemoryLedger()
        yield Ledger(lambda: MemoryStore(memory), MemoryReader(memory))
        return
    schema = f"recorder_{next(_schemas)}"
    dsn = prepare(request.getfixturevalue("database"), schema, passwords=PASSWORDS).app
    with PostgresReader(dsn, schema) as reader:
        yield Ledger(lambda: PostgresStore(dsn, schema), reader)


def row(position: int, stream: str, version: int) -> StoredEventRow:
    """Return an event of a type that goes with its version."""
    event = EVENTS[(version - 1) % len(EVENTS)]
    return StoredEventRow(
        position, stream, version, encode(position, NOW + position, stream, version, event, META, SALT)
    )


def fill(ledger: Ledger) -> None:
    """Write two rounds of four events each, taking turns: position 1 is A's first, 8 is B's fourth."""
    ledger.write(
        *(row(2 * v - 1 + k, f"round-{name}", v) for v in (1, 2, 3, 4) for k, name in enumerate("AB"))
    )


@dataclass(frozen=True)
class Tally:
    """A projection: how many events, and who folded."""

    id: str
    version: int = 0
    folded: tuple[int, ...] = ()
    created_on: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    modified_on: datetime = datetime(1970, 1, 1, tzinfo=UTC)


def tally(initial: Tally | None, events: Iterable[Recorded]) -> Tally | None:
    """Fold events."""
    for recorded in events:
        state = initial or Tally(recorded.originator_id, created_on=recorded.timestamp)
        seats = (recorded.event.seat,) if isinstance(recorded.event, Folded) else ()
        initial = replace(
            state,
            version=recorded.originator_version,
            folded=state.folded + seats,
            modified_on=recorded.timestamp,
        )
    return initial


# ── The library's interfaces
def test_every_event_class_is_a_topic() -> None:
    """The library finds each event's class by its type in the stored form."""
    assert [resolve_topic(cls.__name__) for cls in EVENT_CLASSES] == list(EVENT_CLASSES)


def test_a_stream_is_projected_by_a_function(ledger: Ledger) -> None:
    """The repository folds a stream with a projector function, whole or up to a version."""
    fill(ledger)
    repository = LedgerApplication(ledger.reader).repository
    whole: Any = repository.get("round-A", projector_func=tally)
    assert (whole.id, whole.version, whole.folded) == ("round-A", 4, (1, 2))
    assert whole.modified_on == datetime(2026, 11, 30, 0, 53, 20, 7, UTC)
    early: Any = repository.get("round-B", version=2, projector_func=tally)
    assert (early.version, early.folded) == (2, (1,))
    with pytest.raises(AggregateNotFoundError):
        repository.get("round-C", projector_func=tally)


def test_a_stream_is_selected_by_version(ledger: Ledger) -> None:
    """Events of a stream come between two versions, forwards or backwards, as many as wanted."""
    fill(ledger)
    recorder = LedgerRecorder(ledger.reader)

    def versions(**limits: Any) -> list[int]:
        return [event.originator_version for event in recorder.select_events("round-A", **limits)]

    assert versions() == [1, 2, 3, 4]
    assert versions(gt=1, lte=3) == [2, 3]
    assert versions(desc=True, limit=2) == [4, 3]
    assert versions(lte=0) == []
    assert versions(limit=0) == []
    assert recorder.select_events("round-B", limit=1)[0].topic == "BettingClosed"


def test_notifications_are_selected_by_position(ledger: Ledger) -> None:
    """Events come by position from a start, its own included or not, up to a stop, of the topics wanted."""
    fill(ledger)
    recorder = LedgerRecorder(ledger.reader)

    def ids(*arguments: Any, **limits: Any) -> list[int]:
        return [notification.id for notification in recorder.select_notifications(*arguments, **limits)]

    assert ids(None, 100) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert ids(3, 2) == [3, 4]
    assert ids(3, 2, inclusive_of_start=False) == [4, 5]
    assert ids(0, 2) == [1, 2]
    assert ids(6, 100, 7) == [6, 7]
    assert ids(6, 100, 5) == []
    assert ids(9, 100) == []
    assert ids(1, 0) == []
    assert ids(1, 3, topics=["Folded"]) == [3, 4, 5]
    assert ids(1, 100, 7, topics=["RoundClosed"]) == [7]
    assert ids(1, 100, topics=["WalletOpened"]) == []
    assert recorder.max_notification_id() == 8


def test_wanted_topics_are_found_beyond_the_first_page(ledger: Ledger) -> None:
    """A page without the wanted type does not end the search."""
    ledger.write(
        *(row(position, f"round-{position}", 1) for position in range(1, 1201)), row(1201, "round-1", 2)
    )
    recorder = LedgerRecorder(ledger.reader)
    assert [found.id for found in recorder.select_notifications(1, 5, topics=["Folded"])] == [1201]
    assert [found.id for found in recorder.select_notifications(100, 700)] == list(range(100, 800))


def test_the_notification_log_has_sections(ledger: Ledger) -> None:
    """The library's notification log pages through the ledger."""
    fill(ledger)
    log = LedgerApplication(ledger.reader).notification_log
    section = log["3,5"]
    assert section.id == "3,5"
    assert [item.originator_id for item in section.items] == ["round-A", "round-B", "round-A"]
    assert section.next_id == "6,8"


def test_an_empty_ledger_has_no_notifications(ledger: Ledger) -> None:
    """Before the first event there is nothing to select and no last position."""
    recorder = LedgerRecorder(ledger.reader)
    assert recorder.max_notification_id() is None
    assert recorder.select_notifications(None, 10) == []
    assert recorder.select_events("round-A") == []


def test_the_library_cannot_write(ledger: Ledger) -> None:
    """Saving through the library is refused with a sentence that says who writes."""
    application = LedgerApplication(ledger.reader)
    event: Any = Recorded(1, datetime(2026, 1, 1, tzinfo=UTC), "round-A", 1, BettingClosed(1), META, SALT)
    with pytest.raises(ReadOnlyError, match="only the ledger's writer writes"):
        application.save(event)
    assert ledger.reader.position() == 0


def test_the_environment_has_no_say(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that would reconfigure the library change nothing."""
    monkeypatch.setenv("PERSISTENCE_MODULE", "no.such.module")
    monkeypatch.setenv("COMPRESSOR_TOPIC", "zlib")
    fill(ledger)
    found: Any = LedgerApplication(ledger.reader).repository.get("round-A", projector_func=tally)
    assert found.version == 4


# ── Subscriptions
def test_a_subscription_yields_what_is_there_and_what_comes(ledger: Ledger) -> None:
    """A subscriber gets old events after its position, then new ones when they are written, of its topics."""
    fill(ledger)
    recorder = LedgerRecorder(ledger.reader, poll_seconds=0.005)
    with recorder.subscribe(gt=3, topics=["Folded", "RoundClosed"]) as events:
        assert [next(events).id for _ in range(5)] == [4, 5, 6, 7, 8]
        ledger.write(row(9, "round-C", 1), row(10, "round-C", 2))
        assert next(events).id == 10


def test_a_waiting_subscription_stops_at_once(ledger: Ledger) -> None:
    """A subscriber that waits for the next event ends when it is told to, however long it would rest."""
    subscription = LedgerRecorder(ledger.reader, poll_seconds=3600).subscribe()
    seen: list[int] = []
    thread = threading.Thread(target=lambda: seen.extend(event.id for event in subscription))
    thread.start()
    subscription.stop()
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert seen == []


def test_a_reader_beside_writers_sees_no_gap(ledger: Ledger) -> None:
    """A reader that polls while two writers write sees every position once and in order."""
    errors: list[BaseException] = []

    def run(store: Store, name: str) -> None:
        try:
            for number in range(60):
                start = store.begin(FirstReading(0)).position
                rows = [row(start + k, f"round-{name}{number}", k) for k in (1, 2, 3)]
                store.commit(Changes(start + 3, NOW + start + 3, rows))
        except BaseException as error:  # noqa: BLE001  # reported by the test's thread
            errors.append(error)
        finally:
            store.close()

    writers = [threading.Thread(target=run, args=(ledger.new_store(), name)) for name in "AB"]
    for writer in writers:
        writer.start()
    recorder = LedgerRecorder(ledger.reader)
    seen: list[int] = []
    while len(seen) < 360 and not errors:
        page = recorder.select_notifications(len(seen) + 1, 50)
        seen += [notification.id for notification in page]
        last = recorder.max_notification_id() or 0
        assert last >= len(seen)
    for writer in writers:
        writer.join()
    assert not errors
    assert seen == list(range(1, 361))


# ── What is not as it should be
def test_a_missing_position_is_an_error() -> None:
    """A log with a hole in it is not read past the hole."""
    memory = MemoryLedger(position=3, events=[row(1, "round-A", 1), row(3, "round-A", 3)])
    with pytest.raises(IntegrityError, match="position 2 is missing"):
        LedgerRecorder(MemoryReader(memory)).select_notifications(1, 10)


def test_bytes_in_another_place_are_an_error() -> None:
    """Bytes that are no event, or that belong to another stream or version, are not mapped to an event."""
    mapper = LedgerApplication(MemoryReader(MemoryLedger())).mapper
    good = row(1, "round-A", 1).data
    for stream, version, state in (("round-B", 1, good), ("round-A", 2, good), ("round-A", 1, b"{}")):
        with pytest.raises(MapperDeserialisationError):
            mapper.to_domain_event(StoredEvent(stream, version, "BettingClosed", state))


def test_the_mapper_writes_what_it_reads() -> None:
    """An event mapped to its object and back has the same bytes."""
    mapper = LedgerApplication(MemoryReader(MemoryLedger())).mapper
    assert isinstance(mapper, LedgerMapper)
    stored = StoredEvent("round-A", 4, "RoundClosed", row(9, "round-A", 4).data)
    assert mapper.to_stored_event(mapper.to_domain_event(stored)) == stored
