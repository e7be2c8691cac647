"""A ledger from before bets on jackpots were counted learns its counts when it is brought forward."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import psycopg
import pytest
from psycopg import sql

from domain import commands as c
from infrastructure import bootstrap
from infrastructure.ledger.batch import Batch
from infrastructure.ledger.books import Books
from infrastructure.ledger.postgres import PostgresStore
from tests.unit.domain.playing import shipped
from tests.unit.infrastructure.ledgers import SEALS, Clock, deposit, stake, submission, told

if TYPE_CHECKING:
    from collections.abc import Iterator

PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
SCHEMA = "before_counts"
PLAYERS = 8


@pytest.fixture(scope="module")
def admin(database: str) -> Iterator[psycopg.Connection]:
    """Yield a connection to a ledger where some bets on two jackpots are settled and some are not."""
    dsn = bootstrap.prepare(database, SCHEMA, passwords=PASSWORDS).app
    commands: list[c.Command] = [c.StartLedger(demo=True), c.PublishRuleset(shipped("nordic"))]
    for pot in ("some", "none", "unused"):
        commands.append(c.OpenJackpot(pot, "USD", 1_000, "0.70"))
        commands.append(c.OpenTable(pot, "nordic", "USD", 100, 10_000, "rng", pot))
    for n in range(PLAYERS):
        commands += [c.OpenPlayer(f"player-{n}", f"p{n}", "USD"), deposit(n, 100_000, "first")]
    bets = {n: stake(n, jackpot=100) for n in range(1, PLAYERS)}
    commands += [
        c.OpenRound("settled", "some", (bets[1],), deal=True),
        c.Decide("settled", 1, "fold"),
        c.OpenRound("open", "some", (bets[1], stake(2))),
        c.OpenRound("half", "some", (bets[3], bets[4], bets[5]), deal=True),
        *(c.Decide("half", seat, "fold") for seat in (3, 4, 5)),
        c.OpenRound("void", "none", (bets[6],)),
        c.VoidRound("void", "malfunction"),
    ]
    store = PostgresStore(dsn, SCHEMA)
    books = Books("test", settle_seats_max=2)
    for command in commands:  # one batch each: nobody goes on with the round that is half settled
        batch = Batch([submission(command, repr(command))], books, store, SEALS, Clock())
        told(batch.run()[0])
    store.close()
    with psycopg.connect(database, autocommit=True, options=f"-c search_path={SCHEMA}") as connection:
        yield connection


def test_the_bets_of_rounds_that_are_not_finished_are_counted(admin: psycopg.Connection) -> None:
    """Each seat that is neither settled nor refunded, and nothing else in the row changes."""
    counted = states(admin)
    assert {pot: state["unsettled"] for pot, state in counted.items()} == {"some": 2, "none": 0, "unused": 0}
    admin.execute(
        "UPDATE jackpots SET state = convert_to((convert_from(state, 'UTF8')::jsonb"
        " - ARRAY['unsettled', 'overflow', 'diverted', 'retired'])::text, 'UTF8')"
    )
    (migration,) = [each for each in bootstrap._migrations() if each.name == "0006_jackpot_life.sql"]
    admin.execute(sql.SQL(migration.text).format())
    brought = states(admin)
    for pot, state in brought.items():
        assert state == {name: value for name, value in counted[pot].items() if name in state}
    assert brought["some"]["unsettled"] == 2


def states(admin: psycopg.Connection) -> dict[str, dict[str, object]]:
    """Return what the rows of the jackpots hold."""
    rows = admin.execute("SELECT jackpot_id, state FROM jackpots").fetchall()
    return {pot: orjson.loads(state) for pot, state in rows}
