"""The strategy chart of a house: which decision is best, by hand and by what the dealer shows.

A chart has sections, a section rows and columns; each cell counts the states that belong there, a state being
a hand of five and the dealer's up-cards, by the decision that is best in them. All states of a cell are
equally likely. A cell in which everything is of one kind is a rule; the shares of another say how often it
depends on suits, or on what row and column leave open.

Every state is in exactly one cell, but for sections that show some of them again in more detail: without
those, the counts of a chart add up to all states that there are, C(52,5) * C(47,up-cards).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Self, TypeAlias

Action: TypeAlias = Literal["fold", "raise", "exchange"]
Against: TypeAlias = Literal["one", "unpaired", "pair", "ranks"]

ACTIONS: Final[tuple[Action, ...]] = ("fold", "raise", "exchange")
"""In the order of the numbers that decisions are written as (`domain.odds.exchange_values`)."""


@dataclass(frozen=True, slots=True)
class GivenUp:
    """In how many states of a row a card is best given up: what the four others are, and which card it is.

    ``keeps`` is one of `domain.odds.hand_kinds.KEPT`, ``gives`` one of `GIVEN` there.
    """

    keeps: str
    gives: str
    states: int


@dataclass(frozen=True, slots=True)
class Row:
    """A row: by column the numbers of states, by index in the chart's ``actions``; 0 where none can be."""

    name: str
    cells: tuple[tuple[int, ...], ...]
    gives_up: tuple[GivenUp, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under the same columns. ``key`` says what the rows are: a group of `domain.odds.hand_kinds`.

    ``against`` says what the columns are: ``one`` up-card by its rank; of two, ``unpaired`` ones by how high
    they are and how many of their ranks the hand holds, or a ``pair`` by its rank. In ``ranks`` the rows are
    the higher up-card and the columns the lower one, and ``key`` is a row of another section, some of which
    is shown again, by the ranks it meets.
    """

    key: str
    against: Against
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """The best decisions of a house, exactly."""

    actions: tuple[Action, ...]
    up_cards: int
    sections: tuple[Section, ...]

    def document(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "actions": list(self.actions),
            "up_cards": self.up_cards,
            "sections": [
                {
                    "key": section.key,
                    "against": section.against,
                    "columns": list(section.columns),
                    "rows": [_row_document(row) for row in section.rows],
                }
                for section in self.sections
            ],
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read what `document` has made."""
        return cls(
            tuple(document["actions"]),
            document["up_cards"],
            tuple(
                Section(
                    each["key"], each["against"], tuple(each["columns"]), tuple(map(_row_from, each["rows"]))
                )
                for each in document["sections"]
            ),
        )

    def states(self) -> tuple[int, ...]:
        """Return the number of states by action."""
        sections = [section for section in self.sections if section.against != "ranks"]
        cells = [cell for section in sections for row in section.rows for cell in row.cells]
        return tuple(sum(column) for column in zip(*cells, strict=True))


def _row_document(row: Row) -> dict[str, Any]:
    gives_up = [{"keeps": each.keeps, "gives": each.gives, "states": each.states} for each in row.gives_up]
    document: dict[str, Any] = {"name": row.name, "cells": [list(cell) for cell in row.cells]}
    return {**document, "gives_up": gives_up} if gives_up else document


def _row_from(document: Mapping[str, Any]) -> Row:
    gives_up = tuple(GivenUp(**each) for each in document.get("gives_up", ()))
    return Row(document["name"], tuple(map(tuple, document["cells"])), gives_up)
