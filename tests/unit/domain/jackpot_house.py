"""A house with a jackpot that is easily won, and two people who may change it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from domain import commands as c
from domain import events as ev
from domain.cards import DECK
from tests.unit.domain.playing import Box, Ledger, jackpot_bet, plain_house

ACE_KING = "Ad Kd 3h 3c 2s"
ROYALS = ("As Ks Qs Js Ts", "Ah Kh Qh Jh Th")
STRAIGHT_FLUSH = "9c 8c 7c 6c 5c"
QUADS = "4s 4h 4d 4c 2c"
NOTHING = ""
"""A hand that wins nothing of the jackpot, of the cards that are left."""
NOTE = "ab" * 32
STAKE = 100

HOUSE = plain_house(
    side_bets=[
        jackpot_bet(
            {
                "royal_flush": {"percent": 100},
                "straight_flush": {"percent": 10},
                "four_of_a_kind": {"fixed": "5", "funding": "meter"},
            }
        )
    ]
)


def ledger_with(reset: int = 1_000, contribution: str = "1", **fields: Any) -> Ledger:
    """Return a ledger with the table `t`, its jackpot `pot`, and anna and ben who may change it together."""
    ledger = Ledger()
    ledger.jackpot(reset, contribution=contribution, **fields)
    ledger.table(HOUSE)
    for number, name in enumerate(("anna", "ben")):
        ledger.ask(c.RegisterPerson(name, f"key-{number}", ("admin",), f"unused-{number}"))
    return ledger


def bet(hand: str = NOTHING, does: str = "raise") -> Box:
    """Return a seat that bets on the jackpot."""
    return Box(hand, does, side_bets={"jackpot": STAKE})


def play(ledger: Ledger, *hands: str, table_id: str = "t") -> str:
    """Play a round with a jackpot bet on every hand; return its id."""
    boxes = {seat: bet(hand) for seat, hand in enumerate(dealt(hands), 1)}
    return ledger.play(ACE_KING, boxes, table_id)


def dealt(hands: Sequence[str]) -> list[str]:
    """Return hands with those that are to be nothing filled in: ranks far apart, as far as the deck goes."""
    gone = " ".join((ACE_KING, *hands)).split()
    left = [card for card in DECK if card not in gone]
    step = len(left) // 5
    fillers = iter([" ".join(left[first::step][:5]) for first in range(step)])
    return [hand or next(fillers) for hand in hands]


def win(ledger: Ledger, round_id: str) -> None:
    """Deal seat 1 of a betting round the royal flush, to the other seats nothing, and settle."""
    seats = sorted(ledger.work.rounds[round_id].seats)
    hands = dealt([ROYALS[0] if seat == 1 else NOTHING for seat in seats])
    ledger.deal(round_id, ACE_KING, dict(zip(seats, hands, strict=True)))
    for seat in seats:
        ledger.decide(round_id, seat, "raise")
    ledger.reveal(round_id, ACE_KING)


def propose(ledger: Ledger, kind: str, **payload: Any) -> dict[str, Any]:
    """Propose a change of the jackpot `pot` as anna; return the proposal."""
    with ledger.acting("anna", "admin"):
        command = c.Propose(f"A{ledger.commands}", kind, {"jackpot_id": "pot", **payload}, NOTE)
        return ledger.ask(command)


def approve(ledger: Ledger, proposal: dict[str, Any]) -> dict[str, Any]:
    """Approve a proposal as ben."""
    with ledger.acting("ben", "admin"):
        return ledger.ask(c.Approve(proposal["approval_id"]))


def change(ledger: Ledger, kind: str, **payload: Any) -> dict[str, Any]:
    """Have a change proposed and approved; return the approval, its events are in `ledger.last`."""
    return approve(ledger, propose(ledger, kind, **payload))


def proposals_refused(ledger: Ledger, kind: str, code: str, **payload: Any) -> tuple[str, dict[str, Any]]:
    """Check that a change cannot even be proposed; return what is said of it, to people and to programs."""
    with ledger.acting("anna", "admin"):
        rejection = ledger.refused(c.Propose("no", kind, {"jackpot_id": "pot", **payload}), code)
    return rejection.detail, rejection.extra


def pools(ledger: Ledger, jackpot_id: str = "pot") -> tuple[int, int, int]:
    """Return meter, overflow and diversion in minor units; none may hold a fraction."""
    jackpot = ledger.work.jackpots[jackpot_id]
    whole = [divmod(pool, 10_000) for pool in (jackpot.meter, jackpot.overflow, jackpot.diverted)]
    assert not any(fraction for _, fraction in whole)
    meter, overflow, diverted = (minor for minor, _ in whole)
    return meter, overflow, diverted


def placed(ledger: Ledger, round_id: str) -> list[tuple[str | None, str | None, str | None]]:
    """Return what each jackpot bet of a round put in: contribution, overflow of it, diversion."""
    return [
        (each.contribution, each.overflow, each.diversion) for each in ledger.of(round_id, ev.SideBetPlaced)
    ]


def happened(ledger: Ledger) -> list[ev.Event]:
    """Return the events of the last command, without what the approval itself records."""
    return [emitted.event for emitted in ledger.last if not emitted.stream.startswith("approval-")]
