"""Void rounds: in every phase every stake comes back, and nothing is deleted (readings 14 and 15)."""

from __future__ import annotations

import pytest

from domain import commands as c
from domain import events as ev
from tests.unit.domain.playing import FUNDS, Ledger, jackpot_bet, plain_house

ACE_KING = "Ad Kd 3h 3c 2s"
PHASES = ["opened", "betting", "dealt", "partly decided", "decided"]
STAKED = {"opened": 0, "betting": 1_100, "dealt": 1_100, "partly decided": 3_100, "decided": 3_100}


def at(phase: str, source: str = "table") -> tuple[Ledger, str]:
    """Return a round of two seats with a jackpot bet in that phase."""
    ledger = Ledger()
    ledger.jackpot(5_000)
    ledger.table(plain_house(side_bets=[jackpot_bet({"royal_flush": {"percent": 100}})]), deal_source=source)
    ledger.fund([ledger.stake(1), ledger.stake(2)])
    if phase == "opened":
        return ledger, ledger.open()
    round_id = ledger.open(ledger.stake(1, 1_000, jackpot=100), ledger.stake(2, 1_000))
    if phase == "betting":
        return ledger, round_id
    if source == "rng":
        ledger.ask(c.DealCards(round_id))
    else:
        ledger.deal(round_id, ACE_KING, {1: "9h 9d 7c 6h 5h", 2: "8h 8d 7d 6s 5s"})
    if phase != "dealt":
        ledger.decide(round_id, 1, "raise")
    if phase == "decided":
        ledger.decide(round_id, 2, "fold")
    return ledger, round_id


@pytest.mark.parametrize("phase", PHASES)
def test_a_void_round_gives_every_stake_back(phase: str) -> None:
    """Wallets, meter and house stand where they stood before the round, in whatever phase it was."""
    ledger, round_id = at(phase)
    assert ledger.wallet("player-1") == (FUNDS - STAKED[phase], STAKED[phase])
    answer = ledger.ask(c.VoidRound(round_id, "malfunction"))
    assert (answer["phase"], answer["void_cause"]) == ("voided", "malfunction")
    assert ledger.wallet("player-1") == ledger.wallet("player-2") == (FUNDS, 0)
    assert ledger.meter() == 5_000
    assert ledger.work.accounts["house:real", "USD"] == -5_000 * 10_000
    assert ledger.round(round_id).finished
    assert ledger.work.wallet_of("player-1").unfinished == {}
    ledger.refused(c.VoidRound(round_id, "malfunction"), "wrong_phase")
    ledger.open(ledger.stake(1))


@pytest.mark.parametrize("phase", ["opened", "betting", "dealt", "partly decided"])
def test_a_void_round_reveals_its_seed(phase: str) -> None:
    """The deck that was committed can be checked; the books keep no secret of the round."""
    ledger, round_id = at(phase, "rng")
    seed = ledger.work.secrets[round_id].seed.hex()
    answer = ledger.ask(c.VoidRound(round_id, "malfunction"))
    assert answer["deck_seed"] == seed
    assert ledger.of(round_id, ev.RoundVoided) == [ev.RoundVoided("malfunction", seed)]
    assert (ledger.work.secrets, ledger.work.deadlines) == ({}, {})


def test_the_events_of_a_void_round_stay_and_are_in_order() -> None:
    """Reversal before refund, seat by seat; what went before is still there."""
    ledger, round_id = at("decided")
    before = ledger.kinds(round_id)
    ledger.ask(c.VoidRound(round_id, "malfunction", "ab" * 32))
    assert ledger.kinds(round_id) == [
        *before,
        "RoundVoided",
        "ContributionReversed",
        "StakeRefunded",
        "StakeRefunded",
    ]
    assert ledger.of(round_id, ev.RoundVoided) == [ev.RoundVoided("malfunction", None, "ab" * 32)]


@pytest.mark.parametrize("cause", ["misdeal_count", "timeout", "expired", "", "Malfunction"])
def test_a_cause_that_is_not_the_houses(cause: str) -> None:
    """Only causes of the house's rules and a malfunction are declared."""
    ledger, round_id = at("dealt")
    refusal = ledger.refused(c.VoidRound(round_id, cause), "validation_failed")
    assert refusal.extra == {"causes": ["malfunction"]}


def test_no_round_no_void() -> None:
    """An unknown round is not found."""
    ledger, _ = at("opened")
    ledger.refused(c.VoidRound("nowhere", "malfunction"), "round_not_found")


def test_nothing_follows_in_a_void_round() -> None:
    """No stake, deal or reveal."""
    ledger, round_id = at("dealt")
    ledger.ask(c.VoidRound(round_id, "malfunction"))
    ledger.refused(c.PlaceAntes(round_id, (ledger.stake(1),)), "wrong_phase")
    ledger.refused(c.DealCards(round_id, {1: ("2c",)}, None, ("3c",)), "wrong_phase")
    ledger.refused(c.RevealDealer(round_id, ("2c",)), "wrong_phase")
