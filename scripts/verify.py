"""Check one finished round of Caribbean Stud Poker: alone, offline, without trusting whoever ran it.

    python3 -I verify.py FILE [--json | --quiet]        exit 0 verified, 1 refuted, 2 unusable

FILE is what the ledger answers at /v1/rounds/{id}/evidence: a round's events, its house's rules, its
jackpot's parameters. This needs Python 3.11 or later and nothing else, was written from the published rules,
and shares no code with the ledger. STEPS says what is checked; the sections have the same names and order.
A step ends as PASS, FAIL (what was expected, what was found), OPEN (this file cannot decide it) or NONE
(nothing of the kind was there, or an earlier failure left nothing to rest on). The end lists what is proved,
what is only recorded and what is not covered. Amounts are whole minor units (cents); those of a jackpot have
up to four decimals and are counted in ten-thousandths, UNIT to one. No floating-point numbers anywhere.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import os
import re
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

STEPS: Final = {
    "form.events": "every event has exactly the fields of its type, each of the right kind",
    "rules.hash": "the rule set is, to the letter, the one that the round was opened with, and can be read",
    "rules.jackpot": "the jackpot's parameters are, to the letter, those that the round was opened with",
    "order.places": "versions count without a gap, positions and times grow, a command stands together",
    "order.phases": "each event comes in a phase of the round that allows it, and the round is finished",
    "order.seats": "each seat is one player's, acts once where it may act once, and nothing is missing",
    "stakes.amounts": "antes and side bets are offered and within limits, raise and fee are exact multiples",
    "stakes.contributions": "the jackpot got its exact share of each jackpot side bet, and of nothing else",
    "cards.committed": "the deck was committed to before any stake was recorded",
    "cards.commitment": "the revealed seed is the one that was committed to",
    "cards.dealing": "hands were dealt in seat order, from the places that the house's dealing pattern names",
    "cards.exchange": "a bought card replaced one of the hand, and was the second of the next two undealt",
    "cards.unique": "no card was there twice",
    "cards.deck": "every card is the one that the deck of the revealed seed holds at its place",
    "result.dealer": "the dealer's hand has the category given, and qualifies or not as given",
    "result.hands": "each final hand has the category and result given, and was shown by the house's rule",
    "result.bets": "every bet of every seat was paid by the rules, caps included, to the unit",
    "jackpot.order": "seats settled in order, awards before them, winners of the whole meter together",
    "jackpot.awards": "each award is right for the meter recorded before it, and so is the meter after it",
    "jackpot.meter": "the meter goes on from movement to movement, where nothing else can lie between",
    "void.refunds": "every stake of the void round came back, and every contribution left the jackpot",
    "money.balances": "balances follow from the one before, where nothing else can lie between",
    "money.conservation": "no money stays on the game, none appears and none disappears",
}
FORMAT: Final = "stud-ledger/evidence/1"
FILE_BYTES_MAX: Final = 64 * 2**20
INTEGER_MAX: Final = 2**53 - 1
SHOWN_FAULTS: Final = 5
SHOWN_CHARACTERS: Final = 300
UNIT: Final = 10_000
WHOLE_METER: Final = 100  # percent
HAND: Final = 5
RANKS: Final = "23456789TJQKA"
DECK: Final = [rank + suit for rank in RANKS for suit in "cdhs"]
CATEGORIES: Final = (
    "high_card pair two_pair three_of_a_kind straight flush full_house four_of_a_kind straight_flush"
    " royal_flush"
).split()
EXPONENTS: Final = {  # ISO 4217: how many decimals a currency has, where it is not two
    **dict.fromkeys("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(), 0),
    **dict.fromkeys("BHD IQD JOD KWD LYD OMR TND".split(), 3),
    **dict.fromkeys("CLF UYW".split(), 4),
}


class Unusable(Exception):
    """The file is not evidence that this program can read."""


class Event(dict[str, Any]):
    """An event's data, with its place in the ledger; of a withheld event only the place is known."""

    def __init__(self, entry: dict[str, Any]) -> None:
        super().__init__(entry.get("data", {}))
        self.type, self.version, self.position = entry.get("type", ""), entry["version"], entry["position"]
        self.time, self.command = entry.get("recorded_at", ""), entry.get("meta", {}).get("command", "")
        detail = {"SideBetPlaced": self.get("bet"), "Dealt": self.get("to")}.get(self.type)
        self.name = f"{self.type}_{detail}" if detail else self.type or "withheld"

    def __str__(self) -> str:
        return f"event {self.version} ({self.name}{', seat ' * ('seat' in self)}{self.get('seat', '')})"


Seat = dict[str, Event]  # what happened at a seat, each name once


class Case:
    """The file, the round that its events tell, and what each step compared and found wrong."""

    def __init__(self) -> None:
        self.file: dict[str, Any] = {}
        self.events: list[Event] = []
        self.once: dict[str, Event] = {}  # what happened at no seat, each name once
        self.seats: dict[int, Seat] = {}
        self.compared: Counter[str] = Counter()
        self.faults: dict[str, list[tuple[str, object, object]]] = {step: [] for step in STEPS}
        self.notes: dict[str, str] = {}
        self.open: set[str] = set()
        self.unusable = ""

    def check(self, step: str, where: object, must: object, found: object, *, ok: bool | None = None) -> None:
        """Compare what must be with what is there; where `ok` decides, `must` only describes."""
        self.compared[step] += 1
        if not (must == found if ok is None else ok):
            self.faults[step].append((str(where), must, found))

    def within(self, step: str, where: object, low: int, found: int, high: int) -> None:
        """Check that a number lies within bounds."""
        self.check(step, where, f"{low} to {high}", found, ok=low <= found <= high)

    def fields(self, step: str, event: Event, **must: object) -> None:
        """Compare fields of an event; None stands for an absent one."""
        for name, value in must.items():
            self.check(step, f"{event}: {name}", value, event.get(name))

    def result(self, step: str) -> str:
        """Return how a step ended."""
        passed = "OPEN" if step in self.open else "PASS" if self.compared[step] else "NONE"
        return "FAIL" if self.faults[step] else passed

    def verdict(self) -> str:
        """Return the exit code in a word."""
        return "unusable" if self.unusable else "refuted" if any(self.faults.values()) else "verified"

    def of(self, *types: str) -> list[Event]:
        """Return the events of these types, as they come."""
        return [event for event in self.events if event.type in types]


