"""Every way in which somebody might alter a file, with the step that must find it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from tests.unit.scripts.evidence_builder import sha256
from tests.unit.scripts.verified_rounds import (
    aggregate_cap,
    casino_poker,
    cyber,
    czech,
    czech_table,
    evolution_live,
    evolution_live_table,
    jackpot_order,
    nordic,
    push,
    top_up,
    uk_not_qualified,
    us_casino,
    us_casino_at_once,
    void_after_decisions,
    void_with_empty_meter,
)
from tests.unit.scripts.verifier import event_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.scripts.evidence_builder import Maker
    from tests.unit.scripts.verifier import Evidence


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
    ("ante", us_casino, altered("AntePlaced", "amount", 600), "stakes"),
    ("ante below the limit", us_casino, altered("AntePlaced", "amount", 99), "stakes"),
    ("ante above the house's maximum", uk_not_qualified, altered("AntePlaced", "amount", 10_001), "stakes"),
    ("table's least ante", us_casino, lambda e: event_of(e, "RoundOpened")["data"]["parameters"].update(
        min_ante=501), "stakes"),
    ("side bet stake", us_casino, altered("SideBetPlaced", "amount", 200), "stakes"),
    ("bonus stake", czech, altered("SideBetPlaced", "amount", 100), "stakes"),
    ("free side bet", evolution_live, altered("SideBetPlaced", "amount", 100_001), "stakes"),
    ("side bet not offered", us_casino, altered("SideBetPlaced", "bet", "bonus"), "stakes"),
    ("contribution", us_casino, altered("SideBetPlaced", "contribution", "71"), "stakes"),
    ("jackpot of a bet", us_casino, altered("SideBetPlaced", "jackpot_id", "other"), "stakes"),
    ("raise", us_casino, cheaper_raise, "stakes"),
    ("fee", czech, altered("CardExchanged", "fee", 2_000), "stakes"),
    ("seed", us_casino, other_seed, "cards.commitment"),
    ("commitment", us_casino, altered("RoundOpened", "deck_commitment", "0" * 64), "cards.commitment"),
    ("client seed", us_casino, altered("AntePlaced", "client_seed", "tails"), "cards.deck"),
    ("deal source", us_casino, altered("RoundOpened", "deal_source", "table"), "cards.commitment"),
    ("dealt place", us_casino, altered("Dealt", "indices", [0, 1, 2, 3, 5]), "cards.places"),
    ("up-card's place", us_casino, altered("Dealt", "up_indices", [1], 1), "cards.places"),
    ("traded hands", nordic, stolen_hand, "cards.deck"),
    ("swapped seats", nordic, swapped("Dealt", 2, 4), "cards.places"),
    ("swapped hands at a table", czech_table, swapped("Dealt", 0, 1), "cards.places"),
    ("a hand of four", push, lambda e: event_of(e, "Dealt")["data"]["cards"].pop(), "cards.places"),
    ("another up-card", push, lambda e: event_of(e, "Dealt", 1)["data"]["cards"].reverse(), "cards.places"),
    ("card twice", push, shown_twice, "cards.unique"),
    ("drawn card", czech, altered("CardExchanged", "drawn", "2c"), "cards.deck"),
    ("discarded card", czech, altered("CardExchanged", "discard", "2c"), "cards.places"),
    ("burned card", czech, altered("CardExchanged", "burn_index", 21), "cards.places"),
    ("forfeited bet", czech, altered("CardExchanged", "forfeited", []), "cards.places"),
    ("dealer's category", us_casino, altered("DealerQualified", "category", "royal_flush"), "result.dealer"),
    ("not qualified", jackpot_order, altered("DealerQualified", "qualified", to=False), "result.dealer"),
    ("dealer's order", us_casino, lambda e: event_of(e, "DealerQualified")["data"]["cards"].reverse(),
     "cards.deck"),
    ("category", us_casino, altered("Settled", "category", "full_house"), "result.seats"),
    ("result", push, altered("Settled", "result", "win"), "result.seats"),
    ("shown", uk_not_qualified, altered("Settled", "shown", to=True, number=1), "result.seats"),
    ("hidden", evolution_live, altered("Settled", "shown", to=False, number=1), "result.seats"),
    ("odds", czech_table, leg("odds", 7, 1), "result.seats"),
    ("capped win", czech_table, leg("won", 10_000, 1), "result.seats"),
    ("capped together", aggregate_cap, leg("won", 1_000, 1, 1), "result.seats"),
    ("returned", push, leg("returned", 0), "result.seats"),
    ("bonus kept", czech_table, leg("won", 100_000, 3, 1), "result.seats"),
    ("bonus lost", czech_table, leg("won", 0, 2), "result.seats"),
    ("5+1 on a fold", evolution_live_table, leg("won", 0, 1, 1), "result.seats"),
    ("order of bets", jackpot_order, lambda e: event_of(e, "Settled")["data"]["bets"].reverse(),
     "result.seats"),
    ("bet left out", jackpot_order, lambda e: event_of(e, "Settled")["data"]["bets"].pop(), "result.seats"),
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
    ("refund", void_after_decisions, altered("StakeRefunded", "amount", 1), "void"),
    ("refunded bet", void_after_decisions, lambda e: event_of(e, "StakeRefunded")["data"]["bets"].pop(),
     "void"),
    ("refunds out of order", void_after_decisions, swapped("StakeRefunded", 0, 1), "void"),
    ("cause", void_after_decisions, altered("RoundVoided", "cause", "expired"), "void"),
    ("a cause of no house", void_with_empty_meter, altered("RoundVoided", "cause", "flood"),
     "void"),
    ("reversal", void_with_empty_meter, altered("ContributionReversed", "amount", "71"), "void"),
    ("reversal's share", void_with_empty_meter, altered("ContributionReversed", "from_house", "1", 1),
     "void"),
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
    ("time-out without a clock", us_casino_at_once, altered("Folded", "decided_by", "timeout"),
     "order.seats"),
    ("position", us_casino, lambda e: e["events"][3].update(position=1), "order.places"),
    ("last position", us_casino, lambda e: e["events"][-1].update(position=1), "order.places"),
    ("version", us_casino, lambda e: e["events"][3].update(version=5), "order.places"),
    ("stream", us_casino, lambda e: e["events"][3].update(stream="round-r-9"), "order.places"),
    ("round id", us_casino, lambda e: e.update(round_id="r-9"), "order.places"),
    ("time", us_casino, lambda e: e["events"][3].update(recorded_at="2026-11-29T00:00:00.000000Z"),
     "order.places"),
    ("command's place", us_casino,
     lambda e: e["events"][5]["meta"].update(command=e["events"][0]["meta"]["command"]),
     "order.places"),
    ("rules", us_casino, rule(lambda rules: rules["raise_pays"].update(pair=2)), "rules.house"),
    ("rules and their hash", us_casino, rule(lambda rules: rules.update(title="x"), pinned=True),
     "cards.commitment"),
    ("rules of another id", us_casino, lambda e: event_of(e, "RoundOpened")["data"]["ruleset"].update(
        id="other"), "rules.house"),
    ("round's currency", us_casino, altered("RoundOpened", "currency", "EUR"), "rules.house"),
    ("a currency the house does not take", casino_poker, rule(
        lambda rules: rules.update(currencies=["XAU"]), pinned=True), "rules.house"),
    ("unknown rule", us_casino, rule(lambda rules: rules.update(lucky=7), pinned=True), "rules.house"),
    ("another currency", us_casino, lambda e: e["currency"].update(code="GBP"), "rules.house"),
    ("another exponent", us_casino, lambda e: e["currency"].update(exponent=3), "rules.house"),
    ("jackpot's reset", us_casino, lambda e: e["jackpot"].update(reset=5), "rules.jackpot"),
    ("jackpot's pinned share", us_casino, lambda e: event_of(e, "RoundOpened")["data"]["jackpot"].update(
        contribution="0.71"), "rules.jackpot"),
    ("jackpot left out", us_casino, lambda e: e.pop("jackpot"), "rules.jackpot"),
    ("jackpot not of the round", casino_poker, lambda e: e.update(jackpot={"reset": 1}), "rules.jackpot"),
    ("unknown field", us_casino, altered("Raised", "amount", "1000"), "form"),
    ("negative amount", us_casino, altered("Raised", "amount", -1_000), "form"),
    ("true for one", us_casino, leg("odds", to=True), "form"),
    ("unknown type", us_casino, lambda e: e["events"][3].update(type="Deposited"), "form"),
    ("unknown schema", us_casino, lambda e: e["events"][3]["meta"].update(schema=2), "form"),
    ("superfluous zero", us_casino, altered("SideBetPlaced", "contribution", "70.0"), "form"),
    ("unknown card", us_casino, altered("Dealt", "cards", ["1s", "2c", "3c", "4c", "5c"]), "form"),
    ("another first event", us_casino, lambda e: e["events"].pop(0), "form"),
]  # fmt: skip
