"""Was every stake what the table and the house allow: ante, side bets, contribution, raise, exchange fee."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from domain.replay.exact import in_text, units
from domain.replay.house import House, SideBet
from domain.replay.kinds import CardExchanged, RoundOpened, SideBetPlaced
from domain.replay.parts import Parameters
from domain.replay.report import Findings
from domain.replay.state import Game, Seat

_PUT_IN: Final = ("contribution", "jackpot_id", "overflow", "diversion")


def check(game: Game, opened: RoundOpened, house: House, findings: Findings) -> None:
    """Check all stakes; amounts in minor units."""
    parameters, seats = opened.parameters, game.in_seat_order
    findings.none_of("table_parameters", _unfit_parameters(parameters, house))
    low, high = parameters.min_ante, parameters.max_ante
    if house.max_ante is not None:
        high = min(high, house.max_ante)
    antes = [(seat.number, seat.ante.data.amount) for seat in seats]
    findings.none_of(
        "ante_limits",
        [_wrong(number, [low, high], ante) for number, ante in antes if not low <= ante <= high],
    )
    placed = [(seat.number, bet) for seat in seats for bet in seat.side_bets.values()]
    findings.none_of(
        "side_bets_offered",
        [_wrong(number, None, bet.bet) for number, bet in placed if not _offered(bet.bet, opened, house)],
    )
    findings.none_of("side_bet_stakes", [*_unfit_side_bets(placed, parameters, house)] if placed else [])
    findings.none_of("contributions", [*_unfit_contributions(placed, opened)] if placed else [])
    multiple = house.raise_multiple
    findings.none_of(
        "raise_multiple",
        [
            _wrong(seat.number, seat.ante.data.amount * multiple, seat.raised)
            for seat in seats
            if seat.raised is not None and seat.raised != seat.ante.data.amount * multiple
        ],
    )
    bought = [(seat, seat.exchange) for seat in seats if seat.exchange is not None]
    findings.none_of("exchange", [*_unfit_exchanges(bought, house)] if bought else [])


def _wrong(seat: int, expected: object, actual: object) -> dict[str, Any]:
    return {"seat": seat, "expected": expected, "actual": actual}


def _unfit_parameters(parameters: Parameters, house: House) -> list[str]:
    """What a table must set for this house and did not, or set the wrong way round."""
    unfit = []
    if parameters.min_ante > parameters.max_ante:
        unfit.append("min_ante")
    if parameters.min_side_bet > parameters.max_side_bet:
        unfit.append("min_side_bet")
    if house.capped and house.cap_amount is None and parameters.raise_win_cap is None:
        unfit.append("raise_win_cap")
    if parameters.bonus_stake is None and any(bet.table_stake for bet in house.side_bets.values()):
        unfit.append("bonus_stake")
    return unfit


def _offered(bet: str, opened: RoundOpened, house: House) -> bool:
    return bet in house.side_bets and (bet != "jackpot" or opened.jackpot is not None)


def _unfit_side_bets(
    placed: Sequence[tuple[int, SideBetPlaced]], parameters: Parameters, house: House
) -> Iterator[dict[str, Any]]:
    for number, bet in placed:
        side_bet = house.side_bets.get(bet.bet)
        if side_bet is not None:
            low, high = _stake_limits(side_bet, parameters)
            if not low <= bet.amount <= high:
                yield _wrong(number, [low, high], bet.amount)


def _stake_limits(side_bet: SideBet, parameters: Parameters) -> tuple[int, int]:
    """The least and the most a side bet takes: the same where its stake is fixed."""
    if side_bet.stake is not None:
        return side_bet.stake, side_bet.stake
    if side_bet.table_stake:
        fixed = parameters.bonus_stake or 0
        return fixed, fixed
    return parameters.min_side_bet, parameters.max_side_bet


def _unfit_contributions(
    placed: Sequence[tuple[int, SideBetPlaced]], opened: RoundOpened
) -> Iterator[dict[str, Any]]:
    """A jackpot side bet puts exactly stake times share into the round's jackpot, other side bets nothing.

    How much of it the meter could not take depends on the meter, which is not in the round: some of it, all
    of it or nothing, and nothing where there is no ceiling.
    """
    jackpot = opened.jackpot
    for number, bet in placed:
        due = {}
        if bet.bet == "jackpot" and jackpot is not None:
            contribution = bet.amount * units(jackpot.contribution)
            due = {"contribution": in_text(contribution), "jackpot_id": jackpot.id}
            if jackpot.diversion is not None:
                due["diversion"] = in_text(bet.amount * units(jackpot.diversion))
            above = units(bet.overflow or "0")
            if jackpot.ceiling is not None and 0 < above <= contribution:
                due["overflow"] = in_text(above)
        said = {field: text for field in _PUT_IN if (text := getattr(bet, field)) is not None}
        if said != due:
            yield _wrong(number, due, said)


def _unfit_exchanges(bought: Sequence[tuple[Seat, CardExchanged]], house: House) -> Iterator[dict[str, Any]]:
    """An exchange costs its fee in antes and takes the side bets with it that the house says (source 003)."""
    for seat, exchange in bought:
        if house.exchange_fee_antes is None:
            yield _wrong(seat.number, None, "exchange")
            continue
        fee = seat.ante.data.amount * house.exchange_fee_antes
        if exchange.fee != fee:
            yield _wrong(seat.number, fee, exchange.fee)
        forfeited = sorted(house.forfeits & seat.side_bets.keys())
        if sorted(exchange.forfeited) != forfeited:
            yield _wrong(seat.number, forfeited, list(exchange.forfeited))
