"""Check one finished round of Caribbean Stud Poker: alone, offline, without trusting whoever ran it.

    python3 -I verify.py FILE [--key VKEY]... [--witness VKEY]... [--since CHECKPOINT] [--jackpot DIR]
                              [--json | --quiet]        exit 0 verified, 1 refuted, 2 unusable

FILE is what the ledger answers at /v1/rounds/{id}/evidence: a round's events, its house's rules, its
jackpot's parameters, and the proof that the events are in the ledger's log. This needs Python 3.11 or later
and nothing else, was written from the published rules and standards, and shares no code with the ledger.
STEPS says what is checked. A step ends as PASS, FAIL (what was expected, what was found), OPEN (not decided
from what was given) or NONE (nothing of the kind was there, or an earlier failure left nothing to rest on).
Amounts are minor units (cents); those of a jackpot have up to four decimals. There are no floats anywhere.
"""
# ruff: noqa: D102, D103 - where a function's name and STEPS say it all, a sentence more would hide the others

import argparse
import base64
import hashlib
import hmac
import json
import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import reduce
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, Final

STEP_LINES: Final = """
file: its bytes are canonical JSON and have its SHA-256 | form: events have exactly the fields of their types
rules.house: the rules are those it was opened with | rules.jackpot: so are the jackpot's parameters
order.places: versions and positions count up, times grow, the events of a command stand together
order.phases: each event comes where it may, to the end | order.seats: a seat is one player's, and complete
stakes: every stake is offered and within limits, or the exact multiple, as is the jackpot's share
cards.commitment: the seed revealed is the one committed to before any stake
cards.places: cards come from where the house deals them | cards.deck: they are what the seed's deck has there
cards.unique: no card was there twice | result.dealer: the dealer's hand is, and qualifies or not, as given
result.seats: hands and results are as given, and every bet was paid by the rules, to the unit
jackpot.order: seats settled in order, awards before them, winners of the whole meter together
jackpot.awards: awards are right for the meter recorded before them, and so are the meters after them
jackpot.meter: the meter goes on, where nothing else can lie between
void: every stake of the void round came back, and every contribution left the jackpot
money.balances: balances go on, where nothing else can lie between
money.conservation: no money stays on the game, none appears and none disappears
log.signature: the log's key signed its checkpoint | log.witness: the witness saw it, and none against it
log.leaves: every event has its place and proof | log.inclusion: its bytes, or the hash of them, are there
log.consistency: since the earlier checkpoint the log only grew, and nothing before it was changed
log.jackpot: the copied log is the signed one, and in it the meter follows from the jackpot's opening
"""
STEPS: Final[dict[str, str]] = dict(re.findall(r"([a-z.]+): (.+?)(?: \||\n)", STEP_LINES))
RECORDED: Final = """times and positions (only that they grow), the gaming day, salts, hashes of answers
who: pseudonyms, sessions, channels, actors, commands; whether a decision was the player's own
wallet balances before the round, and wherever events outside this file may lie between
the table, its limits and caps; version numbers; names of software and generator; why a round was void
a jackpot's other pools; its meter, hits and last movement before the round's first award or reversal
the cards, where a physical table dealt""".split("\n")
NOT_COVERED: Final = """in one player's file: other players' events, which are withheld
that players could see rules and commitment before they staked, and corrections after the round
that the log shows everybody the same: for this compare a witness's or your own earlier checkpoint
without --key: whose key it is that signed; the one in the file shows nothing against its owner""".split("\n")
NO_LOG: Final = "log proof: this file has none, so nothing shows that its events are those in the log"
FILE_BYTES_MAX, ENTRY_BYTES_MAX, INTEGER_MAX, KEY_BYTES = 64 * 2**20, 65_535, 2**53 - 1, 32
HAND, WHOLE_METER, TILE, LOG, WITNESS, SHOWN_FAULTS, SHOWN_CHARACTERS = 5, 100, 256, 1, 4, 5, 300
OPTIONS: Final = {"signature": "key", "witness": "witness", "consistency": "since", "jackpot": "jackpot"}
NOTHING: Final = argparse.Namespace(key=[], witness=[], since="", jackpot=None)
ODD: Final = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError, MemoryError)
STAKING: Final = ("AntePlaced", "SideBetPlaced", "Raised")
RANKS, POOLS = "23456789TJQKA", ("meter", "overflow", "diversion")
DECK: Final = [rank + suit for rank in RANKS for suit in "cdhs"]
CATEGORIES: Final = """high_card pair two_pair three_of_a_kind straight flush full_house four_of_a_kind
    straight_flush royal_flush""".split()
