"""`scripts/bench audit`: how fast a ledger is derived again, from files and PostgreSQL, and its proofs."""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Final

import psutil
import psycopg

from api.cli.bench import asking, audit_work, over_http
from api.cli.bench.figures import per_second, spread
from api.cli.bench.ledger import ROOT, BenchServer, bench_server
from api.cli.simulate.bulk.fill import fill
from api.cli.simulate.venue import Venue
from api.log import starting
from domain.rulesets import SHIPPED
from infrastructure import log_keys
from infrastructure.archive.due import LedgerDays, NotDueError
from infrastructure.archive.run import export
from infrastructure.archive.sealing import LogSeal
from infrastructure.audit.archived import Archived
from infrastructure.audit.database import Database
from infrastructure.audit.pool import usable_processors
from infrastructure.bootstrap import DEFAULT_SCHEMA
from infrastructure.clock import system_clock
from infrastructure.evidence.folder import LogFolder
from infrastructure.evidence.sealer import Sealer
from infrastructure.evidence.witnesses import Witnesses
from infrastructure.keys import Keys
from infrastructure.ledger.once import submit_once
from infrastructure.ledger.submission import own_submission

PLAYERS: Final = 4_000
SEED: Final = 7
HOUSES: Final = tuple(house for house in SHIPPED if house != "cyber")
"""Those at which one guest has one hand."""
WATCH_SECONDS: Final = 0.5
RUNS: Final[dict[str, list[str]]] = {
    "archive": ["--events-only"],
    "database": ["--events-only"],
    "archive_whole": [],
    "database_whole": [],
}
"""What is audited, and with which options: rounds, money and log alone, or all there is."""


@dataclass(frozen=True, slots=True)
class Work:
    """How much is measured: `rounds` in the ledger, `singles` read one by one, `requests` for evidence."""

    rounds: int
    singles: int
    requests: int


