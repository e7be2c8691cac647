"""The arithmetic of settlement alone: every bet's leg on every result, in figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.events import BetLeg
from domain.hands import CATEGORIES, Category, Hand, rank_five
from domain.rules import CompiledAward, CompiledSideBet, Rules
from domain.rulesets.parts import SideBetKind
from domain.settlement import Dealer, Played, settle, stands
from tests.unit.domain.playing import STANDARD, Ledger, cards

KINDS: tuple[SideBetKind, ...] = ("jackpot", "five_plus_one", "bonus")
FLUSH = rank_five(cards("Kh 9h 7h 6h 3h"))
ACE_KING = rank_five(cards("As Kd 4h 3c 2s"))
ACE_QUEEN = rank_five(cards("As Qd Jh Tc 9s"))
ROYAL = Hand(1, Category.ROYAL_FLUSH)
OUTCOMES = {
    "folded": {"folded": True, "raised": 0},
    "dealer_not_qualified": {},
    "win": {},
    "push": {},
    "lose": {},
}


def side_bet(kind: Any, **changes: Any) -> CompiledSideBet:
    """Return a side bet that pays by every category: odds or bonus awards 10 to 19, weakest first."""
    figures = dict(zip(map(str, CATEGORIES), range(10, 20), strict=True))
    made = CompiledSideBet(
        kind=kind,
        stake=None,
        survives_fold=True,
        needs_dealer_to_qualify=False,
        pays=figures if kind == "five_plus_one" else {},
        awards={
            name: CompiledAward(None, figure, "house") for name, figure in figures.items() if kind == "bonus"
        },
    )
    return replace(made, **changes)


@pytest.fixture(scope="module")
def plain() -> Rules:
    """Return rules without a cap, with all three side bets."""
    ledger = Ledger()
    ledger.table("nordic")
    rules = ledger.work.rules_of(ledger.work.round(ledger.open()))
    return replace(rules, side_bets={kind: side_bet(kind) for kind in KINDS}, side_bet_order=KINDS)


def played(outcome: str, hand: Hand = FLUSH, **changes: Any) -> Played:
    """Return a seat with an ante of 100 and a raise of 200 on that hand."""
    fields: dict[str, Any] = {"raised": 200, "folded": False, **OUTCOMES[outcome], **changes}
    side_bets = fields.pop("side_bets", {})
    forfeited = fields.pop("forfeited", ())
    fee = fields.pop("fee", 0)
    raised, folded = fields.pop("raised"), fields.pop("folded")
    last = {"bonus_hand": hand, "award": 0, "raise_won_before": 0, **fields}
    return Played(100, raised, fee, side_bets, forfeited, folded, hand, **last)


def dealer(outcome: str, hand: Hand = FLUSH) -> Dealer:
    """Return a dealer against whom the hand has that outcome."""
    value = {"win": hand.value + 1, "push": hand.value, "lose": hand.value - 1}.get(outcome, hand.value - 1)
    return Dealer(Hand(value, hand.category), qualified=outcome != "dealer_not_qualified")


ANTE_AND_RAISE = {
    "folded": (BetLeg("ante", 100, 0, 0),),
    "dealer_not_qualified": (BetLeg("ante", 100, 100, 100, 1), BetLeg("raise", 200, 200, 0)),
    "win": (BetLeg("ante", 100, 100, 100, 1), BetLeg("raise", 200, 200, 1_000, 5)),
    "push": (BetLeg("ante", 100, 100, 0), BetLeg("raise", 200, 200, 0)),
    "lose": (BetLeg("ante", 100, 0, 0), BetLeg("raise", 200, 0, 0)),
}


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_ante_and_raise(plain: Rules, outcome: str) -> None:
    """Without side bets there are no legs but these, whatever the hands' order against a failed dealer."""
    settled = settle(plain, played(outcome), dealer(outcome))
    assert (settled.result, settled.legs) == (outcome, ANTE_AND_RAISE[outcome])


