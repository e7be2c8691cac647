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
log.jackpot: the copied log is the signed one, and in it the meter follows from the jackpot's opening"""
STEPS: Final[dict[str, str]] = dict(re.findall(r"(?m)([a-z.]+): (.+?)(?: \||$)", STEP_LINES))
LATE: Final = ("cards", "result", "jackpot", "void", "money", "log")  # run whatever others of them found
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
TITLES: Final = ("PROVED FROM THIS FILE", "RECORDED BUT NOT DERIVABLE FROM IT", "NOT COVERED")
NO_LOG: Final = "log proof: this file has none, so nothing shows that its events are those in the log"
FILE_BYTES_MAX, ENTRY_BYTES_MAX, INTEGER_MAX, KEY_BYTES = 64 * 2**20, 65_535, 2**53 - 1, 32
HAND, WHOLE_METER, TILE, LOG, WITNESS, SHOWN_FAULTS, SHOWN_CHARACTERS = 5, 100, 256, 1, 4, 5, 300
OPTIONS: Final = {"signature": "key", "witness": "witness", "consistency": "since", "jackpot": "jackpot"}
NOTHING: Final = argparse.Namespace(key=[], witness=[], since="", jackpot=None)
ODD: Final = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError, MemoryError)
STAKING, SHARES = ("AntePlaced", "SideBetPlaced", "Raised"), ("contribution", "diversion")
RANKS, POOLS = "23456789TJQKA", ("meter", "overflow", "diversion")
DECK: Final = [rank + suit for rank in RANKS for suit in "cdhs"]
CATEGORIES: Final = """high_card pair two_pair three_of_a_kind straight flush full_house four_of_a_kind
    straight_flush royal_flush""".split()
NO_DECIMALS: Final = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"  # ISO 4217, and
THREE_DECIMALS: Final = "BHD IQD JOD KWD LYD OMR TND"  # all others have two
# The order of a round's events, each written as its name, `@seat` where it is of one, and a comma. In one
# player's file the events of others are withheld; they may stand where such events can be.
VOID: Final = r"RoundVoided,(?:(?:ContributionReversed|StakeRefunded)@\d+,|withheld,)*+"
ORDER: Final = rf"""RoundOpened,(?:AntePlaced(@\d+),(?:SideBetPlaced_\w+\1,)*|withheld,)*+
(?:{VOID}|BettingClosed,(?:{VOID}|(?:Dealt_shared,|(?:Dealt_seat@\d+,|withheld,)++)(?:Dealt_dealer,
(?:(?:CardExchanged|Folded|Raised)@\d+,|withheld,)*+(?:DealerQualified,)?
(?:{VOID}|(?:(?:JackpotHit|Settled)@\d+,|withheld,)++(?:RoundClosed,)?)?)?)?)?"""
# What happens at one seat, in order: its bets, each once, its hand, and then one of two endings.
SEAT: Final = r"AntePlaced,(?:SideBetPlaced_(\w+),(?!.*SideBetPlaced_\1,))*"
PLAYED: Final = "(?:CardExchanged,)?(?:Folded|Raised),(?:JackpotHit,)?Settled,"
REFUNDED: Final = "(?:CardExchanged,)?(?:Folded,|Raised,)?(?:ContributionReversed,)?StakeRefunded,"
# What each event adds to a jackpot's pools and takes out of them; `to.` are those of the jackpot it goes to.
MOVE_LINES: Final = """
RoundOpened JackpotParametersScheduled JackpotParametersActivated meter+top_up JackpotOpened meter+reset
JackpotAdjusted pool+amount SideBetPlaced meter+contribution meter-overflow overflow+overflow
 diversion+diversion ContributionReversed meter-from_meter overflow-from_overflow diversion-from_diversion
JackpotTransferred meter-amount overflow-overflow diversion-diversion to.meter+amount to.meter-above_ceiling
 to.overflow+overflow to.overflow+above_ceiling to.diversion+diversion JackpotHit meter-from_meter
 meter+from_overflow overflow-from_overflow meter+restart diversion-restart_from_diversion"""
