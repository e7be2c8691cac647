"""A round that is in a ledger twice, under one stream: alone each of the two is as it has to be."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

import orjson
import pytest

from domain import commands as c
from infrastructure.audit.merging import Merger
from infrastructure.audit.partition import audit_partition
from infrastructure.audit.results import Context, Finding, Outcome, StoredRow
from tests.unit.infrastructure.ledgers import furnished, stake

Rows = list[StoredRow]


def played() -> Rows:
    """The events of a ledger on which one round was played, and another one is open."""
    process = furnished(players=3)
    process.do(c.OpenRound("r-1", "pots", (stake(1),), deal=True), c.Decide("r-1", 1, "fold"))
    process.do(c.OpenRound("r-2", "pots", (stake(2),), deal=True))
    found = []
    for event in process.ledger.events:
        said = orjson.loads(event.data)
        found.append((said["position"], said["stream"], said["version"], event.data))
    return found


def again(rows: Rows, stream: str) -> Rows:
    """Play a round once more, in its own stream and from its own deck, as whoever knows the cards would."""
    events = [orjson.loads(row[3]) for row in rows if row[1] == stream]
    balances = [event["data"]["balance_after"] for event in events if "balance_after" in event["data"]]
    moved = balances[-1] - 1_000_000
    last = orjson.loads(rows[-1][3])
    made = []
    for number, event in enumerate(events, 1):
        at = datetime.fromisoformat(last["recorded_at"]) + timedelta(microseconds=number)
        event |= {"position": last["position"] + number, "recorded_at": f"{at:%Y-%m-%dT%H:%M:%S.%fZ}"}
        if "balance_after" in event["data"]:
            event["data"]["balance_after"] += moved
        stored = orjson.dumps(event, option=orjson.OPT_SORT_KEYS)
        made.append((event["position"], stream, event["version"], stored))
    return made


def audited(rows: Rows, *cuts: int) -> Outcome:
    """Audit events, in partitions that begin at these."""
    contents = [orjson.loads(row[3])["data"].get("content") for row in rows if row[1].startswith("ruleset-")]
    encoded = [orjson.dumps(each, option=orjson.OPT_SORT_KEYS) for each in contents if each is not None]
    context = Context({hashlib.sha256(each).hexdigest(): each for each in encoded})
    with Merger(context) as merger:
        for begin, end in zip((0, *cuts), (*cuts, len(rows)), strict=True):
            merger.add(audit_partition(rows[begin:end], context))
        return merger.finish()


@pytest.mark.parametrize("apart", [False, True], ids=["in one partition", "each in its own"])
def test_a_round_that_is_played_twice_is_found(*, apart: bool) -> None:
    """Its stream has a second beginning, wherever the first one was."""
    rows = played()
    cuts = (len(rows),) if apart else ()
    assert audited(rows, *cuts).found == 0
    twice = rows + again(rows, "round-r-1")

    outcome = audited(twice, *cuts)

    first = next(row[0] for row in rows if row[1] == "round-r-1")
    expected = Finding(len(rows) + 1, "round", "a round of its own", f"the one of position {first} again")
    assert outcome.findings == [expected]


def test_a_round_that_begins_again_and_does_not_end_is_found() -> None:
    """Stakes would stand open in it that nobody ever derives."""
    rows = played()
    twice = rows + again(rows, "round-r-1")[:-1]

    assert [found.what for found in audited(twice, len(rows)).findings] == ["round"]


@pytest.mark.parametrize("amount", [0.5, 5.0, True])
def test_money_that_is_not_whole_is_found(amount: float) -> None:
    """A part of a cent, or what only counts as a number, is no amount; nor is it canonical."""
    rows = played()
    last = orjson.loads(rows[-1][3])
    balance = 1_000_000 + amount
    event = last | {
        "data": {"amount": amount, "balance_after": balance, "player": "p0", "transaction_id": "t"},
        "position": len(rows) + 1,
        "recorded_at": "2099-01-01T00:00:00.000000Z",
        "stream": "wallet-p0",
        "type": "Deposited",
        "version": 3,
    }
    rows.append((len(rows) + 1, "wallet-p0", 3, orjson.dumps(event, option=orjson.OPT_SORT_KEYS)))

    assert [found.what for found in audited(rows).findings] == ["readable"]
