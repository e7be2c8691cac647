"""A ledger that was filled fast: as valid as one that was played, wherever it was interrupted."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import psutil
import psycopg
import pytest

from api.cli.simulate.bulk.clock import ChunkClock
from api.cli.simulate.bulk.fill import DAY_US, Filled, fill
from api.cli.simulate.bulk.games import Games
from api.cli.simulate.bulk.guests import Guests
from api.cli.simulate.bulk.plan import CROWD
from api.cli.simulate.furniture import furniture
from api.cli.simulate.play import furnish, play
from api.cli.simulate.summary import trial_balance
from api.cli.simulate.venue import Venue, in_process
from domain.rulesets import SHIPPED
from domain.work import Work
from infrastructure.bootstrap import prepare
from infrastructure.ledger import bookkeeping
from infrastructure.ledger.bulk import BulkLoad, BulkRefusedError
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.store import FirstReading
from tests.integration.made_log import make_log
from tests.integration.proving import prove

ROOT = Path(__file__).parents[2]
ROUNDS = 1_300
CHUNK_EVENTS = 3_000
SEED = 182
"""The first party of this seed is a crowd at the shared table."""
PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
Row = dict[str, Any]


@dataclass
class Ledger:
    """A ledger that was filled, and the events of it."""

    venue: Venue
    filled: Filled
    rows: list[tuple[int, str, int, bytes]]
    events: list[Row]

    def kinds(self) -> Counter[str]:
        """How many events there are of each type."""
        return Counter(event["type"] for event in self.events)

    def rounds(self, *kinds: str) -> list[str]:
        """Ids of the rounds that have an event of one of some types, in the order of those."""
        names = {event["stream"]: None for event in self.events if event["type"] in kinds}
        return [name.removeprefix("round-") for name in names if name.startswith("round-")]


def wrong(dsn: str, log: Path, round_ids: list[str]) -> list[str]:
    """Put all events into an evidence log in an empty folder; say what is wrong with some rounds."""
    with psycopg.connect(dsn) as connection:
        rows = connection.execute("SELECT data FROM ledger.events ORDER BY position").fetchall()
    make_log(log, [data for (data,) in rows])
    return prove(dsn, "ledger", log, round_ids)


def read(venue: Venue, filled: Filled) -> Ledger:
    """Read a ledger's events."""
    with psycopg.connect(venue.dsn) as connection:
        rows = connection.execute(
            "SELECT position, stream, version, data FROM ledger.events ORDER BY position"
        ).fetchall()
    return Ledger(venue, filled, rows, [orjson.loads(data) for _, _, _, data in rows])


@pytest.fixture(scope="module")
def venue(database: str, tmp_path_factory: pytest.TempPathFactory) -> Venue:
    """Return where the module's ledger is."""
    return Venue(prepare(database, passwords=PASSWORDS).app, tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def ledger(venue: Venue) -> Ledger:
    """Return a ledger that two processes have filled, chunk by chunk in turn."""
    told: list[int] = []
    filled = fill(
        venue,
        SHIPPED,
        ROUNDS,
        seed=SEED,
        players=2_000,
        processes=2,
        chunk_events=CHUNK_EVENTS,
        progress=told.append,
    )
    assert told == sorted(told)
    assert told[-1] == ROUNDS
    assert len(told) > 3
    return read(venue, filled)


def test_positions_have_no_gap_and_times_only_grow_up_to_now(ledger: Ledger) -> None:
    """The one order of the ledger (G4): streams too count from 1, and nothing is later than the clock."""
    assert [position for position, *_ in ledger.rows] == list(range(1, ledger.filled.position + 1))
    times = [event["recorded_at"] for event in ledger.events]
    assert all(earlier < later for earlier, later in pairwise(times))
    assert times[-1] < time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(time.time() + 1))
    versions: Counter[str] = Counter()
    for position, stream, version, data in ledger.rows:
        versions[stream] += 1
        event = orjson.loads(data)
        assert (version, event["version"]) == (versions[stream], versions[stream])
        assert (event["position"], event["stream"]) == (position, stream)
    assert len({event["salt"] for event in ledger.events}) == len(ledger.events)


