"""The exact odds of one hand in front of one dealer, and what each decision is worth.

A *state* is the player's five cards, the dealer's up-cards and, after an exchange, the card given away. Of the
dealer's hands that hold her up-cards and none of the player's cards, those weaker than a value are counted by
inclusion and exclusion: for every set of the player's cards that fits beside the up-cards, the hands that hold
both, with alternating signs. Of one to three held cards the hands are counted in a table, by the cards' class
under exchange of suits; with four or five there are at most 48 hands to look at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from domain.cards import DECK, Card, require_cards
from domain.hands import HAND_SIZE, Qualifier
from domain.odds.counts import worst_qualifying
from domain.odds.exchange_values import DEALS_DRAWN, DENOMINATOR, DRAWS, KEPT_SCALE, ExchangeValues, Longs
from domain.odds.hands_table import (
    CARDS,
    CHOOSE,
    VALUES,
    Bytes,
    HandsTable,
    Ints,
    Shorts,
    hands_table,
)
from domain.odds.kernel import kernel
from domain.odds.payoffs import OddsError, Payoffs
from domain.odds.suit_classes import suit_classes

Option: TypeAlias = Literal["fold", "raise"] | Card
"""What a player can do: fold, raise, or exchange the card that is named."""

UP_CARDS_MAX: Final = 4
GONE_MAX: Final = 2

_NUMBERS: Final[Mapping[object, int]] = {card: number for number, card in enumerate(DECK)}
_TABLED: Final = 3  # sets of up to three cards have rows in the table
# Where the sets of one, two and three cards begin in a list of all of them; sets of one size are in the order of rank.
_BEGINS: Final[Ints] = np.cumsum([0, 0, CARDS, comb(CARDS, 2)], dtype=np.int32)


@dataclass(frozen=True, slots=True)
class StateCounts:
    """How a hand of the category of that index does against each hand that the dealer can have.

    ``not_qualified`` counts those that do not qualify, whatever the player holds; ``win``, ``tie`` and ``lose``
    are what the player does against the others.
    """

    category: int
    not_qualified: int
    win: int
    tie: int
    lose: int

    @property
    def total(self) -> int:
        """All hands that the dealer can have."""
        return self.not_qualified + self.win + self.tie + self.lose

    def raised(self, payoffs: Payoffs) -> int:
        """Return what a raise is worth, times ``total``, in the unit of the payoffs; no fee is counted."""
        won = self.not_qualified * payoffs.ante + self.win * (payoffs.ante + payoffs.raise_wins[self.category])
        return won - self.lose * (payoffs.ante + payoffs.raised)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What each decision is worth if everything after it is decided best.

    ``numerators``, over ``denominator``, are expected results of the hand's main bet in minor units: ante, raise and
    fee. ``best`` is the option worth most; of equal ones fold comes before raise, and raise before an exchange.
    Side bets are not counted.
    """

    numerators: Mapping[Option, int]
    denominator: int
    best: Option

    def value(self, option: Option) -> Fraction:
        """Return an option's expected result in minor units. Raises ``OddsError`` where it is not among them."""
        try:
            return Fraction(self.numerators[option], self.denominator)
        except KeyError:
            raise OddsError("this decision was not open, or its odds were not asked for") from None

    def cost(self, option: Option) -> Fraction:
        """Return what is given up by an option that is not the best, in minor units; of the best it is 0.

        Raises ``OddsError`` where the option is not among them.
        """
        return self.value(self.best) - self.value(option)


