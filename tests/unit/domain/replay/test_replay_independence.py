"""The checker shares no code with what it checks (G8)."""

from __future__ import annotations

import ast
from pathlib import Path

import domain.replay


def imported(source: Path) -> set[str]:
    """The modules a file imports from the domain, its own package left out."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return {name for name in names if name.startswith("domain") and not name.startswith("domain.replay")}


def test_the_replay_takes_the_cards_names_from_the_domain_and_nothing_else() -> None:
    """No module of the replay imports the writer's game code, however many modules that will have."""
    sources = sorted(Path(domain.replay.__file__).parent.glob("*.py"))

    assert len(sources) > 10
    assert set().union(*map(imported, sources)) == {"domain.cards"}
