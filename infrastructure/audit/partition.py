"""The audit of consecutive events, as a pure function: nothing is needed but the events and the rule sets.

Every event is hashed as a leaf of the evidence log, compared with the place it is kept at, and followed after
the one before it: positions, time, each stream's versions, each wallet, each jackpot. Every round that begins
and ends here is derived again. What only the events before can tell is in the result for
`infrastructure.audit.merging`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import orjson

from infrastructure.audit import pots, rounds
from infrastructure.audit.results import (
    BetElsewhere,
    Context,
    Leaves,
    PartResult,
    Published,
    StoredRow,
    StreamPart,
    WalletPart,
)
from infrastructure.checking.beside_rounds import BESIDE_ROUNDS, WITHOUT_MONEY
from infrastructure.checking.exact import MINOR, exact
from infrastructure.checking.in_rounds import IN_ROUNDS
from infrastructure.evidence.merkle import TILE_HEIGHT, TILE_WIDTH, Frontier, complete_root, leaf_hashes

Data = dict[str, Any]

_CANONICAL: Final = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
_MEMBERS: Final = ["data", "meta", "position", "recorded_at", "salt", "stream", "type", "version"]
_TIME_CHARACTERS: Final = len("2026-11-29T21:24:01.000000Z")
_STREAM_OF: Final = {
    **{kind: stream for kind, (stream, _) in BESIDE_ROUNDS.items()},
    **WITHOUT_MONEY,
    **dict.fromkeys(("RoundOpened", *IN_ROUNDS), "round"),
}
"""The kind of stream that each type of event is in."""


def audit_partition(rows: Iterable[StoredRow], context: Context) -> PartResult:
    """Audit events that follow one another, in the order they are kept in. Raises nothing for any content."""
    part = _Partition(context)
    kept = list(rows)
    for row in kept:
        part.take(row)
    part.end()
    if kept:
        part.result.leaves = _leaves(kept[0][0] - 1, [row[3] for row in kept], context.roots_at)
    return part.result


def _leaves(begin: int, stored: list[bytes], roots_at: Iterable[int]) -> Leaves:
    """Hash the events as leaves, from index `begin` on."""
    hashes = leaf_hashes(stored)
    leaves = Leaves(Frontier(begin))
    first_tile = -(-begin // TILE_WIDTH)
    leaves.first_tile = first_tile
    head = first_tile * TILE_WIDTH - begin
    whole = max(0, len(hashes) - head) // TILE_WIDTH
    leaves.range.extend(hashes[:head])
    for at in range(head, head + whole * TILE_WIDTH, TILE_WIDTH):
        tile = complete_root(b"".join(hashes[at : at + TILE_WIDTH]))
        leaves.tiles.append(tile)
        leaves.range.push(TILE_HEIGHT, tile)
    if len(hashes) > head:
        leaves.range.extend(hashes[head + whole * TILE_WIDTH :])
    for size in roots_at:
        if begin < size < begin + len(hashes):
            cut = Frontier(begin)
            cut.extend(hashes[: size - begin])
            leaves.cuts.append(cut)
    return leaves


class _Partition:
    """The audit of a partition under way."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.result = PartResult()
        self.rounds: dict[str, tuple[list[StoredRow], list[Data]]] = {}

    # ── Event by event ──────────────────────────────────────────────────────────────────────────────────────
    def take(self, row: StoredRow) -> None:
        """Take the next event."""
        position, stream, version, _ = row
        result = self.result
        if not result.first:
            result.first = position
        elif position != result.last + 1:
            result.differs(result.last + 1, "position", result.last + 1, position)
        result.last = position
        result.events += 1
        try:
            event = self._read(row)
            kind = stream.partition("-")[0]
            if kind == "round":
                held = self.rounds.setdefault(stream, ([], []))
                held[0].append(row)
                held[1].append(event)
            else:
                self._count_version(stream, version, position)
            if _STREAM_OF.get(event["type"]) != kind:
                result.differs(position, "type", f"a type of a {kind}", event["type"])
                return
            take = _TAKE.get(event["type"])
            if take is not None:
                take(self, position, stream, event["data"])
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            # What an edited event holds can be anything; the audit survives it and says where.
            result.differs(position, "readable", "an event of its kind", type(error).__name__)

    def _read(self, row: StoredRow) -> Data:
        position, stream, version, data = row
        result = self.result
        event: Data = orjson.loads(data)
        if orjson.dumps(event, option=_CANONICAL) != data or list(event) != _MEMBERS:
            result.differs(position, "canonical", "the canonical form", "another")
        if (event["position"], event["stream"], event["version"]) != (position, stream, version):
            said = f"{event['stream']} {event['version']} at {event['position']}"
            result.differs(position, "place", f"{stream} {version} at {position}", said)
        recorded_at = event["recorded_at"]
        if len(recorded_at) != _TIME_CHARACTERS or recorded_at[-1] != "Z":
            raise ValueError(recorded_at)
        if recorded_at <= result.ended:
            result.differs(position, "recorded_at", f"after {result.ended}", recorded_at)
        result.ended = recorded_at
        result.began = result.began or recorded_at
        return event

    def _count_version(self, stream: str, version: int, position: int) -> None:
        streams = self.result.streams
        known = streams.get(stream)
        if known is None:
            streams[stream] = StreamPart(position, version, version)
            return
        if version != known.last_version + 1:
            self.result.differs(position, "version", known.last_version + 1, version)
        streams[stream] = known._replace(last_version=version)

    def move(self, position: int, data: Data, amount: int) -> WalletPart:
        """Add minor units to the wallet of the event's player, and compare what it says it holds then."""
        player, after = data["player"], data["balance_after"]
        wallets = self.result.wallets
        wallet = wallets.get(player)
        if wallet is None:
            wallet = wallets[player] = WalletPart(after - amount, after, position, position)
        else:
            if wallet.closing + amount != after:
                self.result.differs(position, "balance_after", wallet.closing + amount, after)
            wallet.closing, wallet.last = after, position
        if after < 0:
            self.result.differs(position, "balance_after", "0 or more", after)
        return wallet

    # ── At the end ──────────────────────────────────────────────────────────────────────────────────────────
    def end(self) -> None:
        """Derive the rounds that are all here; the others are left to the merging."""
        for stream, (rows, events) in self.rounds.items():
            ruleset = None
            if len(rows) == len(events) and rounds.complete(events):
                ruleset = self.context.rulesets.get(rounds.ruleset_of(events))
            if ruleset is None:
                self.result.fragments[stream] = rows
            else:
                rounds.audit_round(self.result, events, ruleset)


