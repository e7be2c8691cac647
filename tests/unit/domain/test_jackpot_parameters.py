"""New parameters of a jackpot wait until its meter is won; open rounds keep theirs (G7)."""

from __future__ import annotations

from typing import Any

import pytest

from domain import commands as c
from domain import events as ev
from domain.jackpot_parameters import PARAMETERS
from domain.jackpots import parameters_document, parameters_sha256
from tests.unit.domain.jackpot_house import (
    ACE_KING,
    HOUSE,
    NOTE,
    NOTHING,
    QUADS,
    ROYALS,
    STAKE,
    STRAIGHT_FLUSH,
    change,
    dealt,
    happened,
    ledger_with,
    placed,
    play,
    pools,
    proposals_refused,
    propose,
)

MOST = 9 * 10**15


# ── Parameters that wait ────────────────────────────────────────────────────────────────────────
NEW = {"contribution": "0.60", "reset": 3_000, "ceiling": 9_000, "diversion": "0.1"}


def test_new_parameters_wait_for_the_win() -> None:
    """They are recorded with who wanted and who allowed them; nothing else changes until the meter is won."""
    ledger = ledger_with()
    approval = change(ledger, PARAMETERS, **NEW)
    document = parameters_document("pot", "USD", "0.60", 3_000, 2, 9_000, "0.1")
    sha256 = parameters_sha256(document)
    assert document["ceiling"] == 9_000
    (scheduled,) = happened(ledger)
    assert scheduled == ev.JackpotParametersScheduled(
        "pot", 2, sha256, "0.60", 3_000, "anna", "ben", approval["approval_id"], 9_000, "0.1", NOTE
    )
    pot = ledger.work.jackpots["pot"]
    assert (pot.parameters_version, pot.contribution, pot.reset, pot.ceiling) == (1, "1", 1_000, None)
    assert approval["result"]["scheduled"] == {"version": 2, "sha256": sha256, **NEW}
    assert approval["result"]["in_force"] == {
        "version": 1,
        "sha256": parameters_sha256(parameters_document("pot", "USD", "1", 1_000, 1)),
        "contribution": "1",
        "reset": 1_000,
    }
    assert approval["result"]["jackpot_id"] == "pot"
    play(ledger, STRAIGHT_FLUSH)
    assert ledger.work.jackpots["pot"].parameters_version == 1


def test_they_are_in_force_right_after_the_win() -> None:
    """In the winning command, right behind the hit: the house puts in the difference to the higher reset."""
    ledger = ledger_with()
    change(ledger, PARAMETERS, **NEW)
    round_id = play(ledger, ROYALS[0])
    events = [emitted.event for emitted in ledger.events]
    (hit,) = ledger.of(round_id, ev.JackpotHit)
    activated = events[events.index(hit) + 1]
    pot = ledger.work.jackpots["pot"]
    assert activated == ev.JackpotParametersActivated("pot", 2, pot.sha256, "1000", "3000", "2000")
    assert (pot.meter, pot.scheduled, pot.parameters_version) == (3_000 * 10_000, None, 2)
    assert (pot.contribution, pot.share, pot.reset) == ("0.60", 6_000, 3_000)
    assert (pot.ceiling, pot.diversion) == (9_000, "0.1")
    assert placed(ledger, play(ledger, NOTHING)) == [("60", None, "10")]


def test_a_lower_reset_takes_nothing_out_of_the_meter() -> None:
    """The meter restarted at the old reset and stays there."""
    ledger = ledger_with()
    change(ledger, PARAMETERS, contribution="1", reset=400)
    play(ledger, ROYALS[0])
    activated = ledger.events[-3].event
    assert isinstance(activated, ev.JackpotParametersActivated)
    assert (activated.meter_before, activated.meter_after, activated.top_up) == ("1000", "1000", None)
    assert pools(ledger) == (1_000, 0, 0)


