"""The offline verifier: it passes what follows the rules and refutes or refuses everything else."""

from __future__ import annotations

import copy
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.scripts.evidence_builder import Maker, canonical, category, house, sha256

if TYPE_CHECKING:
    from collections.abc import Callable

SCRIPT = Path(__file__).parents[3] / "scripts" / "verify.py"
_spec = importlib.util.spec_from_file_location("verify_under_test", SCRIPT)
assert _spec is not None
assert _spec.loader is not None
verify: Any = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = verify
_spec.loader.exec_module(verify)

Evidence = dict[str, Any]


def us_casino() -> Maker:
    """Return a round of one seat that staked after the commitment was known, with its own seed."""
    maker = Maker(house("us-casino"), meter="1000000.5")
    maker.begin("stake")
    maker.ante(1, 500, client_seed="heads or tails", jackpot=100)
    maker.deal()
    maker.begin("decide")
    maker.call(1)
    maker.settle()
    return maker


def us_casino_at_once() -> Maker:
    """Return a round whose stake came in the opening command."""
    maker = Maker(house("us-casino"), meter="1000000", round_id="r-2")
    maker.ante(1, 500, jackpot=100)
    maker.deal()
    maker.begin("decide")
    maker.fold(1)
    maker.settle()
    return maker


def nordic() -> Maker:
    """Return a full table of seven, two of whom fold, one by time-out."""
    maker = Maker(house("nordic"), meter="123456.7", decision_seconds=30)
    maker.begin("stakes")
    for seat in (3, 1, 2, 7, 5, 6, 4):
        maker.ante(seat, 100 * seat, jackpot=100, client_seed="lucky" if seat == 6 else None)
    maker.begin("deal")
    maker.deal()
    maker.begin("decide")
    maker.call(7, 1, 2)
    maker.fold(4)
    maker.begin("more")
    maker.call(3, 5)
    maker.begin("late")
    maker.fold(6, by="timeout")
    maker.settle()
    return maker


def evolution_live() -> Maker:
    """Return three bettors on one shared hand with the 5+1 Bonus."""
    maker = Maker(house("evolution-live"))
    maker.begin("stakes")
    maker.ante(1, 500, five_plus_one=300)
    maker.ante(17, 1_000)
    maker.ante(4_999, 2_000, five_plus_one=100)
    maker.deal()
    maker.begin("decide")
    maker.call(1, 4_999)
    maker.fold(17)
    maker.settle()
    return maker


def evolution_live_table() -> Maker:
    """Return a studio's round where the bonus wins on a hand that folds and on one that calls."""
    maker = Maker(house("evolution-live"), source="table")
    maker.begin("stakes")
    maker.ante(1, 500, five_plus_one=300)
    maker.ante(2, 500, five_plus_one=200)
    maker.deal({0: "Ah Kh Qh Jh 2c"}, "Th 3d 4s 9c 2d")
    maker.begin("decide")
    maker.call(1)
    maker.fold(2)
    maker.settle()
    return maker


def czech() -> Maker:
    """Return a round with two exchanges and a bonus that is forfeited."""
    maker = Maker(house("czech"), raise_win_cap=3_000, bonus_stake=200)
    maker.begin("stakes")
    for seat in (1, 2, 4):
        maker.ante(seat, 1_000, bonus=200)
    maker.deal()
    maker.begin("decide")
    maker.exchange(2, maker.seats[2]["hand"][3])
    maker.call(1)
    maker.exchange(4, maker.seats[4]["hand"][0])
    maker.call(2)
    maker.fold(4)
    maker.settle()
    return maker


def czech_table() -> Maker:
    """Return a winning bonus, one taken by an exchange, and a raise paid up to the table's maximum."""
    maker = Maker(house("czech"), source="table", raise_win_cap=3_000, bonus_stake=200)
    maker.begin("stakes")
    for seat in (1, 2):
        maker.ante(seat, 1_000, bonus=200)
    maker.deal({1: "2h 5h 7h 9h Jh", 2: "2c 5c 7c 9c Jd"}, "Ad Kd 4s 3s 2s")
    maker.begin("decide")
    maker.exchange(2, "Jd", "Jc")
    maker.call(1, 2)
    maker.settle()
    return maker


def casino_poker() -> Maker:
    """Return a round with two open cards."""
    maker = Maker(house("casino-poker-1982"))
    maker.begin("stakes")
    maker.ante(2, 1_000)
    maker.ante(5, 2_000)
    maker.deal()
    maker.begin("decide")
    maker.call(2)
    maker.fold(5)
    maker.settle()
    return maker


def cyber() -> Maker:
    """Return one player on three seats."""
    maker = Maker(house("cyber"), meter="50000")
    maker.begin("stakes")
    for seat in (1, 2, 3):
        maker.ante(seat, 100 * seat, player="p-0", jackpot=100)
    maker.deal()
    maker.begin("decide")
    maker.call(1)
    maker.fold(2)
    maker.call(3)
    maker.settle()
    return maker


def jackpot_order() -> Maker:
    """Return the example of the rules: the meter of 1 000 000 passes through five winners."""
    maker = Maker(house("us-casino"), source="table", meter="999650", reset=10_000)
    maker.begin("stakes")
    for seat in range(1, 6):
        maker.ante(seat, 500, jackpot=100)
    hands = ("9h 8h 7h 6h 5h", "2s 2h 2d 2c 3c", "As Ks Qs Js Ts", "Ad Kd Qd Jd Td", "9c 8c 7c 6c 5c")
    maker.deal(dict(enumerate(hands, start=1)), "Kh Kc 4d 4s 7s")
    maker.begin("decide")
    maker.call(1, 2, 3, 5)
    maker.fold(4)
    maker.settle()
    return maker


