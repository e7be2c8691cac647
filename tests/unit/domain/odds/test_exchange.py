"""A house that sells a card, counted whole."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from domain.cards import DECK
from domain.odds.basis import Basis
from domain.odds.exchange import TOTAL, Solved, solve_exchange
from domain.odds.exchange_values import EXCHANGE, FOLD, NO_STATE, RAISE, ExchangeValues
from domain.odds.figures import branches, deals, figures_of
from domain.odds.hands_table import PERMUTATIONS, hands_table
from domain.odds.lookup import Lookup
from domain.odds.outcomes import Branch
from domain.odds.payoffs import OddsError, Payoffs
from tests.unit.domain.odds.brute_force import Money, everything
from tests.unit.domain.odds.counted import HANDS
from tests.unit.domain.odds.states import numbers, place

WINS = (2, 2, 4, 6, 8, 10, 14, 40, 100, 200)
LIVE_WINS = (2, 2, 4, 6, 10, 14, 20, 50, 100, 200)
BOUGHT = Payoffs(1, 2, WINS, 1, 100)
DRAWN_FROM = 46 * 148995


class Told:
    """Remembers the progress it is told."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, int]] = []

    def __call__(self, done: int, of: int) -> None:
        """Be told."""
        self.steps.append((done, of))


@pytest.fixture(scope="module")
def told() -> Told:
    """What is told while the house is counted."""
    return Told()


@pytest.fixture(scope="module")
def solved(basis: Basis, told: Told) -> Solved:
    """The Czech house without a limit, counted once."""
    return solve_exchange(basis, hands_table(), BOUGHT, told)


@pytest.fixture(scope="module")
def values(solved: Solved) -> ExchangeValues:
    """What is best in every state of it."""
    return solved.values


@pytest.fixture(scope="module")
def lookup() -> Lookup:
    """The odds of states, counted in another way."""
    return Lookup()


def worth(branch: Branch, payoffs: Payoffs, fee: int) -> int:
    """What all deals of a branch are worth together."""
    folded = sum(branch.folded_not_qualified) + sum(branch.folded_qualified)
    lost = sum(branch.lose) * (payoffs.ante + payoffs.raised)
    won = sum(win * (payoffs.ante + pays) for win, pays in zip(branch.win, payoffs.raise_wins, strict=True))
    return sum(branch.not_qualified) * payoffs.ante + won - lost - folded * payoffs.ante - deals(branch) * fee


def states(values: ExchangeValues, decision: int, how_many: int) -> Iterator[tuple[list[str], str, Any]]:
    """Some states with a decision: a hand in any suits and order, an up-card, and its place in the tables."""
    draw = random.Random(decision)
    places = np.argwhere(np.minimum(values.decisions, EXCHANGE) == decision)
    for each in draw.sample(range(len(places)), how_many):
        number, up = places[each]
        shown = PERMUTATIONS[draw.randrange(24)]
        hand = [DECK[shown[card]] for card in hands_table().class_hands[number]]
        yield draw.sample(hand, 5), DECK[shown[up]], (number, up)


def test_every_deal_is_counted_once(solved: Solved) -> None:
    """Hands kept and hands exchanged are all deals there are, each with every draw and dealer's hand."""
    kept, exchanged = branches(solved.outcomes)
    assert deals(kept) + deals(exchanged) == solved.outcomes.total == TOTAL == 19933230517200 * 42
    weights = hands_table().weights.astype(np.int64)
    chosen = weights @ (solved.values.decisions >= EXCHANGE).sum(axis=1)
    assert deals(exchanged) == chosen * DRAWN_FROM
    assert min(min(getattr(branch, name)) for branch in (kept, exchanged) for name in Branch.__slots__) >= 0


def test_an_exchange_does_not_change_what_the_dealer_has(solved: Solved) -> None:
    """Of all deals the dealer qualifies in as many as in a game without an exchange."""
    unqualified = [
        sum(branch.folded_not_qualified) + sum(branch.not_qualified) for branch in branches(solved.outcomes)
    ]
    assert sum(unqualified) == Fraction(1135260, 2598960) * TOTAL


def test_good_hands_are_kept(solved: Solved) -> None:
    """Nobody gives up a card of two pairs, three or four of a kind, or a full house: all are raised."""
    kept = solved.outcomes.kept
    for category in (2, 3, 6, 7):
        raised = sum(getattr(kept, name)[category] for name in ("not_qualified", "win", "tie", "lose"))
        assert raised == HANDS[category] * TOTAL // 2598960


