"""Whether a game returns what it should: no false alarms, the true ones in the time predicted."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from math import log, log1p

import pytest

from domain.odds.figures import figures_of
from domain.odds.monitoring import SCALE, Sums, Theory, alarm, monitor, rounds_to_flag
from domain.odds.payoffs import OddsError, Payoffs
from tests.unit.domain.odds.counted import STANDARD

PAYS = (1, 1, 2, 3, 4, 5, 7, 20, 50, 100)
PAIR = 1


def money(pays: tuple[int, ...]) -> Payoffs:
    """Return the money of a hand under a pay table."""
    return Payoffs(1, 2, tuple(2 * odds for odds in pays), None, 1)


def theory(pays: tuple[int, ...] = PAYS) -> Theory:
    """Return what a house with a pay table should return, to players who decide as the usual one wants."""
    figures = figures_of(STANDARD, money(pays))
    return Theory.of_game(money(pays), figures.per_ante.expected, figures.variance)


def results(pays: tuple[int, ...], seed: int) -> Iterator[int]:
    """Yield what rounds come to for a player who decides as the usual pay table wants, in antes."""
    kept = STANDARD.kept
    folded = sum(kept.folded_not_qualified) + sum(kept.folded_qualified)
    ends = [(-1, folded), (1, sum(kept.not_qualified)), (0, sum(kept.tie)), (-3, sum(kept.lose))]
    ends += [(1 + 2 * odds, won) for odds, won in zip(pays, kept.win, strict=True)]
    nets, deals = zip(*ends, strict=True)
    chance = random.Random(seed)
    cumulative = list(accumulate(deals))
    while True:
        yield from chance.choices(nets, cum_weights=cumulative, k=1_000)


def lives(pays: tuple[int, ...], seed: int, rounds: int) -> Iterator[Sums]:
    """Yield the sums of a series after each of its rounds."""
    total = squares = 0
    for number, net in zip(range(1, rounds + 1), results(pays, seed), strict=False):
        total += net
        squares += net * net
        yield Sums(number, total * SCALE, squares * SCALE**2)


def test_what_the_evidence_rests_on_holds() -> None:
    """1 + x y is never below exp(x y + (log(1 - x) + x) y²), from y = -1 on, where they are equal."""
    for x in (0.001, 0.1, 0.5, 0.9):
        for y in (-1, -0.999, -0.5, -0.01, 0, 0.01, 1, 30):
            assert log1p(x * y) >= x * y + (log(1 - x) + x) * y**2 - 1e-12


def test_play_by_the_best_decisions_stays_within_the_bounds() -> None:
    """Looked at after every tenth round, a game that returns what it should raises no alarm."""
    expected = theory()
    for seed in range(3):
        for sums in lives(PAYS, seed, 20_000):
            assert sums.rounds % 10 or alarm(sums, expected) is None
        found = monitor(sums, expected)
        assert found is not None
        assert found.low < expected.mean < found.high
        assert found.low < found.mean < found.high


def test_false_alarms_are_as_rare_as_promised() -> None:
    """With a rate of a fifth, of a hundred lives looked at all the time no more than a fifth ever alarm."""
    expected = theory()
    alarmed = sum(
        any(alarm(sums, expected, 0.2) for sums in lives(PAYS, seed, 600) if sums.rounds % 20 == 0)
        for seed in range(100)
    )
    assert alarmed <= 20


@pytest.mark.parametrize(("paid", "side"), [(2, "above"), (0, "below")])
def test_a_wrong_pay_table_is_flagged_within_the_predicted_rounds(paid: int, side: str) -> None:
    """A house that pays pairs twice, or not at all, is flagged on the right side in the time predicted."""
    wrong = (*PAYS[:PAIR], paid, *PAYS[PAIR + 1 :])
    expected, real = theory(), theory(wrong)
    predicted = rounds_to_flag(real.mean - expected.mean, replace(expected, variance=real.variance))
    assert predicted is not None
    assert 1_000 < predicted < 30_000
    for seed in range(4):
        flagged = next(
            sums
            for sums in lives(wrong, seed, predicted)
            if sums.rounds % 10 == 0 and alarm(sums, expected) is not None
        )
        assert alarm(flagged, expected) == side


def test_a_smaller_deviation_takes_longer() -> None:
    """The rounds that are needed grow with the square of what is looked for, and without end."""
    expected = theory()
    slight, slighter = (rounds_to_flag(Fraction(1, part), expected) or 0 for part in (10, 100))
    assert 80 * slight < slighter < 130 * slight
    assert rounds_to_flag(Fraction(1, 10**9), expected) is None
    with pytest.raises(OddsError, match="never flagged"):
        rounds_to_flag(Fraction(0), expected)


def test_sums_of_parts_are_added() -> None:
    """Series of two parts of a ledger are one series, and one without a round says nothing."""
    *_, whole = lives(PAYS, 1, 30)
    *_, part = lives(PAYS, 1, 10)
    rest = Sums(20, whole.results - part.results, whole.squares - part.squares)
    assert part + rest == whole
    assert monitor(Sums(), theory()) is None


def test_results_lie_where_the_theory_says() -> None:
    """The least is a raise or an exchanged hand that loses; the most is larger where cards are exchanged."""
    game = theory()
    assert (game.lowest, game.highest) == (-3, 203)
    exchanging = replace(money(PAYS), fee=1)
    bought = Theory.of_game(exchanging, game.mean, game.variance)
    assert (bought.lowest, bought.highest) == (-4, 406)
    cards = Theory.of_cards(money(PAYS), game.mean, game.variance)
    assert (cards.lowest, cards.highest) == (-1, 201)
