"""`scripts/mutate`: mutation tests of settlement, jackpots and rounds, on at most two processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROCESSES = ["--max-children", "2"]


def main(arguments: list[str] | None = None) -> int:
    """Run mutmut, then list what survived; what may, and why, is in tests/MUTANTS.md."""
    os.chdir(ROOT)
    chosen = sys.argv[1:] if arguments is None else arguments
    mutmut = [sys.executable, "-m", "mutmut"]
    # The tests have to find the changed copy of the project, not this one.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [*mutmut, "run", *PROCESSES, *chosen]
    status = subprocess.run(command, check=False, env=environment).returncode
    if not status:
        subprocess.run([*mutmut, "results"], check=False, env=environment)
    return status


if __name__ == "__main__":
    sys.exit(main())