class Lookup:
    """Exact odds of states where the dealer qualifies with ``qualify``.

    It is made once in a process and may be used by many threads; with what it is made from (``tables``, by
    default those of `hands_table`) it holds about 110 MB.
    """

    def __init__(self, qualify: Qualifier = "ace_king", tables: HandsTable | None = None) -> None:
        self._tables = hands_table() if tables is None else tables
        self._categories: list[int] = self._tables.value_categories.tolist()
        self._qualify: Qualifier = qualify
        self._worst = worst_qualifying(qualify)
        rows, first = _rows()
        weaker = np.zeros((int(rows.max()) + 1, VALUES + 1), np.int32)
        _count_weaker(self._tables.hands, self._tables.values, _BEGINS, CHOOSE, rows, first, weaker)
        self._known: tuple[Any, ...] = (self._tables.values, weaker, rows, _BEGINS, CHOOSE)

    def counts(self, cards: Sequence[Card], up_cards: Sequence[Card], gone: Sequence[Card] = ()) -> StateCounts:
        """Return the counts of a hand of five in front of one to four of the dealer's cards.

        ``gone``: up to two cards that the dealer cannot have either, such as the one given away.

        Raises ``OddsError`` for another number of cards, ``CardError`` for what is no card or is there twice.
        """
        numbers = _numbers(cards, up_cards, gone)
        own, avoided = numbers[:HAND_SIZE], numbers[: HAND_SIZE + len(gone)]
        value = int(self._tables.values[_rank(own)])
        limits = np.array((self._worst, value, value - 1), np.int16)
        found = np.empty(len(limits), np.int64)
        _count(self._known, np.array(avoided), np.array(numbers[len(avoided) :]), limits, found)
        unseen = CARDS - len(numbers)
        return self._against(value, comb(unseen, HAND_SIZE - len(up_cards)), *found.tolist())

    def judge(
        self,
        payoffs: Payoffs,
        cards: Sequence[Card],
        up_cards: Sequence[Card],
        *,
        known: ExchangeValues | None = None,
        exchanging: Card | None = None,
    ) -> Judgement:
        """Return what each decision is worth on a hand as it was dealt.

        Where there is a fee for an exchange, that of each of the five cards is an option and counted now, which
        takes about a millisecond. With ``known`` the best one is read from there, and is the only one besides that
        of the card ``exchanging``.

        Raises ``OddsError`` where cards are exchanged in front of more than one up-card, where ``known`` is not of
        these payoffs (in whatever unit) and this dealer, and where ``exchanging`` is not in the hand; besides
        as `counts`.
        """
        counts = self.counts(cards, up_cards)
        worth: dict[Option, int] = {"fold": -payoffs.ante * counts.total, "raise": counts.raised(payoffs)}
        if payoffs.fee is None:
            return _judged(worth, counts.total, payoffs)
        if len(up_cards) != 1:
            raise OddsError("an exchange is judged in front of one up-card")
        worth = {option: value * KEPT_SCALE for option, value in worth.items()}
        exchanges: dict[Option, int] = {}
        hand = sorted(_NUMBERS[card] for card in cards)
        up = _NUMBERS[up_cards[0]]
        if known is not None:
            known.require(payoffs, self._qualify)
            card, value = known.best(self._tables, hand, up)
            exchanges[DECK[card]] = value
        if exchanging is not None and _NUMBERS.get(exchanging) not in hand:
            raise OddsError("the card to exchange is not in the hand")
        places = [n for n, card in enumerate(hand) if known is None or DECK[card] == exchanging]
        exchanges |= self._exchanges(payoffs, hand, up, places)
        return _judged(worth | dict(sorted(exchanges.items())), DENOMINATOR, payoffs)

    def judge_drawn(
        self, payoffs: Payoffs, cards: Sequence[Card], up_cards: Sequence[Card], given_away: Card
    ) -> Judgement:
        """Return what fold and raise are worth after an exchange, with the final hand of five and the fee paid.

        Raises ``OddsError`` where the payoffs have no fee; besides as `counts`.
        """
        if payoffs.fee is None:
            raise OddsError("no card can be exchanged for these payoffs")
        counts = self.counts(cards, up_cards, (given_away,))
        paid = payoffs.fee * counts.total
        worth: dict[Option, int] = {
            "fold": -payoffs.ante * counts.total - paid,
            "raise": counts.raised(payoffs) - paid,
        }
        return _judged(worth, counts.total, payoffs)

    def _exchanges(self, payoffs: Payoffs, hand: list[int], up: int, places: list[int]) -> dict[Option, int]:
        """Return the value of exchanging the cards at some places of a hand, over all draws and dealer's hands."""
        if not places:
            return {}
        fee = 0 if payoffs.fee is None else payoffs.fee
        found = np.empty((DRAWS, len(places), 4), np.int64)
        _draw(self._known, np.array(hand), np.array([up]), np.array(places), self._worst, found)
        folded = -payoffs.ante * DEALS_DRAWN
        worth: dict[Option, int] = {}
        for n, place in enumerate(places):
            drawn = (self._against(value, DEALS_DRAWN, *counted) for value, *counted in found[:, n].tolist())
            best = sum(max(folded, counts.raised(payoffs)) for counts in drawn)
            worth[DECK[hand[place]]] = best - fee * DENOMINATOR
        return worth

    def _against(self, value: int, total: int, not_qualified: int, weaker: int, not_better: int) -> StateCounts:
        """Tell apart the dealer's hands: those that do not qualify, weaker and not better than a hand."""
        win, tie = (weaker - not_qualified, not_better - weaker) if value <= self._worst else (0, 0)
        return StateCounts(self._categories[value], not_qualified, win, tie, total - not_qualified - win - tie)


def _judged(worth: Mapping[Option, int], denominator: int, payoffs: Payoffs) -> Judgement:
    # The first of equal ones is found: fold before raise before exchange.
    best = max(worth, key=worth.__getitem__)
    return Judgement({option: value * payoffs.unit for option, value in worth.items()}, denominator, best)


def _numbers(cards: Sequence[Card], up_cards: Sequence[Card], gone: Sequence[Card]) -> list[int]:
    """Return the numbers of the player's cards, those that are gone, and the dealer's, in this order."""
    if len(cards) != HAND_SIZE or not 1 <= len(up_cards) <= UP_CARDS_MAX or len(gone) > GONE_MAX:
        raise OddsError(f"odds are of five cards, one to {UP_CARDS_MAX} up-cards and at most {GONE_MAX} gone")
    seen = require_cards((*cards, *gone, *up_cards), HAND_SIZE + len(gone) + len(up_cards))
    return [_NUMBERS[card] for card in seen]


