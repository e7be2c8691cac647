"""The evidence log over HTTP: who signs it, and how a ledger that it disagrees with goes on."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
import shutil
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import psycopg
import pytest
from psycopg import sql

from api.composition import compose
from infrastructure import log_keys
from infrastructure.bootstrap import NotReadyError
from infrastructure.evidence import folder
from infrastructure.evidence.folder import Head
from infrastructure.evidence.notes import Checkpoint, Signer, write_note
from tests.integration.api.conftest import Api, running
from tests.integration.api.individuals import Individual

if TYPE_CHECKING:
    import httpx

ANNA, BEN = Individual("anna"), Individual("ben")
NOTE = {"note": "As was agreed on Monday."}
ROOT = b"r" * 32

_numbers = itertools.count(1)
service = contextlib.contextmanager(running)


def events(api: Api, kind: str) -> list[dict[str, Any]]:
    """Return what the events of a kind say."""
    query = sql.SQL("SELECT data FROM {}.events ORDER BY position").format(sql.Identifier(api.schema))
    with psycopg.connect(api.admin_dsn) as connection:
        rows = [orjson.loads(data) for (data,) in connection.execute(query).fetchall()]
    return [row["data"] for row in rows if row["type"] == kind]


def state(api: Api) -> dict[str, Any]:
    """Return what is told of the log."""
    return dict(api.done(api.get("/v1/log")))


def people(api: Api) -> None:
    """Register two who may approve."""
    for one in (ANNA, BEN):
        api.done(api.post("/v1/people", one.body))


def proposed(api: Api, path: str, body: dict[str, Any], key: str | None = None) -> httpx.Response:
    """Have anna propose."""
    return ANNA.post(api, path, NOTE | body, key=key)


def agreed(api: Api, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Have anna propose and ben approve; return the approval."""
    answer = proposed(api, path, body)
    assert answer.status_code == 201, answer.text
    approved = BEN.decides(api, answer.json()["approval_id"])
    assert approved.status_code == 200, approved.text
    return dict(approved.json())


def signed(api: Api, size: int, root: bytes = ROOT, signer: Signer | None = None) -> Head:
    """Return a checkpoint as the log's own key signs it."""
    told = state(api)
    signer = signer or log_keys.load_for(api.service.settings.keys, told["keys"][0])
    checkpoint = Checkpoint(told["origin"], size, root)
    note = write_note(checkpoint.body(), [signer.sign(checkpoint.body())])
    return Head(told["generation"], checkpoint, note)


# ── A log that goes on ──────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture(scope="module", autouse=True)
def two_people(api: Api) -> None:
    """Register two administrators."""
    people(api)


def test_a_new_ledger_has_one_log_however_many_processes_start(api: Api, beside: Api) -> None:
    """It is named after its key, whose secret half is with the others, and its folder is marked."""
    told = state(beside)
    assert len(events(api, "LogStarted")) == 1
    assert (told["generation"], told["halted"], len(told["keys"])) == (1, False, 1)
    assert told["origin"].startswith("stud-ledger/")
    assert told["origin"].endswith("/1")
    assert told["keys"][0].startswith(f"{told['origin']}+")
    settings = api.service.settings
    assert log_keys.load_for(settings.keys, told["keys"][0]).name == told["origin"]
    assert folder.has_begun(settings.log, 1)
    assert api.client.get("/readyz").status_code == 200


def test_only_those_who_look_after_the_service_are_told(api: Api) -> None:
    """Whoever plays has the open files of the log, and no need for more."""
    api.refused("scope_missing", 403, api.get("/v1/log", scope="play cashier"))
    api.refused("unauthenticated", 401, api.client.get("/v1/log"))


def test_two_people_let_another_key_sign(api: Api) -> None:
    """The key is made where the service has its own; once approved it signs, and the old one stays known."""
    before = state(api)
    new = log_keys.create_next(api.service.settings.keys, before["origin"]).verifier.vkey
    approval = agreed(api, "/v1/log/keys", {"vkey": new})
    assert approval["effect"]["previous_vkey"] == before["keys"][0]
    assert state(api)["keys"] == [new, *before["keys"]]
    rotated = events(api, "LogKeyRotated")[-1]
    assert (rotated["proposed_by"], rotated["approved_by"]) == ("anna", "ben")
    assert len(rotated["note_sha256"]) == 64


