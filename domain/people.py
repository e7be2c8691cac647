"""The people who approve: registered with the public half of a key that only they hold.

At first an administrator's token is enough. Once two people have been registered who hold `admin`, whom to
register and whom to revoke is itself decided by two, for as long as one of them is there: otherwise whoever
holds the service's own key could make up a second person. A person's id and key are never given to another.
"""

from __future__ import annotations

from typing import Any, Final

from domain import events as ev
from domain.approvals import Action, Approved, propose, register
from domain.calendar import instant
from domain.commands import Propose, RegisterPerson, RevokePerson
from domain.registers import Person
from domain.rejections import Rejection
from domain.work import Work

REGISTRATION: Final = "person_registration"
REVOCATION: Final = "person_revocation"
ADMIN: Final = "admin"
ADMINS_MIN: Final = 2
"""From so many on, people are registered and revoked by two."""
RESERVED: Final = ("ledger",)
"""The name that the ledger's own commands are recorded with."""


def register_person(command: RegisterPerson, work: Work) -> dict[str, Any]:
    """Register a person, or propose it where that takes two. Returns the person, or the proposal.

    Rejects with person_exists (the id, or the key, belongs to somebody), validation_failed.
    """
    payload = {
        "person_id": command.person_id,
        "public_key": command.public_key,
        "scopes": sorted(set(command.scopes)),
    }
    if _takes_two(work):
        return propose(Propose(command.approval_id, REGISTRATION, payload, command.note_sha256), work)
    _registration_effect(payload, work)
    return _register(payload, work, note_sha256=command.note_sha256)


def revoke_person(command: RevokePerson, work: Work) -> dict[str, Any]:
    """Take a person's credential no longer, or propose it where that takes two.

    Returns the person, or the proposal. Rejects with person_not_found, also where they were revoked before.
    """
    payload = {"person_id": command.person_id}
    if _takes_two(work):
        return propose(Propose(command.approval_id, REVOCATION, payload, command.note_sha256), work)
    _revocation_effect(payload, work)
    return _revoke(payload, work, note_sha256=command.note_sha256)


def person_answer(person: Person) -> dict[str, Any]:
    """A person as the HTTP contract shows them."""
    return {
        "person_id": person.person_id,
        "public_key": person.public_key,
        "scopes": person.scopes,
        "active": person.active,
        "registered_at": instant(person.registered_at_us),
    }


def _takes_two(work: Work) -> bool:
    admins = [person.active for person in work.people.values() if ADMIN in person.scopes]
    return len(admins) >= ADMINS_MIN and any(admins)


# ── Registering ─────────────────────────────────────────────────────────────────────────────────────────────
def _registration_effect(payload: dict[str, Any], work: Work) -> dict[str, Any]:
    person_id, public_key = payload["person_id"], payload["public_key"]
    if person_id.lower() in RESERVED:
        raise Rejection("validation_failed", f"{person_id} is the ledger itself.")
    for person in work.people.values():
        if person.person_id.lower() == person_id.lower():
            raise Rejection("person_exists", f"Person {person.person_id} is or was registered already.")
        if person.public_key == public_key:
            raise Rejection("person_exists", f"The key is or was that of {person.person_id}.")
    return {"person_id": person_id, "scopes": payload["scopes"], "active": True}


def _register(payload: dict[str, Any], work: Work, **who: str | None) -> dict[str, Any]:
    person = Person(payload["person_id"], payload["public_key"], list(payload["scopes"]))
    work.people[person.person_id] = person
    registered = ev.PersonRegistered(person.person_id, person.public_key, tuple(person.scopes), **who)
    _emit(work, person, registered)
    person.registered_at_us = work.recorded_at_us
    return person_answer(person)


# ── Revoking ────────────────────────────────────────────────────────────────────────────────────────────────
def _revocation_effect(payload: dict[str, Any], work: Work) -> dict[str, Any]:
    person = work.people.get(payload["person_id"])
    if person is None or not person.active:
        raise Rejection("person_not_found", f"No person {payload['person_id']} is registered.")
    return {"person_id": person.person_id, "scopes": person.scopes, "active": False}


def _revoke(payload: dict[str, Any], work: Work, **who: str | None) -> dict[str, Any]:
    person = work.people[payload["person_id"]]
    person.active = False
    person.version += 1
    _emit(work, person, ev.PersonRevoked(person.person_id, **who))
    return person_answer(person)


def _emit(work: Work, person: Person, event: ev.Event) -> None:
    stream = f"person-{person.person_id}"
    work.touched_registers.add(stream)
    work.emit(stream, person.version, event)


def _apply_registration(payload: dict[str, Any], work: Work, approved: Approved) -> dict[str, Any]:
    return _register(payload, work, **approved._asdict())


def _apply_revocation(payload: dict[str, Any], work: Work, approved: Approved) -> dict[str, Any]:
    return _revoke(payload, work, **approved._asdict())


register(Action(REGISTRATION, _registration_effect, _apply_registration))
register(Action(REVOCATION, _revocation_effect, _apply_revocation))
