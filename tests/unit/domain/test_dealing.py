"""The deal: what a committed deck gives to whom, and what a physical table may report."""

from __future__ import annotations

from typing import Any

import pytest

from domain import commands as c
from domain import events as ev
from domain.dealing import positions
from domain.shuffle import deal_order
from tests.unit.domain.playing import Ledger, cards, plain_house

HAND = "9h 9d 7c 6h 5h"


def test_where_cards_lie_in_the_deck() -> None:
    """Block and round robin, for two hands and the dealer."""
    ledger = Ledger()
    ledger.table("us-casino", "block")
    ledger.table("nordic", "robin")
    block, robin = (
        ledger.work.rules(t.ruleset, t.currency, t.parameters, has_jackpot=False)
        for t in ledger.work.tables.values()
    )
    assert positions(block, 2) == [(0, 1, 2, 3, 4), (5, 6, 7, 8, 9), (10, 11, 12, 13, 14)]
    assert positions(robin, 2) == [(0, 3, 6, 9, 12), (1, 4, 7, 10, 13), (2, 5, 8, 11, 14)]


@pytest.mark.parametrize(
    "house", ["nordic", "evolution-live", "cyber", "czech", "us-casino", "casino-poker-1982"]
)
def test_every_card_comes_from_the_committed_deck(house: str) -> None:
    """Each dealt card is the one at its index of the deck that follows from the revealed seed."""
    ledger = Ledger()
    ledger.table(house, deal_source="rng")
    round_id = ledger.open(ledger.stake(2), ledger.stake(1), deal=True)
    ledger.decide(round_id, 1, "fold")
    seed = ledger.decide(round_id, 2, "raise")["deck_seed"]
    (opened,) = ledger.of(round_id, ev.RoundOpened)
    deck = deal_order(bytes.fromhex(seed), round_id, opened.ruleset.sha256, {})
    hands: list[ev.Dealt | ev.DealerQualified] = [
        *ledger.of(round_id, ev.Dealt),
        *ledger.of(round_id, ev.DealerQualified),
    ]
    for hand in hands:
        assert hand.cards == tuple(deck[index] for index in hand.indices or ())
        assert hand.indices


def test_one_hand_for_all_where_it_is_shared() -> None:
    """Ten cards serve any number of bettors."""
    ledger = Ledger()
    ledger.table("evolution-live", deal_source="rng")
    round_id = ledger.open(*(ledger.stake(seat) for seat in range(1, 16)), deal=True)
    hand, up = ledger.of(round_id, ev.Dealt)
    assert (hand.to, hand.seat, hand.indices) == ("shared", None, (0, 1, 2, 3, 4))
    assert (up.to, up.indices, up.up_indices) == ("dealer", (5,), (0,))


def test_no_cards_are_taken_where_the_deck_is_committed() -> None:
    """Hands, a shared hand or an up-card named for an rng round are refused."""
    ledger = Ledger()
    ledger.table(plain_house(), deal_source="rng")
    round_id = ledger.open(ledger.stake(1))
    reports: list[dict[str, Any]] = [
        {"hands": {1: cards(HAND)}},
        {"shared": cards(HAND)},
        {"dealer_up": ("2c",)},
    ]
    for named in reports:
        ledger.refused(c.DealCards(round_id, **named), "validation_failed")
    assert ledger.ask(c.DealCards(round_id))["phase"] == "dealt"
    ledger.refused(c.DealCards(round_id), "wrong_phase")


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, "validation_failed"),
        ({"hands": {1: cards(HAND)}}, "misdeal"),
        ({"shared": cards(HAND), "dealer_up": ("2c",)}, "validation_failed"),
        ({"shared": cards(HAND), "hands": {1: cards(HAND)}, "dealer_up": ("2c",)}, "validation_failed"),
        ({"hands": {1: cards(HAND), 2: cards("2d 3d 4d 5d 7d")}, "dealer_up": ("2c",)}, "misdeal"),
    ],
)
def test_a_report_for_seats_of_their_own_hands(fields: dict[str, Any], code: str) -> None:
    """Each playing seat's five and the up-card, and nothing else."""
    ledger = Ledger()
    ledger.table(plain_house())
    round_id = ledger.open(ledger.stake(1))
    ledger.refused(c.DealCards(round_id, **fields), code)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"dealer_up": ("2c",)}, "validation_failed"),
        ({"hands": {1: cards(HAND)}, "dealer_up": ("2c",)}, "validation_failed"),
        ({"hands": {}, "shared": cards(HAND), "dealer_up": ("2c",)}, "validation_failed"),
        ({"shared": cards(HAND)}, "misdeal"),
        ({"shared": cards("9h 9d 7c 6h"), "dealer_up": ("2c",)}, "misdeal"),
        ({"shared": cards(HAND), "dealer_up": ("9h",)}, "misdeal"),
    ],
)
def test_a_report_of_a_shared_hand(fields: dict[str, Any], code: str) -> None:
    """The one hand and the up-card, and nothing else."""
    ledger = Ledger()
    ledger.table("evolution-live")
    round_id = ledger.open(ledger.stake(1))
    ledger.refused(c.DealCards(round_id, **fields), code)


def test_the_same_card_in_two_hands_is_refused() -> None:
    """Each hand may be right by itself; together they are no deal from one deck."""
    ledger = Ledger()
    ledger.table(plain_house())
    round_id = ledger.open(ledger.stake(1), ledger.stake(2))
    hands = {1: cards(HAND), 2: cards("9h 2d 3d 4d 5d")}
    refusal = ledger.refused(c.DealCards(round_id, hands, None, ("2c",)), "misdeal")
    assert "9h" not in refusal.detail


def test_reported_hands_are_dealt_in_seat_order_without_indices() -> None:
    """Whatever the order of the report; a physical table's cards have no place in a deck."""
    ledger = Ledger()
    ledger.table(plain_house())
    round_id = ledger.open(ledger.stake(1), ledger.stake(2))
    hands = {2: cards("2d 3d 4d 5d 7d"), 1: cards(HAND)}
    answer = ledger.ask(c.DealCards(round_id, hands, None, ("2c",)))
    assert ledger.of(round_id, ev.Dealt) == [
        ev.Dealt("seat", cards(HAND), 1),
        ev.Dealt("seat", cards("2d 3d 4d 5d 7d"), 2),
        ev.Dealt("dealer", ("2c",), None, None, (0,)),
    ]
    assert [seat["category"] for seat in answer["seats"]] == ["pair", "flush"]


def test_no_round_no_deal() -> None:
    """An unknown round is not found, and one with nobody in it has no one to deal to."""
    ledger = Ledger()
    ledger.table(plain_house(), deal_source="rng")
    ledger.refused(c.DealCards("nowhere"), "round_not_found")
    ledger.refused(c.DealCards(ledger.open()), "validation_failed")
