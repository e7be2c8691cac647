"""Small facts that a writer always has in memory: people, proposals, the software, the log, audits.

They follow from the events of the streams ``person-<id>``, ``approval-<id>``, ``ledger-software-<n>``,
``log-<generation>``, ``archive-<sequence>`` and ``audit-<id>``; the store keeps them beside the books so that
nobody folds those streams again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from domain.events import AuditSource, AuditVerdict, HaltReason

SOFTWARE: Final = "software"
LOG: Final = "log"
AUDIT: Final = "audit-"
"""The registers' names; an audit's goes on with its id."""

Status = Literal["proposed", "approved", "refused", "expired"]


@dataclass(slots=True)
class Person:
    """Somebody an administrator has registered.

    `public_key` checks what only this person can sign: 32 bytes of Ed25519 (RFC 8032 section 5.1.5) in
    base64url without padding. `scopes` is the most that a token of theirs can allow. A person who was revoked
    stays known: neither the id nor the key is ever given to another.
    """

    person_id: str
    public_key: str
    scopes: list[str]
    active: bool = True
    version: int = 1
    registered_at_us: int = 0


@dataclass(slots=True)
class Approval:
    """Something proposed, and what became of it. Times in microseconds since the epoch.

    `effect` is what applying it would have done when it was proposed; `result` what it did. `proposed_by` is
    an actor, a registered person's id where `by_person`; `decided_by` a person's id. Notes are salted hashes.
    """

    approval_id: str
    kind: str
    payload: dict[str, Any]
    payload_sha256: str
    effect: dict[str, Any]
    proposed_by: str
    by_person: bool
    proposed_at_us: int
    expires_at_us: int
    note_sha256: str | None = None
    status: Status = "proposed"
    version: int = 1
    decided_by: str | None = None
    decided_at_us: int | None = None
    decision_note_sha256: str | None = None
    result: dict[str, Any] | None = None


@dataclass(slots=True)
class SoftwareState:
    """What is known of the software. `halted`: no new round opens until it is what was accepted.

    `accepted` maps a build to what was accepted of it, the latest last: what was hashed to its SHA-256 (hex).
    `found` is what was looked at last, and its build; empty where nothing was.
    """

    halted: bool = False
    accepted: dict[str, dict[str, str]] = field(default_factory=dict)
    found: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class LogState:
    """What is known of the evidence log, and of the archive. `generation` 0: none was ever started.

    `keys` are the verifier keys of this generation, the newest first; the first signs. While `halted` nothing
    is taken that could move money: `size` and `root` (base64) are then of the last checkpoint, as far as it
    is known, signed as `signed_origin` by `signed_vkey` where that was a later log; `position` is the last on
    which ledger and log agree. `version` is of the log's stream.
    """

    generation: int = 0
    origin: str = ""
    keys: list[str] = field(default_factory=list)
    version: int = 0
    halted: HaltReason | None = None
    size: int | None = None
    root: str | None = None
    position: int | None = None
    signed_origin: str | None = None
    signed_vkey: str | None = None
    archive_sequence: int = 0
    archive_day: str = ""
    archive_position: int = 0
    archive_sha256: str = ""

    @property
    def vkey(self) -> str:
        """The key that signs now; empty where there is no log."""
        return self.keys[0] if self.keys else ""


@dataclass(slots=True)
class AuditState:
    """An audit that was recorded: of what, and, once it has ended, with what result. Times as in `Approval`.

    An audit whose process died is never finished by it: `verdict` is then ``error`` once others take its
    place.
    """

    run_id: str
    source: AuditSource
    from_position: int
    to_position: int
    actor: str
    started_at_us: int
    finished_at_us: int | None = None
    verdict: AuditVerdict | None = None
    rounds: int = 0
    events: int = 0
    exceptions: int = 0
    report_sha256: str | None = None
