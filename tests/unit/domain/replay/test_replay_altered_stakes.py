"""Every alteration of what was staked fails the checks that are about it, and no others."""

from __future__ import annotations

import pytest

from tests.unit.domain.replay import honest_rounds as honest
from tests.unit.domain.replay.alterations import Alteration, altered, exchanged, parameters, setting

ALTERATIONS: dict[str, Alteration] = {
    "ante_too_high": (honest.uk_royal, parameters(max_ante=9_999), ("ante_limits",)),
    "ante_too_low": (honest.uk_royal, parameters(min_ante=10_001), ("ante_limits",)),
    "ante_above_the_house": (
        honest.uk_royal,
        setting("AntePlaced", amount=10_001),
        ("ante_limits", "conservation", "raise_multiple", "settled.seat_1.ante"),
    ),
    "side_bet_not_offered": (
        honest.macau_top_up,
        setting("SideBetPlaced", bet="bonus"),
        ("contributions", "settled.seat_2.bets", "settlement_order", "side_bets_offered"),
    ),
    "side_bet_without_jackpot": (
        honest.macau_top_up,
        lambda events: events[0]["data"].pop("jackpot"),
        ("contributions", "jackpot.seat_2", "settled.seat_2.jackpot", "side_bets_offered"),
    ),
    "side_bet_stake": (
        honest.macau_top_up,
        setting("SideBetPlaced", amount=999),
        ("balance_after", "conservation", "contributions", "settled.seat_2.jackpot", "side_bet_stakes"),
    ),
    "free_side_bet_limits": (honest.evolution_shared, parameters(max_side_bet=299), ("side_bet_stakes",)),
    "contribution": (honest.macau_top_up, setting("SideBetPlaced", contribution="700.1"), ("contributions",)),
    "contribution_to_another_jackpot": (
        honest.macau_top_up,
        setting("SideBetPlaced", jackpot_id="j-2"),
        ("contributions",),
    ),
    "contribution_missing": (
        honest.macau_top_up,
        setting("SideBetPlaced", contribution=None),
        ("contributions", "meter_chain"),
    ),
    "contribution_of_another_bet": (
        honest.evolution_bonus_lost,
        setting("SideBetPlaced", contribution="70"),
        ("contributions",),
    ),
    "raise_multiple": (
        honest.uk_royal,
        setting("Raised", amount=20_001),
        ("balance_after", "conservation", "raise_multiple", "settled.seat_1.raise"),
    ),
    "exchange_fee": (
        honest.czech_exchange,
        setting("CardExchanged", fee=10_000),
        ("balance_after", "conservation", "exchange", "settled.seat_1.exchange_fee"),
    ),
    "exchange_where_none_is_sold": (
        honest.two_up_cards,
        exchanged,
        ("conservation", "exchange", "settled.seat_1.bets", "settled.seat_1.exchange_fee"),
    ),
    "exchange_forfeits": (honest.czech_exchange, setting("CardExchanged", forfeited=[]), ("exchange",)),
}


@pytest.mark.parametrize("alteration", ALTERATIONS.values(), ids=ALTERATIONS)
def test_a_wrong_stake_fails(alteration: Alteration) -> None:
    """An alteration of what was staked fails exactly the checks it is about."""
    expected, actual = altered(alteration)

    assert actual == expected