# ── form ────────────────────────────────────────────────────────────────────────────────────────────────
# A shape is a name and its fields: `name:kind`, or `name` alone where the kind has the same name; with `?` in
# front where it may be absent. A kind is a shape, a list `[kind]`, a table by hand category `{kind}`, one of
# KINDS (a type, bounds of a whole number, or a regular expression), or a regular expression itself.

SHAPE_LINES: Final = """
File format:stud-ledger/evidence/1 round_id:id player:id events:[object] ruleset:object ?jackpot:object
 currency:Currency
Currency code exponent
Event data:object meta:Meta position recorded_at salt:[A-Za-z0-9_-]{22} stream type:text version:position
Withheld position stream version:position withheld:bool leaf_sha256:sha256
Meta actor:text command:id schema ?shown:sha256 ?trace:text
RoundOpened table_id:id ruleset:Ruleset currency:code account_class:real|test deal_source:rng|table
 gaming_day:text parameters:Table build:text ?deck_commitment:sha256 ?deck_algorithm:stud-deck-1 ?rng:text
 ?jackpot:Pot
Ruleset id version:position sha256
Pot id version:position sha256 contribution:(0|1)(\\.[0-9]{1,4})? reset:amount
Table min_ante:stake max_ante:stake zone:text cutoff_hour:amount min_side_bet:amount max_side_bet:amount
 ?raise_win_cap:stake ?bonus_stake:stake ?decision_seconds:position
AntePlaced seat player:id amount:stake balance_after:amount ?session_id:text ?channel:text ?client_seed:text
SideBetPlaced seat player:id bet:kind amount:stake balance_after:amount ?contribution:exact ?jackpot_id:id
BettingClosed seats:seat
Dealt to:seat|shared|dealer cards:[card] ?seat ?indices:[index] ?up_indices:[index]
CardExchanged seat player:id fee:stake discard:card drawn:card forfeited:[kind] decided_by:player|operator
 balance_after:amount ?burn_index:index ?drawn_index:index
Folded seat decided_by:player|timeout|operator
Raised seat player:id amount:stake decided_by:player|operator balance_after:amount
DealerQualified cards:[card] category:text qualified:bool ?indices:[index]
Settled seat player:id result:text bets:[Leg] shown:bool balance_after:amount category:text
Leg bet:text stake returned:amount won:amount ?odds
JackpotHit seat player:id jackpot_id:id category:text award:amount from_meter:exact from_house:exact
 meter_before:exact meter_after:exact order:position previous_position:position balance_after:amount
 ?restart:exact
RoundClosed ?deck_seed
RoundVoided cause:text ?deck_seed ?note_sha256:sha256
ContributionReversed seat player:id jackpot_id:id amount:exact from_meter:exact from_house:exact
 meter_before:exact meter_after:exact previous_position:position
StakeRefunded seat player:id amount:stake bets:[Refund] balance_after:amount
Refund bet:text stake
RuleSet id title:prose source:prose currencies:[code] ?max_ante:units seating:Seating deal:Deal play:Play
 qualify:[a-z_]+ raise_pays:{odds} ?raise_cap:Cap side_bets:[SideBet] ?exchange:Exchange
 misdeal_causes:[text] void_policy:refund_all rounding:down names:object readings:[object]
Seating seats:seat hands_per_player:seat shared_player_hand:bool
Deal pattern:round_robin|block player_cards:up|down dealer_up_indices:[index]
Play raise_multiple:seat decision_order:any|seat on_timeout:fold|void reveal_if_all_fold:bool
 show_hands:all|called|jackpot_when_not_qualified settlement_order:(seat)
Cap scope:raise_per_hand|aggregate ?amount:units
SideBet kind stake:free|table|[0-9.]+ basis:to_1|for_1 survives_fold:bool needs_dealer_to_qualify:bool
 pays:{odds} awards:{Award}
Award ?percent ?fixed:units funding:meter|house
Exchange fee_antes:seat burn:per_exchange forfeits:[kind]
"""
SHAPES: Final = {
    line.split()[0]: [field.partition(":") for field in line.split()[1:]]
    for line in SHAPE_LINES.replace("\n ", " ").strip().splitlines()
}
KINDS: Final[dict[str, Any]] = {
    "bool": bool, "object": dict, "prose": str,
    "amount": (0, 9 * 10**15), "exponent": (0, 4), "index": (0, 51), "odds": (1, 10**5),
    "percent": (1, 100), "position": (1, INTEGER_MAX), "schema": (1, 1), "seat": (1, 5000),
    "stake": (1, 10**12),
    "card": f"[{RANKS}][cdhs]", "code": "[A-Z]{3}", "deck_seed": "[0-9a-f]{96}", "id": "[A-Za-z0-9._-]{1,64}",
    "exact": r"(0|[1-9][0-9]{0,15})(\.[0-9]{0,3}[1-9])?", "kind": "jackpot|five_plus_one|bonus",
    "recorded_at": r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z",
    "sha256": "[0-9a-f]{64}", "stream": "round-[A-Za-z0-9._-]{1,64}", "units": r"[0-9]{1,12}(\.[0-9]{1,3})?",
    "text": "[^\x00-\x1f\x7f\ud800-\udfff]{1,600}",
}  # fmt: skip


def unlike(value: Any, kind: str, path: str) -> Iterator[tuple[str, object, object]]:
    """Yield (where, expected, found) for every difference between a JSON value and the kind it must be."""
    if kind in SHAPES and isinstance(value, dict):
        fields = {name.removeprefix("?"): (name, inner) for name, _, inner in SHAPES[kind]}
        for key, (name, inner) in fields.items():
            if key in value or key == name:
                yield from unlike(value.get(key), inner or key, f"{path}.{key}")
        yield from ((f"{path}.{key}", "no such field", value[key]) for key in value.keys() - fields.keys())
    elif kind[0] + kind[-1] == "[]" and isinstance(value, list):
        for number, item in enumerate(value):
            yield from unlike(item, kind[1:-1], f"{path}[{number}]")
    elif kind[0] + kind[-1] == "{}" and isinstance(value, dict) and value.keys() <= set(CATEGORIES):
        for key, item in value.items():
            yield from unlike(item, kind[1:-1], f"{path}.{key}")
    elif kind in SHAPES or not fits(value, KINDS.get(kind, kind)):
        yield path, kind, value