def test_the_whole_game_is_worth_what_another_count_says(solved: Solved) -> None:
    """The loss and the numbers of decisions are those of a count by classes of six cards.

    That one went, once, through the 962 988 classes of six cards under exchange of suits, a hand as dealt and
    the card drawn. For each of them, each up-card and each of the six final hands, the dealer's hands were
    counted as one state is looked up, by inclusion and exclusion over all six cards. Then each dealt hand was
    decided by adding up the sixes that it can become: nothing was counted by pairs of up-cards, and nothing
    by four kept cards.
    """
    weights = hands_table().weights.astype(np.int64)
    decisions = solved.values.decisions
    found = [decisions == FOLD, decisions == RAISE, decisions >= EXCHANGE]
    assert [int((weights @ each).sum()) for each in found] == [49548192, 62345460, 10257468]
    kept, exchanged = branches(solved.outcomes)
    assert worth(kept, BOUGHT, 0) + worth(exchanged, BOUGHT, 1) == -8683003637268
    folded_then = sum(exchanged.folded_not_qualified) + sum(exchanged.folded_qualified)
    assert folded_then == 249883728 * 148995
    figures = figures_of(solved.outcomes, BOUGHT)
    assert figures.per_ante.expected == Fraction(-723583636439, 69766306810200)
    assert figures.exchange == Fraction(1399, 16660)


def test_what_is_expected_is_what_comes(solved: Solved) -> None:
    """What exchanges were taken to be worth is what becomes of the hands that were exchanged."""
    values, weights = solved.values, hands_table().weights.astype(np.int64)
    expected = int(weights @ np.where(values.decisions >= EXCHANGE, values.values, 0).sum(axis=1))
    exchanged = solved.outcomes.exchanged
    assert exchanged is not None
    assert worth(exchanged, BOUGHT, 1) == expected


def test_an_exchange_is_bought_only_where_it_is_worth_more(basis: Basis, values: ExchangeValues) -> None:
    """Each decision is the best of the three, and of equal ones a fold, then a raise."""
    wins = np.array(WINS)[basis.categories][:, None]
    lose = 163185 - basis.not_qualified - basis.win - basis.tie
    raised = 42 * (basis.not_qualified + basis.win * (1 + wins) - 3 * lose.astype(np.int64))
    folded = -DRAWN_FROM
    state = basis.not_qualified >= 0
    assert (state == (values.decisions != NO_STATE)).all()
    assert (state == (values.places != NO_STATE)).all()
    best = np.where(raised > folded, RAISE, FOLD)
    bought = values.values > np.maximum(raised, folded)
    first = np.array([(bits & -bits).bit_length() - 1 for bits in range(32)])[np.maximum(values.places, 0)]
    best = np.where(bought, EXCHANGE + first, best)
    assert (values.decisions[state] == best[state]).all()


def test_the_house_returns_more_than_without_an_exchange(solved: Solved) -> None:
    """Whoever can buy a card need not: less is lost than 1 041 372 912 372 of 19 933 230 517 200 antes."""
    expected = figures_of(solved.outcomes, BOUGHT).per_ante.expected
    assert expected > Fraction(-1041372912372, 19933230517200)


def test_an_exchange_by_the_live_table_favours_the_player(solved: Solved) -> None:
    """With the pay table of the live house, even decisions that are best for another one win.

    The best by that table win more still: a house that sells cards at it loses.
    """
    live = figures_of(solved.outcomes, replace(BOUGHT, raise_wins=LIVE_WINS))
    assert live.per_ante.expected == Fraction(1846963916027, 69766306810200)


@pytest.mark.parametrize("decision", [FOLD, RAISE, EXCHANGE])
def test_states_are_decided_as_they_are_looked_up(
    values: ExchangeValues, lookup: Lookup, decision: int
) -> None:
    """The best exchange of a hand in any suits, and its worth, are those that are counted on the spot."""
    for hand, up, _ in states(values, decision, 40):
        counted = lookup.judge(BOUGHT, hand, [up])
        known = lookup.judge(BOUGHT, hand, [up], known=values)
        (card,) = set(known.numerators) - {"fold", "raise"}
        assert known.numerators.items() <= counted.numerators.items()
        assert known.numerators[card] == max(counted.numerators[each] for each in hand)
        assert known.best == counted.best
        kind = {"fold": FOLD, "raise": RAISE}.get(known.best, EXCHANGE)
        assert kind == decision