def test_nobody_revealed(plain: Rules) -> None:
    """Where the dealer stayed hidden every seat has folded."""
    settled = settle(plain, played("folded"), None)
    assert (settled.result, settled.legs) == ("folded", ANTE_AND_RAISE["folded"])


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_raise_pays_by_the_players_hand(plain: Rules, category: Category) -> None:
    """By the house's table, for each of the ten categories."""
    hand = Hand(5_000, category)
    leg = settle(plain, played("win", hand), Dealer(Hand(5_001, Category.PAIR), qualified=True)).legs[1]
    assert leg == BetLeg("raise", 200, 200, 200 * STANDARD[category], STANDARD[category])


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_side_bets_win_on_every_result(plain: Rules, outcome: str, category: Category) -> None:
    """Each level of each side bet on a fold, a failed dealer, a win, a tie and a loss; the rest unchanged."""
    figure = 10 + CATEGORIES.index(category)
    hand = Hand(3_000, category)
    bets = {"bonus": 7, "jackpot": 3, "five_plus_one": 5}
    seat = played(outcome, hand, side_bets=bets, award=999, bonus_hand=hand)
    settled = settle(plain, seat, dealer(outcome, hand))

    assert settled.legs[-3:] == (
        BetLeg("jackpot", 3, 0, 999),
        BetLeg("five_plus_one", 5, 5, 5 * figure, figure),
        BetLeg("bonus", 7, 0, figure),
    )
    assert settled.legs[:-3] == settle(plain, played(outcome, hand), dealer(outcome, hand)).legs


def test_side_bets_below_their_levels_lose(plain: Rules) -> None:
    """A category that is in no table wins nothing, and the stake is gone; so does a jackpot without award."""
    bets = {
        "jackpot": side_bet("jackpot"),
        "five_plus_one": side_bet("five_plus_one", pays={"royal_flush": 9}),
        "bonus": side_bet("bonus", awards={"royal_flush": CompiledAward(None, 9, "house")}),
    }
    seat = played("win", side_bets=dict.fromkeys(KINDS, 5), bonus_hand=FLUSH)
    legs = settle(replace(plain, side_bets=bets), seat, dealer("win")).legs
    assert legs[-3:] == tuple(BetLeg(kind, 5, 0, 0) for kind in KINDS)


def test_a_bonus_has_no_meter_to_take_a_percentage_of(plain: Rules) -> None:
    """An award without a fixed amount is none."""
    bet = side_bet("bonus", awards={"flush": CompiledAward(10, None, "meter")})
    rules = replace(plain, side_bets={"bonus": bet}, side_bet_order=("bonus",))
    assert settle(rules, played("win", side_bets={"bonus": 5}), dealer("win")).legs[-1] == BetLeg(
        "bonus", 5, 0, 0
    )


def test_the_five_plus_one_looks_at_its_own_hand(plain: Rules) -> None:
    """The best five of six, not the player's five."""
    seat = played("win", side_bets={"five_plus_one": 5}, bonus_hand=ROYAL)
    assert settle(plain, seat, dealer("win")).legs[-1] == BetLeg("five_plus_one", 5, 5, 95, 19)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("survives", [True, False])
@pytest.mark.parametrize("needs", [True, False])
def test_conditions_of_side_bets(
    plain: Rules, kind: SideBetKind, outcome: str, *, survives: bool, needs: bool
) -> None:
    """A house may let a fold, or a dealer who fails, take a side bet."""
    bet = side_bet(kind, survives_fold=survives, needs_dealer_to_qualify=needs)
    rules = replace(plain, side_bets={kind: bet}, side_bet_order=(kind,))
    seat = played(outcome, side_bets={kind: 5}, award=15, bonus_hand=FLUSH)
    leg = settle(rules, seat, dealer(outcome)).legs[-1]
    lost = (outcome == "folded" and not survives) or (outcome == "dealer_not_qualified" and needs)
    assert (leg.bet, leg.stake, leg.won > 0) == (kind, 5, not lost)
    assert leg.returned == (5 if kind == "five_plus_one" and not lost else 0)


def test_a_hidden_dealer_does_not_qualify(plain: Rules) -> None:
    """A side bet that needs her to qualify is lost where she was never revealed; others are not."""
    seat = played("folded", side_bets={"bonus": 5})
    needy = replace(plain, side_bets={"bonus": side_bet("bonus", needs_dealer_to_qualify=True)})
    assert settle(replace(needy, side_bet_order=("bonus",)), seat, None).legs[-1].won == 0
    assert settle(plain, seat, None).legs[-1].won == 15


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_forfeited_is_lost(plain: Rules, kind: str) -> None:
    """Only what the exchange took."""
    seat = played("win", side_bets=dict.fromkeys(KINDS, 5), forfeited=(kind,), award=9, bonus_hand=FLUSH)
    won = {leg.bet: leg.won for leg in settle(plain, seat, dealer("win")).legs[2:]}
    assert [name for name in KINDS if won[name] == 0] == [kind]


