"""The ledger as an application of the ``eventsourcing`` library, for whoever reads it.

The library's repository, notification log and subscriptions work over our own table through its own
interfaces. Writing is the writer's: the library's way to insert takes a table lock that our role may not
take, and numbers with holes.
"""

from __future__ import annotations

import threading
from collections import deque
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from eventsourcing.application import Application
from eventsourcing.persistence import (
    ApplicationRecorder,
    IntegrityError,
    JSONTranscoder,
    Mapper,
    MapperDeserialisationError,
    Notification,
    StoredEvent,
    Subscription,
)
from eventsourcing.utils import Environment, register_topic

from domain.events import EVENT_CLASSES
from infrastructure.ledger.stored_form import NotReadableError, decode, encode, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from uuid import UUID

    from eventsourcing.domain import DomainEventProtocol
    from eventsourcing.utils import EnvType

    from domain.envelope import Recorded
    from infrastructure.ledger.reading import EventReader
    from infrastructure.ledger.store import StoredEventRow

PAGE: Final = 500
POLL_SECONDS: Final = 0.05

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)

for _cls in EVENT_CLASSES:
    register_topic(_cls.__name__, _cls)


class ReadOnlyError(RuntimeError):
    """The library was asked to write: only the ledger's writer does, on a command."""


class LedgerRecorder(ApplicationRecorder):
    """The library's recorder over our events. It only reads.

    Positions are its notification ids, event types its topics.
    """

    def __init__(self, reader: EventReader, *, poll_seconds: float = POLL_SECONDS) -> None:
        self._reader = reader
        self._poll_seconds = poll_seconds

    def insert_events(self, stored_events: Sequence[StoredEvent], **kwargs: Any) -> NoReturn:
        """Raise ReadOnlyError: only the writer writes."""
        del kwargs
        raise ReadOnlyError(
            f"{len(stored_events)} events were not recorded: only the ledger's writer writes, on a command"
        )

    def select_events(
        self,
        originator_id: UUID | str,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[StoredEvent]:
        """Return a stream's events by version."""
        rows = self._reader.of_stream(
            str(originator_id), after=0 if gt is None else gt, up_to=lte, descending=desc, limit=limit
        )
        return [StoredEvent(row.stream, row.version, type_of(row.data), row.data) for row in rows]

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        """Return at most `limit` events by position, of the types in `topics` where any are named.

        Raises IntegrityError where a position is missing: the log was tampered with.
        """
        first = 1 if start is None else start if inclusive_of_start else start + 1
        found = (
            notification for page in self.pages(max(first, 1), stop, topics, limit) for notification in page
        )
        return list(islice(found, limit))

    def pages(
        self, first: int, stop: int | None = None, topics: Sequence[str] = (), limit: int = PAGE
    ) -> Iterator[list[Notification]]:
        """Yield the events from `first` on, page by page, until the end or `stop`. Raises IntegrityError."""
        size = PAGE if topics else min(limit, PAGE)
        while True:
            rows = self._reader.from_position(first, stop, size)
            yield _notifications(first, rows, topics)
            if len(rows) < size:
                return
            first += size

    def max_notification_id(self) -> int | None:
        """Return the last position, None where there is none."""
        return self._reader.position() or None

    def subscribe(
        self, gt: int | None = None, topics: Sequence[str] = ()
    ) -> Subscription[ApplicationRecorder]:
        """Return an endless iterator over the events after position `gt`, old and new."""
        return PollingSubscription(self, gt, topics)

    def page_after(self, position: int) -> list[Notification]:
        """Return the next page of events after a position."""
        return _notifications(position + 1, self._reader.from_position(position + 1, None, PAGE), ())

    @property
    def poll_seconds(self) -> float:
        """How long a subscription rests when there is nothing new."""
        return self._poll_seconds


class PollingSubscription(Subscription[ApplicationRecorder]):
    """Looks for new events every `poll_seconds`, holds at most a page of them, stops when it is told to.

    It polls because a notification inside the writer's transaction would serialise all commits of the server.
    """

    def __init__(self, recorder: LedgerRecorder, gt: int | None, topics: Sequence[str]) -> None:
        super().__init__(recorder, gt, topics)
        self._ledger = recorder
        self._position = gt or 0
        self._wanted = frozenset(topics)
        self._page: deque[Notification] = deque()
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Let the iterator end, at once where it is waiting."""
        super().stop()
        self._stopped.set()

    def __next__(self) -> Notification:
        """Return the next event, waiting for it. Raises StopIteration after `stop`."""
        while not self._stopped.is_set():
            if self._page:
                return self._page.popleft()
            page = self._ledger.page_after(self._position)
            if page:
                self._position = page[-1].id
                self._page.extend(item for item in page if not self._wanted or item.topic in self._wanted)
            else:
                self._stopped.wait(self._ledger.poll_seconds)
        raise StopIteration


class LedgerMapper(Mapper[str]):
    """Between the library's stored events and ours: their state is the whole stored form."""

    def to_stored_event(self, domain_event: DomainEventProtocol[str]) -> StoredEvent:
        """Return an event as it is stored. Raises NotStorableError."""
        recorded = cast("Recorded", domain_event)
        state = encode(
            recorded.position,
            (recorded.recorded_at - _EPOCH) // _MICROSECOND,
            recorded.stream,
            recorded.version,
            recorded.event,
            recorded.meta,
            recorded.salt,
        )
        return StoredEvent(recorded.stream, recorded.version, type(recorded.event).__name__, state)

    def to_domain_event(self, stored_event: StoredEvent) -> DomainEventProtocol[str]:
        """Return the event of a stored one.

        Raises MapperDeserialisationError for bytes that are not an event, or one of another place in the
        ledger.
        """
        try:
            recorded = decode(stored_event.state)
        except NotReadableError as error:
            raise MapperDeserialisationError(str(error)) from error
        place = (stored_event.originator_id, stored_event.originator_version)
        if (recorded.stream, recorded.version) != place:
            raise MapperDeserialisationError(
                f"the event at {place} says it is {recorded.stream} {recorded.version}"
            )
        return cast("DomainEventProtocol[str]", recorded)


class LedgerApplication(Application[str]):
    """The library's application over a reader.

    Use ``repository.get(stream, projector_func=…)`` and ``notification_log``.

    It is made of what is given to it; the process's environment, which the library would read, has no say in
    it.
    """

    name = "ledger"
    log_section_size = PAGE

    def __init__(self, reader: EventReader) -> None:
        self._reader = reader
        super().__init__()

    def construct_env(self, name: str, env: EnvType | None = None) -> Environment:
        """Return an empty environment."""
        del env
        return Environment(name, {})

    def construct_mapper(self) -> Mapper[str]:
        """Return the mapper of our stored form; it uses no transcoder."""
        return LedgerMapper(JSONTranscoder())

    def construct_recorder(self) -> ApplicationRecorder:
        """Return the recorder over the reader."""
        return LedgerRecorder(self._reader)


def _notifications(first: int, rows: list[StoredEventRow], topics: Sequence[str]) -> list[Notification]:
    """Return a page's notifications of the wanted types. Raises IntegrityError for a missing position."""
    for expected, row in enumerate(rows, first):
        if row.position != expected:
            raise IntegrityError(f"position {expected} is missing from the ledger")
    typed = ((row, type_of(row.data)) for row in rows)
    return [
        Notification(row.stream, row.version, topic, row.data, row.position)
        for row, topic in typed
        if not topics or topic in topics
    ]
