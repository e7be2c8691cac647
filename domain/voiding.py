"""Void.

A misdeal (003) or a malfunction (001) before the first seat is settled. Every stake comes back, nothing is
deleted.
"""

from __future__ import annotations

from typing import Any, Final

from domain import events as ev
from domain.commands import VoidRound
from domain.jackpots import reverse
from domain.money import exact_text
from domain.rejections import Rejection
from domain.round import Round, Seat
from domain.views import round_answer
from domain.work import Work

ALWAYS_CAUSES: Final = ("malfunction",)
"""What can befall any house (001: a technical fault voids all pays and plays)."""


def void_round(command: VoidRound, work: Work) -> dict[str, Any]:
    """Declare an unfinished round void. Returns the round.

    A misdeal is a cause only where the house's rules name it: where player cards are dealt face down
    (reading 14).

    Rejects with round_not_found, wrong_phase (finished, or a seat is settled: then only a correction
    changes money), validation_failed.
    """
    round_ = work.round(command.round_id)
    if round_.phase in ("settled", "closed", "voided") or round_.settled:
        raise Rejection(
            "wrong_phase",
            f"Round {round_.id} is {round_.phase}: only an unfinished round can be void.",
            phase=round_.phase,
        )
    causes = (*work.rules_of(round_).misdeal_causes, *ALWAYS_CAUSES)
    if command.cause not in causes:
        raise Rejection(
            "validation_failed", f"The causes of this house are {', '.join(causes)}.", causes=list(causes)
        )
    void(work, round_, command.cause, command.note_sha256)
    return round_answer(work, round_.id)


def void(work: Work, round_: Round, cause: str, note_sha256: str | None = None) -> None:
    """Declare the round void, reveal its seed and give back the first stakes."""
    secret = work.secrets.pop(round_.id, None)
    seed = secret.seed.hex() if secret is not None else None
    work.emit_round(round_.id, ev.RoundVoided(cause, seed, note_sha256))
    work.deadlines.pop(round_.id, None)
    refund_seats(work, round_)


def refund_seats(work: Work, round_: Round) -> None:
    """Give back the stakes of the next seats in seat order, at most `settle_seats_max` of them."""
    for number in round_.order[round_.refunded : round_.refunded + work.settle_seats_max]:
        seat = round_.seats[number]
        _reverse_contribution(work, round_, seat)
        amount = seat.stakes()
        refunded = tuple(ev.RefundedStake(bet, stake) for bet, stake in seat.placed())
        after = work.wallets[seat.player].balance + amount
        work.emit_round(round_.id, ev.StakeRefunded(seat.seat, seat.player, amount, refunded, after))
        release_player(work, round_, seat.player)
    if round_.finished:
        release_table(work, round_)


def _reverse_contribution(work: Work, round_: Round, seat: Seat) -> None:
    """Take what the seat put in out of the pools it went to, as they stand.

    Awards paid in between stay as they are (reading 15).
    """
    opened = round_.opened.jackpot
    if opened is None or "jackpot" not in seat.side_bets:
        return
    jackpot = work.jackpots[opened.id]
    jackpot.unsettled -= 1
    taken = reverse(jackpot.meter, seat.contribution - seat.overflow)
    overflow = reverse(jackpot.overflow, seat.overflow)
    diversion = reverse(jackpot.diverted, seat.diversion)
    put_in = seat.contribution + seat.diversion
    work.emit_round(
        round_.id,
        ev.ContributionReversed(
            seat=seat.seat,
            player=seat.player,
            jackpot_id=jackpot.jackpot_id,
            amount=exact_text(put_in),
            from_meter=exact_text(taken),
            from_house=exact_text(put_in - taken - overflow - diversion),
            meter_before=exact_text(jackpot.meter),
            meter_after=exact_text(jackpot.meter - taken),
            previous_position=jackpot.moved_at,
            from_overflow=exact_text(overflow) if overflow else None,
            from_diversion=exact_text(diversion) if diversion else None,
        ),
    )


def release_player(work: Work, round_: Round, player: str) -> None:
    """After the last of the player's hands the round is finished for them: the next one can be played."""
    if not round_.hands[player]:
        del work.wallets[player].unfinished[round_.opened.table_id]


def release_table(work: Work, round_: Round) -> None:
    """The round is finished: a table that has one at a time is free for the next one."""
    table = work.tables[round_.opened.table_id]
    if table.open_round == round_.id:
        table.open_round = None
        work.touched_tables.add(table.table_id)
