"""Ledgers that earlier stages wrote: today's software takes each one forward and finds everything in it.

Each is loaded into the schema its own migrations make, then migrated as any ledger is when it is started with
new software.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest

from api.play.evidence import evidence, jackpot_document
from domain import commands as c
from domain.money import EXACT
from domain.postings import legs
from domain.replay import replay
from infrastructure import bootstrap
from infrastructure.checking import full
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.stored_form import decode
from infrastructure.ledger.submission import Submission, command_id, fingerprint, own_submission
from infrastructure.ledger.writer import Writer
from infrastructure.projections.catalogue import PROJECTIONS
from infrastructure.projections.postgres import PostgresSink
from infrastructure.projections.runner import Projector
from infrastructure.projections.tables import read_schema
from infrastructure.reading import FoundRound, Reading
from infrastructure.seals import Seals
from tests.golden import make, packed
from tests.integration.api.physical_table import verify
from tests.integration.made_log import make_log

PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}


@dataclass(frozen=True)
class Golden:
    """A stage's ledger in today's schema. `dsn` is the superuser's, `app` the application's login."""

    stage: str
    schema: str
    dsn: str
    app: str
    about: dict[str, Any]

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """Return what a query on the ledger's schema finds."""
        with psycopg.connect(self.dsn) as connection:
            connection.execute("SELECT set_config('search_path', %s, false)", [self.schema])
            return connection.execute(query).fetchall()


@pytest.fixture(scope="module", params=packed.STAGES)
def golden(request: pytest.FixtureRequest, database: str) -> Golden:
    """Return each stage's ledger, loaded into that stage's schema and brought forward."""
    stage: str = request.param
    schema = stage.replace("-", "_")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "_migrations", lambda: packed.migrations_of(stage))
        bootstrap.prepare(database, schema, passwords=PASSWORDS)
    with psycopg.connect(database) as connection:
        packed.load_rows(connection, schema, (packed.GOLDEN / stage / "rows.zst").read_bytes())
    app = bootstrap.prepare(database, schema, passwords=PASSWORDS).app
    bootstrap.check(app, schema)
    return Golden(stage, schema, database, app, packed.about(stage))


@pytest.fixture(scope="module")
def rounds(golden: Golden) -> dict[str, tuple[FoundRound, list[bytes]]]:
    """Return every round, folded, with its stored events."""

    async def read() -> dict[str, tuple[FoundRound, list[bytes]]]:
        reading = Reading(golden.app, golden.schema)
        await reading.open()
        try:
            found = {}
            streams = golden.ask("SELECT stream FROM events WHERE version = 1 AND stream LIKE 'round-%'")
            for (stream,) in streams:
                round_ = await reading.round(stream.removeprefix("round-"))
                assert round_ is not None
                found[round_.round.id] = (round_, await reading.events(round_.round.id))
            return found
        finally:
            await reading.close()

    return asyncio.run(read())


def test_no_migration_was_edited_since(golden: Golden) -> None:
    """The stage's migrations are today's first ones, byte for byte: what was applied stays what it was."""
    today = {m.name: m.sha256 for m in bootstrap._migrations()}
    then = {m.name: m.sha256 for m in packed.migrations_of(golden.stage)}
    assert then.items() <= today.items()
    assert golden.ask("SELECT name FROM ledger_migrations ORDER BY number") == [(name,) for name in today]


def test_the_events_are_what_they_were(golden: Golden) -> None:
    """Migrating forward leaves every stored byte, and today's software reads every one of them."""
    stored = [data for (data,) in golden.ask("SELECT data FROM events ORDER BY position")]
    assert len(stored) == golden.about["position"]
    assert hashlib.sha256(b"".join(stored)).hexdigest() == golden.about["events_sha256"]
    types = Counter(type(decode(data).event).__name__ for data in stored)
    assert dict(types) == golden.about["events"]


def test_every_finished_round_replays(rounds: dict[str, tuple[FoundRound, list[bytes]]]) -> None:
    """Each round that ended is derived again, payout by payout, by today's replay (G8)."""
    finished = 0
    for found, stored in rounds.values():
        if found.round.finished:
            events = [orjson.loads(data) for data in stored]
            report = replay(events, found.ruleset.document, jackpot_document(found))
            assert report.as_json()["verdict"] == "pass", (found.round.id, report.as_json())
            finished += 1
    assert finished > 80


def test_evidence_made_today_and_then_is_verified(
    golden: Golden, rounds: dict[str, tuple[FoundRound, list[bytes]]], tmp_path: Path
) -> None:
    """Files that the stage handed out verify with today's verifier, and so do the same rounds' of today."""
    kept = packed.evidence(golden.stage)
    assert len(kept) >= 18
    log = make_log(tmp_path, [data for (data,) in golden.ask("SELECT data FROM events ORDER BY position")])
    note = log.note()
    assert note is not None
    for file in kept:
        then = verify.examine(file)
        assert then.verdict() == "verified", (then.unusable, then.faults)
        found, stored = rounds[orjson.loads(file)["round_id"]]
        now = verify.examine(evidence(found, stored, None, log, note))
        assert now.verdict() == "verified", (now.unusable, now.faults)
    altered = orjson.loads(kept[0])
    settled = next(event for event in altered["events"] if event["type"] == "Settled")
    settled["data"]["balance_after"] += 1
    assert verify.examine(orjson.dumps(altered)).verdict() == "refuted"


