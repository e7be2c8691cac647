"""What may be seen of a round, by whom and when (G5), and how a round looks in answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from domain import commands as c
from domain.views import round_answer, round_view
from tests.unit.domain.playing import Box, Ledger, cards, jackpot_bet, plain_house

DEALER = "Ad Kd 3h 3c 2s"
HAND = "9h 9d 7c 6h 5h"


def seen(ledger: Ledger, round_id: str, *, game_server: bool) -> dict[str, Any]:
    """Return a round as somebody sees it."""
    state = ledger.round(round_id)
    return round_view(state, ledger.work.rules_of(state), {}, game_server=game_server)


def test_a_round_in_every_phase() -> None:
    """The whole answer of a played round, from the opening to the end."""
    ledger = Ledger()
    ledger.table(plain_house())
    ref = ledger.work.tables["t"].ruleset
    ledger.fund([ledger.stake(1)])
    answer = ledger.ask(c.OpenRound("r", "t", (ledger.stake(1, 1_000),)))
    common = {
        "round_id": "r",
        "table_id": "t",
        "ruleset": {"id": "test-house", "version": 1, "sha256": ref.sha256},
        "currency": "USD",
        "gaming_day": "2026-10-02",
        "deck_commitment": None,
        "committed": "table",
    }
    seat = {"seat": 1, "player_id": "player-1", "ante": 1_000, "side_bets": {}}
    assert answer == {
        **common,
        "phase": "betting",
        "up_cards": [],
        "seats": [{**seat, "cards": [], "category": None, "options": []}],
    }
    hand = {"cards": [*cards(HAND)], "category": "pair"}
    assert ledger.deal("r", DEALER, {1: HAND}) == {
        **common,
        "phase": "dealt",
        "up_cards": ["Ad"],
        "seats": [{**seat, **hand, "options": ["raise", "fold"]}],
    }
    decided = {**hand, "options": [], "decision": "raise", "decided_by": "player"}
    assert ledger.decide("r", 1, "raise")["seats"] == [{**seat, **decided}]
    assert ledger.reveal("r", DEALER) == {
        **common,
        "phase": "closed",
        "up_cards": ["Ad"],
        "dealer": {"cards": [*cards(DEALER)], "category": "pair", "qualified": True},
        "seats": [
            {
                **seat,
                **decided,
                "shown": True,
                "result": "win",
                "bets": [
                    {"bet": "ante", "stake": 1_000, "returned": 1_000, "won": 1_000, "odds": 1},
                    {"bet": "raise", "stake": 2_000, "returned": 2_000, "won": 2_000, "odds": 1},
                ],
                "total_returned": 6_000,
                "net": 3_000,
            }
        ],
    }


def test_a_shared_hand_is_told_even_where_no_seat_is() -> None:
    """On a big shared round an answer shows none of the seats, and still the hand that all play."""
    ledger = Ledger()
    ledger.table("evolution-live")
    round_id = ledger.dealt(DEALER, {number: Box(HAND) for number in range(1, 23)})
    state = ledger.round(round_id)
    view = round_view(state, ledger.work.rules_of(state), {}, game_server=False, seats=[])
    assert (view["seats"], view["shared_cards"]) == ([], [*cards(HAND)])


def test_a_losing_and_a_folded_seat() -> None:
    """What is lost shows no odds, and a net below zero."""
    ledger = Ledger()
    ledger.table(plain_house())
    boxes = {1: Box("Qh 9d 7c 6h 5h", ante=100), 2: Box(HAND.replace("9d", "9c"), "fold", ante=100)}
    round_id = ledger.play("Ad Kd 3h 3c 2s", {1: boxes[1]})
    (seat,) = seen(ledger, round_id, game_server=True)["seats"]
    assert seat["bets"][0] == {"bet": "ante", "stake": 100, "returned": 0, "won": 0}
    assert (seat["total_returned"], seat["net"]) == (0, -300)
    round_id = ledger.play(DEALER, {2: boxes[2]})
    (seat,) = seen(ledger, round_id, game_server=True)["seats"]
    assert (seat["decision"], seat["result"], seat["shown"], seat["net"]) == ("fold", "folded", False, -100)


def test_a_void_seat() -> None:
    """Every stake returned, nothing won."""
    ledger = Ledger()
    ledger.table("czech")
    round_id = ledger.dealt(DEALER, {1: Box(HAND, ante=100, side_bets={"bonus": 5_000})})
    ledger.decide(round_id, 1, "5h>2d raise")
    (seat,) = ledger.ask(c.VoidRound(round_id, "malfunction"))["seats"]
    assert seat["bets"] == [
        {"bet": "ante", "stake": 100, "returned": 100, "won": 0},
        {"bet": "raise", "stake": 200, "returned": 200, "won": 0},
        {"bet": "exchange_fee", "stake": 100, "returned": 100, "won": 0},
        {"bet": "bonus", "stake": 5_000, "returned": 5_000, "won": 0},
    ]
    assert (seat["shown"], seat["result"], seat["total_returned"], seat["net"]) == (False, "void", 5_400, 0)
    assert seat["exchanged"] is True


def test_jackpot_hits_are_shown_in_their_order() -> None:
    """As they were paid: the royals with the first of them."""
    awards = {"royal_flush": {"percent": 100}, "straight_flush": {"percent": 10}}
    ledger = Ledger()
    ledger.jackpot(100_000)
    ledger.table(plain_house(side_bets=[jackpot_bet(awards)]))
    hands = {1: "Ah Kh Qh Jh Th", 2: "9c 8c 7c 6c 5c", 3: "As Ks Qs Js Ts"}
    round_id = ledger.play(DEALER, {n: Box(hand, side_bets={"jackpot": 100}) for n, hand in hands.items()})
    hits = seen(ledger, round_id, game_server=False)["jackpot_hits"]
    assert [hit["seat"] for hit in hits] == [1, 3, 2]
    assert hits[0] == {
        "seat": 1,
        "jackpot_id": "pot",
        "category": "royal_flush",
        "award": 50_150,
        "meter_before": 100_300,
        "meter_after": 50_150,
        "meter_before_exact": "100300",
        "meter_after_exact": "50150",
        "order": 1,
    }


@pytest.mark.parametrize("house", ["nordic", "czech", "us-casino", "uk-casino", "casino-poker-1982"])
def test_face_down_cards_are_seen_by_others_after_the_round_only(house: str) -> None:
    """Until the end only the game server sees a player's cards, and nobody the dealer's others (G5)."""
    ledger = Ledger()
    ledger.table(house)
    up = ledger.work.rules_of(ledger.work.rounds[ledger.open()]).up_indices
    ledger.ask(c.VoidRound("r1", "malfunction"))
    hidden = [card for place, card in enumerate(cards(DEALER)) if place not in up]
    round_id = ledger.dealt(DEALER, {1: Box(HAND), 2: Box("Tc Td 8c 7h 6s")})
    for does in ("raise", "fold"):
        text = json.dumps(seen(ledger, round_id, game_server=False))
        assert not any(f'"{card}"' in text for card in [*cards(HAND), *hidden])
        assert '"category": "' not in text
        text = json.dumps(seen(ledger, round_id, game_server=True))
        assert all(f'"{card}"' in text for card in cards(HAND))
        assert not any(f'"{card}"' in text for card in hidden)
        ledger.decide(round_id, 1 if does == "raise" else 2, does)
    assert '"9h"' not in json.dumps(seen(ledger, round_id, game_server=False))
    ledger.reveal(round_id, DEALER)
    text = json.dumps(seen(ledger, round_id, game_server=False))
    assert all(f'"{card}"' in text for card in [*cards(HAND), *cards(DEALER)])


def test_face_down_cards_are_seen_after_a_void_round_too() -> None:
    """The round is over: its cards are no secret any more; the dealer's others are in no event."""
    ledger = Ledger()
    ledger.table("nordic")
    round_id = ledger.dealt(DEALER, {1: Box(HAND)})
    ledger.ask(c.VoidRound(round_id, "malfunction"))
    text = json.dumps(seen(ledger, round_id, game_server=False))
    assert '"9h"' in text
    assert '"Kd"' not in text