def _rank(hand: Sequence[int]) -> int:
    a, b, c, d, e = sorted(hand)
    return a + comb(b, 2) + comb(c, 3) + comb(d, 4) + comb(e, 5)


def _rows() -> tuple[Shorts, NDArray[np.bool_]]:
    """Return for each set of one to three cards the row of its class, and whether it stands for that class."""
    rows, first, begin = [], [], 0
    for size in range(1, _TABLED + 1):
        found = suit_classes(size)
        rows.append(begin + found.classes)
        first.append(np.isin(np.arange(len(found.classes)), found.leaders))
        begin += len(found.leaders)
    return np.concatenate(rows).astype(np.int16), np.concatenate(first)


@kernel
def _count_weaker(
    hands: Bytes, values: Shorts, begins: Ints, choose: Ints, rows: Shorts, first: Any, weaker: Ints
) -> None:
    """Count the hands above each value that hold each set of up to three cards which stands for a class."""
    for number in range(len(hands)):
        hand, value = hands[number], values[number]
        for a in range(5):
            one = hand[a]
            if first[one]:
                weaker[rows[one], value] += 1
            for b in range(a + 1, 5):
                two = begins[2] + one + choose[hand[b], 2]
                if first[two]:
                    weaker[rows[two], value] += 1
                for c in range(b + 1, 5):
                    three = begins[3] + one + choose[hand[b], 2] + choose[hand[c], 3]
                    if first[three]:
                        weaker[rows[three], value] += 1
    for row in weaker:
        above = 0
        for value in range(row.size - 1, -1, -1):
            here = row[value]
            row[value] = above
            above += here


@kernel
def _count(known: Any, avoided: Longs, ups: Longs, limits: Shorts, found: Longs) -> None:
    """Count the hands with all of ``ups`` and none of ``avoided`` whose values are above each limit."""
    found[:] = 0
    held = np.empty(5, np.int64)
    completed = np.empty(48, np.int16)
    for chosen in range(1 << avoided.size):
        sign, size = 1, ups.size
        for n in range(avoided.size):
            size += chosen >> n & 1
        if size > 5:
            continue
        size = 0
        for n in range(ups.size + avoided.size):
            if n >= ups.size:
                if chosen >> (n - ups.size) & 1 == 0:
                    continue
                sign = -sign
            card = ups[n] if n < ups.size else avoided[n - ups.size]
            place = size
            while place > 0 and held[place - 1] > card:
                held[place] = held[place - 1]
                place -= 1
            held[place] = card
            size += 1
        _add(known, held[:size], sign, limits, completed, found)


@kernel
def _add(known: Any, held: Longs, sign: int, limits: Shorts, completed: Shorts, found: Longs) -> None:
    """Add ``sign`` for each hand with all of one to five ascending cards and a value above a limit."""
    values, weaker, rows, begins, choose = known
    rank = 0
    for n in range(held.size):
        rank += choose[held[n], n + 1]
    if held.size <= 3:
        row = weaker[rows[begins[held.size] + rank]]
        for k in range(limits.size):
            found[k] += sign * row[limits[k]]
        return
    if held.size == 5:
        completed[0] = values[rank]
    else:
        _complete(values, choose, held, completed)
    many = 1 if held.size == 5 else 48
    for k in range(limits.size):
        above = 0
        for n in range(many):
            above += completed[n] > limits[k]
        found[k] += sign * above


@kernel
def _complete(values: Shorts, choose: Ints, held: Longs, completed: Shorts) -> None:
    """Write the values of the 48 hands with four ascending cards."""
    begin = many = 0
    # The fifth card is below the first held one, between two, or above the last.
    for place in range(5):
        end = held[place] if place < 4 else 52
        rank = 0
        for n in range(4):
            rank += choose[held[n], n + 1 + (n >= place)]
        for card in range(begin, end):
            completed[many] = values[rank + choose[card, place + 1]]
            many += 1
        begin = end + 1


@kernel
def _draw(known: Any, hand: Longs, ups: Longs, places: Longs, worst: int, found: Longs) -> None:
    """For each card that can be drawn and each place count what `_count` counts, below the final hand's value."""
    values, choose = known[0], known[4]
    avoided = np.empty(6, np.int64)
    avoided[:5] = hand
    finals = np.empty(places.size, np.int64)
    limits = np.empty(1 + 2 * places.size, np.int16)
    counted = np.empty(limits.size, np.int64)
    limits[0] = worst
    draw = 0
    for card in range(52):
        if (hand == card).any() or card == ups[0]:
            continue
        avoided[5] = card
        for n in range(places.size):
            final = hand.copy()
            final[places[n]] = card
            final.sort()
            rank = 0
            for k in range(5):
                rank += choose[final[k], k + 1]
            finals[n] = values[rank]
            limits[1 + 2 * n] = finals[n]
            limits[2 + 2 * n] = finals[n] - 1
        _count(known, avoided, ups, limits, counted)
        for n in range(places.size):
            found[draw, n, 0] = finals[n]
            found[draw, n, 1] = counted[0]
            found[draw, n, 2] = counted[1 + 2 * n]
            found[draw, n, 3] = counted[2 + 2 * n]
        draw += 1