def test_a_key_that_is_not_here_is_refused_the_same_way_for_ever(api: Api) -> None:
    """Nothing could sign with it. The refusal is the ledger's, so that a repeat gets it again (G3)."""
    stranger = Signer.from_seed(state(api)["origin"], b"x" * 32).verifier.vkey
    first, again = (proposed(api, "/v1/log/keys", {"vkey": stranger}, key="stranger") for _ in range(2))
    assert "no such key" in api.refused("validation_failed", 422, first)["detail"]
    assert again.json() == first.json()
    assert again.headers["idempotent-replayed"] == "true"


def test_one_person_lets_no_key_sign(api: Api) -> None:
    """Whoever proposed a key cannot approve it, and a service token cannot approve anything."""
    new = log_keys.create_next(api.service.settings.keys, state(api)["origin"]).verifier.vkey
    proposal = proposed(api, "/v1/log/keys", {"vkey": new}).json()
    api.refused("same_person", 403, ANNA.decides(api, proposal["approval_id"]))
    path = f"/v1/approvals/{proposal['approval_id']}"
    api.refused("personal_subject_required", 403, api.post(path, {"decision": "approve"}))
    assert new not in state(api)["keys"]


def test_a_log_that_goes_on_is_not_replaced(api: Api) -> None:
    """A new log is only for a ledger that is halted."""
    origin = f"{state(api)['origin'][:-1]}2"
    new = log_keys.create_next(api.service.settings.keys, origin).verifier.vkey
    refused = proposed(api, "/v1/log/generations", {"vkey": new})
    assert "not halted" in api.refused("validation_failed", 422, refused)["detail"]
    assert not folder.has_begun(api.service.settings.log, 2)


# ── A ledger that is not what was signed ────────────────────────────────────────────────────────────────────
@pytest.fixture
def played(database: str, tmp_path: Path) -> tuple[str, Path]:
    """Return schema and keys of a ledger on which a round is open, its service stopped."""
    with service(database, tmp_path / "keys", schema=f"log_life_{next(_numbers)}") as api:
        people(api)
        api.player("anna")
        api.table("table-1")
        api.open("table-1", api.seat(1, "anna"), deal=True)
        return api.schema, tmp_path / "keys"


def write_head(place: Path, head: Head) -> None:
    """Have a checkpoint be what was signed last."""
    (place / folder.HEAD).write_bytes(folder.head_text(head))


def test_a_ledger_behind_its_log_is_read_only_until_there_is_a_new_one(
    database: str, played: tuple[str, Path]
) -> None:
    """It says why, answers reads and the people who end it; then what was refused can be sent again."""
    schema, keys = played
    with service(database, keys, schema=schema) as api:
        position = api.done(api.client.get("/readyz"))["position"]
        head = signed(api, position + 500)
    write_head(api.service.settings.log, head)
    with service(database, keys, schema=schema) as api, service(database, keys, schema=schema) as other:
        (halted,) = events(api, "LogHalted")
        root = b64encode(ROOT).decode()
        due = {"generation": 1, "reason": "behind", "size": position + 500, "root": root}
        assert {name: halted[name] for name in due} == due
        assert position <= halted["position"] <= position + 2  # what its last start had recorded
        for one in (api, other):
            told = one.refused("ledger_read_only", 503, one.client.get("/readyz"))
            assert (told["reason"], told["generation"]) == ("behind", 1)
            sent = {"amount": 5, "reference": "later"}
            refused = one.post("/v1/players/anna/deposits", sent, key="later")
            assert "/v1/log/generations" in one.refused("ledger_read_only", 503, refused)["detail"]
        assert api.balance("anna") == (999_000, 1_000)
        assert "stud_ledger_read_only 1.0" in api.client.get("/metrics").text
        told = state(api)
        assert (told["halted"], told["agree_to"], told["signed"]["size"]) == (
            True,
            halted["position"],
            position + 500,
        )
        new = log_keys.create_next(keys, told["next_origin"]).verifier.vkey
        approval = agreed(other, "/v1/log/generations", {"vkey": new})
        previous = approval["effect"]["previous"]
        assert (previous["lost_from"], previous["lost_to"]) == (halted["position"] + 1, position + 500)
        started = events(api, "LogStarted")[-1]
        assert (started["generation"], started["vkey"], started["previous"]) == (2, new, previous)
        for one in (api, other):
            one.done(one.client.get("/readyz"))
            assert "stud_ledger_read_only 0.0" in one.client.get("/metrics").text
            one.done(one.post("/v1/players/anna/deposits", sent, key="later"))
        assert api.balance("anna") == (999_005, 1_000)
    with service(database, keys, schema=schema) as api:
        assert not state(api)["halted"]