def test_rounds_are_as_many_as_asked_for_and_all_finished(ledger: Ledger) -> None:
    """Whatever the chunks hold, the count is exact, and no round, stake or place is left open."""
    kinds = ledger.kinds()
    assert kinds["RoundOpened"] == kinds["RoundClosed"] + kinds["RoundVoided"] == ROUNDS
    assert ledger.filled.tally.rounds == sum(ledger.filled.tally.houses.values()) == ROUNDS
    furnished = kinds["LedgerStarted"] + kinds["RulesetPublished"]
    assert ledger.filled.tally.events == len(ledger.events) - furnished
    with psycopg.connect(ledger.venue.dsn) as connection:
        assert connection.execute("SELECT count(*) FROM ledger.open_rounds").fetchone() == (0,)
        idle = "SELECT count(*) FROM ledger.wallets WHERE on_game <> 0 OR unfinished <> '{}'"
        assert connection.execute(idle).fetchone() == (0,)
        states = connection.execute("SELECT state FROM ledger.tables").fetchall()
    assert all(orjson.loads(state)["places"] == {} for (state,) in states)


def test_a_filled_ledger_has_everything_in_it(ledger: Ledger) -> None:
    """Houses, decisions by players and by the clock, purchases, voids, sessions, transfers and a crowd."""
    kinds = ledger.kinds()
    assert set(ledger.filled.tally.houses) == set(SHIPPED)
    assert {"win", "lose", "dealer_not_qualified", "folded", "void"} <= set(ledger.filled.tally.results)
    for kind in ("CardExchanged", "ContributionReversed", "PlayerJoined", "PlayerLeft", "Withdrawn"):
        assert kinds[kind] > 0, kind
    assert kinds["PlayerJoined"] == kinds["PlayerLeft"]
    assert any(event["data"].get("decided_by") == "timeout" for event in ledger.events)
    stakes = [event["data"] for event in ledger.events if event["type"] == "AntePlaced"]
    assert any("client_seed" in stake for stake in stakes)
    assert any("session_id" in stake for stake in stakes)
    assert max(e["data"]["seats"] for e in ledger.events if e["type"] == "BettingClosed") == CROWD


def test_a_time_out_comes_when_the_time_is_up(ledger: Ledger) -> None:
    """Whoever folds by the clock was dealt to thirty seconds before, or another seat had its turn then."""
    last: dict[str, str] = {}
    for event in ledger.events:
        stream = event["stream"]
        if event["type"] == "Folded" and event["data"]["decided_by"] == "timeout":
            assert seconds(event["recorded_at"]) - seconds(last[stream]) > 29.999
        elif event["type"] in ("Dealt", "Folded", "CardExchanged"):
            last[stream] = event["recorded_at"]


def seconds(recorded_at: str) -> float:
    """The time of an event in its day and month."""
    return time.mktime(time.strptime(recorded_at[:19], "%Y-%m-%dT%H:%M:%S")) + float(
        f"0.{recorded_at[20:26]}"
    )


def test_every_sampled_round_is_proved_by_replay_and_by_the_offline_verifier(
    ledger: Ledger, tmp_path: Path
) -> None:
    """Two hundred rounds, and all with something rare in them, are proved twice."""
    rare = ledger.rounds("JackpotHit", "RoundVoided", "CardExchanged")
    crowds = [
        e["stream"][6:] for e in ledger.events if e["type"] == "BettingClosed" and e["data"]["seats"] > 7
    ]
    sample = dict.fromkeys([*rare[:60], *crowds, *ledger.rounds("RoundOpened")[::7]])
    assert len(sample) > 200
    assert wrong(ledger.venue.dsn, tmp_path, list(sample)) == []


def test_the_rows_of_state_are_what_the_events_lead_to(ledger: Ledger) -> None:
    """Balances are the last ones told, the books sum to zero, and the cashier has what was brought."""
    balances: dict[str, int] = {}
    for event in ledger.events:
        if "balance_after" in event["data"]:
            balances[event["data"]["player"]] = event["data"]["balance_after"]
    with psycopg.connect(ledger.venue.dsn) as connection:
        held = dict(connection.execute("SELECT player, balance FROM ledger.wallets").fetchall())
        head = connection.execute("SELECT position, recorded_at_us FROM ledger.head").fetchone()
        transfers = connection.execute("SELECT count(*) FROM ledger.transfers").fetchone()
    assert held == balances
    assert head == (len(ledger.rows), ledger.filled.end_us)
    kinds = ledger.kinds()
    assert transfers == (kinds["Deposited"] + kinds["Withdrawn"],)
    tally = ledger.filled.tally
    for trial in trial_balance(ledger.venue.dsn, "ledger"):
        assert (trial.off, trial.on_game) == (0, 0)
        assert trial.cashier == -tally.cashier[trial.currency] * 10_000
        lost = tally.wagered[trial.currency] - tally.returned[trial.currency]
        assert trial.house + trial.jackpots == lost * 10_000