def top_up() -> Maker:
    """Return fixed awards that the meter cannot cover, one of them paid by the house alone."""
    rules = house("us-casino")
    rules["side_bets"][0]["awards"]["full_house"]["funding"] = "house"
    maker = Maker(rules, source="table", meter="20000.25")
    maker.begin("stakes")
    for seat in (1, 2, 3):
        maker.ante(seat, 500, jackpot=100)
    hands = {1: "3s 3h 3d Kc Kd", 2: "2s 2h 2d 2c 3c", 3: "Ad Jd 9d 7d 5d"}
    maker.deal(hands, "Ah Kh 4d 4s 7s")
    maker.begin("decide")
    maker.call(1, 2, 3)
    maker.settle()
    return maker


def uk_not_qualified() -> Maker:
    """Return a dealer who does not qualify where only hands in the jackpot are shown."""
    maker = Maker(house("uk-casino"), source="table", meter="70000")
    maker.begin("stakes")
    maker.ante(1, 10_000, jackpot=100)
    maker.ante(2, 10_000)
    maker.ante(3, 10_000, jackpot=100)
    maker.deal({1: "2h 5c 7h 9h Jh", 2: "As Ac Ad Kc 2d", 3: "2c 4c 7c 8d 9s"}, "Ah Qh Jd Ts 9d")
    maker.begin("decide")
    maker.call(1, 2)
    maker.fold(3)
    maker.settle()
    return maker


def all_folded_unrevealed() -> Maker:
    """Return a house that does not turn up its hand when all fold."""
    rules = house("us-casino")
    rules["play"]["reveal_if_all_fold"] = False
    maker = Maker(rules, meter="70000")
    maker.begin("stakes")
    maker.ante(1, 10_000, jackpot=100)
    maker.deal()
    maker.fold(1)
    maker.settle()
    return maker


def aggregate_cap() -> Maker:
    """Return one player's two winning hands under one cap."""
    rules = house("cyber", raise_cap={"scope": "aggregate", "amount": "50"})
    maker = Maker(rules, source="table", meter="70000")
    maker.begin("stakes")
    for seat in (1, 2, 3):
        maker.ante(seat, 500, player="p-0")
    maker.deal({1: "3s 3h 3d Kc Kd", 2: "2s 2h 2d 9c 3c", 3: "5d 5h 9d 9h Jd"}, "Ah Ks 4d 7c 8s")
    maker.begin("decide")
    maker.call(1, 2, 3)
    maker.settle()
    return maker


def push() -> Maker:
    """Return a tie of five equal ranks."""
    maker = Maker(house("casino-poker-1982"), source="table")
    maker.begin("stakes")
    maker.ante(1, 500)
    maker.deal({1: "6h 6d 5h 5d 2c"}, "6s 6c 5s 5c 2d")
    maker.begin("decide")
    maker.call(1)
    maker.settle()
    return maker


def void_after_decisions() -> Maker:
    """Return a malfunction after an exchange and a raise, with everything paid back."""
    maker = Maker(house("czech"), raise_win_cap=3_000, bonus_stake=200)
    maker.begin("stakes")
    maker.ante(1, 1_000, bonus=200)
    maker.ante(2, 1_000)
    maker.deal()
    maker.begin("decide")
    maker.exchange(1, maker.seats[1]["hand"][0])
    maker.call(1)
    maker.begin("void")
    maker.void("misdeal_exposed")
    return maker


def void_with_empty_meter() -> Maker:
    """Return a void round after another round has won the meter."""
    maker = Maker(house("nordic"), meter="5")
    maker.begin("stakes")
    maker.ante(1, 1_000, jackpot=100)
    maker.ante(2, 1_000, jackpot=100)
    maker.deal()
    maker.begin("void")
    maker.meter, maker.moved_at = maker.meter * 0 + 100, maker.position
    maker.void()
    return maker


def expired() -> Maker:
    """Return a round nobody staked on."""
    maker = Maker(house("us-casino"), meter="5")
    maker.begin("late")
    maker.void("expired")
    return maker


ROUNDS: dict[str, Callable[[], Maker]] = {
    made.__name__: made
    for made in (
        us_casino, us_casino_at_once, nordic, evolution_live, evolution_live_table, czech, czech_table, casino_poker,
        cyber, jackpot_order, top_up, uk_not_qualified, all_folded_unrevealed, aggregate_cap, push,
        void_after_decisions, void_with_empty_meter, expired,
    )
}  # fmt: skip


def examine(evidence: Evidence) -> Any:
    """Return what the verifier found in a file."""
    return verify.examine(canonical(evidence))


def failed(evidence: Evidence) -> list[str]:
    """Return the steps that refute a file."""
    case = examine(evidence)
    assert not case.unusable, case.unusable
    return [step for step, faults in case.faults.items() if faults]


def event_of(evidence: Evidence, kind: str, number: int = 0) -> dict[str, Any]:
    """Return an event of a type."""
    found: dict[str, Any] = [event for event in evidence["events"] if event.get("type") == kind][number]
    return found


