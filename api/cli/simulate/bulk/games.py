"""Many tables at a time: visits that take turns, command by command, until a chunk is full.

Everything is decided by the domain's handlers on one `Work`; what the guests see is read from its books.
"""

from __future__ import annotations

import os
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from api.cli.simulate.bulk import plan as plans
from api.cli.simulate.bulk.clock import ChunkClock
from api.cli.simulate.bulk.guests import Guests
from api.cli.simulate.bulk.tally import Tally
from api.cli.simulate.channel import CLIENT
from api.cli.simulate.plan import House, decides
from domain import commands as c
from domain.handlers import HANDLERS
from domain.round import Round
from domain.work import Emitted, Work
from infrastructure import ids
from infrastructure.ledger.batch import EVENT_SCHEMA
from infrastructure.ledger.submission import COMMAND_NAME_BYTES

VISITS: Final = 16
"""How many visits take turns."""
SENT_TOGETHER: Final = 256
"""Events that are handed over at once."""
_NAMES_TOGETHER: Final = 1_000
_NAME_CHARACTERS: Final = COMMAND_NAME_BYTES * 4 // 3
_SOME: Final = 10_000


class Sink(Protocol):
    """Takes events in the order of their positions."""

    def events(self, emitted: Sequence[Emitted]) -> int:
        """Take them; return the bytes of their data."""


