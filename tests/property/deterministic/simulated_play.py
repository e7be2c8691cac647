"""Random commands on the naive model's tables: most make sense where they were made, some never did."""

from __future__ import annotations

import random
from typing import Any

from domain import commands as c
from tests.property.deterministic.naive_model import Model
from tests.property.deterministic.naive_showdown import SIDE_BET, TABLES

PLAYERS = 6
DECK = [value + suit for value in "23456789TJQKA" for suit in "shdc"]
SUITS = "shdc"
ROYAL = "AKQJT"


def royal(suit: str) -> tuple[str, ...]:
    """Return the best hand there is, in a suit."""
    return tuple(value + suit for value in ROYAL)


class Play:
    """Makes commands for a world whose state is the model's. `number` makes each one's ids its own."""

    def __init__(self, chance: random.Random, model: Model) -> None:
        self.chance = chance
        self.model = model
        self.number = 0

    def next(self) -> c.Command:
        """Return a command."""
        self.number += 1
        kinds = (self._cashier, self._visit, self._open, self._stake_more, self._on_round)
        return self.chance.choices(kinds, (3, 2, 4, 2, 12))[0]()

    def _player(self) -> str:
        return f"player-{self.chance.randrange(PLAYERS + 1)}"

    def _cashier(self) -> c.Command:
        if self.chance.random() < 0.1:
            return c.OpenPlayer(self._player(), f"late{self.number}", "USD")
        kind: Any = self.chance.choice((c.Deposit, c.Withdraw))
        amount = self.chance.choice((100, 700, 2_000))
        return kind(self._player(), amount, f"ref-{self.chance.randrange(20)}", f"t{self.number}")  # type: ignore[no-any-return]

    def _visit(self) -> c.Command:
        table = self.chance.choice(list(TABLES))
        return self.chance.choice(
            (
                c.JoinTable(table, self._player(), self.chance.choice((None, 1, 2, 9))),
                c.LeaveTable(table, self._player()),
                c.CloseTable(table),
                *[c.ReopenTable(table)] * 6,
            )
        )

    def _stakes(self, table: str, seats_max: int) -> tuple[c.SeatStake, ...]:
        house = TABLES[table]
        count = self.chance.randint(0, min(seats_max, house["seats"]))
        stakes = []
        for seat in self.chance.sample(range(1, house["seats"] + 1), count):
            bet = house["jackpot"] is not None and self.chance.random() < 0.8
            side_bets = {"jackpot": SIDE_BET if self.chance.random() < 0.97 else 1} if bet else {}
            player = self.chance.randrange(PLAYERS - 1) if self.chance.random() < 0.96 else 98 + len(stakes)
            ante = self.chance.choice((100, 100, 150, 333)) if self.chance.random() < 0.97 else 7
            stakes.append(c.SeatStake(seat, f"player-{player}", ante, side_bets))
        if house["hands"] == 1 and self.chance.random() < 0.9:
            stakes = list({stake.player_id: stake for stake in stakes}.values())
        return tuple(stakes)

    def _open(self) -> c.Command:
        table = self.chance.choice(list(TABLES))
        stakes = self._stakes(table, 4)
        deal = not TABLES[table]["scanned"] and bool(stakes) and self.chance.random() < 0.7
        return c.OpenRound(f"r{self.number}", table, stakes, deal=deal)

    def _round(self, *phases: str) -> dict[str, Any] | None:
        rounds = [r for r in self.model.rounds.values() if r["phase"] in phases]
        return self.chance.choice(rounds[-8:]) if rounds else None

    def _stake_more(self) -> c.Command:
        round_ = self._round("betting")
        if round_ is None:
            return self._open()
        return c.PlaceAntes(round_["id"], self._stakes(round_["table"], 2), deal=self.chance.random() < 0.2)

    def _on_round(self) -> c.Command:
        usual = ("betting", "dealt", "dealt", "dealt", "decided")
        phase = self.chance.choice(usual) if self.chance.random() < 0.9 else "closed"
        round_ = self._round(phase) or self._round("betting", "dealt", "decided")
        if round_ is None:
            return self._open()
        if not round_["seats"] and self.chance.random() < 0.9:
            return c.PlaceAntes(round_["id"], self._stakes(round_["table"], 3))
        choice = self.chance.random()
        if choice < 0.06:
            return c.VoidRound(round_["id"], self.chance.choice(("malfunction", "malfunction", "bad-temper")))
        if choice < 0.09:
            return self.chance.choice((c.TimeOutRound(round_["id"]), c.ContinueRound(round_["id"])))
        following = {"betting": self._deal, "decided": self._reveal}
        return following.get(round_["phase"], self._decide)(round_)

    def _decide(self, round_: dict[str, Any]) -> c.Command:
        late = self.model.late(round_) or [1]
        seat = late[0] if self.chance.random() < 0.7 else self.chance.choice((*late, *late, 1, 4))
        if self.chance.random() < 0.2:
            following = f"n{self.number}"
            return c.Decide(round_["id"], seat, "raise", open_next=True, next_round_id=following)
        return c.Decide(round_["id"], seat, self.chance.choice(("raise", "raise", "fold")))

    def _deal(self, round_: dict[str, Any]) -> c.Command:
        if not TABLES[round_["table"]]["scanned"]:
            return c.DealCards(round_["id"])
        seats = sorted(round_["seats"])
        lucky = self.chance.sample(SUITS, 4) if self.chance.random() < 0.3 else []
        deck = [card for card in self.chance.sample(DECK, 52) if not lucky or card[0] not in ROYAL]
        hands = {seat: tuple(deck.pop() for _ in range(5)) for seat in seats}
        up = deck.pop()
        if lucky and len(seats) < 4:
            winners = self.chance.sample(seats, min(len(seats), self.chance.choice((1, 1, 2))))
            hands |= {seat: royal(lucky.pop()) for seat in winners}
            up = ROYAL[0] + lucky.pop()
        if self.chance.random() < 0.05 and seats:
            up = hands[seats[0]][0]
        return c.DealCards(round_["id"], hands, None, (up,))

    def _reveal(self, round_: dict[str, Any]) -> c.Command:
        known = self.model.cards.get(round_["id"], {})
        seen = {card for hand in known.values() for card in hand}
        up = (known.get("up") or [""])[0]
        if up.startswith("A") and self.chance.random() < 0.5:
            return c.RevealDealer(round_["id"], royal(up[1])[1:])
        others = [card for card in self.chance.sample(DECK, 52) if card not in seen]
        if self.chance.random() < 0.05:
            others = self.chance.sample(DECK, 4)
        return c.RevealDealer(round_["id"], tuple(others[:4]))
