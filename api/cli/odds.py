"""`scripts/odds RULESET`: what a house returns by the best decisions, exactly.

RULESET is the id of a house that comes with the project, or a file: TOML, or the JSON document of a rule set
(named *.json). Amounts are in minor units of the currency. Where no ante is named it is ten whole units, or
the house's limit if that is less; whether a cap cuts what a raise wins depends on it, and is said.

It needs no service. What takes long to count is kept, in `odds` in the service's data directory unless
--cache names another folder, and counted again where it is missing or damaged.

Exit status 0: the odds are printed. 1: they cannot be computed as asked, or a simulation does not agree with
them. 2: the arguments are not understood.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import Any

import orjson

from api.cli import data_directory, other_hands
from api.cli.monte_carlo import command as monte_carlo
from api.cli.odds_text import JackpotAsked, lines
from api.cli.serve import complain, stop_on_signals
from api.rulesets.chart import draw, heading
from api.rulesets.choosing import terms_words
from domain import rulesets
from domain.money import EXACT, parse_share
from domain.odds.document import document, jackpot_run
from domain.odds.house import HouseOdds, TableSettings, default_ante
from domain.odds.jackpot import JackpotOdds
from domain.odds.payoffs import OddsError
from domain.rules import RulesError
from domain.rulesets.schema import RuleSet, RulesetError, load
from infrastructure.audit.pool import WorkerDied, WorkFailed
from infrastructure.odds.charts import chart_for
from infrastructure.odds.computing import odds_of, with_other_hands
from infrastructure.odds.shelf import Shelf
from infrastructure.odds.store import Terms
from infrastructure.postgres import LauncherError, files
from infrastructure.postgres.account import server_account

FILE_BYTES_MAX = 1_000_000


class AskedError(ValueError):
    """Something asked for that the house does not have, or a file that cannot be read, in one sentence."""


def main(arguments: list[str] | None = None) -> int:
    """Print what was asked for; return 0 or 1."""
    stop_on_signals()
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.reset is not None and chosen.contribution is None:
        parser.error("--reset goes with --contribution")
    estimate = other_hands.asked(parser, chosen)
    simulation = monte_carlo.asked(parser, chosen)
    try:
        ruleset = read_ruleset(chosen.ruleset)
        asked = JackpotAsked(chosen.meter, chosen.contribution, chosen.reset or 0)
        kept = shelf(chosen.cache)
        odds = _odds(ruleset, chosen, kept)
        if chosen.chart is not None:
            _draw(ruleset, odds, chosen, kept)
        if simulation is not None:
            return monte_carlo.run(ruleset, odds, kept, simulation, complain)
        if estimate is not None:
            other_hands.run(ruleset, odds, estimate)
        else:
            _print(ruleset, with_other_hands(odds, kept, complain), asked, as_json=chosen.json)
    except (AskedError, OddsError, RulesError, RulesetError, WorkerDied, WorkFailed) as problem:
        complain(str(problem))
        return 1
    except KeyboardInterrupt:
        complain("stopped before the end")
        return 1
    except BrokenPipeError:  # whoever reads has seen enough, and what is left must not be written at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/odds", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "ruleset", metavar="RULESET", help=f"a file, or one of: {', '.join(rulesets.SHIPPED)}"
    )
    parser.add_argument("--ante", type=int, help="the ante (ten whole units)")
    parser.add_argument("--currency", metavar="CUR", help="the currency (the rule set's first)")
    parser.add_argument("--chart", type=Path, metavar="FILE", help="draw the best decisions, as an SVG")
    parser.add_argument("--json", action="store_true", help="print everything as JSON, for a program")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="where to keep what takes long to count")
    table = parser.add_argument_group("what some houses leave to their tables")
    table.add_argument("--raise-win-cap", type=int, metavar="N", help="the most that a raise wins")
    table.add_argument("--bonus-stake", type=int, metavar="N", help="what the bonus costs")
    jackpot = parser.add_argument_group("a jackpot, as it stands and as it is run")
    jackpot.add_argument("--meter", type=int, metavar="M", help="its return at this meter")
    jackpot.add_argument(
        "--contribution", type=_share, metavar="C", help="its long-run return with this share of each bet"
    )
    jackpot.add_argument("--reset", type=int, metavar="R", help="… and what its meter restarts at (0)")
    monte_carlo.add_arguments(parser)
    other_hands.add_arguments(parser)
    return parser


def _share(text: str) -> Fraction:
    try:
        return Fraction(parse_share(text), EXACT)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None


def read_ruleset(name: str) -> RuleSet:
    """Return a house that comes with the project, or the one in a file.

    Raises AskedError where there is neither, RulesetError where the file holds no valid rule set.
    """
    if name in rulesets.SHIPPED:
        return load((resources.files(rulesets) / f"{name}.toml").read_text(encoding="utf-8"))
    path = Path(name)
    try:
        with path.open("rb") as file:
            content = file.read(FILE_BYTES_MAX + 1)
        text = content.decode()
    except OSError as problem:
        houses = ", ".join(rulesets.SHIPPED)
        raise AskedError(
            f"no file {name} can be read ({problem.strerror}), and the houses are: {houses}"
        ) from None
    except UnicodeDecodeError:
        raise AskedError(f"{name} is not text in UTF-8") from None
    if len(content) > FILE_BYTES_MAX:
        raise AskedError(f"{name} is too large for a rule set: at most {FILE_BYTES_MAX} bytes")
    return _from_json(text, name) if path.suffix == ".json" else load(text)


def _from_json(text: str, name: str) -> RuleSet:
    try:
        content: Any = json.loads(text)
    except ValueError as problem:
        raise AskedError(f"{name} is not JSON: {problem}") from None
    if not isinstance(content, dict):
        raise AskedError(f"{name} holds no JSON object")
    return RuleSet.from_document(content)


def _odds(ruleset: RuleSet, chosen: argparse.Namespace, kept: Shelf | None) -> HouseOdds:
    """Compute what was asked for. Raises AskedError, OddsError, RulesError."""
    currency = chosen.currency or ruleset.currencies[0]
    if ruleset.side_bet("jackpot") is None and (chosen.meter, chosen.contribution) != (None, None):
        raise AskedError(f"{ruleset.id} has no jackpot")
    if chosen.meter is not None and chosen.meter < 0:
        raise AskedError("a meter is 0 minor units or more")
    if currency not in ruleset.currencies:
        raise AskedError(f"{ruleset.id} is played in {', '.join(ruleset.currencies)}, not in {currency}")
    ante = default_ante(ruleset, currency) if chosen.ante is None else chosen.ante
    settings = TableSettings(chosen.raise_win_cap, chosen.bonus_stake)
    return odds_of(ruleset, currency, ante, settings, kept, complain)


def shelf(cache: Path | None) -> Shelf | None:
    """Return where tables are kept; None, said on standard error, where there is no place for them."""
    try:
        if cache is None:
            directory = data_directory.choose().path
            files.make_directory(directory, server_account())
            cache = directory / "odds"
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (LauncherError, OSError) as problem:
        complain(f"nothing is kept for the next time: {problem}")
        return None
    if not os.access(cache, os.W_OK | os.X_OK):
        complain(f"nothing is kept for the next time: {cache} is not ours to write to")
        return None
    return Shelf(cache.absolute())


def _draw(ruleset: RuleSet, odds: HouseOdds, chosen: argparse.Namespace, kept: Shelf | None) -> None:
    """Write the chart to its file. Raises AskedError, OddsError."""
    own = (chosen.raise_win_cap or 0, chosen.bonus_stake or 0)
    terms = Terms(ruleset.id, odds.rules.ref.version, odds.rules.currency, odds.ante, *own)
    around = heading(ruleset, "", terms_words(terms), document(odds))
    drawn = draw(chart_for(odds.rules, odds.payoffs, kept), around)
    try:
        chosen.chart.write_bytes(drawn)
    except OSError as problem:
        raise AskedError(f"{chosen.chart} cannot be written: {problem.strerror}") from None


def _print(ruleset: RuleSet, odds: HouseOdds, asked: JackpotAsked, *, as_json: bool) -> None:
    if not as_json:
        print("\n".join(lines(ruleset, odds, asked)), flush=True)
        return
    value = document(odds)
    jackpot = odds.side_bets.get("jackpot")
    if isinstance(jackpot, JackpotOdds):
        value["jackpot"] = jackpot_run(
            jackpot, meter=asked.meter, contribution=asked.contribution, reset=asked.reset
        )
    print(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