@pytest.mark.parametrize("name", ROUNDS)
def test_a_round_that_follows_the_rules_is_verified(name: str) -> None:
    """Every house, deal source and ending passes when the figures are right."""
    assert failed(ROUNDS[name]().evidence()) == []


def test_the_worked_example_of_the_jackpot_order_pays_what_the_rules_say() -> None:
    """The hand-made example holds the awards of the rules, so that the verifier is tested on these."""
    evidence = jackpot_order().evidence()
    hits = [event["data"] for event in evidence["events"] if event["type"] == "JackpotHit"]
    assert [(hit["seat"], hit["award"]) for hit in hits] == [
        (1, 100_000), (2, 50_000), (3, 425_000), (4, 425_000), (5, 1_000),
    ]  # fmt: skip
    assert failed(evidence) == []


# ── One player's file ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "player"),
    [
        ("us_casino", "p-1"), ("nordic", "p-6"), ("evolution_live", "p-17"), ("czech", "p-4"), ("czech", "p-1"),
        ("cyber", "p-0"), ("top_up", "p-3"), ("void_after_decisions", "p-2"), ("void_with_empty_meter", "p-2"),
        *(("jackpot_order", f"p-{seat}") for seat in range(1, 6)),
    ],
)  # fmt: skip
def test_one_players_file_is_verified_as_far_as_it_goes(name: str, player: str) -> None:
    """What is withheld is neither refuted nor needed for the player's own figures."""
    case = examine(ROUNDS[name]().evidence(player))
    assert case.verdict() == "verified"
    assert case.open == set()


def test_a_withheld_client_seed_leaves_the_deck_open() -> None:
    """A deck that depends on another player's client seed is neither proved nor refuted, and this is said."""
    case = examine(nordic().evidence("p-3"))
    assert case.verdict() == "verified"
    assert case.result("cards.deck") == "OPEN"
    assert verify.STEPS["cards.deck"] not in verify.report(case)["proved"]


def test_one_players_file_with_another_card_is_refuted() -> None:
    """Where no client seed is withheld, the player's own cards are still compared with the deck."""
    evidence = czech().evidence("p-1")
    dealt = event_of(evidence, "Dealt")["data"]
    dealt["cards"][0] = next(card for card in verify.DECK if card not in str(evidence))
    assert "cards.deck" in failed(evidence)


@pytest.mark.parametrize("player", ["p-2", "somebody"])
def test_one_players_file_shows_nobody_else(player: str) -> None:
    """A file for one player that shows another's events, or has no seat of that player, is refuted."""
    assert failed({**us_casino().evidence(), "player": player}) == ["order.seats"]


def test_nothing_is_withheld_from_everybodys_file() -> None:
    """An event cannot be left out of a whole file by calling it withheld."""
    evidence = us_casino().evidence()
    event = event_of(evidence, "SideBetPlaced")
    evidence["events"][event["version"] - 1] = {
        **{name: event[name] for name in ("position", "stream", "version")},
        "withheld": True,
        "leaf_sha256": "0" * 64,
    }
    assert failed(evidence) == ["order.places"]


def test_a_share_of_the_whole_meter_must_restart_it_when_nothing_is_left() -> None:
    """In one player's file the last share is known by what it leaves, and has to bring the reset."""
    evidence = jackpot_order().evidence("p-4")
    assert "restart" in event_of(evidence, "JackpotHit")["data"]
    del event_of(evidence, "JackpotHit")["data"]["restart"]
    assert "jackpot.awards" in failed(evidence)


# ── Alterations ─────────────────────────────────────────────────────────────────────────────────────────────


def altered(kind: str, field: str, to: Any, number: int = 0) -> Callable[[Evidence], None]:
    """Return a change of one field of an event."""

    def alter(evidence: Evidence) -> None:
        data = event_of(evidence, kind, number)["data"]
        assert data[field] != to
        data[field] = to

    return alter


def leg(field: str, to: Any, bet: int = 0, number: int = 0) -> Callable[[Evidence], None]:
    """Return a change of one bet of a Settled."""

    def alter(evidence: Evidence) -> None:
        event_of(evidence, "Settled", number)["data"]["bets"][bet][field] = to

    return alter


def dropped(kind: str, number: int = 0) -> Callable[[Evidence], None]:
    """Return the removal of an event, with the later ones moved up so that no gap shows."""

    def alter(evidence: Evidence) -> None:
        evidence["events"].remove(event_of(evidence, kind, number))
        renumber(evidence)

    return alter


def repeated(kind: str) -> Callable[[Evidence], None]:
    """Return the same event happening twice."""

    def alter(evidence: Evidence) -> None:
        event = event_of(evidence, kind)
        evidence["events"].insert(event["version"], copy.deepcopy(event))
        renumber(evidence)

    return alter


def swapped(kind: str, first: int, second: int) -> Callable[[Evidence], None]:
    """Return two events of a kind that change places, each keeping its own place's numbers."""

    def alter(evidence: Evidence) -> None:
        one, other = event_of(evidence, kind, first), event_of(evidence, kind, second)
        one["data"], other["data"] = other["data"], one["data"]

    return alter


def moved(kind: str, before: str) -> Callable[[Evidence], None]:
    """Return an event that comes too early."""

    def alter(evidence: Evidence) -> None:
        event, place = event_of(evidence, kind), event_of(evidence, before)["version"] - 1
        evidence["events"].remove(event)
        evidence["events"].insert(place, event)
        renumber(evidence)

    return alter