MOVES: Final = dict(re.findall(r"([A-Z]\w+)([^A-Z]*)", MOVE_LINES))
# A kind is a whole number within bounds, a regular expression, a type of Python, a shape, a list `[kind]`, or
# a table by hand category `{kind}`. A shape is a name and its fields: `name:kind`, or `name` alone where the
# kind has the same name, or is text; with `?` in front where it may be absent.
KIND_LINES: Final = r"""exponent=0..4 index=0..51 odds=1..100000 percent=1..100 schema=1..1 seat=1..5000
size=0..9007199254740991 position previous_position version=1..9007199254740991 amount=1..1000000000000 sum
balance_after=0..9000000000000000 exact contribution diversion from_diversion from_house from_meter
from_overflow meter_after meter_before overflow restart
restart_from_diversion=(0|[1-9][0-9]{0,15})(\.[0-9]{0,3}[1-9])? code=[A-Z]{3} units=[0-9]{1,12}(\.[0-9]{1,3})?
card=[2-9TJQKA][cdhs] decided_by=player|operator kind=jackpot|five_plus_one|bonus qualify=[a-z_]+
deck_seed=[0-9a-f]{96} sha256=[0-9a-f]{64} hash=[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]= salt=[A-Za-z0-9_-]{22}
token=[A-Za-z0-9_-]{43} share=(0|1)(\.[0-9]{1,4})? bool dict no_such_field=(?!) id player command jackpot_id
round_id table_id=[A-Za-z0-9._-]{1,64} stream=round-[A-Za-z0-9._-]{1,64}
recorded_at=[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z
text=[^\x00-\x1f\x7f\ud800-\udfff]{1,600}"""
TYPES: Final = sorted({*re.findall("[A-Z][A-Za-z]+", ORDER)})
KINDS: Final[dict[str, Any]] = {"type": "|".join(TYPES)} | {
    name: rule or range(int(low), int(high) + 1)
    for names, low, high, rule in re.findall(r"([\w\s]+)=(?:(\d+)\.\.(\d+)|(\S+))", KIND_LINES)
    for name in names.split()
}
SHAPE_LINES: Final = """
File format:stud-ledger/evidence/[12] round_id player events:[dict] ruleset:dict ?jackpot:dict
 currency:Currency ?log:Log ?sha256; Log origin keys:[text] checkpoint:str proofs:[[hash]] earlier:Earlier
Earlier size root:hash proof:[hash]; Event data:dict meta:Meta position recorded_at salt stream type version
Currency code exponent; Meta actor command schema ?shown:token ?trace; Ruleset id version sha256
SideBetPlaced seat player bet:kind amount balance_after ?contribution ?jackpot_id ?overflow ?diversion
RoundOpened table_id ruleset:Ruleset currency:code account_class:real|test deal_source:rng|table gaming_day
 parameters:Table build ?deck_commitment:sha256 ?deck_algorithm:stud-deck-1 ?rng ?jackpot:Pot
RoundVoided cause ?deck_seed ?note_sha256:sha256; Table min_ante:amount max_ante:amount zone cutoff_hour:sum
 min_side_bet:sum max_side_bet:sum ?raise_win_cap:amount ?bonus_stake:amount ?decision_seconds:position
AntePlaced seat player amount balance_after ?session_id ?channel ?client_seed; BettingClosed seats:seat
Pot id version sha256 contribution:share reset:sum ?ceiling:sum ?diversion:share; RoundClosed ?deck_seed
StakeRefunded seat player amount bets:[Refund] balance_after; CardExchanged seat player fee:amount
 discard:card drawn:card forfeited:[kind] decided_by balance_after ?burn_index:index ?drawn_index:index
Folded seat decided_by:player|timeout|operator; Raised seat player amount decided_by balance_after
Dealt to:seat|shared|dealer cards:[card] ?seat ?indices:[index] ?up_indices:[index]; Refund bet stake:amount
DealerQualified cards:[card] category qualified:bool ?indices:[index]; Settled seat player result bets:[Leg]
 shown:bool balance_after category; Play raise_multiple:seat decision_order:any|seat on_timeout:fold|void
 reveal_if_all_fold:bool show_hands:all|called|jackpot_when_not_qualified settlement_order:(seat)
Leg bet stake:amount returned:sum won:sum ?odds; Exchange fee_antes:seat burn:per_exchange forfeits:[kind]
Deal pattern:round_robin|block player_cards:up|down dealer_up_indices:[index]; RuleSet id title:str source:str
 currencies:[code] ?max_ante:units seating:Seating deal:Deal play:Play qualify raise_pays:{odds}
 ?raise_cap:Cap side_bets:[SideBet] ?exchange:Exchange misdeal_causes:[text] void_policy:refund_all
 rounding:down names:dict readings:[dict]; Seating seats:seat hands_per_player:seat shared_player_hand:bool
Withheld position stream version withheld:bool leaf_sha256:sha256; ContributionReversed seat player jackpot_id
 amount:exact from_meter from_house meter_before meter_after previous_position ?from_overflow ?from_diversion
SideBet kind stake:free|table|[0-9.]+ basis:to_1|for_1 survives_fold:bool needs_dealer_to_qualify:bool
 pays:{odds} awards:{Award}; Cap scope:raise_per_hand|aggregate ?amount:units; Award ?percent ?fixed:units
 funding:meter|house; JackpotHit seat player jackpot_id category award:sum from_meter from_house meter_before
 meter_after order:position previous_position balance_after ?restart ?restart_from_diversion ?from_overflow"""
FIELD: Final = re.compile(r"(\??)(\w+):?(\S*)")
SHAPES: Final = {  # of each shape the fields and their kinds, with `?` where one may be absent
    shape: {name: may + (of or (name, "text")[name not in KINDS]) for may, name, of in FIELD.findall(text)}
    for shape, text in re.findall(r"(\w+) ([^;\n]+(?:\n [^;\n]+)*)", SHAPE_LINES)
}
SHAPES.update((f"{{{kind}}}", dict.fromkeys(CATEGORIES, f"?{kind}")) for kind in ("odds", "Award"))
SHAPES.update((f"Event {kind}", SHAPES["Event"] | {"data": kind}) for kind in TYPES)
Fault = tuple[str, object, object]  # where, what was expected, what was found


class Unusable(Exception):
    """The file is not evidence that this program can read."""


