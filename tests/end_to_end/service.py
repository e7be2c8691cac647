"""Services as `scripts/serve` starts them: processes on a real PostgreSQL, and what tests ask of them."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg

from api.tokens import mint
from domain.money import EXACT
from domain.postings import CASHIER, HOUSE, JACKPOT, ON_GAME, WALLET, legs
from infrastructure.keys import load_token_key
from infrastructure.ledger.stored_form import decode
from infrastructure.postgres import EmbeddedPostgres

ROOT = Path(__file__).parents[2]
READY = re.compile(r"ready at (http://127\.0\.0\.1:(\d+))")
READY_SECONDS_MAX = 60
COMMAND_SECONDS_MAX = 180
OVERLOADED = 503
OVERLOADED_SECONDS_MAX = 60
GAME_SERVER = "play cashier admin"
CLIENTS = 64

_keys = itertools.count(1)


@dataclass
class Service:
    """One running `serve`: its process, where it listens, its folder and the file it logs to."""

    process: subprocess.Popen[bytes]
    url: str
    port: int
    data: Path
    keys: Path
    log: Path
    tokens: dict[str, str] = field(default_factory=dict)
    elsewhere: str | None = None
    http: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=60, trust_env=False))

    @property
    def admin_dsn(self) -> str:
        """The superuser's connection string of its embedded server, or of the one that is `elsewhere`."""
        return self.elsewhere or EmbeddedPostgres(self.data / "postgres").dsn

    def token(self, scope: str = GAME_SERVER) -> str:
        """Return a token for a scope."""
        if scope not in self.tokens:
            key = load_token_key(self.keys)
            self.tokens[scope] = mint(key, scope, client_id="tests", actor="tester", ttl_seconds=3600)
        return self.tokens[scope]

    def headers(self, key: str | None = None, scope: str = GAME_SERVER) -> dict[str, str]:
        """Return what a request needs; a command without a key has one of its own."""
        name = key or f"own-{os.getpid()}-{next(_keys)}"
        return {"Authorization": f"Bearer {self.token(scope)}", "Idempotency-Key": name}

    def post(
        self, path: str, body: Any = None, key: str | None = None, scope: str = GAME_SERVER
    ) -> httpx.Response:
        """Send one command."""
        return self.http.post(self.url + path, json=body or {}, headers=self.headers(key, scope))

    def get(self, path: str, scope: str = GAME_SERVER) -> httpx.Response:
        """Read."""
        return self.http.get(self.url + path, headers=self.headers("-", scope))

    def read(self, path: str, scope: str = GAME_SERVER) -> httpx.Response:
        """Read as clients are told to: who is told that the service is overloaded asks again.

        So it is while its database is on its way back, and while a connection is dropped that went silent.
        """
        end = time.monotonic() + OVERLOADED_SECONDS_MAX
        while (answer := self.get(path, scope)).status_code == OVERLOADED:
            assert answer.json().get("code") == "overloaded", answer.text
            assert time.monotonic() < end, answer.text
            time.sleep(0.1)
        return answer

    def children(self, part: str) -> list[psutil.Process]:
        """Return its own living children with a word in their command lines."""
        found = []
        for child in psutil.Process(self.process.pid).children():
            with contextlib.suppress(psutil.NoSuchProcess):
                if child.status() != psutil.STATUS_ZOMBIE and any(part in word for word in child.cmdline()):
                    found.append(child)
        return found

    # ── What a test plays with ──────────────────────────────────────────────────────────────────────────────
    def player(self, player_id: str, funds: int = 1_000_000) -> None:
        """Open a player's wallet and put money into it."""
        done(self.post("/v1/players", {"player_id": player_id, "currency": "USD"}))
        if funds:
            body = {"amount": funds, "reference": f"{player_id}-first"}
            done(self.post(f"/v1/players/{player_id}/deposits", body))

    def table(self, table_id: str, ruleset: str = "us-casino", **more: Any) -> None:
        """Open a table that deals its own cards."""
        limits = {"currency": "USD", "min_ante": 100, "max_ante": 100_000, "deal_source": "rng"}
        done(self.post("/v1/tables", {"table_id": table_id, "ruleset": ruleset, **limits, **more}))

    def jackpot(self, jackpot_id: str) -> None:
        """Open a jackpot."""
        body = {"jackpot_id": jackpot_id, "currency": "USD", "reset": 1_000_000, "contribution": "0.70"}
        done(self.post("/v1/jackpots", body))

    def balance(self, player_id: str) -> tuple[int, int]:
        """Return what a player holds and has on game."""
        wallet = done(self.read(f"/v1/players/{player_id}"))
        return wallet["balance"], wallet["on_game"]


def done(response: httpx.Response) -> Any:
    """Return what a request that went well answered."""
    assert response.status_code in (200, 201), response.text
    return response.json()


def code(response: httpx.Response) -> str:
    """Return the code of a problem, empty where there is none."""
    return "" if response.is_success else str(response.json()["code"])