def fits(value: object, kind: Any) -> bool:
    """Tell whether a plain value is of a kind; true and false are not numbers here."""
    if isinstance(kind, tuple):
        return type(value) is int and kind[0] <= value <= kind[1]
    if isinstance(kind, str):
        return isinstance(value, str) and re.fullmatch(kind, value) is not None
    return isinstance(value, kind)


def load(raw: bytes) -> dict[str, Any]:
    """Return the file as an object; raise Unusable for what is not strict JSON of our format."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(pairs) > len(dict(pairs)):
            raise Unusable("an object names a key twice")
        return dict(pairs)

    def whole(text: str) -> int:
        if not re.fullmatch("-?[0-9]{1,16}", text) or abs(int(text)) > INTEGER_MAX:
            raise Unusable("a number is not a whole one within 2^53 - 1")
        return int(text)

    if len(raw) > FILE_BYTES_MAX:
        raise Unusable("the file is larger than 64 MB")
    hooks: dict[str, Any] = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), whole)
    file = json.loads(raw.decode(), object_pairs_hook=unique, **hooks)
    for where, must, found in unlike(file, "File", "file"):
        if where != "file.player" or found is not None or "player" not in file:  # null: everybody's file
            raise Unusable(f"{where}: expected {must}, found {show(found)}")
    return dict(file)


def check_form(case: Case) -> None:
    """Check each event by itself: nothing behind this step meets an unexpected type."""
    for number, entry in enumerate(case.file["events"], start=1):
        shape, where = "Withheld" if entry.get("withheld") is True else "Event", f"event {number}"
        faults = list(unlike(entry, shape, where))
        if shape == "Event" and not faults:
            kind = entry["type"] if entry["type"] in EVENT_TYPES else "an event of a round"
            faults = list(unlike(entry["data"], kind, f"{where} ({entry['type']})"))
        case.compared["form.events"] += 1
        case.faults["form.events"] += faults
        case.events += [] if faults else [Event(entry)]
    first = case.events[0].type if case.events else None
    case.check("form.events", "first event", "RoundOpened", first)


# ── rules ───────────────────────────────────────────────────────────────────────────────────────────────


def digest(value: object) -> str:
    """Return the SHA-256 of a value's canonical JSON (RFC 8785, for values without floats)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def minor(case: Case, units: str) -> int:
    """Return whole currency units, given as text, in minor units."""
    whole, _, fraction = units.partition(".")
    fraction, exponent = fraction.rstrip("0"), case.file["currency"]["exponent"]
    if len(fraction) > exponent:
        raise Unusable(f"the currency has no amount of {units}")
    return int(whole + fraction.ljust(exponent, "0"))


def exact(text: str) -> int:
    """Return an amount with up to four decimals in ten-thousandths."""
    whole, _, fraction = text.partition(".")
    return int(whole + fraction.ljust(4, "0"))


def texts(**amounts: int) -> dict[str, str]:
    """Return amounts in ten-thousandths as texts, without superfluous zeros."""
    signed = {name: ("-" * (amount < 0), *divmod(abs(amount), UNIT)) for name, amount in amounts.items()}
    return {
        name: sign + f"{whole}.{rest:04}".rstrip("0").rstrip(".")
        for name, (sign, whole, rest) in signed.items()
    }


def check_rules(case: Case) -> None:
    """Check the rule set and the jackpot's parameters against what RoundOpened pins."""
    opened, rules, step = case.events[0], case.file["ruleset"], "rules.hash"
    code, exponent = case.file["currency"]["code"], case.file["currency"]["exponent"]
    case.check(step, "SHA-256", opened["ruleset"]["sha256"], digest(rules))
    case.faults[step] += unlike(rules, "RuleSet", "ruleset")
    case.check(step, "id", opened["ruleset"]["id"], rules.get("id"))
    case.check(step, "currency", opened["currency"], code)
    case.check(step, "currency", rules.get("currencies"), code, ok=code in rules.get("currencies", []))
    case.check(step, "decimals (ISO 4217)", EXPONENTS.get(code, 2), exponent)
    if "jackpot" in opened or "jackpot" in case.file:
        pot = {"id": None, "sha256": None, **opened.get("jackpot", {}), "currency": code}
        pot["jackpot_id"], sha256 = pot.pop("id"), pot.pop("sha256")
        case.check("rules.jackpot", "parameters", pot, case.file.get("jackpot"))
        case.check("rules.jackpot", "SHA-256", sha256, digest(pot))


# ── order ───────────────────────────────────────────────────────────────────────────────────────────────
# What may come next in each phase, and the phase it leads to. In one player's file the events of others are
# withheld; they may stand where such events can be.

PHASES: Final = {
    "new": "RoundOpened>betting",
    "betting": "AntePlaced>betting SideBetPlaced>betting withheld>betting BettingClosed>bets_closed"
    " RoundVoided>voided",
    "bets_closed": "Dealt>dealing withheld>dealing RoundVoided>voided",
    "dealing": "Dealt>dealing withheld>dealing Dealt_dealer>dealt",
    "dealt": "CardExchanged>dealt Folded>dealt Raised>dealt withheld>dealt DealerQualified>revealed"
    " JackpotHit>settling Settled>settling RoundVoided>voided",
    "revealed": "JackpotHit>settling Settled>settling withheld>settling RoundVoided>voided",
    "settling": "JackpotHit>settling Settled>settling withheld>settling RoundClosed>closed",
    "closed": "",
    "voided": "ContributionReversed>voided StakeRefunded>voided withheld>voided",
}
EVENT_TYPES: Final = set(re.findall("([A-Z][A-Za-z]+)>", " ".join(PHASES.values())))


def adjacent(earlier: Event, later: Event) -> bool:
    """Tell whether no event outside this file can lie between two: position and version grew alike."""
    return bool(later.position - earlier.position == later.version - earlier.version)


