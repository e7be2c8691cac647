"""Whatever is altered in a good file is refuted, by the step that is about it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.scripts.alterations import ALTERATIONS, other_seed
from tests.unit.scripts.evidence_builder import Maker, house
from tests.unit.scripts.verified_rounds import us_casino
from tests.unit.scripts.verifier import examine, failed, verify

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
