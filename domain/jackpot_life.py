"""The life of a jackpot after its opening.

A jackpot that is disabled neither takes bets nor grows, and goes on as it was when it is enabled (GLI-19
4.15.2); what is staked by then is still played out (A.5.1). One that is disabled and has no bet left to
settle may give all its pools to another and is then retired for good. A pool is put right by an adjustment at
the house's cost. How its parameters change is in `domain.jackpot_parameters`.

What takes two persons comes in two functions. `…_effect` checks everything against the books and says what
would happen; `…_apply` does it, once somebody else has approved, after the same checks.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from domain import events as ev
from domain.approvals import Action, Approved, register
from domain.commands import DisableJackpot, EnableJackpot
from domain.houses import jackpot_answer
from domain.jackpot_parameters import behind, emit_life, in_life
from domain.jackpots import METER_MAX, Jackpot, ceiling_exact, room
from domain.money import AMOUNT_MAX, EXACT, exact_text
from domain.rejections import Rejection
from domain.work import Work

POOLS: Final[tuple[ev.Pool, ...]] = ("meter", "overflow", "diversion")


# ── At once ─────────────────────────────────────────────────────────────────────────────────────────────────
def disable_jackpot(command: DisableJackpot, work: Work) -> dict[str, Any]:
    """Take no side bet. Disabling a disabled jackpot changes nothing.

    Rejects with jackpot_not_found, jackpot_retired.
    """
    jackpot = in_life(work, command.jackpot_id)
    if jackpot.enabled:
        jackpot.enabled = False
        emit_life(work, jackpot, ev.JackpotDisabled(jackpot.jackpot_id, command.note_sha256))
    return jackpot_answer(jackpot)


def enable_jackpot(command: EnableJackpot, work: Work) -> dict[str, Any]:
    """Take side bets again. Enabling an enabled jackpot changes nothing.

    Rejects with jackpot_not_found, jackpot_retired.
    """
    jackpot = in_life(work, command.jackpot_id)
    if not jackpot.enabled:
        jackpot.enabled = True
        emit_life(work, jackpot, ev.JackpotEnabled(jackpot.jackpot_id, command.note_sha256))
    return jackpot_answer(jackpot)


# ── Transfer and retirement ─────────────────────────────────────────────────────────────────────────────────
class _Moved(NamedTuple):
    """What a transfer moves."""

    source: Jackpot
    target: Jackpot
    above: int
    """What of the meter goes to the other's overflow pool."""


def transfer_effect(payload: dict[str, Any], work: Work) -> dict[str, Any]:
    """What giving all that a jackpot holds to another one would do. Exact amounts in minor units.

    `payload` has jackpot_id and to.

    Rejects with jackpot_not_found, jackpot_retired, jackpot_enabled, jackpot_unsettled, currency_mismatch,
    account_class_mismatch, validation_failed, amount_out_of_range.
    """
    source, target, above = _moved(payload, work)
    return {
        "jackpot_id": source.jackpot_id,
        "to": target.jackpot_id,
        "amount_exact": exact_text(source.meter),
        "overflow_exact": exact_text(source.overflow),
        "diversion_exact": exact_text(source.diverted),
        "above_ceiling_exact": exact_text(above),
        "to_meter_before_exact": exact_text(target.meter),
        "to_meter_after_exact": exact_text(target.meter + source.meter - above),
    }


def transfer_apply(payload: dict[str, Any], work: Work, approved: Approved) -> dict[str, Any]:
    """Give all that a jackpot holds to another one and retire it. Rejects as `transfer_effect`."""
    effect = transfer_effect(payload, work)
    source, target, above = _moved(payload, work)
    emit_life(
        work,
        source,
        ev.JackpotTransferred(
            jackpot_id=source.jackpot_id,
            to=target.jackpot_id,
            amount=exact_text(source.meter),
            overflow=exact_text(source.overflow),
            diversion=exact_text(source.diverted),
            to_meter_before=exact_text(target.meter),
            to_meter_after=exact_text(target.meter + source.meter - above),
            above_ceiling=exact_text(above) if above else None,
            **behind(approved),
        ),
    )
    source.retired, source.scheduled = True, None
    emit_life(work, source, ev.JackpotRetired(source.jackpot_id))
    return effect


