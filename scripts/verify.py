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
# ruff: noqa: D102, D103 - where a function's name and STEPS say it all, a sentence more would hide the others

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
    "form": "every event has exactly the fields of its type, each of the right kind",
    "rules.house": "the rule set is, to the letter, the one that the round was opened with",
    "rules.jackpot": "the jackpot's parameters are, to the letter, those that the round was opened with",
    "order.places": "versions count without a gap, positions and times grow, a command stands together",
    "order.phases": "each event comes in a phase of the round that allows it, and the round is finished",
    "order.seats": "each seat is one player's, acts once where it may act once, and nothing is missing",
    "stakes": "every stake is offered and within limits, or the exact multiple, as is the jackpot's share",
    "cards.commitment": "the revealed seed is the one that was committed to before any stake was recorded",
    "cards.places": "hands and bought cards come from the places that the house's dealing pattern names",
    "cards.deck": "every card is the one that the deck of the revealed seed holds at its place",
    "cards.unique": "no card was there twice",
    "result.dealer": "the dealer's hand has the category given, and qualifies or not as given",
    "result.seats": "hands have the category and result given; every bet was paid by the rules, to the unit",
    "jackpot.order": "seats settled in order, awards before them, winners of the whole meter together",
    "jackpot.awards": "each award is right for the meter recorded before it, and so is the meter after it",
    "jackpot.meter": "the meter goes on from movement to movement, where nothing else can lie between",
    "void": "every stake of the void round came back, and every contribution left the jackpot",
    "money.balances": "balances follow from the one before, where nothing else can lie between",
    "money.conservation": "no money stays on the game, none appears and none disappears",
}
RECORDED: Final = (
    "times and positions (only that they grow), the gaming day, salts, the hashes of what clients were shown",
    "who: pseudonyms, sessions, channels, actors, commands; whether a decision was the player's own",
    "wallet balances before the round, and wherever events outside this file may lie between",
    "the table, its limits and caps; version numbers; the names of software and generator",
    "a jackpot's other pools; its meter, hits and last movement before the round's first award or reversal",
    "why a round was void; where a physical table dealt, the cards",
)
NOT_COVERED: Final = (
    "log proof: not in this file, so nothing shows that these events are the ones in the ledger's log",
    "that players could see rules and commitment before they staked, and corrections after the round",
    "in one player's file: other players' events, which are withheld",
)
FILE_BYTES_MAX, INTEGER_MAX, UNIT, WHOLE_METER, HAND = 64 * 2**20, 2**53 - 1, 10_000, 100, 5
SHOWN_FAULTS, SHOWN_CHARACTERS = 5, 300
RANKS: Final = "23456789TJQKA"
DECK: Final = [rank + suit for rank in RANKS for suit in "cdhs"]
CATEGORIES: Final = (
    "high_card pair two_pair three_of_a_kind straight flush full_house four_of_a_kind straight_flush"
    " royal_flush"
).split()
NO_DECIMALS: Final = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"  # ISO 4217, and
THREE_DECIMALS: Final = "BHD IQD JOD KWD LYD OMR TND"  # all others have two
# What may come next in each phase of a round, and the phase it leads to. In one player's file the events of
# others are withheld; they may stand where such events can be.
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
# A shape is a name and its fields: `name:kind`, or `name` alone where the kind has the same name; with `?` in
# front where it may be absent. A kind is a shape, a list `[kind]`, a table by hand category `{kind}`, one of
# KINDS (a type, bounds of a whole number, or a regular expression), or a regular expression itself.
SHAPE_LINES: Final = """
File format:stud-ledger/evidence/1 round_id:id player:id events:[object] ruleset:object ?jackpot:object
 currency:Currency
Currency code exponent
Event data:object meta:Meta position recorded_at salt:[A-Za-z0-9_-]{22} stream type:text version:position
Withheld position stream version:position withheld:bool leaf_sha256:sha256
Meta actor:text command:id schema ?shown:[A-Za-z0-9_-]{43} ?trace:text
RoundOpened table_id:id ruleset:Ruleset currency:code account_class:real|test deal_source:rng|table
 gaming_day:text parameters:Table build:text ?deck_commitment:sha256 ?deck_algorithm:stud-deck-1 ?rng:text
 ?jackpot:Pot
Ruleset id version:position sha256
Pot id version:position sha256 contribution:share reset:amount ?ceiling:amount ?diversion:share
Table min_ante:stake max_ante:stake zone:text cutoff_hour:amount min_side_bet:amount max_side_bet:amount
 ?raise_win_cap:stake ?bonus_stake:stake ?decision_seconds:position
AntePlaced seat player:id amount:stake balance_after:amount ?session_id:text ?channel:text ?client_seed:text
SideBetPlaced seat player:id bet:kind amount:stake balance_after:amount ?contribution:exact ?jackpot_id:id
 ?overflow:exact ?diversion:exact
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
 ?restart:exact ?restart_from_diversion:exact ?from_overflow:exact
RoundClosed ?deck_seed
RoundVoided cause:text ?deck_seed ?note_sha256:sha256
ContributionReversed seat player:id jackpot_id:id amount:exact from_meter:exact from_house:exact
 meter_before:exact meter_after:exact previous_position:position ?from_overflow:exact ?from_diversion:exact
StakeRefunded seat player:id amount:stake bets:[Refund] balance_after:amount
Refund bet:text stake
RuleSet id title:prose source:prose currencies:[code] ?max_ante:units seating:Seating deal:Deal play:Play
 qualify:[a-z_]+ raise_pays:{odds} ?raise_cap:Cap side_bets:[SideBet] ?exchange:Exchange misdeal_causes:[text]
 void_policy:refund_all rounding:down names:object readings:[object]
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
    "sha256": "[0-9a-f]{64}", "share": r"(0|1)(\.[0-9]{1,4})?", "stream": "round-[A-Za-z0-9._-]{1,64}",
    "units": r"[0-9]{1,12}(\.[0-9]{1,3})?", "text": "[^\x00-\x1f\x7f\ud800-\udfff]{1,600}",
}  # fmt: skip


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
Fault = tuple[str, object, object]  # where, what was expected, what was found


# ── form ────────────────────────────────────────────────────────────────────────────────────────────────
def unlike(value: Any, kind: str, path: str) -> Iterator[Fault]:
    """Yield every difference between a JSON value and the kind it must be."""
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
    if isinstance(kind, tuple):
        return type(value) is int and kind[0] <= value <= kind[1]  # true and false are not numbers here
    if isinstance(kind, str):
        return isinstance(value, str) and re.fullmatch(kind, value) is not None
    return isinstance(value, kind)


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > len(dict(pairs)):
        raise Unusable("an object names a key twice")
    return dict(pairs)


def whole(text: str) -> int:
    if not re.fullmatch("-?[0-9]{1,16}", text) or abs(int(text)) > INTEGER_MAX:
        raise Unusable("a number is not a whole one within 2^53 - 1")
    return int(text)


def load(raw: bytes) -> dict[str, Any]:
    """Return the file as an object; raise Unusable for what is not strict JSON of our format."""
    if len(raw) > FILE_BYTES_MAX:
        raise Unusable("the file is larger than 64 MB")
    hooks: dict[str, Any] = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), whole)
    file = json.loads(raw.decode(), object_pairs_hook=unique, **hooks)
    for where, must, found in unlike(file, "File", "file"):
        if where != "file.player" or found is not None or "player" not in file:  # null: everybody's file
            raise Unusable(f"{where}: expected {must}, found {show(found)}")
    return dict(file)


# ── amounts, hashes, hands ──────────────────────────────────────────────────────────────────────────────
def digest(value: object) -> str:
    """Return the SHA-256 of a value's canonical JSON (RFC 8785, for values without floats)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def exact(text: str) -> int:
    """Return an amount with up to four decimals in ten-thousandths."""
    integer, _, fraction = text.partition(".")
    return int(integer + fraction.ljust(4, "0"))