def stake(player_id: str, seat: int = 1, ante: int = 100, **more: Any) -> dict[str, Any]:
    """Return a seat's stakes."""
    return {"seat": seat, "player_id": player_id, "ante": ante, **more}


# ── Starting and stopping ───────────────────────────────────────────────────────────────────────────────────
def start(data: Path, *arguments: str, keys: Path | None = None, **environment: str) -> Service:
    """Start `serve` and wait until it is ready; what it says goes to a file beside its data."""
    log = data.parent / f"{data.name}.log"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "DATABASE"))}
    options = ["--data-dir", str(data), *(["--keys", str(keys)] if keys else [])]
    with log.open("ab") as output:
        said_before = output.tell()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "api.cli.serve", *options, *arguments],
            env=inherited | {"PYTHONPATH": str(ROOT)} | environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    deadline = time.monotonic() + READY_SECONDS_MAX
    while True:
        said = log.read_bytes()[said_before:].decode()
        ready = READY.search(said)
        if ready is not None:
            return Service(process, ready[1], int(ready[2]), data, keys or data / "keys", log)
        assert process.poll() is None, said
        assert time.monotonic() < deadline, said
        time.sleep(0.02)


def run(module: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run another command of the project and wait for its end."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "DATABASE"))}
    return subprocess.run(
        [sys.executable, "-P", "-m", module, *arguments],
        check=False,
        env=inherited | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS_MAX,
    )


def quiet_port() -> int:
    """Return a free port that no client is ever given as its own.

    While nobody listens on a port from the ephemeral range, a client that keeps calling it may be given that
    very port, reach itself, and keep the service from coming back there.
    """
    while True:
        port = random.randrange(20_000, 32_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def stop(service: Service) -> None:
    """Stop a service in order."""
    service.http.close()
    service.process.send_signal(signal.SIGTERM)
    service.process.wait(60)


@contextlib.contextmanager
def two_services(folder: Path) -> Iterator[tuple[Service, Service]]:
    """Run two services, each with processes of its own, on the first one's PostgreSQL."""
    first = start(folder / "one", "--port", "0")
    try:
        password = (first.keys / "app.password").read_text().strip()
        second = start(
            folder / "two",
            "--port",
            "0",
            "--log",
            str(first.data / "log"),
            keys=first.keys,
            DATABASE_URL=f"{first.admin_dsn} user=ledger_app password={password}",
        )
        try:
            yield first, second
        finally:
            stop(second)
    finally:
        stop(first)


# ── What is in the database ─────────────────────────────────────────────────────────────────────────────────
def rows(dsn: str, query: str) -> list[tuple[Any, ...]]:
    """Return what a query finds, with the ledger's tables in its reach."""
    with psycopg.connect(dsn, options="-c search_path=ledger", autocommit=True) as connection:
        return connection.execute(query).fetchall()


def everything(dsn: str) -> dict[str, list[str]]:
    """Return every row of every table, as text, but for how far projections have come."""
    names = [name for (name,) in rows(dsn, "SELECT tablename FROM pg_tables WHERE schemaname = 'ledger'")]
    kept = set(names) - {"projections", "player_rounds"}
    return {name: sorted(text for (text,) in rows(dsn, f"SELECT t::text FROM {name} AS t")) for name in kept}


def check_books(dsn: str) -> dict[tuple[str, str], int]:
    """Hold every balance, meter and account against a replay of the events' legs; return the balances.

    No wallet and no meter was below zero after any event; all accounts together hold nothing (G1, G2). One
    snapshot is read, so that this can be asked while others write. Balances are in minor units.
    """
    with psycopg.connect(dsn, options="-c search_path=ledger") as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        wallets = connection.execute("SELECT player, balance, on_game FROM wallets").fetchall()
        meters = connection.execute("SELECT jackpot_id, meter FROM jackpots").fetchall()
        accounts = connection.execute(
            "SELECT split_part(account, ':', 1), sum(balance) FROM accounts GROUP BY 1"
        ).fetchall()
        stored = connection.execute("SELECT position, data FROM events ORDER BY position").fetchall()
    assert [position for position, _ in stored] == list(range(1, len(stored) + 1))
    said: dict[tuple[str, str], int] = {}
    for _, data in stored:
        for leg in legs(decode(data).event):
            key = (leg.account, leg.owner)
            said[key] = said.get(key, 0) + leg.amount
            assert leg.account in (HOUSE, CASHIER) or said[key] >= 0
    assert sum(said.values()) == 0
    for player, balance, on_game in wallets:
        assert said.get((WALLET, player), 0) == balance * EXACT
        assert said.get((ON_GAME, player), 0) == on_game * EXACT
    assert {JACKPOT: dict(meters)} == {JACKPOT: {o: v for (a, o), v in said.items() if a == JACKPOT}}
    assert dict(accounts) == {a: v for (a, o), v in said.items() if a in (HOUSE, CASHIER)}
    return {key: amount // EXACT for key, amount in said.items() if key[0] in (WALLET, ON_GAME)}
