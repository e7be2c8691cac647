"""The tables and jackpots of a simulation, one set for each house."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from api.cli.simulate.plan import BONUS_STAKE, MAX_ANTE, MIN_ANTE, RAISE_WIN_CAP, House
from domain import commands as c
from domain.rulesets.schema import RuleSet
from infrastructure import bootstrap

RESET: Final = 20_000
"""Low, in minor units: the house has to top up some awards."""
CONTRIBUTIONS: Final = ("0.70", "0.7075", "0.6667")
CALENDARS: Final = {
    "nordic": ("Europe/Oslo", 6),
    "czech": ("Europe/Prague", 5),
    "us-casino": ("America/Los_Angeles", 6),
    "uk-casino": ("Europe/London", 4),
    "macau": ("Asia/Macau", 0),
    "adelaide": ("Australia/Adelaide", 6),
    "casino-poker-1982": ("America/New_York", 3),
}
"""Where a house's table stands and at which hour its gaming day begins; elsewhere UTC and midnight."""


def furniture(
    run: str, rulesets: Sequence[str], *, decision_seconds: int
) -> Iterator[tuple[House, list[c.Command]]]:
    """Yield each house, and the commands that open its jackpot, where it has one, and its two tables.

    At the second table, of the guests in no hurry, the clock decides after `decision_seconds`.
    """
    for number, document in enumerate(bootstrap.shipped_documents()):
        ruleset = RuleSet.from_document(document)
        if ruleset.id not in rulesets:
            continue
        house = House(ruleset, f"{run}-{ruleset.id}", ruleset.currencies[0])
        commands: list[c.Command] = []
        own: dict[str, Any] = {}
        if ruleset.side_bet("jackpot") is not None:
            own["jackpot_id"] = house.table_id
            share = CONTRIBUTIONS[number % len(CONTRIBUTIONS)]
            commands.append(c.OpenJackpot(house.table_id, house.currency, RESET, share, "test"))
        if ruleset.side_bet("bonus") is not None:
            own["bonus_stake"] = BONUS_STAKE
        if ruleset.raise_cap is not None and ruleset.raise_cap.amount is None:
            own["raise_win_cap"] = RAISE_WIN_CAP
        if ruleset.id in CALENDARS:
            own["zone"], own["cutoff_hour"] = CALENDARS[ruleset.id]
        for table_id, seconds in ((house.table_id, None), (house.timed_table_id, decision_seconds)):
            table = c.OpenTable(
                table_id,
                ruleset.id,
                house.currency,
                MIN_ANTE,
                MAX_ANTE,
                "rng",
                parallel_rounds=True,
                account_class="test",
                decision_seconds=seconds,
                **own,
            )
            commands.append(table)
        yield house, commands
