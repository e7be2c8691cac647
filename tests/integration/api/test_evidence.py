"""A finished round's evidence file: what is in it, that all of it holds, and what is not in it yet."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import psycopg
import pytest

from api.log import checkpoints
from api.play.evidence import evidence
from infrastructure.evidence import files, folder, merkle
from infrastructure.evidence.folder import Generation, LogFolder
from infrastructure.evidence.notes import Checkpoint, Note, parse_checkpoint, parse_note, parse_vkey, verify
from infrastructure.reading import FoundRound, Reading
from tests.integration.made_log import SIGNER, WITNESS, checkpoint, make_log

if TYPE_CHECKING:
    from tests.integration.api.conftest import Api

MILLISECONDS_MAX = 20
TEN_MILLION = 10_000_000


@pytest.fixture(scope="module")
def stage(api: Api) -> Api:
    """Yield a service with a table, a jackpot and two players."""
    api.jackpot("j")
    api.table("t", jackpot_id="j")
    api.player("anna")
    api.player("bob")
    return api


@pytest.fixture(scope="module")
def closed(stage: Api) -> str:
    """Yield a closed round of two seats."""
    seats = [stage.seat(1, "anna", side_bets={"jackpot": 100}), stage.seat(2, "bob")]
    round_id = str(stage.open("t", *seats, deal=True)["round_id"])
    stage.decide(round_id, 1, "raise")
    stage.decide(round_id, 2, "fold")
    return round_id


def stored(api: Api) -> list[bytes]:
    """Return all events of the ledger."""
    with psycopg.connect(api.admin_dsn) as connection:
        rows = connection.execute(f"SELECT data FROM {api.schema}.events ORDER BY position").fetchall()
    return [data for (data,) in rows]


def canonical(value: Any) -> bytes:
    """Return canonical JSON."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def tree_of(document: dict[str, Any]) -> tuple[Note, Checkpoint]:
    """Return the checkpoint of a file, its signature verified by the file's own keys."""
    log = document["log"]
    note = parse_note(log["checkpoint"].encode())
    signed = verify(note, map(parse_vkey, log["keys"]))
    assert [each.verifier.vkey for each in signed] == log["keys"]
    tree = parse_checkpoint(note.text)
    assert tree.origin == log["origin"] == signed[0].name
    return note, tree


def hashes(texts: list[str]) -> list[bytes]:
    """Return hashes that are given in base64."""
    return [base64.b64decode(text, validate=True) for text in texts]


def check(data: bytes) -> dict[str, Any]:
    """Check a file by itself, with nothing of the ledger's but RFC 6962, and return what is in it."""
    document: dict[str, Any] = orjson.loads(data)
    assert data == canonical(document)
    rest = {name: value for name, value in document.items() if name != "sha256"}
    assert document["sha256"] == hashlib.sha256(canonical(rest)).hexdigest()
    tree = tree_of(document)[1]
    log = document["log"]
    assert len(log["proofs"]) == len(document["events"])
    for event, proof in zip(document["events"], log["proofs"], strict=True):
        leaf = (
            bytes.fromhex(event["leaf_sha256"]) if "withheld" in event else merkle.leaf_hash(canonical(event))
        )
        index = event["position"] - 1
        assert merkle.verify_inclusion(leaf, index, tree.size, hashes(proof), tree.root)
    earlier = log["earlier"]
    (root,) = hashes([earlier["root"]])
    proof = hashes(earlier["proof"])
    assert merkle.verify_consistency(earlier["size"], root, tree.size, tree.root, proof)
    return document


def test_a_file_proves_every_event_of_its_round(stage: Api, closed: str) -> None:
    """Canonical, hashed as a whole, each event in the signed tree, and the tree only grew since before it."""
    answer = stage.get(f"/v1/rounds/{closed}/evidence")
    assert answer.headers["content-disposition"] == f'attachment; filename="round-{closed}.json"'
    document = check(answer.content)
    assert set(document) == {
        "format", "round_id", "player", "events", "ruleset", "currency", "jackpot", "log", "sha256",
    }  # fmt: skip
    assert (document["format"], document["round_id"], document["player"]) == (
        "stud-ledger/evidence/2",
        closed,
        None,
    )
    events = stored(stage)
    mine = [data for data in events if orjson.loads(data)["stream"] == f"round-{closed}"]
    assert [canonical(event) for event in document["events"]] == mine
    earlier = document["log"]["earlier"]
    assert earlier["size"] == document["events"][0]["position"] - 1
    before = merkle.root_of(merkle.leaf_hashes(events[: earlier["size"]]))
    assert hashes([earlier["root"]]) == [before]


def test_one_players_file_proves_the_others_events_by_their_hashes(stage: Api, closed: str) -> None:
    """What is withheld keeps its place in the tree, and is proved like the rest."""
    document = check(stage.get(f"/v1/rounds/{closed}/evidence?player_id=anna").content)
    assert 0 < sum("withheld" in event for event in document["events"]) < len(document["events"]) / 2


def test_consistency_is_proved_from_a_checkpoint_that_was_kept(stage: Api, closed: str) -> None:
    """`since` names its size: nothing, before the round, within it, or the newest."""
    newest = stage.service.log.newest()
    assert newest is not None
    events = stored(stage)
    for since in (0, 1, newest.size - 1, newest.size):
        document = check(stage.get(f"/v1/rounds/{closed}/evidence", params={"since": since}).content)
        earlier = document["log"]["earlier"]
        kept = merkle.root_of(merkle.leaf_hashes(events[:since]))
        assert (earlier["size"], hashes([earlier["root"]])) == (since, [kept])


