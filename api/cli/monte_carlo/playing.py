"""A portion of rounds, played by the best decisions and settled as real rounds are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from api.cli.monte_carlo.deals import Deals, deal
from api.cli.monte_carlo.decisions import Decisions
from api.cli.monte_carlo.ranking import Ranking, ranking
from domain.hands import Hand, qualifies
from domain.jackpots import WHOLE_METER, pay, share_out
from domain.money import EXACT
from domain.odds.exchange_values import EXCHANGE, FOLD
from domain.rules import CompiledAward, Rules
from domain.settlement import Dealer, Played, settle, stands

MAIN: Final = "main"
LOST: Final = "lost"
WIN: Final = "win"
_MAIN_LEGS: Final = ("ante", "raise", "exchange_fee")


class Ending(NamedTuple):
    """A way for a bet to end, one of a set that exclude each other.

    ``bet`` is `MAIN` or a kind of side bet. ``result`` is that of `domain.settlement`, and `WIN` or `LOST`
    for a side bet; ``category`` is that of the hand that won, and empty otherwise. ``exchanged``: the main
    bet's hand bought a card.
    """

    bet: str
    result: str
    category: str = ""
    exchanged: bool = False


class Sums(NamedTuple):
    """In how many rounds, and what these won and staked in all, in minor units."""

    rounds: int = 0
    net: int = 0
    staked: int = 0

    def plus(self, other: Sums) -> Sums:
        """Return the sums of both."""
        return Sums(self.rounds + other.rounds, self.net + other.net, self.staked + other.staked)


Tally: TypeAlias = dict[Ending, Sums]


@dataclass(frozen=True, slots=True)
class Game:
    """What is played: one hand with an ante, all side bets, and a jackpot's meter, all in minor units.

    A jackpot's awards are all paid from that meter, which does not move, so that their mean is known.
    """

    rules: Rules
    ante: int
    side_bets: Mapping[str, int]
    meter: int
    decisions: Decisions
    seed: int


class _Case(NamedTuple):
    """What settling a round depends on: decisions and values of hands."""

    exchanged: int
    folded: int
    hand: int
    bonus: int
    dealer: int


_VALUE_BITS: Final = 13


def play(game: Game, portion: tuple[int, int]) -> Tally:
    """Play one of the portions that `api.cli.monte_carlo.deals.portions` gives, and add up how bets ended."""
    number, rounds = portion
    ranked = ranking()
    sums: dict[Ending, list[int]] = {}
    for case, times in _cases(game, deal(game.rules, game.seed, number, rounds), ranked):
        for ending, net, staked in _settled(game, case, ranked.hand_of):
            known = sums.setdefault(ending, [0, 0, 0])
            known[0] += times
            known[1] += net * times
            known[2] += staked * times
    return {ending: Sums(*known) for ending, known in sums.items()}


def added(tallies: Iterator[Tally]) -> Tally:
    """Return the sums of tallies."""
    whole: Tally = {}
    for tally in tallies:
        for ending, sums in tally.items():
            whole[ending] = whole.get(ending, Sums()).plus(sums)
    return whole


def _cases(game: Game, deals: Deals, ranked: Ranking) -> Iterator[tuple[_Case, int]]:
    """Yield the cases that occur, in order, and how often each does."""
    hands, decided = deals.hands, game.decisions.first(deals.hands, deals.ups)
    exchanged = decided >= EXCHANGE
    folded = decided == FOLD
    if exchanged.any():
        hands = hands.copy()
        rows, places = np.flatnonzero(exchanged), decided[exchanged] - EXCHANGE
        gone = hands[rows, places]
        hands[rows, places] = deals.drawn[rows]
        hands[rows] = np.sort(hands[rows], axis=1)
        folded[rows] = ~game.decisions.after_exchange(hands[rows], deals.ups[rows], gone)
    values = ranked.five(hands)
    bonus = ranked.six(hands, deals.ups) if "five_plus_one" in game.side_bets else values
    cases: NDArray[np.int64] = exchanged.astype(np.int64)
    for column, bits in ((folded, 1), (values, _VALUE_BITS), (bonus, _VALUE_BITS)):
        cases = cases << bits | column
    cases = cases << _VALUE_BITS | ranked.five(deals.dealer)
    found, times = np.unique(cases, return_counts=True)
    yield from zip(map(_unpacked, found.tolist()), times.tolist(), strict=True)


def _unpacked(case: int) -> _Case:
    mask = (1 << _VALUE_BITS) - 1
    places = (3 * _VALUE_BITS, 2 * _VALUE_BITS, _VALUE_BITS, 0)
    folded_and_more = case >> places[0]
    return _Case(folded_and_more >> 1, folded_and_more & 1, *((case >> place & mask) for place in places[1:]))


def _settled(game: Game, case: _Case, hand_of: Mapping[int, Hand]) -> list[tuple[Ending, int, int]]:
    """Settle a case; return how each bet ended, what it won net of its stakes, and the stakes."""
    rules, hand, dealt = game.rules, hand_of[case.hand], hand_of[case.dealer]
    exchanged, folded = bool(case.exchanged), bool(case.folded)
    revealed = rules.reveal_if_all_fold or not folded
    dealer = Dealer(dealt, qualifies(dealt, rules.qualify)) if revealed else None
    forfeited = tuple(kind for kind in rules.forfeits if kind in game.side_bets) if exchanged else ()
    played = Played(
        game.ante,
        0 if folded else game.ante * rules.raise_multiple,
        game.ante * (rules.exchange_fee_antes or 0) if exchanged else 0,
        dict(game.side_bets),
        forfeited,
        folded,
        hand,
        hand_of[case.bonus],
        _award(game, forfeited, hand, dealer, folded=folded),
        0,
    )
    outcome = settle(rules, played, dealer)
    ends = []
    main_net = main_staked = 0
    for leg in outcome.legs:
        net, bet = leg.returned + leg.won - leg.stake, leg.bet
        if bet in _MAIN_LEGS:
            main_net += net
            main_staked += leg.stake
        elif leg.won:
            won = played.bonus_hand if bet == "five_plus_one" else hand
            ends.append((Ending(bet, WIN, won.category.value), net, leg.stake))
        else:
            ends.append((Ending(bet, LOST), net, leg.stake))
    category = hand.category.value if outcome.result == WIN else ""
    ends.append((Ending(MAIN, outcome.result, category, exchanged), main_net, main_staked))
    return ends


def _award(game: Game, forfeited: tuple[str, ...], hand: Hand, dealer: Dealer | None, *, folded: bool) -> int:
    """What the jackpot pays the hand, if the bet is placed and still stands."""
    bet = game.rules.side_bets.get("jackpot")
    if bet is None or "jackpot" not in game.side_bets:
        return 0
    award = bet.awards.get(hand.category)
    qualified = dealer is not None and dealer.qualified
    if award is None or not stands(bet, "jackpot", forfeited, folded=folded, qualified=qualified):
        return 0
    return paid(award, game.meter)


def paid(award: CompiledAward, meter: int) -> int:
    """What an award pays from a meter, both in minor units, to the only hand that has it."""
    if award.percent == WHOLE_METER:
        return share_out(meter * EXACT, 1, 0)[0].award
    return pay(meter * EXACT, award).award
