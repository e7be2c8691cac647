"""Who reads the simulated ledger: the real projections and the real checker, slow, killed and begun again."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import psycopg

from infrastructure.checking.fold import Fold
from infrastructure.projections.catalogue import PROJECTIONS
from infrastructure.projections.engine import Engine
from infrastructure.projections.memory import MemorySink
from infrastructure.projections.rebuilds import Rebuilds
from infrastructure.projections.round_facts import RoundFacts
from infrastructure.projections.sink import Move, Sink, Stale
from tests.property.deterministic.naive_showdown import EXACT
from tests.property.deterministic.simulated_oracle import require
from tests.property.deterministic.simulated_stores import Crash

if TYPE_CHECKING:
    from infrastructure.projections.source import Source
    from tests.property.deterministic.naive_model import Model

TURNS_MAX = 2_000
NAMES = [make().name for make in PROJECTIONS]


class FaultySink:
    """A `Sink` whose connection ends before or after it has written, where `fault` says so."""

    def __init__(self, inner: Sink, fault: Callable[[str], str]) -> None:
        self._inner = inner
        self._fault = fault

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def apply(self, moves: Sequence[Move]) -> None:
        """Write, perhaps."""
        fault = self._fault("project")
        if fault not in ("lost", "crash"):
            self._inner.apply(moves)
        if fault.startswith("crash"):
            raise Crash
        if fault:
            raise psycopg.OperationalError(fault)


class Projecting:
    """The real engine and rebuilds; what it had in memory goes where its process dies or loses its sink."""

    def __init__(
        self, source: Source, sink: Sink, fault: Callable[[str], str], chance: random.Random
    ) -> None:
        self.source, self.inner = source, sink
        self.sink: Any = FaultySink(sink, fault)
        self.chance = chance
        self.begin()

    def begin(self) -> None:
        """Start the process."""
        limit = self.chance.choice((1, 7, 40, 1_000))
        self.engine = Engine(self.source, self.sink, PROJECTIONS, RoundFacts, batch_events_max=limit)
        self.engine.load()
        self.rebuilds = Rebuilds(self.engine, self.sink, look_seconds=0)

    def step(self) -> None:
        """Go on a little; or have something rebuilt, or no longer; or die."""
        choice = self.chance.random()
        if choice < 0.05:
            self.inner.request(self.chance.choice(NAMES))
        elif choice < 0.06:
            self.inner.cancel(self.chance.choice(NAMES))
        elif choice < 0.1:
            self.begin()
        else:
            self.turn()

    def turn(self) -> None:
        """Take a turn; a lost sink or a crash is begun anew after."""
        try:
            self.engine.turn()
            self.rebuilds.turn()
        except (psycopg.OperationalError, Stale, Crash):
            self.begin()

    def end(self, position: int) -> None:
        """Come to the ledger's end, with every rebuild that was asked for."""
        for _ in range(TURNS_MAX):
            self.turn()
            checkpoints = self.inner.checkpoints()
            if all(each.live and each.position == position for each in checkpoints):
                return
        require(False, f"the projections do not come to {position}: {checkpoints}")  # noqa: FBT003


def rebuilt(source: Source) -> dict[str, list[Any]]:
    """Return all tables made anew in one go, in memory."""
    sink = MemorySink([make() for make in PROJECTIONS])
    engine = Engine(source, sink, PROJECTIONS, RoundFacts)
    engine.load()
    while engine.turn():
        pass
    return sink.tables


def named(table: str, rows: Sequence[Any]) -> list[SimpleNamespace]:
    """Return a table's rows with the names of its columns."""
    (columns,) = (t.columns for make in PROJECTIONS for t in make().tables if t.name == table)
    return [SimpleNamespace(**dict(zip((c.name for c in columns), row, strict=True))) for row in rows]


def check_tables(tables: dict[str, list[Any]], model: Model) -> None:
    """What the projections say is what the naive model knows."""
    trial: Counter[str] = Counter()
    for row in named("trial_balance_now", tables["trial_balance_now"]):
        kind = row.account.partition(":")[0]
        trial[{"jackpot": "meter:" + row.account.rpartition(":")[2]}.get(kind, kind)] += int(row.balance)
    players = model.players.values()
    expected = dict(model.exact)
    expected["wallet"] = sum(p["balance"] for p in players) * EXACT
    expected["on_game"] = sum(p["on_game"] for p in players) * EXACT
    require(
        {k: v for k, v in trial.items() if v} == {k: v for k, v in expected.items() if v},
        f"{trial}, {expected}",
    )
    last = {row.player: (row.balance, row.on_game_after) for row in named("postings", tables["postings"])}
    held = {p["player"]: (p["balance"], p["on_game"]) for p in players}
    require(
        last == {who: money for who, money in held.items() if who in last or any(money)}, f"{last}, {held}"
    )
    days = named("jackpot_days", tables["jackpot_days"])
    require(
        sum(int(d.meter_net) for d in days) == model.exact["meter:pot"], "the roll-forward is not the meter"
    )
    _check_rounds(tables, model)


def _check_rounds(tables: dict[str, list[Any]], model: Model) -> None:
    cells = named("performance", tables["performance"])
    phases = Counter(round_["phase"] for round_ in model.rounds.values())
    played = {(seat["player"], name) for name, r in model.rounds.items() for seat in r["seats"].values()}
    found = {
        "rounds_opened": len(model.rounds),
        "rounds_finished": phases["closed"],
        "unfinished": sum(p["on_game"] for p in model.players.values()),
    }
    for name, figure in found.items():
        said = sum(int(getattr(cell, name)) for cell in cells)
        require(said == figure, f"performance says {name} {said}, not {figure}")
    names = {p["player"]: who for who, p in model.players.items()}
    listed = {(names[row.player], row.round_id) for row in named("player_rounds", tables["player_rounds"])}
    require(listed == played, "a player's rounds are not those that were played")
    ended = Counter(row.round_id for row in named("round_records", tables["round_records"]))
    done = {name: r["done"] for name, r in model.rounds.items()}
    over = {
        n: len(model.rounds[n]["seats"])
        for n, count in done.items()
        if count and count == len(model.rounds[n]["seats"])
    }
    require(dict(ended) == over, f"the records of hands are {dict(ended)}, not {over}")


class Checking:
    """The checker's fold over the events, in pages of any size."""

    def __init__(self, events: Callable[[], Sequence[Any]], chance: random.Random) -> None:
        self.events, self.chance = events, chance
        self.fold = Fold()

    def step(self) -> None:
        """Fold a page, or begin again."""
        if self.chance.random() < 0.02:
            self.fold.books.close()
            self.fold = Fold()
        self.take(self.chance.choice((1, 5, 40)))

    def take(self, count: int) -> None:
        """Fold so many events; none of them must be wrong."""
        start = self.fold.position
        page = self.events()[start : start + count]
        self.fold.take((e.position, e.version, e.stream, e.data) for e in page)
        first = self.fold.books.findings.first
        require(first is None, f"the checker has found {first}")

    def end(self, position: int) -> None:
        """Fold the rest."""
        self.take(position)
        require(self.fold.position == position, "the checker did not come to the end")
        self.fold.books.close()