NO_DECIMALS: Final = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"  # ISO 4217, and
THREE_DECIMALS: Final = "BHD IQD JOD KWD LYD OMR TND"  # all others have two
# The order of a round's events, each written as its name, `@seat` where it is of one, and a comma. In one
# player's file the events of others are withheld; they may stand where such events can be.
VOID: Final = r"RoundVoided,(?:(?:ContributionReversed|StakeRefunded)@\d+,|withheld,)*+"
ORDER: Final = re.compile(
    rf"""RoundOpened,(?:AntePlaced(@\d+),(?:SideBetPlaced_\w+\1,)*|withheld,)*+
    (?:{VOID}|BettingClosed,(?:{VOID}|(?:Dealt_shared,|(?:Dealt_seat@\d+,|withheld,)++)(?:Dealt_dealer,
    (?:(?:CardExchanged|Folded|Raised)@\d+,|withheld,)*+(?:DealerQualified,)?
    (?:{VOID}|(?:(?:JackpotHit|Settled)@\d+,|withheld,)++(?:RoundClosed,)?)?)?)?)?""",
    re.VERBOSE,
)
# What happens at one seat, in order: its bets, each once, its hand, and then one of two endings.
SEAT: Final = r"AntePlaced,(?:SideBetPlaced_(\w+),(?!.*SideBetPlaced_\1,))*"
PLAYED: Final = "(?:CardExchanged,)?(?:Folded|Raised),(?:JackpotHit,)?Settled,"
REFUNDED: Final = "(?:CardExchanged,)?(?:Folded,|Raised,)?(?:ContributionReversed,)?StakeRefunded,"
# What each event adds to a jackpot's pools and takes out of them; `to.` are those of the jackpot it goes to.
MOVE_LINES: Final = """
RoundOpened JackpotParametersScheduled JackpotParametersActivated meter+top_up JackpotOpened meter+reset
JackpotAdjusted pool+amount
SideBetPlaced meter+contribution meter-overflow overflow+overflow diversion+diversion
JackpotHit meter-from_meter meter+from_overflow overflow-from_overflow
    meter+restart diversion-restart_from_diversion
ContributionReversed meter-from_meter overflow-from_overflow diversion-from_diversion
JackpotTransferred meter-amount overflow-overflow diversion-diversion to.meter+amount to.meter-above_ceiling
    to.overflow+overflow to.overflow+above_ceiling to.diversion+diversion
"""
MOVES: Final = {
    kind: re.findall(r"(\S+)([+-])(\S+)", changes)
    for kind, changes in re.findall(r"([A-Z]\w+)([^A-Z]*)", MOVE_LINES)
}
# A shape is a name and its fields: `name:kind`, or `name` alone where the kind has the same name; with `?` in
# front where it may be absent. A kind is a shape, a list `[kind]`, a table by hand category `{kind}`, one of
# KINDS (a type, a range of whole numbers, or a regular expression), or a regular expression itself.
SHAPE_LINES: Final = """
File format:stud-ledger/evidence/[12] round_id player events:[object] ruleset:object ?jackpot:object
 currency:Currency ?log:Log ?sha256
Log origin:text keys:[text] checkpoint:prose proofs:[[hash]] earlier:Earlier
Earlier size root:hash proof:[hash]; Currency code exponent
Event data:object meta:Meta position recorded_at salt:[A-Za-z0-9_-]{22} stream type version
Meta actor:text command schema ?shown:[A-Za-z0-9_-]{43} ?trace:text
Withheld position stream version withheld:bool leaf_sha256:sha256
RoundOpened table_id ruleset:Ruleset currency:code account_class:real|test deal_source:rng|table
 gaming_day:text parameters:Table build:text ?deck_commitment:sha256 ?deck_algorithm:stud-deck-1 ?rng:text
 ?jackpot:Pot; Ruleset id version sha256
Pot id version sha256 contribution:share reset:sum ?ceiling:sum ?diversion:share
Table min_ante:amount max_ante:amount zone:text cutoff_hour:sum min_side_bet:sum max_side_bet:sum
 ?raise_win_cap:amount ?bonus_stake:amount ?decision_seconds:position
AntePlaced seat player amount balance_after ?session_id:text ?channel:text ?client_seed:text
SideBetPlaced seat player bet:kind amount balance_after ?contribution:exact ?jackpot_id ?overflow
 ?diversion:exact; BettingClosed seats:seat; RoundClosed ?deck_seed
Dealt to:seat|shared|dealer cards:[card] ?seat ?indices:[index] ?up_indices:[index]
CardExchanged seat player fee:amount discard:card drawn:card forfeited:[kind] decided_by balance_after
 ?burn_index:index ?drawn_index:index; Folded seat decided_by:player|timeout|operator
Raised seat player amount decided_by balance_after
DealerQualified cards:[card] category qualified:bool ?indices:[index]
Settled seat player result:text bets:[Leg] shown:bool balance_after category
Leg bet:text stake:amount returned:sum won:sum ?odds; Refund bet:text stake:amount
JackpotHit seat player jackpot_id category award:sum from_meter from_house meter_before meter_after
 order:position previous_position balance_after ?restart ?restart_from_diversion ?from_overflow
ContributionReversed seat player jackpot_id amount:exact from_meter from_house meter_before meter_after
 previous_position ?from_overflow ?from_diversion
StakeRefunded seat player amount bets:[Refund] balance_after
RoundVoided cause:text ?deck_seed ?note_sha256:sha256
RuleSet id title:prose source:prose currencies:[code] ?max_ante:units seating:Seating deal:Deal play:Play
 qualify:[a-z_]+ raise_pays:{odds} ?raise_cap:Cap side_bets:[SideBet] ?exchange:Exchange
 misdeal_causes:[text] void_policy:refund_all rounding:down names:object readings:[object]
Seating seats:seat hands_per_player:seat shared_player_hand:bool
Deal pattern:round_robin|block player_cards:up|down dealer_up_indices:[index]
Play raise_multiple:seat decision_order:any|seat on_timeout:fold|void reveal_if_all_fold:bool
 show_hands:all|called|jackpot_when_not_qualified settlement_order:(seat)
SideBet kind stake:free|table|[0-9.]+ basis:to_1|for_1 survives_fold:bool needs_dealer_to_qualify:bool
 pays:{odds} awards:{Award}; Award ?percent ?fixed:units funding:meter|house
Cap scope:raise_per_hand|aggregate ?amount:units; Exchange fee_antes:seat burn:per_exchange forfeits:[kind]
"""
SHAPES: Final = {  # of each shape the fields and their kinds, with `?` where one may be absent
    shape: {name: may + (kind or name) for may, name, kind in re.findall(r"(\??)(\w+):?(\S*)", fields)}
    for shape, fields in re.findall(r"(\w+) ([^;\n]+(?:\n [^;\n]+)*)", SHAPE_LINES)
}
EXACT: Final = r"(0|[1-9][0-9]{0,15})(\.[0-9]{0,3}[1-9])?"
RULES: Final[dict[str, Any]] = {
    "bool": bool, "object": dict, "no_such_field": (), "exponent": range(5), "index": range(52),
    "odds": range(1, 10**5 + 1), "percent": range(1, 101), "schema": range(1, 2), "seat": range(1, 5001),
    "position previous_position version": range(1, INTEGER_MAX + 1), "size": range(INTEGER_MAX + 1),
    "amount": range(1, 10**12 + 1), "sum balance_after": range(9 * 10**15 + 1), "code": "[A-Z]{3}",
    "exact from_house from_meter from_overflow from_diversion meter_before meter_after overflow restart "
    "restart_from_diversion": EXACT, "card": f"[{RANKS}][cdhs]", "deck_seed": "[0-9a-f]{96}",
    "decided_by": "player|operator", "hash": "[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=",
    "id player command round_id table_id jackpot_id": "[A-Za-z0-9._-]{1,64}",
    "kind": "jackpot|five_plus_one|bonus", "sha256": "[0-9a-f]{64}", "share": r"(0|1)(\.[0-9]{1,4})?",
    "recorded_at": r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z",
    "prose": "(?s:.*)", "stream": "round-[A-Za-z0-9._-]{1,64}",
    "text category": "[^\x00-\x1f\x7f\ud800-\udfff]{1,600}",
    "type": "|".join(re.findall("[A-Z][A-Za-z]+", ORDER.pattern)), "units": r"[0-9]{1,12}(\.[0-9]{1,3})?",
}  # fmt: skip
KINDS: Final = {kind: rule for kinds, rule in RULES.items() for kind in kinds.split()}
Fault = tuple[str, object, object]  # where, what was expected, what was found


class Unusable(Exception):
    """The file is not evidence that this program can read."""


class Event(dict[str, Any]):
    """An event's data, with its place in the ledger; of a withheld event only the place is known."""

    def __init__(self, entry: dict[str, Any]) -> None:
        self.type, self.version, self.position = entry.get("type", ""), entry["version"], entry["position"]
        self.time, self.command = entry.get("recorded_at", ""), entry.get("meta", {}).get("command", "")
        data, shape = entry.get("data", {}), SHAPES.get(self.type, {})
        exact = {name for name, kind in shape.items() if KINDS.get(kind.strip("?")) == EXACT} & data.keys()
        super().__init__({**data, **{name: Decimal(data[name]) for name in exact}})
        detail = {"SideBetPlaced": self.get("bet"), "Dealt": self.get("to")}.get(self.type)
        self.name = f"{self.type}_{detail}" if detail else self.type or "withheld"
        self.place = f"{self.name}@{self['seat']}" if "seat" in self else self.name
        self.stake = self.get("fee", self["amount"] if self.type in STAKING else 0)
        self.apart = self.position - self.version  # alike where no event outside this file can lie between

    def __str__(self) -> str:
        return f"event {self.version} ({self.place.replace('@', ', seat ')})"


# ── Reading ─────────────────────────────────────────────────────────────────────────────────────────────
def unlike(value: Any, kind: str, path: str) -> Iterator[Fault]:
    """Yield every difference between a JSON value and the kind it must be."""
    shape = dict.fromkeys(CATEGORIES, f"?{kind[1:-1]}") if kind[0] == "{" else SHAPES.get(kind)
    many = kind[0] + kind[-1] == "[]"
    rule = KINDS.get(kind, () if shape or many else kind)  # a type, a range, or a regular expression
    of: Any = str if isinstance(rule, str) else int if isinstance(rule, range) else rule
    if shape and isinstance(value, dict):
        needed = [name for name, inner in shape.items() if inner[0] != "?"]
        for name in {**dict.fromkeys(needed), **value}:
            yield from unlike(value.get(name), shape.get(name, "no_such_field").strip("?"), f"{path}.{name}")
    elif many and isinstance(value, list):
        for number, item in enumerate(value):
            yield from unlike(item, kind[1:-1], f"{path}[{number}]")
    elif type(value) is not of or not (
        re.fullmatch(rule, value) if of is str else of is not int or value in rule
    ):
        yield path, kind, value


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
    file: dict[str, Any] = json.loads(raw.decode(), object_pairs_hook=unique, **hooks)
    for where, must, found in unlike(file, "File", "file"):
        if where != "file.player" or found is not None or "player" not in file:  # null: everybody's file
            raise Unusable(f"{where}: expected {must}, found {show(found)}")
    if file.keys() & {"log", "sha256"} != ({"log", "sha256"} if file["format"][-1] == "2" else set()):
        raise Unusable("a file of format 2 has `log` and `sha256`, and one of format 1 neither")
    return file