def renumber(evidence: Evidence) -> None:
    """Give all events the places and times of an untouched ledger."""
    for number, event in enumerate(evidence["events"], start=1):
        event |= {"version": number, "position": 1_000 + number}
        event["recorded_at"] = f"2026-11-29T21:24:01.{number:06}Z"
        event["meta"]["command"] = f"command-{number}"


def rule(change: Callable[[dict[str, Any]], Any], *, pinned: bool = False) -> Callable[[Evidence], None]:
    """Return a change of the rules; `pinned`, with the hash on the round changed along with it."""

    def alter(evidence: Evidence) -> None:
        change(evidence["ruleset"])
        if pinned:
            event_of(evidence, "RoundOpened")["data"]["ruleset"]["sha256"] = sha256(evidence["ruleset"])

    return alter


def cheaper_raise(evidence: Evidence) -> None:
    """Change a raise in the event, the settlement and every balance behind it."""
    data = event_of(evidence, "Raised")["data"]
    data["amount"] -= 100
    event_of(evidence, "Settled")["data"]["bets"][1]["stake"] -= 100


def other_seed(evidence: Evidence) -> None:
    """Reveal another seed."""
    event_of(evidence, "RoundClosed")["data"]["deck_seed"] = "00" * 48


def late_raise(evidence: Evidence) -> None:
    """Raise after the end."""
    event = copy.deepcopy(event_of(evidence, "Raised"))
    evidence["events"].append(event)
    renumber(evidence)


def stolen_hand(evidence: Evidence) -> None:
    """Let two seats trade hands."""
    one, other = event_of(evidence, "Dealt", 0)["data"], event_of(evidence, "Dealt", 1)["data"]
    one["cards"], other["cards"] = other["cards"], one["cards"]


def shown_twice(evidence: Evidence) -> None:
    """Put a card of a hand into the dealer's too, at a physical table."""
    event_of(evidence, "DealerQualified")["data"]["cards"][3] = event_of(evidence, "Dealt")["data"]["cards"][
        0
    ]


def nothing(_: dict[str, Any]) -> None:
    """Change nothing."""


