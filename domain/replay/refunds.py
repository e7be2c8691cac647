"""A void round gives back every stake, and takes contributions out of the meter (readings 14 and 15)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from domain.replay.exact import in_text, units
from domain.replay.house import House
from domain.replay.kinds import RoundOpened
from domain.replay.report import PROBLEMS_MAX, Findings
from domain.replay.state import Game, Seat

_FIGURES: Final = (
    "jackpot_id",
    "amount",
    "from_meter",
    "from_house",
    "meter_after",
    "from_overflow",
    "from_diversion",
)


def check(game: Game, opened: RoundOpened, house: House, findings: Findings) -> None:
    """Check that each seat got its stakes back in seat order, its contribution reversed right before."""
    order: list[tuple[str, int]] = []
    for seat in game.in_seat_order:
        if "jackpot" in seat.side_bets:
            order.append(("ContributionReversed", seat.number))
            _check_reversal(seat, opened, findings)
        order.append(("StakeRefunded", seat.number))
        _check_refund(seat, tuple(house.side_bets), findings)
    found = [(refund.type, refund.data.seat) for refund in game.refunds]
    if order == found:
        findings.holds("refund_order", ok=True)
    else:
        findings.holds("refund_order", ok=False, expected=_listed(order), actual=_listed(found))


def _listed(refunds: Sequence[tuple[str, int]]) -> list[str]:
    return [f"{kind} seat_{number}" for kind, number in refunds[:PROBLEMS_MAX]]


def _check_refund(seat: Seat, side_bets: Sequence[str], findings: Findings) -> None:
    """Check one seat's refund against all it had staked; the order of its bets says nothing."""
    stakes = seat.stakes(side_bets)
    refund = seat.refund
    if refund is None:
        findings.holds(f"refunded.seat_{seat.number}", ok=False, expected=sum(stake for _, stake in stakes))
        return
    findings.same(
        f"refunded.seat_{seat.number}",
        {"amount": sum(stake for _, stake in stakes), "bets": sorted(map(list, stakes))},
        {"amount": refund.amount, "bets": sorted([bet.bet, bet.stake] for bet in refund.bets)},
    )


def _check_reversal(seat: Seat, opened: RoundOpened, findings: Findings) -> None:
    """Check one reversal: no pool below zero, what one lacks the house bears.

    What the meter held is in the event. The two other pools gave what went into them, or less where they
    held less: then nothing was left.
    """
    name, jackpot = f"reversed.seat_{seat.number}", opened.jackpot
    if seat.reversal is None or jackpot is None:
        findings.holds(name, ok=False)
        return
    reversal = seat.reversal.data
    placed = seat.side_bets["jackpot"]
    put_in = placed.amount * (units(jackpot.contribution) + units(jackpot.diversion or "0"))
    overflow = units(placed.overflow or "0")
    before = units(reversal.meter_before)
    taken = min(before, placed.amount * units(jackpot.contribution) - overflow)
    others = {
        "from_overflow": min(overflow, units(reversal.from_overflow or "0")),
        "from_diversion": min(units(placed.diversion or "0"), units(reversal.from_diversion or "0")),
    }
    expected = {
        "jackpot_id": jackpot.id,
        "amount": in_text(put_in),
        "from_meter": in_text(taken),
        "from_house": in_text(put_in - taken - sum(others.values())),
        "meter_after": in_text(before - taken),
        **{field: in_text(amount) for field, amount in others.items() if amount},
    }
    findings.same(
        name, expected, {field: said for field in _FIGURES if (said := getattr(reversal, field)) is not None}
    )
