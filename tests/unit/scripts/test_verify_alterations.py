"""Whatever is altered in a good file is refuted, by the step that is about it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.scripts.alterations import ALTERATIONS, other_seed
from tests.unit.scripts.evidence_builder import Maker, house, sha256
from tests.unit.scripts.verified_rounds import evolution_live, us_casino
from tests.unit.scripts.verifier import event_of, examine, failed, verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.scripts.verifier import Evidence


@pytest.mark.parametrize(
    ("made", "alter", "step"), [entry[1:] for entry in ALTERATIONS], ids=[entry[0] for entry in ALTERATIONS]
)
def test_an_alteration_is_refuted_by_the_step_that_names_it(
    made: Callable[[], Maker], alter: Callable[[Evidence], Any], step: str
) -> None:
    """Whatever is altered in a good file, a step that is about it fails, with expected and found."""
    evidence = copy.deepcopy(made().evidence())
    alter(evidence)
    assert step in failed(evidence)


def test_a_client_seed_in_the_opening_command_is_refuted() -> None:
    """A seed that the house knew when it committed mixes nothing in."""
    maker = Maker(house("us-casino"))
    maker.ante(1, 500, client_seed="known too early")
    maker.deal()
    maker.begin("decide")
    maker.fold(1)
    maker.settle()
    assert failed(maker.evidence()) == ["cards.commitment"]


def test_a_refuted_file_proves_nothing() -> None:
    """After a failure no list claims anything about the file."""
    evidence = us_casino().evidence()
    other_seed(evidence)
    report = verify.report(examine(evidence))
    assert report["verdict"] == "refuted"
    assert list(report["proved"]) == []


def test_a_shared_hand_cannot_be_withheld() -> None:
    """It is nobody's alone: a player's file without it is refuted."""
    evidence = evolution_live().evidence("p-17")
    place = next(number for number, event in enumerate(evidence["events"]) if event.get("type") == "Dealt")
    event = evidence["events"][place]
    place_only = {name: event[name] for name in ("position", "stream", "version")}
    evidence["events"][place] = {**place_only, "withheld": True, "leaf_sha256": "0" * 64}
    assert failed(evidence) == ["order.seats"]


def test_a_rule_that_names_part_of_a_cent_is_unusable() -> None:
    """What the currency cannot pay is no amount."""
    evidence = us_casino().evidence()
    evidence["ruleset"]["max_ante"] = "10.005"
    event_of(evidence, "RoundOpened")["data"]["ruleset"]["sha256"] = sha256(evidence["ruleset"])
    case = examine(evidence)
    assert (case.verdict(), case.unusable) == ("unusable", "the currency has no amount of 10.005")
