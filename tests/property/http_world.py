"""A service over HTTP with an independent second book beside it, for tests that play it at random."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import orjson
import psycopg

from infrastructure.checking import tables
from infrastructure.checking.exact import exact
from infrastructure.checking.fold import Fold
from infrastructure.checking.reading import PAGE, Ledger
from infrastructure.ledger.submission import command_id, command_name
from tests.integration.api.conftest import Api
from tests.integration.api.individuals import Individual

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Asked:
    """A command that was sent, and what it was answered."""

    template: str
    path: str
    body: Any
    key: str
    answer: httpx.Response = field(repr=False)


@dataclass
class HttpWorld:
    """One service for all examples. `people` are registered administrators, `fold` is the checker's."""

    api: Api
    people: tuple[Individual, ...]
    fold: Fold = field(default_factory=Fold)
    refused: set[str] = field(default_factory=set)
    last: int = 0

    def __post_init__(self) -> None:
        """Read what the service says of itself."""
        self.documents: Mapping[str, Any] = self.api.client.get("/openapi.json").json()["paths"]
        self.database = psycopg.connect(self.api.admin_dsn, autocommit=True)

    # ── Asking ──────────────────────────────────────────────────────────────────────────────────────────────
    def post(self, template: str, body: Any, *, key: str | None = None, **names: str) -> Asked:
        """Send a service's command."""
        key = key or f"machine-{next(_numbers)}"
        path = template.format(**names)
        answer = self.api.post(path, body, key=key)
        return self._asked(template, path, body, key, answer, "tests")

    def again(self, asked: Asked) -> Asked:
        """Send a service's command once more."""
        answer = self.api.post(asked.path, asked.body, key=asked.key)
        return self._asked(asked.template, asked.path, asked.body, asked.key, answer, "tests")

    def post_as(self, person: Individual, template: str, body: Any, **names: str) -> Asked:
        """Send a person's command."""
        key = f"{person.name}-{next(_numbers)}"
        path = template.format(**names)
        answer = person.post(self.api, path, body, key=key)
        return self._asked(template, path, body, key, answer, f"person:{person.name}")

    def _asked(
        self, template: str, path: str, body: Any, key: str, answer: httpx.Response, client: str
    ) -> Asked:
        self.documented("post", template, answer)
        name = command_name(command_id(client, key))
        if answer.is_success:
            self.refused.discard(name)
            self.last = max(self.last, int(answer.headers["ledger-position"]))
        else:
            self.refused.add(name)
        return Asked(template, path, body, key, answer)

    def get(self, template: str, **names: Any) -> Any:
        """Read what must be there, as fresh as the last answer."""
        query = names.pop("query", {})
        answer = self.api.get(template.format(**names), params={"min_position": self.last, **query})
        self.documented("get", template, answer)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def documented(self, method: str, template: str, answer: httpx.Response) -> None:
        """Nothing fails, and nothing is answered that the documentation does not have."""
        assert answer.status_code < 500, answer.text
        documented = self.documents[template][method]["responses"]
        assert str(answer.status_code) in documented, (template, answer.status_code, answer.text)
        if not answer.is_success:
            assert answer.headers["content-type"] == "application/problem+json"
            code = answer.json()["code"]
            kinds = documented[str(answer.status_code)]["content"]["application/problem+json"]["examples"]
            assert code in kinds, (template, code)

    # ── What must hold ──────────────────────────────────────────────────────────────────────────────────────
    def holds(self) -> None:
        """Events, rows and the checker's own books agree; what was refused has written nothing."""
        ledger = Ledger(self.database, self.api.schema)
        self.database.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            position, _ = ledger.head()
            if position == self.fold.position and not self.refused:
                return
            while self.fold.position < position:
                page = ledger.events(self.fold.position, position, PAGE)
                written = {orjson.loads(data)["meta"]["command"] for _, _, _, data in page}
                assert not written & self.refused, "a refused command has written"
                self.fold.take(page)
                tables.compare_page(ledger, self.fold.books)
            tables.compare(ledger, self.fold)
            wallets = ledger.rows("SELECT currency, (balance + on_game) * 10000 FROM {schema}.wallets")
            others = ledger.rows("SELECT currency, balance FROM {schema}.accounts")
        finally:
            self.database.execute("COMMIT")
        self.refused.clear()
        first = self.fold.books.findings.first
        assert first is None, first
        sums: dict[str, int] = {}
        for currency, amount in [*wallets, *others, *self._pools()]:
            sums[currency] = sums.get(currency, 0) + int(amount)
        assert not any(sums.values()), sums

    def _pools(self) -> list[tuple[str, int]]:
        jackpots = self.fold.books.jackpots.values()
        return [(each.currency, each.meter + each.overflow + each.diverted) for each in jackpots]

    def settled(self, template: str, **names: str) -> Any:
        """Read something as of where the second book is: the ledger's own jobs write whenever they like."""
        while True:
            self.holds()
            position = self.fold.position
            found = self.get(template, **names)
            self.holds()
            if self.fold.position == position:
                return found

    def wallet_is_told(self, player_id: str) -> None:
        """What a player is told to hold is what the events say."""
        told = self.settled("/v1/players/{player_id}", player_id=player_id)
        ((player,),) = Ledger(self.database, self.api.schema).rows(
            "SELECT player FROM {schema}.wallets WHERE player_id = %s", player_id
        )
        wallet = self.fold.books.wallets.get(player)
        assert wallet is not None
        assert (told["balance"], told["on_game"]) == (wallet.balance, wallet.on_game)

    def jackpot_is_told(self, jackpot_id: str) -> dict[str, Any]:
        """What a jackpot is told to hold is what the events say."""
        told: dict[str, Any] = self.settled("/v1/jackpots/{jackpot_id}", jackpot_id=jackpot_id)
        jackpot = self.fold.books.jackpots[jackpot_id]
        pools = [exact(told[name]) for name in ("meter_exact", "overflow_exact", "diversion_exact")]
        assert pools == [jackpot.meter, jackpot.overflow, jackpot.diverted]
        assert told["meter"] == jackpot.meter // 10_000
        return told

    def close(self) -> None:
        """Give the connection back."""
        self.fold.books.close()
        self.database.close()


def same(first: httpx.Response, again: httpx.Response) -> bool:
    """Whether a repeat was answered as the first time."""
    if not first.is_success:
        return (first.status_code, first.json()) == (again.status_code, again.json())
    return (first.status_code, first.content) == (again.status_code, again.content)


def told(asked: Asked) -> str:
    """Return a command for a message."""
    return f"{asked.path} {json.dumps(asked.body)}"