def test_of_equal_exchanges_the_first_is_best_in_any_suits(values: ExchangeValues, lookup: Lookup) -> None:
    """Where either card of a pair can go, it is the one of the least number in the hand itself."""
    several = np.array([bits.bit_count() > 1 for bits in range(32)])[np.maximum(values.places, 0)]
    found = np.argwhere(several & (values.decisions >= EXCHANGE))
    for number, up in found[:: len(found) // 5]:
        hand = hands_table().class_hands[number]
        for shown in PERMUTATIONS[[0, 7, 23]]:
            cards, ups = [DECK[card] for card in shown[hand]], [DECK[shown[up]]]
            counted, known = (lookup.judge(BOUGHT, cards, ups, known=each) for each in (None, values))
            assert counted.best not in ("fold", "raise")
            assert [counted.numerators[card] for card in cards].count(counted.numerators[counted.best]) > 1
            assert known.best == counted.best


def test_values_are_those_of_every_draw_and_deal(values: ExchangeValues) -> None:
    """The best exchange of a state is worth what going through all draws and all dealer's hands gives."""
    for decision in (FOLD, RAISE, EXCHANGE):
        for hand, up, state in states(values, decision, 2):
            cards = [DECK.index(card) for card in hand]
            exchanges = everything().exchanged(cards, numbers(up), Money(1, 2, WINS, 1))
            assert Fraction(int(values.values[state]), DRAWN_FROM) == max(exchanges)


def test_four_to_a_flush_buy_and_a_pair_does_not(values: ExchangeValues) -> None:
    """The hand in hand: what makes a flush or an open straight is kept, and the fifth card goes."""
    four_flush = "2h 6h 9h Kh Tc", "4s"
    number, up = place(*four_flush)
    assert values.decisions[number, up] >= EXCHANGE
    pair = place("2h 2d 9h Kh Tc", "4s")
    assert values.decisions[pair] == RAISE


def test_another_exchange_than_the_best_is_judged_beside_it(values: ExchangeValues, lookup: Lookup) -> None:
    """A player's own exchange is counted where only the best one is known."""
    hand = "2h 6h 9h Kh Tc".split()
    judged = lookup.judge(BOUGHT, hand, ["4s"], known=values, exchanging="2h")
    assert set(judged.numerators) == {"fold", "raise", "Tc", "2h"}
    counted = lookup.judge(BOUGHT, hand, ["4s"])
    assert judged.numerators.items() <= counted.numerators.items()
    assert judged.best == counted.best == "Tc"
    assert judged.cost("2h") == counted.cost("2h") > 0
    again = lookup.judge(BOUGHT, hand, ["4s"], known=values, exchanging="Tc")
    assert set(again.numerators) == {"fold", "raise", "Tc"}


def test_values_serve_stakes_of_one_proportion(values: ExchangeValues, lookup: Lookup) -> None:
    """A hundredfold ante is worth a hundred times as much; other odds or another dealer are refused."""
    hand = "2h 6h 9h Kh Tc".split()
    small = lookup.judge(BOUGHT, hand, ["4s"], known=values)
    large = lookup.judge(replace(BOUGHT, unit=10_000), hand, ["4s"], known=values)
    assert large.value("Tc") == 100 * small.value("Tc")
    with pytest.raises(OddsError, match="other rules or stakes"):
        lookup.judge(replace(BOUGHT, raise_wins=LIVE_WINS), hand, ["4s"], known=values)
    with pytest.raises(OddsError, match="other rules or stakes"):
        values.require(BOUGHT, "pair")


@pytest.mark.parametrize(("cap", "least", "most"), [(100, 110, 120), (20, 70, 120), (3, 1, 119)])
def test_values_serve_under_a_cap(
    values: ExchangeValues, lookup: Lookup, cap: int, least: int, most: int
) -> None:
    """Where the best exchange makes no hand that is cut, it is the best one still; else all are counted."""
    capped = Payoffs(7, 14, tuple(7 * min(win, cap) for win in WINS), 7, 100)
    read = 0
    for decision in (FOLD, RAISE, EXCHANGE):
        for hand, up, _ in states(values, decision, 40):
            counted = lookup.judge(capped, hand, [up])
            known = lookup.judge(capped, hand, [up], known=values)
            assert known.numerators.items() <= counted.numerators.items()
            assert known.best == counted.best
            exchanges = known.numerators.keys() - {"fold", "raise"}
            assert max(counted.numerators[card] for card in hand) in [known.numerators[n] for n in exchanges]
            read += len(exchanges) == 1
    assert least <= read <= most


def test_progress_is_told_to_the_end(solved: Solved, told: Told) -> None:
    """Steps come in order, many of them, and the last is all there is."""
    assert solved.outcomes.total == TOTAL
    assert told.steps == sorted(told.steps)
    assert len(told.steps) > 1000
    assert told.steps[-1] == (2 * 134459, 2 * 134459)


@pytest.mark.parametrize(
    ("payoffs", "says"),
    [
        (replace(BOUGHT, fee=None), "no card can be exchanged"),
        (replace(BOUGHT, raise_wins=(*WINS[:9], 2**63 // DRAWN_FROM)), "cannot be counted exactly"),
        (replace(BOUGHT, ante=10**12, raised=2 * 10**12, fee=10**12 + 1), "cannot be counted exactly"),
    ],
    ids=["no fee", "a large win", "large stakes"],
)
def test_what_cannot_be_counted_is_refused(basis: Basis, payoffs: Payoffs, says: str) -> None:
    """Nothing is counted without an exchange to buy, nor what may not fit 64 bits."""
    with pytest.raises(OddsError, match=says):
        solve_exchange(basis, hands_table(), payoffs)
