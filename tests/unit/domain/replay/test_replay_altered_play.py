"""Every alteration of who did what when fails the checks that are about it, and no others."""

from __future__ import annotations

import pytest

from domain.replay import replay
from tests.unit.domain.replay import honest_rounds as honest
from tests.unit.domain.replay.alterations import (
    Alteration,
    altered,
    dropping,
    failed,
    moving,
    one_player,
    repeating,
    revealed,
    seat_renamed,
    setting,
    voided,
)

ALTERATIONS: dict[str, Alteration] = {
    "raise_before_deal": (honest.uk_royal, moving("Raised", 1, 2), ("phases",)),
    "ante_after_no_more_bets": (honest.uk_not_qualified, moving("AntePlaced", 2, 4), ("phases",)),
    "seat_taken": (honest.uk_royal, repeating("AntePlaced"), ("conservation", "phases")),
    "side_bet_twice": (
        honest.macau_top_up,
        repeating("SideBetPlaced"),
        ("conservation", "meter_chain", "phases"),
    ),
    "side_bet_before_ante": (
        honest.macau_top_up,
        moving("SideBetPlaced", 2, 1),
        ("meter_chain", "phases", "settled.seat_2.bets", "settlement_order"),
    ),
    "side_bet_of_another_seat": (
        honest.cyber_three_hands,
        moving("SideBetPlaced", 1, 4),
        ("meter_chain", "phases", "settled.seat_1.bets", "settlement_order"),
    ),
    "dealt_twice": (honest.uk_royal, repeating("Dealt", 1), ("phases",)),
    "dealt_to_nobody": (
        honest.uk_royal,
        setting("Dealt", 1, seat=2),
        ("dealt.seat_1", "phases", "players", "settled.seat_1"),
    ),
    "dealt_to_the_table": (
        honest.uk_royal,
        setting("Dealt", 1, seat=None, to="shared"),
        ("dealt.seat_1", "dealt_hands"),
    ),
    "dealt_seat_to_shared": (
        honest.evolution_shared,
        setting("Dealt", to="seat", seat=2),
        ("dealt.shared", "dealt_hands", "phases", "settled.seat_4000", "settled.seat_7"),
    ),
    "decided_twice": (honest.uk_royal, repeating("Raised"), ("conservation", "phases")),
    "exchanged_twice": (honest.czech_exchange, repeating("CardExchanged"), ("conservation", "phases")),
    "exchanged_after_raise": (
        honest.czech_exchange,
        moving("CardExchanged", 1, 10),
        (
            "phases",
            "settled.seat_1.ante",
            "settled.seat_1.bets",
            "settled.seat_1.category",
            "settled.seat_1.raise",
            "settled.seat_1.result",
        ),
    ),
    "discard_not_held": (
        honest.czech_exchange,
        setting("CardExchanged", discard="Jd"),
        (
            "phases",
            "settled.seat_1.ante",
            "settled.seat_1.category",
            "settled.seat_1.raise",
            "settled.seat_1.result",
        ),
    ),
    "settled_twice": (honest.uk_royal, repeating("Settled"), ("conservation", "phases")),
    "hit_twice": (honest.macau_top_up, repeating("JackpotHit"), ("meter_chain", "phases")),
    "void_twice": (honest.void_misdeal, repeating("RoundVoided"), ("phases",)),
    "void_in_the_middle_of_a_deal": (honest.void_rng_dealt, dropping("Dealt", 1), ("phases",)),
    "void_after_a_payment": (
        honest.us_quads,
        voided,
        ("conservation", "meter_chain", "phases", "refund_order", "refunded.seat_3", "reversed.seat_3"),
    ),
    "refunded_twice": (honest.void_misdeal, repeating("StakeRefunded"), ("conservation", "phases")),
    "reversed_twice": (
        honest.void_after_reveal,
        repeating("ContributionReversed", 1),
        ("meter_chain", "phases"),
    ),
    "no_antes": (
        honest.uk_royal,
        dropping("AntePlaced"),
        ("betting_closed.seats", "conservation", "phases", "players"),
    ),
    "hands_out_of_order": (honest.uk_not_qualified, moving("Dealt", 2, 5), ("phases",)),
    "reveal_before_decision": (honest.uk_not_qualified, moving("DealerQualified", None, 8), ("phases",)),
    "reveal_missing": (
        honest.uk_royal,
        dropping("DealerQualified"),
        ("dealer_revealed", "settled.seat_1.raise", "settled.seat_1.result", "settled.seat_1.shown"),
    ),
    "reveal_of_a_closed_hand": (
        honest.all_fold_unrevealed,
        revealed,
        ("dealer_revealed", "jackpot.seat_1", "settlement_order"),
    ),
    "a_seat_never_decides": (
        honest.cyber_three_hands,
        dropping("Folded"),
        ("meter_chain", "phases", "settled.seat_3.ante", "settled.seat_3.result"),
    ),
    "never_settled": (
        honest.uk_royal,
        dropping("Settled"),
        ("nothing_on_game", "phases", "settled.seat_1", "settlement_order"),
    ),
    "settled_after_close": (honest.uk_royal, moving("RoundClosed", None, 7), ("phases",)),
    "betting_closed_count": (honest.uk_royal, setting("BettingClosed", seats=2), ("betting_closed.seats",)),
    "another_player": (honest.uk_royal, setting("Settled", player="p-2"), ("players",)),
    "seat_nobody_took": (
        honest.uk_royal,
        setting("Raised", seat=2),
        (
            "conservation",
            "nothing_on_game",
            "phases",
            "players",
            "settled.seat_1.bets",
            "settled.seat_1.shown",
        ),
    ),
    "seat_beyond_house": (honest.uk_royal, seat_renamed(1, 8), ("seats_within_house",)),
    "a_second_hand": (honest.uk_not_qualified, one_player, ("hands_per_player",)),
    "out_of_turn": (
        honest.cyber_three_hands,
        moving("Raised", 2, 10),
        ("decision_order", "meter_chain", "phases"),
    ),
    "timeout_where_none": (
        honest.czech_exchange,
        lambda events: events[0]["data"]["parameters"].pop("decision_seconds"),
        ("decided_by",),
    ),
    "timeout_raises": (honest.czech_exchange, setting("Raised", decided_by="timeout"), ("decided_by",)),
    "void_cause_of_no_house": (
        honest.void_after_reveal,
        setting("RoundVoided", cause="flood"),
        ("void_cause",),
    ),
    "void_cause_timeout": (honest.void_misdeal, setting("RoundVoided", cause="timeout"), ("void_cause",)),
    "void_cause_expired": (honest.void_misdeal, setting("RoundVoided", cause="expired"), ("void_cause",)),
    "void_cause_unstaked_timeout": (
        honest.void_expired,
        setting("RoundVoided", cause="timeout"),
        ("void_cause",),
    ),
}


@pytest.mark.parametrize("alteration", ALTERATIONS.values(), ids=ALTERATIONS)
def test_an_illegal_move_fails(alteration: Alteration) -> None:
    """An alteration of who did what when fails exactly the checks it is about."""
    expected, actual = altered(alteration)

    assert actual == expected


def test_a_house_that_voids_on_a_time_out_folds_nobody() -> None:
    """A fold by the clock is legal only where the house's rule is to fold."""
    stream = honest.timed_out(on_timeout="void")

    assert failed(stream, stream.events) == ["decided_by"]


def test_a_problem_names_its_event() -> None:
    """A check over many events says which of them are at fault, and why."""
    stream = honest.uk_royal()
    events = stream.copy()
    repeating("Settled")(events)

    check = next(check for check in replay(events, stream.document).checks if check.check == "phases")

    assert check.actual == [{"version": 9, "type": "Settled", "problem": "the seat has nothing to settle"}]
