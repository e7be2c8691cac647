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
    status = subprocess.run([*mutmut, "run", *PROCESSES, *chosen], check=False).returncode
    if not status:
        subprocess.run([*mutmut, "results"], check=False)
    return status


if __name__ == "__main__":
    sys.exit(main())