def check_places(case: Case) -> None:
    """Check the events' numbering, and that the events of one command stand together."""
    step, stream, commands = "order.places", f"round-{case.file['round_id']}", set[str]()
    for number, (entry, event) in enumerate(zip(case.file["events"], case.events, strict=True), start=1):
        case.check(step, event, [stream, number], [entry["stream"], event.version])
        ok = event.type != "" or case.file["player"] is not None
        case.check(step, event, "nothing withheld from everybody's file", event.name, ok=ok)
    for earlier, event in pairwise(case.events):
        case.within(step, f"{event}: position", earlier.position + 1, event.position, INTEGER_MAX)
    for earlier, event in pairwise(event for event in case.events if event.type):
        case.check(step, f"{event}: time", f"> {earlier.time}", event.time, ok=event.time > earlier.time)
        commands.add(earlier.command)
        together = event.command == earlier.command and adjacent(earlier, event)
        ok = together or event.command not in commands
        case.check(step, f"{event}: command", "beside its other events", event.command, ok=ok)


def check_order(case: Case) -> None:
    """Walk the events through the phases; file each once in the round, or once at its seat."""
    phase, earlier = "new", case.events[0]
    for event in case.events:
        allowed = dict(pair.split(">") for pair in PHASES[phase].split())
        phase = allowed.get(event.name) or allowed.get(event.type, "")
        case.check("order.phases", event, list(allowed), event.name, ok=bool(phase))
        if not phase:
            return
        filed = case.seats.setdefault(event["seat"], {}) if "seat" in event else case.once
        ok = "seat" not in event or (event.type == "AntePlaced") != ("AntePlaced" in filed)
        ok = ok and (event.name not in filed or not event.type)
        if event.type in ("CardExchanged", "Folded", "Raised"):
            ok = ok and not filed.keys() & {"Folded", "Raised"}
        case.check("order.seats", event, "once, at a seat with an ante, undecided", event.name, ok=ok)
        filed[event.name] = event
        if event.type == "SideBetPlaced":
            case.check("order.seats", f"{event}: with the ante of", event["seat"], earlier.get("seat"))
        if ok and "player" in event:
            case.fields("order.seats", event, player=filed["AntePlaced"]["player"])
        earlier = event
    case.check("order.phases", "end", "closed or voided", phase, ok=phase in ("closed", "voided"))


def check_seats(case: Case) -> None:
    """Check who sits where and whose turn it was, and that nothing is missing."""
    once, rules, only, step = case.once, case.file["ruleset"], case.file["player"], "order.seats"
    seating, play, dealt = rules["seating"], rules["play"], "Dealt_dealer" in once
    players = Counter(seat["AntePlaced"]["player"] for seat in case.seats.values())
    case.check(step, "players", [only] if only else [*players], [*players])
    for player, count in players.items():
        case.within(step, f"seats of {player}", 1, count, seating["hands_per_player"])
    turns = [event["seat"] for event in case.of("CardExchanged", "Folded", "Raised")]
    case.check(step, "turns", sorted(turns) if play["decision_order"] == "seat" else turns, turns)
    timed = play["on_timeout"] == "fold" and "decision_seconds" in case.events[0]["parameters"]
    for event in case.of("Folded"):
        case.check(step, event, "no time-out", "timeout", ok=timed or event["decided_by"] != "timeout")
    for event in case.of("BettingClosed"):
        unseen = sum(not earlier.type for earlier in case.events[: event.version])
        case.within(step, event, len(case.seats), event["seats"], len(case.seats) + unseen)
    own = dealt and not seating["shared_player_hand"]
    case.check(step, "a shared hand", dealt and not own, "Dealt_shared" in once)
    for number, seat in case.seats.items():
        case.within(step, "seat", 1, number, seating["seats"])
        needed = {"Settled", "Folded" if "Folded" in seat else "Raised"}
        needed = {"StakeRefunded"} if "RoundVoided" in once else needed
        needed |= {"Dealt_seat"} if own else set()
        case.check(step, f"seat {number}", sorted(needed), sorted(seat), ok=needed <= seat.keys())
    revealed = play["reveal_if_all_fold"] or any("Raised" in seat for seat in case.seats.values())
    if "RoundClosed" in once and (
        revealed or only is None
    ):  # another player's raise is not seen in one player's file
        case.check(step, "the dealer's hand revealed", revealed, "DealerQualified" in once)


# ── stakes ──────────────────────────────────────────────────────────────────────────────────────────────


def check_stakes(case: Case) -> None:
    """Check every amount that was staked, and the jackpot's share of it."""
    rules, table, step = case.file["ruleset"], case.events[0]["parameters"], "stakes.amounts"
    fee_antes = rules["exchange"]["fee_antes"] if "exchange" in rules else 0  # which no fee is: not offered
    for seat in case.seats.values():
        ante, high = seat["AntePlaced"]["amount"], table["max_ante"]
        high = min(high, minor(case, rules["max_ante"])) if "max_ante" in rules else high
        case.within(step, seat["AntePlaced"], table["min_ante"], ante, high)
        if "Raised" in seat:
            case.fields(step, seat["Raised"], amount=ante * rules["play"]["raise_multiple"])
        if "CardExchanged" in seat:
            case.fields(step, seat["CardExchanged"], fee=ante * fee_antes)
    offered, pot = {bet["kind"]: bet["stake"] for bet in rules["side_bets"]}, case.events[0].get("jackpot")
    for event in case.of("SideBetPlaced"):
        kind, amount, low, high = event["bet"], event["amount"], table["min_side_bet"], table["max_side_bet"]
        stake = offered.get(kind, "0") if pot or kind != "jackpot" else "0"  # which no stake is: not offered
        if stake != "free":
            low = high = table["bonus_stake"] if stake == "table" else minor(case, stake)
        case.within(step, event, low, amount, high)
        pays = pot if kind == "jackpot" else None
        share = texts(share=exact(pays["contribution"]) * amount)["share"] if pays else None
        fields = {"contribution": share, "jackpot_id": pays["id"] if pays else None}
        case.fields("stakes.contributions", event, **fields)


