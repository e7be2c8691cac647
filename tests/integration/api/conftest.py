"""A whole service on a real PostgreSQL, asked over HTTP."""

from __future__ import annotations

import functools
import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import httpx
import psycopg
import pytest
import uvicorn
from psycopg import sql

from api.app import create_app
from api.composition import Service, compose
from api.settings import ServiceSettings
from api.short_way import ShortWay
from api.tokens import mint
from domain.commands import Deposit, OpenPlayer
from infrastructure import ids
from infrastructure.bootstrap import prepare
from infrastructure.checking import full
from infrastructure.clock import system_clock
from infrastructure.evidence import sealer
from infrastructure.ledger import horizon
from infrastructure.ledger.submission import ACCEPTED, own_submission
from infrastructure.projections.judging import lookup

if TYPE_CHECKING:
    from collections.abc import Iterator

PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
ALL_SCOPES = "play cashier admin reports audit disputes"
TABLES = (
    "head events commands wallets accounts jackpots tables rulesets open_rounds transfers notes registers"
).split()

_numbers = itertools.count(1)


class Clock:
    """The system's clock, which a test may put forward."""

    def __init__(self) -> None:
        self.ahead_us = 0

    def __call__(self) -> int:
        """Return microseconds since the epoch."""
        return system_clock() + self.ahead_us


@dataclass
class Api:
    """A client of a running service. Each call without a key has one of its own."""

    client: httpx.Client
    service: Service
    clock: Clock
    admin_dsn: str
    schema: str
    _keys: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @staticmethod
    def seat(number: int, player_id: str, ante: int = 1000, **more: Any) -> dict[str, Any]:
        """Return one seat's stakes."""
        return {"seat": number, "player_id": player_id, "ante": ante, **more}

    @staticmethod
    def done(response: httpx.Response) -> Any:
        """Return what a request that went well answered."""
        return done(response)

    def token(self, scope: str = ALL_SCOPES, client_id: str = "tests", **options: Any) -> str:
        """Return a token."""
        key = self.service.tokens._key
        return mint(key, scope, client_id=client_id, actor="tester", ttl_seconds=3600, **options)

    def post(
        self, path: str, body: Any = None, *, key: str | None = None, scope: str = ALL_SCOPES, **kw: Any
    ) -> Any:
        """Send a command."""
        headers = {
            "Authorization": f"Bearer {self.token(scope)}",
            "Idempotency-Key": key or f"{id(self)}-{next(self._keys)}",
            **kw.pop("headers", {}),
        }
        if "content" not in kw:
            kw["json"] = {} if body is None else body
        return self.client.post(path, headers=headers, **kw)

    def get(self, path: str, *, scope: str = ALL_SCOPES, **kw: Any) -> Any:
        """Read."""
        return self.client.get(path, headers={"Authorization": f"Bearer {self.token(scope)}"}, **kw)

    def player(self, player_id: str, funds: int = 1_000_000, currency: str = "USD", **more: Any) -> None:
        """Open a player's wallet and fund it."""
        done(self.post("/v1/players", {"player_id": player_id, "currency": currency, **more}))
        if funds:
            done(
                self.post(
                    f"/v1/players/{player_id}/deposits", {"amount": funds, "reference": f"{player_id}-1"}
                )
            )

    def crowd(self, count: int, funds: int) -> list[str]:
        """Open and fund many players at once, past HTTP; return their ids."""
        names = [f"crowd-{number}" for number in range(1, count + 1)]

        def add(name: str) -> None:
            for command in (
                OpenPlayer(name, ids.pseudonym(), "USD"),
                Deposit(name, funds, "d", ids.transaction_id()),
            ):
                result = self.service.writer.call(own_submission(command, f"{type(command).__name__}:{name}"))
                assert result.outcome == ACCEPTED

        with ThreadPoolExecutor(64) as pool:
            list(pool.map(add, names))
        return names

    def table(self, table_id: str, ruleset: str = "us-casino", **more: Any) -> None:
        """Open a table that takes antes of 100 to 100 000."""
        body = {
            "table_id": table_id,
            "ruleset": ruleset,
            "currency": "USD",
            "min_ante": 100,
            "max_ante": 100_000,
            "deal_source": "rng",
            **more,
        }
        done(self.post("/v1/tables", body))

    def balance(self, player_id: str) -> tuple[int, int]:
        """Return a player's balance and what lies on unfinished rounds."""
        wallet = done(self.get(f"/v1/players/{player_id}"))
        return wallet["balance"], wallet["on_game"]

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return every row of the ledger but what only says how far a projection has come."""
        with psycopg.connect(self.admin_dsn) as connection:
            return {
                table: sorted(
                    connection.execute(
                        sql.SQL("SELECT t::text FROM {}.{} AS t").format(
                            sql.Identifier(self.schema), sql.Identifier(table)
                        )
                    ).fetchall()
                )
                for table in TABLES
            }

    def jackpot(self, jackpot_id: str, reset: int = 1_000_000, currency: str = "USD", **more: Any) -> None:
        """Open a jackpot that takes 70 % of each side bet."""
        body = {
            "jackpot_id": jackpot_id,
            "currency": currency,
            "reset": reset,
            "contribution": "0.70",
            **more,
        }
        done(self.post("/v1/jackpots", body))

    def open(self, table_id: str, *seats: dict[str, Any], deal: bool = False) -> dict[str, Any]:
        """Open a round and return it."""
        return done(self.post("/v1/rounds", {"table_id": table_id, "seats": list(seats), "deal": deal}))

    def scanned(self, table_id: str, cards: dict[str, str], up: str, *seats: dict[str, Any]) -> str:
        """Open a round at a physical table, deal the cards named by seat, and return its id."""
        round_id = self.open(table_id, *seats)["round_id"]
        hands = {seat: text.split() for seat, text in cards.items()}
        done(self.post(f"/v1/rounds/{round_id}/deal", {"seats": hands, "dealer_up": up.split()}))
        return round_id

    def decide(self, round_id: str, seat: int, action: str, **more: Any) -> dict[str, Any]:
        """Send a seat's decision and return the round."""
        return done(self.post(f"/v1/rounds/{round_id}/decisions", {"seat": seat, "action": action, **more}))

    def refused(self, code: str, status: int, response: httpx.Response) -> dict[str, Any]:
        """Check that a request failed with a problem, and return it."""
        assert response.headers["content-type"] == "application/problem+json", response.text
        problem: dict[str, Any] = response.json()
        assert (problem["code"], response.status_code, problem["status"]) == (code, status, status), problem
        assert problem["title"]
        assert problem["detail"]
        assert problem["type"].endswith(code)
        return problem


