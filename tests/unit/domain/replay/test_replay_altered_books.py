"""Every alteration of the jackpot, refunds and balances fails the checks that are about it, and no others."""

from __future__ import annotations

import pytest

from tests.unit.domain.replay import honest_rounds as honest
from tests.unit.domain.replay.alterations import (
    Alteration,
    altered,
    dropping,
    hit,
    moving,
    setting,
    undeserved,
)
from tests.unit.domain.replay.stream_builder import find

ALTERATIONS: dict[str, Alteration] = {
    "award": (
        honest.us_quads,
        hit(3, award=60_000, from_meter="60000", meter_after="1174567.5"),
        ("balance_after", "jackpot.seat_3.award", "jackpot.seat_3.funding", "jackpot.seat_3.meter_after"),
    ),
    "award_by_another_category": (honest.us_quads, hit(3, category="full_house"), ("jackpot.seat_3.award",)),
    "award_of_another_jackpot": (honest.us_quads, hit(3, jackpot_id="j-2"), ("jackpot.seat_3.award",)),
    "award_missing": (
        honest.us_quads,
        dropping("JackpotHit"),
        ("jackpot.seat_3", "settled.seat_3.jackpot", "settlement_order"),
    ),
    "award_undeserved": (
        honest.uk_not_qualified,
        undeserved,
        ("meter_chain", "settlement_order"),
    ),
    "award_after_settlement": (
        honest.us_quads,
        moving("JackpotHit", 3, 9),
        ("jackpot.seat_3", "meter_chain", "phases", "settled.seat_3.jackpot", "settlement_order"),
    ),
    "funding": (
        honest.macau_top_up,
        hit(2, from_meter="100700", from_house="49300"),
        ("conservation", "jackpot.seat_2.funding"),
    ),
    "restart_missing": (
        honest.adelaide_royal,
        hit(6, restart=None),
        ("conservation", "jackpot.seat_6.funding"),
    ),
    "restart_undue": (honest.us_quads, hit(3, restart="10"), ("conservation", "jackpot.seat_3.funding")),
    "meter_after": (
        honest.us_quads,
        hit(3, meter_after="1184567"),
        ("conservation", "jackpot.seat_3.meter_after"),
    ),
    "meter_lost_its_fraction": (
        honest.adelaide_royal,
        hit(6, meter_after="1000000"),
        ("conservation", "jackpot.seat_6.meter_after"),
    ),
    "link_to_no_movement": (honest.us_quads, hit(3, previous_position=102), ("meter_chain",)),
    "link_to_another_event": (honest.us_quads, hit(3, previous_position=104), ("meter_chain",)),
    "link_too_early": (honest.us_quads, hit(3, previous_position=90), ("meter_chain",)),
    "link_to_the_future": (honest.us_quads, hit(3, previous_position=5_000), ("meter_chain",)),
    "reversal_meter": (
        honest.void_after_reveal,
        setting("ContributionReversed", 3, meter_before="40", meter_after="10"),
        ("meter_chain", "reversed.seat_3"),
    ),
    "reversal_split": (
        honest.void_after_reveal,
        setting("ContributionReversed", 1, from_meter="60", from_house="10", meter_after="40"),
        ("meter_chain", "reversed.seat_1"),
    ),
    "reversal_amount": (
        honest.void_after_reveal,
        setting("ContributionReversed", 1, amount="60", from_meter="60", meter_after="40"),
        ("meter_chain", "reversed.seat_1"),
    ),
    "reversal_missing": (
        honest.void_after_reveal,
        dropping("ContributionReversed", 1),
        ("meter_chain", "refund_order", "reversed.seat_3"),
    ),
    "reversal_late": (
        honest.void_after_reveal,
        moving("ContributionReversed", 3, 17),
        ("meter_chain", "refund_order"),
    ),
    "refund_amount": (
        honest.void_misdeal,
        setting("StakeRefunded", 1, amount=85_001),
        ("balance_after", "conservation", "refunded.seat_1"),
    ),
    "refund_bet": (
        honest.void_misdeal,
        lambda events: find(events, "StakeRefunded", 1)["data"]["bets"].pop(),
        ("balance_after", "conservation", "refunded.seat_1"),
    ),
    "balance_after": (honest.uk_royal, setting("Settled", balance_after=5), ("balance_after",)),
    "balance_created": (honest.uk_royal, setting("Raised", balance_after=100_000_000), ("balance_after",)),
    "first_balance_below_the_award": (
        honest.adelaide_royal,
        setting("Settled", balance_after=1),
        ("balance_after",),
    ),
    "settled_less_than_staked": (
        honest.uk_royal,
        setting("AntePlaced", amount=9_999),
        ("conservation", "raise_multiple", "settled.seat_1.ante"),
    ),
}


@pytest.mark.parametrize("alteration", ALTERATIONS.values(), ids=ALTERATIONS)
def test_a_wrong_book_entry_fails(alteration: Alteration) -> None:
    """An alteration of the jackpot, refunds and balances fails exactly the checks it is about."""
    expected, actual = altered(alteration)

    assert actual == expected
