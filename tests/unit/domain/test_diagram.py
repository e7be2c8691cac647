"""The picture of a round's life says what the table of transitions says."""

from __future__ import annotations

from domain.diagram import phase_diagram
from domain.round import TRANSITIONS


def test_every_transition_is_an_arrow() -> None:
    """One arrow for each pair of phases with all its events, from the opening to both ends."""
    first, *arrows = phase_diagram().splitlines()
    assert first == "stateDiagram-v2"
    drawn: set[tuple[str, str, str]] = set()
    for arrow in arrows[:-2]:
        phases, events = arrow.split(": ")
        source, target = phases.strip().split(" --> ")
        drawn.update((source, target, event) for event in events.split(", "))
    assert drawn == {
        (phase or "[*]", target, event.__name__)
        for (phase, event), targets in TRANSITIONS.items()
        for target in targets
    }
    assert len(arrows) == len({arrow.split(":")[0] for arrow in arrows})
    assert arrows[-2:] == ["    closed --> [*]", "    voided --> [*]"]