class Event(dict[str, Any]):
    """An event's data, with its place in the ledger; of a withheld event only the place is known."""

    def __init__(self, entry: dict[str, Any]) -> None:
        self.type, self.version, self.position = entry.get("type", ""), entry["version"], entry["position"]
        self.time, self.command = entry.get("recorded_at", ""), entry.get("meta", {}).get("command", "")
        data, kinds = entry.get("data", {}), SHAPES.get(self.type, {})
        exact = {name for name in data if KINDS.get(kinds.get(name, "").strip("?")) == KINDS["exact"]}
        super().__init__({**data, **{name: Decimal(data[name]) for name in exact}})
        detail = {"SideBetPlaced": self.get("bet"), "Dealt": self.get("to")}.get(self.type)
        self.name = f"{self.type}_{detail}" if detail else self.type or "withheld"
        self.place = f"{self.name}@{self['seat']}" if "seat" in self else self.name
        self.stake = self.get("fee", self["amount"] if self.type in STAKING else 0)
        self.apart = self.position - self.version  # alike where no event outside this file can lie between
        self.moves: dict[str, Decimal] = defaultdict(Decimal)  # in a jackpot's pools
        for pool, sign, field in re.findall(r"(\S+)([+-])(\S+)", MOVES.get(self.type, "")):
            change = Decimal(self.get(field, 0)) * int(f"{sign}1")
            self.moves[self["pool"] if pool == "pool" else pool] += change

    def __str__(self) -> str:
        return f"event {self.version} ({self.place.replace('@', ', seat ')})"


# ── Reading ─────────────────────────────────────────────────────────────────────────────────────────────
def unlike(value: Any, kind: str, path: str) -> Iterator[Fault]:
    """Yield every difference between a JSON value and the kind it must be."""
    shape, many = SHAPES.get(kind), kind[0] == "["
    rule: Any = () if shape or many else KINDS.get(kind, kind)  # numbers, or what text is like
    of: Any = str if isinstance(rule, str) else int
    if shape and isinstance(value, dict):
        for name in {**{name: 0 for name, inner in shape.items() if inner[0] != "?"}, **value}:
            yield from unlike(value.get(name), shape.get(name, "no_such_field").strip("?"), f"{path}.{name}")
    elif many and isinstance(value, list):
        for number, item in enumerate(value):
            yield from unlike(item, kind[1:-1], f"{path}[{number}]")
    elif type(value) is not of or not (re.fullmatch(rule, value) if of is str else value in rule):
        yield from [] if type(value).__name__ == kind else [(path, kind, value)]


def load(raw: bytes) -> dict[str, Any]:
    """Return the file as an object; raise Unusable for what is not JSON of our format."""

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
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    if isinstance(value, dict) and not text.isascii():  # names may have to be sorted as UTF-16
        names = sorted(value, key=lambda name: str(name).encode("utf-16be"))
        return b"{%b}" % b",".join(b"%b:%b" % (canonical(name), canonical(value[name])) for name in names)
    if isinstance(value, list) and not text.isascii():
        return b"[%b]" % b",".join(map(canonical, value))
    return text.encode()


