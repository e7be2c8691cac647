"""What takes two people, over HTTP, and every way around it that must fail."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Json

from api.tokens import mint
from domain.approvals import LIFE_US
from tests.integration.api.individuals import Individual, within_a_second

if TYPE_CHECKING:
    from conftest import Api

ANNA = Individual("anna")
BEN = Individual("ben", ("admin", "audit"))
CLEO = Individual("cleo", ("disputes:approve",))
NOTE = "Mr Řehoř <script>alert(1)</script> & his cousin"

_numbers = itertools.count(1)


@pytest.fixture(scope="module", autouse=True)
def people(api: Api) -> None:
    """Register two administrators, and somebody whose scope no action here asks for."""
    for one in (CLEO, ANNA, BEN):
        api.done(api.post("/v1/people", one.body))


def proposed(api: Api, by: Individual | None = None, **more: Any) -> dict[str, Any]:
    """Propose to register somebody new: with a service token, or as a person."""
    body = {**Individual(f"new-{next(_numbers)}", ("reports",)).body, **more}
    answer = api.post("/v1/people", body) if by is None else by.post(api, "/v1/people", body)
    assert answer.status_code == 201, answer.text
    assert answer.headers["ledger-position"].isdigit()
    return dict(answer.json())


def events(api: Api, kind: str) -> list[bytes]:
    """Return the stored events of a kind."""
    query = sql.SQL("SELECT data FROM {}.events ORDER BY position").format(sql.Identifier(api.schema))
    with psycopg.connect(api.admin_dsn) as connection:
        rows = connection.execute(query).fetchall()
    return [data for (data,) in rows if b'"type":"%s"' % kind.encode() in data]


def untouched(api: Api, proposal: dict[str, Any]) -> None:
    """Check that a proposal is open and nothing of it has happened."""
    told = api.done(api.get(f"/v1/approvals/{proposal['approval_id']}"))
    assert told["status"] == "proposed"
    assert "decided_by" not in told
    names = {person["person_id"] for person in api.done(api.get("/v1/people"))["items"]}
    assert proposal["payload"]["person_id"] not in names


# ── The way it goes ─────────────────────────────────────────────────────────────────────────────────────────
def test_what_one_proposes_another_approves(api: Api) -> None:
    """The proposal says what it would do; approved, it is done, and both tell who."""
    proposal = proposed(api, ANNA)
    name = proposal["payload"]["person_id"]
    effect = {"person_id": name, "scopes": ["reports"], "active": True}
    assert proposal["status"] == "proposed"
    assert (proposal["kind"], proposal["effect"]) == ("person_registration", effect)
    assert (proposal["proposed_by"], proposal["by_person"]) == ("anna", True)
    path = f"/v1/approvals/{proposal['approval_id']}"
    assert api.done(api.get(path)) == {**proposal, "effect_now": effect}
    answer = BEN.decides(api, proposal["approval_id"], payload_sha256=proposal["payload_sha256"])
    assert answer.status_code == 200, answer.text
    assert (answer.json()["status"], answer.json()["decided_by"]) == ("approved", "ben")
    assert answer.json()["result"]["person_id"] == name
    told = api.done(api.get(path, params={"min_position": int(answer.headers["ledger-position"])}))
    assert told == answer.json()
    registered = events(api, "PersonRegistered")[-1]
    for part in (b'"approved_by":"ben"', b'"proposed_by":"anna"', proposal["approval_id"].encode()):
        assert part in registered


def test_what_is_refused_is_not_done(api: Api) -> None:
    """Also by who proposed it; approving comes too late then."""
    for proposer in (ANNA, None):
        proposal = proposed(api, proposer)
        answer = api.done(ANNA.decides(api, proposal["approval_id"], "refuse", note="Not now."))
        assert (answer["status"], answer["decided_by"]) == ("refused", "anna")
        late = BEN.decides(api, proposal["approval_id"])
        assert api.refused("approval_closed", 409, late)["status"] == 409
        told = api.done(api.get(f"/v1/approvals/{proposal['approval_id']}"))
        assert told["decision_note"] == "Not now."
        assert "effect_now" not in told


def test_the_reason_stays_out_of_the_log(api: Api) -> None:
    """Free text is shown to whoever approves, as JSON; the events and the registers have its salted hash."""
    proposal = proposed(api, note=NOTE)
    shown = api.get(f"/v1/approvals/{proposal['approval_id']}")
    assert shown.json()["note"] == NOTE
    assert shown.headers["content-type"] == "application/json"
    api.done(BEN.decides(api, proposal["approval_id"], note="Because of <i>that</i>."))
    told = api.done(api.get(f"/v1/approvals/{proposal['approval_id']}"))
    assert (told["note"], told["decision_note"]) == (NOTE, "Because of <i>that</i>.")
    rows = api.rows()
    kept = "".join(text for table, found in rows.items() if table != "notes" for (text,) in found)
    for part in ("script", "cousin", "Because"):
        assert part.encode().hex() not in kept
        assert part not in kept
    assert b'"note_sha256":"' in events(api, "ActionProposed")[-1]
    assert b'"note_sha256":"' in events(api, "ActionApproved")[-1]
    assert b'"note_sha256":"' in events(api, "PersonRegistered")[-1]


def test_an_erased_note_is_no_longer_shown(api: Api) -> None:
    """The proposal remains; its text is gone."""
    proposal = proposed(api, note="To be forgotten.")
    with psycopg.connect(api.admin_dsn) as connection:
        connection.execute(
            sql.SQL("DELETE FROM {}.notes WHERE note = 'To be forgotten.'").format(sql.Identifier(api.schema))
        )
    assert "note" not in api.done(api.get(f"/v1/approvals/{proposal['approval_id']}"))


# ── The ways around ─────────────────────────────────────────────────────────────────────────────────────────
def test_nobody_approves_their_own_proposal(api: Api) -> None:
    """Not as themselves, nor what a service token of their name proposed."""
    for name in ("ben", "Ben"):
        body = Individual(f"by-service-{name}", ("reports",)).body
        headers = {"Authorization": f"Bearer {_service(api, name)}", "Idempotency-Key": f"as-{name}"}
        by_service = api.done(api.client.post("/v1/people", headers=headers, json=body))
        assert (by_service["proposed_by"], by_service["by_person"]) == (name, False)
        problem = api.refused("same_person", 403, BEN.decides(api, by_service["approval_id"]))
        assert problem["proposed_by"] == name
        untouched(api, by_service)
    by_person = proposed(api, BEN)
    api.refused("same_person", 403, BEN.decides(api, by_person["approval_id"]))
    untouched(api, by_person)


def _service(api: Api, actor: str) -> str:
    return mint(api.service.tokens._key, "admin", client_id="operator", actor=actor, ttl_seconds=600)


def test_a_second_credential_is_not_given_out_alone(api: Api) -> None:
    """Whoever wants another self has to ask another person; the same key twice is refused even then."""
    proposal = proposed(api, BEN)
    other_self = Individual("ben-too")
    asked = api.done(BEN.post(api, "/v1/people", other_self.body))
    assert asked["status"] == "proposed"
    api.refused("same_person", 403, BEN.decides(api, asked["approval_id"]))
    api.refused("unauthenticated", 401, other_self.decides(api, proposal["approval_id"]))
    api.refused("unauthenticated", 401, other_self.decides(api, asked["approval_id"]))
    same_key = Individual("ben-again", key=BEN.key)
    api.refused("person_exists", 409, BEN.post(api, "/v1/people", same_key.body))
    api.refused("unauthenticated", 401, same_key.decides(api, proposal["approval_id"]))
    untouched(api, proposal)


def test_a_service_token_approves_nothing(api: Api) -> None:
    """With all scopes, and with a person's name for its subject."""
    proposal = proposed(api, ANNA)
    path = f"/v1/approvals/{proposal['approval_id']}"
    for number, decision in enumerate(("approve", "refuse")):
        api.refused("personal_subject_required", 403, api.post(path, {"decision": decision}))
        headers = {"Authorization": f"Bearer {_service(api, 'ben')}", "Idempotency-Key": f"no-{number}"}
        answer = api.client.post(path, headers=headers, json={"decision": decision})
        api.refused("personal_subject_required", 403, answer)
    untouched(api, proposal)