def canonical(value: Any) -> bytes:
    """Return a value's canonical JSON (RFC 8785, for values without floats)."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: str(name).encode("utf-16be"))
        return b"{%b}" % b",".join(b"%b:%b" % (canonical(name), canonical(value[name])) for name in names)
    if isinstance(value, list):
        return b"[%b]" % b",".join(map(canonical, value))
    return json.dumps(value, ensure_ascii=False).encode()


def hash_of(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def digest(value: object) -> str:
    return hash_of(canonical(value)).hex()


def clamp(low: Any, amount: Any, high: Any) -> Any:
    """Return the amount if it is within bounds, else the bound that it breaks."""
    return max(low, min(amount, high))


def upto(event: Event, **limits: Any) -> dict[str, Any]:
    """Return what an event took from pools that no round shows, each at most what it may be."""
    return {name: clamp(0, event.get(name, 0), limit) for name, limit in limits.items()}


def moves(kind: str, data: dict[str, Any]) -> dict[str, Decimal]:
    """Return what an event changes in a jackpot's pools."""
    changes = defaultdict[str, Decimal](Decimal)
    for pool, sign, field in MOVES.get(kind, ()):
        changes[data["pool"] if pool == "pool" else pool] += Decimal(data.get(field, 0)) * int(sign + "1")
    return changes


# ── Cards ───────────────────────────────────────────────────────────────────────────────────────────────
def lp(*parts: bytes) -> bytes:
    """Join parts, each behind its length as four big-endian bytes."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def random_bytes(seed: bytes, personalization: bytes, blocks: int = 2) -> Iterator[int]:
    """Yield the bytes of HMAC_DRBG with SHA-256 (NIST SP 800-90A Rev. 1, 10.1.2), asked for 64 at once."""
    key, value, separators, data = bytes(32), b"\x01" * 32, b"\x00\x01", seed + personalization
    while True:  # begin with 32 bytes of entropy and 16 of nonce, go on without more
        for separator in separators:
            key = hmac.digest(key, value + bytes([separator]) + data, "sha256")
            value = hmac.digest(key, value, "sha256")
        for _ in range(blocks):
            value = hmac.digest(key, value, "sha256")
            yield from value
        separators, data = b"\x00", b""


def shuffled(seed: bytes, personalization: bytes) -> list[str]:
    """Return the deck: Fisher-Yates from the front, skipping bytes that would favour some cards."""
    stream, deck = random_bytes(seed, personalization), list(DECK)
    for left in range(52, 1, -1):
        j = 52 - left + next(byte for byte in stream if byte < 256 - 256 % left) % left
        deck[52 - left], deck[j] = deck[j], deck[52 - left]
    return deck


def rank(cards: Sequence[str]) -> tuple[int, list[int]]:
    """Return the worth of five cards: the category, 0 to 9, then the ranks that break a tie."""
    ranks = sorted((RANKS.index(card[0]) for card in cards), reverse=True)
    ranks = [3, 2, 1, 0, -1] if ranks == [12, 3, 2, 1, 0] else ranks  # a straight to the five: the ace is low
    groups = sorted(((count, value) for value, count in Counter(ranks).items()), reverse=True)
    flush = len({card[1] for card in cards}) == 1
    shapes = {(2, 1, 1, 1): 1, (2, 2, 1): 2, (3, 1, 1): 3, (3, 2): 6, (4, 1): 7}
    worth = 5 if flush else shapes.get(tuple(count for count, _ in groups), 0)
    if len(groups) == HAND and ranks[0] - ranks[-1] == HAND - 1:
        worth = 4 if not flush else 9 if RANKS[ranks[0]] == "A" else 8
    return worth, [value for _, value in groups]


def category(cards: Sequence[str]) -> str:
    """Return the category of the best five of five or six cards."""
    fives = [cards] if len(cards) == HAND else combinations(cards, len(cards) - 1)
    return CATEGORIES[max(map(rank, fives))[0]]


# ── Ed25519 (RFC 8032, 5.1) ─────────────────────────────────────────────────────────────────────────────
Point = tuple[int, int, int, int]  # X, Y, Z, T: x = X/Z, y = Y/Z, xy = T/Z (5.1.4)
P, BASE_ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D, ROOT_OF_MINUS_1 = -121665 * pow(121666, -1, P) % P, pow(2, (P - 1) // 4, P)


def point(raw: bytes) -> Point:
    """Decode a point (5.1.3); raise ValueError for what is none, or another spelling of one."""
    y, odd = int.from_bytes(raw, "little") % 2**255, raw[31] >> 7
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * ROOT_OF_MINUS_1 % P
    if len(raw) != KEY_BYTES or y >= P or x * x % P != square or (odd and not x):
        raise ValueError("not a point of the curve")
    x = x if x % 2 == odd else P - x
    return x, y, 1, x * y % P


def plus(one: Point, other: Point) -> Point:
    (x, y, z, t), (u, v, w, s) = one, other
    a, b, c, d = (y - x) * (v - u), (y + x) * (v + u), 2 * D * t * s % P, 2 * z * w
    return (b - a) * (d - c) % P, (d + c) * (b + a) % P, (d - c) * (d + c) % P, (b - a) * (b + a) % P


def times(scalar: int, base: Point) -> Point:
    total = (0, 1, 1, 0)
    for bit in f"{scalar:b}":
        total = plus(total, total)
        total = plus(total, base) if bit == "1" else total
    return total


def signed(public: bytes, message: bytes, signature: bytes) -> bool:
    """Verify a signature (5.1.7): S below the order, every point in its only spelling, no weak key."""
    try:
        key, s = point(public), int.from_bytes(signature[32:], "little")
    except (ValueError, IndexError):
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % BASE_ORDER
    x, y, z, _ = plus(times(s % BASE_ORDER, BASE), times(8 * BASE_ORDER - k, key))  # the base's s less k keys
    r = y * pow(z, -1, P) % P | (x * pow(z, -1, P) % P & 1) << 255
    sound = len(signature) == 2 * KEY_BYTES and s < BASE_ORDER and times(8, key)[0]
    return bool(sound) and r.to_bytes(32, "little") == signature[:32]


BASE = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


# ── The log (C2SP signed-note, tlog-checkpoint, tlog-cosignature, tlog-tiles; RFC 6962 and 9162, 2.1) ───
def unbase(text: str) -> bytes:
    """Decode base64 in its only spelling; raise ValueError for another."""
    if base64.b64encode(raw := base64.b64decode(text, validate=True)) != text.encode():
        raise ValueError("not base64")
    return raw


class Checkpoint:
    """What a log says of itself at one time, and who signed that."""

    def __init__(self, note: str) -> None:
        head, line = "((.+)\n(0|[1-9][0-9]{0,15})\n(.{44})\n(?:.+\n)*)\n", "\u2014 ([^ \n]+) ([^ \n]+)\n"
        if not (found := re.fullmatch(f"{head}((?:{line}){{1,64}})", note)):
            raise Unusable("what should be a checkpoint is no signed note of one")
        self.body, self.origin, self.size, self.root = found[1], found[2], int(found[3]), unbase(found[4])
        self.signatures = re.findall(line, found[5])

    def signed(self, vkey: str, kind: int) -> int | None:
        """Return when a key signed, None if it did not. `kind` 1 is a log, at no time; 4 is a witness."""
        found = re.fullmatch(r"([^ +]+)\+([0-9a-f]{8})\+(.{44})", vkey)
        key = unbase(found[3]) if found else b""
        if not found or key[0] != kind or hash_of(found[1].encode(), b"\n", key)[:4].hex() != found[2]:
            raise Unusable(f"not the key of a {'log' if kind == LOG else 'witness'}: {show(vkey)}")
        lines = [unbase(text) for name, text in self.signatures if name == found[1]]
        signature = next((line[4:] for line in lines if line[:4].hex() == found[2]), b"")
        stamp = signature[:8] if kind == WITNESS else b""
        time = int.from_bytes(stamp, "big")
        message = f"cosignature/v1\ntime {time}\n{self.body}" if stamp else self.body
        return time if signed(key[1:], message.encode(), signature[len(stamp) :]) else None


def climb(end: int, size: int, root: bytes, leaf: bytes, proof: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Return the roots of trees of `end` and `size` entries that a proof leads to from the leaf before `end`.

    Without a leaf it is a consistency proof, from the old root, or its first hash where that is no subtree.
    """
    if size == 1 or not proof or (end >= size and not leaf):
        whole = end == size and (size == 1 or not leaf)
        return (b"".join([leaf or root, *proof]),) * 2 if whole else (b"", b"")
    split, (*below, beside) = 1 << (size - 1).bit_length() - 1, proof
    if end <= split:
        one, two = climb(end, split, root, leaf, below)
        return one, hash_of(b"\x01", two, beside)
    one, two = climb(end - split, size - split, b"", leaf, below)
    return hash_of(b"\x01", beside, one), hash_of(b"\x01", beside, two)


