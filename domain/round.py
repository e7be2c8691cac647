"""The life of a round.

A round **opens** at a table: it pins the rules, the parameters and (deal source ``rng``) a deck by its
commitment, and takes stakes. While it is *betting*, seats place antes and side bets. «No more bets» closes
betting and the cards are **dealt**: each seat's five (or the one hand that all share) and the dealer's
up-cards. Now every seat decides: it may exchange a card where the house sells one, then it raises or folds.
When the last seat has decided the round is *decided* and the dealer turns up the other cards: the round is
*revealed*, and the dealer's hand qualifies or does not. Seat after seat is **settled**, the jackpot's awards
in the same order. The round **closes** by revealing the deck's seed. A shared table with more bettors than
one command carries stays revealed (or decided, where all have folded and the house does not turn up its
cards) until the last seat is settled.

Until the first seat is settled a round can be declared **void**: every stake comes back, contributions leave
the meter, and the seed is revealed. After that only a correction changes money (G12).

`TRANSITIONS` is that life as a table: from a phase, by an event, to a phase. Where two are named, the second
is taken when the event is the last of its kind: the last seat's decision, the last seat's settlement. The
diagram in the README is generated from it.

A `Round` is folded in place: it belongs to one writer, or to one reader's own copy, and a table of five
thousand seats would otherwise be copied at every ante. Events are what is immutable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from domain import events as ev
from domain.money import parse_exact
from domain.rules import Rules

Phase = Literal["betting", "dealt", "decided", "revealed", "settled", "closed", "voided"]
Step = Literal["waiting", "deciding", "exchanged", "raised", "folded"]

TRANSITIONS: Final[dict[tuple[Phase | None, type], tuple[Phase, ...]]] = {
    (None, ev.RoundOpened): ("betting",),
    ("betting", ev.AntePlaced): ("betting",),
    ("betting", ev.SideBetPlaced): ("betting",),
    ("betting", ev.BettingClosed): ("dealt",),
    ("dealt", ev.Dealt): ("dealt",),
    ("dealt", ev.CardExchanged): ("dealt",),
    ("dealt", ev.Folded): ("dealt", "decided"),
    ("dealt", ev.Raised): ("dealt", "decided"),
    ("decided", ev.DealerQualified): ("revealed",),
    ("decided", ev.JackpotHit): ("decided",),
    ("decided", ev.Settled): ("decided", "settled"),
    ("revealed", ev.JackpotHit): ("revealed",),
    ("revealed", ev.Settled): ("revealed", "settled"),
    ("settled", ev.RoundClosed): ("closed",),
    ("betting", ev.RoundVoided): ("voided",),
    ("dealt", ev.RoundVoided): ("voided",),
    ("decided", ev.RoundVoided): ("voided",),
    ("revealed", ev.RoundVoided): ("voided",),
    ("voided", ev.ContributionReversed): ("voided",),
    ("voided", ev.StakeRefunded): ("voided",),
}

STEPS: Final[dict[tuple[Step, type], Step]] = {
    ("waiting", ev.BettingClosed): "deciding",
    ("deciding", ev.CardExchanged): "exchanged",
    ("deciding", ev.Folded): "folded",
    ("deciding", ev.Raised): "raised",
    ("exchanged", ev.Folded): "folded",
    ("exchanged", ev.Raised): "raised",
}
"""A seat's own steps while the round is dealt."""

FINISHED: Final = frozenset(("closed", "voided"))


class IllegalTransition(Exception):
    """An event that does not follow from where the round stands: the stream is not a round's."""


