"""What a replay found: named checks, and the verdict they add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

Result = Literal["pass", "fail", "not_applicable"]

PROBLEMS_MAX: Final = 20
"""A check over many events names at most this many of those at fault.

A report is bounded whatever it is about.
"""


class Check(NamedTuple):
    """One question that was asked of the events.

    `check` names it in snake case, with the seat where there is one (``settled.seat_3.raise``). `expected`
    and `actual` are JSON values, or None where there is nothing to say.
    """

    check: str
    result: Result
    expected: Any = None
    actual: Any = None

    def as_json(self) -> dict[str, Any]:
        """The check as the HTTP contract shows it: without absent values."""
        shown: dict[str, Any] = {"check": self.check, "result": self.result}
        if self.expected is not None:
            shown["expected"] = self.expected
        if self.actual is not None:
            shown["actual"] = self.actual
        return shown


@dataclass(frozen=True, slots=True)
class Report:
    """All checks of one round; the verdict is ``fail`` if one of them failed."""

    verdict: Literal["pass", "fail"]
    checks: tuple[Check, ...]

    def as_json(self) -> dict[str, Any]:
        """The report as the HTTP contract shows it."""
        return {"verdict": self.verdict, "checks": [check.as_json() for check in self.checks]}

    def failed(self) -> tuple[str, ...]:
        """The names of the checks that failed."""
        return tuple(check.check for check in self.checks if check.result == "fail")


class Findings:
    """Collects checks in the order they are made. What is compared may be objects of events, and tuples."""

    __slots__ = ("_checks",)

    def __init__(self) -> None:
        self._checks: list[Check] = []

    def holds(
        self,
        name: str,
        ok: bool,  # noqa: FBT001 - the answer itself, not a mode
        expected: object = None,
        actual: object = None,
    ) -> None:
        """Record a question whose answer was computed by the caller."""
        self._checks.append(Check(name, "pass" if ok else "fail", _in_json(expected), _in_json(actual)))

    def same(self, name: str, expected: object, actual: object) -> None:
        """Record whether what was derived is what the events say."""
        self.holds(name, expected == actual, expected, actual)

    def none_of(self, name: str, problems: Sequence[object]) -> None:
        """Record a question asked of many events; `problems` are the answers that were wrong."""
        if problems:
            self._checks.append(Check(name, "fail", [], _in_json(problems[:PROBLEMS_MAX])))
        else:
            self._checks.append(Check(name, "pass"))

    def skip(self, *names: str) -> None:
        """Record questions that do not arise in this round."""
        self._checks.extend(Check(name, "not_applicable") for name in names)

    def report(self) -> Report:
        """The finished report."""
        failed = any(check.result == "fail" for check in self._checks)
        return Report("fail" if failed else "pass", tuple(self._checks))


class Failures(Findings):
    """Collects those checks alone that fail: of a million rounds, nobody reads what passed."""

    __slots__ = ()

    def holds(
        self,
        name: str,
        ok: bool,  # noqa: FBT001 - the answer itself, not a mode
        expected: object = None,
        actual: object = None,
    ) -> None:
        """Record a question if its answer is no."""
        if not ok:
            super().holds(name, ok, expected, actual)

    def same(self, name: str, expected: object, actual: object) -> None:
        """Record a difference."""
        if expected != actual:
            super().holds(name, False, expected, actual)  # noqa: FBT003 - the answer

    def none_of(self, name: str, problems: Sequence[object]) -> None:
        """Record problems, if there are any."""
        if problems:
            super().none_of(name, problems)

    def skip(self, *names: str) -> None:
        """Nothing failed."""


_PLAIN: Final = frozenset({str, int, bool, type(None)})


def _in_json(value: Any) -> Any:
    """A compared value as JSON has it: a plain one, or an object or array of such."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Struct):
        value = msgspec.to_builtins(value)
    if isinstance(value, dict):
        return {name: _in_json(inner) for name, inner in value.items()}
    return [_in_json(inner) for inner in value]
