"""The steps of an ordinary round after its stakes: hands, decisions, the reveal, the settlement.

Each reads or writes the events that are due, and raises `Odd` where one is another. An event of another kind
than is due may also raise AttributeError, LookupError or ValueError, one that is not there LookupError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from domain.cards import DECK
from domain.replay import deck, kinds, payouts
from domain.replay.fields import HAND
from domain.replay.house import House
from domain.replay.parts import is_hex
from domain.replay.ranking import Hand, qualifies, rank
from domain.replay.records import Record, text_of
from domain.replay.retelling import Odd, Retelling
from domain.replay.showdown import Showdown
from domain.replay.state import Seat

_PREFIX: Final = len("round-")
_SEED: Final = 96
_REMEMBERED: Final = 1024
_NEXT: Final = '","'
_FLAGS: Final = {True: "true", False: "false"}

Seats: TypeAlias = dict[int, Seat]
Bets: TypeAlias = list[Record[kinds.SideBetPlaced]]


class _Settled(NamedTuple):
    """What a seat is settled with: its bets and whether its hand is turned up, in text, and minor units."""

    bets: str
    turned_up: str
    staked: int
    returned: int
    won: int


class Table(NamedTuple):
    """What a round's first event sets, but for its commitment: the house, and the antes that it allows.

    `ruleset_hash` is the SHA-256 of the rules. `settled` remembers what bets came to.
    """

    opened: kinds.RoundOpened
    house: House
    min_ante: int
    max_ante: int
    ruleset_hash: bytes
    settled: dict[tuple[Any, ...], _Settled]


class Paid(NamedTuple):
    """What all seats together were settled with, in minor units."""

    hands: int
    staked: int
    returned: int
    won: int


class _Hand(NamedTuple):
    """How a hand comes out of the deck: what takes its cards, and where from, as an event says it."""

    pick: Callable[[Sequence[str]], tuple[str, ...]]
    indices: str


class _Layout(NamedTuple):
    """How a deck is dealt: to each hand of players, face up to the dealer, and the dealer's whole hand."""

    hands: tuple[_Hand, ...]
    up: _Hand
    dealer: _Hand


def shuffled(stream: str, table: Table, secret: tuple[str, str], seats: Sequence[Seat]) -> tuple[str, ...]:
    """The cards that are dealt; `secret` is the commitment, and the seed that was committed to."""
    (commitment, seed), rules = secret, table.house
    count = HAND * (2 if rules.shared else len(seats) + 1)
    if len(seed) != _SEED or not is_hex(seed) or not seats or count > len(DECK):
        raise Odd
    if rules.exchange_fee_antes is not None:
        count = min(count + 2 * len(seats), len(DECK))
    material, round_id = bytes.fromhex(seed), stream[_PREFIX:]
    if deck.commitment(material, round_id, table.ruleset_hash) != commitment:
        raise Odd
    client_seeds = [
        (seat.number, client_seed)
        for seat in seats
        if (client_seed := seat.ante.data.client_seed) is not None
    ]
    return deck.shuffled(material, round_id, table.ruleset_hash, client_seeds, count)


def tell_hands(told: Retelling, table: Table, seats: Sequence[Seat], cards: Sequence[str]) -> str:
    """Write the hands that are dealt, in seat order, and the dealer's up-cards; return the first of those."""
    rules = table.house
    layout = _layout(1 if rules.shared else len(seats), rules.up_indices, rules.round_robin)
    for hand, first in zip(layout.hands, seats, strict=False):
        dealt = hand.pick(cards)
        to = '"to":"shared"' if rules.shared else f'"seat":{first.number},"to":"seat"'
        told.write("Dealt", f'{{"cards":["{_NEXT.join(dealt)}"],{hand.indices},{to}}}')
        for seat in seats if rules.shared else (first,):
            seat.final = dealt
    up = layout.up.pick(cards)
    told.write("Dealt", f'{{"cards":["{_NEXT.join(up)}"],{layout.up.indices}}}')
    return up[0]


@lru_cache(_REMEMBERED)
def _layout(hands: int, up_indices: tuple[int, ...], round_robin: bool) -> _Layout:  # noqa: FBT001 - a key
    of_hands = [deck.hand_indices(place, hands, round_robin=round_robin) for place in range(hands + 1)]
    up = tuple([of_hands[-1][place] for place in up_indices])
    up_text = f'{_indices(up)},"to":"dealer","up_{_indices(up_indices)[1:]}'
    *of_players, dealer = [_Hand(deck.picker(indices), _indices(indices)) for indices in of_hands]
    return _Layout(tuple(of_players), _Hand(deck.picker(up), up_text), dealer)


def _indices(indices: tuple[int, ...]) -> str:
    return f'"indices":[{",".join(map(str, indices))}]'


