"""`scripts/odds RULESET --monte-carlo ROUNDS`: play a house at random and compare it with its exact odds."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final, NamedTuple

import orjson

from api.cli.monte_carlo.comparing import Comparison, Tolerance
from api.cli.monte_carlo.decisions import Decisions
from api.cli.monte_carlo.playing import MAIN, Game
from api.cli.monte_carlo.running import Family, check_meter, judged, played, stakes
from api.cli.odds_text import Money
from api.cli.progress import Progress
from domain.odds.house import HouseOdds
from domain.rulesets.schema import RuleSet
from infrastructure.audit.pool import usable_processors
from infrastructure.bootstrap import shipped_documents
from infrastructure.odds.computing import Tell, basis_of, exchange_values_of
from infrastructure.odds.shelf import Shelf

AGREE, DISAGREE = 0, 1
ROUNDS_MAX: Final = 10**10
SEED_DEFAULT: Final = 1
METER_UNITS_DEFAULT: Final = 100_000
"""The meter that jackpots are paid from where none is named, in whole units of the currency."""
FORMAT: Final = 1
_COLUMNS: Final = (34, 16, 16, 22)


class Wanted(NamedTuple):
    """What is asked for: ``rounds`` from 1, ``seed`` from 0; a meter in minor units, processes from 1."""

    rounds: int
    seed: int
    processes: int | None = None
    meter: int | None = None
    as_json: bool = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what a simulation is asked for with."""
    group = parser.add_argument_group("a simulation that has to agree with the odds")
    group.add_argument(
        "--monte-carlo",
        type=int,
        metavar="ROUNDS",
        help="play so many rounds with all side bets, settle them as real ones are, and print how that"
        " compares, instead of the odds; exit with 1 where something does not agree",
    )
    group.add_argument("--seed", type=int, metavar="S", help=f"another course of the cards ({SEED_DEFAULT})")
    group.add_argument("--processes", type=int, metavar="N", help="how many play (one for each processor)")