def stakes(case: Case, seat: Seat) -> dict[str, int]:
    """Return all that a seat staked, in the order in which bets are listed."""
    names = {"ante": "AntePlaced", "raise": "Raised", "exchange_fee": "CardExchanged"}
    names |= {bet["kind"]: f"SideBetPlaced_{bet['kind']}" for bet in case.file["ruleset"]["side_bets"]}
    placed = {bet: seat[name] for bet, name in names.items() if name in seat}
    return {bet: event.get("amount", event.get("fee", 0)) for bet, event in placed.items()}


# ── cards: the algorithm stud-deck-1 ────────────────────────────────────────────────────────────────────
# lp(x) is the length of x in four big-endian bytes, then x. A seed is 32 bytes of entropy and 16 of nonce.
# The generator is HMAC_DRBG with SHA-256 (NIST SP 800-90A Rev. 1, section 10.1.2), asked for 64 bytes a time.

Drawn = tuple[Event, int, str]  # the event that shows a card, the card's place in the deck, the card


def lp(*parts: bytes) -> bytes:
    """Join parts, each behind its length, so that no two lists of parts give the same bytes."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def shuffled(seed: bytes, personalization: bytes) -> list[str]:
    """Return the deck: Fisher-Yates from the front, skipping bytes that would favour some cards."""
    stream, deck = random_bytes(seed, personalization), list(DECK)
    for i in range(51):
        left = 52 - i
        j = i + next(byte for byte in stream if byte < 256 - 256 % left) % left
        deck[i], deck[j] = deck[j], deck[i]
    return deck


def random_bytes(seed: bytes, personalization: bytes) -> Iterator[int]:
    """Yield the generator's bytes without end."""
    key, value = b"\x00" * 32, b"\x01" * 32
    for separator in (b"\x00", b"\x01"):  # instantiate
        key = hmac.digest(key, value + separator + seed + personalization, "sha256")
        value = hmac.digest(key, value, "sha256")
    while True:  # generate twice 32 bytes, then update
        for _ in range(2):
            value = hmac.digest(key, value, "sha256")
            yield from value
        key = hmac.digest(key, value + b"\x00", "sha256")
        value = hmac.digest(key, value, "sha256")


def check_cards(case: Case) -> None:
    """Check dealing and exchanges, then the commitment, then every card against the deck of the seed."""
    opened, rng = case.events[0], case.events[0]["deal_source"] == "rng"
    cards = [*check_dealing(case, rng=rng), *check_exchanges(case, rng=rng)]
    again = case.once.get("Dealt_dealer") if "DealerQualified" in case.once else None
    seen = Counter(card for event, _, card in cards if event is not again)  # the dealer's five name them too
    for card, times in seen.items():
        case.check("cards.unique", card, 1, times)
    end = case.once["RoundVoided" if "RoundVoided" in case.once else "RoundClosed"]
    has = [name in {**opened, **end} for name in ("deck_commitment", "deck_algorithm", "rng", "deck_seed")]
    if not rng or has != [True] * len(has):
        case.notes["cards.committed"] = "no commitment: a physical table dealt"
        if any(has) or rng:
            case.check("cards.commitment", "commitment, algorithm, generator, seed", [rng] * len(has), has)
        return
    seed, rules_hash = bytes.fromhex(end["deck_seed"]), bytes.fromhex(opened["ruleset"]["sha256"])
    name = case.file["round_id"].encode()
    made = hashlib.sha256(lp(b"stud-ledger/deck-commitment/1", seed, name, rules_hash)).hexdigest()
    case.check("cards.commitment", "SHA-256", opened["deck_commitment"], made)
    personalization = lp(b"stud-deck-1", name, rules_hash)
    for number, seat in sorted(case.seats.items()):
        if "client_seed" in seat["AntePlaced"]:
            personalization += lp(b"%d" % number, seat["AntePlaced"]["client_seed"].encode())
    check_deck(case, shuffled(seed, personalization), cards)


def check_deck(case: Case, deck: list[str], cards: list[Drawn]) -> None:
    """Compare every card with the deck; say whether the commitment came before the stakes or beside one."""
    antes, opening, together = case.of("AntePlaced"), case.events[0].command, False
    for event in antes:
        together = together or event.command == opening
        ok = event.command != opening or "client_seed" not in event
        case.check("cards.committed", event, "no client seed before the commitment", "one", ok=ok)
    case.notes["cards.committed"] = "same_command" if together else "before_stake" if antes else "no stake"
    wrong = sum(deck[place : place + 1] != [card] for _, place, card in cards)
    if wrong * 2 > len(cards) and len(antes) < case.once["BettingClosed"]["seats"]:
        case.open.add("cards.deck")
        case.notes["cards.deck"] = "other players' withheld client seeds may have changed the deck"
        return
    for event, place, card in cards:
        case.check("cards.deck", f"{event}: place {place}", deck[place : place + 1], [card])


def hands_dealt(case: Case) -> int:
    """Return how many hands the players were dealt."""
    shared = case.file["ruleset"]["seating"]["shared_player_hand"]
    return 1 if shared else int(case.once["BettingClosed"]["seats"])


def check_dealing(case: Case, *, rng: bool) -> Iterator[Drawn]:
    """Check which places in the deck each hand came from, and yield its cards."""
    if "Dealt_dealer" not in case.once:
        return
    rules, count, hands = case.file["ruleset"]["deal"], hands_dealt(case), case.of("Dealt")
    ups, first, step = rules["dealer_up_indices"], case.once["BettingClosed"].version + 1, "cards.dealing"
    seats = [event["seat"] for event in hands if "seat" in event]
    case.check(step, "order of seats", sorted(seats), seats)
    case.check(step, "hands before the dealer's", count, hands[-1].version - first)
    for event in [*hands, *case.of("DealerQualified")]:
        up = ups if event.name == "Dealt_dealer" else None
        hand = count if up or event.type == "DealerQualified" else event.version - first
        block = rules["pattern"] == "block"
        places = [HAND * hand + k if block else k * (count + 1) + hand for k in up or range(HAND)]
        case.fields(step, event, indices=places if rng else None, up_indices=up)
        case.check(step, f"{event}: number of cards", len(places), len(event["cards"]))
        yield from zip([event] * HAND, places, event["cards"], strict=False)
    for event in case.of("DealerQualified"):
        case.check(step, "up-cards", hands[-1]["cards"], [event["cards"][up] for up in ups])


