"""`scripts/bench write`: how many full rounds the ledger writes, and what limits it."""

from __future__ import annotations

import json
import platform
from statistics import median
from typing import Any, Final

import psycopg
import uvloop

from api.cli.bench import in_process, over_http
from api.cli.bench.figures import Run
from api.cli.bench.floor import floor
from api.cli.bench.ledger import BenchServer, bench_server, bench_writer

REPEATS: Final = 3
"""Runs with and without a jackpot take turns, so that a machine that changes its speed changes both."""


def say(line: str, *, quiet: bool) -> None:
    """Show progress to a person."""
    if not quiet:
        print(line, flush=True)


def bench_write(rounds: int, http_rounds: int, *, as_json: bool) -> int:
    """Measure and print; with `as_json` one JSON object."""
    report: dict[str, Any] = {
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "runs": [],
    }
    with bench_server() as server:
        _in_process(server, rounds, report, quiet=as_json)
        report["floor_rounds_per_second"] = round(floor(server.admin_dsn, min(rounds, 20_000)), 0)
        report["bytes_a_round"] = _bytes_a_round(server)
        if http_rounds:
            _over_http(server, http_rounds, report, quiet=as_json)
    _conclude(report)
    if as_json:
        print(json.dumps(report, indent=2))
    else:
        for line in _lines(report):
            print(line)
    return 0


def _in_process(server: BenchServer, rounds: int, report: dict[str, Any], *, quiet: bool) -> None:
    with bench_writer(server) as writer:

        def run(name: str, clients: int, count: int, *, jackpot: bool) -> Run:
            measured = uvloop.run(in_process.play(writer, name, clients, count, jackpot=jackpot))
            say(measured.line(), quiet=quiet)
            report["runs"].append(measured.as_json())
            return measured

        run("warming up", 64, max(rounds // 10, 64), jackpot=True)
        with_jackpot, without = [], []
        for _ in range(REPEATS):
            with_jackpot.append(run("in process, one jackpot", 64, rounds, jackpot=True).rounds_per_second)
            without.append(run("in process, no jackpot", 64, rounds, jackpot=False).rounds_per_second)
        single = run("in process, one client", 1, max(rounds // 10, 10), jackpot=True)
    report["rounds_per_second"] = median(with_jackpot)
    report["jackpot_costs"] = round(1 - median(a / b for a, b in zip(with_jackpot, without, strict=True)), 3)
    report["one_client_ms"] = {"p50": single.command_ms.p50, "p99": single.command_ms.p99}


def _over_http(server: BenchServer, rounds: int, report: dict[str, Any], *, quiet: bool) -> None:
    service = over_http.Service(server)
    try:
        over_http.play(service, 64, max(rounds // 10, 64))
        runs = []
        for _ in range(REPEATS):
            measured = over_http.play(service, 64, rounds)
            say(measured.line(), quiet=quiet)
            report["runs"].append(measured.as_json())
            runs.append(measured.rounds_per_second)
        report["http_rounds_per_second"] = median(runs)
        report["service_memory_mb"] = round(service.memory_mb(), 1)
        report["http_rounds_played"] = REPEATS * rounds + max(rounds // 10, 64)
    finally:
        service.stop()


def _bytes_a_round(server: BenchServer) -> dict[str, int]:
    """Heap and index bytes of events and command results, for each round on this ledger."""
    with psycopg.connect(server.admin_dsn) as connection:
        rounds = connection.execute("SELECT count(*) FROM ledger.commands").fetchone()
        sizes = connection.execute(
            "SELECT relname, pg_relation_size(oid) FROM pg_class WHERE relnamespace = 'ledger'::regnamespace"
            " AND (relname LIKE 'events%' OR relname LIKE 'commands%') AND relkind IN ('r', 'i')"
        ).fetchall()
    count = (rounds[0] if rounds else 0) / 2
    taken = {str(name): round(size / count) for name, size in sizes}
    return {**taken, "total": sum(taken.values())}


def _conclude(report: dict[str, Any]) -> None:
    report["share_of_floor"] = round(report["rounds_per_second"] / report["floor_rounds_per_second"], 3)


def _lines(report: dict[str, Any]) -> list[str]:
    sizes = report["bytes_a_round"]
    parts = ", ".join(f"{name} {size}" for name, size in sizes.items() if name != "total")
    rate, costs, share = report["rounds_per_second"], report["jackpot_costs"], report["share_of_floor"]
    bulk = report["floor_rounds_per_second"]
    lines = [
        f"in process, 64 clients   {rate:.0f} rounds/s (median), one jackpot costs {costs:.1%}",
        f"floor                    {bulk:.0f} rounds/s for the same rows in bulk: we reach {share:.2f}",
        f"disk                     {sizes['total']} bytes a round ({parts})",
    ]
    if "http_rounds_per_second" in report:
        memory, played = report["service_memory_mb"], report["http_rounds_played"]
        lines.append(f"over HTTP                {report['http_rounds_per_second']:.0f} rounds/s (median)")
        lines.append(f"service memory           {memory:.0f} MB (PSS) after {played} rounds")
    return lines