class Games:
    """The rounds of one process. `work` has the rule sets and goes on at the ledger's end.

    `alone`: no round has more than one guest.
    """

    def __init__(
        self,
        work: Work,
        sink: Sink,
        houses: Sequence[House],
        guests: Guests,
        seed: str,
        *,
        alone: bool = False,
    ) -> None:
        self._alone = alone
        self.tally = Tally()
        self._work = work
        self._sink = sink
        self._houses = houses
        self._side_bets = {house.table_id: house.side_bets for house in houses}
        self._guests = guests
        self._seed = seed
        self._visits = 0
        self._names: list[str] = []
        self._clock = ChunkClock(0, 1)
        self._first = 0
        self._size: int | None = None
        self._rounds: int | None = None
        self._started = 0
        self._reserved = 0
        self._hurry = False

    # ── A chunk ─────────────────────────────────────────────────────────────────────────────────────────────
    def chunk(
        self, clock: ChunkClock, size: int | None, rounds: int | None, first: Sequence[c.Command] = ()
    ) -> None:
        """Play a chunk of exactly `size` events, or of exactly `rounds` rounds, `first` before all others.

        It begins after `work.position`. All its rounds are finished at its end.
        """
        self.tally = Tally()
        self._clock, self._size, self._rounds = clock, size, rounds
        self._first = self._work.position
        self._started = self._reserved = 0
        for command in first:
            self._do(command)
        self._play()
        while size is not None and self._used() < size:  # what no round fits into is filled with deposits
            guest = next(iter(self._work.players))
            self._transfer(self._guests.deposit(guest, 1 + self._used() % _SOME))
        self._send()
        self.tally.events = self._used()

    def _play(self) -> None:
        """Let the visits take turns, until nothing more fits and the last has ended."""
        visits: list[Iterator[bool]] = []
        while True:
            pausing = self._clock.pause_due(self._used())
            while not pausing and len(visits) < VISITS:
                visit = self._next()
                if visit is None:
                    break
                visits.append(visit)
            if not visits and not pausing:
                return
            steps = [(visit, next(visit, None)) for visit in visits]
            visits = [visit for visit, acted in steps if acted is not None]
            stuck = not any(acted for _, acted in steps)
            self._hurry = stuck and not pausing
            if stuck and pausing:
                self._clock.pause(self._used())

    def _next(self) -> Iterator[bool] | None:
        """Begin the next visit, if it fits and its guests are free."""
        for alone in (True,) if self._alone else (False, True):
            visit = plans.visit(self._houses, self._seed, self._visits, alone=alone)
            most = self._events_max(visit)
            if self._fits(most):
                guests = self._guests.take(visit.house.currency, visit.guests, visit.dice)
                if not guests:
                    return None
                self._visits += 1
                self._started += 1
                self._reserved += most
                return self._visit(visit, guests, most)
        return None

    def _events_max(self, visit: plans.Visit) -> int:
        """The most events that a visit's next round and its leaving can have."""
        hands = max(visit.guests, visit.house.ruleset.seating.hands_per_player)
        return hands * (8 + len(self._side_bets[visit.house.table_id])) + 5 * visit.guests + 8

    def _fits(self, events: int) -> bool:
        """Whether another round may begin, with so many events beside those of the visits under way."""
        if self._rounds is not None and self._started >= self._rounds:
            return False
        return self._size is None or self._used() + self._reserved + events <= self._size

    # ── A visit: it yields after each of its commands, False where it waits for the clock ──────────────────
    def _visit(self, visit: plans.Visit, guests: list[str], most: int) -> Iterator[bool]:
        house = visit.house
        table_id = house.timed_table_id if visit.timed else house.table_id
        session = f"s{self._visits}" if visit.joins else None
        for guest in guests:
            yield from self._pay(house, guest, 0)
            if visit.joins:
                yield self._do(c.JoinTable(table_id, guest, session_id=session))
        for number in range(visit.rounds):
            if number:  # the first one was begun with the visit
                if not self._fits(0):
                    break
                self._started += 1
            yield from self._round(visit, table_id, guests, session)
        for guest in guests:
            if visit.joins:
                yield self._do(c.LeaveTable(table_id, guest))
            if visit.cashes:
                yield self._transfer(self._guests.withdrawal(self._work, guest))
        self._guests.give_back(house.currency, guests)
        self._reserved -= most

    def _round(
        self, visit: plans.Visit, table_id: str, guests: list[str], session: str | None
    ) -> Iterator[bool]:
        opening = plans.opening(visit.dice)
        side_bets = self._side_bets[visit.house.table_id]
        stakes = [
            c.SeatStake(b.seat, guests[b.guest], b.ante, b.side_bets, session, "internet", b.client_seed)
            for b in plans.bets(visit, side_bets, seeded=opening != "at_once")
            if b.guest < len(guests)  # a simulation may have fewer guests than the party was to have
        ]
        multiple = 2 + visit.house.ruleset.play.raise_multiple  # ante, raise, and perhaps the price of a card
        needed: dict[str, int] = {}
        for s in stakes:
            needed[s.player_id] = needed.get(s.player_id, 0) + multiple * s.ante + sum(s.side_bets.values())
        for guest, amount in needed.items():
            yield from self._pay(visit.house, guest, amount)
        round_id = ids.round_id(self._work.next_recorded_at_us())
        yield from self._deal(round_id, table_id, tuple(stakes), opening)
        round_ = self._work.rounds[round_id]
        chance = visit.dice.random()
        if chance < 0.01:  # noqa: PLR2004
            yield self._do(c.VoidRound(round_id, "malfunction"))
        elif visit.timed and chance < 0.1:  # noqa: PLR2004
            yield from self._wait(round_)
        yield from self._decide(round_, visit)
        self.tally.finished(round_)
        del self._work.rounds[round_id]
        self._work.deadlines.pop(round_id, None)

    def _deal(
        self, round_id: str, table_id: str, stakes: tuple[c.SeatStake, ...], opening: plans.Opening
    ) -> Iterator[bool]:
        if opening == "at_once":
            yield self._do(c.OpenRound(round_id, table_id, stakes, deal=True))
            return
        yield self._do(c.OpenRound(round_id, table_id))
        if opening == "seeded":
            yield self._do(c.PlaceAntes(round_id, stakes, deal=True))
            return
        for stake in stakes:
            yield self._do(c.PlaceAntes(round_id, (stake,)))
        yield self._do(c.DealCards(round_id))

    def _decide(self, round_: Round, visit: plans.Visit) -> Iterator[bool]:
        """Take the decisions that are not taken, seat after seat, by their cards."""
        sells = visit.house.ruleset.exchange is not None
        for number in round_.order:
            seat = round_.seats[number]
            while seat.decided_by is None and round_.phase == "dealt":
                options = ["raise", "fold"]
                if sells and seat.step == "deciding":
                    options.append("exchange")
                action, discard = decides(round_.hand(seat), options, visit.dice)
                yield self._do(c.Decide(round_.id, number, action, discard))

    def _wait(self, round_: Round) -> Iterator[bool]:
        """Let the clock decide, one seat after the other in some houses, unless all that play wait for it."""
        work = self._work
        while round_.phase == "dealt" and not self._hurry:
            if work.deadlines[round_.id] > self._clock.at(self._used()):
                yield False
            else:
                yield self._do(c.TimeOutRound(round_.id))

    def _pay(self, house: House, guest: str, needed: int) -> Iterator[bool]:
        for command in self._guests.transfers(self._work, guest, house.currency, needed):
            yield self._do(command) if isinstance(command, c.OpenPlayer) else self._transfer(command)

    def _transfer(self, command: c.Deposit | c.Withdraw) -> bool:
        signed = command.amount if isinstance(command, c.Deposit) else -command.amount
        self.tally.cashier[command.player_id.rpartition("-")[2]] += signed
        return self._do(command)

    # ── A command ───────────────────────────────────────────────────────────────────────────────────────────
    def _do(self, command: c.Command) -> bool:
        """Decide a command. Raises Rejection: nothing is asked here that may not be."""
        work = self._work
        if not self._names:
            text = urlsafe_b64encode(os.urandom(COMMAND_NAME_BYTES * _NAMES_TOGETHER)).decode()
            self._names = [text[at : at + _NAME_CHARACTERS] for at in range(0, len(text), _NAME_CHARACTERS)]
        work.command = self._names.pop()
        work.meta = {"actor": CLIENT, "command": work.command, "schema": EVENT_SCHEMA}
        work.now_us = self._clock.at(self._used())
        HANDLERS[type(command)](command, work)
        if len(work.emitted) >= SENT_TOGETHER:
            self._send()
        return True

    def _used(self) -> int:
        return self._work.position - self._first

    def _send(self) -> None:
        self.tally.data_bytes += self._sink.events(self._work.emitted)
        self._work.emitted = []