def test_a_log_that_is_gone_halts_the_ledger(database: str, played: tuple[str, Path]) -> None:
    """Whoever has a checkpoint of it brings that along: it is taken if the old log has signed it."""
    schema, keys = played
    with service(database, keys, schema=schema) as api:
        old = state(api)
        head = signed(api, 10_000)
        forged = signed(api, 10_000, signer=Signer.from_seed(old["origin"], b"x" * 32))
    shutil.rmtree(api.service.settings.log)
    with service(database, keys, schema=schema) as api:
        told = state(api)
        assert (told["reason"], "signed" in told) == ("lost", False)
        new = log_keys.create_next(keys, told["next_origin"]).verifier.vkey
        for text in (forged.note.decode(), "no checkpoint", head.note.decode().replace("10000", "20000")):
            refused = proposed(api, "/v1/log/generations", {"vkey": new, "old_checkpoint": text})
            assert "has not signed" in api.refused("validation_failed", 422, refused)["detail"]
        body = {"vkey": new, "old_checkpoint": head.note.decode()}
        first = proposed(api, "/v1/log/generations", body, key="with-checkpoint")
        approved = BEN.decides(api, first.json()["approval_id"])
        previous = approved.json()["effect"]["previous"]
        assert (previous["origin"], previous["vkey"]) == (old["origin"], old["keys"][0])
        assert (previous["size"], previous["lost_to"]) == (10_000, 10_000)
        assert not state(api)["halted"]
        again = proposed(api, "/v1/log/generations", body, key="with-checkpoint")
        assert (again.status_code, again.json()) == (201, first.json())  # whatever has changed since (G3)


def test_a_ledger_of_before_its_log_began_is_halted(database: str, played: tuple[str, Path]) -> None:
    """A backup may be older than the log, or than a later one: what was signed is there to tell."""
    schema, keys = played
    with service(database, keys, schema=schema) as api:
        told = state(api)
        later = Checkpoint(f"{told['origin'][:-1]}5", 9, ROOT)
        signer = Signer.from_seed(later.origin, b"y" * 32)
    log = api.service.settings.log
    folder.begin(log, 5)
    (log / "5" / folder.KEYS).write_text(f"{signer.verifier.vkey}\n")
    write_head(log, Head(5, later, write_note(later.body(), [signer.sign(later.body())])))
    with service(database, keys, schema=schema) as api:
        (halted,) = events(api, "LogHalted")
        assert (halted["origin"], halted["vkey"]) == (later.origin, signer.verifier.vkey)
        assert (halted["reason"], halted["position"]) == ("behind", 9)
        told = state(api)
        assert told["next_origin"] == f"{told['origin'][:-1]}6"
        new = log_keys.create_next(keys, told["next_origin"]).verifier.vkey
        previous = agreed(api, "/v1/log/generations", {"vkey": new})["effect"]["previous"]
        assert previous["vkey"] == signer.verifier.vkey
        assert state(api)["generation"] == 6


@pytest.mark.parametrize(
    ("what", "told"),
    [("another ledger", "is of another ledger (stud-ledger/0000000000000000/1)"), ("damaged", "is damaged")],
)
def test_a_folder_that_cannot_be_this_ledgers_log_keeps_the_service_from_starting(
    database: str, played: tuple[str, Path], what: str, told: str
) -> None:
    """Naming the wrong folder must not halt a ledger for good."""
    schema, keys = played
    with service(database, keys, schema=schema) as api:
        head = signed(api, 10)
    log = api.service.settings.log
    if what == "damaged":
        (log / folder.HEAD).write_text("{}")
    else:
        checkpoint = replace(head.checkpoint, origin="stud-ledger/0000000000000000/1")
        note = head.note.replace(head.checkpoint.origin.encode(), checkpoint.origin.encode())
        write_head(log, Head(1, checkpoint, note))
    with pytest.raises(NotReadyError, match=re.escape(told)):
        asyncio.run(compose(api.service.settings, schema=schema).start())
    shutil.rmtree(log)
    with service(database, keys, schema=schema) as api:
        assert state(api)["reason"] == "lost"
