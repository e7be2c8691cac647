"""Finished rounds at a jackpot with a ceiling and a diversion, as the ledger stores and hands them out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import orjson

from domain import commands as c
from domain.jackpot_life import ADJUSTMENT
from domain.jackpot_parameters import PARAMETERS
from domain.jackpots import parameters_document
from infrastructure.ledger.stored_form import encode
from tests.unit.domain.jackpot_house import (
    HOUSE,
    NOTHING,
    ROYALS,
    STAKE,
    STRAIGHT_FLUSH,
    change,
    ledger_with,
    play,
)
from tests.unit.domain.playing import Ledger

Evidence = dict[str, Any]


def evidence(ledger: Ledger, round_id: str) -> Evidence:
    """Return a finished round's evidence file, as an object that a test may alter."""
    opened = ledger.work.rounds[round_id].opened
    pinned = opened.jackpot
    assert pinned is not None
    stored = [
        encode(*each[:5], {**each.meta, "shown": "s" * 43}, "A" * 22) for each in ledger.by_round[round_id]
    ]
    own = (pinned.contribution, pinned.reset, pinned.version, pinned.ceiling, pinned.diversion)
    return {
        "format": "stud-ledger/evidence/1",
        "round_id": round_id,
        "player": None,
        "events": [orjson.loads(data) for data in stored],
        "ruleset": orjson.loads(orjson.dumps(ledger.work.rulesets["test-house"][1].document)),
        "currency": {"code": "USD", "exponent": 2},
        "jackpot": parameters_document(pinned.id, "USD", *own),
    }


def near_its_ceiling() -> Ledger:
    """Return a ledger whose meter of 1 000 may grow by 50; 80 of a bet go there, 10 are put aside."""
    return ledger_with(contribution="0.8", diversion="0.1", ceiling=1_050)


def overflowing() -> Evidence:
    """The first bet fills the meter, two more go above it whole; then a tenth is won."""
    ledger = near_its_ceiling()
    return evidence(ledger, play(ledger, STRAIGHT_FLUSH, NOTHING, NOTHING))


def restarted() -> Evidence:
    """The meter is won: the next one starts with what had been put aside and what had overflowed."""
    ledger = near_its_ceiling()
    play(ledger, NOTHING, NOTHING)
    return evidence(ledger, play(ledger, ROYALS[0]))


def shared() -> Evidence:
    """Two hands share the meter; the restart comes with the second of them."""
    ledger = near_its_ceiling()
    return evidence(ledger, play(ledger, *ROYALS))


def changed_between() -> Evidence:
    """The win lets other parameters come into force, with more from the house; then the round wins again."""
    ledger = near_its_ceiling()
    change(ledger, PARAMETERS, contribution="0.6", reset=1_200)
    return evidence(ledger, play(ledger, ROYALS[0], STRAIGHT_FLUSH))


def void() -> Evidence:
    """Two bets are taken back from all three pools."""
    ledger = near_its_ceiling()
    round_id = ledger.open(ledger.stake(1, jackpot=STAKE), ledger.stake(2, jackpot=STAKE))
    ledger.ask(c.VoidRound(round_id, "malfunction"))
    return evidence(ledger, round_id)


def void_after_a_win() -> Evidence:
    """A bet is taken back after the pools it had gone to were used up: the house bears most of it."""
    ledger = near_its_ceiling()
    ledger.table(HOUSE, "other")
    round_id = ledger.open(ledger.stake(2, jackpot=STAKE), table_id="other")
    play(ledger, ROYALS[0])
    change(ledger, ADJUSTMENT, pool="overflow", amount=-55)
    ledger.ask(c.VoidRound(round_id, "malfunction"))
    return evidence(ledger, round_id)


ROUNDS: Final[tuple[Callable[[], Evidence], ...]] = (
    overflowing,
    restarted,
    shared,
    changed_between,
    void,
    void_after_a_win,
)


def setting(kind: str, nth: int = 0, **fields: Any) -> Callable[[Evidence], None]:
    """Return what sets fields of the nth event of a kind; None takes a field away."""

    def alter(file: Evidence) -> None:
        data = [each["data"] for each in file["events"] if each["type"] == kind][nth]
        for name, value in fields.items():
            if value is None:
                del data[name]
            else:
                data[name] = value

    return alter


def pinning(**fields: Any) -> Callable[[Evidence], None]:
    """Return what sets a pinned parameter of the jackpot in the first event and in the document alike."""

    def alter(file: Evidence) -> None:
        for pinned in (file["events"][0]["data"]["jackpot"], file["jackpot"]):
            for name, value in fields.items():
                if value is None:
                    pinned.pop(name)
                else:
                    pinned[name] = value

    return alter
