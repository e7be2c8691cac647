"""The people who approve: how they become known and cease to be, alone at first, by two afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from domain import commands as c
from domain import events as ev
from domain.calendar import instant
from tests.unit.domain.playing import Ledger

NOTE = "ab" * 32


@pytest.fixture
def ledger() -> Ledger:
    """Return a ledger that knows nobody."""
    return Ledger()


def register(ledger: Ledger, name: str, *scopes: str, key: str | None = None) -> dict[str, Any]:
    """Register somebody with a service token, or propose to."""
    command = c.RegisterPerson(name, key or f"key-of-{name}", scopes or ("admin",), f"add-{name}", NOTE)
    return ledger.ask(command)


def approve(ledger: Ledger, approval_id: str, person: str) -> dict[str, Any]:
    """Approve, and return what was done."""
    with ledger.acting(person, "admin"):
        return dict(ledger.ask(c.Approve(approval_id))["result"])


def test_a_person_is_registered_with_a_key_and_scopes(ledger: Ledger) -> None:
    """One event has it all, scopes once and in order; the answer is the person."""
    answer = register(ledger, "anna", "disputes:approve", "admin", "admin")
    (recorded,) = ledger.last
    scopes = ["admin", "disputes:approve"]
    assert recorded.event == ev.PersonRegistered("anna", "key-of-anna", tuple(scopes), note_sha256=NOTE)
    assert (recorded.stream, recorded.version) == ("person-anna", 1)
    assert answer == {
        "person_id": "anna",
        "public_key": "key-of-anna",
        "scopes": scopes,
        "active": True,
        "registered_at": instant(recorded.recorded_at_us),
    }
    assert ledger.work.touched_registers == {"person-anna"}


def test_a_person_is_revoked(ledger: Ledger) -> None:
    """The person stays known, and is one no longer."""
    register(ledger, "anna")
    answer = ledger.ask(c.RevokePerson("anna", "unused", NOTE))
    assert [(e.stream, e.version, e.event) for e in ledger.last] == [
        ("person-anna", 2, ev.PersonRevoked("anna", note_sha256=NOTE))
    ]
    assert answer["active"] is False
    ledger.refused(c.RevokePerson("anna", "unused"), "person_not_found")
    ledger.refused(c.RevokePerson("nobody", "unused"), "person_not_found")


@pytest.mark.parametrize("revoked", [False, True])
def test_an_id_and_a_key_belong_to_one_person_for_ever(ledger: Ledger, revoked: bool) -> None:  # noqa: FBT001
    """A known id, however it is spelled, or a known key is refused; also after a revocation."""
    register(ledger, "anna")
    if revoked:
        ledger.ask(c.RevokePerson("anna", "unused"))
    ledger.refused(c.RegisterPerson("anna", "other", ("admin",), "unused"), "person_exists")
    ledger.refused(c.RegisterPerson("Anna", "other", ("admin",), "unused"), "person_exists")
    ledger.refused(c.RegisterPerson("ben", "key-of-anna", ("admin",), "unused"), "person_exists")


@pytest.mark.parametrize("name", ["ledger", "Ledger"])
def test_nobody_is_called_as_the_ledger_itself(ledger: Ledger, name: str) -> None:
    """The actor of the ledger's own commands is no person."""
    ledger.refused(c.RegisterPerson(name, "key", ("admin",), "unused"), "validation_failed")


def test_from_two_administrators_on_it_takes_two(ledger: Ledger) -> None:
    """Registering is proposed then, and done by another's approval, which the event names."""
    register(ledger, "anna")
    register(ledger, "carl", "disputes:approve")
    register(ledger, "ben")
    proposal = register(ledger, "dora", "audit")
    assert (proposal["kind"], proposal["status"]) == ("person_registration", "proposed")
    assert proposal["effect"] == {"person_id": "dora", "scopes": ["audit"], "active": True}
    assert "dora" not in ledger.work.people
    result = approve(ledger, "add-dora", "ben")
    assert (result["person_id"], result["active"]) == ("dora", True)
    assert ledger.last[1].event == ev.PersonRegistered(
        "dora", "key-of-dora", ("audit",), "add-dora", "tests", "ben", NOTE
    )


def test_revoking_takes_two_as_well(ledger: Ledger) -> None:
    """The revocation is proposed, and done by another's approval, which the event names."""
    register(ledger, "anna")
    register(ledger, "ben")
    with ledger.acting("anna", "admin"):
        proposal = ledger.ask(c.RevokePerson("ben", "remove-ben", NOTE))
    assert proposal["effect"] == {"person_id": "ben", "scopes": ["admin"], "active": False}
    assert ledger.work.people["ben"].active
    with ledger.acting("anna", "admin"):
        ledger.refused(c.Approve("remove-ben"), "same_person")
    approve(ledger, "remove-ben", "ben")
    assert ledger.last[1].event == ev.PersonRevoked("ben", "remove-ben", "anna", "ben", NOTE)
    assert not ledger.work.people["ben"].active


def test_one_administrator_who_is_left_is_still_asked(ledger: Ledger) -> None:
    """Otherwise whoever holds the service's key could make up the second person."""
    register(ledger, "anna")
    register(ledger, "ben")
    ledger.ask(c.RevokePerson("ben", "remove-ben"))
    approve(ledger, "remove-ben", "anna")
    assert register(ledger, "mallory")["status"] == "proposed"
    assert approve(ledger, "add-mallory", "anna")["active"] is True


def test_with_no_administrator_left_one_begins_anew(ledger: Ledger) -> None:
    """Nobody could approve: registering is as at first."""
    register(ledger, "anna")
    register(ledger, "ben")
    for name, by in (("ben", "anna"), ("anna", "anna")):
        ledger.ask(c.RevokePerson(name, f"remove-{name}"))
        approve(ledger, f"remove-{name}", by)
    assert register(ledger, "cleo")["active"] is True


def test_what_no_longer_fits_when_it_is_approved_is_refused(ledger: Ledger) -> None:
    """Of two proposals for one key the second finds it taken; it stays open. So does a second revocation."""
    register(ledger, "anna")
    register(ledger, "ben")
    register(ledger, "cleo", "audit", key="shared")
    register(ledger, "dora", "audit", key="shared")
    approve(ledger, "add-cleo", "anna")
    with ledger.acting("anna", "admin"):
        ledger.refused(c.Approve("add-dora"), "person_exists")
    for number in (1, 2):
        ledger.ask(c.RevokePerson("cleo", f"remove-{number}"))
    approve(ledger, "remove-1", "ben")
    with ledger.acting("ben", "admin"):
        ledger.refused(c.Approve("remove-2"), "person_not_found")
    assert {a.approval_id for a in ledger.work.approvals.values() if a.status == "proposed"} == {
        "add-dora",
        "remove-2",
    }
