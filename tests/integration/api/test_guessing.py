"""Open rounds keep their secrets from whoever reads the log's open files (G5).

A leaf's hash is open the moment it is signed, and there are few things an open round can hide: a guess that
is hashed would say whether it was right. The attacker of these tests knows every other byte of the event and
all that is open, and tries everything that could stand there. What stops them is the salt alone: given the
salt, or where an event had none, they find it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import orjson
import psycopg
import pytest

from domain.cards import DECK
from infrastructure.evidence import merkle
from infrastructure.evidence.folder import LogFolder
from infrastructure.evidence.notes import parse_checkpoint, parse_note
from infrastructure.evidence.tiles import tile_path, width_at
from tests.integration.made_log import make_log

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.api.conftest import Api

Event = dict[str, Any]
SEAL_SECONDS_MAX = 30.0


@pytest.fixture(scope="module")
def opened(api: Api) -> dict[str, Event]:
    """Yield the events of an open round in which one hand was folded: its stakes, hands and decisions.

    All of them are sealed, and beside them those of a finished round, which are known to everybody.
    """
    api.table("t", "nordic")
    for name in ("anna", "bob", "carl"):
        api.player(name)
    ended = api.open("t", api.seat(1, "carl"), deal=True)["round_id"]
    api.decide(ended, 1, "fold")
    round_id = api.open("t", api.seat(1, "anna", ante=2_700), api.seat(2, "bob"), deal=True)["round_id"]
    api.decide(round_id, 1, "fold")
    events = [each for each in everything(api) if each["stream"] == f"round-{round_id}"]
    wait_until_sealed(api, events[-1]["position"])
    found: dict[str, Event] = {}
    for event in events:
        found.setdefault(event["type"], event)
    assert found["Dealt"]["data"]["to"] == "seat"
    return found


def everything(api: Api) -> list[Event]:
    """Return all events of the ledger."""
    with psycopg.connect(api.admin_dsn) as connection:
        rows = connection.execute(f"SELECT data FROM {api.schema}.events ORDER BY position").fetchall()
    return [orjson.loads(data) for (data,) in rows]


def wait_until_sealed(api: Api, position: int) -> None:
    """Wait until the log has signed an event."""
    end = time.monotonic() + SEAL_SECONDS_MAX
    while api.client.get(f"/log/proof/{position}").status_code != 200:
        assert time.monotonic() < end, "the log does not sign"
        time.sleep(0.02)


def leaf_in_tile(api: Api, position: int) -> bytes:
    """Return an event's hash as anybody can read it, without a token."""
    size = parse_checkpoint(parse_note(api.client.get("/log/checkpoint").content).text).size
    number, at = divmod(position - 1, 256)
    answer = api.client.get(f"/log/{tile_path(0, number, width_at(0, number, size))}")
    assert answer.status_code == 200
    return answer.content[at * 32 : at * 32 + 32]


# ── The attacker ────────────────────────────────────────────────────────────────────────────────────────────
def hands(event: Event) -> Iterator[Event]:
    """What a hand could be to somebody who knows three of its cards already."""
    *known, _, _ = event["data"]["cards"]
    for fourth, fifth in itertools.permutations(sorted(set(DECK) - set(known)), 2):
        yield {**event, "data": {**event["data"], "cards": [*known, fourth, fifth]}}


def stakes(event: Event) -> Iterator[Event]:
    """What an ante could be, to somebody who knows what the wallet held before."""
    data = event["data"]
    before = data["balance_after"] + data["amount"]
    for amount in range(100, 100_001, 100):
        yield {**event, "data": {**data, "amount": amount, "balance_after": before - amount}}


def decisions(event: Event) -> Iterator[Event]:
    """Whether a hand was folded, or by whom."""
    for by in ("player", "timeout", "operator"):
        yield {**event, "type": "Folded", "data": {"seat": event["data"]["seat"], "decided_by": by}}


def guess(leaf: bytes, candidates: Iterable[Event], salts: Iterable[str | None]) -> Event | None:
    """Return the event that has this leaf hash: one of these with one of the salts, or with none."""
    tried = list(salts)
    for event in candidates:
        bare = {name: value for name, value in event.items() if name != "salt"}
        for salt in tried:
            whole = bare if salt is None else {**bare, "salt": salt}
            if merkle.leaf_hash(orjson.dumps(whole, option=orjson.OPT_SORT_KEYS)) == leaf:
                return event
    return None


CASES = [("Dealt", hands), ("AntePlaced", stakes), ("Folded", decisions)]


@pytest.mark.parametrize(("kind", "candidates"), CASES)
def test_an_open_rounds_event_cannot_be_guessed(
    api: Api, opened: dict[str, Event], kind: str, candidates: Any
) -> None:
    """With every salt that is known of other events, with empty ones and with none, nothing is found."""
    event = opened[kind]
    leaf = leaf_in_tile(api, event["position"])
    others = [each["salt"] for each in everything(api) if each["stream"] != event["stream"]]
    others = [*others[-6:], "", "A" * 22]
    assert event["salt"] not in others
    assert guess(leaf, candidates(event), [*others, None]) is None


@pytest.mark.parametrize(("kind", "candidates"), CASES)
def test_the_same_attacker_finds_it_with_the_salt(
    api: Api, opened: dict[str, Event], kind: str, candidates: Any
) -> None:
    """It is not that the guessing is bad: with the salt the event is found among the same candidates."""
    event = opened[kind]
    leaf = leaf_in_tile(api, event["position"])
    assert guess(leaf, candidates(event), [event["salt"]]) == event


@pytest.mark.parametrize(("kind", "candidates"), CASES)
def test_the_same_attacker_finds_it_where_there_is_no_salt(
    opened: dict[str, Event], tmp_path: Path, kind: str, candidates: Any
) -> None:
    """Had events no salt, the open tile of such a log would give the round away."""
    event = opened[kind]
    bare = {name: value for name, value in event.items() if name != "salt"}
    make_log(tmp_path, [b"another", orjson.dumps(bare, option=orjson.OPT_SORT_KEYS)])
    log = LogFolder(tmp_path).current
    assert log is not None
    assert guess(log.tile(0, 0, 2)[32:], candidates(event), [None]) == event


def test_no_two_events_have_one_salt(api: Api, opened: dict[str, Event]) -> None:
    """A salt that is disclosed with one event says nothing about another: each has its own 16 bytes."""
    salts = [each["salt"] for each in everything(api)]
    assert len(salts) > opened["Folded"]["position"] - 1
    assert len(set(salts)) == len(salts)
    assert {len(salt) for salt in salts} == {22}


def test_an_open_rounds_events_are_in_no_bundle(api: Api, opened: dict[str, Event]) -> None:
    """Even the auditor gets the events around it, and those of an open round when it has ended."""
    first = opened["RoundOpened"]["position"]
    assert first < 256  # they are in the first bundle
    fine = api.get(f"/log/tile/entries/000.p/{first - 1}", scope="audit")
    assert fine.status_code == 200
    assert b"RoundClosed" in fine.content
    for width in (first, first + 1, opened["Folded"]["position"]):
        answer = api.get(f"/log/tile/entries/000.p/{width}", scope="audit")
        assert api.refused("entries_not_ready", 404, answer)["detail"].startswith("A round with an event")
    api.decide(opened["RoundOpened"]["stream"].removeprefix("round-"), 2, "fold")
    whole = api.get(f"/log/tile/entries/000.p/{opened['Folded']['position']}", scope="audit")
    assert whole.status_code == 200
    assert orjson.dumps(opened["Dealt"], option=orjson.OPT_SORT_KEYS) in whole.content
