"""Many clients at once: one plain HTTP connection each, light enough for one process to load two services."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from tests.end_to_end.service import CLIENTS, GAME_SERVER, Service

ANSWER_SECONDS_MAX = 60


class Answer(NamedTuple):
    """A response. Header names are in lower case."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def ok(self) -> bool:
        """Whether it went well."""
        return self.status in (200, 201)

    @property
    def code(self) -> str:
        """A problem's code, empty where there is none."""
        return "" if self.ok else str(self.json()["code"])

    def json(self) -> Any:
        """Return the body."""
        return orjson.loads(self.content)

    def done(self) -> Any:
        """Return the body of what went well."""
        assert self.ok, self.content
        return self.json()


@dataclass
class Client:
    """One client of one service, on a connection of its own that is made when it is needed.

    Whatever breaks the connection raises OSError: the request may or may not have been heard.
    """

    service: Service
    number: int
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, body: Any, key: str | None = None, scope: str = GAME_SERVER) -> Answer:
        """Send one command."""
        return await self._ask("POST", path, orjson.dumps(body), self.service.headers(key, scope))

    async def get(self, path: str, scope: str = GAME_SERVER) -> Answer:
        """Read."""
        return await self._ask("GET", path, b"", self.service.headers("-", scope))

    async def _ask(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        head = [f"{method} {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
        head += [f"{name}: {value}" for name, value in headers.items()]
        head.append(f"Content-Length: {len(body)}\r\n\r\n")
        try:
            async with asyncio.timeout(ANSWER_SECONDS_MAX):
                if self._streams is None:
                    self._streams = await asyncio.open_connection("127.0.0.1", self.service.port)
                reader, writer = self._streams
                writer.write("\r\n".join(head).encode() + body)
                return await self._answer(reader)
        except (OSError, EOFError, asyncio.IncompleteReadError) as error:
            await self.close()
            raise ConnectionError(str(error)) from error

    async def _answer(self, reader: asyncio.StreamReader) -> Answer:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
        content = await reader.readexactly(int(headers["content-length"]))
        if headers.get("connection") == "close":
            await self.close()
        return Answer(int(lines[0].split()[1]), headers, content)

    async def close(self) -> None:
        """End the connection."""
        streams, self._streams = self._streams, None
        if streams is not None:
            streams[1].transport.abort()


def at_once(
    services: tuple[Service, ...], work: Callable[[Client], Awaitable[Any]], clients: int = CLIENTS
) -> list[Any]:
    """Let clients work at once, in turn at each of the services; return what came of each."""

    async def run() -> list[Any]:
        made = [Client(services[n % len(services)], n) for n in range(clients)]
        try:
            return await asyncio.gather(*map(work, made))
        finally:
            for client in made:
                await client.close()

    return asyncio.run(run())