def test_the_later_proposal_replaces_what_waits() -> None:
    """Numbers count all there have been; only the last comes into force."""
    ledger = ledger_with()
    change(ledger, PARAMETERS, contribution="0.60", reset=3_000)
    approval = change(ledger, PARAMETERS, contribution="0.50", reset=2_000)
    assert approval["result"]["scheduled"]["version"] == 3
    play(ledger, ROYALS[0])
    pot = ledger.work.jackpots["pot"]
    assert (pot.parameters_version, pot.contribution, pot.meter) == (3, "0.50", 2_000 * 10_000)


def test_rounds_that_opened_before_keep_their_parameters() -> None:
    """Share, diversion, ceiling and reset of a round are those it opened with, whatever came between (G7)."""
    ledger = ledger_with(ceiling=1_250)
    ledger.table(HOUSE, "other")
    early = ledger.open(ledger.stake(1), table_id="other")
    change(ledger, PARAMETERS, contribution="0.60", reset=1_100, diversion="0.1")
    play(ledger, ROYALS[0])
    assert pools(ledger) == (1_100, 0, 0)
    stakes = (ledger.stake(2, jackpot=STAKE), ledger.stake(3, jackpot=STAKE))
    ledger.fund(stakes)
    ledger.ask(c.PlaceAntes(early, stakes))
    assert placed(ledger, early) == [("100", None, None), ("100", "50", None)]
    hands = dict(enumerate(dealt([NOTHING, ROYALS[0], STRAIGHT_FLUSH]), 1))
    ledger.deal(early, ACE_KING, hands)
    for seat in hands:
        ledger.decide(early, seat, "raise")
    ledger.reveal(early, ACE_KING)
    first, second = ledger.of(early, ev.JackpotHit)
    assert (first.award, first.restart, first.from_overflow, first.meter_after) == (
        1_250,
        "1000",
        "50",
        "1050",
    )
    assert second.award == 105
    document = parameters_document("pot", "USD", "1", 1_000, 1, 1_250)
    pinned = ev.JackpotRef("pot", 1, parameters_sha256(document), "1", 1_000, 1_250)
    assert ledger.work.rounds[early].opened.jackpot == pinned


def test_the_overflow_and_a_higher_reset_fit_under_the_new_ceiling_together() -> None:
    """Restart, what the house adds and what is released do not pass the ceiling that comes into force."""
    ledger = ledger_with(ceiling=1_500)
    play(ledger, *[NOTHING] * 7)
    play(ledger, *[NOTHING] * 7)
    assert pools(ledger) == (1_500, 900, 0)
    play(ledger, STRAIGHT_FLUSH)
    change(ledger, PARAMETERS, contribution="1", reset=1_300, ceiling=1_600)
    (hit,) = ledger.of(play(ledger, ROYALS[0]), ev.JackpotHit)
    assert (hit.restart, hit.from_overflow, hit.meter_after) == ("1000", "300", "1300")
    assert pools(ledger)[0] == 1_600


def test_without_a_ceiling_all_that_waited_comes() -> None:
    """Parameters that end the ceiling end the waiting; the winning round's own ceiling still holds for it."""
    ledger = ledger_with(ceiling=1_150)
    play(ledger, *[NOTHING] * 4)
    change(ledger, PARAMETERS, contribution="1", reset=1_000)
    play(ledger, ROYALS[0])
    assert pools(ledger) == (1_150, 200, 0)
    play(ledger, ROYALS[0])
    assert pools(ledger) == (1_200, 0, 0)


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ({"reset": -1}, "amount_out_of_range"),
        ({"reset": 10**12 + 1}, "amount_out_of_range"),
        ({"contribution": "0"}, "validation_failed"),
        ({"contribution": "1.1"}, "validation_failed"),
        ({"diversion": "x"}, "validation_failed"),
        ({"contribution": "0.96", "diversion": "0.0401"}, "validation_failed"),
        ({"ceiling": MOST + 1}, "amount_out_of_range"),
        ({"ceiling": 500}, "amount_out_of_range"),
        ({"ceiling": 1_000}, "amount_out_of_range"),
        ({"ceiling": 1_100}, "amount_out_of_range"),
    ],
)
def test_parameters_that_cannot_be(payload: dict[str, Any], code: str) -> None:
    """Shares above the whole bet, a reset or ceiling out of range, a ceiling that is not above the meter."""
    ledger = ledger_with()
    play(ledger, NOTHING)
    proposals_refused(ledger, PARAMETERS, code, **{"contribution": "0.5", "reset": 500, **payload})


