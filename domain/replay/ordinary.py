"""The steps of an ordinary round after its stakes: hands, decisions, the reveal, the settlement.

Each reads or writes the events that are due, and raises `Odd` where one is another. An event of another kind
than is due may also raise AttributeError, LookupError or ValueError, one that is not there LookupError.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from domain.cards import DECK
from domain.replay import deck, kinds, payouts
from domain.replay.fields import BALANCE_MAX, HAND
from domain.replay.house import House
from domain.replay.parts import is_hex
from domain.replay.ranking import qualifies, rank
from domain.replay.records import Record, text_of
from domain.replay.retelling import Odd, Retelling
from domain.replay.showdown import Showdown, rank_seats
from domain.replay.state import Seat

_PREFIX: Final = len("round-")
_SEED: Final = 96
_REMEMBERED: Final = 1024
_NEXT: Final = '","'
_FLAGS: Final = {True: "true", False: "false"}

Seats: TypeAlias = dict[int, Seat]
Bets: TypeAlias = list[Record[kinds.SideBetPlaced]]


class Paid(NamedTuple):
    """What all seats together were settled with, in minor units."""

    hands: int
    staked: int
    returned: int
    won: int


def shuffled(
    stream: str,
    opened: kinds.RoundOpened,
    secret: tuple[str, str],
    seats: Sequence[Seat],
    rules: House,
) -> tuple[str, ...]:
    """The cards that are dealt; `secret` is the commitment, and the seed that was committed to."""
    commitment, seed = secret
    count = HAND * (2 if rules.shared else len(seats) + 1)
    if len(seed) != _SEED or not is_hex(seed) or not seats or count > len(DECK):
        raise Odd
    if rules.exchange_fee_antes is not None:
        count = min(count + 2 * len(seats), len(DECK))
    material, ruleset_hash, round_id = (
        bytes.fromhex(seed),
        bytes.fromhex(opened.ruleset.sha256),
        stream[_PREFIX:],
    )
    if deck.commitment(material, round_id, ruleset_hash) != commitment:
        raise Odd
    client_seeds = [
        (seat.number, client_seed)
        for seat in seats
        if (client_seed := seat.ante.data.client_seed) is not None
    ]
    return deck.shuffled(material, round_id, ruleset_hash, client_seeds, count)


def tell_hands(told: Retelling, seats: Sequence[Seat], cards: Sequence[str], rules: House) -> str:
    """Write the hands that are dealt, in seat order, and the dealer's up-cards; return the first of those."""
    hands = 1 if rules.shared else len(seats)
    for place in range(hands):
        indices = deck.hand_indices(place, hands, round_robin=rules.round_robin)
        dealt = deck.picker(indices)(cards)
        to = '"to":"shared"' if rules.shared else f'"seat":{seats[place].number},"to":"seat"'
        told.write("Dealt", f"{_cards(dealt)},{_indices(indices)},{to}}}")
        for receiver in seats if rules.shared else (seats[place],):
            receiver.final = dealt
    indices = deck.hand_indices(hands, hands, round_robin=rules.round_robin)
    indices = tuple([indices[place] for place in rules.up_indices])
    up = deck.picker(indices)(cards)
    told.write(
        "Dealt", f'{_cards(up)},{_indices(indices)},"to":"dealer","up_{_indices(rules.up_indices)[1:]}}}'
    )
    return up[0]


def _cards(cards: Sequence[str]) -> str:
    """How an event that shows cards begins."""
    return f'{{"cards":["{_NEXT.join(cards)}"]'


@lru_cache(_REMEMBERED)
def _indices(indices: tuple[int, ...]) -> str:
    return f'"indices":[{",".join(map(str, indices))}]'


