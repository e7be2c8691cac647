"""Settlement: from rules, cards, decisions and awards to what each bet did. Pure arithmetic, nothing else.

The dealer qualifies or not, the hands are compared, and every bet gets its leg: the stake given back and the
winnings, apart. Readings are those of the houses' rule sets: a winning hand lower than a pair pays 1 to 1
(2), a dealer who does not qualify pays the ante and returns the raise whatever the hands are (5), only five
equal ranks push (6), side bets do not depend on the main bet unless the house says so (9).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from domain.events import BetLeg
from domain.hands import Hand, beats
from domain.rules import CompiledSideBet, Rules

WIN: Final = "win"
LOSE: Final = "lose"
PUSH: Final = "push"
NOT_QUALIFIED: Final = "dealer_not_qualified"
FOLDED: Final = "folded"


class Played(NamedTuple):
    """What a seat brings to settlement. Amounts in minor units.

    `bonus_hand` is the best five of the player's five and the dealer's first up-card, where the seat bets
    on that, and the plain hand elsewhere. `award` is the jackpot award the seat has been paid.
    `raise_won_before` is what the player's earlier hands in the round won on their raises.
    """

    ante: int
    raised: int
    fee: int
    side_bets: dict[str, int]
    forfeited: tuple[str, ...]
    folded: bool
    hand: Hand
    bonus_hand: Hand
    award: int
    raise_won_before: int


class Dealer(NamedTuple):
    """The dealer's revealed hand."""

    hand: Hand
    qualified: bool


class Outcome(NamedTuple):
    """A seat's result, its bets' legs in the order of `Settled.bets`, and whether the hand is turned up."""

    result: str
    legs: tuple[BetLeg, ...]
    shown: bool


def settle(rules: Rules, played: Played, dealer: Dealer | None) -> Outcome:
    """Settle one seat.

    `dealer` is None only where every seat folded and the house does not turn up its cards.
    """
    result = _result(played, dealer)
    legs = [_ante(played.ante, result)]
    if played.raised:
        legs.append(_raise(rules, played, result))
    if played.fee:
        legs.append(BetLeg("exchange_fee", played.fee, 0, 0))
    for kind in rules.side_bet_order:
        stake = played.side_bets.get(kind)
        if stake is not None:
            legs.append(_side_bet(rules.side_bets[kind], kind, stake, played, dealer))
    return Outcome(result, tuple(legs), _shown(rules, played, dealer))


def _result(played: Played, dealer: Dealer | None) -> str:
    if played.folded or dealer is None:
        return FOLDED
    if not dealer.qualified:
        return NOT_QUALIFIED
    if beats(played.hand, dealer.hand):
        return WIN
    return LOSE if beats(dealer.hand, played.hand) else PUSH


def _ante(stake: int, result: str) -> BetLeg:
    if result in (WIN, NOT_QUALIFIED):
        return BetLeg("ante", stake, stake, stake, 1)
    return BetLeg("ante", stake, stake if result == PUSH else 0, 0)


def _raise(rules: Rules, played: Played, result: str) -> BetLeg:
    stake = played.raised
    if result == WIN:
        odds = rules.raise_pays[played.hand.category]
        won = _capped(rules, stake * odds, played.raise_won_before)
        return BetLeg("raise", stake, stake, won, odds if won else None)
    return BetLeg("raise", stake, 0 if result == LOSE else stake, 0)


def _capped(rules: Rules, won: int, won_before: int) -> int:
    """The win on a raise under the house's cap (readings 16, 17).

    Of each hand, or of all of a player's hands in the round together.
    """
    cap = rules.raise_win_cap
    if cap is None:
        return won
    left = cap if rules.cap_scope == "raise_per_hand" else max(cap - won_before, 0)
    return min(won, left)


def _side_bet(bet: CompiledSideBet, kind: str, stake: int, played: Played, dealer: Dealer | None) -> BetLeg:
    qualified = dealer is not None and dealer.qualified
    if not stands(bet, kind, played.forfeited, folded=played.folded, qualified=qualified):
        return BetLeg(kind, stake, 0, 0)
    if kind == "jackpot":
        return BetLeg(kind, stake, 0, played.award)
    if kind == "bonus":
        award = bet.awards.get(played.hand.category)
        return BetLeg(kind, stake, 0, award.fixed or 0 if award is not None else 0)
    odds = bet.pays.get(played.bonus_hand.category)
    return BetLeg(kind, stake, stake, stake * odds, odds) if odds is not None else BetLeg(kind, stake, 0, 0)


def stands(
    bet: CompiledSideBet, kind: str, forfeited: tuple[str, ...], *, folded: bool, qualified: bool
) -> bool:
    """Whether a side bet is still in play at settlement (readings 9 and 13)."""
    if kind in forfeited or (folded and not bet.survives_fold):
        return False
    return qualified or not bet.needs_dealer_to_qualify


def _shown(rules: Rules, played: Played, dealer: Dealer | None) -> bool:
    """Whether the hand is turned up at the table.

    004 for the United Kingdom shows jackpot hands when the dealer does not qualify.
    """
    if rules.show_hands == "all":
        return True
    if played.folded or dealer is None:
        return False
    if rules.show_hands == "called" or dealer.qualified:
        return True
    return "jackpot" in played.side_bets
