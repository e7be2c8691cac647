"""Rounds played in portions by one process or several, with one result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from api.cli.monte_carlo.comparing import Comparison, Tolerance, compared
from api.cli.monte_carlo.deals import portions
from api.cli.monte_carlo.playing import Game, Tally, added, play
from api.cli.monte_carlo.theory import bets, comparisons
from domain.odds.house import HouseOdds
from domain.odds.payoffs import OddsError
from domain.rulesets.schema import RuleSet
from infrastructure.audit.pool import Pool

Told = Callable[[int, int], None]


class Family(NamedTuple):
    """Whose comparisons are one family: the houses that come with the project, and the one played."""

    houses: tuple[RuleSet, ...]
    played: RuleSet

    @property
    def tolerance(self) -> Tolerance:
        """What each comparison may be off by."""
        others = [house for house in self.houses if house.id != self.played.id]
        return Tolerance.of_family(sum(map(comparisons, [*others, self.played])))


def stakes(odds: HouseOdds) -> dict[str, int]:
    """Return the stakes of a house's side bets, in minor units: as fixed, and otherwise the ante's."""
    return {kind: odds.rules.side_bets[kind].stake or odds.ante for kind in odds.rules.side_bet_order}


def check_meter(odds: HouseOdds, meter: int) -> None:
    """Raise ``OddsError`` where a percentage of a meter, in minor units, would have to be rounded."""
    jackpot = odds.rules.side_bets.get("jackpot")
    for award in jackpot.awards.values() if jackpot is not None else ():
        if award.percent is not None and meter * award.percent % 100:
            raise OddsError(f"{award.percent} % of a meter of {meter} minor units are no whole minor units")


def played(game: Game, rounds: int, processes: int, tell: Told) -> Tally:
    """Play rounds, at least one; ``tell`` is given how many are done and how many there are.

    The result is the same whatever the number of processes. Raises WorkerDied, WorkFailed.
    """
    parts = portions(rounds)
    work = partial(play, game)
    if processes == 1:
        return added(_told(map(work, parts), rounds, tell))
    with Pool(work, min(processes, len(parts)), niceness=0) as pool:
        return added(_told(pool.map(parts), rounds, tell))


def judged(odds: HouseOdds, game: Game, tally: Tally, rounds: int, tolerance: Tolerance) -> list[Comparison]:
    """Return all comparisons of what was played with a house's exact odds."""
    return list(compared(bets(odds, game.side_bets, game.meter), tally, rounds, tolerance))


def _told(tallies: Iterable[Tally], rounds: int, tell: Told) -> Iterator[Tally]:
    done = 0
    for tally in tallies:
        yield tally
        done += sum(sums.rounds for ending, sums in tally.items() if ending.bet == "main")
        tell(done, rounds)