@dataclass(slots=True)
class Seat:
    """One seat's part of a round.

    Amounts in minor units, but for the jackpot's in 1/10000 of them: `contribution`, `overflow` of it that
    the meter could not take, and `diversion`.
    """

    seat: int
    player: str
    ante: int
    session_id: str | None
    channel: str | None
    client_seed: str | None
    step: Step = "waiting"
    side_bets: dict[str, int] = field(default_factory=dict)
    contribution: int = 0
    overflow: int = 0
    diversion: int = 0
    cards: tuple[str, ...] = ()
    raised: int = 0
    fee: int = 0
    forfeited: tuple[str, ...] = ()
    decided_by: ev.DecidedBy | None = None
    hit: ev.JackpotHit | None = None
    settled: ev.Settled | None = None
    reversed: bool = False
    refunded: bool = False

    def placed(self) -> list[tuple[str, int]]:
        """The bets that stand on the seat and their stakes, in the order in which they are settled."""
        bets = [("ante", self.ante), ("raise", self.raised), ("exchange_fee", self.fee)]
        return [(bet, stake) for bet, stake in [*bets, *self.side_bets.items()] if stake]

    def stakes(self) -> int:
        """All the seat has staked: ante, raise, exchange fee and side bets."""
        return self.ante + self.raised + self.fee + sum(self.side_bets.values())


@dataclass(slots=True)
class Round:
    """A round as its events tell it.

    `opened` pins what it is played by; `hands` counts each player's hands that are not finished. `rules` is
    what `opened` pins, compiled, where somebody has needed it.
    """

    id: str
    opened: ev.RoundOpened
    version: int = 0
    phase: Phase = "betting"
    opened_command: str = ""
    staked_command: str | None = None
    seats: dict[int, Seat] = field(default_factory=dict)
    hands: dict[str, int] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    shared: tuple[str, ...] = ()
    up_cards: tuple[str, ...] = ()
    up_indices: tuple[int, ...] = ()
    dealer: tuple[str, ...] = ()
    dealer_category: str | None = None
    qualified: bool | None = None
    undecided: int = 0
    folded: int = 0
    discards: list[str] = field(default_factory=list)
    settled: int = 0
    refunded: int = 0
    deck_seed: str | None = None
    void_cause: str | None = None
    rules: Rules | None = field(default=None, compare=False, repr=False)

    @property
    def finished(self) -> bool:
        """Closed, or void with every stake given back."""
        return self.phase == "closed" or (self.phase == "voided" and self.refunded == len(self.seats))

    def next_seat(self) -> int | None:
        """The first seat that has not decided, or None."""
        return next((number for number in self.order if self.seats[number].decided_by is None), None)

    def hand(self, seat: Seat) -> tuple[str, ...]:
        """The five cards a seat plays: its own, or the shared ones."""
        return seat.cards or self.shared


def evolve(state: Round | None, stream: str, event: ev.Event, command: str = "") -> Round:
    """Fold one event into a round and return it (the same object, after the first event).

    `command` is the id of the command that wrote the event. Raises IllegalTransition where the table of
    transitions has no entry.
    """
    kind = type(event)
    if state is None:
        if not isinstance(event, ev.RoundOpened):
            raise IllegalTransition(f"a round begins with RoundOpened, not {kind.__name__}")
        return Round(
            id=stream.removeprefix("round-"),
            opened=event,
            version=1,
            opened_command=command,
        )
    targets = TRANSITIONS.get((state.phase, kind))
    if targets is None:
        raise IllegalTransition(f"{kind.__name__} does not follow in phase {state.phase}")
    _APPLY[kind](state, event)
    state.phase = targets[-1 if _is_last(state) else 0]
    state.version += 1
    if state.staked_command is None and kind is ev.AntePlaced:
        state.staked_command = command
    return state


def _is_last(state: Round) -> bool:
    """Whether every seat has decided or, after that, has been settled."""
    return state.undecided == 0 if state.phase == "dealt" else state.settled == len(state.seats)


# Each of these folds one kind of event.
def _ante_placed(state: Round, event: ev.AntePlaced) -> None:
    state.seats[event.seat] = Seat(
        event.seat, event.player, event.amount, event.session_id, event.channel, event.client_seed
    )
    state.hands[event.player] = state.hands.get(event.player, 0) + 1


def _side_bet_placed(state: Round, event: ev.SideBetPlaced) -> None:
    seat = state.seats[event.seat]
    seat.side_bets[event.bet] = event.amount
    if event.contribution is not None:
        seat.contribution = parse_exact(event.contribution)
    if event.overflow is not None:
        seat.overflow = parse_exact(event.overflow)
    if event.diversion is not None:
        seat.diversion = parse_exact(event.diversion)


