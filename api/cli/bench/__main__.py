"""`scripts/bench`: each benchmark on a server of its own, which is removed afterwards."""

from __future__ import annotations

import argparse
import sys

from api.cli.bench.write import bench_write

ROUNDS_MIN = 100
ROUNDS_MAX = 2_000_000


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark that is named."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    write = kinds.add_parser("write", help="full rounds a second, in process and over HTTP, and the floor")
    write.add_argument(
        "--rounds", type=int, default=20_000, help="rounds of each run in process (%(default)s)"
    )
    write.add_argument(
        "--http-rounds", type=int, default=10_000, help="rounds of each run over HTTP, 0: none (%(default)s)"
    )
    write.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args(arguments)
    if not (ROUNDS_MIN <= chosen.rounds <= ROUNDS_MAX and 0 <= chosen.http_rounds <= ROUNDS_MAX):
        parser.error(f"rounds are {ROUNDS_MIN} to {ROUNDS_MAX}")
    return bench_write(chosen.rounds, chosen.http_rounds, as_json=chosen.json)


if __name__ == "__main__":
    sys.exit(main())
