"""What takes two people: proposed by one, approved by another, done in one command, and ways around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from domain import commands as c
from domain import events as ev
from domain.approvals import ACTIONS, LIFE_US, OPEN_MAX, Action, Approved, dry_run, is_expired, register
from domain.calendar import instant
from domain.canonical import document_sha256
from domain.rejections import Rejection
from tests.unit.domain.playing import Ledger

if TYPE_CHECKING:
    from collections.abc import Iterator

    from domain.work import Work

NOTE = "ab" * 32
WHY = "cd" * 32


class Bell:
    """An action of the tests' own: it rings a bell, so often as is asked for, while there is one."""

    def __init__(self) -> None:
        self.there = True
        self.rung: list[Approved] = []

    def effect(self, payload: dict[str, Any], _: Work) -> dict[str, Any]:
        """Say how often it would ring."""
        if not self.there:
            raise Rejection("table_closed", "The bell is gone.", bell="gone")
        return {"rings": payload["times"], "text": payload.get("text", "")}

    def apply(self, payload: dict[str, Any], work: Work, approved: Approved) -> dict[str, Any]:
        """Ring."""
        self.rung.append(approved)
        work.emit(f"table-bell-{len(self.rung)}", 1, ev.TableClosed(f"bell-{payload['times']}"))
        return {"rang": payload["times"]}


@pytest.fixture
def bell() -> Iterator[Bell]:
    """Yield a bell that may be rung by two."""
    bell = Bell()
    register(Action("bell", bell.effect, bell.apply, scope="disputes:approve"))
    yield bell
    del ACTIONS["bell"]


@pytest.fixture
def ledger(bell: Bell) -> Ledger:
    """Return a ledger with two people who may approve it, and one who may not."""
    del bell
    ledger = Ledger()
    everybody = {"anna": ("admin", "disputes:approve"), "ben": ("disputes:approve",), "cleo": ("admin",)}
    for number, (name, scopes) in enumerate(everybody.items()):
        ledger.work.meta = {"actor": "tests"}
        ledger.ask(c.RegisterPerson(name, f"key-{number}", scopes, f"unused-{number}"))
    return ledger


def proposed(ledger: Ledger, approval_id: str = "A1", **payload: Any) -> dict[str, Any]:
    """Propose to ring the bell, as anna."""
    with ledger.acting("anna", "admin"):
        return ledger.ask(c.Propose(approval_id, "bell", {"times": 3, **payload}, NOTE))


def approve(ledger: Ledger, person: str = "ben", approval_id: str = "A1") -> dict[str, Any]:
    """Approve it."""
    with ledger.acting(person, "disputes:approve"):
        return ledger.ask(c.Approve(approval_id, WHY))


def refused(ledger: Ledger, command: c.Command, code: str, person: str = "ben") -> Rejection:
    """Check that a person's command is refused."""
    with ledger.acting(person, "admin", "disputes:approve"):
        return ledger.refused(command, code)


# ── The way it goes ─────────────────────────────────────────────────────────────────────────────────────────
def test_a_proposal_records_what_it_would_do_and_does_nothing(ledger: Ledger, bell: Bell) -> None:
    """One event with the payload, its hash, the dry run's effect, who and until when; the bell is silent."""
    answer = proposed(ledger)
    (recorded,) = ledger.last
    expires_at = instant(recorded.recorded_at_us + LIFE_US)
    payload = {"times": 3}
    assert recorded.event == ev.ActionProposed(
        "A1",
        "bell",
        payload,
        document_sha256(payload),
        {"rings": 3, "text": ""},
        "anna",
        by_person=True,
        expires_at=expires_at,
        note_sha256=NOTE,
    )
    assert (recorded.stream, recorded.version) == ("approval-A1", 1)
    assert answer == {
        "approval_id": "A1",
        "kind": "bell",
        "status": "proposed",
        "payload": payload,
        "payload_sha256": document_sha256(payload),
        "effect": {"rings": 3, "text": ""},
        "proposed_by": "anna",
        "by_person": True,
        "proposed_at": instant(recorded.recorded_at_us),
        "expires_at": expires_at,
    }
    assert not bell.rung


def test_another_person_approves_and_it_is_done_in_the_same_command(ledger: Ledger, bell: Bell) -> None:
    """The approval and the effect's events come together, and the effect knows who and why."""
    proposed(ledger)
    answer = approve(ledger)
    sha256 = document_sha256({"times": 3})
    assert [(e.stream, e.version, e.event) for e in ledger.last] == [
        (
            "approval-A1",
            2,
            ev.ActionApproved("A1", "bell", sha256, {"rings": 3, "text": ""}, "anna", "ben", WHY),
        ),
        ("table-bell-1", 1, ev.TableClosed("bell-3")),
    ]
    assert bell.rung == [Approved("A1", "anna", "ben", NOTE)]
    assert (answer["status"], answer["decided_by"], answer["result"]) == ("approved", "ben", {"rang": 3})
    assert answer["decided_at"] == instant(ledger.last[0].recorded_at_us)
    assert ledger.work.touched_registers >= {"approval-A1"}


