"""The exact odds of one hand in front of one dealer, and what each decision is worth.

A *state* is the player's five cards, the dealer's up-cards and, after an exchange, the card given away. A
card burned is seen by nobody, so that it is like any other unseen one: the card drawn in an exchange is each
of the 46 with equal chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Final, Literal, TypeAlias

import numpy as np

from domain.cards import DECK, Card, require_cards
from domain.hands import HAND_SIZE, Qualifier
from domain.odds.counts import worst_qualifying
from domain.odds.exchange_values import DEALS_DRAWN, DENOMINATOR, DRAWS, KEPT_SCALE, ExchangeValues
from domain.odds.hands_table import CARDS, HandsTable, hands_table, rank_of
from domain.odds.payoffs import OddsError, Payoffs
from domain.odds.state_counts import can_become, count_draws, count_held, count_weaker

Option: TypeAlias = Literal["fold", "raise"] | Card
"""What a player can do: fold, raise, or exchange the card that is named."""

UP_CARDS_MAX: Final = 4
GONE_MAX: Final = 2

_NUMBERS: Final[Mapping[object, int]] = {card: number for number, card in enumerate(DECK)}


@dataclass(frozen=True, slots=True)
class StateCounts:
    """How a hand, of the category of that index, meets each of the dealer's hands.

    ``not_qualified`` counts those that do not qualify, whatever the player holds; ``win``, ``tie`` and
    ``lose`` are what the player does against the others.
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
        won = self.not_qualified * payoffs.ante + self.win * (
            payoffs.ante + payoffs.raise_wins[self.category]
        )
        return won - self.lose * (payoffs.ante + payoffs.raised)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What each decision is worth if everything after it is decided best.

    ``numerators``, over ``denominator``, are expected results of the hand's main bet in minor units: ante,
    raise and fee. ``best`` is the option worth most; of equal ones fold comes before raise, raise before an
    exchange, and exchanges in the order of the cards' numbers. Side bets are not counted.
    """

    numerators: Mapping[Option, int]
    denominator: int
    best: Option

    def value(self, option: Option) -> Fraction:
        """Return an option's expected result in minor units. Raises ``OddsError`` where it is not one."""
        try:
            return Fraction(self.numerators[option], self.denominator)
        except KeyError:
            raise OddsError("this decision was not open, or its odds were not asked for") from None

    def cost(self, option: Option) -> Fraction:
        """Return what is given up by an option, in minor units: 0 for the best one.

        Raises ``OddsError`` where it is not one.
        """
        return self.value(self.best) - self.value(option)