def test_strangers_and_the_revoked_approve_nothing(api: Api) -> None:
    """Neither a key nobody registered nor one that is taken no longer."""
    proposal = proposed(api)
    api.refused("unauthenticated", 401, Individual("mallory").decides(api, proposal["approval_id"]))
    dora = Individual("dora")
    api.done(ANNA.decides(api, api.done(api.post("/v1/people", dora.body))["approval_id"]))
    revocation = api.done(api.post("/v1/people/dora/revoke"))
    assert within_a_second(lambda: dora.get(api, "/v1/approvals").status_code == 200)
    api.done(ANNA.decides(api, revocation["approval_id"]))
    answer = dora.decides(api, proposal["approval_id"])
    assert answer.json()["code"] in ("unauthenticated", "personal_subject_required")
    untouched(api, proposal)


def test_a_person_approves_only_with_the_actions_scope(api: Api) -> None:
    """One who has another scope, and one whose token leaves the scope out."""
    proposal = proposed(api)
    api.refused("scope_missing", 403, CLEO.decides(api, proposal["approval_id"]))
    path = f"/v1/approvals/{proposal['approval_id']}"
    body = {"decision": "approve"}
    api.refused("scope_missing", 403, BEN.post(api, path, body, scope="audit"))
    api.refused("scope_missing", 403, CLEO.post(api, path, body, scope="admin disputes:approve"))
    untouched(api, proposal)


