"""The two ledgers that the simulation runs over: in memory, and in PostgreSQL. And how both are furnished."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from domain import commands as c
from infrastructure.ledger.batch import Batch
from infrastructure.ledger.books import Books
from infrastructure.ledger.memory import MemoryLedger, MemoryStore
from infrastructure.ledger.submission import ACCEPTED, Result, Submission, command_id
from infrastructure.projections.catalogue import PROJECTIONS
from infrastructure.projections.memory import MemorySink
from infrastructure.projections.source import MemorySource
from tests.property.deterministic.naive_model import Model
from tests.property.deterministic.naive_showdown import ANTE_MAX, ANTE_MIN, EXACT
from tests.property.deterministic.simulated_oracle import require
from tests.property.deterministic.simulated_play import PLAYERS
from tests.property.deterministic.simulated_readers import Checking, Projecting, check_tables, rebuilt
from tests.unit.domain.playing import jackpot_bet, plain_house

if TYPE_CHECKING:
    from infrastructure.ledger.store import Store, StoredEventRow

Cut = Callable[[int], int | None]
"""Asked with the number of a trip's statements: after how many of them it ends, None: it holds."""

START_US = 1_790_942_400_000_000
FUNDS = 3_000
AWARDS = {
    "royal_flush": {"percent": 100},
    "straight_flush": {"percent": 10},
    "four_of_a_kind": {"fixed": "500"},
    "full_house": {"fixed": "100", "funding": "house"},
    "flush": {"fixed": "50"},
    "straight": {"fixed": "4"},
    "three_of_a_kind": {"fixed": "3"},
    "two_pair": {"fixed": "2"},
    "pair": {"fixed": "1"},
}


def commands() -> list[c.Command]:
    """Return what furnishes a ledger as the naive model has it."""
    limits: Any = {"currency": "USD", "min_ante": ANTE_MIN, "max_ante": ANTE_MAX}
    pot = plain_house(id="pots", side_bets=[jackpot_bet(AWARDS)])
    slow = plain_house(
        id="slow", seating={"seats": 3}, play={"decision_order": "seat", "reveal_if_all_fold": False}
    )
    hand = plain_house(
        id="hand",
        seating={"seats": 7, "hands_per_player": 3},
        play={"on_timeout": "void"},
        side_bets=[jackpot_bet(AWARDS, survives_fold=False)],
    )
    made: list[c.Command] = [c.StartLedger(demo=True), *map(c.PublishRuleset, (pot, slow, hand))]
    made += [
        c.OpenJackpot("pot", "USD", 300, "0.7123"),
        c.OpenTable("pots", "pots", **limits, deal_source="rng", jackpot_id="pot", decision_seconds=20),
        c.OpenTable("slow", "slow", **limits, deal_source="rng", parallel_rounds=False, decision_seconds=20),
        c.OpenTable(
            "hand",
            "hand",
            **limits,
            deal_source="table",
            jackpot_id="pot",
            parallel_rounds=True,
            decision_seconds=30,
        ),
    ]
    for number in range(PLAYERS):
        currency = "EUR" if number == PLAYERS - 1 else "USD"
        made.append(c.OpenPlayer(f"player-{number}", f"p{number}", currency))
        made.append(c.Deposit(f"player-{number}", FUNDS, "first", f"first-{number}"))
    return made


def furnish(store: Store, seals: Any) -> None:
    """Furnish a ledger."""
    books = Books("build", 500)
    for number, command in enumerate(commands()):
        one = Submission(command_id("furnish", str(number)), b"f" * 16, command, "tests")
        (outcome,) = Batch([one], books, store, seals, lambda: START_US).run()
        assert isinstance(outcome, Result)
        assert outcome.outcome == ACCEPTED, outcome.body


def furnished_model(seats_at_once: int) -> Model:
    """Return the naive model of a furnished ledger."""
    model = Model(seats_at_once)
    for command in commands():
        if isinstance(command, c.OpenPlayer | c.Deposit):
            assert not model.decide(command, START_US)
    return model


