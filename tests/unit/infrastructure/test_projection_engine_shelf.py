"""Own rows as of the batch before, while that batch is still on its way."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.projections.current_shelf import CurrentShelf
from infrastructure.projections.kinds import Column, Row, Table
from infrastructure.projections.memory import MemorySink
from infrastructure.projections.sink import Move
from tests.unit.infrastructure.small_projections import Small

KEY = (Column("player", "text"), Column("began", "bigint"))


class Kept(Small):
    """A table of each mode, all with the same columns."""

    name = "kept"
    tables = tuple(
        Table(mode, (*KEY, Column("amount", "bigint")), ("player", "began"), mode)  # type: ignore[arg-type]
        for mode in ("insert", "replace", "add")
    )


class LostError(Exception):
    """The way to the database is gone."""


ROWS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 4), st.integers(0, 99)), max_size=6)
ALL_KEYS = list(itertools.product("abc", range(6)))


def unique(rows: list[Row], known: list[Row]) -> list[Row]:
    """Return the rows whose keys were not put before."""
    keys = {row[:2] for row in known}
    return [row for row in {row[:2]: row for row in rows}.values() if row[:2] not in keys]


@given(ROWS, ROWS)
def test_what_is_on_its_way_is_seen_as_if_it_were_there(first: list[Row], second: list[Row]) -> None:
    """Before and after it has arrived the shelf shows what it shows when nothing is on its way."""
    sink = MemorySink([Kept()])
    first_new = unique(first, [])
    sink.apply([Move("kept", 1, 0, 1, {"insert": first_new, "replace": first, "add": first})])
    move = Move("kept", 1, 1, 2, {"insert": unique(second, first_new), "replace": second, "add": second})
    waiting = [move]

    def settle() -> None:
        if waiting:
            sink.apply([waiting.pop()])

    def look() -> list[object]:
        tables = ("insert", "replace", "add") if not waiting else ("insert", "replace")
        return [
            found
            for table in tables
            for found in (
                shelf.rows(table, ALL_KEYS),
                shelf.latest(table, [("a",), ("b",), ("c",)]),
                shelf.latest(table, [()]),
                shelf.latest(table, []),
            )
        ]

    shelf = CurrentShelf(
        sink.shelf("kept", 1), Kept.tables, lambda: waiting[0].rows if waiting else move.rows, settle
    )
    before = look()
    sums = shelf.rows("add", ALL_KEYS)
    assert not waiting, "sums are waited for"
    after = look()
    plain = sink.shelf("kept", 1)
    assert sums == plain.rows("add", ALL_KEYS)
    assert before == after[: len(before)]
    assert shelf.whole("insert") == plain.whole("insert")
    for table, place in (("insert", 0), ("replace", 4), ("add", 8)):
        assert after[place : place + 3] == [
            plain.rows(table, ALL_KEYS),
            plain.latest(table, [("a",), ("b",), ("c",)]),
            plain.latest(table, [()]),
        ]


@pytest.mark.parametrize("where", ["settling", "looking"])
def test_trouble_on_the_way_is_told_from_a_projections_mistake(where: str) -> None:
    """An error of the database is kept as trouble; one that a wrong question caused is not."""

    def fail(*_: object) -> None:
        raise LostError

    sink = MemorySink([Kept()])
    shelf = CurrentShelf(
        sink.shelf("kept", 1), Kept.tables, dict, fail if where == "settling" else lambda: None
    )
    if where == "looking":
        shelf._shelf.rows = fail  # type: ignore[method-assign, assignment]
    with pytest.raises(LostError) as lost:
        shelf.rows("add", ALL_KEYS)
    assert shelf.trouble is lost.value
