"""`scripts/bench`: each benchmark on a server of its own, which is removed afterwards."""

from __future__ import annotations

import argparse
import sys

from api.cli.bench import audit
from api.cli.bench.audit import bench_audit
from api.cli.bench.odds import bench_odds
from api.cli.bench.read import Work, bench_read
from api.cli.bench.write import bench_write

ROUNDS_MIN = 100
ROUNDS_MAX = 2_000_000
FILLED_MAX = 20_000_000


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark that is named."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    _write(kinds.add_parser("write", help="full rounds a second, in process and over HTTP, and the floor"))
    _read(kinds.add_parser("read", help="projections, statements, records, balances as they were, lag, disk"))
    _audit(kinds.add_parser("audit", help="a ledger derived again, from files and PostgreSQL; its evidence"))
    odds = kinds.add_parser("odds", help="exact odds of a game: from nothing, and from what is kept")
    odds.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args(arguments)
    if chosen.kind == "odds":
        return bench_odds(as_json=chosen.json)
    if chosen.kind == "audit":
        if not ROUNDS_MIN <= chosen.rounds <= FILLED_MAX or min(chosen.singles, chosen.requests) < 1:
            parser.error(f"rounds are {ROUNDS_MIN} to {FILLED_MAX}, and of the others there is at least one")
        return bench_audit(audit.Work(chosen.rounds, chosen.singles, chosen.requests), as_json=chosen.json)
    if chosen.kind == "read":
        if not ROUNDS_MIN <= chosen.rounds <= FILLED_MAX or chosen.compare_rounds > FILLED_MAX:
            parser.error(f"rounds are {ROUNDS_MIN} to {FILLED_MAX}")
        if min(chosen.turns, chosen.turn_rounds, chosen.requests, chosen.rate, chosen.seconds) < 1:
            parser.error("there is nothing to measure in less than one")
        work = Work(
            chosen.rounds,
            chosen.compare_rounds,
            chosen.turns,
            chosen.turn_rounds,
            chosen.requests,
            chosen.rate,
            chosen.seconds,
        )
        return bench_read(work, as_json=chosen.json)
    if not (ROUNDS_MIN <= chosen.rounds <= ROUNDS_MAX and 0 <= chosen.http_rounds <= ROUNDS_MAX):
        parser.error(f"rounds are {ROUNDS_MIN} to {ROUNDS_MAX}")
    return bench_write(chosen.rounds, chosen.http_rounds, as_json=chosen.json)


def _write(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rounds", type=int, default=20_000, help="rounds of each run in process (%(default)s)"
    )
    parser.add_argument(
        "--http-rounds", type=int, default=10_000, help="rounds of each run over HTTP, 0: none (%(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _read(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=100_000, help="rounds in the ledger (%(default)s)")
    parser.add_argument(
        "--compare-rounds", type=int, default=0, help="then as many in all, and what that does to the figures"
    )
    parser.add_argument("--turns", type=int, default=6, help="with and without projections (%(default)s)")
    parser.add_argument("--turn-rounds", type=int, default=4_000, help="rounds of a turn (%(default)s)")
    parser.add_argument("--requests", type=int, default=500, help="of each kind of read (%(default)s)")
    parser.add_argument("--rate", type=int, default=1_000, help="rounds a second over HTTP (%(default)s)")
    parser.add_argument("--seconds", type=int, default=20, help="at that rate (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _audit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=100_000, help="one-seat rounds (%(default)s)")
    parser.add_argument("--singles", type=int, default=2_000, help="rounds read one by one (%(default)s)")
    parser.add_argument("--requests", type=int, default=300, help="evidence files asked for (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


if __name__ == "__main__":
    sys.exit(main())