def test_a_service_token_may_propose(ledger: Ledger) -> None:
    """What proposed is recorded by its name, and that no person is behind it."""
    ledger.ask(c.Propose("A1", "bell", {"times": 1}))
    event = ledger.last[0].event
    assert isinstance(event, ev.ActionProposed)
    assert (event.proposed_by, event.by_person) == ("tests", False)
    assert approve(ledger)["status"] == "approved"


def test_what_is_refused_never_happens(ledger: Ledger, bell: Bell) -> None:
    """A refusal ends it, with who and a reason's hash; approving comes too late."""
    proposed(ledger)
    with ledger.acting("ben", "disputes:approve"):
        answer = ledger.ask(c.Refuse("A1", WHY))
    assert [e.event for e in ledger.last] == [ev.ActionRefused("A1", "ben", WHY)]
    assert (answer["status"], answer["decided_by"]) == ("refused", "ben")
    assert "result" not in answer
    assert refused(ledger, c.Approve("A1"), "approval_closed").extra == {"status": "refused"}
    assert not bell.rung


def test_who_proposed_may_take_it_back(ledger: Ledger) -> None:
    """To refuse one's own proposal needs nobody else."""
    with ledger.acting("ben", "disputes:approve"):
        ledger.ask(c.Propose("A1", "bell", {"times": 3}))
        assert ledger.ask(c.Refuse("A1"))["status"] == "refused"


# ── Who may not ─────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("command", [c.Approve("A1"), c.Refuse("A1")])
def test_a_service_token_decides_nothing(ledger: Ledger, command: c.Command) -> None:
    """Not even one whose subject is the name of somebody who might."""
    proposed(ledger)
    for name in ("tests", "ben"):
        with ledger.acting(name, "disputes:approve", person=False):
            ledger.refused(command, "personal_subject_required")


@pytest.mark.parametrize("command", [c.Approve("A1"), c.Refuse("A1")])
def test_nobody_decides_who_is_not_registered_or_was_revoked(ledger: Ledger, command: c.Command) -> None:
    """A person whom the ledger never heard of, or no longer takes, decides nothing."""
    proposed(ledger)
    refused(ledger, command, "personal_subject_required", person="stranger")
    ledger.work.people["ben"].active = False
    refused(ledger, command, "personal_subject_required", person="ben")


@pytest.mark.parametrize("command", [c.Approve("A1"), c.Refuse("A1")])
def test_the_person_and_the_token_must_have_the_actions_scope(ledger: Ledger, command: c.Command) -> None:
    """A registered scope that the token lacks does not count, nor one that only the token claims."""
    proposed(ledger)
    assert refused(ledger, command, "scope_missing", person="cleo").extra == {"scopes": ["disputes:approve"]}
    with ledger.acting("ben", "admin"):
        ledger.refused(command, "scope_missing")


@pytest.mark.parametrize("by_person", [True, False])
@pytest.mark.parametrize("name", ["ben", "BEN"])
def test_nobody_approves_what_they_have_proposed(ledger: Ledger, by_person: bool, name: str) -> None:  # noqa: FBT001
    """Neither as themselves nor through a service token of their own name, however it is spelled."""
    with ledger.acting(name, "admin", person=by_person):
        ledger.ask(c.Propose("A1", "bell", {"times": 3}))
    assert refused(ledger, c.Approve("A1"), "same_person").extra == {"proposed_by": name}
    assert approve(ledger, "anna")["status"] == "approved"


# ── When it cannot be ───────────────────────────────────────────────────────────────────────────────────────
def test_what_is_decided_is_decided_once(ledger: Ledger, bell: Bell) -> None:
    """A second approval, or a refusal after it, changes nothing."""
    proposed(ledger)
    approve(ledger)
    refused(ledger, c.Approve("A1"), "approval_closed", person="ben")
    assert refused(ledger, c.Refuse("A1"), "approval_closed").extra == {"status": "approved"}
    assert len(bell.rung) == 1


def test_an_effect_that_is_no_longer_possible_leaves_the_proposal_open(ledger: Ledger, bell: Bell) -> None:
    """The approver is told the action's own reason; once it is possible again it can be approved."""
    proposed(ledger)
    bell.there = False
    assert refused(ledger, c.Approve("A1"), "table_closed").extra == {"bell": "gone"}
    with pytest.raises(Rejection, match="bell is gone"):
        dry_run(ledger.work.approvals["A1"], ledger.work)
    bell.there = True
    assert dry_run(ledger.work.approvals["A1"], ledger.work) == {"rings": 3, "text": ""}
    assert approve(ledger)["status"] == "approved"


