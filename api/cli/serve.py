"""`scripts/serve`: the ledger on this machine, its PostgreSQL included; Ctrl-C stops all of it.

With DATABASE_URL the database is that one instead of the embedded one: `--init-db` prepares it (the URL is
then an administrator's) and ends; without it the URL is the application's, and what is missing is only told.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from api.cli import data_directory, welcome
from api.cli.database_watch import DatabaseWatch
from api.cli.own_witness import own_witness
from api.cli.supervisor import PROJECTOR, Beside, ServiceError, Workers, listen
from api.log.starting import require_place
from api.settings import ServiceSettings
from api.tokens import TTL_SECONDS_DEFAULT, mint
from infrastructure import metrics_folder
from infrastructure.bootstrap import NotReadyError, check, is_empty, prepare
from infrastructure.evidence.asking import WitnessAddress
from infrastructure.evidence.notes import NoteError
from infrastructure.keys import Keys, KeysError, load_passwords
from infrastructure.postgres import DirectoryLock, EmbeddedPostgres, LauncherError
from infrastructure.witness.state import StateError

if TYPE_CHECKING:
    import socket

    from api.cli.data_directory import DataDirectory

CREDENTIALS = ("password", "passfile")
CLIENT = "operator"
NO_ODDS = "STUD_LEDGER_NO_ODDS"
TICK_S = 0.2
WORKERS_MAX = 32
PORT_MAX = 65535


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for on the command line."""

    host: str
    port: int
    workers: int
    directory: DataDirectory
    pg_bin: Path | None
    init_db: bool
    database_url: str | None
    witnesses: tuple[str, ...]
    odds: bool


def main(arguments: list[str] | None = None) -> int:
    """Serve until a signal says stop (status 0), or say in one line why that is not possible (status 1)."""
    stop_on_signals()
    try:
        options = parse(arguments)
        if options.init_db:
            initialise(options)
        else:
            serve(options)
    except KeyboardInterrupt:
        return 0
    except (LauncherError, ServiceError, NotReadyError, KeysError) as problem:
        return complain(str(problem))
    except psycopg.ProgrammingError:
        return complain("DATABASE_URL is not a connection string: postgresql://user@host/database")
    except OSError as problem:
        return complain(f"{problem.filename or 'the system'}: {problem.strerror}")
    return 0


def complain(line: str) -> int:
    """Print one line; return the status of a failure."""
    print(f"stud-ledger: {line}", file=sys.stderr)
    return 1


def say(line: str) -> None:
    """Print one line at once."""
    print(line, flush=True)


def parse(arguments: list[str] | None) -> Options:
    """Return the options, or print what is wrong with them and exit with 2."""
    parser = argparse.ArgumentParser(
        prog="scripts/serve", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (%(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="processes that serve (%(default)s)")
    parser.add_argument("--data-dir", type=Path, help="where the ledger is kept (.data in the project)")
    parser.add_argument("--keys", type=Path, help="where the keys are kept (keys in the data directory)")
    parser.add_argument("--log", type=Path, help="where the evidence log is kept (log in the data directory)")
    parser.add_argument("--pg-bin", type=Path, help="directory of other PostgreSQL programs")
    parser.add_argument(
        "--witness",
        action="append",
        default=[],
        type=witness_address,
        metavar="'VKEY URL'",
        help="a witness that cosigns the log's checkpoints (repeatable; the demo has one of its own)",
    )
    parser.add_argument(
        "--no-odds",
        action="store_true",
        default=bool(os.environ.get(NO_ODDS)),
        help=f"do not compute the exact odds of rule sets (as with {NO_ODDS}=1 in the environment)",
    )
    parser.add_argument("--init-db", action="store_true", help="prepare the database of DATABASE_URL and end")
    chosen = parser.parse_args(arguments)
    database_url = os.environ.get("DATABASE_URL") or None
    if chosen.init_db and database_url is None:
        parser.error("--init-db prepares the database that DATABASE_URL names, and there is no DATABASE_URL")
    if len({text.partition(" ")[0] for text in chosen.witness}) < len(chosen.witness):
        parser.error("--witness names a witness twice")
    if not 1 <= chosen.workers <= WORKERS_MAX:
        parser.error(f"--workers must be between 1 and {WORKERS_MAX}")
    if not 0 <= chosen.port <= PORT_MAX:
        parser.error(f"--port must be between 0 (any that is free) and {PORT_MAX}")
    return Options(
        host=chosen.host,
        port=chosen.port,
        workers=chosen.workers,
        directory=data_directory.choose(chosen.data_dir, chosen.keys, chosen.log),
        pg_bin=chosen.pg_bin,
        init_db=chosen.init_db,
        database_url=database_url,
        witnesses=tuple(chosen.witness),
        odds=not chosen.no_odds,
    )


def witness_address(text: str) -> str:
    """Return the text that names a witness, or say what is wrong with it."""
    try:
        return str(WitnessAddress.parse(text))
    except NoteError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None


def stop_on_signals() -> None:
    """Let a stop from a service manager or a closed terminal end us as Ctrl-C does: in order."""
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.default_int_handler)


def finish_in_peace() -> None:
    """Ignore further signals: stopping in order takes a moment, and a second Ctrl-C must not cut it short."""
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)


