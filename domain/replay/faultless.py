"""A quick look at a round, which says of an ordinary one that it is beyond question.

Nearly every round is ordinary. This walks once through the events of a round that was dealt from a committed
deck, played to its end, and won nothing from a jackpot; it derives what each has to say, and gives up at the
first that says anything else, or that is out of the ordinary. Then all the checks are made, which name what
is wrong. What is faultless here passes all of them (a property test), at half of their cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from domain.replay import deck, kinds, ordinary, pinned, play, stakes
from domain.replay.conservation import Balances, follows
from domain.replay.house import House, house
from domain.replay.ordinary import Events, Odd
from domain.replay.parts import JackpotRef, Parameters, RulesetRef
from domain.replay.records import Record
from domain.replay.state import Seat

_REMEMBERED: Final = 1024


class _Table(NamedTuple):
    """The house, and the antes that house and table allow."""

    house: House
    min_ante: int
    max_ante: int


def is_faultless(records: Sequence[Record[Any]], ruleset: bytes) -> bool:
    """Whether an ordinary round passes all checks; False where that takes a closer look.

    `records` are well-formed; `ruleset` is a rule set's canonical form.
    """
    try:
        _walk(records, ruleset)
    except (Odd, AttributeError, LookupError, StopIteration):
        return False  # the last three: an event is another than is due, or is not there
    return True


def _walk(records: Sequence[Record[Any]], ruleset: bytes) -> None:
    first, last = records[0], records[-1]
    opened: kinds.RoundOpened = first.data
    table = _table(ruleset, opened.ruleset, opened.jackpot, opened.parameters, opened.currency)
    if table is None or opened.deal_source != "rng" or opened.deck_algorithm != deck.ALGORITHM:
        raise Odd
    _check_order(records)
    events = iter(records)
    next(events)
    balances: Balances = {}
    seats = _take_stakes(events, first, table, balances)
    in_seat_order = [seats[number] for number in sorted(seats)]
    cards = ordinary.shuffled(first, last.data.deck_seed, in_seat_order, table.house)
    up_card = ordinary.check_hands(events, in_seat_order, cards, table.house)
    ordinary.take_decisions(events, seats, cards, table.house, balances)
    shown = ordinary.check_reveal(events, in_seat_order, cards, up_card, table.house)
    ordinary.check_settlement(events, in_seat_order, shown, opened, table.house, balances)
    if next(events) is not last or type(last.data) is not kinds.RoundClosed:
        raise Odd


@lru_cache(_REMEMBERED)
def _table(
    ruleset: bytes, named: RulesetRef, jackpot: JackpotRef | None, parameters: Parameters, currency: str
) -> _Table | None:
    """What a round's first event sets, if it is as the rules and the hashes it names want it.

    The rounds of a table differ in nothing of it.
    """
    rules = house(ruleset, currency)
    if (
        rules is None
        or pinned.hash_of(ruleset) != named.sha256
        or rules.id != named.id
        or currency not in rules.currencies
        or (jackpot is not None and pinned.parameters_hash(jackpot, currency) != jackpot.sha256)
        or stakes.unfit_parameters(parameters, rules)
    ):
        return None
    return _Table(rules, *stakes.ante_limits(parameters, rules))


def _check_order(records: Sequence[Record[Any]]) -> None:
    position, recorded_at, stream = 0, "", records[0].stream
    for version, record in enumerate(records, 1):
        if (
            record.version != version
            or record.position <= position
            or record.recorded_at <= recorded_at
            or record.stream != stream
        ):
            raise Odd
        position, recorded_at = record.position, record.recorded_at


def _take_stakes(
    events: Events, first: Record[kinds.RoundOpened], table: _Table, balances: Balances
) -> dict[int, Seat]:
    """Take antes and side bets up to the end of betting; seats by number."""
    opened, rules = first.data, table.house
    seats: dict[int, Seat] = {}
    event = next(events)
    while type(event.data) is kinds.AntePlaced:
        ante = event.data
        if (
            ante.seat in seats
            or ante.seat > rules.seats
            or not table.min_ante <= ante.amount <= table.max_ante
            or (ante.client_seed is not None and event.command == first.command)
            or follows(event, -ante.amount, balances) is not None
        ):
            raise Odd
        seat = seats[ante.seat] = Seat(ante.seat, ante.player, event)
        event = next(events)
        while type(event.data) is kinds.SideBetPlaced:
            bet = event.data
            if (
                bet.seat != seat.number
                or bet.player != seat.player
                or bet.bet in seat.side_bets
                or bet.overflow is not None
                or not stakes.fits(bet, opened, rules)
                or follows(event, -bet.amount, balances) is not None
            ):
                raise Odd
            seat.side_bets[bet.bet] = bet
            event = next(events)
    if (
        type(event.data) is not kinds.BettingClosed
        or event.data.seats != len(seats)
        or play.with_too_many_hands(seats, rules)
    ):
        raise Odd
    return seats
