"""What a measurement is, and how it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Latencies:
    """Milliseconds."""

    p50: float
    p99: float
    worst: float


@dataclass(frozen=True, slots=True)
class Spread:
    """Of some measurements the middle one, the one that 95 of 100 do not exceed, and the largest."""

    p50: float
    p95: float
    worst: float


def spread(values: Sequence[float], *, unit: float = 1000.0) -> Spread:
    """The spread of measured seconds as milliseconds, or in another unit that a second has so many of.

    Zeros where nothing was measured.
    """
    if not values:
        return Spread(0.0, 0.0, 0.0)
    ordered = sorted(values)
    last = len(ordered) - 1
    found = (ordered[last // 2], ordered[min(int(len(ordered) * 0.95), last)], ordered[last])
    return Spread(*(round(value * unit, 2) for value in found))


def per_second(count: int, seconds: float) -> int:
    """How many a second; 0 where it took no time."""
    return round(count / seconds) if seconds > 0 else 0


def latencies(seconds: Sequence[float]) -> Latencies:
    """Percentiles of measured seconds, as milliseconds."""
    ordered = sorted(seconds)
    return Latencies(
        round(ordered[len(ordered) // 2] * 1000, 2),
        round(ordered[min(int(len(ordered) * 0.99), len(ordered) - 1)] * 1000, 2),
        round(ordered[-1] * 1000, 2),
    )


@dataclass(frozen=True, slots=True)
class Run:
    """One measured run. `rounds_per_second` of full rounds, two commands each."""

    name: str
    clients: int
    rounds: int
    seconds: float
    rounds_per_second: float
    command_ms: Latencies
    commands_per_batch: float | None = None
    statements_per_batch: float | None = None

    def line(self) -> str:
        """One line for a person."""
        batch = ""
        if self.commands_per_batch is not None and self.statements_per_batch is not None:
            batch = f"  {self.commands_per_batch:.0f} commands, {self.statements_per_batch:.1f} statements"
        ms = self.command_ms
        return (
            f"{self.name:<34} {self.clients:>3} clients  {self.rounds_per_second:>7.0f} rounds/s  "
            f"p50 {ms.p50:>6.2f}  p99 {ms.p99:>6.2f}  worst {ms.worst:>7.2f} ms{batch}"
        )

    def as_json(self) -> dict[str, object]:
        """The same for a program."""
        return asdict(self)
