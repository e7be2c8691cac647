"""Two people: what one proposes another approves, and only then does it happen.

There is one way for every such action. It is proposed with what a dry run says it would do; a registered
person who did not propose it approves; then it is checked again against the state of that moment, and
`ActionApproved` and the events of its effect are recorded in one command. Kinds of action are in `ACTIONS`,
each put there by the module that knows what it does.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from domain import events as ev
from domain.calendar import instant
from domain.canonical import document_sha256
from domain.commands import Approve, Propose, Refuse
from domain.registers import Approval, Person
from domain.rejections import Rejection
from domain.work import Work

LIFE_US: Final = 7 * 24 * 3600 * 1_000_000
"""How long a proposal may be approved."""
OPEN_MAX: Final = 1_000
"""How many may be open at once: every writer has all of them in memory."""
DOCUMENT_BYTES_MAX: Final = 24_000
"""Of a payload, and of an effect: both stand in one event, with room to spare."""


class Approved(NamedTuple):
    """Who wanted an action and who allowed it, as the events of its effect say it (`_asdict`).

    `note_sha256` is of the reason it was proposed with.
    """

    approval_id: str
    proposed_by: str
    approved_by: str
    note_sha256: str | None = None


class Action(NamedTuple):
    """A kind of action that takes two people. `scope` is what whoever approves must hold.

    `effect` is the dry run: it checks everything, changes nothing, raises Rejection where the action is not
    possible, and returns what it would do as JSON without nulls and floats. `apply` does it, right after a
    dry run that went well, and does not raise; it returns what was done.
    """

    kind: str
    effect: Callable[[dict[str, Any], Work], dict[str, Any]]
    apply: Callable[[dict[str, Any], Work, Approved], dict[str, Any]]
    scope: str = "admin"


ACTIONS: Final[dict[str, Action]] = {}
"""Every kind of action there is, by its name."""


def register(action: Action) -> None:
    """Add a kind of action."""
    ACTIONS[action.kind] = action


# ── Deciding ────────────────────────────────────────────────────────────────────────────────────────────────
def propose(command: Propose, work: Work) -> dict[str, Any]:
    """Record a proposal with what it would do. Returns it.

    Rejects with approvals_full, validation_failed (no such kind, or too much for one event), and with
    whatever the action itself is refused with.
    """
    action = _action(command.kind)
    now_us = work.next_recorded_at_us()
    expired = [each for each in work.approvals.values() if is_expired(each, now_us)]
    if sum(map(_is_open, work.approvals.values())) - len(expired) >= OPEN_MAX:
        raise Rejection("approvals_full", f"{OPEN_MAX} proposals wait for approval already: decide some.")
    _require_short("payload", command.payload)
    effect = _effect(action, command.payload, work)
    for each in expired:
        each.status = "expired"
        _emit(work, each, ev.ActionExpired(each.approval_id))
    approval = Approval(
        approval_id=command.approval_id,
        kind=action.kind,
        payload=command.payload,
        payload_sha256=document_sha256(command.payload),
        effect=effect,
        proposed_by=work.meta["actor"],
        by_person=work.person is not None,
        proposed_at_us=now_us,
        expires_at_us=now_us + LIFE_US,
        note_sha256=command.note_sha256,
        version=0,
    )
    work.approvals[approval.approval_id] = approval
    proposed = ev.ActionProposed(
        approval.approval_id,
        approval.kind,
        approval.payload,
        approval.payload_sha256,
        approval.effect,
        approval.proposed_by,
        approval.by_person,
        instant(approval.expires_at_us),
        approval.note_sha256,
    )
    _emit(work, approval, proposed)
    approval.proposed_at_us = work.recorded_at_us
    return approval_answer(approval)


def approve(command: Approve, work: Work) -> dict[str, Any]:
    """Approve what another has proposed, and carry it out. Returns the approval.

    Rejects with personal_subject_required, approval_not_found, scope_missing, same_person, approval_closed,
    approval_expired, validation_failed (another payload than was read or proposed); and with the action's own
    reason where it is no longer possible: it stays open.
    """
    person = require_person(work)
    approval = _named(command.approval_id, work)
    action = _action(approval.kind)
    _require_scope(work, person, action.scope)
    if person.person_id.lower() == approval.proposed_by.lower():
        detail = f"{approval.proposed_by} proposed it: another person has to approve."
        raise Rejection("same_person", detail, proposed_by=approval.proposed_by)
    _require_open(approval, work)
    payload_sha256 = document_sha256(approval.payload)
    if not approval.payload_sha256 == payload_sha256 == (command.payload_sha256 or payload_sha256):
        raise Rejection("validation_failed", "The payload is not the one that is to be approved.")
    effect = _effect(action, approval.payload, work)
    approved = ev.ActionApproved(
        approval.approval_id,
        approval.kind,
        payload_sha256,
        effect,
        approval.proposed_by,
        person.person_id,
        command.note_sha256,
    )
    _decide(work, approval, approved, person, command.note_sha256)
    approval.status = "approved"
    who = Approved(approval.approval_id, approval.proposed_by, person.person_id, approval.note_sha256)
    approval.result = action.apply(approval.payload, work, who)
    return approval_answer(approval)


def refuse(command: Refuse, work: Work) -> dict[str, Any]:
    """Say no to a proposal, one's own included. Returns the approval.

    Rejects with personal_subject_required, approval_not_found, scope_missing, approval_closed,
    approval_expired.
    """
    person = require_person(work)
    approval = _named(command.approval_id, work)
    _require_scope(work, person, _action(approval.kind).scope)
    _require_open(approval, work)
    refused = ev.ActionRefused(approval.approval_id, person.person_id, command.note_sha256)
    _decide(work, approval, refused, person, command.note_sha256)
    approval.status = "refused"
    return approval_answer(approval)


def dry_run(approval: Approval, work: Work) -> dict[str, Any]:
    """What approving would do now; rejects as the action itself would be."""
    return _effect(_action(approval.kind), approval.payload, work)


def is_expired(approval: Approval, now_us: int) -> bool:
    """Whether nobody has decided in time."""
    return _is_open(approval) and approval.expires_at_us <= now_us


def require_person(work: Work) -> Person:
    """The registered person whose command this is; rejects with personal_subject_required.

    Somebody whom another process has revoked a moment ago is nobody here: the books are as of the last
    command, whatever the token's verifier still thinks.
    """
    person = work.people.get(work.person) if work.person is not None else None
    if person is None or not person.active:
        detail = "This takes a registered person with a credential of their own: no service token will do."
        raise Rejection("personal_subject_required", detail)
    return person


def approval_answer(approval: Approval) -> dict[str, Any]:
    """An approval as the HTTP contract shows it."""
    answer = {
        "approval_id": approval.approval_id,
        "kind": approval.kind,
        "status": approval.status,
        "payload": approval.payload,
        "payload_sha256": approval.payload_sha256,
        "effect": approval.effect,
        "proposed_by": approval.proposed_by,
        "by_person": approval.by_person,
        "proposed_at": instant(approval.proposed_at_us),
        "expires_at": instant(approval.expires_at_us),
    }
    if approval.decided_by is not None and approval.decided_at_us is not None:
        answer |= {"decided_by": approval.decided_by, "decided_at": instant(approval.decided_at_us)}
    if approval.result is not None:
        answer["result"] = approval.result
    return answer


def _effect(action: Action, payload: dict[str, Any], work: Work) -> dict[str, Any]:
    """What an action would do, if it is possible and can be recorded."""
    effect = action.effect(payload, work)
    _require_short("effect", effect)
    return effect


# ── What stands in the way ──────────────────────────────────────────────────────────────────────────────────
def _action(kind: str) -> Action:
    action = ACTIONS.get(kind)
    if action is None:
        raise Rejection("validation_failed", f"This software knows no action {kind}.", kinds=sorted(ACTIONS))
    return action


def _require_short(what: str, document: dict[str, Any]) -> None:
    if len(json.dumps(document, ensure_ascii=False).encode()) > DOCUMENT_BYTES_MAX:
        detail = f"The {what} takes more than {DOCUMENT_BYTES_MAX} bytes: less at a time can be proposed."
        raise Rejection("validation_failed", detail)


def _named(approval_id: str, work: Work) -> Approval:
    approval = work.approvals.get(approval_id)
    if approval is None:
        raise Rejection("approval_not_found", f"There is no approval {approval_id}.")
    return approval


def _require_scope(work: Work, person: Person, scope: str) -> None:
    """What the person was registered for counts, and no less what this token of theirs is for."""
    if scope not in person.scopes or scope not in work.scopes:
        detail = f"This needs a person with the scope {scope}, and a token that has it."
        raise Rejection("scope_missing", detail, scopes=[scope])


def _require_open(approval: Approval, work: Work) -> None:
    if is_expired(approval, work.next_recorded_at_us()):
        detail = f"The proposal could be decided until {instant(approval.expires_at_us)}."
        raise Rejection("approval_expired", detail)
    if not _is_open(approval):
        detail = f"The proposal is {approval.status} already."
        raise Rejection("approval_closed", detail, status=approval.status)


def _is_open(approval: Approval) -> bool:
    return approval.status == "proposed"


# ── What happens ────────────────────────────────────────────────────────────────────────────────────────────
def _decide(work: Work, approval: Approval, event: ev.Event, person: Person, note_sha256: str | None) -> None:
    _emit(work, approval, event)
    approval.decided_by = person.person_id
    approval.decided_at_us = work.recorded_at_us
    approval.decision_note_sha256 = note_sha256


def _emit(work: Work, approval: Approval, event: ev.Event) -> None:
    approval.version += 1
    stream = f"approval-{approval.approval_id}"
    work.touched_registers.add(stream)
    work.emit(stream, approval.version, event)
