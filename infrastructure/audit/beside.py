"""Events outside rounds in the audit of a partition: wallets, jackpots, rule sets, and all the others.

The others are known by their types alone: of the kinds of streams, each type belongs into one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import orjson

from infrastructure.audit import pots
from infrastructure.audit.results import PartResult, Published, StoredRow, StreamPart, WalletPart
from infrastructure.checking.beside_rounds import BESIDE_ROUNDS, WITHOUT_MONEY

Data = dict[str, Any]

_CANONICAL: Final = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
_MEMBERS: Final = ["data", "meta", "position", "recorded_at", "salt", "stream", "type", "version"]
_META: Final = frozenset(("actor", "command", "schema"))
_TIME_CHARACTERS: Final = len("2026-11-29T21:24:01.000000Z")
_SALT_CHARACTERS: Final = 22
_STREAM_OF: Final = {**{kind: stream for kind, (stream, _) in BESIDE_ROUNDS.items()}, **WITHOUT_MONEY}


def is_canonical(stored: bytes) -> bool:
    """Whether these are the bytes that their JSON is stored as. Raises ValueError where they are none."""
    return orjson.dumps(orjson.loads(stored), option=_CANONICAL) == stored


def take(result: PartResult, row: StoredRow) -> str:
    """Take an event of a stream that is no round's; return when it was recorded, as it says.

    Raises KeyError, TypeError, ValueError, AttributeError or OverflowError where it is none of its kind.
    """
    position, stream, version, stored = row
    kind = stream.partition("-")[0]
    _count_version(result, stream, kind, version, position)
    event: Data = orjson.loads(stored)
    if orjson.dumps(event, option=_CANONICAL) != stored or list(event) != _MEMBERS:
        result.differs(position, "canonical", "the canonical form", "another")
    same_place(result, row, event["position"], event["stream"], event["version"])
    recorded_at, meta = event["recorded_at"], event["meta"]
    if len(recorded_at) != _TIME_CHARACTERS or recorded_at[-1] != "Z":
        raise ValueError(recorded_at)
    if not meta.keys() >= _META or len(event["salt"]) != _SALT_CHARACTERS:
        result.differs(position, "envelope", "what every event has", "less")
    type_ = event["type"]
    if _STREAM_OF.get(type_) != kind:
        result.differs(position, "type", f"a type of a {kind}", type_)
    elif type_ in _TAKE:
        _TAKE[type_](result, position, stream, event["data"])
    time: str = recorded_at
    return time


def same_place(result: PartResult, row: StoredRow, position: object, stream: object, version: object) -> None:
    """Compare where an event is kept with where its bytes say that it is."""
    if (position, stream, version) != row[:3]:
        said = f"{stream} {version} at {position}"
        result.differs(row[0], "place", f"{row[1]} {row[2]} at {row[0]}", said)


def move(result: PartResult, position: int, player: str, amount: int, after: int) -> WalletPart:
    """Add minor units to a wallet, and compare what the event says that it holds then."""
    wallet = result.wallets.get(player)
    if wallet is None:
        wallet = result.wallets[player] = WalletPart(after - amount, after, position, position)
    else:
        if wallet.closing + amount != after:
            result.differs(position, "balance_after", wallet.closing + amount, after)
        wallet.closing, wallet.last = after, position
    return wallet


def _count_version(result: PartResult, stream: str, kind: str, version: int, position: int) -> None:
    if kind == "ledger":  # what happens to the ledger itself: each in a stream of its own
        if version != 1:
            result.differs(position, "version", 1, version)
        return
    known = result.streams.get(stream)
    if known is None:
        result.streams[stream] = StreamPart(position, version, version)
        return
    if version != known.last_version + 1:
        result.differs(position, "version", known.last_version + 1, version)
    result.streams[stream] = known._replace(last_version=version)


def _wallet_opened(result: PartResult, position: int, stream: str, data: Data) -> None:
    player = data["player"]
    if player in result.wallets or stream != f"wallet-{player}":
        result.differs(position, "wallet", "opened once, in its own stream", player)
        return
    opened = data["account_class"], data["currency"]
    result.wallets[player] = WalletPart(0, 0, position, position, opened=opened)


def _deposited(result: PartResult, position: int, stream: str, data: Data) -> None:
    _transfer(result, position, stream, data, data["amount"])


def _withdrawn(result: PartResult, position: int, stream: str, data: Data) -> None:
    _transfer(result, position, stream, data, -data["amount"])


def _transfer(result: PartResult, position: int, stream: str, data: Data, amount: int) -> None:
    if stream != f"wallet-{data['player']}":
        result.differs(position, "wallet", stream, data["player"])
    if type(data["amount"]) is not int or type(data["balance_after"]) is not int:
        raise TypeError("money is whole")  # JSON has fractions, and true counts as 1
    if data["balance_after"] < 0 or data["amount"] < 1:
        result.differs(position, "balance_after", "0 or more", data["balance_after"])
    move(result, position, data["player"], amount, data["balance_after"]).transferred += amount


def _ruleset_published(result: PartResult, position: int, _: str, data: Data) -> None:
    content = orjson.dumps(data["content"], option=_CANONICAL)
    named = data["ruleset_id"], data["ruleset_version"], data["sha256"]
    result.published.append(Published(position, "ruleset", *named, content))


def _parameters(result: PartResult, position: int, data: Data) -> None:
    named = data["jackpot_id"], data["parameters_version"], data["sha256"]
    result.published.append(Published(position, "jackpot", *named))


def _jackpot_opened(result: PartResult, position: int, _: str, data: Data) -> None:
    _parameters(result, position, data)
    if type(data["reset"]) is not int:
        raise TypeError("money is whole")
    pots.opened(result, position, data)


def _activated(result: PartResult, position: int, _: str, data: Data) -> None:
    _parameters(result, position, data)
    pots.activated(result, position, data)


def _adjusted(result: PartResult, position: int, _: str, data: Data) -> None:
    pots.adjusted(result, position, data)


def _transferred(result: PartResult, position: int, _: str, data: Data) -> None:
    pots.transferred(result, position, data)


_TAKE: Final[dict[str, Callable[[PartResult, int, str, Data], None]]] = {
    "WalletOpened": _wallet_opened,
    "Deposited": _deposited,
    "Withdrawn": _withdrawn,
    "RulesetPublished": _ruleset_published,
    "JackpotOpened": _jackpot_opened,
    "JackpotParametersActivated": _activated,
    "JackpotAdjusted": _adjusted,
    "JackpotTransferred": _transferred,
}
