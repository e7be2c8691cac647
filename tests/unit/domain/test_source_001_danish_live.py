"""Source 001, Danish: `evolution-live`. One test for each rule, named after it."""

from __future__ import annotations

import pytest

from domain import commands as c
from domain import events as ev
from domain.views import round_view
from tests.unit.domain.playing import FUNDS, Box, Ledger, cards, changed

ACE_KING = "As Kd 4h 3c 2s"
ACE_QUEEN = "As Qd Jh Tc 9s"
BONUS_LEVELS = {
    # The player's five and the dealer's first card, As; the best five of the six.
    "royal_flush": ("Ks Qs Js Ts 2d", 1000),
    "straight_flush": ("9h 8h 7h 6h 5h", 200),
    "four_of_a_kind": ("Ac Ad Ah 7h 5c", 100),
    "full_house": ("Ac Ad 7d 7h 5c", 20),
    "flush": ("9s 8s 5s 3s Kh", 15),
    "straight": ("5c 4d 3h 2d Kh", 10),
    "three_of_a_kind": ("Ac Ad 9d 7h 5c", 7),
}
BONUS_LOSERS = {
    "two_pair": "Ac 9c 9d 7h 5c",
    "pair": "Ac Kc 9d 7h 5c",
    "high_card": "Kc Qc 9d 7h 5c",
}


@pytest.fixture
def live() -> Ledger:
    """Return a ledger with a live table in euro, dealt by hand."""
    ledger = Ledger()
    ledger.table("evolution-live")
    return ledger


def test_the_player_plays_against_the_house(live: Ledger) -> None:
    """All bettors' results come from the one hand against the dealer's, never against one another's."""
    boxes = {1: Box("Ac Kc 9d 7h 5c", ante=500), 2: Box(ante=10_000), 3: Box(does="fold")}
    round_id = live.play(ACE_KING, boxes)

    assert [live.result(round_id, seat) for seat in (1, 2, 3)] == ["win", "win", "folded"]
    assert live.paid(round_id, 2) == {"ante": (10_000, 10_000), "raise": (20_000, 20_000)}


def test_any_number_of_players(live: Ledger) -> None:
    """5 000 players bet on the one hand; a seat more is refused, and the deck has long been enough."""
    stake = live.stake(5_001)
    live.fund([stake])
    live.refused(c.OpenRound("x", "t", (stake,)), "validation_failed")

    round_id = live.play(ACE_QUEEN, {n: Box("2c 3c 5d 7h 9c", "fold") for n in range(4_980, 5_001)})
    assert len(live.of(round_id, ev.Dealt)) == 2


def test_one_place_for_each_player(live: Ledger) -> None:
    """A player cannot take a second place."""
    live.player("p", currency="EUR")
    stakes = (live.stake(1, player="p"), live.stake(2, player="p"))
    live.refused(c.OpenRound("x", "t", stakes), "seat_taken")


def test_five_cards_face_up_and_one_of_the_dealers(live: Ledger) -> None:
    """The shared hand and the dealer's first card are dealt openly: everybody sees them at once."""
    round_id = live.dealt(ACE_KING, {1: Box("Ac Kc 9d 7h 5c")})

    state = live.round(round_id)
    view = round_view(state, live.work.rules_of(state), {}, game_server=False)
    assert view["seats"][0]["cards"] == ["Ac", "Kc", "9d", "7h", "5c"]
    assert view["up_cards"] == ["As"]
    assert state.up_indices == (0,)


def test_every_round_has_its_own_shuffle() -> None:
    """Two rounds in a row have different commitments and decks."""
    ledger = Ledger()
    ledger.table("evolution-live", deal_source="rng")
    decks = []
    for _ in range(2):
        round_id = ledger.open(ledger.stake(1), deal=True)
        ledger.decide(round_id, 1, "raise")
        decks.append(
            (ledger.of(round_id, ev.Dealt)[0].cards, ledger.of(round_id, ev.RoundOpened)[0].deck_commitment)
        )
    assert decks[0][0] != decks[1][0]
    assert decks[0][1] != decks[1][1]