def text_of(amount: int) -> str:
    """Return ten-thousandths as text, without superfluous zeros."""
    integer, fraction = divmod(abs(amount), UNIT)
    return "-" * (amount < 0) + f"{integer}.{fraction:04}".rstrip("0").rstrip(".")


def clamp(low: int, amount: int, high: int) -> int:
    """Return the amount if it is within bounds, else the bound that it breaks."""
    return max(low, min(amount, high))


def upto(event: Event, **limits: int) -> dict[str, int]:
    """Return what an event took from pools that no round shows, each at most what it may be."""
    return {name: clamp(0, exact(event.get(name, "0")), limit) for name, limit in limits.items()}


def paid_out(event: Event) -> int:
    """Return what left the jackpot's pools; the overflow of a hit only went into the meter."""
    names = ("from_meter",) if "award" in event else ("from_meter", "from_overflow", "from_diversion")
    return sum(exact(event.get(name, "0")) for name in names)


def texts(amounts: dict[str, int]) -> dict[str, Any]:
    optional = ("contribution", "overflow", "diversion")  # these are absent rather than 0
    return {name: text_of(it) if it or not name.endswith(optional) else None for name, it in amounts.items()}


def lp(*parts: bytes) -> bytes:
    """Join parts, each behind its length as four big-endian bytes."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def random_bytes(seed: bytes, personalization: bytes) -> Iterator[int]:
    """Yield the bytes of HMAC_DRBG with SHA-256 (NIST SP 800-90A Rev. 1, 10.1.2), asked for 64 at a time."""
    key, value = b"\x00" * 32, b"\x01" * 32
    for separator in (b"\x00", b"\x01"):  # instantiate with 32 bytes of entropy and 16 of nonce
        key = hmac.digest(key, value + separator + seed + personalization, "sha256")
        value = hmac.digest(key, value, "sha256")
    while True:
        for _ in range(2):
            value = hmac.digest(key, value, "sha256")
            yield from value
        key = hmac.digest(key, value + b"\x00", "sha256")
        value = hmac.digest(key, value, "sha256")


def shuffled(seed: bytes, personalization: bytes) -> list[str]:
    """Return the deck: Fisher-Yates from the front, skipping bytes that would favour some cards."""
    stream, deck = random_bytes(seed, personalization), list(DECK)
    for i in range(51):
        left = 52 - i
        j = i + next(byte for byte in stream if byte < 256 - 256 % left) % left
        deck[i], deck[j] = deck[j], deck[i]
    return deck


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


def adjacent(earlier: Event, later: Event) -> bool:
    """Tell whether no event outside this file can lie between two: position and version grew alike."""
    return bool(later.position - earlier.position == later.version - earlier.version)


class Round:
    """A round as a file tells it, and what each step compared and found wrong."""

    def __init__(self, file: dict[str, Any]) -> None:
        self.file, self.rules, self.only = file, file.get("ruleset", {}), file.get("player")
        self.events: list[Event] = []
        self.once: dict[str, Event] = {}  # what happened at no seat, each name once
        self.seats: dict[int, Seat] = {}
        self.deck: list[str] = []
        self.hands = 0  # dealt to players
        self.compared: Counter[str] = Counter()
        self.faults: dict[str, list[Fault]] = {step: [] for step in STEPS}
        self.notes: dict[str, str] = {}
        self.open: set[str] = set()
        self.unusable = ""

    def check(self, step: str, where: object, must: object, found: object, *, ok: object = ...) -> None:
        """Compare what must be with what is there; where `ok` decides, `must` only describes."""
        self.compared[step] += 1
        if not (must == found if ok is ... else ok):
            self.faults[step].append((str(where), must, found))

    def fields(self, step: str, event: Event, **must: object) -> None:
        """Compare fields of an event; None stands for an absent one."""
        for name, value in must.items():
            self.check(step, f"{event}: {name}", value, event.get(name))

    def result(self, step: str) -> str:
        passed = "OPEN" if step in self.open else "PASS" if self.compared[step] else "NONE"
        return "FAIL" if self.faults[step] else passed

    def verdict(self) -> str:
        return "unusable" if self.unusable else "refuted" if any(self.faults.values()) else "verified"

    def of(self, *types: str) -> list[Event]:
        return [event for event in self.events if event.type in types]

    def minor(self, units: str) -> int:
        """Return whole currency units, given as text, in minor units."""
        integer, _, fraction = units.partition(".")
        fraction, exponent = fraction.rstrip("0"), self.file["currency"]["exponent"]
        if len(fraction) > exponent:
            raise Unusable(f"the currency has no amount of {units}")
        return int(integer + fraction.ljust(exponent, "0"))

    def check_form(self) -> None:
        for number, entry in enumerate(self.file["events"], start=1):
            shape, where = "Withheld" if entry.get("withheld") is True else "Event", f"event {number}"
            faults = list(unlike(entry, shape, where))
            if shape == "Event" and not faults:
                kind = entry["type"] if entry["type"] in EVENT_TYPES else "an event of a round"
                faults = list(unlike(entry["data"], kind, f"{where} ({entry['type']})"))
            self.faults["form"] += faults
            self.events += [] if faults else [Event(entry)]
        self.opened = (self.events or [Event({"version": 0, "position": 0})])[0]
        self.check("form", "first event", "RoundOpened", self.opened.type)

    # ── rules ───────────────────────────────────────────────────────────────────────────────────────────
    def check_rules(self) -> None:
        opened, (code, exponent) = self.opened, (self.file["currency"][key] for key in ("code", "exponent"))
        self.faults["rules.house"] += unlike(self.rules, "RuleSet", "ruleset")
        self.check("rules.house", "SHA-256", opened["ruleset"]["sha256"], digest(self.rules))
        self.check("rules.house", "id", opened["ruleset"]["id"], self.rules.get("id"))
        self.check("rules.house", "currency", opened["currency"], code)
        offered = [name for name in self.rules.get("currencies", []) if name == code]
        self.check("rules.house", "currency of the house", [code], offered)
        decimals = 2 - 2 * (code in NO_DECIMALS) + (code in THREE_DECIMALS)
        self.check("rules.house", "decimals (ISO 4217)", decimals, exponent)
        if "jackpot" in opened or "jackpot" in self.file:
            pot = {"id": None, "sha256": None, **opened.get("jackpot", {}), "currency": code}
            pot["jackpot_id"], sha256 = pot.pop("id"), pot.pop("sha256")
            self.check("rules.jackpot", "parameters", pot, self.file.get("jackpot"))
            self.check("rules.jackpot", "SHA-256", sha256, digest(pot))

    # ── order ───────────────────────────────────────────────────────────────────────────────────────────
    def check_places(self) -> None:
        step, stream, commands = "order.places", f"round-{self.file['round_id']}", set[str]()
        for number, (entry, event) in enumerate(zip(self.file["events"], self.events, strict=True), start=1):
            self.check(step, event, [stream, number], [entry["stream"], event.version])
            self.check(step, event, "not in everybody's file", event.name, ok=event.type or self.only)
        for earlier, event in pairwise(self.events):
            least = max(earlier.position + 1, event.position)
            self.check(step, f"{event}: position", least, event.position)
        for earlier, event in pairwise(event for event in self.events if event.type):
            self.check(step, f"{event}: time", f"> {earlier.time}", event.time, ok=event.time > earlier.time)
            commands.add(earlier.command)
            ahead = event.version - earlier.version  # a restart, seen or not, may let new parameters come
            near = event.position - earlier.position <= ahead + ("restart" in earlier or ahead > 1)
            together = event.command == earlier.command and near
            ok = together or event.command not in commands
            self.check(step, f"{event}: command", "beside its other events", event.command, ok=ok)

    def check_order(self) -> None:
        """Walk the events through the phases; file each once in the round, or once at its seat."""
        phase, earlier, step = "new", self.events[0], "order.seats"
        for event in self.events:
            allowed = dict(pair.split(">") for pair in PHASES[phase].split())
            phase = allowed.get(event.name) or allowed.get(event.type, "")
            self.check("order.phases", event, list(allowed), event.name, ok=bool(phase))
            if not phase:
                return
            filed = self.seats.setdefault(event["seat"], {}) if "seat" in event else self.once
            ok = "seat" not in event or (event.type == "AntePlaced") != ("AntePlaced" in filed)
            ok = ok and (event.name not in filed or not event.type)
            if event.type in ("CardExchanged", "Folded", "Raised"):
                ok = ok and not filed.keys() & {"Folded", "Raised"}
            self.check(step, event, "once, at a seat with an ante, undecided", event.name, ok=ok)
            filed[event.name] = event
            if event.type == "SideBetPlaced":
                self.check(step, f"{event}: with the ante of", event["seat"], earlier.get("seat"))
            if ok and "player" in event:
                self.fields(step, event, player=filed["AntePlaced"]["player"])
            earlier = event
        self.check("order.phases", "end", "closed or voided", phase, ok=phase in ("closed", "voided"))

    def check_seats(self) -> None:
        once, seating, play, step = self.once, self.rules["seating"], self.rules["play"], "order.seats"
        players = Counter(seat["AntePlaced"]["player"] for seat in self.seats.values())
        self.check(step, "players", [self.only] if self.only else [*players], [*players])
        most, dealt, voided = seating["hands_per_player"], "Dealt_dealer" in once, "RoundVoided" in once
        self.check(step, "seats of a player", most, players, ok=max([0, *players.values()]) <= most)
        turns = [event["seat"] for event in self.of("CardExchanged", "Folded", "Raised")]
        self.check(step, "turns", sorted(turns) if play["decision_order"] == "seat" else turns, turns)
        timed = play["on_timeout"] == "fold" and "decision_seconds" in self.opened["parameters"]
        for event in self.of("Folded"):
            self.check(step, event, "no time-out", "timeout", ok=timed or event["decided_by"] != "timeout")
        for event in self.of("BettingClosed"):
            unseen = sum(not earlier.type for earlier in self.events[: event.version])
            self.fields(step, event, seats=clamp(len(self.seats), event["seats"], len(self.seats) + unseen))
            self.hands = 1 if seating["shared_player_hand"] else event["seats"]
        own = dealt and not seating["shared_player_hand"]
        self.check(step, "a shared hand", dealt and not own, "Dealt_shared" in once)
        for number, seat in self.seats.items():
            needed = {"StakeRefunded"} if voided else {"Settled", "Folded" if "Folded" in seat else "Raised"}
            needed |= {"Dealt_seat"} if own else set()
            ok = needed <= seat.keys() and number <= seating["seats"]
            self.check(step, f"seat {number} of {seating['seats']}", sorted(needed), sorted(seat), ok=ok)
        revealed = play["reveal_if_all_fold"] or any("Raised" in seat for seat in self.seats.values())
        if not voided and (revealed or self.only is None):  # others' raises may be withheld
            self.check(step, "the dealer's hand revealed", revealed, "DealerQualified" in once)

    # ── stakes ──────────────────────────────────────────────────────────────────────────────────────────
    def check_stakes(self) -> None:
        table, pot, rules = self.opened["parameters"], self.opened.get("jackpot", {}), self.rules
        offered = {bet["kind"]: bet["stake"] for bet in rules["side_bets"] if pot or bet["kind"] != "jackpot"}
        high = min(table["max_ante"], self.minor(rules.get("max_ante", "999999999")))
        fee_antes = rules.get("exchange", {"fee_antes": 0})["fee_antes"]  # no stake is 0: 0 is not offered
        for seat in self.seats.values():
            ante = seat["AntePlaced"]["amount"]
            self.fields("stakes", seat["AntePlaced"], amount=clamp(table["min_ante"], ante, high))
            if "Raised" in seat:
                self.fields("stakes", seat["Raised"], amount=ante * rules["play"]["raise_multiple"])
            if "CardExchanged" in seat:
                self.fields("stakes", seat["CardExchanged"], fee=ante * fee_antes)
        for event in self.of("SideBetPlaced"):
            stake, amount, share = offered.get(event["bet"], "0"), event["amount"], None
            low, high = table["min_side_bet"], table["max_side_bet"]
            if stake != "free":
                low = high = table["bonus_stake"] if stake == "table" else self.minor(stake)
            jackpot = pot if event["bet"] == "jackpot" else {}
            share, aside = ((exact(jackpot.get(key, "0")) * amount) for key in ("contribution", "diversion"))
            above = clamp(0, exact(event.get("overflow", "0")), share if "ceiling" in jackpot else 0)
            must = texts({"contribution": share, "overflow": above, "diversion": aside})
            must |= {"jackpot_id": jackpot.get("id"), "amount": clamp(low, amount, high)}
            self.fields("stakes", event, **must)

    def stakes(self, seat: Seat) -> dict[str, int]:
        """Return all that a seat staked, in the order in which bets are listed."""
        names = {"ante": "AntePlaced", "raise": "Raised", "exchange_fee": "CardExchanged"}
        names |= {bet["kind"]: f"SideBetPlaced_{bet['kind']}" for bet in self.rules["side_bets"]}
        placed = {bet: seat[name] for bet, name in names.items() if name in seat}
        return {bet: event.get("amount", event.get("fee", 0)) for bet, event in placed.items()}

    # ── cards ───────────────────────────────────────────────────────────────────────────────────────────
    def check_commitment(self) -> None:
        opened, step = self.opened, "cards.commitment"
        end = self.once["RoundVoided" if "RoundVoided" in self.once else "RoundClosed"]
        names, source = ("deck_commitment", "deck_algorithm", "rng", "deck_seed"), opened["deal_source"]
        must, has = names if source == "rng" else (), tuple(key for key in names if key in {**opened, **end})
        if has != names or source != "rng":
            self.notes[step] = "no commitment: a physical table dealt"
            self.faults[step] += [] if must == has else [(f"a deck from {source}", must, has)]
            return
        seed, house = bytes.fromhex(end["deck_seed"]), bytes.fromhex(opened["ruleset"]["sha256"])
        name = self.file["round_id"].encode()
        made = hashlib.sha256(lp(b"stud-ledger/deck-commitment/1", seed, name, house)).hexdigest()
        self.fields(step, opened, deck_commitment=made)
        personalization, together = lp(b"stud-deck-1", name, house), False
        for number, seat in sorted(self.seats.items()):
            ante, same = seat["AntePlaced"], seat["AntePlaced"].command == opened.command
            together = together or same
            if "client_seed" in ante:
                self.check(step, ante, "a client seed after the commitment", "one with it", ok=not same)
                personalization += lp(b"%d" % number, ante["client_seed"].encode())
        self.notes[step] = "same_command" if together else "before_stake" if self.seats else "no stake"
        self.deck = shuffled(seed, personalization)

    def check_cards(self) -> None:
        cards = [*self.dealt(), *self.bought()] if "Dealt_dealer" in self.once else []
        again = self.once.get("Dealt_dealer") if "DealerQualified" in self.once else None
        seen = Counter(card for event, _, card in cards if event is not again)  # the five name them too
        for card, times in seen.items():
            self.check("cards.unique", card, 1, times)
        wrong = sum(self.deck[place : place + 1] != [card] for _, place, card in cards)
        if wrong * 2 > len(cards) and self.deck and len(self.seats) < self.once["BettingClosed"]["seats"]:
            self.open.add("cards.deck")
            self.notes["cards.deck"] = "other players' withheld client seeds may have changed the deck"
        for event, place, card in cards if self.deck and not self.open else ():
            self.check("cards.deck", f"{event}: place {place}", self.deck[place : place + 1], [card])

    def dealt(self) -> Iterator[tuple[Event, int, str]]:
        """Yield every dealt card with its event and its place in the deck."""
        step, count, hands = "cards.places", self.hands, self.of("Dealt")
        first = self.once["BettingClosed"].version + 1
        ups, block = self.rules["deal"]["dealer_up_indices"], self.rules["deal"]["pattern"] == "block"
        seats = [event["seat"] for event in hands if "seat" in event]
        self.check(step, "order of seats", sorted(seats), seats)
        self.check(step, "hands before the dealer's", count, hands[-1].version - first)
        for event in [*hands, *self.of("DealerQualified")]:
            up = ups if event.name == "Dealt_dealer" else None
            hand = count if up or event.type == "DealerQualified" else event.version - first
            places = [HAND * hand + k if block else k * (count + 1) + hand for k in up or range(HAND)]
            self.fields(step, event, indices=places if self.deck else None, up_indices=up)
            self.check(step, f"{event}: number of cards", len(places), len(event["cards"]))
            yield from zip([event] * HAND, places, event["cards"], strict=False)
        for event in self.of("DealerQualified"):
            self.check(step, "up-cards", hands[-1]["cards"], [event["cards"][up] for up in ups])

    def bought(self) -> Iterator[tuple[Event, int, str]]:
        """Yield every bought card likewise: the next undealt one is burned, the one after it drawn."""
        step, burn = "cards.places", HAND * (self.hands + 1)
        for event in self.of("CardExchanged"):
            seat, hand = self.seats[event["seat"]], self.hand(self.seats[event["seat"]])
            forfeits = self.rules["exchange"]["forfeits"]
            lost = sorted(kind for kind in forfeits if f"SideBetPlaced_{kind}" in seat)
            self.check(step, f"{event}: bets taken", lost, sorted(event["forfeited"]))
            self.check(step, f"{event}: in the hand then", 1, hand.count(event["drawn"]))
            if self.only is not None and (event.get("burn_index", 0) - burn) % 2 == 0:
                burn = max(burn, event.get("burn_index", 0))  # others, not seen here, may have bought before
            places = (burn, burn + 1) if self.deck else (None, None)
            self.fields(step, event, burn_index=places[0], drawn_index=places[1])
            yield event, burn + 1, event["drawn"]
            burn += 2

    # ── result ──────────────────────────────────────────────────────────────────────────────────────────
    def hand(self, seat: Seat) -> list[str]:
        """Return the cards that a seat ended with."""
        cards, trade = self.once.get("Dealt_shared") or seat["Dealt_seat"], seat.get("CardExchanged")
        return [trade["drawn"] if trade and card == trade["discard"] else card for card in cards["cards"]]

    def plays(self) -> bool:
        """Tell whether the dealer's hand was revealed and qualifies."""
        if "DealerQualified" not in self.once:
            return False
        cards, least = self.once["DealerQualified"]["cards"], self.rules["qualify"]
        if least == "ace_king":
            return rank(cards)[0] > 0 or {"A", "K"} <= {card[0] for card in cards}
        return rank(cards)[0] >= CATEGORIES.index(least)

    def outcome(self, seat: Seat) -> str:
        if "Folded" in seat or not self.plays():
            return "folded" if "Folded" in seat else "dealer_not_qualified"
        mine, dealers = rank(self.hand(seat)), rank(self.once["DealerQualified"]["cards"])
        return "push" if mine == dealers else "win" if mine > dealers else "lose"

    def prize(self, seat: Seat, kind: str) -> dict[str, Any]:
        """Return what a side bet's rules give for a seat's cards: odds, an award, or {} for nothing."""
        bet = next((bet for bet in self.rules["side_bets"] if bet["kind"] == kind), None)
        if bet is None or f"SideBetPlaced_{kind}" not in seat:
            return {}
        taken = "CardExchanged" in seat and kind in self.rules["exchange"]["forfeits"]
        folded = "Folded" in seat and not bet["survives_fold"]
        if taken or folded or (bet["needs_dealer_to_qualify"] and not self.plays()):
            return {}
        if kind == "five_plus_one":
            six = category([*self.hand(seat), self.once["Dealt_dealer"]["cards"][0]])
            return {"odds": bet["pays"][six]} if six in bet["pays"] else {}
        return dict(bet["awards"].get(category(self.hand(seat)), {}))

    def leg(self, seat: Seat, bet: str, stake: int, cap: int) -> dict[str, Any]:
        """Return what a bet must do. A raise wins at most `cap`; a jackpot's award is checked by itself."""
        result, odds, won, back = self.outcome(seat), 0, 0, False
        if bet in ("ante", "raise"):
            back = result in ("win", "push", "dealer_not_qualified")
            if result == "win" or (result, bet) == ("dealer_not_qualified", "ante"):
                odds = 1 if bet == "ante" else self.rules["raise_pays"][category(self.hand(seat))]
                won = stake * odds if bet == "ante" else min(stake * odds, cap)
        elif given := self.prize(seat, bet):
            odds = given.get("odds", 0)
            back, won = bool(odds), stake * odds
            if bet == "bonus":
                won = self.minor(given["fixed"])
            elif bet == "jackpot" and "JackpotHit" in seat:
                won = seat["JackpotHit"]["award"]
        figures = {"bet": bet, "stake": stake, "returned": stake * back, "won": won}
        return figures | {"odds": odds} if odds and won else figures

    def check_result(self) -> None:
        plays, limit, policy = self.plays(), self.rules.get("raise_cap", {}), self.rules["play"]["show_hands"]
        cap, table, raised = INTEGER_MAX, self.opened["parameters"], Counter[str]()
        if limit:
            cap = self.minor(limit["amount"]) if "amount" in limit else table["raise_win_cap"]
        for event in self.of("DealerQualified"):
            self.fields("result.dealer", event, category=category(event["cards"]), qualified=plays)
        for event in self.of("Settled"):
            seat, used = self.seats[event["seat"]], raised[event["player"]]
            room = cap - used if limit.get("scope") == "aggregate" else cap
            jackpot_only = policy == "jackpot_when_not_qualified" and not plays
            shown = "Raised" in seat and (not jackpot_only or "SideBetPlaced_jackpot" in seat)
            bets = [self.leg(seat, bet, stake, room) for bet, stake in self.stakes(seat).items()]
            raised[event["player"]] += sum(leg["won"] for leg in bets if leg["bet"] == "raise")
            fields = {"category": category(self.hand(seat)), "result": self.outcome(seat)}
            self.fields("result.seats", event, **fields, shown=policy == "all" or shown)
            self.check("result.seats", f"{event}: number of bets", len(bets), len(event["bets"]))
            for mine, theirs in zip(bets, event["bets"], strict=False):
                self.check("result.seats", f"{event}: {mine['bet']}", mine, theirs)

    # ── jackpot ─────────────────────────────────────────────────────────────────────────────────────────
    def check_jackpot(self) -> None:
        owed = {number: self.prize(seat, "jackpot") for number, seat in sorted(self.seats.items())}
        whole = [number for number, given in owed.items() if given.get("percent") == WHOLE_METER]
        must: list[list[Any]] = []
        for number, given in owed.items():
            hits = whole if whole[:1] == [number] else [number] if given and number not in whole else []
            must += [*(["JackpotHit", hit] for hit in hits), ["Settled", number]]
        found = [[event.type, event["seat"]] for event in self.of("JackpotHit", "Settled")]
        if self.only is not None:  # another player's royal may have brought this player's award forward
            must, found = sorted(must), sorted(found)
        self.check("jackpot.order", "order", must, found)
        for event in self.of("JackpotHit") if must == found else ():
            self.fields("jackpot.awards", event, **self.award(event, owed[event["seat"]], whole))
            self.fields("jackpot.awards", event, category=category(self.hand(self.seats[event["seat"]])))

    def award(self, event: Event, given: dict[str, Any], whole: list[int]) -> dict[str, Any]:
        """Return an award's figures for the meter recorded before it; `whole` share the whole meter."""
        pot, meter, house, last = self.opened["jackpot"], exact(event["meter_before"]), 0, False
        if "fixed" in given:
            paid = self.minor(given["fixed"]) * UNIT
            house = paid if given["funding"] == "house" else max(0, paid - meter)
        elif event["seat"] not in whole:
            paid = meter * given["percent"] // 100 // UNIT * UNIT
        elif self.only is None:
            paid = exact(self.seats[whole[0]]["JackpotHit"]["meter_before"]) // len(whole) // UNIT * UNIT
            last = event["seat"] == whole[-1]
        else:  # other winners are not seen here; the last share leaves less than a unit for each
            paid = min(event["award"] * UNIT, meter)
            last = meter - paid < UNIT * self.hands
        after, reset = meter - paid + house, pot["reset"] * UNIT * last
        room = max(0, pot.get("ceiling", KINDS["amount"][1]) * UNIT - after - reset) * last
        pools = upto(event, from_overflow=room, restart_from_diversion=reset)
        after += reset + pools["from_overflow"]
        fields = texts({"from_meter": paid - house, "from_house": house, "meter_after": after, **pools})
        fields["restart"] = str(pot["reset"]) if last else None
        return fields | {"jackpot_id": pot["id"], "award": paid // UNIT}

    def check_meter(self) -> None:
        moves = [event for event in self.events if "contribution" in event or "previous_position" in event]
        ceiling = self.opened.get("jackpot", {}).get("ceiling", INTEGER_MAX) * UNIT
        for earlier, event in pairwise([self.events[0], *moves]):
            if "previous_position" not in event:
                continue
            still = earlier.get("from_meter") == "0" and "restart" not in earlier  # the house alone paid
            since = earlier["previous_position"] if still else earlier.position if "seat" in earlier else 1
            certain = self.only is None and "seat" in earlier and adjacent(earlier, event)
            last = earlier.position if certain else event.position - 1
            previous = event["previous_position"]
            self.fields("jackpot.meter", event, previous_position=clamp(since, previous, last))
            if "order" in earlier and "order" in event:
                last = earlier["order"] + 1 if certain else INTEGER_MAX
                self.fields("jackpot.meter", event, order=clamp(earlier["order"] + 1, event["order"], last))
            if "seat" in earlier and (certain or previous == earlier.position):
                over, meter = earlier.get("overflow"), exact(event["meter_before"])
                high = INTEGER_MAX * UNIT if over == earlier.get("contribution") else ceiling
                must = earlier.get("meter_after", text_of(clamp(ceiling if over else 0, meter, high)))
                self.fields("jackpot.meter", event, meter_before=must)

    # ── void ────────────────────────────────────────────────────────────────────────────────────────────
    def check_void(self) -> None:
        must, cause = list[list[Any]](), self.once["RoundVoided"]["cause"]
        causes = [*self.rules["misdeal_causes"], "malfunction", "timeout" if self.seats else "expired"]
        self.check("void", "cause", causes, cause, ok=cause in causes)
        for number, seat in sorted(self.seats.items()):
            staked = self.stakes(seat)
            bets = [{"bet": bet, "stake": stake} for bet, stake in staked.items()]
            self.fields("void", seat["StakeRefunded"], amount=sum(staked.values()), bets=bets)
            if "SideBetPlaced_jackpot" in seat:
                must.append(["ContributionReversed", number])
                event, placed = seat["ContributionReversed"], seat["SideBetPlaced_jackpot"]
                over, aside = (exact(placed.get(name, "0")) for name in ("overflow", "diversion"))
                share, meter = exact(placed["contribution"]), exact(event["meter_before"])
                back = {"from_meter": min(meter, share - over)}
                back |= upto(event, from_overflow=over, from_diversion=aside)
                rest = {"amount": share + aside, "from_house": share + aside - sum(back.values())}
                self.fields("void", event, **texts(back | rest), jackpot_id=placed.get("jackpot_id"))
                self.fields("void", event, meter_after=text_of(meter - back["from_meter"]))
            must.append(["StakeRefunded", number])
        found = [[event.type, event["seat"]] for event in self.of("ContributionReversed", "StakeRefunded")]
        self.check("void", "order", must, found)

    # ── money ───────────────────────────────────────────────────────────────────────────────────────────
    def check_money(self) -> None:
        last, on_game, players, pot, step = dict[str, Event](), Counter[int](), 0, 0, "money.conservation"
        for event in self.events:
            wallet, staked, meter = movement(event)
            players, pot = players + wallet, pot + meter
            if "balance_after" in event:
                earlier = last.get(event["player"], self.opened)
                if "balance_after" in earlier and adjacent(earlier, event):
                    must = earlier["balance_after"] + wallet // UNIT
                    self.fields("money.balances", event, balance_after=must)
                last[event["player"]] = event
                on_game[event["seat"]] += staked
            if "from_house" in event:
                must = exact(str(event.get("award", event.get("amount"))))
                self.check(step, event, must, exact(event["from_house"]) + paid_out(event))
        for number, left in on_game.items():
            self.check(step, f"seat {number}: left on the game", 0, left)
        house = text_of(-players - pot)
        self.notes[step] = f"players {text_of(players)}, jackpot {text_of(pot)}, house {house}"


def movement(event: Event) -> tuple[int, int, int]:
    """Return what an event adds to the wallet, to the stakes on the game, and to the jackpot's pools."""
    if event.type in ("AntePlaced", "SideBetPlaced", "Raised", "CardExchanged"):
        stake = UNIT * int(event.get("amount", event.get("fee", 0)))
        return -stake, stake, sum(exact(event.get(part, "0")) for part in ("contribution", "diversion"))
    if event.type in ("Settled", "StakeRefunded"):  # a jackpot's award was paid by its JackpotHit
        won = sum(leg.get("won", 0) for leg in event["bets"] if leg["bet"] != "jackpot")
        back = sum(leg.get("returned", leg["stake"]) for leg in event["bets"])
        return UNIT * (back + won), -UNIT * sum(leg["stake"] for leg in event["bets"]), 0
    seed = exact(event.get("restart", "0")) - exact(event.get("restart_from_diversion", "0"))
    return UNIT * event.get("award", 0), 0, seed - paid_out(event)


def examine(raw: bytes) -> Round:
    """Run the steps on a file's bytes, later groups only after earlier ones passed. Raises nothing."""
    game = Round({})
    try:
        game = Round(load(raw))
        first = (game.check_form, game.check_rules, game.check_places, game.check_order, game.check_seats)
        for check in (*first, game.check_stakes):
            if game.verdict() == "verified":
                check()
        ending = game.check_void if "RoundVoided" in game.once else game.check_jackpot
        last = (game.check_commitment, game.check_cards, game.check_result, ending, game.check_meter)
        for check in (*last, game.check_money) if game.verdict() == "verified" else ():
            check()
    except Unusable as reason:
        game.unusable = str(reason)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, MemoryError) as fault:
        if game.verdict() == "verified":  # otherwise it is refuted already, and this is what follows from it
            game.unusable = f"not readable as evidence ({type(fault).__name__})"
    return game