def test_of_many_approvals_at_once_from_two_services_one_happens(api: Api, beside: Api) -> None:
    """Two people, two services, twelve requests: one is done, all others come late, and it is there once."""
    proposal = proposed(api)
    anna, ben = (one.headers() for one in (ANNA, BEN))
    for at, headers in itertools.product((api, beside), (anna, ben)):
        assert at.client.get("/v1/approvals", headers=headers).status_code == 200

    def approve(number: int) -> tuple[int, str]:
        at, headers = (api, beside)[number % 2], (anna, ben)[number // 2 % 2]
        answer = at.client.post(
            f"/v1/approvals/{proposal['approval_id']}",
            headers={**headers, "Idempotency-Key": f"race-{number}"},
            json={"decision": "approve"},
        )
        return answer.status_code, str(answer.json().get("code"))

    with ThreadPoolExecutor(12) as pool:
        answers = sorted(pool.map(approve, range(12)))
    assert answers == [(200, "None"), *[(409, "approval_closed")] * 11]
    id_ = proposal["approval_id"].encode()
    assert sum(id_ in event for event in events(api, "ActionApproved")) == 1
    assert sum(id_ in event for event in events(api, "PersonRegistered")) == 1


def test_an_approval_that_is_sent_again_is_the_same_and_under_another_key_none(api: Api) -> None:
    """The same key gets the first answer; a new key comes late; one person's key is nothing to another."""
    proposal = proposed(api)
    path, body = f"/v1/approvals/{proposal['approval_id']}", {"decision": "approve"}
    first = BEN.post(api, path, body, key="approve-once")
    assert first.status_code == 200
    again = BEN.post(api, path, body, key="approve-once")
    assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")
    reused = BEN.post(api, path, {"decision": "refuse"}, key="approve-once")
    api.refused("idempotency_key_reused", 422, reused)
    api.refused("approval_closed", 409, BEN.post(api, path, body, key="approve-twice"))
    api.refused("approval_closed", 409, ANNA.post(api, path, body, key="approve-once"))


@pytest.mark.parametrize(
    "body",
    [
        {"decision": "approve", "payload": {"person_id": "mallory"}},
        {"decision": "approve", "effect": {}},
        {"decision": "approve", "payload_sha256": "0" * 64},
        {"decision": "approve", "payload_sha256": "none"},
        {"decision": "maybe"},
        {"decision": ["approve", "refuse"]},
        {},
    ],
)
def test_an_approval_brings_no_payload_of_its_own(api: Api, body: dict[str, Any]) -> None:
    """A payload beside the decision, the hash of another, and a decision that is none are refused."""
    proposal = proposed(api)
    answer = BEN.post(api, f"/v1/approvals/{proposal['approval_id']}", body)
    api.refused("validation_failed", 422, answer)
    untouched(api, proposal)


def test_a_payload_that_was_changed_in_the_database_is_not_approved(api: Api, beside: Api) -> None:
    """A writer that reads the changed row sees that it is not what was proposed."""
    proposal = proposed(beside)
    other = {**proposal["payload"], "scopes": ["admin"]}
    with psycopg.connect(api.admin_dsn) as connection:
        connection.execute(
            sql.SQL(
                "UPDATE {}.registers SET state = convert_to(jsonb_set("
                "convert_from(state, 'UTF8')::jsonb, '{{payload}}', %s::jsonb)::text, 'UTF8') WHERE name = %s"
            ).format(sql.Identifier(api.schema)),
            [Json(other), f"approval-{proposal['approval_id']}"],
        )
    api.refused("validation_failed", 422, BEN.decides(api, proposal["approval_id"]))
    assert events(api, "PersonRegistered")[-1].count(proposal["payload"]["person_id"].encode()) == 0


def test_a_proposal_that_is_no_longer_possible_stays_open_and_says_why(api: Api) -> None:
    """Two proposals for one name: the first is approved, the second is refused with the reason."""
    body = Individual("wanted-twice", ("reports",)).body
    first, second = (api.done(api.post("/v1/people", body)) for _ in range(2))
    api.done(BEN.decides(api, first["approval_id"]))
    api.refused("person_exists", 409, BEN.decides(api, second["approval_id"]))
    told = api.done(api.get(f"/v1/approvals/{second['approval_id']}"))
    assert told["status"] == "proposed"
    assert told["effect"] == second["effect"]
    assert told["impossible_now"]["code"] == "person_exists"
    assert "effect_now" not in told


# ── Reading ─────────────────────────────────────────────────────────────────────────────────────────────────
def test_what_does_not_exist_is_not_found(api: Api) -> None:
    """Neither for who decides nor for who reads, whether it could exist or not."""
    for name in ("nothing", "a%20b", "%3Cb%3E"):
        api.refused("approval_not_found", 404, BEN.decides(api, name))
        api.refused("approval_not_found", 404, api.get(f"/v1/approvals/{name}"))


def test_the_list_is_paged_the_newest_first_and_by_status(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Page by page each comes once, in any status; a status finds exactly its own."""
    still_open, done = proposed(api), proposed(api)
    api.done(BEN.decides(api, done["approval_id"]))
    monkeypatch.setattr("api.approvals.reads.PAGE_MAX", 3)
    monkeypatch.setattr("api.approvals.reads.LOOKED_AT_MAX", 5)

    def listed(query: str = "") -> list[tuple[str, str]]:
        found, path = [], f"/v1/approvals{query}"
        while path:
            answer = api.get(path)
            items = api.done(answer)["items"]
            assert len(items) <= 3
            found += [(item["approval_id"], item["status"]) for item in items]
            path = answer.links["next"]["url"] if "next" in answer.links else ""
        return found

    whole = listed()
    assert [each for each, _ in whole] == sorted({each for each, _ in whole}, reverse=True)
    assert whole[:2] == [(done["approval_id"], "approved"), (still_open["approval_id"], "proposed")]
    for status in ("proposed", "approved", "refused", "expired"):
        assert listed(f"?status={status}") == [each for each in whole if each[1] == status]
    api.refused("validation_failed", 422, api.get("/v1/approvals?status=maybe"))
    api.refused("validation_failed", 422, api.get("/v1/approvals?cursor=%C3%A9"))


@pytest.mark.parametrize(
    ("scope", "status"), [("admin", 200), ("audit", 200), ("disputes", 200), ("play", 403), ("cashier", 403)]
)
def test_who_may_see_proposals(api: Api, scope: str, status: int) -> None:
    """Those who propose, approve and look into things; not the game server, nor the cashier."""
    assert api.get("/v1/approvals", scope=scope).status_code == status
    assert api.get("/v1/approvals/nothing", scope=scope).status_code == (404 if status == 200 else status)


def test_a_proposal_expires(api: Api) -> None:
    """After seven days it is shown as expired and cannot be decided; the next proposal records that."""
    proposal = proposed(api)
    path = f"/v1/approvals/{proposal['approval_id']}"
    api.clock.ahead_us = LIFE_US
    assert api.done(api.get(path))["status"] == "expired"
    assert "effect_now" not in api.done(api.get(path))
    for decision in ("approve", "refuse"):
        api.refused("approval_expired", 409, BEN.decides(api, proposal["approval_id"], decision))
    assert all(
        item["status"] != "proposed" for item in api.done(api.get("/v1/approvals?status=proposed"))["items"]
    )
    proposed(api)
    assert any(proposal["approval_id"].encode() in event for event in events(api, "ActionExpired"))
    api.refused("approval_closed", 409, BEN.decides(api, proposal["approval_id"]))
    assert api.done(api.get(path))["status"] == "expired"
