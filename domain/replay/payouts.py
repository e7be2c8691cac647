"""Every leg of every bet, derived again from the rules, the cards and the decisions.

What each bet pays is said in the sources' words in `domain.rulesets` and in the project's readings of them;
a leg is the stake, what of it came back, and what was won, apart. Amounts in minor units.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from domain.replay.house import House, SideBet
from domain.replay.kinds import RoundOpened
from domain.replay.parts import Bet, Leg
from domain.replay.ranking import Hand
from domain.replay.report import Findings
from domain.replay.showdown import Showdown
from domain.replay.state import Game, Seat

_RETURNED = frozenset({"dealer_not_qualified", "push"})


def check(
    game: Game,
    opened: RoundOpened,
    house: House,
    shown: Showdown,
    awards: Mapping[int, int],
    findings: Findings,
) -> None:
    """Check each seat's `Settled`: result, category, whether the hand was turned up, and each bet.

    `awards` are the jackpot wins, derived before. Seats without a hand in the events cannot be judged.
    """
    cap = house.cap_amount if house.cap_amount is not None else opened.parameters.raise_win_cap
    won_on_raises: dict[str, int] = defaultdict(int)
    for seat in game.in_seat_order:
        name = f"settled.seat_{seat.number}"
        hand = shown.hands.get(seat.number)
        if seat.settled is None or hand is None:
            findings.holds(name, ok=False)
            continue
        result = shown.result(seat, hand)
        findings.same(f"{name}.result", result, seat.settled.result)
        findings.same(f"{name}.category", hand.category, seat.settled.category)
        findings.same(f"{name}.shown", _shown(seat, house, shown), seat.settled.shown)
        left = None
        if house.capped and cap is not None:
            left = max(cap - won_on_raises[seat.player], 0) if house.cap_per_player else cap
        legs = [_ante_leg(seat, result), *_raise_leg(seat, result, hand, house, left), *_fee_leg(seat)]
        if house.cap_per_player:
            won_on_raises[seat.player] += sum(leg.won for leg in legs if leg.bet == "raise")
        if seat.side_bets:
            legs += [
                _side_bet_leg(seat, side_bet, house, shown, awards)
                for kind, side_bet in house.side_bets.items()
                if kind in seat.side_bets
            ]
        _check_legs(name, legs, seat.settled.bets, findings)


def _check_legs(name: str, legs: list[Leg], settled: Sequence[Leg], findings: Findings) -> None:
    """Check that the bets are those that were placed, in order, and each against its leg."""
    findings.same(f"{name}.bets", [leg.bet for leg in legs], [leg.bet for leg in settled])
    found = {leg.bet: leg for leg in settled}
    for leg in legs:
        findings.same(f"{name}.{leg.bet}", leg, found.get(leg.bet))


def _leg(bet: Bet, stake: int, returned: int = 0, won: int = 0, odds: int | None = None) -> Leg:
    return Leg(bet=bet, stake=stake, returned=returned, won=won, odds=odds)


def _ante_leg(seat: Seat, result: str) -> Leg:
    """The ante pays 1 to 1, also when the dealer does not qualify, whatever the player holds (reading 5)."""
    stake = seat.ante.data.amount
    if result in {"win", "dealer_not_qualified"}:
        return _leg("ante", stake, stake, stake, 1)
    return _leg("ante", stake, stake if result == "push" else 0)


def _raise_leg(seat: Seat, result: str, hand: Hand, house: House, left: int | None) -> list[Leg]:
    """The raise pays by the final hand, up to what the house's cap leaves (readings 16 and 17).

    `left` is what it leaves, None where there is no cap.
    """
    stake = seat.raised
    if stake is None:
        return []
    if result == "win":
        odds = house.raise_pays[hand.category]
        won = stake * odds if left is None else min(stake * odds, left)
        return [_leg("raise", stake, stake, won, odds if won else None)]
    return [_leg("raise", stake, stake if result in _RETURNED else 0)]


def _fee_leg(seat: Seat) -> list[Leg]:
    """The price of an exchanged card never comes back (reading 13)."""
    return [] if seat.exchange is None else [_leg("exchange_fee", seat.exchange.fee)]


def _side_bet_leg(
    seat: Seat, side_bet: SideBet, house: House, shown: Showdown, awards: Mapping[int, int]
) -> Leg:
    """A side bet pays an award, or its odds on the best five with the up-card.

    Awards are «for 1» (jackpot, bonus), the odds of the 5+1 «to 1».
    """
    kind, stake = side_bet.kind, seat.side_bets[side_bet.kind].amount
    if kind == "jackpot":
        return _leg(kind, stake, won=awards.get(seat.number, 0))
    if not shown.in_play(seat, side_bet, house):
        return _leg(kind, stake)
    if kind == "bonus":
        award = side_bet.awards.get(shown.hands[seat.number].category)
        return _leg(kind, stake, won=0 if award is None else award.fixed)
    best = shown.with_up_card.get(seat.number)
    odds = None if best is None else side_bet.pays.get(best.category)
    if odds is None:
        return _leg(kind, stake)
    return _leg(kind, stake, stake if side_bet.stake_returned else 0, stake * odds, odds)


def _shown(seat: Seat, house: House, shown: Showdown) -> bool:
    """Whether the hand was turned up.

    A house shows all hands, those that raised, or (004, United Kingdom) of those only the ones in the
    jackpot when the dealer does not qualify.
    """
    if house.show_hands == "all":
        return True
    if seat.raised is None:
        return False
    return house.show_hands == "called" or shown.qualified or "jackpot" in seat.side_bets