def test_a_ceiling_is_above_the_reset_that_the_meter_restarts_at() -> None:
    """An almost empty meter restarts at its present reset before new parameters count."""
    ledger = ledger_with()
    play(ledger, QUADS)
    play(ledger, QUADS)
    assert pools(ledger)[0] == 200
    proposals_refused(ledger, PARAMETERS, "amount_out_of_range", contribution="1", reset=10, ceiling=1_000)
    propose(ledger, PARAMETERS, contribution="1", reset=10, ceiling=1_001)


def test_shares_may_be_the_whole_bet_and_a_diversion_of_nothing_is_none() -> None:
    """0.96 and 0.04 are fine; a diversion of 0.00 is in no document."""
    ledger = ledger_with()
    proposal = propose(ledger, PARAMETERS, contribution="0.96", reset=0, diversion="0.04")
    assert proposal["effect"]["scheduled"]["diversion"] == "0.04"
    proposal = propose(ledger, PARAMETERS, contribution="1", reset=0, diversion="0.00")
    assert "diversion" not in proposal["effect"]["scheduled"]


def test_what_has_become_impossible_is_refused_when_it_is_approved() -> None:
    """A ceiling that the meter has passed since the proposal is no ceiling any more."""
    ledger = ledger_with()
    proposal = propose(ledger, PARAMETERS, contribution="1", reset=500, ceiling=1_050)
    play(ledger, NOTHING)
    with ledger.acting("ben", "admin"):
        ledger.refused(c.Approve(proposal["approval_id"]), "amount_out_of_range")


def test_every_refusal_says_why() -> None:
    """In one sentence for people, with figures for programs."""
    ledger = ledger_with(ceiling=2_000)
    effect = propose(ledger, PARAMETERS, contribution="1", reset=5, ceiling=MOST)["effect"]
    assert effect["in_force"]["ceiling"] == 2_000
    assert effect["scheduled"]["ceiling"] == MOST

    def said(code: str, **payload: Any) -> tuple[str, dict[str, Any]]:
        new = {"contribution": "0.5", "reset": 5, **payload}
        return proposals_refused(ledger, PARAMETERS, code, **new)

    assert said("amount_out_of_range", reset=-1) == (f"A reset is 0 to {10**12} minor units.", {})
    assert said("amount_out_of_range", ceiling=5) == (
        f"A ceiling is above the reset and at most {MOST} minor units.",
        {},
    )
    assert said("amount_out_of_range", ceiling=1_000) == (
        "A ceiling is above what the meter holds, and above the reset that it restarts at.",
        {"meter_exact": "1000"},
    )
    detail, extra = said("validation_failed", contribution="2")
    assert detail.startswith("The contribution is refused: not a share: '2' (")
    assert extra == {}
    assert said("validation_failed", diversion="0.6") == (
        "Contribution and diversion are more than the whole side bet.",
        {},
    )


def test_a_diversion_in_force_is_told_beside_what_waits() -> None:
    """All of the parameters on both sides."""
    ledger = ledger_with(contribution="0.6", ceiling=2_000, diversion="0.1")
    effect = propose(ledger, PARAMETERS, contribution="1", reset=5)["effect"]
    document = parameters_document("pot", "USD", "0.6", 1_000, 1, 2_000, "0.1")
    assert effect["in_force"] == {
        "version": 1,
        "sha256": parameters_sha256(document),
        "contribution": "0.6",
        "reset": 1_000,
        "ceiling": 2_000,
        "diversion": "0.1",
    }
