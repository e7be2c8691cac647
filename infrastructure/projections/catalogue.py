"""The projections of this software, in one place: the engine runs these, `bootstrap` makes their tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from infrastructure.projections.decisions import Decisions
from infrastructure.projections.jackpot_days import JackpotDays
from infrastructure.projections.judging import Games, Known, prepared
from infrastructure.projections.kinds import Projection
from infrastructure.projections.performance import Performance
from infrastructure.projections.player_rounds import PlayerRounds
from infrastructure.projections.postings import Postings
from infrastructure.projections.round_records import RoundRecords
from infrastructure.projections.sessions import Sessions
from infrastructure.projections.significant_events import SignificantEvents
from infrastructure.projections.trial_balance import TrialBalance

PROJECTIONS: Final[tuple[Callable[[], Projection], ...]] = (
    PlayerRounds,
    Postings,
    RoundRecords,
    Sessions,
    Performance,
    JackpotDays,
    TrialBalance,
    SignificantEvents,
    Decisions,
)
"""A class each; an instance is made for the live tables and one more while they are rebuilt."""


def with_known(known: Known) -> tuple[Callable[[], Projection], ...]:
    """The same projections with the same rows, which are there sooner for what is `known` of exchanges."""

    def decisions() -> Decisions:
        return Decisions(lambda: Games(known=known))

    return tuple(decisions if make is Decisions else make for make in PROJECTIONS)


PREPARED: Final[Mapping[str, Callable[[], bool]]] = MappingProxyType({Decisions.name: prepared})
"""What has to be in memory before a projection can go on, and whether it is; asking has it prepared."""