class Lookup:
    """Exact odds of states where the dealer qualifies with ``qualify``.

    It is made once in a process, in less than two seconds, and may be used by many threads. With what it is
    made from it holds about 110 MB. ``table`` is that of `hands_table`, made where none is given.
    """

    def __init__(self, qualify: Qualifier = "ace_king", table: HandsTable | None = None) -> None:
        self._table = hands_table() if table is None else table
        self._categories: list[int] = self._table.value_categories.tolist()
        self._qualify: Qualifier = qualify
        self._worst = worst_qualifying(qualify)
        self._held = count_held(self._table)
        # A hand is asked for again at once, at other stakes. Threads read and replace it whole.
        self._last: tuple[object, StateCounts | None] = (None, None)

    @property
    def qualify(self) -> Qualifier:
        """With what the dealer qualifies."""
        return self._qualify

    def counts(
        self, cards: Sequence[Card], up_cards: Sequence[Card], gone: Sequence[Card] = ()
    ) -> StateCounts:
        """Return the counts of a hand of five in front of one to four of the dealer's cards.

        ``gone``: up to two cards that the dealer cannot have either, such as the one given away.

        Raises ``OddsError`` for another number of cards, ``CardError`` for what is no card or is there twice.
        """
        asked = tuple(cards), tuple(up_cards), tuple(gone)
        last, counts = self._last
        if counts is not None and last == asked:
            return counts
        if len(cards) != HAND_SIZE or not 1 <= len(up_cards) <= UP_CARDS_MAX or len(gone) > GONE_MAX:
            raise OddsError(f"odds are of five cards, 1 to {UP_CARDS_MAX} up-cards and up to {GONE_MAX} gone")
        seen = (*cards, *gone, *up_cards)
        numbers = [_NUMBERS[card] for card in require_cards(seen, len(seen))]
        own = len(seen) - len(up_cards)
        value = int(self._table.values[rank_of(numbers[:HAND_SIZE])])
        found = np.empty(3, np.int64)
        limits = np.array((self._worst, value, value - 1), np.int16)
        count_weaker(self._held, np.array(numbers[:own]), np.array(numbers[own:]), limits, found)
        total = comb(CARDS - len(seen), HAND_SIZE - len(up_cards))
        counts = StateCounts(self._categories[value], *self._against(value, total, *found.tolist()))
        self._last = asked, counts
        return counts

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

        Where there is a fee for an exchange, that of each of the five cards is an option and counted now,
        which takes about a millisecond. With ``known`` the best one is read from there, and is the only one
        besides that of the card ``exchanging``, which is counted unless it is the best one. ``known`` may be
        of the same stakes without a cap: all five are counted, then, where the best can make what is cut.

        Raises ``OddsError`` where cards are exchanged in front of more than one up-card, where ``known`` is
        not of these payoffs (but for unit and cap) and this dealer, and where ``exchanging`` is not in the
        hand; besides as `counts`.
        """
        counts = self.counts(cards, up_cards)
        worth: dict[Option, int] = {"fold": -payoffs.ante * counts.total, "raise": counts.raised(payoffs)}
        if payoffs.fee is None:
            return _judged(worth, counts.total, payoffs)
        if len(up_cards) != 1:
            raise OddsError("an exchange is judged in front of one up-card")
        if exchanging is not None and exchanging not in cards:
            raise OddsError("the card to exchange is not in the hand")
        hand, up = sorted(_NUMBERS[card] for card in cards), _NUMBERS[up_cards[0]]
        exchanges: dict[int, int] = {}
        asked = hand
        if known is not None and (found := self._best_known(known, payoffs, hand, up)) is not None:
            best, exchanges[best] = found
            asked = [card for card in hand if DECK[card] == exchanging and card != best]
        if asked:
            exchanges |= self._exchanges(payoffs, payoffs.fee, hand, up, [hand.index(card) for card in asked])
        worth = {option: value * KEPT_SCALE for option, value in worth.items()}
        worth |= {DECK[card]: exchanges[card] for card in sorted(exchanges)}
        return _judged(worth, DENOMINATOR, payoffs)

    def judge_drawn(
        self, payoffs: Payoffs, cards: Sequence[Card], up_cards: Sequence[Card], given_away: Card
    ) -> Judgement:
        """Return what fold and raise are worth after an exchange, with the final five cards and the fee lost.

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

    def _best_known(
        self, known: ExchangeValues, payoffs: Payoffs, hand: list[int], up: int
    ) -> tuple[int, int] | None:
        """Return the card whose exchange is worth most, and how much; None where ``known`` does not tell."""
        times = known.require(payoffs, self._qualify)
        best, value = known.best(self._table, hand, up)
        wins = zip(payoffs.raise_wins, known.payoffs.raise_wins, strict=True)
        cut = [ours < theirs * times for ours, theirs in wins]
        if any(cut):
            # What is not cut is worth the same, and what is cut is worth less: the best one stays the best.
            kept = np.array([card for card in hand if card != best])
            if can_become(self._held, kept, self._table.value_categories, np.array(cut)):
                return None
        return best, value * times

    def _exchanges(
        self, payoffs: Payoffs, fee: int, hand: list[int], up: int, places: list[int]
    ) -> dict[int, int]:
        """Return what exchanging each card at some places is worth, over all draws and dealer's hands."""
        found = np.empty((DRAWS, len(places), 4), np.int64)
        count_draws(self._held, np.array(hand), np.array([up]), np.array(places), self._worst, found)
        folded = -payoffs.ante * DEALS_DRAWN
        worth = {}
        for n, place in enumerate(places):
            best = 0
            for value, *counted in found[:, n].tolist():
                not_qualified, win, _, lose = self._against(value, DEALS_DRAWN, *counted)
                best += max(folded, _raised(payoffs, self._categories[value], not_qualified, win, lose))
            worth[hand[place]] = best - fee * DENOMINATOR
        return worth

    def _against(
        self, value: int, total: int, not_qualified: int, weaker: int, not_better: int
    ) -> tuple[int, int, int, int]:
        """Return how many of the dealer's hands do not qualify, and are won, tied and lost against.

        ``weaker`` and ``not_better``: how many are that, compared with the player's hand of that value.
        """
        win, tie = (weaker - not_qualified, not_better - weaker) if value <= self._worst else (0, 0)
        return not_qualified, win, tie, total - not_qualified - win - tie


def _raised(payoffs: Payoffs, category: int, not_qualified: int, win: int, lose: int) -> int:
    won = not_qualified * payoffs.ante + win * (payoffs.ante + payoffs.raise_wins[category])
    return won - lose * (payoffs.ante + payoffs.raised)


def _judged(worth: Mapping[Option, int], denominator: int, payoffs: Payoffs) -> Judgement:
    # Of equal ones the first is found: fold, raise, then exchanges.
    best = max(worth, key=worth.__getitem__)
    return Judgement({option: value * payoffs.unit for option, value in worth.items()}, denominator, best)
