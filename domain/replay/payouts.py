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
    caps = Caps(opened, house)
    for seat in game.in_seat_order:
        name = f"settled.seat_{seat.number}"
        hand = shown.hands.get(seat.number)
        if seat.settled is None or hand is None:
            findings.holds(name, ok=False)
            continue
        result = shown.result(seat, hand)
        findings.same(f"{name}.result", result, seat.settled.result)
        findings.same(f"{name}.category", hand.category, seat.settled.category)
        findings.same(f"{name}.shown", is_shown(seat, house, shown), seat.settled.shown)
        due = legs(seat, result, hand, house, caps, shown, awards)
        _check_legs(name, due, seat.settled.bets, findings)


class Caps:
    """What a house's cap leaves of the wins on raises; one for each round, asked in seat order."""

    __slots__ = ("_cap", "_per_player", "_won")

    def __init__(self, opened: RoundOpened, house: House) -> None:
        cap = house.cap_amount if house.cap_amount is not None else opened.parameters.raise_win_cap
        self._cap = cap if house.capped else None
        self._per_player = house.cap_per_player
        self._won: dict[str, int] = defaultdict(int)

    def capped(self, player: str, won: int) -> int:
        """What a player gets of a win on a raise (readings 16 and 17)."""
        if self._cap is None:
            return won
        if not self._per_player:
            return min(won, self._cap)
        paid = min(won, max(self._cap - self._won[player], 0))
        self._won[player] += paid
        return paid


def legs(
    seat: Seat,
    result: str,
    hand: Hand,
    house: House,
    caps: Caps,
    shown: Showdown,
    awards: Mapping[int, int],
) -> list[Leg]:
    """What a seat's bets have to come to, in the order of settlement."""
    due = [_ante_leg(seat, result)]
    if seat.raised is not None:
        due.append(_raise_leg(seat, seat.raised, result, hand, house, caps))
    if seat.exchange is not None:
        due.append(_leg("exchange_fee", seat.exchange.fee))  # it never comes back (reading 13)
    if seat.side_bets:
        due += [
            _side_bet_leg(seat, side_bet, house, shown, awards)
            for kind, side_bet in house.side_bets.items()
            if kind in seat.side_bets
        ]
    return due


def _check_legs(name: str, due: list[Leg], settled: Sequence[Leg], findings: Findings) -> None:
    """Check that the bets are those that were placed, in order, and each against its leg."""
    findings.same(f"{name}.bets", [leg.bet for leg in due], [leg.bet for leg in settled])
    found = {leg.bet: leg for leg in settled}
    for leg in due:
        findings.same(f"{name}.{leg.bet}", leg, found.get(leg.bet))


def _leg(bet: Bet, stake: int, returned: int = 0, won: int = 0, odds: int | None = None) -> Leg:
    return Leg(bet=bet, stake=stake, returned=returned, won=won, odds=odds)


def _ante_leg(seat: Seat, result: str) -> Leg:
    """The ante pays 1 to 1, also when the dealer does not qualify, whatever the player holds (reading 5)."""
    stake = seat.ante.data.amount
    if result in {"win", "dealer_not_qualified"}:
        return _leg("ante", stake, stake, stake, 1)
    return _leg("ante", stake, stake if result == "push" else 0)


def _raise_leg(seat: Seat, stake: int, result: str, hand: Hand, house: House, caps: Caps) -> Leg:
    """The raise pays by the final hand, up to what the house's cap leaves (readings 16 and 17)."""
    if result == "win":
        odds = house.raise_pays[hand.category]
        won = caps.capped(seat.player, stake * odds)
        return _leg("raise", stake, stake, won, odds if won else None)
    return _leg("raise", stake, stake if result in _RETURNED else 0)


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


def is_shown(seat: Seat, house: House, shown: Showdown) -> bool:
    """Whether the hand was turned up.

    A house shows all hands, those that raised, or (004, United Kingdom) of those only the ones in the
    jackpot when the dealer does not qualify.
    """
    if house.show_hands == "all":
        return True
    if seat.raised is None:
        return False
    return house.show_hands == "called" or shown.qualified or "jackpot" in seat.side_bets
