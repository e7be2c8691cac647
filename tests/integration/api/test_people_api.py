"""People over HTTP: registered with a key, taken at every service, revoked everywhere within a second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from psycopg import sql

from api.cli import token as token_cli
from infrastructure import person_keys
from infrastructure.keys import KeysError
from tests.integration.api.individuals import Individual, within_a_second

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Api

ANNA = Individual("anna")
BEN = Individual("ben", ("admin", "disputes:approve"))
CLEO = Individual("cleo", ("reports",))


@pytest.fixture(scope="module", autouse=True)
def people(api: Api) -> dict[str, Any]:
    """Register two administrators, and somebody else before."""
    return {one.name: api.done(api.post("/v1/people", one.body)) for one in (CLEO, ANNA, BEN)}


def test_a_person_is_registered(api: Api, people: dict[str, Any]) -> None:
    """The answer is the person; so is the list's, in the order of ids, a page at a time."""
    for one in (ANNA, BEN, CLEO):
        told = people[one.name]
        assert told == {**one.body, "active": True, "registered_at": told["registered_at"]}
    items = api.done(api.get("/v1/people"))["items"]
    assert items[:3] == [people["anna"], people["ben"], people["cleo"]]


def test_a_registered_persons_token_is_taken_here_and_at_another_service(api: Api, beside: Api) -> None:
    """At once or within a second; it allows what the person was registered for and no more."""
    for at in (api, beside):
        assert within_a_second(lambda at=at: ANNA.get(at, "/v1/tables").status_code == 200)  # type: ignore[misc]
        assert CLEO.get(at, "/v1/tables").status_code == 200
        headers = CLEO.headers("admin reports")
        body = {"person_id": "x", "public_key": ANNA.body["public_key"], "scopes": ["play"]}
        refused = at.client.post("/v1/people", headers={**headers, "Idempotency-Key": "x"}, json=body)
        at.refused("scope_missing", 403, refused)


def test_strangers_are_not_taken(api: Api) -> None:
    """A key that nobody registered, and a registered one under another's name, are no credential."""
    for stranger in (Individual("mallory"), Individual("anna"), Individual("ben", key=ANNA.key)):
        api.refused("unauthenticated", 401, stranger.get(api, "/v1/tables"))
        api.refused("unauthenticated", 401, stranger.post(api, "/v1/people", stranger.body))


def test_what_a_person_does_is_recorded_under_their_name(api: Api) -> None:
    """The actor of a person's command is the person."""
    opened = ANNA.post(api, "/v1/jackpots", _jackpot("of-anna"))
    assert opened.status_code == 201
    with psycopg.connect(api.admin_dsn) as connection:
        (row,) = connection.execute(
            sql.SQL("SELECT data FROM {}.events WHERE stream = 'jackpot-of-anna'").format(
                sql.Identifier(api.schema)
            )
        ).fetchall()
    assert b'"actor":"anna"' in row[0]


def test_a_person_shares_no_idempotency_keys_with_a_service(api: Api) -> None:
    """The same key from a service token of the same name is another command."""
    first = ANNA.post(api, "/v1/jackpots", _jackpot("once"), key="shared")
    assert first.status_code == 201
    headers = {"Authorization": f"Bearer {api.token('admin', 'anna')}", "Idempotency-Key": "shared"}
    again = api.client.post("/v1/jackpots", headers=headers, json=_jackpot("once"))
    api.refused("jackpot_exists", 409, again)
    replayed = ANNA.post(api, "/v1/jackpots", _jackpot("once"), key="shared")
    assert replayed.headers["idempotent-replayed"] == "true"
    assert replayed.content == first.content


def test_an_id_and_a_key_are_registered_once(api: Api) -> None:
    """A known id, however spelled, a known key under another name, and the ledger's name are refused."""
    new = Individual("new")
    api.refused("person_exists", 409, api.post("/v1/people", {**new.body, "person_id": "ANNA"}))
    api.refused("person_exists", 409, api.post("/v1/people", {**ANNA.body, "person_id": "second-self"}))
    api.refused("validation_failed", 422, api.post("/v1/people", {**new.body, "person_id": "ledger"}))


