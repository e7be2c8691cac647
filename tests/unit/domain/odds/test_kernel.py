"""How kernels are compiled: late, once, and with or without a place for what was compiled."""

from __future__ import annotations

import subprocess
import sys
from types import FunctionType
from typing import Any

from domain.odds.kernel import kernel


def made(source: str) -> dict[str, Any]:
    """Return a module of functions that are in no file."""
    names: dict[str, Any] = {"__name__": f"made up {source}", "kernel": kernel}
    exec(source, names)  # noqa: S102 -- a function without a file is what has no cache
    return names


def test_functions_that_nothing_can_keep_are_compiled_all_the_same() -> None:
    """A function without a file has no cache, as where no folder can be written to."""
    names = made("@kernel\ndef double(x):\n    return 2 * x\n")
    assert (names["double"](21), names["double"](0.5)) == (42, 1.0)


def test_kernels_of_a_module_are_compiled_together_at_the_first_call() -> None:
    """So that they find each other, whichever is called first; before, none is."""
    names = made("@kernel\ndef a(x):\n    return b(x) + 1\n\n@kernel\ndef b(x):\n    return 10 * x\n")
    early = names["a"]
    assert isinstance(early, FunctionType)
    assert early(4) == 41
    assert not isinstance(names["a"], FunctionType)
    assert not isinstance(names["b"], FunctionType)
    assert early(5) == 51


def test_a_kernel_is_known_by_what_it_was_written_as() -> None:
    """It keeps its name and its docstring."""
    double = made('@kernel\ndef double(x):\n    """Twice."""\n    return 2 * x\n')["double"]
    assert (double.__name__, double.__doc__) == ("double", "Twice.")


def test_nobody_loads_a_compiler_without_counting() -> None:
    """Importing everything there is about odds leaves the compiler alone, and solving from a basis too."""
    program = (
        "import sys, domain.odds.basis, domain.odds.one_card, domain.odds.two_cards, domain.odds.pair_counts;"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=60).returncode == 0
