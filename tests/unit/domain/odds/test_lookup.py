"""One state's exact odds: counts that are known, and what decisions are worth by them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, replace
from fractions import Fraction

import pytest

from domain.cards import DECK, DuplicateCard, UnknownCard
from domain.odds.lookup import Judgement, Lookup
from domain.odds.payoffs import OddsError, Payoffs
from tests.unit.domain.odds.brute_force import Money, everything
from tests.unit.domain.odds.states import numbers

WINS = (2, 2, 4, 6, 8, 10, 14, 40, 100, 200)
USUAL = Payoffs(1, 2, WINS, None, 100)
BOUGHT = replace(USUAL, fee=1)

# The hand and the up-card; how many of 163 185 hands do not qualify, lose, tie and win against it.
KNOWN = [
    ("Ac Kc Qc Jc Tc", "2d", 74334, 88851, 0, 0),
    ("9c 9d 9h 9s 2c", "Ad", 47983, 115153, 0, 49),
    ("2c 4c 6c 8c Tc", "Kd", 51004, 111366, 0, 815),
    ("Ac Kd Qh Js Tc", "6d", 73689, 88846, 0, 650),
    ("6c 6d 5c 5d Ah", "Kc", 55683, 94178, 0, 13324),
    ("2c 2d 3h 4s 6c", "As", 50760, 28733, 0, 83692),
    ("Ac Kd Qh Js 9c", "2s", 74490, 5499, 0, 83196),
    ("Ac Kd 4h 3s 2c", "9s", 73725, 0, 0, 89460),
    ("Ac Kd Jh 8s 3c", "7s", 74025, 4024, 0, 85136),
    ("Ac Kd Qh 8s 3c", "9s", 74073, 4589, 0, 84523),
    ("Ac Kd 9h 8s 3c", "As", 62735, 7393, 81, 92976),
    ("7c 5d 4h 3s 2c", "As", 51234, 0, 0, 111951),
    ("2h 3h 6d Kc Ac", "6h", 81533, 0, 81, 81571),
    ("2h 6d Qc Kc Ac", "4h", 74266, 4884, 0, 84035),
    ("2h 6d Qd Kc Ac", "4h", 74266, 4884, 0, 84035),
    ("2h 3h 6c Kd Ac", "6h", 81533, 0, 81, 81571),
    ("2s 3s 6h Kd Ac", "6s", 81533, 0, 81, 81571),
    ("2h 5d Qc Kd Ac", "4d", 74384, 4806, 0, 83995),
]


@pytest.fixture(scope="module")
def lookup() -> Lookup:
    """What every test here asks."""
    return Lookup()


@pytest.mark.parametrize("known", KNOWN, ids=[f"{hand} {up}" for hand, up, *_ in KNOWN])
def test_states_have_the_known_counts(lookup: Lookup, known: tuple[str, str, int, int, int, int]) -> None:
    """The counts of these states, near the edges of the game, are those that others found."""
    hand, up, *counts = known
    found = lookup.counts(hand.split(), [up])
    assert list(astuple(found)[1:]) == counts
    assert found.total == 163185


@pytest.mark.parametrize(
    ("hand", "up", "margin"),
    [("2h 3h 6d Kc Ac", "6h", 5), ("2h 6d Qd Kc Ac", "4h", -2), ("2h 5d Qc Kd Ac", "4d", 2)],
)
def test_the_closest_decisions_are_told_apart(lookup: Lookup, hand: str, up: str, margin: int) -> None:
    """A raise that is worth 5 or 2 of 163 185 antes more than a fold is best, one worth 2 less is not."""
    judged = lookup.judge(USUAL, hand.split(), [up])
    assert judged.value("fold") == -100
    assert judged.value("raise") - judged.value("fold") == Fraction(100 * margin, 163185)
    assert judged.best == ("raise" if margin > 0 else "fold")
    worse = "fold" if margin > 0 else "raise"
    assert judged.cost(worse) == Fraction(100 * abs(margin), 163185)
    assert judged.cost(judged.best) == 0


@pytest.mark.parametrize("ups", ["9s", "9s Kd", "9s Kd 9d", "9s Kd 9d 2c"])
@pytest.mark.parametrize("gone", ["", "As", "As 3d"])
def test_up_to_four_up_cards_and_two_gone_are_counted(lookup: Lookup, ups: str, gone: str) -> None:
    """However many of the dealer's cards are seen, and cards that are in nobody's hand, no deal is missed."""
    hand = "Ac Kh Kc 4s 9h"
    found = lookup.counts(hand.split(), ups.split(), gone.split())
    counted = everything().counts(numbers(hand), numbers(ups), numbers(gone))
    assert astuple(found)[1:] == (counted.not_qualified, counted.win, counted.tie, counted.lose)
    assert found.category == counted.category


@pytest.mark.parametrize(
    ("hand", "up", "best"), [("3d 4d 5d 6d Kc", "Ts", "Kc"), ("Qs Qc Ks As 2s", "Qd", "raise")]
)
def test_an_exchange_is_worth_the_mean_over_draws(lookup: Lookup, hand: str, up: str, best: str) -> None:
    """Any of the 46 unseen cards is drawn, a burned one among them, and then the best is done."""
    expected = everything().exchanged(numbers(hand), numbers(up), Money(1, 2, WINS, 1))
    judged = lookup.judge(BOUGHT, hand.split(), [up])
    assert [judged.value(card) for card in hand.split()] == [100 * value for value in expected]
    assert judged.value(judged.best) == max(map(judged.value, judged.numerators))
    assert judged.best == best


def test_a_drawn_hand_is_judged_without_the_card_given_away(lookup: Lookup) -> None:
    """The dealer cannot have the card given away, and the fee is lost whatever is done."""
    hand, up, gone = "3d 4d 5d 6d 7h", "Ts", "Kc"
    counts = everything().counts(numbers(hand), numbers(up), numbers(gone))
    judged = lookup.judge_drawn(BOUGHT, hand.split(), [up], gone)
    assert judged.denominator == counts.total == 148995
    assert judged.value("raise") == 100 * (counts.raised(Money(1, 2, WINS)) - 1)
    assert judged.value("fold") == -200
    assert judged.best == "raise"


def test_an_exchange_reveals_nothing_on_average(lookup: Lookup) -> None:
    """Where only a dealer who does not qualify pays, a free exchange is worth a raise: the hand raises.

    No card that is drawn changes the mean of what the dealer may have; all exchanges are worth exactly that.
    """
    only_unqualified = Payoffs(ante=1, raised=-1, raise_wins=(-1,) * 10, fee=0, unit=1)
    judged = lookup.judge(only_unqualified, "2c 7d 9h Jc As".split(), ["Ad"])
    assert judged.best == "raise"
    assert set(judged.numerators) == {"fold", "raise", "2c", "7d", "9h", "Jc", "As"}
    assert {judged.value(option) for option in judged.numerators if option != "fold"} == {
        Fraction(lookup.counts("2c 7d 9h Jc As".split(), ["Ad"]).not_qualified, 163185)
    }


def test_of_equal_options_folding_is_best(lookup: Lookup) -> None:
    """Where nothing is at stake a hand folds."""
    judged = lookup.judge(Payoffs(0, 0, (0,) * 10, 0, 1), "2c 7d 9h Jc As".split(), ["Ad"])
    assert set(judged.numerators.values()) == {0}
    assert judged.best == "fold"


def test_amounts_of_any_size_are_exact(lookup: Lookup) -> None:
    """What is worth more than 64 bits hold is worth so many times what small stakes are."""
    hand, up, times = "3d 4d 5d 6d Kc".split(), ["Ts"], 10**18 + 9
    small = lookup.judge(BOUGHT, hand, up)
    large = lookup.judge(Payoffs(times, 2 * times, tuple(win * times for win in WINS), times, 100), hand, up)
    assert large.numerators == {option: value * times for option, value in small.numerators.items()}
    assert large.best == small.best


def test_a_higher_qualifying_hand_is_minded() -> None:
    """Where the dealer plays with two pair or better only, her pairs do not qualify."""
    counts = Lookup("two_pair").counts("Ac Kd Jh 8s 3c".split(), ["7s"])
    every = everything()
    strengths, _ = every.dealt(numbers("7s"), numbers("Ac Kd Jh 8s 3c"))
    assert counts.not_qualified == (every.category[strengths] < 2).sum()
    assert (counts.win, counts.tie, counts.lose) == (0, 0, 163185 - counts.not_qualified)


def test_threads_share_a_lookup(lookup: Lookup) -> None:
    """Many threads at once are told what one is."""
    hands = [hand.split() for hand, *_ in KNOWN]

    def judge(n: int) -> Judgement:
        return lookup.judge(
            BOUGHT if n % 8 == 0 else USUAL, hands[n % len(hands)], [KNOWN[n % len(hands)][1]]
        )

    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(judge, range(72)))
    assert together == [judge(n) for n in range(72)]


@pytest.mark.parametrize(
    ("cards", "ups", "gone", "error"),
    [
        (5, 0, 0, OddsError),
        (5, 5, 0, OddsError),
        (4, 2, 0, OddsError),
        (6, 1, 0, OddsError),
        (5, 1, 3, OddsError),
    ],
)
def test_other_numbers_of_cards_are_refused(
    lookup: Lookup, cards: int, ups: int, gone: int, error: type[Exception]
) -> None:
    """A state has five cards, one to four up-cards, and at most two that are gone."""
    deck = iter(DECK)
    with pytest.raises(error, match="odds are of five cards"):
        lookup.counts(*([next(deck) for _ in range(many)] for many in (cards, ups, gone)))


def test_cards_that_cannot_be_are_refused(lookup: Lookup) -> None:
    """A card that is there twice or is none is told by its place, never by its name."""
    with pytest.raises(DuplicateCard, match="the card at position 5 is already at position 0"):
        lookup.counts("2c 7d 9h Jc As".split(), ["2c"])
    with pytest.raises(UnknownCard):
        lookup.counts("2c 7d 9h Jc 1s".split(), ["2d"])


def test_questions_without_an_answer_are_refused(lookup: Lookup) -> None:
    """Nothing is said of an exchange that nobody sells, in front of two up-cards, or of another card."""
    hand = "2c 7d 9h Jc As".split()
    with pytest.raises(OddsError, match="no card can be exchanged"):
        lookup.judge_drawn(USUAL, hand, ["Ad"], "Kc")
    with pytest.raises(OddsError, match="one up-card"):
        lookup.judge(BOUGHT, hand, ["Ad", "Ks"])
    with pytest.raises(OddsError, match="not in the hand"):
        lookup.judge(BOUGHT, hand, ["Ad"], exchanging="Kc")
    judged = lookup.judge(USUAL, hand, ["Ad"])
    with pytest.raises(OddsError, match="not open"):
        judged.value("2c")
    with pytest.raises(OddsError, match="not open"):
        judged.cost("Kc")
