"""Alterations of a faultless round: what somebody with write access might do to its events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain.replay import replay
from tests.unit.domain.replay import honest_rounds as honest
from tests.unit.domain.replay.stream_builder import Stream, find

Events = list[dict[str, Any]]
Alteration = tuple[Callable[[], Stream], Callable[[Events], Any], tuple[str, ...]]
"""A faultless round, what is done to its events, and the checks that must then fail, no more and no fewer."""


def setting(kind: str, at: int | None = None, /, nth: int = 0, **fields: Any) -> Callable[[Events], None]:
    """Set fields of one event's data; None takes a field away."""

    def alter(events: Events) -> None:
        data = find(events, kind, at, nth)["data"]
        for name, value in fields.items():
            if value is None:
                del data[name]
            else:
                data[name] = value

    return alter


def bet(seat: int, name: str, **fields: Any) -> Callable[[Events], None]:
    """Set fields of one bet of a seat's `Settled`; the balance follows, so that only the bet is wrong."""

    def alter(events: Events) -> None:
        data = find(events, "Settled", seat)["data"]
        leg = next(leg for leg in data["bets"] if leg["bet"] == name)
        before = leg["returned"] + leg["won"]
        leg.update(fields)
        if name != "jackpot":
            data["balance_after"] += leg["returned"] + leg["won"] - before

    return alter


def dropping(kind: str, nth: int = 0) -> Callable[[Events], None]:
    """Leave one event out and close the gap in the versions."""

    def alter(events: Events) -> None:
        events.remove(find(events, kind, nth=nth))
        renumber(events)

    return alter


def moving(kind: str, seat: int | None, to: int) -> Callable[[Events], None]:
    """Move one event to another place of the stream and count anew."""

    def alter(events: Events) -> None:
        event = find(events, kind, seat)
        events.remove(event)
        events.insert(to, event)
        renumber(events)

    return alter


def repeating(kind: str, seat: int | None = None) -> Callable[[Events], None]:
    """Write one event twice."""

    def alter(events: Events) -> None:
        event = find(events, kind, seat)
        events.insert(events.index(event), {**event, "data": dict(event["data"])})
        renumber(events)

    return alter


def renumber(events: Events) -> None:
    """Count versions, positions and time anew; no position is next to another, so no balance is derivable."""
    for number, event in enumerate(events, 1):
        event["version"], event["position"] = number, 1000 + 2 * number
        event["recorded_at"] = f"2026-11-29T21:24:02.{number:06}Z"


def envelope(nth: int, **fields: Any) -> Callable[[Events], None]:
    """Set fields of one event's envelope."""
    return lambda events: events[nth].update(fields)


def parameters(**fields: Any) -> Callable[[Events], None]:
    """Set parameters of the round's table."""
    return lambda events: events[0]["data"]["parameters"].update(fields)


def seat_renamed(old: int, new: int) -> Callable[[Events], None]:
    """Give a seat another number everywhere."""

    def alter(events: Events) -> None:
        for event in events:
            if event["data"].get("seat") == old:
                event["data"]["seat"] = new

    return alter


def one_player(events: Events) -> None:
    """Let one player hold all seats; the positions are apart, so that balances are not derivable."""
    renumber(events)
    for event in events:
        if "player" in event["data"]:
            event["data"]["player"] = "p"


def revealed(events: Events) -> None:
    """Turn up a dealer's hand that stays closed."""
    event = find(honest.us_quads().events, "DealerQualified")
    events.insert(events.index(find(events, "Settled")), event)
    renumber(events)


def exchanged(events: Events) -> None:
    """Sell a card at a house that sells none."""
    event = find(honest.czech_exchange().events, "CardExchanged")
    event["data"] |= {"player": "p-1", "discard": "9c", "drawn": "8c", "forfeited": [], "fee": 1_000}
    event["stream"] = "round-r-1"
    events.insert(events.index(find(events, "Raised")), event)
    renumber(events)


def voided(events: Events) -> None:
    """Declare a round void that has paid already, and refund it."""
    refunds = [find(honest.void_misdeal().events, kind) for kind in ("RoundVoided", "StakeRefunded")]
    refunds[0]["data"]["cause"] = "malfunction"
    refunds[1]["data"] |= {"seat": 3, "player": "p-3"}
    events[-1:] = [{**refund, "stream": "round-r-1"} for refund in refunds]
    renumber(events)


def undeserved(events: Events) -> None:
    """Pay an award that no hand earned."""
    settled = find(events, "Settled", 1)
    data = find(honest.us_quads().events, "JackpotHit")["data"]
    event = {**settled, "type": "JackpotHit", "data": {**data, "seat": 1, "player": "p-1"}}
    events.insert(events.index(settled), event)
    renumber(events)


def hit(seat: int, **fields: Any) -> Callable[[Events], None]:
    """Set fields of a seat's award; what follows for balances is left alone."""
    return setting("JackpotHit", seat, **fields)


def failed(stream: Stream, events: Events) -> list[str]:
    """The names of the checks that fail for these events, in alphabetical order."""
    return sorted(replay(events, stream.document, stream.jackpot).failed())


def altered(alteration: Alteration) -> tuple[list[str], list[str]]:
    """The names of the checks that should fail, and of those that do."""
    play, alter, checks = alteration
    stream = play()
    events = stream.copy()
    alter(events)
    return sorted(checks), failed(stream, events)


def added(events: Events) -> None:
    """Add a bet to a settlement that nobody placed."""
    leg = {"bet": "bonus", "stake": 0, "returned": 0, "won": 0}
    find(events, "Settled")["data"]["bets"].append(leg)
