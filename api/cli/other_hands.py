"""`scripts/odds RULESET --other-hands ROUNDS`: what exact odds leave out, estimated from random rounds."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final, NamedTuple

import orjson

from api.cli.odds_text import Money
from api.cli.progress import Progress
from domain.odds.document import other_hands
from domain.odds.house import HouseOdds
from domain.odds.other_hands import OtherHands
from domain.rulesets.schema import RuleSet
from infrastructure.odds.computing import SAMPLE_SEED, other_hands_samples

ROUNDS_MIN: Final = 2
"""One round says nothing of how far others are from it."""
ROUNDS_MAX: Final = 10**8
_LABEL: Final = 56


class Wanted(NamedTuple):
    """What is asked for: ``rounds`` from 2, ``seed`` from 0."""

    rounds: int
    seed: int
    as_json: bool = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what an estimate is asked for with; its seed is that of other simulations."""
    parser.add_argument(
        "--other-hands",
        type=int,
        metavar="ROUNDS",
        help="estimate from so many rounds what a player wins more who knows all hands that can be seen,"
        " and print that instead of the odds; --seed takes another course of the cards",
    )


def asked(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> Wanted | None:
    """Return what is asked for, None where nothing is; end with 2 where that makes no sense."""
    rounds, seed = chosen.other_hands, chosen.seed
    if rounds is None:
        return None
    if not ROUNDS_MIN <= rounds <= ROUNDS_MAX:
        parser.error(f"--other-hands plays {ROUNDS_MIN} to {ROUNDS_MAX} rounds")
    if seed is not None and seed < 0:
        parser.error("a seed is 0 or more")
    if chosen.monte_carlo is not None:
        parser.error("--other-hands and --monte-carlo are two simulations: one at a time")
    return Wanted(rounds, SAMPLE_SEED if seed is None else seed, chosen.json)


def run(ruleset: RuleSet, odds: HouseOdds, wanted: Wanted) -> None:
    """Simulate and print the estimate. Raises OddsError where players see no other hand."""
    tell = Progress("rounds")
    for found in other_hands_samples(odds.rules, odds.payoffs, wanted.rounds, wanted.seed):
        tell(found.rounds, wanted.rounds)
    if wanted.as_json:
        value = {
            "ruleset": {"id": odds.rules.ref.id, "sha256": odds.rules.ref.sha256},
            "currency": odds.rules.currency,
            "ante": odds.ante,
            "seed": wanted.seed,
            **other_hands(found),
        }
        print(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode(), flush=True)
    else:
        print("\n".join(lines(ruleset, odds, found, wanted.seed)), flush=True)


def lines(ruleset: RuleSet, odds: HouseOdds, found: OtherHands, seed: int) -> Iterator[str]:
    """Yield an estimate line by line, beside the exact return that it adds to."""
    alone = odds.figures.per_ante.returned
    ante = Money(odds.rules.currency, odds.rules.exponent).whole(odds.ante)
    yield f"{ruleset.title} ({ruleset.id}): {found.rounds:,} rounds of {found.hands} hands, seed {seed}"
    yield f"{ruleset.names['ante']} {ante}; each hand decided on its own, and with all {found.hands} known"
    yield _line("returned of the ante, each hand on its own (exactly)", float(alone))
    yield _line("more of the ante with all hands known (estimated)", found.per_ante)
    yield _line("standard error of that", found.standard_error)
    yield _line("hands that are decided otherwise", found.share_changed)


def _line(label: str, share: float) -> str:
    return f"  {label:<{_LABEL}}{100 * share:>12.4f} %"