def asked(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> Wanted | None:
    """Return what is asked for, None where it is no simulation; end with 2 where that makes no sense."""
    rounds, seed, processes = chosen.monte_carlo, chosen.seed, chosen.processes
    if rounds is None:
        if processes is not None or (seed is not None and chosen.other_hands is None):
            parser.error("--seed and --processes go with --monte-carlo, --seed with --other-hands, too")
        return None
    if not 1 <= rounds <= ROUNDS_MAX:
        parser.error(f"--monte-carlo plays 1 to {ROUNDS_MAX} rounds")
    if processes is not None and processes < 1:
        parser.error("there is nothing to play with in less than one process")
    if seed is not None and seed < 0:
        parser.error("a seed is 0 or more")
    if chosen.contribution is not None:
        parser.error("--monte-carlo pays from a meter that stands still: --contribution does not go with it")
    return Wanted(rounds, SEED_DEFAULT if seed is None else seed, processes, chosen.meter, chosen.json)


def run(ruleset: RuleSet, odds: HouseOdds, shelf: Shelf | None, wanted: Wanted, tell: Tell) -> int:
    """Simulate, print the comparisons, and return 0 or 1.

    ``tell`` is given a sentence before the best decisions are counted, where they are not on the shelf.
    Raises OddsError, WorkerDied, WorkFailed.
    """
    meter = METER_UNITS_DEFAULT * 10**odds.rules.exponent if wanted.meter is None else wanted.meter
    check_meter(odds, meter)
    decisions = best_decisions(odds, shelf, tell)
    game = Game(odds.rules, odds.ante, stakes(odds), meter, decisions, wanted.seed)
    family = Family(tuple(map(RuleSet.from_document, shipped_documents())), ruleset)
    tally = played(game, wanted.rounds, wanted.processes or usable_processors(), Progress("rounds"))
    found = judged(odds, game, tally, wanted.rounds, family.tolerance)
    if wanted.as_json:
        value = document(game, wanted, family.tolerance, found)
        print(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())
    else:
        print("\n".join(lines(ruleset, game, wanted, family.tolerance, found)))
    return AGREE if all(comparison.agrees for comparison in found) else DISAGREE


def best_decisions(odds: HouseOdds, shelf: Shelf | None, tell: Tell) -> Decisions:
    """Return what is best in a house, from the shelf or counted now."""
    rules, payoffs = odds.rules, odds.payoffs
    if payoffs.fee is not None:
        values = exchange_values_of(rules.qualify, payoffs, shelf, tell)
        return Decisions.of_exchange(rules, payoffs, values)
    if odds.outcomes.up_cards > 1:
        tell("counting the best decisions in front of every two up-cards: some seconds")
        return Decisions.of_two(rules, payoffs)
    return Decisions.of_one(rules, payoffs, basis_of(rules.qualify, shelf, tell))


def document(game: Game, wanted: Wanted, tolerance: Tolerance, found: list[Comparison]) -> dict[str, Any]:
    """Return what was simulated and how it compares, as JSON values; amounts in minor units."""
    rules = game.rules
    return {
        "format": FORMAT,
        "ruleset": {"id": rules.ref.id, "sha256": rules.ref.sha256},
        "currency": rules.currency,
        "ante": game.ante,
        "side_bets": dict(game.side_bets),
        "meter": game.meter if "jackpot" in game.side_bets else None,
        "rounds": wanted.rounds,
        "seed": wanted.seed,
        "error_rate": tolerance.error_rate,
        "standard_errors": tolerance.standard_errors,
        "comparisons": [asdict(comparison) for comparison in found],
        "agrees": all(comparison.agrees for comparison in found),
    }


def lines(
    ruleset: RuleSet, game: Game, wanted: Wanted, tolerance: Tolerance, found: list[Comparison]
) -> Iterator[str]:
    """Yield the comparisons line by line."""
    money = Money(game.rules.currency, game.rules.exponent)
    yield f"{ruleset.title} ({ruleset.id}): {wanted.rounds:,} rounds of one hand, seed {wanted.seed}"
    meter = f", all jackpots paid from a meter of {money.whole(game.meter)}"
    yield f"{ruleset.names['ante']} {money.whole(game.ante)}{meter if 'jackpot' in game.side_bets else ''}"
    yield f"A comparison agrees within {tolerance.standard_errors:.2f} standard errors (SE), or within bounds"
    yield f"that chance exceeds as rarely, once in {1 / tolerance.error_rate:,.0f} times."
    bet = None
    for comparison in found:
        if comparison.bet != bet:
            bet = comparison.bet
            yield ""
            stake = "" if bet == MAIN else f", {money.whole(game.side_bets[bet])} each"
            name = "main bet" if bet == MAIN else f"{ruleset.names[game.rules.side_bets[bet].kind]}{stake}"
            yield _row(name, "expected", "seen", "difference", "")
        yield _compared(comparison)
    yield ""
    wrong = [comparison for comparison in found if not comparison.agrees]
    yield f"{len(found) - len(wrong)} of {len(found)} comparisons agree."


def _compared(comparison: Comparison) -> str:
    if comparison.method == "z":
        difference = f"{comparison.statistic:+.2f} SE"
    elif comparison.method == "poisson":
        difference = f"{comparison.least:.0f} to {comparison.most:.0f} agree"
    else:
        difference = "none may be"
    if comparison.of == "mean":
        figures = [f"{comparison.expected:.6f}", f"{comparison.seen:.6f}"]
    else:
        figures = [f"{comparison.expected:,.1f}", f"{comparison.seen:,.0f}"]
    verdict = "agrees" if comparison.agrees else "DISAGREES"
    if comparison.without:
        verdict += f" (compared without {len(comparison.without)} rare endings)"
    return _row(f"  {comparison.figure}", *figures, difference, verdict)


def _row(*cells: str) -> str:
    first, *others = _COLUMNS
    left, *right, verdict = cells
    row = left.ljust(first) + "".join(cell.rjust(width) for cell, width in zip(right, others, strict=True))
    return f"{row}  {verdict}".rstrip()
