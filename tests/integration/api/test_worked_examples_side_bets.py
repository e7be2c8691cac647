"""Side bets that win beside every result of the hand, over HTTP on physical tables, to the unit.

A side bet that was won and went unpaid because the dealer did not qualify, or the hand was folded, is a fault
that real systems had: each level of each side bet is tried with a fold, a dealer who does not qualify, a win,
a tie and a loss, as far as one deck has hands for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from tests.integration.api.physical_table import Box, Paid, PhysicalTable

if TYPE_CHECKING:
    from tests.integration.api.conftest import Api

ANTE: Final = 10_000
METER: Final = 1_000_000
PAIR: Final = "5c 5d Kc 9d Qh"

# A player's hand, then the dealer's for each result it can have. Nothing ties with a full house or four of a
# kind in one deck, and nothing beats a royal flush.
HANDS: Final = {
    "flush": ("2s 4s 6s 8s Ts", {"tie": "2h 4h 6h 8h Th", "lose": "2h 4h 6h 8h Jh"}),
    "full_house": ("3s 3h 3d 2s 2h", {"lose": "4s 4h 4d Ks Kh"}),
    "four_of_a_kind": ("3s 3h 3d 3c 2s", {"lose": "4s 4h 4d 4c Kh"}),
    "straight_flush": ("3s 4s 5s 6s 7s", {"tie": "3h 4h 5h 6h 7h", "lose": "9h Th Jh Qh Kh"}),
    "royal_flush": ("Ts Js Qs Ks As", {"tie": "Th Jh Qh Kh Ah"}),
}
RAISE_PAYS: Final = {
    "flush": 5, "full_house": 7, "four_of_a_kind": 20, "straight_flush": 50, "royal_flush": 100,
}  # fmt: skip
CASES: Final = [
    (level, result, dealer)
    for level, (_, others) in HANDS.items()
    for result, dealer in {
        "fold": PAIR,
        "not_qualified": "Jc Qd 7c 8d 5c",
        "win": PAIR,
        **others,
    }.items()
]


def main_bets(result: str, odds: int, cap: int | None = None) -> Paid:
    """Return what ante and raise do beside the side bet."""
    won = min(2 * ANTE * odds, cap or 2 * ANTE * odds)
    return {
        "fold": {"ante": (ANTE, 0, 0)},
        "not_qualified": {"ante": (ANTE, ANTE, ANTE), "raise": (2 * ANTE, 2 * ANTE, 0)},
        "win": {"ante": (ANTE, ANTE, ANTE), "raise": (2 * ANTE, 2 * ANTE, won)},
        "tie": {"ante": (ANTE, ANTE, 0), "raise": (2 * ANTE, 2 * ANTE, 0)},
        "lose": {"ante": (ANTE, 0, 0), "raise": (2 * ANTE, 0, 0)},
    }[result]


def does(result: str) -> str:
    """Return the decision that a result follows from."""
    return "fold" if result == "fold" else "raise"


@pytest.mark.parametrize(("level", "result", "dealer"), CASES)
@pytest.mark.parametrize("ruleset", ["us-casino", "nordic"])
def test_the_jackpot_pays_each_level_whatever_becomes_of_the_hand(
    api: Api, ruleset: str, level: str, result: str, dealer: str
) -> None:
    """A jackpot bet wins its award with a fold, an unqualified dealer, a win, a tie and a loss, for 1."""
    table = PhysicalTable(api, ruleset, reset=METER)
    round_ = table.play(dealer, Box(HANDS[level][0], does(result), ANTE, {"jackpot": 100}))
    award = {
        "flush": 5_000,
        "full_house": 10_000,
        "four_of_a_kind": 50_000,
        "straight_flush": (METER + 70) // 10,
        "royal_flush": METER + 70,
    }[level]
    cap = 500_000 if ruleset == "us-casino" else None
    assert round_.paid() == main_bets(result, RAISE_PAYS[level], cap) | {"jackpot": (100, 0, award)}
    assert round_.hits() == [(1, award)]
    left = METER if level == "royal_flush" else METER + 70 - award
    assert table.meter() == str(left)


@pytest.mark.parametrize(("level", "result", "dealer"), CASES)
def test_the_special_bonus_pays_each_level_whatever_becomes_of_the_hand(
    api: Api, level: str, result: str, dealer: str
) -> None:
    """003: the special bonus wins its fixed amount with every result of the hand, and its stake is spent."""
    table = PhysicalTable(api, "czech")
    round_ = table.play(dealer, Box(HANDS[level][0], does(result), ANTE, {"bonus": 5_000}))
    award = {
        "flush": 100_000,
        "full_house": 200_000,
        "four_of_a_kind": 600_000,
        "straight_flush": 1_000_000,
        "royal_flush": 5_000_000,
    }[level]
    assert round_.paid() == main_bets(result, RAISE_PAYS[level]) | {"bonus": (5_000, 0, award)}


# Odds of the bonus, odds of the hand alone, the shared hand, and dealers by result, whose first card is the
# sixth of the bonus. A second line of a level has the results that only a hand good by itself can have.
FIVE_PLUS_ONE: Final = [
    (7, 1, "7c 7d As Kh Qd", {
        "not_qualified": "7h 2c 4d 9s Jh", "win": "7h 2c Ac Kd 4d", "tie": "7h 7s Ac Kd Qh",
        "lose": "7h 8c 8d 2s 3h",
    }),
    (10, 1, "3c 4d 5h 6s Jc", {"not_qualified": "7h 2c 4h 9s Jh", "lose": "7h 7s Ac Kd Qh"}),
    (10, 5, "3c 4d 5h 6s 7c", {"win": "2d 2h Ac Kd Qh", "tie": "3d 4h 5s 6c 7d"}),
    (15, 1, "2s 4s 6s 8s Kh", {"not_qualified": "Ts 3c 4h 9h Jh", "lose": "Ts Tc 3c 4h 5h"}),
    (15, 7, "2s 4s 6s 8s Ts", {"win": "As Ac 3c 4h 5h", "tie": "2h 4h 6h 8h Th"}),
    (20, 2, "3s 3h 2d 2s Kh", {
        "not_qualified": "3d 7c 4h 9h Jh", "win": "3d 9c 9h 4c 5c", "tie": "3d 3c 2h 2c Kc",
        "lose": "3d 9c 9h 4c 4h",
    }),
    (100, 3, "3s 3h 3c 2s Kh", {
        "not_qualified": "3d 7c 4h 9h Jh", "win": "3d 9c 9h 4c 5c", "lose": "3d 4c 5h 6h 7c",
    }),
    (200, 1, "3s 4s 5s 6s Jc", {"not_qualified": "7s 2c 4h 9h Jh", "lose": "7s 7c Ac Kd Qh"}),
    (200, 50, "3s 4s 5s 6s 7s", {"win": "2s 2c Ac Kd Qh", "tie": "3h 4h 5h 6h 7h"}),
    (1_000, 1, "Ts Js Qs Ks 2h", {"not_qualified": "As 3c 4h 9h Jh", "lose": "As Ac 3c 4h 5h"}),
    (1_000, 100, "Ts Js Qs Ks As", {"win": "2c 2h 3c 4h 5h", "tie": "Th Jh Qh Kh Ah"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("odds", "raise_odds", "hand", "result", "dealer"),
    [(*line[:3], result, dealer) for line in FIVE_PLUS_ONE for result, dealer in line[3].items()],
)
def test_the_five_plus_one_bonus_pays_each_level_whatever_becomes_of_the_hand(
    api: Api, odds: int, raise_odds: int, hand: str, result: str, dealer: str
) -> None:
    """001: the player's cards and the dealer's first pay 5+1 to 1, to who folds and to who calls."""
    table = PhysicalTable(api, "evolution-live")
    bet = {"five_plus_one": 500}
    boxes = (Box(hand, "raise", ANTE, bet), Box(hand, "fold", ANTE, bet), Box(hand, "raise", ANTE))
    round_ = table.play(dealer, *boxes)
    won = {"five_plus_one": (500, 500, 500 * odds)}
    called = main_bets(result, raise_odds)
    assert [round_.paid(seat) for seat in (1, 2, 3)] == [called | won, main_bets("fold", 1) | won, called]


@pytest.mark.parametrize("result", ["fold", "not_qualified", "win", "tie", "lose"])
def test_a_side_bet_that_loses_changes_nothing_else(api: Api, result: str) -> None:
    """Side bets on a pair lose, and ante and raise do what they do without them."""
    dealers = {
        "not_qualified": "2c 4d 6c 8h Tc",
        "win": "2s 2h 4s 6h 8s",
        "tie": "7s 7h Ac Kd 2s",
        "lose": "8s 8h Ac Kd 2s",
    }
    dealer = dealers.get(result, dealers["win"])
    for ruleset, bets in (("us-casino", {"jackpot": 100}), ("czech", {"bonus": 5_000})):
        table = PhysicalTable(api, ruleset, reset=METER if "jackpot" in bets else None)
        hand = "7c 7d As Kh 2d"
        with_it = table.play(dealer, Box(hand, does(result), ANTE, bets))
        without = table.play(dealer, Box(hand, does(result), ANTE))
        assert without.paid() == main_bets(result, 1)
        assert with_it.paid() == without.paid() | {kind: (stake, 0, 0) for kind, stake in bets.items()}
        assert with_it.hits() == []