def test_the_books_balance_and_agree_with_the_events(golden: Golden) -> None:
    """Per currency everything sums to zero, and each wallet and meter is the sum of its legs (G1, G10)."""
    assert not any(balances(golden).values())
    sums: Counter[tuple[str, str]] = Counter()
    for (data,) in golden.ask("SELECT data FROM events ORDER BY position"):
        posted = legs(decode(data).event)
        assert sum(amount for _, _, amount in posted) == 0
        for account, owner, amount in posted:
            sums[account, owner] += amount
    for player, balance, on_game in golden.ask("SELECT player, balance, on_game FROM wallets"):
        assert (sums["wallet", player], sums["on_game", player]) == (balance * EXACT, on_game * EXACT)
    for jackpot_id, meter in golden.ask("SELECT jackpot_id, meter FROM jackpots"):
        assert sums["jackpot", jackpot_id] == meter


def balances(golden: Golden) -> Counter[str]:
    """Return what all accounts of each currency sum to, in 1/10000 minor units."""
    sums: Counter[str] = Counter()
    for currency, amount in golden.ask("SELECT currency, balance + on_game FROM wallets"):
        sums[currency] += amount * EXACT
    for currency, amount in golden.ask("SELECT currency, balance FROM accounts"):
        sums[currency] += int(amount)
    for state, meter in golden.ask("SELECT state, meter FROM jackpots"):
        jackpot = orjson.loads(state)
        pools = int(jackpot.get("overflow", 0)) + int(jackpot.get("diverted", 0))
        sums[jackpot["currency"]] += int(meter) + pools
    return sums


def test_projections_are_built_checked_and_rebuilt_to_the_same(golden: Golden) -> None:
    """Today's projections are built of the old events, are what an independent check says, and rebuild."""
    project(golden)
    found = full.check(lambda: psycopg.connect(golden.app, autocommit=True), golden.schema, lambda *_: None)
    assert found == (golden.about["position"], [], 0)
    read = read_schema(golden.schema)
    live = dict(golden.ask(f"SELECT name, build FROM {read}.projections WHERE live"))
    with psycopg.connect(golden.app, autocommit=True) as connection:
        sink = PostgresSink(
            connection,
            golden.schema,
            [make() for make in PROJECTIONS],
            lambda: psycopg.connect(golden.app, autocommit=True),
        )
        assert all(sink.request(name) for name in live)
    project(golden)
    rebuilt = golden.ask(f"SELECT name, build FROM {read}.projections WHERE live")
    assert {name for name, build in rebuilt if build > live[name]} == set(live)
    assert golden.ask(f"SELECT name, detail FROM {read}.alarms") == []


def project(golden: Golden) -> None:
    """Take the projections to the ledger's end, and what is rebuilt to where it is switched."""
    read = read_schema(golden.schema)
    pending = f"SELECT 1 FROM {read}.projections, head WHERE NOT live OR projections.position < head.position"
    deadline = time.monotonic() + 60
    with Projector(golden.app, golden.schema) as projector:
        assert projector.try_to_act()
        while projector.turn() or golden.ask(pending):
            stopped = f"SELECT name, error FROM {read}.projections WHERE error IS NOT NULL"
            assert golden.ask(stopped) == []
            assert time.monotonic() < deadline


def test_the_next_golden_ledger_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recipe for the next stage's ledger works with today's software, and makes what it says."""
    monkeypatch.setattr(packed, "GOLDEN", tmp_path)
    make.main("stage-next", "the next stage")
    told = packed.about("stage-next")
    assert told["position"] == sum(told["events"].values()) > 1_700
    assert {m.name for m in packed.migrations_of("stage-next")} == {m.name for m in bootstrap._migrations()}
    files = packed.evidence("stage-next")
    assert len(files) >= 18
    assert {verify.examine(file).verdict() for file in files} == {"verified"}


def test_todays_writer_goes_on(golden: Golden, rounds: dict[str, tuple[FoundRound, list[bytes]]]) -> None:
    """Today's writer ends the rounds that were left open, with their sealed seeds, and answers old commands.

    Last in this file: it writes.
    """
    key = bytes.fromhex(golden.about["deck_key"])
    later_us = golden.about["now_us"] + 86_400_000_000
    writer = Writer(PostgresStore(golden.app, golden.schema), Seals(key), lambda: later_us, "golden-test")
    writer.start()
    try:
        asked = fingerprint("GOLDEN", "StartLedger", b"golden-1")
        first = Submission(
            command_id(golden.about["client"], "golden-1"), asked, c.StartLedger(demo=True), "x"
        )
        assert writer.call(first).replayed
        left = [found.round for found, _ in rounds.values() if not found.round.finished]
        assert {round_.phase for round_ in left} == {"betting", "dealt"}
        for round_ in left:
            end = (
                c.TimeOutRound(round_.id)
                if round_.opened.deal_source == "rng"
                else c.VoidRound(round_.id, "malfunction")
            )
            for attempt in range(8):
                result = writer.call(own_submission(end, f"end:{round_.id}:{attempt}"))
                if result.outcome:
                    break
    finally:
        writer.stop()
    assert golden.ask("SELECT round_id FROM open_rounds") == []
    assert golden.ask("SELECT sum(on_game) FROM wallets") == [(0,)]
    assert not any(balances(golden).values())
