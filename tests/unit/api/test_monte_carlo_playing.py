"""A simulation deals fairly and in the house's order, and ranks and settles hands as real rounds are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from api.cli.monte_carlo.deals import PORTION_ROUNDS, Deals, deal, portions
from api.cli.monte_carlo.decisions import Decisions
from api.cli.monte_carlo.playing import MAIN, Ending, Game, Sums, Tally, added, play
from api.cli.monte_carlo.ranking import Ranking
from domain.cards import DECK
from domain.hands import best_of_six, rank_five
from domain.odds import Payoffs
from domain.odds.exchange_values import EXCHANGE, FOLD, RAISE
from domain.odds.hands_table import CLASSES
from domain.odds.house import TableSettings, rules_for
from domain.rules import Rules
from domain.rulesets.schema import RuleSet
from tests.unit.domain.playing import shipped

ROUNDS = 2_000


def rules_of(house: str, **changes: Any) -> Rules:
    """Return a house's rules, some of them changed."""
    ruleset = RuleSet.from_document(shipped(house))
    return replace(rules_for(ruleset, ruleset.currencies[0], TableSettings()), **changes)


def game(house: str, decision: int, **changes: Any) -> Game:
    """Return a game with an ante of 100 in which everybody decides the same."""
    rules = rules_of(house, **changes)
    table = np.full((CLASSES, 52), decision, np.int8)
    side_bets: dict[str, int] = {kind: rules.side_bets[kind].stake or 100 for kind in rules.side_bet_order}
    decisions = Decisions(Payoffs.from_rules(rules, 100), rules.qualify, 1, table)
    return Game(rules, 100, side_bets, meter=1_000_000, decisions=decisions, seed=5)


def together(tally: Tally, bet: str, result: str) -> Sums:
    """Return the sums of a bet's endings with one result."""
    return added(
        iter({Ending(bet, result): sums} for e, sums in tally.items() if (e.bet, e.result) == (bet, result))
    ).get(Ending(bet, result), Sums())


@pytest.mark.parametrize("rounds", [1, PORTION_ROUNDS, PORTION_ROUNDS + 1, 3 * PORTION_ROUNDS])
def test_portions_are_all_rounds(rounds: int) -> None:
    """Rounds are divided into numbered portions of one size, and a rest."""
    parts = portions(rounds)
    assert sum(part for _, part in parts) == rounds
    assert [number for number, _ in parts] == list(range(len(parts)))
    assert all(part == PORTION_ROUNDS for _, part in parts[:-1])


def test_no_card_is_dealt_twice() -> None:
    """The player's and the dealer's cards and what can be bought are different cards."""
    deals = deal(rules_of("czech"), 1, 0, ROUNDS)
    cards = np.column_stack((deals.hands, deals.dealer, deals.drawn))
    assert all(len(set(row)) == 11 for row in cards.tolist())


def test_every_card_comes_as_often_everywhere() -> None:
    """All 52 cards are equally likely to be the player's, the dealer's, shown and bought."""
    deals = deal(rules_of("casino-poker-1982"), 2, 0, PORTION_ROUNDS)
    for cards in (deals.hands, deals.dealer, deals.ups, deals.drawn):
        counted = np.bincount(cards.ravel(), minlength=len(DECK))
        assert len(counted) == len(DECK)
        assert stats.chisquare(counted).pvalue > 1e-4


def test_a_portion_has_its_own_cards() -> None:
    """Cards follow from the seed, the house and the portion's number: the same again, others elsewhere."""

    def hands(house: str, seed: int, number: int) -> Any:
        return deal(rules_of(house), seed, number, 50).hands.tolist()

    assert hands("nordic", 1, 0) == hands("nordic", 1, 0)
    different = [hands("nordic", 1, 0), hands("nordic", 2, 0), hands("nordic", 1, 1), hands("macau", 1, 0)]
    assert all(one != other for n, one in enumerate(different) for other in different[:n])


@pytest.mark.parametrize(
    ("house", "hand", "ups", "dealer"),
    [
        ("nordic", range(0, 10, 2), [9], range(1, 10, 2)),
        ("us-casino", range(5), [5], range(5, 10)),
        ("casino-poker-1982", range(5), [5, 6], range(5, 10)),
    ],
    ids=["nordic", "us-casino", "casino-poker-1982"],
)
def test_cards_lie_as_the_house_deals_them(
    monkeypatch: pytest.MonkeyPatch, house: str, hand: range, ups: list[int], dealer: range
) -> None:
    """A deck in order comes out in the house's order; the up-cards are its own, the 12th card is bought."""
    deck = np.arange(12, dtype=np.uint8).reshape(1, -1)
    monkeypatch.setattr("api.cli.monte_carlo.deals._shuffled", lambda _generator, _rounds: deck)
    dealt = deal(rules_of(house), 1, 0, 1)
    assert [part.tolist() for part in dealt] == [[[*hand]], [ups], [[*dealer]], [11]]


