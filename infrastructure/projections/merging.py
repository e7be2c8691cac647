"""What becomes of rows of one key."""

from __future__ import annotations

from collections.abc import Callable

from infrastructure.projections.kinds import Key, Row, Table


def key_function(table: Table) -> Callable[[Row], Key]:
    """Return what gives the key of a row of this table."""
    names = [column.name for column in table.columns]
    places = [names.index(name) for name in table.key]

    def key_of(row: Row) -> Key:
        return tuple([row[place] for place in places])

    return key_of


def added(table: Table, known: Row, row: Row) -> Row:
    """Return the sum of two rows of one key, in a table of mode ``add``."""
    in_key = [column.name in table.key for column in table.columns]
    return tuple([a if keyed else a + b for keyed, a, b in zip(in_key, known, row, strict=True)])
