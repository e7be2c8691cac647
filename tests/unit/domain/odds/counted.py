"""What happens in the game with the usual pay table by the best decisions, as it is known from elsewhere.

The counts are over C(52,5)·47·C(46,4) deals, and add up to the loss that others have published. That only
hands without a pair fold is known as well; how often a dealer qualifies against them follows from the totals.
"""

from __future__ import annotations

from dataclasses import replace
from math import comb

from domain.odds.outcomes import Branch, Outcomes
from domain.rules import CompiledSideBet, Rules
from domain.rulesets.schema import RuleSet
from tests.unit.domain import playing

TOTAL = comb(52, 5) * 47 * comb(46, 4)
HANDS = (1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 36, 4)
BEST_OF_SIX = (39677400, 58384440, 15196896, 4392960, 2169720, 1234752, 995904, 87984, 9936, 1128)
NOT_QUALIFIED = (
    217886235480,
    3662916390000,
    407569692600,
    178814802600,
    33978377640,
    17206332240,
    12056461200,
    1952647200,
    119175780,
    13918980,
)
WIN = (
    18505682208,
    2324742321600,
    488012139360,
    234242908320,
    43805516100,
    21856990280,
    16624475280,
    2832435800,
    156929720,
    16759740,
)
TIE = (159085200, 148262400, 1853280, 0, 12345000, 76620, 0, 0, 540, 60)
LOSE = (
    230527547952,
    2435358862800,
    52022471400,
    8100580920,
    434650260,
    113402920,
    34401600,
    806680,
    2980,
    0,
)
FOLDED = 9523005974460
DEALER_NOT_QUALIFIED = TOTAL * 1135260 // 2598960
FOLDED_NOT_QUALIFIED = DEALER_NOT_QUALIFIED - sum(NOT_QUALIFIED)
NOTHING = (0,) * 10


def only(index: int, count: int) -> tuple[int, ...]:
    """Return ten counts of which one is not zero."""
    return tuple(count if place == index else 0 for place in range(10))


STANDARD = Outcomes(
    total=TOTAL,
    kept=Branch(
        folded_not_qualified=only(0, FOLDED_NOT_QUALIFIED),
        folded_qualified=only(0, FOLDED - FOLDED_NOT_QUALIFIED),
        not_qualified=NOT_QUALIFIED,
        win=WIN,
        tie=TIE,
        lose=LOSE,
    ),
    exchanged=None,
    # Which of them fold, and which dealers qualify, is not among what is known: any parts have the right sum.
    six=(
        (tuple(count * 100_000 for count in BEST_OF_SIX), tuple(count * 63_000 for count in BEST_OF_SIX)),
        (tuple(count * 100 for count in BEST_OF_SIX), tuple(count * 85 for count in BEST_OF_SIX)),
    ),
    up_cards=1,
)

BUYING = Outcomes(
    total=100,
    kept=Branch(only(0, 10), only(0, 20), only(1, 4), only(5, 3), only(1, 2), only(5, 1)),
    exchanged=Branch(only(0, 6), only(5, 4), only(1, 10), only(5, 20), NOTHING, only(9, 20)),
    six=(),
    up_cards=1,
)
"""A small made-up game in which cards are bought."""


def shipped(house: str) -> RuleSet:
    """Return a rule set that comes with the project."""
    return RuleSet.from_document(playing.shipped(house))


def changed(rules: Rules, kind: str, **changes: object) -> CompiledSideBet:
    """Return a house's side bet with some of its rules changed."""
    return replace(rules.side_bets[kind], **changes)  # type: ignore[arg-type]
