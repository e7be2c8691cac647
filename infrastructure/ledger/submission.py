"""What is handed to the writer, and what comes back."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from domain.commands import Command, ContinueRound

LEDGER_CLIENT: Final = "ledger"
"""The client that the ledger's own jobs act as; no token is ever made for it."""

COMMAND_NAME_BYTES: Final = 12
"""Enough to tell all commands of a ledger apart; each of their events says it."""

ACCEPTED: Final = 0
REJECTED: Final = 1


def _lp(part: bytes) -> bytes:
    return len(part).to_bytes(4, "big") + part


def command_id(client_id: str, key: str) -> bytes:
    """The 16 bytes that name a command for ever: of the client and its idempotency key."""
    return hashlib.sha256(_lp(client_id.encode()) + _lp(key.encode())).digest()[:16]


def command_name(id_: bytes) -> str:
    """A command's id as events carry it: its first 12 bytes in base64url, 16 characters."""
    return urlsafe_b64encode(id_[:COMMAND_NAME_BYTES]).decode()


def fingerprint(method: str, path: str, canonical_body: bytes) -> bytes:
    """16 bytes that tell two bodies under one key apart."""
    return hashlib.sha256(_lp(method.encode()) + _lp(path.encode()) + _lp(canonical_body)).digest()[:16]


@dataclass(frozen=True, slots=True)
class Submission:
    """A command with what makes it this command: its id, what was asked (fingerprint), and by whom.

    `person` is the registered person whose own credential it came with, `scopes` what the token allows.
    """

    id: bytes
    fingerprint: bytes
    command: Command
    actor: str
    trace: str | None = None
    person: str | None = None
    scopes: frozenset[str] = frozenset()


def own_submission(command: Command, key: str) -> Submission:
    """A command of the ledger's own jobs.

    `key` must name the occasion, so that two processes that see it act once.
    """
    return Submission(
        command_id(LEDGER_CLIENT, key),
        fingerprint("JOB", type(command).__name__, key.encode()),
        command,
        LEDGER_CLIENT,
    )


def continuation(round_id: str, version: int) -> Submission:
    """The command that goes on with a round too big for one command.

    The version makes it act once, whoever sends it.
    """
    return own_submission(ContinueRound(round_id), f"continue:{round_id}:{version}")


class Result(NamedTuple):
    """What became of a command.

    `outcome` is ACCEPTED or REJECTED; `body` JSON bytes: the answer, or {code, detail, …}.

    `replayed`: the command was known, and this is its first answer. `position`: the ledger's after the
    command.
    """

    outcome: int
    body: bytes
    position: int
    replayed: bool = False


class Reused(Exception):
    """The command's id is known with another fingerprint: refused, and nothing is remembered."""


class Overloaded(Exception):
    """More commands are waiting than the bound, or the database cannot be reached: try again later."""


class CommandFailed(Exception):
    """The command alone was refused by the database, or met a defect: it is logged and not remembered."""


class ReadOnly(Exception):
    """The ledger is halted, as its evidence log says that it was another one: nothing is remembered."""


Outcome = Result | Reused | Overloaded | CommandFailed | ReadOnly
"""What a submission's future ends in: a Result, or one of the exceptions."""


def rejection_body(code: str, detail: str, extra: dict[str, Any]) -> dict[str, Any]:
    """The remembered form of a rejection."""
    return {"code": code, "detail": detail, **extra}