def done(response: httpx.Response) -> Any:
    """Return what a request that went well answered."""
    assert response.status_code in (200, 201), response.text
    return response.json()


def running(admin_dsn: str, keys: Path, *, schema: str | None = None, demo: bool = False) -> Iterator[Api]:
    """Run a service on a schema of its own, or beside others on one that is there.

    Whatever was asked of it: in the end its ledger is what the events say, to the independent checker.
    """
    schema = schema or f"api_{next(_numbers)}"
    logins = prepare(admin_dsn, schema, passwords=PASSWORDS)
    clock = Clock()
    settings = ServiceSettings(logins.app, keys, demo=demo, log=keys.with_name(f"{keys.name}-log"))
    app = ShortWay(create_app(settings, functools.partial(compose, schema=schema, clock=clock)))
    config = uvicorn.Config(app, port=0, lifespan="on", log_level="warning", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the service did not start"
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, trust_env=False) as client:
            yield Api(client, app.state.service, clock, admin_dsn, schema)
    finally:
        server.should_exit = True
        thread.join()
    with psycopg.connect(admin_dsn) as connection:
        archived = horizon.read(connection, schema).position
    if not archived:
        left = full.check(lambda: psycopg.connect(admin_dsn, autocommit=True), schema, lambda *_: None)
        assert left.findings == []


@pytest.fixture(scope="session", autouse=True)
def _quick_sealer() -> Iterator[None]:
    """Let nobody wait long for the evidence log: many rounds are proved as soon as they have ended."""
    with mock.patch.object(sealer, "TURN_SECONDS", 0.05):
        yield


@pytest.fixture(scope="session", autouse=True)
def _odds_tables() -> None:
    """Have the tables of the odds, so that no first report has to wait for them."""
    lookup("ace_king")


@pytest.fixture(scope="module")
def api(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """Yield a service that the module's tests share."""
    yield from running(database, tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def demo_api(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """Yield a demonstration."""
    yield from running(database, tmp_path_factory.mktemp("demo-keys"), demo=True)


@pytest.fixture(scope="module")
def beside(api: Api) -> Iterator[Api]:
    """Yield a second service on the ledger of the first."""
    yield from running(api.admin_dsn, api.service.settings.keys, schema=api.schema)
