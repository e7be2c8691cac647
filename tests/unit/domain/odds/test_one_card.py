"""A game with one up-card returns what is known of it, to the last deal, and decides exactly."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from domain.hands import rank_five
from domain.odds.basis import Basis
from domain.odds.figures import figures_of
from domain.odds.hands_table import hands_table
from domain.odds.one_card import Decisions, best_raises, play, solve_one
from domain.odds.outcomes import Outcomes
from domain.odds.payoffs import Payoffs
from tests.unit.domain.odds.counted import (
    BEST_OF_SIX,
    FOLDED,
    FOLDED_NOT_QUALIFIED,
    LOSE,
    NOT_QUALIFIED,
    NOTHING,
    TIE,
    TOTAL,
    WIN,
    only,
)
from tests.unit.domain.odds.states import place

USUAL = Payoffs(1, 2, (2, 2, 4, 6, 8, 10, 14, 40, 100, 200), None, 100)
LIVE = Payoffs(1, 2, (2, 2, 4, 6, 10, 14, 20, 50, 100, 200), None, 100)
WEAKEST_PAIR, WEAKEST_ACE_KING = 6185, 6349


@pytest.fixture(scope="module")
def usual(basis: Basis) -> Outcomes:
    """Return the outcomes under the usual pay table."""
    return solve_one(basis, USUAL)


@pytest.fixture(scope="module")
def raises(basis: Basis) -> Decisions:
    """Return the best decisions under the usual pay table, false where there is no state."""
    return best_raises(basis, USUAL) & (basis.not_qualified >= 0)


def lost(outcomes: Outcomes, payoffs: Payoffs) -> Fraction:
    """Return what all deals together lose, in antes."""
    return -figures_of(outcomes, payoffs).per_ante.expected * TOTAL


def test_everything_that_happens_is_counted_as_it_is_known(usual: Outcomes) -> None:
    """By category of the hand: dealers who do not qualify, wins, ties, losses and folds."""
    kept = usual.kept
    assert kept.not_qualified == NOT_QUALIFIED
    assert (kept.win, kept.tie, kept.lose) == (WIN, TIE, LOSE)
    assert kept.folded_not_qualified == only(0, FOLDED_NOT_QUALIFIED)
    assert kept.folded_qualified == only(0, FOLDED - FOLDED_NOT_QUALIFIED)
    assert (usual.total, usual.exchanged, usual.up_cards) == (TOTAL, None, 1)


def test_the_usual_table_and_the_live_one_lose_what_is_known(basis: Basis, usual: Outcomes) -> None:
    """1 041 372 912 372 and 738 262 709 372 antes in all deals; nobody plays them differently."""
    assert lost(usual, USUAL) == 1041372912372
    assert solve_one(basis, LIVE) == usual
    assert lost(usual, LIVE) == 738262709372


def test_six_cards_are_counted_whatever_is_decided(usual: Outcomes) -> None:
    """Together the deals of 5+1, of folded hands those of folded states."""
    by_category = [sum(half[c] for decision in usual.six for half in decision) for c in range(10)]
    assert by_category == [count * 163185 for count in BEST_OF_SIX]
    assert (sum(usual.six[0][0]), sum(usual.six[0][1])) == (
        FOLDED_NOT_QUALIFIED,
        FOLDED - FOLDED_NOT_QUALIFIED,
    )
    assert sum(usual.six[1][0]) == sum(NOT_QUALIFIED)


def test_six_cards_of_a_player_who_never_folds_are_those_of_the_basis(basis: Basis) -> None:
    """A royal flush with any of 47 cards qualifies its dealers in as many deals as its raise is played."""
    outcomes = play(basis, np.ones(basis.win.shape, np.bool_))
    assert outcomes.six[0] == (NOTHING, NOTHING)
    kept = outcomes.kept
    assert outcomes.six[1][0][9] > kept.not_qualified[9] == NOT_QUALIFIED[9]
    assert sum(outcomes.six[1][1]) == sum(kept.win) + sum(kept.tie) + sum(kept.lose)


def test_as_many_states_raise_as_is_known(basis: Basis, raises: Decisions) -> None:
    """63 794 004 raise and 58 357 116 fold; all pairs raise, nothing below A-K does, and A-K does either."""
    weights = basis.weights.astype(np.int64)
    values = hands_table().class_values
    states = basis.not_qualified >= 0
    ace_king = (values > WEAKEST_PAIR) & (values <= WEAKEST_ACE_KING)
    assert (int((weights @ raises).sum()), int((weights @ (states & ~raises)).sum())) == (63794004, 58357116)
    assert (raises | ~states)[values <= WEAKEST_PAIR].all()
    assert not raises[values > WEAKEST_ACE_KING].any()
    held = weights[ace_king]
    assert int((held @ raises[ace_king]).sum()) == 2862264
    assert int((held @ (states & ~raises)[ace_king]).sum()) == 4999896


def test_the_closest_decision_is_about_two_hands_in_163_185(basis: Basis) -> None:
    """No state is indifferent under the usual table, and some differ by 2/163185 of an ante."""
    wins = np.array(USUAL.raise_wins)[basis.categories][:, None]
    gains = basis.not_qualified * 4 + basis.win * (4 + wins) + basis.tie * 3 - 2 * 163185
    closest = np.abs(gains[basis.not_qualified >= 0]).min()
    assert closest == 2
    assert closest / 163185 == pytest.approx(1.2256028433985966e-05)


@pytest.mark.parametrize(
    ("hand", "up", "raised"),
    [
        ("2c 2d 3h 4s 6c", "As", True),
        ("Ac Kd Qh Js 9c", "2s", True),
        ("Ac Kd 4h 3s 2c", "9s", False),
        ("Ac Kd Jh 8s 3c", "7s", False),
        ("Ac Kd 9h 8s 3c", "As", False),
        ("2h 3h 6d Kc Ac", "6h", True),
        ("2s 3s 6h Kd Ac", "6s", True),
        ("2h 6d Qc Kc Ac", "4h", False),
        ("2h 6d Qd Kc Ac", "4h", False),
        ("2h 5d Qc Kd Ac", "4d", True),
    ],
)
def test_known_states_are_decided_as_is_known(raises: Decisions, hand: str, up: str, *, raised: bool) -> None:
    """Among them those closest to where a raise is worth a fold."""
    assert raises[place(hand, up)] == raised


def _three_rules(values: np.ndarray, ranks: np.ndarray, up: np.ndarray) -> np.ndarray:
    """A-K raises when a matching up-card is at most a queen, and in two more cases.

    Against an ace or king, with a queen or jack; and with a queen, against a card that matches nothing and is
    below the fourth highest.
    """
    match = (ranks[:, :, None] == up).any(axis=1)
    queen, jack = ((ranks == rank).any(axis=1)[:, None] for rank in (10, 9))
    fourth = np.sort(ranks, axis=1)[:, 1, None]
    good = (match & (up <= 10)) | ((up >= 11) & (queen | jack)) | (~match & queen & (up < fourth))
    return (values <= WEAKEST_PAIR) | ((values <= WEAKEST_ACE_KING) & good)


def _matching_rank(values: np.ndarray, ranks: np.ndarray, up: np.ndarray) -> np.ndarray:
    """A-K raises when the up-card matches any of the five."""
    match = (ranks[:, :, None] == up).any(axis=1)
    return (values <= WEAKEST_PAIR) | ((values <= WEAKEST_ACE_KING) & match)


def _at_least(worst: int) -> Callable[..., np.ndarray]:
    return lambda values, _, up: (values <= worst) & (up >= 0)


@pytest.mark.parametrize(
    ("strategy", "loss"),
    [
        (_three_rules, 1041417758724),
        (_at_least(rank_five("As Kd Jh 8c 3s".split()).value), 1059715400580),
        (_matching_rank, 1063176931284),
        (_at_least(WEAKEST_PAIR), 1090272101460),
        (_at_least(WEAKEST_ACE_KING), 1132600203540),
        (_at_least(7462), 3310360338060),
    ],
    ids="three_rules A-K-J-8-3 matching_rank pair A-K blind".split(),
)
def test_published_strategies_lose_what_was_published(
    basis: Basis, strategy: Callable[..., np.ndarray], loss: int
) -> None:
    """In antes over all deals, to the last one."""
    table = hands_table()
    chosen = strategy(table.class_values[:, None], table.class_hands >> 2, np.arange(52) >> 2)
    assert lost(play(basis, chosen), USUAL) == loss


@pytest.mark.parametrize("scale", [1, 10**6])
@pytest.mark.parametrize(("hand", "up"), [("6c 6d 5c 5d Ah", "Kc"), ("Ac Kd Qh Js Tc", "6d")])
def test_a_raise_has_to_gain(basis: Basis, hand: str, up: str, scale: int) -> None:
    """Where it is worth exactly a fold the hand folds, and raises for the least that it pays more.

    The stakes are such that a raise that wins nothing is worth a fold; times 1 000 000, beside a royal flush
    that wins 10^17, the sums need more than 64 bits.
    """
    number, card = place(hand, up)
    beaten = int(basis.not_qualified[number, card] + basis.win[number, card])
    assert basis.tie[number, card] == 0
    ante, raised = scale * (163185 - beaten), scale * 2 * beaten
    royal = 10**17 if scale > 1 else 1
    for wins, decision in ((0, False), (1, True), (-1, False)):
        payoffs = Payoffs(ante, raised, (*[wins] * 9, royal), None, 1)
        assert best_raises(basis, payoffs)[number, card] == decision


def test_the_largest_amounts_are_decided_exactly(basis: Basis) -> None:
    """In states drawn at random, as integers without bounds decide; in proportion, as the small ones."""
    wins = tuple(10**12 * odds for odds in (1, 1, 2, 3, 4, 5, 7, 20, 50, 100_000))
    large = best_raises(basis, Payoffs(10**11 - 1, 10**12 - 9, wins, None, 1))
    draw = random.Random(11)
    for number, up in ((draw.randrange(134459), draw.randrange(52)) for _ in range(5_000)):
        nq, win, tie = (int(counts[number, up]) for counts in (basis.not_qualified, basis.win, basis.tie))
        if nq >= 0:
            pays = wins[basis.categories[number]]
            lose = 163185 - nq - win - tie
            worth = nq * (10**11 - 1) + win * (10**11 - 1 + pays) - lose * (10**11 - 1 + 10**12 - 9)
            assert large[number, up] == (worth > -163185 * (10**11 - 1))
    times = 5 * 10**11
    scaled = Payoffs(times, 2 * times, tuple(times * win for win in (*LIVE.raise_wins[:9], 200_000)), None, 1)
    states = basis.not_qualified >= 0
    assert (best_raises(basis, scaled) & states == best_raises(basis, LIVE) & states).all()
