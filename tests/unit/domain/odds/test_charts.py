"""A strategy chart has every state once, in its row and column, with the decision that is best there."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from domain.cards import DECK, RANKS, SUITS
from domain.hands import CATEGORIES, rank_five
from domain.odds.basis import Basis
from domain.odds.chart import Chart, GivenUp, Row, Section
from domain.odds.exchange_values import EXCHANGE, FOLD, NO_STATE, RAISE, Decisions
from domain.odds.hand_kinds import (
    DRAWS,
    GIVEN,
    KEPT,
    RANK_NAMES,
    Kinds,
    coarse_groups,
    exchange_groups,
    kinds_of,
    plain_groups,
)
from domain.odds.hands_table import CLASSES, hands_table
from domain.odds.lookup import Lookup
from domain.odds.one_card_chart import best_decisions, one_card_chart
from domain.odds.pair_chart import two_card_chart
from domain.odds.payoffs import Payoffs
from tests.unit.domain.odds.states import place

USUAL = Payoffs(1, 2, (2, 2, 4, 6, 8, 10, 14, 40, 100, 200), None, 100)
HANDS = comb(52, 5)


@pytest.fixture(scope="module")
def kinds() -> Kinds:
    """Return what all classes of hands are."""
    return kinds_of(hands_table())


@pytest.fixture(scope="module")
def lookup() -> Lookup:
    """Return exact odds of single states."""
    return Lookup()


@pytest.fixture(scope="module")
def usual(basis: Basis, kinds: Kinds) -> Chart:
    """Return the chart of the usual pay table."""
    best = best_decisions(basis, USUAL)
    return one_card_chart(kinds, hands_table().weights, best, exchange=False)


@pytest.fixture(scope="module")
def of_two(kinds: Kinds) -> Chart:
    """Return the same with two up-cards."""
    return two_card_chart(hands_table(), kinds, "ace_king", USUAL)


def section(chart: Chart, key: str, against: str = "one") -> Section:
    """Return a section."""
    (found,) = (each for each in chart.sections if (each.key, each.against) == (key, against))
    return found


def cell(chart: Chart, key: str, row: str, column: str, against: str = "one") -> tuple[int, ...]:
    """Return a cell's counts."""
    where = section(chart, key, against)
    (found,) = (each for each in where.rows if each.name == row)
    return found.cells[where.columns.index(column)]


def best_four(cards: list[str]) -> str:
    """Say what four cards are, by looking at what a fifth would make of them."""
    ranks = Counter(card[0] for card in cards)
    made = [rank_five([*cards, card]) for card in DECK if card not in cards]
    found = {hand.category.value for hand in made}
    several = len(ranks) < 4
    straights = {
        hand.value for hand in made if hand.category in ("straight", "straight_flush", "royal_flush")
    }
    if found & {"straight_flush", "royal_flush"}:
        return "straight_flush_draw"
    if "flush" in found:
        return "flush_draw"
    if len(straights) > 1 and not several:
        return "open_straight_draw"
    if straights:
        return "inside_straight_draw"
    shape = sorted(ranks.values(), reverse=True)
    by_shape = {4: "four_of_a_kind", 3: "three_of_a_kind", 1: "high_cards"}
    return by_shape.get(shape[0], "two_pair" if shape == [2, 2] else "pair")


def test_hands_are_what_they_are(kinds: Kinds) -> None:
    """What a hand keeps and gives up is what a person would say of its cards, for some hundreds of hands."""
    table = hands_table()
    dice = random.Random(5)
    drawing = [int(n) for n in dice.sample(list(np.flatnonzero(kinds.draw < 2)), 100)]
    for number in [*dice.sample(range(CLASSES), 200), *drawing]:
        cards = [DECK[card] for card in table.class_hands[number]]
        ranks = [card[0] for card in cards]
        alone = [card for card in cards if ranks.count(card[0]) == 1]
        for gone in range(5):
            left = [card for card in cards if card != cards[gone]]
            assert KEPT[kinds.kept[number, gone]] == best_four(left), cards
            paired = ranks.count(ranks[gone]) > 1
            given = "paired" if paired else "lowest" if cards[gone] == alone[0] else "another"
            assert GIVEN[kinds.given[number, gone]] == given, cards
        names = [best_four([card for card in cards if card != out]) for out in cards]
        best = min((DRAWS.index(name) for name in names if name in DRAWS), default=len(DRAWS))
        assert kinds.draw[number] == best


