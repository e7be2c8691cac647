"""The ways to the ledger: straight to a writer of our own, or over HTTP to a service."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final, Protocol

import orjson

from domain import commands as c
from domain.round import FINISHED
from infrastructure.ledger.submission import ACCEPTED, Submission, command_id, fingerprint
from infrastructure.ledger.writer import Writer

CLIENT: Final = "simulation"
NOTE: Final = "Declared by the simulation."
TIME_OUT_SECONDS_MAX: Final = 60.0
POLL_SECONDS: Final = 0.2
_GOOD: Final = (200, 201)
_OF_A_SEAT: Final = ("session_id", "channel", "client_seed")
_PARAMETERS: Final = (
    "raise_win_cap", "bonus_stake", "zone", "cutoff_hour", "decision_seconds", "min_side_bet", "max_side_bet",
)  # fmt: skip


class RefusedError(Exception):
    """The ledger says no; `code` is the problem's."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code, detail)
        self.code = code


class Channel(Protocol):
    """Takes commands. Any number of tasks may ask at a time."""

    async def ask(self, command: c.Command) -> dict[str, Any]:
        """Return the ledger's answer to a command. Raises RefusedError."""

    async def timed_out(self, round_id: str) -> dict[str, Any]:
        """Wait until the clock has decided a round; return it. Raises RefusedError, TimeoutError."""


class InProcess:
    """Hands commands to a writer; `run` makes this simulation's command ids its own."""

    def __init__(self, writer: Writer, run: str) -> None:
        self._writer = writer
        self._run = run
        self._numbers = itertools.count(1)

    async def ask(self, command: c.Command) -> dict[str, Any]:
        """Return the ledger's answer to a command. Raises RefusedError."""
        key = f"{self._run}-{next(self._numbers)}"
        asked = fingerprint("SIMULATION", type(command).__name__, key.encode())
        result = await self._writer.submit(Submission(command_id(CLIENT, key), asked, command, CLIENT))
        answer: dict[str, Any] = orjson.loads(result.body)
        if result.outcome != ACCEPTED:
            raise RefusedError(answer["code"], answer["detail"])
        return answer

    async def timed_out(self, round_id: str) -> dict[str, Any]:
        """Wait until the clock has decided a round, as the service's own jobs do it; return it.

        Raises RefusedError, TimeoutError.
        """
        async with asyncio.timeout(TIME_OUT_SECONDS_MAX):
            while True:
                await asyncio.sleep(POLL_SECONDS)
                try:
                    round_ = await self.ask(c.TimeOutRound(round_id))
                except RefusedError as refused:
                    if refused.code != "wrong_phase":
                        raise
                    continue
                if round_["phase"] in FINISHED:
                    return round_


class OverHttp:
    """Sends commands to a service on this machine. `connections` bounds how many wait at a time."""

    def __init__(self, port: int, token: str, run: str, connections: int) -> None:
        self._port = port
        self._head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        self._run = run
        self._numbers = itertools.count(1)
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._places = asyncio.Semaphore(connections)

    async def ask(self, command: c.Command) -> dict[str, Any]:
        """Return the ledger's answer to a command. Raises RefusedError, OSError."""
        path, body = request(command)
        content = json.dumps(body).encode()
        key = f"{self._run}-{next(self._numbers)}"
        own = f"Idempotency-Key: {key}\r\nContent-Length: {len(content)}\r\n\r\n"
        return await self._send(f"POST {path} HTTP/1.1\r\n{self._head}{own}".encode() + content)

    async def timed_out(self, round_id: str) -> dict[str, Any]:
        """Wait until the service has let the clock decide a round; return it.

        Raises RefusedError, TimeoutError, OSError.
        """
        async with asyncio.timeout(TIME_OUT_SECONDS_MAX):
            while True:
                await asyncio.sleep(POLL_SECONDS)
                round_ = await self._send(f"GET /v1/rounds/{round_id} HTTP/1.1\r\n{self._head}\r\n".encode())
                if round_["phase"] in FINISHED:
                    return round_

    async def _send(self, message: bytes) -> dict[str, Any]:
        async with self._places:
            reader, writer = await self._connection()
            writer.write(message)
            status, answer = await _answer(reader)
            self._idle.append((reader, writer))
        if status not in _GOOD:
            raise RefusedError(answer["code"], answer["detail"])
        return answer

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return self._idle.pop() if self._idle else await asyncio.open_connection("127.0.0.1", self._port)

    async def close(self) -> None:
        """End the connections."""
        for _, writer in self._idle:
            writer.close()
            await writer.wait_closed()


async def _answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, Any]]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
    (length,) = (int(line.partition(":")[2]) for line in head if line.startswith("content-length:"))
    return int(head[0].split()[1]), orjson.loads(await reader.readexactly(length))


def request(command: c.Command) -> tuple[str, dict[str, Any]]:
    """Return the path and body that ask for a command over HTTP. Raises ValueError where none does."""
    match command:
        case c.OpenPlayer():
            return "/v1/players", _body(command, "player_id", "currency", "account_class")
        case c.Deposit():
            return f"/v1/players/{command.player_id}/deposits", _body(command, "amount", "reference")
        case c.Withdraw():
            return f"/v1/players/{command.player_id}/withdrawals", _body(command, "amount", "reference")
        case c.OpenJackpot():
            names = "jackpot_id currency reset contribution account_class".split()
            return "/v1/jackpots", _body(command, *names)
        case c.OpenTable() | c.JoinTable() | c.LeaveTable():
            return _table_request(command)
        case _:
            return _round_request(command)


def _table_request(command: c.OpenTable | c.JoinTable | c.LeaveTable) -> tuple[str, dict[str, Any]]:
    match command:
        case c.JoinTable():
            return f"/v1/tables/{command.table_id}/join", _body(command, "player_id", "seat", "session_id")
        case c.LeaveTable():
            return f"/v1/tables/{command.table_id}/leave", _body(command, "player_id")
        case c.OpenTable():
            names = [f.name for f in fields(command) if f.name not in _PARAMETERS]
            return "/v1/tables", _body(command, *names) | {"parameters": _body(command, *_PARAMETERS)}


def _round_request(command: c.Command) -> tuple[str, dict[str, Any]]:
    match command:
        case c.OpenRound():
            body = {"table_id": command.table_id, "seats": _seats(command.seats), "deal": command.deal}
            return "/v1/rounds", body
        case c.PlaceAntes():
            body = {"seats": _seats(command.seats), "deal": command.deal}
            return f"/v1/rounds/{command.round_id}/antes", body
        case c.DealCards():
            return f"/v1/rounds/{command.round_id}/deal", {}
        case c.Decide():
            path = f"/v1/rounds/{command.round_id}/decisions"
            return path, _body(command, "seat", "action", "discard", "open_next")
        case c.VoidRound():
            return f"/v1/rounds/{command.round_id}/void", {"cause": command.cause, "note": NOTE}
        case _:
            raise ValueError(f"{type(command).__name__} is not asked for over HTTP")


def _body(command: c.Command, *names: str) -> dict[str, Any]:
    values = {name: getattr(command, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _seats(stakes: Sequence[c.SeatStake]) -> list[dict[str, Any]]:
    return [
        {
            "seat": stake.seat,
            "player_id": stake.player_id,
            "ante": stake.ante,
            "side_bets": dict(stake.side_bets),
            **{name: value for name in _OF_A_SEAT if (value := getattr(stake, name)) is not None},
        }
        for stake in stakes
    ]
