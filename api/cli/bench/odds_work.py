"""What the processes of `scripts/bench odds` do: one task each, so that each one's peak memory is its own.

`python -m api.cli.bench.odds_work TASK FOLDER` does a task with what is kept in a folder, and prints what it
measured as one JSON object.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module, resources
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

from api.cli.bench.figures import spread
from domain import rulesets
from domain.cards import DECK, require_cards
from domain.odds.basis import build_basis
from domain.odds.counts import PAIRS
from domain.odds.figures import figures_of
from domain.odds.hands_table import CLASSES
from domain.odds.house import HouseOdds, TableSettings, rules_for
from domain.odds.lookup import Lookup
from domain.odds.one_card import solve_one
from domain.odds.pair_counts import ROWS
from domain.odds.payoffs import Payoffs
from domain.odds.two_cards import solve_two
from domain.rules import Rules
from domain.rulesets.schema import RuleSet, load
from infrastructure.odds.computing import basis_of, exchange_values_of, keep_basis, odds_of
from infrastructure.odds.shelf import Shelf

MICROSECONDS: Final = 1e6
LOOKUPS: Final = 20_000
SEED: Final = 5
ANTE: Final = 1_000
ANTES: Final = (1_000, 2_501, 3_333, 5_000, 10_000, 25_000)
"""Above 2 500 minor units the cap of the house in the United States cuts what a royal flush wins."""


def compiler(_: Path) -> dict[str, Any]:
    """Load the compiler and compile a function that does nothing."""
    compiled = import_module("numba").njit(lambda: 0)
    return {"result": compiled()}


def base(folder: Path) -> dict[str, Any]:
    """Count everything of the game with one up-card, keep it, and solve the usual pay table."""
    basis = build_basis("ace_king")
    payoffs = Payoffs.from_rules(_rules("nordic"), ANTE)
    figures = figures_of(solve_one(basis, payoffs), payoffs)
    keep_basis(Shelf(folder), basis)
    return {"result": f"{figures.per_ante.expected}"}


def tables(folder: Path) -> dict[str, Any]:
    """Read what is kept, and solve a house whose cap makes another pay table of every ante."""
    rules = _rules("us-casino")
    basis, taken = _timed(lambda: basis_of("ace_king", Shelf(folder)))
    _, passing = _timed(lambda: [int(counts.sum()) for counts in (basis.not_qualified, basis.win, basis.tie)])
    solving = [_timed(partial(solve_one, basis, Payoffs.from_rules(rules, ante)))[1] for ante in ANTES]
    odds, whole = _timed(partial(_odds, "us-casino", ANTES[-1], folder))
    return {
        "result": f"{odds.figures.per_ante.expected}",
        "reading_ms": _ms(taken),
        "pass_ms": _ms(passing),
        "solving_ms": _ms(median(solving)),
        "whole_ms": _ms(taken + whole),
    }


def two_up(_: Path) -> dict[str, Any]:
    """Solve the house with two up-cards."""
    payoffs = Payoffs.from_rules(_rules("casino-poker-1982"), ANTE)
    return {"result": f"{figures_of(solve_two('ace_king', payoffs), payoffs).per_ante.expected}"}


def two_up_pass(_: Path) -> dict[str, Any]:
    """Read as many numbers as there are counts of two up-cards, and do nothing with them."""
    rows = np.ones((3, ROWS, PAIRS), np.int16)
    return {"result": sum(int(rows.max()) for _ in range(0, CLASSES, ROWS))}


def exchange(folder: Path) -> dict[str, Any]:
    """Solve the house where a card can be bought, and keep that, or read it where it is kept."""
    odds, taken = _timed(partial(_odds, "czech", ANTE, folder))
    return {"result": f"{odds.figures.per_ante.expected}", "working_ms": _ms(taken)}


def lookups(folder: Path) -> dict[str, Any]:
    """Judge decisions one by one: of hands without and with an exchange, and the asking alone."""
    lookup = Lookup()
    usual = Payoffs.from_rules(_rules("nordic"), ANTE)
    buying = Payoffs.from_rules(_rules("czech"), ANTE)
    known = exchange_values_of("ace_king", buying, Shelf(folder))
    draw = random.Random(SEED)  # noqa: S311 -- any hands will do, the same ones in every run
    states = [draw.sample(DECK, 6) for _ in range(LOOKUPS)]
    lookup.judge(usual, states[0][:5], states[0][5:])

    def each(judge: Callable[[list[str], str], object]) -> dict[str, float]:
        taken = spread(
            [_timed(partial(judge, hand, up), time.perf_counter)[1] for *hand, up in states],
            unit=MICROSECONDS,
        )
        return {"p50": taken.p50, "p95": taken.p95}

    return {
        "result": LOOKUPS,
        "floor_us": each(lambda hand, up: require_cards([*hand, up], 6)),
        "judged_us": each(lambda hand, up: lookup.judge(usual, hand, [up])),
        "judged_exchange_us": each(lambda hand, up: lookup.judge(buying, hand, [up], known=known)),
    }


def _ruleset(house: str) -> RuleSet:
    return load((resources.files(rulesets) / f"{house}.toml").read_text(encoding="utf-8"))


def _settings(house: str) -> TableSettings:
    return TableSettings(1_000_000, 5_000) if house == "czech" else TableSettings()


def _rules(house: str) -> Rules:
    ruleset = _ruleset(house)
    return rules_for(ruleset, ruleset.currencies[0], _settings(house))


def _odds(house: str, ante: int, folder: Path) -> HouseOdds:
    ruleset = _ruleset(house)
    return odds_of(ruleset, ruleset.currencies[0], ante, _settings(house), Shelf(folder))


def _timed(work: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> tuple[Any, float]:
    """Return what some work gives, and its seconds of the processor or by another clock."""
    began = clock()
    return work(), clock() - began


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)


def _most_memory() -> int:
    """Return the most memory that this process has held, in kilobytes.

    The kernel's other figure for it, ru_maxrss, has what the parent held when it began this process, too.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))


TASKS: Final[dict[str, Callable[[Path], dict[str, Any]]]] = {
    task.__name__: task for task in (compiler, base, tables, two_up, two_up_pass, exchange, lookups)
}


def main(task: str, folder: str) -> None:
    """Do a task and print what was measured, with what the whole process took."""
    measured = TASKS[task](Path(folder))
    used = resource.getrusage(resource.RUSAGE_SELF)
    whole = {
        "processor_seconds": round(used.ru_utime + used.ru_stime, 2),
        "memory_mb": _most_memory() // 1024,
    }
    print(json.dumps({**measured, **whole}))


if __name__ == "__main__":
    main(*sys.argv[1:])