def take_decisions(
    told: Retelling, seats: Seats, cards: Sequence[str], opened: kinds.RoundOpened, rules: House
) -> None:
    """Take the decision of each seat, to fold or to raise, and the cards bought before it."""
    turns = iter(sorted(seats))
    undealt = HAND * (2 if rules.shared else len(seats) + 1)
    for _ in seats:
        turn = next(turns)
        while type((event := told.read()).data) is kinds.CardExchanged:
            _take_exchange(told, event, _in_turn(event, seats, turn, rules), cards, undealt, rules)
            undealt += 2
        seat, decision = _in_turn(event, seats, turn, rules), event.data
        seat.decided = True
        if type(decision) is kinds.Folded:
            seat.folded = True
            late = decision.decided_by == "timeout"
            if late and not (rules.timeout_folds and opened.parameters.decision_seconds):
                raise Odd
            continue
        if (
            type(decision) is not kinds.Raised
            or decision.player != seat.player
            or decision.amount != seat.ante.data.amount * rules.raise_multiple
            or decision.decided_by == "timeout"
        ):
            raise Odd
        told.move(seat.player, -decision.amount, decision.balance_after)
        seat.raised = decision.amount


def _in_turn(event: Record[Any], seats: Seats, turn: int, rules: House) -> Seat:
    """The undecided seat that acts, in its turn where the house has turns."""
    seat = seats[event.data.seat]
    if seat.decided or (rules.decisions_in_seat_order and seat.number != turn):
        raise Odd
    return seat


def _take_exchange(
    told: Retelling,
    event: Record[kinds.CardExchanged],
    seat: Seat,
    cards: Sequence[str],
    undealt: int,
    rules: House,
) -> None:
    """Take a bought card: the next undealt one is burned, the one after it drawn (source 003)."""
    bought, final = event.data, seat.final or ()
    if (
        seat.exchange is not None
        or bought.decided_by == "timeout"
        or bought.player != seat.player
        or rules.exchange_fee_antes is None
        or bought.fee != seat.ante.data.amount * rules.exchange_fee_antes
        or sorted(bought.forfeited) != sorted(rules.forfeits & seat.side_bets.keys())
        or bought.discard not in final
        or (bought.burn_index, bought.drawn_index) != (undealt, undealt + 1)
        or bought.drawn != cards[undealt + 1]
    ):
        raise Odd
    told.move(seat.player, -bought.fee, bought.balance_after)
    seat.exchange = bought
    seat.final = tuple([bought.drawn if card == bought.discard else card for card in final])


def tell_reveal(
    told: Retelling, seats: Sequence[Seat], cards: Sequence[str], up_card: str, rules: House
) -> Showdown:
    """Write the dealer's hand, if it has to be revealed; rank all hands."""
    hands, with_up_card = rank_seats(seats, (up_card,))
    if not rules.reveal_if_all_fold and all(seat.folded for seat in seats):
        return Showdown(hands, with_up_card, None, qualified=False)
    places = 1 if rules.shared else len(seats)
    indices = deck.hand_indices(places, places, round_robin=rules.round_robin)
    dealt = deck.picker(indices)(cards)
    hand = rank(dealt)
    qualified = qualifies(hand, rules.qualify)
    told.write(
        "DealerQualified",
        f'{_cards(dealt)},"category":"{hand.category}",{_indices(indices)},"qualified":{_FLAGS[qualified]}}}',
    )
    return Showdown(hands, with_up_card, hand, qualified)


def tell_settlement(
    told: Retelling, seats: Sequence[Seat], shown: Showdown, opened: kinds.RoundOpened, rules: House
) -> Paid:
    """Write what each seat got, in seat order; an award of the jackpot is out of the ordinary."""
    caps = payouts.Caps(opened, rules)
    jackpot = rules.side_bets.get("jackpot")
    all_staked = all_returned = all_won = 0
    for seat in seats:
        hand = shown.hands[seat.number]
        if jackpot is not None and "jackpot" in seat.side_bets and hand.category in jackpot.awards:
            raise Odd
        result = shown.result(seat, hand)
        legs = payouts.legs(seat, result, hand, rules, caps, shown, {})
        staked = returned = won = 0
        for leg in legs:
            staked += leg.stake
            returned += leg.returned
            won += leg.won
        if won > BALANCE_MAX:
            raise Odd
        after = told.balance_said()
        turned_up = _FLAGS[payouts.is_shown(seat, rules, shown)]
        told.write(
            "Settled",
            f'{{"balance_after":{after},"bets":{text_of(legs)},"category":"{hand.category}",'
            f'"player":"{seat.player}","result":"{result}","seat":{seat.number},"shown":{turned_up}}}',
        )
        told.move(seat.player, returned + won, after)
        all_staked += staked
        all_returned += returned
        all_won += won
    return Paid(len(seats), all_staked, all_returned, all_won)
