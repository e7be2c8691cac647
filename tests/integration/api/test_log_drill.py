"""The drill: a ledger comes back from a backup that is older than what its log has signed.

The backup is a copy of the database, taken between two starts of the service; log and keys are outside it,
as they have to be. What was proved of the lost events stays proved, and the ledger goes on in a new log that
says what was lost.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from infrastructure import log_keys
from infrastructure.evidence.folder import LogFolder
from infrastructure.evidence.merkle import verify_consistency, verify_inclusion
from infrastructure.evidence.notes import parse_checkpoint, parse_note, parse_vkey, verify
from tests.integration.api.conftest import Api, running
from tests.integration.api.individuals import Individual
from tests.integration.copied_ledger import eventually

if TYPE_CHECKING:
    from infrastructure.evidence.notes import Checkpoint

ANNA, BEN = Individual("anna"), Individual("ben")
SCHEMA = "log_drill"
VERIFIER = Path(__file__).parents[3] / "scripts" / "verify.py"

service = contextlib.contextmanager(running)


def hand(api: Api) -> str:
    """Play a hand; return the round's id."""
    round_id: str = api.open("table-1", api.seat(1, "anna"), deal=True)["round_id"]
    assert api.decide(round_id, 1, "raise")["phase"] == "closed"
    return round_id


def signed(api: Api, vkey: str, prefix: str = "/log") -> tuple[Checkpoint, bytes]:
    """Return a log's newest checkpoint, its signature verified, and its note."""
    answer = api.client.get(f"{prefix}/checkpoint")
    assert answer.status_code == 200, answer.text
    note = parse_note(answer.content)
    assert [each.verifier.vkey for each in verify(note, [parse_vkey(vkey)])] == [vkey]
    return parse_checkpoint(note.text), answer.content


def sealed(api: Api) -> int:
    """Wait until the log has signed all there is; return how much that is."""

    def done() -> int:
        checkpoint = api.service.log.newest()
        head = events(api)[-1]
        return checkpoint.size if checkpoint is not None and checkpoint.size == head else 0

    size: int = eventually(done)
    return size


def events(api: Api, kind: str = "") -> list[Any]:
    """Return what the events of a kind say; of none, all positions."""
    query = sql.SQL("SELECT position, convert_from(data, 'UTF8')::jsonb FROM {}.events ORDER BY position")
    with psycopg.connect(api.admin_dsn) as connection:
        rows = connection.execute(query.format(sql.Identifier(api.schema))).fetchall()
    return [data["data"] for _, data in rows if data["type"] == kind] if kind else [at for at, _ in rows]


def evidence(api: Api, round_id: str) -> bytes:
    """Return a round's evidence, once the log has signed its events."""
    answer = eventually(
        lambda: (got := api.get(f"/v1/rounds/{round_id}/evidence")).status_code == 200 and got
    )
    return bytes(answer.content)


