"""Who may approve, what was approved, and what is known of the software: the events, and the rows kept of it.

An action that takes two people is checked here as well: whoever approved was registered then, was not who had
proposed it, and approved what was proposed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final

import orjson

from infrastructure.checking.books import Books

Data = dict[str, Any]

SOFTWARE: Final = "software"
_PARTS: Final = ("code", "rulesets", "lock", "postgres")
_BUILDS_MAX: Final = 16


def _person_registered(books: Books, name: str, data: Data) -> None:
    if books.registers.peek(f"person-{name}") is not None:
        books.differs("person", f"{name} is registered twice")
        return
    books.registers.add(
        f"person-{name}",
        {
            "at": books.position,
            "person_id": data["person_id"],
            "public_key": data["public_key"],
            "scopes": list(data["scopes"]),
            "active": True,
        },
    )
    two_people(books, data)


def _person_revoked(books: Books, name: str, data: Data) -> None:
    person = books.registers.get(f"person-{name}")
    if person is None or not person["active"]:
        books.differs("person", f"{name} is revoked and was not registered")
        return
    person.update(at=books.position, active=False)
    two_people(books, data)


def _proposed(books: Books, name: str, data: Data) -> None:
    payload = orjson.dumps(data["payload"], option=orjson.OPT_SORT_KEYS)
    if hashlib.sha256(payload).hexdigest() != data["payload_sha256"]:
        books.differs("approval", f"what {name} proposes does not have the hash that it says")
    if books.registers.peek(f"approval-{name}") is not None:
        books.differs("approval", f"{name} is proposed twice")
        return
    books.registers.add(
        f"approval-{name}",
        {
            "at": books.position,
            "kind": data["kind"],
            "payload_sha256": data["payload_sha256"],
            "proposed_by": data["proposed_by"],
            "status": "proposed",
        },
    )


def _approved(books: Books, name: str, data: Data) -> None:
    approval = _decide(books, name, "approved", data["approved_by"])
    if approval is None:
        return
    said = {name: data[name] for name in ("kind", "payload_sha256", "proposed_by")}
    if any(approval[name] != value for name, value in said.items()):
        books.differs("approval", f"{name} was approved as something else than was proposed")
    if data["approved_by"].lower() == approval["proposed_by"].lower():
        books.differs("approval", f"{name} was approved by who proposed it")


def _refused(books: Books, name: str, data: Data) -> None:
    _decide(books, name, "refused", data["refused_by"])


def _expired(books: Books, name: str, _: Data) -> None:
    _decide(books, name, "expired", None)


def _decide(books: Books, name: str, status: str, person_id: str | None) -> Data | None:
    person = None if person_id is None else books.registers.peek(f"person-{person_id}")
    if person_id is not None and (person is None or not person["active"]):
        books.differs("approval", f"{person_id} decided on {name} and is not registered")
    approval = books.registers.get(f"approval-{name}")
    if approval is None or approval["status"] != "proposed":
        books.differs("approval", f"{name} is {status} and was not open")
        return None
    approval.update(at=books.position, status=status)
    if person_id is not None:
        approval["decided_by"] = person_id
    return approval


def _verified(books: Books, name: str, data: Data) -> None:
    two_people(books, data)
    if name != f"software-{books.position}":
        books.differs("type", f"the software is verified in the stream ledger-{name}")
    if books.registers.peek(SOFTWARE) is None:
        books.registers.add(SOFTWARE, {"at": books.position, "accepted": {}})
    software: Data = books.registers.get(SOFTWARE) or {}
    accepted, build = software["accepted"], data["build"]
    found: Data = {part: data[part] for part in _PARTS if part in data}
    if data["matches"] != (accepted.get(build) == found or not accepted):
        books.differs("software", f"{build} is said to be as it was accepted, or not to be, and is the other")
    software["at"] = books.position
    software["found"] = {"build": build, **found}
    software["halted"] = not (data["matches"] or "accepted" in data)
    if not software["halted"]:
        accepted.pop(build, None)
        accepted[build] = found
        while len(accepted) > _BUILDS_MAX:
            del accepted[next(iter(accepted))]


def two_people(books: Books, data: Data) -> None:
    """Check that an event which names an approval follows from one."""
    if "approval_id" not in data:
        return
    approval = books.registers.peek(f"approval-{data['approval_id']}")
    due = (
        None
        if approval is None
        else (approval["status"], approval["proposed_by"], approval.get("decided_by"))
    )
    if due != ("approved", data["proposed_by"], data["approved_by"]):
        books.differs("approval", f"the event follows from {data['approval_id']}, which is {due}")


REGISTERED: Final[dict[str, tuple[str, Callable[[Books, str, Data], None]]]] = {
    "PersonRegistered": ("person", _person_registered),
    "PersonRevoked": ("person", _person_revoked),
    "ActionProposed": ("approval", _proposed),
    "ActionApproved": ("approval", _approved),
    "ActionRefused": ("approval", _refused),
    "ActionExpired": ("approval", _expired),
    "SoftwareVerified": ("ledger", _verified),
}
"""What to do with each of these types of event, and which kind of stream it is in."""