def _wallet_opened(part: _Partition, position: int, stream: str, data: Data) -> None:
    player = data["player"]
    if player in part.result.wallets or stream != f"wallet-{player}":
        part.result.differs(position, "wallet", "opened once, in its own stream", player)
        return
    opened = data["account_class"], data["currency"]
    part.result.wallets[player] = WalletPart(0, 0, position, position, opened=opened)


def _deposited(part: _Partition, position: int, stream: str, data: Data) -> None:
    _transfer(part, position, stream, data, data["amount"])


def _withdrawn(part: _Partition, position: int, stream: str, data: Data) -> None:
    _transfer(part, position, stream, data, -data["amount"])


def _transfer(part: _Partition, position: int, stream: str, data: Data, amount: int) -> None:
    if stream != f"wallet-{data['player']}":
        part.result.differs(position, "wallet", stream, data["player"])
    part.move(position, data, amount).transferred += amount


def _staked(part: _Partition, position: int, _: str, data: Data) -> None:
    part.move(position, data, -data["amount"])


def _exchanged(part: _Partition, position: int, _: str, data: Data) -> None:
    part.move(position, data, -data["fee"])


def _side_bet(part: _Partition, position: int, stream: str, data: Data) -> None:
    part.move(position, data, -data["amount"])
    if "contribution" not in data:
        return
    jackpot, contribution, overflow = (
        data["jackpot_id"],
        exact(data["contribution"]),
        _exact(data, "overflow"),
    )
    pot = pots.pot(part.result, jackpot, position)
    opened = part.rounds[stream][1][0]
    if opened["type"] == "RoundOpened":
        ceiling = opened["data"]["jackpot"].get("ceiling")
        ceiling = None if ceiling is None else ceiling * MINOR
        pots.bet(pot, ceiling, contribution, overflow, position)
    else:
        meter = pot.moved[pots.METER]
        part.result.bets_elsewhere.append(
            BetElsewhere(position, stream, jackpot, meter, contribution, overflow)
        )
        pots.move(pot, pots.METER, contribution - overflow)
        pot.moved_at = position
    pots.move(pot, pots.OVERFLOW, overflow)
    pots.move(pot, pots.DIVERSION, _exact(data, "diversion"))


