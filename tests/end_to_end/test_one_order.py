"""One order (G4): what a reader has seen stays, nothing appears before it, and time only goes forward."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime

import orjson
import psycopg

from tests.end_to_end.asking import Client, at_once
from tests.end_to_end.service import Service, check_books, rows, stake

Services = tuple[Service, Service]
Seen = list[tuple[int, bytes]]
ROUNDS = 25


class Reader(threading.Thread):
    """Reads on from the last position it has seen, as fast as it can, until it is told to end."""

    def __init__(self, dsn: str, read: Callable[[psycopg.Connection, int], Seen]) -> None:
        super().__init__()
        self._dsn = dsn
        self._read = read
        self.seen: Seen = []
        self.polls = 0
        self.ending = threading.Event()

    def run(self) -> None:
        """Poll."""
        with psycopg.connect(self._dsn, options="-c search_path=ledger", autocommit=True) as connection:
            while True:
                ends = self.ending.is_set()
                found = self._read(connection, self.seen[-1][0] if self.seen else 0)
                self.seen += found
                self.polls += 1
                if ends and not found:
                    return


def after_position(connection: psycopg.Connection, position: int) -> Seen:
    """Return all that comes after a position."""
    query = "SELECT position, data FROM events WHERE position > %s ORDER BY position"
    return connection.execute(query, [position]).fetchall()


def up_to_head(connection: psycopg.Connection, position: int) -> Seen:
    """Return what comes after a position, as far as the head row says that the ledger has come."""
    query = """SELECT position, data FROM events
        WHERE position > %s AND position <= (SELECT position FROM head) ORDER BY position LIMIT 500"""
    return connection.execute(query, [position]).fetchall()


def newest(connection: psycopg.Connection, position: int) -> Seen:
    """Return the newest event, where it is a new one, after checking that none is missing before it."""
    row = connection.execute("SELECT max(position), count(*) FROM events").fetchone()
    assert row is not None
    assert row[0] == row[1]
    query = "SELECT position, data FROM events WHERE position = %s AND position > %s"
    return connection.execute(query, [row[0], position]).fetchall()


def test_a_reader_sees_one_order_while_two_processes_write(services: Services) -> None:
    """Readers polling under load see no gap, no late event, and what they saw is what stays (G4)."""
    first, _ = services
    for n in range(4):
        first.table(f"order-{n}")
    readers = [Reader(first.admin_dsn, read) for read in (after_position, up_to_head, newest)]
    for reader in readers:
        reader.start()

    async def play(client: Client) -> None:
        player = f"order-{client.number}"
        (await client.post("/v1/players", {"player_id": player, "currency": "USD"})).done()
        money = {"amount": 10**6, "reference": "first"}
        (await client.post(f"/v1/players/{player}/deposits", money)).done()
        for n in range(ROUNDS):
            body = {"table_id": f"order-{n % 4}", "seats": [stake(player)], "deal": True}
            round_id = (await client.post("/v1/rounds", body)).done()["round_id"]
            decision = {"seat": 1, "action": "raise"}
            (await client.post(f"/v1/rounds/{round_id}/decisions", decision)).done()

    try:
        at_once(services, play, 32)
    finally:
        for reader in readers:
            reader.ending.set()
            reader.join()
    stays = rows(first.admin_dsn, "SELECT position, data FROM events ORDER BY position")
    for reader in readers[:2]:
        assert reader.seen == stays
        assert reader.polls > 50
    assert set(readers[2].seen) <= set(stays)
    assert len(readers[2].seen) > 50
    times = [datetime.fromisoformat(orjson.loads(data)["recorded_at"]) for _, data in stays]
    assert all(times[n] < times[n + 1] for n in range(len(times) - 1))
    check_books(first.admin_dsn)


def test_a_round_is_read_as_it_grows(services: Services) -> None:
    """Over HTTP too: a round's events begin with what was shown of them before, at either process."""
    first, second = services
    first.player("grows", funds=100_000)
    first.table("grows", "evolution-live")
    round_id = first.post("/v1/rounds", {"table_id": "grows"}).json()["round_id"]
    steps = [
        ("antes", {"seats": [stake("grows", 7)]}),
        ("deal", {}),
        ("decisions", {"seat": 7, "action": "raise"}),
    ]
    seen: list[dict[str, object]] = []
    for n, (step, body) in enumerate(steps):
        writing, reading = (first, second) if n % 2 else (second, first)
        answer = writing.post(f"/v1/rounds/{round_id}/{step}", body)
        position = answer.headers["ledger-position"]
        items = reading.get(f"/v1/rounds/{round_id}/events?min_position={position}").json()["items"]
        assert items[: len(seen)] == seen
        assert len(items) > len(seen)
        seen = items
    assert seen[-1]["type"] == "RoundClosed"
