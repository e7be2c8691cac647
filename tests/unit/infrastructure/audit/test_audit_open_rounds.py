"""Rounds that have not ended when an audit does: they are derived as far as they have come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from domain.replay.house import canonical
from infrastructure.audit import rounds
from infrastructure.audit.results import PartResult
from infrastructure.audit.rounds import Round
from tests.unit.domain.replay import honest_rounds as honest
from tests.unit.domain.replay.alterations import dropping
from tests.unit.domain.replay.honest_rounds import HONEST
from tests.unit.domain.replay.stream_builder import Stream

Events = list[dict[str, Any]]
NOW = "2026-11-29T21:25:00.000000Z"
LATER = "2026-11-29T23:00:00.000000Z"


def looked_at(stream: Stream, events: Events, until: str = NOW) -> list[str]:
    """What is wrong with a round as far as it has come."""
    ruleset = canonical(stream.document)
    assert ruleset is not None
    rows = [
        (each["position"], each["stream"], each["version"], orjson.dumps(each, option=orjson.OPT_SORT_KEYS))
        for each in events
    ]
    result = PartResult()
    rounds.look(result, Round.of(rows), ruleset, until)
    return [finding.what for finding in result.findings]


@pytest.mark.parametrize("play", HONEST, ids=lambda play: play.__name__)
def test_an_honest_round_is_right_after_each_of_its_events(play: Callable[[], Stream]) -> None:
    """Wherever the audit ends in it, what is still to come is no exception."""
    stream = play()
    events = stream.copy()

    for count in range(1, len(events)):
        assert looked_at(stream, events[:count]) == [], count


def test_what_was_paid_in_an_open_round_is_derived() -> None:
    """Whoever never closes a round does not keep its payments from being looked at."""
    stream = honest.rng_with_exchanges()
    events = stream.copy()
    dropping("RoundClosed")(events)
    paid = next(event for event in events if event["type"] == "Settled")
    paid["data"]["bets"][0]["won"] += 1_000

    assert "replay.settled.seat_1.ante" in looked_at(stream, events)


def test_money_back_in_an_open_round_is_found() -> None:
    """Stakes come back from a void round alone."""
    stream = honest.rng_with_exchanges()
    events = stream.copy()
    ante = next(event for event in events if event["type"] == "AntePlaced")
    events = events[: events.index(ante) + 1]
    amount, player = ante["data"]["amount"], ante["data"]["player"]
    data = {
        "amount": amount,
        "balance_after": ante["data"]["balance_after"] + amount,
        "bets": [{"bet": "ante", "stake": amount}],
        "player": player,
        "seat": ante["data"]["seat"],
    }
    refund = ante | {"data": data, "type": "StakeRefunded", "recorded_at": NOW}
    events.append(refund | {"position": ante["position"] + 1, "version": ante["version"] + 1})

    assert "replay.phases" in looked_at(stream, events)


def test_a_round_that_has_paid_has_to_end() -> None:
    """Until its seed is known its cards could be any: that it is settled in steps takes seconds."""
    stream = honest.rng_with_exchanges()
    events = stream.copy()
    dropping("RoundClosed")(events)

    assert looked_at(stream, events) == []
    assert looked_at(stream, events, LATER) == ["round"]
    betting = events[:3]
    assert looked_at(stream, betting, LATER) == []