def test_what_cannot_be_done_is_not_proposed(ledger: Ledger, bell: Bell) -> None:
    """The dry run's reason is the proposal's."""
    bell.there = False
    refused(ledger, c.Propose("A1", "bell", {"times": 1}), "table_closed")


def test_an_unknown_kind_is_refused(ledger: Ledger) -> None:
    """Only what the software knows how to do can be proposed, or approved by newer software's proposal."""
    assert "bell" in refused(ledger, c.Propose("A1", "anvil", {}), "validation_failed").extra["kinds"]
    proposed(ledger)
    ledger.work.approvals["A1"].kind = "anvil"
    refused(ledger, c.Approve("A1"), "validation_failed")


def test_there_has_to_be_a_proposal(ledger: Ledger) -> None:
    """A made-up id names nothing."""
    refused(ledger, c.Approve("nothing"), "approval_not_found")
    refused(ledger, c.Refuse("nothing"), "approval_not_found")


def test_only_the_payload_that_was_proposed_and_read_is_approved(ledger: Ledger, bell: Bell) -> None:
    """Another payload's hash from the approver, or a payload changed behind the ledger, is refused."""
    proposed(ledger)
    sha256 = document_sha256({"times": 3})
    refused(ledger, c.Approve("A1", None, document_sha256({"times": 4})), "validation_failed")
    ledger.work.approvals["A1"].payload = {"times": 4}
    refused(ledger, c.Approve("A1"), "validation_failed")
    refused(ledger, c.Approve("A1", None, sha256), "validation_failed")
    refused(ledger, c.Approve("A1", None, document_sha256({"times": 4})), "validation_failed")
    assert not bell.rung
    ledger.work.approvals["A1"].payload = {"times": 3}
    with ledger.acting("ben", "disputes:approve"):
        assert ledger.ask(c.Approve("A1", None, sha256))["status"] == "approved"


@pytest.mark.parametrize("text", ["x" * 25_000, "ř" * 12_500])
def test_a_proposal_fits_into_an_event(ledger: Ledger, text: str) -> None:
    """A payload, and an effect, that is longer than an event may carry is refused, counted in bytes."""
    refused(ledger, c.Propose("A1", "bell", {"times": 1, "text": text}), "validation_failed")
    ACTIONS["bell"] = ACTIONS["bell"]._replace(effect=lambda *_: {"text": text})
    assert "effect" in refused(ledger, c.Propose("A1", "bell", {"times": 1}), "validation_failed").detail
    ACTIONS["bell"] = ACTIONS["bell"]._replace(effect=lambda *_: {})
    proposed(ledger)
    ACTIONS["bell"] = ACTIONS["bell"]._replace(effect=lambda *_: {"text": text})
    assert "effect" in refused(ledger, c.Approve("A1"), "validation_failed").detail


# ── In time ─────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("command", [c.Approve("A1"), c.Refuse("A1")])
def test_a_proposal_can_be_decided_for_seven_days(ledger: Ledger, command: c.Command) -> None:
    """Up to the microsecond before they are over."""
    proposed(ledger)
    approval = ledger.work.approvals["A1"]
    ledger.now_us = approval.expires_at_us
    assert is_expired(approval, ledger.now_us)
    assert instant(approval.expires_at_us) in refused(ledger, command, "approval_expired").detail
    ledger.now_us -= 1
    assert not is_expired(approval, ledger.now_us)
    with ledger.acting("ben", "disputes:approve"):
        ledger.ask(command)


def test_the_next_proposal_records_what_has_expired(ledger: Ledger) -> None:
    """An expired proposal is closed by an event of its own, once; a younger one stays open."""
    proposed(ledger, "old")
    ledger.tick(3600)
    proposed(ledger, "young")
    ledger.now_us = ledger.work.approvals["old"].expires_at_us
    proposed(ledger, "new")
    assert [e.event for e in ledger.last[:-1]] == [ev.ActionExpired("old")]
    assert (ledger.last[0].stream, ledger.last[0].version) == ("approval-old", 2)
    assert refused(ledger, c.Approve("old"), "approval_closed").extra == {"status": "expired"}
    assert not is_expired(ledger.work.approvals["old"], ledger.now_us)
    proposed(ledger, "newer")
    assert len(ledger.last) == 1
    assert approve(ledger, approval_id="young")["status"] == "approved"


def test_open_proposals_are_bounded_and_expired_ones_make_room(ledger: Ledger) -> None:
    """The thousandth is taken, one more is not, until one is decided or time is up."""
    for number in range(OPEN_MAX):
        proposed(ledger, f"A{number}")
    refused(ledger, c.Propose("more", "bell", {"times": 1}), "approvals_full")
    approve(ledger, approval_id="A7")
    proposed(ledger, "more")
    refused(ledger, c.Propose("again", "bell", {"times": 1}), "approvals_full")
    ledger.now_us = ledger.work.approvals["more"].expires_at_us
    proposed(ledger, "again")
    assert len(ledger.last) == OPEN_MAX + 1
