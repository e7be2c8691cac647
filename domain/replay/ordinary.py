"""The steps of an ordinary round after its stakes: hands, decisions, the reveal, the settlement.

Each takes the events that are due from an iterator, derives what they have to say, and raises `Odd` where one
says anything else. An event of another kind than is due may also raise AttributeError or LookupError, one
that is not there StopIteration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from domain.cards import DECK
from domain.replay import deck, kinds, payouts
from domain.replay.conservation import Balances, follows
from domain.replay.fields import HAND
from domain.replay.house import House
from domain.replay.ranking import qualifies, rank
from domain.replay.records import Record
from domain.replay.showdown import Showdown, rank_seats
from domain.replay.state import Seat

_PREFIX: Final = len("round-")

Events = Iterator[Record[Any]]


class Odd(Exception):
    """Something is out of the ordinary."""


def shuffled(
    first: Record[kinds.RoundOpened], seed: str | None, seats: Sequence[Seat], rules: House
) -> tuple[str, ...]:
    """The cards that are dealt, from the seed that was committed to."""
    count = HAND * (2 if rules.shared else len(seats) + 1)
    if seed is None or not seats or count > len(DECK):
        raise Odd
    if rules.exchange_fee_antes is not None:
        count = min(count + 2 * len(seats), len(DECK))
    material, ruleset_hash = bytes.fromhex(seed), bytes.fromhex(first.data.ruleset.sha256)
    round_id = first.stream[_PREFIX:]
    if deck.commitment(material, round_id, ruleset_hash) != first.data.deck_commitment:
        raise Odd
    client_seeds = [
        (seat.number, client_seed)
        for seat in seats
        if (client_seed := seat.ante.data.client_seed) is not None
    ]
    return deck.shuffled(material, round_id, ruleset_hash, client_seeds, count)


def check_hands(events: Events, seats: Sequence[Seat], cards: Sequence[str], rules: House) -> str:
    """Check the hands that are dealt, in seat order, and the dealer's up-cards; return the first of those."""
    hands = 1 if rules.shared else len(seats)
    for place in range(hands):
        dealt = next(events).data
        seat = None if rules.shared else seats[place].number
        to = "shared" if rules.shared else "seat"
        _check_dealt(dealt, cards, deck.hand_indices(place, hands, round_robin=rules.round_robin))
        if type(dealt) is not kinds.Dealt or dealt.seat != seat or dealt.to != to:
            raise Odd
        for receiver in seats if rules.shared else (seats[place],):
            receiver.final = dealt.cards
    up = next(events).data
    indices = deck.hand_indices(hands, hands, round_robin=rules.round_robin)
    _check_dealt(up, cards, tuple([indices[place] for place in rules.up_indices]))
    if up.to != "dealer" or up.seat is not None or up.up_indices != rules.up_indices:
        raise Odd
    first: str = up.cards[0]
    return first


def _check_dealt(
    dealt: kinds.Dealt | kinds.DealerQualified, cards: Sequence[str], indices: tuple[int, ...]
) -> None:
    if dealt.indices != indices or dealt.cards != deck.picker(indices)(cards):
        raise Odd


def take_decisions(
    events: Events, seats: dict[int, Seat], cards: Sequence[str], rules: House, balances: Balances
) -> None:
    """Take the decision of each seat, to fold or to raise, and the cards bought before it.

    A decision that a time-out made is out of the ordinary.
    """
    turns = iter(sorted(seats))
    undealt = HAND * (2 if rules.shared else len(seats) + 1)
    for _ in seats:
        turn = next(turns)
        while type((event := next(events)).data) is kinds.CardExchanged:
            _take_exchange(event, _in_turn(event, seats, turn, rules), cards, undealt, rules, balances)
            undealt += 2
        seat, decision = _in_turn(event, seats, turn, rules), event.data
        seat.decided = True
        if type(decision) is kinds.Folded:
            seat.folded = True
            continue
        if (
            type(decision) is not kinds.Raised
            or decision.player != seat.player
            or decision.amount != seat.ante.data.amount * rules.raise_multiple
            or follows(event, -decision.amount, balances) is not None
        ):
            raise Odd
        seat.raised = decision.amount


def _in_turn(event: Record[Any], seats: dict[int, Seat], turn: int, rules: House) -> Seat:
    """The undecided seat that acts, which it does itself and, where the house has turns, in its turn."""
    action = event.data
    seat = seats[action.seat]
    if (
        seat.decided
        or action.decided_by == "timeout"
        or (rules.decisions_in_seat_order and seat.number != turn)
    ):
        raise Odd
    return seat


def _take_exchange(
    event: Record[kinds.CardExchanged],
    seat: Seat,
    cards: Sequence[str],
    undealt: int,
    rules: House,
    balances: Balances,
) -> None:
    """Take a bought card: the next undealt one is burned, the one after it drawn (source 003)."""
    bought, final = event.data, seat.final or ()
    if (
        seat.exchange is not None
        or bought.player != seat.player
        or rules.exchange_fee_antes is None
        or bought.fee != seat.ante.data.amount * rules.exchange_fee_antes
        or sorted(bought.forfeited) != sorted(rules.forfeits & seat.side_bets.keys())
        or bought.discard not in final
        or (bought.burn_index, bought.drawn_index) != (undealt, undealt + 1)
        or bought.drawn != cards[undealt + 1]
        or follows(event, -bought.fee, balances) is not None
    ):
        raise Odd
    seat.exchange = bought
    seat.final = tuple([bought.drawn if card == bought.discard else card for card in final])


def check_reveal(
    events: Events, seats: Sequence[Seat], cards: Sequence[str], up_card: str, rules: House
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
        raise Odd
    return Showdown(hands, with_up_card, hand, qualified)


def check_settlement(
    events: Events,
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
            raise Odd