# ── the report ──────────────────────────────────────────────────────────────────────────────────────────
def show(value: object) -> str:
    """Write any value in one short line of plain ASCII, whatever a file puts into it."""
    text = json.dumps(value, sort_keys=True, default=str)
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "..."


def report(game: Round) -> dict[str, Any]:
    found: dict[str, Any] = {"verdict": game.verdict(), "reason": game.unusable, "checks": {}}
    for step, says in STEPS.items():
        faults = [{"where": where, "expected": must, "found": it} for where, must, it in game.faults[step]]
        check = {"result": game.result(step), "says": says, "note": game.notes.get(step, "")}
        found["checks"][step] = check | {"compared": game.compared[step], "faults": faults}
    verified = game.verdict() == "verified"
    found["proved"] = [says for step, says in STEPS.items() if verified and game.result(step) == "PASS"]
    return found | {"recorded": RECORDED if verified else (), "not_covered": NOT_COVERED}


def lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield a report's lines for people."""
    for step, check in found["checks"].items():
        yield f"{check['result']}  {step:18}  {check['says']}" + f" [{check['note']}]" * bool(check["note"])
        for fault in check["faults"][:SHOWN_FAULTS]:
            where, must, there = (show(fault[key]) for key in ("where", "expected", "found"))
            yield f"        {where[1:-1]}: expected {must}, found {there}"
    titles = {"proved": "PROVED FROM THIS FILE", "recorded": "RECORDED BUT NOT DERIVABLE FROM IT"}
    for name in ("proved", "recorded", "not_covered"):
        yield from ["", titles.get(name, "NOT COVERED"), *(f"  - {line}" for line in found[name])]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("verify.py", description="Check the evidence of one finished round.")
    parser.add_argument("file", metavar="FILE", type=Path, help="from /v1/rounds/{id}/evidence")
    parser.add_argument("--json", action="store_true", help="print the report for machines")
    parser.add_argument("--quiet", action="store_true", help="print the verdict only")
    options, game = parser.parse_args(arguments), Round({})
    try:
        with options.file.open("rb") as stream:
            game = examine(stream.read(FILE_BYTES_MAX + 1))
    except (OSError, ValueError) as fault:
        game.unusable = f"the file cannot be opened ({type(fault).__name__})"
    why = game.unusable or ", ".join(step for step in STEPS if game.faults[step])
    text = [] if options.quiet or game.unusable else [*lines(report(game))]
    text.append("\n" * bool(text) + f"{game.verdict().upper()} {show(why)[1:-1]}".rstrip())
    try:
        print(json.dumps(report(game), indent=1) if options.json else "\n".join(text), flush=True)
    except OSError:  # whoever reads the report has gone: the exit code still tells
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ["verified", "refuted", "unusable"].index(game.verdict())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
