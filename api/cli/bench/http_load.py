"""A light load generator: keep-alive connections that play full rounds over HTTP.

It runs in a process of its own (``python -m api.cli.bench.http_load``) and prints one JSON object. It parses
no more of an answer than its length and the round's id, so that what is measured is the service. Loopback
only; it ends after the given number of rounds.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from typing import Final, cast

import uvloop

from api.cli.bench.figures import latencies

HEAD_END: Final = b"\r\n\r\n"
LENGTH: Final = b"content-length: "
ROUND_ID: Final = b'"round_id":"'


class Connection(asyncio.Protocol):
    """One client: sends a request, waits for its whole answer, sends the next."""

    def __init__(self) -> None:
        self._buffer = b""
        self._answer: asyncio.Future[bytes] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Collect until head and body are whole."""
        self._buffer += data
        end = self._buffer.find(HEAD_END)
        if end < 0:
            return
        start = self._buffer.find(LENGTH, 0, end) + len(LENGTH)
        length = int(self._buffer[start : self._buffer.find(b"\r\n", start)])
        if len(self._buffer) < end + len(HEAD_END) + length or self._answer is None:
            return
        answer, self._buffer = self._buffer, b""
        self._answer.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the waiting request."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionError("the service closed the connection"))

    async def post(self, path: str, head: bytes, key: str, body: bytes) -> bytes:
        """Send one request and return its whole answer; raises RuntimeError where it is not a success."""
        assert self._transport is not None  # noqa: S101 - connected before it is used
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(
            b"POST %b HTTP/1.1\r\n%bIdempotency-Key: %b\r\nContent-Length: %d\r\n\r\n%b"
            % (path.encode(), head, key.encode(), len(body), body)
        )
        answer = await self._answer
        if not answer.startswith(b"HTTP/1.1 20"):
            raise RuntimeError(answer[:400].decode(errors="replace"))
        return answer


async def load(
    port: int, token: str, table_id: str, clients: int, rounds: int, rate: float
) -> dict[str, object]:
    """Play `rounds` full rounds on `clients` connections.

    `rate` of them begin in a second at most; 0: as many as there can be.
    """
    head = (
        b"Host: 127.0.0.1\r\nAuthorization: Bearer %b\r\nContent-Type: application/json\r\n" % token.encode()
    )
    loop = asyncio.get_running_loop()
    connections = [(await loop.create_connection(Connection, "127.0.0.1", port))[1] for _ in range(clients)]
    run = os.urandom(4).hex()
    taken: list[float] = []
    left = iter(range(rounds))

    async def client(number: int, connection: Connection) -> None:
        side_bets = {"jackpot": 100}
        seat = {"seat": 1, "player_id": f"bench-{number}", "ante": 500, "side_bets": side_bets}
        opening = json.dumps({"table_id": table_id, "deal": True, "seats": [seat]}).encode()
        raising = json.dumps({"seat": 1, "action": "raise"}).encode()
        for n in left:
            if rate:
                await asyncio.sleep(max(began + n / rate - time.perf_counter(), 0))
            before = time.perf_counter()
            answer = await connection.post("/v1/rounds", head, f"{run}-{n}-open", opening)
            taken.append(time.perf_counter() - before)
            start = answer.find(ROUND_ID) + len(ROUND_ID)
            round_id = answer[start : answer.find(b'"', start)].decode()
            before = time.perf_counter()
            await connection.post(f"/v1/rounds/{round_id}/decisions", head, f"{run}-{n}-raise", raising)
            taken.append(time.perf_counter() - before)

    began = time.perf_counter()
    cpu = time.process_time()
    await asyncio.gather(*(client(n, connection) for n, connection in enumerate(connections)))
    seconds = time.perf_counter() - began
    ms = latencies(taken)
    return {
        "rounds": rounds,
        "seconds": seconds,
        "generator_cpu_seconds": time.process_time() - cpu,
        "p50": ms.p50,
        "p99": ms.p99,
        "worst": ms.worst,
    }


def main() -> None:
    """Read port, table, clients, rounds and rate from the command line, the token from the environment."""
    port, table_id, clients, rounds, rate = sys.argv[1:]
    token = os.environ["BENCH_TOKEN"]
    print(json.dumps(uvloop.run(load(int(port), token, table_id, int(clients), int(rounds), float(rate)))))


if __name__ == "__main__":
    main()