def test_the_price_of_a_card_comes_after_the_raise_and_never_back(plain: Rules) -> None:
    """Also where the seat folded and there is no raise."""
    seat = played("push", fee=100, side_bets={"bonus": 5})
    assert [leg.bet for leg in settle(plain, seat, dealer("push")).legs] == [
        "ante",
        "raise",
        "exchange_fee",
        "bonus",
    ]
    legs = settle(plain, played("folded", fee=100), dealer("folded")).legs
    assert legs == (BetLeg("ante", 100, 0, 0), BetLeg("exchange_fee", 100, 0, 0))


@pytest.mark.parametrize(
    ("scope", "cap", "before", "won"),
    [
        ("raise_per_hand", None, 0, 1_000),
        ("raise_per_hand", 1_001, 0, 1_000),
        ("raise_per_hand", 1_000, 0, 1_000),
        ("raise_per_hand", 999, 0, 999),
        ("raise_per_hand", 999, 500, 999),
        ("aggregate", 1_000, 0, 1_000),
        ("aggregate", 1_000, 1, 999),
        ("aggregate", 1_000, 999, 1),
        ("aggregate", 1_000, 1_000, 0),
        ("aggregate", 1_000, 1_001, 0),
        ("aggregate", 5_000, 1_000, 1_000),
    ],
)
def test_caps(plain: Rules, scope: Any, cap: int | None, before: int, won: int) -> None:
    """The cap is on the win, of each hand or of what those before have left; odds go with a win."""
    rules = replace(plain, raise_win_cap=cap, cap_scope=scope)
    leg = settle(rules, played("win", raise_won_before=before), dealer("win")).legs[1]
    assert leg == BetLeg("raise", 200, 200, won, 5 if won else None)


@pytest.mark.parametrize(
    ("show", "outcome", "jackpot", "shown"),
    [
        ("all", "folded", False, True),
        ("all", "win", False, True),
        ("called", "folded", True, False),
        ("called", "dealer_not_qualified", False, True),
        ("called", "win", False, True),
        ("jackpot_when_not_qualified", "folded", True, False),
        ("jackpot_when_not_qualified", "dealer_not_qualified", True, True),
        ("jackpot_when_not_qualified", "dealer_not_qualified", False, False),
        ("jackpot_when_not_qualified", "win", False, True),
        ("jackpot_when_not_qualified", "lose", False, True),
    ],
)
def test_which_hands_are_turned_up(
    plain: Rules, show: Any, outcome: str, *, jackpot: bool, shown: bool
) -> None:
    """All; those that raised; or, against a failed dealer, those in the jackpot only."""
    seat = played(outcome, side_bets={"jackpot": 1} if jackpot else {"bonus": 1})
    assert settle(replace(plain, show_hands=show), seat, dealer(outcome)).shown is shown


@pytest.mark.parametrize("show", ["called", "jackpot_when_not_qualified"])
def test_no_hand_is_turned_up_where_the_dealer_stays_hidden(plain: Rules, show: Any) -> None:
    """But where cards lie face up anyway."""
    seat = played("folded", side_bets={"jackpot": 1})
    assert settle(replace(plain, show_hands=show), seat, None).shown is False
    assert settle(replace(plain, show_hands="all"), seat, None).shown is True


def test_a_side_bet_stands_or_not() -> None:
    """The condition alone, as the jackpot asks it before an award is paid."""
    bet = side_bet("jackpot")
    strict = replace(bet, survives_fold=False, needs_dealer_to_qualify=True)
    assert stands(bet, "jackpot", folded=True, forfeited=(), qualified=False)
    assert not stands(bet, "jackpot", folded=False, forfeited=("jackpot",), qualified=True)
    assert stands(bet, "jackpot", folded=False, forfeited=("bonus",), qualified=True)
    assert not stands(strict, "jackpot", folded=True, forfeited=(), qualified=True)
    assert not stands(strict, "jackpot", folded=False, forfeited=(), qualified=False)
    assert stands(strict, "jackpot", folded=False, forfeited=(), qualified=True)


@pytest.mark.parametrize(("hand", "result"), [(ACE_KING, "win"), (ACE_QUEEN, "dealer_not_qualified")])
def test_the_result_of_the_boundary_hands(plain: Rules, hand: Hand, result: str) -> None:
    """A pair against ace-king high and against ace-queen high."""
    qualified = hand is ACE_KING
    pair = rank_five(cards("2h 2d 5c 4c 3d"))
    assert settle(plain, played("win", pair), Dealer(hand, qualified=qualified)).result == result
