"""Somebody who plays on a writer, and the houses: what golden ledgers and other tests are played with."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any
from unittest import mock

import orjson

from domain import commands as c
from domain.cards import DECK
from infrastructure import ids
from infrastructure.ledger.submission import ACCEPTED, Submission, command_id, fingerprint
from infrastructure.ledger.writer import Writer

NOON = 1_796_040_000_000_000
"""2026-11-30 12:00 UTC, in microseconds."""
CLIENT = "golden"
FUNDS = 2_000_000
RESET = 50_000
_KIND = "kind"


@contextlib.contextmanager
def determined(seed: int) -> Iterator[Random]:
    """Let everything that is drawn at random come from one seeded generator; yield it."""
    dice = Random(seed)
    with (
        mock.patch.object(os, "urandom", dice.randbytes),
        mock.patch.object(secrets, "token_bytes", dice.randbytes),
        mock.patch.object(secrets, "randbits", dice.getrandbits),
    ):
        yield dice


@dataclass
class Clock:
    """A clock that moves a little each time it is read, so that no two events share a time."""

    now_us: int = NOON

    def __call__(self) -> int:
        """Return the time, microseconds since the epoch."""
        self.now_us += 137
        return self.now_us

    def forward(self, seconds: float) -> None:
        """Move it, backwards where negative."""
        self.now_us += int(seconds * 1_000_000)


@dataclass
class Player:
    """Plays on a writer. `rejected` counts what the ledger refused, by code."""

    writer: Writer
    clock: Clock
    dice: Random
    rejected: dict[str, int] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def ask(self, command: c.Command, person: str | None = None) -> dict[str, Any]:
        """Return the answer to a command, which may be a refusal ({code, detail, …}).

        With `person` it is an administrator's who is registered under that name.
        """
        key = f"golden-{next(self._numbers)}"
        asked = fingerprint("GOLDEN", type(command).__name__, key.encode())
        scopes = frozenset({"admin"} if person else ())
        submission = Submission(
            command_id(CLIENT, key), asked, command, person or CLIENT, person=person, scopes=scopes
        )
        result = self.writer.call(submission)
        answer: dict[str, Any] = orjson.loads(result.body)
        if result.outcome != ACCEPTED:
            self.rejected[answer["code"]] = self.rejected.get(answer["code"], 0) + 1
        return answer

    def do(self, command: c.Command, person: str | None = None) -> dict[str, Any]:
        """Return the answer to a command that has to be accepted."""
        answer = self.ask(command, person)
        assert "code" not in answer, (command, answer)
        return answer

    def round_id(self) -> str:
        """Return a new round's id."""
        return ids.round_id(self.clock())

    # ── A round ─────────────────────────────────────────────────────────────────────────────────────────────
    def decide_all(self, answer: dict[str, Any], *, leave: int = 0) -> dict[str, Any]:
        """Decide for every seat but the last `leave`; sometimes a card is bought first."""
        while True:
            undecided = [seat for seat in answer["seats"] if "decision" not in seat]
            if len(undecided) <= leave or answer["phase"] != "dealt":
                return answer
            seat = next(seat for seat in undecided if seat["options"])
            if "exchange" in seat["options"] and self.dice.random() < 0.5:
                discard = self.dice.choice(seat["cards"])
                answer = self.do(c.Decide(answer["round_id"], seat["seat"], "exchange", discard))
                continue
            action = self.dice.choice(("raise", "raise", "fold"))
            answer = self.do(c.Decide(answer["round_id"], seat["seat"], action))


@dataclass(frozen=True)
class House:
    """One rule set with the golden tables on it: one with the ledger's deck, one with a dealer's.

    `place` tells two of one rule set apart.
    """

    document: Mapping[str, Any]
    currency: str
    kinds: tuple[str, ...]
    place: str = ""

    @property
    def name(self) -> str:
        """What its tables, jackpot and players are called after."""
        return self.place or self.id

    @property
    def id(self) -> str:
        """The rule set's id."""
        return str(self.document["id"])

    @property
    def alone(self) -> bool:
        """Whether one player plays all hands."""
        return bool(self.document["seating"]["hands_per_player"] > 1)

    @property
    def shared(self) -> bool:
        """Whether all seats share five cards."""
        return bool(self.document["seating"]["shared_player_hand"])

    def side_bets(self, dice: Random) -> dict[str, int]:
        """Return the side bets of one seat, most of the time."""
        fixed = {"bonus": 5_000, "five_plus_one": 300}
        stakes = {
            bet[_KIND]: fixed.get(bet[_KIND]) or round(float(bet["stake"]) * 100)
            for bet in self.document.get("side_bets", ())
        }
        return {kind: stake for kind, stake in stakes.items() if dice.random() < 0.8}

    def seats(
        self, dice: Random, count: int, *, seeded: bool = False, first: int = 0
    ) -> tuple[c.SeatStake, ...]:
        """Return the stakes of the first seats; their players are those after number `first`."""
        return tuple(
            c.SeatStake(
                seat,
                f"{self.name}-{first if self.alone else first + seat}",
                dice.choice((100, 500, 2_500)),
                self.side_bets(dice),
                client_seed=f"luck {dice.randrange(1_000)}" if seeded else None,
            )
            for seat in range(1, count + 1)
        )


