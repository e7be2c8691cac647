"""A jackpot's parameters, and how they change: only when its meter is won.

Until then new ones wait (GLI-19 2.4.2). Scheduling them takes two persons: `…_effect` checks everything
against the books and says what would happen; `…_apply` does it, once somebody else has approved, after the
same checks.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any, Final

from domain import events as ev
from domain.approvals import Action, Approved, register
from domain.jackpots import (
    METER_MAX,
    Jackpot,
    Scheduled,
    ceiling_exact,
    parameters_document,
    parameters_sha256,
)
from domain.money import AMOUNT_MAX, BALANCE_MAX, EXACT, exact_text, parse_share
from domain.rejections import Rejection
from domain.work import Work

_NO_SHARE: Final = re.compile(r"0(\.0{1,4})?")
"""A diversion of nothing: the parameters have none."""


def checked_parameters(
    jackpot_id: str,
    currency: str,
    version: int,
    contribution: str,
    reset: int,
    ceiling: int | None,
    diversion: str | None,
) -> Scheduled:
    """A jackpot's parameters, with their hash, if they can be.

    Both shares are of the same side bet and together at most all of it; a ceiling is above the reset, which
    is what the meter starts at. Rejects with validation_failed, amount_out_of_range.
    """
    if not 0 <= reset <= AMOUNT_MAX:
        raise Rejection("amount_out_of_range", f"A reset is 0 to {AMOUNT_MAX} minor units.")
    if ceiling is not None and not reset < ceiling <= BALANCE_MAX:
        raise Rejection(
            "amount_out_of_range", f"A ceiling is above the reset and at most {BALANCE_MAX} minor units."
        )
    diverted = None if diversion is None or _NO_SHARE.fullmatch(diversion) else diversion
    try:
        shares = parse_share(contribution) + (0 if diverted is None else parse_share(diverted))
    except ValueError as error:
        raise Rejection("validation_failed", f"The contribution is refused: {error}.") from None
    if shares > EXACT:
        raise Rejection("validation_failed", "Contribution and diversion are more than the whole side bet.")
    document = parameters_document(jackpot_id, currency, contribution, reset, version, ceiling, diverted)
    return Scheduled(version, parameters_sha256(document), contribution, reset, ceiling, diverted)


def parameters_answer(parameters: Scheduled) -> dict[str, Any]:
    """A jackpot's parameters as the HTTP contract shows them."""
    return {name: value for name, value in asdict(parameters).items() if value is not None}


# ── When they change ──────────────────────────────────────────────────────────────────────────────────────
def parameters_effect(payload: dict[str, Any], work: Work) -> dict[str, Any]:
    """What scheduling new parameters would do: those in force, and those that would wait for the next win.

    `payload` has jackpot_id, contribution, reset, and perhaps ceiling and diversion.

    Rejects with jackpot_not_found, jackpot_retired, validation_failed, amount_out_of_range.
    """
    jackpot = in_life(work, payload["jackpot_id"])
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
    emit_life(
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
            **behind(approved),
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
    emit_life(
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


# ── A jackpot's own stream ────────────────────────────────────────────────────────────────────────────────
def in_life(work: Work, jackpot_id: str) -> Jackpot:
    """A jackpot that is not retired. Rejects with jackpot_not_found, jackpot_retired."""
    jackpot = work.jackpot(jackpot_id)
    if jackpot.retired:
        raise Rejection("jackpot_retired", f"Jackpot {jackpot_id} is retired.")
    return jackpot


def behind(approved: Approved) -> dict[str, Any]:
    """The fields of an event that name who is behind it."""
    return approved._asdict()


def emit_life(work: Work, jackpot: Jackpot, event: ev.Event) -> None:
    """Put an event next in the jackpot's stream; its legs move the pools."""
    jackpot.version += 1
    work.touched_jackpots.add(jackpot.jackpot_id)
    work.emit(f"jackpot-{jackpot.jackpot_id}", jackpot.version, event)


PARAMETERS: Final = "jackpot_parameters"
register(Action(PARAMETERS, parameters_effect, parameters_apply))