class SimulatedLedger:
    """What the world asks of either ledger. `position` and `versions` are those of the events heard."""

    def __init__(self, position: int, recorded_at: str, versions: dict[str, int]) -> None:
        self.position, self.recorded_at, self.versions = position, recorded_at, dict(versions)

    def heard(self, rows: Sequence[StoredEventRow]) -> list[dict[str, Any]]:
        """Read a commit's events: positions and versions without a gap, time always later (G4)."""
        events = [orjson.loads(row.data) for row in rows]
        for row, event in zip(rows, events, strict=True):
            self.position += 1
            version = self.versions[row.stream] = self.versions.get(row.stream, 0) + 1
            assert (row.position, event["position"]) == (self.position, self.position), row
            assert (row.version, event["version"], event["stream"]) == (version, version, row.stream), row
            assert event["recorded_at"] > self.recorded_at
            self.recorded_at = event["recorded_at"]
        return events

    def check_rows(self, model: Model) -> None:
        """Hold every balance, meter and account against the model; together they hold nothing (G1, G2)."""
        wallets, exact, position = self.rows()
        expected = {who: (p["balance"], p["on_game"], p["at"]) for who, p in model.players.items()}
        assert wallets == expected, (wallets, expected)
        assert exact == dict(model.exact), (exact, model.exact)
        assert all(balance >= 0 and on_game >= 0 for balance, on_game, _ in wallets.values())
        assert exact["meter:pot"] >= 0
        assert sum(exact.values()) + EXACT * sum(b + g for b, g, _ in wallets.values()) == 0
        assert position == self.position

    # ── What each of them does its own way ──────────────────────────────────────────────────────────────────
    def new_store(self, cut: Cut) -> Store:
        """Return a connection of a process of its own; `cut` is asked where it ends."""
        raise NotImplementedError

    def rows(self) -> tuple[dict[str, Any], dict[str, int], int]:
        """Return wallets by player id, meters and accounts, and the head's position."""
        raise NotImplementedError

    def to_do(self, now_us: int) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
        """Return the rounds that are due, with deadlines, and the unsettled ones, with versions."""
        raise NotImplementedError

    def readers(self, fault: Callable[[str], str], chance: random.Random) -> list[Any]:
        """Return whoever reads the ledger while it is written."""
        raise NotImplementedError

    def close(self) -> None:
        """Give connections back."""

    def check_read_side(self, model: Model) -> None:
        """Hold what the readers have made, all of them being at the end, against the model and a rebuild."""
        raise NotImplementedError


class InMemory(SimulatedLedger):
    """A ledger in memory."""

    def __init__(self, template: MemoryLedger) -> None:
        self.ledger = MemoryLedger()
        for name in MemoryLedger.__slots__:
            if name not in ("lock", "streams", "fail_commits"):
                setattr(self.ledger, name, copy.copy(getattr(template, name)))
        self.ledger.streams = {stream: list(rows) for stream, rows in template.streams.items()}
        versions = {stream: len(rows) for stream, rows in template.streams.items()}
        super().__init__(template.position, "", versions)
        self.sink = MemorySink([make() for make in PROJECTIONS])

    def new_store(self, cut: Cut) -> Store:
        """Return a store that never waits: in one thread the head must be free."""
        del cut
        return MemoryStore(self.ledger, lock_seconds_max=0)

    def rows(self) -> tuple[dict[str, Any], dict[str, int], int]:
        """Return what is there."""
        ledger = self.ledger
        wallets = {
            str(w.player_id): (w.balance, w.on_game, orjson.loads(w.unfinished))
            for w in ledger.wallets.values()
        }
        exact = {f"meter:{name}": row.meter for name, row in ledger.jackpots.items()}
        for (account, _), amount in ledger.accounts.items():
            key = account.partition(":")[0]
            exact[key] = exact.get(key, 0) + amount
        return wallets, exact, ledger.position

    def to_do(self, now_us: int) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
        """Look through the open rounds."""
        rounds = self.ledger.open_rounds.values()
        due = [
            (r.round_id, r.deadline_us)
            for r in rounds
            if r.deadline_us is not None and r.deadline_us <= now_us
        ]
        return due, [(r.round_id, self.versions[f"round-{r.round_id}"]) for r in rounds if r.unsettled]

    def readers(self, fault: Callable[[str], str], chance: random.Random) -> list[Any]:
        """Return projections in memory, and the checker's fold."""
        source = MemorySource(self.ledger)
        return [Projecting(source, self.sink, fault, chance), Checking(lambda: self.ledger.events, chance)]

    def check_read_side(self, model: Model) -> None:
        """Compare the live tables with those made anew, and with the model."""
        require(not self.sink.alarms, f"alarms: {self.sink.alarms}")
        tables = self.sink.tables
        require(tables == rebuilt(MemorySource(self.ledger)), "the live tables are not the rebuilt ones")
        check_tables(tables, model)
