"""Which software may open rounds: what was accepted for its build, down to the byte.

The first that is looked at is the baseline. A build that starts for the first time is accepted, for that is
how software is brought up to date, and its event is a significant one. Files that change under the same build
are a mismatch: rounds under way are finished, new ones wait until the files are the accepted ones again or
two people accept what was found. Only a demonstration, on which money is worth nothing, accepts any files at
a start.
"""

from __future__ import annotations

from typing import Any, Final

from domain import events as ev
from domain.approvals import Action, Approved, register
from domain.commands import VerifySoftware
from domain.registers import SOFTWARE, SoftwareState
from domain.rejections import Rejection
from domain.work import Work

ACCEPTANCE: Final = "software"
PARTS: Final = ("code", "rulesets", "lock", "postgres")
BUILDS_MAX: Final = 16
"""So many builds are remembered, the latest: an older one that starts again is as if it were new."""


def verify_software(command: VerifySoftware, work: Work) -> dict[str, Any]:
    """Record what the software is, and whether it may open rounds. Returns that."""
    found = _manifest(command)
    accepted = work.software.accepted
    matches = accepted.get(command.build) == found
    reason: ev.Accepted | None = None
    if not accepted:
        matches, reason = True, "baseline"
    elif not matches and command.occasion == "start":
        if command.build not in accepted:
            reason = "new_build"
        elif command.trusting:
            reason = "demo"
    _note(work, command.build, found, accepted=matches or reason is not None)
    _emit(
        work,
        ev.SoftwareVerified(
            command.build, **found, occasion=command.occasion, matches=matches, accepted=reason
        ),
    )
    return software_answer(work)


def software_answer(work: Work) -> dict[str, Any]:
    """What `software_view` says of the books' own."""
    return software_view(work.software)


def software_view(state: SoftwareState) -> dict[str, Any]:
    """The software as the HTTP contract shows it: what was found last, and whether new rounds are opened."""
    build = state.found.get("build", "")
    expected = state.accepted.get(build, {})
    parts = {part: sha256 for part, sha256 in state.found.items() if part != "build"}
    changed = sorted(part for part in PARTS if parts.get(part) != expected.get(part))
    return {"halted": state.halted, "build": build, "found": parts, "accepted": expected, "changed": changed}


def require_software(work: Work) -> None:
    """Reject with software_mismatch where no new round may be opened."""
    if work.software.halted:
        detail = "The software is not what was accepted: rounds under way are finished, no new one opens."
        raise Rejection("software_mismatch", detail)


def _manifest(command: VerifySoftware) -> dict[str, str]:
    values: dict[str, str | None] = {part: getattr(command, part) for part in PARTS}
    return {part: value for part, value in values.items() if value is not None}


def _note(work: Work, build: str, found: dict[str, str], *, accepted: bool) -> None:
    state = work.software
    state.found = {"build": build, **found}
    state.halted = not accepted
    if accepted:
        state.accepted.pop(build, None)
        state.accepted[build] = found
        while len(state.accepted) > BUILDS_MAX:
            del state.accepted[next(iter(state.accepted))]


def _emit(work: Work, event: ev.SoftwareVerified) -> None:
    work.touched_registers.add(SOFTWARE)
    work.emit(f"ledger-software-{work.position + 1}", 1, event)


# ── Accepting what was found ────────────────────────────────────────────────────────────────────────────────
def _effect(payload: dict[str, Any], work: Work) -> dict[str, Any]:
    if not work.software.halted:
        raise Rejection("validation_failed", "The software is what was accepted: there is nothing to accept.")
    if payload != work.software.found:
        raise Rejection("validation_failed", "That is not what was found last.", found=work.software.found)
    return {"build": payload["build"], "changed": software_answer(work)["changed"]}


def _apply(payload: dict[str, Any], work: Work, approved: Approved) -> dict[str, Any]:
    found: dict[str, str] = {part: payload[part] for part in PARTS if part in payload}
    _note(work, payload["build"], found, accepted=True)
    _emit(
        work,
        ev.SoftwareVerified(
            payload["build"],
            **found,
            occasion="demand",
            matches=False,
            accepted="approval",
            **approved._asdict(),
        ),
    )
    return software_answer(work)


register(Action(ACCEPTANCE, _effect, _apply))
