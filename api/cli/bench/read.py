"""`scripts/bench read`: what the read side costs and what it gives, on a ledger that is filled for it."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Final

import psycopg
import uvloop

from api.cli.bench import asking, in_process, over_http, reading_floor, sizes
from api.cli.bench.figures import spread
from api.cli.bench.lag import LagWatch
from api.cli.bench.ledger import BenchServer, bench_server, bench_writer
from api.cli.bench.projecting import ProjectorProcess
from api.cli.simulate.bulk.fill import fill
from api.cli.simulate.venue import Venue
from domain.rulesets import SHIPPED
from infrastructure.keys import Keys

CLIENTS: Final = 64
PLAYERS: Final = 4_000
SEED: Final = 7
SCOPES: Final = "play cashier reports audit disputes"
COMPARED: Final = ("write_rounds_per_second", "statement", "record", "rounds_page", "balance_then")


@dataclass(frozen=True, slots=True)
class Work:
    """How much is measured.

    `rounds` fill the ledger, and `compare_rounds` (0: no) once more after that. `turns` of `turn_rounds` with
    and without projections; `requests` of each kind; `rate` rounds a second over HTTP, for `seconds`.
    """

    rounds: int
    compare_rounds: int
    turns: int
    turn_rounds: int
    requests: int
    rate: int
    seconds: int


class _Bench:
    """The measurements on one server, each into the report."""

    def __init__(self, server: BenchServer, work: Work, say: Callable[[str], None]) -> None:
        self.report: dict[str, Any] = {
            "machine": f"{platform.machine()}, Python {platform.python_version()}",
            "work": asdict(work),
        }
        self._server = server
        self._work = work
        self._say = say
        self._rounds = 0
        self._projector: ProjectorProcess | None = None
        self._connection = psycopg.connect(server.admin_dsn, autocommit=True)

    def run(self) -> None:
        """Measure everything."""
        Keys.load_or_create(self._server.home / "keys", ledger_is_empty=True)
        small = self._at(self._work.rounds)
        self.report |= small
        self._alongside()
        self._steady()
        self._disk()
        if self._work.compare_rounds > self._work.rounds:
            large = self._at(self._work.compare_rounds - self._rounds)
            self.report["larger"] = large
            self.report["ratios"] = ratios(small, large)
            self._say(f"{'larger : smaller':<26} {_told(self.report['ratios'])}")

    def close(self) -> None:
        """End what was started."""
        self._connection.close()
        if self._projector is not None:
            self._projector.stop()

    # ── The same at each size of the ledger ─────────────────────────────────────────────────────────────────
    def _at(self, rounds: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._fill(rounds, found)
        self._catch_up(found)
        self._write(found)
        self._ask(found)
        return found

    def _fill(self, rounds: int, found: dict[str, Any]) -> None:
        if self._projector is not None:
            self._projector.stop()
            self._projector = None
        venue = Venue(self._server.dsn, self._server.home / "keys")
        filled = fill(venue, SHIPPED, rounds, seed=SEED, players=PLAYERS)
        self._rounds += rounds
        found["rounds"] = self._rounds
        found["events"] = filled.position
        found["events_a_round"] = round(filled.tally.events / filled.tally.rounds, 2)
        found["fill_events_per_second"] = round(filled.tally.events / filled.seconds)
        found["floor_copy_events_per_second"] = reading_floor.copying(self._server.admin_dsn)
        self._say(
            f"{'filled':<26} {filled.position} events in all, {found['fill_events_per_second']} events/s"
            f" (floor: bare COPY {found['floor_copy_events_per_second']})"
        )

    def _catch_up(self, found: dict[str, Any]) -> None:
        read, parsed = reading_floor.reading(self._server.dsn)
        self._projector = ProjectorProcess(self._server)
        rate, seconds = self._projector.catch_up(self._connection)
        found["catch_up_events_per_second"] = rate
        found["catch_up_seconds"] = round(seconds, 1)
        found["floor_read_events_per_second"] = read
        found["floor_parse_events_per_second"] = parsed
        found["projector_memory_mb"] = round(self._projector.memory_mb, 1)
        self._say(
            f"{'projections caught up':<26} {rate} events/s in {seconds:.0f} s"
            f" (floors: read by position {read}, read and parsed {parsed}); {_mb(self._projector)}"
        )

    def _write(self, found: dict[str, Any]) -> None:
        """The writer in this process, with the projections alongside."""
        with bench_writer(self._server) as writer:
            count = self._work.turn_rounds
            uvloop.run(in_process.play(writer, "", CLIENTS, count // 2, jackpot=True))  # warming up
            runs = [
                uvloop.run(in_process.play(writer, "", CLIENTS, count, jackpot=True)).rounds_per_second
                for _ in range(max(self._work.turns // 2, 1))
            ]
        found["write_rounds_per_second"] = median(runs)
        self._say(f"{'writer, in process':<26} {median(runs):.0f} rounds/s with projections alongside")

    def _ask(self, found: dict[str, Any]) -> None:
        service = over_http.Service(self._server, projects=False)
        try:
            self._caught_up()
            drawn = asking.Drawn(self._connection, self._work.requests)
            client = asking.Client(service.port, service.token(SCOPES))
            for name, measured in asking.measure(client, drawn, self._work.requests).items():
                found[name] = asdict(measured)
                self._say(
                    f"{name.replace('_', ' '):<26} p50 {measured.p50:>7.2f}  p95 {measured.p95:>7.2f}"
                    f"  worst {measured.worst:>7.2f} ms over HTTP"
                )
            client.close()
        finally:
            service.stop()

    # ── Once ────────────────────────────────────────────────────────────────────────────────────────────────
    def _alongside(self) -> None:
        """The writer turn by turn, with the projections at work and with them standing still."""
        assert self._projector is not None  # noqa: S101 - it has just caught up
        with bench_writer(self._server) as writer:

            def play() -> float:
                count = self._work.turn_rounds
                run = in_process.play(writer, "", CLIENTS, count, jackpot=True)
                return uvloop.run(run).rounds_per_second

            play()
            pairs = []
            for _ in range(self._work.turns):
                self._caught_up()
                with_them = play()
                self._caught_up()
                with self._projector.paused():
                    pairs.append((with_them, play()))
        costs = 1 - median(with_them / without for with_them, without in pairs)
        self.report["projections_cost_the_writer"] = round(costs, 3)
        self._say(
            f"{'projections alongside':<26} {median(p[0] for p in pairs):.0f} rounds/s, without"
            f" {median(p[1] for p in pairs):.0f}: they cost the writer {costs:.1%}"
        )

    def _steady(self) -> None:
        """The lag while rounds are played over HTTP at a bounded rate."""
        service = over_http.Service(self._server, projects=False)
        try:
            self._caught_up()
            over_http.play(service, CLIENTS, max(self._work.rate // 4, CLIENTS))
            self._caught_up()
            watch = LagWatch(self._connection)
            rounds = self._work.rate * self._work.seconds
            run = over_http.play(service, CLIENTS, rounds, rate=self._work.rate, watch=watch.look)
        finally:
            service.stop()
        lag = watch.spread()
        positions = spread([float(count) for count in watch.positions], unit=1)
        self.report["steady"] = {
            "asked_rounds_per_second": self._work.rate,
            "rounds_per_second": run.rounds_per_second,
            "lag_ms": asdict(lag),
            "lag_positions": asdict(positions),
        }
        self._say(
            f"{'steady lag':<26} p50 {lag.p50:.0f}  p95 {lag.p95:.0f}  worst {lag.worst:.0f} ms"
            f" ({positions.worst:.0f} events) at {run.rounds_per_second:.0f} rounds/s over HTTP"
        )

    def _disk(self) -> None:
        """Bytes a round, of the rounds the ledger was filled with; answers by the rounds that were played."""
        assert self._projector is not None  # noqa: S101 - it is there
        self._caught_up()
        self._projector.look()
        self.report["projector_memory_mb"] = round(self._projector.memory_mb, 1)
        taken = sizes.taken(self._connection)
        (answered,) = self._connection.execute("SELECT count(*) / 2 FROM ledger.commands").fetchone() or (1,)
        answers = {name: taken.pop(name) for name in list(taken) if name.startswith(sizes.ANSWERS)}
        shares = sizes.a_round(taken, self._rounds + answered)
        shares |= {name: round(size / max(answered, 1)) for name, size in answers.items()}
        total = sum(shares.values())
        self.report["bytes_a_round"] = {**shares, "total": total}
        largest = sorted(shares.items(), key=lambda share: -share[1])
        parts = ", ".join(f"{name} {size}" for name, size in largest)
        self._say(f"{'disk':<26} {total} bytes a round all in: {parts}")
        self._say(f"{'projector':<26} {_mb(self._projector)}")

    def _caught_up(self) -> None:
        assert self._projector is not None  # noqa: S101 - nobody waits for what was not started
        self._projector.catch_up(self._connection)


def bench_read(work: Work, *, as_json: bool) -> int:
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


def ratios(small: dict[str, Any], large: dict[str, Any]) -> dict[str, float]:
    """How many times slower the larger ledger is: above 1 is worse, for rates as for times (their p95)."""
    found = {}
    for name in COMPARED:
        before, after = small[name], large[name]
        if isinstance(before, dict):
            found[name] = round(after["p95"] / before["p95"], 2)
        else:
            found[name] = round(before / after, 2)
    return found


def _told(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {value}" for name, value in figures.items())


def _mb(projector: ProjectorProcess) -> str:
    return f"{projector.memory_mb:.0f} MB (PSS) at most"