def test_call_is_twice_the_ante_and_fold_gives_the_ante_up(live: Ledger) -> None:
    """CALL stakes the double, FOLD loses the ante."""
    round_id = live.play(ACE_KING, {1: Box("2c 3d 5d 7h 9c", ante=700), 2: Box(does="fold", ante=700)})

    assert live.of(round_id, ev.Raised)[0].amount == 1_400
    assert live.paid(round_id, 1) == {"ante": (0, 0), "raise": (0, 0)}
    assert live.paid(round_id, 2) == {"ante": (0, 0)}


def test_lowest_hand_that_qualifies(live: Ledger) -> None:
    """A-K-4-3-2 qualifies."""
    round_id = live.play(ACE_KING, {1: Box("2c 2d 5d 7h 9c")})

    assert live.of(round_id, ev.DealerQualified) == [
        ev.DealerQualified(cards(ACE_KING), "high_card", qualified=True)
    ]
    assert live.result(round_id) == "win"


def test_highest_hand_that_does_not_qualify(live: Ledger) -> None:
    """A-Q-J-10-9 does not qualify: the ante is paid 1:1 and the call comes back."""
    round_id = live.play(ACE_QUEEN, {1: Box("2c 2d 5d 7h 3c")})

    assert live.of(round_id, ev.DealerQualified)[0].qualified is False
    assert live.paid(round_id) == {"ante": (10_000, 10_000), "raise": (20_000, 0)}


@pytest.mark.parametrize(
    ("hand", "category", "odds"),
    [
        ("Ah Kh Qh Jh Th", "royal_flush", 100),
        ("9h 8h 7h 6h 5h", "straight_flush", 50),
        ("9h 9d 9c 9s 5h", "four_of_a_kind", 25),
        ("9h 9d 9c 5s 5h", "full_house", 10),
        ("Kh 8h 7h 6h 5h", "flush", 7),
        ("9h 8d 7h 6h 5h", "straight", 5),
        ("9h 9d 9c 6h 5h", "three_of_a_kind", 3),
        ("9h 9d 6c 6h 5h", "two_pair", 2),
        ("9h 9d 7c 6h 5h", "pair", 1),
        ("Ah Kh 7c 6h 5h", "high_card", 1),
    ],
)
def test_the_pay_table_of_the_call(live: Ledger, hand: str, category: str, odds: int) -> None:
    """The table that gives the source's returns: 100, 50, 25, 10, 7, 5, 3, 2, 1, and 1 below a pair."""
    round_id = live.play(ACE_KING, {1: Box(hand)})

    assert live.settled(round_id, 1).category == category
    assert live.paid(round_id) == {"ante": (10_000, 10_000), "raise": (20_000, odds * 20_000)}


def test_push(live: Ledger) -> None:
    """Equal hands return ante and call."""
    round_id = live.play(ACE_KING, {1: Box("Ac Kc 4d 3h 2c")})

    assert live.paid(round_id) == {"ante": (10_000, 0), "raise": (20_000, 0)}
    assert live.wallet("player-1") == (FUNDS, 0)


