"""The process that projects, seals, checks, audits and computes odds, beside the workers: one for a service.

It gives way to them: what it writes is a moment later, what they write is waited for.
"""

from __future__ import annotations

import os
import signal
import sys

from api import logs
from api.composition import BUILD, odds_of, projections_of, sealer_of
from api.settings import ServiceSettings
from infrastructure.audit.runner import Audited, AuditRunner
from infrastructure.bootstrap import DEFAULT_SCHEMA
from infrastructure.checking.continuous import Checker
from infrastructure.projections import collector

NICENESS = 15


def main() -> int:
    """Project until a signal says stop; what to do so with is in our environment."""
    signals = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
    # Blocked before any thread begins, so that all of them leave the signals to sigwait.
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    os.nice(NICENESS)
    logs.configure()
    settings = ServiceSettings.from_environment()
    dsn = settings.dsn
    runner, checker = projections_of(settings, DEFAULT_SCHEMA), Checker(dsn, DEFAULT_SCHEMA)
    audits = AuditRunner(Audited(dsn, DEFAULT_SCHEMA, settings.keys, settings.log, BUILD))
    sealer, odds = sealer_of(settings, DEFAULT_SCHEMA), odds_of(settings, DEFAULT_SCHEMA)
    collector.relax()
    sealer.start()
    runner.start()
    checker.start()
    audits.start()
    if odds is not None:
        odds.start()
    signal.sigwait(signals)
    if odds is not None:
        odds.stop()
    audits.stop()
    checker.stop()
    runner.stop()
    sealer.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
