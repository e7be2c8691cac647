"""A quick look at a round, which says of an ordinary one that it is beyond question.

Nearly every round is ordinary. This walks once through the events of a round that was dealt from a committed
deck, played to its end, and won nothing from a jackpot; it derives what each has to say, and gives up at the
first that says anything else, or that is out of the ordinary. Then all the checks are made, which name what
is wrong. What is faultless here passes all of them (a property test), at half of their cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from domain.cards import DECK
from domain.replay import deck, kinds, payouts, pinned, play, stakes
from domain.replay.conservation import Balances, follows
from domain.replay.fields import HAND
from domain.replay.house import House, house
from domain.replay.parts import JackpotRef, Parameters, RulesetRef
from domain.replay.ranking import qualifies, rank
from domain.replay.records import Record
from domain.replay.showdown import Showdown, rank_seats
from domain.replay.state import Seat

_REMEMBERED: Final = 1024
_STREAM_PREFIX: Final = len("round-")

_Events = Iterator[Record[Any]]


class _Odd(Exception):
    """Something is out of the ordinary."""


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
    except (
        _Odd,
        AttributeError,
        StopIteration,
        IndexError,
    ):  # an event is another than is due, or is not there
        return False
    return True


def _walk(records: Sequence[Record[Any]], ruleset: bytes) -> None:
    first, last = records[0], records[-1]
    opened: kinds.RoundOpened = first.data
    table = _table(ruleset, opened.ruleset, opened.jackpot, opened.parameters, opened.currency)
    if table is None or opened.deal_source != "rng" or opened.deck_algorithm != deck.ALGORITHM:
        raise _Odd
    _check_order(records)
    events = iter(records)
    next(events)
    balances: Balances = {}
    seats = _take_stakes(events, first, table, balances)
    in_seat_order = [seats[number] for number in sorted(seats)]
    cards = _shuffled(first, last.data.deck_seed, in_seat_order, table.house)
    up_card = _check_hands(events, in_seat_order, cards, table.house)
    _take_decisions(events, seats, table.house, balances)
    shown = _check_reveal(events, in_seat_order, cards, up_card, table.house)
    _check_settlement(events, in_seat_order, shown, opened, table.house, balances)
    if next(events) is not last or type(last.data) is not kinds.RoundClosed:
        raise _Odd


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
            raise _Odd
        position, recorded_at = record.position, record.recorded_at


def _take_stakes(
    events: _Events, first: Record[kinds.RoundOpened], table: _Table, balances: Balances
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
            raise _Odd
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
                raise _Odd
            seat.side_bets[bet.bet] = bet
            event = next(events)
    if (
        type(event.data) is not kinds.BettingClosed
        or event.data.seats != len(seats)
        or play.with_too_many_hands(seats, rules)
    ):
        raise _Odd
    return seats


def _shuffled(
    first: Record[kinds.RoundOpened], seed: str | None, seats: Sequence[Seat], rules: House
) -> tuple[str, ...]:
    """The cards that are dealt, from the seed that was committed to."""
    count = HAND * (2 if rules.shared else len(seats) + 1)
    if seed is None or not seats or count > len(DECK):
        raise _Odd
    material, ruleset_hash = bytes.fromhex(seed), bytes.fromhex(first.data.ruleset.sha256)
    round_id = first.stream[_STREAM_PREFIX:]
    if deck.commitment(material, round_id, ruleset_hash) != first.data.deck_commitment:
        raise _Odd
    client_seeds = [
        (seat.number, client_seed)
        for seat in seats
        if (client_seed := seat.ante.data.client_seed) is not None
    ]
    return deck.shuffled(material, round_id, ruleset_hash, client_seeds, count)


def _check_hands(events: _Events, seats: Sequence[Seat], cards: Sequence[str], rules: House) -> str:
    """Check the hands that are dealt, in seat order, and the dealer's up-cards; return the first of those."""
    hands = 1 if rules.shared else len(seats)
    for place in range(hands):
        dealt = next(events).data
        seat = None if rules.shared else seats[place].number
        to = "shared" if rules.shared else "seat"
        _check_dealt(dealt, cards, deck.hand_indices(place, hands, round_robin=rules.round_robin))
        if type(dealt) is not kinds.Dealt or dealt.seat != seat or dealt.to != to:
            raise _Odd
        for receiver in seats if rules.shared else (seats[place],):
            receiver.final = dealt.cards
    up = next(events).data
    indices = deck.hand_indices(hands, hands, round_robin=rules.round_robin)
    _check_dealt(up, cards, tuple([indices[place] for place in rules.up_indices]))
    if up.to != "dealer" or up.up_indices != rules.up_indices:
        raise _Odd
    first: str = up.cards[0]
    return first