@pytest.mark.parametrize(
    "change",
    [
        {"public_key": "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
        {"public_key": "short"},
        {"scopes": []},
        {"scopes": ["everything"]},
        {"person_id": "a b"},
        {"admin": True},
    ],
)
def test_a_registration_that_is_none_is_refused(api: Api, change: dict[str, Any]) -> None:
    """Weak or malformed keys, unknown scopes, odd names and unknown fields."""
    api.refused("validation_failed", 422, api.post("/v1/people", {**Individual("dora").body, **change}))


def test_a_revocation_is_seen_everywhere(api: Api, beside: Api) -> None:
    """From two administrators on it takes two; then the token is refused at both services within a second.

    A command that its verifier still lets through is refused under the writer's lock.
    """
    eve = Individual("eve", ("admin", "reports"))
    proposal = api.done(api.post("/v1/people", eve.body))
    assert proposal["status"] == "proposed"
    assert proposal["kind"] == "person_registration"
    api.refused("unauthenticated", 401, eve.get(api, "/v1/tables"))
    api.done(ANNA.decides(api, proposal["approval_id"]))
    for at in (api, beside):
        assert within_a_second(lambda at=at: eve.get(at, "/v1/tables").status_code == 200)  # type: ignore[misc]
    revocation = api.done(api.post("/v1/people/eve/revoke", {"note": "Left <b>the house</b>."}))
    assert eve.get(api, "/v1/tables").status_code == 200
    known_at_beside = eve.get(beside, "/v1/tables")
    assert known_at_beside.status_code == 200
    api.done(BEN.decides(api, revocation["approval_id"]))
    late = eve.post(beside, "/v1/jackpots", _jackpot("late"))
    assert late.status_code in (401, 403), late.text
    assert late.json()["code"] in ("unauthenticated", "personal_subject_required")
    for at in (api, beside):
        assert within_a_second(lambda at=at: eve.get(at, "/v1/tables").status_code == 401)  # type: ignore[misc]
    assert (
        next(p for p in api.done(api.get("/v1/people"))["items"] if p["person_id"] == "eve")["active"]
        is False
    )
    api.refused("person_not_found", 404, api.post("/v1/people/eve/revoke"))
    api.refused("person_not_found", 404, api.post("/v1/people/nobody/revoke"))
    api.refused("person_not_found", 404, api.post("/v1/people/a%20b/revoke"))
    api.refused("jackpot_not_found", 404, api.get("/v1/jackpots/late"))


@pytest.mark.parametrize(
    ("scope", "status"), [("admin", 200), ("audit", 200), ("reports", 403), ("play", 403)]
)
def test_who_may_see_who_may_approve(api: Api, scope: str, status: int) -> None:
    """Administrators and auditors."""
    assert api.get("/v1/people", scope=scope).status_code == status


def test_the_list_is_paged(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Page by page nobody is left out and nobody comes twice."""
    monkeypatch.setattr("api.people.reads.PAGE_MAX", 2)
    whole, path = [], "/v1/people"
    while path:
        answer = api.get(path)
        whole += [person["person_id"] for person in answer.json()["items"]]
        path = answer.links["next"]["url"] if "next" in answer.links else ""
    assert whole[:3] == ["anna", "ben", "cleo"]
    assert len(set(whole)) == len(whole)
    api.refused("validation_failed", 422, api.get("/v1/people?cursor=%C3%A9"))


# ── The command line ────────────────────────────────────────────────────────────────────────────────────────
def test_the_command_line_makes_a_person_who_can_approve(
    api: Api, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A key file of its owner's alone, its public half as the last word, and tokens that are taken."""
    path = tmp_path / "frida.key"
    assert token_cli.main(["--new-person", "frida", "--key", str(path)]) == 0
    public_key = capsys.readouterr().out.split()[-1]
    assert path.stat().st_mode & 0o777 == 0o600
    assert public_key not in path.read_text()
    proposal = api.done(
        api.post("/v1/people", {"person_id": "frida", "public_key": public_key, "scopes": ["audit"]})
    )
    api.done(BEN.decides(api, proposal["approval_id"]))
    assert token_cli.main(["--person", "frida", "--key", str(path), "--scope", "audit", "--ttl", "60"]) == 0
    token = capsys.readouterr().out.split()[-1]
    headers = {"Authorization": f"Bearer {token}"}
    assert within_a_second(lambda: api.client.get("/v1/people", headers=headers).status_code == 200)


def test_the_command_line_says_what_is_wrong_with_a_persons_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is there, is missing, is open to others, is no key, or names that nobody can have."""
    path = tmp_path / "key"
    asked = ["--person", "anna", "--scope", "admin", "--key"]
    assert token_cli.main([*asked, str(path)]) == 1
    assert token_cli.main(["--new-person", "a b", "--key", str(path)]) == 1
    assert token_cli.main(["--new-person", "anna", "--key", str(tmp_path / "no" / "key")]) == 1
    assert not path.exists()
    assert token_cli.main(["--new-person", "anna", "--key", str(path)]) == 0
    before = path.read_bytes()
    assert token_cli.main(["--new-person", "anna", "--key", str(path)]) == 1
    assert path.read_bytes() == before
    assert token_cli.main([*asked, str(path), "--ttl", "100000"]) == 1
    path.chmod(0o640)
    assert token_cli.main([*asked, str(path)]) == 1
    path.chmod(0o600)
    path.write_text("-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----\n")
    assert token_cli.main([*asked, str(path)]) == 1
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 1
    assert len(shown.err.splitlines()) == 7


@pytest.mark.parametrize(
    "arguments",
    [
        ["--person", "anna", "--scope", "admin"],
        ["--new-person", "anna"],
        ["--person", "anna", "--key", "x"],
        ["--person", "anna", "--new-person", "anna", "--key", "x"],
        ["--key", "x", "--scope", "admin"],
        [],
    ],
)
def test_the_command_line_wants_what_goes_together(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A person and a key, a token and a scope; and one thing at a time."""
    with pytest.raises(SystemExit, match="2"):
        token_cli.main(arguments)
    assert "usage" in capsys.readouterr().err


def test_a_key_for_something_else_is_no_persons_key(tmp_path: Path) -> None:
    """A private key of another kind is refused by name."""
    path = tmp_path / "key"
    other = X25519PrivateKey.generate()
    path.write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    path.chmod(0o600)
    with pytest.raises(KeysError, match="not a person's key"):
        person_keys.load(path)


def _jackpot(name: str) -> dict[str, Any]:
    return {"jackpot_id": name, "currency": "USD", "reset": 1000, "contribution": "0.5"}