def initialise(options: Options) -> None:
    """Make roles and schema on the server of DATABASE_URL; say how the service logs in there."""
    url = options.database_url or ""
    passwords = load_passwords(options.directory.keys)
    logins = prepare(url, passwords=passwords)
    login = conninfo_to_dict(logins.app) | dict.fromkeys(CREDENTIALS)
    say(f"The database is ready. Serve it with DATABASE_URL='{make_conninfo('', **login)}'")
    say(f"and --keys {options.directory.keys}: the login's password is in app.password there.")


def serve(options: Options) -> None:
    """Bring everything up, keep it up until a signal comes, and take it down in order."""
    with contextlib.ExitStack() as stack:
        try:
            postgres, workers = bring_up(options, stack)
            watch(workers, postgres)
        finally:
            finish_in_peace()


def bring_up(options: Options, stack: contextlib.ExitStack) -> tuple[EmbeddedPostgres | None, Workers]:
    """Start the database and the workers and say so; the stack takes them down again, last first."""
    directory = options.directory
    data_directory.make(directory, with_postgres=options.database_url is None)
    stack.enter_context(DirectoryLock(directory.path))
    listener = stack.enter_context(listen(options.host, options.port))
    postgres = None
    if options.database_url is None:
        server = EmbeddedPostgres(directory.postgres, options.pg_bin, workers=options.workers)
        postgres = stack.enter_context(server)
        login = prepare(postgres.dsn, passwords=load_passwords(directory.keys)).app
    else:
        login = with_password(options.database_url, directory.keys)
    check(login)
    keys = Keys.load_or_create(directory.keys, ledger_is_empty=is_empty(login))
    require_place(login, directory.log, alone=postgres is not None)
    settings = ServiceSettings(
        login,
        directory.keys,
        demo=postgres is not None,
        server=None if postgres is None else postgres.installation,
        projector_inside=False,
        log=directory.log,
        witnesses=options.witnesses,
        odds=directory.odds if options.odds else None,
    )
    others: list[Beside] = []
    if settings.demo and not settings.witnesses:
        settings, others = with_own_witness(settings, directory.path / "witness", stack)
    counts = directory.path / "metrics"
    metrics_folder.begin(counts)
    environment = settings.to_environment() | {metrics_folder.VARIABLE: str(counts)}
    workers = Workers(listener, environment, beside=PROJECTOR, others=others)
    stack.callback(workers.stop)
    workers.start(options.workers)
    address = address_of(listener)
    # On a server of the operator's choice nothing is shown that opens anything: output ends up in logs there.
    tokens = demo_tokens(keys) if settings.demo else {}
    witness = settings.witnesses[0].partition(" ")[0] if others else None
    say(welcome.text(address, directory.path, tokens, witness))
    return postgres, workers


def with_own_witness(
    settings: ServiceSettings, folder: Path, stack: contextlib.ExitStack
) -> tuple[ServiceSettings, list[Beside]]:
    """Return the settings with a witness of our own, and the process it is; without it where it cannot be."""
    try:
        witness = own_witness(folder, settings.log)
    except StateError as problem:
        say(f"The log is not cosigned: the demo's own witness cannot run, as {problem}")
        return settings, []
    stack.enter_context(witness.process.listener)
    return replace(settings, witnesses=(str(witness.address),)), [witness.process]


def with_password(url: str, keys: Path) -> str:
    """Return how to log in: the URL as it is, or with the kept password where it brings none."""
    if not conninfo_to_dict(url).keys().isdisjoint(CREDENTIALS) or os.environ.get("PGPASSWORD"):
        return url
    return make_conninfo(url, password=load_passwords(keys)["app"])


def demo_tokens(keys: Keys) -> dict[str, str]:
    """Return a token for each of those who live on a ledger, to try it with."""
    return {
        who: mint(keys.token, scopes, client_id=CLIENT, actor=actor, ttl_seconds=TTL_SECONDS_DEFAULT)
        for who, (actor, scopes) in welcome.ROLES.items()
    }


def address_of(listener: socket.socket) -> str:
    """Return the address people type, with the port that was really taken."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def watch(workers: Workers, postgres: EmbeddedPostgres | None) -> None:
    """Keep the database and the workers up, for ever."""
    database = None if postgres is None else DatabaseWatch(postgres)
    while True:
        if database is not None and (line := database.look()):
            say(line)
        for line in workers.look_after():
            say(line)
        time.sleep(TICK_S)


if __name__ == "__main__":
    sys.exit(main())
