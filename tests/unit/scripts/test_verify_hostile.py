"""What is not evidence, and what was changed at random, is never verified and never crashes."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.scripts.hostile_files import GOOD, HOSTILE
from tests.unit.scripts.verified_rounds import (
    cyber,
    czech,
    evolution_live,
    us_casino,
    us_casino_at_once,
    void_after_decisions,
)
from tests.unit.scripts.verifier import verify

if TYPE_CHECKING:
    from tests.unit.scripts.verifier import Evidence


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_read_is_unusable(name: str) -> None:
    """Anything that is not strict JSON of the format gets one line of reason, never an exception."""
    assert HOSTILE[name] != GOOD
    case = verify.examine(HOSTILE[name])
    assert case.verdict() == "unusable"
    assert case.unusable


NOT_DERIVABLE = (
    # what no file without log proofs can prove: recorded as it is, listed as such by the verifier
    "salt", "recorded_at", "position", "meta.actor", "meta.command", "meta.trace", "meta.shown",
    "RoundOpened.table_id", "RoundOpened.account_class", "RoundOpened.gaming_day", "RoundOpened.build",
    "RoundOpened.rng", "RoundOpened.parameters", "RoundOpened.ruleset.version",
    "AntePlaced.session_id", "AntePlaced.channel", "decided_by", "balance_after",
    "JackpotHit.meter_before", "JackpotHit.order", "previous_position", "RoundVoided.cause", "note_sha256",
)  # fmt: skip


def derivable(path: tuple[str | int, ...], evidence: Evidence) -> bool:
    """Tell whether a place in the file is one whose every change must be found."""
    if path == ("player",):
        return False  # a file of everybody, where one played alone, is that player's file too
    if path[0] != "events" or len(path) < 3:
        return True
    event = evidence["events"][path[1]]
    name = ".".join(str(part) for part in path[2:])
    if name.startswith("data."):
        name = f"{event['type']}.{name.removeprefix('data.')}"
    return not any(name == free or f".{name}.".find(f".{free}.") >= 0 for free in NOT_DERIVABLE)


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the path of everything in a JSON value but the whole."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in inner for found in ((*path, key), *places(item, (*path, key)))]


SUBJECTS = {
    made.__name__: made().evidence()
    for made in (us_casino, us_casino_at_once, czech, evolution_live, cyber, void_after_decisions)
}
PLACES = {name: places(evidence) for name, evidence in SUBJECTS.items()}
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 60), st.integers(-(2**60), 2**60), st.text(max_size=5),
    st.floats(),
    st.sampled_from(["As", "2c", "p-1", "fold", "win", "70", "0", "jackpot", "rng", "table", "0" * 64,
    "\ud800"]),
    st.lists(st.integers(0, 51), max_size=6), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip


def at(evidence: Evidence, path: tuple[str | int, ...]) -> Any:
    """Return what is at a path."""
    found: Any = evidence
    for part in path:
        found = found[part]
    return found


@pytest.mark.parametrize("name", SUBJECTS)
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_random_change_is_never_verified_and_never_crashes(name: str, data: st.DataObject) -> None:
    """Any value replaced or left out, anywhere, gives 1 or 2, but for the fields listed as not derivable."""
    evidence = copy.deepcopy(SUBJECTS[name])
    path = data.draw(st.sampled_from(PLACES[name]))
    holder, key = at(evidence, path[:-1]), path[-1]
    if data.draw(st.booleans()):
        before, holder[key] = holder[key], data.draw(VALUES)
        changed = repr(before) != repr(holder[key])
    else:
        changed = holder.pop(key) is not None or True
    raw = json.dumps(evidence).encode()
    verdict = verify.examine(raw).verdict()
    if changed and derivable(path, SUBJECTS[name]):
        assert verdict != "verified", path


@settings(max_examples=300, deadline=None)
@given(noise=st.binary(max_size=200), place=st.integers(0, len(GOOD) - 1))
def test_damaged_bytes_never_crash(noise: bytes, place: int) -> None:
    """Noise and a file cut short are unusable; a file with noise inside is answered, not died of."""
    assert verify.examine(noise).verdict() == "unusable"
    assert verify.examine(GOOD[:place]).verdict() == "unusable"
    assert verify.examine(GOOD[:place] + noise + GOOD[place:]).verdict() in (
        "verified",
        "refuted",
        "unusable",
    )