class _Bench:
    """The measurements on one server, each into the report."""

    def __init__(self, server: BenchServer, work: Work, say: Callable[[str], None]) -> None:
        self._server = server
        self._work = work
        self._say = say
        self._keys = server.home / "keys"
        self._log = server.home / "log"
        self._archive = server.home / "archive"
        self._processes = usable_processors()
        self._connection = psycopg.connect(server.dsn, autocommit=True)
        self.report: dict[str, Any] = {
            "machine": f"{platform.machine()}, Python {platform.python_version()}",
            "processors": self._processes,
            "work": asdict(work),
        }

    def run(self) -> None:
        """Measure everything."""
        Keys.load_or_create(self._keys, ledger_is_empty=True)
        self._fill()
        self._seal()
        self._export()
        self._floors()
        self._audits()
        self._one_by_one()
        self._evidence()

    def close(self) -> None:
        """End what was begun."""
        self._connection.close()

    def _fill(self) -> None:
        venue = Venue(self._server.dsn, self._keys)
        filled = fill(venue, HOUSES, self._work.rounds, seed=SEED, players=PLAYERS, alone=True)
        self.report["rounds"] = filled.tally.rounds
        self.report["events"] = filled.position
        self.report["events_a_round"] = round(filled.tally.events / filled.tally.rounds, 2)
        self._say(f"{'filled':<30} {filled.tally.rounds} one-seat rounds, {filled.position} events")

    def _seal(self) -> None:
        command = starting.first(self._keys, self._log)
        submit_once(self._server.dsn, DEFAULT_SCHEMA, self._keys, own_submission(command, "log:start"))
        began = time.perf_counter()
        with Sealer(self._server.dsn, DEFAULT_SCHEMA, self._log, self._keys, Witnesses([])) as sealer:
            sealer.try_to_act()
            while sealer.turn():
                pass
        newest = LogFolder(self._log).newest()
        size = 0 if newest is None else newest.size
        rate = per_second(size, time.perf_counter() - began)
        self.report["sealed_events"] = size
        self.report["sealing_events_per_second"] = rate
        self._say(f"{'sealed':<30} {size} events, {rate} events/s")

    def _export(self) -> None:
        state = LedgerDays(self._connection, DEFAULT_SCHEMA).log()
        seal = LogSeal(LogFolder(self._log), log_keys.load_for(self._keys, state.vkey))
        began, days = time.perf_counter(), 0
        # Not recorded: the ledger's last events would be of today, and wait for tomorrow.
        with suppress(NotDueError):
            for _ in export(
                self._connection, DEFAULT_SCHEMA, self._archive, seal, lambda _: None, system_clock()
            ):
                days += 1
        seconds = time.perf_counter() - began
        events = Archived(self._archive).last
        size = sum(file.stat().st_size for file in self._archive.rglob("*.parquet"))
        self.report["exported"] = {
            "days": days,
            "events": events,
            "bytes_an_event": round(size / events, 1),
            "export_events_per_second": per_second(events, seconds),
        }
        self._say(
            f"{'archived':<30} {days} days, {events} events, {per_second(events, seconds)} events/s,"
            f" {size / events:.0f} bytes an event"
        )

    def _floors(self) -> None:
        for name, source in (
            ("archive", Archived(self._archive)),
            ("database", Database(self._server.dsn, DEFAULT_SCHEMA)),
        ):
            floors = audit_work.floors(source, self._processes)
            self.report[f"floor_{name}_read_events_per_second"] = floors.read
            self.report[f"floor_{name}_parse_events_per_second"] = floors.parse
            self.report["log_leaves_per_second"] = floors.leaves
            self._say(
                f"{f'{name}, floors':<30} read {floors.read} events/s,"
                f" read and parsed {floors.parse} events/s"
            )
        self._say(f"{'log verification':<30} {floors.leaves} leaves/s")

    def _audits(self) -> None:
        places = {
            "archive": ["--archive", str(self._archive)],
            "database": ["--data-dir", str(self._server.home), "--no-record"],
        }
        for name, more in RUNS.items():
            kind = name.partition("_")[0]
            self.report[name] = found = self._audit([*places[kind], *more])
            floor = self.report[f"floor_{kind}_parse_events_per_second"]
            found["times_parsing"] = round(floor / max(found["events_per_second"], 1), 1)
            self._say(
                f"{f'audit, {name}':<30} {found['rounds_per_second']} rounds/s,"
                f" {found['events_per_second']} events/s ({found['times_parsing']} times as long as parsing),"
                f" {found['processor_us_a_round']} µs of a processor a round, {found['memory_mb']} MB"
            )

    def _audit(self, arguments: list[str]) -> dict[str, Any]:
        """Run the command to its end. Raises RuntimeError where it finds anything."""
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "api.cli.audit", *arguments, "--json"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "DATABASE_URL": self._server.dsn},
            stdout=subprocess.PIPE,
        )
        used = _processor_seconds()
        watch = _Watch(process.pid)
        printed, _ = process.communicate()
        memory_mb = watch.stop()
        used = _processor_seconds() - used
        if process.returncode:
            raise RuntimeError(f"the audit ended with {process.returncode}: {printed[:500]!r}")
        report = json.loads(printed)
        return {
            "rounds": report["rounds"],
            "events": report["events"],
            "seconds": report["seconds"],
            "rounds_per_second": per_second(report["rounds"], report["seconds"]),
            "events_per_second": per_second(report["events"], report["seconds"]),
            "processor_us_a_round": round(used * 1e6 / report["rounds"], 1),
            "memory_mb": round(memory_mb),
        }

    def _one_by_one(self) -> None:
        rounds = asking.Drawn(self._connection, self._work.singles).rounds
        rate = audit_work.one_by_one(self._server.dsn, rounds)
        self.report["one_by_one_rounds_per_second"] = rate
        audited = {name: self.report[name]["rounds_per_second"] for name in RUNS}
        ratios = {name: round(each / max(rate, 1), 1) for name, each in audited.items()}
        self.report["times_one_by_one"] = ratios
        told = ", ".join(f"{name} {ratio}" for name, ratio in ratios.items())
        self._say(f"{'read one by one':<30} {rate} rounds/s; the audits are so many times as fast: {told}")

    def _evidence(self) -> None:
        rounds = asking.Drawn(self._connection, self._work.requests).rounds
        service = over_http.Service(self._server, projects=False)
        try:
            client = asking.Client(service.port, service.token("audit"))
            client.get(f"/v1/rounds/{rounds[0]}/evidence")
            answers = [client.get(f"/v1/rounds/{round_id}/evidence") for round_id in rounds]
            client.close()
        finally:
            service.stop()
        file = self._server.home / "evidence.json"
        file.write_bytes(answers[0][1])
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-I", str(ROOT / "scripts" / "verify.py"), str(file), "--quiet"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        seconds = time.perf_counter() - began
        served = spread([took for took, _ in answers])
        size = sum(len(body) for _, body in answers) // len(answers)
        self.report["evidence"] = {
            **asdict(served),
            "bytes": size,
            "verified_seconds": round(seconds, 3),
        }
        self._say(
            f"{'evidence':<30} p50 {served.p50}  p95 {served.p95}  worst {served.worst} ms over HTTP,"
            f" {size} bytes, verified in {seconds:.2f} s"
        )


def _processor_seconds() -> float:
    """What all processes that were started from here and have ended took of the processors."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Watch:
    """The most memory a process and its children together were seen to have: proportional set sizes, MB."""

    def __init__(self, process_id: int) -> None:
        self._process = psutil.Process(process_id)
        self._most = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        """Look no longer; return it."""
        self._ended.set()
        self._thread.join()
        return self._most

    def _run(self) -> None:
        while not self._ended.wait(WATCH_SECONDS):
            total = 0.0
            with suppress(psutil.Error):
                for each in (self._process, *self._process.children(recursive=True)):
                    with suppress(psutil.Error):
                        total += float(each.memory_full_info().pss) / 1e6
            self._most = max(self._most, total)


def bench_audit(work: Work, *, as_json: bool) -> int:
    """Measure and print; with `as_json` one JSON object, and what is under way on standard error."""

    def say(line: str) -> None:
        print(line, file=sys.stderr if as_json else sys.stdout, flush=True)

    with bench_server() as server:
        bench = _Bench(server, work, say)
        try:
            bench.run()
        finally:
            bench.close()
    if as_json:
        print(json.dumps(bench.report, indent=2))
    return 0
