"""Which evidence log a ledger has, who signs it, and how a halted ledger comes out of that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain import commands as c
from domain import events as ev
from domain.evidence_log import GENERATION, KEY, KEYS_MAX, log_view, next_origin
from domain.registers import LogState
from tests.unit.domain.log_keys import FIRST, NAME, OTHER_ROOT, ROOT, SECOND, vkey
from tests.unit.domain.playing import Ledger


@pytest.fixture
def ledger() -> Ledger:
    """Return a ledger with a log, and two people who may approve."""
    ledger = Ledger()
    ledger.ask(c.StartLog(FIRST, vkey()))
    for name in ("ada", "bob"):
        ledger.ask(c.RegisterPerson(name, f"key-{name}", ("admin",), f"unused-{name}"))
    return ledger


def halted(ledger: Ledger, **more: Any) -> ev.LogHalted:
    """Halt a ledger that is behind, unless said otherwise; return the event."""
    command = c.HaltLog(1, "behind", 40, 100, ROOT)
    ledger.ask(replace(command, **more))
    event = ledger.last[-1].event
    assert isinstance(event, ev.LogHalted)
    return event


def proposed(ledger: Ledger, kind: str, payload: dict[str, Any]) -> c.Propose:
    """Return ada's proposal."""
    return c.Propose(f"approval-{len(ledger.events)}", kind, payload)


