"""The life of a round as a picture, drawn from the table that decides it."""

from __future__ import annotations

from domain.round import TRANSITIONS


def phase_diagram() -> str:
    """`TRANSITIONS` as a Mermaid state diagram: an arrow for each pair of phases, with its events."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for (phase, event), targets in TRANSITIONS.items():
        for following in targets:
            arrows.setdefault((phase or "[*]", following), []).append(event.__name__)
    lines = ["stateDiagram-v2"]
    for (source, target), events in arrows.items():
        lines.append(f"    {source} --> {target}: {', '.join(events)}")
    lines += ["    closed --> [*]", "    voided --> [*]"]
    return "\n".join(lines)
