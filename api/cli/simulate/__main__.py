"""`scripts/simulate`: guests play rounds at every house, and the books are added up afterwards.

Without --data-dir all of it happens on a server of its own that is removed afterwards. With it the rounds
stay in the ledger of that directory, which no service may be using meanwhile; where DATABASE_URL is set too,
the ledger is that database and the directory holds its keys. Guests, tables and jackpots of a simulation
are new ones, of the account class «test»: they never mix with real accounts.

--bulk fills a ledger fast, with rounds of the last thirty days where it is empty: the same code decides, on
books in memory, and writes tens of thousands of events in a transaction. One that is interrupted leaves a
shorter ledger, as valid as any. Only the answers to its commands are not kept: nobody can send them again.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg
import uvloop

from api.cli.progress import Progress
from api.cli.serve import complain, stop_on_signals
from api.cli.simulate import venue as venues
from api.cli.simulate.bulk.fill import fill
from api.cli.simulate.bulk.tally import lines
from api.cli.simulate.channel import RefusedError
from api.cli.simulate.play import UnexpectedError, furnish, play
from api.cli.simulate.summary import Summary, trial_balance
from api.cli.supervisor import ServiceError
from domain.rulesets import SHIPPED
from infrastructure.bootstrap import DEFAULT_SCHEMA, NotReadyError
from infrastructure.keys import KeysError
from infrastructure.ledger.bulk import BulkRefusedError
from infrastructure.ledger.submission import CommandFailed, Overloaded, ReadOnly
from infrastructure.postgres import LauncherError

ROUNDS_MAX: Final = 100_000_000
PLAYERS_MAX: Final = 7_000
PLAYERS: Final = 112
BULK_PLAYERS: Final = 4_000
BULK_PLAYERS_MAX: Final = 50_000
SEED_BITS: Final = 32


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for on the command line."""

    rounds: int
    rulesets: tuple[str, ...]
    seed: int
    players: int
    over_http: bool
    bulk: bool
    data_dir: Path | None


def main(arguments: list[str] | None = None) -> int:
    """Simulate; return 0, or 1 where the books do not balance or the ledger did not answer as it should."""
    stop_on_signals()
    options = parse(arguments)
    database_url = os.environ.get("DATABASE_URL") or None
    try:
        kept = options.data_dir
        place = venues.throwaway() if kept is None else venues.kept(kept, database_url)
        with place as venue:
            if options.bulk:
                return fill_in_bulk(venue, options)
            began = time.monotonic()
            summary = uvloop.run(simulate(venue, options))
            return conclude(venue, summary.lines(time.monotonic() - began))
    except KeyboardInterrupt:
        return complain("stopped before the end")
    except (LauncherError, ServiceError, NotReadyError, KeysError, OSError, psycopg.Error) as problem:
        return complain(str(problem).strip().partition("\n")[0])
    except BulkRefusedError as problem:
        return complain(f"{problem}; what is there is valid")
    except (RefusedError, UnexpectedError, Overloaded, CommandFailed, ReadOnly) as problem:
        return complain(f"seed {options.seed}: the ledger does not answer as it should: {problem!r}")


def parse(arguments: list[str] | None) -> Options:
    """Return the options, or print what is wrong with them and exit with 2."""
    parser = argparse.ArgumentParser(
        prog="scripts/simulate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=1_000, help="how many (%(default)s)")
    parser.add_argument(
        "--ruleset", action="append", choices=SHIPPED, metavar="R", help="a house; repeat it for more (all)"
    )
    parser.add_argument(
        "--seed", type=int, help="plays the same stakes and plans again; the cards are new each time (random)"
    )
    parser.add_argument("--players", type=int, help=f"how many guests ({PLAYERS}; --bulk: {BULK_PLAYERS})")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--over-http", action="store_true", help="play over HTTP, on a service of its own")
    ways.add_argument(
        "--bulk", action="store_true", help="fill the ledger fast: no command can be sent again afterwards"
    )
    parser.add_argument("--data-dir", type=Path, help="the ledger to play on (none: one that is removed)")
    chosen = parser.parse_args(arguments)
    if not 1 <= chosen.rounds <= ROUNDS_MAX:
        parser.error(f"--rounds must be between 1 and {ROUNDS_MAX}")
    most = BULK_PLAYERS_MAX if chosen.bulk else PLAYERS_MAX
    players = chosen.players if chosen.players is not None else BULK_PLAYERS if chosen.bulk else PLAYERS
    if not 1 <= players <= most:
        parser.error(f"--players must be between 1 and {most}")
    return Options(
        chosen.rounds,
        tuple(chosen.ruleset or SHIPPED),
        secrets.randbits(SEED_BITS) if chosen.seed is None else chosen.seed,
        players,
        chosen.over_http,
        chosen.bulk,
        chosen.data_dir,
    )


async def simulate(venue: venues.Venue, options: Options) -> Summary:
    """Play the rounds; progress goes to standard error."""
    run = f"sim-{secrets.token_hex(4)}"
    print(f"simulation {run}, seed {options.seed}", file=sys.stderr, flush=True)
    ways = venues.over_http if options.over_http else venues.in_process
    async with ways(venue, run) as channel:
        houses = await furnish(channel, run, options.rulesets)
        return await play(
            channel,
            run,
            houses,
            options.seed,
            options.rounds,
            options.players,
            progress=progress_of(options.rounds),
        )


def fill_in_bulk(venue: venues.Venue, options: Options) -> int:
    """Fill the ledger, tell what with, and return 1 where its books do not balance."""
    print(f"simulation in bulk, seed {options.seed}", file=sys.stderr, flush=True)
    filled = fill(
        venue,
        options.rulesets,
        options.rounds,
        seed=options.seed,
        players=options.players,
        progress=progress_of(options.rounds),
    )
    return conclude(venue, lines(filled.tally, filled.seconds, filled.begin_us, filled.end_us))


def progress_of(rounds: int) -> Callable[[int], None]:
    """Return what tells how many of the rounds are played."""
    progress = Progress("rounds")
    return lambda done: progress(done, rounds)


def conclude(venue: venues.Venue, summary: Iterable[str]) -> int:
    """Print the summary and the trial balance; return 1 where that is not zero."""
    for line in summary:
        print(line)
    trials = trial_balance(venue.dsn, DEFAULT_SCHEMA)
    for trial in trials:
        print(trial.line())
    off = any(trial.off for trial in trials)
    print("CONSERVATION FAILS" if off else "conservation holds: every trial balance is zero")
    return int(off)


if __name__ == "__main__":
    sys.exit(main())