def take_decisions(told: Retelling, table: Table, seats: Seats, cards: Sequence[str]) -> None:
    """Take the decision of each seat, to fold or to raise, and the cards bought before it."""
    rules = table.house
    turns = iter(sorted(seats))
    undealt = HAND * (2 if rules.shared else len(seats) + 1)
    for _ in seats:
        turn = next(turns)
        while type((event := told.read()).data) is kinds.CardExchanged:
            _take_exchange(told, event, _in_turn(event, seats, turn, rules), cards, undealt, rules)
            undealt += 2
        seat, decision = _in_turn(event, seats, turn, rules), event.data
        late = decision.decided_by == "timeout"
        seat.decided = True
        if type(decision) is kinds.Folded:
            seat.folded = True
            if late and not (rules.timeout_folds and table.opened.parameters.decision_seconds):
                raise Odd
            continue
        if (
            type(decision) is not kinds.Raised
            or late
            or decision.player != seat.player
            or decision.amount != seat.ante.data.amount * rules.raise_multiple
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
    told: Retelling, table: Table, seats: Sequence[Seat], cards: Sequence[str], up_card: str
) -> Showdown:
    """Write the dealer's hand, if it has to be revealed; rank all hands."""
    rules = table.house
    hands, with_up_card = _ranked(seats, up_card)
    if not rules.reveal_if_all_fold and all(seat.folded for seat in seats):
        return Showdown(hands, with_up_card, None, qualified=False)
    layout = _layout(1 if rules.shared else len(seats), rules.up_indices, rules.round_robin)
    dealt = layout.dealer.pick(cards)
    hand = rank(dealt)
    qualified = qualifies(hand, rules.qualify)
    told.write(
        "DealerQualified",
        f'{{"cards":["{_NEXT.join(dealt)}"],"category":"{hand.category}",{layout.dealer.indices},'
        f'"qualified":{_FLAGS[qualified]}}}',
    )
    return Showdown(hands, with_up_card, hand, qualified)


def _ranked(seats: Sequence[Seat], up_card: str) -> tuple[dict[int, Hand], dict[int, Hand]]:
    """Each seat's final hand, and where it bet on it the best of that and the up-card."""
    ranked: dict[tuple[str, ...], Hand] = {}  # on a shared hand thousands of seats hold the same cards
    hands: dict[int, Hand] = {}
    with_up_card: dict[int, Hand] = {}
    for seat in seats:
        final = seat.final or ()
        hand = hands[seat.number] = ranked.get(final) or rank(final)
        ranked[final] = hand
        if "five_plus_one" in seat.side_bets:
            six = *final, up_card
            hand = with_up_card[seat.number] = ranked.get(six) or rank(six)
            ranked[six] = hand
    return hands, with_up_card


def tell_settlement(told: Retelling, table: Table, seats: Sequence[Seat], shown: Showdown) -> Paid:
    """Write what each seat got, in seat order; an award of the jackpot is out of the ordinary."""
    caps = payouts.Caps(table.opened, table.house) if table.house.cap_per_player else None
    all_staked = all_returned = all_won = 0
    for seat in seats:
        hand = shown.hands[seat.number]
        result = shown.result(seat, hand)
        bets, turned_up, staked, returned, won = (
            _remembered(table, seat, result, shown)
            if caps is None
            else _settled(table, seat, result, shown, caps)
        )
        after = told.balance_said()
        told.write(
            "Settled",
            f'{{"balance_after":{after},"bets":{bets},"category":"{hand.category}","player":"{seat.player}",'
            f'"result":"{result}","seat":{seat.number},"shown":{turned_up}}}',
        )
        told.move(seat.player, returned + won, after)
        all_staked += staked
        all_returned += returned
        all_won += won
    return Paid(len(seats), all_staked, all_returned, all_won)


def _remembered(table: Table, seat: Seat, result: str, shown: Showdown) -> _Settled:
    """What a seat is settled with: the same for all that staked and held the same; no cap counts wins."""
    best = shown.with_up_card.get(seat.number)
    known_by = (
        seat.ante.data.amount,
        seat.raised,
        None if seat.exchange is None else seat.exchange.fee,
        result,
        shown.hands[seat.number].category,
        None if best is None else best.category,
        shown.qualified,
        *[(bet.bet, bet.amount) for bet in seat.side_bets.values()],
    )
    settled = table.settled.get(known_by)
    if settled is None:
        if len(table.settled) >= _REMEMBERED:
            table.settled.clear()
        caps = payouts.Caps(table.opened, table.house)
        settled = table.settled[known_by] = _settled(table, seat, result, shown, caps)
    return settled


def _settled(table: Table, seat: Seat, result: str, shown: Showdown, caps: payouts.Caps) -> _Settled:
    hand, rules = shown.hands[seat.number], table.house
    jackpot = rules.side_bets.get("jackpot")
    if jackpot is not None and "jackpot" in seat.side_bets and hand.category in jackpot.awards:
        raise Odd
    legs = payouts.legs(seat, result, hand, rules, caps, shown, {})
    return _Settled(
        text_of(legs),
        _FLAGS[payouts.is_shown(seat, rules, shown)],
        sum([leg.stake for leg in legs]),
        sum([leg.returned for leg in legs]),
        sum([leg.won for leg in legs]),
    )
