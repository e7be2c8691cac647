"""A finished round put together again from its events, and whether each was legal when it came.

**The transition table of the replay**, written from the rules and not from the writer's:

========== ==================================================================================================
in         may come next
========== ==================================================================================================
new        RoundOpened → betting
betting    AntePlaced · SideBetPlaced (right behind its ante) · BettingClosed → dealing · RoundVoided
dealing    Dealt: the hands in ascending seat order, then the dealer's up-cards → deciding · RoundVoided
deciding   CardExchanged · Folded · Raised, by seats that have not decided · RoundVoided · when all have:
           DealerQualified → revealed, or, where the dealer's hand stays closed, payments → settling
revealed   JackpotHit · Settled → settling · RoundVoided
settling   JackpotHit · Settled · when all seats are settled: RoundClosed → closed
voided     ContributionReversed · StakeRefunded, once a seat
closed     nothing
========== ==================================================================================================

An event that was not legal is reported and, where it can be, still taken into account, so that the other
checks can run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from domain.replay.state import Game, Seat
from domain.replay.stream import Record

_ALLOWED: Final[Mapping[str, frozenset[str]]] = {
    "new": frozenset({"RoundOpened"}),
    "betting": frozenset({"AntePlaced", "SideBetPlaced", "BettingClosed", "RoundVoided"}),
    "dealing": frozenset({"Dealt", "RoundVoided"}),
    "deciding": frozenset(
        {"CardExchanged", "Folded", "Raised", "DealerQualified", "JackpotHit", "Settled", "RoundVoided"}
    ),
    "revealed": frozenset({"JackpotHit", "Settled", "RoundVoided"}),
    "settling": frozenset({"JackpotHit", "Settled", "RoundClosed"}),
    "voided": frozenset({"ContributionReversed", "StakeRefunded"}),
    "closed": frozenset(),
}

# The phase after an event follows from the event alone; Dealt leads on when it was the dealer's.
_AFTER: Final[Mapping[str, str]] = {
    "RoundOpened": "betting",
    "AntePlaced": "betting",
    "SideBetPlaced": "betting",
    "BettingClosed": "dealing",
    "Dealt": "dealing",
    "CardExchanged": "deciding",
    "Folded": "deciding",
    "Raised": "deciding",
    "DealerQualified": "revealed",
    "JackpotHit": "settling",
    "Settled": "settling",
    "RoundClosed": "closed",
    "RoundVoided": "voided",
    "ContributionReversed": "voided",
    "StakeRefunded": "voided",
}

ILLEGAL_IN_PHASE: Final = "not in this phase"


def follow(records: Sequence[Record]) -> Game:
    """Put the round together; what was not legal is in `Game.problems`."""
    game = Game()
    for record in records:
        kind = record.type
        if kind not in _ALLOWED[game.phase]:
            game.problems.append(record.problem(f"{ILLEGAL_IN_PHASE}: {game.phase}"))
        why = _TAKE[kind](game, record)
        if why is not None:
            game.problems.append(record.problem(why))
        game.phase = "deciding" if kind == "Dealt" and record.data.to == "dealer" else _AFTER[kind]
    game.in_seat_order = [game.seats[number] for number in sorted(game.seats)]
    return game


def _opened(game: Game, record: Record) -> str | None:
    if game.opened is None:
        game.opened = record
    return None


def _ante(game: Game, record: Record) -> str | None:
    number = record.data.seat
    if number in game.seats:
        return "the seat is taken"
    game.seats[number] = Seat(number, record.data.player, record)
    game.last_ante = number
    return None


def _side_bet(game: Game, record: Record) -> str | None:
    seat = game.seats.get(record.data.seat)
    if seat is None or seat.number != game.last_ante:
        return "not right behind the seat's ante"
    if record.data.bet in seat.side_bets:
        return "placed twice"
    seat.side_bets[record.data.bet] = record.data
    return None


def _betting_closed(game: Game, record: Record) -> str | None:
    game.betting_closed = record.data
    return None if game.seats else "nobody has staked"


def _dealt(game: Game, record: Record) -> str | None:
    data = record.data
    cards = data.cards
    if data.to == "dealer":
        game.dealer_up = data
        missing = [seat.number for seat in game.seats.values() if seat.dealt is None]
        return f"before {len(missing)} seats had cards" if missing else None
    number = data.seat
    if (number is None) != (data.to == "shared") or (number is not None and number not in game.seats):
        return "to nobody who plays"
    receivers = list(game.seats.values()) if number is None else [game.seats[number]]
    if any(seat.dealt is not None for seat in receivers):
        return "dealt twice"
    for seat in receivers:
        seat.dealt = seat.final = cards
    before = (game.hands[-1].seat or 0) if game.hands else 0
    game.hands.append(data)
    return "not in seat order" if number is not None and before > number else None


def _undecided(game: Game, record: Record) -> Seat | None:
    seat = game.seats.get(record.data.seat)
    return None if seat is None or seat.decided else seat


def _exchanged(game: Game, record: Record) -> str | None:
    seat = _undecided(game, record)
    if seat is None:
        return "the seat has nothing to decide"
    if seat.exchange is not None:
        return "exchanged twice"
    seat.exchange = record.data
    game.actions.append(record)
    discard, drawn = record.data.discard, record.data.drawn
    if seat.final is None or discard not in seat.final:
        return "the discarded card is not in the hand"
    seat.final = tuple(drawn if card == discard else card for card in seat.final)
    return None


def _decided(game: Game, record: Record) -> str | None:
    seat = _undecided(game, record)
    if seat is None:
        return "the seat has nothing to decide"
    seat.decided = True
    if record.type == "Raised":
        seat.raised = record.data.amount
    else:
        seat.folded = True
    game.decided += 1
    game.actions.append(record)
    return None


def _dealer(game: Game, record: Record) -> str | None:
    game.dealer = record.data
    return _not_all_decided(game)


def _not_all_decided(game: Game) -> str | None:
    return None if game.decided == len(game.seats) else "before every seat had decided"


def _hit(game: Game, record: Record) -> str | None:
    seat = game.seats.get(record.data.seat)
    if seat is None or seat.hit is not None or seat.settled is not None:
        return "no award is due to this seat here"
    seat.hit = record
    game.payments.append(record)
    return _not_all_decided(game)


def _settled(game: Game, record: Record) -> str | None:
    seat = game.seats.get(record.data.seat)
    if seat is None or seat.settled is not None:
        return "the seat has nothing to settle"
    seat.settled = record.data
    game.settled += 1
    game.payments.append(record)
    return _not_all_decided(game)


def _closed(game: Game, record: Record) -> str | None:
    game.closed = record.data
    return None if game.settled == len(game.seats) else "before every seat was settled"


def _voided(game: Game, record: Record) -> str | None:
    if game.voided is not None:
        return "void already"
    game.voided, game.voided_in = record, game.phase
    # A deal is one step: hands without the dealer's could not be compared with the deck.
    return "in the middle of a deal" if game.hands and game.dealer_up is None else None


def _reversed(game: Game, record: Record) -> str | None:
    seat = game.seats.get(record.data.seat)
    if seat is None or seat.reversal is not None or seat.refund is not None:
        return "no reversal is due to this seat here"
    seat.reversal = record
    game.refunds.append(record)
    return None


def _refunded(game: Game, record: Record) -> str | None:
    seat = game.seats.get(record.data.seat)
    if seat is None or seat.refund is not None:
        return "no refund is due to this seat here"
    seat.refund = record.data
    game.refunded += 1
    game.refunds.append(record)
    return None


_TAKE: Final[Mapping[str, Callable[[Game, Record], str | None]]] = {
    "RoundOpened": _opened,
    "AntePlaced": _ante,
    "SideBetPlaced": _side_bet,
    "BettingClosed": _betting_closed,
    "Dealt": _dealt,
    "CardExchanged": _exchanged,
    "Folded": _decided,
    "Raised": _decided,
    "DealerQualified": _dealer,
    "JackpotHit": _hit,
    "Settled": _settled,
    "RoundClosed": _closed,
    "RoundVoided": _voided,
    "ContributionReversed": _reversed,
    "StakeRefunded": _refunded,
}
