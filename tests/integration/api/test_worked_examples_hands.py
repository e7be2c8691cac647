"""Hands that are easily misjudged, over HTTP on physical tables: wheels, kickers, ties, no qualifying."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.api.physical_table import Box, PhysicalTable

if TYPE_CHECKING:
    from tests.integration.api.conftest import Api

PAIR_OF_FIVES = "5c 5d Kd 9c 2s"


@pytest.mark.parametrize(
    ("hand", "category", "won"),
    [
        ("Ah 2c 3d 4h 5s", "straight", 80_000),
        ("Ts Jc Qd Kh Ah", "straight", 80_000),
        ("Ah 2h 3h 4h 5h", "straight_flush", 1_000_000),
        ("9h Th Jh Qh Kh", "straight_flush", 1_000_000),
        ("Th Jh Qh Kh Ah", "royal_flush", 2_000_000),
        ("2h 4h 6h 8h Th", "flush", 100_000),
        ("7c 7h 7s 3h 3c", "full_house", 140_000),
        ("7c 7h 7s 7d 3c", "four_of_a_kind", 400_000),
        ("7c 7h 7s 4d 3c", "three_of_a_kind", 60_000),
        ("7c 7h 4s 4d 3c", "two_pair", 40_000),
        ("7c 7h Ks 4d 3c", "pair", 20_000),
    ],
)
def test_each_hand_is_paid_by_its_own_line_of_the_table(api: Api, hand: str, category: str, won: int) -> None:
    """The wheel is a straight and the steel wheel a straight flush at 50 to 1, not a royal flush at 100."""
    round_ = PhysicalTable(api, "nordic").play(PAIR_OF_FIVES, Box(hand))
    assert round_.seat()["category"] == category
    assert round_.paid() == {"ante": (10_000, 10_000, 10_000), "raise": (20_000, 20_000, won)}


@pytest.mark.parametrize("hand", ["Qh Kc Ad 2h 3s", "Kc Ad 2h 3s 4h", "Jh Qh Kc Ad 2h"])
def test_no_straight_runs_around_the_ace(api: Api, hand: str) -> None:
    """Q-K-A-2-3 and its like are ace high, and lose to a pair."""
    round_ = PhysicalTable(api, "nordic").play(PAIR_OF_FIVES, Box(hand))
    assert (round_.seat()["category"], round_.result()) == ("high_card", "lose")


def test_an_ace_and_a_king_that_win_are_paid_one_to_one(api: Api) -> None:
    """A hand below a pair that beats a dealer who qualifies wins ante and raise, each 1 to 1 (reading 2)."""
    round_ = PhysicalTable(api, "us-casino").play("As Kd 4h 3c 2s", Box("Ah Kc 5h 3d 2c"))
    assert round_.paid() == {"ante": (10_000, 10_000, 10_000), "raise": (20_000, 20_000, 20_000)}


@pytest.mark.parametrize(
    ("player", "dealer", "result"),
    [
        ("Ah Kc Qd Jh 9s", "As Kd Qc Jd 8s", "win"),
        ("Ah Kc Qd Jh 8s", "As Kd Qc Jd 9s", "lose"),
        ("Ah Kc Qd Jh 9s", "As Kd Qc Jd 9c", "push"),
        ("7h 7c Ad Kh 3s", "7s 7d Ac Kd 2s", "win"),
        ("7h 7c Ad Kh 2s", "7s 7d Ac Kd 3s", "lose"),
        ("7h 7c Ad Kh 2s", "7s 7d Ac Kd 2c", "push"),
        ("2h 2c Ad Ah Ks", "Kc Kd Qs Qd As", "win"),
        ("9h 9c 9d 2h 3s", "8s 8d 8c Ac Kd", "win"),
        ("2h 3c 4d 5h 6s", "As 2d 3d 4c 5c", "win"),
        ("Ah 2c 3d 4h 5s", "2s 3s 4s 5d 6d", "lose"),
        ("Ah 2c 3d 4h 5s", "As 2d 3c 4s 5d", "push"),
        ("Ah Kh Qh Jh 9h", "As Ks Qs Js 8s", "win"),
        ("Ah Kh Qh Jh 2h", "As Ks Qs Js 3s", "lose"),
        ("Ah Kh Qh Jh 9h", "As Ks Qs Js 9s", "push"),
        ("3h 3c 3d 2h 2s", "2c 2d Ac Ad Kd", "win"),
        ("2h 2c 2d Ah As", "3c 3d 3h Kd Kc", "lose"),
        ("Ah 2h 3h 4h 5h", "2s 3s 4s 5s 6s", "lose"),
        ("9h Th Jh Qh Kh", "9s Ts Js Qs Ks", "push"),
        ("Th Jh Qh Kh Ah", "Ts Js Qs Ks As", "push"),
    ],
)
def test_all_five_cards_decide_and_suits_never(api: Api, player: str, dealer: str, result: str) -> None:
    """Kickers count down to the fifth card, and five equal ranks push whatever their suits."""
    round_ = PhysicalTable(api, "nordic").play(dealer, Box(player))
    assert round_.result() == result
    if result == "push":
        assert round_.paid() == {"ante": (10_000, 10_000, 0), "raise": (20_000, 20_000, 0)}
    elif result == "lose":
        assert round_.paid() == {"ante": (10_000, 0, 0), "raise": (20_000, 0, 0)}


@pytest.mark.parametrize("ruleset", ["us-casino", "czech", "uk-casino", "evolution-live"])
def test_a_dealer_who_beats_the_player_but_does_not_qualify_takes_nothing(api: Api, ruleset: str) -> None:
    """Ace and queen beat a jack but do not qualify: the ante is paid, the raise comes back (reading 5)."""
    round_ = PhysicalTable(api, ruleset).play("As Qd 9h 8c 7s", Box("Jh 9c 7d 5h 3c"))
    assert round_.paid() == {"ante": (10_000, 10_000, 10_000), "raise": (20_000, 20_000, 0)}
    assert (round_.result(), round_.seat()["net"]) == ("dealer_not_qualified", 10_000)


def test_a_royal_against_a_dealer_who_does_not_qualify_wins_the_ante_only(api: Api) -> None:
    """The best hand wins 1 to 1 on the ante where the dealer does not qualify."""
    round_ = PhysicalTable(api, "us-casino").play("2c 4d 6c 8d Tc", Box("Ts Js Qs Ks As"))
    assert round_.paid() == {"ante": (10_000, 10_000, 10_000), "raise": (20_000, 20_000, 0)}


def test_a_fold_loses_the_ante_whatever_the_dealer_has(api: Api) -> None:
    """Two who fold lose their antes, though the dealer does not qualify and one would have won."""
    boxes = (Box("Ah Ac Kd 9c 7d", "fold"), Box("Jh 9h 7c 5h 3c", "fold"))
    round_ = PhysicalTable(api, "nordic").play("As Qd 9s 8c 7s", *boxes)
    assert [round_.result(seat) for seat in (1, 2)] == ["folded", "folded"]
    assert [round_.paid(seat) for seat in (1, 2)] == [{"ante": (10_000, 0, 0)}] * 2
