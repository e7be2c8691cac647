"""Sealing a ledger in PostgreSQL by threads and processes that are cut off, killed, and find it changed."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import orjson
import psycopg
import pytest
from structlog.testing import capture_logs

from api.settings import ServiceSettings
from domain.registers import LogState
from infrastructure import log_keys
from infrastructure.bootstrap import DEFAULT_SCHEMA
from infrastructure.evidence import folder, merkle, sealer
from infrastructure.evidence.folder import LogFolder, read_head
from infrastructure.evidence.notes import parse_note, parse_vkey, verify
from infrastructure.evidence.sealer import SealerRunner
from infrastructure.evidence.tiles import unpack_entries
from infrastructure.keys import Keys
from infrastructure.ledger.registers import log_from
from infrastructure.projections.catalogue import PROJECTIONS
from tests.integration.copied_ledger import Copied, copied, eventually
from tests.unit.infrastructure.small_projections import SMALL, played

ROOT = Path(__file__).parents[2]
COMMANDS = 1_000
ORIGIN = "stud-ledger/0123456789abcdef/1"

_names = itertools.count(1)


class Sealed:
    """A copied ledger whose log has begun."""

    def __init__(self, ledger: Copied, home: Path) -> None:
        self.ledger = ledger
        self.folder = home / "log"
        self.keys = home / "keys"
        Keys.load_or_create(self.keys, ledger_is_empty=True)
        self.vkey = log_keys.load_or_create(self.keys, ORIGIN).verifier.vkey
        folder.begin(self.folder, 1)
        self.leaves = merkle.leaf_hashes(row.data for row in ledger.source.events)
        with self.admin() as connection:
            connection.execute(
                "INSERT INTO registers (name, position, active, state) VALUES ('log', 1, true, %s)",
                [orjson.dumps(asdict(LogState(1, ORIGIN, [self.vkey])))],
            )

    def admin(self) -> psycopg.Connection:
        """A superuser's connection to the ledger's schema."""
        return psycopg.connect(self.ledger.admin, options=f"-c search_path={self.ledger.dsn.schema}")

    def runner(self) -> SealerRunner:
        """A thread that would seal it."""
        return SealerRunner(self.ledger.dsn.app, self.ledger.dsn.schema, self.folder, self.keys)

    def verified(self) -> int:
        """How many events a stranger finds in the log; fail where it is not what the ledger has."""
        log = LogFolder(self.folder)
        note, newest = log.note(), log.newest()
        if note is None or newest is None:
            return 0
        assert [each.name for each in verify(parse_note(note), [parse_vkey(self.vkey)])] == [ORIGIN]
        newest = log.newest()
        assert newest is not None
        assert newest.root == merkle.root_of(self.leaves[: newest.size])
        head = read_head(self.folder)
        assert head is not None
        assert head.checkpoint.size >= newest.size
        return newest.size

    def is_sealed(self, position: int) -> bool:
        """Say whether the log has come to a position."""
        newest = LogFolder(self.folder).newest()
        return newest is not None and newest.size == position

    def alarms(self) -> list[str]:
        """The names of the log's alarms."""
        return [
            name for (name,) in self.ledger.rows("SELECT name FROM alarms WHERE starts_with(name, 'log_')")
        ]


@pytest.fixture
def sealed(database: str, tmp_path: Path) -> Sealed:
    """Return an empty copy of the ledger that was played, with a log that has begun."""
    return Sealed(copied(database, f"sealed_{next(_names)}", played(COMMANDS), SMALL), tmp_path)


