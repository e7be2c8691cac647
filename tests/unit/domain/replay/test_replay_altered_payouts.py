"""Every alteration of what the bets paid fails the checks that are about it, and no others."""

from __future__ import annotations

import pytest

from tests.unit.domain.replay import honest_rounds as honest
from tests.unit.domain.replay.alterations import Alteration, added, altered, bet, setting
from tests.unit.domain.replay.stream_builder import find

ALTERATIONS: dict[str, Alteration] = {
    "dealer_category": (honest.uk_royal, setting("DealerQualified", category="pair"), ("dealer.category",)),
    "dealer_qualified": (honest.uk_royal, setting("DealerQualified", qualified=False), ("dealer.qualified",)),
    "dealer_hand_at_the_boundary": (
        honest.uk_not_qualified,
        setting("DealerQualified", qualified=True),
        ("dealer.qualified",),
    ),
    "result": (honest.uk_royal, setting("Settled", result="lose"), ("settled.seat_1.result",)),
    "category": (
        honest.uk_royal,
        setting("Settled", category="straight_flush"),
        ("settled.seat_1.category",),
    ),
    "category_missing": (honest.uk_royal, setting("Settled", category=None), ("settled.seat_1.category",)),
    "shown_though_not_called": (
        honest.nordic_three_seats,
        setting("Settled", 2, shown=True),
        ("settled.seat_2.shown",),
    ),
    "shown_without_jackpot": (
        honest.uk_not_qualified,
        setting("Settled", 2, shown=True),
        ("settled.seat_2.shown",),
    ),
    "jackpot_hand_not_shown": (
        honest.uk_not_qualified,
        setting("Settled", 1, shown=False),
        ("settled.seat_1.shown",),
    ),
    "folded_not_shown": (
        honest.cyber_three_hands,
        setting("Settled", 3, shown=False),
        ("settled.seat_3.shown",),
    ),
    "ante_returned_not_paid": (honest.uk_not_qualified, bet(1, "ante", won=0), ("settled.seat_1.ante",)),
    "raise_paid_though_not_qualified": (
        honest.uk_not_qualified,
        bet(1, "raise", won=20_000),
        ("settled.seat_1.raise",),
    ),
    "raise_kept_though_not_qualified": (
        honest.uk_not_qualified,
        bet(1, "raise", returned=0),
        ("settled.seat_1.raise",),
    ),
    "raise_above_the_cap": (honest.us_quads, bet(3, "raise", won=4_000_000), ("settled.seat_3.raise",)),
    "raise_odds": (honest.uk_royal, bet(1, "raise", odds=100), ("settled.seat_1.raise",)),
    "raise_by_another_table": (
        honest.uk_royal,
        bet(1, "raise", won=2_000_000, odds=100),
        ("settled.seat_1.raise",),
    ),
    "push_returns_one_bet": (
        honest.nordic_three_seats,
        bet(5, "raise", returned=0),
        ("settled.seat_5.raise",),
    ),
    "tie_paid_as_win": (
        honest.nordic_three_seats,
        bet(5, "ante", won=10_000, odds=1),
        ("settled.seat_5.ante",),
    ),
    "fold_returned": (honest.nordic_three_seats, bet(2, "ante", returned=10_000), ("settled.seat_2.ante",)),
    "stake_of_a_bet": (honest.uk_royal, bet(1, "ante", stake=9_000), ("conservation", "settled.seat_1.ante")),
    "exchange_fee_returned": (
        honest.czech_exchange,
        bet(1, "exchange_fee", returned=20_000),
        ("settled.seat_1.exchange_fee",),
    ),
    "forfeited_bonus_paid": (honest.czech_exchange, bet(1, "bonus", won=100_000), ("settled.seat_1.bonus",)),
    "bonus_unpaid": (honest.czech_exchange, bet(2, "bonus", won=0), ("settled.seat_2.bonus",)),
    "five_plus_one_unpaid": (
        honest.evolution_shared,
        bet(7, "five_plus_one", returned=0, won=0),
        ("settled.seat_7.five_plus_one",),
    ),
    "five_plus_one_for_one": (
        honest.evolution_shared,
        bet(7, "five_plus_one", returned=0),
        ("settled.seat_7.five_plus_one",),
    ),
    "jackpot_unpaid_on_the_bet": (honest.us_quads, bet(3, "jackpot", won=0), ("settled.seat_3.jackpot",)),
    "bet_left_out": (
        honest.us_quads,
        lambda events: find(events, "Settled")["data"]["bets"].pop(),
        ("conservation", "settled.seat_3.bets", "settled.seat_3.jackpot"),
    ),
    "bet_added": (honest.uk_royal, added, ("settled.seat_1.bets",)),
    "bets_out_of_order": (
        honest.us_quads,
        lambda events: find(events, "Settled")["data"]["bets"].reverse(),
        ("settled.seat_3.bets",),
    ),
}


@pytest.mark.parametrize("alteration", ALTERATIONS.values(), ids=ALTERATIONS)
def test_a_wrong_payout_fails(alteration: Alteration) -> None:
    """An alteration of what the bets paid fails exactly the checks it is about."""
    expected, actual = altered(alteration)

    assert actual == expected
