"""Awards and the meter: who hit, in which order, what it paid, and what it did to the meter (reading 11).

The meter before the round's first movement is not in the round; that figure is taken as recorded, and
everything after it is derived. What the two other pools hold is in no round: of what comes out of them with a
restart, only its bounds can be checked. Exact amounts are in 1/10 000 of a minor unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from domain.replay.exact import UNIT, in_text, units
from domain.replay.fields import BALANCE_MAX
from domain.replay.house import Award, House
from domain.replay.kinds import JackpotHit, RoundOpened, SideBetPlaced
from domain.replay.parts import JackpotRef
from domain.replay.report import PROBLEMS_MAX, Findings
from domain.replay.showdown import Showdown
from domain.replay.state import Game, Seat
from domain.replay.stream import Record

_WHOLE_METER: Final = 100
_LINKED: Final = frozenset({"JackpotHit", "ContributionReversed"})
"""Events that name the meter's last movement before them."""
_FUNDING: Final = ("from_meter", "from_house", "restart", "restart_from_diversion", "from_overflow")


class Due(NamedTuple):
    """An award that a seat's final hand earned."""

    seat: Seat
    category: str
    award: Award

    @property
    def whole_meter(self) -> bool:
        """Whether it wins the meter, which is then shared by all such hands of the round."""
        return self.award.percent == _WHOLE_METER


def due(game: Game, house: House, shown: Showdown) -> list[Due]:
    """The awards of the round in the order they are paid.

    That is by seat, but all that win the meter together with the first of them.
    """
    side_bet = house.side_bets.get("jackpot")
    if side_bet is None:
        return []
    earned = []
    for seat in game.in_seat_order:
        hand = shown.hands.get(seat.number)
        award = None if hand is None else side_bet.awards.get(hand.category)
        if hand is None or award is None or "jackpot" not in seat.side_bets:
            continue
        if shown.in_play(seat, side_bet, house):
            earned.append(Due(seat, hand.category, award))
    together = [one for one in earned if one.whole_meter]
    ordered: list[Due] = []
    for one in earned:
        if not one.whole_meter:
            ordered.append(one)
        elif one is together[0]:
            ordered += together
    return ordered


def check_order(game: Game, dues: Sequence[Due], findings: Findings) -> None:
    """Check the order of payments: seat by seat, each award right before its seat is settled.

    The shares of a won meter all come with the first of them.
    """
    expected: list[tuple[str, int]] = []
    together = [one.seat.number for one in dues if one.whole_meter]
    single = {one.seat.number for one in dues if not one.whole_meter}
    for number in sorted(game.seats):
        if number in single:
            expected.append(("JackpotHit", number))
        elif together and number == together[0]:
            expected += [("JackpotHit", winner) for winner in together]
        expected.append(("Settled", number))
    actual = [(payment.type, payment.data.seat) for payment in game.payments]
    if expected == actual:
        findings.holds("settlement_order", ok=True)
    else:
        findings.holds("settlement_order", ok=False, expected=_listed(expected), actual=_listed(actual))


def _listed(payments: Sequence[tuple[str, int]]) -> list[str]:
    return [f"{kind} seat_{number}" for kind, number in payments[:PROBLEMS_MAX]]


def check_awards(dues: Sequence[Due], opened: RoundOpened, findings: Findings) -> dict[int, int]:
    """Check each award, who funded it, and the meter after it.

    Returns what each seat was due, in minor units.
    """
    jackpot = opened.jackpot
    winners = [one for one in dues if one.whole_meter]
    pot: int | None = None
    awards: dict[int, int] = {}
    for one in dues:
        name = f"jackpot.seat_{one.seat.number}"
        if one.seat.hit is None or jackpot is None:
            findings.holds(name, ok=False, expected=one.category)
            continue
        hit = one.seat.hit.data
        before = units(hit.meter_before)
        pot = before if pot is None and one.whole_meter else pot
        award = _amount(one, before, pot or 0, len(winners))
        awards[one.seat.number] = award
        from_meter = 0 if one.award.house_pays else min(before, award * UNIT)
        findings.same(
            f"{name}.award",
            {"jackpot_id": jackpot.id, "category": one.category, "award": award},
            {"jackpot_id": hit.jackpot_id, "category": hit.category, "award": hit.award},
        )
        funding = {"from_meter": in_text(from_meter), "from_house": in_text(award * UNIT - from_meter)}
        after = before - from_meter
        if one is (winners[-1] if winners else None):
            restart, released = _restart(jackpot, after, hit)
            funding |= restart
            after += jackpot.reset * UNIT + released
        findings.same(
            f"{name}.funding",
            funding,
            {part: said for part in _FUNDING if (said := getattr(hit, part)) is not None},
        )
        findings.same(f"{name}.meter_after", in_text(after), hit.meter_after)
    return awards