def test_a_seed_is_seen_after_the_end_only() -> None:
    """No view, event or text of the books' secrets shows it before."""
    ledger = Ledger()
    ledger.table("us-casino", deal_source="rng")
    round_id = ledger.open(ledger.stake(1), deal=True)
    seed = ledger.work.secrets[round_id].seed.hex()
    everything = repr((seen(ledger, round_id, game_server=True), ledger.events, ledger.work.secrets))
    assert seed not in everything
    assert "deck_seed" not in seen(ledger, round_id, game_server=True)
    ledger.decide(round_id, 1, "fold")
    assert seen(ledger, round_id, game_server=False)["deck_seed"] == seed


def test_names_are_the_operators() -> None:
    """Pseudonyms stay inside; a name that is not given is none."""
    ledger = Ledger()
    ledger.table("us-casino")
    round_id = ledger.open(ledger.stake(1, player="p"))
    assert seen(ledger, round_id, game_server=True)["seats"][0]["player_id"] is None
    answer = round_answer(ledger.work, round_id)
    assert answer["seats"][0]["player_id"] == "p"
    assert "pseudonym" not in json.dumps(answer)


def test_a_view_can_be_limited_to_some_seats() -> None:
    """A page of a big round: the seats asked for, and totals of all."""
    ledger = Ledger()
    ledger.table("us-casino")
    round_id = ledger.open(*(ledger.stake(seat) for seat in (3, 1, 2)))
    state = ledger.round(round_id)
    rules = ledger.work.rules_of(state)
    view = round_view(state, rules, {}, game_server=True, seats=[2])
    assert [seat["seat"] for seat in view["seats"]] == [2]
    assert view["totals"] == {"seats": 3, "undecided": 0, "folded": 0, "settled": 0, "refunded": 0}
    view = round_view(state, rules, {}, game_server=True)
    assert [seat["seat"] for seat in view["seats"]] == [1, 2, 3]
    assert "totals" not in view
