"""Was every stake what the table and the house allow: ante, side bets, contribution, raise, exchange fee."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

from domain.replay.exact import in_text, units
from domain.replay.house import House, SideBet
from domain.replay.kinds import CardExchanged, RoundOpened, SideBetPlaced
from domain.replay.parts import JackpotRef, Parameters
from domain.replay.report import Findings
from domain.replay.state import Game, Seat

_REMEMBERED: Final = 4096
_PUT_IN: Final = ("contribution", "jackpot_id", "overflow", "diversion")


def check(game: Game, opened: RoundOpened, house: House, findings: Findings) -> None:
    """Check all stakes; amounts in minor units."""
    parameters, seats = opened.parameters, game.in_seat_order
    findings.none_of("table_parameters", unfit_parameters(parameters, house))
    low, high = ante_limits(parameters, house)
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


def ante_limits(parameters: Parameters, house: House) -> tuple[int, int]:
    """The least and the most ante."""
    high = parameters.max_ante
    return parameters.min_ante, high if house.max_ante is None else min(high, house.max_ante)


def fits(bet: SideBetPlaced, opened: RoundOpened, house: House) -> bool:
    """Whether a side bet is offered, its stake allowed, and what it puts into the jackpot right."""
    if not _offered(bet.bet, opened, house):
        return False
    low, high = _stake_limits(house.side_bets[bet.bet], opened.parameters)
    return low <= bet.amount <= high and _put_in(bet) == _due(bet, opened.jackpot)


def _wrong(seat: int, expected: object, actual: object) -> dict[str, Any]:
    return {"seat": seat, "expected": expected, "actual": actual}


def unfit_parameters(parameters: Parameters, house: House) -> list[str]:
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
    for number, bet in placed:
        due, said = _due(bet, opened.jackpot), _put_in(bet)
        if said != due:
            yield _wrong(number, _shown(due), _shown(said))


def _put_in(bet: SideBetPlaced) -> tuple[str | None, ...]:
    """What a side bet put into a jackpot, as it says; in the order of `_PUT_IN`."""
    return bet.contribution, bet.jackpot_id, bet.overflow, bet.diversion


def _due(bet: SideBetPlaced, jackpot: JackpotRef | None) -> tuple[str | None, ...]:
    """What it has to put in; how much of it overflows, up to all of it, is taken as it says."""
    if bet.bet != "jackpot" or jackpot is None:
        return None, None, None, None
    overflow = diversion = None
    if jackpot.diversion is not None:
        diversion = _part(bet.amount, jackpot.diversion)
    if jackpot.ceiling is not None and bet.overflow is not None:
        above = units(bet.overflow)
        if 0 < above <= bet.amount * units(jackpot.contribution):
            overflow = in_text(above)
    return _part(bet.amount, jackpot.contribution), jackpot.id, overflow, diversion


@lru_cache(_REMEMBERED)
def _part(stake: int, share: str) -> str:
    return in_text(stake * units(share))


def _shown(put_in: Sequence[str | None]) -> dict[str, str]:
    return {name: amount for name, amount in zip(_PUT_IN, put_in, strict=True) if amount is not None}


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
