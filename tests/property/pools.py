"""A second book of jackpots, kept from the events alone: what every figure in them has to be (G10).

Written from the rules and not from the ledger's code: shares are decimals, pools are decimals of minor units.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from domain import events as ev
from domain.work import Emitted, Work

NOTHING = Decimal(0)
ENDLESS = Decimal(9 * 10**15)


@dataclass
class Parameters:
    """What a jackpot goes by."""

    version: int
    contribution: Decimal
    reset: Decimal
    ceiling: Decimal
    diversion: Decimal


@dataclass
class Pot:
    """A jackpot's three pools, in minor units, and what may happen to it."""

    now: Parameters
    meter: Decimal
    moved_at: int
    waiting: Parameters | None = None
    overflow: Decimal = NOTHING
    diversion: Decimal = NOTHING
    enabled: bool = True
    retired: bool = False
    hits: int = 0
    bets: dict[tuple[str, int], tuple[Decimal, Decimal, Decimal]] = field(default_factory=dict)
    """By round and seat, what each bet that is not settled put into meter, overflow and diversion."""


def parameters(
    event: ev.JackpotOpened | ev.JackpotParametersScheduled | ev.JackpotRef, version: int
) -> Parameters:
    """Read parameters from where an event has them."""
    ceiling = ENDLESS if event.ceiling is None else Decimal(event.ceiling)
    diversion = Decimal(event.diversion or 0)
    return Parameters(version, Decimal(event.contribution), Decimal(event.reset), ceiling, diversion)


def amount(text: str | None) -> Decimal:
    """Read an exact amount that may be absent."""
    return Decimal(text or 0)