def root_of(leaves: Iterable[bytes]) -> bytes:
    """Return the root of the tree over leaf hashes, keeping no more than one hash of each size of subtree."""
    levels = [b""] * 64
    for leaf in leaves:
        level, top = 0, leaf
        while levels[level]:
            levels[level], level, top = b"", level + 1, hash_of(b"\x01", levels[level], top)
        levels[level] = top
    return reduce(lambda root, left: hash_of(b"\x01", left, root), [*filter(None, levels)] or [hash_of()])


def entries(folder: Path, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield every leaf's hash out of a copied log's files, and its bytes where the copy has them."""
    for number in range(-(-size // TILE)):
        width, at, tiles = min(TILE, size - number * TILE), 0, []
        *above, name = (part.zfill(3) for part in f"{number:,}".split(","))
        for kind in ("entries", "0"):
            whole = folder.joinpath("tile", kind, *(f"x{part}" for part in above), name)
            wide = (
                part
                for part in whole.with_name(f"{name}.p").glob("*")
                if part.name.isdecimal() and int(part.name) >= width
            )
            tiles.append(next((path.read_bytes() for path in (whole, *wide) if path.is_file()), b""))
        bundle, hashes = tiles
        for place in range(width):
            end = at + 2 + int.from_bytes(bundle[at : at + 2], "big")
            entry, at = bundle[at + 2 : end], end
            yield hash_of(b"\x00", entry) if bundle else hashes[32 * place : 32 * place + 32], entry


class Round:
    """A round as a file tells it, and what each step compared and found wrong."""

    def __init__(self, file: dict[str, Any]) -> None:
        self.file, self.rules, self.only = file, file.get("ruleset", {}), file.get("player")
        self.events: list[Event] = []
        self.once: dict[str, Event] = {}  # what happened at no seat, each name once
        self.seats: dict[int, dict[str, Event]] = defaultdict(dict)  # and at each seat
        self.deck, self.hands, self.unusable = list[str](), 0, ""  # `hands`: dealt to players
        self.compared, self.open, self.notes = Counter[str](), set[str](), dict[str, str]()
        self.faults: dict[str, list[Fault]] = {step: [] for step in STEPS}

    def check(self, step: str, where: object, must: object, found: object, *, ok: object = ...) -> None:
        """Compare what must be with what is there; where `ok` decides, `must` only describes."""
        self.compared[step] += 1
        if not (must == found if ok is ... else ok):
            self.faults[step].append((str(where), must, found))

    def fields(self, step: str, event: Event, **must: object) -> None:
        """Compare fields of an event; None stands for an absent one, as does nothing in another pool."""
        for name, value in must.items():
            none = value == 0 and name.endswith(("contribution", "overflow", "diversion"))
            self.check(step, f"{event}: {name}", None if none else value, event.get(name))

    def result(self, step: str) -> str:
        passed = "OPEN" if step in self.open else "PASS" if self.compared[step] else "NONE"
        return "FAIL" if self.faults[step] else passed

    def verdict(self, but: str = "-") -> str:
        """Tell what follows from all steps, but for those whose names begin so."""
        wrong = any(faults for step, faults in self.faults.items() if not step.startswith(but))
        return "unusable" if self.unusable else "refuted" if wrong else "verified"

    def of(self, *types: str) -> list[Event]:
        return [event for event in self.events if event.type in types]

    def minor(self, units: str) -> int:
        """Return whole currency units, given as text, in minor units."""
        amount = Decimal(units).scaleb(self.file["currency"]["exponent"])
        if amount % 1:
            raise Unusable(f"the currency has no amount of {units}")
        return int(amount)

    def check_form(self, raw: bytes) -> None:
        if "sha256" in self.file:
            rest = raw[: raw.rfind(b',"sha256":')]  # which is the last part, where the bytes are canonical
            self.check("file", "SHA-256 of the rest", hash_of(rest, b"}").hex(), self.file["sha256"])
            self.check("file", "bytes", "canonical JSON", "another spelling", ok=raw == canonical(self.file))
        for number, entry in enumerate(self.file["events"], start=1):
            shape, where = "Withheld" if entry.get("withheld") is True else "Event", f"event {number}"
            faults = [*unlike(entry, shape, where)]
            if shape == "Event" and not faults:
                faults += unlike(entry["data"], entry["type"], f"{where} ({entry['type']})")
            self.faults["form"] += faults
            self.events += [] if faults else [Event(entry)]
        self.opened = (self.events or [Event({"version": 0, "position": 0})])[0]
        self.check("form", "first event", "RoundOpened", self.opened.type)

    def check_rules(self) -> None:
        step, opened, rules, code = "rules.house", self.opened, self.rules, self.file["currency"]["code"]
        self.faults[step] += unlike(rules, "RuleSet", "ruleset")
        decimals = 2 - 2 * (code in NO_DECIMALS) + (code in THREE_DECIMALS)
        self.check(step, "id", opened["ruleset"]["id"], rules.get("id"))
        self.check(step, "SHA-256", opened["ruleset"]["sha256"], digest(rules))
        self.check(step, "currency", opened["currency"], code)
        self.check(step, "currency of the house, once", 1, rules.get("currencies", []).count(code))
        self.check(step, "decimals (ISO 4217)", decimals, self.file["currency"]["exponent"])
        if "jackpot" in opened or "jackpot" in self.file:
            pot = {"id": None, "sha256": None, **opened.get("jackpot", {}), "currency": code}
            pot["jackpot_id"], sha256 = pot.pop("id"), pot.pop("sha256")
            self.check("rules.jackpot", "parameters", pot, self.file.get("jackpot"))
            self.check("rules.jackpot", "SHA-256", sha256, digest(pot))

    def check_places(self) -> None:
        step, stream, commands = "order.places", f"round-{self.file['round_id']}", {self.opened.command}
        for number, (entry, event) in enumerate(zip(self.file["events"], self.events, strict=True), start=1):
            self.check(step, event, [stream, number], [entry["stream"], event.version])
            self.check(step, event, "not in everybody's file", event.name, ok=event.type or self.only)
        for one, event in pairwise(self.events):
            self.check(step, f"{event}: position", max(one.position + 1, event.position), event.position)
        for one, event in pairwise(event for event in self.events if event.type):
            self.check(step, f"{event}: time", f"> {one.time}", event.time, ok=event.time > one.time)
            ahead = event.version - one.version  # a restart, seen or not, may let new parameters come
            near = event.position - one.position <= ahead + ("restart" in one or ahead > 1)
            ok = near if event.command == one.command else event.command not in commands
            self.check(step, f"{event}: command", "beside its other events", event.command, ok=ok)
            commands.add(event.command)

    def check_order(self) -> None:
        """Hold the events against the order of a round, and those of each seat against a seat's."""
        legal = ORDER.match("".join(f"{event.place}," for event in self.events))
        rest = self.events[legal.group().count(",") if legal else 0 :]
        ok = not rest and self.of("RoundClosed", "RoundVoided")
        found = [event.place for event in rest[:1]]
        self.check("order.phases", [*rest, "end"][0], "the events of a round, in order", found, ok=ok)
        for event in self.events:
            (self.seats[event["seat"]] if "seat" in event else self.once).setdefault(event.name, event)
        step, seating, dealt = "order.seats", self.rules["seating"], "Dealt_dealer" in self.once
        shared = seating["shared_player_hand"]
        self.check(step, "a shared hand", dealt and shared, "Dealt_shared" in self.once)
        story = SEAT + "Dealt_seat," * (dealt and not shared)
        story += REFUNDED if "RoundVoided" in self.once else PLAYED
        for number in self.seats:
            events = [event for event in self.events if event.get("seat") == number]
            told = "".join(f"{event.name}," for event in events)
            legal = re.fullmatch(story, told) if number <= seating["seats"] else None
            self.check(step, f"seat {number}", story, told, ok=legal)
            players = {event["player"] for event in events if "player" in event}
            self.check(step, f"seat {number}: players", 1, len(players))

    def check_seats(self) -> None:
        once, seats, play, step = self.once, self.seats.values(), self.rules["play"], "order.seats"
        players = Counter(seat["AntePlaced"]["player"] for seat in seats)
        self.check(step, "players", [self.only] if self.only else [*players], [*players])
        most = max([0, *players.values()])
        self.check(step, "seats of a player", min(most, self.rules["seating"]["hands_per_player"]), most)
        turns = [event["seat"] for event in self.of("CardExchanged", "Folded", "Raised")]
        self.check(step, "turns", sorted(turns) if play["decision_order"] == "seat" else turns, turns)
        timed = play["on_timeout"] == "fold" and "decision_seconds" in self.opened["parameters"]
        late = [str(event) for event in self.of("Folded") if event["decided_by"] == "timeout"]
        self.check(step, "time-outs", late if timed else [], late)
        for event in self.of("BettingClosed"):
            unseen = sum(not earlier.type for earlier in self.events[: event.version])
            self.fields(step, event, seats=clamp(len(seats), event["seats"], len(seats) + unseen))
            self.hands = 1 if self.rules["seating"]["shared_player_hand"] else event["seats"]
        revealed = play["reveal_if_all_fold"] or any("Raised" in seat for seat in seats)
        if "RoundVoided" not in once and (revealed or self.only is None):  # others' raises may be withheld
            self.check(step, "the dealer's hand revealed", revealed, "DealerQualified" in once)

    def check_stakes(self) -> None:
        table, pot, rules = self.opened["parameters"], self.opened.get("jackpot", {}), self.rules
        high = min(table["max_ante"], self.minor(rules.get("max_ante", "999999999")))
        fee_antes = rules.get("exchange", {"fee_antes": 0})["fee_antes"]  # no stake is 0: 0 is not offered
        offered = {bet["kind"]: bet["stake"] for bet in rules["side_bets"] if pot or bet["kind"] != "jackpot"}
        for event in self.of("AntePlaced", "Raised", "CardExchanged"):
            ante = self.seats[event["seat"]]["AntePlaced"].stake
            must = {"Raised": ante * rules["play"]["raise_multiple"], "CardExchanged": ante * fee_antes}
            stake = must.get(event.type, clamp(table["min_ante"], ante, high))
            self.check("stakes", f"{event}: amount", stake, event.stake)
        for event in self.of("SideBetPlaced"):
            stake, low, high = offered.get(event["bet"], "0"), table["min_side_bet"], table["max_side_bet"]
            if stake != "free":
                low = high = table["bonus_stake"] if stake == "table" else self.minor(stake)
            jackpot = pot if event["bet"] == "jackpot" else {}
            share, aside = (
                Decimal(jackpot.get(key, 0)) * event.stake for key in ("contribution", "diversion")
            )
            pools = upto(event, overflow=share if "ceiling" in jackpot else 0) | {"diversion": aside}
            pools |= {"contribution": share, "jackpot_id": jackpot.get("id")}
            self.fields("stakes", event, **pools, amount=clamp(low, event.stake, high))

    def stakes(self, seat: dict[str, Event]) -> dict[str, int]:
        """Return all that a seat staked, in the order in which bets are listed."""
        names = {"ante": "AntePlaced", "raise": "Raised", "exchange_fee": "CardExchanged"}
        names |= {bet["kind"]: f"SideBetPlaced_{bet['kind']}" for bet in self.rules["side_bets"]}
        return {bet: seat[name].stake for bet, name in names.items() if name in seat}

    def check_commitment(self) -> None:
        opened, step, house = self.opened, "cards.commitment", bytes.fromhex(self.opened["ruleset"]["sha256"])
        facts = {**opened, **self.once.get("RoundClosed", {}), **self.once.get("RoundVoided", {})}
        names, source = ["deck_commitment", "deck_algorithm", "rng", "deck_seed"], opened["deal_source"]
        must, has = names if source == "rng" else [], [name for name in names if name in facts]
        if must != has or not has:
            self.notes[step] = "no commitment: a physical table dealt"
            self.faults[step] += [] if must == has else [(f"a deck from {source}", must, has)]
            return
        seed, name, personal = bytes.fromhex(facts["deck_seed"]), self.file["round_id"].encode(), b""
        made = hash_of(lp(b"stud-ledger/deck-commitment/1", seed, name, house)).hex()
        self.fields(step, opened, deck_commitment=made)
        antes = [seat["AntePlaced"] for _, seat in sorted(self.seats.items())]
        for ante in antes:
            self.check(step, f"{ante}: position", max(ante.position, opened.position + 1), ante.position)
            if "client_seed" in ante:
                ok = ante.command != opened.command
                self.check(step, ante, "a client seed after the commitment", "one with it", ok=ok)
                personal += lp(b"%d" % ante["seat"], ante["client_seed"].encode())
        together = any(ante.command == opened.command for ante in antes)
        self.notes[step] = "same_command" if together else "before_stake" if antes else "no stake"
        self.deck = shuffled(seed, lp(b"stud-deck-1", name, house) + personal)

    def check_cards(self) -> None:
        """Hold every card that was dealt or bought against the place in the deck that it comes from."""
        if "Dealt_dealer" not in self.once:
            return
        step, deal, betting = "cards.places", self.rules["deal"], self.once["BettingClosed"]
        came: list[tuple[Event, int, str]] = []
        hands, reveal = self.of("Dealt"), self.of("DealerQualified")
        first, count, ups = betting.version + 1, self.hands, deal["dealer_up_indices"]
        seats = [event["seat"] for event in hands if "seat" in event]
        self.check(step, "order of seats", sorted(seats), seats)
        self.check(step, "hands before the dealer's", count, hands[-1].version - first)
        for event in [*hands, *reveal]:
            up = ups if event.name == "Dealt_dealer" else None
            hand = count if up or event in reveal else event.version - first
            block = deal["pattern"] == "block"
            places = [HAND * hand + k if block else k * (count + 1) + hand for k in up or range(HAND)]
            self.fields(step, event, indices=places if self.deck else None, up_indices=up)
            self.check(step, f"{event}: number of cards", len(places), len(event["cards"]))
            came += zip([event] * HAND, places, event["cards"], strict=False)
        burn = HAND * (count + 1)  # the next undealt card is burned, the one after it drawn
        for event in self.of("CardExchanged"):
            seat, given = self.seats[event["seat"]], event.get("burn_index", 0)
            lost = [kind for kind in self.rules["exchange"]["forfeits"] if f"SideBetPlaced_{kind}" in seat]
            self.check(step, f"{event}: bets taken", sorted(lost), sorted(event["forfeited"]))
            self.check(step, f"{event}: in the hand then", 1, self.hand(seat).count(event["drawn"]))
            if self.only is not None and given % 2 == burn % 2:
                burn = max(burn, given)  # others, not seen here, may have bought before
            places = [burn, burn + 1] if self.deck else [None, None]
            self.fields(step, event, burn_index=places[0], drawn_index=places[1])
            came.append((event, burn + 1, event["drawn"]))
            burn += 2
        dealt = {place: card for _, place, card in came}
        self.check(step, "up-cards", [], [str(event) for event, place, card in came if dealt[place] != card])
        twice = [card for card, count in Counter(dealt.values()).items() if count > 1]
        self.check("cards.unique", "cards there twice", [], twice)
        wrong = sum(self.deck[place : place + 1] != [card] for _, place, card in came)
        if wrong * 2 > len(came) and self.deck and len(self.seats) < betting["seats"]:
            self.open.add("cards.deck")
            self.notes["cards.deck"] = "other players' withheld client seeds may have changed the deck"
        for event, place, card in came if self.deck and "cards.deck" not in self.open else ():
            self.check("cards.deck", f"{event}: place {place}", self.deck[place : place + 1], [card])

    def hand(self, seat: dict[str, Event]) -> list[str]:
        """Return the cards that a seat ended with."""
        cards, trade = self.once.get("Dealt_shared") or seat["Dealt_seat"], seat.get("CardExchanged")
        return [trade["drawn"] if trade and card == trade["discard"] else card for card in cards["cards"]]

    def plays(self) -> bool:
        """Tell whether the dealer's hand was revealed and qualifies."""
        dealer, least = self.once.get("DealerQualified"), self.rules["qualify"]
        floor = (0, [12, 11]) if not dealer or least == "ace_king" else (CATEGORIES.index(least), [])
        return dealer is not None and rank(dealer["cards"]) >= floor

    def outcome(self, seat: dict[str, Event]) -> str:
        if "Folded" in seat or not self.plays():
            return "folded" if "Folded" in seat else "dealer_not_qualified"
        mine, dealers = rank(self.hand(seat)), rank(self.once["DealerQualified"]["cards"])
        return "push" if mine == dealers else "win" if mine > dealers else "lose"

    def prize(self, seat: dict[str, Event], kind: str) -> dict[str, Any]:
        """Return what a side bet's rules give for a seat's cards: odds, an award, or {} for nothing."""
        bet: dict[str, Any] = next((bet for bet in self.rules["side_bets"] if bet["kind"] == kind), {})
        taken = "CardExchanged" in seat and kind in self.rules["exchange"]["forfeits"]
        if f"SideBetPlaced_{kind}" not in seat or taken or ("Folded" in seat and not bet["survives_fold"]):
            return {}
        if bet["needs_dealer_to_qualify"] and not self.plays():
            return {}
        if kind == "five_plus_one":
            six = category([*self.hand(seat), self.once["Dealt_dealer"]["cards"][0]])
            return {"odds": bet["pays"][six]} if six in bet["pays"] else {}
        return dict(bet["awards"].get(category(self.hand(seat)), {}))

    def leg(self, seat: dict[str, Event], bet: str, stake: int, cap: int) -> dict[str, Any]:
        """Return what a bet must do. A raise wins at most `cap`; a jackpot's award is checked by itself."""
        result, odds, given = self.outcome(seat), 0, self.prize(seat, bet)
        if result == "win" or (result, bet) == ("dealer_not_qualified", "ante"):
            odds = {"ante": 1, "raise": self.rules["raise_pays"][category(self.hand(seat))]}.get(bet, 0)
        odds = given.get("odds", odds)
        back = bet in ("ante", "raise") and result in ("win", "push", "dealer_not_qualified")
        won = min(stake * odds, cap) if bet == "raise" else stake * odds
        if given and bet != "five_plus_one":
            hit = seat.get("JackpotHit", {"award": 0})
            won = self.minor(given["fixed"]) if bet == "bonus" else hit["award"]
        figures = {"bet": bet, "stake": stake, "returned": stake * (back or "odds" in given), "won": won}
        return figures | {"odds": odds} if odds and won else figures

    def check_result(self) -> None:
        plays, limit, policy = self.plays(), self.rules.get("raise_cap", {}), self.rules["play"]["show_hands"]
        cap, raised, table = INTEGER_MAX, Counter[str](), self.opened["parameters"]
        if limit:
            cap = self.minor(limit["amount"]) if "amount" in limit else table["raise_win_cap"]
        for event in self.of("DealerQualified"):
            self.fields("result.dealer", event, category=category(event["cards"]), qualified=plays)
        for event in self.of("Settled"):
            seat, player = self.seats[event["seat"]], event["player"]
            room = cap - raised[player] if limit.get("scope") == "aggregate" else cap
            jackpot_only = policy == "jackpot_when_not_qualified" and not plays
            bets = [self.leg(seat, bet, stake, room) for bet, stake in self.stakes(seat).items()]
            raised[player] += sum(leg["won"] for leg in bets if leg["bet"] == "raise")
            shown = "Raised" in seat and (not jackpot_only or "SideBetPlaced_jackpot" in seat)
            fields = {"category": category(self.hand(seat)), "result": self.outcome(seat)}
            self.fields("result.seats", event, **fields, shown=policy == "all" or shown, bets=bets)

    def check_jackpot(self) -> None:
        owed = {number: self.prize(seat, "jackpot") for number, seat in sorted(self.seats.items())}
        whole = [number for number, given in owed.items() if given.get("percent") == WHOLE_METER]
        hits = [(whole[0] if seat in whole else seat, "JackpotHit", seat) for seat in owed if owed[seat]]
        must = [list(line[1:]) for line in sorted([*hits, *((seat, "Settled", seat) for seat in owed)])]
        found = [[event.type, event["seat"]] for event in self.of("JackpotHit", "Settled")]
        if self.only is not None:  # another player's royal may have brought this player's award forward
            must, found = sorted(must), sorted(found)
        self.check("jackpot.order", "order", must, found)
        for event in self.of("JackpotHit") if must == found else ():
            figures = self.award(event, owed[event["seat"]], whole)
            figures["category"] = category(self.hand(self.seats[event["seat"]]))
            self.fields("jackpot.awards", event, **figures)

    def award(self, event: Event, given: dict[str, Any], whole: list[int]) -> dict[str, Any]:
        """Return an award's figures for the meter recorded before it; `whole` share the whole meter."""
        pot, meter, house, last = self.opened["jackpot"], event["meter_before"], Decimal(0), False
        if "fixed" in given:
            paid = self.minor(given["fixed"])
            house = Decimal(paid) if given["funding"] == "house" else max(Decimal(0), paid - meter)
        elif event["seat"] not in whole:
            paid = int(meter * given["percent"] // 100)
        elif self.only is None:
            paid = int(self.seats[whole[0]]["JackpotHit"]["meter_before"] // len(whole))
            last = event["seat"] == whole[-1]
        else:  # other winners are not seen here; the last share leaves less than a unit for each
            paid = min(event["award"], int(meter))
            last = meter - paid < self.hands
        after, reset = meter - paid + house, pot["reset"] * last
        room = max(0, pot.get("ceiling", INTEGER_MAX) - after - reset) * last
        pools = upto(event, from_overflow=room, restart_from_diversion=reset)
        figures = {"award": paid, "from_meter": paid - house, "from_house": house, "jackpot_id": pot["id"]}
        after += reset + pools["from_overflow"]
        return figures | pools | {"meter_after": after, "restart": reset if last else None}

    def check_meter(self) -> None:
        step, ceiling = "jackpot.meter", self.opened.get("jackpot", {}).get("ceiling", INTEGER_MAX)
        moving = [event for event in self.events if "contribution" in event or "previous_position" in event]
        for one, event in pairwise([self.opened, *moving]):
            if "previous_position" not in event:
                continue
            still = one.get("from_meter") == 0 and "restart" not in one  # the house alone paid
            since = one["previous_position"] if still else one.position if "seat" in one else 1
            certain = self.only is None and "seat" in one and one.apart == event.apart
            last, previous = one.position if certain else event.position - 1, event["previous_position"]
            must = {"previous_position": clamp(since, previous, last)}
            if "order" in one and "order" in event:
                must["order"] = one["order"] + 1 if certain else max(one["order"] + 1, event["order"])
            if "seat" in one and (certain or previous == one.position):
                over = one.get("overflow")
                high = INTEGER_MAX if over == one.get("contribution") else ceiling
                bet = clamp(ceiling if over else 0, event["meter_before"], high)
                must["meter_before"] = one.get("meter_after", bet)
            self.fields(step, event, **must)

    def check_void(self) -> None:
        must, cause = list[list[Any]](), self.once["RoundVoided"]["cause"]
        causes = [*self.rules["misdeal_causes"], "malfunction", "timeout" if self.seats else "expired"]
        self.check("void", "cause", causes, cause, ok=cause in causes)
        for number, seat in sorted(self.seats.items()):
            staked = self.stakes(seat)
            bets = [{"bet": bet, "stake": stake} for bet, stake in staked.items()]
            self.fields("void", seat["StakeRefunded"], amount=sum(staked.values()), bets=bets)
            if placed := seat.get("SideBetPlaced_jackpot"):
                must.append(["ContributionReversed", number])
                event, put = seat["ContributionReversed"], moves("SideBetPlaced", placed)
                back = {"from_meter": min(event["meter_before"], put["meter"])}
                back |= upto(event, from_overflow=put["overflow"], from_diversion=put["diversion"])
                paid, after = sum(put.values()), event["meter_before"] - back["from_meter"]
                house = {"amount": paid, "from_house": paid - sum(back.values()), "meter_after": after}
                self.fields("void", event, **back, **house, jackpot_id=placed["jackpot_id"])
            must.append(["StakeRefunded", number])
        found = [[event.type, event["seat"]] for event in self.of("ContributionReversed", "StakeRefunded")]
        self.check("void", "order", must, found)

    def check_money(self) -> None:
        last, game, step = dict[str, Event](), Counter[int](), "money.conservation"
        players, pot = 0, Decimal(0)
        for event in self.events:
            legs = event.get("bets", [])  # what a jackpot won was paid by its JackpotHit
            won = sum(leg.get("won", 0) for leg in legs if leg["bet"] != "jackpot")
            back = won + sum(leg.get("returned", leg["stake"]) for leg in legs)
            wallet = event.get("award", 0) + back - event.stake
            change = sum(moves(event.type, event).values())
            players, pot = players + wallet, pot + change
            if "balance_after" in event:
                one = last.get(event["player"], self.opened)
                if "balance_after" in one and one.apart == event.apart:
                    self.fields("money.balances", event, balance_after=one["balance_after"] + wallet)
                last[event["player"]] = event
                game[event["seat"]] += event.stake - sum(leg["stake"] for leg in legs)
            if "from_house" in event:
                restart = event.get("restart", 0) - event.get("restart_from_diversion", 0)
                paid = event["from_house"] + restart - change
                self.check(step, event, event.get("award", event.get("amount")), paid)
        self.check(step, "left on the game", {}, +game | -game)
        self.notes[step] = f"players {players}, jackpot {plain(pot)}, house {plain(-players - pot)}"

    def check_log(self, asked: argparse.Namespace) -> None:
        """Hold the file's proofs against its checkpoint, and this against what the caller trusts."""
        if "log" not in self.file:
            missing = ("file", "a log proof", "a file of format 1, which has none")
            for step, name in OPTIONS.items():
                self.faults[f"log.{step}"] += [missing] if getattr(asked, name) else []
            return
        log, step, note = self.file["log"], "log.signature", Checkpoint(self.file["log"]["checkpoint"])
        self.check(step, "origin", log["origin"], note.origin)
        self.check(step, "keys", "one at least", log["keys"], ok=log["keys"])
        signers = [vkey for vkey in (*log["keys"], *asked.key) if note.signed(vkey, LOG) is not None]
        signers = [vkey for vkey in signers if vkey.startswith(f"{note.origin}+")]  # a key has its log's name
        self.check(step, "signed by", log["keys"], signers, ok={*log["keys"]} <= {*signers})
        if asked.key:
            self.check(step, "signed by one of", asked.key, signers, ok={*asked.key} & {*signers})
        whose = "a key that you know" if asked.key else "a key that only this file names (see --key)"
        self.notes[step] = f"{note.origin}, {note.size} entries, signed by {whose}"
        step, seen = "log.witness", list[str]()
        names = {name for name, _ in note.signatures} - {vkey.split("+")[0] for vkey in log["keys"]}
        if names and not asked.witness:
            self.open.add(step)
            seen = [f"not checked without --witness: {', '.join(sorted(names))}"]
        for vkey in asked.witness:
            time = note.signed(vkey, WITNESS)
            self.check(step, vkey, "cosigned", "nothing, or wrongly", ok=time is not None)
            seen.append(
                f"{vkey.split('+')[0]} at {datetime.fromtimestamp(time or 0, UTC):%Y-%m-%d %H:%M:%S} UTC"
            )
        self.notes |= {step: ", ".join(seen)} if seen else {}
        self.check("log.leaves", "proofs", len(self.events), len(log["proofs"]))
        for entry, event, proof in zip(self.file["events"], self.events, log["proofs"], strict=False):
            data = canonical(entry)
            leaf = hash_of(b"\x00", data) if event.type else bytes.fromhex(entry["leaf_sha256"])
            ok = event.position <= note.size and len(data) <= ENTRY_BYTES_MAX
            self.check("log.leaves", event, f"an entry of {note.size}", event.position, ok=ok)
            root = climb(event.position, note.size, b"", leaf, [*map(unbase, proof)])[1]
            self.check("log.inclusion", event, note.root.hex(), root.hex())
        self.check_growth(note, log["earlier"], asked.since)
        if asked.jackpot:
            self.check_copy(note, asked.jackpot)

    def check_growth(self, note: Checkpoint, earlier: dict[str, Any], since: str) -> None:
        step, size, old = "log.consistency", earlier["size"], unbase(earlier["root"])
        proof, known = [*map(unbase, earlier["proof"])], {size: old, note.size: note.root}
        grown = climb(size, note.size, old, b"", proof) if size else (b"" if proof else hash_of(), note.root)
        self.check(step, f"roots at {size} and {note.size}", show((old, note.root)), show(grown))
        self.notes[step] = f"since {size} entries, of the file's own choice"
        if since:
            saved = Checkpoint(since)
            if saved.size not in known:
                raise Unusable(f"no proof from --since in it: ask for the file with ?since={saved.size}")
            must, found = (saved.origin, saved.root.hex()), (note.origin, known[saved.size].hex())
            self.check(step, f"--since: origin, root at {saved.size}", must, found)
            self.notes[step] = f"since your checkpoint of {saved.size} entries"

    def check_copy(self, note: Checkpoint, folder: Path) -> None:
        """Read a copied log from its first entry on: hash all of it, and follow every jackpot through it."""
        step, pots, gaps = "log.jackpot", dict[str, dict[str, Any]](), list[int]()
        folder = folder if (folder / "tile").is_dir() else folder / note.origin.rpartition("/")[2]
        if not (folder / "tile").is_dir():
            raise Unusable("there is no copy of the log where --jackpot says")

        def leaves() -> Iterator[bytes]:
            for position, (leaf, entry) in enumerate(entries(folder, note.size), start=1):
                if not entry and not gaps:
                    gaps.append(position)
                if (b"jackpot" in entry or b"\\" in entry) and not gaps and not self.faults[step]:
                    self.faults[step] += follow(pots, json.loads(entry))
                yield leaf

        self.check(step, "root", note.root.hex(), root_of(leaves()).hex())
        name = self.opened.get("jackpot", {}).get("id")
        if gaps and gaps[0] <= self.events[-1].position:
            self.open.add(step)
            self.notes[step] = f"the copy has no entries from position {gaps[0]} on"
        elif name:
            self.check(step, name, "a jackpot that the log opened", [*pots], ok=name in pots)
            held, size = plain(pots[name]["meter"]), gaps[0] - 1 if gaps else note.size
            self.notes[step] = f"{name} holds {held} after {size} entries"


def follow(pots: dict[str, dict[str, Any]], event: dict[str, Any]) -> Iterator[Fault]:
    """Move the jackpots of a log by an event, yielding what in it does not follow from all before it."""
    kind, data, position = event["type"], event["data"], event["position"]
    own = data.get("jackpot", data)  # the parameters that a round pins
    name = own.get("jackpot_id", own.get("id"))
    if kind not in MOVES or name is None:
        return
    if kind == "JackpotOpened":
        start = {"moved": 0, "seen": 0, "hits": 0, "currency": data["currency"]}
        pots[name] = start | dict.fromkeys(POOLS, Decimal(0))
    pot, to, pool = pots[name], pots.get(data.get("to", ""), {}), data.get("pool")
    if "contribution" in data and "reset" in data:  # new parameters: in force at once, or waiting
        terms = {key: data[key] for key in ("contribution", "diversion", "reset", "ceiling") if key in data}
        terms |= {"currency": pot["currency"], "jackpot_id": name, "version": data["parameters_version"]}
        pot["waiting"] = digest(terms)
    if kind in ("JackpotOpened", "JackpotParametersActivated"):
        pot["in_force"] = pot["waiting"]
    pot["hits"] += kind == "JackpotHit"
    previous = clamp(pot["moved"], data.get("previous_position", 0), pot["seen"])
    must = {"sha256": pot["waiting" if "Scheduled" in kind else "in_force"], "previous_position": previous}
    must |= {"meter_before": pot["meter"], "to_meter_before": to.get("meter"), "before": pot.get(pool)}
    must |= {"amount": pot["meter"], **{each: pot[each] for each in POOLS}} if "to" in data else {}
    for key, change in moves(kind, data).items():
        owner, which = (to, key[3:]) if key.startswith("to.") else (pot, key)
        owner[which] += change
        if which == "meter":
            owner["seen"], owner["moved"] = position, position if change else owner["moved"]
    must |= {"meter_after": pot["meter"], "to_meter_after": to.get("meter"), "after": pot.get(pool)}
    must |= {"order": pot["hits"], "pools below 0": []}
    found = {**own, "pools below 0": [each for each in POOLS if pot[each] < 0]}
    for field in must.keys() & found.keys():
        if plain(must[field]) != plain(found[field]):
            yield f"position {position} ({kind}): {field}", plain(must[field]), found[field]


def examine(raw: bytes, asked: argparse.Namespace = NOTHING) -> Round:
    """Run the steps on a file's bytes, later groups only after earlier ones passed. Raises nothing."""
    game = Round({})
    try:
        game = Round(load(raw))
        game.check_form(raw)
        if game.verdict() == "verified":
            game.check_log(asked)
        first = (game.check_rules, game.check_places, game.check_order, game.check_seats, game.check_stakes)
        for check in first:
            if game.verdict(but="log.") == "verified":
                check()
        ending = game.check_void if "RoundVoided" in game.once else game.check_jackpot
        last = (game.check_commitment, game.check_cards, game.check_result, ending, game.check_meter)
        for check in (*last, game.check_money) if game.verdict(but="log.") == "verified" else ():
            check()
    except Unusable as reason:
        game.unusable = str(reason)
    except ODD as fault:
        if game.verdict() == "verified":  # otherwise it is refuted already, and this is what follows from it
            game.unusable = f"not readable as evidence ({type(fault).__name__})"
    return game


# ── The report ──────────────────────────────────────────────────────────────────────────────────────────
def plain(value: object) -> str:
    """Write a value as text: amounts without superfluous zeros, hashes in hex."""
    text = f"{value.normalize():f}" if isinstance(value, Decimal) else str(value)
    return value.hex() if isinstance(value, bytes) else text


def show(value: object) -> str:
    """Write any value in one short line of plain ASCII, whatever a file puts into it."""
    text = json.dumps(value, sort_keys=True, default=plain)
    return text[:SHOWN_CHARACTERS] + "..." * (len(text) > SHOWN_CHARACTERS)


def report(game: Round) -> dict[str, Any]:
    checks, verified, names = {}, game.verdict() == "verified", ("where", "expected", "found")
    for step, says in STEPS.items():
        check = {"result": game.result(step), "says": says, "note": game.notes.get(step, "")}
        faults = [dict(zip(names, fault, strict=True)) for fault in game.faults[step]]
        checks[step] = check | {"compared": game.compared[step], "faults": faults}
    proved = [says for step, says in STEPS.items() if verified and game.result(step) == "PASS"]
    found = {"verdict": game.verdict(), "reason": game.unusable, "checks": checks, "proved": proved}
    missing = NOT_COVERED if "log" in game.file else [NO_LOG, *NOT_COVERED[:2]]
    return found | {"recorded": RECORDED if verified else [], "not_covered": missing}


def lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield a report's lines for people."""
    for step, check in found["checks"].items():
        yield f"{check['result']}  {step:18}  {check['says']}" + f" [{check['note']}]" * bool(check["note"])
        for where, must, there in (map(show, fault.values()) for fault in check["faults"][:SHOWN_FAULTS]):
            yield f"        {where[1:-1]}: expected {must}, found {there}"
    titles = {"proved": "PROVED FROM THIS FILE", "recorded": "RECORDED BUT NOT DERIVABLE FROM IT"}
    for name, title in (titles | {"not_covered": "NOT COVERED"}).items():
        yield from ["", title, *(f"  - {line}" for line in found[name])]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("verify.py", description="Check the evidence of one finished round.")
    parser.add_argument("file", metavar="FILE", type=Path, help="from /v1/rounds/{id}/evidence")
    for name, says in (("key", "a log key that you know"), ("witness", "a witness that must have cosigned")):
        parser.add_argument(f"--{name}", metavar="VKEY", action="append", default=[], help=says)
    parser.add_argument("--since", metavar="CHECKPOINT", type=Path, help="a checkpoint that you kept")
    parser.add_argument("--jackpot", metavar="DIR", type=Path, help="a copy of the log's folder")
    parser.add_argument("--json", action="store_true", help="print the report for machines")
    parser.add_argument("--quiet", action="store_true", help="print the verdict only")
    asked, game = parser.parse_args(arguments), Round({})
    try:
        asked.since = asked.since and asked.since.read_text(encoding="utf-8")
        with asked.file.open("rb") as stream:
            game = examine(stream.read(FILE_BYTES_MAX + 1), asked)
    except (OSError, ValueError) as fault:
        game.unusable = f"the file cannot be opened ({type(fault).__name__})"
    why = game.unusable or ", ".join(step for step in STEPS if game.faults[step])
    text = [] if asked.quiet or game.unusable else [*lines(report(game))]
    text.append("\n" * bool(text) + f"{game.verdict().upper()} {show(why)[1:-1]}".rstrip())
    try:
        machine = asked.json and json.dumps(report(game), indent=1, default=plain)
        print(machine or "\n".join(text), flush=True)
    except OSError:  # whoever reads the report has gone: the exit code still tells
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ["verified", "refuted", "unusable"].index(game.verdict())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
