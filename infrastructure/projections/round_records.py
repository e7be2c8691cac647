"""The record of every hand (GLI-19 2.8.2, 4.3.3): one row for each seat of a round, written when it ends.

What a record holds of a round that has not ended is made when it is asked for, from the same facts by the
same function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import orjson

from infrastructure.projections.kinds import Column, Happened, Out, Row, Shelf, Table
from infrastructure.projections.round_facts import RoundFacts, SeatFacts

ROUND_RECORDS: Final = Table(
    "round_records",
    (
        Column("opened_position", "bigint"),
        Column("ended_position", "bigint"),
        Column("opened_us", "bigint"),
        Column("ended_us", "bigint"),
        Column("hour_us", "bigint"),
        Column("placed_us", "bigint"),
        Column("betting_closed_us", "bigint"),
        Column("exchanged_us", "bigint"),
        Column("decided_us", "bigint"),
        Column("revealed_us", "bigint"),
        Column("settled_us", "bigint"),
        Column("balance_before", "bigint"),
        Column("balance_after", "bigint"),
        Column("ante", "bigint"),
        Column("raise", "bigint"),
        Column("fee", "bigint"),
        Column("side_bets", "bigint"),
        Column("wagered", "bigint"),
        Column("returned", "bigint"),
        Column("game_win", "bigint"),
        Column("jackpot_win", "bigint"),
        Column("ruleset_version", "integer"),
        Column("jackpot_version", "integer"),
        Column("seat", "smallint"),
        Column("qualified", "boolean"),
        Column("shown", "boolean"),
        Column("round_id", "text"),
        Column("player", "text"),
        Column("table_id", "text"),
        Column("ruleset_id", "text"),
        Column("ruleset_sha256", "text"),
        Column("jackpot_id", "text"),
        Column("account_class", "text"),
        Column("currency", "text"),
        Column("gaming_day", "text"),
        Column("deal_source", "text"),
        Column("rng", "text"),
        Column("build", "text"),
        Column("session_id", "text"),
        Column("channel", "text"),
        Column("status", "text"),
        Column("void_cause", "text"),
        Column("decision", "text"),
        Column("decided_by", "text"),
        Column("discard", "text"),
        Column("drawn", "text"),
        Column("exchanged_by", "text"),
        Column("cards", "text"),
        Column("category", "text"),
        Column("result", "text"),
        Column("dealer_up_cards", "text"),
        Column("dealer_cards", "text"),
        Column("dealer_category", "text"),
        Column("jackpot_category", "text"),
        Column("bets", "text"),
        Column("contribution", "numeric(24,0)"),
        Column("diversion", "numeric(24,0)"),
        Column("reversed", "numeric(24,0)"),
    ),
    key=("round_id", "seat"),
    mode="insert",
)
"""Times in microseconds since the epoch, null where the phase was not reached; amounts in minor units, but
`contribution` (to the jackpot's meter or overflow), `diversion` and `reversed` in 1/10000 of them. The five
components stay apart: `wagered` (ante, raise, fee and side bets), `contribution`, `returned` (stakes given
back, refunds included), `game_win`, `jackpot_win`. `balance_…` is the player's wallet before the ante and
after the hand's end. Cards are ten characters, or null. `bets` is a JSON list of [bet, stake, returned, won]
or [bet, stake, returned, won, odds]. `rng` and `build` name the software where it dealt; where a physical
table did (`deal_source` ``table``) `rng` is null and the table's id stands for its equipment. `status` is
``complete`` or ``cancelled``; a round that has not ended has no row."""

INTERRUPTED_AFTER_US: Final = 15 * 60 * 1_000_000
"""A round at a table without a time to decide in counts as interrupted after as long without an event."""
_COLUMNS: Final = tuple(column.name for column in ROUND_RECORDS.columns)


class RoundRecords:
    """The projection."""

    name = "round_records"
    version = 1
    tables = (ROUND_RECORDS,)
    types: frozenset[str] | None = frozenset(("RoundClosed", "StakeRefunded"))
    rounds = True

    def restore(self, shelf: Shelf, position: int) -> None:
        """Nothing is remembered."""

    def begin(self, batch: Sequence[Happened], shelf: Shelf) -> None:
        """Nothing is to be read."""

    def event(self, happened: Happened, facts: RoundFacts, out: Out) -> None:  # noqa: ARG002 - the facts tell
        """Put the records of a round that has ended."""
        if facts.finished:
            for row in record_rows(facts, facts.seats.values(), status(facts, 0)):
                out.put("round_records", row)

    def finish(self, last: Happened, out: Out) -> None:
        """Nothing is left over."""


def round_record(facts: RoundFacts, seat: int, now_us: int) -> dict[str, Any]:
    """The record of one seat as of the latest event of its round, by the names of the columns.

    Of a round that has not ended it holds no player's own cards (G5). Raises KeyError for a seat without an
    ante.
    """
    (row,) = record_rows(facts, [facts.seats[seat]], status(facts, now_us))
    return dict(zip(_COLUMNS, row, strict=True))


def status(facts: RoundFacts, now_us: int) -> str:
    """``complete``, ``cancelled``, ``in_progress`` or ``interrupted``.

    A round is interrupted when it has not ended and nothing has happened in it for longer than its table
    gives a seat to decide, or than a quarter of an hour where it gives no such time.
    """
    if facts.finished:
        return "complete" if facts.void_cause is None else "cancelled"
    seconds = facts.opened["parameters"].get("decision_seconds")
    allowed = INTERRUPTED_AFTER_US if seconds is None else seconds * 1_000_000
    return "interrupted" if now_us - facts.last_us > allowed else "in_progress"


def record_rows(facts: RoundFacts, seats: Iterable[SeatFacts], status_: str) -> Iterator[Row]:
    """Rows of `ROUND_RECORDS` for seats of a round."""
    opened = facts.opened
    ruleset, jackpot = opened["ruleset"], opened.get("jackpot") or {}
    day, hour_us, table_id = facts.cell[:3]
    up_cards, dealer = _text(facts.up_cards), _text(facts.dealer)
    # Whether everybody may know the hands: face down they stay nobody's business until the end (G5).
    open_ = facts.finished or bool(facts.shared)
    for seat in seats:
        settled, hit = seat.settled, seat.hit or {}
        bets = _bets(seat)
        yield (
            facts.opened_position, facts.ended_position, facts.opened_us, facts.ended_us, hour_us,
            seat.placed_us, facts.betting_closed_us, seat.exchanged_us, seat.decided_us, facts.revealed_us,
            seat.ended_us, seat.balance_before, seat.balance_after,
            seat.ante, seat.raised, seat.fee, sum(seat.side_bets.values()), seat.staked,
            sum([bet[2] for bet in bets]), sum([bet[3] for bet in bets if bet[0] != "jackpot"]),
            hit.get("award", 0),
            ruleset["version"], jackpot.get("version"), seat.seat,
            facts.qualified, None if settled is None else settled["shown"],
            facts.round_id, seat.player, table_id, ruleset["id"], ruleset["sha256"], jackpot.get("id"),
            facts.account_class, facts.currency, day,
            opened["deal_source"], opened.get("rng"), opened["build"],
            seat.session_id, seat.channel, status_, facts.void_cause,
            seat.decision, seat.decided_by,
            *((seat.discard, seat.drawn) if open_ else (None, None)), seat.exchanged_by,
            _text(facts.shared or (seat.cards if open_ else ())),
            None if settled is None or not open_ else settled.get("category"),
            None if settled is None else settled["result"],
            up_cards, dealer, facts.dealer_category, hit.get("category"),
            orjson.dumps(bets).decode(),
            seat.contribution, seat.diversion, seat.reversed,
        )  # fmt: skip


def _text(cards: tuple[str, ...]) -> str | None:
    return "".join(cards) or None


def _bets(seat: SeatFacts) -> list[list[Any]]:
    """The seat's bets, their stakes and what became of them; nothing yet of a hand that has not ended."""
    if seat.settled is not None:
        return [
            [bet["bet"], bet["stake"], bet["returned"], bet["won"], *([bet["odds"]] if "odds" in bet else [])]
            for bet in seat.settled["bets"]
        ]
    if seat.refund is not None:
        return [[bet["bet"], bet["stake"], bet["stake"], 0] for bet in seat.refund["bets"]]
    placed = {"ante": seat.ante, "raise": seat.raised, "exchange_fee": seat.fee, **seat.side_bets}
    return [[bet, stake, 0, 0] for bet, stake in placed.items() if stake]
