"""What happens to the evidence log, and what is recorded of audits and exports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

HaltReason = Literal["behind", "differs", "lost"]
AuditSource = Literal["database", "archive"]
AuditVerdict = Literal["pass", "fail", "error"]


@dataclass(frozen=True, slots=True)
class PreviousLog:
    """The log that another takes the place of, as far as it is known.

    `size` and `root` (base64) are of its last checkpoint, absent where nobody has one any more. `lost_from`
    to `lost_to` are the positions of events that it holds and the ledger does not hold, or holds differently.
    """

    origin: str
    vkey: str
    size: int | None = None
    root: str | None = None
    lost_from: int | None = None
    lost_to: int | None = None


@dataclass(frozen=True, slots=True)
class LogStarted:
    """A log begins: all events, from the first on, are leaves of a tree that is signed as `origin`.

    `vkey` says which key signs, in the form of C2SP signed-note. The first is started with the ledger; a
    later `generation` names the `previous` one, and the two people who wanted it.
    """

    generation: int
    origin: str
    vkey: str
    previous: PreviousLog | None = None
    proposed_by: str | None = None
    approved_by: str | None = None
    approval_id: str | None = None
    note_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class LogKeyRotated:
    """From now on another key signs the same log. What the keys before have signed stays as it is."""

    generation: int
    vkey: str
    previous_vkey: str
    proposed_by: str | None = None
    approved_by: str | None = None
    approval_id: str | None = None
    note_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class LogHalted:
    """The ledger is not what its log has signed: no command that could move money is taken any more.

    `reason`: it has fewer events than were signed (`behind`), others (`differs`), or what was signed is not
    there to compare with (`lost`). `size` and `root` (base64) are of the last checkpoint, absent where it is
    lost; `origin` and `vkey` say whose it is where that is a later log, of which the ledger knows nothing any
    more. `position` is the last on which ledger and log agree, as far as is known.
    """

    generation: int
    reason: HaltReason
    position: int
    size: int | None = None
    root: str | None = None
    origin: str | None = None
    vkey: str | None = None


@dataclass(frozen=True, slots=True)
class AuditStarted:
    """Somebody has the events of these positions derived again."""

    run_id: str
    source: AuditSource
    from_position: int
    to_position: int


@dataclass(frozen=True, slots=True)
class AuditFinished:
    """What an audit found: so many rounds and events were derived again, with so many exceptions.

    `report_sha256` (hex) is of its report; absent where it came to none.
    """

    run_id: str
    verdict: AuditVerdict
    rounds: int
    events: int
    exceptions: int
    report_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class ArchiveExported:
    """The events of a finished day (UTC) were exported; `manifest_sha256` (hex) is of what describes it."""

    sequence: int
    day: str
    first_position: int
    last_position: int
    manifest_sha256: str