def _restart(jackpot: JackpotRef, remainder: int, hit: JackpotHit) -> tuple[dict[str, str], int]:
    """How a won meter's restart is funded, and what comes out of the overflow with it.

    The diversion pool pays all of the reset at most; the overflow fills the meter to its ceiling at most.
    """
    reset = jackpot.reset * UNIT
    most = (BALANCE_MAX if jackpot.ceiling is None else jackpot.ceiling) * UNIT
    diverted = min(reset, units(hit.restart_from_diversion or "0"))
    released = min(max(0, most - remainder - reset), units(hit.from_overflow or "0"))
    parts = {"restart_from_diversion": diverted, "from_overflow": released}
    return {
        "restart": in_text(reset),
        **{part: in_text(amount) for part, amount in parts.items() if amount},
    }, released


def _amount(one: Due, before: int, pot: int, winners: int) -> int:
    """An award in minor units, rounded down.

    It is a share of the pot, a percentage of the meter as it stands, or a fixed amount.
    """
    if one.award.percent is None:
        return one.award.fixed
    if one.whole_meter:
        return pot // (winners * UNIT)
    return before * one.award.percent // (100 * UNIT)


def check_meter(
    records: Sequence[Record], dues: Sequence[Due], opened: RoundOpened, findings: Findings
) -> None:
    """Check the chain of this jackpot's movements as far as it runs through this round.

    That is: its links, the meter before and after, its ceiling, and the count of hits.
    """
    ceiling = None if opened.jackpot is None else opened.jackpot.ceiling
    bets = [one for one in records if one.type == "SideBetPlaced" and one.data.contribution is not None]
    problems = [*_not_full(bets)] if len(bets) > 1 else []
    if any(record.type in _LINKED for record in records):
        problems = [*_broken_links(records, ceiling), *problems]
    together = [one.seat.hit for one in dues if one.whole_meter and one.seat.hit is not None]
    problems += [
        hit.problem("not right behind the share before it")
        for before, hit in pairwise(together)
        if hit.data.previous_position != before.position
    ]
    findings.none_of("meter_chain", problems)


def _not_full(bets: Sequence[Record]) -> Iterator[dict[str, Any]]:
    """Contributions that a meter took although the one before had filled it to its ceiling.

    Only where nothing outside the round's stream can lie between the two.
    """
    for before, bet in pairwise(bets):
        adjacent = bet.position - before.position == bet.version - before.version
        took_some = bet.data.overflow != bet.data.contribution
        if adjacent and before.data.overflow is not None and took_some:
            yield bet.problem("the meter stands at its ceiling")


def _beyond(placed: SideBetPlaced, ceiling: int | None, meter: int) -> bool:
    """Whether a meter cannot be what a side bet left: it fills up to the ceiling, and only then overflows."""
    if ceiling is None:
        return False
    overflow = placed.overflow
    if overflow is None:
        return meter > ceiling * UNIT
    return meter < ceiling * UNIT if overflow == placed.contribution else meter != ceiling * UNIT


def _broken_links(records: Sequence[Record], ceiling: int | None) -> Iterator[dict[str, Any]]:
    """Movements whose link or meter contradicts an earlier movement of the round.

    A link leads to the last movement in this round, or to a later one of another round; then the meter is
    not ours to derive.
    """
    own = {record.position for record in records}
    last: Record | None = None
    last_hit: Record | None = None
    for record in records:
        if record.type == "SideBetPlaced" and record.data.contribution is not None:
            last = record
        elif record.type in _LINKED:
            link = record.data.previous_position
            earliest = 1 if last is None else last.position
            if last is not None and link == last.position:
                if record.data.meter_before != getattr(last.data, "meter_after", record.data.meter_before):
                    yield record.problem("meter_before is not what the movement before left")
                elif last.type == "SideBetPlaced" and _beyond(
                    last.data, ceiling, units(record.data.meter_before)
                ):
                    yield record.problem("meter_before is not what the ceiling allows")
            elif not earliest <= link < record.position or link in own:
                yield record.problem("previous_position is no movement of the meter")
            last = record
            if record.type == "JackpotHit":
                yield from _out_of_order(record, last_hit, link)
                last_hit = record


def _out_of_order(hit: Record, before: Record | None, link: int) -> Iterator[dict[str, Any]]:
    """Hits are counted: by one where nothing came between, by more where other rounds hit in between."""
    if before is not None:
        step = hit.data.order - before.data.order
        if step < 1 or (link == before.position and step != 1):
            yield hit.problem("order")
