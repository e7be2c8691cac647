"""Metrics in Prometheus' terms: what the processes count, and what the database knows.

A service's processes count into files of one folder (`infrastructure.metrics_folder`), and whichever is asked
adds them up. Without a folder a process counts for itself. Nothing
here has a label that a client chooses: the number of series is bounded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from infrastructure import metrics_folder
from infrastructure.ledger.submission import REJECTED, Outcome, Result

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_CODE_AT: Final = len('{"code":"')

_OWN: Final = CollectorRegistry()
_BATCH: Final = Histogram(
    "stud_ledger_batch_commands",
    "Commands in a transaction.",
    buckets=[1, 2, 4, 8, 16, 32, 64, 128, 256],
    registry=_OWN,
)
_COMMIT: Final = Histogram(
    "stud_ledger_commit_seconds",
    "From a batch's beginning to its durable end.",
    buckets=[0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 2, 4, 8],
    registry=_OWN,
)
_COMMANDS: Final = Counter("stud_ledger_commands", "Commands that were decided, or known.", registry=_OWN)
_REJECTIONS: Final = Counter(
    "stud_ledger_rejections", "Requests that were refused, by their problem's code.", ["code"], registry=_OWN
)
_WAITING: Final = Gauge(
    "stud_ledger_queue_depth",
    "Commands that wait for the writers.",
    registry=_OWN,
    multiprocess_mode="livesum",
)


if metrics_folder.VARIABLE in os.environ:
    metrics_folder.reserve(Path(os.environ[metrics_folder.VARIABLE]), os.getpid())


class Counts:
    """What a process's writer counts: a `infrastructure.ledger.meter.Meter`."""

    def wrote(self, outcomes: Sequence[Outcome], seconds: float, waiting: int) -> None:
        """Count a batch."""
        _BATCH.observe(len(outcomes))
        _COMMANDS.inc(len(outcomes))
        _COMMIT.observe(seconds)
        _WAITING.set(waiting)
        for outcome in outcomes:
            if type(outcome) is Result and outcome.outcome == REJECTED and not outcome.replayed:
                refused(outcome.body[_CODE_AT : outcome.body.index(b'"', _CODE_AT)].decode())


def refused(code: str) -> None:
    """Count a request that was refused."""
    _REJECTIONS.labels(code).inc()


class Lag(NamedTuple):
    """How far a projection is behind the ledger: in events, and the age of the first that it lacks."""

    projection: str
    positions: int
    seconds: float


class Sealed(NamedTuple):
    """How far the evidence log is: its size, the age of the first event it lacks, what witnesses signed.

    `cosigned`: the size of the newest published tree that each witness has signed, by the witness's name.
    """

    size: int
    seconds: float
    cosigned: Mapping[str, int]


class Known(NamedTuple):
    """What the database knows: the head, the projections, the alarms (name and position), what is halted.

    `halted` by the software check, so that no round opens; `read_only` by the evidence log. `sealed` is what
    its folder knows.
    """

    position: int
    lags: Iterable[Lag]
    alarms: Iterable[tuple[str, int]]
    halted: bool
    read_only: bool = False
    sealed: Sealed | None = None


def exposition(known: Known) -> bytes:
    """Return all metrics in the text format."""
    counted = _OWN
    if metrics_folder.VARIABLE in os.environ:
        counted = CollectorRegistry()
        MultiProcessCollector(counted)  # type: ignore[no-untyped-call] # its package types the rest
    database = CollectorRegistry()
    database.register(_Database(known))
    return generate_latest(counted) + generate_latest(database)


class _Database(Collector):
    def __init__(self, known: Known) -> None:
        self._known = known

    def collect(self) -> Iterator[Metric]:
        """Yield what the database knows."""
        known = self._known
        yield GaugeMetricFamily("stud_ledger_position", "The ledger's last position.", known.position)
        positions = GaugeMetricFamily(
            "stud_ledger_projection_lag_positions",
            "Events that are not projected yet.",
            labels=["projection"],
        )
        seconds = GaugeMetricFamily(
            "stud_ledger_projection_lag_seconds", "Age of the first of them.", labels=["projection"]
        )
        for lag in known.lags:
            positions.add_metric([lag.projection], lag.positions)
            seconds.add_metric([lag.projection], lag.seconds)
        yield positions
        yield seconds
        alarms = list(known.alarms)
        yield GaugeMetricFamily("stud_ledger_alarms", "Discrepancies that were found.", len(alarms))
        alarm = GaugeMetricFamily(
            "stud_ledger_alarm_position", "The first position of a discrepancy.", labels=["name"]
        )
        for name, position in alarms:
            alarm.add_metric([name], position)
        yield alarm
        yield GaugeMetricFamily(
            "stud_ledger_software_halted",
            "1: no new round opens, the software is not what was accepted.",
            int(known.halted),
        )
        yield GaugeMetricFamily(
            "stud_ledger_read_only",
            "1: nothing that moves money is taken, the ledger is not what its evidence log has signed.",
            int(known.read_only),
        )
        if known.sealed is not None:
            yield from _log_metrics(known.sealed)


def _log_metrics(sealed: Sealed) -> Iterator[Metric]:
    yield GaugeMetricFamily("stud_ledger_log_size", "Events that the evidence log has signed.", sealed.size)
    yield GaugeMetricFamily(
        "stud_ledger_log_lag_seconds", "Age of the first event that it has not signed.", sealed.seconds
    )
    cosigned = GaugeMetricFamily(
        "stud_ledger_log_cosigned_size", "Events in the newest tree a witness signed.", labels=["witness"]
    )
    for witness, size in sealed.cosigned.items():
        cosigned.add_metric([witness], size)
    yield cosigned
