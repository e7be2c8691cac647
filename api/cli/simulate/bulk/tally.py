"""What was played in bulk, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime

from api.cli.simulate.summary import counts
from domain.round import Round


@dataclass(slots=True)
class Tally:
    """Counts; `wagered` and `returned` by currency in minor units, of the rounds that were not void."""

    rounds: int = 0
    events: int = 0
    data_bytes: int = 0
    awards: int = 0
    houses: Counter[str] = field(default_factory=Counter)
    results: Counter[str] = field(default_factory=Counter)
    cashier: Counter[str] = field(default_factory=Counter)
    wagered: Counter[str] = field(default_factory=Counter)
    returned: Counter[str] = field(default_factory=Counter)

    def finished(self, round_: Round) -> None:
        """Count a finished round."""
        self.rounds += 1
        opened = round_.opened
        self.houses[opened.ruleset.id] += 1
        wagered = returned = 0
        for seat in round_.seats.values():
            settled = seat.settled
            if settled is None:
                self.results["void"] += 1
                continue
            self.results[settled.result] += 1
            self.awards += seat.hit is not None
            for leg in settled.bets:
                wagered += leg.stake
                returned += leg.returned + leg.won
        self.wagered[opened.currency] += wagered
        self.returned[opened.currency] += returned

    def add(self, other: Tally) -> None:
        """Add what another one counted."""
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(other, each.name)
            setattr(self, each.name, mine + theirs)


def lines(tally: Tally, seconds: float, begin_us: int, end_us: int) -> Iterator[str]:
    """Tell it to a person. `begin_us` and `end_us`: the time the rounds were played in, as they have it."""
    days = [datetime.fromtimestamp(at_us / 1e6, UTC).date().isoformat() for at_us in (begin_us, end_us)]
    yield (
        f"rounds      {tally.rounds} in {seconds:.1f} s, {tally.rounds / seconds:.0f} a second,"
        f" from {days[0]} to {days[1]}"
    )
    a_round, size = tally.events / tally.rounds, tally.data_bytes / tally.events
    yield (
        f"events      {tally.events}, {tally.events / seconds:.0f} a second,"
        f" {a_round:.1f} a round, {size:.0f} bytes each"
    )
    yield f"houses      {counts(tally.houses)}"
    yield f"results     {counts(tally.results)}"
    yield f"awards      {tally.awards} of jackpots"
    for currency in sorted(tally.wagered):
        wagered, returned = tally.wagered[currency], tally.returned[currency]
        share = f"{returned / wagered:.1%}" if wagered else "-"
        yield f"{currency}         wagered {wagered}, returned {returned} ({share}), minor units"
