"""The verifier under test, loaded from its file as nothing imports it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from tests.unit.scripts.evidence_builder import canonical

SCRIPT = Path(__file__).parents[3] / "scripts" / "verify.py"
_spec = importlib.util.spec_from_file_location("verify_under_test", SCRIPT)
assert _spec is not None
assert _spec.loader is not None
verify: Any = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = verify
_spec.loader.exec_module(verify)

Evidence = dict[str, Any]


def examine(evidence: Evidence) -> Any:
    """Return what the verifier found in a file."""
    return verify.examine(canonical(evidence))


def failed(evidence: Evidence) -> list[str]:
    """Return the steps that refute a file."""
    case = examine(evidence)
    assert not case.unusable, case.unusable
    return [step for step, faults in case.faults.items() if faults]


def event_of(evidence: Evidence, kind: str, number: int = 0) -> dict[str, Any]:
    """Return an event of a type."""
    found: dict[str, Any] = [event for event in evidence["events"] if event.get("type") == kind][number]
    return found