class PoolsBook:
    """Every jackpot as its events have it; `read` takes further events and checks each figure in them."""

    def __init__(self) -> None:
        self.pots: dict[str, Pot] = {}
        self.pinned: dict[str, Parameters] = {}
        self.seen = 0
        self.restarted: tuple[str, Decimal] | None = None
        """A jackpot whose waiting parameters the next event has to put in force, and what it restarted at."""

    def read(self, events: list[Emitted]) -> None:
        """Take what has happened since."""
        for emitted in events[self.seen :]:
            due, self.restarted = self.restarted, None
            assert due is None or isinstance(emitted.event, ev.JackpotParametersActivated)
            self._in_life(emitted, due)
            self._in_round(emitted)
        self.seen = len(events)

    def compare(self, work: Work) -> None:
        """The ledger's own books agree to the ten-thousandth."""
        assert set(work.jackpots) == set(self.pots)
        for jackpot_id, pot in self.pots.items():
            held = work.jackpots[jackpot_id]
            pools = [pot.meter, pot.overflow, pot.diversion]
            assert [Decimal(pool) for pool in (held.meter, held.overflow, held.diverted)] == [
                pool * 10_000 for pool in pools
            ]
            assert min(pools) >= 0
            assert held.parameters_version == pot.now.version
            assert (held.scheduled is None) == (pot.waiting is None)
            assert (held.enabled, held.retired, held.unsettled) == (pot.enabled, pot.retired, len(pot.bets))
            assert (held.hits, held.moved_at) == (pot.hits, pot.moved_at)

    # ── Outside rounds ──────────────────────────────────────────────────────────────────────────
    def _in_life(self, emitted: Emitted, due: tuple[str, Decimal] | None) -> None:
        match event := emitted.event:
            case ev.JackpotOpened():
                now = parameters(event, event.parameters_version)
                self.pots[event.jackpot_id] = Pot(now, now.reset, emitted.position)
            case ev.JackpotParametersScheduled():
                pot = self.pots[event.jackpot_id]
                newest = pot.waiting or pot.now
                pot.waiting = parameters(event, event.parameters_version)
                assert pot.waiting.version == newest.version + 1
                assert pot.waiting.contribution + pot.waiting.diversion <= 1
                assert pot.waiting.ceiling > max(pot.meter, pot.now.reset, pot.waiting.reset)
            case ev.JackpotParametersActivated():
                pot = self.pots[event.jackpot_id]
                assert due is not None
                assert due[0] == event.jackpot_id
                assert pot.waiting is not None
                pot.now, pot.waiting = pot.waiting, None
                assert event.parameters_version == pot.now.version
                top_up = max(NOTHING, pot.now.reset - due[1])
                assert (amount(event.top_up), amount(event.meter_before)) == (top_up, pot.meter)
                assert (event.top_up is None) == (top_up == 0)
                self._move(pot, top_up, emitted.position if top_up else pot.moved_at)
                assert amount(event.meter_after) == pot.meter
            case ev.JackpotDisabled():
                self.pots[event.jackpot_id].enabled = False
            case ev.JackpotEnabled():
                assert not self.pots[event.jackpot_id].retired
                self.pots[event.jackpot_id].enabled = True
            case ev.JackpotRetired():
                pot = self.pots[event.jackpot_id]
                assert pot.meter == pot.overflow == pot.diversion == 0
                pot.retired, pot.waiting = True, None
            case ev.JackpotTransferred():
                self._transferred(event, emitted.position)
            case ev.JackpotAdjusted():
                pot = self.pots[event.jackpot_id]
                before = getattr(pot, event.pool)
                after = before + amount(event.amount)
                assert (amount(event.before), amount(event.after)) == (before, after)
                setattr(pot, event.pool, after)
                pot.moved_at = emitted.position if event.pool == "meter" else pot.moved_at
            case _:
                pass

    def _transferred(self, event: ev.JackpotTransferred, position: int) -> None:
        source, target = self.pots[event.jackpot_id], self.pots[event.to]
        assert not source.enabled
        assert not source.bets
        assert (source.retired, target.retired) == (False, False)
        assert amount(event.amount) == source.meter
        assert (amount(event.overflow), amount(event.diversion)) == (source.overflow, source.diversion)
        fits = min(source.meter, max(NOTHING, target.now.ceiling - target.meter))
        assert amount(event.above_ceiling) == source.meter - fits
        assert (amount(event.to_meter_before), amount(event.to_meter_after)) == (
            target.meter,
            target.meter + fits,
        )
        target.overflow += source.overflow + source.meter - fits
        target.diversion += source.diversion
        self._move(target, fits, position)
        source.meter = source.overflow = source.diversion = NOTHING
        source.moved_at = position

    def _move(self, pot: Pot, by: Decimal, position: int) -> None:
        pot.meter += by
        pot.moved_at = position

    # ── In rounds ───────────────────────────────────────────────────────────────────────────────
    def _in_round(self, emitted: Emitted) -> None:
        match event := emitted.event:
            case ev.RoundOpened(jackpot=ev.JackpotRef() as pinned):
                self.pinned[emitted.stream] = parameters(pinned, pinned.version)
                assert self.pinned[emitted.stream] == self.pots[pinned.id].now
            case ev.SideBetPlaced(jackpot_id=str() as jackpot_id):
                self._bet(event, self.pots[jackpot_id], emitted)
            case ev.ContributionReversed():
                self._taken_back(event, self.pots[event.jackpot_id], emitted)
            case ev.JackpotHit():
                self._hit(event, self.pots[event.jackpot_id], emitted)
            case ev.Settled():
                for pot in self.pots.values():
                    pot.bets.pop((emitted.stream, event.seat), None)
            case _:
                pass

    def _bet(self, event: ev.SideBetPlaced, pot: Pot, emitted: Emitted) -> None:
        pinned = self.pinned[emitted.stream]
        assert pot.enabled
        contribution, aside = event.amount * pinned.contribution, event.amount * pinned.diversion
        fits = min(contribution, max(NOTHING, pinned.ceiling - pot.meter))
        put_in = (amount(event.contribution), amount(event.overflow), amount(event.diversion))
        assert put_in == (contribution, contribution - fits, aside)
        assert event.overflow != "0"
        pot.bets[emitted.stream, event.seat] = (fits, contribution - fits, aside)
        pot.overflow += contribution - fits
        pot.diversion += aside
        self._move(pot, fits, emitted.position)

    def _taken_back(self, event: ev.ContributionReversed, pot: Pot, emitted: Emitted) -> None:
        put_in = pot.bets.pop((emitted.stream, event.seat))
        pools = (pot.meter, pot.overflow, pot.diversion)
        back = tuple(min(theirs, held) for theirs, held in zip(put_in, pools, strict=True))
        said = (amount(event.from_meter), amount(event.from_overflow), amount(event.from_diversion))
        assert said == back
        assert amount(event.amount) == sum(put_in)
        assert amount(event.from_house) == sum(put_in) - sum(back)
        assert (amount(event.meter_before), event.previous_position) == (pot.meter, pot.moved_at)
        pot.overflow -= back[1]
        pot.diversion -= back[2]
        self._move(pot, -back[0], emitted.position)
        assert amount(event.meter_after) == pot.meter

    def _hit(self, event: ev.JackpotHit, pot: Pot, emitted: Emitted) -> None:
        pinned = self.pinned[emitted.stream]
        pot.hits += 1
        assert (event.order, event.previous_position) == (pot.hits, pot.moved_at)
        assert (emitted.stream, event.seat) in pot.bets
        assert amount(event.meter_before) == pot.meter
        assert amount(event.from_meter) + amount(event.from_house) == event.award
        self._move(pot, -amount(event.from_meter), emitted.position)
        paid = released = NOTHING
        if event.restart is not None:
            assert Decimal(event.restart) == pinned.reset
            paid = min(pot.diversion, pinned.reset)
            after = pot.waiting or pot.now
            top_up = NOTHING if pot.waiting is None else max(NOTHING, after.reset - pinned.reset)
            self._move(pot, pinned.reset, emitted.position)
            most = min(pinned.ceiling, after.ceiling - top_up)
            released = min(pot.overflow, max(NOTHING, most - pot.meter))
            self._move(pot, released, emitted.position)
            if pot.waiting is not None:
                self.restarted = event.jackpot_id, pinned.reset
        assert (amount(event.restart_from_diversion), amount(event.from_overflow)) == (paid, released)
        pot.diversion -= paid
        pot.overflow -= released
        assert amount(event.meter_after) == pot.meter
