"""Projections against a second, naive telling of what they mean, over random lives of a ledger (G8)."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.events import EVENT_CLASSES
from infrastructure.projections.kinds import Table
from infrastructure.projections.movements import MONEY
from tests.property.naive_projections import Naive, hour_of
from tests.unit.infrastructure.eventful_play import eventful
from tests.unit.infrastructure.projecting import Projecting, batches, happened, projected

HOUR_US = 3_600_000_000
NIGHTS = {
    # Where, and the instant of the change in microseconds.
    "Oslo skips 02:00": ("Europe/Oslo", 1_806_195_600_000_000),
    "Oslo has 02:00 twice": ("Europe/Oslo", 1_792_890_000_000_000),
    "New York skips 02:00": ("America/New_York", 1_805_007_600_000_000),
    "New York has 01:00 twice": ("America/New_York", 1_793_512_800_000_000),
    "Lord Howe skips half an hour": ("Australia/Lord_Howe", 1_791_041_400_000_000),
    "Lord Howe repeats half an hour": ("Australia/Lord_Howe", 1_806_764_400_000_000),
    "Cairo skips midnight": ("Africa/Cairo", 1_809_036_000_000_000),
}
ZERO_TYPES = frozenset(("bigint", "numeric(24,0)"))


def expected(naive: Naive, table: Table) -> list[dict[str, Any]]:
    """Return the rows that the naive telling has for a table, as the table has them: whole and in order."""
    zero = 0 if table.mode == "add" else None
    rows = [
        {c.name: row.get(c.name, zero if c.type in ZERO_TYPES else None) for c in table.columns}
        for row in getattr(naive, table.name)()
    ]
    return sorted(rows, key=lambda row: tuple(row[column] for column in table.key))


def check(projecting: Projecting, naive: Naive) -> None:
    """Check every table of every projection."""
    for kept in projecting.kept:
        for table in kept.tables.values():
            wanted = expected(naive, table)
            found = projecting.dicts(table.name)
            for row, other in zip(found, wanted, strict=False):
                if other.get("detail") is ...:
                    other["detail"] = row["detail"]
            assert found == wanted, table.name


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 2**32),
    sizes=st.lists(st.integers(1, 300), min_size=1, max_size=5),
    torn=st.integers(1, 9),
    night=st.sampled_from(sorted(NIGHTS)),
    cutoff_hour=st.integers(0, 23),
)
def test_every_table_is_what_its_meaning_says(
    seed: int, sizes: list[int], torn: int, night: str, cutoff_hour: int
) -> None:
    """However events are cut into batches, and batches lost, each table holds what a naive telling has."""
    zone, change_us = NIGHTS[night]
    ledger = eventful(seed, 100, zone=zone, cutoff_hour=cutoff_hour, begin_us=change_us - 2 * HOUR_US)
    projecting = Projecting()
    for number, batch in enumerate(batches(happened(ledger), sizes)):
        projecting.take(batch, torn=number % torn == 0)
    check(projecting, Naive(ledger))


@pytest.mark.parametrize("seed", range(2))
def test_a_longer_life_has_snapshots_and_every_kind_of_event(seed: int) -> None:
    """Over thousands of events in one batch the same holds, and nothing that can happen is left out."""
    ledger = eventful(seed, 700)
    projecting = projected(happened(ledger))
    check(projecting, Naive(ledger))
    assert len(projecting.rows["snapshots"]) >= 3
    seen = {event.type for event in happened(ledger)}
    of_play = ("Jackpot", "Round", "Table", "Player", "Stake", "Settled", "Raised", "Folded", "Dealt")
    names = {kind.__name__ for kind in EVENT_CLASSES}
    assert seen >= MONEY | {name for name in names if name.startswith(of_play)}


@pytest.mark.parametrize("sizes", [(1,), (2, 3), (64,), (5_000,)])
def test_rows_do_not_depend_on_the_batches(sizes: tuple[int, ...]) -> None:
    """A rebuild in batches of one, of a few, of many or in one gives row for row the same."""
    events = happened(eventful(7, 150))
    assert projected(events, sizes).rows == projected(events, (17, 400)).rows


def test_the_books_balance_at_every_snapshot_and_at_the_end() -> None:
    """The balances of all accounts of a currency are zero together, for real and for test accounts alone."""
    projecting = projected(happened(eventful(3, 700)), (900,))
    positions = [0, *(int(row[0]) for row in projecting.rows["snapshots"])]
    for _, position in pairwise(positions):
        latest = {
            (name, currency): balance
            for name, currency, at, balance in projecting.rows["trial_balances"]
            if at <= position
        }
        assert sums(latest) == dict.fromkeys(sums(latest), 0)
    now = {(name, currency): balance for name, currency, balance, _ in projecting.rows["trial_balance_now"]}
    assert sums(now) == {("real", "CZK"): 0, ("real", "USD"): 0, ("test", "USD"): 0}


def sums(balances: dict[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    """Return the sum of accounts by class and currency."""
    total: Counter[tuple[str, str]] = Counter()
    for (name, currency), balance in balances.items():
        total[name.split(":")[1], currency] += balance
    return dict(total)


@pytest.mark.parametrize("night", NIGHTS)
def test_no_hour_of_a_night_of_change_is_two_and_none_is_lost(night: str) -> None:
    """Rounds around a change of the clocks stand in cells of at most an hour, each counted once."""
    zone, change_us = NIGHTS[night]
    ledger = eventful(11, 150, zone=zone, cutoff_hour=2, begin_us=change_us - 2 * HOUR_US)
    projecting = projected(happened(ledger))
    opened = [e for e in happened(ledger) if e.type == "RoundOpened"]
    assert opened[0].at_us < change_us < opened[-1].at_us
    cells = Counter((e.data["table_id"], hour_of(e.at_us, e.data["parameters"]["zone"])) for e in opened)
    counted: Counter[tuple[str, int]] = Counter()
    for row in projecting.dicts("performance"):
        counted[row["table_id"], row["hour_us"]] += row["rounds_opened"]  # type: ignore[index, operator]
    assert counted == cells
    assert all(
        0 <= e.at_us - hour_of(e.at_us, zone) < HOUR_US for e in opened if e.data["table_id"] == "pots"
    )


def test_the_nights_are_where_the_clocks_change() -> None:
    """At each of the instants above an hour of the wall begins that the moment before was not in."""
    for zone, change_us in NIGHTS.values():
        before, after = (
            datetime.fromtimestamp(at // 10**6, ZoneInfo(zone)) for at in (change_us - 1, change_us)
        )
        assert before.utcoffset() != after.utcoffset()
        assert hour_of(change_us, zone) == change_us > hour_of(change_us - 1, zone)
