"""Where a simulation plays: a server of its own that is gone afterwards, or a ledger that is kept."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from api.cli import data_directory
from api.cli.bench.ledger import BenchServer
from api.cli.bench.over_http import Service
from api.cli.serve import with_password
from api.cli.simulate.channel import CLIENT, Channel, InProcess, OverHttp
from api.tokens import mint
from domain import commands as c
from infrastructure import bootstrap
from infrastructure.clock import Clock, system_clock
from infrastructure.keys import Keys, load_passwords
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.submission import own_submission
from infrastructure.ledger.writer import Writer
from infrastructure.postgres import DirectoryLock, EmbeddedPostgres
from infrastructure.seals import Seals

BUILD: Final = "stud-ledger/simulation"
TOKEN_SECONDS: Final = 86_400
CONNECTIONS: Final = 64


@dataclass(frozen=True, slots=True)
class Venue:
    """A ledger that can be written to: the application's connection string, and the keys."""

    dsn: str
    keys_directory: Path

    def keys(self) -> Keys:
        """Load the ledger's keys, or make them for an empty one. Raises KeysError."""
        return Keys.load_or_create(self.keys_directory, ledger_is_empty=bootstrap.is_empty(self.dsn))


@contextlib.contextmanager
def throwaway() -> Iterator[Venue]:
    """Yield an empty ledger on an embedded server, and remove all of it afterwards. Raises LauncherError."""
    # TemporaryDirectory would be root's alone, and the server's user has to pass through.
    with tempfile.TemporaryDirectory(prefix="stud-ledger-simulate-") as name:
        yield from _embedded(data_directory.choose(Path(name)))


@contextlib.contextmanager
def kept(path: Path, database_url: str | None) -> Iterator[Venue]:
    """Yield the ledger of a data directory; with a URL, the one there, and the directory has its keys.

    Raises LauncherError (also where a service is using the directory), NotReadyError, KeysError.
    """
    directory = data_directory.choose(path)
    if database_url is None:
        yield from _embedded(directory)
        return
    data_directory.make(directory, with_postgres=False)
    dsn = with_password(database_url, directory.keys)
    bootstrap.check(dsn)
    yield Venue(dsn, directory.keys)


def _embedded(directory: data_directory.DataDirectory) -> Iterator[Venue]:
    data_directory.make(directory)
    with DirectoryLock(directory.path), EmbeddedPostgres(directory.postgres) as server:
        passwords = load_passwords(directory.keys)
        yield Venue(bootstrap.prepare(server.dsn, passwords=passwords).app, directory.keys)


@contextlib.asynccontextmanager
async def in_process(venue: Venue, run: str, *, clock: Clock = system_clock) -> AsyncIterator[Channel]:
    """Yield a channel to a writer in this process, on a ledger that has begun and knows the houses."""
    writer = Writer(PostgresStore(venue.dsn), Seals(venue.keys().deck), clock, BUILD)
    writer.start()
    try:
        await writer.submit(own_submission(c.StartLedger(demo=True), "start"))
        channel = InProcess(writer, run)
        for document in bootstrap.shipped_documents():
            await channel.ask(c.PublishRuleset(document))
        yield channel
    finally:
        writer.stop()


@contextlib.asynccontextmanager
async def over_http(venue: Venue, run: str) -> AsyncIterator[Channel]:
    """Yield a channel to a service of its own, which is stopped afterwards."""
    service = Service(BenchServer(venue.keys_directory.parent, venue.dsn, venue.dsn))
    token = mint(
        venue.keys().token, "play cashier admin", client_id=CLIENT, actor=CLIENT, ttl_seconds=TOKEN_SECONDS
    )
    channel = OverHttp(service.port, token, run, CONNECTIONS)
    try:
        yield channel
        await channel.close()
    finally:
        service.stop()