@pytest.mark.parametrize("since", ["-1", "x", "9007199254740992", "1.5"])
def test_a_since_that_is_no_size_is_refused(stage: Api, closed: str, since: str) -> None:
    """It is a count of events."""
    path = f"/v1/rounds/{closed}/evidence?since={since}"
    assert stage.refused("validation_failed", 422, stage.get(path))["errors"][0]["pointer"] == "/since"


def test_what_the_log_has_not_signed_is_not_ready(
    stage: Api, closed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer says to come back, after a bounded wait: so where no log is, and for a tree to come."""
    monkeypatch.setattr(checkpoints, "WAIT_SECONDS_MAX", 0.1)
    path = f"/v1/rounds/{closed}/evidence"
    for folder_, asked in (
        (stage.service.log, f"{path}?since={10**12}"),
        (LogFolder(Path("/nowhere")), path),
    ):
        monkeypatch.setattr(stage.service, "log", folder_)
        answer = stage.get(asked)
        stage.refused("evidence_not_ready", 409, answer)
        assert answer.headers["retry-after"] == "1"


def test_evidence_waits_for_the_log(stage: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks at the moment a round closes gets the file of that round."""
    monkeypatch.setattr(checkpoints, "WAIT_SECONDS_MAX", 20.0)  # on a machine that is busy, too
    for _ in range(3):
        round_id = stage.open("t", stage.seat(1, "anna"), deal=True)["round_id"]
        stage.decide(round_id, 1, "fold")
        answer = stage.get(f"/v1/rounds/{round_id}/evidence")
        assert answer.status_code == 200, answer.text
        check(answer.content)


@pytest.fixture
def other(stage: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generation:
    """Yield a log of the ledger's events, in a folder of its own, that the service reads instead."""
    log = make_log(tmp_path, stored(stage))
    monkeypatch.setattr(stage.service, "log", LogFolder(tmp_path))
    return log


def test_a_cosigned_checkpoint_comes_before_a_newer_one(stage: Api, closed: str, other: Generation) -> None:
    """If the witnesses' newest has the round, it is the one; their names are on it."""
    size = len(stored(stage)) - 1
    files.write(other.place / folder.COSIGNED, checkpoint(other, size, cosigned=True))
    document = check(stage.get(f"/v1/rounds/{closed}/evidence").content)
    note, tree = tree_of(document)
    assert tree.size == size
    assert [each.name for each in verify(note, [WITNESS.cosigner])] == [WITNESS.name]
    assert document["log"]["keys"] == [SIGNER.verifier.vkey]


def test_witnesses_that_lag_are_not_waited_for(
    stage: Api, other: Generation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round they have not cosigned gets the log's own checkpoint: at once if it is old, or soon."""
    files.write(other.place / folder.COSIGNED, checkpoint(other, 3, cosigned=True))
    round_id = stage.open("t", stage.seat(1, "anna"), deal=True)["round_id"]
    stage.decide(round_id, 1, "fold")
    events = stored(stage)
    make_log(other.place.parent, events)
    monkeypatch.setattr(checkpoints, "WAIT_SECONDS_MAX", 0.4)
    begun = time.monotonic()
    document = check(stage.get(f"/v1/rounds/{round_id}/evidence").content)
    assert time.monotonic() - begun >= 0.4
    assert tree_of(document)[1].size == len(events)
    monkeypatch.setattr(checkpoints, "WAIT_SECONDS_MAX", 600.0)
    monkeypatch.setattr(checkpoints, "WITNESS_SECONDS_MAX", -600.0)  # as if the round had long been over
    assert tree_of(check(stage.get(f"/v1/rounds/{round_id}/evidence").content))[1].size == len(events)


def test_keys_of_another_log_make_no_evidence(stage: Api, closed: str, other: Generation) -> None:
    """A folder whose checkpoint its keys did not sign is out of order: no file is made of it."""
    files.write(other.place / folder.KEYS, f"{WITNESS.verifier.vkey}\n".encode())
    stage.refused("overloaded", 503, stage.get(f"/v1/rounds/{closed}/evidence"))


def folded(api: Api, round_id: str) -> FoundRound:
    """Return a round as the service reads it."""

    async def read() -> FoundRound | None:
        reading = Reading(api.service.settings.dsn, api.schema, connections_max=1)
        await reading.open()
        try:
            return await reading.round(round_id)
        finally:
            await reading.close()

    found = asyncio.run(read())
    assert found is not None
    return found


def test_a_file_is_made_fast_at_any_size(stage: Api, closed: str, tmp_path: Path) -> None:
    """With ten million events in the log and none of it in memory it takes a few tiles and milliseconds."""
    found = folded(stage, closed)
    events = stored(stage)
    mine = [data for data in events if orjson.loads(data)["stream"] == f"round-{closed}"]
    log = make_log(tmp_path, events, TEN_MILLION)
    note = log.note()
    assert note is not None
    took = []
    for _ in range(5):
        cold = Generation(log.place)
        begun = time.process_time()
        data = evidence(found, mine, None, cold, note)
        took.append((time.process_time() - begun) * 1_000)
        assert len(cold._tiles) <= 8
    document = check(data)
    assert tree_of(document)[1].size == TEN_MILLION
    assert len(document["log"]["proofs"][0]) > 20
    assert min(took) < MILLISECONDS_MAX