def _check_dealt(
    dealt: kinds.Dealt | kinds.DealerQualified, cards: Sequence[str], indices: tuple[int, ...]
) -> None:
    if dealt.indices != indices or dealt.cards != tuple([cards[index] for index in indices]):
        raise _Odd


def _take_decisions(events: _Events, seats: dict[int, Seat], rules: House, balances: Balances) -> None:
    """Take the decision of each seat: to fold or to raise, and nobody's time was over."""
    before = 0
    for _ in seats:
        event = next(events)
        decision = event.data
        seat = seats.get(decision.seat)
        if (
            seat is None
            or seat.decided
            or decision.decided_by == "timeout"
            or (rules.decisions_in_seat_order and decision.seat < before)
        ):
            raise _Odd
        seat.decided, before = True, decision.seat
        if type(decision) is kinds.Folded:
            seat.folded = True
            continue
        if (
            type(decision) is not kinds.Raised
            or decision.player != seat.player
            or decision.amount != seat.ante.data.amount * rules.raise_multiple
            or follows(event, -decision.amount, balances) is not None
        ):
            raise _Odd
        seat.raised = decision.amount


def _check_reveal(
    events: _Events, seats: Sequence[Seat], cards: Sequence[str], up_card: str, rules: House
) -> Showdown:
    """Check the dealer's hand, if it has to be revealed; rank all hands."""
    hands, with_up_card = rank_seats(seats, (up_card,))
    if not rules.reveal_if_all_fold and all(seat.folded for seat in seats):
        return Showdown(hands, with_up_card, None, qualified=False)
    dealer = next(events).data
    places = 1 if rules.shared else len(seats)
    _check_dealt(dealer, cards, deck.hand_indices(places, places, round_robin=rules.round_robin))
    hand = rank(dealer.cards)
    qualified = qualifies(hand, rules.qualify)
    if dealer.category != hand.category or dealer.qualified != qualified:
        raise _Odd
    return Showdown(hands, with_up_card, hand, qualified)


def _check_settlement(
    events: _Events,
    seats: Sequence[Seat],
    shown: Showdown,
    opened: kinds.RoundOpened,
    rules: House,
    balances: Balances,
) -> None:
    """Check what each seat got, in seat order; an award of the jackpot is out of the ordinary."""
    caps = payouts.Caps(opened, rules)
    jackpot = rules.side_bets.get("jackpot")
    for seat in seats:
        event = next(events)
        settled: kinds.Settled = event.data
        hand = shown.hands[seat.number]
        result = shown.result(seat, hand)
        legs = payouts.legs(seat, result, hand, rules, caps, shown, {})
        paid = sum([leg.returned + leg.won for leg in legs])
        if (
            (jackpot is not None and "jackpot" in seat.side_bets and hand.category in jackpot.awards)
            or settled.bets != tuple(legs)
            or (settled.seat, settled.player, settled.result) != (seat.number, seat.player, result)
            or settled.category != hand.category
            or settled.shown != payouts.is_shown(seat, rules, shown)
            or follows(event, paid, balances) is not None
        ):
            raise _Odd
