"""What the page says where the ledger takes nothing."""

from __future__ import annotations

import pytest

from api import problems
from api.page.refusals import trouble


@pytest.mark.parametrize(
    ("problem", "title"),
    [
        (problems.overloaded("busy"), "The ledger is busy."),
        (problems.read_only(), "The ledger takes no bets for now."),
        (problems.Problem("internal_error", "failed"), "The service has failed."),
    ],
)
def test_a_player_is_told_that_nothing_was_taken(problem: problems.Problem, title: str) -> None:
    """In words for a player, not in those that tell an administrator what to do."""
    told = trouble(problem)
    assert (told.title, told.status) == (title, problem.status)
    assert "othing" in told.detail
    assert "/v1/" not in told.detail
