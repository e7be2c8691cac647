"""`scripts/bench odds`: how long exact odds take, from nothing and from what is kept, and in how much memory.

Each line is that of a process of its own. None uses more than one processor: its seconds of a processor
are those it takes where it has one for itself, and are what is held against what it may take. Where
everything is compiled, the compiler's folder is empty.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from api.cli.bench.ledger import ROOT

MEMORY_MB_MAX: Final = 2048


@dataclass(frozen=True, slots=True)
class Step:
    """A process: what it is called, its task, what it may take, and whether it has to compile everything."""

    name: str
    task: str
    seconds_max: float | None = None
    cold: bool = False


@dataclass(frozen=True, slots=True)
class Measured:
    """What a process took, by the clock and of a processor, and whether that is within what it may take."""

    name: str
    seconds: float
    processor_seconds: float
    memory_mb: int
    within: bool
    told: dict[str, Any]

    def line(self, seconds_max: float | None) -> str:
        """One line for a person."""
        limit = "" if seconds_max is None else f"  at most {seconds_max:g} s, {MEMORY_MB_MAX} MB"
        return (
            f"{self.name:<46} {self.seconds:>6.2f} s  {self.processor_seconds:>6.2f} s of a processor"
            f"  {self.memory_mb:>5} MB{limit}{'' if self.within else '  EXCEEDED'}"
        )


STEPS: Final = (
    Step("floor: the compiler, an empty function", "compiler", cold=True),
    Step("one up-card, everything compiled and counted", "base", 10, cold=True),
    Step("one up-card, counted", "base"),
    Step("further pay tables, from what is kept", "tables"),
    Step("two up-cards, everything compiled and counted", "two_up", 15, cold=True),
    Step("two up-cards, counted", "two_up", 15),
    Step("floor: as many numbers read once", "two_up_pass"),
    Step("an exchange, everything compiled and counted", "exchange", 60, cold=True),
    Step("an exchange, from what is kept", "exchange"),
    Step("decisions judged one by one", "lookups"),
)
# What a process tells of itself: the name for a person, its unit, and what is required.
TOLD: Final[dict[str, tuple[str, str, float | None]]] = {
    "pass_ms": ("floor: each count read once", "ms", None),
    "reading_ms": ("read and checked", "ms", None),
    "solving_ms": ("a pay table solved, the middle of six", "ms", 500),
    "whole_ms": ("read, solved and told", "ms", 500),
    "working_ms": ("without starting", "ms", None),
    "floor_us": ("floor: six cards checked", "µs", None),
    "judged_us": ("fold or raise", "µs", 50),
    "judged_exchange_us": ("fold, raise or the best exchange", "µs", 50),
}


def bench_odds(*, as_json: bool) -> int:
    """Measure everything and print it; return 0, or 1 where something took more than it may."""
    measured = []
    compiled = 0
    with tempfile.TemporaryDirectory(prefix="stud-ledger-") as folder:
        for step in STEPS:
            compiled += step.cold
            found = _run(step, Path(folder) / "kept", Path(folder) / f"compiled_{compiled}")
            measured.append(found)
            if not as_json:
                print("\n".join([found.line(step.seconds_max), *_told(found)]), flush=True)
    if as_json:
        machine = f"{platform.machine()}, Python {platform.python_version()}"
        print(json.dumps({"machine": machine, "measured": [asdict(one) for one in measured]}, indent=2))
    return 0 if all(one.within for one in measured) else 1


def _run(step: Step, kept: Path, compiled: Path) -> Measured:
    """Run a process with folders for what is kept and for what was compiled."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-P", "-m", "api.cli.bench.odds_work", step.task, str(kept)],
        check=True,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(compiled)},
    )
    seconds = time.perf_counter() - began
    told = json.loads(done.stdout)
    processor_seconds, memory_mb = told.pop("processor_seconds"), told.pop("memory_mb")
    limits = [(memory_mb, MEMORY_MB_MAX), (processor_seconds, step.seconds_max)]
    limits += [(_middle(told[key]), most) for key, (_, _, most) in TOLD.items() if key in told]
    within = all(most is None or value <= most for value, most in limits)
    return Measured(step.name, round(seconds, 2), processor_seconds, memory_mb, within, told)


def _middle(value: Any) -> float:
    """The figure that is held against a limit: of a spread the middle one."""
    return float(value["p50"] if isinstance(value, dict) else value)


def _told(found: Measured) -> list[str]:
    """What a process told of itself, a line each."""
    lines = [f"    = {found.told['result']}"]
    for key, (name, unit, most) in TOLD.items():
        if key in found.told:
            value = found.told[key]
            more = f", 95 of 100 at most {value['p95']:g}" if isinstance(value, dict) else ""
            limit = "" if most is None else f"  at most {most:g} {unit}"
            lines.append(f"    {name:<42} {_middle(value):>8.1f} {unit}{more}{limit}")
    return lines
