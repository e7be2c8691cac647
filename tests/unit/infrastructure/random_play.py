"""Random commands on a small world: most make sense, many come too late, some are sent twice."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from domain import commands as c
from domain.round import Round
from infrastructure.ledger.submission import Submission, continuation
from tests.unit.infrastructure.ledgers import submission

TABLES = {"pots": 7, "slow": 7, "bought": 6, "three": 3, "live": 12}
SIDE_BETS = {"pots": ("jackpot", 100), "bought": ("bonus", 5_000), "live": ("five_plus_one", 300)}


@dataclass
class RandomPlay:
    """Makes commands. `rounds` are the rounds as the events have them, by id; `sent` what can be repeated."""

    seed: int
    players: int = 8
    rounds: dict[str, Round] = field(default_factory=dict)
    sent: list[Submission] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Seed the generator."""
        self.random = random.Random(self.seed)
        self._number = 0

    def next(self) -> Submission:
        """Return one command, now and then one that was sent before, or its key with another body."""
        if self.sent and self.random.random() < 0.06:
            return self.random.choice(self.sent[-40:])
        self._number += 1
        if self.random.random() < 0.03:
            return submission(self._command(), "reused")
        made = submission(self._command(), f"key-{self.seed}-{self._number}")
        self.sent.append(made)
        return made

    def _command(self) -> c.Command:
        choose = self.random.random()
        if choose < 0.12:
            return self._money()
        if choose < 0.17:
            return self._table()
        if choose < 0.30 or not self.rounds:
            return self._open()
        return self._on_round()

    def _player(self) -> str:
        return f"player-{self.random.randrange(self.players + 1)}"

    def _money(self) -> c.Command:
        kind = self.random.choice((c.Deposit, c.Withdraw))
        number = self.random.randrange(10**6)
        amount = self.random.choice((100, 5_000, 400_000))
        return kind(self._player(), amount, f"ref-{self.random.randrange(60)}", f"t{number}")

    def _table(self) -> c.Command:
        table = self.random.choice(list(TABLES))
        options: list[c.Command] = [
            c.JoinTable(table, self._player(), self.random.choice((None, 1, 2))),
            c.LeaveTable(table, self._player()),
            c.CloseTable(table),
            *[c.ReopenTable(table)] * 5,
            c.OpenPlayer(self._player(), f"late-{self._number}", "USD"),
        ]
        return self.random.choice(options)

    def _stakes(self, table: str, seats_max: int) -> tuple[c.SeatStake, ...]:
        seats = self.random.sample(
            range(1, TABLES[table] + 1), self.random.randint(0, min(seats_max, TABLES[table]))
        )
        players = self.random.sample(range(self.players), min(len(seats), self.players))
        stakes = []
        for seat, player in zip(seats, players, strict=False):
            bet = SIDE_BETS.get(table)
            side_bets = dict([bet]) if bet and self.random.random() < 0.7 else {}
            stakes.append(c.SeatStake(seat, f"player-{player}", self.random.choice((100, 900)), side_bets))
        if table == "bought":  # whose wallets are in that table's currency
            stakes = [
                c.SeatStake(s.seat, f"player-{3 + 4 * n}", s.ante, s.side_bets)
                for n, s in enumerate(stakes[:2])
            ]
        elif table == "three" and stakes:
            stakes = [c.SeatStake(s.seat, stakes[0].player_id, s.ante) for s in stakes]
        else:
            stakes = [s for s in stakes if s.player_id not in ("player-3", "player-7")]
        return tuple(stakes)

    def _open(self) -> c.Command:
        table = self.random.choice(list(TABLES))
        stakes = self._stakes(table, 6)
        return c.OpenRound(
            f"r{self.seed}-{self._number}", table, stakes, deal=bool(stakes) and self.random.random() < 0.7
        )

    def _on_round(self) -> c.Command:
        unfinished = [r for r in self.rounds.values() if not r.finished]
        pool = unfinished if unfinished and self.random.random() < 0.95 else list(self.rounds.values())
        round_ = self.random.choice(pool[-12:])
        table = round_.opened.table_id
        choose = self.random.random()
        if choose < 0.06:
            return c.VoidRound(round_.id, "malfunction")
        if choose < 0.16:
            return self.random.choice((c.TimeOutRound(round_.id), c.ContinueRound(round_.id)))
        if round_.phase != "betting":
            return self._decide(round_, choose)
        if choose < 0.6:
            return c.PlaceAntes(round_.id, self._stakes(table, 3), deal=choose < 0.3)
        return c.DealCards(round_.id)

    def _decide(self, round_: Round, choose: float) -> c.Command:
        seats = [n for n, seat in round_.seats.items() if seat.decided_by is None] or [1]
        seat = self.random.choice(seats) if self.random.random() < 0.9 else self.random.randint(1, 7)
        hand = round_.seats[seat].cards if seat in round_.seats else ()
        if round_.opened.table_id == "bought" and choose < 0.4 and hand:
            return c.Decide(round_.id, seat, "exchange", self.random.choice(hand))
        if choose < 0.3:
            following = f"n{self.seed}-{self._number}"
            return c.Decide(round_.id, seat, "raise", open_next=True, next_round_id=following)
        return c.Decide(round_.id, seat, self.random.choice(("raise", "raise", "fold")))


def continuations(unsettled: list[tuple[str, int]]) -> list[Submission]:
    """Return the commands that go on with rounds too big for one command."""
    return [continuation(round_id, version) for round_id, version in unsettled]
