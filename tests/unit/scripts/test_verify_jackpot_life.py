"""The offline verifier on ceiling, overflow, diversion and restart: the ledger's rounds, and altered ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.domain.jackpot_house import STRAIGHT_FLUSH, ledger_with, play
from tests.unit.domain.jackpot_rounds import (
    ROUNDS,
    changed_between,
    evidence,
    near_its_ceiling,
    overflowing,
    pinning,
    restarted,
    setting,
    shared,
    void,
    void_after_a_win,
)
from tests.unit.scripts.evidence_builder import sha256
from tests.unit.scripts.verifier import Evidence, examine, failed

AWARDS, METER, VOID, MONEY = "jackpot.awards", "jackpot.meter", "void", "money.conservation"


@pytest.mark.parametrize("make", ROUNDS)
def test_the_ledgers_own_rounds_are_verified(make: Callable[[], Evidence]) -> None:
    """Whatever the jackpot did in them."""
    assert examine(make()).verdict() == "verified"


@pytest.mark.parametrize("player", ["pseudonym-player-1", "pseudonym-player-2"])
def test_one_players_file_is_verified(player: str) -> None:
    """Parameters that came into force in the middle of the command lie between events, seen or not."""
    file = changed_between()
    file["player"] = player
    file["events"] = [
        each
        if each["data"].get("player", player) == player
        and each["data"].get("seat") in (None, int(player[-1]))
        else {name: each[name] for name in ("position", "stream", "version")}
        | {"withheld": True, "leaf_sha256": "0" * 64}
        for each in file["events"]
    ]
    case = examine(file)
    assert (case.verdict(), case.unusable, case.faults) == (
        "verified",
        "",
        {step: [] for step in case.faults},
    )


@pytest.mark.parametrize(
    ("make", "alter", "step"),
    [
        (overflowing, setting("SideBetPlaced", 0, diversion="9"), "stakes"),
        (overflowing, setting("SideBetPlaced", 0, diversion=None), "stakes"),
        (overflowing, setting("SideBetPlaced", 0, overflow="81"), "stakes"),
        (overflowing, setting("SideBetPlaced", 0, overflow="0"), "stakes"),
        (restarted, setting("JackpotHit", from_overflow="50.0001"), AWARDS),
        (restarted, setting("JackpotHit", from_overflow="49"), AWARDS),
        (restarted, setting("JackpotHit", from_overflow=None), AWARDS),
        (restarted, setting("JackpotHit", from_overflow="0"), AWARDS),
        (restarted, setting("JackpotHit", restart_from_diversion="1000.5"), AWARDS),
        (restarted, setting("JackpotHit", restart_from_diversion="0"), AWARDS),
        (restarted, setting("JackpotHit", restart=None), AWARDS),
        (restarted, setting("JackpotHit", meter_after="1050.1"), AWARDS),
        (shared, setting("JackpotHit", 0, from_overflow="1"), AWARDS),
        (shared, setting("JackpotHit", 0, restart_from_diversion="1"), AWARDS),
        (void, setting("ContributionReversed", 0, from_overflow="31"), VOID),
        (void, setting("ContributionReversed", 0, from_overflow="29"), VOID),
        (void, setting("ContributionReversed", 0, from_diversion=None), VOID),
        (void, setting("ContributionReversed", 1, from_diversion="11"), VOID),
        (void, setting("ContributionReversed", 0, amount="80"), MONEY),
        (void_after_a_win, setting("ContributionReversed", from_house="34"), MONEY),
        (void_after_a_win, setting("ContributionReversed", from_meter="49", meter_after="1001"), VOID),
    ],
)
def test_an_altered_figure_is_refuted(
    make: Callable[[], Evidence], alter: Callable[[Evidence], None], step: str
) -> None:
    """Each figure of the other pools is derived or bounded."""
    file = make()
    alter(file)
    assert step in failed(file)


@pytest.mark.parametrize(
    "fields", [{"ceiling": 1_051}, {"ceiling": None}, {"diversion": "0.2"}, {"diversion": None}]
)
def test_other_parameters_have_another_hash(fields: dict[str, object]) -> None:
    """A ceiling and a diversion are pinned by the round's first event."""
    file = restarted()
    pinning(**fields)(file)
    assert failed(file) == ["rules.jackpot"]


def test_an_overflow_without_a_ceiling_is_refuted() -> None:
    """Where the meter has no end nothing goes above it, however the rest is made to agree."""
    file = overflowing()
    pinning(ceiling=None)(file)
    file["events"][0]["data"]["jackpot"]["sha256"] = sha256(file["jackpot"])
    assert failed(file) == ["stakes"]


@pytest.mark.parametrize(("ceiling", "fits"), [(1_049, False), (1_050, True), (1_051, False)])
def test_the_meter_is_what_its_ceiling_makes_of_it(ceiling: int, *, fits: bool) -> None:
    """After a bet that overflowed in part the meter stands exactly at the ceiling."""
    ledger = near_its_ceiling()
    file = evidence(ledger, play(ledger, STRAIGHT_FLUSH))
    pinning(ceiling=ceiling)(file)
    file["events"][0]["data"]["jackpot"]["sha256"] = sha256(file["jackpot"])
    assert failed(file) == ([] if fits else [METER])


def test_a_meter_above_a_ceiling_that_nothing_overflowed_is_refuted() -> None:
    """A bet that went in whole left a meter that is at most at its ceiling."""
    ledger = ledger_with(ceiling=1_100)
    file = evidence(ledger, play(ledger, STRAIGHT_FLUSH))
    assert failed(file) == []
    setting("JackpotHit", meter_before="1100.0001", meter_after="990.0001")(file)
    assert failed(file) == [METER]


def test_a_gap_in_a_command_that_no_restart_explains_is_refuted() -> None:
    """Two events of others in the middle of a command are one too many, even behind a restart."""
    file = changed_between()
    behind = next(place for place, each in enumerate(file["events"]) if each["type"] == "JackpotHit") + 1
    for each in file["events"][behind:]:
        each["position"] += 1
    assert "order.places" in failed(file)
