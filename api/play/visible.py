"""Which events, and what of them, may leave the service (G5)."""

from __future__ import annotations

from typing import Any

import orjson

from infrastructure.evidence.merkle import leaf_hash
from infrastructure.reading import FoundRound


def hides_cards(found: FoundRound) -> bool:
    """Whether the round has cards on the table that lie face down still."""
    return found.rules.player_cards_down and not found.round.finished


def shown_event(stored: bytes, *, hides: bool) -> dict[str, Any]:
    """An event as it may be shown; with `hides`, the round's face-down cards are in none of it.

    The hash of an answer is left out then too: the answer had the cards, and there are few enough hands to
    try all.
    """
    event: dict[str, Any] = orjson.loads(stored)
    if not hides:
        return event
    if _has_hidden_cards(event):
        return {
            "position": event["position"],
            "stream": event["stream"],
            "version": event["version"],
            "type": event["type"],
            "withheld": True,
        }
    event["meta"].pop("shown", None)
    return event


def _has_hidden_cards(event: dict[str, Any]) -> bool:
    kind: str = event["type"]
    return kind == "CardExchanged" or (kind == "Dealt" and bool(event["data"]["to"] != "dealer"))


def evidence_events(stored: list[bytes], player: str | None) -> list[dict[str, Any]]:
    """A finished round's events; with a player, those of another's seat are withheld, by their leaf hash.

    An event names a seat or nobody, and who sits on it is said by its `AntePlaced`.
    """
    seats: dict[int, str] = {}
    shown: list[dict[str, Any]] = []
    for data in stored:
        event = orjson.loads(data)
        content = event["data"]
        if event["type"] == "AntePlaced":
            seats[content["seat"]] = content["player"]
        seat = content.get("seat")
        if player is None or seat is None or seats[seat] == player:
            shown.append(event)
        else:
            shown.append(_withheld(event, data))
    return shown


def _withheld(event: dict[str, Any], stored: bytes) -> dict[str, Any]:
    return {
        "position": event["position"],
        "stream": event["stream"],
        "version": event["version"],
        "withheld": True,
        "leaf_sha256": leaf_hash(stored).hex(),
    }