WINNER_FIRST = {
    "the ace is low in a straight": ("As 2d 3h 4c 5s", "Kd Kh Kc 9c 8s"),
    "the ace is high in a straight": ("As Kd Qh Jc Ts", "Ks Qd Jh Tc 9s"),
    "the wheel is the lowest straight": ("6s 5d 4h 3c 2s", "As 5h 4d 3h 2c"),
    "no straight runs around the ace": ("7s 7d 2h 3c 4s", "3s 2d Ah Kc Qs"),
    "the steel wheel is a straight flush": ("5s 4s 3s 2s As", "Ks Kd Kh Kc Ad"),
    "the steel wheel is the lowest straight flush": ("6h 5h 4h 3h 2h", "5s 4s 3s 2s As"),
    "the higher quads win": ("6s 6d 6h 6c 2s", "5s 5d 5h 5c As"),
    "the higher three decides between full houses": ("Ks Kd Kh 6c 6s", "Qs Qd Qh Ac As"),
    "the second card decides between flushes": ("Kh Jh 4h 3h 2h", "Ks Ts 9s 8s 7s"),
    "the last card decides between flushes": ("Kh Jh 9h 8h 3h", "Ks Js 9s 8s 2s"),
    "the highest card decides between straights": ("Ts 9d 8h 7c 6s", "9s 8d 7h 6d 5s"),
    "the kicker decides between threes": ("Ks Kd Kh 8c 6s", "Kc Qd Qh Ac As"),
    "the second pair decides": ("Ks Kd 8h 8c 2s", "Kc Kh 7h 7c As"),
    "the kicker decides between two pairs": ("Ks Kd 8h 8c 3s", "Kc Kh 8s 8d 2s"),
    "the third kicker decides between pairs": ("Ks Kd 9h 8c 3s", "Kc Kh 9s 8d 2s"),
    "the higher pair wins": ("8s 8d 4h 3c 2s", "7s 7d As Kc Qs"),
    "the fifth card decides between high cards": ("As Kd 9h 8c 3s", "Ac Kh 9s 8d 2c"),
}


@pytest.mark.parametrize(("better", "worse"), WINNER_FIRST.values(), ids=WINNER_FIRST)
def test_winning_hands(live: Ledger, better: str, worse: str) -> None:
    """The hand wins as the player's and takes both bets as the dealer's, by the source's ranking."""
    won = live.play(worse, {1: Box(better)})
    lost = live.play(better, {1: Box(worse)})

    assert (live.result(won), live.result(lost)) == ("win", "lose")


@pytest.mark.parametrize(
    ("hand", "dealer"),
    [
        ("Ts 9d 8h 7c 6s", "Td 9h 8c 7s 6d"),
        ("Kh Jh 9h 8h 3h", "Ks Js 9s 8s 3s"),
        ("Ah Kh Qh Jh Th", "As Ks Qs Js Ts"),
    ],
)
def test_suits_never_decide(live: Ledger, hand: str, dealer: str) -> None:
    """Straights, flushes and royal flushes of equal ranks tie, whatever their suits."""
    assert live.result(live.play(dealer, {1: Box(hand)})) == "push"


@pytest.mark.parametrize("does", ["raise", "fold"])
@pytest.mark.parametrize(("hand", "odds"), BONUS_LEVELS.values(), ids=BONUS_LEVELS)
def test_the_5_plus_1_bonus(live: Ledger, hand: str, odds: int, does: str) -> None:
    """Trips or better of the five and the dealer's first card win, call or fold: the stake and the odds."""
    round_id = live.play("As Kd 4h 3c 2c", {1: Box(hand, does, side_bets={"five_plus_one": 300})})

    leg = live.settled(round_id, 1).bets[-1]
    assert leg == ev.BetLeg("five_plus_one", 300, 300, 300 * odds, odds)


@pytest.mark.parametrize("hand", BONUS_LOSERS.values(), ids=BONUS_LOSERS)
def test_the_5_plus_1_bonus_below_trips(live: Ledger, hand: str) -> None:
    """Less than three of a kind loses the stake."""
    round_id = live.play("As Kd 4h 3c 2c", {1: Box(hand, side_bets={"five_plus_one": 300})})

    assert live.settled(round_id, 1).bets[-1] == ev.BetLeg("five_plus_one", 300, 0, 0)


