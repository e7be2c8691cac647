"""A whole round in the audit: derived again, and its figures and the house's money added up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import orjson

from domain.replay import Report, replay
from infrastructure.audit.results import Figures, PartResult, Span
from infrastructure.checking.exact import MINOR, exact

Data = dict[str, Any]
Event = dict[str, Any]

_JACKPOT: Final = "jackpot"
_STAKES: Final = {
    "AntePlaced": "amount",
    "SideBetPlaced": "amount",
    "Raised": "amount",
    "CardExchanged": "fee",
}


def complete(events: Sequence[Event]) -> bool:
    """Whether these are all events of a round that has ended, if nobody tampered with them."""
    if events[0]["type"] != "RoundOpened":
        return False
    antes = sum(event["type"] == "AntePlaced" for event in events)
    ended = {event["type"] for event in events}
    if "RoundVoided" in ended:
        return antes == sum(event["type"] == "StakeRefunded" for event in events)
    return "RoundClosed" in ended


def ruleset_of(events: Sequence[Event]) -> str:
    """The SHA-256 of the rule set that a round names."""
    sha256: str = events[0]["data"]["ruleset"]["sha256"]
    return sha256


def audit_round(result: PartResult, events: Sequence[Event], ruleset: bytes) -> None:
    """Derive a round again; what it came to, and what is wrong with it, is added to the result."""
    report = replay(events, _document(ruleset))
    if report.verdict != "pass":
        _tell(result, events, report)
    opened = events[0]["data"]
    position = events[0]["position"]
    pin(result, "ruleset", opened["ruleset"], position)
    if _JACKPOT in opened:
        pin(result, _JACKPOT, opened[_JACKPOT], position)
    house = opened["account_class"], opened["currency"], opened["ruleset"]["id"]
    figures = result.figures.get(house)
    if figures is None:
        figures = result.figures[house] = Figures()
    figures.rounds += 1
    got = 0
    for event in events:
        got += _house_got(figures, event["type"], event["data"])
    result.house[house] = result.house.get(house, 0) + got


def unfinished(events: Sequence[Event]) -> tuple[int, int]:
    """What is on game in a round that has not ended (minor units), and what the house got by it (exact)."""
    on_game = got = 0
    ignored = Figures()
    for event in events:
        kind, data = event["type"], event["data"]
        got += _house_got(ignored, kind, data)
        if kind in _STAKES:
            on_game += data[_STAKES[kind]]
        elif kind == "Settled":
            on_game -= sum(bet["stake"] for bet in data["bets"])
        elif kind == "StakeRefunded":
            on_game -= data["amount"]
    return on_game, got


@lru_cache(maxsize=64)
def _document(ruleset: bytes) -> Mapping[str, Any]:
    document: Mapping[str, Any] = orjson.loads(ruleset)
    return document


def pin(result: PartResult, kind: str, named: Data, position: int) -> None:
    """Note that a round relied on rules or parameters."""
    key = kind, named["id"], named["version"], named["sha256"]
    span = result.pinned.get(key)
    if span is None:
        result.pinned[key] = Span(position, position)
    else:
        result.pinned[key] = Span(min(span.first, position), max(span.last, position))


def _tell(result: PartResult, events: Sequence[Event], report: Report) -> None:
    """Every failed check, at the first event that it names, else at the round's first."""
    places = {event["version"]: event["position"] for event in events}
    for check in report.checks:
        if check.result == "fail":
            version = None
            if isinstance(check.actual, list) and check.actual and isinstance(check.actual[0], dict):
                version = check.actual[0].get("version")
            position = places.get(version, events[0]["position"])
            result.differs(position, f"replay.{check.check}", _json(check.expected), _json(check.actual))


def _json(value: object) -> str:
    return orjson.dumps(value, default=str).decode()


def _house_got(figures: Figures, kind: str, data: Data) -> int:
    """What the house got by an event, exact; the figures are added to."""
    if kind == "Settled":
        figures.hands += 1
        return _settled(figures, data)
    if kind == "SideBetPlaced" and "contribution" in data:
        return -exact(data["contribution"]) - _exact(data, "diversion")
    if kind == "JackpotHit":
        figures.jackpot_won += data["award"]
        return _exact(data, "restart_from_diversion") - _exact(data, "restart") - exact(data["from_house"])
    if kind == "ContributionReversed":
        return exact(data["from_meter"]) + _exact(data, "from_overflow") + _exact(data, "from_diversion")
    if kind == "StakeRefunded":
        figures.refunded += data["amount"]
    elif kind == "RoundVoided":
        figures.void += 1
    return 0


def _settled(figures: Figures, data: Data) -> int:
    staked = returned = won = 0
    for bet in data["bets"]:
        staked += bet["stake"]
        returned += bet["returned"]
        if bet["bet"] != _JACKPOT:  # its win is JackpotHit's
            won += bet["won"]
    figures.staked += staked
    figures.returned += returned
    figures.won += won
    return (staked - returned - won) * MINOR


def _exact(data: Data, name: str) -> int:
    return exact(data[name]) if name in data else 0