def _settled(part: _Partition, position: int, _: str, data: Data) -> None:
    back = sum(bet["returned"] + (0 if bet["bet"] == "jackpot" else bet["won"]) for bet in data["bets"])
    part.move(position, data, back)


def _hit(part: _Partition, position: int, _: str, data: Data) -> None:
    part.move(position, data, data["award"])
    result, jackpot = part.result, data["jackpot_id"]
    pot = pots.pot(result, jackpot, position)
    released, diverted = _exact(data, "from_overflow"), _exact(data, "restart_from_diversion")
    pots.link(result, pot, data["previous_position"], position)
    pots.count_hit(result, pot, data["order"], position)
    pots.says(result, jackpot, pots.METER, exact(data["meter_before"]), position)
    pots.move(pot, pots.METER, -exact(data["from_meter"]))
    pots.move(pot, pots.METER, _exact(data, "restart") + released)
    pots.says(result, jackpot, pots.METER, exact(data["meter_after"]), position)
    pots.move(pot, pots.OVERFLOW, -released)
    pots.move(pot, pots.DIVERSION, -diverted)
    pot.moved_at = position


def _reversed(part: _Partition, position: int, _: str, data: Data) -> None:
    result, jackpot = part.result, data["jackpot_id"]
    pot = pots.pot(result, jackpot, position)
    pots.link(result, pot, data["previous_position"], position)
    pots.says(result, jackpot, pots.METER, exact(data["meter_before"]), position)
    pots.move(pot, pots.METER, -exact(data["from_meter"]))
    pots.says(result, jackpot, pots.METER, exact(data["meter_after"]), position)
    pots.move(pot, pots.OVERFLOW, -_exact(data, "from_overflow"))
    pots.move(pot, pots.DIVERSION, -_exact(data, "from_diversion"))
    pot.moved_at = position


def _refunded(part: _Partition, position: int, _: str, data: Data) -> None:
    part.move(position, data, data["amount"])


def _ruleset_published(part: _Partition, position: int, _: str, data: Data) -> None:
    content = orjson.dumps(data["content"], option=_CANONICAL)
    part.result.published.append(
        Published(position, "ruleset", data["ruleset_id"], data["ruleset_version"], data["sha256"], content)
    )


def _parameters(part: _Partition, position: int, _: str, data: Data) -> None:
    jackpot, version = data["jackpot_id"], data["parameters_version"]
    part.result.published.append(Published(position, "jackpot", jackpot, version, data["sha256"]))


def _jackpot_opened(part: _Partition, position: int, stream: str, data: Data) -> None:
    _parameters(part, position, stream, data)
    pots.opened(part.result, position, data)


def _activated(part: _Partition, position: int, stream: str, data: Data) -> None:
    _parameters(part, position, stream, data)
    pots.activated(part.result, position, data)


def _exact(data: Data, name: str) -> int:
    return exact(data[name]) if name in data else 0


_TAKE: Final[dict[str, Callable[[_Partition, int, str, Data], None]]] = {
    "WalletOpened": _wallet_opened,
    "Deposited": _deposited,
    "Withdrawn": _withdrawn,
    "AntePlaced": _staked,
    "Raised": _staked,
    "CardExchanged": _exchanged,
    "SideBetPlaced": _side_bet,
    "Settled": _settled,
    "JackpotHit": _hit,
    "ContributionReversed": _reversed,
    "StakeRefunded": _refunded,
    "RulesetPublished": _ruleset_published,
    "JackpotOpened": _jackpot_opened,
    "JackpotParametersActivated": _activated,
    "JackpotAdjusted": lambda part, position, _, data: pots.adjusted(part.result, position, data),
    "JackpotTransferred": lambda part, position, _, data: pots.transferred(part.result, position, data),
}
