"""Random lives of two jackpots, won and changed all the time, against a second book of their pools (G10)."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

from domain import commands as c
from domain.jackpot_life import ADJUSTMENT, TRANSFER
from domain.jackpot_parameters import PARAMETERS
from domain.rejections import Rejection
from domain.replay import replay
from tests.property.pools import PoolsBook
from tests.unit.domain.jackpot_house import (
    ACE_KING,
    HOUSE,
    NOTHING,
    QUADS,
    ROYALS,
    STAKE,
    STRAIGHT_FLUSH,
    dealt,
    ledger_with,
)
from tests.unit.domain.jackpot_rounds import evidence
from tests.unit.scripts.verifier import examine

POTS = ("pot", "heir")
STEPS = 50


class Life:
    """Two jackpots, two tables each, and what happens to them."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.ledger = ledger_with(self.rng.choice((0, 90, 500)), "0.7123", diversion="0.0377", ceiling=560)
        self.ledger.jackpot(300, jackpot_id="heir", contribution="0.3333")
        self.ledger.table(HOUSE, "t2")
        for name in ("h1", "h2"):
            self.ledger.table(HOUSE, name, jackpot_id="heir")
        self.book = PoolsBook()
        self.betting: list[str] = []
        self.did: Counter[str] = Counter()

    def step(self) -> None:
        """Do something, allowed or not; the second book follows."""
        steps = [self.bet] * 5 + [self.finish] * 3 + [self.void] * 2 + [self.change] * 3
        try:
            self.rng.choice(steps)()
        except Rejection as rejection:
            assert self.ledger.last == []
            self.did[rejection.code] += 1
        self.book.read(self.ledger.events)
        self.book.compare(self.ledger.work)

    def bet(self) -> None:
        """Open a round with some bets on the jackpot; it is played later."""
        free = [name for name, table in self.ledger.work.tables.items() if table.open_round is None]
        if free:
            seats = range(1, self.rng.randint(2, 5))
            stakes = [self.ledger.stake(seat, jackpot=STAKE) for seat in seats if self.rng.random() < 0.9]
            name = self.rng.choice(free)
            stakes += [] if stakes else [self.ledger.stake(1)]
            self.betting.append(self.ledger.open(*self.own(stakes, name), table_id=name))

    def own(self, stakes: list[c.SeatStake], table_id: str) -> list[c.SeatStake]:
        """Return stakes of players who play at no other table."""
        return [c.SeatStake(s.seat, f"{table_id}-{s.seat}", s.ante, s.side_bets) for s in stakes]

    def finish(self) -> None:
        """Deal some round hands that win, and settle it."""
        if not self.betting:
            return
        round_id = self.betting.pop(self.rng.randrange(len(self.betting)))
        seats = sorted(self.ledger.work.rounds[round_id].seats)
        royals = list(ROYALS[: self.rng.choice((0, 0, 1, 1, 2))])
        others = [QUADS, STRAIGHT_FLUSH, *[NOTHING] * 4]
        self.rng.shuffle(others)
        hands = [*royals, *others][: len(seats)]
        self.rng.shuffle(hands)
        self.ledger.deal(round_id, ACE_KING, dict(zip(seats, dealt(hands), strict=True)))
        for seat in seats:
            self.ledger.decide(round_id, seat, self.rng.choice(("raise", "fold")))
        if self.ledger.work.rounds[round_id].phase == "decided":
            self.ledger.reveal(round_id, ACE_KING)
        self.prove(round_id)

    def void(self) -> None:
        """Declare some round void."""
        if self.betting:
            round_id = self.betting.pop(0)
            self.ledger.ask(c.VoidRound(round_id, "malfunction"))
            self.prove(round_id)

    def prove(self, round_id: str) -> None:
        """Both second opinions pass the round."""
        file = evidence(self.ledger, round_id)
        assert replay(file["events"], file["ruleset"], file["jackpot"]).failed() == ()
        assert examine(file).verdict() == "verified"

    def change(self) -> None:
        """Change a jackpot, alone or by two."""
        rng, pot = self.rng, self.rng.choice(POTS)
        what = rng.choice(("disable", *["enable"] * 4, TRANSFER, *[ADJUSTMENT] * 2, *[PARAMETERS] * 4))
        payload: dict[str, Any] = {"jackpot_id": pot}
        if what == "disable":
            self.ledger.ask(c.DisableJackpot(pot))
            if rng.random() < 0.5:
                self.by_two(TRANSFER, {**payload, "to": POTS[pot == "pot"]})
        elif what == "enable":
            self.ledger.ask(c.EnableJackpot(pot))
        elif what == TRANSFER:
            self.by_two(what, {**payload, "to": POTS[pot == "pot"]})
        elif what == ADJUSTMENT:
            pool, amount = rng.choice(("meter", "overflow", "diversion")), rng.choice((-90, -7, 5, 60))
            self.by_two(what, {**payload, "pool": pool, "amount": amount})
        else:
            payload |= {"contribution": rng.choice(("0.1", "0.55")), "reset": rng.choice((0, 120, 640))}
            payload |= {"ceiling": rng.choice((650, 700, 900))} if rng.random() < 0.7 else {}
            payload |= {"diversion": rng.choice(("0.2", "0.45"))} if rng.random() < 0.7 else {}
            self.by_two(what, payload)

    def by_two(self, kind: str, payload: dict[str, Any]) -> None:
        """One proposes, another approves."""
        name = f"A{self.ledger.commands}"
        with self.ledger.acting("anna", "admin"):
            self.ledger.ask(c.Propose(name, kind, payload))
        self.book.read(self.ledger.events)
        with self.ledger.acting("ben", "admin"):
            self.ledger.ask(c.Approve(name))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_no_pool_ever_holds_what_its_events_do_not_say(seed: int) -> None:
    """After every step pools, counts and parameters are the second book's, and both second opinions agree."""
    life = Life(seed)
    for _ in range(STEPS):
        life.step()


def test_the_lives_are_full() -> None:
    """A few of them have everything in it: the random test above is about something."""
    seen: Counter[str] = Counter()
    for seed in range(30):
        life = Life(seed)
        for _ in range(STEPS):
            life.step()
        for emitted in life.ledger.events:
            names = [type(emitted.event).__name__]
            for field in PARTS:
                if getattr(emitted.event, field, None) is not None:
                    names.append(f"{names[0]}.{field}")
            seen.update(names)
        seen.update(life.did)
    assert not [name for name in EVERYTHING if seen[name] < 2], seen


PARTS = (
    "overflow",
    "diversion",
    "restart_from_diversion",
    "from_overflow",
    "from_diversion",
    "top_up",
    "above_ceiling",
)
EVERYTHING = (
    "SideBetPlaced.overflow",
    "SideBetPlaced.diversion",
    "JackpotHit.restart_from_diversion",
    "JackpotHit.from_overflow",
    "ContributionReversed.from_overflow",
    "ContributionReversed.from_diversion",
    "JackpotParametersActivated.top_up",
    "JackpotTransferred",
    "JackpotAdjusted",
    "JackpotDisabled",
    "JackpotEnabled",
    "jackpot_disabled",
    "jackpot_unsettled",
    "amount_out_of_range",
)
