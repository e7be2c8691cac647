"""What knowing the other hands is worth, counted for some deals and compared with plain enumeration."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import sqrt

import numpy as np
import pytest

from domain.cards import DECK
from domain.hands import CATEGORIES, Hand, beats, qualifies, rank_five
from domain.odds.lookup import Lookup
from domain.odds.other_hands import OtherHands
from domain.odds.other_hands_sample import Deals, deal, estimate
from domain.odds.payoffs import OddsError, Payoffs

ANTE, RAISED = 3, 7
WINS = (7, 7, 14, 21, 30, 35, 50, 90, 100, 100)
PAYOFFS = Payoffs(ANTE, RAISED, WINS, None, 100)


@pytest.fixture(scope="module")
def lookup() -> Lookup:
    """What decides a hand on its own."""
    return Lookup()


def dealt(seed: int, rounds: int, hands: int, up_cards: int) -> Deals:
    """Return rounds from a seed."""
    return deal(np.random.default_rng(seed), rounds, hands, up_cards)


def raised(hand: Sequence[str], dealer: Sequence[Hand]) -> int:
    """Return what a raise wins against all of the dealer's hands together."""
    own, won = rank_five(hand), 0
    wins = WINS[CATEGORIES.index(own.category)]
    for each in dealer:
        if not qualifies(each, "ace_king"):
            won += ANTE
        elif beats(own, each):
            won += ANTE + wins
        elif beats(each, own):
            won -= ANTE + RAISED
    return won


def dealers(ups: Sequence[str], seen: Sequence[str]) -> list[Hand]:
    """Return every hand of the dealer's with these up-cards and none of those cards."""
    left = [card for card in DECK if card not in {*ups, *seen}]
    return [rank_five((*ups, *others)) for others in combinations(left, 5 - len(ups))]


def plainly(deals: Deals) -> OtherHands:
    """Return what is estimated, by trying everything."""
    changed, gains, ways = 0, [], 0
    for hands, up in zip(deals.hands.tolist(), deals.ups.tolist(), strict=True):
        own, ups = [[DECK[card] for card in hand] for hand in hands], [DECK[card] for card in up]
        gain, known = 0, dealers(ups, [card for hand in own for card in hand])
        ways = len(known)
        for hand in own:
            alone = dealers(ups, hand)
            worth, folded = raised(hand, known), -ANTE * ways
            raises = raised(hand, alone) > -ANTE * len(alone)
            changed += raises != (worth > folded)
            gain += max(folded, worth) - (worth if raises else folded)
        gains.append(gain)
    return OtherHands(
        deals.hands.shape[1], len(gains), changed, sum(gains), sum(gain**2 for gain in gains), ANTE * ways
    )


@pytest.mark.parametrize(("hands", "up_cards", "rounds"), [(3, 3, 60), (8, 3, 60), (5, 4, 200)])
def test_a_sample_is_worth_what_trying_everything_finds(
    hands: int, up_cards: int, rounds: int, lookup: Lookup
) -> None:
    """Decisions, gains and their squares, hand by hand; some decisions change in each sample."""
    deals = dealt(hands, rounds, hands, up_cards)
    found = estimate(lookup, PAYOFFS, deals)
    assert found.changed > 0
    assert found == plainly(deals)


@pytest.mark.parametrize(("hands", "up_cards"), [(3, 1), (7, 1), (6, 2)])
def test_with_few_up_cards_a_raise_is_worth_what_trying_everything_finds(
    hands: int, up_cards: int, lookup: Lookup
) -> None:
    """A hand alone is decided as the look-up has it; what that costs when all is known is tried."""
    deals = dealt(20, 2, hands, up_cards)
    gained = 0
    for own, up in zip(deals.hands.tolist(), deals.ups.tolist(), strict=True):
        cards, ups = [[DECK[card] for card in hand] for hand in own], [DECK[card] for card in up]
        known = dealers(ups, [card for hand in cards for card in hand])
        for hand in cards:
            worth = {"fold": -ANTE * len(known), "raise": raised(hand, known)}
            gained += max(worth.values()) - worth[str(lookup.judge(PAYOFFS, hand, ups).best)]
    assert estimate(lookup, PAYOFFS, deals).gained == gained


def test_knowing_more_never_costs_and_one_hand_has_nothing_to_know(lookup: Lookup) -> None:
    """Round by round no gain is below zero; with one hand it is exactly zero."""
    parts = [
        estimate(lookup, PAYOFFS, Deals(*(each[n : n + 1] for each in dealt(3, 40, 3, 1)))) for n in range(40)
    ]
    assert all(part.gained >= 0 for part in parts)
    assert any(part.gained > 0 for part in parts)
    one = estimate(lookup, PAYOFFS, dealt(3, 100, 1, 1))
    assert (one.changed, one.gained, one.squares, one.per_ante, one.standard_error) == (0, 0, 0, 0, 0)


def test_more_hands_are_worth_more(lookup: Lookup) -> None:
    """Seven players who tell each other everything win 2.3 % of their antes (Griffin and Gwynn, 2000)."""
    usual = Payoffs(1, 2, (2, 2, 4, 6, 8, 10, 14, 40, 100, 200), None, 1)
    three, seven = (estimate(lookup, usual, dealt(1, 900, hands, 1)) for hands in (3, 7))
    assert three.per_ante + 5 * three.standard_error < seven.per_ante
    assert abs(seven.per_ante - 0.0522 - 0.023) < 4 * seven.standard_error


def test_the_same_seed_deals_the_same_rounds() -> None:
    """No card is dealt twice, and hands are in ascending order."""
    first, second, other = (dealt(seed, 500, 3, 2) for seed in (7, 7, 8))
    assert (first.hands == second.hands).all()
    assert (first.ups == second.ups).all()
    assert (first.hands != other.hands).any()
    assert (np.diff(first.hands.astype(int), axis=2) > 0).all()
    cards = np.hstack([first.hands.reshape(500, 15), first.ups])
    assert {len(set(row)) for row in cards.tolist()} == {17}


def test_samples_add_up_to_what_they_are_together(lookup: Lookup) -> None:
    """Those of different games do not."""
    deals = dealt(4, 30, 3, 4)
    parts = [
        estimate(lookup, PAYOFFS, Deals(deals.hands[half], deals.ups[half]))
        for half in (slice(9), slice(9, 30))
    ]
    assert parts[0] + parts[1] == estimate(lookup, PAYOFFS, deals)
    with pytest.raises(OddsError, match="different games"):
        _ = parts[0] + estimate(lookup, PAYOFFS, dealt(4, 5, 2, 4))


def test_a_mean_comes_with_its_standard_error() -> None:
    """That of rounds: gains of 0, 6 and 12 have a variance of 36; for one round there is none."""
    found = OtherHands(hands=2, rounds=3, changed=3, gained=18, squares=180, ante=10)
    assert found.per_ante == pytest.approx(18 / 60)
    assert found.standard_error == pytest.approx(sqrt(36 / 3) / 20)
    assert found.share_changed == 0.5
    assert OtherHands(2, 1, 0, 5, 25, 10).standard_error == float("inf")


def test_where_cards_are_exchanged_nothing_is_estimated(lookup: Lookup) -> None:
    """A hand would have a third decision."""
    with pytest.raises(OddsError, match="exchanged"):
        estimate(lookup, Payoffs(1, 2, WINS, 1, 1), dealt(1, 2, 3, 1))