def check_exchanges(case: Case, *, rng: bool) -> Iterator[Drawn]:
    """Check each bought card, the next undealt one being burned and the one after it drawn; yield it."""
    step, burn = "cards.exchange", HAND * (hands_dealt(case) + 1) if "Dealt_dealer" in case.once else 0
    for event in case.of("CardExchanged"):
        seat, forfeits = case.seats[event["seat"]], case.file["ruleset"]["exchange"]["forfeits"]
        lost = sorted(kind for kind in forfeits if f"SideBetPlaced_{kind}" in seat)
        case.check(step, f"{event}: bets taken", lost, sorted(event["forfeited"]))
        ok = event["drawn"] in hand_of(case, seat)
        case.check(step, f"{event}: discard", "a card of the hand", event["discard"], ok=ok)
        if case.file["player"] is not None and (event.get("burn_index", 0) - burn) % 2 == 0:
            burn = max(burn, event.get("burn_index", 0))  # others, not seen here, may have bought before
        case.fields(step, event, burn_index=burn if rng else None, drawn_index=burn + 1 if rng else None)
        yield event, burn + 1, event["drawn"]
        burn += 2


# ── result ──────────────────────────────────────────────────────────────────────────────────────────────


def hand_of(case: Case, seat: Seat) -> list[str]:
    """Return the cards that a seat ended with."""
    dealt, trade = case.once.get("Dealt_shared") or seat["Dealt_seat"], seat.get("CardExchanged")
    return [trade["drawn"] if trade and card == trade["discard"] else card for card in dealt["cards"]]


def rank(cards: list[str]) -> tuple[int, list[int]]:
    """Return the worth of five cards: the category, 0 to 9, then the ranks that break a tie."""
    ranks = sorted((RANKS.index(card[0]) for card in cards), reverse=True)
    groups = sorted(((count, value) for value, count in Counter(ranks).items()), reverse=True)
    flush = len({card[1] for card in cards}) == 1
    if ranks == [12, 3, 2, 1, 0]:  # five-four-three-two-ace is a straight to the five: the ace is low
        return (8 if flush else 4), [3]
    if len(groups) == HAND and ranks[0] - ranks[-1] == HAND - 1:
        return (4 if not flush else 9 if RANKS[ranks[0]] == "A" else 8), ranks[:1]
    shapes = {(2, 1, 1, 1): 1, (2, 2, 1): 2, (3, 1, 1): 3, (3, 2): 6, (4, 1): 7}
    shape = tuple(count for count, _ in groups)
    return (5 if flush else shapes.get(shape, 0)), [value for _, value in groups]


def category(cards: list[str]) -> str:
    """Return the category of the best five of five or six cards."""
    fives = [cards] if len(cards) == HAND else [cards[:k] + cards[k + 1 :] for k in range(len(cards))]
    return CATEGORIES[max(map(rank, fives))[0]]


def dealer_plays(case: Case) -> bool:
    """Tell whether the dealer's hand was revealed and qualifies."""
    if "DealerQualified" not in case.once:
        return False
    cards, least = case.once["DealerQualified"]["cards"], case.file["ruleset"]["qualify"]
    if least == "ace_king":
        return rank(cards)[0] > 0 or {"A", "K"} <= {card[0] for card in cards}
    return rank(cards)[0] >= CATEGORIES.index(least)


def outcome(case: Case, seat: Seat) -> str:
    """Return how a seat did against the dealer."""
    if "Folded" in seat or not dealer_plays(case):
        return "folded" if "Folded" in seat else "dealer_not_qualified"
    mine, dealers = rank(hand_of(case, seat)), rank(case.once["DealerQualified"]["cards"])
    return "push" if mine == dealers else "win" if mine > dealers else "lose"


def prize(case: Case, seat: Seat, kind: str) -> dict[str, Any]:
    """Return what a side bet's rules give for a seat's cards: odds, an award, or {} for nothing."""
    rules = case.file["ruleset"]
    bet = next((bet for bet in rules["side_bets"] if bet["kind"] == kind), None)
    if bet is None or f"SideBetPlaced_{kind}" not in seat:
        return {}
    taken = "CardExchanged" in seat and kind in rules["exchange"]["forfeits"]
    folded = "Folded" in seat and not bet["survives_fold"]
    if taken or folded or (bet["needs_dealer_to_qualify"] and not dealer_plays(case)):
        return {}
    if kind == "five_plus_one":
        six = [*hand_of(case, seat), case.once["Dealt_dealer"]["cards"][0]]
        return {"odds": bet["pays"][category(six)]} if category(six) in bet["pays"] else {}
    return dict(bet["awards"].get(category(hand_of(case, seat)), {}))


def leg(case: Case, seat: Seat, bet: str, stake: int, cap: int) -> dict[str, Any]:
    """Return what a bet must do. A raise wins at most `cap`; a jackpot's award is checked by itself."""
    result, odds, won, back = outcome(case, seat), 0, 0, False
    if bet in ("ante", "raise"):
        back = result in ("win", "push", "dealer_not_qualified")
        if result == "win" or (result, bet) == ("dealer_not_qualified", "ante"):
            odds = 1 if bet == "ante" else case.file["ruleset"]["raise_pays"][category(hand_of(case, seat))]
            won = stake * odds if bet == "ante" else min(stake * odds, cap)
    elif given := prize(case, seat, bet):
        odds = given.get("odds", 0)
        back, won = bool(odds), stake * odds
        if bet == "bonus":
            won = minor(case, given["fixed"])
        elif bet == "jackpot" and "JackpotHit" in seat:
            won = seat["JackpotHit"]["award"]
    figures = {"bet": bet, "stake": stake, "returned": stake * back, "won": won}
    return figures | {"odds": odds} if odds and won else figures


