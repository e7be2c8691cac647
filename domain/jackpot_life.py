"""The life of a jackpot after its opening.

Parameters change only when the meter is won: until then new ones wait (GLI-19 2.4.2). A jackpot that is
disabled neither takes bets nor grows, and goes on as it was when it is enabled (4.15.2); what is staked by
then is still played out (A.5.1). One that is disabled and has no bet left to settle may give all its pools to
another and is then retired for good. A pool is put right by an adjustment at the house's cost.

What takes two persons comes in two functions. `…_effect` checks everything against the books and says what
would happen; `…_apply` does it, once somebody else has approved, after the same checks.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, cast

from domain import events as ev
from domain.approvals import Action, Approved, register
from domain.commands import DisableJackpot, EnableJackpot
from domain.houses import checked_parameters, jackpot_answer, parameters_answer
from domain.jackpots import METER_MAX, Jackpot, Scheduled, ceiling_exact, room
from domain.money import AMOUNT_MAX, EXACT, exact_text, parse_share
from domain.rejections import Rejection
from domain.work import Work

POOLS: Final[tuple[ev.Pool, ...]] = ("meter", "overflow", "diversion")


# ── At once ─────────────────────────────────────────────────────────────────────────────────────────────────
def disable_jackpot(command: DisableJackpot, work: Work) -> dict[str, Any]:
    """Take no side bet. Disabling a disabled jackpot changes nothing.

    Rejects with jackpot_not_found, jackpot_retired.
    """
    jackpot = _in_life(work, command.jackpot_id)
    if jackpot.enabled:
        jackpot.enabled = False
        _emit(work, jackpot, ev.JackpotDisabled(jackpot.jackpot_id, command.note_sha256))
    return jackpot_answer(jackpot)


def enable_jackpot(command: EnableJackpot, work: Work) -> dict[str, Any]:
    """Take side bets again. Enabling an enabled jackpot changes nothing.

    Rejects with jackpot_not_found, jackpot_retired.
    """
    jackpot = _in_life(work, command.jackpot_id)
    if not jackpot.enabled:
        jackpot.enabled = True
        _emit(work, jackpot, ev.JackpotEnabled(jackpot.jackpot_id, command.note_sha256))
    return jackpot_answer(jackpot)


# ── Parameters ──────────────────────────────────────────────────────────────────────────────────────────────
def parameters_effect(payload: dict[str, Any], work: Work) -> dict[str, Any]:
    """What scheduling new parameters would do: those in force, and those that would wait for the next win.

    `payload` has jackpot_id, contribution, reset, and perhaps ceiling and diversion.

    Rejects with jackpot_not_found, jackpot_retired, validation_failed, amount_out_of_range.
    """
    jackpot = _in_life(work, payload["jackpot_id"])
    return {
        "jackpot_id": jackpot.jackpot_id,
        "in_force": parameters_answer(_in_force(jackpot)),
        "scheduled": parameters_answer(_checked(jackpot, payload)),
    }


def parameters_apply(payload: dict[str, Any], work: Work, approved: Approved) -> dict[str, Any]:
    """Have new parameters wait for the next win, in place of any that wait already.

    Rejects as `parameters_effect`.
    """
    effect = parameters_effect(payload, work)
    jackpot = work.jackpots[payload["jackpot_id"]]
    new = jackpot.scheduled = _checked(jackpot, payload)
    _emit(
        work,
        jackpot,
        ev.JackpotParametersScheduled(
            jackpot_id=jackpot.jackpot_id,
            parameters_version=new.version,
            sha256=new.sha256,
            contribution=new.contribution,
            reset=new.reset,
            ceiling=new.ceiling,
            diversion=new.diversion,
            **_behind(approved),
        ),
    )
    return effect


def filled_up_to(jackpot: Jackpot, pinned: ev.JackpotRef) -> int:
    """The most that a restarted meter is filled up to from the overflow pool, in 1/10000 minor units.

    No ceiling is passed: neither the winning round's nor the one that is in force afterwards, for which the
    house may be about to put in the difference to a higher reset.
    """
    after = jackpot.scheduled or _in_force(jackpot)
    theirs, ours = ceiling_exact(pinned.ceiling), ceiling_exact(after.ceiling)
    return min(
        METER_MAX if theirs is None else theirs,
        (METER_MAX if ours is None else ours) - _top_up(jackpot, pinned.reset),
    )


def activate_scheduled(work: Work, jackpot: Jackpot, restarted_at: int) -> None:
    """Put the parameters that wait in force: the meter was won just now and restarted at that reset."""
    new = jackpot.scheduled
    if new is None:
        return
    top_up = _top_up(jackpot, restarted_at)
    before = jackpot.meter
    jackpot.scheduled = None
    jackpot.parameters_version, jackpot.sha256 = new.version, new.sha256
    jackpot.contribution, jackpot.share = new.contribution, parse_share(new.contribution)
    jackpot.reset, jackpot.ceiling, jackpot.diversion = new.reset, new.ceiling, new.diversion
    _emit(
        work,
        jackpot,
        ev.JackpotParametersActivated(
            jackpot_id=jackpot.jackpot_id,
            parameters_version=new.version,
            sha256=new.sha256,
            meter_before=exact_text(before),
            meter_after=exact_text(before + top_up),
            top_up=exact_text(top_up) if top_up else None,
        ),
    )


def _top_up(jackpot: Jackpot, restarted_at: int) -> int:
    """What the house puts in where the waiting parameters have a higher reset, 1/10000 minor units."""
    waiting = jackpot.scheduled
    return 0 if waiting is None else max(0, waiting.reset - restarted_at) * EXACT


def _in_force(jackpot: Jackpot) -> Scheduled:
    return Scheduled(
        jackpot.parameters_version,
        jackpot.sha256,
        jackpot.contribution,
        jackpot.reset,
        jackpot.ceiling,
        jackpot.diversion,
    )


def _checked(jackpot: Jackpot, payload: dict[str, Any]) -> Scheduled:
    """The parameters of a payload, numbered after all there have been.

    A ceiling is above what the meter holds now (GLI-19 2.8.7), and above the reset that it restarts at when
    they come into force.
    """
    waiting = jackpot.scheduled
    newest = jackpot.parameters_version if waiting is None else waiting.version
    new = checked_parameters(
        jackpot.jackpot_id,
        jackpot.currency,
        newest + 1,
        payload["contribution"],
        payload["reset"],
        payload.get("ceiling"),
        payload.get("diversion"),
    )
    if new.ceiling is not None and new.ceiling * EXACT <= max(jackpot.meter, jackpot.reset * EXACT):
        raise Rejection(
            "amount_out_of_range",
            "A ceiling is above what the meter holds, and above the reset that it restarts at.",
            meter_exact=exact_text(jackpot.meter),
        )
    return new


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
    _emit(
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
            **_behind(approved),
        ),
    )
    source.retired, source.scheduled = True, None
    _emit(work, source, ev.JackpotRetired(source.jackpot_id))
    return effect


def _moved(payload: dict[str, Any], work: Work) -> _Moved:
    source, target = _in_life(work, payload["jackpot_id"]), _in_life(work, payload["to"])
    if source is target:
        raise Rejection("validation_failed", "A jackpot is transferred to another one.")
    if source.enabled:
        raise Rejection("jackpot_enabled", f"Jackpot {source.jackpot_id} takes bets: disable it first.")
    if source.unsettled:
        raise Rejection(
            "jackpot_unsettled",
            f"{source.unsettled} bets on jackpot {source.jackpot_id} are not settled yet.",
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
    jackpot = _in_life(work, payload["jackpot_id"])
    pool, amount = payload.get("pool", "meter"), payload["amount"]
    if pool not in POOLS:
        raise Rejection("validation_failed", f"The pools are {', '.join(POOLS)}.", parameter="pool")
    if not 1 <= abs(amount) <= AMOUNT_MAX:
        raise Rejection("amount_out_of_range", f"An adjustment is 1 to {AMOUNT_MAX} minor units, or less 0.")
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
    _emit(
        work,
        work.jackpots[payload["jackpot_id"]],
        ev.JackpotAdjusted(
            jackpot_id=payload["jackpot_id"],
            pool=cast("ev.Pool", effect["pool"]),
            amount=str(payload["amount"]),
            before=effect["before_exact"],
            after=effect["after_exact"],
            **_behind(approved),
        ),
    )
    return effect


# ── What all of them do ─────────────────────────────────────────────────────────────────────────────────────
def _in_life(work: Work, jackpot_id: str) -> Jackpot:
    """A jackpot that is not retired. Rejects with jackpot_not_found, jackpot_retired."""
    jackpot = work.jackpot(jackpot_id)
    if jackpot.retired:
        raise Rejection("jackpot_retired", f"Jackpot {jackpot_id} is retired.")
    return jackpot


def _behind(approved: Approved) -> dict[str, Any]:
    """The fields of an event that name who is behind it."""
    return approved._asdict()


def _emit(work: Work, jackpot: Jackpot, event: ev.Event) -> None:
    """Put an event next in the jackpot's stream; its legs move the pools."""
    jackpot.version += 1
    work.touched_jackpots.add(jackpot.jackpot_id)
    work.emit(f"jackpot-{jackpot.jackpot_id}", jackpot.version, event)


PARAMETERS: Final = "jackpot_parameters"
TRANSFER: Final = "jackpot_transfer"
ADJUSTMENT: Final = "jackpot_adjustment"

register(Action(PARAMETERS, parameters_effect, parameters_apply))
register(Action(TRANSFER, transfer_effect, transfer_apply))
register(Action(ADJUSTMENT, adjustment_effect, adjustment_apply))