@pytest.fixture(autouse=True)
def _no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let who lost a connection come back at once."""
    for name in ("RECONNECT_SECONDS", "LOCK_SECONDS", "TURN_SECONDS"):
        monkeypatch.setattr(sealer, name, 0.02)


@pytest.fixture
def run(sealed: Sealed) -> Iterator[Callable[[], SealerRunner]]:
    """Return what starts a runner; all of them are stopped in the end."""
    started: list[SealerRunner] = []

    def start() -> SealerRunner:
        started.append(sealed.runner())
        started[-1].start()
        return started[-1]

    yield start
    for one in started:
        one.stop()
        assert not one.alive


def test_committed_events_are_sealed_soon(sealed: Sealed, run: Callable[[], SealerRunner]) -> None:
    """Each commit is in a signed tree within two seconds; its bundles have the stored bytes."""
    run()
    total = sealed.ledger.source.position
    for position in (1, 300, 301, total):
        sealed.ledger.append(position)
        began = time.monotonic()
        eventually(lambda at=position: sealed.is_sealed(at))
        assert time.monotonic() - began < 2
        assert sealed.verified() == position
    log = LogFolder(sealed.folder).generation(1)
    bundle = eventually(lambda: log.entries(1))
    assert unpack_entries(bundle) == [row.data for row in sealed.ledger.source.events[256:512]]
    assert log.keys() == [sealed.vkey]
    assert sealed.alarms() == []


def test_one_seals_and_another_takes_over(sealed: Sealed, run: Callable[[], SealerRunner]) -> None:
    """Of two sealers one acts; cut off by the server again and again, they seal everything once."""
    first, second = run(), run()
    rng = random.Random(3)
    for position in range(100, 1_000, 100):
        sealed.ledger.append(position)
        eventually(lambda: first.acting or second.acting)
        time.sleep(rng.random() / 20)
        sealed.ledger.end_connections("stud-ledger sealer")
        assert not (first.acting and second.acting)
    eventually(lambda: sealed.is_sealed(900))
    assert sealed.verified() == 900
    assert sealed.alarms() == []


def test_two_ledgers_do_not_write_to_one_folder(
    sealed: Sealed, database: str, run: Callable[[], SealerRunner]
) -> None:
    """A folder that another sealer holds is waited for, and one of another ledger's log is left alone."""
    sealed.ledger.append(300)
    mine = run()
    eventually(lambda: sealed.is_sealed(300))
    other = copied(database, f"sealed_{next(_names)}", played(COMMANDS), SMALL)
    theirs = SealerRunner(other.dsn.app, other.dsn.schema, sealed.folder, sealed.keys)
    theirs.start()
    try:
        sealed.ledger.append(400)
        eventually(lambda: sealed.is_sealed(400))
        assert mine.acting
        assert not theirs.acting
    finally:
        theirs.stop()


def test_a_changed_ledger_is_halted_by_a_command(sealed: Sealed, run: Callable[[], SealerRunner]) -> None:
    """A superuser's change of a sealed event halts the ledger, by an event that names log and place."""
    sealed.ledger.append(700)
    run()
    eventually(lambda: sealed.is_sealed(700))
    with sealed.admin() as connection:
        for table in ("events", "events_1"):
            connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
        connection.execute("UPDATE events SET data = data || ' ' WHERE position = 700")
        for table in ("events", "events_1"):
            connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER ALL")

    def halted() -> LogState | None:
        with sealed.admin() as connection:
            row = connection.execute("SELECT state FROM registers WHERE name = 'log'").fetchone()
        state = log_from(row[0]) if row is not None else LogState()
        return state if state.halted else None

    state = eventually(halted)
    assert (state.halted, state.position, state.size) == ("differs", 699, 700)
    assert sealed.alarms() == ["log_differs"]
    with sealed.admin() as connection:
        (data,) = connection.execute("SELECT data FROM events WHERE position = 701").fetchone() or (b"",)
    assert orjson.loads(data)["type"] == "LogHalted"
    assert sealed.is_sealed(700)


def test_an_alarm_that_goes_on_is_logged_once(sealed: Sealed) -> None:
    """A sealer tells what is wrong in each of its turns, three a second; the log of the service does not."""
    with psycopg.connect(sealed.ledger.dsn.app, autocommit=True) as connection, capture_logs() as told:
        teller = sealer.Teller(connection, sealed.ledger.dsn.schema, lambda _: None)
        for position in (1, 1, 2, 2):
            teller.alarm("log_stuck", position, "the disk is full")
        assert sealed.alarms() == ["log_stuck"]
        teller.ended("log_stuck")
    assert [each["position"] for each in told] == [1, 2]
    assert sealed.alarms() == []


def test_a_killed_process_leaves_a_log_that_goes_on(database: str, tmp_path: Path) -> None:
    """Killed (-9) at any moment and started again, the process that seals loses nothing, without alarm."""
    sealed = Sealed(copied(database, DEFAULT_SCHEMA, played(COMMANDS), PROJECTIONS), tmp_path)
    settings = ServiceSettings(sealed.ledger.dsn.app, sealed.keys, projector_inside=False)
    assert settings.log == sealed.folder
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **settings.to_environment()}
    rng = random.Random(5)
    position = 0
    for kill in (True, True, True, False):
        process = subprocess.Popen([sys.executable, "-P", "-m", "api.cli.projector"], env=environment)
        try:
            for _ in range(8):
                position += rng.randrange(1, 35)
                sealed.ledger.append(position)
                eventually(lambda: sealed.verified() > 0)
                time.sleep(rng.random() / 10)
            if not kill:
                eventually(lambda at=position: sealed.is_sealed(at))
        finally:
            (process.kill if kill else process.terminate)()
            process.wait(30)
        assert sealed.verified() > 0
    assert sealed.verified() == position
    assert sealed.alarms() == []