def check_result(case: Case) -> None:
    """Check the dealer's hand, and all that Settled says."""
    rules, plays, won, cap = case.file["ruleset"], dealer_plays(case), Counter[str](), INTEGER_MAX
    limit, policy = rules.get("raise_cap", {}), rules["play"]["show_hands"]
    for event in case.of("DealerQualified"):
        case.fields("result.dealer", event, category=category(event["cards"]), qualified=plays)
    if limit:
        table = case.events[0]["parameters"]
        cap = minor(case, limit["amount"]) if "amount" in limit else table["raise_win_cap"]
    for event in case.of("Settled"):
        seat, player = case.seats[event["seat"]], event["player"]
        jackpot_only = policy == "jackpot_when_not_qualified" and not plays
        shown = "Raised" in seat and (not jackpot_only or "SideBetPlaced_jackpot" in seat)
        fields = {"category": category(hand_of(case, seat)), "result": outcome(case, seat)}
        case.fields("result.hands", event, **fields, shown=policy == "all" or shown)
        room = cap - won[player] if limit.get("scope") == "aggregate" else cap
        legs = [leg(case, seat, bet, stake, room) for bet, stake in stakes(case, seat).items()]
        won[player] += sum(leg["won"] for leg in legs if leg["bet"] == "raise")
        case.check("result.bets", f"{event}: number of bets", len(legs), len(event["bets"]))
        for mine, theirs in zip(legs, event["bets"], strict=False):
            case.check("result.bets", f"{event}: {mine['bet']}", mine, theirs)


# ── jackpot ─────────────────────────────────────────────────────────────────────────────────────────────


def check_jackpot(case: Case) -> None:
    """Check who was paid by the jackpot, in which order, and how much."""
    owed = {number: prize(case, seat, "jackpot") for number, seat in sorted(case.seats.items())}
    whole = [number for number, given in owed.items() if given.get("percent") == WHOLE_METER]
    must: list[list[Any]] = []
    for number, given in owed.items():
        hits = whole if whole[:1] == [number] else [number] if given and number not in whole else []
        must += [*(["JackpotHit", hit] for hit in hits), ["Settled", number]]
    found = [[event.type, event["seat"]] for event in case.of("JackpotHit", "Settled")]
    if case.file["player"] is not None:  # another player's royal may have brought this player's award forward
        must, found = sorted(must), sorted(found)
    case.check("jackpot.order", "order", must, found)
    for event in case.of("JackpotHit") if must == found else ():
        fields = {"category": category(hand_of(case, case.seats[event["seat"]]))}
        fields |= award(case, event, owed[event["seat"]], whole)
        case.fields("jackpot.awards", event, **fields)


