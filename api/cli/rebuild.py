"""`scripts/rebuild`: derive projections anew from the events, beside the live ones, and switch.

Readers see the old rows until the new ones have caught up and were compared. A service that is running does
the work, without it this command does. Ctrl-C leaves it as it is: a service goes on with it, and the same
command goes on from there. Exit status 0: rebuilt, and it was what it had been; 1: it was not, or could not
be rebuilt (the live rows stay, then), or was cancelled; 2: nothing could be asked for.

Where old events are detached (scripts/partitions), say with --archive where they were exported to, and stop
the service: this command then does the work, and reads from there what the ledger no longer has.

It works on the data directory of a service that runs or does not run; with DATABASE_URL on that database.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import psycopg
from psycopg import sql

from api.cli import data_directory
from api.cli.ledger_place import ledger
from api.cli.progress import Progress
from api.cli.serve import complain, stop_on_signals
from infrastructure import bootstrap
from infrastructure.archive.manifest import ArchiveError
from infrastructure.archive.reader import Archive
from infrastructure.archive.source import ArchivedSource, require_fit
from infrastructure.bootstrap import DEFAULT_SCHEMA, NotReadyError
from infrastructure.keys import KeysError
from infrastructure.ledger import horizon
from infrastructure.ledger.horizon import ArchivedError
from infrastructure.odds.kept import KeptExchanges
from infrastructure.postgres import LauncherError
from infrastructure.projections import collector
from infrastructure.projections.catalogue import PROJECTIONS, with_known
from infrastructure.projections.postgres import PostgresSink
from infrastructure.projections.runner import Projector
from infrastructure.projections.sink import STOPPED, Checkpoint
from infrastructure.projections.source import PostgresSource, Source
from infrastructure.projections.tables import read_schema

DONE, NOT_DONE, NOT_ASKED = 0, 1, 2
POLL_SECONDS: Final = 0.2
NAMES: Final = tuple(make().name for make in PROJECTIONS)


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for on the command line."""

    names: tuple[str, ...]
    directory: data_directory.DataDirectory
    pg_bin: Path | None
    cancel: bool
    status: bool
    archive: Path | None = None


def main(arguments: list[str] | None = None) -> int:
    """Rebuild, cancel or tell; return 0, 1 or 2."""
    stop_on_signals()
    options = parse(arguments)
    try:
        with ledger(options.directory, options.pg_bin, os.environ.get("DATABASE_URL") or None, "app") as dsn:
            bootstrap.check(dsn, throwaway=True)
            with Registry(dsn) as registry:
                if options.status:
                    return show(registry)
                if options.cancel:
                    return cancel(registry, options.names)
                return rebuild(registry, options, events(dsn, options.archive))
    except KeyboardInterrupt:
        complain("left as it is: the same command goes on, --cancel gives it up")
        return NOT_DONE
    except (
        LauncherError, NotReadyError, ArchivedError, ArchiveError, KeysError, OSError, psycopg.Error
    ) as problem:  # fmt: skip
        complain(str(problem).strip().partition("\n")[0])
        return NOT_ASKED


def parse(arguments: list[str] | None) -> Options:
    """Return the options, or print what is wrong with them and exit with 2."""
    parser = argparse.ArgumentParser(
        prog="scripts/rebuild", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(NAMES)}")
    parser.add_argument("--all", action="store_true", help="all of them")
    parser.add_argument("--cancel", action="store_true", help="give up a rebuild that is under way")
    parser.add_argument("--status", action="store_true", help="print how far each has come, and end")
    parser.add_argument("--archive", type=Path, metavar="DIR", help="where detached events were exported to")
    parser.add_argument("--data-dir", type=Path, help="where the ledger is kept (.data in the project)")
    parser.add_argument("--keys", type=Path, help="where the keys are kept (keys in the data directory)")
    parser.add_argument("--pg-bin", type=Path, help="directory of other PostgreSQL programs")
    chosen = parser.parse_args(arguments)
    if unknown := [name for name in chosen.names if name not in NAMES]:
        parser.error(f"there is no projection {unknown[0]}; there are {', '.join(NAMES)}")
    if not chosen.status and bool(chosen.names) == chosen.all:
        parser.error("name the projections, or say --all")
    return Options(
        NAMES if chosen.all else tuple(dict.fromkeys(chosen.names)),
        data_directory.choose(chosen.data_dir, chosen.keys),
        chosen.pg_bin,
        chosen.cancel,
        chosen.status,
        chosen.archive,
    )


Events = Callable[[psycopg.Connection, str], Source]
"""Makes of a connection and a schema what events are read from."""


def events(dsn: str, folder: Path | None) -> Events | None:
    """Where events are read from that the ledger no longer has; None where it has them all.

    Raises ArchivedError where they are needed and no archive is named, ArchiveError where it is another's.
    """
    with psycopg.connect(dsn, autocommit=True, connect_timeout=10) as connection:
        if folder is None:
            horizon.require_whole(connection, DEFAULT_SCHEMA, "a rebuild")
            return None
        archive = Archive(folder)
        require_fit(archive, connection, DEFAULT_SCHEMA)
    return lambda connection, schema: ArchivedSource(archive, PostgresSource(connection, schema))