def hash_of(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


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
    counts = Counter(RANKS.index(card[0]) for card in cards)
    ranks = sorted(counts, key=lambda value: (counts[value], value), reverse=True)
    ranks = [3, 2, 1, 0, -1] if ranks == [12, 3, 2, 1, 0] else ranks  # a straight to the five: the ace is low
    shapes = {(1, 1, 1, 2): 1, (1, 2, 2): 2, (1, 1, 3): 3, (2, 3): 6, (1, 4): 7}
    flush, straight = len({card[1] for card in cards}) == 1, len(ranks) == HAND == ranks[0] - ranks[-1] + 1
    worth = 9 - (RANKS[ranks[0]] != "A") if flush and straight else 5 * flush + 4 * straight
    return worth or shapes.get(tuple(sorted(counts.values())), 0), ranks


def category(cards: Sequence[str]) -> str:
    """Return the category of the best five of five or six cards."""
    return CATEGORIES[max(map(rank, combinations(cards, len(cards) - (len(cards) != HAND))))[0]]


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
    half = times(scalar // 2, plus(base, base)) if scalar else (0, 1, 1, 0)
    return plus(half, base) if scalar % 2 else half


def signed(public: bytes, message: bytes, signature: bytes) -> bool:
    """Verify a signature (5.1.7): S below the order, every point in its only spelling, no weak key."""
    try:
        key, s = point(public), int.from_bytes(signature[32:], "little")
    except (ValueError, IndexError):
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % BASE_ORDER
    base = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
    x, y, z, _ = plus(times(s % BASE_ORDER, base), times(8 * BASE_ORDER - k, key))  # the base's s less k keys
    r = y * pow(z, -1, P) % P | (x * pow(z, -1, P) % P & 1) << 255
    sound = len(signature) == 2 * KEY_BYTES and s < BASE_ORDER and times(8, key)[0]
    return bool(sound) and r.to_bytes(32, "little") == signature[:32]


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
        time = int.from_bytes(stamp := signature[:8] if kind == WITNESS else b"", "big")
        message = f"cosignature/v1\ntime {time}\n{self.body}" if stamp else self.body
        return time if signed(key[1:], message.encode(), signature[len(stamp) :]) else None


def climb(end: int, size: int, root: bytes, leaf: bytes, proof: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Return the roots, at `end` entries and at `size`, that a proof leads to from the leaf before `end`."""
    # Without a leaf it is a consistency proof, from the old root, or its first hash where that is no subtree.
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
    levels, root = [b""] * 64, b""
    for leaf in leaves:
        level, top = 0, leaf
        while levels[level]:
            levels[level], level, top = b"", level + 1, hash_of(b"\x01", levels[level], top)
        levels[level] = top
    for left in filter(None, levels):
        root = hash_of(b"\x01", left, root) if root else left
    return root or hash_of()


def entries(folder: Path, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield every leaf's hash out of a copied log's files, and its bytes where the copy has them."""
    for number in range(-(-size // TILE)):
        width, at, tiles = min(TILE, size - number * TILE), 0, list[bytes]()
        *above, name = (part.zfill(3) for part in f"{number:,}".split(","))
        for kind in ("entries", "0"):
            whole = folder.joinpath("tile", kind, *(f"x{part}" for part in above), name)
            parts = {path: path.name for path in whole.with_name(f"{name}.p").glob("*")}
            wide = [path for path, part in parts.items() if part.isdecimal() and int(part) >= width]
            tiles.append(next((path.read_bytes() for path in (whole, *wide) if path.is_file()), b""))
        bundle, hashes = tiles
        for place in range(width):
            end = at + 2 + int.from_bytes(bundle[at : at + 2], "big")
            entry, at = bundle[at + 2 : end], end
            yield hash_of(b"\x00", entry) if bundle else hashes[32 * place : 32 * place + 32], entry


# ── The steps ───────────────────────────────────────────────────────────────────────────────────────────
class Round:
    """A round as a file tells it, and what each step compared and found wrong."""

    def __init__(self, file: dict[str, Any], asked: argparse.Namespace = NOTHING) -> None:
        self.file, self.rules, self.only = file, file.get("ruleset", {}), file.get("player")
        self.events, self.once = list[Event](), dict[str, Event]()  # all; by name what happened at no seat
        self.seats: dict[int, dict[str, Event]] = defaultdict(dict)  # and at each seat
        self.asked, self.deck, self.hands, self.unusable = asked, list[str](), 0, ""  # hands of players
        self.compared, self.open, self.notes = Counter[str](), set[str](), dict[str, str]()
        self.faults: dict[str, list[Fault]] = {step: [] for step in STEPS}

    def check(self, step: str, where: object, must: object, found: object, *, ok: object = ...) -> None:
        """Compare what must be with what is there; where `ok` decides, `must` only describes."""
        self.compared[step] += 1
        if not (must == found if ok is ... else ok):
            self.faults[step].append((str(where), must, found))

    def fields(self, step: str, event: Event, **must: Any) -> None:
        """Compare fields. A pair is of bounds; None stands for an absent one, as does 0 in another pool."""
        for name, value in must.items():
            near = max(value[0], min(event.get(name, 0), value[1])) if isinstance(value, tuple) else value
            none = near == 0 and name.endswith(("contribution", "overflow", "diversion"))
            self.check(step, f"{event}: {name}", None if none else near, event.get(name))

    def result(self, step: str) -> str:
        passed = "OPEN" if step in self.open else "PASS" if self.compared[step] else "NONE"
        return "FAIL" if self.faults[step] else passed

    def verdict(self, but: tuple[str, ...] = ()) -> str:
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
            kind = "Withheld" if entry.get("withheld") is True else f"Event {entry.get('type')}"
            where = f"event {number} ({kind.removeprefix('Event ')})"
            faults = [*unlike(entry, kind if kind in SHAPES else "Event", where)]
            self.faults["form"] += faults
            self.events += [] if faults else [Event(entry)]
        self.opened = (self.events or [Event({"version": 0, "position": 0})])[0]
        self.check("form", "first event", "RoundOpened", self.opened.type)

    def check_rules(self) -> None:
        step, opened, rules, code = "rules.house", self.opened, self.rules, self.file["currency"]["code"]
        self.faults[step] += unlike(rules, "RuleSet", "ruleset")
        pin, pot, sha256 = opened["ruleset"], opened.get("jackpot", {}), hash_of(canonical(rules)).hex()
        self.check(step, "id and SHA-256", [pin["id"], pin["sha256"]], [rules.get("id"), sha256])
        self.check(step, "currency, of the round", opened["currency"], code)
        self.check(step, "currency, of the house, once", 1, rules.get("currencies", []).count(code))
        decimals = 2 - 2 * (code in NO_DECIMALS) + (code in THREE_DECIMALS)
        self.check(step, "decimals (ISO 4217)", decimals, self.file["currency"]["exponent"])
        if pot or "jackpot" in self.file:
            terms = {"jackpot_id": pot.get("id"), "currency": code} | pot
            _, pinned = [terms.pop(name, None) for name in ("id", "sha256")]
            self.check("rules.jackpot", "parameters", terms, self.file.get("jackpot"))
            self.check("rules.jackpot", "SHA-256", pinned, hash_of(canonical(terms)).hex())

    def check_places(self) -> None:
        step, commands, last = "order.places", {self.opened.command}, 0
        for number, (entry, event) in enumerate(zip(self.file["events"], self.events, strict=True), start=1):
            must = [f"round-{self.file['round_id']}", number, max(last + 1, event.position)]
            found = [entry["stream"], event.version, last := event.position]
            self.check(step, f"{event}: stream, version, position", must, found)
            self.check(step, event, "not in everybody's file", event.name, ok=event.type or self.only)
        for one, event in pairwise(event for event in self.events if event.type):
            self.check(step, f"{event}: time", f"> {one.time}", event.time, ok=event.time > one.time)
            ahead = event.version - one.version  # a restart, seen or not, may let new parameters come
            near = event.position - one.position <= ahead + ("restart" in one or ahead > 1)
            ok = near if event.command == one.command else event.command not in commands
            self.check(step, f"{event}: command", "beside its other events", event.command, ok=ok)
            commands.add(event.command)

    def check_order(self) -> None:
        """Hold the events against the order of a round, and those of each seat against a seat's."""
        legal = re.match(ORDER, "".join(f"{event.place}," for event in self.events), re.VERBOSE)
        rest = self.events[legal.group().count(",") if legal else 0 :]
        told: dict[int, list[Event]] = defaultdict(list)
        done, found = not rest and self.of("RoundClosed", "RoundVoided"), [event.place for event in rest[:1]]
        self.check("order.phases", [*rest, "end"][0], "the events of a round, in order", found, ok=done)
        for event in self.events:
            (self.seats[event["seat"]] if "seat" in event else self.once).setdefault(event.name, event)
            told[event.get("seat", 0)].append(event)
        step, seating, dealt = "order.seats", self.rules["seating"], "Dealt_dealer" in self.once
        shared = seating["shared_player_hand"]
        self.check(step, "a shared hand", dealt and shared, "Dealt_shared" in self.once)
        story = SEAT + "Dealt_seat," * (dealt and not shared)
        story += REFUNDED if "RoundVoided" in self.once else PLAYED
        for seat in self.seats:
            names = "".join(f"{event.name}," for event in told[seat])
            players = sorted({event["player"] for event in told[seat] if "player" in event})
            ok = seat <= seating["seats"] and len(players) == 1 and re.fullmatch(story, names)
            self.check(step, f"seat {seat}", ["one player", story], [players, names], ok=ok)

    def check_seats(self) -> None:
        seats, play, step = self.seats.values(), self.rules["play"], "order.seats"
        players = Counter(seat["AntePlaced"]["player"] for seat in seats)
        self.check(step, "players", [self.only] if self.only else [*players], [*players])
        most, limit = max([0, *players.values()]), self.rules["seating"]["hands_per_player"]
        self.check(step, "seats of a player", f"{limit} at most", most, ok=most <= limit)
        turns = [event["seat"] for event in self.of("CardExchanged", "Folded", "Raised")]
        self.check(step, "turns", sorted(turns) if play["decision_order"] == "seat" else turns, turns)
        timed = play["on_timeout"] == "fold" and "decision_seconds" in self.opened["parameters"]
        late = [str(event) for event in self.of("Folded") if event["decided_by"] == "timeout"]
        self.check(step, "time-outs", late if timed else [], late)
        for event in self.of("BettingClosed"):
            unseen = sum(not earlier.type for earlier in self.events[: event.version])
            self.fields(step, event, seats=(len(seats), len(seats) + unseen))
            self.hands = 1 if self.rules["seating"]["shared_player_hand"] else event["seats"]
        revealed = play["reveal_if_all_fold"] or any("Raised" in seat for seat in seats)
        if "RoundVoided" not in self.once and (revealed or not self.only):  # others' raises may be withheld
            self.check(step, "the dealer's hand revealed", revealed, "DealerQualified" in self.once)

    def check_stakes(self) -> None:
        table, pot, rules = self.opened["parameters"], self.opened.get("jackpot", {}), self.rules
        high = min(table["max_ante"], self.minor(rules.get("max_ante", "999999999")))
        fee = rules.get("exchange", {"fee_antes": 0})["fee_antes"]  # no stake is 0: 0 is not offered
        offered = {bet["kind"]: bet["stake"] for bet in rules["side_bets"] if pot or bet["kind"] != "jackpot"}
        for event in self.of("AntePlaced", "Raised", "CardExchanged"):
            ante = self.seats[event["seat"]]["AntePlaced"].stake
            must = {"Raised": ante * rules["play"]["raise_multiple"], "CardExchanged": ante * fee}
            stake = must.get(event.type, (table["min_ante"], high))
            self.fields("stakes", event, **{"fee" if "fee" in event else "amount": stake})
        for event in self.of("SideBetPlaced"):
            stake, limits = offered.get(event["bet"], "0"), (table["min_side_bet"], table["max_side_bet"])
            if stake != "free":
                limits = (table["bonus_stake"] if stake == "table" else self.minor(stake),) * 2
            own = pot if event["bet"] == "jackpot" else {}
            parts = {name: Decimal(own.get(name, 0)) * event.stake for name in SHARES}
            over = (0, parts["contribution"] if "ceiling" in own else 0)
            self.fields("stakes", event, **parts, overflow=over, jackpot_id=own.get("id"), amount=limits)

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
        step, deal, count, hands = "cards.places", self.rules["deal"], self.hands, self.of("Dealt")
        seats, came = [event["seat"] for event in hands if "seat" in event], list[tuple[Event, int, str]]()
        if "Dealt_dealer" not in self.once:
            return
        self.check(step, "order of seats", sorted(seats), seats)
        first = self.once["BettingClosed"].version + 1
        self.check(step, "hands before the dealer's", count, hands[-1].version - first)
        for event in [*hands, *self.of("DealerQualified")]:
            up = deal["dealer_up_indices"] if event.name == "Dealt_dealer" else None
            hand = event.version - first if event.type == "Dealt" and up is None else count
            start, apart = (HAND * hand, 1) if deal["pattern"] == "block" else (hand, count + 1)
            places = [start + k * apart for k in up or range(HAND)]
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
        twice = [card for card, times in Counter(dealt.values()).items() if times > 1]
        self.check("cards.unique", "cards there twice", [], twice)
        wrong = sum(self.deck[place : place + 1] != [card] for _, place, card in came)
        if wrong * 2 > len(came) and self.deck and len(self.seats) < self.once["BettingClosed"]["seats"]:
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

    def stakes(self, seat: dict[str, Event]) -> dict[str, int]:
        """Return all that a seat staked, in the order in which bets are listed."""
        names = {"ante": "AntePlaced", "raise": "Raised", "exchange_fee": "CardExchanged"}
        names |= {bet["kind"]: f"SideBetPlaced_{bet['kind']}" for bet in self.rules["side_bets"]}
        return {bet: seat[name].stake for bet, name in names.items() if name in seat}

    def prize(self, seat: dict[str, Event], kind: str) -> dict[str, Any]:
        """Return what the rules give for a side bet: odds, an award, or {} for nothing and for no bet."""
        bet: dict[str, Any] = next((bet for bet in self.rules["side_bets"] if bet["kind"] == kind), {})
        if f"SideBetPlaced_{kind}" not in seat or (bet["needs_dealer_to_qualify"] and not self.plays()):
            return {}
        taken = "CardExchanged" in seat and kind in self.rules["exchange"]["forfeits"]
        if taken or ("Folded" in seat and not bet["survives_fold"]):
            return {}
        if kind == "five_plus_one":
            best = category([*self.hand(seat), self.once["Dealt_dealer"]["cards"][0]])
            return {"odds": bet["pays"][best]} if best in bet["pays"] else {}
        return dict(bet["awards"].get(category(self.hand(seat)), {}))

    def settlement(self, seat: dict[str, Event], room: int) -> dict[str, Any]:
        """Return what a seat must settle as. Its raise wins at most `room`; awards are checked elsewhere."""
        best, policy, bets = category(self.hand(seat)), self.rules["play"]["show_hands"], []
        result, pays = "folded" if "Folded" in seat else "dealer_not_qualified", {"ante": 0, "raise": 0}
        if self.plays() and "Folded" not in seat:
            mine, dealers = rank(self.hand(seat)), rank(self.once["DealerQualified"]["cards"])
            result = "push" if mine == dealers else "win" if mine > dealers else "lose"
        if result in ("win", "dealer_not_qualified"):
            pays = {"ante": 1, "raise": self.rules["raise_pays"][best] if result == "win" else 0}
        for bet, stake in self.stakes(seat).items():
            given = self.prize(seat, bet)
            odds = given.get("odds", pays.get(bet, 0))
            won = min(stake * odds, room) if bet == "raise" else stake * odds
            won = seat.get("JackpotHit", {"award": 0})["award"] if given and bet == "jackpot" else won
            won = self.minor(given["fixed"]) if given and bet == "bonus" else won
            back = "odds" in given or (bet in pays and result not in ("folded", "lose"))
            leg = {"bet": bet, "stake": stake, "returned": stake * back, "won": won}
            bets.append(leg | ({"odds": odds} if odds and won else {}))
        fair = policy != "jackpot_when_not_qualified" or self.plays() or "SideBetPlaced_jackpot" in seat
        shown = policy == "all" or ("Raised" in seat and fair)
        return {"category": best, "result": result, "shown": shown, "bets": bets}

    def check_result(self) -> None:
        limit, table, raised = self.rules.get("raise_cap", {}), self.opened["parameters"], Counter[str]()
        cap = table["raise_win_cap"] if limit and "amount" not in limit else INTEGER_MAX
        cap = self.minor(limit["amount"]) if "amount" in limit else cap
        for event in self.of("DealerQualified"):
            self.fields("result.dealer", event, category=category(event["cards"]), qualified=self.plays())
        for event in self.of("Settled"):
            room = cap - raised[event["player"]] * (limit.get("scope") == "aggregate")
            must = self.settlement(self.seats[event["seat"]], room)
            raised[event["player"]] += sum(leg["won"] for leg in must["bets"] if leg["bet"] == "raise")
            self.fields("result.seats", event, **must)

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
            self.fields("jackpot.awards", event, **self.award(event, owed[event["seat"]], whole))

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
        figures = {"award": paid, "from_meter": paid - house, "from_house": house, "jackpot_id": pot["id"]}
        figures |= {"category": category(self.hand(self.seats[event["seat"]]))}
        reset, left = pot["reset"] * last, meter - paid + house
        room = max(0, pot.get("ceiling", INTEGER_MAX) - left - reset) * last
        figures |= {"restart": reset if last else None, "meter_after": meter + event.moves["meter"]}
        return figures | {"from_overflow": (0, room), "restart_from_diversion": (0, reset)}

    def check_void(self) -> None:
        must, cause = list[list[Any]](), self.once["RoundVoided"]["cause"]
        causes = [*self.rules["misdeal_causes"], "malfunction", "timeout" if self.seats else "expired"]
        self.check("void", "cause", causes, cause, ok=cause in causes)
        for number, seat in sorted(self.seats.items()):
            bets = [{"bet": bet, "stake": stake} for bet, stake in self.stakes(seat).items()]
            self.fields("void", seat["StakeRefunded"], amount=sum(bet["stake"] for bet in bets), bets=bets)
            if placed := seat.get("SideBetPlaced_jackpot"):
                must.append(["ContributionReversed", number])
                event, put, paid = seat["ContributionReversed"], placed.moves, sum(placed.moves.values())
                back = {"from_meter": min(event["meter_before"], put["meter"]), "amount": paid}
                back |= {"from_overflow": (0, put["overflow"]), "from_diversion": (0, put["diversion"])}
                back |= {"jackpot_id": placed["jackpot_id"], "from_house": paid + sum(event.moves.values())}
                self.fields("void", event, **back, meter_after=event["meter_before"] + event.moves["meter"])
            must.append(["StakeRefunded", number])
        found = [[event.type, event["seat"]] for event in self.of("ContributionReversed", "StakeRefunded")]
        self.check("void", "order", must, found)

    def check_meter(self) -> None:
        step, ceiling = "jackpot.meter", self.opened.get("jackpot", {}).get("ceiling", INTEGER_MAX)
        moving = [event for event in self.events if "contribution" in event or "previous_position" in event]
        for one, event in pairwise([self.opened, *moving]):
            if "previous_position" not in event:
                continue
            still = one.get("from_meter") == 0 and "restart" not in one  # the house alone paid
            since = one["previous_position"] if still else one.position if "seat" in one else 1
            certain = self.only is None and "seat" in one and one.apart == event.apart
            must = {"previous_position": (since, one.position if certain else event.position - 1)}
            if "order" in one and "order" in event:
                must["order"] = (one["order"] + 1, one["order"] + 1 if certain else INTEGER_MAX)
            if "seat" in one and (certain or event["previous_position"] == one.position):
                over = one.get("overflow")
                high = INTEGER_MAX if over == one.get("contribution") else ceiling
                must["meter_before"] = one.get("meter_after", (ceiling if over else 0, high))
            self.fields(step, event, **must)

    def check_money(self) -> None:
        last, game, step = dict[str, Event](), Counter[int](), "money.conservation"
        players, pot = 0, Decimal(0)
        for event in self.events:
            legs, change = event.get("bets", []), sum(event.moves.values())
            won = sum(leg.get("won", 0) for leg in legs if leg["bet"] != "jackpot")  # by its JackpotHit
            back = won + sum(leg.get("returned", leg["stake"]) for leg in legs)
            wallet = event.get("award", 0) + back - event.stake
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

    def check_log(self) -> None:
        """Hold the checkpoint's signatures against the keys, and the file's proofs against the checkpoint."""
        if "log" not in self.file:
            for step in (step for step, option in OPTIONS.items() if getattr(self.asked, option)):
                self.faults[f"log.{step}"] += [("file", "a log proof", "a file of format 1, which has none")]
            return
        log, step, note = self.file["log"], "log.signature", Checkpoint(self.file["log"]["checkpoint"])
        self.check(step, "origin", log["origin"], note.origin)
        own, known = [*log["keys"]], self.asked.key or log["keys"]
        signers = [vkey for vkey in (*own, *self.asked.key) if note.signed(vkey, LOG) is not None]
        signers = [vkey for vkey in signers if vkey.startswith(f"{note.origin}+")]  # a key has its log's name
        self.check(step, "signed by all of", own, signers, ok={*own} <= {*signers})
        self.check(step, "signed by one of", known, signers, ok={*known} & {*signers})
        whose = "a key that you know" if self.asked.key else "a key that only this file names (see --key)"
        self.notes[step] = f"{note.origin}, {note.size} entries, signed by {whose}"
        others = {name for name, _ in note.signatures} - {vkey.split("+")[0] for vkey in own}
        if others and not self.asked.witness:
            self.open.add("log.witness")
            self.notes["log.witness"] = f"not checked without --witness: {', '.join(sorted(others))}"
        seen = []
        for vkey in self.asked.witness:
            time = note.signed(vkey, WITNESS)
            self.check("log.witness", vkey, "cosigned", "nothing, or wrongly", ok=time is not None)
            seen.append(f"{vkey.split('+')[0]} at {str(datetime.fromtimestamp(time or 0, UTC))[:19]} UTC")
            self.notes["log.witness"] = ", ".join(seen)
        self.check("log.leaves", "proofs", len(self.events), len(log["proofs"]))
        for entry, event, proof in zip(self.file["events"], self.events, log["proofs"], strict=False):
            data = canonical(entry)
            leaf = hash_of(b"\x00", data) if event.type else bytes.fromhex(entry["leaf_sha256"])
            ok = event.position <= note.size and len(data) <= ENTRY_BYTES_MAX
            self.check("log.leaves", event, f"an entry of {note.size}", event.position, ok=ok)
            root = climb(event.position, note.size, b"", leaf, [*map(unbase, proof)])[1]
            self.check("log.inclusion", event, note.root.hex(), root.hex())
        self.check_growth(note, log["earlier"])
        if self.asked.jackpot:
            self.check_copy(note, self.asked.jackpot)

    def check_growth(self, note: Checkpoint, earlier: dict[str, Any]) -> None:
        step, size, old = "log.consistency", earlier["size"], unbase(earlier["root"])
        proof, known = [*map(unbase, earlier["proof"])], {size: old, note.size: note.root}
        grown = climb(size, note.size, old, b"", proof) if size else (b"" if proof else hash_of(), note.root)
        self.check(step, f"roots at {size} and {note.size}", show((old, note.root)), show(grown))
        self.notes[step] = f"since {size} entries, of the file's own choice"
        if self.asked.since:
            saved = Checkpoint(self.asked.since)
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
                    self.follow(pots, Event(json.loads(entry)))
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

    def follow(self, pots: dict[str, dict[str, Any]], event: Event) -> None:
        """Move the jackpots of a log by an event, which has to follow from all before it."""
        kind, own = event.type, event.get("jackpot", event)  # the parameters that a round pins
        name = own.get("jackpot_id", own.get("id"))
        if kind not in MOVES or name is None:
            return
        if kind == "JackpotOpened":
            start = dict.fromkeys(("moved", "seen", "hits", *POOLS), Decimal(0))
            pots[name] = {**start, "currency": event["currency"]}
        pot, to, pool = pots[name], pots.get(event.get("to", ""), {}), event.get("pool", "")
        if "contribution" in event and "reset" in event:  # new parameters: in force at once, or waiting
            terms = {key: event[key] for key in ("reset", "ceiling", *SHARES) if key in event}
            terms |= {"currency": pot["currency"], "jackpot_id": name, "version": event["parameters_version"]}
            pot["waiting"] = hash_of(canonical(terms)).hex()
        if kind in ("JackpotOpened", "JackpotParametersActivated"):
            pot["in_force"] = pot["waiting"]
        pot["hits"] += kind == "JackpotHit"
        last = max(pot["moved"], min(event.get("previous_position", 0), pot["seen"]))
        must = {"sha256": pot["waiting" if "Scheduled" in kind else "in_force"], "previous_position": last}
        must |= {"meter_before": pot["meter"], "to_meter_before": to.get("meter"), "before": pot.get(pool)}
        must |= {"amount": pot["meter"], **{each: pot[each] for each in POOLS}} if "to" in event else {}
        for key, change in event.moves.items():
            owner, which = (to, key[3:]) if key.startswith("to.") else (pot, key)
            owner[which] += change
            if which == "meter":
                owner["seen"], owner["moved"] = event.position, event.position if change else owner["moved"]
        must |= {"meter_after": pot["meter"], "to_meter_after": to.get("meter"), "after": pot.get(pool)}
        must |= {"order": pot["hits"], "pools below 0": []}
        found = {**own, "pools below 0": [each for each in POOLS if pot[each] < 0]}
        for field in must.keys() & found.keys():
            where = f"position {event.position} ({kind}): {field}"
            self.check("log.jackpot", where, plain(must[field]), plain(found[field]))


def examine(raw: bytes, asked: argparse.Namespace = NOTHING) -> Round:
    """Run the steps on a file's bytes, later groups only after earlier ones passed. Raises nothing."""
    game = Round({})
    try:
        game = Round(load(raw), asked)
        game.check_form(raw)
        for name in "log rules places order seats stakes commitment cards result jackpot meter money".split():
            if game.verdict(but=LATE) == "verified":
                void = name == "jackpot" and "RoundVoided" in game.once
                getattr(game, "check_void" if void else f"check_{name}")()
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
    found, text = report(game), list[str]()
    for step, check in found["checks"].items() if not (asked.quiet or game.unusable) else ():
        note = f" [{check['note']}]" * bool(check["note"])
        text.append(f"{check['result']}  {step:18}  {check['says']}{note}")
        for where, must, there in (map(show, fault.values()) for fault in check["faults"][:SHOWN_FAULTS]):
            text.append(f"        {where[1:-1]}: expected {must}, found {there}")
    for title, name in zip(TITLES, ("proved", "recorded", "not_covered"), strict=True) if text else ():
        text += ["", title, *(f"  - {line}" for line in found[name])]
    text += [""] * bool(text) + [f"{game.verdict().upper()} {show(why)[1:-1]}".rstrip()]
    try:
        print(json.dumps(found, indent=1, default=plain) if asked.json else "\n".join(text), flush=True)
    except OSError:  # whoever reads the report has gone: the exit code still tells
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ["verified", "refuted", "unusable"].index(game.verdict())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