ALTERATIONS: list[tuple[str, Callable[[], Maker], Callable[[Evidence], None], str]] = [
    ("ante", us_casino, altered("AntePlaced", "amount", 600), "stakes.amounts"),
    ("ante below the limit", us_casino, altered("AntePlaced", "amount", 99), "stakes.amounts"),
    ("ante above the house's maximum", uk_not_qualified, altered("AntePlaced", "amount", 10_001), "stakes.amounts"),
    ("side bet stake", us_casino, altered("SideBetPlaced", "amount", 200), "stakes.amounts"),
    ("bonus stake", czech, altered("SideBetPlaced", "amount", 100), "stakes.amounts"),
    ("free side bet", evolution_live, altered("SideBetPlaced", "amount", 100_001), "stakes.amounts"),
    ("side bet not offered", us_casino, altered("SideBetPlaced", "bet", "bonus"), "stakes.amounts"),
    ("contribution", us_casino, altered("SideBetPlaced", "contribution", "71"), "stakes.contributions"),
    ("jackpot of a bet", us_casino, altered("SideBetPlaced", "jackpot_id", "other"), "stakes.contributions"),
    ("raise", us_casino, cheaper_raise, "stakes.amounts"),
    ("fee", czech, altered("CardExchanged", "fee", 2_000), "stakes.amounts"),
    ("seed", us_casino, other_seed, "cards.commitment"),
    ("commitment", us_casino, altered("RoundOpened", "deck_commitment", "0" * 64), "cards.commitment"),
    ("client seed", us_casino, altered("AntePlaced", "client_seed", "tails"), "cards.deck"),
    ("deal source", us_casino, altered("RoundOpened", "deal_source", "table"), "cards.commitment"),
    ("dealt place", us_casino, altered("Dealt", "indices", [0, 1, 2, 3, 5]), "cards.dealing"),
    ("up-card's place", us_casino, altered("Dealt", "up_indices", [1], 1), "cards.dealing"),
    ("traded hands", nordic, stolen_hand, "cards.deck"),
    ("swapped seats", nordic, swapped("Dealt", 2, 4), "cards.dealing"),
    ("card twice", push, shown_twice, "cards.unique"),
    ("drawn card", czech, altered("CardExchanged", "drawn", "2c"), "cards.deck"),
    ("discarded card", czech, altered("CardExchanged", "discard", "2c"), "cards.exchange"),
    ("burned card", czech, altered("CardExchanged", "burn_index", 21), "cards.exchange"),
    ("forfeited bet", czech, altered("CardExchanged", "forfeited", []), "cards.exchange"),
    ("dealer's category", us_casino, altered("DealerQualified", "category", "royal_flush"), "result.dealer"),
    ("not qualified", jackpot_order, altered("DealerQualified", "qualified", False), "result.dealer"),
    ("dealer's order", us_casino, lambda e: event_of(e, "DealerQualified")["data"]["cards"].reverse(), "cards.deck"),
    ("category", us_casino, altered("Settled", "category", "full_house"), "result.hands"),
    ("result", push, altered("Settled", "result", "win"), "result.hands"),
    ("shown", uk_not_qualified, altered("Settled", "shown", True, 1), "result.hands"),
    ("hidden", evolution_live, altered("Settled", "shown", False, 1), "result.hands"),
    ("odds", czech_table, leg("odds", 7, 1), "result.bets"),
    ("capped win", czech_table, leg("won", 10_000, 1), "result.bets"),
    ("capped together", aggregate_cap, leg("won", 1_000, 1, 1), "result.bets"),
    ("returned", push, leg("returned", 0), "result.bets"),
    ("bonus kept", czech_table, leg("won", 100_000, 3, 1), "result.bets"),
    ("bonus lost", czech_table, leg("won", 0, 2), "result.bets"),
    ("5+1 on a fold", evolution_live_table, leg("won", 0, 1, 1), "result.bets"),
    ("order of bets", jackpot_order, lambda e: event_of(e, "Settled")["data"]["bets"].reverse(), "result.bets"),
    ("bet left out", jackpot_order, lambda e: event_of(e, "Settled")["data"]["bets"].pop(), "result.bets"),
    ("award", jackpot_order, altered("JackpotHit", "award", 100_001), "jackpot.awards"),
    ("award's category", jackpot_order, altered("JackpotHit", "category", "flush"), "jackpot.awards"),
    ("restart", jackpot_order, altered("JackpotHit", "restart", "10001", 3), "jackpot.awards"),
    ("top-up", top_up, altered("JackpotHit", "from_house", "0", 1), "jackpot.awards"),
    ("meter before", jackpot_order, altered("JackpotHit", "meter_before", "900001", 1), "jackpot.meter"),
    ("meter after", jackpot_order, altered("JackpotHit", "meter_after", "1", 4), "jackpot.awards"),
    ("order of hits", jackpot_order, altered("JackpotHit", "order", 9, 1), "jackpot.meter"),
    ("previous position", jackpot_order, altered("JackpotHit", "previous_position", 12, 1), "jackpot.meter"),
    ("jackpot's id", jackpot_order, altered("JackpotHit", "jackpot_id", "other"), "jackpot.awards"),
    ("hit left out", jackpot_order, dropped("JackpotHit", 1), "jackpot.order"),
    ("hits swapped", jackpot_order, swapped("JackpotHit", 2, 3), "jackpot.order"),
    ("balance", us_casino, altered("SideBetPlaced", "balance_after", 1), "money.balances"),
    ("refund", void_after_decisions, altered("StakeRefunded", "amount", 1), "void.refunds"),
    ("refunded bet", void_after_decisions, lambda e: event_of(e, "StakeRefunded")["data"]["bets"].pop(), "void.refunds"),
    ("cause", void_after_decisions, altered("RoundVoided", "cause", "expired"), "void.refunds"),
    ("misdeal where there is none", void_with_empty_meter, altered("RoundVoided", "cause", "misdeal_count"),
     "void.refunds"),
    ("reversal", void_with_empty_meter, altered("ContributionReversed", "amount", "71"), "void.refunds"),
    ("reversal's share", void_with_empty_meter, altered("ContributionReversed", "from_house", "1", 1), "void.refunds"),
    ("reversals' meter", void_with_empty_meter, altered("ContributionReversed", "meter_before", "31", 1),
     "jackpot.meter"),
    ("seat settled twice", nordic, repeated("Settled"), "order.seats"),
    ("decided twice", nordic, repeated("Raised"), "order.seats"),
    ("dealt twice", nordic, repeated("Dealt"), "order.seats"),
    ("closed twice", nordic, repeated("RoundClosed"), "order.phases"),
    ("refunded twice", void_after_decisions, repeated("StakeRefunded"), "order.seats"),
    ("side bet twice", nordic, repeated("SideBetPlaced"), "order.seats"),
    ("ante left out", nordic, dropped("AntePlaced", 2), "order.seats"),
    ("hand left out", nordic, dropped("Dealt", 3), "order.seats"),
    ("decision left out", nordic, dropped("Folded"), "order.seats"),
    ("settlement left out", nordic, dropped("Settled", 6), "order.seats"),
    ("refund left out", void_after_decisions, dropped("StakeRefunded"), "order.seats"),
    ("reveal left out", nordic, dropped("DealerQualified"), "order.seats"),
    ("end left out", nordic, dropped("RoundClosed"), "order.phases"),
    ("decision before the deal", us_casino, moved("Raised", "Dealt"), "order.phases"),
    ("reveal before the decision", us_casino, moved("DealerQualified", "Raised"), "order.phases"),
    ("stake after the deal", us_casino, moved("BettingClosed", "AntePlaced"), "order.phases"),
    ("raise after the end", us_casino, late_raise, "order.phases"),
    ("settled out of order", nordic, swapped("Settled", 0, 1), "jackpot.order"),
    ("out of turn", cyber, swapped("Raised", 0, 1), "order.seats"),
    ("another's decision", nordic, altered("Raised", "player", "p-9"), "order.seats"),
    ("bettors", nordic, altered("BettingClosed", "seats", 6), "order.seats"),
    ("one player on two seats", nordic, lambda e: [
        event["data"].update(player="p-1") for event in e["events"] if event["data"].get("player") == "p-2"
    ], "order.seats"),
    ("seat the table has not", us_casino, lambda e: [
        event["data"].update(seat=8) for event in e["events"] if "seat" in event["data"]
    ], "order.seats"),
    ("time-out without a clock", us_casino_at_once, altered("Folded", "decided_by", "timeout"), "order.seats"),
    ("position", us_casino, lambda e: e["events"][3].update(position=1), "order.places"),
    ("version", us_casino, lambda e: e["events"][3].update(version=5), "order.places"),
    ("stream", us_casino, lambda e: e["events"][3].update(stream="round-r-9"), "order.places"),
    ("round id", us_casino, lambda e: e.update(round_id="r-9"), "order.places"),
    ("time", us_casino, lambda e: e["events"][3].update(recorded_at="2026-11-29T00:00:00.000000Z"), "order.places"),
    ("command's place", us_casino, lambda e: e["events"][5]["meta"].update(command=e["events"][0]["meta"]["command"]),
     "order.places"),
    ("rules", us_casino, rule(lambda rules: rules["raise_pays"].update(pair=2)), "rules.hash"),
    ("rules and their hash", us_casino, rule(lambda rules: rules.update(title="x"), pinned=True), "cards.commitment"),
    ("unknown rule", us_casino, rule(lambda rules: rules.update(lucky=7), pinned=True), "rules.hash"),
    ("another currency", us_casino, lambda e: e["currency"].update(code="GBP"), "rules.hash"),
    ("another exponent", us_casino, lambda e: e["currency"].update(exponent=3), "rules.hash"),
    ("jackpot's reset", us_casino, lambda e: e["jackpot"].update(reset=5), "rules.jackpot"),
    ("jackpot's pinned share", us_casino, lambda e: event_of(e, "RoundOpened")["data"]["jackpot"].update(
        contribution="0.71"), "rules.jackpot"),
    ("jackpot left out", us_casino, lambda e: e.pop("jackpot"), "rules.jackpot"),
    ("jackpot not of the round", casino_poker, lambda e: e.update(jackpot={"reset": 1}), "rules.jackpot"),
    ("unknown field", us_casino, altered("Raised", "amount", "1000"), "form.events"),
    ("negative amount", us_casino, altered("Raised", "amount", -1_000), "form.events"),
    ("true for one", us_casino, leg("odds", True), "form.events"),
    ("unknown type", us_casino, lambda e: e["events"][3].update(type="Deposited"), "form.events"),
    ("unknown schema", us_casino, lambda e: e["events"][3]["meta"].update(schema=2), "form.events"),
    ("superfluous zero", us_casino, altered("SideBetPlaced", "contribution", "70.0"), "form.events"),
    ("unknown card", us_casino, altered("Dealt", "cards", ["1s", "2c", "3c", "4c", "5c"]), "form.events"),
    ("another first event", us_casino, lambda e: e["events"].pop(0), "form.events"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("made", "alter", "step"), [entry[1:] for entry in ALTERATIONS], ids=[entry[0] for entry in ALTERATIONS]
)
def test_an_alteration_is_refuted_by_the_step_that_names_it(
    made: Callable[[], Maker], alter: Callable[[Evidence], Any], step: str
) -> None:
    """Whatever is altered in a good file, a step that is about it fails, with expected and found."""
    evidence = copy.deepcopy(made().evidence())
    alter(evidence)
    assert step in failed(evidence)


def test_a_client_seed_in_the_opening_command_is_refuted() -> None:
    """A seed that the house knew when it committed mixes nothing in."""
    maker = Maker(house("us-casino"))
    maker.ante(1, 500, client_seed="known too early")
    maker.deal()
    maker.begin("decide")
    maker.fold(1)
    maker.settle()
    assert failed(maker.evidence()) == ["cards.committed"]


@pytest.mark.parametrize(
    ("made", "note"),
    [
        (us_casino, "before_stake"), (us_casino_at_once, "same_command"), (expired, "no stake"),
        (push, "no commitment: a physical table dealt"),
    ],
)  # fmt: skip
def test_it_says_when_the_commitment_was_made(made: Callable[[], Maker], note: str) -> None:
    """The reader learns whether the deck was fixed before the stakes' command, with it, or not at all."""
    assert examine(made().evidence()).notes["cards.committed"] == note


def test_a_refuted_file_proves_nothing() -> None:
    """After a failure no list claims anything about the file."""
    evidence = us_casino().evidence()
    other_seed(evidence)
    report = verify.report(examine(evidence))
    assert report["verdict"] == "refuted"
    assert list(report["proved"]) == []


# ── Ranking ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("cards", "name"),
    [
        ("As Ks Qs Js Ts", "royal_flush"), ("5s 4s 3s 2s As", "straight_flush"), ("9h 9c 9d 9s 2c", "four_of_a_kind"),
        ("2c 2d 2h Ks Kd", "full_house"), ("2c 5c 9c Jc Ac", "flush"), ("Ah Kd Qs Jc Th", "straight"),
        ("5h 4d 3s 2c Ah", "straight"), ("2h Ad Ks Qc Jh", "high_card"), ("3h 2d As Kc Qh", "high_card"),
        ("7h 7d 7s 2c 3h", "three_of_a_kind"), ("7h 7d 2s 2c 3h", "two_pair"), ("7h 7d 2s 4c 3h", "pair"),
        ("7h 7d 2s 4c 3h 7s", "three_of_a_kind"), ("As Ks Qs Js Ts 9s", "royal_flush"),
    ],
)  # fmt: skip
def test_hands_have_their_categories(cards: str, name: str) -> None:
    """Wheels are straights, nothing wraps around, and six cards count for their best five."""
    assert verify.category(cards.split()) == name == category(cards.split())


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("6c 6d 5c 5d 3h", "6h 6s 5h 5s 2h"), ("Ah Kd 9s 5c 3d", "Ad Kh 9c 5s 2d"), ("6h 5d 4s 3c 2h", "5h 4d 3s 2c Ah"),
        ("3c 3d 3h 2s 2d", "2c 2h 2s Kd Ks"), ("Ac Ad 4h 3s 2d", "Kc Kd Ah Qs Jd"), ("7c 5c 4c 3c 2c", "Ah Kd Qs Jc Th"),
    ],
)  # fmt: skip
def test_hands_of_one_category_are_compared_by_all_their_cards(better: str, worse: str) -> None:
    """Kickers count to the last one, suits never."""
    assert verify.rank(better.split()) > verify.rank(worse.split())
    clubs_for_spades = str.maketrans("cs", "sc")
    assert verify.rank(better.split()) == verify.rank(better.translate(clubs_for_spades).split())