def test_every_class_is_in_one_row(kinds: Kinds) -> None:
    """Each class is in exactly one row of each set of groups, and two pair and better in that of its name."""
    for groups in (plain_groups(kinds), exchange_groups(kinds), coarse_groups(kinds)):
        assert (np.sum([group.row_of >= 0 for group in groups], axis=0) == 1).all()
        made = groups[0]
        for index, category in enumerate(CATEGORIES[2:], start=2):
            (row,) = set(made.row_of[kinds.categories == index].tolist())
            assert made.rows[row] == category.value.replace("_", " ")


def test_ace_king_is_told_apart_by_its_kickers(kinds: Kinds) -> None:
    """There are 164 rows of ace-king, the best first, of 1 020 hands each: four in one suit are flushes."""
    group = plain_groups(kinds)[2]
    assert group.rows[0] == "A-K-Q-J-9"
    assert group.rows[-1] == "A-K-4-3-2"
    assert len(group.rows) == 164
    weights = hands_table().weights
    assert {int(weights[group.row_of == row].sum()) for row in range(164)} == {4**5 - 4}


def test_a_chart_has_every_state_once(usual: Chart, of_two: Chart) -> None:
    """The counts add up to all hands and up-cards, and to how often the usual game is raised."""
    assert sum(usual.states()) == HANDS * 47
    assert sum(of_two.states()) == HANDS * comb(47, 2)
    assert usual.states() == (58_357_116, 63_794_004)


def test_the_chart_says_what_is_published(usual: Chart) -> None:
    """Every pair raises, nothing below ace-king does, and A-K-Q-J raises against anything (as published)."""
    for key in ("made", "pairs"):
        assert all(cell[FOLD] == 0 for row in section(usual, key).rows for cell in row.cells)
    assert all(cell[RAISE] == 0 for row in section(usual, "lower").rows for cell in row.cells)
    assert all(cell[FOLD] == 0 for cell in section(usual, "ace_king").rows[0].cells)
    assert cell(usual, "ace_king", "A-K-10-9-8", "A") == (3 * 1_020, 0)


@pytest.mark.parametrize(
    ("row", "column"), [("A-K-Q-10-2", "7"), ("A-K-Q-8-2", "6"), ("A-K-9-3-2", "9"), ("A-K-J-5-4", "Q")]
)
def test_a_cell_counts_what_is_best_hand_by_hand(usual: Chart, lookup: Lookup, row: str, column: str) -> None:
    """A cell that depends on suits has exactly the hands and up-cards that are worth a raise, one by one."""
    ranks = [name.replace("10", "T") for name in row.split("-")]
    found = [0, 0]
    for suits in product(SUITS, repeat=5):
        hand = [rank + suit for rank, suit in zip(ranks, suits, strict=True)]
        ups = [column + suit for suit in SUITS if column + suit not in hand]
        if len(set(suits)) > 1:
            for up in ups:
                found[lookup.judge(USUAL, hand, [up]).best == "raise"] += 1
    assert cell(usual, "ace_king", row, column) == tuple(found)


def test_a_pair_against_the_same_pair_is_counted_hand_by_hand(of_two: Chart, lookup: Lookup) -> None:
    """Kings against the other two kings depend on the other cards: each hand is looked at."""
    others = [card for card in DECK if card[0] != "K"]
    found = [0, 0]
    for rest in combinations(others, 3):
        if len({card[0] for card in rest}) == 3:
            best = lookup.judge(USUAL, ["Kc", "Kd", *rest], ["Kh", "Ks"]).best
            found[best == "raise"] += comb(4, 2)  # whichever two kings they are, suits are renamed alike
    assert cell(of_two, "pairs", "K-K", "K", "pair") == tuple(found)


