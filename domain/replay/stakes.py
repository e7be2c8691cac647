"""Was every stake what the table and the house allow: ante, side bets, contribution, raise, exchange fee."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from domain.replay.exact import in_text, units
from domain.replay.house import House, SideBet
from domain.replay.kinds import RoundOpened
from domain.replay.parts import Parameters
from domain.replay.report import Findings
from domain.replay.state import Game, Seat

_PUT_IN: Final = ("contribution", "jackpot_id", "overflow", "diversion")


def check(game: Game, opened: RoundOpened, house: House, findings: Findings) -> None:
    """Check all stakes; amounts in minor units."""
    parameters = opened.parameters
    seats = game.in_seat_order()
    findings.none_of("table_parameters", list(_unfit_parameters(parameters, house)))
    low, high = parameters.min_ante, parameters.max_ante
    if house.max_ante is not None:
        high = min(high, house.max_ante)
    antes = [(seat.number, seat.ante.data.amount) for seat in seats]
    findings.none_of(
        "ante_limits",
        [_wrong(number, [low, high], ante) for number, ante in antes if not low <= ante <= high],
    )
    findings.none_of(
        "side_bets_offered",
        [
            _wrong(seat.number, None, bet)
            for seat in seats
            for bet in seat.side_bets
            if not _offered(bet, opened, house)
        ],
    )
    findings.none_of("side_bet_stakes", list(_unfit_side_bets(seats, parameters, house)))
    findings.none_of("contributions", list(_unfit_contributions(seats, opened)))
    findings.none_of("raise_multiple", list(_unfit_raises(seats, house)))
    findings.none_of("exchange", list(_unfit_exchanges(seats, house)))


def _wrong(seat: int, expected: object, actual: object) -> dict[str, Any]:
    return {"seat": seat, "expected": expected, "actual": actual}


def _unfit_parameters(parameters: Parameters, house: House) -> Iterator[str]:
    """What a table must set for this house and did not, or set the wrong way round."""
    if parameters.min_ante > parameters.max_ante:
        yield "min_ante"
    if parameters.min_side_bet > parameters.max_side_bet:
        yield "min_side_bet"
    if house.capped and house.cap_amount is None and parameters.raise_win_cap is None:
        yield "raise_win_cap"
    if any(bet.table_stake for bet in house.side_bets.values()) and parameters.bonus_stake is None:
        yield "bonus_stake"


def _offered(bet: str, opened: RoundOpened, house: House) -> bool:
    return bet in house.side_bets and (bet != "jackpot" or opened.jackpot is not None)


def _unfit_side_bets(seats: list[Seat], parameters: Parameters, house: House) -> Iterator[dict[str, Any]]:
    for seat in seats:
        for kind, placed in seat.side_bets.items():
            side_bet = house.side_bets.get(kind)
            if side_bet is not None:
                low, high = _stake_limits(side_bet, parameters)
                if not low <= placed.amount <= high:
                    yield _wrong(seat.number, [low, high], placed.amount)


def _stake_limits(side_bet: SideBet, parameters: Parameters) -> tuple[int, int]:
    """The least and the most a side bet takes: the same where its stake is fixed."""
    if side_bet.stake is not None:
        return side_bet.stake, side_bet.stake
    if side_bet.table_stake:
        fixed = parameters.bonus_stake or 0
        return fixed, fixed
    return parameters.min_side_bet, parameters.max_side_bet


def _unfit_contributions(seats: list[Seat], opened: RoundOpened) -> Iterator[dict[str, Any]]:
    """A jackpot side bet puts exactly stake times share into the round's jackpot, other side bets nothing.

    How much of it the meter could not take depends on the meter, which is not in the round: some of it, all
    of it or nothing, and nothing where there is no ceiling.
    """
    jackpot = opened.jackpot
    for seat in seats:
        for kind, placed in seat.side_bets.items():
            due = {}
            if kind == "jackpot" and jackpot is not None:
                contribution = placed.amount * units(jackpot.contribution)
                due = {"contribution": in_text(contribution), "jackpot_id": jackpot.id}
                if jackpot.diversion is not None:
                    due["diversion"] = in_text(placed.amount * units(jackpot.diversion))
                above = units(placed.overflow or "0")
                if jackpot.ceiling is not None and 0 < above <= contribution:
                    due["overflow"] = in_text(above)
            said = {field: text for field in _PUT_IN if (text := getattr(placed, field)) is not None}
            if said != due:
                yield _wrong(seat.number, due, said)


def _unfit_raises(seats: list[Seat], house: House) -> Iterator[dict[str, Any]]:
    for seat in seats:
        due = seat.ante.data.amount * house.raise_multiple
        if seat.raised is not None and seat.raised != due:
            yield _wrong(seat.number, due, seat.raised)


def _unfit_exchanges(seats: list[Seat], house: House) -> Iterator[dict[str, Any]]:
    """An exchange costs its fee in antes and takes the side bets with it that the house says (source 003)."""
    for seat in seats:
        exchange = seat.exchange
        if exchange is None:
            continue
        if house.exchange_fee_antes is None:
            yield _wrong(seat.number, None, "exchange")
            continue
        fee = seat.ante.data.amount * house.exchange_fee_antes
        if exchange.fee != fee:
            yield _wrong(seat.number, fee, exchange.fee)
        forfeited = sorted(house.forfeits & seat.side_bets.keys())
        if sorted(exchange.forfeited) != forfeited:
            yield _wrong(seat.number, forfeited, list(exchange.forfeited))