def award(case: Case, event: Event, given: dict[str, Any], whole: list[int]) -> dict[str, Any]:
    """Return an award's figures for the meter recorded before it; seats in `whole` share the whole meter."""
    pot, meter, house, last = case.events[0]["jackpot"], exact(event["meter_before"]), 0, False
    if "fixed" in given:
        paid = minor(case, given["fixed"]) * UNIT
        house = paid if given["funding"] == "house" else max(0, paid - meter)
    elif event["seat"] not in whole:
        paid = meter * given["percent"] // 100 // UNIT * UNIT
    elif case.file["player"] is None:
        paid = exact(case.seats[whole[0]]["JackpotHit"]["meter_before"]) // len(whole) // UNIT * UNIT
        last = event["seat"] == whole[-1]
    else:  # in one player's file other winners are not seen; the last share leaves less than a unit for each
        paid = min(event["award"] * UNIT, meter)
        last = meter - paid < UNIT * hands_dealt(case)
    after, restart = meter - paid + house + pot["reset"] * UNIT * last, str(pot["reset"]) if last else None
    amounts = texts(from_meter=paid - house, from_house=house, meter_after=after)
    return {"jackpot_id": pot["id"], "award": paid // UNIT, "restart": restart, **amounts}


def check_meter(case: Case) -> None:
    """Follow the meter from movement to movement, where nothing else can have come between."""
    step, everybody = "jackpot.meter", case.file["player"] is None
    moves = [event for event in case.events if "contribution" in event or "previous_position" in event]
    for earlier, event in pairwise([case.events[0], *moves]):
        if "previous_position" not in event:
            continue
        still = earlier.get("from_meter") == "0" and "restart" not in earlier  # the house alone paid
        since = earlier["previous_position"] if still else earlier.position if "seat" in earlier else 1
        certain = everybody and "seat" in earlier and adjacent(earlier, event)
        previous, last = event["previous_position"], earlier.position if certain else event.position - 1
        case.within(step, f"{event}: previous_position", since, previous, last)
        if "order" in earlier and "order" in event:
            last = earlier["order"] + 1 if certain else INTEGER_MAX
            case.within(step, f"{event}: order", earlier["order"] + 1, event["order"], last)
        if "meter_after" in earlier and (certain or previous == earlier.position):
            case.fields(step, event, meter_before=earlier["meter_after"])


# ── void ────────────────────────────────────────────────────────────────────────────────────────────────


def check_void(case: Case) -> None:
    """Check that a void round gave everything back."""
    step, must, cause = "void.refunds", list[list[Any]](), case.once["RoundVoided"]["cause"]
    causes = [*case.file["ruleset"]["misdeal_causes"], "malfunction", "timeout" if case.seats else "expired"]
    case.check(step, "cause", causes, cause, ok=cause in causes)
    for number, seat in sorted(case.seats.items()):
        staked = stakes(case, seat)
        bets = [{"bet": bet, "stake": stake} for bet, stake in staked.items()]
        case.fields(step, seat["StakeRefunded"], amount=sum(staked.values()), bets=bets)
        if "SideBetPlaced_jackpot" in seat:
            must.append(["ContributionReversed", number])
            event, given = seat["ContributionReversed"], exact(seat["SideBetPlaced_jackpot"]["contribution"])
            meter = exact(event["meter_before"])
            amounts = texts(amount=given, from_meter=min(meter, given), from_house=max(0, given - meter))
            amounts |= texts(meter_after=max(0, meter - given))
            case.fields(step, event, jackpot_id=case.events[0]["jackpot"]["id"], **amounts)
        must.append(["StakeRefunded", number])
    found = [[event.type, event["seat"]] for event in case.of("ContributionReversed", "StakeRefunded")]
    case.check(step, "order", must, found)


# ── money ───────────────────────────────────────────────────────────────────────────────────────────────


def movement(event: Event) -> tuple[int, int, int]:
    """Return what an event adds to the wallet, to the stakes on the game, and to the jackpot."""
    if event.type in ("AntePlaced", "SideBetPlaced", "Raised", "CardExchanged"):
        stake = UNIT * int(event.get("amount", event.get("fee", 0)))
        return -stake, stake, exact(event.get("contribution", "0"))
    if event.type == "Settled":  # a jackpot's award was paid by its JackpotHit
        back = sum(leg["returned"] + leg["won"] * (leg["bet"] != "jackpot") for leg in event["bets"])
        return UNIT * back, -UNIT * sum(leg["stake"] for leg in event["bets"]), 0
    if event.type == "StakeRefunded":
        return UNIT * event["amount"], -UNIT * event["amount"], 0
    meter = exact(event.get("restart", "0")) - exact(event.get("from_meter", "0"))
    return UNIT * event.get("award", 0), 0, meter


def check_money(case: Case) -> None:
    """Follow wallets and stakes; what is neither the players' nor the jackpot's is the house's."""
    step, last, on_game, players, pot = "money.conservation", dict[str, Event](), Counter[int](), 0, 0
    for event in case.events:
        wallet, staked, meter = movement(event)
        players, pot = players + wallet, pot + meter
        if "balance_after" in event:
            earlier = last.get(event["player"])
            if earlier is not None and adjacent(earlier, event):
                case.fields("money.balances", event, balance_after=earlier["balance_after"] + wallet // UNIT)
            last[event["player"]] = event
            on_game[event["seat"]] += staked
        if "from_house" in event:
            paid = exact(event["from_meter"]) + exact(event["from_house"])
            case.check(step, f"{event}: paid", exact(str(event.get("award", event.get("amount")))), paid)
    for number, left in on_game.items():
        case.check(step, f"seat {number}: left on the game", 0, left)
    totals = texts(players=players, jackpot=pot, house=-players - pot)
    case.notes[step] = ", ".join(f"{who} {total}" for who, total in totals.items())


# ── the whole ───────────────────────────────────────────────────────────────────────────────────────────

RECORDED: Final = (
    "times and positions in the ledger (only that they grow), and the gaming day",
    "who: pseudonyms, sessions, channels, actors, commands; whether a decision was the player's own",
    "wallet balances before the round, and wherever events outside this file may lie between",
    "the table, its limits and caps; version numbers; the names of software and generator",
    "salts, and the hashes of what clients were shown",
    "the jackpot's meter, count and last movement before this round's first award or reversal",
    "why a round was void; where a physical table dealt, the cards",
)
NOT_COVERED: Final = (
    "log proof: not in this file, so nothing shows that these events are the ones in the ledger's log",
    "that players could see rules and commitment before they staked, and corrections after the round",
    "in one player's file: other players' events, which are withheld",
)


def examine(raw: bytes) -> Case:
    """Run the steps on a file's bytes, later groups only after earlier ones passed. Raises nothing."""
    case = Case()
    try:
        case.file = load(raw)
        first = (check_form, check_rules, check_places, check_order, check_seats, check_stakes)
        for check in (*first, check_rest):
            if case.verdict() == "verified":
                check(case)
    except Unusable as reason:
        case.unusable = str(reason)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, MemoryError) as fault:
        if case.verdict() == "verified":  # otherwise it is refuted already, and this is what follows from it
            case.unusable = f"not readable as evidence ({type(fault).__name__})"
    return case


def check_rest(case: Case) -> None:
    """Run the checks that rest on a round in order but not on each other."""
    check_cards(case)
    check_result(case)
    (check_void if "RoundVoided" in case.once else check_jackpot)(case)
    check_meter(case)
    check_money(case)


def show(value: object) -> str:
    """Write any value in one short line of plain ASCII, whatever a file puts into it."""
    text = json.dumps(value, sort_keys=True, default=str)
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "..."


def report(case: Case) -> dict[str, Any]:
    """Return everything found, for machines."""
    found: dict[str, Any] = {"verdict": case.verdict(), "reason": case.unusable, "checks": {}}
    for step, says in STEPS.items():
        faults = [
            dict(zip(("where", "expected", "found"), fault, strict=True)) for fault in case.faults[step]
        ]
        check = {"result": case.result(step), "says": says, "compared": case.compared[step], "faults": faults}
        found["checks"][step] = check | {"note": case.notes.get(step, "")}
    verified = case.verdict() == "verified"
    found["proved"] = [says for step, says in STEPS.items() if verified and case.result(step) == "PASS"]
    found["recorded"] = RECORDED if verified else ()
    return found | {"not_covered": NOT_COVERED}


def lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield a report's lines for people."""
    for step, check in found["checks"].items():
        note = f" [{check['note']}]" if check["note"] else ""
        yield f"{check['result']}  {step:21} {check['says']}{note}"
        for fault in check["faults"][:SHOWN_FAULTS]:
            where, must, there = (show(fault[key]) for key in ("where", "expected", "found"))
            yield f"        {where[1:-1]}: expected {must}, found {there}"
    titles = {"proved": "PROVED FROM THIS FILE", "recorded": "RECORDED BUT NOT DERIVABLE FROM IT"}
    for name in ("proved", "recorded", "not_covered"):
        yield from ["", titles.get(name, "NOT COVERED"), *(f"  - {line}" for line in found[name])]
    yield ""


def main(arguments: list[str]) -> int:
    """Check the file that the command line names, print the report, return the exit code."""
    parser = argparse.ArgumentParser("verify.py", description="Check the evidence of one finished round.")
    parser.add_argument("file", metavar="FILE", type=Path, help="from /v1/rounds/{id}/evidence")
    parser.add_argument("--json", action="store_true", help="print the report for machines")
    parser.add_argument("--quiet", action="store_true", help="print the verdict only")
    options, case = parser.parse_args(arguments), Case()
    try:
        with options.file.open("rb") as stream:
            case = examine(stream.read(FILE_BYTES_MAX + 1))
    except (OSError, ValueError) as fault:
        case.unusable = f"the file cannot be opened ({type(fault).__name__})"
    why = case.unusable or ", ".join(step for step in STEPS if case.faults[step])
    text = [f"{case.verdict().upper()} {show(why)[1:-1]}".rstrip()]
    if not options.quiet and not case.unusable:
        text = [*lines(report(case)), *text]
    try:
        print(json.dumps(report(case), indent=1) if options.json else "\n".join(text), flush=True)
    except OSError:  # whoever reads the report has gone: the exit code still tells
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ["verified", "refuted", "unusable"].index(case.verdict())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
