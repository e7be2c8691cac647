"""The one place where the service is put together: keys, seals, store, writer, read side, jobs.

Everything else is handed what it needs. Several processes can each have a `Service` on one database.
"""

from __future__ import annotations

import asyncio
import functools
from dataclasses import dataclass
from typing import Any, Final

import structlog

from api.log import starting
from api.notes import Notes
from api.people.known import KnownPeople
from api.settings import ServiceSettings
from api.tokens import Tokens
from infrastructure import bootstrap
from infrastructure.audit.runner import Audited, AuditRunner
from infrastructure.checking.continuous import Checker
from infrastructure.clock import Clock, system_clock
from infrastructure.evidence.folder import LogFolder
from infrastructure.evidence.sealer import SealerRunner
from infrastructure.evidence.unavailable import LogUnavailable
from infrastructure.jobs import Jobs
from infrastructure.keys import Keys
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.submission import Result, Submission
from infrastructure.ledger.writer import Writer
from infrastructure.metrics import Counts
from infrastructure.odds.job import OddsRunner
from infrastructure.odds.kept import KeptExchanges
from infrastructure.projections.catalogue import PROJECTIONS, with_known
from infrastructure.projections.runner import ProjectionRunner
from infrastructure.reading import Reading
from infrastructure.seals import Seals
from infrastructure.software import Software

BUILD: Final = "stud-ledger/0.4.0"
"""Names the software on every round."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Service:
    """One process of the service. `settings` says where the database and the keys are."""

    settings: ServiceSettings
    tokens: Tokens
    notes: Notes
    reading: Reading
    writer: Writer
    jobs: Jobs
    software: Software
    log: LogFolder
    audited: Audited
    projections: ProjectionRunner | None = None
    checker: Checker | None = None
    sealer: SealerRunner | None = None
    audits: AuditRunner | None = None
    odds: OddsRunner | None = None
    clock: Clock = system_clock
    meter_streams: int = 0
    started: bool = False

    def checkpoint(self, generation: int) -> dict[str, Any] | None:
        """The newest checkpoint of the log of a generation as answers show it; None where there is none."""
        return newest_checkpoint(self.log, generation)

    async def submit(self, submission: Submission) -> Result:
        """Hand a command to the ledger and wait for its answer.

        Raises Reused, Overloaded, ReadOnly, CommandFailed.
        """
        result = await self.writer.submit(submission)
        self.reading.saw(result.position)
        return result

    async def start(self) -> None:
        """Begin to write, to read and, once ledger and log were compared, to do the ledger's own work."""
        self.writer.start()
        await self.reading.open()
        try:
            await starting.compare(self)
        except BaseException:
            await self.stop()
            raise
        self.jobs.start()
        if self.projections is not None:
            self.projections.start()
        if self.checker is not None:
            self.checker.start()
        if self.audits is not None:
            self.audits.start()
        if self.sealer is not None:
            self.sealer.start()
        if self.odds is not None:
            self.odds.start()
        self.started = True

    async def stop(self) -> None:
        """Finish what is under way and give everything back."""
        self.started = False
        await asyncio.to_thread(self.jobs.stop)
        if self.odds is not None:
            await asyncio.to_thread(self.odds.stop)
        if self.audits is not None:
            await asyncio.to_thread(self.audits.stop)
        if self.sealer is not None:
            await asyncio.to_thread(self.sealer.stop)
        if self.checker is not None:
            await asyncio.to_thread(self.checker.stop)
        if self.projections is not None:
            await asyncio.to_thread(self.projections.stop)
        await asyncio.to_thread(self.writer.stop)
        await self.reading.close()


def compose(
    settings: ServiceSettings,
    *,
    schema: str = bootstrap.DEFAULT_SCHEMA,
    clock: Clock = system_clock,
    throwaway: bool = False,
) -> Service:
    """Put a service together; nothing runs yet.

    `throwaway` accepts a database server that may lose what it has committed. Raises NotReadyError and
    KeysError, each with one line that says what to do.
    """
    bootstrap.check(settings.dsn, schema, throwaway=throwaway)
    keys = Keys.load_or_create(settings.keys, ledger_is_empty=bootstrap.is_empty(settings.dsn, schema))
    store = PostgresStore(settings.dsn, schema, throwaway=throwaway)
    evidence = LogFolder(settings.log)
    writer = Writer(
        store,
        Seals(keys.deck),
        clock,
        BUILD,
        meter=Counts(),
        checkpoint=functools.partial(newest_checkpoint, evidence),
    )
    reading = Reading(settings.dsn, schema)
    software = Software(BUILD, settings.start, settings.server)
    audited = Audited(settings.dsn, schema, settings.keys, settings.log, BUILD)
    return Service(
        settings=settings,
        tokens=Tokens(keys.token, KnownPeople(reading.registers.changed_people)),
        notes=Notes(keys.token, reading),
        reading=reading,
        writer=writer,
        jobs=Jobs(settings.dsn, schema, writer.hand_over, clock, software.daily),
        software=software,
        log=evidence,
        audited=audited,
        projections=projections_of(settings, schema) if settings.projector_inside else None,
        checker=Checker(settings.dsn, schema) if settings.projector_inside else None,
        sealer=sealer_of(settings, schema) if settings.projector_inside else None,
        audits=AuditRunner(audited) if settings.projector_inside else None,
        odds=odds_of(settings, schema) if settings.projector_inside else None,
        clock=clock,
    )


def sealer_of(settings: ServiceSettings, schema: str) -> SealerRunner:
    """What seals the ledger's log. Raises NoteError where a witness is not named by its key and URL."""
    return SealerRunner(settings.dsn, schema, settings.log, settings.keys, settings.witnesses)


def projections_of(settings: ServiceSettings, schema: str) -> ProjectionRunner:
    """What projects; it judges exchanges by what the service's own odds have left on the shelf."""
    projections = PROJECTIONS if settings.odds is None else with_known(KeptExchanges(settings.odds))
    return ProjectionRunner(settings.dsn, schema, projections=projections)


def odds_of(settings: ServiceSettings, schema: str) -> OddsRunner | None:
    """What computes the odds of rule sets; None where this service does not."""
    return None if settings.odds is None else OddsRunner(settings.dsn, schema, settings.odds)


def newest_checkpoint(log_folder: LogFolder, generation: int) -> dict[str, Any] | None:
    """The newest checkpoint of the log that the ledger goes on with, as answers show it.

    Until a new log has signed something there is none: one of the log before says nothing of what came since.
    A folder that cannot be read keeps no answer back: its sealer sees, and says so.
    """
    try:
        log = log_folder.current
        checkpoint = log.newest() if log is not None and log.number == generation else None
    except LogUnavailable:
        return None
    return None if checkpoint is None else {"size": checkpoint.size, "root": checkpoint.root_text}