def _betting_closed(state: Round, event: ev.BettingClosed) -> None:
    state.order = sorted(state.seats)
    state.undecided = event.seats
    for seat in state.seats.values():
        seat.step = STEPS[seat.step, ev.BettingClosed]


def _dealt(state: Round, event: ev.Dealt) -> None:
    if event.seat is not None:
        state.seats[event.seat].cards = event.cards
    elif event.to == "shared":
        state.shared = event.cards
    else:
        state.up_cards, state.up_indices = event.cards, event.up_indices or ()


def _step(seat: Seat, kind: type) -> None:
    following = STEPS.get((seat.step, kind))
    if following is None:
        raise IllegalTransition(f"{kind.__name__} does not follow where seat {seat.seat} is {seat.step}")
    seat.step = following


def _card_exchanged(state: Round, event: ev.CardExchanged) -> None:
    seat = state.seats[event.seat]
    _step(seat, ev.CardExchanged)
    seat.fee, seat.forfeited = event.fee, event.forfeited
    seat.cards = tuple(event.drawn if card == event.discard else card for card in seat.cards)
    state.discards.append(event.discard)


def _folded(state: Round, event: ev.Folded) -> None:
    seat = state.seats[event.seat]
    _step(seat, ev.Folded)
    seat.decided_by = event.decided_by
    state.folded += 1
    state.undecided -= 1


def _raised(state: Round, event: ev.Raised) -> None:
    seat = state.seats[event.seat]
    _step(seat, ev.Raised)
    seat.raised, seat.decided_by = event.amount, event.decided_by
    state.undecided -= 1


def _dealer_qualified(state: Round, event: ev.DealerQualified) -> None:
    state.dealer, state.dealer_category, state.qualified = event.cards, event.category, event.qualified


def _jackpot_hit(state: Round, event: ev.JackpotHit) -> None:
    state.seats[event.seat].hit = event


def _settled(state: Round, event: ev.Settled) -> None:
    seat = state.seats[event.seat]
    if seat.settled is not None:
        raise IllegalTransition(f"seat {event.seat} is settled already")
    seat.settled = event
    state.settled += 1
    state.hands[event.player] -= 1


def _round_closed(state: Round, event: ev.RoundClosed) -> None:
    state.deck_seed = event.deck_seed


def _round_voided(state: Round, event: ev.RoundVoided) -> None:
    if state.settled:
        raise IllegalTransition("a seat is settled already: only a correction changes money now")
    state.void_cause, state.deck_seed = event.cause, event.deck_seed
    state.order = sorted(state.seats)


def _contribution_reversed(state: Round, event: ev.ContributionReversed) -> None:
    seat = state.seats[event.seat]
    if seat.reversed:
        raise IllegalTransition(f"seat {event.seat} has had its contribution reversed already")
    seat.reversed = True


def _stake_refunded(state: Round, event: ev.StakeRefunded) -> None:
    seat = state.seats[event.seat]
    if seat.refunded:
        raise IllegalTransition(f"seat {event.seat} is refunded already")
    seat.refunded = True
    state.refunded += 1
    state.hands[event.player] -= 1


_APPLY: Final[dict[type, Callable[..., None]]] = {
    ev.AntePlaced: _ante_placed,
    ev.SideBetPlaced: _side_bet_placed,
    ev.BettingClosed: _betting_closed,
    ev.Dealt: _dealt,
    ev.CardExchanged: _card_exchanged,
    ev.Folded: _folded,
    ev.Raised: _raised,
    ev.DealerQualified: _dealer_qualified,
    ev.JackpotHit: _jackpot_hit,
    ev.Settled: _settled,
    ev.RoundClosed: _round_closed,
    ev.RoundVoided: _round_voided,
    ev.ContributionReversed: _contribution_reversed,
    ev.StakeRefunded: _stake_refunded,
}