@pytest.mark.parametrize(
    ("cards", "least", "plays"),
    [
        ("Ah Kd 4s 3c 2h", "ace_king", True), ("Ah Qd Js Tc 9h", "ace_king", False), ("2h 2d 3s 4c 5h", "ace_king", True),
        ("2h 2d 3s 4c 5h", "pair", True), ("Ah Kd Qs Jc 9h", "pair", False), ("2h 2d 3s 3c 5h", "three_of_a_kind", False),
    ],
)  # fmt: skip
def test_the_dealer_qualifies_from_the_least_hand_on(cards: str, least: str, plays: bool) -> None:  # noqa: FBT001
    """A-K-4-3-2 plays and A-Q-J-10-9 does not; a house may ask for a category."""
    case = verify.Case()
    case.file = {"ruleset": {"qualify": least}}
    place = {"version": 1, "position": 1}
    case.once["DealerQualified"] = verify.Event({**place, "data": {"cards": cards.split()}})
    assert verify.dealer_plays(case) is plays


# ── What is not evidence at all ─────────────────────────────────────────────────────────────────────────────

GOOD = canonical(us_casino().evidence())
HOSTILE = {
    "nothing": b"",
    "not JSON": b"{",
    "not an object": b"[1]",
    "a number": b"7",
    "not UTF-8": b'{"format":"\xff"}',
    "byte order mark": b"\xef\xbb\xbf" + GOOD,
    "another format": GOOD.replace(b"evidence/1", b"evidence/2"),
    "a part missing": GOOD.replace(b'"round_id":"r-1",', b""),
    "player missing": GOOD.replace(b'"player":null,', b""),
    "an unknown part": GOOD.replace(b'"player":null,', b'"player":null,"proof":1,'),
    "a key twice": GOOD.replace(b'"player":null,', b'"player":null,"player":null,'),
    "NaN": GOOD.replace(b'"amount":500', b'"amount":NaN'),
    "infinity": GOOD.replace(b'"amount":500', b'"amount":-Infinity'),
    "a float": GOOD.replace(b'"amount":500', b'"amount":500.0'),
    "an exponent": GOOD.replace(b'"amount":500', b'"amount":5e2'),
    "beyond 2^53": GOOD.replace(b'"amount":500', b'"amount":9007199254740992'),
    "a thousand digits": GOOD.replace(b'"amount":500', b'"amount":' + b"9" * 5_000),
    "deep lists": b'{"format":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "deep objects": b'{"a":' * 200_000 + b"1" + b"}" * 200_000,
    "a lone surrogate": GOOD.replace(b'"title":"', b'"title":"\\ud800'),
    "too large": b" " * (64 * 2**20 + 1),
    "events that are numbers": GOOD.replace(b'"events":[', b'"events":[1,'),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_read_is_unusable(name: str) -> None:
    """Anything that is not strict JSON of the format gets one line of reason, never an exception."""
    assert HOSTILE[name] != GOOD
    case = verify.examine(HOSTILE[name])
    assert case.verdict() == "unusable"
    assert case.unusable


# ── Random changes ──────────────────────────────────────────────────────────────────────────────────────────

NOT_DERIVABLE = (
    # what no file without log proofs can prove: recorded as it is, listed as such by the verifier
    "salt", "recorded_at", "position", "meta.actor", "meta.command", "meta.trace", "meta.shown",
    "RoundOpened.table_id", "RoundOpened.account_class", "RoundOpened.gaming_day", "RoundOpened.build",
    "RoundOpened.rng", "RoundOpened.parameters", "RoundOpened.ruleset.version",
    "AntePlaced.session_id", "AntePlaced.channel", "decided_by", "balance_after",
    "JackpotHit.meter_before", "JackpotHit.order", "previous_position", "RoundVoided.cause", "note_sha256",
)  # fmt: skip


def derivable(path: tuple[str | int, ...], evidence: Evidence) -> bool:
    """Tell whether a place in the file is one whose every change must be found."""
    if path[0] != "events" or len(path) < 3:
        return True
    event = evidence["events"][path[1]]
    name = ".".join(str(part) for part in path[2:])
    if name.startswith("data."):
        name = f"{event['type']}.{name.removeprefix('data.')}"
    return not any(name == free or f".{name}.".find(f".{free}.") >= 0 for free in NOT_DERIVABLE)


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the path of everything in a JSON value but the whole."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in inner for found in ((*path, key), *places(item, (*path, key)))]


SUBJECTS = {
    made.__name__: made().evidence()
    for made in (us_casino, us_casino_at_once, czech, evolution_live, cyber, void_after_decisions)
}
PLACES = {name: places(evidence) for name, evidence in SUBJECTS.items()}
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 60), st.integers(-(2**60), 2**60), st.text(max_size=5), st.floats(),
    st.sampled_from(["As", "2c", "p-1", "fold", "win", "70", "0", "jackpot", "rng", "table", "0" * 64, "\ud800"]),
    st.lists(st.integers(0, 51), max_size=6), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip


def at(evidence: Evidence, path: tuple[str | int, ...]) -> Any:
    """Return what is at a path."""
    found: Any = evidence
    for part in path:
        found = found[part]
    return found


@pytest.mark.parametrize("name", SUBJECTS)
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_random_change_is_never_verified_and_never_crashes(name: str, data: st.DataObject) -> None:
    """Any value replaced or left out, anywhere, gives 1 or 2, but for the fields listed as not derivable."""
    evidence = copy.deepcopy(SUBJECTS[name])
    path = data.draw(st.sampled_from(PLACES[name]))
    holder, key = at(evidence, path[:-1]), path[-1]
    if data.draw(st.booleans()):
        before, holder[key] = holder[key], data.draw(VALUES)
        changed = repr(before) != repr(holder[key])
    else:
        changed = holder.pop(key) is not None or True
    raw = json.dumps(evidence).encode()
    verdict = verify.examine(raw).verdict()
    if changed and derivable(path, SUBJECTS[name]):
        assert verdict != "verified", path


@settings(max_examples=300, deadline=None)
@given(noise=st.binary(max_size=200), place=st.integers(0, len(GOOD) - 1))
def test_damaged_bytes_never_crash(noise: bytes, place: int) -> None:
    """Noise and a file cut short are unusable; a file with noise inside is answered, not died of."""
    assert verify.examine(noise).verdict() == "unusable"
    assert verify.examine(GOOD[:place]).verdict() == "unusable"
    assert verify.examine(GOOD[:place] + noise + GOOD[place:]).verdict() in (
        "verified",
        "refuted",
        "unusable",
    )


# ── On its own ──────────────────────────────────────────────────────────────────────────────────────────────


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run the verifier alone: isolated, copied to an empty folder, with no environment."""
    (folder / "verify.py").write_bytes(SCRIPT.read_bytes())
    command = [sys.executable, "-I", "verify.py", *arguments]
    return subprocess.run(command, cwd=folder, env={}, capture_output=True, check=False, timeout=60)


def test_it_runs_alone_and_says_what_it_proved(tmp_path: Path) -> None:
    """A copy in an empty folder verifies a file and ends with the three lists and the verdict."""
    (tmp_path / "hand.json").write_bytes(GOOD)
    done = run(tmp_path, "hand.json")
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode("ascii")
    titles = ("PROVED FROM THIS FILE", "RECORDED BUT NOT DERIVABLE FROM IT", "NOT COVERED", "VERIFIED")
    assert [line for line in text.splitlines() if line in titles] == list(titles)
    assert [line.split()[1] for line in text.splitlines() if line[:6] in ("PASS  ", "NONE  ")] == list(
        verify.STEPS
    )


def test_a_refuted_file_gets_exit_1_and_the_difference(tmp_path: Path) -> None:
    """The output names the event, what was expected and what was found."""
    evidence = us_casino().evidence()
    altered("SideBetPlaced", "contribution", "71")(evidence)
    (tmp_path / "hand.json").write_bytes(canonical(evidence))
    done = run(tmp_path, "hand.json")
    assert done.returncode == 1
    assert b'event 3 (SideBetPlaced_jackpot, seat 1): contribution: expected "70", found "71"' in done.stdout
    assert done.stdout.endswith(b"REFUTED stakes.contributions\n")


@pytest.mark.parametrize("name", ["not JSON", "deep lists", "deep objects", "a lone surrogate", "not UTF-8"])
def test_an_unusable_file_gets_exit_2_and_one_line(tmp_path: Path, name: str) -> None:
    """There is a reason in one line and no traceback."""
    (tmp_path / "hand.json").write_bytes(HOSTILE[name])
    done = run(tmp_path, "hand.json")
    assert (done.returncode, done.stderr) == (2, b"")
    assert done.stdout.startswith(b"UNUSABLE ")
    assert done.stdout.count(b"\n") == 1


@pytest.mark.parametrize("name", ["absent.json", "."])
def test_a_file_that_cannot_be_opened_gets_exit_2(tmp_path: Path, name: str) -> None:
    """A missing file and a folder are unusable too."""
    done = run(tmp_path, name)
    assert (done.returncode, done.stderr) == (2, b"")


def test_json_and_quiet_are_for_machines(tmp_path: Path) -> None:
    """`--json` gives every check with its result; `--quiet` gives the verdict alone."""
    (tmp_path / "hand.json").write_bytes(GOOD)
    report = json.loads(run(tmp_path, "hand.json", "--json").stdout)
    assert report["verdict"] == "verified"
    assert {check["result"] for check in report["checks"].values()} == {"PASS", "NONE"}
    assert run(tmp_path, "hand.json", "--quiet").stdout == b"VERIFIED\n"


def test_what_a_file_says_cannot_drive_the_terminal(tmp_path: Path) -> None:
    """Control characters of a hostile file are printed escaped."""
    evidence = us_casino().evidence()
    evidence["events"][0]["data"]["\x1b[2J\u202e"] = "\x1b[31m"
    (tmp_path / "hand.json").write_bytes(canonical(evidence))
    done = run(tmp_path, "hand.json")
    assert done.returncode == 1
    assert b"\x1b" not in done.stdout
    assert done.stdout.isascii()