class Registry:
    """What is live and what is rebuilt, on a connection of its own. A context manager."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn

    def __enter__(self) -> Self:
        self._connection = psycopg.connect(
            self.dsn, autocommit=True, connect_timeout=10, application_name="stud-ledger rebuild"
        )
        projections = [make() for make in PROJECTIONS]
        self.sink = PostgresSink(self._connection, DEFAULT_SCHEMA, projections, self._again)
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def head(self) -> int:
        """The ledger's last position."""
        query = sql.SQL("SELECT position FROM {}.head").format(sql.Identifier(DEFAULT_SCHEMA))
        row = self._connection.execute(query).fetchone()
        return 0 if row is None else int(row[0])

    def builds(self) -> dict[tuple[str, int], Checkpoint]:
        """All builds."""
        return {each.key: each for each in self.sink.checkpoints()}

    def alarm(self, name: str) -> str | None:
        """What a rebuild found that should not be."""
        query = sql.SQL("SELECT detail FROM {}.alarms WHERE name = %s").format(
            sql.Identifier(read_schema(DEFAULT_SCHEMA))
        )
        row = self._connection.execute(query, [f"rebuild_{name}"]).fetchone()
        return None if row is None else str(row[0])

    def _again(self) -> psycopg.Connection:
        return psycopg.connect(self.dsn, autocommit=True)


def show(registry: Registry) -> int:
    """Print a line for each build."""
    head = registry.head()
    for each in registry.builds().values():
        kind = "live" if each.live else "rebuild"
        error = f" at {each.error_position}: {each.error}" if each.error else ""
        print(f"{each.name:<20} {kind:<8} {each.position:>12} of {head}  {each.state}{error}")
    return DONE


def cancel(registry: Registry, names: Sequence[str]) -> int:
    """Give up the rebuilds of these projections; the process that projects removes their tables."""
    found = [name for name in names if registry.sink.cancel(name)]
    print(f"cancelled: {', '.join(found)}" if found else "none of them is being rebuilt")
    return DONE if found else NOT_DONE


def rebuild(registry: Registry, options: Options, archived: Events | None = None) -> int:
    """Ask for the rebuilds and follow them to their end; do the work where no service does.

    What reads `archived` events is this command alone: raises NotReadyError where a service does the work.
    """
    projections = with_known(KeptExchanges(options.directory.odds))
    source = archived or PostgresSource
    with Projector(registry.dsn, DEFAULT_SCHEMA, projections=projections, source=source) as projector:
        if archived is not None and not projector.try_to_act():
            raise NotReadyError("a service is running and would not find the archive: stop it for this")
        return follow(registry, options.names, projector)


def follow(registry: Registry, names: Sequence[str], projector: Projector) -> int:
    """Ask for the rebuilds and follow them to their end."""
    for name in names:
        if not registry.sink.request(name):
            print(f"{name} is being rebuilt already: going on with that")
    asked = [
        each.key
        for each in registry.builds().values()
        if each.name in names and not each.live and each.state != "dropped"
    ]
    progress = Progress("positions")
    while True:
        builds = registry.builds()
        waiting = [key for key in asked if is_under_way(builds.get(key))]
        dropped = any(each.state == "dropped" for each in builds.values() if each.name in names)
        head = registry.head()
        passed = sum(min(builds[key].position, head) for key in waiting)
        progress(head * (len(asked) - len(waiting)) + passed, head * len(asked))
        if not waiting and not (dropped and projector.acting):
            break
        if projector.acting or projector.try_to_act():
            collector.relax()
            work(projector)
        else:
            time.sleep(POLL_SECONDS)
    ends = [end(registry, builds.get(key), key[0]) for key in asked]
    return NOT_DONE if NOT_DONE in ends else DONE


def is_under_way(build: Checkpoint | None) -> bool:
    """Whether a build is neither live nor given up."""
    return build is not None and not build.live and build.state not in (STOPPED, "dropped")


def work(projector: Projector) -> None:
    """Take turns for a moment."""
    until = time.monotonic() + POLL_SECONDS
    while projector.turn() and time.monotonic() < until:
        pass


def end(registry: Registry, build: Checkpoint | None, name: str) -> int:
    """Print what became of a rebuild."""
    if build is None or build.state == "dropped":
        print(f"{name}: cancelled")
        return NOT_DONE
    if build.state == STOPPED and not build.live:
        print(f"{name}: stopped at position {build.error_position}: {build.error}")
        return NOT_DONE
    if alarm := registry.alarm(name):
        print(f"{name}: rebuilt and switched, but it had not been what the events say: {alarm}")
        print(f"{name}: the alarm ends with the next rebuild that finds nothing")
        return NOT_DONE
    print(f"{name}: rebuilt and switched")
    return DONE


if __name__ == "__main__":
    sys.exit(main())
