"""How long reads take over HTTP: one after the other on one connection, of what is drawn at random."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

import psycopg

from api.cli.bench.figures import Spread, spread

_PLAYERS: Final = """
    SELECT w.player_id, p.position FROM ledger.wallets AS w JOIN ledger_read.players AS p USING (player)
    WHERE w.player_id LIKE 'bulk-%' ORDER BY md5(w.player) LIMIT 500"""
_ROUND: Final = """
    SELECT substr(stream, 7) FROM ledger.events
    WHERE position >= %s AND stream LIKE 'round-%%' ORDER BY position LIMIT 1"""
SEED: Final = 3


class Drawn:
    """What is asked about: players, rounds and positions of the ledger, drawn with a seed."""

    def __init__(self, connection: psycopg.Connection, count: int) -> None:
        dice = Random(SEED)  # noqa: S311 - it chooses what is measured
        (self._head,) = connection.execute("SELECT position FROM ledger.head").fetchone() or (1,)
        self._players = connection.execute(_PLAYERS).fetchall()
        self._dice = dice
        self.rounds = []
        for _ in range(count):
            found = connection.execute(_ROUND, [dice.randint(1, self._head)]).fetchone()
            if found is not None:
                self.rounds.append(found[0])

    def player(self) -> str:
        """A player."""
        return str(self._dice.choice(self._players)[0])

    def moment(self) -> tuple[str, int]:
        """A player and a position at which there was one."""
        player, opened = self._dice.choice(self._players)
        return str(player), self._dice.randint(opened, self._head)


class Client:
    """Asks one thing after the other."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._headers = {"Authorization": f"Bearer {token}"}

    def get(self, path: str) -> tuple[float, bytes]:
        """Return how many seconds an answer took, and its body. Raises RuntimeError unless it is good."""
        before = time.perf_counter()
        self._connection.request("GET", path, headers=self._headers)
        response = self._connection.getresponse()
        body = response.read()
        seconds = time.perf_counter() - before
        if response.status != http.client.OK:
            raise RuntimeError(f"GET {path}: {response.status} {body[:300].decode(errors='replace')}")
        return seconds, body

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def measure(client: Client, drawn: Drawn, count: int) -> dict[str, Spread]:
    """Ask `count` times for each kind of read; the floor is an answer for which nothing is read."""
    kinds: dict[str, Callable[[], Iterator[float]]] = {
        "floor": lambda: (client.get("/healthz")[0] for _ in range(count)),
        "statement": lambda: _statements(client, drawn, count),
        "record": lambda: (client.get(f"/v1/rounds/{id_}/record")[0] for id_ in drawn.rounds[:count]),
        "round": lambda: (client.get(f"/v1/rounds/{id_}")[0] for id_ in drawn.rounds[:count]),
        "balance_then": lambda: (client.get(_then(drawn))[0] for _ in range(count)),
        "trial_balance_then": lambda: (
            client.get(f"/v1/trial-balance?position={drawn.moment()[1]}")[0] for _ in range(count)
        ),
        "rounds_page": lambda: (client.get(f"/v1/players/{drawn.player()}/rounds")[0] for _ in range(count)),
    }
    found = {}
    for name, ask in kinds.items():
        list(ask() if count < WARM else _some(ask()))
        found[name] = spread(list(ask()))
    return found


WARM: Final = 20


def _some(asked: Iterator[float]) -> Iterator[float]:
    return (seconds for seconds, _ in zip(asked, range(WARM), strict=False))


def _statements(client: Client, drawn: Drawn, count: int) -> Iterator[float]:
    """Pages of statements: a player's first one, then the one after it, and so on with other players."""
    asked = 0
    while asked < count:
        path = f"/v1/players/{drawn.player()}/statement"
        following: str | None = ""
        for _ in range(2):
            if following is None:
                break
            seconds, body = client.get(f"{path}?cursor={following}" if following else path)
            answer: dict[str, Any] = json.loads(body)
            following = answer.get("next_cursor")
            asked += 1
            yield seconds


def _then(drawn: Drawn) -> str:
    player, position = drawn.moment()
    return f"/v1/players/{player}?position={position}"