def test_two_up_cards_are_in_their_columns(of_two: Chart) -> None:
    """Pairs beat lower ones and lose to higher ones, nothing less beats one, and two low matches raise."""
    for high, low in combinations(reversed(RANK_NAMES), 2):
        assert cell(of_two, "pairs", f"{high}-{high}", low, "pair")[FOLD] == 0
        assert cell(of_two, "pairs", f"{low}-{low}", high, "pair")[RAISE] == 0
    assert all(c[RAISE] == 0 for row in section(of_two, "high_cards", "pair").rows for c in row.cells)
    assert cell(of_two, "high_cards", "7 high", "low 2", "unpaired")[FOLD] == 0
    assert cell(of_two, "high_cards", "A-K-Q", "A+K 0", "unpaired") == (0, 0)
    detail = section(of_two, "A-K-J", "ranks")
    assert (detail.columns[0], detail.rows[0].name, detail.rows[-1].name) == ("K", "A", "3")
    assert detail.rows[0].cells[0] == cell(of_two, "high_cards", "A-K-J", "A+K 2", "unpaired")
    low = [row.cells[number] for row in detail.rows[2:] for number in range(1, len(detail.columns))]
    told = np.sum(low, axis=0).tolist()
    assert tuple(told) == cell(of_two, "high_cards", "A-K-J", "low 0", "unpaired")


def made_up() -> Decisions:
    """Return decisions that no game has: what a hand does is told by its number and the up-card's."""
    best = (np.arange(CLASSES)[:, None] + np.arange(52)[None, :]) % (EXCHANGE + 5)
    decisions = best.astype(np.int8)
    np.put_along_axis(decisions, hands_table().class_hands.astype(np.int64), np.int8(NO_STATE), axis=1)
    return decisions


def test_an_exchange_is_counted_with_what_goes(kinds: Kinds) -> None:
    """With exchanges a row tells how often each kind of card is given up; a chart without them has none."""
    table = hands_table()
    chart = one_card_chart(kinds, table.weights, made_up(), exchange=True)
    assert chart.actions == ("fold", "raise", "exchange")
    assert sum(chart.states()) == HANDS * 47
    for where in chart.sections:
        for row in where.rows:
            given = sum(each.states for each in row.gives_up)
            assert given == sum(cell[EXCHANGE] for cell in row.cells)
            assert [each.states for each in row.gives_up] == sorted(
                (each.states for each in row.gives_up), reverse=True
            )
    (pairs,) = (each for each in section(chart, "pairs").rows if each.name == "9-9")
    naive = Counter[tuple[str, str]]()
    cells = np.zeros((13, 3), np.int64)
    best = made_up()
    nines = (kinds.paired_rank == RANKS.index("9")) & (kinds.draw == len(DRAWS)) & (kinds.categories == 1)
    for number in np.flatnonzero(nines).tolist():
        weight, decisions = int(table.weights[number]), best[number].tolist()
        for up, decision in enumerate(decisions):
            if decision >= FOLD:
                cells[12 - up // 4, min(decision, EXCHANGE)] += weight
        for gone in range(5):
            what = KEPT[kinds.kept[number, gone]], GIVEN[kinds.given[number, gone]]
            naive[what] += weight * decisions.count(EXCHANGE + gone)
    assert {(each.keeps, each.gives): each.states for each in pairs.gives_up} == naive
    assert pairs.cells == tuple(map(tuple, cells.tolist()))
    assert "7 high" not in [row.name for row in section(chart, "high_cards").rows]


def test_best_decisions_are_those_of_single_states(basis: Basis, lookup: Lookup) -> None:
    """A hand's decision against each up-card is that of the look-up; against its own cards there is none."""
    best = best_decisions(basis, USUAL)
    dice = random.Random(11)
    for _ in range(300):
        *hand, up = dice.sample(DECK, 6)
        judged = RAISE if lookup.judge(USUAL, hand, [up]).best == "raise" else FOLD
        assert best[place(" ".join(hand), up)] == judged
        own = place(" ".join(hand), hand[0])
        assert best[own] == NO_STATE


def test_a_chart_is_the_same_after_it_was_kept() -> None:
    """What is written as JSON is read again as it was."""
    row = Row("9-9", ((1, 2, 3), (0, 0, 4)), (GivenUp("pair", "lowest", 7),))
    chart = Chart(
        ("fold", "raise", "exchange"),
        1,
        (Section("pairs", "one", ("A", "K"), (row, Row("8-8", ((1, 0, 0), (0, 1, 0))))),),
    )
    assert Chart.from_document(json.loads(json.dumps(chart.document()))) == chart
    assert chart.states() == (2, 3, 7)