def proves(folder: Path, file: bytes, vkey: str) -> bool:
    """Say whether the offline verifier, alone, takes a file as proved by a key."""
    (folder / "evidence.json").write_bytes(file)
    command = [sys.executable, "-I", str(VERIFIER), "evidence.json", "--key", vkey, "--quiet"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (0, 1, 2), done.stderr
    return done.returncode == 0


def test_a_ledger_restored_behind_its_log_goes_on_in_a_new_one(database: str, tmp_path: Path) -> None:
    """Backup, play, restore: read-only; two people start a new log; what the old one proves stays proved."""
    keys = tmp_path / "keys"
    with service(database, keys, schema=SCHEMA) as api:
        for one in (ANNA, BEN):
            api.done(api.post("/v1/people", one.body))
        api.player("anna")
        api.table("table-1")
        kept = hand(api)
        old_key = api.done(api.get("/v1/log"))["keys"][0]
        sealed(api)
        earlier, _ = signed(api, old_key)
    backup = copied(database, "backup")

    with service(database, keys, schema=SCHEMA) as api:
        lost = hand(api)
        lost_file, kept_file = evidence(api, lost), evidence(api, kept)
        api.done(api.post("/v1/players/anna/deposits", {"amount": 5, "reference": "lost"}))
        last = sealed(api)
        old, old_note = signed(api, old_key)
        assert (old.size, last) == (last, events(api)[-1])
    assert proves(tmp_path, lost_file, old_key)

    with service(backup, keys, schema=SCHEMA) as api:
        api.refused("ledger_read_only", 503, api.client.get("/readyz"))
        told = api.done(api.get("/v1/log"))
        assert (told["reason"], told["signed"]) == ("behind", {"size": old.size, "root": old.root_text})
        behind_from = told["agree_to"] + 1
        refused = api.post("/v1/rounds", {"table_id": "table-1", "seats": [api.seat(1, "anna")]}, key="later")
        api.refused("ledger_read_only", 503, refused)
        assert api.done(api.get(f"/v1/rounds/{kept}"))["phase"] == "closed"
        api.refused("round_not_found", 404, api.get(f"/v1/rounds/{lost}"))
        assert signed(api, old_key) == (old, old_note)  # nothing was signed since

        new_key, started = new_log(api, keys, told["next_origin"])
        assert started["previous"] == {
            "origin": old.origin,
            "vkey": old_key,
            "size": old.size,
            "root": old.root_text,
            "lost_from": behind_from,
            "lost_to": old.size,
        }
        eventually(lambda: api.client.get("/readyz").status_code == 200)
        again = hand(api)
        new_size = sealed(api)
        new, _ = signed(api, new_key)
        assert (new.origin, new.size) == (told["next_origin"], new_size)
        for round_id in (kept, again):
            assert proves(tmp_path, evidence(api, round_id), new_key)
        answer = api.done(api.get(f"/v1/rounds/{again}"))
        assert answer["checkpoint"]["size"] >= new_size
        assert signed(api, old_key, "/log/1") == (old, old_note)
        still_signed(LogFolder(api.service.settings.log), earlier, old)
        for file in (lost_file, kept_file):
            assert proves(tmp_path, file, old_key)
            assert not proves(tmp_path, file, new_key)


def new_log(api: Api, keys: Path, origin: str) -> tuple[str, dict[str, Any]]:
    """Have two people start a new log; return its key, and what the event says that it starts with."""
    vkey = log_keys.create_next(keys, origin).verifier.vkey
    body = {"vkey": vkey, "note": "The disk was lost on Monday; Sunday's backup is what there is."}
    proposal = ANNA.post(api, "/v1/log/generations", body).json()
    assert BEN.decides(api, proposal["approval_id"]).status_code == 200
    started: dict[str, Any] = events(api, "LogStarted")[-1]
    assert (started["generation"], started["vkey"], started["origin"]) == (2, vkey, origin)
    assert (started["proposed_by"], started["approved_by"]) == ("anna", "ben")
    return vkey, started


def still_signed(log: LogFolder, earlier: Checkpoint, old: Checkpoint) -> None:
    """Check that the old log's folder still proves all that it has signed, its last event included."""
    before = log.generation(1)
    assert before.root(old.size) == old.root
    proof = before.consistency(earlier.size, old.size)
    assert verify_consistency(earlier.size, earlier.root, old.size, old.root, proof)
    last = old.size - 1
    path = before.inclusion(last, old.size)
    assert verify_inclusion(before.leaf_hash(last), last, old.size, path, old.root)


def copied(database: str, suffix: str) -> str:
    """Copy a database that nobody is connected to; return how to connect to the copy as its superuser."""
    name = conninfo_to_dict(database)["dbname"]
    copy = f"{name}_{suffix}"
    with psycopg.connect(make_conninfo(database, dbname="postgres"), autocommit=True) as connection:
        command = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        connection.execute(command.format(sql.Identifier(copy), sql.Identifier(str(name))))
    return make_conninfo(database, dbname=copy)
