"""`scripts/test`: linters and types first, then the tests on an embedded PostgreSQL of their own."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).parents[2]
LINTERS = {
    "ruff check": ["-m", "ruff", "check", "--quiet", "."],
    "ruff format": ["-m", "ruff", "format", "--check", "."],
    "mypy --strict": ["-m", "mypy"],
    "mypy --strict scripts/verify.py": ["-m", "mypy", "scripts/verify.py"],
    "import-linter": ["-c", "from importlinter.cli import lint_imports_command as run; run()"],
}
# Asked of the whole suite only: a part of it cannot cover everything.
WHOLE_SUITE = ["-n", "2", "--dist", "loadfile"]  # two at a time, each file as a whole: files share databases
COVERAGE = ["--cov=domain", "--cov-branch", "--cov-report=term-missing:skip-covered", "--cov-fail-under=100"]


def main(arguments: list[str] | None = None) -> int:
    """Run what the arguments ask for; return the first failing linter's exit status, or become pytest."""
    parser = argparse.ArgumentParser(
        prog="scripts/test",
        description=__doc__,
        epilog="Everything else goes to pytest; paths are relative to the project. Without such arguments "
        "the whole suite runs, and the domain's branch coverage has to be complete.",
    )
    parser.add_argument("--no-lint", action="store_true", help="go straight to the tests")
    parser.add_argument("--only-lint", action="store_true", help="leave the tests out")
    chosen, for_pytest = parser.parse_known_args(arguments)
    os.chdir(ROOT)
    if not chosen.no_lint and (status := lint()):
        return status
    if not chosen.only_lint:
        become_pytest(for_pytest or [*WHOLE_SUITE, *COVERAGE])
    return 0


def become_pytest(arguments: list[str]) -> NoReturn:
    """Hand this process over to pytest, so that signals and the exit status are its own."""
    print("pytest", *arguments, flush=True)
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *arguments])


def lint() -> int:
    """Run every linter, so that one run tells all; return the first failure's exit status."""
    statuses = []
    for name, command in LINTERS.items():
        print(name, flush=True)
        statuses.append(subprocess.run([sys.executable, *command], check=False).returncode)
    return next((status for status in statuses if status), 0)


if __name__ == "__main__":
    sys.exit(main())
