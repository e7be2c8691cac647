"""A random life of a ledger for the read side: every house, test accounts, jackpots' lives, any zone."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from domain import commands as c
from domain.jackpot_life import ADJUSTMENT, TRANSFER
from domain.jackpot_parameters import PARAMETERS
from infrastructure.ledger.memory import MemoryLedger
from infrastructure.ledger.submission import Submission
from tests.unit.domain.playing import NOON, plain_house
from tests.unit.infrastructure.ledgers import HOUSES, Clock, Process, submission, tables
from tests.unit.infrastructure.random_play import RandomPlay, continuations
from tests.unit.infrastructure.rebuilding import Rebuilt

_STEPS_US = (0, 1_000, 1_000_000, 30_000_000, 400_000_000)
_LONG_US = 2_400_000_000
"""Forty minutes: sessions time out."""


@dataclass
class EventfulPlay(RandomPlay):
    """Random commands as `RandomPlay` has them, and what else befalls a ledger. `people` approve."""

    proposed: list[str] = field(default_factory=list)

    def next(self) -> Submission:
        """Return one command; what takes two people comes from people."""
        if self.random.random() < 0.12:
            self._number += 1
            command = self._of_the_house()
            made = submission(command, f"house-{self.seed}-{self._number}")
            if isinstance(command, c.Approve):
                return dataclasses.replace(made, actor="bob", person="bob", scopes=frozenset(("admin",)))
            return dataclasses.replace(made, actor="ada")
        return super().next()

    def _of_the_house(self) -> c.Command:
        choose: list[Callable[[], c.Command]] = [
            self._propose,
            self._propose,
            self._approve,
            self._approve,
            lambda: c.EnableJackpot(self._jackpot()),
            lambda: c.EnableJackpot(self._jackpot()),
            lambda: c.DisableJackpot(self._jackpot()),
            self._trial,
            self._trial,
            lambda: c.OpenRound(f"e{self.seed}-{self._number}", "won", self._stakes("won", 5), deal=True),
            lambda: c.OpenRound(f"e{self.seed}-{self._number}", "won", self._stakes("won", 5), deal=True),
            lambda: c.OpenJackpot(f"late-{self._number}", "USD", 100, "0.0333", ceiling=150, diversion="0.1"),
            lambda: c.JoinTable("won", self._player(), session_id=f"j-{self._number}"),
            lambda: c.LeaveTable("won", self._player()),
            lambda: c.ActivateRuleset("slow", "slow-house", self.random.choice((1, 2))),
        ]
        return self.random.choice(choose)()

    def _stakes(self, table: str, seats_max: int) -> tuple[c.SeatStake, ...]:
        if table == "trial":
            return (c.SeatStake(1, f"guest-{self.random.randrange(2)}", 100, {"jackpot": 100}),)
        if table != "won":
            return super()._stakes(table, seats_max)
        stakes = super()._stakes("pots", seats_max)
        large = self.random.random() < 0.1
        return tuple(dataclasses.replace(s, ante=400_000) if large else s for s in stakes)

    def _jackpot(self) -> str:
        return self.random.choice(("pot", "won", "won", "spare-0"))

    def _trial(self) -> c.Command:
        if self.random.random() < 0.2:
            return c.Deposit("guest-1", 500, f"g-{self._number}", f"tg{self._number}")
        return c.OpenRound(f"t{self.seed}-{self._number}", "trial", self._stakes("trial", 1), deal=True)

    def _propose(self) -> c.Command:
        self.proposed.append(f"approval-{self._number}")
        amount = self.random.choice((-50, 1, 70, 5_000))
        pool = self.random.choice(("meter", "overflow", "diversion"))
        new = {"contribution": "0.5", "reset": self.random.choice((50, 100_000, 250_000))}
        if self.random.random() < 0.7:
            new |= {"ceiling": 400_000, "diversion": "0.25"}
        kind, payload = self.random.choice(
            (
                (PARAMETERS, new),
                (PARAMETERS, new),
                (ADJUSTMENT, {"amount": amount, "pool": pool}),
                (TRANSFER, {"to": "won"}),
            )
        )
        jackpot_id = f"spare-{self.random.randrange(4)}" if kind == TRANSFER else self._jackpot()
        return c.Propose(self.proposed[-1], kind, {"jackpot_id": jackpot_id, **payload}, "e" * 64)

    def _approve(self) -> c.Command:
        if not self.proposed:
            return self._propose()
        return c.Approve(self.proposed.pop(-self.random.randint(1, min(3, len(self.proposed)))))


def eventful(
    seed: int, batches: int = 120, *, zone: str = "UTC", cutoff_hour: int = 0, begin_us: int = NOON
) -> MemoryLedger:
    """Return a ledger with some batches of random commands, all tables in a zone, from a moment on.

    All of it, the decks included, follows from the seed.
    """
    turns = random.Random(seed)
    clock = Clock(begin_us)
    process = Process(clock=clock, settle_seats_max=turns.choice((1, 2, 3, 500)))
    process.books.work.entropy = random.Random(seed).randbytes
    _furnish(process, zone, cutoff_hour)
    truth = Rebuilt()
    truth.read(process.ledger)
    play = EventfulPlay(seed, rounds=truth.rounds)
    waiting: list[Submission] = []
    for _ in range(batches):
        clock.now_us += _LONG_US if turns.random() < 0.03 else turns.choice(_STEPS_US)
        batch = [play.next() for _ in range(turns.randint(1, 6))]
        if turns.random() < 0.6:
            batch, waiting = [*batch, *waiting], []
        process.run(batch)
        waiting += continuations(process.unsettled)
        if turns.random() < 0.06:
            _win(process, turns)
            waiting += continuations(process.unsettled)
        truth.read(process.ledger)
    return process.ledger


def _win(process: Process, turns: random.Random) -> None:
    """Have one seat, or two, win the whole meter at a table with real cards, if its jackpot takes bets."""
    royals = ("As Ks Qs Js Ts", "Ah Kh Qh Jh Th")
    hands = {seat: tuple(royals[seat - 1].split()) for seat in turns.choice(((1,), (1, 2)))}
    round_id = f"hall-{process.ledger.position}"
    channel = turns.choice(("terminal", None))
    stakes = [
        c.SeatStake(seat, f"player-{seat}", 100, {"jackpot": 100}, f"s-{turns.randint(1, 3)}", channel)
        for seat in hands
    ]
    for command in (
        c.OpenRound(round_id, "hall", tuple(stakes)),
        c.DealCards(round_id, hands, None, ("2c",)),
        *(c.Decide(round_id, seat, turns.choice(("raise", "fold"))) for seat in hands),
        c.RevealDealer(round_id, ("2d", "2h", "2s", "3c")),
    ):
        process.ask(command)


def _furnish(process: Process, zone: str, cutoff_hour: int) -> None:
    process.do(c.StartLedger(demo=True), *map(c.PublishRuleset, HOUSES.values()))
    slower = plain_house(id="slow-house", title="Slower", play={"decision_order": "seat"})
    process.do(c.PublishRuleset(slower))
    process.do(
        c.OpenJackpot("pot", "USD", 100_000, "0.70"),
        c.OpenJackpot("won", "USD", 1_000, "0.3333", ceiling=1_100, diversion="0.2"),
        c.OpenJackpot("tried", "USD", 77, "1", "test"),
        *(c.OpenJackpot(f"spare-{n}", "USD", 150 * n, "0.01", diversion="0.01") for n in range(4)),
        *(c.DisableJackpot(f"spare-{n}") for n in range(4)),
    )
    limits = {"currency": "USD", "min_ante": 100, "max_ante": 1_000_000, "deal_source": "rng"}
    more = [
        c.OpenTable("won", "pot-house", **limits, jackpot_id="won"),  # type: ignore[arg-type]
        c.OpenTable("hall", "pot-house", **{**limits, "deal_source": "table"}, jackpot_id="won"),  # type: ignore[arg-type]
        c.OpenTable("trial", "pot-house", **limits, jackpot_id="tried", account_class="test"),  # type: ignore[arg-type]
    ]
    there = {"zone": zone, "cutoff_hour": cutoff_hour}
    process.do(*(dataclasses.replace(table, **there) for table in (*tables(), *more)))  # type: ignore[arg-type]
    for n in range(8):
        process.do(c.OpenPlayer(f"player-{n}", f"p{n}", "CZK" if n % 4 == 3 else "USD"))
        process.do(c.Deposit(f"player-{n}", 5_000_000, "first", f"tx{n}"))
    for n in range(2):
        process.do(c.OpenPlayer(f"guest-{n}", f"g{n}", "USD", "test"))
        process.do(c.Deposit(f"guest-{n}", 5_000, "first", f"tg{n}"))
    process.do(*(c.RegisterPerson(who, who * 8, ("admin",), f"r-{who}") for who in ("ada", "bob")))