def test_hands_are_ranked_as_real_ones() -> None:
    """Hands of five, and the best five of six, have the values that rounds are settled with."""
    deals = deal(rules_of("evolution-live"), 3, 0, ROUNDS)
    ranked = Ranking()
    values, bonus = ranked.five(deals.hands), ranked.six(deals.hands, deals.ups)
    for row, cards in enumerate(deals.hands.tolist()):
        five = [DECK[card] for card in cards]
        hand, best = rank_five(five), best_of_six([*five, DECK[deals.ups[row, 0]]])
        assert (values[row], bonus[row]) == (hand.value, best.value)
        assert (ranked.hand_of[hand.value], ranked.hand_of[best.value]) == (hand, best)


def test_rare_hands_keep_their_suits() -> None:
    """Straight flushes of any suit are what they are, and hands that miss one by a card are not."""
    rows = [[*range(suit, 20, 4)] for suit in range(4)] + [[suit, 4, 9, 12, 16] for suit in range(4)]
    values = Ranking().five(np.array(rows, np.uint8))
    assert values.tolist() == [rank_five([DECK[card] for card in row]).value for row in rows]


def test_who_folds_loses_the_ante_and_may_win_side_bets() -> None:
    """When everybody folds, every ante is lost and no raise is staked; the jackpot is paid all the same."""
    tally = play(game("nordic", FOLD), (0, ROUNDS))
    assert together(tally, MAIN, "folded") == Sums(ROUNDS, -100 * ROUNDS, 100 * ROUNDS)
    assert together(tally, "jackpot", "win").rounds > 0


def test_who_raises_never_folds() -> None:
    """When everybody raises, three antes are at stake in each round."""
    tally = play(game("nordic", RAISE), (0, ROUNDS))
    main = [sums for ending, sums in tally.items() if ending.bet == MAIN]
    assert sum(sums.rounds for sums in main) == ROUNDS
    assert sum(sums.staked for sums in main) == 300 * ROUNDS
    assert together(tally, MAIN, "folded") == Sums()


def test_who_buys_a_card_pays_for_it_and_loses_the_bonus() -> None:
    """When everybody buys a card, every hand ends exchanged with its fee staked, and no bonus is paid."""
    tally = play(game("czech", EXCHANGE), (0, ROUNDS))
    main = {ending: sums for ending, sums in tally.items() if ending.bet == MAIN}
    assert all(ending.exchanged for ending in main)
    folded = together(main, MAIN, "folded")
    assert folded == Sums(folded.rounds, -200 * folded.rounds, 200 * folded.rounds)
    assert sum(sums.staked for sums in main.values()) == 400 * ROUNDS - 200 * folded.rounds
    assert together(tally, "bonus", "lost").rounds == ROUNDS


@pytest.mark.parametrize(("reveals", "paid"), [(True, True), (False, False)])
def test_a_bet_that_needs_a_dealer_loses_where_her_hand_stays_hidden(*, reveals: bool, paid: bool) -> None:
    """A folded hand's side bet that needs her to qualify is paid only where her hand is turned up."""
    bet = replace(rules_of("nordic").side_bets["jackpot"], needs_dealer_to_qualify=True)
    folds = game("nordic", FOLD, side_bets={"jackpot": bet}, reveal_if_all_fold=reveals)
    assert (together(play(folds, (0, ROUNDS)), "jackpot", "win").rounds > 0) is paid


def test_a_royal_flush_is_paid_the_standing_meter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Awards are those of the ledger's jackpots: all of the meter, a share of it, or a fixed amount."""
    hands = {"royal_flush": "Ts Js Qs Ks As", "straight_flush": "5h 6h 7h 8h 9h", "flush": "2d 5d 7d 9d Kd"}
    numbers = [[DECK.index(card) for card in cards.split()] for cards in hands.values()]
    dealer = [DECK.index(card) for card in ("2c", "3c", "4c", "6c", "7c")]
    dealt = Deals(
        np.array(numbers, np.uint8),
        np.full((3, 1), dealer[0], np.uint8),
        np.array([dealer] * 3, np.uint8),
        np.zeros(3, np.uint8),
    )
    monkeypatch.setattr("api.cli.monte_carlo.playing.deal", lambda *_: dealt)
    tally = play(game("nordic", RAISE), (0, 3))
    won = {ending.category: sums.net + 100 for ending, sums in tally.items() if ending.bet == "jackpot"}
    assert won == {"royal_flush": 1_000_000, "straight_flush": 100_000, "flush": 5_000}


def test_tallies_add_up_in_any_division() -> None:
    """The sums of portions are what one after the other would have been."""
    folds = game("nordic", FOLD)
    one, other = play(folds, (0, ROUNDS)), play(folds, (1, ROUNDS))
    assert added(iter([one, other])) == added(iter([other, one]))
    assert together(added(iter([one, other])), MAIN, "folded").rounds == 2 * ROUNDS
