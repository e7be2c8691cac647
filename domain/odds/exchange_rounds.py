"""The compiled part of `domain.odds.exchange`: all final hands, all dealt hands, all final hands again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from domain.odds.exchange_values import (
    DEALS_DRAWN,
    DEALS_KEPT,
    DENOMINATOR,
    EXCHANGE,
    FOLD,
    KEPT_SCALE,
    RAISE,
    Decisions,
    Longs,
)
from domain.odds.hands_table import CHOOSE, PERMUTATIONS, Bytes, Ints
from domain.odds.kernel import kernel


class Stakes(NamedTuple):
    """What hands are worth: ``ante`` and ``fee``, and ``terms`` by category of the hand [10, 4].

    A raise is worth so much for each of the dealer's hands that does not qualify, that loses and that ties,
    and the last term less for each of all her hands.
    """

    terms: Longs
    ante: int
    fee: int


class Counts(NamedTuple):
    """Of the dealer's hands, by class and up-cards: those that do not qualify, lose and tie.

    Where an up-card is one of the player's, ``not_qualified`` is -1.
    """

    not_qualified: Any
    win: Any
    tie: Any


class Part(NamedTuple):
    """Some classes in a row, from ``first`` on: hands, categories, and counts for one and two up-cards."""

    first: int
    hands: Bytes
    categories: Bytes
    one: Counts
    two: Counts


class Ways(NamedTuple):
    """How the hands of a class are made of four kept cards and one drawn.

    Class n has the entries ``begins[n]`` to ``begins[n + 1]``. ``fours``: the class of the four;
    ``permutations``: one that makes the four that stand for it, and the card drawn to them, the hand
    that stands for the class n.
    """

    begins: Longs
    fours: Ints
    permutations: Bytes


class Fours(NamedTuple):
    """By rank of four cards their class, and a permutation that makes them those that stand for it."""

    classes: Ints
    permutations: Bytes


class Dealt(NamedTuple):
    """All classes: their hands, categories, how many hands they are, and counts for one up-card."""

    hands: Bytes
    categories: Bytes
    weights: Bytes
    one: Counts


class Decided(NamedTuple):
    """The arrays of `ExchangeValues`, to be written."""

    places: Decisions
    values: Longs
    decisions: Decisions


@kernel
def add_worth(part: Part, stakes: Stakes, ways: Ways, worth: Longs) -> None:
    """Add what final hands are worth to the fours they can be made of [fours, given away, up-card]."""
    values = np.empty((52, 52), np.int64)
    for n in range(len(part.hands)):
        _write_values(part, n, stakes, values)
        for way in range(ways.begins[part.first + n], ways.begins[part.first + n + 1]):
            shown = PERMUTATIONS[ways.permutations[way]]
            clubs, diamonds, hearts, spades = shown[0], shown[1], shown[2], shown[3]
            sums = worth[ways.fours[way]]
            for i in range(52):
                row, to = values[shown[i]], sums[i]
                for u in range(0, 52, 4):
                    to[u] += row[u + clubs]
                    to[u + 1] += row[u + diamonds]
                    to[u + 2] += row[u + hearts]
                    to[u + 3] += row[u + spades]


@kernel
def _write_values(part: Part, n: int, stakes: Stakes, values: Longs) -> None:
    """Write what a final hand is worth, by the card given away and the up-card; 0 where there is no state."""
    one, two = part.one, part.two
    unqualified, win, tie, lost = stakes.terms[part.categories[n]]
    folded = -stakes.ante * DEALS_DRAWN
    of_up = np.empty(52, np.int64)
    for u in range(52):
        of_up[u] = unqualified * one.not_qualified[n, u] + win * one.win[n, u] + tie * one.tie[n, u]
    of_up -= lost * DEALS_DRAWN
    pair = 0
    for b in range(52):
        for a in range(b):
            both = unqualified * two.not_qualified[n, pair] + win * two.win[n, pair] + tie * two.tie[n, pair]
            values[a, b] = max(folded, of_up[b] - both)
            values[b, a] = max(folded, of_up[a] - both)
            pair += 1
        values[b, b] = 0
    for card in part.hands[n]:
        values[card] = 0
        values[:, card] = 0


@kernel
def decide(
    dealt: Dealt, stakes: Stakes, fours: Fours, worth: Longs, decided: Decided, chosen: Ints, kept: Longs
) -> None:
    """Decide every hand as dealt.

    What becomes of those that are kept is counted in ``kept`` [6, 10], the fields of a branch by category;
    how many of the others come to each class of four, card given away and up-card, in ``chosen``.
    """
    four = np.empty(5, np.int64)
    shown = np.empty((5, 52), np.uint8)
    for n in range(len(dealt.hands)):
        hand, category = dealt.hands[n], dealt.categories[n]
        for place in range(5):
            rank = 0
            for k in range(4):
                rank += CHOOSE[hand[k if k < place else k + 1], k + 1]
            four[place] = fours.classes[rank]
            shown[place] = PERMUTATIONS[fours.permutations[rank]]
        for u in range(52):
            unqualified, win, tie = dealt.one.not_qualified[n, u], dealt.one.win[n, u], dealt.one.tie[n, u]
            if unqualified < 0:
                continue
            best, equal, exchanged = _best_exchange(worth, four, shown, hand, u)
            exchanged -= stakes.fee * DENOMINATOR
            decided.places[n, u] = equal
            decided.values[n, u] = exchanged
            folded = -stakes.ante * DENOMINATOR
            raised = KEPT_SCALE * _raised(stakes.terms[category], DEALS_KEPT, unqualified, win, tie)
            times = int(dealt.weights[n])
            counts = kept[:, category]
            if exchanged > max(folded, raised):
                decided.decisions[n, u] = EXCHANGE + best
                chosen[four[best], shown[best, hand[best]], shown[best, u]] += times
            elif raised > folded:
                decided.decisions[n, u] = RAISE
                _tally_raise(counts, times * KEPT_SCALE, DEALS_KEPT, unqualified, win, tie)
            else:
                decided.decisions[n, u] = FOLD
                _tally_fold(counts, times * KEPT_SCALE, DEALS_KEPT, unqualified)


@kernel
def _best_exchange(worth: Longs, four: Longs, shown: Bytes, hand: Bytes, u: int) -> tuple[int, int, int]:
    """Return the first of the places whose exchange is worth most, all of them as bits, and that worth."""
    best, equal, most = 0, 1, worth[four[0], shown[0, hand[0]], shown[0, u]]
    for place in range(1, 5):
        value = worth[four[place], shown[place, hand[place]], shown[place, u]]
        if value > most:
            best, equal, most = place, 1 << place, value
        elif value == most:
            equal |= 1 << place
    return best, equal, most


@kernel
def weigh(part: Part, stakes: Stakes, ways: Ways, chosen: Ints, exchanged: Longs) -> None:
    """Count in ``exchanged`` [6, 10] what becomes of final hands, as often as the best exchanges make one."""
    times = np.empty((52, 52), np.int64)
    for n in range(len(part.hands)):
        _write_times(part, n, ways, chosen, times)
        category = part.categories[n]
        counts = exchanged[:, category]
        for i in range(52):
            for u in range(52):
                if times[i, u] == 0:
                    continue
                pair = CHOOSE[max(i, u), 2] + min(i, u)
                unqualified = np.int64(part.one.not_qualified[n, u]) - part.two.not_qualified[n, pair]
                win = np.int64(part.one.win[n, u]) - part.two.win[n, pair]
                tie = np.int64(part.one.tie[n, u]) - part.two.tie[n, pair]
                raised = _raised(stakes.terms[category], DEALS_DRAWN, unqualified, win, tie)
                if raised > -stakes.ante * DEALS_DRAWN:
                    _tally_raise(counts, times[i, u], DEALS_DRAWN, unqualified, win, tie)
                else:
                    _tally_fold(counts, times[i, u], DEALS_DRAWN, unqualified)


@kernel
def _write_times(part: Part, n: int, ways: Ways, chosen: Ints, times: Longs) -> None:
    """Write how often a final hand is made, by the card given away and the up-card."""
    times[:] = 0
    for way in range(ways.begins[part.first + n], ways.begins[part.first + n + 1]):
        shown = PERMUTATIONS[ways.permutations[way]]
        clubs, diamonds, hearts, spades = shown[0], shown[1], shown[2], shown[3]
        weights = chosen[ways.fours[way]]
        for i in range(52):
            row, to = weights[i], times[shown[i]]
            for u in range(0, 52, 4):
                to[u + clubs] += row[u]
                to[u + diamonds] += row[u + 1]
                to[u + hearts] += row[u + 2]
                to[u + spades] += row[u + 3]
    for card in part.hands[n]:
        # What was drawn can be neither the card given away nor the up-card.
        times[card] = 0
        times[:, card] = 0


@kernel
def _raised(terms: Longs, deals: int, not_qualified: int, win: int, tie: int) -> int:
    """Return what a raise is worth in front of so many of the dealer's hands."""
    return int(terms[0] * not_qualified + terms[1] * win + terms[2] * tie - terms[3] * deals)


@kernel
def _tally_fold(counts: Longs, times: int, deals: int, not_qualified: int) -> None:
    """Add a state that folds, so many times, to the counts of a branch."""
    counts[0] += times * not_qualified
    counts[1] += times * (deals - not_qualified)


@kernel
def _tally_raise(counts: Longs, times: int, deals: int, not_qualified: int, win: int, tie: int) -> None:
    """Add a state that raises, so many times, to the counts of a branch."""
    counts[2] += times * not_qualified
    counts[3] += times * win
    counts[4] += times * tie
    counts[5] += times * (deals - not_qualified - win - tie)