def test_the_rounds_are_spread_over_the_days_before_now(ledger: Ledger) -> None:
    """Thirty days back it begins; most of the days since then have rounds, with pauses between."""
    days = {e["data"]["gaming_day"] for e in ledger.events if e["type"] == "RoundOpened"}
    assert 15 < len(days) <= 32
    assert abs(ledger.filled.begin_us - (time.time_ns() // 1_000 - 30 * DAY_US)) < 600e6
    # Within a party's evening it is seconds from deal to decision, not hours.
    dealt = {e["stream"]: seconds(e["recorded_at"]) for e in ledger.events if e["type"] == "Dealt"}
    raised = [seconds(e["recorded_at"]) - dealt[e["stream"]] for e in ledger.events if e["type"] == "Raised"]
    assert sorted(raised)[len(raised) * 9 // 10] < 60


def test_play_goes_on_after_it_and_so_does_another_filling(ledger: Ledger, tmp_path: Path) -> None:
    """A writer plays real rounds on the ledger, a second filling has guests of its own, and all is proved."""

    async def simulate() -> list[str]:
        async with in_process(ledger.venue, "after") as channel:
            houses = await furnish(channel, "after", ("us-casino", "czech"))
            return (await play(channel, "after", houses, 5, 30, 14)).round_ids

    played = asyncio.run(simulate())
    again = fill(ledger.venue, ("nordic",), 40, seed=SEED, players=14, processes=2)
    assert again.tally.houses == {"nordic": 40}
    after = read(ledger.venue, again)
    assert [position for position, *_ in after.rows] == list(range(1, again.position + 1))
    times = [event["recorded_at"] for event in after.events]
    assert times == sorted(times)
    assert wrong(ledger.venue.dsn, tmp_path, [*played, *after.rounds("RoundClosed")[-40:]]) == []
    assert not any(trial.off for trial in trial_balance(ledger.venue.dsn, "ledger"))


def test_a_filling_that_is_interrupted_leaves_a_shorter_ledger_as_valid_as_any(
    postgres: str, tmp_path: Path
) -> None:
    """After any chunk the rows of state, the positions and the books are those of the rounds so far."""
    dsn = fresh(postgres, "interrupted")
    venue = Venue(dsn, tmp_path)

    def stop(rounds: int) -> None:
        if rounds > 200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill(venue, SHIPPED, 100_000, seed=1, players=200, processes=2, chunk_events=1_500, progress=stop)
    with psycopg.connect(dsn) as connection:
        (head,) = connection.execute("SELECT position FROM ledger.head").fetchone() or (0,)
        assert connection.execute("SELECT max(position), count(*) FROM ledger.events").fetchone() == (
            head,
            head,
        )
        finished = connection.execute(
            'SELECT stream FROM ledger.events WHERE data LIKE \'%"type":"RoundClosed"%\'::bytea LIMIT 25'
        ).fetchall()
    assert head > 2_000
    assert not any(trial.off or trial.on_game for trial in trial_balance(dsn, "ledger"))
    assert wrong(dsn, tmp_path / "log", [stream.removeprefix("round-") for (stream,) in finished]) == []
    assert fill(venue, ("cyber",), 20, seed=1, players=10).tally.rounds == 20


def test_a_ledger_that_somebody_else_writes_to_is_left_alone(postgres: str, tmp_path: Path) -> None:
    """A chunk that is overtaken is refused as a whole, and what the other one wrote stays."""
    dsn = fresh(postgres, "overtaken")
    venue = Venue(dsn, tmp_path)
    fill(venue, ("us-casino",), 10, seed=1, players=5)
    load, other = BulkLoad(dsn), PostgresStore(dsn)
    work = books(other)
    furnished = list(furniture("mine", ("us-casino",), decision_seconds=30))
    guests = Guests("mine", {"USD"}, 3)
    games = Games(work, load, [house for house, _ in furnished], guests, "1")
    before, recorded_at_us = load.head()
    work.position, work.recorded_at_us = before, recorded_at_us
    load.begin()
    clock = ChunkClock(recorded_at_us + 1, 2)
    games.chunk(clock, None, 5, [command for _, commands in furnished for command in commands])
    with psycopg.connect(dsn) as connection:
        connection.execute("UPDATE ledger.head SET position = position + 1")
    with pytest.raises(BulkRefusedError, match="somebody else"):
        load.commit(work, before)
    assert load.head() == (before + 1, recorded_at_us)
    with psycopg.connect(dsn) as connection:
        assert connection.execute("SELECT max(position) FROM ledger.events").fetchone() == (before,)
        mine = "SELECT count(*) FROM ledger.wallets WHERE player_id LIKE 'mine%'"
        assert connection.execute(mine).fetchone() == (0,)
    load.close()
    other.close()


@pytest.mark.parametrize(
    ("register", "halted", "told"),
    [("software", True, "not what was accepted"), ("log", "behind", "read-only")],
)
def test_a_ledger_that_opens_no_rounds_is_not_filled(
    postgres: str, tmp_path: Path, register: str, halted: object, told: str
) -> None:
    """Where the software is not what was accepted, or the log disagrees, filling ends and says so."""
    dsn = fresh(postgres, f"halted_{register}")
    venue = Venue(dsn, tmp_path)
    fill(venue, ("us-casino",), 5, seed=1, players=5)
    with psycopg.connect(dsn) as connection:
        connection.execute(
            "INSERT INTO ledger.registers (name, position, active, state) VALUES (%s, 1, true, %s)",
            [register, orjson.dumps({"halted": halted})],
        )
    load = BulkLoad(dsn)
    before = load.head()
    with pytest.raises(BulkRefusedError, match=told):
        fill(venue, ("us-casino",), 5, seed=1, players=5)
    assert load.head() == before
    load.close()


def books(store: PostgresStore) -> Work:
    """Books that know the published rule sets."""
    answer = store.begin(FirstReading(0))
    store.rollback()
    work = Work(os.urandom, "test")
    for row in answer.rulesets:
        work.rulesets.setdefault(row.ruleset_id, {})[row.version] = bookkeeping.ruleset_from(row)
    return work


def fresh(postgres: str, name: str) -> str:
    """Make a database with an empty ledger and return how the application connects to it."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return prepare(psycopg.conninfo.make_conninfo(postgres, dbname=name), passwords=PASSWORDS).app


def test_the_command_fills_a_kept_ledger_and_can_be_stopped_at_any_time(server_home: Path) -> None:
    """Ctrl-C ends all its processes and its server; what was committed is there, and filling goes on."""
    folder = server_home.parent / "data"
    command = [sys.executable, "-m", "api.cli.simulate", "--bulk", "--data-dir", str(folder)]
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    with subprocess.Popen(
        [*command, "--rounds", "500000"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as filling:
        assert filling.stderr is not None
        assert "in bulk" in filling.stderr.readline()
        family = wait_for_players(filling.pid)
        os.killpg(filling.pid, signal.SIGINT)
        told = filling.stderr.read()
        assert filling.wait(60) == 1
    assert told.splitlines()[-1] == "stud-ledger: stopped before the end"
    _, alive = psutil.wait_procs(family, timeout=20)
    assert alive == []
    again = subprocess.run(
        [*command, "--rounds", "30", "--seed", "4", "--ruleset", "macau"],
        cwd=ROOT,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert again.returncode == 0, again.stderr
    lines = again.stdout.splitlines()
    assert lines[0].startswith("rounds      30 in ")
    assert lines[2] == "houses      macau 30"
    assert lines[-1] == "conservation holds: every trial balance is zero"
    assert "30 of 30 rounds" in again.stderr


def plays(process: psutil.Process) -> bool:
    """Whether a process plays for a filling; one that has ended meanwhile, as the server's do, does not."""
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return False


def wait_for_players(pid: int) -> list[psutil.Process]:
    """Wait until two processes play for a filling; return all of its processes, its server's too."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        family = psutil.Process(pid).children(recursive=True)
        if sum(map(plays, family)) >= 2:
            return family
        time.sleep(0.05)
    raise AssertionError("nobody plays")