def house_of(player: Player, document: Mapping[str, Any]) -> House:
    """Publish a rule set; return its house."""
    player.do(c.PublishRuleset(dict(document)))
    kinds = tuple(bet[_KIND] for bet in document.get("side_bets", ()))
    return House(document, document["currencies"][0], kinds)


def furnish(player: Player, house: House, **jackpot: Any) -> None:
    """Open the house's jackpot and tables, and give its players money."""
    limits: dict[str, Any] = {"currency": house.currency, "min_ante": 100, "max_ante": 10_000}
    if "jackpot" in house.kinds:
        player.do(c.OpenJackpot(f"pot-{house.name}", house.currency, RESET, "0.7075", **jackpot))
        limits["jackpot_id"] = f"pot-{house.name}"
    if "bonus" in house.kinds:
        limits |= {"bonus_stake": 5_000, "raise_win_cap": 1_000_000}
    for name, source, seconds in (("deck", "rng", 20), ("dealer", "table", None)):
        player.do(
            c.OpenTable(
                f"{house.name}-{name}",
                house.id,
                deal_source=source,
                decision_seconds=seconds,
                zone="Europe/Prague",
                cutoff_hour=6,
                **limits,
            )
        )
    for number in range(8):
        player.do(c.OpenPlayer(f"{house.name}-{number}", ids.pseudonym(), house.currency))
        player.do(c.Deposit(f"{house.name}-{number}", FUNDS, "first", ids.transaction_id()))


def open_round(
    player: Player, house: House, count: int, *, first: int = 0, deal: bool = True
) -> dict[str, Any]:
    """Open a round with stakes; return its answer."""
    seats = house.seats(player.dice, count, first=first)
    return player.do(c.OpenRound(player.round_id(), f"{house.name}-deck", seats, deal))


def usual_rounds(player: Player, house: House) -> None:
    """Rounds that end as most do: dealt at once, in steps, and with the players' own seeds."""
    for count in (1, 3, 2):
        player.clock.forward(40)
        player.decide_all(open_round(player, house, count))
    opened = player.do(c.OpenRound(player.round_id(), f"{house.name}-deck"))
    for stake in house.seats(player.dice, 2, seeded=True):
        player.do(c.PlaceAntes(opened["round_id"], (stake,)))
    player.decide_all(player.do(c.DealCards(opened["round_id"])))


def deal_out(player: Player, house: House, named: Sequence[tuple[str, ...]], *, void: bool = False) -> None:
    """Play a round whose first hands are named; `void`: until it is declared void."""
    table, count = f"{house.name}-dealer", max(len(named), 1)
    seats = tuple(
        c.SeatStake(s.seat, s.player_id, s.ante, dict.fromkeys(s.side_bets, 0) | _all_bets(house))
        for s in house.seats(player.dice, count)
    )
    opened = player.do(c.OpenRound(player.round_id(), table, seats))
    taken = {card for hand in named for card in hand}
    deck = [card for card in DECK if card not in taken]
    player.dice.shuffle(deck)
    hands = {
        seat: named[seat - 1] if seat <= len(named) else tuple(deck[40:45]) for seat in range(1, count + 1)
    }
    five = tuple(deck[:5])
    up = house.document["deal"]["dealer_up_indices"]
    shown = tuple(five[place] for place in up)
    cards = {"shared": hands[1]} if house.shared else {"hands": hands}
    answer = player.do(c.DealCards(opened["round_id"], dealer_up=shown, **cards))  # type: ignore[arg-type]
    if void:
        cause = (*house.document.get("misdeal_causes", ()), "malfunction")[0]
        player.do(c.VoidRound(answer["round_id"], cause))
        return
    for seat in hands:
        player.do(c.Decide(answer["round_id"], seat, "raise"))
    hidden = tuple(card for place, card in enumerate(five) if place not in up)
    player.do(c.RevealDealer(answer["round_id"], hidden))


def _all_bets(house: House) -> dict[str, int]:
    return house.side_bets(Random(1)) if house.kinds else {}
