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
from api.cli.bench.projecting import ProjectorProcess

TURNS: Final = 8
"""Runs with a jackpot, without one, and of the floor take turns.

A machine that changes its speed changes all three; what is told is the median over the turns.
"""
HTTP_RUNS: Final = 3


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
        report["bytes_a_round"] = _bytes_a_round(server)
        if http_rounds:
            _over_http(server, http_rounds, report, quiet=as_json)
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
        a_turn = max(rounds // TURNS, 64)
        turns = []
        for _ in range(TURNS):
            with_jackpot = run("in process, one jackpot", 64, a_turn, jackpot=True).rounds_per_second
            without = run("in process, no jackpot", 64, a_turn, jackpot=False).rounds_per_second
            bulk = floor(server.admin_dsn, a_turn)
            say(f"{'floor: the same rows in bulk':<34}             {bulk:>7.0f} rounds/s", quiet=quiet)
            turns.append((with_jackpot, without, bulk))
        single = run("in process, one client", 1, max(rounds // 10, 10), jackpot=True)
    report["rounds_per_second"] = median(turn[0] for turn in turns)
    report["floor_rounds_per_second"] = round(median(turn[2] for turn in turns), 0)
    report["jackpot_costs"] = round(1 - median(turn[0] / turn[1] for turn in turns), 3)
    report["share_of_floor"] = round(median(turn[0] / turn[2] for turn in turns), 3)
    report["one_client_ms"] = {"p50": single.command_ms.p50, "p99": single.command_ms.p99}


def _over_http(server: BenchServer, rounds: int, report: dict[str, Any], *, quiet: bool) -> None:
    service = over_http.Service(server, projects=False)
    projector = ProjectorProcess(server)  # as `scripts/serve` runs it
    try:
        over_http.play(service, 64, max(rounds // 10, 64))
        runs = []
        for _ in range(HTTP_RUNS):
            measured = over_http.play(service, 64, rounds)
            say(measured.line(), quiet=quiet)
            report["runs"].append(measured.as_json())
            runs.append(measured.rounds_per_second)
        report["http_rounds_per_second"] = median(runs)
        report["service_memory_mb"] = round(service.memory_mb(), 1)
        report["http_rounds_played"] = HTTP_RUNS * rounds + max(rounds // 10, 64)
    finally:
        projector.stop()
        service.stop()


def _bytes_a_round(server: BenchServer) -> dict[str, int]:
    """Heap and index bytes of events and command results, for each round on this ledger."""
    with psycopg.connect(server.admin_dsn) as connection:
        rounds = connection.execute("SELECT count(*) FROM ledger.commands").fetchone()
        sizes = connection.execute(
            # The partitions of the events together: events_1, events_10000001 and so on.
            "SELECT regexp_replace(relname, '^events_[0-9]+', 'events') AS name,"
            " sum(pg_relation_size(oid))::bigint FROM pg_class"
            " WHERE relnamespace = 'ledger'::regnamespace AND relkind IN ('r', 'i')"
            " AND (relname LIKE 'events%' OR relname LIKE 'commands%') GROUP BY name ORDER BY name"
        ).fetchall()
    count = (rounds[0] if rounds else 0) / 2
    taken = {str(name): round(size / count) for name, size in sizes}
    return {**taken, "total": sum(taken.values())}


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
