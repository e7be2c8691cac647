"""Every alteration of the stream, and what it pins fails the checks that are about it, and no others."""

from __future__ import annotations

import pytest

from tests.unit.domain.replay import honest_rounds as honest
from tests.unit.domain.replay.alterations import (
    Alteration,
    altered,
    dropping,
    envelope,
    parameters,
    repeating,
    setting,
)

ALTERATIONS: dict[str, Alteration] = {
    "version_skipped": (honest.uk_royal, envelope(3, version=5), ("versions_gap_free",)),
    "position_backwards": (honest.uk_royal, envelope(3, position=90), ("positions_increasing",)),
    "time_stands_still": (
        honest.uk_royal,
        envelope(3, recorded_at="2026-11-29T21:24:01.000021Z"),
        ("recorded_at_increasing",),
    ),
    "another_stream": (honest.uk_royal, envelope(3, stream="round-r-2"), ("one_stream",)),
    "opened_twice": (honest.uk_royal, repeating("RoundOpened"), ("opened_first", "phases")),
    "opening_missing": (honest.uk_royal, dropping("RoundOpened"), ("finished", "opened_first", "phases")),
    "end_cut_off": (honest.uk_royal, dropping("RoundClosed"), ("finished",)),
    "refund_cut_off": (
        honest.void_misdeal,
        dropping("StakeRefunded", 1),
        ("finished", "nothing_on_game", "refund_order", "refunded.seat_2"),
    ),
    "ruleset_hash": (
        honest.uk_royal,
        lambda events: events[0]["data"]["ruleset"].update(sha256="0" * 64),
        ("ruleset_hash",),
    ),
    "ruleset_id": (
        honest.uk_royal,
        lambda events: events[0]["data"]["ruleset"].update(id="x"),
        ("ruleset_id",),
    ),
    "jackpot_reset": (
        honest.macau_top_up,
        lambda events: events[0]["data"]["jackpot"].update(reset=1),
        ("jackpot_parameters",),
    ),
    "jackpot_hash": (
        honest.macau_top_up,
        lambda events: events[0]["data"]["jackpot"].update(sha256="0" * 64),
        ("jackpot_parameters_hash",),
    ),
    "currency": (honest.uk_royal, setting("RoundOpened", currency="USD"), ("currency_offered",)),
    "cap_missing": (
        honest.czech_exchange,
        lambda events: events[0]["data"]["parameters"].pop("raise_win_cap"),
        ("settled.seat_1.raise", "table_parameters"),
    ),
    "bonus_stake_missing": (
        honest.czech_exchange,
        lambda events: events[0]["data"]["parameters"].pop("bonus_stake"),
        ("side_bet_stakes", "table_parameters"),
    ),
    "limits_crossed": (
        honest.uk_royal,
        parameters(min_side_bet=500, max_side_bet=400),
        ("table_parameters",),
    ),
}


@pytest.mark.parametrize("alteration", ALTERATIONS.values(), ids=ALTERATIONS)
def test_an_altered_stream_fails(alteration: Alteration) -> None:
    """An alteration of the stream, and what it pins fails exactly the checks it is about."""
    expected, actual = altered(alteration)

    assert actual == expected