def _moved(payload: dict[str, Any], work: Work) -> _Moved:
    source, target = in_life(work, payload["jackpot_id"]), in_life(work, payload["to"])
    if source is target:
        raise Rejection("validation_failed", "A jackpot is transferred to another one.")
    if source.enabled:
        raise Rejection("jackpot_enabled", f"Jackpot {source.jackpot_id} takes bets: disable it first.")
    if source.unsettled:
        raise Rejection(
            "jackpot_unsettled",
            f"Bets on jackpot {source.jackpot_id} that are not settled yet: {source.unsettled}.",
            unsettled=source.unsettled,
        )
    if source.currency != target.currency:
        raise Rejection("currency_mismatch", f"One holds {source.currency}, the other {target.currency}.")
    if source.account_class != target.account_class:
        raise Rejection(
            "account_class_mismatch", f"One is for {source.account_class} accounts, the other is not."
        )
    above = source.meter - min(source.meter, room(target.meter, ceiling_exact(target.ceiling)))
    held = max(target.overflow + source.overflow + above, target.diverted + source.diverted)
    if held > METER_MAX:
        raise Rejection("amount_out_of_range", "The other jackpot cannot hold what it would get.")
    return _Moved(source, target, above)


# ── Adjustment ──────────────────────────────────────────────────────────────────────────────────────────────
def adjustment_effect(payload: dict[str, Any], work: Work) -> dict[str, Any]:
    """What an adjustment would do to a pool. Exact amounts in minor units.

    `payload` has jackpot_id, amount (signed, minor units), and perhaps the pool (absent: the meter).

    Rejects with jackpot_not_found, jackpot_retired, validation_failed, amount_out_of_range (a pool never goes
    below zero, and an adjustment never takes a meter above its ceiling).
    """
    jackpot = in_life(work, payload["jackpot_id"])
    pool, amount = payload.get("pool", "meter"), payload["amount"]
    if pool not in POOLS:
        raise Rejection("validation_failed", f"The pools are {', '.join(POOLS)}.", parameter="pool")
    if not 1 <= abs(amount) <= AMOUNT_MAX:
        raise Rejection("amount_out_of_range", f"An adjustment is 1 to {AMOUNT_MAX} minor units, up or down.")
    before = {"meter": jackpot.meter, "overflow": jackpot.overflow, "diversion": jackpot.diverted}[pool]
    most = ceiling_exact(jackpot.ceiling) if pool == "meter" else None
    after = before + amount * EXACT
    if after < 0 or amount * EXACT > room(before, most):
        raise Rejection(
            "amount_out_of_range",
            "A pool holds zero at least, and at most its ceiling or what the ledger can count.",
            before_exact=exact_text(before),
        )
    return {
        "jackpot_id": jackpot.jackpot_id,
        "pool": pool,
        "amount": amount,
        "before_exact": exact_text(before),
        "after_exact": exact_text(after),
    }


def adjustment_apply(payload: dict[str, Any], work: Work, approved: Approved) -> dict[str, Any]:
    """Put a pool right, at the house's cost. Rejects as `adjustment_effect`."""
    effect = adjustment_effect(payload, work)
    emit_life(
        work,
        work.jackpots[payload["jackpot_id"]],
        ev.JackpotAdjusted(
            jackpot_id=payload["jackpot_id"],
            pool=effect["pool"],
            amount=str(payload["amount"]),
            before=effect["before_exact"],
            after=effect["after_exact"],
            **behind(approved),
        ),
    )
    return effect


TRANSFER: Final = "jackpot_transfer"
ADJUSTMENT: Final = "jackpot_adjustment"

register(Action(TRANSFER, transfer_effect, transfer_apply))
register(Action(ADJUSTMENT, adjustment_effect, adjustment_apply))