def agreed(ledger: Ledger, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Have ada propose and bob approve; return the approval."""
    proposal = proposed(ledger, kind, payload)
    with ledger.acting("ada", "admin"):
        ledger.ask(proposal)
    with ledger.acting("bob", "admin"):
        return ledger.ask(c.Approve(proposal.approval_id))


# ── The first log ───────────────────────────────────────────────────────────────────────────────────────────
def test_a_log_is_started_once(ledger: Ledger) -> None:
    """The first command starts the log, in a stream of its own; another changes nothing and tells of it."""
    (started,) = [e for e in ledger.events if isinstance(e.event, ev.LogStarted)]
    assert (started.stream, started.version) == ("log-1", 1)
    assert started.event == ev.LogStarted(1, FIRST, vkey())
    answer = ledger.ask(c.StartLog(f"{NAME}x/1", vkey(f"{NAME}x/1", 7)))
    assert ledger.last == []
    assert answer == {"generation": 1, "origin": FIRST, "keys": [vkey()], "halted": False}


@pytest.mark.parametrize(
    ("origin", "key"),
    [
        (SECOND, vkey(SECOND)),
        ("stud-ledger", vkey("stud-ledger")),
        ("stud ledger/1", vkey("stud ledger/1")),
        (FIRST, vkey(SECOND)),
        (FIRST, vkey(algorithm=4)),
        (FIRST, vkey(length=31)),
        (FIRST, vkey().replace("+", "-")),
        (FIRST, f"{FIRST}+00000000+{vkey().rpartition('+')[2]}"),
        (FIRST, f"{FIRST}+00000000+%%%"),
        (FIRST, f"{vkey()}="),
        (FIRST, f"{FIRST}+00000000+A=A"),
        (FIRST, ""),
    ],
)
def test_no_log_is_started_under_what_is_no_key_or_name_of_it(origin: str, key: str) -> None:
    """A name without generation 1, and a key that is malformed, another's or no Ed25519 key, are refused."""
    Ledger().refused(c.StartLog(origin, key), "validation_failed")


# ── Halting ─────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_ledger_is_halted_once(ledger: Ledger) -> None:
    """The first report halts it and is recorded, later ones say what it is halted for."""
    assert halted(ledger) == ev.LogHalted(1, "behind", 40, 100, ROOT)
    assert (ledger.last[-1].stream, ledger.last[-1].version) == ("log-1", 2)
    answer = ledger.ask(c.HaltLog(1, "differs", 3, 7, OTHER_ROOT))
    assert ledger.last == []
    assert answer["halted"]
    assert (answer["reason"], answer["agree_to"]) == ("behind", 40)
    assert answer["signed"] == {"size": 100, "root": ROOT}
    assert answer["next_origin"] == SECOND


def test_a_report_on_a_log_before_halts_nothing(ledger: Ledger) -> None:
    """Whoever still looks at the log before the present one has nothing to say of the ledger."""
    halted(ledger)
    agreed(ledger, GENERATION, {"origin": SECOND, "vkey": vkey(SECOND, 2)})
    assert not ledger.ask(c.HaltLog(1, "differs", 3))["halted"]
    assert ledger.last == []


def test_a_ledger_without_a_log_is_not_halted() -> None:
    """There is nothing that it could differ from."""
    Ledger().refused(c.HaltLog(1, "lost", 3), "validation_failed")


# ── Another key ─────────────────────────────────────────────────────────────────────────────────────────────
def test_two_people_rotate_the_key(ledger: Ledger) -> None:
    """The new key signs from then on, the old ones stay known, and the event says who wanted it."""
    approval = agreed(ledger, KEY, {"vkey": vkey(key=2)})
    assert approval["effect"] == {"generation": 1, "vkey": vkey(key=2), "previous_vkey": vkey()}
    assert approval["result"]["keys"] == [vkey(key=2), vkey()]
    event = ledger.last[-1].event
    assert isinstance(event, ev.LogKeyRotated)
    assert (event.generation, event.vkey, event.previous_vkey) == (1, vkey(key=2), vkey())
    assert (event.proposed_by, event.approved_by) == ("ada", "bob")
    assert (ledger.last[-1].stream, ledger.last[-1].version) == ("log-1", 2)
    assert ledger.work.log.vkey == vkey(key=2)


def test_a_key_signs_only_once_and_only_its_own_log(ledger: Ledger) -> None:
    """A key that has signed, that is named otherwise, or that the edge found unusable, is not taken."""
    agreed(ledger, KEY, {"vkey": vkey(key=2)})
    for payload in (
        {"vkey": vkey()},
        {"vkey": vkey(key=2)},
        {"vkey": vkey(SECOND, 3)},
        {"vkey": "nothing"},
        {"vkey": vkey(key=3), "unusable": "There is no such key."},
    ):
        ledger.refused(proposed(ledger, KEY, payload), "validation_failed")


def test_a_log_has_a_bounded_number_of_keys(ledger: Ledger) -> None:
    """The register that every writer reads does not grow for ever."""
    for key in range(2, KEYS_MAX + 1):
        agreed(ledger, KEY, {"vkey": vkey(key=key)})
    ledger.refused(proposed(ledger, KEY, {"vkey": vkey(key=KEYS_MAX + 1)}), "validation_failed")


def test_no_key_is_rotated_where_there_is_no_log_or_a_halted_one(ledger: Ledger) -> None:
    """A halted log signs nothing more: it takes a new one."""
    halted(ledger)
    ledger.refused(proposed(ledger, KEY, {"vkey": vkey(key=2)}), "validation_failed")
    bare = Ledger()
    bare.refused(proposed(bare, KEY, {"vkey": vkey(key=2)}), "validation_failed")


# ── Another log ─────────────────────────────────────────────────────────────────────────────────────────────
def test_two_people_start_a_new_log(ledger: Ledger) -> None:
    """The event names the old log, its last checkpoint and what was lost; the ledger is halted no longer."""
    halted(ledger)
    payload = {"origin": SECOND, "vkey": vkey(SECOND, 2)}
    previous: dict[str, Any] = {
        "origin": FIRST,
        "vkey": vkey(),
        "size": 100,
        "root": ROOT,
        "lost_from": 41,
        "lost_to": 100,
    }
    approval = agreed(ledger, GENERATION, payload)
    assert approval["effect"] == {"generation": 2, "origin": SECOND, "previous": previous}
    assert approval["result"] == {
        "generation": 2,
        "origin": SECOND,
        "keys": [vkey(SECOND, 2)],
        "halted": False,
    }
    last = ledger.last[-1]
    assert (last.stream, last.version) == ("log-2", 1)
    assert isinstance(last.event, ev.LogStarted)
    assert last.event.previous == ev.PreviousLog(**previous)
    assert (last.event.proposed_by, last.event.approved_by) == ("ada", "bob")
    state = ledger.work.log
    assert (state.halted, state.size, state.root, state.position) == (None, None, None, None)


def test_a_new_log_can_be_halted_and_followed_by_a_third(ledger: Ledger) -> None:
    """Each generation has a stream of its own, whose versions begin anew."""
    third = f"{NAME}/3"
    halted(ledger)
    agreed(ledger, GENERATION, {"origin": SECOND, "vkey": vkey(SECOND, 2)})
    assert halted(ledger, generation=2, reason="lost", size=None, root=None).reason == "lost"
    assert (ledger.last[-1].stream, ledger.last[-1].version) == ("log-2", 2)
    approval = agreed(ledger, GENERATION, {"origin": third, "vkey": vkey(third, 3)})
    assert approval["effect"]["previous"] == {"origin": SECOND, "vkey": vkey(SECOND, 2)}


def test_a_checkpoint_can_be_brought_along(ledger: Ledger) -> None:
    """Where the ledger does not know what was signed last, whoever has it says so."""
    halted(ledger, reason="lost", size=None, root=None)
    payload = {"origin": SECOND, "vkey": vkey(SECOND, 2), "size": 60, "root": ROOT}
    previous = agreed(ledger, GENERATION, payload)["effect"]["previous"]
    assert (previous["size"], previous["lost_from"], previous["lost_to"]) == (60, 41, 60)


def test_a_checkpoint_within_the_ledger_means_that_nothing_is_lost(ledger: Ledger) -> None:
    """A log that was lost without the ledger being behind it leaves no range of lost events."""
    halted(ledger, reason="lost", size=None, root=None)
    payload = {"origin": SECOND, "vkey": vkey(SECOND, 2), "size": 40, "root": ROOT}
    previous = agreed(ledger, GENERATION, payload)["effect"]["previous"]
    assert previous == {"origin": FIRST, "vkey": vkey(), "size": 40, "root": ROOT}


@pytest.mark.parametrize(
    "more",
    [
        {"size": 99, "root": ROOT},
        {"size": 100, "root": OTHER_ROOT},
        {"size": 101, "root": "AAAA"},
        {"size": 101, "root": "%"},
        {"origin": f"{NAME}/3", "vkey": vkey(f"{NAME}/3", 2)},
        {"vkey": vkey(FIRST, 2)},
        {"vkey": vkey(SECOND, 1)},
        {"unusable": "The old log has not signed that checkpoint."},
    ],
)
def test_a_new_log_has_to_follow_from_the_old_one(ledger: Ledger, more: dict[str, Any]) -> None:
    """An older or other checkpoint than is known, another name, and a key that has signed are refused."""
    halted(ledger)
    payload = {"origin": SECOND, "vkey": vkey(SECOND, 2), **more}
    ledger.refused(proposed(ledger, GENERATION, payload), "validation_failed")


def test_a_log_that_goes_on_is_not_replaced(ledger: Ledger) -> None:
    """Nobody can start a new log to be rid of what the present one has signed."""
    payload = {"origin": SECOND, "vkey": vkey(SECOND, 2)}
    ledger.refused(proposed(ledger, GENERATION, payload), "validation_failed")


def test_a_log_that_was_lost_with_its_events_keeps_its_name(ledger: Ledger) -> None:
    """A ledger restored from before a later log began names that one as the old, and uses no name twice."""
    halted(ledger, origin=SECOND, vkey=vkey(SECOND, 2))
    assert next_origin(ledger.work.log) == f"{NAME}/3"
    third = f"{NAME}/3"
    approval = agreed(ledger, GENERATION, {"origin": third, "vkey": vkey(third, 3)})
    assert approval["effect"]["generation"] == 3
    previous = approval["effect"]["previous"]
    assert (previous["origin"], previous["vkey"]) == (SECOND, vkey(SECOND, 2))
    assert ledger.work.log.signed_origin is None


def test_no_log_has_no_key() -> None:
    """Before there is a log its view is empty."""
    assert LogState().vkey == ""
    assert log_view(LogState()) == {"generation": 0, "origin": "", "keys": [], "halted": False}
