"""The whole ledger from its first event on: `scripts/check`.

Events never change, so that they are read in pages, each a transaction of its own, on a service that goes on
writing. Only the last of them, and the tables, are read in one snapshot, which has to be one moment's: it
lasts as long as it takes to read the tables once.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import psycopg

from infrastructure.checking import tables
from infrastructure.checking.envelopes import Row
from infrastructure.checking.findings import Finding
from infrastructure.checking.fold import Fold
from infrastructure.checking.projected import Projected
from infrastructure.checking.reading import PAGE, Ledger

NEAR: Final = 20_000
"""So far behind the head, the rest of the events is read in the snapshot."""
_PAGES_AHEAD: Final = 2

Connect = Callable[[], psycopg.Connection]
"""Makes a connection in autocommit mode."""
Progress = Callable[[int, int], None]
"""Told how far it has come, and how far it is to go."""


class Report(NamedTuple):
    """What the check of a whole ledger came to. `total`: of all discrepancies; `findings` has the first."""

    position: int
    findings: list[Finding]
    total: int


def check(connect: Connect, schema: str, progress: Progress) -> Report:
    """Check everything. Raises psycopg.Error."""
    fold = Fold()
    try:
        with connect() as connection:
            ledger = Ledger(connection, schema)
            projected = Projected(ledger)

            def take(page: list[Row]) -> None:
                fold.take(page)
                tables.compare_page(ledger, fold.books)
                projected.compare(fold.books)

            _follow(ledger, fold, take, connect, schema, progress)
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            position, _ = ledger.head()
            for page in _pages(ledger, fold.position, position):
                take(page)
            if fold.position < position:  # the tables are as of events that are not there to compare with
                missing = fold.position + 1
                fold.books.findings.add("head", missing, f"the head says {position}, {missing} is missing")
            else:
                tables.compare(ledger, fold)
                projected.compare_whole(fold.books)
            connection.execute("COMMIT")
            progress(position, position)
        findings = fold.books.findings
        return Report(fold.position, sorted(findings.kept, key=lambda each: each.position), findings.count)
    finally:
        fold.books.close()


def _follow(
    ledger: Ledger,
    fold: Fold,
    take: Callable[[list[Row]], None],
    connect: Connect,
    schema: str,
    progress: Progress,
) -> None:
    """Fold events until the head is near; the next pages are read while one is folded."""
    while True:
        head, _ = ledger.head()
        start = fold.position
        if head - start <= NEAR:
            return
        for page in _read_ahead(connect, schema, start, head):
            take(page)
            progress(fold.position, head)
        if fold.position == start:
            return


def _read_ahead(connect: Connect, schema: str, after: int, up_to: int) -> Iterator[list[Row]]:
    """Yield pages that another thread reads on its own connection. Raises what that meets."""
    pages: queue.Queue[list[Row] | Exception | None] = queue.Queue(_PAGES_AHEAD)
    ended = threading.Event()

    def put(item: list[Row] | Exception | None) -> bool:
        while not ended.is_set():
            try:
                pages.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def read() -> None:
        try:
            with connect() as connection:
                for page in _pages(Ledger(connection, schema), after, up_to):
                    if not put(page):
                        return
            put(None)
        except Exception as error:  # noqa: BLE001 - it is raised where the pages are taken
            put(error)

    thread = threading.Thread(target=read, name="check reader", daemon=True)
    thread.start()
    try:
        while (page := pages.get()) is not None:
            if isinstance(page, Exception):
                raise page
            yield page
    finally:
        ended.set()
        thread.join()


def _pages(ledger: Ledger, after: int, up_to: int) -> Iterator[list[Row]]:
    while after < up_to:
        page = ledger.events(after, up_to, PAGE)
        if not page:
            return
        yield page
        after = page[-1][0]