def test_the_5_plus_1_bonus_looks_at_the_first_card_only(live: Ledger) -> None:
    """The dealer's other aces do not help: a pair with her first card stays a pair."""
    box = {1: Box("Ac Kc 9d 7h 5c", side_bets={"five_plus_one": 300})}
    round_id = live.play("Ks Ad Ah 3c 2s", box)

    assert live.paid(round_id)["five_plus_one"] == (0, 0)


def test_the_5_plus_1_bonus_is_optional_and_within_the_limits(live: Ledger) -> None:
    """Without one nothing is settled for it; below the least and above the most it is refused."""
    live.fund([live.stake(1)])
    for amount in (99, 10_001):
        stakes = (live.stake(1, five_plus_one=amount),)
        live.refused(c.OpenRound("x", "t", stakes), "side_bet_stake")
    for amount in (100, 10_000):
        hand = {1: Box("Ac Kc 9d 7h 5c", side_bets={"five_plus_one": amount})}
        assert live.paid(live.play(ACE_KING, hand))["five_plus_one"] == (0, 0)
    assert "five_plus_one" not in live.paid(live.play(ACE_KING, {1: Box("Ac Kc 9d 7h 5c")}))


def test_all_bets_before_betting_time_ends(live: Ledger) -> None:
    """After the deal neither an ante nor a 5+1 Bonus is taken."""
    round_id = live.dealt(ACE_KING, {1: Box("Ac Kc 9d 7h 5c")})
    late = live.stake(2, five_plus_one=100)
    live.fund([late])
    live.refused(c.PlaceAntes(round_id, (late,)), "wrong_phase")


@pytest.mark.parametrize("phase", ["betting", "dealt", "decided"])
def test_a_technical_fault_voids_all_pays_and_plays(live: Ledger, phase: str) -> None:
    """A malfunction before settlement gives every stake back, whatever has been dealt and decided."""
    boxes = {1: Box("Ac Kc 9d 7h 5c", side_bets={"five_plus_one": 300}), 2: Box(does="fold")}
    if phase == "betting":
        round_id = live.open(live.stake(1, five_plus_one=300), live.stake(2))
    else:
        round_id = live.dealt(ACE_KING, boxes)
    if phase == "decided":
        live.decide(round_id, 1, "raise")
        live.decide(round_id, 2, "fold")
    answer = live.ask(c.VoidRound(round_id, "malfunction"))

    assert answer["phase"] == "voided"
    assert [seat["net"] for seat in answer["seats"]] == [0, 0]
    assert live.wallet("player-1") == live.wallet("player-2") == (FUNDS, 0)


def test_a_finished_round_is_not_voided(live: Ledger) -> None:
    """After settlement only a correction changes money."""
    round_id = live.play(ACE_KING, {1: Box("Ac Kc 9d 7h 5c")})
    live.refused(c.VoidRound(round_id, "malfunction"), "wrong_phase")


def test_no_misdeal_where_cards_lie_face_up(live: Ledger) -> None:
    """A misdeal is no cause at this house."""
    round_id = live.open(live.stake(1))
    refusal = live.refused(c.VoidRound(round_id, "misdeal_exposed"), "validation_failed")
    assert refusal.extra == {"causes": ["malfunction"]}


@pytest.mark.parametrize(("reveals", "shown"), [(True, "revealed"), (False, "closed")])
def test_the_dealer_shows_her_hand_at_the_end(*, reveals: bool, shown: str) -> None:
    """At the end the dealer turns up all cards, even when all fold, unless the house is told not to."""
    ledger = Ledger()
    ledger.table(changed("evolution-live", play={"reveal_if_all_fold": reveals}))
    bonus = {"five_plus_one": 100}
    round_id = ledger.play("As Kd 4h 3c 2c", {1: Box("Ac Ad 9d 7h 5c", "fold", side_bets=bonus)})

    assert bool(ledger.of(round_id, ev.DealerQualified)) == (shown == "revealed")
    assert ledger.paid(round_id) == {"ante": (0, 0), "five_plus_one": (100, 700)}
